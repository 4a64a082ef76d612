use std::ops::ControlFlow;

use super::*;
use crate::{
    DualProblem, Error, Exponent, FeatureMatrix, Memory, Newton, QForm, Solver, Status, Stopping, Unobserved,
    form::{Features, Gram, KernelFeatures, laws::with_threads},
    kernel::{Exponential, FeatureMap, Monomial, Polynomial},
    loss::{Logistic, Squared},
    model::monomial_matrix,
    solver::{Folds, Mean, Progress, SplitMix64},
};

/// Numbers that look normal.
fn noise(count: usize, seed: u64) -> Vec<f64> {
    let mut random = SplitMix64::new(seed);
    let mut uniform = || random.below(1 << 50) as f64 / (1_u64 << 50) as f64 - 0.5;
    (0..count).map(|_| (0..12).map(|_| uniform()).sum()).collect()
}

struct Case {
    x: FeatureMatrix<'static>,
    y: Vec<f64>,
    kernel: Polynomial,
    exponent: Exponent,
}

impl Case {
    fn new(n: usize, d: usize, seed: u64, p: f64, f: impl Fn(&[f64]) -> f64, sigma: f64) -> Self {
        let x = FeatureMatrix::from_columns(n, d, noise(n * d, seed)).expect("valid");
        let errors = noise(n, seed + 1);
        let y = (0..n).map(|i| f(&x.row(i)) + sigma * errors[i]).collect();
        let kernel = Polynomial::new(2, 1.0, 1.0).expect("valid");
        Self { x, y, kernel, exponent: Exponent::new(p).expect("inside") }
    }

    fn planted(n: usize, p: f64) -> Self {
        Self::new(n, 12, 11, p, |x| 1.0 + 2.0 * x[1] * x[2] - 1.5 * x[3] * x[3] + x[5], 0.1)
    }

    fn form(&self) -> KernelFeatures {
        KernelFeatures::new(&self.x, self.kernel, self.exponent, Memory::default()).expect("fits")
    }

    fn ranking(&self) -> MonomialRanking<'_> {
        MonomialRanking::new(self.x.view(), self.kernel, self.exponent)
    }

    fn problem<'a>(&'a self, form: &'a dyn QForm, gamma: f64) -> DualProblem<'a> {
        let problem = DualProblem::new(form, &Squared, &self.y, gamma).expect("valid");
        problem.with_intercept().expect("valid")
    }

    fn select(&self, form: &dyn QForm, options: &SelectionOptions) -> Selection {
        let problem = self.problem(form, 10.0);
        select(&problem, &self.x, &self.ranking(), options, &Newton::default(), &mut Unobserved).expect("works")
    }
}

fn planted() -> Vec<Monomial> {
    vec![Monomial::new(&[(1, 1), (2, 1)]), Monomial::new(&[(3, 2)]), Monomial::new(&[(5, 1)])]
}

#[test]
fn planted_monomials_are_found_and_not_shrunk() {
    let case = Case::planted(80, 1.1);
    let form = case.form();
    let options = SelectionOptions::new(8, Folds::shuffled(80, 5, 0).expect("valid"));
    let selection = case.select(&form, &options);
    assert_eq!(selection.terms(), 3, "{selection:?}");
    assert_eq!(selection.unconverged, 0);
    let mut found: Vec<Monomial> = selection.model.terms().iter().map(|(monomial, _)| monomial.clone()).collect();
    found.sort();
    let mut expected = planted();
    expected.sort();
    assert_eq!(found, expected, "{selection:?}");
    for (monomial, coefficient) in selection.model.terms() {
        let truth = [2.0, -1.5, 1.0][planted().iter().position(|planted| planted == monomial).expect("planted")];
        assert!((coefficient - truth).abs() < 0.06, "{selection:?}");
    }
    assert!(selection.score(3).expect("defined").value > 0.99, "{selection:?}");
    // Without the folds the fit itself shrinks them.
    let solution = Newton::default().solve(&case.problem(&form, 10.0), &mut Unobserved).expect("works");
    let weights = form.features().weights(&solution.alpha);
    assert!(weights.iter().all(|weight| weight.abs() < 1.95));
}

/// Fits of the other samples alone, rankings from their weights, least squares by the normal equations.
#[test]
fn the_curve_is_that_of_the_procedure_by_hand() {
    let case = Case::planted(40, 1.2);
    let form = case.form();
    let folds = Folds::shuffled(40, 4, 3).expect("valid");
    let selection = case.select(&form, &SelectionOptions::new(4, folds.clone()));
    let map = FeatureMap::new(&case.kernel, 12, case.exponent, None).expect("finite");
    for (fold, held_out) in folds.held_out().iter().enumerate() {
        let others: Vec<usize> = (0..40).filter(|i| !held_out.contains(i)).collect();
        let x = case.x.select_samples(&others).expect("valid");
        let y: Vec<f64> = others.iter().map(|&i| case.y[i]).collect();
        let own = KernelFeatures::new(&x, case.kernel, case.exponent, Memory::default()).expect("fits");
        let problem = DualProblem::new(&own, &Squared, &y, 10.0).expect("valid").with_intercept().expect("valid");
        let solution = Newton::default().solve(&problem, &mut Unobserved).expect("works");
        let weights = own.features().weights(&solution.alpha);
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by(|&a, &b| weights[b].abs().total_cmp(&weights[a].abs()));
        for terms in 0..=4 {
            let monomials: Vec<Monomial> =
                order[..terms].iter().map(|&k| map.monomial(k).expect("listed")).chain([Monomial::new(&[])]).collect();
            let all = monomial_matrix(&monomials, &case.x).expect("in range");
            let coefficients = normal_equations(&monomial_matrix(&monomials, &x).expect("in range"), &y);
            for (&i, got) in held_out.iter().zip(&selection.curve[terms][fold].predictions) {
                let expected: f64 = all.row(i).iter().zip(&coefficients).map(|(x, c)| x * c).sum();
                assert!((got - expected).abs() < 1e-7, "{fold} {terms} {got} {expected}");
            }
        }
    }
}

fn normal_equations(x: &FeatureMatrix<'_>, y: &[f64]) -> Vec<f64> {
    let k = x.features();
    let rows: Vec<Vec<f64>> = (0..x.samples()).map(|i| x.row(i)).collect();
    let mut a: Vec<Vec<f64>> = (0..k)
        .map(|p| {
            let products = |q: usize| rows.iter().map(|row| row[p] * row[q]).sum::<f64>();
            let target = rows.iter().zip(y).map(|(row, y)| row[p] * y).sum::<f64>();
            (0..k).map(products).chain([target]).collect()
        })
        .collect();
    for p in 0..k {
        for q in (0..k).filter(|&q| q != p) {
            let factor = a[q][p] / a[p][p];
            let row = a[p].clone();
            a[q].iter_mut().zip(&row).for_each(|(entry, pivot)| *entry -= factor * pivot);
        }
    }
    (0..k).map(|p| a[p][k] / a[p][p]).collect()
}

/// A ranking that does not look at the fit.
struct Known(Vec<Monomial>);

impl Ranking for Known {
    fn largest(&self, _alpha: &[f64], count: usize) -> Result<Vec<Monomial>, Error> {
        Ok(self.0.iter().take(count).cloned().collect())
    }
}

/// On pure noise the honest curve is never much better than a constant; ranking with all samples first would be.
#[test]
fn scores_are_honest() {
    let (mut honest, mut gains) = (Vec::new(), Vec::new());
    for seed in 0..6 {
        let case = Case::new(40, 25, 100 + 10 * seed, 1.1, |_| 0.0, 1.0);
        let form = case.form();
        let folds = Folds::shuffled(40, 5, seed).expect("valid");
        let selection = case.select(&form, &SelectionOptions::new(6, folds.clone()));
        let constant = selection.loss(0);
        for terms in 1..=6 {
            let Mean { value, standard_error } = selection.loss(terms);
            assert!(value + 2.0 * standard_error > constant.value, "{selection:?}");
        }
        honest.push(selection.loss(6).value / constant.value);
        // The dishonest way: the ranking has seen the folds.
        let problem = case.problem(&form, 10.0);
        let options = SelectionOptions::new(6, folds);
        let known = Known(selection.ranked.clone());
        let peeked = select(&problem, &case.x, &known, &options, &Newton::default(), &mut Unobserved).expect("works");
        gains.push(peeked.loss(6).value / peeked.loss(0).value);
    }
    let mean = |ratios: &[f64]| ratios.iter().sum::<f64>() / ratios.len() as f64;
    assert!(mean(&honest) > 0.95, "{honest:?}");
    assert!(mean(&gains) < 0.75, "peeking should look good: {gains:?}");
}

#[test]
fn every_route_gives_the_same_selection() {
    let case = Case::planted(40, 4.0 / 3.0);
    let options = SelectionOptions::new(5, Folds::shuffled(40, 4, 1).expect("valid"));
    let listed = case.select(&case.form(), &options);
    let gram = Gram::new(case.x.view(), case.kernel, case.exponent, Memory::default()).expect("fits");
    let tensor = case.select(&gram, &options);
    assert_eq!(listed.ranked, tensor.ranked);
    assert_eq!(listed.terms(), tensor.terms());
    for terms in 0..=5 {
        assert!((listed.loss(terms).value - tensor.loss(terms).value).abs() < 1e-6);
    }
    let threads = |threads| {
        with_threads(threads, || {
            let selection = case.select(&case.form(), &options);
            (selection.model, selection.ranked)
        })
    };
    assert_eq!(threads(1), threads(3));
}

#[test]
fn refits_with_a_penalty_tend_to_least_squares() {
    let case = Case::planted(60, 1.1);
    let form = case.form();
    let folds = Folds::shuffled(60, 3, 1).expect("valid");
    let plain = case.select(&form, &SelectionOptions::new(4, folds.clone()));
    let exponent = Exponent::new(2.0).expect("inside");
    let refit = Refit::Penalised { exponent, gamma: 1e9 };
    let penalised = case.select(&form, &SelectionOptions { refit, ..SelectionOptions::new(4, folds.clone()) });
    for terms in 0..=4 {
        let (a, b) = (plain.loss(terms).value, penalised.loss(terms).value);
        assert!((a - b).abs() < 1e-3 * a, "{terms} {a} {b}");
    }
    let strong = Refit::Penalised { exponent, gamma: 1e-3 };
    let shrunk = case.select(&form, &SelectionOptions { refit: strong, ..SelectionOptions::new(4, folds) });
    assert!(shrunk.loss(3).value > 2.0 * plain.loss(3).value);
}

#[test]
fn classes_are_selected_with_their_loss() {
    let case = Case::new(80, 8, 5, 1.1, |x| (3.0 * x[0] * x[1] + 0.2).signum(), 0.0);
    let form = case.form();
    let problem = DualProblem::new(&form, &Logistic, &case.y, 5.0).expect("valid").with_intercept().expect("valid");
    let folds = Folds::stratified(&case.y, 4, 0).expect("valid");
    let refit = Refit::Penalised { exponent: Exponent::new(2.0).expect("inside"), gamma: 100.0 };
    let options = SelectionOptions { refit, ..SelectionOptions::new(3, folds) };
    let found = select(&problem, &case.x, &case.ranking(), &options, &Newton::default(), &mut Unobserved);
    let found = found.expect("works");
    assert_eq!(found.ranked[0], Monomial::new(&[(0, 1), (1, 1)]), "{found:?}");
    assert!(found.score(1).expect("defined").value > 0.9, "{found:?}");
    let options = StabilityOptions { pairs: 8, ..StabilityOptions::new(1) };
    let stable = stability(&problem, &case.ranking(), &options, &Newton::default(), &mut Unobserved).expect("works");
    assert_eq!(stable.stable()[0].monomial, found.ranked[0], "{stable:?}");
}

#[test]
fn dependent_columns_and_odd_requests_do_no_harm() {
    // Two equal columns, a column of zeros, a constant one.
    let (n, d) = (12, 5);
    let mut x = noise(n * d, 9);
    x.copy_within(0..n, n);
    x[2 * n..3 * n].fill(0.0);
    x[3 * n..4 * n].fill(3.0);
    let x = FeatureMatrix::from_columns(n, d, x).expect("valid");
    let y: Vec<f64> = (0..n).map(|i| 2.0 * x.row(i)[0] + 1.0).collect();
    let case = Case {
        x,
        y,
        kernel: Polynomial::new(2, 1.0, 1.0).expect("valid"),
        exponent: Exponent::new(1.1).expect("inside"),
    };
    let form = case.form();
    let folds = Folds::shuffled(n, 3, 0).expect("valid");
    // More than there are, more than samples.
    for refit in [Refit::LeastSquares, Refit::Penalised { exponent: case.exponent, gamma: 1e4 }] {
        let options = SelectionOptions { refit, ..SelectionOptions::new(500, folds.clone()) };
        let selection = case.select(&form, &options);
        assert!(selection.ranked.len() <= n && selection.curve.len() <= n + 1, "{selection:?}");
        assert!((0..=500).all(|terms| selection.loss(terms).value.is_finite()));
        assert!(selection.terms() <= 3, "{selection:?}");
    }
    let all = case.select(&form, &SelectionOptions::new(usize::MAX, folds.clone()));
    let some = case.select(&form, &SelectionOptions::new(n, folds.clone()));
    assert_eq!(all.curve.len(), some.curve.len());
    assert_eq!((all.loss(usize::MAX).value, &all.model), (some.loss(n).value, &some.model));
    let none = case.select(&form, &SelectionOptions::new(0, folds.clone()));
    assert!(none.model.is_empty() && none.terms() == 0);
    // A constant target has nothing to select.
    let constant = Case { y: vec![4.0; n], ..case };
    let selection = constant.select(&form, &SelectionOptions::new(5, folds));
    assert!((selection.model.predict(&constant.x).expect("fits")[3] - 4.0).abs() < 1e-9, "{selection:?}");
    assert_eq!(selection.terms(), 0, "{selection:?}");
    // Two samples.
    let two = Case::new(2, 3, 1, 1.5, |x| x[0], 0.0);
    let form = two.form();
    let selection = two.select(&form, &SelectionOptions::new(3, Folds::leave_one_out(2).expect("valid")));
    assert!(selection.model.predict(&two.x).expect("fits").iter().all(|value| value.is_finite()));
    let problem = two.problem(&form, 1.0);
    let options = StabilityOptions { pairs: 3, ..StabilityOptions::new(2) };
    let found = stability(&problem, &two.ranking(), &options, &Newton::default(), &mut Unobserved).expect("works");
    assert_eq!(found.subsamples, 6);
}

#[test]
fn wrong_input_is_refused() {
    let case = Case::planted(20, 1.5);
    let form = case.form();
    let nan = [vec![f64::NAN], case.y[1..].to_vec()].concat();
    assert!(matches!(DualProblem::new(&form, &Squared, &nan, 1.0), Err(Error::BadValue { what: "y", row: 0, .. })));
    let problem = case.problem(&form, 1.0);
    let (ranking, solver) = (case.ranking(), Newton::default());
    let selected = |x: &FeatureMatrix<'_>, folds| {
        select(&problem, x, &ranking, &SelectionOptions::new(3, folds), &solver, &mut Unobserved)
    };
    let short = case.x.select_samples(&[0, 1, 2]).expect("valid");
    assert!(matches!(selected(&short, Folds::contiguous(20, 4).expect("valid")), Err(Error::Shape { what: "X", .. })));
    assert!(matches!(selected(&case.x, Folds::contiguous(19, 4).expect("valid")), Err(Error::Shape { .. })));
    for (options, name) in [
        (StabilityOptions { pairs: 0, ..StabilityOptions::new(2) }, "pairs"),
        (StabilityOptions { pairs: usize::MAX, ..StabilityOptions::new(2) }, "pairs"),
        (StabilityOptions::new(usize::MAX), "terms"),
        (StabilityOptions { threshold: 0.5, ..StabilityOptions::new(2) }, "threshold"),
        (StabilityOptions { threshold: f64::NAN, ..StabilityOptions::new(2) }, "threshold"),
    ] {
        let error = stability(&problem, &ranking, &options, &solver, &mut Unobserved).expect_err("refused");
        assert!(matches!(error, Error::Parameter { parameter, .. } if parameter.name() == name), "{error}");
    }
    let infinite = MonomialRanking::new(case.x.view(), Exponential::new(0.1).expect("valid"), case.exponent);
    assert_eq!(infinite.largest(&[1.0; 20], 3).expect("it runs").len(), 3, "kernels without an end are ranked too");
    assert!(infinite.features().is_none() && ranking.features() == Some(91.0));
    let one = problem.clone().with_sample_weights(&[vec![1.0], vec![0.0; 19]].concat()).expect("valid");
    assert!(stability(&one, &ranking, &StabilityOptions::new(2), &solver, &mut Unobserved).is_err());
}

#[test]
fn stable_monomials_are_the_planted_ones() {
    let case = Case::planted(80, 1.1);
    let form = case.form();
    let problem = case.problem(&form, 10.0);
    let options = StabilityOptions { pairs: 15, seed: 7, ..StabilityOptions::new(4) };
    let run = |options: &StabilityOptions| {
        stability(&problem, &case.ranking(), options, &Newton::default(), &mut Unobserved).expect("works")
    };
    let found = run(&options);
    assert_eq!((found.subsamples, found.unconverged), (30, 0));
    let mut stable: Vec<Monomial> = found.stable().iter().map(|entry| entry.monomial.clone()).collect();
    stable.sort();
    let mut expected = planted();
    expected.sort();
    assert_eq!(stable, expected, "{found:?}");
    let sum: f64 = found.entries.iter().map(|entry| entry.frequency).sum();
    assert!((sum - 4.0).abs() < 1e-12 && (found.selected_per_fit - 4.0).abs() < 1e-12);
    // q^2/((2 pi - 1) card) and its refinement.
    assert!((found.expected_false().expect("finite") - 16.0 / 91.0 / 0.5).abs() < 1e-12);
    let refined = 16.0 / 91.0 / (2.0 * (0.5 - 1.0 / 30.0));
    assert!((found.expected_false_unimodal().expect("applies") - refined).abs() < 1e-12);
    let strict = run(&StabilityOptions { threshold: 0.9, ..options });
    let refined = 4.0 * (0.1 + 1.0 / 30.0) / (1.0 + 1.0 / 15.0) * 16.0 / 91.0;
    assert!((strict.expected_false_unimodal().expect("applies") - refined).abs() < 1e-12);
    assert_eq!(strict.entries, found.entries);
    assert!(run(&StabilityOptions { pairs: 1, ..options }).expected_false_unimodal().is_none());
    // The same for any number of threads, another for another seed.
    assert_eq!(with_threads(1, || run(&options)), with_threads(3, || run(&options)));
    assert_ne!(run(&StabilityOptions { seed: 8, ..options }).entries, found.entries);
    assert_eq!(run(&StabilityOptions { terms: 0, ..options }).entries, []);
}

/// The first pair, with the samples of the halves alone.
#[test]
fn frequencies_are_those_of_the_procedure_by_hand() {
    let case = Case::planted(30, 1.2);
    let form = case.form();
    let problem = case.problem(&form, 10.0);
    let options = StabilityOptions { pairs: 1, seed: 3, ..StabilityOptions::new(5) };
    let found = stability(&problem, &case.ranking(), &options, &Newton::default(), &mut Unobserved).expect("works");
    let mut order: Vec<usize> = (0..30).collect();
    crate::solver::shuffle(&mut order, &mut SplitMix64::new(3));
    let map = FeatureMap::new(&case.kernel, 12, case.exponent, None).expect("finite");
    let mut counts = std::collections::BTreeMap::new();
    for half in 0..2 {
        let own: Vec<usize> = order.iter().copied().skip(half).step_by(2).collect();
        let phi = map.matrix(&case.x.select_samples(&own).expect("valid"), Memory::default()).expect("fits");
        let y: Vec<f64> = own.iter().map(|&i| case.y[i]).collect();
        let form = Features::new(phi, case.exponent);
        let problem = DualProblem::new(&form, &Squared, &y, 10.0).expect("valid").with_intercept().expect("valid");
        let solution = Newton::default().solve(&problem, &mut Unobserved).expect("works");
        let weights = form.weights(&solution.alpha);
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by(|&a, &b| weights[b].abs().total_cmp(&weights[a].abs()));
        order[..5].iter().for_each(|&k| *counts.entry(map.monomial(k).expect("listed")).or_insert(0.0) += 0.5);
    }
    assert_eq!(found.entries.len(), counts.len());
    assert!(found.entries.iter().all(|entry| counts[&entry.monomial] == entry.frequency), "{found:?}");
}

#[test]
fn a_stop_is_respected() {
    let case = Case::planted(40, 1.05);
    let form = case.form();
    let problem = case.problem(&form, 10.0);
    let mut calls = 0;
    let mut stop = |_: &Progress| {
        calls += 1;
        if calls > 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = StabilityOptions { pairs: 5, ..StabilityOptions::new(3) };
    let found = stability(&problem, &case.ranking(), &options, &Newton::default(), &mut stop).expect("works");
    assert!(found.subsamples < 10 && found.expected_false().is_some(), "{found:?}");
    let options = SelectionOptions::new(3, Folds::shuffled(40, 4, 0).expect("valid"));
    let mut stop = |_: &Progress| ControlFlow::Break(());
    let selection = select(&problem, &case.x, &case.ranking(), &options, &Newton::default(), &mut stop);
    assert!(selection.expect("works").unconverged > 0);
    let solver = Newton { stopping: Stopping { tolerance: 0.0, max_iterations: 1 }, ..Newton::default() };
    let found = stability(
        &problem,
        &case.ranking(),
        &StabilityOptions { pairs: 2, ..StabilityOptions::new(3) },
        &solver,
        &mut Unobserved,
    );
    let found = found.expect("works");
    assert!(found.unconverged == 4, "{found:?}");
    let solution = solver.solve(&problem, &mut Unobserved).expect("works");
    assert_eq!(solution.status, Status::IterationLimit);
}
