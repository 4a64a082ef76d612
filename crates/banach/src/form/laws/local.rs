//! A local model is Q for the features that it has, and a parabola for the others.

use super::*;
use crate::form::LocalModel;

const N: usize = 7;

fn alphas() -> [Vec<f64>; 2] {
    [vec![0.4, -0.9, 0.3, 0.7, -0.2, 0.5, -0.6], vec![0.1, -0.5, 0.6, 0.2, 0.4, 0.3, -0.8]]
}

fn table(d: usize) -> Table {
    Table::random(N, d, 0.0, &mut Xoshiro256PlusPlus::seed_from_u64(33))
}

fn expanded(form: &dyn QForm, alpha: &[f64]) -> Expansion {
    let mut at = Expansion::default();
    form.expand(alpha, &mut [&mut at], &mut Scratch::new());
    at
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// The matrix of a Hessian without its multiple of the identity.
fn entry(hessian: &Hessian, i: usize, j: usize) -> f64 {
    match &hessian.main {
        HessianPart::Dense(entries) => entries[i.min(j) * N + i.max(j)],
        HessianPart::Factor(factor) => factor.chunks(N).map(|column| column[i] * column[j]).sum(),
        HessianPart::InPlace(_) => unreachable!("a local model has few samples"),
    }
}

/// All entries of the two Hessians differ by at most this share of the trace, the multiples of the identity counted in.
fn assert_alike(found: &Hessian, expected: &Hessian, share: f64, what: &str) {
    let full = |hessian: &Hessian, i, j| entry(hessian, i, j) + if i == j { hessian.tail } else { 0.0 };
    let trace: f64 = (0..N).map(|i| full(expected, i, i)).sum();
    for (i, j) in (0..N).flat_map(|i| (0..=i).map(move |j| (i, j))) {
        let (found, expected) = (full(found, i, j), full(expected, i, j));
        assert!(close(found, expected, share * trace), "{what}, {i} {j}: {found:e} {expected:e} of {trace:e}");
    }
}

/// With all features the gradient is that of Q everywhere, the slopes of a line are those of Q, and so are second derivatives up to
/// the features that hardly count. Every route that lists features has such a model.
#[test]
fn all_features_are_the_form() {
    for (d, p) in [(5, 1.3), (60, 1.1), (60, 4.0 / 3.0), (300, 1.05), (40, 1.7)] {
        let (x, [from, to]) = (table(d), alphas());
        let step = difference(&to, &from);
        for (route, form) in all(&x, Exponent::new(p).expect("inside")) {
            let what = format!("{route:?}, d = {d}, p = {p}");
            let at = expanded(&*form, &from);
            let Some(model) = form.local((&from, &at), usize::MAX, 0.0, &mut Scratch::new()) else {
                assert!(form.cardinality().is_none(), "{what}: no model");
                continue;
            };
            assert_eq!(model.tail_share(), 0.0, "{what}");
            let origin = model.origin();
            let omegas = &at.evaluation.omegas;
            assert!(all_close(&model.omega(&origin), omegas, 1e-11 * largest(omegas)), "{what}");
            let line = model.line(&origin, &step);
            for t in [0.0, 0.3, 1.0] {
                let alpha: Vec<f64> = from.iter().zip(&step).map(|(alpha, d)| alpha + t * d).collect();
                let (end, exact) = (line.end(t), evaluate(&*form, &alpha));
                let size = largest(&exact.omegas).max(largest(&at.evaluation.omegas));
                assert!(all_close(&model.omega(&end), &exact.omegas, 1e-11 * size), "{what}, t = {t}");
                let slope = dot(&exact.omegas, &step);
                assert!(close(line.slope(t), slope, 1e-10 * size * largest(&step) * N as f64), "{what}, t = {t}");
                let there = expanded(&*form, &alpha);
                let expected = form.hessian(&there, usize::MAX, &mut Scratch::new());
                assert_alike(&model.hessian(&end, &mut Scratch::new()), &expected, 0.011, &what);
            }
        }
    }
}

/// With some of the features the gradient at the origin is still that of Q, what is left out is what a Hessian leaves out, and a model
/// that leaves out too much is refused.
#[test]
fn some_features_are_the_form_at_the_origin() {
    let (x, [from, to]) = (table(400), alphas());
    for p in [1.05, 1.1, 4.0 / 3.0] {
        for (route, form) in all(&x, Exponent::new(p).expect("inside")) {
            let (what, at) = (format!("{route:?}, p = {p}"), expanded(&*form, &from));
            for keep in [20, 100, 399] {
                let Some(model) = form.local((&from, &at), keep, 1.0, &mut Scratch::new()) else { continue };
                let hessian = form.hessian(&at, keep, &mut Scratch::new());
                assert!(close(model.tail_share(), hessian.tail_share, 1e-9), "{what}, keep {keep}");
                assert_alike(&model.hessian(&model.origin(), &mut Scratch::new()), &hessian, 0.011, &what);
                assert!(all_close(
                    &model.omega(&model.origin()),
                    &at.evaluation.omegas,
                    1e-11 * largest(&at.evaluation.omegas)
                ));
                let refused = form.local((&from, &at), keep, 0.5 * model.tail_share(), &mut Scratch::new());
                assert!(refused.is_none() || model.tail_share() == 0.0, "{what}, keep {keep}");
                // Away from the origin the slope grows with the multiple of the identity and more.
                let (origin, step) = (model.origin(), difference(&to, &from));
                let line = model.line(&origin, &step);
                assert!(line.slope(1.0) > line.slope(0.5) && line.slope(0.5) > line.slope(0.0), "{what}, keep {keep}");
            }
        }
    }
}

/// Numbers whose powers leave the range of f64 have no model, and every model that there is has finite gradients.
#[test]
fn powers_out_of_range_have_no_model() {
    for size in [1e-300, 1e-150, 1e-20, 1e-3, 1e3, 1e20, 1e150] {
        let [from, to] = alphas();
        let x = Table { columns: times(size, &table(30).columns), ..table(30) };
        for p in [1.01, 1.05, 4.0 / 3.0, 1.9] {
            let form = Features::new(x.by_columns(), Exponent::new(p).expect("inside"));
            let at = expanded(&form, &from);
            let finite = |model: LocalModel| {
                let (origin, step) = (model.origin(), difference(&to, &from));
                let end = model.line(&origin, &step).end(1.0);
                model.omega(&end).iter().all(|omega| omega.is_finite())
            };
            assert!(form.local((&from, &at), usize::MAX, 0.0, &mut Scratch::new()).is_none_or(finite), "{size:e} {p}");
        }
    }
}

/// A model is the same on any number of threads.
#[test]
fn threads_do_not_matter() {
    let (x, [from, to]) = (table(20_000), alphas());
    let bits = || {
        let form = Features::new(x.by_columns(), Exponent::new(1.1).expect("inside"));
        let at = expanded(&form, &from);
        let model = form.local((&from, &at), 3000, 1.0, &mut Scratch::new()).expect("in range");
        let (origin, step) = (model.origin(), difference(&to, &from));
        let end = model.line(&origin, &step).end(0.7);
        let hessian = model.hessian(&end, &mut Scratch::new());
        let entries = (0..N).map(|i| entry(&hessian, i, 0));
        model.omega(&end).into_iter().chain(entries).map(f64::to_bits).collect::<Vec<u64>>()
    };
    assert_eq!(with_threads(1, bits), with_threads(3, bits));
}
