//! Fitted functions, by their dual vectors: the pass of an evaluation whose second product goes to the new points.

use super::evaluate::{Functions, Powers};
use crate::{
    Error, FeatureMatrix,
    data::Scratch,
    exponent::{Running, copy_in_range},
    form::Predict,
    monomials::Monomials,
    numeric::WidePower,
};

/// `f(x) = <J_q(Phi_n* alpha), Phi(x)>` for one or several alpha.
#[derive(Debug)]
pub(super) struct TilePredictor {
    monomials: Monomials<'static>,
    /// The dual vectors, divided by powers of two.
    alphas: Vec<f64>,
    exponents: Vec<f64>,
}

/// The most points that are predicted in one pass: enough that the first product, with the samples, costs little beside theirs.
const POINTS: usize = 1 << 14;
/// The most numbers that all stripes leave for the points of a pass: 4 MB.
const SUMS: usize = 1 << 19;

impl TilePredictor {
    pub(super) fn new(monomials: &Monomials<'_>, alphas: &[f64]) -> Self {
        let n = monomials.samples();
        assert_eq!(alphas.len() % n, 0, "every alpha has n entries");
        let mut copies = vec![0.0; alphas.len()];
        let exponents =
            alphas.chunks(n).zip(copies.chunks_mut(n)).map(|(alpha, copy)| copy_in_range(alpha, copy)).collect();
        Self { monomials: monomials.to_owned(), alphas: copies, exponents }
    }
}

impl Predict for TilePredictor {
    fn predict(&self, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error> {
        let (points, count, monomials) = (x.samples(), self.exponents.len(), &self.monomials);
        let q = monomials.exponent.q();
        let mut values = vec![0.0; points * count];
        let (mut scratch, visitor) = (Scratch::new(), Powers { exponent: monomials.exponent });
        let mut own = vec![(); monomials.stripes()];
        let together = (SUMS / (count * own.len()).max(1)).clamp(64, POINTS);
        for first in (0..points).step_by(together) {
            let end = (first + together).min(points);
            let part = if end - first == points { x.view() } else { x.sample_range(first..end)? };
            let part = monomials.points(&part)?;
            let (mut totals, mut sums) = (vec![0.0; Running::LENGTH * count], vec![0.0; (end - first) * count]);
            let functions = Functions { totals: &mut totals, sums: &mut sums };
            functions.find(monomials, &part, &self.alphas, (&visitor, &mut own), &mut scratch.pass);
            for (function, total) in totals.chunks(Running::LENGTH).map(Running::load).enumerate() {
                let sums = &sums[function * (end - first)..][..end - first];
                let values = &mut values[function * points..][first..end];
                if total.size > 0.0 {
                    let power = WidePower::new(total.size, self.exponents[function], q - 1.0);
                    values.iter_mut().zip(sums).for_each(|(value, sum)| *value = power.times(*sum));
                }
            }
        }
        Ok(values)
    }
}
