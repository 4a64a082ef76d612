//! A search takes what its candidates say, and the same whoever asks.

use std::ops::ControlFlow;

use super::{super::tests::jumble, *};
use crate::{
    Exponent, Unobserved,
    kernel::{KernelName, KernelSpec},
    loss::LossSpec,
};

const N: usize = 30;
const D: usize = 3;

fn x() -> FeatureMatrix<'static> {
    FeatureMatrix::from_columns(N, D, jumble(N * D, 0)).expect("valid")
}

fn y() -> Vec<f64> {
    let x = jumble(N * D, 0);
    (0..N).map(|i| 2.0 * x[i] - x[N + i] * x[2 * N + i] + 5.0).collect()
}

fn run(search: &Search, spec: &Spec, y: &Target<'_>, weights: Option<&[f64]>) -> Result<Searched, Error> {
    let folds = y.folds(N, 5, 0)?;
    search.run(&Fit::new(spec)?, &x(), y, weights, &folds, &mut Unobserved)
}

#[test]
fn one_combination_is_the_cross_validation_of_its_problem() {
    let (x, y) = (x(), y());
    let spec = Spec { kernel: KernelSpec::poly(2), ..Spec::default() };
    let search = Search { gammas: Gammas::Count(6), ..Search::new(KernelSpace::Fixed(spec.kernel.clone())) };
    let found = run(&search, &spec, &(&y).into(), None).expect("valid");
    let fit = Fit::new(&Spec { tolerance: 1e-6, ..spec.clone() }).expect("valid");
    let prepared = fit.prepare(&x, 5).expect("a route");
    let outputs = [&y];
    let problem = prepared.problems(&outputs, None).expect("valid").swap_remove(0);
    let grid = crate::solver::GammaGrid::from_data(&problem, 6).expect("valid");
    let folds = Folds::shuffled(N, 5, 0).expect("valid");
    let alone =
        crate::solver::cross_validate(&problem, &grid, &folds, prepared.solver(), &mut Unobserved).expect("valid");
    assert_eq!((&found.folds, found.chosen), (&folds, Some((0, alone.best().expect("finished")))));
    let chosen = found.chosen_spec().expect("finished");
    assert_eq!(Some(chosen.gamma), alone.best_gamma());
    assert_eq!(Spec { gamma: 1.0, ..chosen }, spec, "the tolerance of the final fit is its own");
    for (at, candidate) in found.tried[0].candidates.iter().enumerate() {
        let value = |score: Option<Mean>| score.map(|score| score.value);
        assert_eq!((candidate.loss, value(candidate.score)), (alone.loss(at), value(alone.score(at))));
    }
    let simple = Search { choice: Choice::OneStandardError, ..search };
    let simple = run(&simple, &spec, &(&y).into(), None).expect("valid").chosen_spec().expect("finished");
    assert_eq!(Some(simple.gamma), alone.one_standard_error().map(|gamma| alone.gammas[gamma]));
}

#[test]
fn the_exponential_kernel_has_a_policy_of_its_own() {
    let search = Search { gammas: Gammas::Count(4), ..Search::new(KernelSpace::named(KernelName::Exp)) };
    let options = search.options(&Spec::default(), &x(), None).expect("valid");
    assert_eq!(options.len(), 3 * 4, "exponents and scales");
    for option in &options {
        // C(3 + 15, 15) = 816 monomials.
        let KernelSpec::Normalized { kernel } = &option.spec.kernel else { panic!("{option:?}") };
        assert!(matches!(**kernel, KernelSpec::Exp { degrees: Some((0, 15)), .. }), "{option:?}");
    }
    // Variables that are c times as large want scales that are c^-q times as large.
    let larger = FeatureMatrix::from_columns(N, D, jumble(N * D, 0).iter().map(|x| 10.0 * x).collect::<Vec<_>>());
    let others = search.options(&Spec::default(), &larger.expect("valid"), None).expect("valid");
    for (option, other) in options.iter().zip(&others) {
        let scale = |option: &SearchOption| option.kernel.and_then(|kernel| kernel.scale).expect("searched");
        let q = option.spec.p / (option.spec.p - 1.0);
        assert!((scale(option) / scale(other) / 10.0_f64.powf(q) - 1.0).abs() < 1e-4);
    }
    // All degrees where p is given and a tensor can have them.
    let told = Search { exponents: vec![4.0 / 3.0], ..search.clone() };
    let options = told.options(&Spec::default(), &x(), None).expect("valid");
    assert!(options.iter().all(|option| option.kernel.is_some_and(|kernel| kernel.degree.is_none())));
    let found = run(&search, &Spec::default(), &(&y()).into(), None).expect("valid");
    let best = |tried: &Tried| tried.candidates.iter().map(|one| one.loss.value).fold(f64::INFINITY, f64::min);
    let (option, _) = found.chosen.expect("finished");
    assert!(found.tried.iter().all(|tried| best(&found.tried[option]) <= best(tried)));
    // Grids whose best was at an end have been widened.
    assert!(found.tried.iter().all(|tried| tried.candidates.is_sorted_by(|a, b| a.gamma < b.gamma)));
    assert!(found.unconverged().1 >= search.fits(12, 1, 5));
}

/// The sizes at which the policy of the exponential kernel cuts its degrees.
#[test]
fn the_exponential_kernel_is_cut_at_a_few_thousand_monomials() {
    let cut = |variables| exponential::degrees(Exponent::new(1.1).expect("inside"), true, variables).map(|cut| cut.max);
    for (variables, degree) in [(1, 15), (3, 15), (10, 5), (51, 3), (52, 2), (1000, 2)] {
        assert_eq!(cut(variables), Some(degree), "{variables}");
    }
}

#[test]
fn classes_are_scored_together_and_weights_count_as_repetitions() {
    let labels: Vec<i64> = (0..N).map(|i| (3.0 * (jumble(N, 0)[i] + 1.0) / 2.0) as i64).collect();
    let spec = Spec { loss: LossSpec::Logistic, ..Spec::default() };
    let search = Search { gammas: Gammas::Count(5), ..Search::new(KernelSpace::Fixed(KernelSpec::Linear)) };
    let found = run(&search, &spec, &(&labels).into(), None).expect("valid");
    assert_eq!((found.metric, found.tried[0].functions.len()), (Metric::Accuracy, 3));
    let best = found.taken().map(|(tried, at)| tried.candidates[at]).expect("finished");
    assert!(best.score.is_some_and(|score| score.value > 0.5 && score.value <= 1.0), "{best:?}");
    let twice = run(&search, &spec, &(&labels).into(), Some(&[2.0; N])).expect("valid");
    let (tried, at) = twice.taken().expect("finished");
    // Twice the weight is half the gamma.
    assert!((2.0 * tried.candidates[at].gamma / best.gamma - 1.0).abs() < 1e-9);
    assert_eq!(tried.candidates[at].score, best.score);
}

#[test]
fn what_cannot_be_fitted_is_left_out_and_an_end_keeps_what_is_finished() {
    let y = y();
    let spec = Spec::default();
    let two = |scales: Vec<f64>| {
        let name = KernelName::Exp;
        let kernel = KernelSpace::Named { name, degrees: Vec::new(), coef0: None, scales, normalize: Some(false) };
        Search { exponents: vec![4.0 / 3.0], gammas: Gammas::Count(3), ..Search::new(kernel) }
    };
    let found = run(&two(vec![0.1, 1e300]), &spec, &(&y).into(), None).expect("one of them can be fitted");
    assert_eq!((found.tried.len(), found.left_out.len()), (1, 1));
    assert!(run(&two(vec![1e300]), &spec, &(&y).into(), None).is_err());
    assert!(run(&two(vec![0.1]), &Spec { gamma: -1.0, ..spec.clone() }, &(&y).into(), None).is_err());

    let (x, target) = (x(), Target::from(&y));
    let folds = target.folds(N, 3, 1).expect("valid");
    let mut last = 0;
    let mut stop_at_second = |progress: &Progress| {
        last = last.max(progress.problem);
        if progress.problem >= 9 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let fit = Fit::new(&spec).expect("valid");
    let found = two(vec![0.1, 0.2, 0.3]).run(&fit, &x, &target, None, &folds, &mut stop_at_second).expect("no error");
    assert!(found.tried.len() == 2 && found.chosen.is_some_and(|(option, _)| option == 0) && last >= 9, "{last}");
    let unfinished: Vec<_> = found.tried[1].candidates.iter().filter(|candidate| !candidate.finished).collect();
    assert!(!unfinished.is_empty());
    for candidate in unfinished {
        assert!(candidate.score.is_none() && candidate.loss.value.is_nan(), "{candidate:?}");
    }
}

/// A loss that is not part of a spec is searched with, not the one of the spec.
#[test]
fn a_loss_of_its_own_takes_part() {
    let (x, y) = (x(), y());
    let (spec, target) = (Spec::default(), Target::from(&y));
    let search = Search { gammas: Gammas::Count(4), ..Search::new(KernelSpace::Fixed(KernelSpec::Linear)) };
    let folds = target.folds(N, 5, 0).expect("valid");
    let losses = |fit: &Fit| -> Vec<Mean> {
        let found = search.run(fit, &x, &target, None, &folds, &mut Unobserved).expect("valid");
        found.tried[0].candidates.iter().map(|candidate| candidate.loss).collect()
    };
    let squared = Fit::new(&spec).expect("valid");
    let absolute = Fit::new(&Spec { loss: LossSpec::Absolute, ..spec }).expect("valid");
    let own = squared.clone().with_loss(std::sync::Arc::new(crate::loss::Absolute));
    assert_eq!(losses(&own), losses(&absolute));
    assert_ne!(losses(&own), losses(&squared));
}

#[test]
fn a_search_is_planned_with_all_that_it_fits() {
    let (x, fit, rates) = (x(), Fit::new(&Spec::default()).expect("valid"), crate::form::Rates::default());
    let linear = || Search {
        gammas: Gammas::Given(vec![0.1, 1.0, 10.0]),
        ..Search::new(KernelSpace::Fixed(KernelSpec::Linear))
    };
    let planned = |search: &Search, functions, folds| {
        let all = search.planned(&fit, &x, functions, None, folds).expect("a route").prediction(&rates);
        let model = search.planned_with_model(&fit, &x, functions, None, folds).expect("a route").prediction(&rates);
        assert!(model.seconds > all.seconds && model.fits == all.fits + functions);
        all
    };
    let one = planned(&linear(), 1, 5);
    assert_eq!(one.fits, linear().fits(1, 1, 5));
    let longer = [
        planned(&linear(), 1, 10),
        planned(&linear(), 3, 5),
        planned(&Search { gammas: Gammas::Given(vec![0.1, 1.0, 2.0, 10.0]), ..linear() }, 1, 5),
        planned(&Search { exponents: vec![1.1, 1.5], ..linear() }, 1, 5),
        planned(
            &Search { kernels: [linear().kernels, vec![KernelSpace::named(KernelName::Exp)]].concat(), ..linear() },
            1,
            5,
        ),
    ];
    assert!(longer.iter().all(|more| more.seconds > one.seconds && more.fits > one.fits), "{longer:?}");
    // A grid that nobody has given may be widened.
    assert!(planned(&Search { gammas: Gammas::Count(3), ..linear() }, 1, 5).fits > one.fits);
    // Combinations add up.
    let each = [1.1, 1.5].map(|p| planned(&Search { exponents: vec![p], ..linear() }, 1, 5).seconds);
    assert!((longer[3].seconds / (each[0] + each[1]) - 1.0).abs() < 1e-12);
    assert!(linear().planned(&fit, &x, usize::MAX, None, usize::MAX).is_ok());
}
