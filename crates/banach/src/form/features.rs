//! The features route: `Q` from the matrix `Phi_n`, for any `q`.

use std::ops::Add;

use crate::{
    Error, Exponent, FeatureMatrix, Scratch,
    data::{Block, Sweep},
    exponent::{
        LineSums, WidePower, ZERO_EXPONENT, binary_exponent, largest, largest_on_line, scale_by_exp2, scaled_copy,
    },
};

use super::{Evaluation, LINES, LinePoint, Lines, Predict, QForm};

/// `Q(alpha) = (1/q)||Phi_n' alpha||_q^q` for a given feature matrix.
///
/// One evaluation reads the matrix once and costs `4 n card(K)` operations per dual vector.
#[derive(Debug, Clone)]
pub struct Features<'a> {
    matrix: FeatureMatrix<'a>,
    exponent: Exponent,
}

impl<'a> Features<'a> {
    /// The form of a feature matrix.
    pub fn new(matrix: FeatureMatrix<'a>, exponent: Exponent) -> Self {
        Self { matrix, exponent }
    }

    /// The bytes of working memory that evaluations of so many problems and line searches take, besides the matrix; `None`
    /// beyond all counting. Second derivatives are not counted: they are of the solver's choosing.
    pub fn working_bytes(samples: usize, features: usize, stored: usize, problems: usize) -> Option<u64> {
        let evaluate = Sweep { per_feature: 0, state: Running::LENGTH * problems, outputs: problems };
        let lines = Sweep { per_feature: 1 + LINES, state: 0, outputs: 0 };
        let pass = |sweep: Sweep, inputs| sweep.memory(samples, features, stored, inputs);
        let accumulators = pass(evaluate, problems)?.max(pass(lines, 1 + LINES)?);
        let numbers = features.checked_mul(1 + LINES)?.checked_add(accumulators)?;
        u64::try_from(numbers).ok()?.checked_mul(8)
    }

    /// The matrix.
    pub fn matrix(&self) -> &FeatureMatrix<'a> {
        &self.matrix
    }

    /// The weights `w = J_q(Phi_n* alpha)` of (25) `[eq:kkt]`.
    ///
    /// # Panics
    ///
    /// If `alpha` does not have n entries.
    pub fn weights(&self, alpha: &[f64]) -> Vec<f64> {
        assert_eq!(alpha.len(), self.samples(), "alpha has n entries");
        let q = self.exponent.q();
        let mut copy = vec![0.0; alpha.len()];
        let exponent = scaled(alpha, &mut copy);
        let mut weights = vec![0.0; self.matrix.features()];
        let keep = |block: Block<'_>| {
            let size = largest(block.u);
            if size >= NEGLIGIBLE {
                self.exponent.duality_map(block.u, 1.0 / size);
                let power = WidePower::new(size, exponent, q - 1.0);
                block.features.iter_mut().zip(&*block.u).for_each(|(weight, u)| *weight = power.times(*u));
            }
        };
        let pass = Sweep { per_feature: 1, state: 0, outputs: 0 };
        pass.run(&self.matrix, &copy, &mut weights, &mut Scratch::new().pass, keep, |_, _| {});
        weights
    }

    /// `u = Phi_n* alpha` up to a power of two, which is returned with the largest of these numbers.
    fn products<'s>(&self, alpha: &[f64], scratch: &'s mut Scratch) -> (&'s mut [f64], f64, f64) {
        let copy = scratch.duals.take(alpha.len());
        let exponent = scaled(alpha, copy);
        let u = scratch.features.take(self.matrix.features());
        let pass = Sweep { per_feature: 1, state: 0, outputs: 0 };
        let keep = |block: Block<'_>| block.features.copy_from_slice(block.u);
        pass.run(&self.matrix, copy, u, &mut scratch.pass, keep, |_, _| {});
        let size = largest(u);
        (u, size, exponent)
    }
}

/// Dual vectors are scaled to this power of two: products with entries up to 1e200 then stay finite, and those with
/// denormal entries stay far above [`NEGLIGIBLE`].
const DUAL_SIZE: f64 = 300.0;

fn scaled(alpha: &[f64], copy: &mut [f64]) -> f64 {
    scaled_copy(alpha, DUAL_SIZE, copy)
}

impl QForm for Features<'_> {
    fn exponent(&self) -> Exponent {
        self.exponent
    }

    fn samples(&self) -> usize {
        self.matrix.samples()
    }

    fn evaluate(&self, alphas: &[f64], out: &mut Evaluation, scratch: &mut Scratch) {
        let (n, q) = (self.samples(), self.exponent.q());
        let batch = alphas.len() / n;
        out.resize(n, batch);
        out.omegas.fill(0.0);
        let (copies, totals) = scratch.duals.take((n + 1 + Running::LENGTH) * batch).split_at_mut(n * batch);
        let (exponents, totals) = totals.split_at_mut(batch);
        totals.fill(0.0);
        for (problem, (alpha, copy)) in alphas.chunks(n).zip(copies.chunks_mut(n)).enumerate() {
            exponents[problem] = scaled(alpha, copy);
        }

        let weigh = |block: Block<'_>| {
            let width = block.columns.len();
            let columns = block.u.chunks_mut(width).zip(block.sum.chunks_mut(n));
            for ((u, omega), state) in columns.zip(block.state.chunks_mut(Running::LENGTH)) {
                let mut running = Running::load(state);
                running.raise(largest(u), q, omega);
                running.power_sum += self.exponent.duality_map(u, running.inverse());
                running.store(state);
            }
        };
        let merge = |states: &[f64], sums: &[f64]| {
            let stripes = states.chunks(Running::LENGTH).zip(sums.chunks(n));
            let totals = totals.chunks_mut(Running::LENGTH).zip(out.omegas.chunks_mut(n));
            for ((state, sum), (total, omega)) in stripes.zip(totals) {
                let (mut whole, mut stripe) = (Running::load(total), Running::load(state));
                whole.raise(stripe.size, q, omega);
                let factor = stripe.shrink_to(whole.size, q);
                whole.power_sum += stripe.power_sum;
                omega.iter_mut().zip(sum).for_each(|(omega, sum)| *omega += factor * sum);
                whole.store(total);
            }
        };
        let pass = Sweep { per_feature: 0, state: Running::LENGTH * batch, outputs: batch };
        pass.run(&self.matrix, copies, &mut [], &mut scratch.pass, weigh, merge);

        let totals = totals.chunks(Running::LENGTH).map(Running::load).zip(exponents);
        for (problem, ((total, exponent), omega)) in totals.zip(out.omegas.chunks_mut(n)).enumerate() {
            if total.size == 0.0 {
                out.values[problem] = 0.0;
                out.ln_values[problem] = f64::NEG_INFINITY;
                continue;
            }
            let power = WidePower::new(total.size, *exponent, q);
            out.values[problem] = power.times(total.power_sum / q);
            out.ln_values[problem] = power.ln_times(total.power_sum / q);
            let power = WidePower::new(total.size, *exponent, q - 1.0);
            omega.iter_mut().for_each(|omega| *omega = power.times(*omega));
        }
    }

    fn curvature(&self, alphas: &[f64], out: &mut Evaluation, scratch: &mut Scratch) {
        self.evaluate(alphas, out, scratch);
        let (n, q) = (self.samples(), self.exponent.q());
        out.curvatures.resize(n * alphas.len(), 0.0);
        for (alpha, matrix) in alphas.chunks(n).zip(out.curvatures.chunks_mut(n * n)) {
            let (u, size, exponent) = self.products(alpha, scratch);
            if size < NEGLIGIBLE && q > 2.0 {
                matrix.fill(0.0);
                continue;
            }
            // |u/size|^(q-2), and 1 for q = 2.
            u.iter_mut().for_each(|u| *u = if q == 2.0 { 1.0 } else { (u.abs() / size).powf(q - 2.0) });
            let entries = self.matrix.weighted_square(u, matrix);
            let power = if q == 2.0 { WidePower::new(1.0, 0.0, 1.0) } else { WidePower::new(size, exponent, q - 2.0) };
            let power = power.scaled_by_exp2(2.0 * entries);
            matrix.iter_mut().for_each(|entry| *entry = power.times(*entry));
        }
    }

    fn predictor(&self, alphas: &[f64]) -> Box<dyn Predict> {
        Box::new(Weights::new(self, alphas))
    }

    fn lines<'b>(&'b self, alpha: &[f64], directions: &[f64], scratch: &'b mut Scratch) -> Box<dyn Lines + 'b> {
        let (n, features) = (self.samples(), self.matrix.features());
        let count = directions.len() / n;
        let (copies, exponents) = scratch.duals.take((n + 1) * (1 + count)).split_at_mut(n * (1 + count));
        let vectors = std::iter::once(alpha).chain(directions.chunks(n));
        for ((vector, copy), exponent) in vectors.zip(copies.chunks_mut(n)).zip(&mut *exponents) {
            *exponent = scaled(vector, copy);
        }
        let products = scratch.features.take(features * (1 + count));
        let pass = Sweep { per_feature: 1 + count, state: 0, outputs: 0 };
        let keep = |block: Block<'_>| block.features.copy_from_slice(block.u);
        pass.run(&self.matrix, copies, products, &mut scratch.pass, keep, |_, _| {});
        Box::new(FeatureLines { exponent: self.exponent, block: self.matrix.layout().block, exponents, products })
    }
}

/// `f(x) = <w, x>` for one or several w.
#[derive(Debug)]
pub(super) struct Weights {
    features: usize,
    /// Each w relative to its largest entry.
    relative: Vec<f64>,
    sizes: Vec<WidePower>,
}

impl Weights {
    pub(super) fn new(form: &Features<'_>, alphas: &[f64]) -> Self {
        let (n, q, features) = (form.samples(), form.exponent.q(), form.matrix.features());
        assert_eq!(alphas.len() % n, 0, "every alpha has n entries");
        let (mut scratch, mut relative, mut sizes) = (Scratch::new(), Vec::new(), Vec::new());
        for alpha in alphas.chunks(n) {
            let (u, size, exponent) = form.products(alpha, &mut scratch);
            if size < NEGLIGIBLE {
                relative.resize(relative.len() + features, 0.0);
                sizes.push(WidePower::new(1.0, 0.0, 1.0));
                continue;
            }
            form.exponent.duality_map(u, 1.0 / size);
            relative.extend_from_slice(u);
            sizes.push(WidePower::new(size, exponent, q - 1.0));
        }
        Self { features, relative, sizes }
    }
}

impl Predict for Weights {
    fn predict(&self, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error> {
        let (got, expected) = (x.features(), self.features);
        if got != expected {
            return Err(Error::Shape { what: "a row of the new X", got, expected });
        }
        let functions = self.relative.chunks(self.features).zip(&self.sizes);
        Ok(functions.flat_map(|(w, size)| x.times(w).into_iter().map(|f| size.times(f))).collect())
    }

    fn weights(&self) -> Option<Vec<f64>> {
        let functions = self.relative.chunks(self.features).zip(&self.sizes);
        Some(functions.flat_map(|(w, size)| w.iter().map(|w| size.times(*w))).collect())
    }
}

/// Scaled products below this are what cancellation leaves of numbers that are 1e60 times as large, or more.
const NEGLIGIBLE: f64 = 1e-300;

/// The running scale of one dual vector in one stripe: sums are divided by powers of `size`.
#[derive(Clone, Copy)]
struct Running {
    /// The largest `|u|` so far; 0 before the first.
    size: f64,
    /// The sum of `|u / size|^q`.
    power_sum: f64,
}

impl Running {
    const LENGTH: usize = 2;

    fn load(state: &[f64]) -> Self {
        Self { size: state[0], power_sum: state[1] }
    }

    fn store(self, state: &mut [f64]) {
        state.copy_from_slice(&[self.size, self.power_sum]);
    }

    /// 1/size, or 0 where every `u` is so small that its powers vanish.
    fn inverse(self) -> f64 {
        if self.size < NEGLIGIBLE { 0.0 } else { 1.0 / self.size }
    }

    /// Raises the scale to `size` if that is larger, and shrinks what was summed up to fit.
    fn raise(&mut self, size: f64, q: f64, omega: &mut [f64]) {
        if size > self.size {
            let factor = self.shrink_to(size, q);
            omega.iter_mut().for_each(|omega| *omega *= factor);
        }
    }

    /// Moves to a larger scale; returns the factor for sums of `J_q(u)`.
    fn shrink_to(&mut self, size: f64, q: f64) -> f64 {
        let ratio = if size > 0.0 { self.size / size } else { 0.0 };
        self.size = size;
        let factor = ratio.powf(q - 1.0);
        self.power_sum *= ratio * factor;
        factor
    }
}

/// `u` and the images of the directions, in blocks of features.
struct FeatureLines<'a> {
    exponent: Exponent,
    block: usize,
    /// Powers of two by which `u` and each direction were divided.
    exponents: &'a [f64],
    /// For each block the values of `u`, then those of each direction.
    products: &'a [f64],
}

/// Blocks in a leaf of the tree by which the sums over features are formed.
const LEAF_BLOCKS: usize = 64;

impl FeatureLines<'_> {
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
    fn at(&self, line: usize, t: f64) -> LinePoint {
        let (u_exponent, d_exponent) = (self.exponents[0], self.exponents[1 + line]);
        let step_exponent = if t == 0.0 { ZERO_EXPONENT } else { d_exponent + f64::from(binary_exponent(t.abs())) };
        let common = u_exponent.max(step_exponent);
        let (u_scale, d_scale) = (scale_by_exp2(1.0, u_exponent - common), scale_by_exp2(t, d_exponent - common));
        let largest = |u: &[f64], d: &[f64]| largest_on_line(u, d, u_scale, d_scale);
        let size = self.reduce(self.products, line, &largest, &f64::max);
        if size < NEGLIGIBLE {
            return LinePoint { value: 0.0, slope: 0.0, bregman: 0.0 };
        }
        let sums = |u: &[f64], d: &[f64]| self.exponent.line_sums(u, d, u_scale / size, d_scale / size);
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
