//! Every law of a run, over every loss: ends, certificates, solutions. `laws/invariance.rs` changes the data,
//! `laws/intercept.rs` what the intercept adds, `laws/paper.rs` and `laws/theorem_3_6.rs` check the theorems,
//! `laws/newton.rs` what only Newton's method claims.

mod batch;
mod intercept;
mod invariance;
mod leave_one_out;
mod newton;
mod paper;
mod path;
mod theorem_3_6;
mod unlisted;

use std::rc::Rc;

use proptest::{collection::vec, prelude::*, sample::select};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{
    primal::{Fista, GradientDescent, Momentum, PrimalProblem},
    *,
};
use crate::{
    Exponent, Loss, QForm,
    data::Scratch,
    form::{Evaluation, Features, laws::Table},
    loss::{
        Squared, Targets,
        laws::{all, target},
    },
};

const N: usize = 8;

/// Targets of two features out of 15, with noise.
fn data() -> (Table, Vec<f64>) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let x = Table::random(N, 15, 0.0, &mut rng);
    let y = (0..N).map(|i| 2.0 * x.columns[i] - x.columns[N + i] + 0.3 * rng.random_range(-1.0..1.0)).collect();
    (x, y)
}

fn features(x: &Table, p: f64) -> Features<'_> {
    Features::new(x.by_columns(), Exponent::new(p).expect("inside"))
}

fn targets(loss: &dyn Loss, y: &[f64]) -> Vec<f64> {
    y.iter().map(|&y| target(loss, y)).collect()
}

/// Runs `check` for every loss and every p of the list, with the data above.
fn for_every_loss(exponents: &[f64], check: impl Fn(&Features<'_>, &dyn Loss, &[f64])) {
    let (x, y) = data();
    for &p in exponents {
        let form = features(&x, p);
        for loss in all() {
            check(&form, &*loss, &targets(&*loss, &y));
        }
    }
}

fn proximal_gradient(tolerance: f64, max_iterations: usize) -> ProximalGradient {
    ProximalGradient { stopping: Stopping { tolerance, max_iterations }, ..ProximalGradient::default() }
}

fn newton(tolerance: f64) -> Newton {
    Newton { stopping: Stopping { tolerance, max_iterations: 200 }, ..Newton::default() }
}

/// The solvers that take every loss, at the accuracy that weights need.
fn solvers() -> [Rc<dyn Solver>; 2] {
    [Rc::new(proximal_gradient(1e-12, 20_000)), Rc::new(newton(1e-12))]
}

fn problem<'a>(form: &'a dyn QForm, loss: &'a dyn Loss, y: &'a [f64], gamma: f64) -> DualProblem<'a> {
    DualProblem::new(form, loss, y, gamma).expect("valid")
}

/// The problem without and with an intercept.
fn both<'a>(form: &'a dyn QForm, loss: &'a dyn Loss, y: &'a [f64], gamma: f64) -> [DualProblem<'a>; 2] {
    let without = problem(form, loss, y, gamma);
    [without.clone(), without.with_intercept().expect("two classes")]
}

fn converged(solver: &dyn Solver, problem: &DualProblem<'_>) -> Solution {
    converged_from(solver, &Start::Auto, problem)
}

fn converged_from(solver: &dyn Solver, start: &Start, problem: &DualProblem<'_>) -> Solution {
    let solution = solver.solve_from(problem, start, &mut Unobserved).expect("valid");
    let Solution { status, iterations, certificate, .. } = &solution;
    assert_eq!(*status, Status::Converged, "{:?} after {iterations}: {certificate:?}", problem.loss());
    solution
}

/// The certificates of every iterate.
fn history(solver: &dyn Solver, problem: &DualProblem<'_>) -> (Solution, Vec<Certificate>) {
    history_from(solver, &Start::Auto, problem)
}

fn history_from(solver: &dyn Solver, start: &Start, problem: &DualProblem<'_>) -> (Solution, Vec<Certificate>) {
    let mut certificates = vec![];
    let mut observer = |progress: &Progress| {
        assert_eq!(progress.iteration, certificates.len());
        certificates.push(progress.certificate);
        ControlFlow::Continue(())
    };
    let solution = solver.solve_from(problem, start, &mut observer).expect("valid");
    (solution, certificates)
}

/// Q, omega and the certificate of a dual vector.
fn evaluated(problem: &DualProblem<'_>, alpha: &[f64]) -> (f64, Vec<f64>, Certificate) {
    let mut evaluation = Evaluation::default();
    problem.form().evaluate(alpha, &mut evaluation, &mut Scratch::new());
    let certificate = problem.certificate(alpha, &evaluation);
    (evaluation.values[0], evaluation.omegas, certificate)
}

/// What the gap can gain if every prediction moves by at most twice its rounding: a term is convex in it.
fn rounding_of_gap(problem: &DualProblem<'_>, alpha: &[f64], omega: &[f64]) -> f64 {
    let mut evaluation = Evaluation::default();
    problem.form().evaluate(alpha, &mut evaluation, &mut Scratch::new());
    let b = problem.intercept(omega);
    let gain = |i: usize| {
        let (y, t) = (problem.targets()[i], omega[i] + b);
        let r = 2.0 * evaluation.roundings[i] + 4.0 * f64::EPSILON * (omega[i].abs() + b.abs() + y.abs());
        let value = |t: f64| problem.loss().value(y, t);
        problem.gammas()[i] * (value(t - r).max(value(t + r)) - value(t)).max(0.0) + 2.0 * alpha[i].abs() * r
    };
    (0..alpha.len()).map(gain).sum()
}

/// A feasible dual vector: `alpha_i/gamma_i` at a share of its domain, whose infinite ends are cut at 3. With an
/// intercept it is the projection on the vectors that sum to zero.
fn feasible(problem: &DualProblem<'_>, shares: &[f64]) -> Vec<f64> {
    let samples = problem.targets().iter().zip(problem.gammas()).zip(shares);
    let mut alpha: Vec<f64> = samples
        .map(|((&y, &gamma), share)| {
            let (lower, upper) = problem.loss().domain(y);
            let (lower, upper) = (lower.max(-3.0), upper.min(3.0));
            gamma * (lower + share * (upper - lower))
        })
        .collect();
    if problem.has_intercept() {
        // Means of counts underflow next to the end of their domain.
        let size = if problem.loss().targets() == Targets::Counts { 1.0 } else { 1e-3 };
        problem.prox(size, &mut alpha);
    }
    alpha
}

/// `||w||_p^p`.
fn power_sum(w: &[f64], p: f64) -> f64 {
    w.iter().map(|w| w.abs().powf(p)).sum()
}

/// `F(w, b)` of (22) `[eq:genprimal]`, by its definition.
fn primal_value(x: &Table, problem: &DualProblem<'_>, w: &[f64], b: f64) -> f64 {
    let p = problem.form().exponent().p();
    let samples = problem.targets().iter().zip(problem.gammas()).zip(x.apply(w));
    samples.map(|((&y, gamma), t)| gamma * problem.loss().value(y, t + b)).sum::<f64>() + power_sum(w, p) / p
}

/// Weights, and the bound on their distance from the solution that their certificate claims.
struct Model {
    p: f64,
    w: Vec<f64>,
    distance: f64,
}

impl Model {
    fn new(form: &Features<'_>, solution: &Solution) -> Self {
        let w = form.weights(&solution.alpha);
        Self { p: form.exponent().p(), w, distance: solution.certificate.distance }
    }

    fn distance_to(&self, other: &Self) -> f64 {
        let difference: Vec<f64> = self.w.iter().zip(&other.w).map(|(a, b)| a - b).collect();
        power_sum(&difference, self.p).powf(1.0 / self.p)
    }

    /// Both are within their distances of one solution, and these distances mean something.
    fn assert_same(&self, other: &Self, what: &str) {
        let (allowed, size) = (self.distance + other.distance, power_sum(&self.w, self.p).powf(1.0 / self.p));
        assert!(allowed <= 2e-3 * size, "{what}: {allowed:e} {size:e}");
        assert!(self.distance_to(other) <= allowed, "{what}: {:e} {allowed:e}", self.distance_to(other));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// F2 at any feasible point: `gap = F + Lambda >= 0`, and F, Lambda are what (22) and (24) define.
    #[test]
    fn certificates_are_sums_of_their_parts(
        p in select(vec![2.0, 4.0 / 3.0, 1.1]), gamma in 0.01_f64..10.0, shares in vec(0.0_f64..=1.0, N), weights in vec(0.1_f64..2.0, N),
    ) {
        let (x, y) = data();
        let form = features(&x, p);
        for loss in all() {
            let y = targets(&*loss, &y);
            for problem in both(&form, &*loss, &y, gamma) {
                let problem = problem.with_sample_weights(&weights).expect("valid");
                let alpha = feasible(&problem, &shares);
                let (value, omega, found) = evaluated(&problem, &alpha);
                if !found.dual.is_finite() || !found.primal.is_finite() {
                    prop_assert!(found.gap == f64::INFINITY, "{:?} {:?}", loss, found);
                    continue;
                }
                let size = found.primal.abs() + found.dual.abs();
                // The gap also counts what rounding may have done to the predictions.
                let counted = found.gap - (found.primal + found.dual);
                // A prediction moves by its rounding, and by that of its sum with an intercept, which is less.
                let roundings = rounding_of_gap(&problem, &alpha, &omega);
                let most = roundings + 1e-10 * size;
                prop_assert!(found.gap >= 0.0 && (-1e-13 * size..=most).contains(&counted), "{:?} {:?} {:e}", loss, found, most);
                prop_assert_eq!(found.relative_gap(), found.gap / found.primal.abs().max(found.dual.abs()));
                let w = form.weights(&alpha);
                let expected = primal_value(&x, &problem, &w, problem.intercept(&omega));
                prop_assert!((found.primal - expected).abs() <= 1e-12 * found.primal, "{:?} {:?}", loss, found);
                prop_assert!(x.apply(&w).iter().zip(&omega).all(|(t, omega)| (t - omega).abs() <= 1e-12 * (1.0 + found.primal)));
                let conjugates = y.iter().zip(problem.gammas()).zip(&alpha).map(|((&y, gamma), alpha)| gamma * loss.conjugate(y, alpha / gamma));
                prop_assert!((found.dual - value - conjugates.sum::<f64>()).abs() <= 1e-13 * size, "{:?} {:?}", loss, found);
            }
        }
    }
}

/// F2 at predictions whose exponentials leave the normal numbers: the gap stays the sum of its parts.
#[test]
fn gaps_of_large_predictions_are_sums_of_their_parts() {
    for loss in all() {
        for (y, share) in [(1.0, 0.0), (1.0, 0.3), (1.0, 1.0), (-1.0, 0.6)] {
            let y = target(&*loss, y);
            let (lower, upper) = loss.domain(y);
            let s = (lower.max(-3.0) + share * (upper.min(3.0) - lower.max(-3.0))).clamp(lower, upper);
            for t in [600.0, 690.0, 705.0, 720.0, 740.0, 746.0, -700.0, -720.0, -740.0, -800.0] {
                let (gap, sum) = (loss.gap(y, t, s), loss.value(y, t) + loss.conjugate(y, s) + s * t);
                assert!(
                    gap == sum || (gap - sum).abs() <= 1e-12 * (1.0 + t.abs() + sum),
                    "{loss:?} y = {y}, t = {t}, s = {s}: {gap} {sum}"
                );
            }
        }
    }
}

/// Theorem 3.1 `[thm:duality]`: `min F = -min Lambda`. A run closes the gap, and no other model goes below
/// the dual bound.
#[test]
fn every_loss_converges_to_strong_duality() {
    let (x, _) = data();
    for_every_loss(&[2.0, 4.0 / 3.0, 1.1], |form, loss, y| {
        for problem in [0.3, 1.9].iter().flat_map(|&gamma| both(form, loss, y, gamma)) {
            let smooth = !loss.has_kinks();
            let (tolerance, limit) = if smooth { (1e-10, 1000) } else { (1e-6, 2000) };
            let solution = converged(&proximal_gradient(tolerance, limit), &problem);
            let (found, b) = (solution.certificate, solution.intercept);
            assert!(found.relative_gap() <= tolerance && solution.iterations <= limit, "{loss:?} {found:?}");
            let (_, omega, certificate) = evaluated(&problem, &solution.alpha);
            assert_eq!((&solution.omega, found, b), (&omega, certificate, problem.intercept(&omega)));
            let w = form.weights(&solution.alpha);
            assert!(
                primal_value(&x, &problem, &w, b) <= -found.dual + (tolerance + 1e-14) * found.primal,
                "{loss:?} {found:?}"
            );
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
            for size in [1e-3, 1e-2, 0.1, 1.0] {
                let other: Vec<f64> = w.iter().map(|w| w + size * rng.random_range(-1.0..1.0) * (1.0 + w)).collect();
                let other_b = if problem.has_intercept() { b + size * rng.random_range(-1.0..1.0) } else { 0.0 };
                assert!(primal_value(&x, &problem, &other, other_b) >= -found.dual, "{loss:?} {size}: {found:?}");
            }
        }
    });
}

/// Every accepted step decreases Lambda, so no iterate leaves its domain.
#[test]
fn dual_values_never_increase() {
    for_every_loss(&[2.0, 4.0 / 3.0, 1.1], |form, loss, y| {
        for (gamma, rule) in [(0.25, Rule::Restart), (2.0, Rule::Monotone), (2.0, Rule::Restart), (16.0, Rule::Restart)]
        {
            for problem in both(form, loss, y, gamma) {
                let linesearch = Linesearch { rule, ..Linesearch::default() };
                let (_, certificates) =
                    history(&ProximalGradient { linesearch, ..proximal_gradient(1e-12, 300) }, &problem);
                let slack = 1e-14 * problem.zero_value();
                for pair in certificates.windows(2) {
                    assert!(pair[1].dual <= pair[0].dual + slack, "{loss:?} {gamma} {rule:?}: {pair:?}");
                }
                let (first, last) = (certificates[0].dual, certificates[certificates.len() - 1].dual);
                assert!(last < first, "{loss:?} {gamma}: {first} {last}");
            }
        }
    });
}

/// A sample on the border of its box stays inside it when `gamma_i` and the share are multiplied and
/// divided: `(0.09 * 0.7)/0.09 > 0.7`.
#[test]
fn rounding_does_not_push_samples_out_of_their_box() {
    for_every_loss(&[4.0 / 3.0], |form, loss, y| {
        for gamma in [0.09, 0.11, 0.18, 0.37, 0.45, 0.73, 1.46] {
            both(form, loss, y, gamma).iter().for_each(|problem| {
                converged(&proximal_gradient(1e-6, 2000), problem);
            });
        }
    });
}

/// The same where a step ends on the border: `alpha + (border - alpha)` may be beyond it.
#[test]
fn steps_to_the_border_end_on_it() {
    for_every_loss(&[4.0 / 3.0], |form, loss, y| {
        for k in 1..200 {
            let gamma = f64::from(k) * 0.01;
            for problem in both(form, loss, y, gamma) {
                let (_, certificates) = history(&proximal_gradient(1e-2, 100), &problem);
                assert!(certificates.iter().all(|certificate| certificate.dual.is_finite()), "{loss:?} {gamma}");
            }
        }
    });
}

/// Whatever the rule, delta, theta, `lambda_bar` and `alpha_0`: one solution.
#[test]
fn parameters_do_not_change_the_solution() {
    for_every_loss(&[1.25], |form, loss, y| {
        for problem in both(form, loss, y, 1.7) {
            let base = proximal_gradient(1e-12, 20_000);
            let expected = Model::new(form, &converged(&base, &problem));
            let inside = feasible(&problem, &[0.5, 0.2, 0.8, 0.4, 0.3, 0.6, 0.55, 0.7]);
            let linesearch = |rule, delta, theta, lambda_bar| Linesearch { rule, delta, theta, lambda_bar };
            for (linesearch, start) in [
                (linesearch(Rule::Monotone, 0.5, 0.5, None), Start::Auto),
                (linesearch(Rule::Restart, 0.05, 0.5, None), Start::Ray),
                (linesearch(Rule::Restart, 0.95, 0.3, Some(0.4)), Start::At(inside)),
                (linesearch(Rule::Monotone, 0.8, 0.9, Some(100.0)), Start::Auto),
            ] {
                let solution = converged_from(&ProximalGradient { linesearch, ..base.clone() }, &start, &problem);
                Model::new(form, &solution).assert_same(&expected, &format!("{loss:?} {linesearch:?} {start:?}"));
            }
        }
    });
}

/// F5: the start on the ray `alpha_i = t a_i` minimises Lambda over t.
#[test]
fn the_ray_is_minimised() {
    let (x, y) = data();
    for (c_x, c_y) in [(1.0, 1.0), (100.0, 1.0), (1e-3, 1.0), (1.0, 1e3), (1.0, 0.1)] {
        let x = x.scaled(c_x);
        for p in [2.0, 4.0 / 3.0, 1.05] {
            let form = features(&x, p);
            for loss in all() {
                let y: Vec<f64> = targets(&*loss, &y.iter().map(|y| c_y * y).collect::<Vec<_>>());
                for problem in both(&form, &*loss, &y, 1.3) {
                    let (alpha, _) = Start::Ray.alpha(&problem, &mut Scratch::new()).expect("valid");
                    let at =
                        |t: f64| evaluated(&problem, &alpha.iter().map(|alpha| t * alpha).collect::<Vec<_>>()).2.dual;
                    let (here, slack) = (at(1.0), 1e-13 * problem.zero_value());
                    assert!(here <= at(0.0) + slack, "{loss:?} p = {p}, {c_x} {c_y}: {here:e}");
                    for t in [0.5, 0.999, 1.001, 2.0] {
                        assert!(here <= at(t) + slack, "{loss:?} p = {p}, {c_x} {c_y}: {here:e} {t} {:e}", at(t));
                    }
                }
            }
        }
    }
}

/// The logistic loss: every iterate is strictly inside its box, also from starts at its ends.
#[test]
fn logistic_runs_stay_inside_their_domain() {
    let (x, y) = data();
    let loss = crate::loss::Logistic;
    let y = targets(&loss, &y);
    for (c_x, gamma) in [(1.0, 1.0), (0.1, 1e-3), (10.0, 1e3)] {
        let x = x.scaled(c_x);
        let form = features(&x, 4.0 / 3.0);
        let problem = problem(&form, &loss, &y, gamma);
        for share in [1e-300, 1e-12, 1.0 - 1e-12] {
            let start = Start::At(y.iter().map(|y| gamma * share * y).collect());
            let (solution, certificates) = history_from(&proximal_gradient(1e-10, 300), &start, &problem);
            assert!(certificates.iter().all(|certificate| certificate.dual.is_finite()));
            assert!(certificates[certificates.len() - 1].dual < certificates[0].dual);
            let inside = |(alpha, y): (&f64, &f64)| loss.conjugate_slope(*y, alpha / gamma).is_some();
            assert!(solution.alpha.iter().zip(&y).all(inside), "{c_x} {gamma} {share}: {:?}", solution.alpha);
        }
    }
}

/// A stopped run answers with the iterate of the smallest relative gap, and its certificate.
#[test]
fn an_observer_can_stop_a_run() {
    for_every_loss(&[1.1], |form, loss, y| {
        let problem = problem(form, loss, y, 5.0);
        let mut gaps = vec![];
        let mut stop = |progress: &Progress| {
            gaps.push(progress.certificate.relative_gap());
            if progress.iteration == 7 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let solution = proximal_gradient(1e-14, 1000).solve(&problem, &mut stop).expect("valid");
        assert_eq!((solution.status, solution.iterations, gaps.len()), (Status::Interrupted, 7, 8), "{loss:?}");
        assert_eq!(solution.certificate.relative_gap(), gaps.iter().copied().fold(f64::INFINITY, f64::min), "{loss:?}");
        let (_, omega, certificate) = evaluated(&problem, &solution.alpha);
        assert_eq!((solution.omega, solution.certificate), (omega, certificate), "{loss:?}");
    });
}

/// The iteration limit is kept, 0 included, and a tolerance of 0 ends a run at the limit or at the end of f64.
#[test]
fn runs_end() {
    for_every_loss(&[4.0 / 3.0], |form, loss, y| {
        for problem in both(form, loss, y, 1.9) {
            for limit in [0, 1, 5] {
                let (solution, certificates) = history(&proximal_gradient(1e-14, limit), &problem);
                assert_eq!((solution.status, solution.iterations), (Status::IterationLimit, limit), "{loss:?}");
                assert_eq!(certificates.len(), limit + 1);
            }
            let solution = proximal_gradient(0.0, 1000).solve(&problem, &mut Unobserved).expect("valid");
            let gap = solution.certificate.relative_gap();
            match solution.status {
                Status::Converged => assert_eq!(gap, 0.0, "{loss:?}"),
                Status::Stalled => assert!(solution.iterations < 1000 && gap <= 1e-12, "{loss:?} {gap:e}"),
                Status::IterationLimit => assert!(solution.iterations == 1000 && gap <= 1e-10, "{loss:?} {gap:e}"),
                Status::Rounding | Status::Interrupted => {
                    panic!("nobody asked to stop, and only Newton tells rounding apart")
                }
            }
        }
    });
}

/// The primal baselines of Table 1 find the minimum and the weights of the dual.
#[test]
fn primal_baselines_agree_with_the_dual() {
    for_every_loss(&[2.0, 1.5], |form, loss, y| {
        let Ok(primal) = PrimalProblem::new(form, loss, y, 0.8) else { return };
        let dual = converged(&proximal_gradient(1e-12, 20_000), primal.dual());
        let expected = Model::new(form, &dual);
        let stopping = Stopping { tolerance: 1e-9, max_iterations: 20_000 };
        let fista = |momentum| Fista { stopping, momentum }.solve(&primal, &mut Unobserved).expect("valid");
        let [fista, other] = [Momentum::BeckTeboulle, Momentum::ChambolleDossal { a: 2.35 }].map(fista);
        let descent =
            GradientDescent { stopping, ..Default::default() }.solve(&primal, &mut Unobserved).expect("valid");
        for (method, found) in [("fista", fista), ("fista, a = 2.35", other), ("gradient descent", descent)] {
            let what = format!("{method} {loss:?} p = {}: {:?} {:?}", expected.p, found.certificate, found.status);
            assert_eq!(found.status, Status::Converged, "{what}");
            assert!(
                (found.certificate.primal + dual.certificate.dual).abs() <= 2e-9 * found.certificate.primal,
                "{what}"
            );
            let model = Model { p: expected.p, w: found.weights, distance: found.certificate.distance };
            model.assert_same(&expected, &what);
        }
    });
}
