//! How samples that can move answer when one of them, or one that cannot, is taken away.

use faer::{
    Accum, MatMut, MatRef, Par,
    linalg::{
        matmul::triangular::{BlockStructure, matmul},
        triangular_inverse::invert_lower_triangular,
        triangular_solve::solve_lower_triangular_in_place,
    },
};

use crate::{
    form::{Hessian, HessianPart},
    numeric::dot,
    solver::newton::system::factorise,
};

/// With `P` the inverse of the Hessian over the free samples, their own curvatures included:
pub(super) struct Response {
    /// The diagonal of P.
    pub diagonal: Vec<f64>,
    /// `P 1`.
    pub ones: Vec<f64>,
    /// For each held sample i its curvature `H_ii - h'P h`, `h = (H_ij)` over the free samples, that is left once those have answered.
    pub left: Vec<f64>,
    /// And `h'P 1`.
    pub reach: Vec<f64>,
}

/// Matrices that are kept besides the Hessian, of as many rows and columns as samples that count.
const SQUARES: u64 = 4;
/// Copies of the columns of a Hessian that are kept besides it.
const COPIES: u64 = 3;
/// Added to a diagonal of ones, a few units in the last place, so that rounding leaves the matrix positive definite.
const RIDGE: f64 = 1e-15;

impl Response {
    /// The numbers that are kept for it, if the Hessian is kept as so many columns or as a square.
    pub(super) fn length(columns: Option<u64>, free: &[(usize, f64)], held: usize) -> Option<u64> {
        let (m, all) = (free.len() as u64, (free.len() + held) as u64);
        match columns {
            Some(k) if k < m && free.iter().all(|(_, curvature)| *curvature > 0.0) => {
                COPIES.checked_mul(all.checked_mul(k)?)?.checked_add(k.checked_mul(k)?)
            }
            _ => all.checked_mul(all)?.checked_mul(SQUARES),
        }
    }

    /// Of the free samples, each with the curvature of its own term, and of the held ones.
    pub(super) fn new(hessian: &Hessian, n: usize, free: &[(usize, f64)], held: &[usize]) -> Self {
        let diagonal: Vec<f64> = free.iter().map(|(_, curvature)| curvature + hessian.tail).collect();
        if let HessianPart::Factor(columns) = &hessian.main
            && columns.len() / n < free.len()
            && diagonal.iter().all(|entry| *entry > 0.0)
        {
            return of_factor(columns, n, &diagonal, free, held, hessian.tail);
        }
        of_square(&hessian.main, n, &diagonal, free, held, hessian.tail)
    }
}

/// By Cholesky's factor `S H S = L L'` of the equilibrated matrix: `P = (L^-1 S)'(L^-1 S)`.
fn of_square(
    main: &HessianPart,
    n: usize,
    diagonal: &[f64],
    free: &[(usize, f64)],
    held: &[usize],
    tail: f64,
) -> Response {
    let m = free.len();
    let order: Vec<usize> = free.iter().map(|(i, _)| *i).chain(held.iter().copied()).collect();
    let square = below_diagonal(main, n, &order);
    let entry = |i: usize, j: usize| square[j * order.len() + i];
    let scale: Vec<f64> = (0..m).map(|i| 1.0 / (entry(i, i) + diagonal[i]).sqrt()).collect();
    let mut factor = vec![0.0; m * m];
    for j in 0..m {
        for i in j + 1..m {
            factor[j * m + i] = entry(i, j) * scale[i] * scale[j];
        }
        factor[j * m + j] = 1.0 + RIDGE;
    }
    let mut inverse = vec![0.0; m * m];
    if m > 0 {
        factorise(&mut factor, m);
        let factor = MatRef::from_column_major_slice(&factor, m, m);
        invert_lower_triangular(MatMut::from_column_major_slice_mut(&mut inverse, m, m), factor, Par::Seq);
    }
    // L^-1 S h of the held samples, and of a vector of ones.
    let mut right = vec![0.0; m * (held.len() + 1)];
    for (place, column) in right.chunks_mut(m.max(1)).enumerate() {
        for (j, out) in column.iter_mut().enumerate() {
            *out = scale[j] * if place < held.len() { entry(m + place, j) } else { 1.0 };
        }
    }
    let images = product(&inverse, &right, m);
    let (of_held, of_ones) = images.split_at(m * held.len());
    let columns = || inverse.chunks(m.max(1)).zip(&scale);
    let image = |place: usize| &of_held[place * m..(place + 1) * m];
    let left = |place: usize| entry(m + place, m + place) + tail - dot(image(place), image(place));
    Response {
        diagonal: columns().map(|(column, scale)| scale * scale * dot(column, column)).collect(),
        ones: columns().map(|(column, scale)| scale * dot(column, of_ones)).collect(),
        left: (0..held.len()).map(|place| left(place).max(0.0)).collect(),
        reach: (0..held.len()).map(|place| dot(image(place), of_ones)).collect(),
    }
}

/// The matrix over some samples in this order, on and below the diagonal.
fn below_diagonal(main: &HessianPart, n: usize, order: &[usize]) -> Vec<f64> {
    let size = order.len();
    let mut square = vec![0.0; size * size];
    match main {
        HessianPart::Dense(entries) => {
            for (column, &j) in square.chunks_mut(size).zip(order) {
                column.iter_mut().zip(order).for_each(|(out, &i)| *out = entries[i.min(j) * n + i.max(j)]);
            }
        }
        HessianPart::Factor(columns) if !columns.is_empty() => {
            let rows: Vec<f64> = columns.chunks(n).flat_map(|column| order.iter().map(|&i| column[i])).collect();
            let rows = MatRef::from_column_major_slice(&rows, size, columns.len() / n);
            let (lower, whole) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
            let out = MatMut::from_column_major_slice_mut(&mut square, size, size);
            matmul(out, lower, Accum::Replace, rows, whole, rows.transpose(), whole, 1.0, Par::Seq);
        }
        HessianPart::Factor(_) => {}
        HessianPart::InPlace(_) => unreachable!("a matrix was asked for"),
    }
    square
}

/// A lower triangular matrix of m rows times some columns.
fn product(lower: &[f64], columns: &[f64], m: usize) -> Vec<f64> {
    let mut out = vec![0.0; columns.len()];
    if let Some(count) = columns.len().checked_div(m) {
        let view = MatMut::from_column_major_slice_mut(&mut out, m, count);
        let (left, right) =
            (MatRef::from_column_major_slice(lower, m, m), MatRef::from_column_major_slice(columns, m, count));
        let (lower, whole) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
        matmul(view, whole, Accum::Replace, left, lower, right, whole, 1.0, Par::Seq);
    }
    out
}

/// For `C C' + diag` with fewer columns than free samples (Woodbury): with `V = diag^-1/2 C`, `I + V'V = L L'` and `X = L^-1 V'` is
/// `P = diag^-1/2 (I - X'X) diag^-1/2`, and what is left of a held sample with the row c of C is `|L^-1 c|^2`.
fn of_factor(
    columns: &[f64],
    n: usize,
    diagonal: &[f64],
    free: &[(usize, f64)],
    held: &[usize],
    tail: f64,
) -> Response {
    let (m, k) = (free.len(), columns.len() / n);
    let roots: Vec<f64> = diagonal.iter().map(|entry| 1.0 / entry.sqrt()).collect();
    // The rows of V, and those of C for held samples, one after another.
    let row = |i: usize, factor: f64| columns.iter().skip(i).step_by(n).map(move |entry| factor * entry);
    let mut rows: Vec<f64> = free.iter().zip(&roots).flat_map(|((i, _), root)| row(*i, *root)).collect();
    let (in_free, in_held): (Vec<f64>, Vec<f64>) = (rows.clone(), held.iter().flat_map(|i| row(*i, 1.0)).collect());
    rows.extend(&in_held);
    let mut inner = vec![0.0; k * k];
    if k > 0 {
        let v = MatRef::from_column_major_slice(&in_free, k, m);
        let (lower, whole) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
        let out = MatMut::from_column_major_slice_mut(&mut inner, k, k);
        matmul(out, lower, Accum::Replace, v, whole, v.transpose(), whole, 1.0, Par::Seq);
        inner.iter_mut().step_by(k + 1).for_each(|entry| *entry += 1.0);
        factorise(&mut inner, k);
        let solved = MatMut::from_column_major_slice_mut(&mut rows, k, m + held.len());
        solve_lower_triangular_in_place(MatRef::from_column_major_slice(&inner, k, k), solved, Par::Seq);
    }
    let image = |place: usize| &rows[place * k..(place + 1) * k];
    // X diag^-1/2 1.
    let mut sum = vec![0.0; k];
    for (place, root) in roots.iter().enumerate() {
        sum.iter_mut().zip(image(place)).for_each(|(sum, x)| *sum += root * x);
    }
    let ones: Vec<f64> =
        roots.iter().enumerate().map(|(place, root)| root * (root - dot(image(place), &sum))).collect();
    // C'P 1, over the free samples.
    let mut reached = vec![0.0; k];
    for (place, (one, root)) in ones.iter().zip(&roots).enumerate() {
        let v = &in_free[place * k..(place + 1) * k];
        reached.iter_mut().zip(v).for_each(|(reached, v)| *reached += one / root * v);
    }
    let squared = |place: usize| dot(image(place), image(place));
    Response {
        diagonal: roots.iter().enumerate().map(|(place, root)| root * root * (1.0 - squared(place))).collect(),
        ones,
        left: (0..held.len()).map(|place| squared(m + place) + tail).collect(),
        reach: (0..held.len()).map(|place| dot(&in_held[place * k..(place + 1) * k], &reached)).collect(),
    }
}
