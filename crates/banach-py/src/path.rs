//! Models along increasing C.

use banach::{Target, fit::Gammas, solver::path_all};
use numpy::PyArray1;
use pyo3::{prelude::*, types::PyDict};

use crate::{
    data::{Table, rows},
    spec::Spec,
};

pub(crate) fn path<'py>(
    py: Python<'py>,
    spec: &Spec,
    x: &Table,
    target: &Target<'_>,
    weights: Option<Vec<f64>>,
    gammas: &Gammas,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let (paths, weights) = spec.running(progress).run_over(py, x, |matrix, watch| {
        let weights = weights.as_deref();
        let fit = spec.fit_with(1.0)?;
        let (_, outputs) = target.outputs(matrix.samples(), fit.loss().targets(), weights)?;
        let prepared = fit.prepare(matrix, outputs.len())?;
        let problems = prepared.problems(&outputs, weights)?;
        let paths = path_all(&problems, &gammas.grid(&problems[0])?, prepared.solver(), watch)?;
        // Of every function along its path, where features are listed.
        let weights: Vec<Option<Vec<f64>>> =
            paths.iter().map(|path| prepared.functions(matrix, &path.solutions).weights()).collect();
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
