//! Every law of cross-validation: against fits without the fold, over every loss, with and without an intercept.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::{
    Exponent, FeatureMatrix, Loss, Memory, Newton, QForm, Status, Stopping, Unobserved,
    form::{Features, Gram},
    kernel::Linear,
    loss::{
        Logistic, Squared,
        laws::{all, target},
    },
    solver::{Progress, ProximalGradient, Start},
};
use std::{ops::ControlFlow, sync::Mutex};

const N: usize = 12;
const D: usize = 20;

fn solver() -> ProximalGradient {
    let stopping = Stopping { tolerance: 1e-10, max_iterations: 20_000 };
    ProximalGradient { stopping, ..ProximalGradient::default() }
}

fn rows() -> Vec<f64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(8);
    (0..N * D).map(|_| rng.random_range(-1.0..1.0)).collect()
}

fn matrix(samples: &[usize]) -> FeatureMatrix<'static> {
    let rows = rows();
    let rows: Vec<f64> = samples.iter().flat_map(|i| rows[i * D..(i + 1) * D].to_vec()).collect();
    FeatureMatrix::from_rows(samples.len(), D, &rows).expect("valid")
}

fn form(p: f64) -> Features<'static> {
    Features::new(matrix(&(0..N).collect::<Vec<_>>()), Exponent::new(p).expect("valid"))
}

fn targets(loss: &dyn Loss) -> Vec<f64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(9);
    let values =
        rows().chunks(D).map(|x| 2.0 * x[0] - x[1] + 0.5 + 0.2 * rng.random_range(-1.0..1.0)).collect::<Vec<_>>();
    values.iter().map(|&y| target(loss, y)).collect()
}

fn weights() -> Vec<f64> {
    (0..N).map(|i| [1.0, 0.5, 2.0][i % 3]).collect()
}

fn folds() -> Folds {
    Folds::new(N, vec![vec![0, 3, 7, 10], vec![1, 2, 8], vec![4, 5, 6, 9, 11]]).expect("valid")
}

fn problem<'a>(form: &'a dyn QForm, loss: &'a dyn Loss, y: &'a [f64], intercept: bool) -> DualProblem<'a> {
    let problem = DualProblem::new(form, loss, y, 1.0).expect("valid").with_sample_weights(&weights()).expect("valid");
    if intercept { problem.with_intercept().expect("valid") } else { problem }
}

fn run(problem: &DualProblem<'_>, grid: &GammaGrid, folds: &Folds, chains: usize) -> CrossValidation {
    run_by(&solver(), problem, grid, folds, chains)
}

fn run_by(
    solver: &dyn Solver,
    problem: &DualProblem<'_>,
    grid: &GammaGrid,
    folds: &Folds,
    chains: usize,
) -> CrossValidation {
    let problems = std::slice::from_ref(problem);
    let validated = in_chains(problems, grid, folds, chains, solver, &mut Unobserved);
    let validated = validated.expect("valid").remove(0);
    assert_eq!(validated.unconverged().next(), None, "{:?}", problem.loss());
    validated
}

fn assert_near(a: f64, b: f64, what: &dyn std::fmt::Debug) {
    assert!((a - b).abs() <= 2e-4 * (1.0 + b.abs()), "{what:?}: {a} {b}");
}

/// Both are the same models to the square roots of their gaps.
fn assert_same(a: &CrossValidation, b: &CrossValidation, what: &dyn std::fmt::Debug) {
    assert_eq!((&a.gammas, &a.folds), (&b.gammas, &b.folds));
    for (a, b) in a.fits.iter().flatten().zip(b.fits.iter().flatten()) {
        assert_near(a.loss, b.loss, what);
        assert!(
            (a.certificate.dual - b.certificate.dual).abs()
                <= 1e-8 * b.certificate.dual.abs().max(b.certificate.primal)
        );
    }
}

/// The scores by their definitions, from fits to the other samples and predictions for these.
#[test]
fn scores_are_those_of_separate_fits() {
    assert_scores(&solver());
}

/// The same in lockstep.
#[test]
fn scores_by_newton_are_those_of_separate_fits() {
    assert_scores(&Newton { stopping: Stopping { tolerance: 1e-10, max_iterations: 200 }, ..Newton::default() });
}

fn assert_scores(solver: &dyn Solver) {
    for (p, intercept) in [(2.0, true), (4.0 / 3.0, false), (4.0 / 3.0, true), (1.15, true)] {
        let form = form(p);
        let gram = Gram::new(matrix(&(0..N).collect::<Vec<_>>()), Linear, form.exponent(), Memory::default()).ok();
        // The first-order solver is slow on kinks, and they leave b an interval to be in.
        for loss in all().into_iter().filter(|loss| !intercept || !loss.has_kinks()) {
            let y = targets(&*loss);
            let whole = problem(&form, &*loss, &y, intercept);
            let grid = GammaGrid::from_data(&whole, 3).expect("in range");
            let validated = run_by(solver, &whole, &grid, &folds(), 1);
            for (fold, held_out) in folds().held_out().iter().enumerate() {
                let kept: Vec<usize> = (0..N).filter(|i| !held_out.contains(i)).collect();
                let of = |values: &[f64], samples: &[usize]| samples.iter().map(|&i| values[i]).collect::<Vec<_>>();
                let (y_kept, y_out) = (of(&y, &kept), of(&y, held_out));
                let (w_kept, w_out) = (of(&weights(), &kept), of(&weights(), held_out));
                let part: Box<dyn QForm> = match &gram {
                    Some(gram) => Box::new(gram.subset(&kept, Memory::default()).expect("valid")),
                    None => Box::new(Features::new(matrix(&kept), form.exponent())),
                };
                for (&gamma, fits) in grid.values().iter().zip(&validated.fits) {
                    let alone = DualProblem::new(&*part, &*loss, &y_kept, gamma).expect("valid");
                    let alone = alone.with_sample_weights(&w_kept).expect("valid");
                    let alone = if intercept { alone.with_intercept().expect("valid") } else { alone };
                    let solution = solver.solve(&alone, &mut Unobserved).expect("valid");
                    let predicted = part.predictor(&solution.alpha).predict(&matrix(held_out)).expect("in range");
                    let t: Vec<f64> = predicted.iter().map(|omega| omega + solution.intercept).collect();
                    let mean = |f: &dyn Fn(usize) -> f64| {
                        (0..t.len()).map(|i| w_out[i] * f(i)).sum::<f64>() / w_out.iter().sum::<f64>()
                    };
                    let what = (p, intercept, &loss, gamma, fold);
                    let fit = &fits[fold];
                    fit.predictions.iter().zip(&t).for_each(|(a, b)| assert_near(*a, *b, &what));
                    assert_near(fit.loss, mean(&|i| loss.value(y_out[i], t[i])), &what);
                    let score = match loss.targets() {
                        Targets::Signs => mean(&|i| f64::from(u8::from(t[i].signum() == y_out[i]))),
                        Targets::Counts => {
                            let constant = mean(&|i| y_out[i]).ln();
                            let of_constant = mean(&|i| loss.value(y_out[i], constant));
                            1.0 - mean(&|i| loss.value(y_out[i], t[i])) / of_constant
                        }
                        Targets::Real => {
                            let centre = mean(&|i| y_out[i]);
                            1.0 - mean(&|i| (y_out[i] - t[i]).powi(2)) / mean(&|i| (y_out[i] - centre).powi(2))
                        }
                    };
                    assert_near(fit.score.expect("several targets"), score, &what);
                    assert_eq!(fit.weight, w_out.iter().sum::<f64>());
                }
            }
        }
    }
}

#[test]
fn batches_do_not_change_the_answer() {
    let form = form(4.0 / 3.0);
    for loss in [&Squared as &dyn Loss, &Logistic] {
        let y = targets(loss);
        let whole = problem(&form, loss, &y, true);
        let grid = GammaGrid::from_data(&whole, 5).expect("in range");
        let one = run(&whole, &grid, &folds(), 1);
        for chains in [2, 5, 100] {
            assert_same(&run(&whole, &grid, &folds(), chains), &one, &(loss, chains));
        }
        // Several problems at once are what each is alone.
        let without = problem(&form, loss, &y, false);
        let both = cross_validate_all(&[without.clone(), whole], &grid, &folds(), &solver(), &mut Unobserved);
        let both = both.expect("valid");
        assert_same(&both[0], &run(&without, &grid, &folds(), 1), &loss);
        assert_same(&both[1], &one, &loss);
    }
}

/// With the solver's own starts, a batch of everything is the fits one by one, to the last bit.
#[test]
fn a_batch_is_its_problems() {
    let form = form(1.5);
    let y = targets(&Squared);
    let whole = problem(&form, &Squared, &y, false);
    let grid = GammaGrid::from_data(&whole, 4).expect("in range");
    let validated = run(&whole, &grid, &folds(), 4);
    for (gamma, fits) in grid.values().iter().zip(&validated.fits) {
        for (fold, fit) in fits.iter().enumerate() {
            let alone = without(&whole, &folds(), fold).expect("valid").with_gamma(*gamma).expect("valid");
            let solution = solver().solve(&alone, &mut Unobserved).expect("valid");
            let predictions: Vec<f64> = folds().held_out()[fold].iter().map(|&i| solution.omega[i]).collect();
            assert_eq!(fit.predictions, predictions);
        }
    }
}

#[test]
fn leave_one_out() {
    let form = form(1.5);
    let y = targets(&Squared);
    let whole = problem(&form, &Squared, &y, true);
    let grid = GammaGrid::from_data(&whole, 4).expect("in range");
    let validated = run(&whole, &grid, &Folds::leave_one_out(N).expect("valid"), 1);
    assert_eq!(validated.folds.count(), N);
    for gamma in 0..4 {
        let predictions = validated.held_out(gamma);
        let losses = (0..N).map(|i| weights()[i] * Squared.value(y[i], predictions[i].expect("held out")));
        let mean = losses.sum::<f64>() / weights().iter().sum::<f64>();
        assert!((validated.loss(gamma).value - mean).abs() <= 1e-12 * mean);
        let squares = |t: &dyn Fn(usize) -> f64| (0..N).map(|i| weights()[i] * (y[i] - t(i)).powi(2)).sum::<f64>();
        let constant = |i: usize| {
            let others = || (0..N).filter(move |j| *j != i);
            others().map(|j| weights()[j] * y[j]).sum::<f64>() / others().map(|j| weights()[j]).sum::<f64>()
        };
        let pooled = 1.0 - squares(&|i| predictions[i].expect("held out")) / squares(&constant);
        let score = validated.score(gamma).expect("all samples together differ").value;
        assert!((score - pooled).abs() < 1e-9, "{score} {pooled}");
    }
    assert!(validated.to_string().contains('*'));
}

#[test]
fn choices_and_table() {
    let y = targets(&Squared);
    let form = form(1.5);
    let whole = problem(&form, &Squared, &y, true);
    let grid = GammaGrid::from_data(&whole, 12).expect("in range");
    let validated = run(&whole, &grid, &folds(), 1);
    let losses: Vec<Mean> = (0..12).map(|gamma| validated.loss(gamma)).collect();
    let best = validated.best().expect("finished");
    assert!(losses.iter().all(|loss| loss.value >= losses[best].value));
    let simplest = validated.one_standard_error().expect("finished");
    let limit = losses[best].value + losses[best].standard_error;
    assert!(simplest <= best && losses[simplest].value <= limit);
    assert!(losses[..simplest].iter().all(|loss| loss.value > limit));
    assert_eq!(validated.best_gamma(), Some(grid.values()[best]));
    // By hand, with folds of weight 4.5, 3.5, 6.
    let (folds, sum) = (&validated.fits[3], 14.0);
    let mean = folds.iter().map(|fit| fit.weight * fit.loss).sum::<f64>() / sum;
    let spread = folds.iter().map(|fit| fit.weight * (fit.loss - mean).powi(2)).sum::<f64>() / sum;
    assert!(
        (losses[3].value - mean).abs() <= 1e-14 && (losses[3].standard_error - (spread / 2.0).sqrt()).abs() <= 1e-14
    );
    let table = validated.to_string();
    assert_eq!(table.matches(" 3 of 3").count(), 12, "{table}");
    assert_eq!(table.matches('*').count(), 1, "{table}");
    assert!(table.contains("R^2"), "{table}");
    // R^2 has no standard error, and the loss of a single fold neither.
    let single = Folds::new(N, vec![vec![0, 1, 2]]).expect("valid");
    for table in [table, run(&whole, &grid, &single, 1).to_string()] {
        assert!(!table.contains("NaN") && table.contains(" - "), "{table}");
    }
}

/// After a stop, what was finished stays, and the rest says that it was not.
#[test]
fn interruption() {
    let y = targets(&Squared);
    let form = form(1.5);
    let whole = problem(&form, &Squared, &y, true);
    let grid = GammaGrid::from_data(&whole, 6).expect("in range");
    let complete = run(&whole, &grid, &folds(), 1);
    let mut seen = vec![];
    let mut stop_in_third = |progress: &Progress| {
        seen.push(progress.problem);
        if progress.problem == 2 * 3 + 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let stopped = cross_validate(&whole, &grid, &folds(), &solver(), &mut stop_in_third).expect("valid");
    assert!(seen.is_sorted() && seen.last() == Some(&7), "{seen:?}");
    let interrupted: Vec<_> = stopped.unconverged().collect();
    let expected = (7..18).map(|at| (at / 3, at % 3, Status::Interrupted));
    assert!(interrupted.iter().copied().eq(expected), "{interrupted:?}");
    for gamma in 0..2 {
        assert_eq!(stopped.loss(gamma), complete.loss(gamma));
    }
    assert!(stopped.best().is_some_and(|best| best < 2));
    assert!(stopped.to_string().contains("11 of 18 fits did not converge"), "{stopped}");
    assert!(stopped.fits.iter().flatten().all(|fit| fit.certificate.gap.is_finite()));

    let mut at_once = |_: &Progress| ControlFlow::Break(());
    let nothing = cross_validate(&whole, &grid, &folds(), &solver(), &mut at_once).expect("valid");
    assert_eq!((nothing.best(), nothing.one_standard_error(), nothing.best_is_at_end()), (None, None, false));
    assert_eq!(nothing.fits.iter().flatten().count(), 18);
}

/// A solver that writes down its batches.
#[derive(Debug)]
struct Recorder(Mutex<Vec<(usize, usize)>>);

impl Solver for Recorder {
    fn solve_from(
        &self,
        problem: &DualProblem<'_>,
        start: &Start,
        observer: &mut dyn Observer,
    ) -> Result<Solution, Error> {
        solver().solve_from(problem, start, observer)
    }

    fn solve_all(
        &self,
        problems: &[DualProblem<'_>],
        starts: &[Start],
        observer: &mut dyn Observer,
    ) -> Result<Vec<Solution>, Error> {
        let warm = starts.iter().filter(|start| matches!(start, Start::At(_))).count();
        self.0.lock().expect("no panic").push((problems.len(), warm));
        solver().solve_all(problems, starts, observer)
    }
}

#[test]
fn all_work_reaches_the_solver_in_chains() {
    let y = targets(&Squared);
    let form = form(1.5);
    let whole = problem(&form, &Squared, &y, true);
    let grid = GammaGrid::from_data(&whole, 5).expect("in range");
    for (chains, batches) in
        [(1, vec![(3, 0), (3, 3), (3, 3), (3, 3), (3, 3)]), (2, vec![(6, 0), (6, 6), (3, 3)]), (9, vec![(15, 0)])]
    {
        let recorder = Recorder(Mutex::default());
        let problems = std::slice::from_ref(&whole);
        in_chains(problems, &grid, &folds(), chains, &recorder, &mut Unobserved).expect("valid");
        assert_eq!(recorder.0.into_inner().expect("no panic"), batches);
    }
}

#[test]
fn hostile_input() {
    let form = form(1.5);
    let grid = GammaGrid::new(vec![1.0]).expect("valid");
    let validate = |problem: &DualProblem<'_>, folds: &Folds| {
        cross_validate(problem, &grid, folds, &solver(), &mut Unobserved).map(|validated| validated.loss(0))
    };
    let y = targets(&Squared);
    let real = problem(&form, &Squared, &y, true);
    let short = Folds::leave_one_out(N - 1).expect("valid");
    assert_eq!(validate(&real, &short), Err(Error::Shape { what: "folds", got: N - 1, expected: N }));
    // One class is left.
    let mut signs = vec![1.0; N];
    signs[3] = -1.0;
    for intercept in [true, false] {
        let one = problem(&form, &Logistic, &signs, intercept);
        let samples = N - folds().held_out()[0].len();
        let error = validate(&one, &folds()).expect_err("one class");
        assert_eq!(error, Error::FoldClass { fold: 0, label: 1.0, samples });
        let message = error.to_string();
        let values = message.contains(&format!("fold 0 leaves {samples} samples to fit to, with the label 1 alone"));
        assert!(values && message.contains("use stratified folds"), "{message}");
    }
    // No weight is left, or none is held out.
    let mut weights = vec![0.0; N];
    weights[1] = 1.0;
    let light = real.clone().with_sample_weights(&weights).expect("valid");
    assert_eq!(validate(&light, &folds()), Err(Error::FoldWeight { fold: 1 }));
    let others = Folds::new(N, vec![vec![0], vec![2, 5]]).expect("valid");
    assert_eq!(validate(&light, &others), Err(Error::HeldOutWeight { samples: 3 }));
    // A fold of weight 0 does not count, but has its predictions.
    weights[6] = 1.0;
    weights[8] = 1.0;
    let light = real.clone().with_sample_weights(&weights).expect("valid");
    let validated = run(&light, &grid, &folds(), 1);
    assert!(validated.fits[0][0].loss.is_nan() && validated.fits[0][0].predictions.iter().all(|t| t.is_finite()));
    assert!(validated.loss(0).value.is_finite() && validated.loss(0).standard_error.is_finite());
    // A single fold has a mean, no standard error, and a choice.
    let single = run(&real, &grid, &Folds::new(N, vec![vec![0, 5]]).expect("valid"), 1);
    assert!(single.loss(0).standard_error.is_nan());
    assert_eq!((single.best(), single.one_standard_error()), (Some(0), Some(0)));
    assert_eq!(single.held_out(0).iter().flatten().count(), 2);
    // Overlapping folds give means.
    let overlap = run(&real, &grid, &Folds::new(N, vec![vec![0, 5], vec![5, 6]]).expect("valid"), 1);
    let middle = 0.5 * (overlap.fits[0][0].predictions[1] + overlap.fits[0][1].predictions[0]);
    assert_eq!(overlap.held_out(0)[5], Some(middle));
}

/// Targets whose squares are out of range still have an R^2.
#[test]
fn r_squared_of_large_targets() {
    let y: Vec<f64> = targets(&Squared).iter().map(|y| 1e180 * y).collect();
    let (form, loss) = (form(1.1), crate::loss::Absolute);
    let whole = problem(&form, &loss, &y, true);
    let grid = GammaGrid::from_data(&whole, 3).expect("in range");
    let stopping = Stopping { max_iterations: 50, ..Stopping::default() };
    let few = ProximalGradient { stopping, ..ProximalGradient::default() };
    let validated = cross_validate(&whole, &grid, &folds(), &few, &mut Unobserved).expect("valid");
    assert!((0..3).all(|gamma| validated.score(gamma).is_some_and(|score| score.value.is_finite())), "{validated}");
}
