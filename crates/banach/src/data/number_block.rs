//! Consecutive features that are stored as numbers: products with few vectors and with many.

use faer::{Accum, MatMut, MatRef, Par, linalg::matmul::matmul};

use super::stream;

/// Up to this many vectors are multiplied by the columns as they are. A general matrix product first copies its factors, which only
/// more vectors repay.
pub(super) const MOST_BY_COLUMNS: usize = 8;
/// A general product is fastest for a multiple of this many vectors: four numbers fill a vector register of AVX2.
const MULTIPLE: usize = 4;

/// Some features next to each other.
#[derive(Clone, Copy)]
pub(crate) struct NumberBlock<'b> {
    pub(super) samples: usize,
    pub(super) width: usize,
    pub(super) entries: BlockEntries<'b>,
}

/// Their entries.
#[derive(Clone, Copy)]
pub(crate) enum BlockEntries<'b> {
    /// Column by column.
    Dense(&'b [f64]),
    /// Compressed columns: where each starts among all rows and values.
    Sparse { starts: &'b [usize], rows: &'b [usize], values: &'b [f64] },
}

impl NumberBlock<'_> {
    /// The squares of the norms of the features.
    pub(super) fn squares(self, out: &mut [f64]) {
        match self.entries {
            BlockEntries::Dense(values) => stream::squares(self.samples, values, out),
            BlockEntries::Sparse { starts, values, .. } => {
                for (ends, out) in starts.windows(2).zip(out) {
                    *out = values[ends[0]..ends[1]].iter().map(|value| value * value).sum();
                }
            }
        }
    }

    /// Adds `|x|^power` of the entries to the sums of their samples, for power 2 or 4.
    pub(super) fn add_row_powers(self, power: u32, sums: &mut [f64]) {
        match self.entries {
            BlockEntries::Dense(values) => stream::add_row_powers(self.samples, power == 4, values, sums),
            BlockEntries::Sparse { starts, rows, values } => {
                let stored = starts[0]..starts[self.width];
                for (&row, value) in rows[stored.clone()].iter().zip(&values[stored]) {
                    sums[row] += value.powi(power as i32);
                }
            }
        }
    }

    /// `u = Phi_b' a` for n-vectors `a`, one after another. `rows` is `a` transposed, and `turned` working memory of the size of `u`.
    pub(super) fn adjoint(self, a: &[f64], rows: &[f64], u: &mut [f64], turned: &mut [f64]) {
        let Self { samples: n, width, entries } = self;
        match entries {
            BlockEntries::Dense(columns) => {
                let count = a.len() / n;
                // The first few stream the block from memory and leave it in cache for the others.
                let lead = if count <= MOST_BY_COLUMNS { count } else { (count - 1) % MULTIPLE + 1 };
                let (first, others) = u.split_at_mut(lead * width);
                stream::adjoint(n, columns, &a[..lead * n], first);
                if lead < count {
                    let rest = count - lead;
                    let turned = &mut turned[..rest * width];
                    let product = MatMut::from_column_major_slice_mut(turned, rest, width);
                    let rows = MatRef::from_column_major_slice(rows, count, n).subrows(lead, rest);
                    let columns = MatRef::from_column_major_slice(columns, n, width);
                    matmul(product, Accum::Replace, rows, columns, 1.0, Par::Seq);
                    MatMut::from_column_major_slice_mut(others, width, rest)
                        .copy_from(MatRef::from_row_major_slice(turned, width, rest));
                }
            }
            BlockEntries::Sparse { starts, rows, values } => {
                for (a, u) in a.chunks(n).zip(u.chunks_mut(width)) {
                    for (u, ends) in u.iter_mut().zip(starts.windows(2)) {
                        let products = rows[ends[0]..ends[1]].iter().zip(&values[ends[0]..ends[1]]);
                        *u = products.map(|(&row, value)| value * a[row]).sum();
                    }
                }
            }
        }
    }

    /// `out += Phi_b w` for vectors `w` and n-vectors `out`, one after another.
    pub(super) fn apply(self, w: &[f64], out: &mut [f64]) {
        let Self { samples: n, width, entries } = self;
        match entries {
            BlockEntries::Dense(columns) => {
                let count = out.len() / n;
                if count <= MOST_BY_COLUMNS {
                    return stream::apply(n, columns, w, out);
                }
                let out = MatMut::from_column_major_slice_mut(out, n, count);
                let columns = MatRef::from_column_major_slice(columns, n, width);
                let w = MatRef::from_column_major_slice(w, width, count);
                matmul(out, Accum::Add, columns, w, 1.0, Par::Seq);
            }
            BlockEntries::Sparse { starts, rows, values } => {
                for (w, out) in w.chunks(width).zip(out.chunks_mut(n)) {
                    for (w, ends) in w.iter().zip(starts.windows(2)) {
                        for (&row, value) in rows[ends[0]..ends[1]].iter().zip(&values[ends[0]..ends[1]]) {
                            out[row] += value * w;
                        }
                    }
                }
            }
        }
    }
}
