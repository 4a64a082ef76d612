//! Laws of supports, prices and searches, against all that there is to compare them with, one by one.

mod instances;
mod penalties;
mod steps;

use super::*;
use crate::{
    Account, Error, FeatureMatrix, Memory,
    form::laws::with_threads,
    kernel::{Degrees, KernelChoice, KernelName, KernelSpec, Monomial},
    solver::SplitMix64,
};

/// Numbers that look normal.
fn noise(count: usize, seed: u64) -> Vec<f64> {
    let mut random = SplitMix64::new(seed);
    let mut uniform = || random.below(1 << 50) as f64 / (1_u64 << 50) as f64 - 0.5;
    (0..count).map(|_| (0..12).map(|_| uniform()).sum()).collect()
}

/// The share of the target that columns leave unexplained, by elimination with pivots on their normal equations.
fn unexplained(columns: &[&[f64]], target: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let k = columns.len();
    let mut a: Vec<Vec<f64>> = (0..k)
        .map(|i| (0..k).map(|j| dot(columns[i], columns[j])).chain([dot(columns[i], target)]).collect())
        .collect();
    for p in 0..k {
        let pivot = (p..k).max_by(|&i, &j| a[i][p].abs().total_cmp(&a[j][p].abs())).expect("one is left");
        a.swap(p, pivot);
        for q in (0..k).filter(|&q| q != p) {
            let factor = a[q][p] / a[p][p];
            let row = a[p].clone();
            a[q].iter_mut().zip(&row).for_each(|(entry, pivot)| *entry -= factor * pivot);
        }
    }
    let solved: Vec<f64> = (0..k).map(|p| a[p][k] / a[p][p]).collect();
    let rest = (0..target.len())
        .map(|i| target[i] - columns.iter().zip(&solved).map(|(column, weight)| weight * column[i]).sum::<f64>());
    rest.map(|rest| rest * rest).sum()
}

struct Case {
    x: FeatureMatrix<'static>,
    y: Vec<f64>,
    weights: Option<Vec<f64>>,
    intercept: bool,
    kernel: KernelSpec,
}

impl Case {
    fn all() -> Vec<Self> {
        let (n, d) = (24, 5);
        let anova =
            KernelChoice { degree: Some(Degrees::range(1, 3).expect("valid")), ..KernelChoice::new(KernelName::Anova) };
        let kernels = [KernelSpec::Linear, poly(1, 2), poly(0, 2), poly(1, 3), anova.spec().expect("valid")];
        let mut cases = Vec::new();
        for (seed, kernel) in kernels.into_iter().enumerate() {
            for (weighted, intercept) in [(false, true), (true, true), (true, false)] {
                let seed = seed as u64;
                // WorkingColumns of very different sizes, and not centred.
                let x: Vec<f64> = noise(n * d, seed)
                    .iter()
                    .enumerate()
                    .map(|(i, x)| (x + 0.7) * 10_f64.powi((i / n) as i32 * 3 - 6))
                    .collect();
                let x = FeatureMatrix::from_columns(n, d, x).expect("valid");
                let y = (0..n).map(|i| 5.0 + x.row(i)[1] * 1e3 + 0.3 * noise(n, seed + 9)[i]).collect();
                let weights = weighted.then(|| (0..n).map(|i| (i % 4) as f64).collect());
                cases.push(Self { x, y, weights, intercept, kernel: kernel.clone() });
            }
        }
        cases
    }

    fn design(&self) -> Design {
        Design::new(&self.y, self.weights.as_deref(), self.intercept).expect("valid")
    }

    fn dictionary(&self) -> Dictionary<'_> {
        Dictionary::new(self.x.view(), self.kernel.build().expect("valid"), &self.design()).expect("finite")
    }

    fn columns(&self) -> WorkingColumns {
        let mut columns = WorkingColumns::new(self.x.samples());
        self.dictionary().list_all(&mut columns);
        columns
    }
}

/// What a column would explain besides others, one by one.
#[test]
fn prices_are_what_the_columns_explain() {
    for case in Case::all() {
        let (design, columns) = (case.design(), case.columns());
        let target = design.target();
        let support = Support::of(&columns, [0, 3, 4], target);
        let prices = Prices::new(&support, target);
        let leaves = |places: &[usize]| {
            unexplained(&places.iter().map(|&place| columns.column(place)).collect::<Vec<_>>(), target)
        };
        let now = leaves(support.places());
        assert!((now - support.unexplained()).abs() < 1e-9);
        for (i, explained) in prices.own().explained.iter().enumerate() {
            let mut others = support.places().to_vec();
            others.remove(i);
            assert!((leaves(&others) - now - explained * explained).abs() < 1e-9);
        }
        let additions = prices.best_additions(&support, &columns, columns.len());
        for &(place, gain) in &additions {
            let more = leaves(&[support.places(), &[place]].concat());
            assert!((now - more - gain).abs() < 1e-8, "{place}: {gain} {}", now - more);
        }
        for (i, exchanges) in prices.best_exchanges(&support, &columns, columns.len()).into_iter().enumerate() {
            for (place, gain) in exchanges.into_iter().filter(|(_, gain)| gain.is_finite()) {
                let mut others = support.places().to_vec();
                others[i] = place;
                assert!((now - leaves(&others) - gain).abs() < 1e-8, "{i} {place}: {gain}");
            }
        }
        let best = prices.best_exchange(&support, &columns);
        let all = prices.best_exchanges(&support, &columns, 1);
        let most = all.iter().map(|exchanges| exchanges[0].1).fold(f64::NEG_INFINITY, f64::max);
        assert_eq!(best.map(|best| best.gain), Some(most).filter(|most| *most > 0.0));
    }
}

/// A pass over the monomials prices them as their columns do.
#[test]
fn a_pass_prices_all_monomials() {
    for case in Case::all() {
        let (design, dictionary, columns) = (case.design(), case.dictionary(), case.columns());
        let target = design.target();
        let mut known = WorkingColumns::new(case.x.samples());
        for place in [1, 4] {
            known.push(columns.number(place), columns.column(place));
        }
        let support = Support::of(&known, [0, 1], target);
        let prices = Prices::new(&support, target);
        let offers = dictionary.offers(&support, &prices, 1000, &known);
        let listed = Support::of(&columns, [1, 4], target);
        let expected = prices.best_additions(&listed, &columns, 1000);
        assert_eq!(
            offers.additions.len(),
            expected.len(),
            "{:?} {} {:?} {expected:?}",
            case.kernel,
            case.intercept,
            offers.additions
        );
        for (term, (_, gain)) in offers.additions.iter().zip(expected) {
            assert!((term.gain - gain).abs() < 1e-9);
        }
        for (terms, exchanges) in offers.exchanges.iter().zip(prices.best_exchanges(&listed, &columns, 1000)) {
            let by_number = |number: u64| columns.place(number).expect("all are listed");
            for term in terms {
                let gain = exchanges.iter().find(|(place, _)| *place == by_number(term.number)).expect("listed").1;
                assert!((term.gain - gain).abs() < 1e-9);
            }
        }
        let correlated = dictionary.correlated(target, 1000, &known);
        for term in &correlated[0] {
            let product = columns.products(target)[columns.place(term.number).expect("listed")];
            assert!((term.gain - product * product).abs() < 1e-9);
        }
    }
}

/// The criterion of every support that differs in one term.
fn neighbours(found: &SparseFunction, case: &Case, evidence: Evidence) -> Vec<(usize, f64)> {
    let (design, dictionary, columns) = (case.design(), case.dictionary(), case.columns());
    let place = |monomial: &Monomial| {
        (0..columns.len()).find(|&place| dictionary.monomial(columns.number(place)) == *monomial).expect("listed")
    };
    let own: Vec<usize> = found.terms().iter().map(|term| place(&term.monomial)).collect();
    let mut all = Vec::new();
    let mut push = |places: Vec<usize>| {
        let support = Support::of(&columns, places.iter().copied(), design.target());
        if support.len() == places.len() {
            all.push((places.len(), evidence.criterion(support.unexplained(), places.len())));
        }
    };
    let others: Vec<usize> = (0..columns.len()).filter(|place| !own.contains(place)).collect();
    others.iter().for_each(|&other| push([&own[..], &[other]].concat()));
    for i in 0..own.len() {
        let mut fewer = own.clone();
        fewer.remove(i);
        push(fewer.clone());
        others.iter().for_each(|&other| push([&fewer[..], &[other]].concat()));
    }
    all
}

#[test]
fn no_single_step_makes_a_better_function() {
    for case in Case::all() {
        let spec = spec_of(&case);
        let account = Account::new(Memory::limit(1 << 30));
        let (design, dictionary) = (case.design(), case.dictionary());
        let evidence =
            Evidence::new(different(&case, &design), design.samples(), case.intercept, dictionary.count(), None);
        let listed = spec.run_as(&case.x, &case.y, case.weights.as_deref(), &account, u64::MAX, false).expect("fits");
        let passes = spec.run_as(&case.x, &case.y, case.weights.as_deref(), &account, 0, false).expect("fits");
        for found in [&listed, &passes] {
            assert!(found.certificate().holds(), "{found:?}");
            let neighbours = neighbours(found, &case, evidence);
            let least = |terms: usize| {
                let own = neighbours.iter().filter(|(size, _)| *size == terms).map(|(_, criterion)| *criterion);
                own.fold(f64::INFINITY, f64::min) - found.criterion()
            };
            let same = |a: f64, b: f64| a == b || (a - b).abs() < 1e-5;
            let (k, optimality) = (found.terms().len(), found.certificate().steps().expect("by evidence"));
            assert!(least(k + 1) >= -1e-6 && least(k) >= -1e-6, "{found:?}");
            if k > 0 {
                assert!(same(least(k), optimality.exchange), "{} {found:?}", least(k));
                assert!(same(least(k - 1), optimality.removal));
            }
            assert!(same(least(k + 1), optimality.addition), "{} {found:?}", least(k + 1));
        }
        let names = |found: &SparseFunction| found.terms().iter().map(|term| term.monomial.clone()).collect::<Vec<_>>();
        assert_eq!(names(&listed), names(&passes));
    }
}

/// All rows of the cases are different.
fn different(case: &Case, design: &Design) -> usize {
    (0..case.x.samples()).filter(|&i| design.roots()[i] > 0.0).count()
}

fn spec_of(case: &Case) -> SparseSpec {
    SparseSpec { kernel: case.kernel.clone(), fit_intercept: case.intercept, ..SparseSpec::default() }
}

fn poly(min: usize, max: usize) -> KernelSpec {
    let degree = Some(Degrees::range(min, max).expect("valid"));
    KernelChoice { degree, ..KernelChoice::new(KernelName::Poly) }.spec().expect("valid")
}

/// `y = 2 x1 x2 - 1.5 x3^2 + x5 + 4` of twelve variables, and noise.
fn planted(n: usize, seed: u64) -> (FeatureMatrix<'static>, Vec<f64>) {
    let x = FeatureMatrix::from_columns(n, 12, noise(n * 12, seed)).expect("valid");
    let errors = noise(n, seed + 1);
    let f = |x: &[f64]| 4.0 + 2.0 * x[1] * x[2] - 1.5 * x[3] * x[3] + x[5];
    let y = (0..n).map(|i| f(&x.row(i)) + 0.1 * errors[i]).collect();
    (x, y)
}

fn names(found: &SparseFunction) -> Vec<String> {
    let mut names: Vec<String> = found.terms().iter().map(|term| term.monomial.to_string()).collect();
    names.sort();
    names
}

#[test]
fn planted_terms_are_found_with_their_coefficients() {
    for seed in 0..5 {
        let (x, y) = planted(60, 100 + seed);
        let found = SparseSpec { kernel: poly(1, 2), ..SparseSpec::default() }.fit(&x, &y).expect("fits");
        assert_eq!(names(&found), ["x1 * x2", "x3^2", "x5"], "{seed}");
        for term in found.terms() {
            let truth = match term.monomial.to_string().as_str() {
                "x1 * x2" => 2.0,
                "x3^2" => -1.5,
                _ => 1.0,
            };
            assert!((term.coefficient - truth).abs() < 4.0 * term.std_error && term.std_error < 0.05, "{found:?}");
            assert!(term.evidence > 20.0);
        }
        let predictions = found.predict(&x).expect("fits");
        let error: f64 = predictions.iter().zip(&y).map(|(p, y)| (p - y).powi(2)).sum();
        let mean = y.iter().sum::<f64>() / 60.0;
        let total: f64 = y.iter().map(|y| (y - mean).powi(2)).sum();
        assert!((error / total - found.unexplained()).abs() < 1e-9);
    }
}

#[test]
fn nothing_is_named_in_noise() {
    let mut named = 0;
    for seed in 0..20 {
        let x = FeatureMatrix::from_columns(40, 60, noise(40 * 60, 500 + seed)).expect("valid");
        let found =
            SparseSpec { kernel: poly(1, 2), ..SparseSpec::default() }.fit(&x, &noise(40, 900 + seed)).expect("fits");
        assert!(found.criterion() <= 0.0 && found.certificate().holds());
        named += usize::from(!found.terms().is_empty());
    }
    assert!(named <= 2, "{named} of 20");
}

#[test]
fn weights_are_repetitions_and_units_do_not_matter() {
    let (x, y) = planted(40, 7);
    let spec = SparseSpec { kernel: poly(1, 2), ..SparseSpec::default() };
    let twice: Vec<usize> = (0..40).flat_map(|i| vec![i; 1 + i % 3]).collect();
    let repeated = spec
        .fit(&x.select_samples(&twice).expect("valid"), &twice.iter().map(|&i| y[i]).collect::<Vec<_>>())
        .expect("fits");
    let weights: Vec<f64> = (0..40).map(|i| f64::from(1 + i % 3)).collect();
    let account = Account::new(Memory::limit(1 << 30));
    let weighted = spec.run(&x, &y, Some(&weights), &account).expect("fits");
    assert_eq!(names(&repeated), names(&weighted));
    for (a, b) in repeated.terms().iter().zip(weighted.terms()) {
        assert!((a.coefficient - b.coefficient).abs() < 1e-9);
    }
    // Other units of a variable and of the target.
    let scaled =
        x.map_columns(|j, column| column.iter_mut().for_each(|x| *x *= 10_f64.powi(3 * j as i32 - 15))).expect("valid");
    let large: Vec<f64> = y.iter().map(|y| 1e9 * y).collect();
    let (plain, changed) = (spec.fit(&x, &y).expect("fits"), spec.fit(&scaled, &large).expect("fits"));
    assert_eq!(names(&plain), names(&changed));
    assert!((plain.criterion() - changed.criterion()).abs() < 1e-6);
}

#[test]
fn threads_do_not_matter() {
    let (x, y) = planted(50, 3);
    let spec = SparseSpec { kernel: poly(1, 3), ..SparseSpec::default() };
    let account = Account::new(Memory::limit(1 << 30));
    for listed in [0, u64::MAX] {
        let run = || spec.run_as(&x, &y, None, &account, listed, true).expect("fits");
        assert_eq!(with_threads(1, run), with_threads(3, run));
    }
}

/// Copies of a column, a constant column, sums of columns: the search ends, and tells of what does the same.
#[test]
fn copies_are_alternatives() {
    let (n, d) = (50, 9);
    let mut x = noise(n * d, 21);
    x.copy_within(0..n, n);
    x[2 * n..3 * n].fill(3.0);
    for i in 0..n {
        x[3 * n + i] = x[4 * n + i] + x[5 * n + i];
        x[6 * n + i] = 0.0;
    }
    let y: Vec<f64> = (0..n).map(|i| x[i] + 0.05 * noise(n, 5)[i]).collect();
    let x = FeatureMatrix::from_columns(n, d, x).expect("valid");
    let account = Account::new(Memory::limit(1 << 30));
    for kernel in [KernelSpec::Linear, poly(1, 2)] {
        for listed in [0, u64::MAX] {
            let spec = SparseSpec { kernel: kernel.clone(), ..SparseSpec::default() };
            let found = spec.run_as(&x, &y, None, &account, listed, false).expect("fits");
            assert_eq!(found.terms().len(), 1, "{found:?}");
            let term = &found.terms()[0];
            let alternative = &term.alternatives[0];
            let mut both = [term.monomial.to_string(), alternative.monomial.to_string()];
            both.sort();
            assert_eq!(both, ["x0", "x1"]);
            assert!(alternative.evidence.abs() < 1e-6);
        }
    }
}

#[test]
fn odd_tables_have_answers() {
    let spec = SparseSpec { kernel: poly(1, 2), ..SparseSpec::default() };
    let (x, _) = planted(12, 1);
    // Nothing to explain, or nothing to explain it with.
    let constant = spec.fit(&x, &[4.0; 12]).expect("fits");
    assert_eq!((constant.terms().len(), constant.intercept(), constant.criterion()), (0, 4.0, 0.0));
    let ones = FeatureMatrix::from_columns(12, 2, vec![1.0; 24]).expect("valid");
    assert!(spec.fit(&ones, &noise(12, 1)).expect("fits").terms().is_empty());
    for n in 1..5 {
        let x = FeatureMatrix::from_columns(n, 2, noise(2 * n, 1)).expect("valid");
        let found = spec.fit(&x, &noise(n, 2)).expect("fits");
        assert!(found.predict(&x).expect("fits").iter().all(|value| value.is_finite()), "{n}: {found:?}");
    }
    // An exact equation.
    let exact: Vec<f64> = (0..12).map(|i| 2.0 * x.row(i)[3]).collect();
    assert_eq!(names(&spec.fit(&x, &exact).expect("fits")), ["x3"]);
    let without = SparseSpec { fit_intercept: false, ..spec.clone() }.fit(&x, &exact).expect("fits");
    assert_eq!((names(&without), without.intercept()), (vec!["x3".to_owned()], 0.0));
    // Refused.
    let account = Account::new(Memory::limit(1 << 30));
    assert!(matches!(spec.fit(&x, &[1.0; 3]), Err(Error::Shape { what: "y", .. })));
    assert!(matches!(spec.fit(&x, &[f64::NAN; 12]), Err(Error::BadValue { what: "y", .. })));
    let weighted = |weights: &[f64]| spec.run(&x, &exact, Some(weights), &account);
    assert!(matches!(weighted(&[-1.0; 12]), Err(Error::BadValue { what: "sample_weight", .. })));
    assert!(matches!(weighted(&[0.0; 12]), Err(Error::NoWeight { .. })));
    assert!(matches!(spec.run(&x, &exact, None, &Account::new(Memory::limit(1000))), Err(Error::Memory { .. })));
    let none = SparseSpec { max_terms: Some(0), ..spec.clone() };
    assert!(matches!(none.fit(&x, &exact), Err(Error::Parameter { .. })));
    let infinite = SparseSpec { kernel: KernelChoice::new(KernelName::Exp).spec().expect("valid"), ..spec };
    assert!(matches!(infinite.fit(&x, &exact), Err(Error::InfinitelyManyFeatures { .. })));
}
