//! What a solution proves of the largest monomials of the optimum.

use super::*;
use crate::{
    DualProblem, Loss, Newton, QForm, Solution, Solver, Stopping, Unobserved,
    form::{Features, Gram, KernelFeatures},
    loss::{self, LossSpec, Squared, Targets},
};

fn solved(problem: &DualProblem<'_>, tolerance: f64) -> Solution {
    let newton = Newton { stopping: Stopping { tolerance, ..Stopping::default() }, ..Newton::default() };
    newton.solve(problem, &mut Unobserved).expect("it runs")
}

/// Every smooth loss, with weights and an intercept: the optimum is within the radius, its weights are in their intervals, and
/// what is proven is true.
#[test]
fn radii_and_intervals_contain_the_optimum() {
    let (n, d) = (25, 7);
    let x = random(15, n * d);
    let matrix = FeatureMatrix::from_columns(n, d, &x[..]).expect("finite");
    let noise = random(16, n);
    let real: Vec<f64> = (0..n).map(|i| x[i] * x[n + i] + 0.5 * x[3 * n + i] + 0.1 * noise[i]).collect();
    let signs: Vec<f64> = real.iter().map(|y| y.signum()).collect();
    let counts: Vec<f64> = real.iter().map(|y| (3.0 * y).exp().round()).collect();
    let mut weights: Vec<f64> = random(17, n).iter().map(|w| 1.0 + w).collect();
    weights[4] = 0.0;
    let smooth = LossSpec::ALL.into_iter().map(|loss| loss.with("rho", 0.4).unwrap_or(loss).build().expect("valid"));
    let losses: Vec<Arc<dyn Loss>> = smooth.filter(|loss| !loss.has_kinks()).collect();
    let mut proven = 0;
    for p in [4.0 / 3.0, 1.1] {
        let kernel = Polynomial::new(2, 1.0, 0.5).expect("valid");
        let form = KernelFeatures::new(&matrix, kernel, exponent(p), Memory::limit(u64::MAX)).expect("small");
        for loss in &losses {
            let y = match loss.targets() {
                Targets::Real => &real,
                Targets::Counts => &counts,
                Targets::Signs => &signs,
            };
            for gamma in [0.5, 20.0] {
                let problem = DualProblem::new(&form, &**loss, y, gamma).expect("valid");
                let problem = problem.with_sample_weights(&weights).expect("valid").with_intercept().expect("valid");
                let best = solved(&problem, 1e-15);
                let optimum = DualModel::new(matrix.view(), kernel, exponent(p), &best.alpha).expect("fits");
                let optimum = brute(&optimum, None);
                for tolerance in [1e-2, 1e-5, 1e-9] {
                    let solution = solved(&problem, tolerance);
                    let what = format!("{} p = {p} gamma = {gamma} {tolerance:e}", loss.name());
                    let radius = problem.radius(&solution.alpha, &solution.certificate).expect("strongly convex");
                    let own = problem.radius(&best.alpha, &best.certificate).expect("strongly convex");
                    let distance = solution.alpha.iter().zip(&best.alpha).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
                    assert!(distance.sqrt() <= radius + own, "{what}: {} {radius}", distance.sqrt());
                    let model = DualModel::new(matrix.view(), kernel, exponent(p), &solution.alpha).expect("fits");
                    let model = model.with_radius(radius + own).expect("a number").with_omega(&solution.omega);
                    let top = model.expect("fits").top_monomials(5, Budget::default()).expect("it runs");
                    for entry in &top.entries {
                        let (_, _, w, _) = optimum.iter().find(|one| one.0 == entry.monomial).expect("a feature");
                        let (low, high) = entry.interval.expect("the radius is known");
                        assert!(low <= *w && *w <= high, "{what}: {low} {w} {high}");
                    }
                    if top.set_proven {
                        proven += 1;
                        let listed = |one: &Monomial| top.entries.iter().any(|entry| entry.monomial == *one);
                        assert!(optimum[..5].iter().all(|one| listed(&one.0)), "{what}");
                    }
                    if top.order_proven {
                        assert!(top.entries.iter().zip(&optimum).all(|(entry, one)| entry.monomial == one.0), "{what}");
                    }
                    let shares: f64 = top.entries.iter().filter_map(|entry| entry.share).sum();
                    assert!(shares > 0.0 && shares <= 1.0 + 1e-9, "{what}: {shares}");
                }
            }
        }
    }
    assert!(proven > 10, "{proven}");
}

#[test]
fn losses_with_kinks_have_no_radius() {
    let x = random(18, 12);
    let form = Features::new(FeatureMatrix::from_columns(4, 3, &x[..]).expect("finite"), exponent(1.5));
    let y = [1.0, -1.0, 1.0, -1.0];
    for loss in [&loss::Hinge as &dyn Loss, &loss::Absolute, &loss::Quantile::new(0.3).expect("valid")] {
        let problem = DualProblem::new(&form, loss, &y, 1.0).expect("valid");
        let solution = solved(&problem, 1e-6);
        assert_eq!(problem.radius(&solution.alpha, &solution.certificate), None, "{}", loss.name());
    }
}

/// The parts of all monomials make up the whole.
#[test]
fn shares_sum_to_one() {
    let (n, d) = (10, 4);
    let x = random(19, n * d);
    let matrix = FeatureMatrix::from_columns(n, d, &x[..]).expect("finite");
    let kernel = Polynomial::new(3, 0.5, 1.0).expect("valid");
    let gram = Gram::new(matrix.view(), kernel, exponent(4.0 / 3.0), Memory::limit(u64::MAX)).expect("small");
    let y = random(20, n);
    let solution = solved(&DualProblem::new(&gram, &Squared, &y, 3.0).expect("valid"), 1e-10);
    let model = DualModel::new(matrix.view(), kernel, gram.exponent(), &solution.alpha).expect("fits");
    let top = model.with_omega(&solution.omega).expect("fits").top_monomials(1000, Budget::default()).expect("it runs");
    let sum: f64 = top.entries.iter().filter_map(|entry| entry.share).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
}
