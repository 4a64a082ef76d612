//! Sparse fits along a path of penalties, by coordinate descent on the columns that have ever counted.

use super::{Penalty, WorkingColumns, objective::LeastSquares, pair_products::PairProducts};
use crate::{numeric::dot_in_lanes, workers::checkpoint};

/// The solution for one size of the penalty.
#[derive(Debug, Clone)]
pub(crate) struct PathPoint {
    /// The size of the penalty.
    pub lambda: f64,
    /// The columns with a weight that is not 0.
    pub places: Vec<usize>,
    /// Their weights.
    pub weights: Vec<f64>,
    /// What is added to every prediction; least squares is orthogonal to the constant and has 0.
    pub constant: f64,
    /// The negative gradient of the loss in the predictions: for least squares, the target less what the columns explain.
    pub residual: Vec<f64>,
}

/// A loss whose paths can be followed, in units in which its curvature is at most 1 along every column: of predictions by columns of unit
/// length, orthogonal to the constant.
pub(super) trait PathLoss: Sync {
    /// The best constant, and the residual that it leaves.
    fn start(&self) -> (f64, Vec<f64>);

    /// The minimum over the columns that have counted.
    fn settle(&self, descent: &mut Descent<'_>, lambda: f64, accuracy: Accuracy);

    /// What a point leaves, as a share of what the constant leaves.
    fn left(&self, columns: &WorkingColumns, point: &PathPoint) -> f64;

    /// Whether the loss falls for ever near a point, as the penalty does not hold its weights.
    fn runs_off(&self, columns: &WorkingColumns, penalty: Penalty, point: &PathPoint) -> bool;
}

/// How far a descent goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Accuracy {
    /// As far as the start of a search needs.
    OfPath,
    /// Near rounding, to be certified.
    OfSolution,
}

/// Sizes of the penalty, from the largest correlation downwards.
const POINTS: usize = 60;
/// The smallest of them, as a share of the largest.
const SMALLEST: f64 = 3e-3;
/// A largest correlation of this share of the residual is rounding: there is no path.
const NO_CORRELATION: f64 = 1e-13;
/// A sweep ends a descent if no weight moves by more, beside a target of length 1.
const LEAST_MOVE: f64 = 1e-6;
/// Sweeps of one descent, at most. A start for a search needs no more; the descent that is certified goes on.
pub(super) const SWEEPS: usize = 300;
/// The same for a descent that is certified, near rounding, and its sweeps.
const LEAST_SOLVED_MOVE: f64 = 1e-14;
const SOLVING_SWEEPS: usize = 50_000;
/// Columns that join at a time.
const JOIN: usize = 50;
/// Times that columns join for one penalty, at most.
const ROUNDS: usize = 20;

impl PathLoss for LeastSquares<'_> {
    fn start(&self) -> (f64, Vec<f64>) {
        (0.0, self.design.target().to_vec())
    }

    fn settle(&self, descent: &mut Descent<'_>, lambda: f64, accuracy: Accuracy) {
        match accuracy {
            Accuracy::OfPath => descent.settle(lambda, LEAST_MOVE, SWEEPS),
            Accuracy::OfSolution => descent.settle(lambda, LEAST_SOLVED_MOVE, SOLVING_SWEEPS),
        }
    }

    fn left(&self, _: &WorkingColumns, point: &PathPoint) -> f64 {
        dot_in_lanes(&point.residual, &point.residual)
    }

    /// A parabola has a minimum.
    fn runs_off(&self, _: &WorkingColumns, _: Penalty, _: &PathPoint) -> bool {
        false
    }
}

/// What a unit of weight takes from the residual, for the columns of a descent.
#[derive(Debug)]
pub(super) enum Images {
    /// The columns themselves, of length 1: least squares.
    Columns(PairProducts),
    /// A vector for each of some columns, and its product with the column: the curvature.
    OfSome {
        /// Where the vector of a column is.
        slots: Vec<usize>,
        vectors: Vec<f64>,
        curvatures: Vec<f64>,
    },
}

/// A descent along the path.
#[derive(Debug)]
pub(super) struct Descent<'c> {
    pub columns: &'c WorkingColumns,
    pub penalty: Penalty,
    /// What the penalty of every column is multiplied with.
    pub factors: &'c [f64],
    /// By least squares any penalty, by other parabolas that of the Lasso.
    pub images: Images,
    /// The weight of every column.
    pub weights: Vec<f64>,
    pub constant: f64,
    pub residual: Vec<f64>,
    /// The columns that have counted.
    pub ever: Vec<usize>,
}

impl Descent<'_> {
    /// One sweep over some columns; returns the largest move.
    fn sweep(&mut self, places: &[usize], lambda: f64) -> f64 {
        checkpoint();
        let mut largest = 0.0_f64;
        for &place in places {
            let column = self.columns.column(place);
            let (old, product) = (self.weights[place], dot_in_lanes(column, &self.residual));
            let minimiser = |z: f64| self.penalty.minimiser(z, lambda * self.factors[place]);
            let (new, image) = match &self.images {
                Images::Columns(_) => (minimiser(product + old), column),
                Images::OfSome { slots, vectors, curvatures } => {
                    let (slot, n) = (slots[place], column.len());
                    (minimiser(product + curvatures[slot] * old) / curvatures[slot], &vectors[slot * n..][..n])
                }
            };
            let step = new - old;
            if step != 0.0 {
                self.residual.iter_mut().zip(image).for_each(|(residual, x)| *residual -= step * x);
                self.weights[place] = new;
                largest = largest.max(step.abs());
            }
        }
        largest
    }

    /// Sweeps over some columns by the products of all their pairs: a move costs as many operations as there are columns, not samples. Moves
    /// are those of [`sweep`](Self::sweep), but for rounding.
    fn sweep_by_products(&mut self, places: &[usize], products: &[f64], lambda: f64, least: f64, sweeps: usize) {
        let before: Vec<f64> = places.iter().map(|&place| self.weights[place]).collect();
        let mut weights = before.clone();
        let mut gradient: Vec<f64> =
            places.iter().map(|&place| dot_in_lanes(self.columns.column(place), &self.residual)).collect();
        for _ in 0..sweeps {
            checkpoint();
            let mut largest = 0.0_f64;
            for (at, (&place, row)) in places.iter().zip(products.chunks(places.len().max(1))).enumerate() {
                let new = self.penalty.minimiser(gradient[at] + weights[at], lambda * self.factors[place]);
                let step = new - weights[at];
                if step != 0.0 {
                    gradient.iter_mut().zip(row).for_each(|(gradient, product)| *gradient -= step * product);
                    weights[at] = new;
                    largest = largest.max(step.abs());
                }
            }
            if largest <= least {
                break;
            }
        }
        for ((&place, before), new) in places.iter().zip(&before).zip(weights) {
            let step = new - before;
            self.residual.iter_mut().zip(self.columns.column(place)).for_each(|(residual, x)| *residual -= step * x);
            self.weights[place] = new;
        }
    }

    /// The largest violation of the first-order conditions of the columns that have counted.
    pub(super) fn violation(&self, lambda: f64) -> f64 {
        let of_column = |&place: &usize| {
            let product = dot_in_lanes(self.columns.column(place), &self.residual);
            self.penalty.violation(product, self.weights[place], lambda * self.factors[place])
        };
        self.ever.iter().map(of_column).fold(0.0, f64::max)
    }

    /// The columns with a weight.
    pub(super) fn active(&self) -> Vec<usize> {
        self.ever.iter().copied().filter(|&place| self.weights[place] != 0.0).collect()
    }

    /// Sweeps until no weight moves by more than `least`, at most so many times.
    pub(super) fn settle(&mut self, lambda: f64, least: f64, sweeps: usize) {
        let ever = std::mem::take(&mut self.ever);
        for _ in 0..ROUNDS {
            let moved = self.sweep(&ever, lambda);
            self.ever.clone_from(&ever);
            let active = self.active();
            match &mut self.images {
                Images::Columns(products) if active.len() <= self.columns.samples() => {
                    let products = products.among(self.columns, &active);
                    self.sweep_by_products(&active, &products, lambda, least, sweeps);
                }
                _ => {
                    for _ in 0..sweeps {
                        if self.sweep(&active, lambda) <= least {
                            break;
                        }
                    }
                }
            }
            if moved <= least {
                break;
            }
        }
        self.ever = ever;
    }

    /// Sweeps, and lets columns join, until no column at hand breaks the optimality.
    fn solve(&mut self, loss: &impl PathLoss, lambda: f64, accuracy: Accuracy) {
        for _ in 0..ROUNDS {
            loss.settle(self, lambda, accuracy);
            let violators = self.violators(lambda);
            if violators.is_empty() {
                break;
            }
            self.ever.extend(violators);
        }
    }

    /// The solution as it is.
    fn point(&self, lambda: f64) -> PathPoint {
        let places = self.active();
        let weights = places.iter().map(|&place| self.weights[place]).collect();
        PathPoint { lambda, places, weights, constant: self.constant, residual: self.residual.clone() }
    }

    /// The columns that break the optimality of 0, the worst first.
    fn violators(&self, lambda: f64) -> Vec<usize> {
        let products = self.columns.products(&self.residual);
        let mut worst: Vec<(usize, f64)> = products
            .into_iter()
            .enumerate()
            .filter(|(place, product)| {
                product.abs() > lambda * self.factors[*place] * (1.0 + 1e-9) && self.weights[*place] == 0.0
            })
            .collect();
        worst.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
        worst.into_iter().map(|(place, _)| place).filter(|place| !self.ever.contains(place)).take(JOIN).collect()
    }
}

/// The path of a penalty over columns at hand, until it has more than `most` columns, leaves no more than `enough` of what the constant leaves, or
/// comes to where the loss falls for ever. The penalty of every column is multiplied by its factor.
pub(super) fn path(
    loss: &impl PathLoss,
    columns: &WorkingColumns,
    penalty: Penalty,
    factors: &[f64],
    most: usize,
    enough: f64,
) -> Vec<PathPoint> {
    let (constant, residual) = loss.start();
    let products = columns.products(&residual);
    let largest = products.iter().zip(factors).map(|(product, factor)| product.abs() / factor).fold(0.0, f64::max);
    let mut points: Vec<PathPoint> = Vec::new();
    if largest <= NO_CORRELATION * dot_in_lanes(&residual, &residual).sqrt() {
        return points;
    }
    let (images, weights, ever) = (Images::Columns(PairProducts::default()), vec![0.0; columns.len()], Vec::new());
    let mut descent = Descent { columns, penalty, factors, images, weights, constant, residual, ever };
    for step in 1..POINTS {
        let lambda = largest * SMALLEST.powf(step as f64 / (POINTS - 1) as f64);
        descent.solve(loss, lambda, Accuracy::OfPath);
        let point = descent.point(lambda);
        if loss.runs_off(columns, penalty, &point) {
            break;
        }
        let ends = point.places.len() > most || loss.left(columns, &point) <= enough;
        points.push(point);
        if ends {
            break;
        }
    }
    points
}

/// A point of a path solved anew, near rounding, on the columns that are at hand by now.
pub(super) fn solved(loss: &impl PathLoss, columns: &WorkingColumns, penalty: Penalty, point: &PathPoint) -> PathPoint {
    let factors = vec![1.0; columns.len()];
    let (mut weights, mut residual) = (vec![0.0; columns.len()], loss.start().1);
    for (&place, &weight) in point.places.iter().zip(&point.weights) {
        weights[place] = weight;
        residual.iter_mut().zip(columns.column(place)).for_each(|(residual, x)| *residual -= weight * x);
    }
    let (factors, images, constant, ever) =
        (&factors[..], Images::Columns(PairProducts::default()), point.constant, point.places.clone());
    let mut descent = Descent { columns, penalty, factors, images, weights, constant, residual, ever };
    descent.solve(loss, point.lambda, Accuracy::OfSolution);
    descent.point(point.lambda)
}
