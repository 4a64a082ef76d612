//! The products of one tile, over panels of samples: there, from samples to monomials, and back.

use std::ops::Range;

use faer::{Accum, MatMut, MatRef, Par, linalg::matmul::matmul};

use super::{entries, place::Place};
use crate::FeatureMatrix;

/// Most samples in one product, so that the columns of a tile fit in the second-level cache.
pub(super) const PANEL: usize = 512;

/// Samples that go into one product.
fn panels(samples: usize) -> impl Iterator<Item = Range<usize>> {
    (0..samples).step_by(PANEL).map(move |start| start..(start + PANEL).min(samples))
}

/// `diag(factors) X_J` over some samples, one column after another; the factors themselves where there is no j.
fn weighted_left(x: &FeatureMatrix<'_>, place: &Place<'_>, samples: &Range<usize>, factors: &[f64], left: &mut [f64]) {
    let n = samples.len();
    let factors = &factors[samples.clone()];
    if place.outer.is_empty() {
        left.copy_from_slice(factors);
        return;
    }
    for (j, left) in place.outer.clone().zip(left.chunks_mut(n)) {
        if x.is_read_in_place() {
            entries::multiply(left, x.column_part(j, samples.clone(), &mut []), factors);
        } else {
            x.column_part(j, samples.clone(), left);
            left.iter_mut().zip(factors).for_each(|(left, factor)| *left *= factor);
        }
    }
}

/// `X_K` over some samples; ones where there is no k.
fn right_panel<'b>(
    x: &'b FeatureMatrix<'_>,
    place: &Place<'_>,
    samples: Range<usize>,
    buffer: &'b mut [f64],
) -> MatRef<'b, f64> {
    if place.inner.is_empty() {
        buffer[..samples.len()].fill(1.0);
        return MatRef::from_column_major_slice(&buffer[..samples.len()], samples.len(), 1);
    }
    x.panel(place.inner.clone(), samples, buffer)
}

/// `X_K . X_K` over some samples, in the buffer; ones where there is no k.
fn right_squares<'b>(
    x: &FeatureMatrix<'_>,
    place: &Place<'_>,
    samples: &Range<usize>,
    buffer: &'b mut [f64],
) -> MatRef<'b, f64> {
    let (n, inner) = (samples.len(), place.inner_len());
    let buffer = &mut buffer[..n * inner];
    if place.inner.is_empty() {
        buffer.fill(1.0);
    }
    for (k, right) in place.inner.clone().zip(buffer.chunks_mut(n)) {
        if x.is_read_in_place() {
            let column = x.column_part(k, samples.clone(), &mut []);
            entries::multiply(right, column, column);
        } else {
            x.column_part(k, samples.clone(), right);
            entries::square(right);
        }
    }
    MatRef::from_column_major_slice(buffer, n, inner)
}

/// What [`forward`] sums over the samples.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Summed {
    /// `X_K' diag(factors) X_J`.
    Values,
    /// `(X_K . X_K)' diag(factors^2) (X_J . X_J)`.
    Squares,
}

/// The sums of the monomials of a tile over the samples, each with its factor, or of their squares.
pub(super) fn forward(
    summed: Summed,
    x: &FeatureMatrix<'_>,
    place: &Place<'_>,
    factors: &[f64],
    out: &mut [f64],
    [left, right]: [&mut [f64]; 2],
) {
    let (outer, inner) = (place.outer.len().max(1), place.inner_len());
    let mut out = MatMut::from_column_major_slice_mut(out, inner, outer);
    for samples in panels(x.samples()) {
        let n = samples.len();
        let left = &mut left[..n * outer];
        weighted_left(x, place, &samples, factors, left);
        let accumulate = if samples.start == 0 { Accum::Replace } else { Accum::Add };
        let right = match summed {
            Summed::Values => right_panel(x, place, samples, right),
            Summed::Squares => {
                entries::square(left);
                right_squares(x, place, &samples, right)
            }
        };
        let left = MatRef::from_column_major_slice(left, n, outer);
        matmul(out.as_mut(), accumulate, right.transpose(), left, 1.0, Par::Seq);
    }
}

/// `sum += factor (factors . rowsum(X_J . (X_K W)))`.
pub(super) fn backward(
    x: &FeatureMatrix<'_>,
    place: &Place<'_>,
    factors: &[f64],
    w: &[f64],
    factor: f64,
    sum: &mut [f64],
    [left, right, column, rows]: [&mut [f64]; 4],
) {
    let (outer, inner) = (place.outer.len().max(1), place.inner_len());
    let w = MatRef::from_column_major_slice(w, inner, outer);
    for samples in panels(x.samples()) {
        let n = samples.len();
        let values = &mut left[..n * outer];
        let right = right_panel(x, place, samples.clone(), right);
        matmul(MatMut::from_column_major_slice_mut(values, n, outer), Accum::Replace, right, w, factor, Par::Seq);
        let rows = &mut rows[..n];
        if place.outer.is_empty() {
            rows.copy_from_slice(values);
        } else {
            rows.fill(0.0);
            for (j, values) in place.outer.clone().zip(values.chunks(n)) {
                let x = x.column_part(j, samples.clone(), column);
                entries::add_products(rows, x, values);
            }
        }
        for ((sum, row), factor) in sum[samples.clone()].iter_mut().zip(&*rows).zip(&factors[samples]) {
            *sum += row * factor;
        }
    }
}
