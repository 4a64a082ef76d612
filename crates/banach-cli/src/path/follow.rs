//! Which monomials a path is told by, and their weights along it.

use std::collections::HashMap;

use banach::{
    DualProblem, FeatureMatrix,
    kernel::Monomial,
    model::{Budget, DualModel, TopMonomial},
    report::Factor,
};

use super::{FollowedFunction, Growth, PathFit, args::Path};
use crate::{
    fit::{input::Input, interrupt::stoppable},
    words,
};

/// Every function along its path.
pub(super) fn functions(
    what: &Path,
    input: &Input,
    fit: &banach::Fit,
    x: &FeatureMatrix<'_>,
    (problems, paths): (&[DualProblem<'_>], &[banach::solver::Path]),
    notes: &mut Vec<String>,
) -> anyhow::Result<Vec<FollowedFunction>> {
    let of_each = input.goal.positive().into_iter().zip(problems).zip(paths);
    let function = |((class, problem), path): ((Option<String>, &DualProblem<'_>), &banach::solver::Path)| {
        let models = path.gammas.iter().zip(&path.solutions).map(|(gamma, solution)| {
            let radius = problem.with_gamma(*gamma)?.radius(&solution.alpha, &solution.certificate);
            fit.function(x.view(), solution, radius)
        });
        let models: Vec<DualModel<'_>> = models.collect::<Result<_, _>>()?;
        let names = input.data.table.names();
        let monomials = match stoppable(|| growths(&models, what.grid.top, names))? {
            Some(Ok(monomials)) => monomials,
            Some(Err(error)) => {
                notes.push(format!("no monomials: {}", words::message(&error)));
                Vec::new()
            }
            None => {
                notes.push("no monomials: interrupted".to_owned());
                Vec::new()
            }
        };
        Ok(FollowedFunction { class, fits: fits(path), monomials })
    };
    of_each.map(function).collect()
}

fn fits(path: &banach::solver::Path) -> Vec<PathFit> {
    let fit = |(gamma, solution): (&f64, &banach::Solution)| PathFit {
        gamma: *gamma,
        status: solution.status,
        certificate: solution.certificate.into(),
        iterations: solution.iterations,
        passes: solution.passes,
        intercept: solution.intercept,
        norm: solution.alpha.iter().zip(&solution.omega).map(|(alpha, omega)| alpha * omega).sum(),
    };
    path.gammas.iter().zip(&path.solutions).map(fit).collect()
}

/// The monomials with the largest share of the norm at any gamma.
fn growths(models: &[DualModel<'_>], count: usize, names: &[String]) -> Result<Vec<Growth>, banach::Error> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let mut largest: HashMap<Monomial, f64> = HashMap::new();
    for model in models {
        for TopMonomial { monomial, share, .. } in model.top_monomials(count, Budget::default())?.entries {
            let known = largest.entry(monomial).or_default();
            *known = known.max(share.unwrap_or(0.0));
        }
    }
    let mut ranked: Vec<(Monomial, f64)> = largest.into_iter().collect();
    ranked.sort_by(|(a, first), (b, second)| second.total_cmp(first).then_with(|| a.factors().cmp(b.factors())));
    let followed: Vec<Monomial> = ranked.into_iter().take(count).map(|(monomial, _)| monomial).collect();
    let along: Vec<Vec<TopMonomial>> =
        models.iter().map(|model| model.entries_of(&followed)).collect::<Result<_, _>>()?;
    let growth = |(at, monomial): (usize, &Monomial)| Growth {
        monomial: monomial.with_names(names),
        factors: Factor::all(monomial, names),
        weights: along.iter().map(|entries| entries[at].weight).collect(),
        coefficients: along.iter().map(|entries| entries[at].coefficient).collect(),
    };
    Ok(followed.iter().enumerate().map(growth).collect())
}
