//! Many values of C: paths and cross-validation.

use banach::{Folds, GammaGrid, Status, cross_validate_all, path_all};
use numpy::{PyArray1, PyArray3, PyArrayMethods};
use pyo3::{prelude::*, types::PyDict};

use crate::{
    data::{Table, rows},
    spec::{Goal, Spec},
};

/// Values of C: given ones, or so many that the data suggest.
type Grid = (Option<Vec<f64>>, usize);

fn grid((given, count): Grid, problem: &banach::DualProblem<'_>) -> Result<GammaGrid, banach::Error> {
    match given {
        Some(gammas) => GammaGrid::new(gammas),
        None => GammaGrid::from_data(problem, count),
    }
}

#[expect(clippy::too_many_arguments, reason = "the parameters of a search")]
pub(crate) fn cross_validate<'py>(
    py: Python<'py>,
    spec: &Spec,
    x: &Table,
    goal: &Goal,
    weights: Option<Vec<f64>>,
    given: Grid,
    splits: Vec<(Vec<usize>, Vec<usize>)>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let table = x.borrow(py)?;
    let matrix = table.matrix()?;
    let (folds, validated, plan) = spec.running(progress).run(py, |watch| {
        let weights = weights.as_deref();
        let outputs = goal.outputs(weights)?;
        let outputs: Vec<&[f64]> = outputs.iter().map(|y| &y[..]).collect();
        let folds = Folds::from_splits(matrix.samples(), splits)?;
        let ground = spec.estimator(1.0)?.ground(&matrix, outputs.len() * folds.count())?;
        let problems = ground.problems(&outputs, weights)?;
        let grid = grid(given, &problems[0])?;
        let validated = cross_validate_all(&problems, &grid, &folds, ground.solver(), watch)?;
        Ok((folds, validated, ground.plan().to_string()))
    })?;
    let gammas = &validated[0].gammas;
    let found = PyDict::new(py);
    // One array for every split, as splits differ in size: C by function by held-out sample.
    let mut decisions = Vec::with_capacity(folds.count());
    for (fold, held_out) in folds.held_out().iter().enumerate() {
        let fits =
            (0..gammas.len()).flat_map(|gamma| validated.iter().map(move |function| &function.fits[gamma][fold]));
        let values: Vec<f64> = fits.flat_map(|fit| &fit.predictions).copied().collect();
        let array: Bound<'py, PyArray3<f64>> =
            PyArray1::from_vec(py, values).reshape([gammas.len(), validated.len(), held_out.len()])?;
        decisions.push(array);
    }
    let each = |value: &dyn Fn(&[&banach::solver::FoldFit]) -> f64| {
        let fits = |gamma: usize, fold: usize| -> Vec<_> {
            validated.iter().map(|function| &function.fits[gamma][fold]).collect()
        };
        let values = (0..gammas.len()).flat_map(|gamma| (0..folds.count()).map(move |fold| (gamma, fold)));
        rows(py, gammas.len(), values.map(|(gamma, fold)| value(&fits(gamma, fold))).collect())
    };
    found.set_item("Cs", PyArray1::from_slice(py, gammas))?;
    found.set_item("decisions", decisions)?;
    // The loss of all functions together, of all held-out samples by their weights.
    found.set_item("losses", each(&|fits| fits.iter().map(|fit| fit.loss).sum())?)?;
    found.set_item("weights", each(&|fits| fits[0].weight)?)?;
    found.set_item("gaps", each(&|fits| fits.iter().map(|fit| fit.certificate.relative_gap()).fold(0.0, f64::max))?)?;
    let unconverged =
        |fits: &[&banach::solver::FoldFit]| fits.iter().filter(|fit| fit.status != Status::Converged).count() as f64;
    found.set_item("unconverged", each(&unconverged)?)?;
    found.set_item("plan", plan)?;
    Ok(found)
}

pub(crate) fn path<'py>(
    py: Python<'py>,
    spec: &Spec,
    x: &Table,
    goal: &Goal,
    weights: Option<Vec<f64>>,
    given: Grid,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let table = x.borrow(py)?;
    let matrix = table.matrix()?;
    let (paths, weights) = spec.running(progress).run(py, |watch| {
        let weights = weights.as_deref();
        let outputs = goal.outputs(weights)?;
        let outputs: Vec<&[f64]> = outputs.iter().map(|y| &y[..]).collect();
        let ground = spec.estimator(1.0)?.ground(&matrix, outputs.len())?;
        let problems = ground.problems(&outputs, weights)?;
        let paths = path_all(&problems, &grid(given, &problems[0])?, ground.solver(), watch)?;
        // Of every function along its path, where features are listed.
        let weights: Vec<Option<Vec<f64>>> = paths
            .iter()
            .map(|path| {
                let alphas: Vec<f64> = path.solutions.iter().flat_map(|solution| &solution.alpha).copied().collect();
                problems[0].form().predictor(&alphas).weights()
            })
            .collect();
        Ok((paths, weights))
    })?;
    let mut found = Vec::with_capacity(paths.len());
    for (path, weights) in paths.iter().zip(weights) {
        let count = path.gammas.len();
        let matrix_of = |values: &dyn Fn(&banach::Solution) -> Vec<f64>| {
            rows(py, count, path.solutions.iter().flat_map(values).collect())
        };
        let vector_of = |value: &dyn Fn(&banach::Solution) -> f64| {
            PyArray1::from_vec(py, path.solutions.iter().map(value).collect())
        };
        let one = PyDict::new(py);
        one.set_item("Cs", PyArray1::from_slice(py, &path.gammas))?;
        one.set_item("dual_coefs", matrix_of(&|solution| solution.alpha.clone())?)?;
        one.set_item(
            "predictions",
            matrix_of(&|solution| solution.omega.iter().map(|omega| omega + solution.intercept).collect())?,
        )?;
        one.set_item("intercepts", vector_of(&|solution| solution.intercept))?;
        one.set_item("gaps", vector_of(&|solution| solution.certificate.relative_gap()))?;
        one.set_item("primal", vector_of(&|solution| solution.certificate.primal))?;
        one.set_item("iterations", path.solutions.iter().map(|solution| solution.iterations).collect::<Vec<_>>())?;
        one.set_item("coefs", weights.map(|weights| rows(py, count, weights)).transpose()?)?;
        found.push(one);
    }
    Ok(found)
}
