//! The degrees in which a kernel has monomials.

use super::ranks::ways;
use crate::{
    Error,
    error::Parameter,
    kernel::{Block, TensorKernel, cardinality},
};

/// Most monomials: a pass over more takes hours.
const MOST_MONOMIALS: u64 = 1 << 40;

/// The monomials of one degree.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "the degree is what it is called")]
pub(crate) struct Degree {
    pub degree: usize,
    /// Products of distinct variables only.
    pub distinct: bool,
    /// The number of the first of these monomials.
    pub first: u64,
}

/// The degrees in which a kernel has features, each with the number of its first feature.
pub(super) fn degrees(kernel: &dyn TensorKernel, inputs: usize) -> Result<Vec<Degree>, Error> {
    let Some(count) = cardinality(kernel, inputs) else {
        return Err(Error::InfinitelyManyFeatures { kernel: kernel.name() });
    };
    let (lowest, highest) = kernel.degrees();
    let refuse = |allowed| Error::parameter(Parameter::Degree, format!("{lowest} to {highest:?}"), allowed);
    let mut first = 0_u64;
    let mut degrees = Vec::new();
    for Block { degree, distinct } in Block::all(kernel, highest.unwrap_or(lowest)) {
        let own = ways(inputs, degree, distinct).filter(|own| *own <= MOST_MONOMIALS);
        let Some(end) = own.map(|own| first + own).filter(|end| *end <= MOST_MONOMIALS) else {
            return Err(Error::TooManyFeatures { kernel: kernel.name(), inputs, cardinality: count });
        };
        if end > first {
            degrees.push(Degree { degree, distinct, first });
        }
        if !kernel.coefficient(&vec![1; degree]).is_finite() {
            return Err(refuse("degrees at which the coefficients are in range; lower the degree or the scale"));
        }
        first = end;
    }
    if degrees.is_empty() {
        return Err(refuse("degrees at which the kernel has a feature in that many variables"));
    }
    Ok(degrees)
}
