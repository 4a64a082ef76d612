//! Certificates of penalised functions, from their coefficients and every column.

use super::{
    instances::{hereditary, instances},
    *,
};
use crate::sparse::penalty::Penalty;

/// What a function leaves of the target in the geometry of the design, and its weights in units of columns of length 1.
fn residual(case: &Case, found: &SparseFunction) -> (Vec<f64>, Vec<f64>) {
    let (design, dictionary, columns) = (case.design(), case.dictionary(), case.columns());
    let mut weights = vec![0.0; columns.len()];
    for term in found.terms() {
        let place = (0..columns.len())
            .find(|&place| dictionary.monomial(columns.number(place)) == term.monomial)
            .expect("every term is listed");
        let values: Vec<f64> = (0..case.y.len()).map(|i| term.monomial.value(&case.x.row(i))).collect();
        weights[place] = term.coefficient * design.size_of(&values) / design.length();
    }
    let mut residual = design.target().to_vec();
    for (place, weight) in weights.iter().enumerate() {
        residual.iter_mut().zip(columns.column(place)).for_each(|(r, x)| *r -= weight * x);
    }
    (residual, weights)
}

#[test]
fn gaps_and_violations_are_those_of_all_columns() {
    let account = Account::new(Memory::limit(1 << 30));
    let mut with_terms = 0;
    for case in Case::all() {
        for penalty in [SparsePenalty::L1, SparsePenalty::Mcp, SparsePenalty::Scad] {
            let spec = SparseSpec { penalty, ..spec_of(&case) };
            let runs = [u64::MAX, 0].map(|listed| {
                spec.run_as(&case.x, &case.y, case.weights.as_deref(), &account, listed, false).expect("fits")
            });
            for found in &runs {
                with_terms += found.terms().len();
                let (design, columns) = (case.design(), case.columns());
                let (r, weights) = residual(&case, found);
                let products = columns.products(&r);
                let n: f64 = design.roots().iter().map(|root| root * root).sum();
                let of_units = |lambda: f64| lambda * n.sqrt() / design.length();
                let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                assert!(found.certificate().holds(), "{spec:?} {found:?}");
                assert!((dot(&r, &r) - found.unexplained()).abs() < 1e-9);
                match found.certificate() {
                    SparseCertificate::Gap { lambda, relative_gap } => {
                        let lambda = of_units(lambda);
                        let most = products.iter().fold(0.0, |most: f64, product| most.max(product.abs()));
                        let primal = 0.5 * dot(&r, &r) + lambda * weights.iter().map(|w| w.abs()).sum::<f64>();
                        let dual_point: Vec<f64> = r.iter().map(|r| r * (lambda / most).min(1.0)).collect();
                        let dual = dot(&dual_point, design.target()) - 0.5 * dot(&dual_point, &dual_point);
                        assert!(((primal - dual) / primal - relative_gap).abs() < 1e-8, "{found:?}");
                    }
                    SparseCertificate::Stationarity { lambda, violation } => {
                        let lambda = of_units(lambda);
                        let own = if penalty == SparsePenalty::Mcp { Penalty::Mcp(3.0) } else { Penalty::Scad(3.7) };
                        let of_column = |(product, weight): (&f64, &f64)| match weight {
                            0.0 => (product.abs() - lambda).max(0.0),
                            _ => (product - own.slope(*weight, lambda).copysign(*weight)).abs(),
                        };
                        let most = products.iter().zip(&weights).map(of_column).fold(0.0, f64::max);
                        assert!((most / lambda - violation).abs() < 1e-6, "{found:?}");
                    }
                    SparseCertificate::Steps(_) => unreachable!("a penalty was asked for"),
                }
            }
            let [listed, passes] = &runs;
            assert_eq!(names(listed), names(passes), "{spec:?}");
        }
    }
    assert!(with_terms > 50, "{with_terms}");
}

/// The function is the point of its path with the smallest criterion, and its refit is least squares.
#[test]
fn the_best_point_of_the_path_is_taken() {
    let (x, y) = hereditary(80, 2);
    for spec in instances().into_iter().filter(|spec| spec.penalty != SparsePenalty::Evidence) {
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
