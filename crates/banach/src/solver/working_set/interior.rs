//! The problem of p = 1 on few features, by an interior-point method.
//!
//! ```text
//! minimise  sum_i gamma_i psi_i(alpha_i/gamma_i)   subject to  |u_k| <= 1,  u = Phi' alpha,  and sum_i alpha_i = 0 with an intercept
//! ```
//!
//! The walls `1 - u_k` and `1 + u_k` have multipliers `z_k` and `z_k'`, and the weights are their differences, `w_k = z_k - z_k'`. The
//! samples have the guards of Newton's method. To first order the predictions after a step are `right - curvature ds` sample by
//! sample and `Phi w + b` by the weights, so that
//!
//! ```text
//! (Phi h Phi' + diag(curvature/gamma)) d + b = right - Phi c,     h_k = z_k/(1 - u_k) + z_k'/(1 + u_k)
//! ```
//!
//! where c are the weights that the walls ask for at `d = 0`. One matrix serves Mehrotra's predictor and corrector.
//!
//! The loss is a parabola, or has a conjugate of the form `a s^2/2 - y s + k|s|`. A loss of another kind is approached by parabolas
//! (`run.rs`).

use super::saddle::Saddle;
use crate::{
    FeatureMatrix,
    form::{Hessian, HessianPart, square_of},
    solver::newton::{
        guard::{Aim, Guard, Pair, SampleLine, products},
        run::SampleTerm,
        system::System,
    },
};

/// The share of the way to the border that a step may go: close to it, and still inside for the next step.
const SHARE_OF_WAY: f64 = 0.995;
/// The products of the pairs shrink by at most this factor in one step: six digits of the gap.
const MOST_SHRINK: f64 = 1e-6;
/// A step that leaves more than this share of the products is slow.
const LEFT_BY_SLOW_STEP: f64 = 0.8;
/// After a slow step the next one aims at no less than this share of the products: it leads back to the middle.
const AIM_AFTER_SLOW_STEP: f64 = 0.3;
/// The smallest multiplier of a sample at the start, as a share of the mean distance of targets from predictions: a start tells nothing of
/// the multipliers, so that none begins near 0.
const LEAST_MULTIPLIER: f64 = 0.5;

/// Up to this many samples the matrix of a step is formed as a whole: Woodbury's formula, which is faster with fewer features than samples,
/// loses digits where some samples are held by a kink and others are not.
pub(super) const MOST_ALWAYS_DENSE: usize = 1024;

/// If a solution for the samples alone leaves more than this of its equations, steps are solved for both from then on.
const MOST_REST: f64 = 1e-7;
/// What the largest weight adds to predictions at least, as a share of the targets: where all weights vanish, none is large beside the
/// others.
const LEAST_ADDED: f64 = 1e-3;

/// The equations of a step.
enum StepSystem {
    /// For the samples and the weights, where samples are held by kinks or ends.
    Both(Saddle),
    /// For the samples alone.
    OfSamples(System<'static>),
}

/// The two walls of a feature, at `u_k = 1` and at `u_k = -1`.
type Walls = [Pair; 2];

/// The state of the method. All vectors are over the samples that are present.
pub(super) struct Interior<'a> {
    samples: &'a [SampleTerm<'a>],
    intercept: bool,
    x: &'a FeatureMatrix<'a>,
    alpha: Vec<f64>,
    t: Vec<f64>,
    /// One for every sample; none for a loss that is its own barrier.
    guards: Vec<Guard>,
    walls: Vec<Walls>,
    /// The root of the mean square of every feature.
    sizes: Vec<f64>,
    /// Whether steps are solved for samples and weights together.
    for_both: bool,
    /// The mean product of the pairs before the last step.
    last_mean: f64,
}

/// What a step aims at: products of the size mu, of which the products of the changes are a part.
struct Aims {
    mu: f64,
    samples: Vec<Aim>,
    walls: Vec<[f64; 2]>,
}

/// A step: its end, and the changes of all pairs.
struct InteriorStep {
    alpha: Vec<f64>,
    t: Vec<f64>,
    guards: Vec<[Pair; 4]>,
    walls: Vec<Walls>,
    /// What is left of the equations of the samples, as a share of the largest right-hand side.
    rest: f64,
}

impl<'a> Interior<'a> {
    /// The method at a dual vector strictly inside of its domain, with the predictions that go with it, and weights that products of the
    /// size `mu` leave to every feature. If it is not inside of all walls, these begin at distances of their own, which the steps bring to
    /// `1 - u_k` and `1 + u_k`.
    pub(super) fn new(
        samples: &'a [SampleTerm<'a>],
        intercept: bool,
        x: &'a FeatureMatrix<'a>,
        (alpha, t): (Vec<f64>, Vec<f64>),
        weights: &[f64],
        mu: f64,
    ) -> Self {
        let mean = samples.iter().zip(&t).map(|(sample, t)| (sample.term.target() - t).abs()).sum::<f64>();
        let least = (LEAST_MULTIPLIER * mean / samples.len() as f64).max(f64::MIN_POSITIVE);
        let guard = |((sample, alpha), t): ((&SampleTerm<'_>, &f64), &f64)| {
            let (term, s) = (sample.term.proximal()?, alpha / sample.gamma);
            Some(Guard::new(&term, s, term.y - t - term.curvature * s, least))
        };
        let guards: Vec<Guard> = samples.iter().zip(&alpha).zip(&t).filter_map(guard).collect();
        let u = all_products(x, &alpha);
        let inside = u.iter().all(|u| u.abs() < 1.0);
        let wall = |(u, weight): (&f64, &f64)| {
            let ends = if inside { [1.0 - u, 1.0 + u] } else { [1.0 + u.abs(); 2] };
            let pair = |x: f64, weight: f64| {
                let x = x.max(f64::MIN_POSITIVE);
                Pair { x, z: mu / x + weight.max(0.0) }
            };
            [pair(ends[0], *weight), pair(ends[1], -weight)]
        };
        let walls = u.iter().zip(weights).map(wall).collect();
        let mut sizes = vec![0.0; x.features()];
        x.squares(&mut sizes);
        sizes.iter_mut().for_each(|size| *size = (*size / samples.len() as f64).sqrt());
        let for_both = !guards.is_empty() && Saddle::fits(samples.len(), x.features());
        Self { samples, intercept, x, alpha, t, guards, walls, sizes, for_both, last_mean: f64::INFINITY }
    }

    /// Whether all products together have come down to about this.
    pub(super) fn is_at(&self, least: f64) -> bool {
        self.products().0 <= 2.0 * least
    }

    /// The sum of the products of all pairs in units of the objective, and their number.
    fn products(&self) -> (f64, f64) {
        self.total(|guard, _| guard.products().sum(), |walls, _| walls.iter().map(|pair| pair.x * pair.z).sum())
    }

    /// The dual vector.
    pub(super) fn alpha(&self) -> &[f64] {
        &self.alpha
    }

    /// The weights.
    pub(super) fn weights(&self) -> Vec<f64> {
        self.walls.iter().map(|[above, below]| above.z - below.z).collect()
    }

    /// The weights without those that are to become 0: their walls are farther away than what they add to predictions is large, beside
    /// the largest, or a share of the targets where nothing is added.
    pub(super) fn weights_that_stay(&self) -> Vec<f64> {
        let mut weights = self.weights();
        let added: Vec<f64> = weights.iter().zip(&self.sizes).map(|(weight, size)| weight.abs() * size).collect();
        let targets = self.samples.iter().map(|sample| sample.term.target().abs()).fold(0.0, f64::max);
        let largest = added.iter().copied().fold(LEAST_ADDED * targets, f64::max);
        for ((weight, added), [above, below]) in weights.iter_mut().zip(&added).zip(&self.walls) {
            if *added <= largest * above.x.min(below.x) {
                *weight = 0.0;
            }
        }
        weights
    }

    /// Takes a step whose products come down to no less than `least` in sum; returns the share of it that was taken.
    pub(super) fn step(&mut self, least: f64) -> f64 {
        let plain = Aims {
            mu: 0.0,
            samples: vec![Aim::default(); self.samples.len()],
            walls: vec![[0.0; 2]; self.walls.len()],
        };
        let lines = self.lines(&plain);
        let mut system = self.system(&lines);
        let mut predictor = self.solve(&system, &lines, &plain);
        if predictor.rest > MOST_REST && !self.for_both && Saddle::fits(self.samples.len(), self.walls.len()) {
            self.for_both = true;
            system = self.system(&lines);
            predictor = self.solve(&system, &lines, &plain);
        }
        let aims = self.aims(&predictor, least);
        let corrector = self.solve(&system, &self.lines(&aims), &aims);
        if corrector.alpha.iter().chain(&corrector.t).any(|number| !number.is_finite()) {
            return 0.0;
        }
        let share = (SHARE_OF_WAY * self.room(&corrector)).min(1.0);
        self.go(share, &corrector);
        share
    }

    /// The equations of the samples to first order.
    fn lines(&self, aims: &Aims) -> Vec<SampleLine> {
        let line = |(at, sample): (usize, &SampleTerm<'_>)| {
            let s = self.alpha[at] / sample.gamma;
            if let (Some(guard), Some(term)) = (self.guards.get(at), sample.term.proximal()) {
                return guard.linear(&term, s, &aims.samples[at]);
            }
            let found = sample.term.linearised(sample.term.inside(s), self.t[at], 0.0);
            SampleLine { curvature: found.curvature, right: self.t[at] - found.gradient }
        };
        self.samples.iter().enumerate().map(line).collect()
    }

    fn system(&self, lines: &[SampleLine]) -> StepSystem {
        let (m, k) = (self.samples.len(), self.walls.len());
        let h: Vec<f64> = self.walls.iter().map(slope).collect();
        let diagonal: Vec<f64> =
            lines.iter().zip(self.samples).map(|(line, sample)| line.curvature / sample.gamma).collect();
        if self.for_both {
            return StepSystem::Both(Saddle::new(self.x, &diagonal, &h, self.intercept));
        }
        let main = if k < m && m > MOST_ALWAYS_DENSE {
            let mut factor = vec![0.0; m * k];
            for ((column, h), out) in h.iter().enumerate().zip(factor.chunks_mut(m)) {
                self.x.column_into(column, out);
                out.iter_mut().for_each(|entry| *entry *= h.sqrt());
            }
            HessianPart::Factor(factor)
        } else {
            HessianPart::Dense(square_of(self.x, &(0..k).collect::<Vec<_>>(), &h))
        };
        let present: Vec<usize> = (0..m).collect();
        StepSystem::OfSamples(System::new(&Hessian::exact(main), &diagonal, &present, m, self.intercept))
    }

    /// The step for given aims.
    fn solve(&self, system: &StepSystem, lines: &[SampleLine], aims: &Aims) -> InteriorStep {
        // How far the distances of the walls are from what they stand for.
        let u = all_products(self.x, &self.alpha);
        let off = |([above, below], u): (&Walls, &f64)| [1.0 - u - above.x, 1.0 + u - below.x];
        let off: Vec<[f64; 2]> = self.walls.iter().zip(&u).map(off).collect();
        let asked = |(([above, below], products), off): ((&Walls, &[f64; 2]), &[f64; 2])| {
            (aims.mu - products[0] - above.z * off[0]) / above.x - (aims.mu - products[1] - below.z * off[1]) / below.x
        };
        let asked: Vec<f64> = self.walls.iter().zip(&aims.walls).zip(&off).map(asked).collect();
        let predictions = self.x.times(&asked);
        let right: Vec<f64> =
            lines.iter().zip(&predictions).map(|(line, prediction)| line.right - prediction).collect();
        let (mut d, changes): (Vec<f64>, Vec<f64>) = match system {
            StepSystem::Both(system) => system.solve(&right),
            StepSystem::OfSamples(system) => {
                let d = system.solve(&right);
                let du = all_products(self.x, &d);
                (d, du.iter().zip(&self.walls).map(|(du, walls)| slope(walls) * du).collect())
            }
        };
        let rest = self.rest(lines, &right, &d, &changes);
        if self.intercept {
            // What rounding has left of the sum.
            let excess = self.alpha.iter().sum::<f64>() / d.len() as f64;
            d.iter_mut().for_each(|d| *d -= excess);
        }
        let du = all_products(self.x, &d);
        let weights: Vec<f64> = asked.iter().zip(&changes).map(|(asked, change)| asked + change).collect();
        let step = |k: usize| {
            let dx = [off[k][0] - du[k], off[k][1] + du[k]];
            step_of(&self.walls[k], dx, aims.mu, &aims.walls[k], weights[k])
        };
        let walls = (0..self.walls.len()).map(step).collect();
        let (mut t, mut guards) = (Vec::with_capacity(d.len()), Vec::new());
        for (at, ((sample, line), d)) in self.samples.iter().zip(lines).zip(&d).enumerate() {
            let ds = d / sample.gamma;
            t.push(line.right - line.curvature * ds);
            guards.extend(self.guards.get(at).map(|guard| guard.step(ds, &aims.samples[at])));
        }
        let alpha = self.alpha.iter().zip(&d).map(|(alpha, d)| alpha + d).collect();
        InteriorStep { alpha, t, guards, walls, rest }
    }

    /// What is left of the equations of the samples, as a share of the largest right-hand side.
    fn rest(&self, lines: &[SampleLine], right: &[f64], d: &[f64], changes: &[f64]) -> f64 {
        let each = lines.iter().zip(self.samples).zip(right.iter().zip(self.x.times(changes))).zip(d);
        let mut rest: Vec<f64> = each
            .map(|(((line, sample), (right, change)), d)| right - change - line.curvature / sample.gamma * d)
            .collect();
        if self.intercept {
            let b = rest.iter().sum::<f64>() / rest.len() as f64;
            rest.iter_mut().for_each(|rest| *rest -= b);
        }
        let largest = |values: &[f64]| values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        largest(&rest) / largest(right).max(f64::MIN_POSITIVE)
    }

    /// As [`products`](Self::products), with other products.
    fn total(&self, after: impl Fn(&Guard, usize) -> f64, wall: impl Fn(&Walls, usize) -> f64) -> (f64, f64) {
        let of_samples: f64 =
            self.guards.iter().enumerate().map(|(at, guard)| self.samples[at].gamma * after(guard, at)).sum();
        let of_walls: f64 = self.walls.iter().enumerate().map(|(at, walls)| wall(walls, at)).sum();
        let count = self.guards.iter().map(|guard| guard.products().count()).sum::<usize>() + 2 * self.walls.len();
        (of_samples + of_walls, count.max(1) as f64)
    }

    /// Mehrotra's choice: the closer the predictor comes to the end, the smaller the products that are aimed at.
    fn aims(&mut self, predictor: &InteriorStep, least: f64) -> Aims {
        let share = self.room(predictor).min(1.0);
        let (now, count) = self.products();
        let (then, _) = self.total(
            |guard, at| guard.products_after(share, &predictor.guards[at]).sum(),
            |walls, at| {
                let changed = walls.iter().zip(&predictor.walls[at]);
                changed.map(|(pair, change)| (pair.x + share * change.x) * (pair.z + share * change.z)).sum()
            },
        );
        let mean = now / count;
        // Where the last step has not made the products smaller, the next one leads back to the middle.
        let least_share = if mean > LEFT_BY_SLOW_STEP * self.last_mean { AIM_AFTER_SLOW_STEP } else { MOST_SHRINK };
        self.last_mean = mean;
        let mu = (mean * (then / now).powi(3).clamp(least_share, 1.0)).max(least / count);
        let mut samples = vec![Aim::default(); self.samples.len()];
        for (at, step) in predictor.guards.iter().enumerate() {
            samples[at] = Aim { mu: mu / self.samples[at].gamma, products: products(step) };
        }
        let walls = predictor.walls.iter().map(|walls| walls.map(|change| change.x * change.z)).collect();
        Aims { mu, samples, walls }
    }

    /// The largest share of a step that stays inside.
    fn room(&self, step: &InteriorStep) -> f64 {
        let room = |value: f64, change: f64| if change < 0.0 { -value / change } else { f64::INFINITY };
        let guards = self.guards.iter().zip(&step.guards).map(|(guard, step)| guard.room(step));
        let walls = self.walls.iter().zip(&step.walls).flat_map(|(walls, step)| {
            walls.iter().zip(step).map(move |(pair, step)| room(pair.x, step.x).min(room(pair.z, step.z)))
        });
        guards.chain(walls).fold(f64::INFINITY, f64::min)
    }

    fn go(&mut self, share: f64, step: &InteriorStep) {
        let towards = |from: &mut [f64], to: &[f64]| {
            from.iter_mut().zip(to).for_each(|(from, to)| *from += share * (to - *from));
        };
        towards(&mut self.alpha, &step.alpha);
        towards(&mut self.t, &step.t);
        self.guards.iter_mut().zip(&step.guards).for_each(|(guard, step)| guard.go(share, step));
        for (pair, step) in self.walls.iter_mut().flatten().zip(step.walls.iter().flatten()) {
            pair.x = (pair.x + share * step.x).max(f64::MIN_POSITIVE);
            pair.z = (pair.z + share * step.z).max(f64::MIN_POSITIVE);
        }
    }
}

/// The changes of the walls of a feature for changes of their distances. The multiplier of the wall that is nearer, which can be very large
/// beside the distance, follows from the new weight.
fn step_of(walls: &Walls, dx: [f64; 2], mu: f64, products: &[f64; 2], weight: f64) -> Walls {
    let [above, below] = *walls;
    let change = |pair: Pair, dx: f64, product: f64| Pair { x: dx, z: (mu - product - pair.z * dx) / pair.x - pair.z };
    let (mut of_above, mut of_below) = (change(above, dx[0], products[0]), change(below, dx[1], products[1]));
    if above.x < below.x {
        of_above.z = weight + (below.z + of_below.z) - above.z;
    } else {
        of_below.z = (above.z + of_above.z) - weight - below.z;
    }
    [of_above, of_below]
}

/// How the weight of a feature answers to its product.
fn slope([above, below]: &Walls) -> f64 {
    above.z / above.x + below.z / below.x
}

/// The products of all columns with a vector.
pub(super) fn all_products(x: &FeatureMatrix<'_>, vector: &[f64]) -> Vec<f64> {
    let columns: Vec<usize> = (0..x.features()).collect();
    let mut products = vec![0.0; columns.len()];
    x.products(&columns, vector, &mut products);
    products
}
