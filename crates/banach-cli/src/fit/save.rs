//! `banach fit -o MODEL`.

use std::path::Path;

use banach::{DualProblem, Route, Solution};
use banach_io::{Label, ModelSpec, Observed, Provenance, SavedModel};

use super::Run;

impl Run<'_> {
    pub(super) fn save(
        &self,
        path: &Path,
        gamma: f64,
        route: Route,
        problems: &[DualProblem<'_>],
        solutions: &[Solution],
    ) -> anyhow::Result<()> {
        let (ground, model, running) = (self.ground, &self.fit.model, &self.fit.running);
        let spec = ModelSpec {
            p: model.p.p(),
            gamma,
            kernel: ground.kernel_spec.clone(),
            monomials: model.monomials,
            loss: ground.goal.spec,
            fit_intercept: !model.no_intercept,
            tolerance: running.tolerance,
            max_iterations: running.max_iterations,
            solver: self.choice,
            route: running.route,
        };
        let observed = match &ground.goal.classes {
            Some(classes) => {
                Observed::Classes { labels: Label::from_texts(&classes.labels), rows: classes.rows.clone() }
            }
            None => Observed::Numbers(ground.goal.functions.iter().map(|function| function.y.clone()).collect()),
        };
        let found = problems.iter().zip(solutions);
        let radii: Vec<Option<f64>> = found.map(|(problem, solution)| problem.radius(&solution.certificate)).collect();
        let saved = SavedModel {
            names: Some(ground.data.table.names().to_vec()),
            encodings: ground.data.encodings.clone(),
            zero_based: ground.data.zero_based,
            target: Some(ground.data.target.name().to_owned()),
            standardization: ground.standardization.clone(),
            provenance: Provenance { source: Some(ground.data.file.clone()), ..Provenance::default() },
            ..SavedModel::new(spec, self.x.view(), observed)
        };
        Ok(saved.with_solutions(route, solutions, &radii).write(path)?)
    }
}
