//! A support: some of the columns, what they explain of the target, and what other columns would.

use super::WorkingColumns;
use crate::numeric::dot_in_lanes;

/// Some columns of unit length with an orthonormal basis of their span, and what is left of a target of unit length.
///
/// `Phi_S = Q T` with Q orthonormal and T upper triangular.
#[derive(Debug, Clone)]
pub(crate) struct Support {
    /// Which columns.
    places: Vec<usize>,
    /// Q, one vector after another.
    basis: Vec<f64>,
    /// T, one column after another, k entries in column k.
    triangle: Vec<f64>,
    /// The target less its projection.
    residual: Vec<f64>,
    /// The squared length of the residual: the share of the target that is not explained.
    unexplained: f64,
}

/// A column of which this share of its squared length is outside of the span of others cannot be told from a combination of them.
pub(crate) const DEPENDENT: f64 = 1e-9;

impl Support {
    /// No columns.
    pub(crate) fn empty(target: &[f64]) -> Self {
        Self {
            places: Vec::new(),
            basis: Vec::new(),
            triangle: Vec::new(),
            residual: target.to_vec(),
            unexplained: dot_in_lanes(target, target),
        }
    }

    /// These columns, but for those that depend on the ones before them.
    pub(crate) fn of(columns: &WorkingColumns, places: impl IntoIterator<Item = usize>, target: &[f64]) -> Self {
        let mut support = Self::empty(target);
        places.into_iter().for_each(|place| {
            support.push(place, columns.column(place));
        });
        support
    }

    /// The columns, in the order in which they came.
    pub(crate) fn places(&self) -> &[usize] {
        &self.places
    }

    /// The number of columns, k.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// The share of the target that is not explained.
    pub(crate) fn unexplained(&self) -> f64 {
        self.unexplained
    }

    /// The target less its projection.
    pub(crate) fn residual(&self) -> &[f64] {
        &self.residual
    }

    /// The orthonormal basis, one vector after another.
    pub(crate) fn basis(&self) -> &[f64] {
        &self.basis
    }

    /// Adds a column; returns whether it does not depend on those that are there.
    pub(crate) fn push(&mut self, place: usize, column: &[f64]) -> bool {
        let n = self.residual.len();
        let mut direction = column.to_vec();
        let mut own = vec![0.0; self.len() + 1];
        // Twice is enough: the second time takes what rounding left.
        for _ in 0..2 {
            for (q, entry) in self.basis.chunks(n).zip(&mut own) {
                let part = dot_in_lanes(q, &direction);
                direction.iter_mut().zip(q).for_each(|(direction, q)| *direction -= part * q);
                *entry += part;
            }
        }
        let rest = dot_in_lanes(&direction, &direction);
        if rest <= DEPENDENT {
            return false;
        }
        let length = rest.sqrt();
        direction.iter_mut().for_each(|direction| *direction /= length);
        own[self.len()] = length;
        for _ in 0..2 {
            let part = dot_in_lanes(&direction, &self.residual);
            self.residual.iter_mut().zip(&direction).for_each(|(residual, q)| *residual -= part * q);
        }
        self.unexplained = dot_in_lanes(&self.residual, &self.residual);
        self.places.push(place);
        self.basis.extend_from_slice(&direction);
        self.triangle.extend_from_slice(&own);
        true
    }

    /// The same with another column in the place of the one at `at`, or without it.
    pub(crate) fn replaced(&self, columns: &WorkingColumns, at: usize, by: Option<usize>, target: &[f64]) -> Self {
        let others = self.places.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, place)| *place);
        Self::of(columns, others.chain(by), target)
    }

    /// What each column does that the others cannot.
    pub(crate) fn own_directions(&self, target: &[f64]) -> OwnDirections {
        let (n, k) = (self.residual.len(), self.len());
        let start = |column: usize| column * (column + 1) / 2;
        let entry = |row: usize, column: usize| self.triangle[start(column) + row];
        let mut combinations = vec![0.0; k * k];
        for (i, z) in combinations.chunks_mut(k.max(1)).enumerate() {
            // T' z = e_i by forward substitution: the first i entries are 0.
            for row in i..k {
                let known: f64 = (i..row).map(|column| entry(column, row) * z[column]).sum();
                z[row] = (f64::from(u8::from(row == i)) - known) / entry(row, row);
            }
        }
        let projections: Vec<f64> = self.basis.chunks(n).map(|q| dot_in_lanes(q, target)).collect();
        let (mut explained, mut lengths) = (Vec::with_capacity(k), Vec::with_capacity(k));
        for z in combinations.chunks_mut(k.max(1)) {
            let length = dot_in_lanes(z, z).sqrt();
            z.iter_mut().for_each(|z| *z /= length);
            explained.push(dot_in_lanes(z, &projections));
            lengths.push(length);
        }
        OwnDirections { combinations, explained, lengths }
    }
}

/// For each column i of a support the direction `d_i` of its span that is orthogonal to all its other columns.
///
/// Without the column, `explained_i^2` more of the target is left unexplained.
#[derive(Debug, Clone)]
pub(crate) struct OwnDirections {
    /// `d_i` in the basis Q, one after another.
    pub combinations: Vec<f64>,
    /// The product of `d_i` with the target.
    pub explained: Vec<f64>,
    /// The length of the i-th column of `Q T^-T`: `sqrt((Phi_S' Phi_S)^-1_ii)`.
    pub lengths: Vec<f64>,
}

impl OwnDirections {
    /// The column that explains least by itself.
    pub(crate) fn weakest(&self) -> Option<usize> {
        (0..self.explained.len()).min_by(|&i, &j| self.explained[i].abs().total_cmp(&self.explained[j].abs()))
    }
}
