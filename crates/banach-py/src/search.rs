//! Searches: what is searched as it comes from Python, and what was found as it goes back.

use banach::{
    Exponent, Search, Status, Target,
    fit::{Gammas, HoldOut, KernelSpace, SearchOption, Searched, Tried},
    kernel::Degrees,
    report::Validation,
    solver::{Choice, Folds, Mean},
};
use numpy::{PyArray1, PyArray3, PyArrayMethods};
use pyo3::{prelude::*, types::PyDict};

use crate::{
    background::Running,
    data::{Table, rows},
    errors::exception,
    kernel::{Degree, Kernel, degrees},
    report::{assessment_json, json},
    spec::{Spec, Targeted},
};

/// What is searched beside C.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Space {
    exponents: Vec<f64>,
    kernels: Vec<KernelOrName>,
    /// The gap of its fits; what the library says if none.
    tolerance: Option<f64>,
}

/// A kernel as an object, or by its name with what is searched of it.
#[derive(FromPyObject)]
pub(crate) enum KernelOrName {
    #[pyo3(transparent)]
    Fixed(Py<Kernel>),
    Named(Named),
}

/// What is searched of a kernel by name.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Named {
    name: String,
    degrees: Vec<Degree>,
    coef0: Option<f64>,
    scales: Vec<f64>,
    normalize: Option<bool>,
}

impl KernelOrName {
    fn space(self) -> Result<KernelSpace, banach::Error> {
        Ok(match self {
            Self::Fixed(kernel) => KernelSpace::Fixed(kernel.get().spec.clone()),
            Self::Named(Named { name, degrees: listed, coef0, scales, normalize }) => {
                let degrees = listed.into_iter().map(degrees).collect::<Result<Vec<Degrees>, _>>()?;
                KernelSpace::Named { name: name.parse()?, degrees, coef0, scales, normalize }
            }
        })
    }
}

impl Space {
    pub(crate) fn search(self, gammas: Gammas, one_standard_error: bool) -> Result<Search, banach::Error> {
        let Self { exponents, kernels, tolerance } = self;
        exponents.iter().try_for_each(|&p| Exponent::of_penalty(p).map(|_| ()))?;
        let kernels = kernels.into_iter().map(KernelOrName::space).collect::<Result<_, _>>()?;
        let choice = if one_standard_error { Choice::OneStandardError } else { Choice::Best };
        let tolerance = tolerance.unwrap_or(Search::TOLERANCE);
        Ok(Search { exponents, kernels, gammas, choice, tolerance })
    }
}

/// The rows to learn from and those held out, for every fold.
pub(crate) type Splits = Vec<(Vec<usize>, Vec<usize>)>;

/// Such rows, and the group of every row.
pub(crate) type HeldOutRows = (Splits, Option<Vec<usize>>);

pub(crate) fn run<'py>(
    py: Python<'py>,
    spec: &Spec,
    search: &Search,
    (x, target, weights): (&Table, &Target<'_>, Option<Vec<f64>>),
    (splits, groups): HeldOutRows,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let running = Running { tolerance: search.gap(&spec.values), ..spec.running(progress) };
    let (found, validation, residuals) = running.run_over(py, x, |matrix, watch| {
        let folds = Folds::given(matrix.samples(), splits, groups.as_deref())?;
        let fit = spec.fit_with(1.0)?;
        let found = search.run(&fit, matrix, target, weights.as_deref(), &folds, watch)?;
        let validation = Validation::new(&found, search.choice, target, &**fit.loss(), weights.as_deref())?;
        let residuals = found.residuals(target, weights.as_deref());
        Ok((found, validation, residuals))
    })?;
    let told = PyDict::new(py);
    told.set_item("validation", json(&validation, &validation.notes)?)?;
    told.set_item("assessment", validation.assessment.as_ref().map(assessment_json).transpose()?)?;
    let tried = found.tried.iter().map(|tried| of_option(py, spec, tried, &found));
    told.set_item("tried", tried.collect::<PyResult<Vec<_>>>()?)?;
    let left_out = found
        .left_out
        .into_iter()
        .map(|(option, error)| Ok((parameters(py, &option)?, exception(error).value(py).str()?.to_string())));
    told.set_item("left_out", left_out.collect::<PyResult<Vec<_>>>()?)?;
    told.set_item("chosen", found.chosen)?;
    told.set_item("residuals", residuals.map(Vec::from))?;
    Ok(told)
}

/// p and the kernel of one combination.
fn parameters<'py>(py: Python<'py>, option: &SearchOption) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    told.set_item("p", option.spec.p)?;
    told.set_item("place", option.place)?;
    if let Some(kernel) = option.kernel {
        let range = |degrees: Degrees| (degrees.min, degrees.max);
        match kernel.degree {
            Some(degrees) if degrees.range => told.set_item("degree", range(degrees))?,
            Some(degrees) => told.set_item("degree", degrees.max)?,
            None => {}
        }
        told.set_item("scale", kernel.scale.unwrap_or(1.0))?;
        told.set_item("normalize_kernel", kernel.normalize)?;
    }
    Ok(told)
}

/// Held-out decisions or numbers, losses and certificates for every C and split of one combination.
fn of_option<'py>(py: Python<'py>, spec: &Spec, tried: &Tried, found: &Searched) -> PyResult<Bound<'py, PyDict>> {
    let (validated, folds) = (&tried.functions, &found.folds);
    let loss = tried.option.spec.loss.build().map_err(exception)?;
    let gammas = &validated[0].gammas;
    let one = PyDict::new(py);
    // One array for every split, as splits differ in size: C by function by held-out sample.
    let mut decisions = Vec::with_capacity(folds.count());
    for (fold, held_out) in folds.held_out().iter().enumerate() {
        let fits =
            (0..gammas.len()).flat_map(|gamma| validated.iter().map(move |function| &function.fits[gamma][fold]));
        let values: Vec<f64> = fits.flat_map(|fit| &fit.predictions).map(|t| loss.response(*t)).collect();
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
    one.set_item("Cs", PyArray1::from_slice(py, gammas))?;
    one.set_item("decisions", decisions)?;
    // The loss of all functions together, of all held-out samples by their weights.
    one.set_item("losses", each(&|fits| fits.iter().map(|fit| fit.loss).sum())?)?;
    one.set_item("weights", each(&|fits| fits[0].weight)?)?;
    one.set_item("gaps", each(&|fits| fits.iter().map(|fit| fit.certificate.relative_gap()).fold(0.0, f64::max))?)?;
    let unconverged =
        |fits: &[&banach::solver::FoldFit]| fits.iter().filter(|fit| fit.status != Status::Converged).count() as f64;
    one.set_item("unconverged", each(&unconverged)?)?;
    one.set_item("parameters", parameters(py, &tried.option)?)?;
    one.set_item("spec", Spec { values: tried.option.spec.clone(), ..spec.clone() })?;
    Ok(one)
}

/// Which of several means is taken, given with their standard errors from the simplest model to the most complex: the smallest, or the
/// first within one standard error of it.
#[pyfunction]
pub(crate) fn choose(losses: Vec<(f64, f64)>, one_standard_error: bool) -> Option<usize> {
    let choice = if one_standard_error { Choice::OneStandardError } else { Choice::Best };
    let losses: Vec<_> =
        losses.into_iter().map(|(value, standard_error)| Some(Mean { value, standard_error })).collect();
    choice.pick(&losses)
}

/// The samples that are held out together unless told otherwise.
#[pyfunction]
#[pyo3(signature = (y, samples, count, groups=None, seed=0, among_many=false))]
pub(crate) fn folds(
    y: Targeted<'_>,
    samples: usize,
    count: Option<usize>,
    groups: Option<Vec<usize>>,
    seed: u64,
    among_many: bool,
) -> PyResult<Vec<Vec<usize>>> {
    let hold_out = HoldOut { folds: count, among_many, groups, seed, ..HoldOut::default() };
    Ok(hold_out.folds(&y.target(), samples).map_err(exception)?.held_out().to_vec())
}
