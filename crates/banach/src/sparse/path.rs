//! Sparse least squares along a path of penalties, by coordinate descent on the columns that have ever counted.

use super::{Penalty, WorkingColumns};
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
    /// The target less what they explain.
    pub residual: Vec<f64>,
}

/// Sizes of the penalty, from the largest correlation downwards.
const POINTS: usize = 60;
/// The smallest of them, as a share of the largest.
const SMALLEST: f64 = 3e-3;
/// A sweep ends a descent if no weight moves by more, beside a target of length 1.
const LEAST_MOVE: f64 = 1e-6;
/// Sweeps of one descent, at most. A start for a search needs no more; the descent that is certified goes on.
const SWEEPS: usize = 300;
/// The same for a descent that is certified, near rounding, and its sweeps.
const LEAST_SOLVED_MOVE: f64 = 1e-14;
const SOLVING_SWEEPS: usize = 50_000;
/// WorkingColumns that join at a time.
const JOIN: usize = 50;
/// Times that columns join for one penalty, at most.
const ROUNDS: usize = 20;

/// A descent along the path.
struct Descent<'c> {
    columns: &'c WorkingColumns,
    penalty: Penalty,
    factors: &'c [f64],
    /// The weight of every column.
    weights: Vec<f64>,
    residual: Vec<f64>,
    /// The columns that have counted.
    ever: Vec<usize>,
}

impl Descent<'_> {
    /// One sweep over some columns; returns the largest move.
    fn sweep(&mut self, places: &[usize], lambda: f64) -> f64 {
        checkpoint();
        let mut largest = 0.0_f64;
        for &place in places {
            let column = self.columns.column(place);
            let old = self.weights[place];
            let new = self.penalty.minimiser(dot_in_lanes(column, &self.residual) + old, lambda * self.factors[place]);
            let step = new - old;
            if step != 0.0 {
                self.residual.iter_mut().zip(column).for_each(|(residual, x)| *residual -= step * x);
                self.weights[place] = new;
                largest = largest.max(step.abs());
            }
        }
        largest
    }

    /// The columns with a weight.
    fn active(&self) -> Vec<usize> {
        self.ever.iter().copied().filter(|&place| self.weights[place] != 0.0).collect()
    }

    /// Sweeps until no weight moves by more than `least`, at most so many times.
    fn settle(&mut self, lambda: f64, least: f64, sweeps: usize) {
        let ever = std::mem::take(&mut self.ever);
        for _ in 0..ROUNDS {
            let moved = self.sweep(&ever, lambda);
            self.ever.clone_from(&ever);
            let active = self.active();
            for _ in 0..sweeps {
                if self.sweep(&active, lambda) <= least {
                    break;
                }
            }
            if moved <= least {
                break;
            }
        }
        self.ever = ever;
    }

    /// Sweeps, and lets columns join, until no column at hand breaks the optimality.
    fn solve(&mut self, lambda: f64, least: f64, sweeps: usize) {
        for _ in 0..ROUNDS {
            self.settle(lambda, least, sweeps);
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
        PathPoint { lambda, places, weights, residual: self.residual.clone() }
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

/// The path of a penalty over columns at hand, until it has more than `most` columns, or leaves no more than `enough` of the target unexplained. The penalty of every column is multiplied by its factor.
pub(crate) fn path(
    columns: &WorkingColumns,
    target: &[f64],
    penalty: Penalty,
    factors: &[f64],
    most: usize,
    enough: f64,
) -> Vec<PathPoint> {
    let products = columns.products(target);
    let largest = products.iter().zip(factors).map(|(product, factor)| product.abs() / factor).fold(0.0, f64::max);
    let weights = vec![0.0; columns.len()];
    let mut descent = Descent { columns, penalty, factors, weights, residual: target.to_vec(), ever: Vec::new() };
    let mut points: Vec<PathPoint> = Vec::new();
    for step in 1..POINTS {
        let lambda = largest * SMALLEST.powf(step as f64 / (POINTS - 1) as f64);
        descent.solve(lambda, LEAST_MOVE, SWEEPS);
        let point = descent.point(lambda);
        let ends = point.places.len() > most || dot_in_lanes(&point.residual, &point.residual) <= enough;
        points.push(point);
        if ends {
            break;
        }
    }
    points
}

/// A point of a path solved anew, near rounding, on the columns that are at hand by now.
pub(crate) fn solved(columns: &WorkingColumns, target: &[f64], penalty: Penalty, point: &PathPoint) -> PathPoint {
    let factors = vec![1.0; columns.len()];
    let (mut weights, mut residual) = (vec![0.0; columns.len()], target.to_vec());
    for (&place, &weight) in point.places.iter().zip(&point.weights) {
        weights[place] = weight;
        residual.iter_mut().zip(columns.column(place)).for_each(|(residual, x)| *residual -= weight * x);
    }
    let mut descent = Descent { columns, penalty, factors: &factors, weights, residual, ever: point.places.clone() };
    descent.solve(point.lambda, LEAST_SOLVED_MOVE, SOLVING_SWEEPS);
    descent.point(point.lambda)
}
