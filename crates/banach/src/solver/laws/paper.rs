//! The rates and bounds that the paper proves, checked on runs.

use super::*;

/// A state of Algorithm 2.1: `alpha_m`, `Lambda(alpha_m)`, and the `lambda_m` of the step that leaves it.
struct Step {
    alpha: Vec<f64>,
    value: f64,
    lambda: f64,
}

/// The dual of the squared loss, (8) `[eq:dualellp]`, by its definition.
struct SquaredDual<'a> {
    x: &'a Table,
    y: &'a [f64],
    gamma: f64,
    q: f64,
}

impl SquaredDual<'_> {
    fn value(&self, alpha: &[f64]) -> f64 {
        let terms = alpha.iter().zip(self.y).map(|(alpha, y)| alpha * alpha / (2.0 * self.gamma) - y * alpha);
        self.x.value(alpha, self.q) + terms.sum::<f64>()
    }

    fn gradient(&self, alpha: &[f64]) -> Vec<f64> {
        let omega = self.x.omega(alpha, self.q);
        omega.iter().zip(self.y).zip(alpha).map(|((omega, y), alpha)| omega - y + alpha / self.gamma).collect()
    }

    /// Algorithm 2.1 `[algo:main]`, word for word, from zero.
    fn algorithm_2_1(&self, delta: f64, theta: f64, lambda_bar: f64, count: usize) -> Vec<Step> {
        let (mut alpha, mut lambda) = (vec![0.0; self.y.len()], lambda_bar);
        let mut steps = vec![];
        for _ in 0..count {
            let (value, gradient) = (self.value(&alpha), self.gradient(&alpha));
            let squared_norm: f64 = gradient.iter().map(|g| g * g).sum();
            let trial = |lambda: f64| alpha.iter().zip(&gradient).map(|(a, g)| a - lambda * g).collect::<Vec<_>>();
            while value - self.value(&trial(lambda)) < lambda * (1.0 - delta) * squared_norm {
                lambda *= theta;
            }
            let next = trial(lambda);
            steps.push(Step { alpha: std::mem::replace(&mut alpha, next), value, lambda });
        }
        steps
    }
}

/// `[(2^p q)(Lambda(alpha) + gamma ||xi||_1)]^((2-p)/p) / C_p` with `C_p = (p-1)/2`: the factor of (26).
pub(super) fn factor(dual: f64, problem: &DualProblem<'_>) -> f64 {
    let (p, q) = (problem.form().exponent().p(), problem.form().exponent().q());
    (2.0_f64.powf(p) * q * (dual + problem.zero_value())).powf((2.0 - p) / p) / (0.5 * (p - 1.0))
}

/// Theorem 2.3 `[thm:main]`. The library does not report `lambda_m`, so Algorithm 2.1 is run a second time,
/// as printed, beside it: equal dual values mean equal steps, because another step gives another value. With
/// these steps, inequality (33) `[eq:20170517b]` is checked from each iterate to the next, and the bound of the
/// theorem on `||w_m - w_bar||_p^2` at each of them.
#[test]
fn theorem_2_3_holds_on_runs() {
    let (x, y) = data();
    for (p, gamma, delta, theta, count) in [
        (4.0 / 3.0, 1.9, 0.5, 0.5, 25),
        (4.0 / 3.0, 10.0, 0.2, 0.95, 60),
        (1.25, 0.5, 0.8, 0.5, 20),
        (1.1, 1.9, 0.5, 0.6, 40),
    ] {
        let form = features(&x, p);
        let problem = problem(&form, &Squared, &y, gamma);
        let lambda_bar = 0.9 * gamma / (2.0 * (1.0 - delta));
        let linesearch = Linesearch { rule: Rule::Monotone, delta, theta, lambda_bar: Some(lambda_bar) };
        let stopping = Stopping { tolerance: 0.0, max_iterations: count - 1 };
        let (_, certificates) = history(&Gradient { stopping, linesearch }, &problem);
        let dual = SquaredDual { x: &x, y: &y, gamma, q: form.exponent().q() };
        let steps = dual.algorithm_2_1(delta, theta, lambda_bar, count);

        let best = converged(&proximal_gradient(1e-14, 20_000), &problem);
        let (minimum, solution) = (best.certificate.dual, Model::new(&form, &best));
        let rounding = 1e-13 * problem.zero_value();
        let start = steps[0].value - minimum;
        for (m, (step, certificate)) in steps.iter().zip(&certificates).enumerate() {
            let what = format!("p = {p}, m = {m}, lambda = {}", step.lambda);
            assert!((step.value - certificate.dual).abs() <= rounding, "{what}: {} {}", step.value, certificate.dual);
            let shrink = 1.0 - 2.0 / gamma * step.lambda * (1.0 - delta);
            assert!((0.0..1.0).contains(&shrink), "{what}: {shrink}");
            if let Some(next) = steps.get(m + 1) {
                assert!(
                    next.value - minimum <= shrink * (step.value - minimum) + rounding,
                    "{what}: {}",
                    next.value - minimum
                );
            }
            let w = Model { p, w: form.weights(&step.alpha), distance: 0.0 };
            let bound = factor(steps[0].value, &problem) * (shrink.powf(m as f64) * start + rounding);
            assert!((w.distance_to(&solution) - solution.distance).max(0.0).powi(2) <= bound, "{what}: {bound:e}");
        }
        let progress = (certificates[count - 1].dual - minimum) / start;
        assert!(progress < 1e-2, "p = {p}: the run went nowhere, {progress:e}");
    }
}

/// (26) `[eq:dualineq]` along runs: `certificate.distance` is at least the distance to the solution.
#[test]
fn distances_bound_the_error_along_runs() {
    for_every_loss(&[2.0, 4.0 / 3.0, 1.1], |form, loss, y| {
        for problem in both(form, loss, y, 1.9) {
            let reference = Model::new(form, &converged(&proximal_gradient(1e-12, 20_000), &problem));
            for m in [0, 1, 2, 4, 8, 16, 32, 64] {
                let found = proximal_gradient(0.0, m).solve(&problem, &mut Unobserved).expect("valid");
                let model = Model::new(form, &found);
                let error = model.distance_to(&reference) - reference.distance;
                assert!(model.distance >= error, "{loss:?} p = {}, m = {m}: {:e} {error:e}", model.p, model.distance);
                let expected = (factor(found.certificate.dual, &problem) * found.certificate.gap).sqrt();
                assert!(
                    (model.distance - expected).abs() <= 1e-6 * expected,
                    "{loss:?}: {:e} {expected:e}",
                    model.distance
                );
            }
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    /// (26) `[eq:dualineq]` itself, at any dual vector, with `C_p = (p-1)/2`.
    #[test]
    fn proposition_3_2_holds_everywhere(
        p in select(vec![2.0, 1.5, 4.0 / 3.0, 1.1]), gamma in 0.1_f64..3.0, shares in vec(0.0_f64..=1.0, N), near in 0.0_f64..=1.0,
    ) {
        let (x, y) = data();
        let form = features(&x, p);
        for loss in all() {
            let y = targets(&*loss, &y);
            for problem in both(&form, &*loss, &y, gamma) {
                let best = proximal_gradient(1e-10, 20_000).solve(&problem, &mut Unobserved).expect("valid");
                let reference = Model::new(&form, &best);
                let alpha: Vec<f64> = feasible(&problem, &shares).iter().zip(&best.alpha).map(|(a, b)| b + near * (a - b)).collect();
                let (_, _, found) = evaluated(&problem, &alpha);
                if !found.dual.is_finite() {
                    continue;
                }
                let w = Model { p, w: form.weights(&alpha), distance: 0.0 };
                let error = (w.distance_to(&reference) - reference.distance).max(0.0);
                let excess = found.dual - best.certificate.dual + best.certificate.gap;
                prop_assert!(excess >= error * error / factor(found.dual, &problem), "{:?} p = {}: {:e} {:e}", loss, p, excess, error);
            }
        }
    }
}

/// (26) where `Lambda(alpha) + gamma ||xi||_1` is lost in rounding: for weights this small, `F(0) - F(w)` is below
/// the last digit of `F(0)`, but the distance to the solution is not 0.
#[test]
fn distances_of_tiny_weights_are_not_zero() {
    let x = Table { n: 1, d: 1, columns: vec![1e-6] };
    let form = features(&x, 4.0 / 3.0);
    let problem = problem(&form, &Squared, &[1.0], 1.0);
    // Here alpha_bar = 1 - 1e-24, and w = (1e-6 alpha)^3.
    for alpha in [1.0 + 1e-3, 1.0 + 1e-6, 1.0 + 1e-9, 1.0 - 1e-9] {
        let (_, _, found) = evaluated(&problem, &[alpha]);
        let error = 1e-18 * (alpha.powi(3) - 1.0).abs();
        assert!(found.distance >= error, "{alpha}: {:e} {error:e}", found.distance);
    }
}
