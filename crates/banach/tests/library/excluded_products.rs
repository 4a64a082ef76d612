//! Products that say nothing beyond their factors are no monomials: on every route the model is that of the list of all others.

use banach::{
    Error, Exponent, FeatureMatrix, Model, Route, Spec,
    data::{ExcludedProducts, Interactions},
    kernel::{FeatureMap, KernelSpec, Monomial, MonomialScale},
    model::Budget,
    sparse::SparseSpec,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const SAMPLES: usize = 24;
const COLUMNS: usize = 7;

/// Two numbers, three labels of a factor, a flag and a number; standardised or not.
fn columns(standardized: bool) -> Vec<f64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut columns: Vec<Vec<f64>> =
        (0..COLUMNS).map(|_| (0..SAMPLES).map(|_| rng.random_range(-1.0..1.0)).collect()).collect();
    for label in 0..3 {
        columns[2 + label] = (0..SAMPLES).map(|i| f64::from(u8::from((i * i + i / 2) % 3 == label))).collect();
    }
    columns[5].iter_mut().for_each(|x| *x = f64::from(u8::from(*x > 0.2)));
    for column in columns.iter_mut().filter(|_| standardized) {
        let mean = column.iter().sum::<f64>() / SAMPLES as f64;
        let deviation = (column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / SAMPLES as f64).sqrt();
        column.iter_mut().for_each(|x| *x = (*x - mean) / deviation);
    }
    columns.concat()
}

fn matrix(columns: &[f64]) -> FeatureMatrix<'_> {
    FeatureMatrix::from_columns(SAMPLES, COLUMNS, columns).expect("finite")
}

/// A product of a label and a number, another of two numbers, and a flag.
fn targets(x: &[f64]) -> Vec<f64> {
    let at = |j: usize, i: usize| x[j * SAMPLES + i];
    (0..SAMPLES).map(|i| 2.0 * at(3, i) * at(0, i) - at(0, i) * at(6, i) + 0.7 * at(5, i) + 0.1 * at(1, i)).collect()
}

fn impossible(monomial: &Monomial) -> bool {
    let labels = monomial.factors().iter().filter(|(j, _)| (2..5).contains(j)).count();
    labels > 1 || monomial.factors().iter().any(|&(j, power)| (2..6).contains(&j) && power > 1)
}

/// The columns of all monomials that are possible, by the definition of the features.
fn listed(spec: &Spec, x: &[f64]) -> (Vec<Monomial>, Vec<f64>) {
    let kernel = spec.kernel.build().expect("valid");
    let exponent = Exponent::of_penalty(spec.p).expect("inside");
    let map = FeatureMap::new(&*kernel, COLUMNS, exponent, None).expect("finite");
    let of = |(monomial, c): &(Monomial, f64)| -> Vec<f64> {
        let root = if spec.p == 1.0 { 1.0 } else { c.powf(1.0 / exponent.q()) };
        let power = |(j, power): &(usize, usize), i: usize| x[j * SAMPLES + i].powi(*power as i32);
        let mut column: Vec<f64> =
            (0..SAMPLES).map(|i| monomial.factors().iter().map(|factor| power(factor, i)).product()).collect();
        let n = SAMPLES as f64;
        let mean = column.iter().sum::<f64>() / n;
        let (centre, factor) = match spec.monomials {
            MonomialScale::Raw => (0.0, root),
            MonomialScale::Unit => (0.0, (n / column.iter().map(|x| x * x).sum::<f64>()).sqrt()),
            MonomialScale::Standardized => {
                (mean, (n / column.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>()).sqrt())
            }
        };
        column.iter_mut().for_each(|x| *x = (*x - centre) * factor);
        column
    };
    let possible: Vec<(Monomial, f64)> = map.iter().filter(|(monomial, _)| !impossible(monomial)).collect();
    let columns = possible.iter().flat_map(of).collect();
    (possible.into_iter().map(|(monomial, _)| monomial).collect(), columns)
}

fn assert_same(found: &Model, expected: &Model, x: &FeatureMatrix<'_>, phi: &FeatureMatrix<'_>, what: &str) {
    let (a, b) = (found.certificate(), expected.certificate());
    assert!(a.relative_gap() <= 1e-10 && b.relative_gap() <= 1e-10, "{what}: {a:?} {b:?}");
    assert!((a.primal - b.primal).abs() <= 1e-9 * b.primal, "{what}: {} {}", a.primal, b.primal);
    let (a, b) = (found.decisions(x).expect("fits"), expected.decisions(phi).expect("fits"));
    let size = b.iter().fold(0.0_f64, |size, b| size.max(b.abs()));
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= 2e-4 * size), "{what}: {a:?} {b:?}");
}

#[test]
fn every_route_fits_the_list_of_possible_monomials() {
    for (standardized, kernel) in [
        (false, KernelSpec::Anova { degrees: (1, 2) }),
        (true, KernelSpec::Anova { degrees: (1, 3) }),
        (true, KernelSpec::poly(2)),
        (true, KernelSpec::poly(3)),
    ] {
        let data = columns(standardized);
        let (x, y) = (matrix(&data), targets(&data));
        for (p, monomials) in [
            (1.0, MonomialScale::Raw),
            (1.0, MonomialScale::Standardized),
            (1.1, MonomialScale::Raw),
            (4.0 / 3.0, MonomialScale::Raw),
            (4.0 / 3.0, MonomialScale::Unit),
            (4.0 / 3.0, MonomialScale::Standardized),
            (2.0, MonomialScale::Raw),
        ] {
            let spec = Spec { p, gamma: 3.0, monomials, kernel: kernel.clone(), tolerance: 1e-10, ..Spec::default() };
            let (names, phi) = listed(&spec, &data);
            let phi = FeatureMatrix::from_columns(SAMPLES, names.len(), phi).expect("finite");
            let plain = Spec { kernel: KernelSpec::Linear, monomials: MonomialScale::Raw, ..spec.clone() };
            let expected = plain.fit(&phi, &y).expect("it is fitted");
            for route in [None, Some(Route::Tiles), Some(Route::Features)] {
                if p == 1.0 && route == Some(Route::Features) {
                    continue;
                }
                let what = format!("{kernel:?} p = {p} {monomials:?} {route:?}");
                let found = Spec { route, ..spec.clone() }.fit(&x, &y).expect(&what);
                assert_same(&found, &expected, &x, &phi, &what);
                assert_eq!(found.plan().monomials(), Some(names.len() as f64), "{what}");
                let function = found.function(0, &x).expect("its samples");
                let top = function.top_monomials(1000, Budget::default()).expect("it runs");
                assert!(top.entries.len() <= names.len(), "{what}: {}", top.entries.len());
                assert!(top.entries.iter().all(|entry| !impossible(&entry.monomial)), "{what}");
                let twice = Monomial::new(&[(2, 1), (3, 1)]);
                if kernel == KernelSpec::poly(2) {
                    assert_eq!(function.entries_of(&[twice]).expect("it runs")[0].weight, 0.0, "{what}");
                }
                if p > 1.0 {
                    let pairs = function.pair_shares(&[2, 3, 0], banach::Memory::default()).expect("it runs");
                    assert!(pairs.ranking().iter().all(|&(i, j, share)| (i, j) != (2, 3) || share == 0.0), "{what}");
                }
            }
        }
    }
}

/// A tensor holds all products, so it is not taken; on request all products are monomials, to the last bit what they were.
#[test]
fn a_tensor_is_refused_and_all_products_can_be_asked_for() {
    let data = columns(true);
    let (x, y) = (matrix(&data), targets(&data));
    let spec = Spec { kernel: KernelSpec::poly(2), route: Some(Route::Gram), ..Spec::default() };
    let refused = spec.fit(&x, &y).expect_err("a tensor");
    assert!(
        matches!(refused, Error::NoRoute { .. }) && refused.to_string().contains("labels or two values"),
        "{refused}"
    );
    let all = Spec { interactions: Interactions::All, ..spec };
    assert!(all.fit(&x, &y).expect("a tensor").plan().excluded().is_none());
    // Kernels of every degree have a formula for the sum over all products.
    let exp = Spec { kernel: KernelSpec::Exp { scale: 0.1, degrees: None }, ..Spec::default() };
    assert!(exp.fit(&x, &y).expect("a tensor").plan().excluded().is_none());
    // Numbers alone: nothing changes.
    let numbers: Vec<f64> = [&data[..2 * SAMPLES], &data[6 * SAMPLES..]].concat();
    let numbers = FeatureMatrix::from_columns(SAMPLES, 3, &numbers[..]).expect("finite");
    assert_eq!(ExcludedProducts::of(&numbers), None);
    let fit = |interactions| {
        let spec = Spec { kernel: KernelSpec::poly(2), interactions, ..Spec::default() };
        spec.fit(&numbers, &y).expect("it is fitted").solutions()[0].alpha.clone()
    };
    assert_eq!(fit(Interactions::Possible), fit(Interactions::All));
}

/// Few terms are searched for among possible ones, whose number is what evidence counts.
#[test]
fn few_terms_are_possible_ones() {
    let data = columns(false);
    let (x, y) = (matrix(&data), targets(&data));
    let spec = SparseSpec { kernel: KernelSpec::poly(2), ..SparseSpec::default() };
    let possible = f64::from(28 - 4 - 3);
    assert_eq!(spec.fit(&x, &y).expect("it runs").dictionary(), possible);
    let found = spec.fit(&x, &y).expect("it runs");
    assert!(found.terms().iter().all(|term| !impossible(&term.monomial)), "{found:?}");
    let all = SparseSpec { interactions: Interactions::All, ..spec };
    assert_eq!(all.fit(&x, &y).expect("it runs").dictionary(), 28.0);
}
