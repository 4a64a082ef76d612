//! Certificates of penalised functions, from their coefficients and every column.

use super::{
    instances::{hereditary, instances, targets},
    *,
};
use crate::{loss::LossSpec, sparse::penalty::Penalty};

/// A penalised function in units in which every column has length 1 and the loss the curvature 1 at most, from its coefficients and predictions.
struct Unpacked {
    /// The weight of every column.
    weights: Vec<f64>,
    /// The negative gradient of the loss in the predictions.
    residual: Vec<f64>,
    /// The loss, and that of the best constant.
    loss: f64,
    empty: f64,
    /// The value of the dual at a multiple of the residual.
    dual: Box<dyn Fn(f64) -> f64>,
    /// A size of the penalty in these units, as a multiple of the one that is told.
    unit: f64,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The weights of all columns, times a length.
fn weights_of(case: &Case, found: &SparseFunction, length: f64) -> Vec<f64> {
    let (design, dictionary, columns) = (case.design(), case.dictionary(), case.columns());
    let mut weights = vec![0.0; columns.len()];
    for term in found.terms() {
        let place = (0..columns.len())
            .find(|&place| dictionary.monomial(columns.number(place)) == term.monomial)
            .expect("every term is listed");
        let values: Vec<f64> = (0..case.y.len()).map(|i| term.monomial.value(&case.x.row(i))).collect();
        weights[place] = term.coefficient * design.size_of(&values) / length;
    }
    weights
}

/// The squared loss, in units in which the target has length 1.
fn of_numbers(case: &Case, found: &SparseFunction) -> Unpacked {
    let (design, columns) = (case.design(), case.columns());
    let weights = weights_of(case, found, design.length());
    let mut residual = design.target().to_vec();
    for (place, weight) in weights.iter().enumerate() {
        residual.iter_mut().zip(columns.column(place)).for_each(|(r, x)| *r -= weight * x);
    }
    let roots = dot(design.roots(), design.roots());
    let (r, target) = (residual.clone(), design.target().to_vec());
    let dual = move |scale: f64| scale * dot(&r, &target) - 0.5 * scale * scale * dot(&r, &r);
    let (loss, unit) = (0.5 * dot(&residual, &residual), roots.sqrt() / design.length());
    Unpacked { weights, loss, empty: 0.5, dual: Box::new(dual), residual, unit }
}

/// Four times the logistic loss, by its formulas.
fn of_classes(case: &Case, found: &SparseFunction) -> Unpacked {
    let (design, t) = (case.design(), found.predict(&case.x).expect("fits"));
    let squares: Vec<f64> = design.roots().iter().map(|root| root * root).collect();
    let (y, n) = (case.y.clone(), case.y.len());
    let value = |t: &[f64]| -> f64 { (0..n).map(|i| 4.0 * squares[i] * (-y[i] * t[i]).exp().ln_1p()).sum() };
    let miss: Vec<f64> = (0..n).map(|i| 1.0 / (1.0 + (y[i] * t[i]).exp())).collect();
    let of_class = |sign: f64| -> f64 { (0..n).filter(|&i| y[i] == sign).map(|i| squares[i]).sum() };
    let constant = if case.intercept { (of_class(1.0) / of_class(-1.0)).ln() } else { 0.0 };
    let residual: Vec<f64> = (0..n).map(|i| 4.0 * design.roots()[i] * y[i] * miss[i]).collect();
    let (loss, empty) = (value(&t), value(&vec![constant; n]));
    let unit = 4.0 * squares.iter().sum::<f64>().sqrt();
    let dual = move |scale: f64| {
        let entropy = |c: f64| -c * c.ln() - (1.0 - c) * (1.0 - c).ln();
        (0..n).map(|i| 4.0 * squares[i] * entropy(scale * miss[i])).sum()
    };
    Unpacked { weights: weights_of(case, found, 1.0), loss, empty, dual: Box::new(dual), residual, unit }
}

/// Every case with numbers and with classes.
fn cases() -> Vec<(Case, LossSpec)> {
    let mut cases = Vec::new();
    for loss in [LossSpec::Squared, LossSpec::Logistic] {
        for mut case in Case::all() {
            let spec = SparseSpec { loss, ..spec_of(&case) };
            case.y = targets(&spec, &case.y);
            cases.push((case, loss));
        }
    }
    cases
}

#[test]
fn gaps_and_violations_are_those_of_all_columns() {
    let account = Account::new(Memory::limit(1 << 30));
    let mut with_terms = [0, 0];
    for (case, loss) in cases() {
        for penalty in [SparsePenalty::L1, SparsePenalty::Mcp, SparsePenalty::Scad] {
            let spec = SparseSpec { loss, penalty, ..spec_of(&case) };
            let runs = [u64::MAX, 0].map(|listed| {
                spec.run_as(&case.x, &case.y, case.weights.as_deref(), &account, listed, false).expect("fits")
            });
            for found in &runs {
                with_terms[usize::from(loss == LossSpec::Logistic)] += found.terms().len();
                let at = if loss == LossSpec::Squared { of_numbers(&case, found) } else { of_classes(&case, found) };
                let products = case.columns().products(&at.residual);
                assert!(found.certificate().holds(), "{spec:?} {found:?}");
                assert!((at.loss / at.empty - found.unexplained()).abs() < 1e-9, "{spec:?} {found:?}");
                match found.certificate() {
                    SparseCertificate::Gap { lambda, relative_gap } => {
                        let lambda = lambda * at.unit;
                        let most = products.iter().fold(0.0, |most: f64, product| most.max(product.abs()));
                        let primal = at.loss + lambda * at.weights.iter().map(|w| w.abs()).sum::<f64>();
                        let dual = (at.dual)((lambda / most).min(1.0));
                        assert!(((primal - dual) / primal - relative_gap).abs() < 1e-8, "{found:?}");
                    }
                    SparseCertificate::Stationarity { lambda, violation } => {
                        let lambda = lambda * at.unit;
                        let own = if penalty == SparsePenalty::Mcp { Penalty::Mcp(3.0) } else { Penalty::Scad(3.7) };
                        let of_column = |(product, weight): (&f64, &f64)| match weight {
                            0.0 => (product.abs() - lambda).max(0.0),
                            _ => (product - own.slope(*weight, lambda).copysign(*weight)).abs(),
                        };
                        let most = products.iter().zip(&at.weights).map(of_column).fold(0.0, f64::max);
                        assert!((most / lambda - violation).abs() < 1e-6, "{found:?}");
                    }
                    SparseCertificate::Steps(_) => unreachable!("a penalty was asked for"),
                }
            }
            let [listed, passes] = &runs;
            assert_eq!(names(listed), names(passes), "{spec:?}");
        }
    }
    assert!(with_terms[0] > 50 && with_terms[1] > 50, "{with_terms:?}");
}

/// MCP and SCAD do not hold large weights, and where classes are separated nothing else does: the path ends before.
#[test]
fn weights_of_separated_classes_are_held() {
    let (n, d) = (60, 5);
    let x = noise(n * d, 4);
    // By one variable, by two, and but for samples at the border.
    let one: Vec<f64> = (0..n).map(|i| x[i]).collect();
    let two: Vec<f64> = (0..n).map(|i| x[i] + x[n + i]).collect();
    let mut copied = x.clone();
    copied.iter_mut().take(n).enumerate().for_each(|(i, x)| *x = if i % 3 == 0 { 0.0 } else { x.signum() });
    let border: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { noise(n, 8)[i] } else { copied[i] }).collect();
    for (x, y) in [(x.clone(), one), (x, two), (copied, border)] {
        let x = FeatureMatrix::from_columns(n, d, x).expect("valid");
        let y: Vec<f64> = y.iter().map(|y| y.signum()).collect();
        for penalty in [SparsePenalty::L1, SparsePenalty::Mcp, SparsePenalty::Scad] {
            let spec = SparseSpec { loss: LossSpec::Logistic, penalty, ..SparseSpec::default() };
            let found = spec.fit(&x, &y).expect("fits");
            assert!(found.certificate().holds(), "{spec:?} {found:?}");
            assert!(!found.terms().is_empty(), "{spec:?} {found:?}");
            let t = found.predict(&x).expect("fits");
            assert!(t.iter().all(|t| t.abs() < 20.0), "{spec:?} {found:?}");
            let wrong = t.iter().zip(&y).filter(|(t, y)| **t * **y < 0.0).count();
            assert!(wrong <= n / 5, "{spec:?} {wrong} {found:?}");
        }
    }
}

/// The function is the point of its path with the smallest criterion, and its refit is that without a penalty.
#[test]
fn the_best_point_of_the_path_is_taken() {
    let (x, y) = hereditary(80, 2);
    for spec in instances().into_iter().filter(|spec| spec.penalty != SparsePenalty::Evidence) {
        let y = targets(&spec, &y);
        let found = spec.fit(&x, &y).expect("fits");
        let least = found.sizes().iter().map(|size| size.criterion).fold(f64::INFINITY, f64::min);
        assert!((found.criterion() - least).abs() < 1e-6, "{found:?}");
        let evidence = SparseSpec { penalty: SparsePenalty::Evidence, ..spec.clone() }.fit(&x, &y).expect("fits");
        assert!(evidence.criterion() <= found.criterion() + 1e-6);
        if names(&evidence) == names(&found) {
            for term in found.terms() {
                let other = evidence.terms().iter().find(|other| other.monomial == term.monomial).expect("same names");
                assert!((term.refit - other.coefficient).abs() < 1e-9 * other.coefficient.abs());
                assert!((term.evidence - other.evidence).abs() < 1e-6);
            }
        }
    }
}
