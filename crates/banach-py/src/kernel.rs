//! Tensor kernels.

use banach::{
    Exponent, Gram, Memory,
    kernel::{BigUint, Degrees, KernelChoice, KernelName, KernelSpec, Monomial, TensorKernel, cardinality},
};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyTuple};

use crate::{background::Running, data::Table, errors::exception};

/// A kernel as a value.
#[pyclass(frozen, eq, module = "banach._core")]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kernel {
    pub(crate) spec: KernelSpec,
}

/// One degree, or the lowest and the highest.
#[derive(FromPyObject)]
pub(crate) enum Degree {
    One(usize),
    Range(usize, usize),
}

impl Kernel {
    /// Found to be in range.
    fn checked(spec: KernelSpec) -> PyResult<Self> {
        spec.build().map_err(exception)?;
        Ok(Self { spec })
    }
}

#[pymethods]
impl Kernel {
    /// The kernel of a name, with what was said of the rest.
    #[staticmethod]
    #[pyo3(signature = (name, degree=None, coef0=None, scale=None, normalize=false))]
    fn choose(
        name: &str,
        degree: Option<Degree>,
        coef0: Option<f64>,
        scale: Option<f64>,
        normalize: bool,
    ) -> PyResult<Self> {
        let name: KernelName = name.parse().map_err(exception)?;
        let degree = match degree {
            None => None,
            Some(Degree::One(degree)) => Some(Degrees::one(degree)),
            Some(Degree::Range(min, max)) => Some(Degrees::range(min, max).map_err(exception)?),
        };
        let choice = KernelChoice { name, degree, coef0, scale, normalize };
        Self::checked(choice.spec().map_err(exception)?)
    }

    /// `sum_s a_s (scale t)^s`.
    #[staticmethod]
    fn power_series(coefficients: Vec<f64>, scale: f64) -> PyResult<Self> {
        Self::checked(KernelSpec::PowerSeries { coefficients, scale })
    }

    /// A series by name.
    #[staticmethod]
    fn series(series: String, scale: f64) -> PyResult<Self> {
        Self::checked(KernelSpec::Series { series, scale })
    }

    /// The same with the features of a sample divided by their norm.
    fn normalized(&self) -> PyResult<Self> {
        Self::checked(KernelSpec::Normalized { kernel: Box::new(self.spec.clone()) })
    }

    /// The lowest degree of its monomials, and the highest if there is one.
    #[getter]
    fn degrees(&self) -> PyResult<(usize, Option<usize>)> {
        Ok(self.spec.build().map_err(exception)?.degrees())
    }

    /// The number of its monomials in d variables; None for infinitely many.
    fn cardinality(&self, variables: usize) -> PyResult<Option<BigUint>> {
        let kernel = self.spec.build().map_err(exception)?;
        Ok(cardinality(&*kernel, variables))
    }

    fn __str__(&self) -> String {
        self.spec.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<banach kernel: {}>", self.spec)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let text = serde_json::to_string(&slf.get().spec).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok((slf.get_type().getattr("from_json")?, (text,)))
    }

    /// What `__reduce__` has written.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        let spec = serde_json::from_str(text).map_err(|error| PyValueError::new_err(format!("kernel: {error}")))?;
        Self::checked(spec)
    }
}

/// Variables with their exponents, as a tuple of pairs.
pub(crate) fn factors<'py>(py: Python<'py>, monomial: &Monomial) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, monomial.factors())
}

/// All n^q entries of the tensor `K(x_i, x_j, ...)`, in the order of C.
#[pyfunction]
#[pyo3(signature = (x, kernel, p, memory, threads))]
pub(crate) fn gram_tensor<'py>(
    py: Python<'py>,
    x: Table,
    kernel: &Kernel,
    p: f64,
    memory: Option<u64>,
    threads: usize,
) -> PyResult<(usize, Bound<'py, numpy::PyArray1<f64>>)> {
    let exponent = Exponent::new(p).map_err(exception)?;
    let order = exponent.order().map_err(exception)?;
    let built = kernel.spec.build().map_err(exception)?;
    let table = x.borrow(py)?;
    let matrix = table.matrix()?;
    let memory = memory.map_or_else(Memory::available, Memory::limit);
    let entries = Running { threads, tolerance: 0.0, progress: None }.run(py, |_| {
        let n = matrix.samples();
        let whole = u32::try_from(order).ok().and_then(|order| n.checked_pow(order)).and_then(|all| all.checked_mul(8));
        if whole.is_none_or(|bytes| bytes as u64 > memory.bytes()) {
            let (what, instead) = ("the tensor with all its entries", "take fewer samples or a smaller q");
            let needed = whole.map_or(u64::MAX, |bytes| bytes as u64);
            return Err(banach::Error::Memory { what, needed, allowed: memory.bytes(), instead });
        }
        let gram = Gram::new(matrix.view(), built, exponent, memory)?;
        let mut indices = vec![0; order];
        let mut entries = Vec::with_capacity(whole.unwrap_or(0) / 8);
        for _ in 0..whole.unwrap_or(0) / 8 {
            entries.push(gram.entry(&indices).unwrap_or(f64::NAN));
            for place in indices.iter_mut().rev() {
                *place += 1;
                if *place < n {
                    break;
                }
                *place = 0;
            }
        }
        Ok(entries)
    })?;
    Ok((order, numpy::PyArray1::from_vec(py, entries)))
}
