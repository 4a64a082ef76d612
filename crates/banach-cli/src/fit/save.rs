//! `banach fit -o MODEL`.

use std::path::Path;

use anyhow::ensure;
use banach::{DualProblem, Route, Solution, SolverChoice, kernel::KernelSpec};
use banach_io::{Label, ModelSpec, Observed, Provenance, SavedModel};

use super::describe::Described;

/// A wrong name does not cost the fit.
pub(super) fn check(path: &Path, data: &Path) -> anyhow::Result<()> {
    crate::files::ensure_other(path, &[data])?;
    ensure!(!path.is_dir(), "-o {}: it is a folder; name a file in it", path.display());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    ensure!(folder.is_dir(), "-o {}: there is no folder {}", path.display(), folder.display());
    Ok(())
}

impl Described<'_> {
    pub(super) fn save(
        &self,
        path: &Path,
        kernel: KernelSpec,
        gamma: f64,
        route: Route,
        problems: &[DualProblem<'_>],
        solutions: &[Solution],
    ) -> anyhow::Result<()> {
        let (model, running) = (&self.fit.model, &self.fit.running);
        let spec = ModelSpec {
            p: model.p.p(),
            gamma,
            kernel,
            monomials: model.monomials,
            loss: self.goal.spec,
            fit_intercept: !model.no_intercept,
            tolerance: running.tolerance,
            max_iterations: running.max_iterations,
            solver: SolverChoice::Newton,
            route: running.route,
        };
        let observed = match &self.goal.classes {
            Some(classes) => {
                Observed::Classes { labels: Label::from_texts(&classes.labels), rows: classes.rows.clone() }
            }
            None => Observed::Numbers(self.goal.functions.iter().map(|function| function.y.clone()).collect()),
        };
        let found = problems.iter().zip(solutions);
        let radii: Vec<Option<f64>> = found.map(|(problem, solution)| problem.radius(&solution.certificate)).collect();
        let saved = SavedModel {
            names: Some(self.data.table.names().to_vec()),
            encodings: self.data.encodings.clone(),
            zero_based: self.data.zero_based,
            target: Some(self.data.target.name().to_owned()),
            standardization: self.standardization.cloned(),
            provenance: Provenance { source: Some(self.data.file.clone()), ..Provenance::default() },
            ..SavedModel::new(spec, self.x.view(), observed)
        };
        Ok(saved.with_solutions(route, solutions, &radii).write(path)?)
    }
}
