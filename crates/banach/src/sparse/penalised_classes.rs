//! The logistic loss with a penalty, by parabolas and the local linear approximation of the penalty.

use rayon::prelude::*;

use super::{
    Design, Penalty, WorkingColumns,
    design::project_out,
    logistic::{Classes, LogisticFit},
    objective::Objective,
    path::{Accuracy, Descent, Images, PathLoss, PathPoint, SWEEPS},
    penalised::PenalisedLoss,
};
use crate::{
    loss::{Logistic, Loss},
    numeric::dot_in_lanes,
};

/// The loss is multiplied by this, so that its curvature is at most 1, as that of least squares.
const STEEPNESS: f64 = 4.0;
/// A descent ends if no first-order condition is broken by more, as a share of the penalty: on a path, and for a certificate.
const PATH_VIOLATION: f64 = 1e-4;
const SOLVED_VIOLATION: f64 = 1e-9;
/// Parabolas of one descent, at most. Newton's method takes a handful; in between zero and where the penalty is constant, weights of MCP and
/// SCAD come nearer by a factor of about 3 at each.
const PATH_PARABOLAS: usize = 60;
const SOLVING_PARABOLAS: usize = 1000;
/// A parabola is solved until its weights move by this share of what is left to do.
const SHARE_LEFT: f64 = 0.01;
/// The least curvature along a column: where all samples are certain there is none.
const LEAST_CURVATURE: f64 = 1e-12;
/// The share of what a parabola promises by which the objective has to fall, up to rounding.
const ARMIJO: f64 = 0.1;
const ROUNDING: f64 = 1e-13;
const MOST_HALVINGS: usize = 40;
/// Newton's method for the constant takes a handful of steps.
const CONSTANT_STEPS: usize = 50;
/// A loss that is this share of the constant's is none: all samples are certain.
const CERTAIN: f64 = 1e-10;

/// Two classes, and the geometry of columns that are multiplied by the roots of the samples' weights.
#[derive(Debug)]
pub(super) struct PenalisedClasses<'c> {
    pub classes: &'c Classes,
    pub design: &'c Design,
}

/// Predictions: those of columns, multiplied by the roots, and a constant.
#[derive(Debug, Clone)]
struct Predictions {
    rooted: Vec<f64>,
    constant: f64,
}

impl PenalisedClasses<'_> {
    /// Every sample: its class, the root of its weight, and its prediction.
    fn samples<'p>(&'p self, at: &'p Predictions) -> impl Iterator<Item = (f64, f64, f64)> + 'p {
        let samples = self.classes.y.iter().zip(self.design.roots()).zip(&at.rooted);
        samples.map(|((y, root), rooted)| (*y, *root, at.constant + rooted / root))
    }

    fn loss(&self, at: &Predictions) -> f64 {
        STEEPNESS * self.samples(at).map(|(y, root, t)| root * root * Logistic.value(y, t)).sum::<f64>()
    }

    /// The negative gradient in the predictions, divided by the roots.
    fn residual(&self, at: &Predictions) -> Vec<f64> {
        let mut residual: Vec<f64> =
            self.samples(at).map(|(y, root, t)| -STEEPNESS * root * Logistic.slopes(y, t).0).collect();
        project_out(self.design.constant(), &mut residual);
        residual
    }

    /// The curvatures of all samples, at most 1.
    fn curvatures(&self, at: &Predictions) -> Vec<f64> {
        let miss = |y: f64, t: f64| Logistic.slopes(y, t).0.abs();
        self.samples(at).map(|(y, _, t)| STEEPNESS * miss(y, t) * miss(-y, t)).collect()
    }

    /// The predictions of weights with the best constant, from a guess of it.
    fn predictions(
        &self,
        columns: &WorkingColumns,
        weights: impl Iterator<Item = (usize, f64)>,
        guess: f64,
    ) -> Predictions {
        let mut rooted = vec![0.0; self.classes.y.len()];
        for (place, weight) in weights {
            rooted.iter_mut().zip(columns.column(place)).for_each(|(rooted, x)| *rooted += weight * x);
        }
        let mut at = Predictions { rooted, constant: guess };
        self.balance(&mut at);
        at
    }

    /// Brings the constant to its best value.
    fn balance(&self, at: &mut Predictions) {
        if self.design.constant().is_none() {
            return;
        }
        for _ in 0..CONSTANT_STEPS {
            let (mut slope, mut curvature) = (0.0, 0.0);
            for (y, root, t) in self.samples(at) {
                let own = Logistic.slopes(y, t).0;
                slope -= root * root * own;
                curvature += root * root * own.abs() * (1.0 - own.abs());
            }
            // The curvature changes by no more than a factor of e from here to there if this is at most 1.
            let step = slope / curvature.max(f64::MIN_POSITIVE);
            let step = step / (1.0 + step.abs());
            at.constant += step;
            if step.abs() <= f64::EPSILON * at.constant.abs().max(1.0) {
                break;
            }
        }
    }

    fn predictions_of(&self, columns: &WorkingColumns, point: &PathPoint) -> Predictions {
        let weights = point.places.iter().copied().zip(point.weights.iter().copied());
        self.predictions(columns, weights, point.constant)
    }

    /// What weights of columns take from the residual, where samples have these curvatures and the constant follows.
    fn images(&self, columns: &WorkingColumns, places: &[usize], curvatures: &[f64]) -> Images {
        let mut slots = vec![usize::MAX; columns.len()];
        places.iter().enumerate().for_each(|(slot, &place)| slots[place] = slot);
        let (mut vectors, mut along) = (Vec::with_capacity(places.len() * curvatures.len()), Vec::new());
        for &place in places {
            let column = columns.column(place);
            let mut centred = column.to_vec();
            self.follow(&mut centred, curvatures);
            let image = centred.iter().zip(curvatures).map(|(x, curvature)| x * curvature);
            let start = vectors.len();
            vectors.extend(image);
            along.push(dot_in_lanes(&vectors[start..], column).max(LEAST_CURVATURE));
        }
        Images::OfSome { slots, vectors, curvatures: along }
    }

    /// Adds to a change of predictions by columns the change of the constant that is best by a parabola; returns the latter.
    fn follow(&self, change: &mut [f64], curvatures: &[f64]) -> f64 {
        if self.design.constant().is_none() {
            return 0.0;
        }
        let roots = self.design.roots();
        let along = |vector: &[f64]| -> f64 {
            vector.iter().zip(curvatures).zip(roots).map(|((x, curvature), root)| x * curvature * root).sum()
        };
        let constant = -along(change) / along(roots).max(f64::MIN_POSITIVE);
        change.iter_mut().zip(roots).for_each(|(change, root)| *change += constant * root);
        constant
    }

    /// The columns as the loss takes them: not multiplied by the roots.
    fn plain(&self, columns: &WorkingColumns, places: &[usize]) -> Vec<Vec<f64>> {
        let plain = |column: &[f64]| column.iter().zip(self.design.roots()).map(|(x, root)| x / root).collect();
        places.iter().map(|&place| plain(columns.column(place))).collect()
    }

    /// The fit without a penalty, and whether larger coefficients always fit better.
    fn refit(&self, columns: &WorkingColumns, places: &[usize]) -> (LogisticFit, bool) {
        let plain = self.plain(columns, places);
        let plain: Vec<&[f64]> = plain.iter().map(|column| &column[..]).collect();
        let fit = self.classes.fit(&plain);
        let separated = self.classes.separated(&plain, &fit);
        (fit, separated)
    }

    /// One step: the parabola of the loss and the slopes of the penalty at the weights are minimised, and the objective falls. Returns whether
    /// there was one.
    fn step(&self, descent: &mut Descent<'_>, at: &mut Predictions, lambda: f64, least: f64) -> bool {
        let (columns, penalty) = (descent.columns, descent.penalty);
        let curvatures = self.curvatures(at);
        let slope = |(weight, factor): (&f64, &f64)| penalty.slope(*weight, lambda * factor) / lambda;
        let slopes: Vec<f64> = descent.weights.iter().zip(descent.factors).map(slope).collect();
        let mut parabola = Descent {
            columns,
            penalty: Penalty::Lasso,
            factors: &slopes,
            images: self.images(columns, &descent.ever, &curvatures),
            weights: descent.weights.clone(),
            constant: 0.0,
            residual: descent.residual.clone(),
            ever: descent.ever.clone(),
        };
        parabola.settle(lambda, least, SWEEPS);
        let mut change = vec![0.0; at.rooted.len()];
        let (mut steps, mut promised) = (Vec::new(), 0.0);
        for &place in &descent.ever {
            let (old, new) = (descent.weights[place], parabola.weights[place]);
            if new != old {
                change.iter_mut().zip(columns.column(place)).for_each(|(change, x)| *change += (new - old) * x);
                promised += lambda * slopes[place] * (old.abs() - new.abs());
                steps.push((place, old, new - old));
            }
        }
        promised += dot_in_lanes(&change, &descent.residual);
        let mut with_constant = change.clone();
        let constant = self.follow(&mut with_constant, &curvatures);
        let cost = |length: f64| -> f64 {
            let of_step = |&(place, old, step): &(usize, f64, f64)| {
                penalty.value(old + length * step, lambda * descent.factors[place])
            };
            steps.iter().map(of_step).sum()
        };
        let before = self.loss(at);
        let mut length = 1.0;
        for _ in 0..MOST_HALVINGS {
            let rooted = at.rooted.iter().zip(&change).map(|(rooted, change)| rooted + length * change).collect();
            let reached = Predictions { rooted, constant: at.constant + length * constant };
            let fallen = before - self.loss(&reached) + cost(0.0) - cost(length);
            if fallen >= ARMIJO * length * promised - ROUNDING * before && !steps.is_empty() {
                for &(place, old, step) in &steps {
                    descent.weights[place] = if length == 1.0 { parabola.weights[place] } else { old + length * step };
                }
                *at = reached;
                return true;
            }
            length *= 0.5;
        }
        false
    }
}

impl PathLoss for PenalisedClasses<'_> {
    fn start(&self) -> (f64, Vec<f64>) {
        let weight_of = |sign: f64| -> f64 {
            self.classes
                .y
                .iter()
                .zip(&self.classes.weights)
                .filter(|(y, _)| **y == sign)
                .map(|(_, weight)| weight)
                .sum()
        };
        let guess = if self.classes.intercept { (weight_of(1.0) / weight_of(-1.0)).ln() } else { 0.0 };
        let mut at = Predictions { rooted: vec![0.0; self.classes.y.len()], constant: guess };
        self.balance(&mut at);
        let residual = self.residual(&at);
        (at.constant, residual)
    }

    fn settle(&self, descent: &mut Descent<'_>, lambda: f64, accuracy: Accuracy) {
        let (tolerance, parabolas) = match accuracy {
            Accuracy::OfPath => (PATH_VIOLATION * lambda, PATH_PARABOLAS),
            Accuracy::OfSolution => (SOLVED_VIOLATION * lambda, SOLVING_PARABOLAS),
        };
        let weights = descent.active().into_iter().map(|place| (place, descent.weights[place])).collect::<Vec<_>>();
        let mut at = self.predictions(descent.columns, weights.into_iter(), descent.constant);
        let none = CERTAIN * self.loss(&Predictions { rooted: vec![0.0; at.rooted.len()], constant: 0.0 });
        for step in 0..=parabolas {
            (descent.constant, descent.residual) = (at.constant, self.residual(&at));
            let violation = descent.violation(lambda);
            if step == parabolas || violation <= tolerance || self.loss(&at) <= none {
                break;
            }
            if !self.step(descent, &mut at, lambda, (SHARE_LEFT * violation).max(0.1 * tolerance)) {
                break;
            }
            self.balance(&mut at);
        }
    }

    fn left(&self, columns: &WorkingColumns, point: &PathPoint) -> f64 {
        let deviance = 2.0 * self.loss(&self.predictions_of(columns, point)) / STEEPNESS;
        let largest = self.classes.weights.iter().copied().fold(0.0, f64::max);
        deviance * largest / self.classes.evidence.empty()
    }

    /// Where the terms separate classes, and the penalty of one no longer rises with its weight, nothing holds it.
    fn runs_off(&self, columns: &WorkingColumns, penalty: Penalty, point: &PathPoint) -> bool {
        let held = point.weights.iter().all(|weight| penalty.slope(*weight, point.lambda) > 0.0);
        !held && self.refit(columns, &point.places).1
    }
}

impl PenalisedLoss for PenalisedClasses<'_> {
    fn most_terms(&self) -> usize {
        self.classes.evidence.most_terms()
    }

    fn criterion(&self, columns: &WorkingColumns, places: &[usize]) -> f64 {
        if places.is_empty() {
            return 0.0;
        }
        self.classes.evidence.criterion(self.refit(columns, places).0.deviance, places.len())
    }

    fn evidence(&self, columns: &WorkingColumns, places: &[usize]) -> Vec<f64> {
        let criterion = self.criterion(columns, places);
        let rise = |i: usize| {
            let others: Vec<usize> = places.iter().copied().filter(|place| *place != places[i]).collect();
            self.criterion(columns, &others) - criterion
        };
        (0..places.len()).into_par_iter().map(rise).collect()
    }

    /// The residual, made so short that no term has a larger product than the penalty, is feasible for the dual over all terms: it stays in
    /// the box of every sample, and orthogonal to the constant.
    fn bounds(&self, columns: &WorkingColumns, point: &PathPoint, largest: f64) -> (f64, f64) {
        let PathPoint { lambda, weights, residual, .. } = point;
        let at = self.predictions_of(columns, point);
        let primal = self.loss(&at) + lambda * weights.iter().map(|weight| weight.abs()).sum::<f64>();
        let scale = if largest > *lambda { lambda / largest } else { 1.0 };
        let entropy = |((y, root, _), residual): ((f64, f64, f64), &f64)| {
            let share = (scale * y * residual / (STEEPNESS * root)).clamp(0.0, 1.0);
            -root * root * Logistic.conjugate(1.0, share)
        };
        (primal, STEEPNESS * self.samples(&at).zip(residual).map(entropy).sum::<f64>())
    }

    fn unit(&self) -> f64 {
        let roots: f64 = self.design.roots().iter().map(|root| root * root).sum();
        1.0 / (STEEPNESS * roots.sqrt())
    }
}
