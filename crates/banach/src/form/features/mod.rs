//! The features route: `Q` from the matrix `Phi_n`, for any `q`.

mod hessian;
mod lines;
mod sharp;
mod sizes;
mod weights;

use std::sync::{Mutex, OnceLock};

use self::sizes::Sizes;
pub(super) use self::{lines::FeatureLines, sizes::Origin, weights::Weights};
use super::{Evaluation, Expanded, Expansion, Hessian, LINES, Lines, LocalModel, Predict, QForm, is_in_place};
use crate::{
    Exponent, FeatureMatrix,
    data::{MAX_BLOCK, Scratch, Sweep, SweepBlock},
    exponent::{NEGLIGIBLE, Running, copy_in_range},
    numeric::{WidePower, largest},
};

/// `Q(alpha) = (1/q)||Phi_n' alpha||_q^q` for a given feature matrix.
///
/// One evaluation reads the matrix once and costs `4 n card(K)` operations per dual vector.
#[derive(Debug, Clone)]
pub struct Features<'a> {
    matrix: FeatureMatrix<'a>,
    exponent: Exponent,
    /// `Phi_n Phi_n*`, the Hessian for q = 2, found when it is first asked for.
    square: OnceLock<Vec<f64>>,
    /// The norms of the features, found when the Hessian for another q is first asked for.
    norms: OnceLock<hessian::Norms>,
    /// What bounds the rounding of predictions, found in the first pass.
    sizes: OnceLock<Sizes>,
    origin: Origin,
}

impl<'a> Features<'a> {
    /// The form of a feature matrix.
    ///
    /// # Panics
    ///
    /// If p = 1, whose form a [`Plan`](super::Plan) makes.
    pub fn new(matrix: FeatureMatrix<'a>, exponent: Exponent) -> Self {
        assert!(!exponent.is_endpoint(), "p = 1 has another form");
        Self::formed(matrix, exponent, Origin::GIVEN)
    }

    /// The form of features that were computed.
    pub(super) fn formed(matrix: FeatureMatrix<'a>, exponent: Exponent, origin: Origin) -> Self {
        let (square, norms, sizes) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { matrix, exponent, square, norms, sizes, origin }
    }

    /// The bytes of working memory that evaluations of this many problems and line searches take, besides the matrix; `None` if they
    /// cannot be counted. Second derivatives are not counted: the solver decides on them.
    pub(crate) fn working_bytes(samples: usize, features: usize, stored: usize, problems: usize) -> Option<u64> {
        let state = Running::LENGTH.checked_mul(problems)?.checked_add(samples)?;
        let evaluate = Sweep { per_feature: 0, state, outputs: problems };
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
        let exponent = copy_in_range(alpha, &mut copy);
        let mut weights = vec![0.0; self.matrix.features()];
        let keep = |block: SweepBlock<'_>| {
            let size = largest(block.u);
            if size >= NEGLIGIBLE {
                self.exponent.duality_map(block.u, 1.0 / size);
                let power = WidePower::new(size, exponent, q - 1.0);
                block.kept.iter_mut().zip(&*block.u).for_each(|(weight, u)| *weight = power.times(*u));
            }
        };
        let pass = Sweep { per_feature: 1, state: 0, outputs: 0 };
        pass.run(&self.matrix, &copy, &mut weights, &mut Scratch::new().pass, keep, |_, _| {});
        weights
    }

    /// Evaluates a batch. `kept`, unless it is empty, receives u for every dual vector, block of features by block,
    /// each divided by the power of two that [`copy_in_range`] gives. `squares`, if asked for, receives the squares of the norms of
    /// the features.
    fn pass(
        &self,
        alphas: &[f64],
        kept: &mut [f64],
        squares: Option<&Mutex<Vec<f64>>>,
        out: &mut Evaluation,
        scratch: &mut Scratch,
    ) {
        let (n, q) = (self.samples(), self.exponent.q());
        let batch = alphas.len() / n;
        out.resize(n, batch);
        out.omegas.fill(0.0);
        // The first pass finds the sizes of the samples too.
        let mut rows = if self.sizes.get().is_none() { vec![0.0; n] } else { Vec::new() };
        let (own, power) = (rows.len(), Sizes::power(q));
        let (copies, totals) = scratch.duals.take((n + 1 + Running::LENGTH) * batch).split_at_mut(n * batch);
        let (exponents, totals) = totals.split_at_mut(batch);
        totals.fill(0.0);
        for (problem, (alpha, copy)) in alphas.chunks(n).zip(copies.chunks_mut(n)).enumerate() {
            exponents[problem] = copy_in_range(alpha, copy);
        }

        let keep = !kept.is_empty();
        let weigh = |block: SweepBlock<'_>| {
            let width = block.columns.len();
            if keep {
                block.kept.copy_from_slice(block.u);
            }
            if let Some(squares) = squares {
                let mut own = [0.0; MAX_BLOCK];
                block.features.squares(block.buffer, &mut own[..width]);
                squares.lock().expect("no pass panics")[block.columns.clone()].copy_from_slice(&own[..width]);
            }
            let (rows, states) = block.state.split_at_mut(own);
            if own > 0 {
                block.features.add_row_powers(power, block.buffer, rows);
            }
            let columns = block.u.chunks_mut(width).zip(block.sum.chunks_mut(n));
            for ((u, omega), state) in columns.zip(states.chunks_mut(Running::LENGTH)) {
                let mut running = Running::load(state);
                running.raise(largest(u), q, omega);
                running.power_sum += self.exponent.duality_map(u, running.inverse());
                running.store(state);
            }
        };
        let merge = |states: &[f64], sums: &[f64]| {
            let (own, states) = states.split_at(own);
            rows.iter_mut().zip(own).for_each(|(row, own)| *row += own);
            let stripes = states.chunks(Running::LENGTH).zip(sums.chunks(n));
            let totals = totals.chunks_mut(Running::LENGTH).zip(out.omegas.chunks_mut(n));
            for ((state, sum), (total, omega)) in stripes.zip(totals) {
                let mut whole = Running::load(total);
                whole.merge(Running::load(state), sum, q, omega);
                whole.store(total);
            }
        };
        let state = own + Running::LENGTH * batch;
        let pass = Sweep { per_feature: kept.len() / self.matrix.features(), state, outputs: batch };
        pass.run(&self.matrix, copies, kept, &mut scratch.pass, weigh, merge);

        let sizes = self.sizes.get_or_init(|| Sizes::new(&self.matrix, q, self.origin, &rows));
        for (problem, (total, exponent)) in totals.chunks(Running::LENGTH).zip(&*exponents).enumerate() {
            out.finish(problem, Running::load(total), *exponent, q);
            let (alpha, ln_value) = (&alphas[problem * n..][..n], out.ln_values[problem]);
            sizes.roundings(q, alpha, ln_value, &mut out.roundings[problem * n..][..n]);
        }
    }

    /// `u = Phi_n* alpha` divided by a power of two, the exponent of that, and the largest `|u|`.
    fn products<'s>(&self, alpha: &[f64], scratch: &'s mut Scratch) -> (&'s mut [f64], f64, f64) {
        let copy = scratch.duals.take(alpha.len());
        let exponent = copy_in_range(alpha, copy);
        let u = scratch.per_feature.take(self.matrix.features());
        let pass = Sweep { per_feature: 1, state: 0, outputs: 0 };
        let keep = |block: SweepBlock<'_>| block.kept.copy_from_slice(block.u);
        pass.run(&self.matrix, copy, u, &mut scratch.pass, keep, |_, _| {});
        let size = largest(u);
        (u, size, exponent)
    }
}

impl QForm for Features<'_> {
    fn exponent(&self) -> Exponent {
        self.exponent
    }

    fn samples(&self) -> usize {
        self.matrix.samples()
    }

    fn evaluate(&self, alphas: &[f64], out: &mut Evaluation, scratch: &mut Scratch) {
        self.pass(alphas, &mut [], None, out, scratch);
    }

    fn expand(&self, alphas: &[f64], out: &mut [&mut Expansion], scratch: &mut Scratch) {
        hessian::expand(self, alphas, out, scratch);
    }

    fn sharpen(&self, alpha: &[f64], at: &mut Evaluation, _scratch: &mut Scratch) -> usize {
        sharp::sharpen(self, alpha, at)
    }

    fn cardinality(&self) -> Option<u64> {
        Some(self.matrix.features() as u64)
    }

    fn listed(&self) -> Option<&FeatureMatrix<'_>> {
        Some(&self.matrix)
    }

    fn expansion_length(&self) -> usize {
        self.matrix.features()
    }

    fn batch_bytes(&self) -> u64 {
        let (n, features, stored) = (self.samples(), self.matrix.features(), self.matrix.stored());
        let bytes = |problems| {
            let pass = Sweep { per_feature: 0, state: Running::LENGTH * problems, outputs: problems };
            pass.memory(n, features, stored, problems).unwrap_or(usize::MAX)
        };
        (bytes(2) as u64).saturating_sub(bytes(1) as u64).saturating_mul(8)
    }

    fn hessian(&self, at: &Expansion, keep: usize, scratch: &mut Scratch) -> Hessian {
        hessian::hessian(self, at, keep, scratch)
    }

    fn hessian_in_place(&self, at: &Expansion) -> Option<Hessian> {
        is_in_place(self.samples(), self.matrix.features()).then(|| hessian::in_place(self, at))
    }

    fn preview<'b>(
        &'b self,
        at: &Expansion,
        hessian: &Hessian,
        d: &[f64],
        scratch: &'b mut Scratch,
    ) -> Option<Box<dyn Lines + 'b>> {
        let lines = FeatureLines::of_columns(self, at, &hessian.columns, d, scratch);
        (!hessian.columns.is_empty()).then(|| Box::new(lines) as Box<dyn Lines>)
    }

    fn local(&self, at: Expanded<'_>, keep: usize, most_left_out: f64, scratch: &mut Scratch) -> Option<LocalModel> {
        hessian::local(self, at, keep, most_left_out, scratch)
    }

    fn segment<'b>(
        &'b self,
        (_, from): Expanded<'_>,
        (_, to): Expanded<'_>,
        scratch: &'b mut Scratch,
    ) -> Box<dyn Lines + 'b> {
        Box::new(FeatureLines::between(self, from, to, scratch))
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
            *exponent = copy_in_range(vector, copy);
        }
        let products = scratch.per_feature.take(features * (1 + count));
        let pass = Sweep { per_feature: 1 + count, state: 0, outputs: 0 };
        let keep = |block: SweepBlock<'_>| block.kept.copy_from_slice(block.u);
        pass.run(&self.matrix, copies, products, &mut scratch.pass, keep, |_, _| {});
        let block = self.matrix.layout().block;
        Box::new(FeatureLines { exponent: self.exponent, block, passes: 1, exponents, products })
    }
}
