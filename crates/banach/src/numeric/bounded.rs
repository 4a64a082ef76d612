//! Minima of smooth functions between bounds.

use std::collections::VecDeque;

use super::dot;

/// Steps that the model of the curvature remembers.
const MEMORY: usize = 10;
/// A step must lower the function by at least this share of what its slope promises (Armijo).
const SUFFICIENT: f64 = 1e-4;
/// The most halvings, about, of a step that is refused.
const TRIALS: usize = 20;
/// The largest change of a parameter in one step. Farther away a model of the curvature says little.
const REACH: f64 = 4.0;

/// A point, and the value of the function there.
#[derive(Debug, Clone)]
pub(crate) struct Minimum {
    pub point: Vec<f64>,
    pub value: f64,
}

/// Minimises by L-BFGS with projections onto the bounds.
///
/// - Solves: `min f(x)` subject to `low_j <= x_j <= high_j`, to a local minimum.
/// - Given: `f(x, gradient)`, which returns the value and writes the gradient. Where f is not a finite number a step is refused.
/// - Returns: the best point, once a step lowers f by at most `tolerance`, or after so many iterations.
/// - Cost: one evaluation per iteration as a rule.
/// - See: Bertsekas, "Projected Newton methods for optimization problems with simple constraints" (1982); Nocedal and Wright,
///   "Numerical Optimization", Algorithm 7.4.
pub(crate) fn minimise(
    mut f: impl FnMut(&[f64], &mut [f64]) -> f64,
    start: &[f64],
    bounds: &[(f64, f64)],
    iterations: usize,
    tolerance: f64,
) -> Minimum {
    let project = |x: f64, j: usize| x.clamp(bounds[j].0, bounds[j].1);
    let mut x: Vec<f64> = start.iter().enumerate().map(|(j, &x)| project(x, j)).collect();
    let (mut gradient, mut trial_gradient) = (vec![0.0; x.len()], vec![0.0; x.len()]);
    let mut value = f(&x, &mut gradient);
    let mut curvature = Curvature::default();
    for _ in 0..iterations {
        if !value.is_finite() || gradient.iter().any(|slope| !slope.is_finite()) {
            break;
        }
        // A parameter at a bound that the slope pushes against stays there.
        let held = |j: usize| (x[j] <= bounds[j].0 && gradient[j] > 0.0) || (x[j] >= bounds[j].1 && gradient[j] < 0.0);
        let free: Vec<bool> = (0..x.len()).map(|j| !held(j)).collect();
        let mut direction = curvature.step(&gradient, &free);
        if dot(&direction, &gradient) >= 0.0 {
            curvature = Curvature::default();
            direction = curvature.step(&gradient, &free);
        }
        let longest = direction.iter().fold(0.0_f64, |longest, d| longest.max(d.abs()));
        if longest == 0.0 {
            break;
        }
        let mut length = (REACH / longest).min(1.0);
        let mut accepted = None;
        for _ in 0..TRIALS {
            let trial: Vec<f64> =
                x.iter().zip(&direction).enumerate().map(|(j, (x, d))| project(x + length * d, j)).collect();
            let slope: f64 = trial.iter().zip(&x).zip(&gradient).map(|((new, old), slope)| (new - old) * slope).sum();
            let found = f(&trial, &mut trial_gradient);
            if found <= value + SUFFICIENT * slope {
                accepted = Some((trial, found));
                break;
            }
            // The lowest point of the parabola through both values and the slope, if it is neither too near nor too far.
            let parabola = -0.5 * slope / (found - value - slope);
            length *= if parabola.is_finite() { parabola.clamp(0.1, 0.5) } else { 0.1 };
        }
        let Some((trial, found)) = accepted else { break };
        curvature.learn(&x, &trial, &gradient, &trial_gradient);
        let gain = value - found;
        (x, value) = (trial, found);
        std::mem::swap(&mut gradient, &mut trial_gradient);
        if gain <= tolerance {
            break;
        }
    }
    Minimum { point: x, value }
}

/// The last steps and what they did to the gradient, most recent first.
#[derive(Default)]
struct Curvature {
    pairs: VecDeque<(Vec<f64>, Vec<f64>)>,
}

impl Curvature {
    fn learn(&mut self, x: &[f64], next: &[f64], gradient: &[f64], next_gradient: &[f64]) {
        let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<f64>>();
        let (step, change) = (difference(next, x), difference(next_gradient, gradient));
        // Only a positive curvature keeps the model positive definite.
        if dot(&step, &change) > 1e-10 * dot(&change, &change) {
            self.pairs.push_front((step, change));
            self.pairs.truncate(MEMORY);
        }
    }

    /// The step `-H gradient` of the free parameters, by the recursion in two loops. The first one has length 1 at most.
    fn step(&self, gradient: &[f64], free: &[bool]) -> Vec<f64> {
        let over_free = |a: &[f64], b: &[f64]| -> f64 {
            a.iter().zip(b).zip(free).filter(|(_, free)| **free).map(|((a, b), _)| a * b).sum()
        };
        let mut d: Vec<f64> = gradient.iter().zip(free).map(|(slope, free)| if *free { -slope } else { 0.0 }).collect();
        // A pair whose curvature is not positive among the free parameters is left out.
        let pairs: Vec<(&Vec<f64>, &Vec<f64>, f64)> = self
            .pairs
            .iter()
            .map(|(step, change)| (step, change, over_free(step, change)))
            .filter(|(_, change, product)| *product > 1e-10 * over_free(change, change))
            .collect();
        let mut shares = Vec::with_capacity(pairs.len());
        for (step, change, product) in &pairs {
            let share = over_free(step, &d) / product;
            d.iter_mut().zip(*change).for_each(|(d, change)| *d -= share * change);
            shares.push(share);
        }
        let size = match pairs.first() {
            Some((_, change, product)) => product / over_free(change, change),
            None => 1.0 / over_free(&d, &d).sqrt().max(1.0),
        };
        d.iter_mut().for_each(|d| *d *= size);
        for ((step, change, product), share) in pairs.iter().zip(&shares).rev() {
            let back = share - over_free(change, &d) / product;
            d.iter_mut().zip(*step).for_each(|(d, step)| *d += back * step);
        }
        d.iter_mut().zip(free).filter(|(_, free)| !**free).for_each(|(d, _)| *d = 0.0);
        d
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rosenbrock's valley in four dimensions.
    fn valley(x: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        let mut value = 0.0;
        for j in 0..x.len() - 1 {
            let (bend, rest) = (x[j + 1] - x[j] * x[j], 1.0 - x[j]);
            value += 100.0 * bend * bend + rest * rest;
            gradient[j] += -400.0 * bend * x[j] - 2.0 * rest;
            gradient[j + 1] += 200.0 * bend;
        }
        value
    }

    #[test]
    fn the_valley_is_followed_to_its_end() {
        let found = minimise(valley, &[-1.2, 1.0, -1.2, 1.0], &[(-5.0, 5.0); 4], 500, 0.0);
        assert!(found.value < 1e-12, "{found:?}");
        assert!(found.point.iter().all(|x| (x - 1.0).abs() < 1e-5), "{found:?}");
    }

    /// At the end every slope points out of the box or is 0.
    #[test]
    fn bounds_are_kept_and_pushed_against() {
        let bounds = [(-0.5, 0.5), (-3.0, 3.0), (0.4, 3.0), (-3.0, 0.1)];
        let found = minimise(valley, &[-1.2, 1.0, -1.2, 1.0], &bounds, 500, 0.0);
        let mut gradient = [0.0; 4];
        valley(&found.point, &mut gradient);
        for ((x, (low, high)), slope) in found.point.iter().zip(bounds).zip(gradient) {
            assert!((low..=high).contains(x), "{found:?}");
            let outward = (*x == low && slope > 0.0) || (*x == high && slope < 0.0);
            assert!(outward || slope.abs() < 1e-4, "{found:?} {gradient:?}");
        }
    }

    #[test]
    fn values_that_are_no_numbers_are_stepped_around() {
        let root = |x: &[f64], gradient: &mut [f64]| {
            gradient[0] = 1.0 - 0.5 / x[0].sqrt();
            x[0] - x[0].sqrt()
        };
        let found = minimise(root, &[4.0], &[(-100.0, 100.0)], 100, 0.0);
        assert!((found.point[0] - 0.25).abs() < 1e-6, "{found:?}");
        let nowhere = minimise(|_, _| f64::NAN, &[1.0], &[(0.0, 2.0)], 10, 0.0);
        assert_eq!(nowhere.point, [1.0]);
    }
}
