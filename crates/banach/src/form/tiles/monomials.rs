//! The monomials of a kernel over given samples: what they are, how many, and the value of each.

use std::{fmt, sync::Arc};

use super::{
    layout::Layout,
    ranks::{place, variables, ways},
};
use crate::{
    Error, Exponent, FeatureMatrix, MAX_ENTRY,
    form::{
        heaviest::Columns,
        rounding::{self, Units},
    },
    kernel::{Block, MAX_DEGREE, MonomialScale, TensorKernel, cardinality, ln_norms},
    numeric::{binary_exponent, dot, largest, scale_by_exp2},
};

/// The features of a kernel with finitely many of them, `phi_k(x) = c_k^(1/q) x^k`, or the same at another
/// [`MonomialScale`]; generated, never stored. They are numbered as in a [`FeatureMap`](crate::kernel::FeatureMap).
#[derive(Clone)]
pub(crate) struct Monomials<'a> {
    pub(super) points: Points<'a>,
    pub(super) kernel: Arc<dyn TensorKernel>,
    pub(super) scale: MonomialScale,
    pub(super) exponent: Exponent,
    /// The powers of two by which the columns were divided, where monomials have a scale of their own; else empty.
    exponents: Vec<f64>,
    /// The power of two by which the factors of the samples were divided, for the same reason.
    row_exponent: f64,
    pub(super) degrees: Vec<Degree>,
    pub(super) layout: Layout,
    /// `ln ||Phi(x_i)||_q` of the samples, for a normalised kernel 0, or minus infinity for a sample without features; none for
    /// monomials that have a scale of their own.
    ln_norms: Vec<f64>,
    /// The units of rounding that the division of a normalised kernel adds.
    divisor: f64,
}

/// The monomials of one degree.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "the degree is what it is called")]
pub(super) struct Degree {
    pub degree: usize,
    /// Products of distinct variables only.
    pub distinct: bool,
    /// The number of the first of them.
    pub first: u64,
}

/// Samples, and what all monomials of each are multiplied by.
#[derive(Debug, Clone)]
pub(crate) struct Points<'a> {
    pub(super) x: FeatureMatrix<'a>,
    /// `1/||Phi(x_i)||_q` of a normalised kernel.
    pub(super) rows: Option<Vec<f64>>,
}

impl Points<'_> {
    /// The factors on all monomials.
    pub(super) fn factors_into(&self, out: &mut [f64]) {
        match &self.rows {
            Some(rows) => out.copy_from_slice(rows),
            None => out.fill(1.0),
        }
    }
}

/// Most monomials: a pass over more takes hours.
const MOST: u64 = 1 << 40;

/// `c_k^(1/q)` of the monomials that begin with the same variables and end with two more, `x_j x_k`, j <= k.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Roots {
    /// For j < k.
    pub pair: f64,
    /// For j = k.
    pub square: f64,
    /// The same where j is the last of the variables that they begin with.
    pub last_pair: f64,
    pub last_square: f64,
}

impl<'a> Monomials<'a> {
    /// The monomials of a kernel over samples; those of an infinite one are refused.
    pub(crate) fn new(
        x: FeatureMatrix<'a>,
        kernel: Arc<dyn TensorKernel>,
        scale: MonomialScale,
        exponent: Exponent,
    ) -> Result<Self, Error> {
        let degrees = degrees(&*kernel, x.features())?;
        let layout = Layout::new(x.samples(), x.features(), &degrees, super::WIDTH);
        let exponents = if scale == MonomialScale::Raw { Vec::new() } else { x.column_exponents() };
        let points = Points { x, rows: None };
        let (row_exponent, ln_norms, divisor) = (0.0, Vec::new(), 0.0);
        let mut monomials =
            Self { points, kernel, scale, exponent, exponents, row_exponent, degrees, layout, ln_norms, divisor };
        monomials.check(&monomials.points.x)?;
        if scale == MonomialScale::Raw {
            monomials.ln_norms = monomials.ln_norms_of(&monomials.points.x);
        }
        if scale == MonomialScale::Raw && monomials.kernel.normalized() {
            monomials.divisor = rounding::norms(&monomials.ln_norms, monomials.inputs());
            monomials.ln_norms.iter_mut().for_each(|ln| *ln = if ln.is_finite() { 0.0 } else { *ln });
        }
        let mut rows = monomials.row_factors(&monomials.points.x)?;
        if scale != MonomialScale::Raw {
            if let Some(rows) = &mut rows {
                monomials.row_exponent = f64::from(binary_exponent(largest(rows)));
                rows.iter_mut().for_each(|row| *row = scale_by_exp2(*row, -monomials.row_exponent));
            }
            monomials.points.x = monomials.points.x.scaled_columns(&monomials.exponents)?;
        }
        monomials.points.rows = rows;
        Ok(monomials)
    }

    /// The same, cut into tiles of another width.
    #[cfg(test)]
    pub(crate) fn with_width(mut self, width: usize) -> Self {
        let Points { x, .. } = &self.points;
        self.layout = Layout::new(x.samples(), x.features(), &self.degrees, width);
        self
    }

    /// The same with data of their own.
    pub(super) fn into_owned(self) -> Monomials<'static> {
        let Self { points, kernel, scale, exponent, exponents, row_exponent, degrees, layout, ln_norms, divisor } =
            self;
        let points = Points { x: points.x.into_owned(), rows: points.rows };
        Monomials { points, kernel, scale, exponent, exponents, row_exponent, degrees, layout, ln_norms, divisor }
    }

    /// The same without copies.
    pub(super) fn view(&self) -> Monomials<'_> {
        let points = Points { x: self.points.x.view(), rows: self.points.rows.clone() };
        let (exponents, degrees) = (self.exponents.clone(), self.degrees.clone());
        let (kernel, layout, ln_norms) = (self.kernel.clone(), self.layout.clone(), self.ln_norms.clone());
        Monomials { points, kernel, exponents, degrees, layout, ln_norms, ..*self }
    }

    /// The same of the moduli of the data.
    pub(super) fn moduli(&self) -> Result<Monomials<'_>, Error> {
        let points = Points { x: self.points.x.moduli()?, rows: self.points.rows.clone() };
        Ok(Monomials { points, ..self.view() })
    }

    /// The number of samples, n.
    pub(crate) fn samples(&self) -> usize {
        self.points.x.samples()
    }

    /// The number of variables, d.
    pub(crate) fn inputs(&self) -> usize {
        self.points.x.features()
    }

    /// The number of monomials.
    pub(crate) fn count(&self) -> u64 {
        self.layout.count
    }

    /// How they are scaled.
    pub(crate) fn scale(&self) -> MonomialScale {
        self.scale
    }

    /// The degrees, in order.
    pub(crate) fn degrees(&self) -> impl Iterator<Item = usize> {
        self.degrees.iter().map(|degree| degree.degree)
    }

    /// The stripes of a pass.
    pub(crate) fn stripes(&self) -> usize {
        self.layout.stripes.len()
    }

    /// The values of one variable, as monomials are made of them.
    pub(crate) fn input_into(&self, variable: usize, out: &mut [f64]) {
        self.points.x.column_into(variable, out);
    }

    /// The factors on all monomials, one per sample: 1, or `1/||Phi(x_i)||_q`.
    pub(crate) fn row_factors_into(&self, out: &mut [f64]) {
        self.points.factors_into(out);
    }

    /// The highest degree.
    pub(super) fn highest(&self) -> usize {
        self.degrees.last().map_or(0, |degree| degree.degree)
    }

    /// New points of the same kind as the samples.
    pub(super) fn points<'p>(&self, x: &'p FeatureMatrix<'_>) -> Result<Points<'p>, Error> {
        let (got, expected) = (x.features(), self.inputs());
        if got != expected {
            return Err(Error::Shape { what: "a row of the new X", got, expected });
        }
        self.check(x)?;
        let rows = self.row_factors(x)?;
        let x = if self.scale == MonomialScale::Raw { x.view() } else { x.scaled_columns(&self.exponents)? };
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
        if let Some(row) = rows.iter().position(|row| row.is_nan() || *row > MAX_ENTRY) {
            let value = rows[row];
            return Err(Error::BadValue {
                what: "1/||Phi(x)||",
                row,
                value,
                allowed: "at most 1e200; rescale the columns",
            });
        }
        Ok(Some(rows))
    }

    fn ln_norms_of(&self, x: &FeatureMatrix<'_>) -> Vec<f64> {
        ln_norms(&*self.kernel, self.exponent, x.samples(), x.features(), |j, out| x.column_into(j, out))
    }

    /// How often sums over samples and monomials are rounded. A monomial takes a rounding for each of its factors, as many for the
    /// power of the kernel's scale, and some for the root of its coefficient.
    pub(super) fn units(&self) -> Units {
        let (n, q) = (self.samples() as f64, self.exponent.q());
        let entry = rounding::monomials(self.highest()) + self.divisor;
        Units { products: n + entry, sums: self.layout.additions() + rounding::powers(q) + entry }
    }

    /// How far rounding can have moved the predictions of a dual vector; see `form/rounding.rs`.
    ///
    /// A monomial with a scale of its own
    /// has a mean square of 1 over the samples, so it is at most `sqrt(n)` anywhere and the moduli of its products with alpha add
    /// up to at most `sqrt(n) ||alpha||_2`; before its mean is taken off, by `sqrt(1 + spread)` more. Its scale is a root of
    /// the difference of two sums that are `1 + spread` times as large.
    pub(super) fn roundings(&self, alpha: &[f64], ln_value: f64, spread: f64, out: &mut [f64]) {
        let (n, q) = (self.samples() as f64, self.exponent.q());
        let mut units = self.units();
        if self.scale == MonomialScale::Raw {
            let ln_moduli = rounding::ln_moduli(alpha, &self.ln_norms);
            return rounding::of_features(q, ln_value, ln_moduli, self.ln_norms.iter().copied(), units, out);
        }
        units.sums += q * (n + 8.0) * (1.0 + spread);
        let ln_norm = (self.count() as f64).ln() / q + 0.5 * n.ln() + (1.0 + spread).ln() + std::f64::consts::LN_2;
        let size = largest(alpha);
        let squares: f64 = alpha.iter().map(|alpha| (alpha / size) * (alpha / size)).sum();
        let ln_moduli = if size > 0.0 { ln_norm + size.ln() + 0.5 * squares.ln() } else { f64::NEG_INFINITY };
        rounding::of_features(q, ln_value, ln_moduli, std::iter::repeat(ln_norm), units, out);
    }

    /// `c_k^(1/q)` of the monomials with these exponents; 1 or 0 where they have a scale of their own.
    pub(super) fn root(&self, exponents: &[usize]) -> f64 {
        let unscaled = self.kernel.unscaled_coefficient(exponents);
        if self.scale != MonomialScale::Raw {
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
    pub(super) fn roots(&self, prefix: &[usize]) -> Roots {
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
    pub(super) fn place(&self, degree: Degree, prefix: &[usize]) -> u64 {
        degree.first + place(self.inputs(), degree.degree, degree.distinct, prefix)
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
        self.points.factors_into(out);
        variables.iter().for_each(|&variable| self.points.x.multiply_by_column(variable as usize, out));
        if self.scale == MonomialScale::Raw {
            let mut exponents = [0; MAX_DEGREE];
            let runs = variables.chunk_by(|a, b| a == b);
            let used = exponents.iter_mut().zip(runs).map(|(exponent, run)| *exponent = run.len()).count();
            let root = self.root(&exponents[..used]);
            out.iter_mut().for_each(|phi| *phi *= root);
        } else {
            let (centre, factor) = self.scale.of_column(out);
            out.iter_mut().for_each(|phi| *phi = (*phi - centre) * factor);
        }
    }
}

/// The degrees of a kernel in which it has features, with the number of the first of each.
pub(super) fn degrees(kernel: &dyn TensorKernel, inputs: usize) -> Result<Vec<Degree>, Error> {
    let Some(count) = cardinality(kernel, inputs) else {
        return Err(Error::InfinitelyManyFeatures { kernel: kernel.name() });
    };
    let (lowest, highest) = kernel.degrees();
    let refuse = |allowed| Error::Parameter { name: "degree", got: format!("{lowest} to {highest:?}"), allowed };
    let mut first = 0_u64;
    let mut degrees = Vec::new();
    for Block { degree, distinct } in Block::all(kernel, highest.unwrap_or(lowest)) {
        let own = ways(inputs, degree, distinct).filter(|own| *own <= MOST);
        let Some(end) = own.map(|own| first + own).filter(|end| *end <= MOST) else {
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

impl fmt::Debug for Monomials<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monomials")
            .field("x", &self.points.x)
            .field("kernel", &self.kernel)
            .field("scale", &self.scale)
            .field("exponent", &self.exponent)
            .field("count", &self.count())
            .finish_non_exhaustive()
    }
}

/// Some monomials by their numbers, as columns.
pub(super) struct Listed<'m, 'a> {
    monomials: &'m Monomials<'a>,
    variables: Vec<Vec<u32>>,
}

impl<'m, 'a> Listed<'m, 'a> {
    pub(super) fn new(monomials: &'m Monomials<'a>, indices: &[u64]) -> Self {
        Self { monomials, variables: indices.iter().map(|&index| monomials.variables(index)).collect() }
    }

    /// The variables of one of them.
    pub(super) fn variables(&self, column: usize) -> &[u32] {
        &self.variables[column]
    }

    /// The products of all of them with a vector.
    pub(super) fn products(&self, vector: &[f64], out: &mut [f64]) {
        use rayon::prelude::*;
        const PIECE: usize = 512;
        self.variables.par_chunks(PIECE).zip(out.par_chunks_mut(PIECE)).for_each(|(variables, out)| {
            let mut column = vec![0.0; vector.len()];
            for (variables, out) in variables.iter().zip(out) {
                self.monomials.column_into(variables, &mut column);
                *out = dot(&column, vector);
            }
        });
    }
}

impl Columns for Listed<'_, '_> {
    fn samples(&self) -> usize {
        self.monomials.samples()
    }

    fn column_into(&self, column: usize, out: &mut [f64]) {
        self.monomials.column_into(&self.variables[column], out);
    }

    fn scale_of(&self, columns: &[usize]) -> f64 {
        use rayon::prelude::*;
        let size = |column: &mut Vec<f64>, at: &usize| {
            self.column_into(*at, column);
            largest(column)
        };
        let sizes = columns.par_iter().with_min_len(64).map_init(|| vec![0.0; self.samples()], size);
        f64::from(binary_exponent(sizes.reduce(|| 0.0, f64::max)))
    }
}
