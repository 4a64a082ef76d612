//! The choice in clear-cut cases, the accounting of the forms, and what a plan says.

use super::*;
use crate::{
    error::Remedy,
    kernel::{Anova, Exponential, FeatureMap, Linear, MonomialScale, Normalized, Polynomial, cardinality},
};

const GB: u64 = 1_000_000_000;

fn planner(bytes: u64) -> Planner {
    Planner { memory: Memory::limit(bytes), ..Planner::default() }
}

fn exponent(p: f64) -> Exponent {
    Exponent::new(p).expect("inside")
}

fn exponential() -> Exponential {
    Exponential::new(0.1).expect("valid")
}

fn squares() -> Polynomial {
    Polynomial::new(2, 1.0, 0.0).expect("valid")
}

fn outcome(plan: &Plan, route: Route) -> &Result<Cost, Error> {
    &plan.routes().iter().find(|plan| plan.route == route).expect("every route is listed").outcome
}

#[test]
fn wide_linear_data_keep_their_features() {
    for p in [1.5, 4.0 / 3.0, 1.25, 1.2, 8.0 / 7.0, 1.27, 1.05, 1.001] {
        let plan = planner(8 * GB).plan(Shape::dense(100, 10_000), Linear, exponent(p)).expect("features");
        assert_eq!(plan.chosen(), Route::Features, "{plan}");
    }
    // At p = 2 the tensor is the n x n Gram matrix, which every evaluation reads instead of the data.
    let plan = planner(8 * GB).plan(Shape::dense(100, 10_000), Linear, exponent(2.0)).expect("both");
    assert_eq!(plan.chosen(), Route::Gram, "{plan}");
}

#[test]
fn infinitely_many_features_need_the_tensor() {
    let shape = Shape::dense(100, 10);
    let plan = planner(8 * GB).plan(shape, exponential(), exponent(4.0 / 3.0)).expect("a tensor");
    assert_eq!(plan.chosen(), Route::Gram, "{plan}");
    let name = exponential().name();
    assert_eq!(outcome(&plan, Route::Features), &Err(Error::InfinitelyManyFeatures { kernel: name }));

    let plan = planner(GB).plan(Shape::dense(300, 10), exponential(), exponent(4.0 / 3.0)).expect("streamed");
    assert_eq!(plan.chosen(), Route::Streamed, "{plan}");
    match outcome(&plan, Route::Gram) {
        Err(Error::Memory { needed, allowed, instead, .. }) => {
            assert_eq!((Some(*needed), *allowed), (Gram::bytes(300, 10, &exponential(), 4), GB));
            assert!(instead.contains(&Remedy::Choose(Parameter::Route, "streamed")));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn where_no_route_is_left_the_error_says_why_each_is_not() {
    let refused = |planner: Planner, p| {
        let error = planner.plan(Shape::dense(100, 10), exponential(), exponent(p)).expect_err("no route is left");
        (error.to_string(), error)
    };
    let (message, error) = refused(planner(8 * GB), 1.05);
    assert!(message.contains("q = 21") && message.contains("infinitely many features"), "{message}");
    match error {
        Error::NoRoute { refused, admissible } => {
            assert_eq!(refused.iter().map(|(route, _)| *route).collect::<Vec<_>>(), Route::ALL.map(Route::name));
            assert!(admissible.is_empty());
        }
        other => panic!("{other}"),
    }
    let (message, error) = refused(planner(1000), 4.0 / 3.0);
    assert!(message.contains("1.000 kB (1000 bytes) are allowed"), "{message}");
    let Error::NoRoute { refused, .. } = error else { panic!("{error}") };
    assert!(
        matches!(&refused[2].1, Error::Memory { needed, allowed: 1000, .. } if Some(*needed) == Gram::bytes(100, 10, &exponential(), 4))
    );
}

#[test]
fn a_route_can_be_asked_for() {
    let shape = Shape::dense(100, 10);
    for route in Route::ALL {
        let asked = Planner { route: Some(route), ..planner(8 * GB) };
        let plan = asked.plan(shape, squares(), exponent(4.0 / 3.0)).expect("every route");
        assert_eq!(plan.chosen(), route);
        assert_eq!(plan.cost(), outcome(&plan, route).clone().expect("admissible"));
        assert_eq!(route.to_string().parse(), Ok(route));
    }
    let asked = Planner { route: Some(Route::Gram), ..planner(8 * GB) };
    let error = asked.plan(shape, squares(), exponent(1.1)).expect_err("q = 11");
    let message = error.to_string();
    assert!(message.contains("q = 11") && message.contains("allowed here: features, tiles"), "{message}");
    assert!(matches!(&error, Error::NoRoute { refused, .. } if refused.len() == 1), "{error:?}");
    assert!(matches!("tensor".parse::<Route>(), Err(Error::Parameter { parameter: Parameter::Route, .. })));
}

/// The paper's second experiment: its 211,575 features in tiles at n = 90, listed where there are few, and the tensor where
/// there are many more of them than of its entries.
#[test]
fn cost_decides_for_polynomials() {
    let plan = planner(8 * GB).plan(Shape::dense(90, 650), squares(), exponent(4.0 / 3.0)).expect("all");
    assert_eq!(plan.chosen(), Route::Tiles, "{plan}");
    let plan = planner(8 * GB).plan(Shape::dense(90, 20_000), squares(), exponent(4.0 / 3.0)).expect("all");
    assert_eq!(plan.chosen(), Route::Gram, "{plan}");
    for p in [1.25, 1.27, 1.05, 1.001] {
        let plan = planner(8 * GB).plan(Shape::dense(150, 10_000), squares(), exponent(p)).expect("tiles");
        assert_eq!(plan.chosen(), Route::Tiles, "{plan}");
        assert!(plan.cost().bytes < GB / 4, "{plan}");
    }
    let plan = planner(8 * GB).plan(Shape::dense(90, 650), squares(), exponent(4.0 / 3.0)).expect("all");
    assert!(plan.routes().iter().all(|plan| plan.outcome.is_ok()));
    let plan = planner(8 * GB).plan(Shape::dense(200, 20), squares(), exponent(4.0 / 3.0)).expect("all");
    assert_eq!(plan.chosen(), Route::Features, "{plan}");
    // Folds share the passes: setting up costs the same, an evaluation less than each by itself.
    let many = Planner { problems: 10, ..planner(8 * GB) };
    let together = many.plan(Shape::dense(90, 650), squares(), exponent(4.0 / 3.0)).expect("all");
    for route in Route::ALL {
        let [one, ten] = [&plan_of_90(), &together].map(|plan| outcome(plan, route).clone().expect("admissible"));
        assert_eq!(one.setup, ten.setup);
        assert!(ten.evaluation > one.evaluation && ten.evaluation < 10.0 * one.evaluation, "{route}");
    }
}

fn plan_of_90() -> Plan {
    planner(8 * GB).plan(Shape::dense(90, 650), squares(), exponent(4.0 / 3.0)).expect("all")
}

/// What a plan allows, its form allows: to the byte.
#[test]
fn bytes_are_those_of_the_forms() {
    let columns: Vec<f64> = (0..12 * 5).map(|k| f64::from(k).sin()).collect();
    let x = FeatureMatrix::from_columns(12, 5, &columns[..]).expect("valid");
    let e = exponent(4.0 / 3.0);
    let plan = planner(GB).plan(Shape::from(&x), squares(), e).expect("all");
    let map = FeatureMap::new(plan.kernel(), 5, e, None).expect("finite");
    let bytes = |route| outcome(&plan, route).clone().expect("admissible").bytes;
    assert_eq!(Some(bytes(Route::Features)), KernelFeatures::bytes(&map, MonomialScale::Raw, 12, 1));
    assert!(bytes(Route::Features) > map.bytes(12).expect("small"));
    assert_eq!(Ok(Some(bytes(Route::Tiles))), Tiles::bytes(12, 5, plan.kernel(), MonomialScale::Raw, 1));
    assert_eq!(Some(bytes(Route::Gram)), Gram::bytes(12, 5, plan.kernel(), 4));
    assert_eq!(Some(bytes(Route::Streamed)), Gram::streamed_bytes(12, 5, plan.kernel(), 4));
    for route in Route::ALL {
        let exactly = Memory::limit(bytes(route));
        let less = Memory::limit(bytes(route) - 1);
        let build = |memory| match route {
            Route::Features => KernelFeatures::new(&x, squares(), e, memory).map(|_| ()),
            Route::Tiles => Tiles::new(x.view(), squares(), MonomialScale::Raw, e, memory).map(|_| ()),
            Route::Gram => Gram::new(x.view(), squares(), e, memory).map(|_| ()),
            Route::Streamed => Gram::streamed(x.view(), squares(), e, memory).map(|_| ()),
        };
        assert!(build(exactly).is_ok() && matches!(build(less), Err(Error::Memory { .. })), "{route}");
    }
    // Given features are there already; only working memory is counted.
    let plan = planner(GB).plan(Shape::dense(200, 100_000), Linear, e).expect("features");
    assert_eq!(plan.chosen(), Route::Features);
    assert!(plan.cost().bytes > 8 * 100_000 && plan.cost().bytes < 8 * 200 * 100_000);
}

#[test]
fn built_forms_agree_on_every_route() {
    let columns: Vec<f64> = (0..12 * 5).map(|k| f64::from(k).sin()).collect();
    let x = FeatureMatrix::from_columns(12, 5, &columns[..]).expect("valid");
    let alpha: Vec<f64> = (0..12).map(|i| (0.7 * f64::from(i)).cos()).collect();
    let kernels: [Arc<dyn TensorKernel>; 5] = [
        Arc::new(Linear),
        Arc::new(squares()),
        Arc::new(Polynomial::new(1, 0.5, 0.0).expect("valid")),
        Arc::new(Normalized(Polynomial::new(3, 0.2, 1.0).expect("valid"))),
        Arc::new(Anova::new(1, 3).expect("valid")),
    ];
    for kernel in kernels {
        let predictions = Route::ALL.map(|route| {
            let asked = Planner { route: Some(route), ..planner(GB) };
            let plan = asked.plan(Shape::from(&x), kernel.clone(), exponent(4.0 / 3.0)).expect("all");
            let predictor = plan.build(&x).expect("in range").predictor(&alpha);
            assert_eq!(predictor.weights().is_some(), route == Route::Features, "{route}");
            if let Some(weights) = predictor.weights() {
                assert_eq!(cardinality(&*kernel, 5), Some(weights.len().into()));
            }
            predictor.predict(&x).expect("the samples")
        });
        for other in &predictions[1..] {
            let close = predictions[0].iter().zip(other).all(|(a, b)| (a - b).abs() <= 1e-9 * (1.0 + a.abs()));
            assert!(close, "{}: {predictions:?}", kernel.name());
        }
    }
    let plan = planner(GB).plan(Shape::dense(12, 4), Linear, exponent(2.0)).expect("all");
    assert!(matches!(plan.build(&x), Err(Error::Shape { what: "a row of X", got: 5, expected: 4 })));
    let plan = planner(GB).plan(Shape::dense(11, 5), Linear, exponent(2.0)).expect("all");
    assert!(matches!(plan.build(&x), Err(Error::Shape { what: "X", got: 12, expected: 11 })));
}

/// Monomials of another scale are for tiles and for listed features; the columns as they are given do not do.
#[test]
fn scaled_monomials_are_planned_and_built() {
    let columns: Vec<f64> = (0..12 * 5).map(|k| f64::from(k).sin()).collect();
    let x = FeatureMatrix::from_columns(12, 5, &columns[..]).expect("valid");
    let alpha: Vec<f64> = (0..12).map(|i| (0.7 * f64::from(i)).cos()).collect();
    for monomial_scale in [MonomialScale::Unit, MonomialScale::Standardized] {
        for kernel in [Arc::new(Linear) as Arc<dyn TensorKernel>, Arc::new(squares())] {
            let values = [Route::Features, Route::Tiles].map(|route| {
                let asked = Planner { route: Some(route), monomial_scale, ..planner(GB) };
                let plan = asked.plan(Shape::from(&x), kernel.clone(), exponent(4.0 / 3.0)).expect("both");
                assert_eq!((plan.monomial_scale(), plan.lists_inputs()), (monomial_scale, false));
                assert!(plan.to_string().contains(monomial_scale.name()));
                for tensor in [Route::Gram, Route::Streamed] {
                    let refusal = outcome(&plan, tensor).clone().expect_err("refused").to_string();
                    assert!(refusal.contains("the Gram tensor cannot scale monomials"), "{refusal}");
                }
                plan.build(&x).expect("in range").norm(&alpha)
            });
            assert!((values[0] - values[1]).abs() < 1e-9 * values[0], "{values:?}");
        }
    }
    let cost = |monomial_scale| {
        let planner = Planner { monomial_scale, route: Some(Route::Tiles), ..planner(GB) };
        planner.plan(Shape::dense(150, 2000), squares(), exponent(1.05)).expect("tiles").cost()
    };
    let [raw, unit, standardized] = MonomialScale::ALL.map(cost);
    assert!(raw.evaluation < unit.evaluation && unit.evaluation < standardized.evaluation);
    assert!(raw.bytes < unit.bytes);
}

#[test]
fn sparse_data_cost_what_is_stored() {
    let cost = |stored| {
        let shape = Shape { samples: 1000, inputs: 50_000, stored, sparse: true };
        planner(GB).plan(shape, Linear, exponent(1.1)).expect("features").cost().evaluation
    };
    assert!(cost(50_000) < cost(500_000) && cost(5_000_000) > 9.0 * cost(500_000));
}

/// Products of more different variables than there are columns are no features; powers are.
#[test]
fn degrees_above_the_number_of_columns_are_refused() {
    let plan =
        |kernel: Arc<dyn TensorKernel>, inputs| planner(GB).plan(Shape::dense(20, inputs), kernel, exponent(1.1));
    let anova = |min, max| Arc::new(Anova::new(min, max).expect("valid"));
    for (min, max) in [(1, 4), (4, 4), (3, 8), (1, 5)] {
        let refused = Error::TooFewColumns { kernel: anova(min, max).name(), degree: max, inputs: 3 };
        assert_eq!(plan(anova(min, max), 3).expect_err("three columns"), refused);
        assert_eq!(
            plan(Arc::new(Normalized(anova(min, max))), 3)
                .err()
                .map(|error| error.to_string().contains("the number of columns = 3")),
            Some(true)
        );
        assert!(plan(anova(min, max), max).is_ok());
    }
    let powers = Arc::new(Polynomial::new(5, 1.0, 1.0).expect("valid"));
    assert!(plan(powers, 1).is_ok() && plan(anova(1, 1), 1).is_ok());
}

#[test]
fn hopeless_sizes_are_counted_without_overflow() {
    let planner = planner(GB);
    for (shape, p) in [(Shape::dense(usize::MAX / 2, usize::MAX / 2), 4.0 / 3.0), (Shape::dense(1 << 40, 3), 8.0 / 7.0)]
    {
        let error = planner.plan(shape, squares(), exponent(p)).expect_err("far too large");
        assert!(matches!(error, Error::NoRoute { .. }), "{error}");
    }
    let huge = Shape::dense(usize::MAX / 2, usize::MAX / 2);
    assert!(matches!(planner.plan(huge, Linear, exponent(1.1)), Err(Error::NoRoute { .. })));
}

#[test]
fn a_plan_explains_itself() {
    // Every thread has working memory of its own.
    rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread").install(explain_plans);
}

fn explain_plans() {
    let plan = planner(GB).plan(Shape::dense(300, 20), exponential(), exponent(4.0 / 3.0)).expect("streamed");
    let expected = "\
n = 300, d = 20, p = 4/3, q = 4, K = exp(0.1 t), 1 problem, 1.000 GB allowed
  route        set-up  evaluation   50 evaluations      memory
  features  no: exp(0.1 t) has infinitely many features: cut its degrees (degree), or take \
route = gram, which lists no features (q = 2, 4, 6 or 8, and monomials = raw)
  tiles     no: exp(0.1 t) has infinitely many features: cut its degrees (degree), or take \
route = gram, which lists no features (q = 2, 4, 6 or 8, and monomials = raw)
  gram      no: the Gram tensor, with the working memory of its passes, needs 2.821 GB (2821195720 bytes) and 1.000 GB (1000000000 bytes) are allowed: take \
route = streamed, take route = features, take fewer samples or a smaller q, or raise the limit on memory if the machine has more
> streamed        0 s     1.180 s         58.999 s   66.865 MB  chosen";
    assert!(plan.to_string().starts_with(expected), "{plan}");

    let asked = Planner { route: Some(Route::Streamed), problems: 8, ..planner(8 * GB) };
    let shape = Shape { samples: 60, inputs: 650, stored: 3000, sparse: true };
    let plan = asked.plan(shape, Linear, exponent(4.0 / 3.0)).expect("streamed");
    let expected = "\
n = 60, d = 650 (3000 entries stored), p = 4/3, q = 4, K = the linear kernel t, 8 problems together, 8.000 GB allowed
  route        set-up  evaluation   50 evaluations      memory
  features        0 s   63.467 us         3.173 ms  198.576 kB  not asked for
  tiles           0 s   78.593 us        71.130 ms  271.488 kB  not asked for
  gram      17.951 ms    1.077 ms        71.804 ms   28.397 MB  not asked for
> streamed        0 s   16.522 ms       826.079 ms   23.632 MB  as asked";
    assert!(plan.to_string().starts_with(expected), "{plan}");
}
