//! Both ways against the definition: all features, listed one by one.

use super::{super::explicit::tests::jumble, *};
use crate::{
    Exponent,
    form::laws::with_threads,
    kernel::{self, Anova, Exponential, FeatureMap, Linear, Monomial, Polynomial, PowerSeries, Series, TensorKernel},
};

fn memory() -> Memory {
    Memory::limit(1 << 30)
}

fn exponent(p: f64) -> Exponent {
    Exponent::new(p).expect("inside")
}

/// `|w_k|^p` of every feature, up to a common factor.
fn energies(model: &DualModel<'_>, max_degree: usize) -> Vec<(Monomial, f64)> {
    let (n, d) = (model.samples.samples(), model.samples.features());
    let (lowest, highest) = model.kernel.degrees();
    let cut = highest.is_none().then_some(max_degree.max(lowest));
    let map = FeatureMap::new(&*model.kernel, d, model.exponent, cut).expect("listed");
    let mut rows = vec![0.0; n * d];
    let mut column = vec![0.0; n];
    for j in 0..d {
        model.samples.column_into(j, &mut column);
        (0..n).for_each(|i| rows[i * d + j] = column[i]);
    }
    let phi: Vec<Vec<f64>> = rows.chunks(d).map(|x| map.phi(x).expect("in range")).collect();
    let monomials: Vec<Monomial> = map.iter().map(|(monomial, _)| monomial).collect();
    let u = |(k, monomial): (usize, &Monomial)| {
        let raw: Vec<f64> = rows.chunks(d).map(|x| monomial.value(x)).collect();
        let mean = raw.iter().sum::<f64>() / n as f64;
        let values: Vec<f64> = match model.monomial_scale {
            MonomialScale::Raw => phi.iter().map(|phi| phi[k]).collect(),
            MonomialScale::Unit => {
                let size = (raw.iter().map(|x| x * x).sum::<f64>() / n as f64).sqrt();
                raw.iter().map(|x| x / size).collect()
            }
            MonomialScale::Standardized => {
                let size = (raw.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
                raw.iter().map(|x| if size > 0.0 { (x - mean) / size } else { 0.0 }).collect()
            }
        };
        values.iter().zip(&model.alpha).map(|(phi, alpha)| phi * alpha).sum::<f64>()
    };
    let u: Vec<f64> = monomials.iter().enumerate().map(u).collect();
    let largest = u.iter().fold(0.0_f64, |largest, u| largest.max(u.abs()));
    monomials.into_iter().zip(u).map(|(monomial, u)| (monomial, (u / largest).abs().powf(model.exponent.q()))).collect()
}

fn involves(monomial: &Monomial, variable: usize) -> bool {
    monomial.factors().iter().any(|(factor, _)| *factor == variable)
}

fn check(model: &DualModel<'_>, found: &FoundShares, pairs: &FoundShares, chosen: &[usize], slack: f64) {
    let energies = energies(model, 24);
    let name = || format!("{} q = {} {}", model.kernel.name(), model.exponent.q(), model.monomial_scale);
    let total: f64 = energies.iter().map(|(_, energy)| energy).sum();
    let share = |f: &dyn Fn(&Monomial) -> bool| {
        energies.iter().filter(|(monomial, _)| f(monomial)).map(|(_, energy)| energy).sum::<f64>() / total
    };
    for (j, got) in found.variables.iter().enumerate() {
        let expected = share(&|monomial| involves(monomial, j));
        assert!((got - expected).abs() <= slack, "{}: variable {j}: {got:e} {expected:e}", name());
    }
    for (degree, got) in &found.degrees {
        let expected = share(&|monomial| monomial.degree() == *degree);
        assert!((got - expected).abs() <= slack, "{}: degree {degree}: {got:e} {expected:e}", name());
    }
    let sum: f64 = found.degrees.iter().map(|(_, share)| share).sum();
    assert!((sum - 1.0).abs() <= slack, "{}: {sum}", name());
    for (a, &i) in chosen.iter().enumerate() {
        for (b, &j) in chosen.iter().enumerate() {
            let expected = share(&|monomial| involves(monomial, i) && involves(monomial, j));
            let got = pairs.pairs[a * chosen.len() + b];
            assert!((got - expected).abs() <= slack, "{}: pair {i} {j}: {got:e} {expected:e}", name());
        }
    }
}

fn model<'a>(kernel: impl TensorKernel + 'static, p: f64, n: usize, d: usize, size: f64) -> DualModel<'a> {
    let x: Vec<f64> = jumble(n * d, 0.3).iter().map(|x| size * x).collect();
    let x = FeatureMatrix::from_columns(n, d, x).expect("valid");
    DualModel::new(x, kernel, exponent(p), &jumble(n, 7.7)).expect("valid")
}

#[test]
fn the_tensor_agrees_with_all_features_for_every_kernel() {
    for p in [2.0, 4.0 / 3.0, 6.0 / 5.0] {
        for kernel in kernel::laws::all() {
            let model = model(kernel, p, 6, 3, 0.8);
            let found = model.tensor_shares(&model.samples, &model.alpha, None, memory()).expect("even q");
            let chosen = [0, 2];
            let pairs = model.tensor_shares(&model.samples, &model.alpha, Some(&chosen), memory()).expect("even q");
            check(&model, &found, &pairs, &chosen, 1e-11 + 4.0 * found.error);
        }
    }
}

#[test]
fn listed_features_agree_with_the_definition_for_every_exponent_and_scale() {
    for p in [2.0, 1.7, 1.5, 4.0 / 3.0, 1.05, 1.01] {
        for kernel in kernel::laws::all() {
            if kernel.degrees().1.is_none() {
                continue;
            }
            let normalized = kernel.normalized();
            let raw = model(kernel, p, 6, 4, 0.8);
            for monomial_scale in MonomialScale::ALL {
                if normalized && monomial_scale != MonomialScale::Raw {
                    continue;
                }
                let model = raw.clone().with_monomial_scale(monomial_scale);
                let chosen = [1, 2, 3];
                let found = model.listed_shares(&model.samples, &model.alpha, None, memory()).expect("finite");
                let pairs = model.listed_shares(&model.samples, &model.alpha, Some(&chosen), memory()).expect("finite");
                if found.ln_power_sum > f64::NEG_INFINITY {
                    check(&model, &found, &pairs, &chosen, 1e-11);
                }
            }
        }
    }
}

#[test]
fn ways_agree_on_many_variables_and_in_several_stripes() {
    let model = model(Polynomial::new(3, 0.2, 0.5).expect("valid"), 4.0 / 3.0, 25, 30, 1.0);
    let chosen: Vec<usize> = (0..30).step_by(7).collect();
    let listed = |pairs| model.listed_shares(&model.samples, &model.alpha, pairs, memory()).expect("finite");
    let tensor = |pairs| model.tensor_shares(&model.samples, &model.alpha, pairs, memory()).expect("even q");
    let near = |a: &[f64], b: &[f64]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
    let (a, b) = (listed(None), tensor(None));
    assert!(near(&a.variables, &b.variables));
    assert!((a.ln_power_sum - b.ln_power_sum).abs() < 1e-9);
    let (a, b) = (listed(Some(&chosen)), tensor(Some(&chosen)));
    assert!(near(&a.pairs, &b.pairs), "{:?} {:?}", a.pairs, b.pairs);
}

#[test]
fn threads_do_not_change_a_bit() {
    let raw = model(Polynomial::new(3, 0.2, 0.5).expect("valid"), 4.0 / 3.0, 25, 30, 1.0);
    let infinite = model(Exponential::new(0.3).expect("valid"), 4.0 / 3.0, 30, 12, 1.0);
    for model in [raw.clone(), raw.with_monomial_scale(MonomialScale::Standardized), infinite] {
        let found = |threads| with_threads(threads, || model.relevance(memory()).expect("works"));
        assert_eq!(found(1), found(3), "{}", model.kernel.name());
    }
}

/// Permuting samples changes nothing, permuting variables permutes, absent samples are absent.
#[test]
fn permutations_permute() {
    let (n, d) = (9, 5);
    let kernels: [fn() -> Box<dyn TensorKernel>; 3] = [
        || Box::new(Exponential::new(0.5).expect("valid")),
        || Box::new(Polynomial::new(2, 1.0, 1.0).expect("valid")),
        || Box::new(Anova::new(1, 3).expect("valid")),
    ];
    for kernel in kernels {
        let (x, alpha) = (jumble(n * d, 0.1), jumble(n, 5.0));
        let model = |x: Vec<f64>, n: usize, alpha: &[f64]| {
            let x = FeatureMatrix::from_columns(n, d, x).expect("valid");
            DualModel::new(x, kernel(), exponent(4.0 / 3.0), alpha).expect("valid").relevance(memory()).expect("works")
        };
        let plain = model(x.clone(), n, &alpha);
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-11);
        let turned: Vec<f64> = x.chunks(n).flat_map(|column| column.iter().rev()).copied().collect();
        let backwards: Vec<f64> = alpha.iter().rev().copied().collect();
        assert!(close(model(turned, n, &backwards).variables(), plain.variables()));
        let shifted: Vec<f64> = x[n..].iter().chain(&x[..n]).copied().collect();
        let mut expected = plain.variables().to_vec();
        expected.rotate_left(1);
        assert!(close(model(shifted, n, &alpha).variables(), &expected));
        let more: Vec<f64> = x.chunks(n).flat_map(|column| column.iter().chain(&[0.7])).copied().collect();
        let absent: Vec<f64> = alpha.iter().chain(&[0.0]).copied().collect();
        assert_eq!(model(more, n + 1, &absent), plain);
    }
}

/// A variable of size 1e-5 has a share of about 1e-20, which subtraction could not tell from 0.
#[test]
fn small_shares_keep_their_digits() {
    let (n, d) = (8, 3);
    let kernels: [fn() -> Box<dyn TensorKernel>; 5] = [
        || Box::new(Exponential::new(0.5).expect("valid")),
        || Box::new(PowerSeries::new(Series::Geometric, 0.2).expect("valid")),
        || Box::new(PowerSeries::new(Series::Logarithm, 0.2).expect("valid")),
        || Box::new(PowerSeries::new(Series::Sinh, 0.5).expect("valid")),
        || Box::new(Polynomial::new(3, 0.5, 1.0).expect("valid")),
    ];
    for kernel in kernels {
        let mut x = jumble(n * d, 0.1);
        x[..n].iter_mut().for_each(|x| *x *= 1e-5);
        let x = FeatureMatrix::from_columns(n, d, x).expect("valid");
        let model = DualModel::new(x, kernel(), exponent(4.0 / 3.0), &jumble(n, 5.0)).expect("valid");
        let found = model.tensor_shares(&model.samples, &model.alpha, None, memory()).expect("even q");
        let energies = energies(&model, 40);
        let total: f64 = energies.iter().map(|(_, energy)| energy).sum();
        let small = energies.iter().filter(|(monomial, _)| involves(monomial, 0)).map(|(_, energy)| energy);
        let expected = small.sum::<f64>() / total;
        assert!(
            (found.variables[0] / expected - 1.0).abs() < 1e-6,
            "{} {:e} {expected:e}",
            model.kernel.name(),
            found.variables[0]
        );
    }
}

#[test]
fn zero_huge_and_tiny_functions_are_told() {
    let plain = model(Polynomial::new(2, 1.0, 1.0).expect("valid"), 1.05, 6, 3, 1.0);
    let expected = plain.relevance(memory()).expect("works");
    for factor in [1e-200, 1e200] {
        let alpha: Vec<f64> = plain.alpha.iter().map(|alpha| factor * alpha).collect();
        let scaled = DualModel { alpha, ..plain.clone() }.relevance(memory()).expect("works");
        let near = scaled.variables().iter().zip(expected.variables()).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(near && scaled.error() < 1e-9, "{scaled:?} {expected:?}");
    }
    for kernel in [Box::new(Exponential::new(1.0).expect("valid")) as Box<dyn TensorKernel>, Box::new(Linear)] {
        let zero =
            DualModel { alpha: vec![0.0; 6], kernel: kernel.into(), exponent: exponent(4.0 / 3.0), ..plain.clone() };
        let nothing = zero.relevance(memory()).expect("works");
        assert!(nothing.variables() == [0.0; 3] && nothing.norm() == 0.0 && nothing.rest() == 0.0);
        assert!(zero.pair_shares(&[0, 1], memory()).expect("works").ranking() == [(0, 1, 0.0)]);
    }
    // Entries of 1e60, whose products are features in range.
    let large = model(Polynomial::new(2, 1.0, 0.0).expect("valid"), 1.5, 6, 3, 1e60).relevance(memory());
    let small = model(Polynomial::new(2, 1.0, 0.0).expect("valid"), 1.5, 6, 3, 1.0).relevance(memory());
    let pair = [large.expect("in range"), small.expect("in range")];
    assert!(pair[0].variables().iter().zip(pair[1].variables()).all(|(a, b)| (a - b).abs() < 1e-13));
    let beyond = model(Polynomial::new(2, 1.0, 0.0).expect("valid"), 1.5, 6, 3, 1e150).relevance(memory());
    assert!(matches!(beyond, Err(Error::BadEntry { .. })), "{beyond:?}");
}

/// Columns of any size have the same unit and standardised monomials.
#[test]
fn scaled_monomials_do_not_know_the_units_of_the_data() {
    for monomial_scale in [MonomialScale::Unit, MonomialScale::Standardized] {
        let shares = |sizes: [f64; 3]| {
            let mut x = jumble(18, 0.3);
            x.chunks_mut(6).zip(sizes).for_each(|(column, size)| column.iter_mut().for_each(|x| *x *= size));
            let x = FeatureMatrix::from_columns(6, 3, x).expect("valid");
            let kernel = Polynomial::new(3, 1.0, 1.0).expect("valid");
            let model = DualModel::new(x, kernel, exponent(1.2), &jumble(6, 1.0))
                .expect("valid")
                .with_monomial_scale(monomial_scale);
            model.relevance(memory()).expect("works").variables().to_vec()
        };
        let (plain, scaled) = (shares([1.0; 3]), shares([1e150, 1e-150, 37.0]));
        assert!(plain.iter().zip(&scaled).all(|(a, b)| (a - b).abs() < 1e-10), "{plain:?} {scaled:?}");
    }
    // Far from 0 the deviations are small beside the mean.
    let shares = |offset: f64| {
        let x: Vec<f64> = jumble(12, 0.3).iter().map(|x| x + offset).collect();
        let x = FeatureMatrix::from_columns(6, 2, x).expect("valid");
        let alpha = [0.3, -0.3, 0.9, -0.9, 0.1, -0.1];
        let model = DualModel::new(x, Linear, exponent(1.2), &alpha).expect("valid");
        model.with_monomial_scale(MonomialScale::Standardized).relevance(memory()).expect("works").variables().to_vec()
    };
    let (near, far) = (shares(0.0), shares(1e4));
    assert!(near.iter().zip(&far).all(|(a, b)| (a - b).abs() < 1e-6), "{near:?} {far:?}");
}

#[test]
fn storage_does_not_matter() {
    let (n, d) = (7, 4);
    let mut dense = jumble(n * d, 0.3);
    dense.iter_mut().step_by(3).for_each(|x| *x = 0.0);
    let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    for column in dense.chunks(n) {
        column.iter().enumerate().filter(|(_, x)| **x != 0.0).for_each(|(row, x)| {
            rows.push(row);
            values.push(*x);
        });
        starts.push(rows.len());
    }
    let dense = FeatureMatrix::from_columns(n, d, dense).expect("valid");
    let sparse = FeatureMatrix::from_sparse_columns(n, d, starts, rows, values).expect("valid");
    for p in [1.5, 4.0 / 3.0] {
        for kernel in
            [Box::new(Linear) as Box<dyn TensorKernel>, Box::new(Polynomial::new(2, 1.0, 1.0).expect("valid"))]
        {
            let kernel: std::sync::Arc<dyn TensorKernel> = kernel.into();
            let found = [&dense, &sparse].map(|x| {
                let model = DualModel::new(x.view(), kernel.clone(), exponent(p), &jumble(n, 2.0)).expect("valid");
                model.relevance(memory()).expect("works")
            });
            assert_eq!(found[0], found[1]);
        }
    }
}

#[test]
fn what_cannot_be_known_is_refused() {
    let infinite = model(Exponential::new(1.0).expect("valid"), 1.5, 5, 3, 0.5);
    let error = infinite.relevance(memory()).expect_err("q = 3");
    assert!(matches!(error, Error::InfinitelyManyFeatures { .. }), "{error}");
    assert!(error.to_string().contains("q = 2, 4, 6 or 8"), "{error}");
    let infinite =
        model(Exponential::new(1.0).expect("valid"), 4.0 / 3.0, 5, 3, 0.5).with_monomial_scale(MonomialScale::Unit);
    assert!(matches!(infinite.relevance(memory()), Err(Error::Parameter { parameter: Parameter::Monomials, .. })));
    let many = model(Polynomial::new(20, 1.0, 1.0).expect("valid"), 1.5, 5, 40, 0.5);
    assert!(matches!(many.relevance(memory()), Err(Error::TooManyFeatures { .. })));
    let plain = model(Linear, 1.5, 5, 3, 0.5);
    assert!(matches!(plain.pair_shares(&[0, 3], memory()), Err(Error::BadValue { what: "variables", .. })));
    assert!(plain.pair_shares(&[], memory()).expect("nothing").ranking().is_empty());
    let large = model(Polynomial::new(2, 1.0, 1.0).expect("valid"), 1.5, 50, 30, 0.5);
    assert!(matches!(large.relevance(Memory::limit(1000)), Err(Error::Memory { .. })));
}

/// Too many features to list, but a tensor knows them.
#[test]
fn high_degrees_go_through_the_tensor() {
    let model = model(Polynomial::new(20, 0.1, 1.0).expect("valid"), 4.0 / 3.0, 10, 40, 0.5);
    let relevance = model.relevance(memory()).expect("even q");
    let sum: f64 = relevance.degrees().iter().map(|(_, share)| share).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    assert_eq!(relevance.degrees().len(), 21);
}

/// `exp(t)` has all degrees; on large arguments the rest is told.
#[test]
fn the_rest_of_a_spectrum_is_stated() {
    let near = model(Exponential::new(1.0).expect("valid"), 2.0, 6, 3, 0.5).relevance(memory()).expect("even q");
    assert!(near.rest() < 1e-12 && near.degrees().len() < 30, "{near:?}");
    let kernel = kernel::Normalized(Exponential::new(1.0).expect("valid"));
    let far = model(kernel, 2.0, 6, 3, 20.0).relevance(memory()).expect("even q");
    assert!(far.rest() > 0.1 && far.degrees().len() <= 129, "{far:?}");
}

#[test]
fn pairs_are_among_those_asked_for() {
    let model = model(Polynomial::new(2, 1.0, 1.0).expect("valid"), 1.5, 6, 3, 1.0);
    let relevance = model.relevance(memory()).expect("works");
    let pairs = model.pair_shares(&[2, 0, 0], memory()).expect("works");
    assert_eq!(pairs.variables(), [0, 2]);
    assert_eq!(pairs.share(0, 0), Some(relevance.variables()[0]));
    assert!(pairs.share(0, 1).is_none(), "{pairs:?}");
}
