//! Models agree with the layers below, outlive their data, and refuse what cannot be fitted.

use std::ops::ControlFlow;

use super::*;
use crate::{
    Account, DualProblem, Error, Exponent, FeatureMatrix, Memory, Observer, Route, Solution, Solver, Status, Stopping,
    Unobserved,
    error::Parameter,
    form::{Features, SparseWeights},
    kernel::{FeatureMap, KernelSpec, Polynomial},
    loss::{LossSpec, Squared, Targets},
    model::{Budget, ExplicitModel},
    solver::{Gradient, Linesearch, Progress, ProximalGradient, Rule},
};

fn paper() -> SolverChoice {
    SolverChoice::Paper(PaperOptions::default())
}

const N: usize = 24;
const D: usize = 6;

/// Numbers in [-1, 1) without a pattern.
pub(super) fn jumble(count: usize, from: usize) -> Vec<f64> {
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
                let spec = Spec { gamma: 2.0, fit_intercept, route: Some(route), tolerance: 1e-6, ..Spec::default() };
                let spec = if linear {
                    spec
                } else {
                    Spec { kernel: KernelSpec::Poly { degree: 2, scale: 0.5, coef0: 1.0, degrees: None }, ..spec }
                };
                let model = spec.fit(&x, &y).expect("valid");
                assert_eq!((model.plan().chosen(), model.task()), (route, &Task::Numbers(1)));
                let solution = &model.solutions()[0];
                assert_eq!(fit_intercept, model.solutions()[0].intercept != 0.0);
                let expected: Vec<f64> =
                    solution.omega.iter().map(|omega| omega + model.solutions()[0].intercept).collect();
                let predicted = model.decisions(&x).expect("the samples");
                assert!(close(&predicted, &expected, 1e-8), "{route} {predicted:?} {expected:?}");
                assert_eq!(model.status(), Status::Converged, "{model}");
            }
        }
    }
}

#[test]
fn a_model_is_the_solution_of_its_dual_problem() {
    let (x, y) = data();
    let model = Spec { p: 1.1, gamma: 3.0, solver: paper(), ..Spec::default() }.fit(&x, &y).expect("valid");
    let form = Features::new(x.view(), Exponent::new(1.1).expect("inside"));
    let problem = DualProblem::new(&form, &Squared, &y, 3.0).and_then(DualProblem::with_intercept).expect("valid");
    let stopping = Stopping { tolerance: 1e-8, max_iterations: 1000 };
    let solver = ProximalGradient { stopping, ..ProximalGradient::default() };
    let solution = solver.solve(&problem, &mut Unobserved).expect("valid");
    assert_eq!((&model.solutions()[0].alpha, model.solutions()[0].intercept), (&solution.alpha, solution.intercept));
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
    let spec = Spec { gamma: 3.0, route: Some(Route::Features), ..Spec::default() };
    let model = Spec { solver: SolverChoice::Paper(options), ..spec.clone() }.fit(&x, &y).expect("valid");
    let linesearch = Linesearch { rule: Rule::Restart, delta: 0.4, theta: 0.8, lambda_bar: Some(0.2) };
    let stopping = Stopping { tolerance: 1e-8, max_iterations: 1000 };
    let expected = Gradient { stopping, linesearch }.solve(&problem, &mut Unobserved).expect("valid");
    let found = &model.solutions()[0];
    assert_eq!((&found.alpha, found.iterations), (&expected.alpha, expected.iterations));
    let other = Spec { solver: paper(), ..spec.clone() }.fit(&x, &y).expect("valid");
    assert_ne!(other.solutions()[0].iterations, expected.iterations);

    let refused = |options, loss| {
        let spec = Spec { loss, solver: SolverChoice::Paper(options), ..spec.clone() };
        spec.fit(&x, &y).expect_err("refused").to_string()
    };
    let far = PaperOptions { lambda_bar: Some(3.0 / 1.2), ..options };
    assert!(refused(far, LossSpec::Squared).contains("lambda_bar = 2.5; allowed: numbers > 0 below 2.5, the limit"));
    assert!(refused(options, LossSpec::Absolute).contains("Algorithm 2.1"));
    assert!(refused(PaperOptions { delta: Some(1.0), ..options }, LossSpec::Squared).contains("delta = 1"));
}

#[test]
fn a_model_outlives_its_data() {
    for route in Route::ALL {
        let (model, expected) = {
            let (x, y) = (jumble(N * D, 0), jumble(N, 900));
            let x = FeatureMatrix::from_columns(N, D, &x[..]).expect("valid");
            let kernel = KernelSpec::poly(2);
            let model = Spec { kernel, route: Some(route), ..Spec::default() }.fit(&x, &y).expect("valid");
            let expected = model.decisions(&x).expect("the samples");
            (model, expected)
        };
        let again = FeatureMatrix::from_columns(N, D, jumble(N * D, 0)).expect("valid");
        assert_eq!(model.clone().decisions(&again).expect("the samples"), expected);
        assert!(matches!(
            model.decisions(&FeatureMatrix::from_columns(N, 1, vec![0.0; N]).expect("valid")),
            Err(Error::Shape { what: "a row of the new X", got: 1, expected: D })
        ));
    }
}

#[test]
fn weights_are_those_of_the_feature_map() {
    let (x, y) = data();
    let kernel = Polynomial::new(2, 1.0, 0.0).expect("valid");
    let spec = Spec { p: 1.1, gamma: 50.0, kernel: KernelSpec::poly(2), ..Spec::default() };
    let model = spec.fit(&x, &y).expect("valid");
    let weights = model.weights(0).expect("listed at q = 11");
    let map = FeatureMap::new(&kernel, D, Exponent::new(1.1).expect("inside"), None).expect("finite");
    let phi = map.phi(&[0.3, -0.2, 0.5, 0.1, 0.9, -0.7]).expect("in range");
    let value: f64 = phi.iter().zip(&weights).map(|(phi, w)| phi * w).sum::<f64>() + model.solutions()[0].intercept;
    let new = FeatureMatrix::from_rows(1, D, &[0.3, -0.2, 0.5, 0.1, 0.9, -0.7]).expect("valid");
    assert!(close(&model.decisions(&new).expect("in range"), &[value], 1e-12));
    let exponential =
        Spec { kernel: KernelSpec::Exp { scale: 0.5, degrees: None }, ..Spec::default() }.fit(&x, &y).expect("valid");
    assert_eq!(exponential.weights(0), None);
    // The weights of a linear model do not depend on the route.
    let [features, gram] = [Route::Features, Route::Gram].map(|route| {
        Spec { tolerance: 1e-12, route: Some(route), ..Spec::default() }.fit(&x, &y).expect("valid").weights(0)
    });
    assert!(close(&gram.expect("linear"), &features.expect("linear"), 1e-4));
}

/// To the bit by the paper's algorithm, which runs one after another; to the tolerance in lockstep.
#[test]
fn several_outputs_are_fitted_as_each_by_itself() {
    let (x, y) = data();
    let other = jumble(N, 500);
    for (solver, slack) in [(paper(), 0.0), (SolverChoice::Newton, 1e-4)] {
        let spec = Spec { p: 1.2, gamma: 4.0, loss: LossSpec::Huber { rho: 0.5 }, solver, ..Spec::default() };
        let spec = Spec { route: Some(Route::Features), tolerance: 1e-10, max_iterations: 5000, ..spec };
        let both = spec.fit(&x, &[&y[..], &other][..]).expect("valid");
        assert_eq!((both.solutions().len(), both.status()), (2, Status::Converged), "{both}");
        let mut predictions = Vec::new();
        for (output, y) in [&y, &other].into_iter().enumerate() {
            let one = spec.fit(&x, y).expect("valid");
            assert!(close(&both.solutions()[output].alpha, &one.solutions()[0].alpha, slack));
            assert!(close(&[both.solutions()[output].intercept], &[one.solutions()[0].intercept], slack));
            assert!(close(&both.weights(output).expect("linear"), &one.weights(0).expect("linear"), slack));
            predictions.extend(one.decisions(&x).expect("the samples"));
        }
        assert!(close(&both.decisions(&x).expect("the samples"), &predictions, slack));
        let gaps = both.solutions().iter().map(|solution| solution.certificate.relative_gap());
        assert_eq!(both.certificate().relative_gap(), gaps.fold(0.0, f64::max));
    }
}

#[test]
fn one_against_the_others_is_a_binary_fit_for_each_class() {
    let (x, _) = data();
    let y = labels(3);
    for (solver, slack) in [(paper(), 0.0), (SolverChoice::Newton, 1e-3)] {
        let spec =
            Spec { gamma: 5.0, kernel: KernelSpec::Exp { scale: 0.3, degrees: None }, solver, ..Spec::default() };
        let smooth = LossSpec::of(Targets::Signs).filter(|loss| loss.build().expect("valid").smoothness().is_some());
        for spec in smooth.map(|loss| Spec { loss, tolerance: 1e-9, ..spec.clone() }) {
            let model = spec.fit(&x, &y).expect("valid");
            assert_eq!(model.classes(), [-10, 0, 10]);
            let decisions = model.decisions(&x).expect("the samples");
            for (function, class) in model.classes().iter().enumerate() {
                let signs: Vec<i64> = y.iter().map(|label| i64::from(label == class)).collect();
                let one = spec.fit(&x, &signs).expect("valid");
                assert!(close(&model.solutions()[function].alpha, &one.solutions()[0].alpha, slack));
                assert!(close(&[model.solutions()[function].intercept], &[one.solutions()[0].intercept], slack));
                let alone = one.decisions(&x).expect("the samples");
                assert!(close(&decisions[function * N..(function + 1) * N], &alone, slack));
                let positive = one.labels(&x).expect("the samples");
                assert!(positive.iter().zip(&alone).all(|(label, decision)| (*label == 1) == (*decision > 0.0)));
            }
            let predicted = model.labels(&x).expect("the samples");
            for (point, label) in predicted.iter().enumerate() {
                let best = decisions[model.classes().binary_search(label).expect("a class") * N + point];
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
        let model =
            Spec { gamma: 20.0, loss: LossSpec::Logistic, ..Spec::default() }.fit(&x, &labels(classes)).expect("valid");
        let (probabilities, decisions) = (model.probabilities(&x).expect("logistic"), model.decisions(&x));
        let classes = model.classes().len();
        assert_eq!(probabilities.len(), classes * N);
        for (point, label) in model.labels(&x).expect("the samples").iter().enumerate() {
            let own: Vec<f64> = probabilities[point..].iter().step_by(N).copied().collect();
            assert!((own.iter().sum::<f64>() - 1.0).abs() < 1e-12 && own.iter().all(|p| (0.0..=1.0).contains(p)));
            let likeliest = own[model.classes().binary_search(label).expect("a class")];
            assert!(own.iter().all(|p| *p <= likeliest));
        }
        if classes == 2 {
            let odds = (probabilities[N] / probabilities[0]).ln();
            assert!((odds - decisions.expect("the samples")[0]).abs() < 1e-9);
        }
    }
    let model = Spec { loss: LossSpec::Hinge, ..Spec::default() }.fit(&x, &labels(2)).expect("valid");
    assert!(matches!(model.probabilities(&x), Err(Error::Parameter { parameter: Parameter::Loss, .. })));
}

#[test]
fn weights_of_samples_count_as_repetitions() {
    let (x, y) = data();
    let mut weights = vec![1.0; N];
    (weights[2], weights[5]) = (0.0, 2.0);
    let spec = Spec { tolerance: 1e-11, route: Some(Route::Features), ..Spec::default() };
    let weighted = spec.fit_weighted(&x, &y, &weights).expect("valid");
    let rows: Vec<usize> = (0..N).filter(|&i| i != 2).chain([5]).collect();
    let repeated = x.select_samples(&rows).expect("valid");
    let y_repeated: Vec<f64> = rows.iter().map(|&i| y[i]).collect();
    let plain = spec.fit(&repeated, &y_repeated).expect("valid");
    let (a, b) = (weighted.decisions(&x).expect("the samples"), plain.decisions(&x).expect("the samples"));
    assert!(close(&a, &b, 1e-4), "{a:?} {b:?}");
}

/// A run that ends short of its tolerance says so, with the gap and what to do, and does not blame rounding.
#[test]
fn a_stalled_fit_says_what_to_do() {
    let (x, y) = data();
    let model = Spec { tolerance: 0.0, p: 1.1, gamma: 1e3, ..Spec::default() }.fit(&x, &y).expect("valid");
    assert_eq!(model.status(), Status::Stalled, "{model}");
    let text = model.to_string();
    assert!(text.contains("no step makes further progress, relative duality gap"), "{text}");
    assert!(text.contains("to converge: tolerance above this gap") && !text.contains("floating"), "{text}");
}

#[test]
fn every_loss_is_accepted_where_its_targets_are() {
    let (x, y) = data();
    let refused = |error: Error| matches!(error, Error::Parameter { parameter: Parameter::Target, .. });
    for loss in LossSpec::ALL {
        let spec = Spec { tolerance: 1e-3, loss, ..Spec::default() };
        let counts: Vec<f64> = y.iter().map(|y| y.abs().round()).collect();
        let numbers = spec.fit(&x, if loss.targets() == Targets::Counts { &counts } else { &y });
        let classes = spec.fit(&x, &labels(2));
        let (own, other) = if loss.targets().are_classes() { (classes, numbers) } else { (numbers, classes) };
        assert!(own.is_ok() && refused(other.expect_err("other targets")), "{loss:?}");
    }
}

#[test]
fn what_cannot_be_fitted_is_refused_with_a_typed_error() {
    let (x, y) = data();
    let fit = |spec: Spec| spec.fit(&x, &y).expect_err("refused");
    for p in [0.99, 0.5, 2.1, f64::NAN, f64::INFINITY] {
        assert!(matches!(fit(Spec { p, ..Spec::default() }), Error::Parameter { parameter: Parameter::P, .. }));
    }
    for gamma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(fit(Spec { gamma, ..Spec::default() }), Error::Parameter { parameter: Parameter::Gamma, .. }));
    }
    for tolerance in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            fit(Spec { tolerance, ..Spec::default() }),
            Error::Parameter { parameter: Parameter::Tolerance, .. }
        ));
    }
    let exponential = || Spec { kernel: KernelSpec::Exp { scale: 0.5, degrees: None }, ..Spec::default() };
    assert!(matches!(fit(Spec { p: 1.1, ..exponential() }), Error::NoRoute { .. }));
    assert!(matches!(fit(Spec { route: Some(Route::Features), ..exponential() }), Error::NoRoute { .. }));
    let cramped = Fit::within(&exponential(), Account::new(Memory::limit(100))).expect("valid");
    assert!(matches!(cramped.run(&x, &(&y).into(), None, &mut Unobserved), Err(Error::NoRoute { .. })));

    assert!(matches!(FeatureMatrix::from_columns(0, 3, vec![]), Err(Error::Empty { .. })));
    let spec = Spec::default();
    assert!(matches!(spec.fit(&x, Target::Numbers(Vec::new())), Err(Error::Empty { what: "y" })));
    assert!(matches!(spec.fit(&x, &[0.0; 0]), Err(Error::Shape { what: "y", got: 0, expected: N })));
    assert!(matches!(spec.fit(&x, &[&y[..], &y[1..]][..]), Err(Error::Shape { what: "y", .. })));
    assert!(matches!(spec.fit(&x, &[f64::NAN; N]), Err(Error::BadValue { what: "y", row: 0, .. })));
    let weighted = |weights: &[f64]| spec.fit_weighted(&x, &y, weights).expect_err("refused");
    assert!(matches!(weighted(&[1.0; 3]), Error::Shape { what: "sample_weight", got: 3, expected: N }));
    assert!(matches!(weighted(&[f64::NAN; N]), Error::BadValue { what: "sample_weight", .. }));
    assert!(matches!(weighted(&[0.0; N]), Error::NoWeight { samples: N, .. }));
}

#[test]
fn labels_that_cannot_be_told_apart_are_refused() {
    let (x, _) = data();
    let spec = Spec { loss: LossSpec::Logistic, ..Spec::default() };
    assert!(matches!(spec.fit(&x, &[4; N]), Err(Error::OneLabel { label: 4 })));
    assert!(matches!(spec.fit(&x, &[4; 3]), Err(Error::Shape { what: "y", got: 3, expected: N })));
    let y = labels(2);
    let of_one: Vec<f64> = y.iter().map(|label| if *label == 0 { 0.0 } else { 1.0 }).collect();
    assert!(matches!(spec.fit_weighted(&x, &y, &of_one), Err(Error::AbsentLabel { label: 0 })));
    assert!(matches!(spec.fit_weighted(&x, &y, &[1.0]), Err(Error::Shape { what: "sample_weight", .. })));
    assert!(matches!(spec.fit_weighted(&x, &y, &[-1.0; N]), Err(Error::BadValue { what: "sample_weight", .. })));
    let extreme = if y[0] == 0 { i64::MIN } else { i64::MAX };
    let y: Vec<i64> = y.iter().map(|label| if *label == y[0] { extreme } else { 0 }).collect();
    assert_eq!(spec.fit(&x, &y).expect("any integers").labels(&x).expect("the samples").len(), N);
}

#[test]
fn an_observer_sees_every_function_and_may_stop_the_fit() {
    let (x, _) = data();
    let mut seen = [0; 3];
    let mut watch = |progress: &Progress| {
        seen[progress.problem] += 1;
        ControlFlow::Continue(())
    };
    let spec = Spec { kernel: KernelSpec::Linear, loss: LossSpec::Logistic, ..Spec::default() };
    let (fit, y) = (Fit::new(&spec).expect("valid"), labels(3));
    let observed = |observer: &mut dyn Observer| fit.run(&x, &(&y).into(), None, observer);
    let model = observed(&mut watch).expect("valid");
    assert!(seen.iter().all(|count| *count > 0) && model.status() == Status::Converged);

    let mut stop = |_: &Progress| ControlFlow::Break(());
    let model = observed(&mut stop).expect("an early end is no error");
    assert_eq!(model.status(), Status::Interrupted);
    assert!(model.to_string().contains("interrupted"));
    let limited = Spec { max_iterations: 1, tolerance: 0.0, loss: LossSpec::Logistic, ..Spec::default() }
        .fit(&x, &labels(2))
        .expect("valid");
    assert_eq!(limited.status(), Status::IterationLimit);
}

#[test]
fn a_model_sums_itself_up() {
    let (x, y) = data();
    let text = Spec::default().fit(&x, &y).expect("valid").to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with("regression, intercept 4.") || lines[0].starts_with("regression, intercept 5."),
        "{text}"
    );
    assert_eq!(lines[1], "  24 samples, 6 variables, K = the linear kernel t");
    assert_eq!(lines[2], "  p = 4/3, squared loss, gamma = 1");
    assert!(lines[3].starts_with("  route features, ") && lines[4].starts_with("  converged, relative duality gap "));
    let text = Spec { loss: LossSpec::Logistic, ..Spec::default() }.fit(&x, &labels(3)).expect("valid").to_string();
    assert!(text.starts_with("classification, 3 classes\n"), "{text}");
}

/// A model that is put together again from its solutions is the same to the bit, by every route.
#[test]
fn a_model_is_restored_from_its_solutions() {
    let (x, y) = data();
    for route in Route::ALL {
        let spec = Spec {
            kernel: KernelSpec::Poly { degree: 2, scale: 1.0, coef0: 1.0, degrees: None },
            route: Some(route),
            ..Spec::default()
        };
        let model = spec.fit(&x, &y).expect("valid");
        let (solutions, radii) = (model.solutions().to_vec(), model.radii().to_vec());
        let fit = Fit::new(&spec).expect("valid");
        let restore = |solutions, radii| fit.restore(&x, Task::Numbers(1), solutions, radii, route);
        let again = restore(solutions.clone(), radii.clone()).expect("its own solutions");
        assert_eq!(again.decisions(&x), model.decisions(&x), "{route}");
        assert_eq!((again.to_string(), again.weights(0)), (model.to_string(), model.weights(0)));
        let top = |model: &Model| {
            model.function(0, &x).and_then(|f| f.top_monomials(5, crate::model::Budget::default())).expect("found")
        };
        assert_eq!(top(&again), top(&model));

        let mut short = solutions.clone();
        short[0].alpha.pop();
        let refused = restore(short, radii.clone()).expect_err("too short");
        assert!(matches!(refused, Error::Shape { what: "alpha", .. }), "{refused}");
        let mut wrong = solutions.clone();
        wrong[0].omega[1] = f64::NAN;
        assert!(matches!(restore(wrong, radii), Err(Error::BadValue { what: "omega", .. })));
        assert!(matches!(restore(solutions, vec![]), Err(Error::Shape { .. })));
        assert!(matches!(restore(vec![], vec![]), Err(Error::Empty { .. })));
    }
    let spec = Spec { gamma: 3.0, loss: LossSpec::Logistic, ..Spec::default() };
    let model = spec.fit(&x, &labels(3)).expect("valid");
    let fit = Fit::new(&spec).expect("valid");
    let restore = |classes: &[i64]| {
        let (solutions, radii) = (model.solutions().to_vec(), model.radii().to_vec());
        fit.restore(&x, Task::Classes(classes.to_vec()), solutions, radii, model.plan().chosen())
    };
    let again = restore(model.classes()).expect("its own");
    assert_eq!(again.probabilities(&x), model.probabilities(&x));
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
        let spec =
            Spec { loss: LossSpec::Absolute, kernel: KernelSpec::poly(2), route: Some(route), ..Spec::default() };
        let fit = Fit::new(&spec).expect("valid");
        let expected = spec.fit(&x, &y).expect("valid");
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
            assert!(workers.run(|| fit.run(&x, &(&y).into(), None, &mut watch)).is_none(), "{route}");
            let workers = crate::Workers::new(2).expect("threads");
            let again = workers.run(|| spec.fit(&x, &y)).expect("nobody ended it").expect("valid");
            assert_eq!(again.solutions()[0].alpha, expected.solutions()[0].alpha);
        }
    }
}

#[test]
fn p_1_is_fitted_restored_searched_and_explained() {
    let (x, y) = data();
    let spec = Spec { p: 1.0, gamma: 20.0, kernel: KernelSpec::poly(2), ..Spec::default() };
    let model = spec.fit(&x, &y).expect("valid");
    assert_eq!(model.status(), Status::Converged, "{model}");
    let solution = &model.solutions()[0];
    let weights = solution.weights.as_ref().expect("p = 1 has weights");
    assert!(!weights.features.is_empty() && weights.values.iter().all(|weight| *weight != 0.0));
    // The function is that of its predictions, of its table, and of its file.
    let decisions = model.decisions(&x).expect("the samples");
    for (decision, omega) in decisions.iter().zip(&solution.omega) {
        assert!((decision - omega - solution.intercept).abs() < 1e-12);
    }
    let function = model.function(0, &x).expect("the samples");
    let top = function.top_monomials(1000, Budget::default()).expect("few");
    assert_eq!((top.entries.len(), top.unlisted), (weights.values.len(), 0.0));
    let terms = top.entries.iter().map(|entry| (entry.monomial.clone(), entry.coefficient)).collect();
    let explicit = ExplicitModel::new(solution.intercept, terms).expect("finite");
    for (value, decision) in explicit.predict(&x).expect("the samples").iter().zip(&decisions) {
        assert!((value - decision).abs() < 1e-10);
    }
    let relevance = function.relevance(Memory::default()).expect("few");
    assert!((relevance.norm() - weights.values.iter().map(|weight| weight.abs()).sum::<f64>()).abs() < 1e-10);
    let fit = Fit::new(&spec).expect("in range");
    let restore = |solutions: Vec<Solution>| {
        fit.restore(&x, model.task().clone(), solutions, model.radii().to_vec(), model.plan().chosen())
    };
    let again = restore(model.solutions().to_vec()).expect("its own");
    assert_eq!(again.decisions(&x).expect("the samples"), decisions);
    // What a file may claim.
    for weights in [
        None,
        Some(SparseWeights { features: vec![3], values: vec![] }),
        Some(SparseWeights { features: vec![2, 1], values: vec![1.0, 1.0] }),
        Some(SparseWeights { features: vec![u64::MAX], values: vec![1.0] }),
        Some(SparseWeights { features: vec![1], values: vec![f64::NAN] }),
    ] {
        assert!(restore(vec![Solution { weights, ..solution.clone() }]).is_err());
    }
}
