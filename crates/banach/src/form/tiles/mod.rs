//! The tiles route: `Q` of a kernel with finitely many features, none of which is stored.

mod evaluate;
mod heaviest;
#[cfg(test)]
mod laws;
mod lines;
mod predictor;
mod roundings;
mod segment;
mod sharp;

use std::sync::{Arc, OnceLock};

pub(super) use self::heaviest::Heaviest;
use self::{heaviest::MonomialNorms, lines::TileLines, predictor::TilePredictor};
use super::{Evaluation, Expanded, Expansion, Hessian, Lines, LocalModel, Predict, QForm};
use crate::{
    Error, Exponent, FeatureMatrix, Memory,
    data::Scratch,
    error::Remedy,
    kernel::{MonomialScale, TensorKernel, check_range},
    monomials::{MonomialSweep, Monomials, pass_bytes},
};

/// An expansion keeps one monomial in 64, within [`KEPT_LIMITS`] and at least [`KEPT_PER_SAMPLE`] for each sample. To keep more of
/// 211,575 monomials does not save a pass (n = 90 and 150, p = 1.02 to 4/3), and to list them takes longer than the pass.
const MONOMIALS_PER_KEPT: u64 = 64;
/// The fewest and the most monomials that an expansion keeps by that share.
const KEPT_LIMITS: (usize, usize) = (1 << 12, 1 << 16);
/// Monomials that are kept for each sample, so that the Hessian has full rank many times over.
const KEPT_PER_SAMPLE: usize = 16;
/// Samples whose rows of `Phi_n Phi_n*` are found in one pass: enough that the products run at full speed.
const ROWS_PER_PASS: usize = 16;

/// `Q` of a kernel with finitely many features, for any q, without its feature matrix.
///
/// The kernel is a sum over its degrees, and the features of a degree are the entries of a symmetric array
/// `A = sum_i alpha_i x_i (x) ... (x) x_i`, which is formed tile by tile by matrix products, turned into `J_q(c A) c` in cache and
/// contracted with the samples again. One evaluation costs `4 n card(K)` operations per dual vector, at the speed of matrix
/// products, and the memory of a few tiles.
///
/// Monomials can be brought to another scale, [`MonomialScale::Unit`] or [`MonomialScale::Standardized`], for one or two more
/// products per tile.
///
/// ```
/// use banach::{Exponent, FeatureMatrix, Memory, QForm, form::Tiles, kernel::{MonomialScale, Polynomial}};
///
/// let x = FeatureMatrix::from_rows(3, 2, &[1.0, 2.0, -1.0, 0.5, 0.3, 1.0])?;
/// let kernel = Polynomial::new(2, 1.0, 0.0)?;
/// let tiles = Tiles::new(x, kernel, MonomialScale::Raw, Exponent::new(1.05)?, Memory::default())?;
/// assert_eq!(tiles.cardinality(), Some(3));
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug)]
pub struct Tiles<'a> {
    monomials: Monomials<'a>,
    capacity: usize,
    /// `Phi_n Phi_n*`, the Hessian for q = 2, found when it is first asked for.
    square: OnceLock<Vec<f64>>,
    /// Estimates of the norms of the features, found when a Hessian for another q is first asked for.
    norms: OnceLock<MonomialNorms>,
}

/// What is to fit in memory, and what to do where it does not.
pub(super) const PASS: &str = "a pass over the tiles of all monomials";
pub(super) const INSTEAD: &[Remedy] = &[Remedy::Do("take fewer problems at a time, or fewer samples")];

impl<'a> Tiles<'a> {
    /// The form of a kernel on the samples of a matrix, with monomials of this scale.
    pub fn new(
        x: FeatureMatrix<'a>,
        kernel: impl TensorKernel + 'static,
        monomial_scale: MonomialScale,
        exponent: Exponent,
        memory: Memory,
    ) -> Result<Self, Error> {
        exponent.refuse_endpoint()?;
        let kernel: Arc<dyn TensorKernel> = Arc::new(kernel);
        let bytes = Self::bytes(x.samples(), x.features(), &*kernel, monomial_scale, 1)?;
        memory.check(PASS, bytes, INSTEAD)?;
        let monomials = Monomials::new(x, kernel, monomial_scale, exponent)?;
        let capacity = Self::kept(monomials.count(), monomials.samples());
        Ok(Self { monomials, capacity, square: OnceLock::new(), norms: OnceLock::new() })
    }

    /// So many of the monomials are kept by an expansion, if there are as many.
    pub(super) fn kept(monomials: u64, samples: usize) -> usize {
        let share = usize::try_from(monomials / MONOMIALS_PER_KEPT).unwrap_or(usize::MAX);
        share.clamp(KEPT_LIMITS.0, KEPT_LIMITS.1).max(KEPT_PER_SAMPLE.saturating_mul(samples))
    }

    /// The bytes of working memory that evaluations of this many problems take, besides the data; `None` if they cannot be counted.
    /// Second derivatives are not counted: the solver decides on them.
    pub fn bytes(
        samples: usize,
        inputs: usize,
        kernel: &dyn TensorKernel,
        monomial_scale: MonomialScale,
        problems: usize,
    ) -> Result<Option<u64>, Error> {
        pass_bytes(samples, inputs, kernel, monomial_scale, problems)
    }

    /// The same, cut into tiles of at most `width` variables, a multiple of 8, with expansions that keep `capacity` monomials.
    #[cfg(test)]
    pub(crate) fn with_layout(self, width: usize, capacity: usize) -> Self {
        Self { monomials: self.monomials.with_width(width), capacity, ..self }
    }

    /// The kernel.
    pub fn kernel(&self) -> &dyn TensorKernel {
        &*self.monomials.kernel
    }

    /// The scale of the monomials.
    pub fn monomial_scale(&self) -> MonomialScale {
        self.monomials.monomial_scale
    }

    /// The monomials that an expansion keeps.
    fn capacity(&self) -> usize {
        self.capacity.min(usize::try_from(self.monomials.count()).unwrap_or(usize::MAX))
    }

    fn norms(&self) -> &MonomialNorms {
        self.norms.get_or_init(|| MonomialNorms::new(&self.monomials))
    }

    /// `Phi_n Phi_n*`. For raw monomials these are the values of the kernel; others take a pass for every sample.
    fn find_square(&self, scratch: &mut Scratch) -> Vec<f64> {
        let n = self.samples();
        self.kernel_square().unwrap_or_else(|| {
            let mut square = vec![0.0; n * n];
            let mut out = Evaluation::default();
            for (first, rows) in (0..n).step_by(ROWS_PER_PASS).zip(square.chunks_mut(ROWS_PER_PASS * n)) {
                let mut alphas = vec![0.0; rows.len()];
                alphas.chunks_mut(n).enumerate().for_each(|(row, alpha)| alpha[first + row] = 1.0);
                self.evaluate(&alphas, &mut out, scratch);
                rows.copy_from_slice(&out.omegas);
            }
            square
        })
    }

    /// The values of the kernel at all pairs of samples, if its monomials are raw, none is excluded, and it is in range
    /// there.
    fn kernel_square(&self) -> Option<Vec<f64>> {
        let Monomials { points, kernel, monomial_scale, .. } = &self.monomials;
        let (n, x) = (self.samples(), &points.x);
        if *monomial_scale != MonomialScale::Raw || self.monomials.excludes_any() {
            return None;
        }
        let count = kernel.symmetric();
        let mut sums = vec![0.0; n * n * count];
        let mut column = vec![0.0; n];
        for j in 0..x.features() {
            x.column_into(j, &mut column);
            for (row, x) in column.iter().enumerate() {
                // Each polynomial takes in the one below it before that one changes.
                for m in (1..count).rev() {
                    let (below, own) = sums.split_at_mut(m * n * n);
                    let below = &below[(m - 1) * n * n + row * n..][..n];
                    let terms = own[row * n..][..n].iter_mut().zip(below).zip(&column);
                    terms.for_each(|((sum, below), y)| *sum += x * y * below);
                }
                sums[row * n..][..n].iter_mut().zip(&column).for_each(|(sum, y)| *sum += x * y);
            }
        }
        let in_range = |row: usize| check_range(&**kernel, "X", row, sums[row * (n + 1)]).is_ok();
        if !(0..n).all(in_range) {
            return None;
        }
        kernel.apply(&mut sums, n * n);
        sums.truncate(n * n);
        if let Some(rows) = &points.rows {
            for (sums, row) in sums.chunks_mut(n).zip(rows) {
                sums.iter_mut().zip(rows).for_each(|(sum, other)| *sum *= row * other);
            }
        }
        sums.iter().all(|sum| sum.is_finite()).then_some(sums)
    }
}

impl QForm for Tiles<'_> {
    fn exponent(&self) -> Exponent {
        self.monomials.exponent
    }

    fn samples(&self) -> usize {
        self.monomials.samples()
    }

    fn evaluate(&self, alphas: &[f64], out: &mut Evaluation, scratch: &mut Scratch) {
        evaluate::evaluate(&self.monomials, alphas, out, scratch);
    }

    fn expand(&self, alphas: &[f64], out: &mut [&mut Expansion], scratch: &mut Scratch) {
        heaviest::expand(self, alphas, out, scratch);
    }

    fn sharpen(&self, alpha: &[f64], at: &mut Evaluation, scratch: &mut Scratch) -> usize {
        sharp::sharpen(&self.monomials, alpha, at, scratch)
    }

    fn cardinality(&self) -> Option<u64> {
        Some(self.monomials.count())
    }

    fn most_kept(&self) -> usize {
        self.capacity()
    }

    fn expansion_length(&self) -> usize {
        // A number and a product for each, and the variables when they are listed; and some of those that are left out.
        self.capacity() * (2 + self.monomials.highest()) + heaviest::left_out_length(self)
    }

    fn batch_bytes(&self) -> u64 {
        let Monomials { monomial_scale, .. } = self.monomials;
        let (n, d, rescales) = (self.samples(), self.monomials.inputs(), monomial_scale != MonomialScale::Raw);
        let numbers =
            |problems| MonomialSweep::memory(n, d, self.monomials.count(), problems, n, rescales).unwrap_or(usize::MAX);
        let collected = heaviest::collected_length(self) as u64;
        (numbers(2) as u64).saturating_sub(numbers(1) as u64).saturating_add(collected).saturating_mul(8)
    }

    fn hessian(&self, at: &Expansion, keep: usize, scratch: &mut Scratch) -> Hessian {
        heaviest::hessian(self, at, keep, scratch)
    }

    fn preview<'b>(
        &'b self,
        at: &Expansion,
        hessian: &Hessian,
        d: &[f64],
        scratch: &'b mut Scratch,
    ) -> Option<Box<dyn Lines + 'b>> {
        segment::preview(self, at, hessian, d, scratch)
    }

    fn local(&self, at: Expanded<'_>, keep: usize, most_left_out: f64, scratch: &mut Scratch) -> Option<LocalModel> {
        heaviest::local(self, at, keep, most_left_out, scratch)
    }

    fn segment<'b>(&'b self, from: Expanded<'_>, to: Expanded<'_>, scratch: &'b mut Scratch) -> Box<dyn Lines + 'b> {
        segment::segment(self, from, to, scratch)
    }

    fn lines<'b>(&'b self, alpha: &[f64], directions: &[f64], scratch: &'b mut Scratch) -> Box<dyn Lines + 'b> {
        Box::new(TileLines::new(&self.monomials, alpha, directions, scratch))
    }

    fn predictor(&self, alphas: &[f64]) -> Box<dyn Predict> {
        Box::new(TilePredictor::new(&self.monomials, alphas))
    }
}
