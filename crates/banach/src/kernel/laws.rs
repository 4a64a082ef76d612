//! Every law over every kernel. A new kernel joins [`all`] and is covered.

use proptest::prelude::*;

use super::{range::symmetric_sums, *};
use crate::Exponent;

/// Instances of every kernel, with parameters that are not round numbers, and normalised ones.
pub(crate) fn all() -> Vec<Box<dyn TensorKernel>> {
    let mut kernels = plain();
    kernels.extend(plain().into_iter().map(|kernel| Box::new(Normalized(kernel)) as Box<dyn TensorKernel>));
    kernels
}

/// The instances that are not normalised.
fn plain() -> Vec<Box<dyn TensorKernel>> {
    let mut kernels = with_scale(0.37);
    kernels.push(Box::new(Linear));
    for (min_degree, max_degree) in [(1, 1), (2, 2), (1, 3), (3, 5), (1, 8)] {
        kernels.push(Box::new(Anova::new(min_degree, max_degree).expect("valid")));
    }
    kernels
}

/// The instances that have a scale, with this one.
fn with_scale(scale: f64) -> Vec<Box<dyn TensorKernel>> {
    let exponential = Exponential::new(scale).expect("valid");
    let mut kernels: Vec<Box<dyn TensorKernel>> = vec![
        Box::new(exponential),
        Box::new(PowerSeries::from_coefficients(vec![0.2, 0.0, 0.7, 0.13, 0.0], scale).expect("valid")),
        Box::new(PowerSeries::from_coefficients(vec![0.0, 1.3], scale).expect("valid")),
        Box::new(PowerSeries::cut(&exponential, 1, 3).expect("valid")),
    ];
    for (degree, coef0) in [(1, 0.0), (2, 0.0), (2, 0.3), (3, 0.4), (5, 0.0), (7, 1.0)] {
        kernels.push(Box::new(Polynomial::new(degree, scale, coef0).expect("valid")));
    }
    for series in Series::ALL {
        kernels.push(Box::new(PowerSeries::new(series, scale).expect("valid")));
    }
    kernels
}

const ORDERS: [usize; 4] = [2, 4, 6, 8];

/// The first q points, shrunk until `scale p_1 <= t` for all.
fn points(kernel: &dyn TensorKernel, raw: &[Vec<f64>], q: usize, t: f64) -> Vec<Vec<f64>> {
    shrunk(kernel, &raw[..q], q, t)
}

fn shrunk(kernel: &dyn TensorKernel, raw: &[Vec<f64>], q: usize, t: f64) -> Vec<Vec<f64>> {
    let largest = raw.iter().map(|point| norm(point, q)).fold(0.0, f64::max);
    let shrink = (t / kernel.scale().unwrap_or(1.0) / largest).min(1.0).powf(1.0 / q as f64);
    raw.iter().map(|point| point.iter().map(|x| x * shrink).collect()).collect()
}

/// `p_1` on the diagonal.
fn norm(point: &[f64], q: usize) -> f64 {
    point.iter().map(|x| x.powi(q as i32)).sum()
}

fn value(kernel: &dyn TensorKernel, points: &[Vec<f64>]) -> f64 {
    let points: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
    kernel.value(&points).expect("points are in range")
}

/// K on the diagonal, where all terms of its computation are positive.
pub(crate) fn diagonal(kernel: &dyn TensorKernel, point: &[f64], q: usize) -> f64 {
    kernel.ln_value(&symmetric_sums(kernel, point.len(), |j| point[j].powi(q as i32))).1.exp()
}

/// What rounding may do to the value at these points. By Hoelder's inequality all terms of K add up to at most the
/// geometric mean of those on the diagonal. A normalised kernel has the errors of its divisors as well.
fn rounding(kernel: &dyn TensorKernel, points: &[Vec<f64>]) -> f64 {
    let q = points.len();
    let root = |point: &Vec<f64>| diagonal(kernel, point, q).powf(1.0 / q as f64);
    let terms: f64 = points.iter().map(root).product();
    match (kernel.normalized(), terms > 0.0) {
        (false, _) => 1e-13 * terms,
        (true, true) => 2e-13,
        (true, false) => 0.0,
    }
}

/// Numbers with some zeros among them.
fn entry() -> impl Strategy<Value = f64> {
    prop_oneof![9 => -1.3_f64..1.3, 1 => Just(0.0)]
}

/// Eight points in one to three variables.
fn raw() -> impl Strategy<Value = Vec<Vec<f64>>> {
    (1..=3_usize).prop_flat_map(|inputs| proptest::collection::vec(proptest::collection::vec(entry(), inputs), 8))
}

#[test]
fn names_are_distinct() {
    let names: std::collections::HashSet<_> = all().iter().map(TensorKernel::name).collect();
    assert_eq!(names.len(), all().len());
}

#[test]
fn limits_are_inside_the_radius_and_the_range() {
    for kernel in plain() {
        let limit = kernel.limit();
        assert!(limit > 0.0 && limit < kernel.radius() && limit.is_finite(), "{kernel:?}");
        let mut sums: Vec<f64> = (1..=kernel.symmetric()).map(|m| limit.powi(m as i32)).collect();
        let (_, ln) = kernel.ln_value(&sums);
        kernel.apply(&mut sums, 1);
        assert!(sums[0] <= MAX_VALUE && ln <= MAX_VALUE.ln(), "{kernel:?} {}", sums[0]);
        // Not far inside either.
        if kernel.radius() == f64::INFINITY && kernel.symmetric() == 1 {
            assert!(kernel.ln_value(&[1.01 * limit]).1 > MAX_VALUE.ln(), "{kernel:?}");
        }
    }
}

#[test]
fn nothing_is_nan_anywhere_in_range() {
    for kernel in all() {
        let limit = kernel.limit();
        let inside = [0.0, 5e-324, 1e-300, 1e-8, 0.3, 1.0, 1e3, 1e100].into_iter().filter(|&z| z < limit);
        for z in inside.chain([limit]).flat_map(|z| [z, -z]) {
            let sums: Vec<f64> = (1..=kernel.symmetric()).map(|m| z.powi(m as i32)).collect();
            let (sign, ln) = kernel.ln_value(&sums);
            assert!([-1.0, 0.0, 1.0].contains(&sign) && ln < f64::INFINITY, "{kernel:?} {z} {sign} {ln}");
            assert_eq!(sign == 0.0, ln == f64::NEG_INFINITY, "{kernel:?} {z} {sign} {ln}");
            for shift in [-1e300, -1e7, -700.0, 0.0, 700.0, 1e7, 1e300] {
                let mut shifted = sums.clone();
                kernel.apply_shifted(&mut shifted, &[shift]);
                assert!(!shifted[0].is_nan(), "{kernel:?} {z} {shift}");
                assert!(sign != 0.0 || shifted[0] == 0.0, "{kernel:?} {z} {shift}");
            }
            if !kernel.normalized() {
                let mut value = sums.clone();
                kernel.apply(&mut value, 1);
                assert!(value[0].abs() <= MAX_VALUE, "{kernel:?} {z}: {}", value[0]);
            }
        }
    }
}

#[test]
fn slices_of_any_length_agree_with_single_entries() {
    for kernel in plain() {
        let orders = kernel.symmetric();
        for count in [0_usize, 1, 2, 7, 63, 64, 65, 257, 1000] {
            // Sums of two products each.
            let z = |i: usize| ((i as f64 * 0.7).sin(), (i as f64 * 1.3).cos());
            let sum = |i: usize, m: usize| match m {
                1 => z(i).0 + z(i).1,
                2 => z(i).0 * z(i).1,
                _ => 0.0,
            };
            let sums: Vec<f64> = (1..=orders).flat_map(|m| (0..count).map(move |i| sum(i, m))).collect();
            let shifts: Vec<f64> = (0..count).map(|i| (i as f64 * 0.9).sin()).collect();
            let (mut values, mut shifted) = (sums.clone(), sums.clone());
            kernel.apply(&mut values, count);
            kernel.apply_shifted(&mut shifted, &shifts);
            for i in 0..count {
                let own: Vec<f64> = (1..=orders).map(|m| sum(i, m)).collect();
                let (mut value, mut one_shifted) = (own.clone(), own);
                kernel.apply(&mut value, 1);
                kernel.apply_shifted(&mut one_shifted, &[shifts[i]]);
                assert_eq!((value[0], one_shifted[0]), (values[i], shifted[i]), "{kernel:?} {i} of {count}");
            }
        }
    }
}

/// Far outside the range of K: `ln K` is known, and what is divided by K is 1.
#[test]
fn shifted_values_stay_in_range() {
    let scale = 0.37;
    let t: f64 = 1e5;
    let logs = |series| match series {
        Series::Geometric | Series::Logarithm => None,
        Series::Cosh | Series::Sinh => Some(t - 2.0_f64.ln()),
        Series::BesselI0 => Some(t - 0.5 * (std::f64::consts::TAU * t).ln() + 1.0 / (8.0 * t)),
    };
    let mut cases: Vec<(Box<dyn TensorKernel>, f64)> = vec![
        (Box::new(Exponential::new(scale).expect("valid")), t),
        (Box::new(Polynomial::new(64, scale, 0.5).expect("valid")), 64.0 * (0.5 + t).ln()),
        (Box::new(PowerSeries::from_coefficients([vec![0.0; 64], vec![2.0]].concat(), scale).expect("valid")), {
            2.0_f64.ln() + 64.0 * t.ln()
        }),
    ];
    for series in Series::ALL {
        let kernel = PowerSeries::new(series, scale).expect("valid");
        cases.extend(logs(series).map(|ln| (Box::new(kernel) as Box<dyn TensorKernel>, ln)));
    }
    for (kernel, ln) in cases {
        let mut plain = [t / scale];
        kernel.apply(&mut plain, 1);
        assert!(plain[0] > MAX_VALUE, "{kernel:?}");
        let mut values = [t / scale; 3];
        kernel.apply_shifted(&mut values, &[ln, ln + 1.0, ln - 2.0]);
        for (value, expected) in values.iter().zip([1.0, (-1.0_f64).exp(), 2.0_f64.exp()]) {
            assert!((value / expected - 1.0).abs() < 1e-10, "{kernel:?} {value}");
        }
    }
    // ANOVA of two equal products z: e_2 = z^2, out of range at 1e150.
    let kernel = Anova::new(2, 2).expect("valid");
    let mut sums = [2e150, 1e300];
    kernel.apply_shifted(&mut sums, &[690.0]);
    assert!((sums[0].ln() - (300.0 * 10.0_f64.ln() - 690.0)).abs() < 1e-12);
}

#[test]
fn parameters_outside_their_range_are_refused() {
    for bad in [f64::NAN, -1.0, 0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(Polynomial::new(2, bad, 0.0).is_err() && Exponential::new(bad).is_err(), "{bad}");
        assert!(Series::ALL.into_iter().all(|series| PowerSeries::new(series, bad).is_err()), "{bad}");
        assert!(PowerSeries::from_coefficients(vec![1.0], bad).is_err(), "{bad}");
        assert_eq!(Polynomial::new(2, 1.0, bad).is_ok(), bad == 0.0, "{bad}");
        assert_eq!(PowerSeries::from_coefficients(vec![1.0, bad], 1.0).is_ok(), bad == 0.0, "{bad}");
    }
    assert!(Polynomial::new(0, 1.0, 0.0).is_err() && Polynomial::new(65, 1.0, 0.0).is_err());
    assert!(Polynomial::new(2, 1.0, 1e100).is_err() && Polynomial::new(2, 1.0, 1e69).is_ok());
    assert!(PowerSeries::from_coefficients(vec![], 1.0).is_err());
    assert!(PowerSeries::from_coefficients(vec![0.0, 0.0], 1.0).is_err());
    assert!(PowerSeries::from_coefficients(vec![1e200], 1.0).is_err());
    assert!(PowerSeries::from_coefficients(vec![1.0; 66], 1.0).is_err());
    for (min_degree, max_degree) in [(0, 1), (0, 0), (3, 2), (1, 9), (9, 9)] {
        assert!(Anova::new(min_degree, max_degree).is_err());
    }
}

#[test]
fn cuts_that_make_no_sense_are_refused() {
    let exponential = Exponential::new(1.0).expect("valid");
    let refused =
        |kernel: &dyn TensorKernel, min, max| PowerSeries::cut(kernel, min, max).expect_err("no sense").to_string();
    assert!(refused(&Anova::new(1, 2).expect("valid"), 1, 2).contains("a range of degrees of its own"));
    assert!(refused(&Normalized(exponential), 1, 2).contains("then normalise"));
    assert!(refused(&exponential, 3, 2).contains("3 to 2"));
    assert!(refused(&Polynomial::new(2, 1.0, 0.0).expect("valid"), 3, 5).contains("3 to 5"));
    assert!(refused(&exponential, 0, 65).contains("64"));
    assert!(refused(&PowerSeries::new(Series::Cosh, 1.0).expect("valid"), 1, 1).contains("at least one positive"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn symmetric(raw in raw(), order in Just((0..8).collect::<Vec<usize>>()).prop_shuffle()) {
        for kernel in all() {
            for q in ORDERS {
                let points = points(&*kernel, &raw, q, 0.8);
                let permuted: Vec<_> = order.iter().filter(|&&i| i < q).map(|&i| points[i].clone()).collect();
                let (value, other) = (value(&*kernel, &points), value(&*kernel, &permuted));
                prop_assert!((value - other).abs() <= rounding(&*kernel, &points), "{:?} {} {}", kernel, value, other);
            }
        }
    }

    /// `sum K(x_i1, ..., x_iq) alpha_i1 ... alpha_iq >= 0` over all index tuples.
    #[test]
    fn positive(raw in raw(), alpha in proptest::collection::vec(-1.0_f64..1.0, 3)) {
        for kernel in all() {
            for q in ORDERS {
                let n: usize = if q <= 4 { 3 } else { 2 };
                let points = shrunk(&*kernel, &raw[..n], q, 0.8);
                let (mut sum, mut tolerance) = (0.0, 0.0);
                for tuple in 0..n.pow(q as u32) {
                    let indices = (0..q).map(|place| tuple / n.pow(place as u32) % n);
                    let chosen: Vec<_> = indices.clone().map(|i| points[i].clone()).collect();
                    let product: f64 = indices.map(|i| alpha[i]).product();
                    sum += value(&*kernel, &chosen) * product;
                    tolerance += rounding(&*kernel, &chosen) * product.abs();
                }
                prop_assert!(sum >= -tolerance, "{:?} {}: {}", kernel, q, sum);
            }
        }
    }

    /// K is the sum over its features. Of the infinite kernels those above degree 24 are missing; with
    /// `scale p_1 <= 0.3`, all `a_s <= 1` and the first one 1, at degree 0 or 1, they are less than
    /// `0.3^24/0.7 < 4.2e-13` of K on the diagonal, and elsewhere by Hoelder's inequality.
    #[test]
    fn sum_over_features(raw in raw()) {
        for kernel in all() {
            for q in ORDERS {
                let points = points(&*kernel, &raw, q, 0.3);
                let exponent = Exponent::from_fraction(q as u64, q as u64 - 1).expect("inside");
                let infinite = kernel.degrees().1.is_none();
                let inputs = points[0].len();
                if cardinality(&*kernel, inputs) == Some(0_u32.into()) {
                    prop_assert!(value(&*kernel, &points).abs() <= rounding(&*kernel, &points));
                    continue;
                }
                let map = FeatureMap::new(&*kernel, inputs, exponent, infinite.then_some(24)).expect("listed");
                let features: Vec<_> = points.iter().map(|point| map.phi(point).expect("in range")).collect();
                let sum: f64 = (0..map.len()).map(|k| features.iter().map(|phi| phi[k]).product::<f64>()).sum();
                let value = value(&*kernel, &points);
                let tolerance = if infinite { 5.2 } else { 1.0 } * rounding(&*kernel, &points);
                prop_assert!((value - sum).abs() <= tolerance, "{:?} {} {}", kernel, value, sum);
            }
        }
    }

    /// One more coordinate `coef0^(1/q)` (F8).
    #[test]
    fn coef0_is_one_more_coordinate(raw in raw(), degree in 1..6_usize, scale in 0.1_f64..1.5, coef0 in 0.0_f64..1.5) {
        let kernel = Polynomial::new(degree, scale, coef0).expect("valid");
        let plain = Polynomial::new(degree, 1.0, 0.0).expect("valid");
        for q in ORDERS {
            let root = |t: f64| t.powf(1.0 / q as f64);
            let points = raw[..q].to_vec();
            let longer = |point: &Vec<f64>| point.iter().map(|x| x * root(scale)).chain([root(coef0)]).collect();
            let longer: Vec<Vec<f64>> = points.iter().map(longer).collect();
            let (value, other) = (value(&kernel, &points), value(&plain, &longer));
            prop_assert!((value - other).abs() <= rounding(&kernel, &points), "{} {}", value, other);
        }
    }

    /// A scale is a factor `scale^(1/q)` on the points (F8).
    #[test]
    fn scale_multiplies_the_points(raw in raw(), scale in 0.1_f64..2.0) {
        for (kernel, unit) in with_scale(scale).into_iter().zip(with_scale(1.0)) {
            for q in ORDERS {
                let points = points(&*kernel, &raw, q, 0.8);
                let factor = scale.powf(1.0 / q as f64);
                let larger: Vec<Vec<f64>> = points.iter().map(|x| x.iter().map(|x| x * factor).collect()).collect();
                let (value, other) = (value(&*kernel, &points), value(&*unit, &larger));
                prop_assert!((value - other).abs() <= rounding(&*kernel, &points), "{:?} {} {}", kernel, value, other);
            }
        }
    }

    /// `ln_value` and `apply_shifted` against `apply`, up to the limit.
    #[test]
    fn logarithms_and_shifts_agree_with_values(
        z in proptest::collection::vec(-1.0_f64..1.0, 1..20), size in -3.0_f64..1.0, shift in -30.0_f64..30.0,
    ) {
        for kernel in plain() {
            let limit = kernel.limit();
            // Sizes up to the limit on a logarithmic scale; the series with a radius near it.
            let size = if size > 0.0 { limit.powf(size) } else { limit.min(1.0) * 10.0_f64.powf(size) };
            let size = size.min(0.99 * limit) / z.len() as f64;
            let sums = symmetric_sums(&*kernel, z.len(), |j| z[j] * size);
            let moduli = symmetric_sums(&*kernel, z.len(), |j| (z[j] * size).abs());
            let (mut value, mut shifted) = (sums.clone(), sums.clone());
            kernel.apply(&mut value, 1);
            kernel.apply_shifted(&mut shifted, &[shift]);
            let (sign, ln) = kernel.ln_value(&sums);
            let tolerance = 1e-12 * kernel.ln_value(&moduli).1.exp();
            prop_assert!((value[0] - sign * ln.exp()).abs() <= tolerance, "{:?} {} {}", kernel, value[0], sign * ln.exp());
            let expected = value[0] * (-shift).exp();
            prop_assert!((shifted[0] - expected).abs() <= tolerance * (-shift).exp(), "{:?} {}", kernel, shifted[0]);
        }
    }

    /// `K(x, ..., x) = 1`, or 0 where `Phi(x) = 0`; at any size of the points.
    #[test]
    fn normalised_kernels_are_one_on_the_diagonal(point in proptest::collection::vec(entry(), 1..12), ln_size in -8.0_f64..3.0) {
        for kernel in all().into_iter().filter(TensorKernel::normalized) {
            for q in ORDERS {
                let fit = (0.9 * kernel.limit() / norm(&point, q)).min(1.0).powf(1.0 / q as f64);
                let point: Vec<f64> = point.iter().map(|x| x * fit.min(ln_size.exp())).collect();
                let points = vec![point.clone(); q];
                let (value, tolerance) = (value(&*kernel, &points), 1e-8 + rounding(&*kernel, &points));
                prop_assert!((value - 1.0).abs() <= tolerance || value == 0.0, "{:?} {}", kernel, value);
                // Zero only if no feature is there.
                let variables = point.iter().filter(|x| **x != 0.0).count();
                let (lowest, _) = kernel.degrees();
                let needed = if kernel.symmetric() > 1 { lowest } else { lowest.min(1) };
                prop_assert!(value == 0.0 || variables >= needed, "{:?} {:?}", kernel, point);
                prop_assert!(value != 0.0 || variables < needed || kernel.symmetric() > 1, "{:?} {:?}", kernel, point);
            }
        }
    }

    /// A cut to the full range is the kernel, and two cuts add up to it.
    #[test]
    fn cuts_add_up(raw in raw(), at in 0..7_usize) {
        for kernel in plain().into_iter().filter(|kernel| kernel.symmetric() == 1) {
            let (lowest, highest) = kernel.degrees();
            let highest = highest.unwrap_or(24);
            let whole = PowerSeries::cut(&*kernel, lowest, highest).expect("whole");
            let low = PowerSeries::cut(&*kernel, 0, at);
            let high = PowerSeries::cut(&*kernel, at + 1, highest);
            for q in ORDERS {
                let points = points(&*kernel, &raw, q, 0.3);
                let tolerance = 1e3 * rounding(&*kernel, &points);
                let (value, cut) = (value(&*kernel, &points), value(&whole, &points));
                prop_assert!((value - cut).abs() <= tolerance, "{:?} {} {}", kernel, value, cut);
                let part = |part: &Result<PowerSeries, Error>| part.as_ref().map_or(0.0, |part| self::value(part, &points));
                prop_assert!((part(&low) + part(&high) - cut).abs() <= tolerance, "{:?}", kernel);
            }
        }
    }

    /// The number of features is the length of the list, and every feature is found by its index.
    #[test]
    fn cardinality_is_the_length_of_the_list(inputs in 1..6_usize) {
        for kernel in all() {
            let Some(cardinality) = cardinality(&*kernel, inputs) else {
                prop_assert_eq!(kernel.degrees().1, None);
                continue;
            };
            let map = FeatureMap::new(&*kernel, inputs, Exponent::new(1.5).expect("inside"), None);
            let Ok(map) = map else {
                prop_assert_eq!(cardinality, 0_u32.into());
                continue;
            };
            let listed: Vec<(Monomial, f64)> = map.iter().collect();
            prop_assert_eq!(cardinality, listed.len().into());
            prop_assert_eq!(map.len(), listed.len());
            let distinct: std::collections::HashSet<_> = listed.iter().map(|(monomial, _)| monomial).collect();
            prop_assert_eq!(distinct.len(), listed.len());
            for (index, (monomial, c)) in listed.iter().enumerate() {
                prop_assert_eq!(map.monomial(index), Some(monomial.clone()));
                prop_assert!(*c > 0.0);
            }
            prop_assert_eq!(map.monomial(listed.len()), None);
        }
    }
}

/// Small scales, which errors of range advise, cost no digits and no features.
#[test]
fn small_scales_lose_nothing() {
    let near_e = |kernel: &dyn TensorKernel, p_1: f64| {
        let (sign, ln) = kernel.ln_value(&[p_1]);
        assert!(sign == 1.0 && (ln - 1.0).abs() < 1e-12, "{}: {ln}", kernel.name());
    };
    for scale in [1e-17, 1e-8, 1.0, 1e10] {
        let cut = PowerSeries::cut(&Exponential::new(scale).expect("valid"), 0, 40).expect("valid");
        near_e(&cut, 1.0 / scale);
        let polynomial = Polynomial::new(10, scale * 1e-23, 1.0).expect("valid");
        assert_eq!(cardinality(&polynomial, 3), Some(BigUint::from(286_u32)));
    }
    // Powers out of range have logarithms.
    let cut = PowerSeries::cut(&Exponential::new(1.0).expect("valid"), 28, 30).expect("valid");
    let factorial: f64 = (1..=28).map(|i| f64::from(i).ln()).sum();
    let (_, ln) = cut.ln_value(&[1e-20]);
    assert!((ln - (28.0 * 1e-20_f64.ln() - factorial)).abs() < 1e-9, "{ln}");
    let (sign, ln) = Polynomial::new(3, 1e-300, 0.0).expect("valid").ln_value(&[-1e-30]);
    assert!(sign == -1.0 && (ln - 3.0 * (-330.0 * 10.0_f64.ln())).abs() < 1e-9, "{ln}");
}
