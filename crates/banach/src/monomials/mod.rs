//! The monomials of a kernel over given samples: what they are, how many, the value of each, and one pass over all of them.
//!
//! None is stored. `degrees` says which there are, `ranks` numbers them, `layout` cuts them into tiles and stripes, `place` says
//! which a tile holds. `sweep` is the pass, in which a visitor sees the product of every monomial with the dual vectors; `products`
//! and `entries` compute them, and `pass_size` counts what a pass computes.

mod degrees;
mod entries;
mod layout;
mod leading;
mod listed;
mod pass_size;
mod place;
mod points;
mod products;
mod ranks;
mod sweep;

use std::{fmt, sync::Arc};

pub(crate) use self::{
    degrees::Degree,
    entries::{note_above, note_beyond},
    leading::{Leading, PricedTerm},
    listed::ListedMonomials,
    pass_size::{PassSize, pass_bytes},
    place::Place,
    points::Points,
    sweep::{MonomialSweep, Tile, Visitor},
};
use self::{
    layout::{Tiling, WIDTH},
    ranks::{place, variables},
};
use crate::{
    Error, Exponent, FeatureMatrix,
    data::{ExcludedProducts, MAX_ENTRY},
    kernel::{MAX_DEGREE, MonomialScale, TensorKernel, ln_norms},
    numeric::{binary_exponent, largest, scale_by_exp2},
};

/// The features of a kernel with finitely many of them, `phi_k(x) = c_k^(1/q) x^k`, or the same at another
/// [`MonomialScale`]; generated, never stored. They are numbered as in a [`FeatureMap`](crate::kernel::FeatureMap).
#[derive(Clone)]
pub(crate) struct Monomials<'a> {
    pub(crate) points: Points<'a>,
    pub(crate) kernel: Arc<dyn TensorKernel>,
    pub(crate) monomial_scale: MonomialScale,
    pub(crate) exponent: Exponent,
    /// The exponents of the powers of two by which the columns were divided; empty for raw monomials.
    exponents: Vec<f64>,
    /// The exponent of the power of two by which the factors of the samples were divided; 0 for raw monomials.
    row_exponent: f64,
    pub(crate) degrees: Vec<Degree>,
    layout: Tiling,
    /// The products that are no monomials. They keep their numbers, and their coefficients are 0.
    excluded: Option<Arc<ExcludedProducts>>,
    /// `ln ||Phi(x_i)||_q` of the samples, which for a normalised kernel is 0, or minus infinity for a sample without features.
    /// Empty unless monomials are raw.
    pub(crate) ln_norms: Vec<f64>,
    /// `ln ||Phi(x_i)||_q`, by which a normalised kernel divides raw monomials; otherwise empty.
    pub(crate) ln_divisors: Vec<f64>,
}

/// `c_k^(1/q)` of the monomials that begin with the same variables and end with two more, `x_j x_k`, j <= k.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Roots {
    /// For j < k.
    pub pair: f64,
    /// For j = k.
    pub square: f64,
    /// The same two, where j is also the last variable that the monomials begin with.
    pub last_pair: f64,
    pub last_square: f64,
}

impl<'a> Monomials<'a> {
    /// The monomials of a kernel over samples; those of an infinite one are refused.
    pub(crate) fn new(
        x: FeatureMatrix<'a>,
        kernel: Arc<dyn TensorKernel>,
        monomial_scale: MonomialScale,
        exponent: Exponent,
    ) -> Result<Self, Error> {
        let degrees = degrees::degrees(&*kernel, x.features())?;
        let layout = Tiling::new(x.samples(), x.features(), &degrees, WIDTH);
        let exponents = if monomial_scale == MonomialScale::Raw { Vec::new() } else { x.column_exponents() };
        let excluded = x.excluded().filter(|_| degrees.iter().any(|degree| degree.degree >= 2)).cloned();
        let mut monomials = Self {
            points: Points { x, rows: None },
            kernel,
            monomial_scale,
            exponent,
            exponents,
            row_exponent: 0.0,
            degrees,
            layout,
            excluded,
            ln_norms: Vec::new(),
            ln_divisors: Vec::new(),
        };
        monomials.check(&monomials.points.x)?;
        if monomial_scale == MonomialScale::Raw && !exponent.is_endpoint() {
            monomials.ln_norms = monomials.ln_norms_of(&monomials.points.x);
        }
        if monomial_scale == MonomialScale::Raw && monomials.kernel.normalized() {
            monomials.ln_divisors.clone_from(&monomials.ln_norms);
            monomials.ln_norms.iter_mut().for_each(|ln| *ln = if ln.is_finite() { 0.0 } else { *ln });
        }
        let mut rows = monomials.row_factors(&monomials.points.x)?;
        if monomial_scale != MonomialScale::Raw {
            if let Some(rows) = &mut rows {
                monomials.row_exponent = f64::from(binary_exponent(largest(rows)));
                rows.iter_mut().for_each(|row| *row = scale_by_exp2(*row, -monomials.row_exponent));
            }
            monomials.points.x = monomials.points.x.into_scaled_columns(&monomials.exponents)?;
        }
        monomials.points.rows = rows;
        Ok(monomials)
    }

    /// The same, cut into tiles of another width.
    #[cfg(test)]
    pub(crate) fn with_width(mut self, width: usize) -> Self {
        let Points { x, .. } = &self.points;
        self.layout = Tiling::new(x.samples(), x.features(), &self.degrees, width);
        self
    }

    /// The same with a copy of the data.
    pub(crate) fn to_owned(&self) -> Monomials<'static> {
        self.over(self.points.x.view().into_owned())
    }

    /// The same with factors on all monomials, one for each sample, at most 1. For a kernel that is not normalised, whose samples have
    /// none of their own.
    pub(crate) fn with_row_factors(mut self, factors: Vec<f64>) -> Self {
        debug_assert!(self.points.rows.is_none(), "a normalised kernel has factors");
        self.points.rows = Some(factors);
        self
    }

    /// The same with other factors of the samples, over the same data.
    pub(crate) fn reweighted(&self, factors: Vec<f64>) -> Monomials<'_> {
        let mut monomials = self.over(self.points.x.view());
        monomials.points.rows = Some(factors);
        monomials
    }

    /// The same of the moduli of the data.
    pub(crate) fn moduli(&self) -> Result<Monomials<'_>, Error> {
        Ok(self.over(self.points.x.view().into_moduli()?))
    }

    /// The same monomials over other data of as many samples.
    fn over<'p>(&self, x: FeatureMatrix<'p>) -> Monomials<'p> {
        Monomials {
            points: Points { x, rows: self.points.rows.clone() },
            kernel: self.kernel.clone(),
            monomial_scale: self.monomial_scale,
            exponent: self.exponent,
            exponents: self.exponents.clone(),
            row_exponent: self.row_exponent,
            degrees: self.degrees.clone(),
            layout: self.layout.clone(),
            excluded: self.excluded.clone(),
            ln_norms: self.ln_norms.clone(),
            ln_divisors: self.ln_divisors.clone(),
        }
    }

    /// The number of samples, n.
    pub(crate) fn samples(&self) -> usize {
        self.points.x.samples()
    }

    /// The number of variables, d.
    pub(crate) fn inputs(&self) -> usize {
        self.points.x.features()
    }

    /// The number of monomials, with those that are excluded.
    pub(crate) fn count(&self) -> u64 {
        self.layout.count
    }

    /// The number of monomials that are not excluded.
    pub(crate) fn possible(&self) -> u64 {
        let Some(excluded) = &self.excluded else { return self.count() };
        self.degrees.iter().map(|degree| excluded.count(degree.degree, degree.distinct)).sum()
    }

    /// Whether any product is excluded.
    pub(crate) fn excludes_any(&self) -> bool {
        self.excluded.is_some()
    }

    /// Whether the product of these variables, each as often as it occurs and in increasing order, is excluded.
    fn excludes(&self, variables: &[usize]) -> bool {
        self.excluded.as_ref().is_some_and(|excluded| excluded.excludes(variables))
    }

    /// The degrees, in order.
    pub(crate) fn degrees(&self) -> impl Iterator<Item = usize> {
        self.degrees.iter().map(|degree| degree.degree)
    }

    /// The stripes of a pass.
    pub(crate) fn stripes(&self) -> usize {
        self.layout.stripes.len()
    }

    /// The most roundings of a sum over all monomials.
    pub(crate) fn additions(&self) -> f64 {
        self.layout.additions()
    }

    /// The highest degree.
    pub(crate) fn highest(&self) -> usize {
        self.degrees.last().map_or(0, |degree| degree.degree)
    }

    /// New points of the same kind as the samples.
    pub(crate) fn points<'p>(&self, x: &'p FeatureMatrix<'_>) -> Result<Points<'p>, Error> {
        Error::check_length("a row of the new X", x.features(), self.inputs())?;
        self.check(x)?;
        let rows = self.row_factors(x)?;
        let raw = self.monomial_scale == MonomialScale::Raw;
        let x = if raw { x.view() } else { x.view().into_scaled_columns(&self.exponents)? };
        Ok(Points { x, rows })
    }

    /// Refuses points at which a monomial may be out of range.
    fn check(&self, x: &FeatureMatrix<'_>) -> Result<(), Error> {
        for (row, (size, column)) in x.sample_sizes(&self.exponents).into_iter().enumerate() {
            for &Degree { degree, .. } in &self.degrees {
                let value = self.typical_root(degree) * size.powi(degree as i32);
                if value.is_nan() || value > MAX_ENTRY {
                    return Err(Error::BadEntry { what: "Phi_n", row, column, value, limit: MAX_ENTRY });
                }
            }
        }
        Ok(())
    }

    /// `1/||Phi(x_i)||_q` for every sample, where the kernel is normalised. A sample without features keeps them.
    fn row_factors(&self, x: &FeatureMatrix<'_>) -> Result<Option<Vec<f64>>, Error> {
        if !self.kernel.normalized() {
            return Ok(None);
        }
        let norms: Vec<f64> = self.ln_norms_of(x).into_iter().map(f64::exp).collect();
        let factor = |norm: &f64| scale_by_exp2(if *norm > 0.0 { 1.0 / norm } else { 1.0 }, -self.row_exponent);
        let rows: Vec<f64> = norms.iter().map(factor).collect();
        Error::check_values("1/||Phi(x)||", &rows, "at most 1e200; rescale the columns", |row| row <= MAX_ENTRY)?;
        Ok(Some(rows))
    }

    fn ln_norms_of(&self, x: &FeatureMatrix<'_>) -> Vec<f64> {
        ln_norms(&*self.kernel, self.exponent, x.samples(), x.features(), |j, out| x.column_into(j, out))
    }

    /// `c_k^(1/q)` of the monomials with these exponents. Unless monomials are raw, and for p = 1 too, where 1/q = 0, it is 1 for those
    /// that the kernel has and 0 for others.
    fn root(&self, exponents: &[usize]) -> f64 {
        let unscaled = self.kernel.unscaled_coefficient(exponents);
        if self.monomial_scale != MonomialScale::Raw || self.exponent.is_endpoint() {
            return if unscaled > 0.0 { 1.0 } else { 0.0 };
        }
        let (root, degree) = (1.0 / self.exponent.q(), exponents.iter().sum::<usize>());
        // c_k itself may be out of range.
        unscaled.powf(root) * self.kernel.scale().unwrap_or(1.0).powf(root).powi(degree as i32)
    }

    /// `c_k^(1/q)` of most monomials of a degree: those of distinct variables.
    pub(crate) fn typical_root(&self, degree: usize) -> f64 {
        self.root(&[1; MAX_DEGREE][..degree])
    }

    /// `c_k^(1/q)` of the monomials that begin with some variables and have two more.
    fn roots(&self, prefix: &[usize]) -> Roots {
        let mut exponents = [0; MAX_DEGREE + 2];
        let runs = prefix.chunk_by(|a, b| a == b);
        let used = exponents.iter_mut().zip(runs).map(|(exponent, run)| *exponent = run.len()).count();
        exponents[used] = 1;
        exponents[used + 1] = 1;
        let pair = self.root(&exponents[..used + 2]);
        exponents[used] = 2;
        let square = self.root(&exponents[..=used]);
        if used == 0 {
            return Roots { pair, square, last_pair: pair, last_square: square };
        }
        exponents[used] = 1;
        exponents[used - 1] += 1;
        let last_pair = self.root(&exponents[..=used]);
        exponents[used - 1] += 1;
        Roots { pair, square, last_pair, last_square: self.root(&exponents[..used]) }
    }

    /// How many monomials come before the first that begins with some variables.
    fn place(&self, degree: Degree, prefix: &[usize]) -> u64 {
        degree.first + place(self.inputs(), degree.degree, degree.distinct, prefix)
    }

    /// The number of the monomial of these variables, each as often as it occurs, in increasing order; `None` if there is none.
    pub(crate) fn number(&self, variables: &[usize]) -> Option<u64> {
        let degree = *self.degrees.iter().find(|degree| degree.degree == variables.len())?;
        let repeats = variables.windows(2).any(|pair| pair[0] == pair[1]);
        let exists = !(degree.distinct && repeats) && variables.iter().all(|variable| *variable < self.inputs());
        let exists = exists && !self.excludes(variables);
        exists.then(|| self.place(degree, variables))
    }

    /// The variables of the monomial with this number, each as often as it occurs, in increasing order.
    pub(crate) fn variables(&self, index: u64) -> Vec<u32> {
        let at = self.degrees.partition_point(|degree| degree.first <= index).saturating_sub(1);
        let Degree { degree, distinct, first } = self.degrees[at];
        let mut found = vec![0; degree];
        variables(self.inputs(), distinct, index - first, &mut found);
        found
    }

    /// The values of a monomial, one per sample.
    pub(crate) fn column_into(&self, variables: &[u32], out: &mut [f64]) {
        if self.excluded.is_some() && self.excludes(&variables.iter().map(|&j| j as usize).collect::<Vec<_>>()) {
            return out.fill(0.0);
        }
        self.points.factors_into(out);
        variables.iter().for_each(|&variable| self.points.x.multiply_by_column(variable as usize, out));
        if self.monomial_scale == MonomialScale::Raw {
            let mut exponents = [0; MAX_DEGREE];
            let runs = variables.chunk_by(|a, b| a == b);
            let used = exponents.iter_mut().zip(runs).map(|(exponent, run)| *exponent = run.len()).count();
            let root = self.root(&exponents[..used]);
            out.iter_mut().for_each(|phi| *phi *= root);
        } else {
            let (centre, factor) = self.monomial_scale.of_column(out);
            out.iter_mut().for_each(|phi| *phi = (*phi - centre) * factor);
        }
    }
}

impl fmt::Debug for Monomials<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monomials")
            .field("x", &self.points.x)
            .field("kernel", &self.kernel)
            .field("monomial_scale", &self.monomial_scale)
            .field("exponent", &self.exponent)
            .field("count", &self.count())
            .finish_non_exhaustive()
    }
}
