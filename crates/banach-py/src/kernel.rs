//! Tensor kernels.

use banach::{
    Exponent, Memory,
    form::Gram,
    kernel::{BigUint, Degrees, KernelChoice, KernelName, KernelSpec, Monomial, TensorKernel, cardinality},
};
use pyo3::{prelude::*, types::PyTuple};

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

pub(crate) fn degrees(degree: Degree) -> Result<Degrees, banach::Error> {
    match degree {
        Degree::One(degree) => Ok(Degrees::one(degree)),
        Degree::Range(min, max) => Degrees::range(min, max),
    }
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
        let degree = degree.map(degrees).transpose().map_err(exception)?;
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
    let memory = memory.map_or_else(Memory::available, Memory::limit);
    let entries = Running { threads, tolerance: 0.0, progress: None }
        .run_over(py, &x, |matrix, _| Gram::new(matrix.view(), built, exponent, memory)?.full(memory))?;
    Ok((order, numpy::PyArray1::from_vec(py, entries)))
}
