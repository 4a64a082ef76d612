//! What conjugate gradients are preconditioned by: the heaviest features as they are, the others by their diagonal.

use faer::{
    Accum, MatMut, MatRef, Par,
    linalg::matmul::{
        matmul,
        triangular::{self, BlockStructure},
    },
};
use rayon::prelude::*;

use super::system::{factorise, substitute};
use crate::{
    FeatureMatrix,
    form::{InPlace, MOST_HEAVIEST},
};

/// `P = E + H H'` for the heaviest columns H of an equilibrated matrix, and a diagonal E that makes the diagonal of P the one of the
/// matrix.
///
/// It is inverted by Woodbury's formula, `P^-1 = E^-1/2 (I - G (I + G'G)^-1 G') E^-1/2` with `G = E^-1/2 H`.
pub(super) struct Preconditioner {
    /// `E^-1/2`.
    roots: Vec<f64>,
    /// G with the numbers of its columns, and Cholesky's factor of `I + G'G`; none where no feature is heavy.
    heavy: Option<(FeatureMatrix<'static>, Vec<usize>, Vec<f64>)>,
}

/// A feature is heavy if its part of the trace is at least this many times what the lighter ones and the diagonal give a sample on average:
/// it then is a direction that stands out, and costs conjugate gradients steps of its own.
const STANDS_OUT: f64 = 4.0;
/// A preconditioner of k columns takes k^2 operations for a sample, a product 4 for each feature that is kept and sample: this many times
/// their number is the most that k^2 may be.
const OPERATIONS: usize = 400;
/// Columns of `G'G` that one thread computes at a time.
const COLUMNS_AT_ONCE: usize = 128;

impl Preconditioner {
    /// The most columns, for so many features that are kept.
    pub(super) fn most(features: usize) -> usize {
        OPERATIONS.saturating_mul(features).isqrt().min(MOST_HEAVIEST)
    }

    /// Of the matrix `S (C C' + D) S` over the samples that are present, given S and `S D S`.
    pub(super) fn new(
        (matrix, columns): (&FeatureMatrix<'_>, &[usize]),
        part: &InPlace,
        present: &[usize],
        equilibration: &[f64],
        diagonal: &[f64],
    ) -> Self {
        let m = present.len();
        let heavy = heavy(part, equilibration, diagonal, Self::most(columns.len()));
        let mut entries = vec![0.0; m * heavy.len()];
        let whole = || vec![0.0; matrix.samples()];
        entries.par_chunks_mut(m).zip(&heavy).for_each_init(whole, |whole, (out, &place)| {
            part.column_into(matrix, (place, columns[place]), whole);
            out.iter_mut().zip(present).zip(equilibration).for_each(|((out, &i), s)| *out = whole[i] * s);
        });
        let mut roots = vec![1.0; m];
        for column in entries.chunks(m) {
            roots.iter_mut().zip(column).for_each(|(root, x)| *root -= x * x);
        }
        roots.iter_mut().zip(diagonal).for_each(|(root, d)| *root = 1.0 / root.max(*d).sqrt());
        entries.par_chunks_mut(m).for_each(|column| column.iter_mut().zip(&roots).for_each(|(x, root)| *x *= root));
        let k = heavy.len();
        let heavy = (k > 0).then(|| inner(&entries, m)).and_then(|inner| {
            let columns = FeatureMatrix::from_columns(m, k, entries).ok()?;
            Some((columns, (0..k).collect(), inner))
        });
        Self { roots, heavy }
    }

    /// `P^-1 x`.
    pub(super) fn solve(&self, x: &[f64]) -> Vec<f64> {
        let mut y: Vec<f64> = x.iter().zip(&self.roots).map(|(x, root)| x * root).collect();
        if let Some((columns, numbers, inner)) = &self.heavy {
            let mut small = vec![0.0; numbers.len()];
            columns.products(numbers, &y, &mut small);
            substitute(inner, &mut small);
            y.iter_mut().zip(columns.times(&small)).for_each(|(y, image)| *y -= image);
        }
        y.iter_mut().zip(&self.roots).for_each(|(y, root)| *y *= root);
        y
    }
}

/// The places of the features that stand out, in the order of their weight.
fn heavy(part: &InPlace, equilibration: &[f64], diagonal: &[f64], most: usize) -> Vec<usize> {
    let m = equilibration.len() as f64;
    let mut rest: f64 = part.diagonal().iter().sum();
    // What the diagonal gives the samples that are free to move.
    let own = m / diagonal.iter().zip(equilibration).map(|(d, s)| s * s / d).sum::<f64>();
    let mut places = Vec::new();
    for (place, trace) in part.heaviest().take(most) {
        rest -= trace;
        if trace < STANDS_OUT * (rest.max(0.0) / m + own) {
            break;
        }
        places.push(place);
    }
    places.sort_unstable();
    places
}

/// Cholesky's factor of `I + G'G`. Blocks of its columns are products of their own, so that the bits are those of one thread.
fn inner(entries: &[f64], m: usize) -> Vec<f64> {
    let k = entries.len() / m;
    let mut inner = vec![0.0; k * k];
    let all = MatRef::from_column_major_slice(entries, m, k);
    inner.par_chunks_mut(COLUMNS_AT_ONCE * k).enumerate().for_each(|(block, out)| {
        let (first, width) = (block * COLUMNS_AT_ONCE, out.len() / k);
        let (square, below) =
            MatMut::from_column_major_slice_mut(out, k, width).split_at_row_mut(first).1.split_at_row_mut(width);
        let own = all.subcols(first, width);
        let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
        triangular::matmul(square, lower, Accum::Replace, own.transpose(), full, own, full, 1.0, Par::Seq);
        let others = all.subcols(first + width, k - first - width);
        matmul(below, Accum::Replace, others.transpose(), own, 1.0, Par::Seq);
    });
    inner.iter_mut().step_by(k + 1).for_each(|entry| *entry += 1.0);
    factorise(&mut inner, k);
    inner
}
