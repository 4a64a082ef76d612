//! What every loss, penalty and hierarchy has in common.

use super::*;
use crate::loss::LossSpec;

/// Every combination that is allowed.
pub(super) fn instances() -> Vec<SparseSpec> {
    let mut all = Vec::new();
    for loss in LossSpec::ALL {
        for penalty in SparsePenalty::ALL {
            for hierarchy in Hierarchy::ALL {
                let spec = SparseSpec { kernel: poly(1, 2), loss, penalty, hierarchy, ..SparseSpec::default() };
                let known = matches!(loss, LossSpec::Squared | LossSpec::Logistic);
                let by_evidence = penalty == SparsePenalty::Evidence;
                if known && (by_evidence || hierarchy == Hierarchy::None) {
                    all.push(spec);
                } else {
                    let (x, y) = planted(12, 1);
                    assert!(matches!(spec.fit(&x, &y), Err(Error::Parameter { .. })), "{spec:?}");
                }
            }
        }
    }
    assert_eq!(all.len(), 12);
    all
}

/// Numbers, or for classes on which side of their median they are.
pub(super) fn targets(spec: &SparseSpec, y: &[f64]) -> Vec<f64> {
    if spec.loss != LossSpec::Logistic {
        return y.to_vec();
    }
    let mut sorted = y.to_vec();
    sorted.sort_by(f64::total_cmp);
    y.iter().map(|y| if *y > sorted[(sorted.len() - 1) / 2] { 1.0 } else { -1.0 }).collect()
}

/// `y = 3 x1 + 2 x1 x2 + 2 x2` of six variables and noise, which every hierarchy allows and no plane separates.
pub(super) fn hereditary(n: usize, seed: u64) -> (FeatureMatrix<'static>, Vec<f64>) {
    let x = FeatureMatrix::from_columns(n, 6, noise(n * 6, seed)).expect("valid");
    let errors = noise(n, seed + 1);
    let f = |x: &[f64]| 3.0 * x[1] + 2.0 * x[1] * x[2] + 2.0 * x[2];
    let y = (0..n).map(|i| f(&x.row(i)) + 1.5 * errors[i]).collect();
    (x, y)
}

#[test]
fn true_terms_are_found_whatever_the_instance() {
    let (x, y) = hereditary(240, 11);
    for spec in instances() {
        let found = spec.fit(&x, &targets(&spec, &y)).expect("fits");
        let names = names(&found);
        for name in ["x1", "x1 * x2", "x2"] {
            assert!(names.contains(&name.to_owned()), "{spec:?} {names:?}");
        }
        assert!(found.certificate().holds(), "{spec:?} {:?}", found.certificate());
        assert!(!found.separated());
        for term in found.terms() {
            assert!(term.lower < term.refit && term.refit < term.upper && term.std_error > 0.0);
        }
        // The Lasso shrinks: its path takes in terms of noise before its weights are large.
        assert!(names.len() == 3 || spec.penalty == SparsePenalty::L1, "{spec:?} {names:?}");
    }
}

#[test]
fn threads_weights_and_units_do_not_matter() {
    let (x, y) = hereditary(60, 5);
    let account = Account::new(Memory::limit(1 << 30));
    let weights: Vec<f64> = (0..60).map(|i| f64::from(1 + i % 3)).collect();
    let repeated: Vec<usize> = (0..60).flat_map(|i| vec![i; 1 + i % 3]).collect();
    let scaled =
        x.map_columns(|j, column| column.iter_mut().for_each(|x| *x *= 10_f64.powi(3 * j as i32 - 6))).expect("valid");
    for spec in instances() {
        let y = targets(&spec, &y);
        for listed in [0, u64::MAX] {
            let run = || spec.run_as(&x, &y, Some(&weights), &account, listed, true).expect("fits");
            let found = with_threads(1, run);
            assert_eq!(found, with_threads(3, run), "{spec:?}");
            let rows: Vec<f64> = repeated.iter().map(|&i| y[i]).collect();
            let copies = spec
                .run_as(&x.select_samples(&repeated).expect("valid"), &rows, None, &account, listed, true)
                .expect("fits");
            let units = spec.run_as(&scaled, &y, Some(&weights), &account, listed, true).expect("fits");
            for other in [copies, units] {
                assert_eq!(names(&found), names(&other), "{spec:?}");
                assert!((found.criterion() - other.criterion()).abs() < 1e-5, "{spec:?}");
            }
        }
    }
}

#[test]
fn odd_targets_have_answers_whatever_the_instance() {
    for spec in instances() {
        for n in 2..8 {
            let x = FeatureMatrix::from_columns(n, 2, noise(2 * n, 1)).expect("valid");
            let found = spec.fit(&x, &targets(&spec, &noise(n, 2))).expect("fits");
            assert!(found.predict(&x).expect("fits").iter().all(|value| value.is_finite()), "{n}: {found:?}");
        }
        // Nothing to explain it with.
        let ones = FeatureMatrix::from_columns(30, 2, vec![1.0; 60]).expect("valid");
        assert!(spec.fit(&ones, &targets(&spec, &noise(30, 1))).expect("fits").terms().is_empty());
        // Copies, and sums of columns.
        let mut x = noise(60 * 4, 7);
        x.copy_within(0..60, 60);
        (0..60).for_each(|i| x[180 + i] = x[i] + x[120 + i]);
        let y: Vec<f64> = (0..60).map(|i| x[i] + 0.8 * noise(60, 3)[i]).collect();
        let x = FeatureMatrix::from_columns(60, 4, x).expect("valid");
        let found = spec.fit(&x, &targets(&spec, &y)).expect("fits");
        assert!(found.certificate().holds(), "{spec:?} {found:?}");
    }
}

#[test]
fn stability_counts_how_often_a_term_is_named() {
    let (x, y) = hereditary(90, 3);
    let account = Account::new(Memory::limit(1 << 30));
    for spec in instances() {
        let y = targets(&spec, &y);
        let found = spec.fit(&x, &y).expect("fits");
        let draw = |seed: u64| spec.stability(&found, &x, &y, None, 3, seed, &account).expect("fits");
        let stable = draw(1);
        assert_eq!(stable, with_threads(1, || draw(1)));
        assert!(stable.named.iter().all(|(_, share)| (0.3..=1.0).contains(share)));
        assert!(stable.share(&Monomial::new(&[(1, 1)])) == 1.0, "{spec:?} {stable:?}");
        assert_eq!(stable.share(&Monomial::new(&[(5, 7)])), 0.0);
        let none = spec.stability(&found, &x, &y, None, 0, 1, &account);
        assert!(matches!(none, Err(Error::Parameter { .. })));
    }
}

/// A mean of many deviations leaves nothing but itself in the first digits of a product.
#[test]
fn variables_far_from_zero_are_told_apart() {
    for spec in instances() {
        for (mean, kernel) in [(1e8, KernelSpec::Linear), (200.0, poly(1, 2)), (1e4, poly(1, 2)), (1e6, poly(1, 2))] {
            let (n, d) = (150, 4);
            let mut x = noise(n * d, 31);
            let y: Vec<f64> = (0..n).map(|i| 3.0 * x[i] + 1.5 * noise(n, 8)[i]).collect();
            x.iter_mut().take(n).for_each(|x| *x += mean);
            let x = FeatureMatrix::from_columns(n, d, x).expect("valid");
            let spec = SparseSpec { kernel, ..spec.clone() };
            let found = spec.fit(&x, &targets(&spec, &y)).expect("fits");
            assert_eq!(found.terms()[0].monomial.to_string(), "x0", "{mean} {spec:?} {found:?}");
            let values = found.predict(&x).expect("fits");
            let error = values.iter().zip(&y).filter(|(value, y)| (**value > 0.0) != (**y > 0.0)).count();
            assert!(error < n / 3, "{mean}: {error} {spec:?}");
        }
    }
}
