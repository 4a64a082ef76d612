mod proofs;

use std::{iter, sync::Arc};

use proptest::prelude::*;
use rand::prelude::*;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::{
    Exponent, FeatureMatrix, Memory,
    kernel::{Anova, Exponential, FeatureMap, Linear, Normalized, Polynomial, PowerSeries, Series, TensorKernel},
};

fn random(seed: u64, count: usize) -> Vec<f64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..count).map(|_| 2.0 * random.random::<f64>() - 1.0).collect()
}

fn exponent(p: f64) -> Exponent {
    Exponent::new(p).expect("inside")
}

fn model<'a>(
    (n, d): (usize, usize),
    x: &'a [f64],
    kernel: impl TensorKernel + 'static,
    p: f64,
    alpha: &[f64],
) -> DualModel<'a> {
    let x = FeatureMatrix::from_columns(n, d, x).expect("finite");
    DualModel::new(x, kernel, exponent(p), alpha).expect("fits")
}

/// Every monomial up to a degree with its u, weight and coefficient, the largest first: from the listed features.
fn brute(model: &DualModel<'_>, max_degree: Option<usize>) -> Vec<(Monomial, f64, f64, f64)> {
    let (n, d, q) = (model.samples.samples(), model.samples.features(), model.exponent.q());
    // Refused where there is no feature at all: a product of three of two variables.
    let Ok(map) = FeatureMap::new(&*model.kernel, d, model.exponent, max_degree) else { return Vec::new() };
    let phi = map.matrix(&model.samples, Memory::limit(u64::MAX)).expect("in range");
    let mut column = vec![0.0; n];
    let mut all = Vec::new();
    for (k, (monomial, c)) in map.iter().enumerate() {
        phi.column_into(k, &mut column);
        let root = c.powf(1.0 / q);
        let mut factor = root;
        if model.monomial_scale != MonomialScale::Raw {
            column.iter_mut().for_each(|phi| *phi /= root);
            let mean = column.iter().sum::<f64>() / n as f64;
            let centre = if model.monomial_scale == MonomialScale::Standardized { mean } else { 0.0 };
            column.iter_mut().for_each(|x| *x -= centre);
            let size = (column.iter().map(|x| x * x).sum::<f64>() / n as f64).sqrt();
            if size <= 1e-14 * centre.abs() || size == 0.0 {
                continue;
            }
            column.iter_mut().for_each(|x| *x /= size);
            factor = 1.0 / size;
        }
        let u: f64 = column.iter().zip(&model.alpha).map(|(phi, alpha)| phi * alpha).sum();
        let mut w = [u];
        model.exponent.j_q(&mut w);
        all.push((monomial, u, w[0], factor * w[0]));
    }
    all.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    all
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * a.abs().max(b.abs())
}

/// The list is that of all features, up to the order of weights that rounding cannot tell apart.
fn check(top: &TopMonomials, all: &[(Monomial, f64, f64, f64)], count: usize, what: &str) {
    let nonzero = all.iter().filter(|(_, u, ..)| u.abs() > 1e-13 * all[0].1.abs()).count();
    assert_eq!(top.end, SearchEnd::Complete, "{what}");
    assert!(top.entries.len() >= count.min(nonzero) && top.entries.len() <= count.min(all.len()), "{what}");
    for (entry, (monomial, _, w, _)) in top.entries.iter().zip(all).take(nonzero) {
        assert!(close(entry.weight.abs(), w.abs(), 1e-10), "{what}: {} {monomial}", entry.monomial);
        let (_, _, own, coefficient) = all.iter().find(|one| one.0 == entry.monomial).expect("a feature");
        assert!(close(entry.weight, *own, 1e-10), "{what}: {}", entry.monomial);
        assert!(close(entry.coefficient, *coefficient, 1e-10), "{what}: {} {coefficient}", entry.coefficient);
    }
    let rest = all.iter().filter(|one| top.entries.iter().all(|entry| entry.monomial != one.0));
    for (monomial, _, w, _) in rest {
        assert!(w.abs() <= top.unlisted * (1.0 + 1e-12), "{what}: {monomial} {w} {}", top.unlisted);
    }
}

fn finite_kernels() -> Vec<Box<dyn TensorKernel>> {
    let polynomial = |degree, scale, coef0| Polynomial::new(degree, scale, coef0).expect("valid");
    let series = |a: &[f64], scale| PowerSeries::from_coefficients(a.to_vec(), scale).expect("valid");
    vec![
        Box::new(Linear),
        Box::new(polynomial(1, 0.7, 0.3)),
        Box::new(polynomial(2, 1.0, 0.0)),
        Box::new(polynomial(2, 0.4, 1.5)),
        Box::new(polynomial(3, 1.0, 0.0)),
        Box::new(polynomial(3, 2.0, 0.5)),
        Box::new(polynomial(6, 0.3, 1.0)),
        Box::new(Anova::new(1, 3).expect("valid")),
        Box::new(Anova::new(2, 2).expect("valid")),
        Box::new(Anova::new(3, 5).expect("valid")),
        Box::new(series(&[0.0, 2.0, 0.0, 3.0, 0.1], 0.8)),
        Box::new(Normalized(polynomial(3, 1.0, 1.0))),
        Box::new(Normalized(Anova::new(1, 2).expect("valid"))),
    ]
}

/// The same by a pass over all monomials, in many tiles.
fn by_tiles(model: &DualModel<'_>, count: usize) -> Result<TopMonomials, Error> {
    model.top_by_tiles(&model.monomials()?.with_width(8), count, &mut Meter::new(Budget::default()))
}

#[test]
fn finite_kernels_agree_with_all_their_features() {
    let (n, d) = (11, 6);
    let (x, alpha) = (random(1, n * d), random(2, n));
    for kernel in finite_kernels() {
        let kernel: Arc<dyn TensorKernel> = kernel.into();
        for p in [2.0, 4.0 / 3.0, 1.1] {
            for monomial_scale in MonomialScale::ALL {
                let model = model((n, d), &x, kernel.clone(), p, &alpha).with_monomial_scale(monomial_scale);
                let all = brute(&model, None);
                for count in [1, 5, 20, 10_000] {
                    let top = model.top_monomials(count, Budget::default()).expect("it runs");
                    check(&top, &all, count, &format!("{} p = {p} {monomial_scale} {count}", kernel.name()));
                    let tiled = by_tiles(&model, count).expect("it runs");
                    check(&tiled, &all, count, &format!("{} p = {p} {monomial_scale} {count}, tiles", kernel.name()));
                }
            }
        }
    }
}

#[test]
fn given_monomials_have_the_weights_of_their_features() {
    let (n, d) = (11, 5);
    let (x, alpha) = (random(5, n * d), random(6, n));
    let absent = Monomial::of_sorted(&[0, 0, 0, 1, 1, 2, 2, 3, 4]);
    for kernel in finite_kernels() {
        let kernel: Arc<dyn TensorKernel> = kernel.into();
        for monomial_scale in MonomialScale::ALL {
            let model = model((n, d), &x, kernel.clone(), 1.3, &alpha).with_monomial_scale(monomial_scale);
            let all = brute(&model, None);
            let monomials: Vec<Monomial> = all.iter().map(|one| one.0.clone()).chain([absent.clone()]).collect();
            let entries = model.entries_of(&monomials).expect("they are of these variables");
            assert_eq!(entries[all.len()].weight, 0.0);
            assert_eq!(entries[all.len()].coefficient, 0.0);
            for (entry, (monomial, _, weight, coefficient)) in entries.iter().zip(&all) {
                assert_eq!(entry.monomial, *monomial);
                assert!(close(entry.weight, *weight, 1e-10), "{} {monomial_scale} {monomial}", kernel.name());
                assert!(close(entry.coefficient, *coefficient, 1e-10), "{} {monomial_scale} {monomial}", kernel.name());
            }
        }
    }
    let outside = model((n, d), &x, Linear, 1.3, &alpha).entries_of(&[Monomial::of_sorted(&[d])]);
    assert!(matches!(outside, Err(Error::Shape { expected: 6, .. })));
}

#[test]
fn sparse_and_constant_columns_are_as_good_as_any() {
    let (n, d) = (9, 5);
    let mut x = random(3, n * d);
    x[..n].fill(1.0);
    x[n..2 * n].fill(0.0);
    x[2 * n..3 * n].iter_mut().step_by(2).for_each(|x| *x = 0.0);
    for monomial_scale in MonomialScale::ALL {
        let kernel = Polynomial::new(3, 1.0, 1.0).expect("valid");
        let model = model((n, d), &x, kernel, 1.2, &random(4, n)).with_monomial_scale(monomial_scale);
        let top = model.top_monomials(1000, Budget::default()).expect("it runs");
        check(&top, &brute(&model, None), 1000, monomial_scale.name());
        assert!(top.entries.iter().all(|entry| !entry.monomial.to_string().contains("x1")), "x1 is 0");
    }
}

fn infinite_kernels() -> Vec<(Box<dyn TensorKernel>, usize)> {
    let exponential = |scale| Exponential::new(scale).expect("valid");
    let series = |series, scale| PowerSeries::new(series, scale).expect("valid");
    vec![
        (Box::new(exponential(0.1)), 12),
        (Box::new(exponential(1.0)), 14),
        (Box::new(exponential(3.0)), 16),
        (Box::new(Normalized(exponential(2.0))), 16),
        (Box::new(series(Series::Cosh, 2.0)), 14),
        (Box::new(series(Series::Sinh, 2.0)), 15),
        (Box::new(series(Series::BesselI0, 2.0)), 14),
        (Box::new(series(Series::Geometric, 0.05)), 12),
        (Box::new(series(Series::Logarithm, 0.1)), 12),
    ]
}

#[test]
fn infinite_kernels_agree_with_their_features_up_to_a_high_degree() {
    let (n, d) = (10, 3);
    let (x, alpha) = (random(5, n * d), random(6, n));
    for (kernel, degree) in infinite_kernels() {
        let name = kernel.name();
        let model = model((n, d), &x, kernel, 4.0 / 3.0, &alpha);
        let all = brute(&model, Some(degree));
        for count in [1, 10, 40] {
            let top = model.top_monomials(count, Budget::default()).expect("it runs");
            assert_eq!(top.entries.len(), count);
            assert!(top.entries.iter().all(|entry| entry.monomial.degree() < degree), "{name}: cut too low");
            check(&top, &all, count, &name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The pruned search loses nothing.
    #[test]
    fn no_entry_is_lost(
        seed in any::<u64>(), n in 1_usize..9, d in 1_usize..5, size in -1.0_f64..0.3, count in 1_usize..30,
        p in prop_oneof![Just(4.0 / 3.0), Just(2.0), 1.05_f64..2.0], which in 0_usize..22, rounded in any::<bool>(),
    ) {
        let mut x: Vec<f64> = random(seed, n * d).iter().map(|x| x * 10_f64.powf(size)).collect();
        if rounded {
            // Ties, zeros and repeated columns.
            x.iter_mut().for_each(|x| *x = (2.0 * *x).round() / 2.0);
        }
        let (mut kernels, mut infinite) = (finite_kernels(), infinite_kernels());
        let (kernel, degree) = if which < kernels.len() { (kernels.swap_remove(which), None) } else {
            let (kernel, degree) = infinite.swap_remove(which - kernels.len());
            (kernel, Some(degree))
        };
        let name = kernel.name();
        let model = model((n, d), &x, kernel, p, &random(seed ^ 1, n));
        prop_assume!(degree.is_none() || SampleNorms::new(&model).is_ok());
        let top = model.top_monomials(count, Budget { nodes: 200_000, ..Budget::default() });
        let Ok(top) = top else { return Ok(()) };
        let all = brute(&model, degree);
        let tiled = degree.is_none().then(|| by_tiles(&model, count).ok()).flatten();
        for top in iter::once(&top).chain(&tiled) {
            for (rank, (monomial, _, w, _)) in all.iter().enumerate().take(count) {
                let listed = top.entries.iter().any(|entry| entry.monomial == *monomial);
                let last = top.entries.last().map_or(0.0, |entry| entry.weight.abs());
                prop_assert!(
                    listed || w.abs() <= 1e-200 || top.end != SearchEnd::Complete || w.abs() <= last * (1.0 + 1e-9)
                        || w.abs() <= 1e-12 * all[0].2.abs(),
                    "{name}: {monomial} of rank {rank} is lost"
                );
                prop_assert!(listed || w.abs() <= top.unlisted * (1.0 + 1e-9), "{name}: {monomial} {w} {}", top.unlisted);
            }
        }
    }
}

#[test]
fn equals_are_listed_in_order() {
    // Two equal columns, and one that is their negative.
    let x = [0.5, -0.25, 0.75, 0.5, -0.25, 0.75, -0.5, 0.25, -0.75];
    let model = model((3, 3), &x, Polynomial::new(2, 1.0, 0.0).expect("valid"), 4.0 / 3.0, &[1.0, -0.5, 0.25]);
    let names = |count| -> Vec<String> {
        let top = model.top_monomials(count, Budget::default()).expect("it runs");
        top.entries.iter().map(|entry| entry.monomial.to_string()).collect()
    };
    assert_eq!(names(6), ["x0 * x1", "x0 * x2", "x1 * x2", "x0^2", "x1^2", "x2^2"]);
    assert_eq!(names(2), ["x0 * x1", "x0 * x2"]);
    let tied = model.clone().with_radius(0.0).expect("a number");
    let top = tied.top_monomials(2, Budget::default()).expect("it runs");
    assert_eq!((top.set_proven, top.order_proven), (false, false));
    let top = tied.top_monomials(3, Budget::default()).expect("it runs");
    assert_eq!((top.set_proven, top.order_proven), (true, false));
}

#[test]
fn nothing_is_listed_where_there_is_nothing() {
    let x = random(7, 12);
    for (alpha, count) in [([0.0; 4], 5), ([0.3, 0.1, -0.4, 0.2], 0)] {
        let kernels: [Arc<dyn TensorKernel>; 2] = [Arc::new(Exponential::new(1.0).expect("valid")), Arc::new(Linear)];
        for kernel in kernels {
            for radius in [0.0, 0.1] {
                let model = model((4, 3), &x, kernel.clone(), 4.0 / 3.0, &alpha);
                let top = model.with_radius(radius).expect("a number").top_monomials(count, Budget::default());
                let top = top.expect("it runs");
                assert!(top.entries.is_empty() && top.end == SearchEnd::Complete, "{kernel:?}");
                assert!(top.unlisted.is_finite() && (top.unlisted > 0.0 || count > 0), "{kernel:?} {}", top.unlisted);
            }
        }
    }
}

/// Sizes from 1e-200 to 1e200 leave the order as it is, and nothing is NaN.
#[test]
fn no_size_is_too_large_or_too_small() {
    let (n, d) = (8, 4);
    let (x, alpha) = (random(8, n * d), random(9, n));
    let order =
        |top: &TopMonomials| -> Vec<Monomial> { top.entries.iter().map(|entry| entry.monomial.clone()).collect() };
    for p in [4.0 / 3.0, 1.01] {
        for (degree, monomial_scale) in
            [(2, MonomialScale::Raw), (3, MonomialScale::Raw), (3, MonomialScale::Standardized)]
        {
            let kernel = Polynomial::new(degree, 1.0, 0.0).expect("valid");
            let usual = model((n, d), &x, kernel, p, &alpha).with_monomial_scale(monomial_scale);
            let usual = usual.top_monomials(10, Budget::default()).expect("it runs");
            for size in [1e-300, 1e-100, 1e-40, 1e40, 1e100, 1e199] {
                let large: Vec<f64> = x.iter().map(|x| x * size).collect();
                for factor in [1e-300, 1.0, 1e300] {
                    let alpha: Vec<f64> = alpha.iter().map(|alpha| alpha * factor).collect();
                    let model = model((n, d), &large, kernel, p, &alpha).with_monomial_scale(monomial_scale);
                    let model = model.with_radius(1e-9 * factor).expect("a number");
                    let top = model.top_monomials(10, Budget::default()).expect("it runs");
                    assert_eq!(order(&top), order(&usual), "{size:e} {factor:e}");
                    assert!(top.order_proven, "{size:e} {factor:e}");
                    for entry in &top.entries {
                        let (low, high) = entry.interval.expect("the radius is known");
                        assert!(low <= entry.weight && entry.weight <= high, "{low} {} {high}", entry.weight);
                        assert!(!entry.coefficient.is_nan(), "{entry:?}");
                    }
                }
            }
        }
        for factor in [1e-300, 1e300] {
            let kernel = Exponential::new(0.5).expect("valid");
            let usual = model((n, d), &x, kernel, p, &alpha).top_monomials(10, Budget::default()).expect("it runs");
            let alpha: Vec<f64> = alpha.iter().map(|alpha| alpha * factor).collect();
            let top = model((n, d), &x, kernel, p, &alpha).top_monomials(10, Budget::default()).expect("it runs");
            assert_eq!(order(&top), order(&usual), "{factor:e}");
        }
    }
    let tiny: Vec<f64> = x.iter().map(|x| x * 1e-150).collect();
    let top = model((n, d), &tiny, Exponential::new(1.0).expect("valid"), 4.0 / 3.0, &alpha);
    let top = top.top_monomials(d + 1, Budget::default()).expect("it runs");
    assert_eq!(top.entries.iter().map(|entry| entry.monomial.degree()).max(), Some(1));
}

#[test]
fn a_budget_ends_the_search_with_a_bound() {
    let (n, d) = (20, 8);
    let (x, alpha) = (random(10, n * d), random(11, n));
    let kernel = Polynomial::new(4, 1.0, 1.0).expect("valid");
    for monomial_scale in MonomialScale::ALL {
        let model = model((n, d), &x, kernel, 4.0 / 3.0, &alpha).with_monomial_scale(monomial_scale);
        let all = brute(&model, None);
        for nodes in [1, 2, 10, 50, 200, 400] {
            let top = model.top_monomials(7, Budget { nodes, ..Budget::default() }).expect("it runs");
            assert!(top.nodes <= nodes);
            if top.end != SearchEnd::Complete {
                assert_eq!(top.end, SearchEnd::NodeLimit, "{monomial_scale} {nodes}");
            }
            for (monomial, _, w, _) in &all {
                let listed = top.entries.iter().any(|entry| entry.monomial == *monomial);
                assert!(listed || w.abs() <= top.unlisted * (1.0 + 1e-12), "{monomial_scale} {nodes}: {monomial}");
            }
        }
        let top = model.top_monomials(7, Budget { seconds: 1e-9, ..Budget::default() }).expect("it runs");
        assert_eq!(top.end, SearchEnd::TimeLimit);
        assert!(top.to_string().contains("when its time was over"));
    }
    let exponential = model((n, d), &x, Exponential::new(1.0).expect("valid"), 4.0 / 3.0, &alpha);
    let (full, cut) = (
        exponential.top_monomials(7, Budget::default()).expect("it runs"),
        exponential.top_monomials(7, Budget { nodes: 40, ..Budget::default() }).expect("it runs"),
    );
    assert_eq!((full.end, cut.end), (SearchEnd::Complete, SearchEnd::NodeLimit));
    assert!(full.entries.iter().all(|entry| cut.entries.contains(entry) || entry.weight.abs() <= cut.unlisted));
}

#[test]
fn wrong_budgets_and_models_are_refused() {
    let (x, alpha) = (random(12, 6), [1.0, -1.0, 0.5]);
    let linear = model((3, 2), &x, Linear, 1.5, &alpha);
    for budget in
        [Budget { nodes: 0, seconds: 1.0 }, Budget { nodes: 1, seconds: 0.0 }, Budget { nodes: 1, seconds: f64::NAN }]
    {
        assert!(matches!(linear.top_monomials(1, budget), Err(Error::Parameter { .. })), "{budget:?}");
    }
    for radius in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            linear.clone().with_radius(radius),
            Err(Error::Parameter { parameter: Parameter::Radius, .. })
        ));
    }
    assert!(matches!(linear.clone().with_omega(&[1.0]), Err(Error::Shape { what: "omega", .. })));
    let exponential = model((3, 2), &x, Exponential::new(1.0).expect("valid"), 1.5, &alpha);
    let unit = exponential.with_monomial_scale(MonomialScale::Unit).top_monomials(1, Budget::default());
    assert!(matches!(unit, Err(Error::InfinitelyManyFeatures { .. })));
    let far: Vec<f64> = x.iter().map(|x| 1e3 * x).collect();
    let far = model((3, 2), &far, Exponential::new(1.0).expect("valid"), 4.0 / 3.0, &alpha);
    assert!(matches!(far.top_monomials(1, Budget::default()), Err(Error::KernelRange { .. })));
}

#[test]
fn a_series_that_hardly_falls_is_not_searched_for_ever() {
    let x = [0.9999, -0.9999];
    let model = model((2, 1), &x, PowerSeries::new(Series::Geometric, 1.0).expect("valid"), 2.0, &[1.0, 1.0]);
    let top = model.top_monomials(2000, Budget::default()).expect("it runs");
    assert_eq!(top.end, SearchEnd::DegreeLimit);
    assert!(top.unlisted > 0.0 && top.unlisted.is_finite());
    assert!(top.to_string().contains("highest degree"));
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let (n, d) = (30, 12);
    let (x, alpha) = (random(13, n * d), random(14, n));
    let model = model((n, d), &x, Exponential::new(1.0).expect("valid"), 4.0 / 3.0, &alpha).with_radius(1e-9);
    let model = model.expect("a number");
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| model.top_monomials(15, Budget::default()).expect("it runs"))
    };
    let one = run(1);
    assert!(one.end == SearchEnd::Complete && one.nodes > 1000);
    assert_eq!(one, run(2));
    assert_eq!(one, run(5));
}

#[test]
fn tables_are_aligned_and_carry_names() {
    let x = [0.5, -1.0, 0.25, 1.0, 0.5, -0.75];
    let kernel = Polynomial::new(2, 1.0, 0.0).expect("valid");
    let model = model((3, 2), &x, kernel, 4.0 / 3.0, &[1.0, -0.5, 0.25]);
    let top = model.top_monomials(3, Budget::default()).expect("it runs");
    let expected = "   monomial      weight  coefficient
1  x1^2        1.0476e0     1.0476e0
2  age * x1   5.8462e-1    6.9523e-1
3  age^2     -1.2875e-2   -1.2875e-2
The largest of this dual vector.";
    assert_eq!(top.with_names(&["age"]), expected);
    let model = model.with_radius(1e-3).expect("a number").with_omega(&[2.5, 1.5, 2.0]).expect("fits");
    let expected = "   monomial     weight  coefficient    share  solver interval
1  x1^2       1.0476e0     1.0476e0  47.29 %  [1.0440e0, 1.0512e0]
2  x0 * x1   5.8462e-1    6.9523e-1  21.73 %  [5.8279e-1, 5.8644e-1]
The solver's error cannot change this list or its order.";
    assert_eq!(model.top_monomials(2, Budget::default()).expect("it runs").to_string(), expected);
}
