//! Theorem 3.6 `[thm:dualalgo]` on runs of Algorithm 3.3. It says three things:
//!
//! 1. The steps do not vanish, `inf lambda_m > 0`.
//! 2. For every loss `||w_m - w_bar||_p = o(1/sqrt(m))`.
//! 3. If Lambda is strongly convex, `w_m` converges linearly. The paper names the squared and the logistic loss; huber and the squared
//!    hinge are smooth, so that their conjugates are strongly convex, too.
//!
//! The paper gives no constants; with these the rates can fail. Let `e_m = Lambda(alpha_m) - min Lambda`,
//! `d_m = ||alpha_m - alpha_bar||_2`, delta <= 1/2, and let `phi_1` and `phi_2` have moduli `mu_1` and `mu_2` of strong convexity, mu
//! their sum. The test of the line search, convexity of `phi_1` at `alpha_m` and of `phi_2` at `alpha_(m+1)`, where
//! `(alpha_m - alpha_(m+1))/lambda_m - grad phi_1(alpha_m)` is a subgradient, add up to
//!
//! ```text
//! 2 lambda_m e_(m+1) <= (1 - lambda_m mu_1) d_m^2 - (1 + lambda_m mu_2) d_(m+1)^2                                  (a)
//! ```
//!
//! Summed over m it gives `2 sum_k lambda_k e_(k+1) <= d_0^2`. As `e_m` does not increase, `e_m <= d_0^2/(2 sum_(k<m) lambda_k)`; and as
//! the sum is finite, `m e_m` tends to 0. With `e_(m+1) >= mu/2 d_(m+1)^2` it gives the linear rate
//!
//! ```text
//! d_(m+1)^2 <= (1 - lambda_m mu_1)/(1 + lambda_m (mu + mu_2)) d_m^2                                                (b)
//! ```
//!
//! (26) turns `e_m` into `||w_m - w_bar||_p^2`.

use super::{paper::factor, *};
use crate::{loss::Split, numeric::dot};

/// A state of Algorithm 3.3: `alpha_m`, `Lambda(alpha_m)`, and of the step that leaves it `lambda_m` and the last trial that was refused.
struct Step {
    alpha: Vec<f64>,
    value: f64,
    lambda: f64,
    refused: Option<Vec<f64>>,
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    let difference = difference(a, b);
    dot(&difference, &difference)
}

/// Algorithm 3.3 `[dualalgo]` as printed, while its test has digits left.
fn algorithm_3_3(problem: &DualProblem<'_>, search: Linesearch, lambda_bar: f64, least: f64) -> Vec<Step> {
    let smooth = problem.loss().split() == Split::Smooth;
    let phi_1 = |alpha: &[f64]| {
        let (value, _, certificate) = evaluated(problem, alpha);
        if smooth { certificate.dual } else { value }
    };
    let (mut alpha, _) = Start::Auto.alpha(problem, &mut Scratch::new()).expect("valid");
    let mut steps = vec![];
    for _ in 0..400 {
        let (_, mut gradient, certificate) = evaluated(problem, &alpha);
        if certificate.dual < least {
            break;
        }
        if smooth {
            problem.add_conjugate_gradient(&alpha, &mut gradient);
            problem.project(&mut gradient);
        }
        let (mut lambda, mut refused) = (lambda_bar, None);
        let next = loop {
            let mut trial: Vec<f64> = alpha.iter().zip(&gradient).map(|(alpha, g)| alpha - lambda * g).collect();
            if smooth {
                problem.balance(&mut trial);
            } else {
                problem.prox(lambda, &mut trial);
            }
            let step = difference(&trial, &alpha);
            if problem.first_inadmissible(&trial).is_none()
                && phi_1(&trial) - phi_1(&alpha) - dot(&step, &gradient) <= search.delta / lambda * dot(&step, &step)
            {
                break trial;
            }
            refused = Some(trial);
            lambda *= search.theta;
        };
        steps.push(Step { alpha: std::mem::replace(&mut alpha, next), value: certificate.dual, lambda, refused });
    }
    steps
}

/// A bound on the Lipschitz constant of the gradient of `phi_1` between two points, where there is one: `|u_k|` is largest at an end.
fn lipschitz(x: &Table, problem: &DualProblem<'_>, from: &[f64], to: &[f64]) -> Option<f64> {
    let q = problem.form().exponent().q();
    let ends = x.adjoint(from).into_iter().zip(x.adjoint(to));
    let terms = x
        .columns
        .chunks(x.n)
        .zip(ends)
        .map(|(column, (from, to))| from.abs().max(to.abs()).powf(q - 2.0) * dot(column, column));
    let of_form = (q - 1.0) * terms.sum::<f64>();
    match problem.loss().split() {
        Split::Proximal => Some(of_form),
        Split::Smooth if problem.loss().name() == "squared" => Some(of_form + 1.0 / problem.largest_gamma()),
        // The logistic conjugate has no such constant up to the ends of its domain.
        Split::Smooth => None,
    }
}

#[test]
fn theorem_3_6_holds_on_runs() {
    let (x, _) = data();
    for_every_loss(&[2.0, 4.0 / 3.0, 1.25], |form, loss, y| {
        for problem in both(form, loss, y, 1.9) {
            for (delta, theta) in [(0.5, 0.5), (0.3, 0.8)] {
                check_run(&x, form, &problem, delta, theta);
            }
        }
    });
}

fn check_run(x: &Table, form: &Features<'_>, problem: &DualProblem<'_>, delta: f64, theta: f64) {
    let (loss, p, lambda_bar) = (problem.loss(), form.exponent().p(), problem.largest_gamma());
    let what = format!("{loss:?} p = {p}, delta = {delta}, intercept: {}", problem.has_intercept());
    let best = converged(&newton(1e-12), problem);
    let (minimum, solution) = (best.certificate.dual, Model::new(form, &best));
    // The test as printed subtracts numbers of the size of F(0).
    let rounding = 1e-12 * problem.zero_value() + best.certificate.gap;
    let search = Linesearch { rule: Rule::Restart, delta, theta, lambda_bar: Some(lambda_bar) };
    let steps = algorithm_3_3(problem, search, lambda_bar, minimum + 1e-7 * problem.zero_value());
    let stopping = Stopping { tolerance: 0.0, max_iterations: steps.len() - 1 };
    let (_, certificates) = history(&ProximalGradient { stopping, linesearch: search }, problem);

    let modulus = loss.strong_convexity() / problem.largest_gamma();
    let (mu_1, mu_2) = if loss.split() == Split::Smooth { (modulus, 0.0) } else { (0.0, modulus) };
    let start = squared_distance(&steps[0].alpha, &best.alpha);
    let factor = factor(steps[0].value, problem);
    let (mut lambdas, mut linear, mut largest) = (0.0, start, 0.0_f64);
    for (m, (step, certificate)) in steps.iter().zip(&certificates).enumerate() {
        let what = format!("{what}, m = {m}, lambda = {}", step.lambda);
        assert!((step.value - certificate.dual).abs() <= rounding, "{what}: {} {}", step.value, certificate.dual);
        // 1. A trial that was refused was too long for the curvature on its way.
        if let Some(refused) = &step.refused
            && let Some(lipschitz) = lipschitz(x, problem, &step.alpha, refused)
        {
            assert!(step.lambda >= 0.999 * 2.0 * delta * theta / lipschitz, "{what}: {lipschitz}");
        }
        let excess = step.value - minimum;
        let here = squared_distance(&step.alpha, &best.alpha);
        let w = Model { p, w: form.weights(&step.alpha), distance: 0.0 };
        let error = (w.distance_to(&solution) - solution.distance).max(0.0).powi(2);
        if m > 0 {
            // 2. The sum of (a).
            assert!(excess <= start / (2.0 * lambdas) + rounding, "{what}: {excess:e}");
            assert!(error <= factor * (start / (2.0 * lambdas) + rounding), "{what}: {error:e}");
            largest = largest.max(m as f64 * excess);
        }
        if let Some(next) = steps.get(m + 1) {
            let (lambda, there) = (step.lambda, squared_distance(&next.alpha, &best.alpha));
            let left = 2.0 * lambda * (next.value - minimum) + (1.0 + lambda * mu_2) * there;
            let right = (1.0 - lambda * mu_1) * here;
            assert!(left <= right + 2.0 * lambda * rounding + 1e-10 * here, "{what}: {left:e} {right:e}");
            // 3. (b), and what it says of the value.
            if modulus > 0.0 {
                let shrink = (1.0 - lambda * mu_1) / (1.0 + lambda * (modulus + mu_2));
                assert!((0.0..1.0).contains(&shrink), "{what}: {shrink}");
                let bound = (1.0 - lambda * mu_1) * linear / (2.0 * lambda);
                linear *= shrink;
                let slack = 1e-10 * start + 4.0 * rounding / modulus;
                assert!(there <= linear + slack, "{what}: {there:e} {linear:e}");
                assert!(next.value - minimum <= bound + slack / lambda + rounding, "{what}: {bound:e}");
            }
            lambdas += lambda;
        }
    }
    // o(1/m): m e_m has fallen far below its largest value.
    let (m, last) = (steps.len() - 1, steps[steps.len() - 1].value - minimum);
    assert!(m as f64 * last <= 0.3 * largest, "{what}: {m} steps, {last:e} {largest:e}");
    if modulus > 0.0 {
        assert!(linear < 0.5 * start, "{what}: the linear bound says nothing, {linear:e} {start:e}");
    }
}
