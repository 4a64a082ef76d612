//! The Gram route: `Q` from a tensor kernel alone, for even q; the only one for infinitely many features.
//!
//! ```text
//! Q(alpha) = (1/q) sum_(i_1, ..., i_q) K(x_(i_1), ..., x_(i_q)) alpha_(i_1) ... alpha_(i_q)      (15) [eq:dualellp2]
//! ```
//!
//! The tensor itself is in `tensor/`: here is what the route makes of it.

mod bytes;
mod evaluation;
#[cfg(test)]
mod laws;
mod lines;
mod predictor;
mod subset;

use std::{fmt, sync::Arc};

use rayon::prelude::*;

use self::bytes::{pass_bytes, tensor_bytes, working_bytes};
use super::{Evaluation, Expanded, Expansion, Hessian, HessianPart, Lines, Predict, QForm, expansion::Kept};
use crate::{
    Error, Exponent, FeatureMatrix, Memory,
    data::Scratch,
    error::{Parameter, Remedy},
    kernel::TensorKernel,
    numeric::scaled_copy,
    tensor::{Batch, PassSums, Staircase, Tensor, pass, ways},
    workers::checkpoint,
};

/// `Q` of the features of a tensor kernel, from the Gram tensor of order q = 2, 4, 6 or 8.
///
/// The tensor is stored with all its symmetries used, `(n+q-1 choose q)` numbers, or recomputed block by block in
/// every pass; both give the same numbers, bit for bit. One evaluation reads the tensor once. The matrix
/// `M(alpha) = sum K alpha_(i_3) ... alpha_(i_q)` costs the same pass, and gives `omega = M alpha` and the Hessian
/// `(q-1) M`.
///
/// Sums over the tensor cancel more than those over features: where `u = Phi_n* alpha` is smaller than its terms by a factor
/// c, `Q` loses as many digits as `c^q` has.
#[derive(Clone)]
pub struct Gram<'a> {
    tensor: Tensor<'a>,
    exponent: Exponent,
    /// The packed tensor; `None` if it is streamed.
    entries: Option<Arc<Vec<f64>>>,
    /// Bytes that the accumulators of a pass may take.
    room: u64,
}

/// What is to fit in memory.
const TENSOR: &str = "the Gram tensor, with the working memory of its passes,";
pub(super) const PASS: &str = "the working memory of a pass over the Gram tensor";
/// What to do where a tensor does not fit.
pub(super) const INSTEAD: &[Remedy] = &[
    Remedy::Choose(Parameter::Route, "streamed"),
    Remedy::Choose(Parameter::Route, "features"),
    Remedy::Do("take fewer samples or a smaller q"),
];

pub(super) const PASS_INSTEAD: &[Remedy] = &[
    Remedy::Choose(Parameter::Route, "features"),
    Remedy::Lower(Parameter::Threads),
    Remedy::Do("take fewer samples or a smaller q"),
];

/// Pieces in which a tensor is written out: several for each core of a large machine.
const PIECES: usize = 256;

impl<'a> Gram<'a> {
    /// The stored tensor of a kernel on the samples of a matrix.
    pub fn new(
        matrix: FeatureMatrix<'a>,
        kernel: impl TensorKernel + 'static,
        exponent: Exponent,
        memory: Memory,
    ) -> Result<Self, Error> {
        let (order, kernel) = (exponent.order()?, Arc::new(kernel));
        memory.check(TENSOR, Self::bytes(matrix.samples(), matrix.features(), &*kernel, order), INSTEAD)?;
        let tensor = tensor_bytes(matrix.samples(), order).unwrap_or(u64::MAX);
        let mut gram = Self::unfilled(matrix, kernel, exponent, memory.less(tensor))?;
        let mut entries = memory.zeros(TENSOR, gram.tensor.layout.entries, INSTEAD)?;
        gram.tensor.fill(&mut entries);
        gram.entries = Some(Arc::new(entries));
        Ok(gram)
    }

    /// The same form without the tensor: every pass recomputes it, block by block, in memory that it allocates.
    pub fn streamed(
        matrix: FeatureMatrix<'a>,
        kernel: impl TensorKernel + 'static,
        exponent: Exponent,
        memory: Memory,
    ) -> Result<Self, Error> {
        Self::unfilled(matrix, Arc::new(kernel), exponent, memory)
    }

    fn unfilled(
        matrix: FeatureMatrix<'a>,
        kernel: Arc<dyn TensorKernel>,
        exponent: Exponent,
        memory: Memory,
    ) -> Result<Self, Error> {
        let order = exponent.order()?;
        let needed = Self::streamed_bytes(matrix.samples(), matrix.features(), &*kernel, order);
        memory.check(PASS, needed, PASS_INSTEAD)?;
        // What one dual vector needs is there; what is left is for others in the same pass.
        let one = pass_bytes(matrix.samples(), order).unwrap_or(u64::MAX);
        let room = memory.less(needed.unwrap_or(u64::MAX)).bytes().saturating_add(one);
        let tensor = Tensor::new(matrix, kernel, order)?;
        Ok(Self { tensor, exponent, entries: None, room })
    }

    /// The bytes that a stored tensor of n samples of d inputs takes together with its passes, for one dual vector at a time; `None`
    /// if they cannot be counted. A pass serves more dual vectors as far as there is room.
    pub fn bytes(samples: usize, inputs: usize, kernel: &dyn TensorKernel, order: usize) -> Option<u64> {
        tensor_bytes(samples, order)?.checked_add(Self::streamed_bytes(samples, inputs, kernel, order)?)
    }

    /// The same for a streamed tensor.
    pub(crate) fn streamed_bytes(
        samples: usize,
        inputs: usize,
        kernel: &dyn TensorKernel,
        order: usize,
    ) -> Option<u64> {
        working_bytes(samples, inputs, kernel, order)?.checked_add(pass_bytes(samples, order)?)
    }

    /// The bytes that a pass for `problems` takes beyond those for one, given the bytes that may be taken, and the passes that an
    /// evaluation of all problems then needs.
    pub(crate) fn more_bytes(samples: usize, order: usize, problems: usize, room: u64) -> (u64, usize) {
        let one = pass_bytes(samples, order).unwrap_or(u64::MAX);
        let batch = evaluation::batch(one, room.saturating_add(one)).min(problems);
        (one.saturating_mul(batch as u64 - 1), problems.div_ceil(batch))
    }

    /// The samples.
    pub fn matrix(&self) -> &FeatureMatrix<'a> {
        &self.tensor.matrix
    }

    /// The kernel.
    pub fn kernel(&self) -> &dyn TensorKernel {
        &*self.tensor.kernel
    }

    /// The tensor, without its entries.
    pub(crate) fn tensor(&self) -> &Tensor<'a> {
        &self.tensor
    }

    /// The number of entries of the packed tensor, whether stored or not.
    pub fn entries(&self) -> usize {
        self.tensor.layout.entries
    }

    /// Whether the tensor is stored.
    pub(crate) fn is_stored(&self) -> bool {
        self.entries.is_some()
    }

    /// The packed tensor as it is stored, tile by tile and divided for ties; `None` if it is streamed. The layout may change;
    /// [`entry`](Self::entry) does not depend on it.
    pub fn packed(&self) -> Option<&[f64]> {
        self.entries.as_ref().map(|entries| &entries[..])
    }

    /// All `n^q` entries, the last index fastest. They are for people to look at: no fit needs more than the packed ones.
    ///
    /// # Panics
    ///
    /// If the tensor is streamed.
    pub fn full(&self, memory: Memory) -> Result<Vec<f64>, Error> {
        let (n, order) = (self.samples(), self.order());
        let count = u32::try_from(order).ok().and_then(|order| n.checked_pow(order));
        let instead = &[Remedy::Do("take fewer samples or a smaller q")];
        let mut entries = memory.zeros("the tensor with all its entries", count.unwrap_or(usize::MAX), instead)?;
        // Few pieces: when the work is ended, every piece unwinds by itself.
        let pieces = (entries.len() / n).div_ceil(PIECES);
        entries.par_chunks_mut(n).enumerate().with_min_len(pieces).for_each_init(
            || vec![0; order],
            |indices, (row, out)| {
                checkpoint();
                let mut rest = row;
                for index in indices[..order - 1].iter_mut().rev() {
                    *index = rest % n;
                    rest /= n;
                }
                for (last, entry) in out.iter_mut().enumerate() {
                    indices[order - 1] = last;
                    *entry = self.entry(indices).expect("the tensor is stored");
                }
            },
        );
        Ok(entries)
    }

    /// `K(x_(i_1), ..., x_(i_q))`, from the stored tensor; `None` if there is none.
    ///
    /// # Panics
    ///
    /// If there are not q indices, or one is not below n.
    pub fn entry(&self, indices: &[usize]) -> Option<f64> {
        let Staircase { heads, tails, .. } = &self.tensor.layout;
        assert_eq!(indices.len(), heads.size() + tails.size(), "an entry has q indices");
        assert!(indices.iter().all(|&i| i < self.samples()), "indices are below n");
        let mut sorted = indices.to_vec();
        sorted.sort_unstable();
        let (head, tail) = sorted.split_at(heads.size());
        let (head, tail) = (heads.rank(head), tails.rank(tail));
        let stored = self.entries.as_ref()?[self.tensor.layout.place(head, tail)];
        Some(stored * ways(&self.tensor.layout, head, tail))
    }

    /// As [`QForm::evaluate`], and the matrix M at every dual vector in the same pass.
    pub fn curvature(&self, alphas: &[f64], out: &mut Evaluation, scratch: &mut Scratch) {
        self.contract(alphas, true, out, scratch);
    }

    fn order(&self) -> usize {
        self.tensor.order()
    }

    fn pass<'b>(&self, batch: &Batch<'_>, memory: &'b mut [f64]) -> PassSums<'b> {
        pass(&self.tensor.products(), self.packed(), batch, memory)
    }

    /// `(q - less)!`
    fn factorial(&self, less: usize) -> f64 {
        (1..=self.order() - less).map(|m| m as f64).product()
    }
}

/// Copies a dual vector divided by `2^k` to a size in [1/2, 1), and returns k.
fn unit(alpha: &[f64], copy: &mut [f64]) -> f64 {
    scaled_copy(alpha, 0.0, copy)
}

impl QForm for Gram<'_> {
    fn exponent(&self) -> Exponent {
        self.exponent
    }

    fn samples(&self) -> usize {
        self.tensor.matrix.samples()
    }

    fn evaluate(&self, alphas: &[f64], out: &mut Evaluation, scratch: &mut Scratch) {
        self.contract(alphas, false, out, scratch);
    }

    fn expand(&self, alphas: &[f64], out: &mut [&mut Expansion], scratch: &mut Scratch) {
        let n = self.samples();
        let mut together = Evaluation::default();
        self.curvature(alphas, &mut together, scratch);
        for (problem, at) in out.iter_mut().enumerate() {
            at.evaluation.copy_from(&together, problem, n);
            at.kept = Kept::Curvature(together.curvatures[problem * n * n..][..n * n].to_vec());
        }
    }

    fn sharpen(&self, alpha: &[f64], at: &mut Evaluation, scratch: &mut Scratch) -> usize {
        self.sharpen_roundings(alpha, at, scratch)
    }

    fn expansion_length(&self) -> usize {
        self.samples().pow(2)
    }

    fn hessian(&self, at: &Expansion, _keep: usize, _scratch: &mut Scratch) -> Hessian {
        let factor = self.exponent.q() - 1.0;
        Hessian::exact(HessianPart::Dense(curvature(at).iter().map(|entry| factor * entry).collect()))
    }

    fn segment<'b>(&'b self, from: Expanded<'_>, to: Expanded<'_>, scratch: &'b mut Scratch) -> Box<dyn Lines + 'b> {
        lines::segment(self, from, to, scratch)
    }

    fn lines<'b>(&'b self, alpha: &[f64], directions: &[f64], scratch: &'b mut Scratch) -> Box<dyn Lines + 'b> {
        lines::lines(self, alpha, directions, scratch)
    }

    fn predictor(&self, alphas: &[f64]) -> Box<dyn Predict> {
        Box::new(predictor::GramPredictor::new(self, alphas))
    }
}

/// M at an expansion.
fn curvature(at: &Expansion) -> &[f64] {
    match &at.kept {
        Kept::Curvature(entries) => entries,
        _ => panic!("an expansion is read by the form that made it"),
    }
}

impl fmt::Debug for Gram<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gram")
            .field("matrix", &self.tensor.matrix)
            .field("kernel", &self.tensor.kernel)
            .field("exponent", &self.exponent)
            .field("entries", &self.tensor.layout.entries)
            .field("stored", &self.is_stored())
            .finish()
    }
}
