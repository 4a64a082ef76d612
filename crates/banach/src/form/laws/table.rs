//! Data for the laws, with `Q` as it is defined.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Route, largest};
use crate::{FeatureMatrix, numeric::dot};

/// Samples by features, one column after another, with `Q` as it is defined.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub n: usize,
    pub d: usize,
    pub columns: Vec<f64>,
}

impl Table {
    /// Entries in (-1, 1); the given share of them is zero.
    pub(crate) fn random(n: usize, d: usize, zeros: f64, rng: &mut Xoshiro256PlusPlus) -> Self {
        let entry = |_| if rng.random::<f64>() < zeros { 0.0 } else { rng.random_range(-1.0..1.0) };
        Self { n, d, columns: (0..n * d).map(entry).collect() }
    }

    pub(crate) fn by_columns(&self) -> FeatureMatrix<'_> {
        FeatureMatrix::from_columns(self.n, self.d, &self.columns[..]).expect("valid")
    }

    pub(super) fn by_rows(&self) -> FeatureMatrix<'static> {
        let rows: Vec<f64> = (0..self.n * self.d).map(|at| self.columns[at % self.d * self.n + at / self.d]).collect();
        FeatureMatrix::from_rows(self.n, self.d, &rows).expect("valid")
    }

    /// Every third zero is stored, except in a column of zeros, which stays empty.
    pub(crate) fn sparse(&self) -> FeatureMatrix<'static> {
        let (mut starts, mut rows, mut values) = (vec![0], vec![], vec![]);
        for (k, column) in self.columns.chunks(self.n).enumerate() {
            let empty = column.iter().all(|&x| x == 0.0);
            for (i, &x) in column.iter().enumerate().filter(|&(i, &x)| x != 0.0 || !empty && (i + k) % 3 == 0) {
                rows.push(i);
                values.push(x);
            }
            starts.push(rows.len());
        }
        FeatureMatrix::from_sparse_columns(self.n, self.d, starts, rows, values).expect("valid")
    }

    /// The same table with every entry multiplied by c.
    pub(crate) fn scaled(&self, c: f64) -> Self {
        Self { columns: self.columns.iter().map(|x| c * x).collect(), ..*self }
    }

    /// The table of the given samples.
    pub(crate) fn rows(&self, rows: &[usize]) -> Self {
        let columns = self.columns.chunks(self.n).flat_map(|column| rows.iter().map(|&i| column[i])).collect();
        Self { n: rows.len(), d: self.d, columns }
    }

    /// `u = Phi_n* alpha`.
    pub(crate) fn adjoint(&self, alpha: &[f64]) -> Vec<f64> {
        self.columns.chunks(self.n).map(|column| dot(column, alpha)).collect()
    }

    /// `Phi_n w`.
    pub(crate) fn apply(&self, w: &[f64]) -> Vec<f64> {
        (0..self.n).map(|i| self.columns.chunks(self.n).zip(w).map(|(column, w)| column[i] * w).sum()).collect()
    }

    /// `Q(alpha) = (1/q)||Phi_n* alpha||_q^q`, by its definition.
    pub(crate) fn value(&self, alpha: &[f64], q: f64) -> f64 {
        self.adjoint(alpha).iter().map(|u| u.abs().powf(q)).sum::<f64>() / q
    }

    /// `grad Q = Phi_n J_q(Phi_n* alpha)`, by its definition.
    pub(crate) fn omega(&self, alpha: &[f64], q: f64) -> Vec<f64> {
        let w: Vec<f64> = self.adjoint(alpha).iter().map(|u| u.abs().powf(q - 1.0).copysign(*u)).collect();
        self.apply(&w)
    }

    /// `d' H d` with the Hessian `(q-1) Phi_n diag(|u|^(q-2)) Phi_n*` (F4).
    pub(super) fn curvature(&self, alpha: &[f64], d: &[f64], q: f64) -> f64 {
        let terms = self.adjoint(alpha).into_iter().zip(self.adjoint(d));
        (q - 1.0) * terms.map(|(u, d)| u.abs().powf(q - 2.0) * d * d).sum::<f64>()
    }

    /// The relative error that rounding leaves in `Q(alpha)`. From u: q times that of the largest `|u_k|`. From the tensor:
    /// that of a sum whose terms are those of `Q(|alpha|; |X|)`.
    pub(super) fn rounding(&self, route: Route, alpha: &[f64], q: f64) -> f64 {
        let magnitudes = |v: &[f64]| v.iter().map(|v| v.abs()).collect::<Vec<_>>();
        let (terms, alphas) = (Self { columns: magnitudes(&self.columns), ..*self }, magnitudes(alpha));
        let unit = 2.0 * f64::EPSILON * (self.n as f64 + 4.0) * q;
        match route {
            Route::ByColumns | Route::ByRows | Route::Sparse | Route::Listed | Route::Tiles | Route::TilesOfSparse => {
                unit * largest(&terms.adjoint(&alphas)) / largest(&self.adjoint(alpha))
            }
            Route::Gram | Route::GramOfSparse | Route::Streamed => {
                (self.d as f64).sqrt() * unit * terms.value(&alphas, q) / self.value(alpha, q)
            }
        }
    }
}
