use std::collections::BTreeMap;

use super::*;
use crate::{
    Account, Error, FeatureMatrix, Memory,
    form::laws::with_threads,
    kernel::{KernelSpec, Monomial},
    solver::{SplitMix64, shuffle},
    sparse::SparseSpec,
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
    spec: SparseSpec,
}

impl Case {
    fn new(n: usize, d: usize, seed: u64, f: impl Fn(&[f64]) -> f64, sigma: f64) -> Self {
        let x = FeatureMatrix::from_columns(n, d, noise(n * d, seed)).expect("valid");
        let errors = noise(n, seed + 1);
        let y = (0..n).map(|i| f(&x.row(i)) + sigma * errors[i]).collect();
        let kernel = KernelSpec::Poly { degree: 2, scale: 1.0, coef0: 1.0, degrees: Some((1, 2)) };
        Self { x, y, spec: SparseSpec { kernel, ..SparseSpec::default() } }
    }

    fn planted(n: usize) -> Self {
        Self::new(n, 6, 11, |x| 1.0 + 2.0 * x[1] * x[2] - 1.5 * x[3] * x[3] + x[5], 0.1)
    }

    fn stability(&self, options: &StabilityOptions) -> Result<Stability, Error> {
        let account = Account::new(Memory::limit(1 << 30));
        stability(&self.spec, &self.x, (&self.y, None), options, &account, |_| {})
    }
}

fn planted() -> Vec<Monomial> {
    vec![Monomial::new(&[(1, 1), (2, 1)]), Monomial::new(&[(3, 2)]), Monomial::new(&[(5, 1)])]
}

#[test]
fn stable_monomials_are_the_planted_ones() {
    let case = Case::planted(60);
    let options = StabilityOptions { pairs: 8, seed: 7, ..StabilityOptions::default() };
    let run = |options: &StabilityOptions| case.stability(options).expect("works");
    let found = run(&options);
    assert_eq!((found.subsamples, found.unproven, found.dictionary), (16, 0, 27.0));
    let mut stable: Vec<Monomial> = found.stable().iter().map(|entry| entry.monomial.clone()).collect();
    stable.sort();
    let mut expected = planted();
    expected.sort();
    assert_eq!(stable, expected, "{found:?}");
    // Every half names what it names once.
    let sum: f64 = found.entries.iter().map(|entry| entry.frequency).sum();
    let q = found.selected_per_fit;
    assert!((sum - q).abs() < 1e-12 && q >= 3.0, "{found:?}");
    // q^2/((2 pi - 1) N) and its refinement.
    assert!((found.expected_false() - q * q / 27.0 / 0.5).abs() < 1e-12);
    let refined = q * q / 27.0 / (2.0 * (0.5 - 1.0 / 16.0));
    assert!((found.expected_false_unimodal().expect("applies") - refined).abs() < 1e-12);
    let strict = run(&StabilityOptions { threshold: 0.9, ..options });
    let refined = 4.0 * (0.1 + 1.0 / 16.0) / (1.0 + 1.0 / 8.0) * q * q / 27.0;
    assert!((strict.expected_false_unimodal().expect("applies") - refined).abs() < 1e-12);
    assert_eq!(strict.entries, found.entries);
    let one = StabilityOptions { pairs: 1, ..options };
    assert!(run(&one).expected_false_unimodal().is_none());
    assert_eq!(with_threads(1, || run(&one)), with_threads(3, || run(&one)));
}

/// The first pair, with the samples of the halves alone.
#[test]
fn frequencies_are_those_of_the_procedure_by_hand() {
    let case = Case::planted(40);
    let options = StabilityOptions { pairs: 1, seed: 3, ..StabilityOptions::default() };
    let found = case.stability(&options).expect("works");
    let mut order: Vec<usize> = (0..40).collect();
    shuffle(&mut order, &mut SplitMix64::new(3));
    let mut counts = BTreeMap::new();
    for half in 0..2 {
        let mut own: Vec<usize> = order.iter().copied().skip(half).step_by(2).collect();
        own.sort_unstable();
        let rows: Vec<f64> = own.iter().flat_map(|&i| case.x.row(i)).collect();
        let y: Vec<f64> = own.iter().map(|&i| case.y[i]).collect();
        let x = FeatureMatrix::from_rows(20, 6, &rows).expect("valid");
        for term in case.spec.fit(&x, &y).expect("works").terms() {
            *counts.entry(term.monomial.clone()).or_insert(0.0) += 0.5;
        }
    }
    assert_eq!(found.entries.len(), counts.len());
    assert!(found.entries.iter().all(|entry| counts[&entry.monomial] == entry.frequency), "{found:?}");
}

/// Halves of noise name nothing that most of them agree on.
#[test]
fn noise_is_not_stable() {
    for seed in 0..3 {
        let case = Case::new(40, 6, 100 + 10 * seed, |_| 0.0, 1.0);
        let found = case.stability(&StabilityOptions { pairs: 5, ..StabilityOptions::default() }).expect("works");
        assert!(found.stable().is_empty() && found.selected_per_fit < 1.0, "{found:?}");
    }
}

#[test]
fn samples_without_weight_are_in_no_half() {
    let case = Case::planted(50);
    let account = Account::new(Memory::limit(1 << 30));
    let options = StabilityOptions { pairs: 2, ..StabilityOptions::default() };
    // Of ten samples the targets are wild, and their weights 0.
    let (mut y, mut weights) = (case.y.clone(), vec![1.0; 50]);
    (0..10).for_each(|i| (y[5 * i], weights[5 * i]) = (1e6, 0.0));
    let mut finished = Vec::new();
    let found = stability(&case.spec, &case.x, (&y, Some(&weights)), &options, &account, |done| finished.push(done));
    let found = found.expect("works");
    assert_eq!(finished, [1, 2, 3, 4]);
    assert!(planted().contains(&found.entries[0].monomial), "{found:?}");
}

#[test]
fn wrong_input_is_refused() {
    let case = Case::planted(20);
    let usual = StabilityOptions::default();
    for (options, name) in [
        (StabilityOptions { pairs: 0, ..usual }, "pairs"),
        (StabilityOptions { pairs: usize::MAX, ..usual }, "pairs"),
        (StabilityOptions { threshold: 0.5, ..usual }, "threshold"),
        (StabilityOptions { threshold: f64::NAN, ..usual }, "threshold"),
    ] {
        let error = case.stability(&options).expect_err("refused");
        assert!(matches!(error, Error::Parameter { parameter, .. } if parameter.name() == name), "{error}");
    }
    let account = Account::new(Memory::limit(1 << 30));
    let run =
        |y: &[f64], weights: Option<&[f64]>| stability(&case.spec, &case.x, (y, weights), &usual, &account, |_| {});
    assert!(matches!(run(&case.y[1..], None), Err(Error::Shape { what: "y", .. })));
    assert!(matches!(run(&case.y, Some(&[1.0])), Err(Error::Shape { what: "sample_weight", .. })));
    let one = [vec![1.0], vec![0.0; 19]].concat();
    assert!(matches!(run(&case.y, Some(&one)), Err(Error::Parameter { .. })));
}
