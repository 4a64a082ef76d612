//! Every step from a support, against fits of every neighbour by other means.

use super::{
    instances::{hereditary, instances, targets},
    *,
};
use crate::{
    loss::{Logistic, Loss, LossSpec},
    sparse::{
        evidence::DevianceEvidence,
        logistic::Classes,
        objective::{LeastSquares, Objective},
    },
};

/// Solves linear equations by elimination with pivots; `None` if there is no one solution.
fn eliminated(mut a: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let m = a.len();
    for p in 0..m {
        let pivot = (p..m).max_by(|&i, &j| a[i][p].abs().total_cmp(&a[j][p].abs()))?;
        a.swap(p, pivot);
        if a[p][p].abs() < 1e-14 {
            return None;
        }
        for q in (0..m).filter(|&q| q != p) {
            let factor = a[q][p] / a[p][p];
            let row = a[p].clone();
            a[q].iter_mut().zip(&row).for_each(|(entry, pivot)| *entry -= factor * pivot);
        }
    }
    Some((0..m).map(|p| a[p][m] / a[p][p]).collect())
}

/// The least deviance of columns, by damped iterations of weighted least squares.
fn deviance(columns: &[Vec<f64>], y: &[f64], weights: &[f64], intercept: bool) -> f64 {
    let ones = vec![1.0; y.len()];
    let design: Vec<&Vec<f64>> = intercept.then_some(&ones).into_iter().chain(columns).collect();
    let value = |b: &[f64]| {
        let t = |i: usize| design.iter().zip(b).map(|(column, b)| b * column[i]).sum::<f64>();
        2.0 * (0..y.len()).map(|i| weights[i] * (1.0 + (-y[i] * t(i)).exp()).ln()).sum::<f64>()
    };
    let mut b = vec![0.0; design.len()];
    for _ in 0..200 {
        let t = |i: usize| design.iter().zip(&b).map(|(column, b)| b * column[i]).sum::<f64>();
        let p = |i: usize| 1.0 / (1.0 + (-t(i)).exp());
        let row = |r: usize| -> Vec<f64> {
            let entry = |c: usize| {
                (0..y.len()).map(|i| weights[i] * p(i) * (1.0 - p(i)) * design[r][i] * design[c][i]).sum::<f64>()
            };
            let score =
                (0..y.len()).map(|i| weights[i] * (f64::from(u8::from(y[i] > 0.0)) - p(i)) * design[r][i]).sum::<f64>();
            (0..design.len()).map(entry).chain([score]).collect()
        };
        let Some(step) = eliminated((0..design.len()).map(row).collect()) else { break };
        let (before, mut length) = (value(&b), 1.0);
        let at = |length: f64| -> Vec<f64> { b.iter().zip(&step).map(|(b, s)| b + length * s).collect() };
        while value(&at(length)) > before && length > 1e-6 {
            length *= 0.5;
        }
        b = at(length);
        if before - value(&b) < 1e-13 {
            break;
        }
    }
    value(&b)
}

/// What each kind of hierarchy asks of a support, from the exponents.
fn allowed(hierarchy: Hierarchy, support: &[Monomial]) -> bool {
    let parents = |monomial: &Monomial| -> Vec<Monomial> {
        let less = |(j, _): &(usize, usize)| {
            let fewer = monomial.factors().iter().map(|&(i, e)| (i, if i == *j { e - 1 } else { e }));
            Monomial::new(&fewer.collect::<Vec<_>>())
        };
        monomial.factors().iter().map(less).filter(|parent| parent.degree() > 0).collect()
    };
    support.iter().all(|monomial| {
        let parents = parents(monomial);
        match hierarchy {
            Hierarchy::None => true,
            Hierarchy::Weak => parents.is_empty() || parents.iter().any(|parent| support.contains(parent)),
            Hierarchy::Strong => parents.iter().all(|parent| support.contains(parent)),
        }
    })
}

#[test]
fn every_allowed_step_of_every_loss_is_what_fits_of_all_neighbours_say() {
    let account = Account::new(Memory::limit(1 << 30));
    for seed in 0..3 {
        let (x, y) = hereditary(45, 60 + seed);
        for spec in instances().into_iter().filter(|spec| spec.penalty == SparsePenalty::Evidence) {
            for (weighted, fit_intercept, kernel) in
                [(false, true, poly(1, 2)), (true, true, poly(1, 3)), (true, false, poly(1, 2))]
            {
                let spec = SparseSpec { kernel, fit_intercept, ..spec.clone() };
                let y = targets(&spec, &y);
                let weights: Vec<f64> = (0..45).map(|i| if weighted { f64::from(i % 4) } else { 1.0 }).collect();
                let found = spec.run_as(&x, &y, Some(&weights), &account, 0, false).expect("fits");
                check_steps(&spec, &found, &x, &y, &weights);
            }
        }
    }
}

fn check_steps(spec: &SparseSpec, found: &SparseFunction, x: &FeatureMatrix<'_>, y: &[f64], weights: &[f64]) {
    let rows: Vec<usize> = (0..y.len()).filter(|&i| weights[i] > 0.0).collect();
    let (x, y): (_, Vec<f64>) = (x.select_samples(&rows).expect("valid"), rows.iter().map(|&i| y[i]).collect());
    let weights: Vec<f64> = rows.iter().map(|&i| weights[i]).collect();
    let design = Design::new(&y, Some(&weights), spec.fit_intercept).expect("valid");
    let dictionary = Dictionary::new(x.view(), spec.kernel.build().expect("valid"), &design).expect("finite");
    let all: Vec<Monomial> = (0..dictionary.numbers()).map(|number| dictionary.monomial(number)).collect();
    let samples: f64 = weights.iter().sum();
    let count = dictionary.count();
    let smaller = |sign: f64| {
        let own = || (0..y.len()).filter(|&i| y[i] == sign);
        own().map(|i| weights[i]).sum::<f64>().min(own().count() as f64)
    };
    let squared = Evidence::new(rows.len(), samples, spec.fit_intercept, count, None);
    let empty = deviance(&[], &y, &weights, spec.fit_intercept);
    let classes = DevianceEvidence::new(empty, samples, smaller(1.0).min(smaller(-1.0)), count, None);
    // Columns of deviation 1 around their means, so that nothing is lost in the equations.
    let standard = |monomial: &Monomial| -> Vec<f64> {
        let values: Vec<f64> = (0..y.len()).map(|i| monomial.value(&x.row(i))).collect();
        let mean = if spec.fit_intercept { values.iter().sum::<f64>() / y.len() as f64 } else { 0.0 };
        let size = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>().sqrt() / (y.len() as f64).sqrt();
        values.iter().map(|x| (x - mean) / size).collect()
    };
    let criterion = |support: &[Monomial]| -> f64 {
        if support.is_empty() {
            return 0.0;
        }
        if spec.loss == LossSpec::Logistic {
            let columns: Vec<Vec<f64>> = support.iter().map(standard).collect();
            return classes.criterion(deviance(&columns, &y, &weights, spec.fit_intercept), support.len());
        }
        let columns: Vec<Vec<f64>> = support
            .iter()
            .map(|monomial| dictionary.column(all.iter().position(|other| other == monomial).expect("listed") as u64))
            .map(|column| column.expect("no constant"))
            .collect();
        let columns: Vec<&[f64]> = columns.iter().map(|column| &column[..]).collect();
        squared.criterion(unexplained(&columns, design.target()), support.len())
    };
    let own: Vec<Monomial> = found.terms().iter().map(|term| term.monomial.clone()).collect();
    assert!(allowed(spec.hierarchy, &own), "{own:?}");
    assert!((criterion(&own) - found.criterion()).abs() < 1e-5, "{spec:?} {} {found:?}", criterion(&own));
    let least = |supports: Vec<Vec<Monomial>>| {
        let criteria = supports.iter().filter(|support| allowed(spec.hierarchy, support)).map(|s| criterion(s));
        criteria.fold(f64::INFINITY, f64::min) - found.criterion()
    };
    let without = |i: usize| {
        let mut others = own.clone();
        others.remove(i);
        others
    };
    let others: Vec<&Monomial> = all.iter().filter(|monomial| !own.contains(monomial)).collect();
    let more = |support: &[Monomial], one: &&Monomial| [support, &[(*one).clone()]].concat();
    let additions = others.iter().map(|one| more(&own, one)).collect();
    let removals = (0..own.len()).map(without).collect();
    let exchanges = (0..own.len()).flat_map(|i| others.iter().map(move |one| more(&without(i), one))).collect();
    let steps = found.certificate().steps().expect("by evidence");
    assert_eq!(steps.scope, StepScope::Every);
    assert!(steps.holds(), "{spec:?} {found:?}");
    for (name, expected, got) in [
        ("addition", least(additions), steps.addition),
        ("removal", least(removals), steps.removal),
        ("exchange", least(exchanges), steps.exchange),
    ] {
        assert!(expected == got || (expected - got).abs() < 1e-4, "{name}: {expected} {got} {spec:?} {found:?}");
    }
}

/// What a column leaves is never less than its bound, and about what its score says.
#[test]
fn no_fit_is_better_than_its_bound() {
    for seed in 0..4 {
        let (x, y) = hereditary(50, 80 + seed);
        let spec = SparseSpec { loss: LossSpec::Logistic, ..SparseSpec::default() };
        let y = targets(&spec, &y);
        let weights: Vec<f64> = (0..50).map(|i| 0.5 + f64::from(i % 3)).collect();
        let plain = Design::new(&y, None, true).expect("valid");
        let dictionary = Dictionary::new(x.view(), poly(1, 2).build().expect("valid"), &plain).expect("finite");
        let evidence = DevianceEvidence::new(1.0, 50.0, 25.0, dictionary.count(), None);
        let classes = Classes { y: y.clone(), weights: weights.clone(), intercept: true, evidence };
        let columns: Vec<Vec<f64>> = (0..dictionary.numbers()).filter_map(|number| dictionary.column(number)).collect();
        let mut proven = 0;
        for k in 0..3 {
            let base: Vec<&[f64]> = columns[..k].iter().map(|column| &column[..]).collect();
            let fit = classes.fit(&base);
            let by_other_means = deviance(&columns[..k], &y, &weights, true);
            assert!((classes.left(&fit) - by_other_means).abs() < 1e-8);
            for column in &columns[k..] {
                let estimate = classes.besides(&fit, column);
                let left = classes.left(&classes.fit(&[&base[..], &[column]].concat()));
                assert!(estimate.least <= left + 1e-9, "{estimate:?} {left}");
                // It can often be used.
                proven += usize::from(estimate.least > 0.0);
                if estimate.least > 0.0 {
                    let product: f64 = classes.left(&fit) - left;
                    assert!(estimate.least <= classes.left(&fit) && product >= -1e-9, "{estimate:?}");
                }
            }
        }
        assert!(proven > 40, "{proven}");
    }
}

/// By least squares the bound is exact.
#[test]
fn estimates_by_least_squares_are_fits() {
    for case in Case::all() {
        let (design, columns) = (case.design(), case.columns());
        let objective =
            LeastSquares { design: &design, evidence: Evidence::new(24, 24.0, case.intercept, 100.0, None) };
        let fit = objective.fit(&[columns.column(0), columns.column(3)]);
        for place in [1, 2, 4] {
            let estimate = objective.besides(&fit, columns.column(place));
            let with = objective.fit(&[columns.column(0), columns.column(3), columns.column(place)]);
            assert!((estimate.likely - objective.left(&with)).abs() < 1e-9 && estimate.least == estimate.likely);
        }
    }
}

/// Classes that a term separates: it is named, and its coefficient is finite and said to have no bound.
#[test]
fn separated_classes_have_a_function() {
    let x = FeatureMatrix::from_columns(60, 5, noise(300, 4)).expect("valid");
    let spec = SparseSpec { loss: LossSpec::Logistic, ..SparseSpec::default() };
    let y: Vec<f64> = (0..60).map(|i| if x.row(i)[2] > 0.1 { 1.0 } else { -1.0 }).collect();
    let found = spec.fit(&x, &y).expect("fits");
    assert!(found.separated() && found.certificate().holds(), "{found:?}");
    assert_eq!(names(&found), ["x2"]);
    let term = &found.terms()[0];
    assert!(term.coefficient > 1.0 && term.coefficient < 1e3, "{term:?}");
    assert_eq!((term.std_error, term.lower, term.upper), (f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY));
    let values = found.predict(&x).expect("fits");
    let wrong = values.iter().zip(&y).filter(|(value, y)| *value * *y <= 0.0).count();
    assert!(wrong <= 2 && found.unexplained() < 1e-6, "{wrong}");
    // With one sample of the other kind beyond the threshold it is not separated any more.
    let mut mixed = y.clone();
    let far = (0..60).max_by(|&a, &b| x.row(a)[2].total_cmp(&x.row(b)[2])).expect("some");
    mixed[far] = -1.0;
    let found = spec.fit(&x, &mixed).expect("fits");
    assert!(!found.separated() && found.terms()[0].std_error.is_finite(), "{found:?}");
}

/// Nothing but a class is a target for classes.
#[test]
fn targets_of_classes_are_signs() {
    let (x, _) = hereditary(10, 1);
    let spec = SparseSpec { loss: LossSpec::Logistic, ..SparseSpec::default() };
    assert!(matches!(spec.fit(&x, &[0.5; 10]), Err(Error::BadValue { what: "y", .. })));
    assert!(matches!(spec.fit(&x, &[1.0; 10]), Err(Error::OneLabel { label: 1 })));
    assert!((Logistic.value(1.0, 0.0) - std::f64::consts::LN_2).abs() < 1e-15);
}
