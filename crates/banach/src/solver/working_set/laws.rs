//! What holds of p = 1, over every loss, by computations of their own: no form, no pass, no solver.

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::{
    FeatureMatrix, Unobserved,
    form::{Endpoint, laws::Table},
    kernel::{Anova, Degrees, KernelChoice, KernelName, Linear, MonomialScale, Polynomial, TensorKernel},
    loss::laws::{all, target},
    solver::GammaGrid,
};

/// Samples of some variables, and targets that depend on few of them.
fn data(n: usize, d: usize, seed: u64) -> (Table, Vec<f64>) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let x = Table::random(n, d, 0.0, &mut rng);
    let entry = |i: usize, j: usize| x.columns[j * n + i];
    let y = (0..n).map(|i| 2.0 * entry(i, 0) - entry(i, 1) * entry(i, 2) + 0.3 * rng.random_range(-1.0..1.0)).collect();
    (x, y)
}

fn solver(tolerance: f64) -> WorkingSets {
    WorkingSets { stopping: Stopping { tolerance, max_iterations: 2000 }, ..WorkingSets::default() }
}

/// The relative gap of a solution, by listed features alone.
fn gap_by_hand(phi: &FeatureMatrix<'_>, problem: &DualProblem<'_>, solution: &Solution) -> f64 {
    let (n, weights) = (phi.samples(), solution.weights.as_ref().expect("p = 1 has weights"));
    let row = |i: usize| phi.row(i);
    let columns = phi.features();
    for k in 0..columns {
        let u: f64 = (0..n).map(|i| row(i)[k] * solution.alpha[i]).sum();
        assert!(u.abs() <= 1.0 + 1e-12, "feature {k} allows 1, and has {u}");
    }
    let mut dense = vec![0.0; columns];
    weights.features.iter().zip(&weights.values).for_each(|(k, w)| dense[*k as usize] = *w);
    let predictions: Vec<f64> =
        (0..n).map(|i| row(i).iter().zip(&dense).map(|(x, w)| x * w).sum::<f64>() + solution.intercept).collect();
    let (loss, y, gammas) = (problem.loss(), problem.targets(), problem.gammas());
    let norm: f64 = dense.iter().map(|w| w.abs()).sum();
    let primal: f64 = (0..n).map(|i| gammas[i] * loss.value(y[i], predictions[i])).sum::<f64>() + norm;
    let dual: f64 = (0..n)
        .filter(|&i| gammas[i] > 0.0)
        .map(|i| gammas[i] * loss.conjugate(y[i], solution.alpha[i] / gammas[i]))
        .sum();
    (primal + dual) / primal.abs().max(dual.abs())
}

fn kernels() -> Vec<(Arc<dyn TensorKernel>, MonomialScale)> {
    vec![
        (Arc::new(Linear), MonomialScale::Raw),
        (Arc::new(Linear), MonomialScale::Standardized),
        (Arc::new(Polynomial::new(2, 1.0, 0.0).expect("valid")), MonomialScale::Raw),
        (Arc::new(Polynomial::new(3, 0.3, 1.0).expect("valid")), MonomialScale::Unit),
        (Arc::new(Anova::new(1, 2).expect("valid")), MonomialScale::Standardized),
        (
            KernelChoice { degree: Some(Degrees::range(1, 3).expect("valid")), ..KernelChoice::new(KernelName::Exp) }
                .spec()
                .expect("valid")
                .build()
                .expect("valid"),
            MonomialScale::Raw,
        ),
    ]
}

/// All features of a form, listed.
fn listed(form: &Endpoint<'_>) -> FeatureMatrix<'static> {
    let (n, count) = (form.samples(), form.cardinality().expect("finite") as usize);
    let mut columns = vec![0.0; n * count];
    columns.chunks_mut(n).enumerate().for_each(|(k, column)| form.column_into(k as u64, column));
    FeatureMatrix::from_columns(n, count, columns).expect("finite")
}

#[test]
fn certificates_hold_by_hand_for_every_loss_and_kernel() {
    let (x, y) = data(24, 6, 1);
    let matrix = x.by_columns();
    let sample_weight: Vec<f64> = (0..24).map(|i| [1.0, 0.0, 2.5, 0.7][i % 4]).collect();
    for (kernel, scale) in kernels() {
        let form = Endpoint::new(matrix.view(), kernel.clone(), scale).expect("finite");
        let phi = listed(&form);
        for loss in all() {
            let y: Vec<f64> = y.iter().map(|&y| target(&*loss, y)).collect();
            for (gamma, intercept, weighted) in [(0.3, false, false), (3.0, true, true), (100.0, true, false)] {
                let problem = DualProblem::new(&form, &*loss, &y, gamma).expect("valid");
                let problem =
                    if weighted { problem.with_sample_weights(&sample_weight).expect("valid") } else { problem };
                let problem = if intercept { problem.with_intercept().expect("valid") } else { problem };
                let solution = solver(1e-8).solve(&problem, &mut Unobserved).expect("valid");
                let place = format!("{} {scale} {} gamma {gamma} {intercept} {weighted}", kernel.name(), loss.name());
                assert_eq!(solution.status, Status::Converged, "{place}: {:?}", solution.certificate);
                let gap = gap_by_hand(&phi, &problem, &solution);
                assert!((-1e-11..=1.01e-8).contains(&gap), "{place}: {gap:e}");
                let weights = solution.weights.expect("p = 1 has weights");
                assert!(
                    weights.features.len() <= 24 + usize::from(intercept),
                    "{place}: as sparse as there are samples"
                );
            }
        }
    }
}

#[test]
fn below_the_knee_all_weights_are_zero_and_above_it_one_is_not() {
    let (x, y) = data(20, 8, 2);
    let matrix = x.by_columns();
    for (kernel, scale) in kernels() {
        let form = Endpoint::new(matrix.view(), kernel, scale).expect("finite");
        for loss in all() {
            let y: Vec<f64> = y.iter().map(|&y| target(&*loss, y)).collect();
            let problem = DualProblem::new(&form, &*loss, &y, 1.0).expect("valid").with_intercept().expect("valid");
            let knee = GammaGrid::knee(&problem).expect("in range");
            let count = |gamma: f64| {
                let problem = problem.with_gamma(gamma).expect("valid");
                let solution = solver(1e-10).solve(&problem, &mut Unobserved).expect("valid");
                solution.weights.expect("p = 1 has weights").features.len()
            };
            assert!(loss.has_kinks() || count(0.999 * knee) == 0, "{}", loss.name());
            assert!(loss.has_kinks() || count(1.01 * knee) > 0, "{}", loss.name());
        }
    }
}

/// Monomials that are never listed give what a matrix of all of them gives.
#[test]
fn implicit_monomials_are_those_of_a_listed_matrix() {
    let (x, y) = data(30, 7, 3);
    let matrix = x.by_columns();
    for (kernel, scale) in kernels() {
        let form = Endpoint::new(matrix.view(), kernel.clone(), scale).expect("finite");
        let phi = listed(&form);
        let plain = Endpoint::new(phi.view(), Arc::new(Linear), MonomialScale::Raw).expect("finite");
        let solution = |form: &Endpoint<'_>| {
            let problem = DualProblem::new(form, &crate::loss::Squared, &y, 2.0).expect("valid");
            let problem = problem.with_intercept().expect("valid");
            solver(1e-11).solve(&problem, &mut Unobserved).expect("valid")
        };
        let (found, expected) = (solution(&form), solution(&plain));
        let (weights, others) = (found.weights.expect("p = 1"), expected.weights.expect("p = 1"));
        let place = format!("{} {scale}", kernel.name());
        assert_eq!(weights.features, others.features, "{place}");
        let size = others.values.iter().fold(0.0_f64, |size, w| size.max(w.abs()));
        for (w, other) in weights.values.iter().zip(&others.values) {
            assert!((w - other).abs() <= 1e-5 * size, "{place}: {w} {other}");
        }
        assert!((found.certificate.primal - expected.certificate.primal).abs() <= 1e-10 * expected.certificate.primal);
    }
}

/// As p falls to 1, the least objective tends to that of p = 1.
#[test]
fn it_is_the_limit_of_p_near_one() {
    let (x, y) = data(20, 10, 4);
    let matrix = x.by_columns();
    let endpoint = Endpoint::new(matrix.view(), Arc::new(Linear), MonomialScale::Raw).expect("finite");
    for loss in all() {
        let y: Vec<f64> = y.iter().map(|&y| target(&*loss, y)).collect();
        let least = |form: &dyn crate::QForm, solver: &dyn Solver| {
            let problem = DualProblem::new(form, &*loss, &y, 2.0).expect("valid").with_intercept().expect("valid");
            solver.solve(&problem, &mut Unobserved).expect("valid").certificate.primal
        };
        let at_one = least(&endpoint, &solver(1e-9));
        let mut last = f64::INFINITY;
        for p in [1.1, 1.03, 1.01, 1.003] {
            let form = crate::form::Features::new(matrix.view(), crate::Exponent::new(p).expect("inside"));
            let distance = (least(&form, &crate::Newton::default()) - at_one).abs() / at_one;
            assert!(distance < last, "{} {p}: {distance:e} after {last:e}", loss.name());
            last = distance;
        }
        assert!(last < 1e-2, "{}: {last:e}", loss.name());
    }
}

/// A path is its fits, alone or with others, on any number of threads.
#[test]
fn a_path_is_its_fits_and_threads_do_not_matter() {
    let (x, y) = data(24, 40, 5);
    let matrix = x.by_columns();
    let kernel = Arc::new(Polynomial::new(2, 1.0, 0.0).expect("valid"));
    let run = || {
        let form = Endpoint::new(matrix.view(), kernel.clone(), MonomialScale::Unit).expect("finite");
        let problem = DualProblem::new(&form, &crate::loss::Squared, &y, 1.0).expect("valid");
        let problem = problem.with_intercept().expect("valid");
        let grid = GammaGrid::from_data(&problem, 12).expect("in range");
        let path = crate::solver::path(&problem, &grid, &solver(1e-10), &mut Unobserved).expect("valid");
        for (gamma, solution) in path.gammas.iter().zip(&path.solutions) {
            assert_eq!(solution.status, Status::Converged, "gamma {gamma}: {:?}", solution.certificate);
            let alone = problem.with_gamma(*gamma).expect("valid");
            let alone = solver(1e-10).solve(&alone, &mut Unobserved).expect("valid");
            let (primal, expected) = (solution.certificate.primal, alone.certificate.primal);
            assert!((primal - expected).abs() <= 1e-9 * expected, "gamma {gamma}: {primal} {expected}");
        }
        path.solutions.into_iter().map(|solution| (solution.alpha, solution.weights)).collect::<Vec<_>>()
    };
    let on = |threads| crate::Workers::new(threads).expect("threads").run(run).expect("nobody ended it");
    assert_eq!(on(1), on(3));
}

/// Kinks hold as many samples as there are weights, and most samples are held by none.
#[test]
fn many_samples_of_few_features_are_solved_whatever_the_loss() {
    let (x, y) = data(2500, 5, 12);
    let matrix = x.by_columns();
    let form = Endpoint::new(matrix.view(), Arc::new(Linear), MonomialScale::Raw).expect("finite");
    let phi = listed(&form);
    for loss in all() {
        let y: Vec<f64> = y.iter().map(|&y| target(&*loss, y)).collect();
        for (gamma, intercept) in [(0.1, true), (1.0, false), (3.0, true), (100.0, true)] {
            let problem = DualProblem::new(&form, &*loss, &y, gamma).expect("valid");
            let problem = if intercept { problem.with_intercept().expect("valid") } else { problem };
            let solution = solver(1e-8).solve(&problem, &mut Unobserved).expect("valid");
            let claimed = solution.certificate.relative_gap();
            let place = format!("{} gamma {gamma} {intercept}: {:?}, gap {claimed:e}", loss.name(), solution.status);
            let gap = gap_by_hand(&phi, &problem, &solution);
            assert!((-1e-11..=claimed + 1e-11).contains(&gap), "{place}: {gap:e}");
            // Sums of 2500 products of the size 100 are known to seven digits beside 1.
            let rounded = gamma == 100.0 && solution.status == Status::Rounding && claimed <= 2e-7;
            assert!(solution.status == Status::Converged && claimed <= 1e-8 || rounded, "{place}");
        }
    }
}

/// Copies, combinations, constants, zeros and columns of very different sizes end, and no certificate is false.
#[test]
fn hostile_columns_end_with_certificates_that_hold() {
    let (x, y) = data(20, 6, 6);
    let n = 20;
    let column = |j: usize| x.columns[j * n..(j + 1) * n].to_vec();
    let scaled = |j: usize, factor: f64| column(j).iter().map(|x| factor * x).collect::<Vec<f64>>();
    let sum: Vec<f64> = column(0).iter().zip(column(1)).map(|(a, b)| a + b).collect();
    let columns = [
        column(0),
        column(0),
        scaled(0, -1.0),
        sum,
        vec![1.0; n],
        vec![0.0; n],
        column(1),
        scaled(2, 1e9),
        scaled(3, 1e-9),
        column(4),
    ]
    .concat();
    let matrix = FeatureMatrix::from_columns(n, 10, columns).expect("finite");
    for scale in MonomialScale::ALL {
        let form = Endpoint::new(matrix.view(), Arc::new(Linear), scale).expect("finite");
        let phi = listed(&form);
        for loss in all() {
            let y: Vec<f64> = y.iter().map(|&y| target(&*loss, y)).collect();
            for gamma in [1e-3, 1.0, 1e3] {
                let problem = DualProblem::new(&form, &*loss, &y, gamma).expect("valid");
                let problem = problem.with_intercept().expect("valid");
                let solution = solver(1e-7).solve(&problem, &mut Unobserved).expect("valid");
                let claimed = solution.certificate.relative_gap();
                let place = format!("{scale} {} gamma {gamma}: {:?}, gap {claimed:e}", loss.name(), solution.status);
                let gap = gap_by_hand(&phi, &problem, &solution);
                assert!(gap <= claimed * (1.0 + 1e-6) + 1e-12, "{place}: false, {gap:e}");
                // Products of columns of the size 1e9 are known to seven digits.
                let rounded = scale == MonomialScale::Raw && solution.status == Status::Rounding;
                assert!(solution.status == Status::Converged || rounded, "{place}");
            }
        }
    }
}
