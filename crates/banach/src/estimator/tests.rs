//! Models agree with the layers below, outlive their data, and refuse what cannot be fitted.

use std::{ops::ControlFlow, sync::Arc};

use super::*;
use crate::{
    Absolute, DualProblem, EpsilonInsensitive, Error, Exponent, FeatureMatrix, Features, Gradient, Hinge, Huber,
    Linesearch, Logistic, Loss, Memory, Progress, ProximalGradient, Quantile, Route, Rule, Solver, Squared,
    SquaredHinge, Status, Stopping, Unobserved,
    kernel::{Exponential, FeatureMap, Linear, Polynomial},
};

fn paper() -> SolverChoice {
    SolverChoice::Paper(PaperOptions::default())
}

const N: usize = 24;
const D: usize = 6;

fn jumble(count: usize, from: usize) -> Vec<f64> {
    (from + 1..=from + count).map(|k| ((k * k) as f64 * 0.618_033_988_749_895).fract() * 2.0 - 1.0).collect()
}

fn data() -> (FeatureMatrix<'static>, Vec<f64>) {
    let x = jumble(N * D, 0);
    let y = (0..N).map(|i| 2.0 * x[i] - x[N + i] * x[2 * N + i] + 5.0).collect();
    (FeatureMatrix::from_columns(N, D, x).expect("valid"), y)
}

/// A label for every sample, from the first two variables.
fn labels(classes: i64) -> Vec<i64> {
    let x = jumble(N * D, 0);
    (0..N).map(|i| 10 * ((x[i] + 0.3 * x[N + i] + 1.3) / 2.6 * classes as f64) as i64 - 10).collect()
}

fn close(a: &[f64], b: &[f64], slack: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= slack * (1.0 + b.abs()))
}

#[test]
fn in_sample_predictions_are_omega_and_the_intercept_on_every_route() {
    let (x, y) = data();
    for fit_intercept in [true, false] {
        for route in Route::ALL {
            for linear in [true, false] {
                let regressor = Regressor::new().gamma(2.0).fit_intercept(fit_intercept).route(route).tolerance(1e-6);
                let regressor =
                    if linear { regressor } else { regressor.kernel(Polynomial::new(2, 0.5, 1.0).expect("valid")) };
                let model = regressor.fit(&x, &y).expect("valid");
                assert_eq!((model.plan().chosen(), model.outputs()), (route, 1));
                let solution = &model.solutions()[0];
                assert_eq!(fit_intercept, model.intercept(0) != 0.0);
                let expected: Vec<f64> = solution.omega.iter().map(|omega| omega + model.intercept(0)).collect();
                let predicted = model.predict(&x).expect("the samples");
                assert!(close(&predicted, &expected, 1e-8), "{route} {predicted:?} {expected:?}");
                assert_eq!(model.status(), Status::Converged, "{model}");
            }
        }
    }
}

#[test]
fn a_model_is_the_solution_of_its_dual_problem() {
    let (x, y) = data();
    let model = Regressor::new().p(1.1).gamma(3.0).solver(paper()).fit(&x, &y).expect("valid");
    let form = Features::new(x.view(), Exponent::new(1.1).expect("inside"));
    let problem = DualProblem::new(&form, &Squared, &y, 3.0).and_then(DualProblem::with_intercept).expect("valid");
    let stopping = Stopping { tolerance: 1e-8, max_iterations: 1000 };
    let solver = ProximalGradient { stopping, ..ProximalGradient::default() };
    let solution = solver.solve(&problem, &mut Unobserved).expect("valid");
    assert_eq!((model.alpha(0), model.intercept(0)), (&solution.alpha[..], solution.intercept));
    assert_eq!(model.certificate(), solution.certificate);
    assert!(close(&model.weights(0).expect("linear"), &form.weights(&solution.alpha), 1e-12));
}

/// What the paper's algorithms are told reaches them: the iterates are those of the solver itself.
#[test]
fn the_papers_algorithms_take_their_options() {
    let (x, y) = data();
    let form = Features::new(x.view(), Exponent::new(4.0 / 3.0).expect("inside"));
    let problem = DualProblem::new(&form, &Squared, &y, 3.0).and_then(DualProblem::with_intercept).expect("valid");
    let options = PaperOptions {
        algorithm: Some(PaperAlgorithm::Gradient),
        rule: Some(Rule::Restart),
        delta: Some(0.4),
        theta: Some(0.8),
        lambda_bar: Some(0.2),
    };
    let regressor = Regressor::new().gamma(3.0).route(Route::Features);
    let model = regressor.clone().solver(SolverChoice::Paper(options)).fit(&x, &y).expect("valid");
    let linesearch = Linesearch { rule: Rule::Restart, delta: 0.4, theta: 0.8, lambda_bar: Some(0.2) };
    let stopping = Stopping { tolerance: 1e-8, max_iterations: 1000 };
    let expected = Gradient { stopping, linesearch }.solve(&problem, &mut Unobserved).expect("valid");
    let found = &model.solutions()[0];
    assert_eq!((&found.alpha, found.iterations), (&expected.alpha, expected.iterations));
    let other = regressor.clone().solver(paper()).fit(&x, &y).expect("valid");
    assert_ne!(other.solutions()[0].iterations, expected.iterations);

    let refused = |options, loss: Arc<dyn Loss>| {
        let regressor = regressor.clone().loss(loss).solver(SolverChoice::Paper(options));
        regressor.fit(&x, &y).expect_err("refused").to_string()
    };
    let far = PaperOptions { lambda_bar: Some(3.0 / 1.2), ..options };
    assert!(refused(far, Arc::new(Squared)).contains("gamma/(2(1-delta))"));
    assert!(refused(options, Arc::new(Absolute)).contains("Algorithm 2.1"));
    assert!(refused(PaperOptions { delta: Some(1.0), ..options }, Arc::new(Squared)).contains("delta = 1"));
}

#[test]
fn a_model_outlives_its_data() {
    for route in Route::ALL {
        let (model, expected) = {
            let (x, y) = (jumble(N * D, 0), jumble(N, 900));
            let x = FeatureMatrix::from_columns(N, D, &x[..]).expect("valid");
            let kernel = Polynomial::new(2, 1.0, 0.0).expect("valid");
            let model = Regressor::new().kernel(kernel).route(route).fit(&x, &y).expect("valid");
            let expected = model.predict(&x).expect("the samples");
            (model, expected)
        };
        let again = FeatureMatrix::from_columns(N, D, jumble(N * D, 0)).expect("valid");
        assert_eq!(model.clone().predict(&again).expect("the samples"), expected);
        assert!(matches!(
            model.predict(&FeatureMatrix::from_columns(N, 1, vec![0.0; N]).expect("valid")),
            Err(Error::Shape { what: "a row of the new X", got: 1, expected: D })
        ));
    }
}

#[test]
fn weights_are_those_of_the_feature_map() {
    let (x, y) = data();
    let kernel = Polynomial::new(2, 1.0, 0.0).expect("valid");
    let regressor = Regressor::new().p(1.1).gamma(50.0).kernel(kernel);
    let model = regressor.fit(&x, &y).expect("valid");
    let weights = model.weights(0).expect("listed at q = 11");
    let map = FeatureMap::new(&kernel, D, Exponent::new(1.1).expect("inside"), None).expect("finite");
    let phi = map.phi(&[0.3, -0.2, 0.5, 0.1, 0.9, -0.7]).expect("in range");
    let value: f64 = phi.iter().zip(&weights).map(|(phi, w)| phi * w).sum::<f64>() + model.intercept(0);
    let new = FeatureMatrix::from_rows(1, D, &[0.3, -0.2, 0.5, 0.1, 0.9, -0.7]).expect("valid");
    assert!(close(&model.predict(&new).expect("in range"), &[value], 1e-12));
    let exponential = Regressor::new().kernel(Exponential::new(0.5).expect("valid")).fit(&x, &y).expect("valid");
    assert_eq!(exponential.weights(0), None);
    // The weights of a linear model do not depend on the route.
    let [features, gram] = [Route::Features, Route::Gram]
        .map(|route| Regressor::new().tolerance(1e-12).route(route).fit(&x, &y).expect("valid").weights(0));
    assert!(close(&gram.expect("linear"), &features.expect("linear"), 1e-4));
}

/// To the bit by the paper's algorithm, which runs one after another; to the tolerance in lockstep.
#[test]
fn several_outputs_are_fitted_as_each_by_itself() {
    let (x, y) = data();
    let other = jumble(N, 500);
    for (solver, slack) in [(paper(), 0.0), (SolverChoice::Newton, 1e-4)] {
        let regressor = Regressor::new().p(1.2).gamma(4.0).loss(Huber::new(0.5).expect("valid")).solver(solver);
        let regressor = regressor.route(Route::Features).tolerance(1e-10).max_iterations(5000);
        let both = regressor.fit_outputs(&x, &[&y, &other]).expect("valid");
        assert_eq!((both.outputs(), both.status()), (2, Status::Converged), "{both}");
        let mut predictions = Vec::new();
        for (output, y) in [&y, &other].into_iter().enumerate() {
            let one = regressor.fit(&x, y).expect("valid");
            assert!(close(both.alpha(output), one.alpha(0), slack));
            assert!(close(&[both.intercept(output)], &[one.intercept(0)], slack));
            assert!(close(&both.weights(output).expect("linear"), &one.weights(0).expect("linear"), slack));
            predictions.extend(one.predict(&x).expect("the samples"));
        }
        assert!(close(&both.predict(&x).expect("the samples"), &predictions, slack));
        let gaps = both.solutions().iter().map(|solution| solution.certificate.relative_gap());
        assert_eq!(both.certificate().relative_gap(), gaps.fold(0.0, f64::max));
    }
}

#[test]
fn one_against_the_others_is_a_binary_fit_for_each_class() {
    let (x, _) = data();
    let y = labels(3);
    for (solver, slack) in [(paper(), 0.0), (SolverChoice::Newton, 1e-3)] {
        let classifier = Classifier::new().gamma(5.0).kernel(Exponential::new(0.3).expect("valid")).solver(solver);
        for classifier in [classifier.clone().tolerance(1e-9), classifier.loss(SquaredHinge).tolerance(1e-9)] {
            let model = classifier.fit(&x, &y).expect("valid");
            assert_eq!(model.classes(), [-10, 0, 10]);
            let decisions = model.decision_function(&x).expect("the samples");
            for (function, class) in model.classes().iter().enumerate() {
                let signs: Vec<i64> = y.iter().map(|label| i64::from(label == class)).collect();
                let one = classifier.fit(&x, &signs).expect("valid");
                assert!(close(model.alpha(function), one.alpha(0), slack));
                assert!(close(&[model.intercept(function)], &[one.intercept(0)], slack));
                let alone = one.decision_function(&x).expect("the samples");
                assert!(close(&decisions[function * N..(function + 1) * N], &alone, slack));
                let positive = one.predict(&x).expect("the samples");
                assert!(positive.iter().zip(&alone).all(|(label, decision)| (*label == 1) == (*decision > 0.0)));
            }
            let predicted = model.predict(&x).expect("the samples");
            for (point, label) in predicted.iter().enumerate() {
                let best = decisions[model.class_index(*label).expect("a class") * N + point];
                assert!((0..3).all(|class| decisions[class * N + point] <= best));
            }
            let right = predicted.iter().zip(&y).filter(|(predicted, label)| predicted == label).count();
            assert!(right > 2 * N / 3, "{right} of {N}");
        }
    }
}

#[test]
fn probabilities_add_up_and_agree_with_the_labels() {
    let (x, _) = data();
    for classes in [2, 4] {
        let model = Classifier::new().gamma(20.0).fit(&x, &labels(classes)).expect("valid");
        let (probabilities, decisions) = (model.predict_proba(&x).expect("logistic"), model.decision_function(&x));
        let classes = model.classes().len();
        assert_eq!(probabilities.len(), classes * N);
        for (point, label) in model.predict(&x).expect("the samples").iter().enumerate() {
            let own: Vec<f64> = probabilities[point..].iter().step_by(N).copied().collect();
            assert!((own.iter().sum::<f64>() - 1.0).abs() < 1e-12 && own.iter().all(|p| (0.0..=1.0).contains(p)));
            let likeliest = own[model.class_index(*label).expect("a class")];
            assert!(own.iter().all(|p| *p <= likeliest));
        }
        if classes == 2 {
            let odds = (probabilities[N] / probabilities[0]).ln();
            assert!((odds - decisions.expect("the samples")[0]).abs() < 1e-9);
        }
    }
    let model = Classifier::new().loss(Hinge).fit(&x, &labels(2)).expect("valid");
    assert!(matches!(model.predict_proba(&x), Err(Error::Parameter { name: "loss", .. })));
}

#[test]
fn weights_of_samples_count_as_repetitions() {
    let (x, y) = data();
    let mut weights = vec![1.0; N];
    (weights[2], weights[5]) = (0.0, 2.0);
    let regressor = Regressor::new().tolerance(1e-11).route(Route::Features);
    let weighted = regressor.fit_weighted(&x, &y, &weights).expect("valid");
    let rows: Vec<usize> = (0..N).filter(|&i| i != 2).chain([5]).collect();
    let repeated = x.select_samples(&rows).expect("valid");
    let y_repeated: Vec<f64> = rows.iter().map(|&i| y[i]).collect();
    let plain = regressor.fit(&repeated, &y_repeated).expect("valid");
    let (a, b) = (weighted.predict(&x).expect("the samples"), plain.predict(&x).expect("the samples"));
    assert!(close(&a, &b, 1e-4), "{a:?} {b:?}");
}

/// A run that ends short of its tolerance says so, with the gap and what to do, and does not blame rounding.
#[test]
fn a_stalled_fit_says_what_to_do() {
    let (x, y) = data();
    let model = Regressor::new().tolerance(0.0).p(1.1).gamma(1e3).fit(&x, &y).expect("valid");
    assert_eq!(model.status(), Status::Stalled, "{model}");
    let text = model.to_string();
    assert!(text.contains("no step makes further progress, relative duality gap"), "{text}");
    assert!(text.contains("to converge: a tolerance above this gap") && !text.contains("floating"), "{text}");
}

#[test]
fn every_loss_is_accepted_where_its_targets_are() {
    let (x, y) = data();
    let regressor = Regressor::new().tolerance(1e-3);
    let refused = |error: Error| matches!(error, Error::Parameter { name: "loss", .. });
    let real: [std::sync::Arc<dyn Loss>; 5] = [
        std::sync::Arc::new(Squared),
        std::sync::Arc::new(Absolute),
        std::sync::Arc::new(EpsilonInsensitive::new(0.1).expect("valid")),
        std::sync::Arc::new(Huber::new(1.35).expect("valid")),
        std::sync::Arc::new(Quantile::new(0.5).expect("valid")),
    ];
    for loss in real {
        assert!(regressor.clone().loss(loss.clone()).fit(&x, &y).is_ok(), "{loss:?}");
        assert!(refused(Classifier::new().loss(loss).fit(&x, &labels(2)).expect_err("numbers")));
    }
    let classifier = Classifier::new().tolerance(1e-3);
    for loss in [&classifier.clone().loss(Logistic), &classifier.clone().loss(Hinge), &classifier.loss(SquaredHinge)] {
        assert!(loss.fit(&x, &labels(2)).is_ok());
    }
    assert!(refused(regressor.loss(Hinge).fit(&x, &y).expect_err("classes")));
}

#[test]
fn what_cannot_be_fitted_is_refused_with_a_typed_error() {
    let (x, y) = data();
    let fit = |regressor: Regressor| regressor.fit(&x, &y).expect_err("refused");
    for p in [1.0, 0.5, 2.1, f64::NAN, f64::INFINITY] {
        assert!(matches!(fit(Regressor::new().p(p)), Error::Parameter { name: "p", .. }));
    }
    for gamma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(fit(Regressor::new().gamma(gamma)), Error::Parameter { name: "gamma", .. }));
    }
    for tolerance in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(fit(Regressor::new().tolerance(tolerance)), Error::Parameter { name: "tolerance", .. }));
    }
    let exponential = || Regressor::new().kernel(Exponential::new(0.5).expect("valid"));
    assert!(matches!(fit(exponential().memory(Memory::limit(100))), Error::NoRoute { .. }));
    assert!(matches!(fit(exponential().p(1.1)), Error::NoRoute { .. }));
    assert!(matches!(fit(exponential().route(Route::Features)), Error::NoRoute { .. }));

    assert!(matches!(FeatureMatrix::from_columns(0, 3, vec![]), Err(Error::Empty { .. })));
    let regressor = Regressor::new();
    assert!(matches!(regressor.fit_outputs(&x, &[]), Err(Error::Empty { what: "y" })));
    assert!(matches!(regressor.fit(&x, &[]), Err(Error::Shape { what: "y", got: 0, expected: N })));
    assert!(matches!(regressor.fit_outputs(&x, &[&y, &y[1..]]), Err(Error::Shape { what: "y", .. })));
    assert!(matches!(regressor.fit(&x, &[f64::NAN; N]), Err(Error::BadValue { what: "y", row: 0, .. })));
    let weighted = |weights: &[f64]| regressor.fit_weighted(&x, &y, weights).expect_err("refused");
    assert!(matches!(weighted(&[1.0; 3]), Error::Shape { what: "sample_weight", got: 3, expected: N }));
    assert!(matches!(weighted(&[f64::NAN; N]), Error::BadValue { what: "sample_weight", .. }));
    assert!(matches!(weighted(&[0.0; N]), Error::NoWeight { samples: N, .. }));
}

#[test]
fn labels_that_cannot_be_told_apart_are_refused() {
    let (x, _) = data();
    let classifier = Classifier::new();
    assert!(matches!(classifier.fit(&x, &[4; N]), Err(Error::OneLabel { label: 4 })));
    assert!(matches!(classifier.fit(&x, &[4; 3]), Err(Error::Shape { what: "y", got: 3, expected: N })));
    let y = labels(2);
    let of_one: Vec<f64> = y.iter().map(|label| if *label == 0 { 0.0 } else { 1.0 }).collect();
    assert!(matches!(classifier.fit_weighted(&x, &y, &of_one), Err(Error::AbsentLabel { label: 0 })));
    assert!(matches!(classifier.fit_weighted(&x, &y, &[1.0]), Err(Error::Shape { what: "sample_weight", .. })));
    assert!(matches!(classifier.fit_weighted(&x, &y, &[-1.0; N]), Err(Error::BadValue { what: "sample_weight", .. })));
    let model = classifier.fit(&x, &y).expect("valid");
    match model.class_index(7) {
        Err(Error::UnknownLabel { label: 7, classes }) => assert_eq!(classes, [-10, 0]),
        other => panic!("{other:?}"),
    }
    let extreme = if y[0] == 0 { i64::MIN } else { i64::MAX };
    let y: Vec<i64> = y.iter().map(|label| if *label == y[0] { extreme } else { 0 }).collect();
    assert_eq!(classifier.fit(&x, &y).expect("any integers").predict(&x).expect("the samples").len(), N);
}

#[test]
fn an_observer_sees_every_function_and_may_stop_the_fit() {
    let (x, _) = data();
    let mut seen = [0; 3];
    let mut watch = |progress: &Progress| {
        seen[progress.problem] += 1;
        ControlFlow::Continue(())
    };
    let classifier = Classifier::new().kernel(Linear);
    let model = classifier.fit_observed(&x, &labels(3), None, &mut watch).expect("valid");
    assert!(seen.iter().all(|count| *count > 0) && model.status() == Status::Converged);

    let mut stop = |_: &Progress| ControlFlow::Break(());
    let model = classifier.fit_observed(&x, &labels(3), None, &mut stop).expect("an early end is no error");
    assert_eq!(model.status(), Status::Interrupted);
    assert!(model.to_string().contains("interrupted"));
    let limited = Classifier::new().max_iterations(1).tolerance(0.0).fit(&x, &labels(2)).expect("valid");
    assert_eq!(limited.status(), Status::IterationLimit);
}

#[test]
fn a_model_sums_itself_up() {
    let (x, y) = data();
    let text = Regressor::new().fit(&x, &y).expect("valid").to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with("regression, intercept 4.") || lines[0].starts_with("regression, intercept 5."),
        "{text}"
    );
    assert_eq!(lines[1], "  24 samples, 6 variables, K = the linear kernel t");
    assert_eq!(lines[2], "  p = 4/3, squared loss, gamma = 1");
    assert!(lines[3].starts_with("  route features, ") && lines[4].starts_with("  converged, relative duality gap "));
    let text = Classifier::new().fit(&x, &labels(3)).expect("valid").to_string();
    assert!(text.starts_with("classification, 3 classes\n"), "{text}");
}

/// A model that is put together again from its solutions is the same to the bit, by every route.
#[test]
fn a_model_is_restored_from_its_solutions() {
    let (x, y) = data();
    for route in Route::ALL {
        let regressor = Regressor::new().kernel(Polynomial::new(2, 1.0, 1.0).expect("valid")).route(route);
        let model = regressor.fit(&x, &y).expect("valid");
        let (solutions, radii) = (model.solutions().to_vec(), model.radii().to_vec());
        let again = regressor.restore(&x, solutions.clone(), radii.clone(), route).expect("its own solutions");
        assert_eq!(again.predict(&x), model.predict(&x), "{route}");
        assert_eq!((again.to_string(), again.weights(0)), (model.to_string(), model.weights(0)));
        let top = |model: &crate::Regression| {
            model.function(0, &x).and_then(|f| f.top_monomials(5, crate::model::Budget::default())).expect("found")
        };
        assert_eq!(top(&again), top(&model));

        let mut short = solutions.clone();
        short[0].alpha.pop();
        let refused = regressor.restore(&x, short, radii.clone(), route).expect_err("too short");
        assert!(matches!(refused, Error::Shape { what: "alpha", .. }), "{refused}");
        let mut wrong = solutions.clone();
        wrong[0].omega[1] = f64::NAN;
        assert!(matches!(regressor.restore(&x, wrong, radii, route), Err(Error::BadValue { what: "omega", .. })));
        assert!(matches!(regressor.restore(&x, solutions, vec![], route), Err(Error::Shape { .. })));
        assert!(matches!(regressor.restore(&x, vec![], vec![], route), Err(Error::Empty { .. })));
    }
    let classifier = Classifier::new().gamma(3.0);
    let model = classifier.fit(&x, &labels(3)).expect("valid");
    let restore = |classes: &[i64]| {
        let (solutions, radii) = (model.solutions().to_vec(), model.radii().to_vec());
        classifier.restore(&x, classes.to_vec(), solutions, radii, model.plan().chosen())
    };
    let again = restore(model.classes()).expect("its own");
    assert_eq!(again.predict_proba(&x), model.predict_proba(&x));
    for classes in [&[1, 2][..], &[3, 2, 1], &[1, 1, 2], &[]] {
        assert!(restore(classes).is_err(), "{classes:?}");
    }
}

/// Whatever the route, work is ended in the middle of a pass, and the next fit does not notice.
#[test]
fn a_fit_can_be_ended_by_every_route() {
    let (x, y) = data();
    for route in Route::ALL {
        // A loss with kinks takes some passes.
        let regressor =
            Regressor::new().loss(Absolute).kernel(Polynomial::new(2, 1.0, 0.0).expect("valid")).route(route);
        let expected = regressor.fit(&x, &y).expect("valid");
        for passes in 0..4 {
            let workers = crate::Workers::new(2).expect("threads");
            let switch = workers.switch();
            let mut seen = 0;
            let mut watch = |_: &Progress| {
                if seen == passes {
                    switch.end();
                }
                seen += 1;
                ControlFlow::Continue(())
            };
            assert!(workers.run(|| regressor.fit_observed(&x, &[&y], None, &mut watch)).is_none(), "{route}");
            let workers = crate::Workers::new(2).expect("threads");
            let again = workers.run(|| regressor.fit(&x, &y)).expect("nobody ended it").expect("valid");
            assert_eq!(again.alpha(0), expected.alpha(0));
        }
    }
}
