//! `Q` along lines, from the products of the features with both ends.

use std::ops::Add;

use crate::{
    Exponent,
    data::Scratch,
    exponent::{LineSums, NEGLIGIBLE, copy_in_range},
    form::{Expansion, Features, LinePoint, Lines},
    numeric::{WidePower, ZERO_EXPONENT, binary_exponent, largest_on_line, scale_by_exp2},
};

/// `u` and the images of the directions, in blocks of features.
pub(in crate::form) struct FeatureLines<'a> {
    pub exponent: Exponent,
    pub block: usize,
    /// Passes over the data that the products took.
    pub passes: usize,
    /// Powers of two by which `u` and each direction were divided.
    pub exponents: &'a [f64],
    /// For each block the values of `u`, then those of each direction.
    pub products: &'a [f64],
}

/// Blocks in a leaf of the tree by which the sums over features are formed: enough work to hide the start of a task.
const LEAF_BLOCKS: usize = 64;

impl<'a> FeatureLines<'a> {
    /// The line from one expanded point to another.
    pub(super) fn between(form: &Features<'_>, from: &Expansion, to: &Expansion, scratch: &'a mut Scratch) -> Self {
        let (from, to) = (from.products(), to.products());
        let exponent = from.exponent.max(to.exponent);
        let factors = [from, to].map(|at| scale_by_exp2(1.0, at.exponent - exponent));
        let exponents = scratch.duals.take(2);
        exponents.fill(exponent);
        let (block, products) = (form.matrix.layout().block, scratch.per_feature.take(2 * from.u.len()));
        let points = from.u.chunks(block).zip(to.u.chunks(block));
        for ((from, to), out) in points.zip(products.chunks_mut(2 * block)) {
            let (u, d) = out.split_at_mut(from.len());
            for (((u, d), from), to) in u.iter_mut().zip(d).zip(from).zip(to) {
                *u = factors[0] * from;
                *d = factors[1] * to - *u;
            }
        }
        Self { exponent: form.exponent, block, passes: 0, exponents, products }
    }

    /// The line from an expanded point, as far as some features see it.
    pub(super) fn of_columns(
        form: &Features<'_>,
        at: &Expansion,
        columns: &[usize],
        d: &[f64],
        scratch: &'a mut Scratch,
    ) -> Self {
        let (exponents, copy) = scratch.duals.take(2 + d.len()).split_at_mut(2);
        let at = at.products();
        exponents.copy_from_slice(&[at.exponent, copy_in_range(d, copy)]);
        let products = scratch.per_feature.take(2 * columns.len());
        let (u, products_of_d) = products.split_at_mut(columns.len());
        u.iter_mut().zip(columns).for_each(|(u, &column)| *u = at.u[column]);
        form.matrix.products(columns, copy, products_of_d);
        Self { exponent: form.exponent, block: columns.len(), passes: 0, exponents, products }
    }

    /// Visits `(u, d)` of every block, and combines the results along a tree that depends on the number of
    /// features alone.
    fn reduce<T: Send>(
        &self,
        products: &[f64],
        line: usize,
        visit: &(impl Fn(&[f64], &[f64]) -> T + Sync),
        combine: &(impl Fn(T, T) -> T + Sync),
    ) -> T {
        let columns = self.exponents.len();
        let leaf = LEAF_BLOCKS * self.block * columns;
        if products.len() > leaf {
            let middle = products.len().div_ceil(leaf) / 2 * leaf;
            let (left, right) = products.split_at(middle);
            let (left, right) =
                rayon::join(|| self.reduce(left, line, visit, combine), || self.reduce(right, line, visit, combine));
            return combine(left, right);
        }
        let blocks = products.chunks(self.block * columns).map(|block| {
            let width = block.len() / columns;
            visit(&block[..width], &block[(1 + line) * width..(2 + line) * width])
        });
        blocks.reduce(combine).expect("a matrix has at least one feature")
    }
}

impl Lines for FeatureLines<'_> {
    fn passes(&self) -> usize {
        self.passes
    }

    fn at(&self, line: usize, t: f64) -> LinePoint {
        let (u_exponent, d_exponent) = (self.exponents[0], self.exponents[1 + line]);
        let step_exponent = if t == 0.0 { ZERO_EXPONENT } else { d_exponent + f64::from(binary_exponent(t.abs())) };
        let common = u_exponent.max(step_exponent);
        let (u_factor, d_factor) = (scale_by_exp2(1.0, u_exponent - common), scale_by_exp2(t, d_exponent - common));
        let largest = |u: &[f64], d: &[f64]| largest_on_line(u, d, u_factor, d_factor);
        let size = self.reduce(self.products, line, &largest, &f64::max);
        if size < NEGLIGIBLE {
            return LinePoint { value: 0.0, slope: 0.0, bregman: 0.0 };
        }
        let sums = |u: &[f64], d: &[f64]| self.exponent.line_sums(u, d, u_factor / size, d_factor / size);
        let sums = self.reduce(self.products, line, &sums, &LineSums::add);
        let q = self.exponent.q();
        let power = WidePower::new(size, common, q);
        LinePoint {
            value: power.times(sums.power / q),
            slope: WidePower::new(size, common, q - 1.0).scaled_by_exp2(d_exponent).times(sums.slope),
            bregman: power.times(sums.bregman),
        }
    }
}
