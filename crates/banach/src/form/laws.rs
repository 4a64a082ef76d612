//! Every law over every route. A new route joins `all` and is covered; `laws/extremes.rs` leaves the range of f64,
//! `laws/model.rs` holds the laws of second derivatives, predictions and norms, `laws/hessian.rs` those of a Hessian on few
//! features.

mod compact;
mod extremes;
mod hessian;
mod local;
mod model;
mod table;

pub(crate) use table::Table;

pub(crate) use model::curvature;

use proptest::{collection::vec, prelude::*, sample::select};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::{
    Memory,
    kernel::{Linear, MonomialScale, Normalized, Polynomial},
    numeric::dot,
};

/// q = 2, 3, 4, 5, 6, 8, 4.70.., 13.5, 21, 1001: every kind of power, every tensor, and the ends of the range.
const EXPONENTS: [f64; 10] = [2.0, 1.5, 4.0 / 3.0, 1.25, 1.2, 8.0 / 7.0, 1.27, 1.08, 1.05, 1.001];

/// A relative error of Q from which on it is not known.
const LOST: f64 = 1e-3;

/// A way to `Q`.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Route {
    ByColumns,
    ByRows,
    Sparse,
    Listed,
    Tiles,
    TilesOfSparse,
    Gram,
    GramOfSparse,
    Streamed,
}

/// Every route to `Q` for the same data, where it exists: tensors have an even order and entries within range.
fn all(x: &Table, exponent: Exponent) -> Vec<(Route, Box<dyn QForm + '_>)> {
    let mut routes: Vec<(Route, Box<dyn QForm + '_>)> = vec![
        (Route::ByColumns, Box::new(Features::new(x.by_columns(), exponent))),
        (Route::ByRows, Box::new(Features::new(x.by_rows(), exponent))),
        (Route::Sparse, Box::new(Features::new(x.sparse(), exponent))),
    ];
    let listed = KernelFeatures::new(&x.by_columns(), Linear, exponent, Memory::limit(1 << 30)).expect("valid");
    routes.push((Route::Listed, Box::new(listed)));
    let tiles = |matrix| {
        let tiles = Tiles::new(matrix, Linear, MonomialScale::Raw, exponent, Memory::limit(1 << 30)).expect("valid");
        tiles.with_layout(64, usize::MAX)
    };
    routes.push((Route::Tiles, Box::new(tiles(x.by_columns()))));
    routes.push((Route::TilesOfSparse, Box::new(tiles(x.sparse()))));
    let size = largest(&x.columns);
    if exponent.order().is_ok() && (size == 0.0 || (1e-250..1e250).contains(&size.powf(exponent.q()))) {
        let memory = Memory::limit(1 << 30);
        let gram = |matrix| Gram::new(matrix, Linear, exponent, memory).expect("valid");
        routes.push((Route::Gram, Box::new(gram(x.by_columns()))));
        routes.push((Route::GramOfSparse, Box::new(gram(x.sparse()))));
        let streamed = Gram::streamed(x.by_columns(), Linear, exponent, memory).expect("valid");
        routes.push((Route::Streamed, Box::new(streamed)));
    }
    routes
}

fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |size: f64, v| size.max(v.abs()))
}

fn times(c: f64, v: &[f64]) -> Vec<f64> {
    v.iter().map(|v| c * v).collect()
}

/// `alpha + t d`.
fn moved(alpha: &[f64], t: f64, d: &[f64]) -> Vec<f64> {
    alpha.iter().zip(d).map(|(alpha, d)| alpha + t * d).collect()
}

pub(crate) fn close(a: f64, b: f64, slack: f64) -> bool {
    (a - b).abs() <= slack
}

pub(crate) fn all_close(a: &[f64], b: &[f64], slack: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| close(a, b, slack))
}

pub(crate) fn evaluate(form: &dyn QForm, alphas: &[f64]) -> Evaluation {
    let mut evaluation = Evaluation::default();
    form.evaluate(alphas, &mut evaluation, &mut Scratch::new());
    evaluation
}

fn line_at(form: &dyn QForm, alpha: &[f64], d: &[f64], t: f64) -> LinePoint {
    form.lines(alpha, d, &mut Scratch::new()).at(0, t)
}

/// Everything a form says of a batch and of its lines, as bits.
fn bits(form: &dyn QForm, alphas: &[f64], out: &mut Evaluation, scratch: &mut Scratch) -> Vec<u64> {
    let n = form.samples();
    form.evaluate(alphas, out, scratch);
    let mut numbers = [&out.values[..], &out.ln_values, &out.omegas].concat();
    let lines = form.lines(&alphas[..n], &alphas[n..], scratch);
    for line in 0..alphas.len() / n - 1 {
        for t in [-0.7, 1e-9, 1.3] {
            let LinePoint { value, slope, bregman } = lines.at(line, t);
            numbers.extend([value, slope, bregman]);
        }
    }
    numbers.iter().map(|number| number.to_bits()).collect()
}

/// Runs `f` on a pool of its own.
pub(crate) fn with_threads<T: Send>(threads: usize, f: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool").install(f)
}

/// Data, and a dual vector with `max|u| = 0.9`, so that no power leaves the range for q = 1001.
#[derive(Debug, Clone)]
struct Case {
    x: Table,
    exponent: Exponent,
    alpha: Vec<f64>,
    /// A direction, with products at most 0.9.
    d: Vec<f64>,
}

impl Case {
    /// `None` where u is lost in rounding (or zero).
    fn new(x: Table, p: f64, alpha: &[f64], d: &[f64]) -> Option<Self> {
        let exponent = Exponent::new(p).expect("inside");
        let (u, image) = (largest(&x.adjoint(alpha)), largest(&x.adjoint(d)));
        let case = Self { exponent, alpha: times(0.9 / u, alpha), d: times(0.9 / image.max(0.9), d), x };
        (u > 0.0 && case.x.rounding(Route::ByColumns, &case.alpha, 1.0) < 1e-12).then_some(case)
    }

    /// Large enough for many blocks, several stripes and several leaves, dense (n = 20: 13312 features in a
    /// stripe, 65536 in a leaf) and sparse (about 3 entries in a feature: 88064 features in a stripe).
    fn large(p: f64) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let x = Table::random(20, 80_000, 0.9, &mut rng);
        let mut vector = || (0..20).map(|_| rng.random_range(-1.0..1.0)).collect::<Vec<_>>();
        Self::new(x, p, &vector(), &vector()).expect("u is not lost in rounding")
    }

    fn q(&self) -> f64 {
        self.exponent.q()
    }

    /// Every route that knows Q: where the terms of a tensor cancel to nothing, its sum is rounding, and only what it says of that counts
    /// (`roundings_are_bounds`).
    fn forms(&self) -> Vec<(Route, Box<dyn QForm + '_>)> {
        all(&self.x, self.exponent).into_iter().filter(|(route, _)| self.rounding(*route) < LOST).collect()
    }

    fn rounding(&self, route: Route) -> f64 {
        self.x.rounding(route, &self.alpha, self.q())
    }

    /// A bound on `|omega|`, the unit of its rounding errors.
    fn omega_size(&self) -> f64 {
        let sums = self.x.columns.chunks(self.x.n).map(largest).sum::<f64>();
        sums * 0.9_f64.powf(self.q() - 1.0)
    }
}

/// Tables with zeros and zero columns, for every exponent.
fn cases() -> impl Strategy<Value = Case> {
    let shapes = (1_usize..6, 1_usize..12, select(&EXPONENTS[..]));
    let values = shapes.prop_flat_map(|(n, d, p)| {
        let entry = prop_oneof![1 => Just(0.0), 3 => -2.0_f64..2.0];
        let column = prop_oneof![1 => Just(vec![0.0; n]), 6 => vec(entry, n)];
        (vec(column, d), vec(-1.0_f64..1.0, n), vec(-1.0_f64..1.0, n), Just(p))
    });
    values.prop_filter_map("u is lost in rounding", |(columns, alpha, d, p)| {
        let x = Table { n: alpha.len(), d: columns.len(), columns: columns.concat() };
        Case::new(x, p, &alpha, &d)
    })
}

/// `Q` and `omega` against the definition.
fn check_definition(case: &Case) {
    let q = case.q();
    let (value, omega) = (case.x.value(&case.alpha, q), case.x.omega(&case.alpha, q));
    for (route, form) in case.forms() {
        let slack = case.rounding(route);
        let found = evaluate(&*form, &case.alpha);
        assert!(close(found.values[0], value, slack * value), "{route:?}: {:e} {value:e}", found.values[0]);
        assert!(
            close(found.ln_values[0], value.ln(), slack + 1e-14 * value.ln().abs()),
            "{route:?}: {:e}",
            found.ln_values[0]
        );
        assert!(all_close(&found.omegas, &omega, slack * case.omega_size()), "{route:?}: {:?} {omega:?}", found.omegas);
    }
}

/// A line against the form at its points, and against the definition of the Bregman distance.
fn check_line(case: &Case, t: f64) {
    let end = moved(&case.alpha, t, &case.d);
    let start_value = case.x.value(&case.alpha, case.q());
    let linear = t * dot(&case.d, &case.x.omega(&case.alpha, case.q()));
    for (route, form) in case.forms() {
        let (found, there) = (line_at(&*form, &case.alpha, &case.d, t), evaluate(&*form, &end));
        // Both ends are known to the rounding of their u, whose size is that of the larger of the two.
        let size = largest(&case.x.adjoint(&end)).max(0.9);
        let slack = case.rounding(route) * size.powf(case.q()) * case.x.d as f64 * (1.0 + t.abs());
        assert!(close(found.value, there.values[0], slack), "{route:?} {t}: {found:?} {:e}", there.values[0]);
        let slope = dot(&case.d, &there.omegas);
        assert!(close(found.slope, slope, slack * case.q()), "{route:?} {t}: {found:?} {slope:e}");
        let bregman = there.values[0] - start_value - linear;
        assert!(
            found.bregman >= 0.0 && close(found.bregman, bregman, slack * case.q()),
            "{route:?} {t}: {found:?} {bregman:e}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// `Q(alpha) = (1/q)||Phi_n* alpha||_q^q` (24) `[eq:gendual]` and its gradient, on every route; so
    /// all routes agree.
    #[test]
    fn values_and_omegas_are_those_of_the_definition(case in cases()) {
        check_definition(&case);
    }

    /// Euler: `<alpha, omega> = q Q(alpha)` (F1).
    #[test]
    fn euler(case in cases()) {
        for (route, form) in case.forms() {
            let found = evaluate(&*form, &case.alpha);
            let (product, expected) = (dot(&case.alpha, &found.omegas), case.q() * found.values[0]);
            // The sum over samples cancels no more than u does.
            let slack = case.rounding(route) * expected * case.x.d as f64;
            prop_assert!(close(product, expected, slack), "{:?}: {:e} {:e}", route, product, expected);
        }
    }

    /// `Q(t alpha) = t^q Q(alpha)` (F5), in logarithms also where the power itself is out of range.
    #[test]
    fn homogeneity(case in cases(), log10_t in -250.0_f64..250.0, negative in any::<bool>()) {
        let t = 10.0_f64.powf(log10_t) * if negative { -1.0 } else { 1.0 };
        for (route, form) in case.forms() {
            let (unit, scaled) = (evaluate(&*form, &case.alpha), evaluate(&*form, &times(t, &case.alpha)));
            let expected = unit.ln_values[0] + case.q() * t.abs().ln();
            let slack = case.rounding(route) + 1e-14 * case.q() * t.abs().ln().abs();
            prop_assert!(close(scaled.ln_values[0], expected, slack), "{:?}: {:e} {:e}", route, scaled.ln_values[0], expected);
            prop_assert_eq!(scaled.omegas.iter().any(|omega| omega.is_nan()), false, "{:?}", route);
        }
    }

    /// omega is the gradient of Q: central differences along a direction.
    #[test]
    fn omega_is_the_gradient(case in cases()) {
        let h = 1e-4 / case.q();
        for (route, form) in case.forms() {
            let at = |t: f64| evaluate(&*form, &moved(&case.alpha, t, &case.d)).values[0];
            let (difference, slope) = ((at(h) - at(-h)) / (2.0 * h), dot(&case.d, &evaluate(&*form, &case.alpha).omegas));
            // Both the step and the rounding of the values limit a difference.
            let slack = 1e-6 * case.x.d as f64 * 0.9_f64.powf(case.q() - 1.0) + case.rounding(route) * at(0.0) / h;
            prop_assert!(close(difference, slope, slack), "{:?}: {:e} {:e}", route, difference, slope);
        }
    }

    /// A batch is as many single calls: for `evaluate` and for `lines`, from one vector to a matrix product.
    #[test]
    fn a_batch_equals_single_calls(case in cases(), count in 1_usize..8) {
        let n = case.x.n;
        let batch: Vec<f64> = (0..count).flat_map(|k| moved(&case.alpha, 0.1 * k as f64, &case.d)).collect();
        for (route, form) in case.forms() {
            let together = evaluate(&*form, &batch);
            prop_assert_eq!((together.values.len(), together.omegas.len()), (count, n * count));
            let mut scratch = Scratch::new();
            let lines = form.lines(&case.alpha, &batch, &mut scratch);
            for (k, alpha) in batch.chunks(n).enumerate() {
                let alone = evaluate(&*form, alpha);
                let slack = case.x.rounding(route, alpha, case.q());
                prop_assume!(slack < 1e-10);
                let omegas = &together.omegas[n * k..n * (k + 1)];
                let size = largest(&case.x.adjoint(alpha)) / 0.9;
                prop_assert!(close(together.values[k], alone.values[0], slack * alone.values[0]), "{:?}", route);
                prop_assert!(close(together.ln_values[k], alone.ln_values[0], slack), "{:?}", route);
                prop_assert!(all_close(omegas, &alone.omegas, slack * size.powf(case.q() - 1.0) * case.omega_size()), "{:?}", route);
                let (here, alone) = (lines.at(k, 0.3), line_at(&*form, &case.alpha, alpha, 0.3));
                let slack = 2.0 * case.rounding(route).max(slack) * (alone.value + alone.slope.abs() + alone.bregman);
                prop_assert!(close(here.value, alone.value, slack) && close(here.bregman, alone.bregman, slack), "{:?}", route);
                prop_assert!(close(here.slope, alone.slope, case.q() * slack), "{:?}", route);
            }
        }
    }

    /// Lines: value, slope and Bregman distance for steps of every size.
    #[test]
    fn lines_agree_with_the_form(case in cases(), log10_t in -3.0_f64..0.0, negative in any::<bool>()) {
        check_line(&case, 10.0_f64.powf(log10_t) * if negative { -1.0 } else { 1.0 });
    }

    /// F12: for a tiny step the Bregman distance is `t^2/2 d'Hd`, with all its digits.
    #[test]
    fn tiny_steps_do_not_cancel(case in cases(), t in prop_oneof![Just(1e-9), Just(-1e-9), Just(1e-60)]) {
        let expected = 0.5 * t * t * case.x.curvature(&case.alpha, &case.d, case.q());
        prop_assume!(expected > 0.0 && case.x.curvature(&case.alpha, &case.d, case.q()) > 1e-6 * 0.9_f64.powf(case.q()));
        for (route, form) in case.forms() {
            let found = line_at(&*form, &case.alpha, &case.d, t).bregman;
            prop_assert!(close(found, expected, 1e-4 * expected), "{:?}: {:e} {:e}", route, found, expected);
        }
    }

    /// Permuted samples give permuted omegas, and the same Q.
    #[test]
    fn permuting_samples_permutes_omega(case in cases(), shift in 0_usize..6) {
        let order: Vec<usize> = (0..case.x.n).map(|i| (i + shift) % case.x.n).rev().collect();
        let permuted = case.x.rows(&order);
        let pick = |v: &[f64]| order.iter().map(|&i| v[i]).collect::<Vec<_>>();
        for ((route, form), (_, other)) in case.forms().into_iter().zip(all(&permuted, case.exponent)) {
            let (found, expected) = (evaluate(&*other, &pick(&case.alpha)), evaluate(&*form, &case.alpha));
            let slack = case.rounding(route);
            prop_assert!(close(found.values[0], expected.values[0], slack * expected.values[0]), "{:?}", route);
            prop_assert!(all_close(&found.omegas, &pick(&expected.omegas), slack * case.omega_size()), "{:?}", route);
        }
    }

    /// `Phi -> c Phi` gives `c^q Q`.
    #[test]
    fn scaling_the_data_scales_by_the_power(case in cases(), c in prop_oneof![Just(0.37), Just(-2.0), Just(1e3), Just(1e-120)]) {
        let scaled = case.x.scaled(c);
        for ((route, form), (_, other)) in case.forms().into_iter().zip(all(&scaled, case.exponent)) {
            let (found, expected) = (evaluate(&*other, &case.alpha), evaluate(&*form, &case.alpha));
            let expected = expected.ln_values[0] + case.q() * c.abs().ln();
            prop_assert!(close(found.ln_values[0], expected, case.rounding(route) + 1e-14 * expected.abs()), "{:?}", route);
        }
    }
}

/// Many blocks, stripes and leaves add up to the definition.
#[test]
fn large_tables_agree_with_the_definition() {
    for p in [2.0, 4.0 / 3.0, 1.001] {
        let case = Case::large(p);
        check_definition(&case);
        check_line(&case, 0.3);
    }
}

/// Results do not depend on the number of threads: the same bits from 1, 2 and 5.
#[test]
fn threads_do_not_change_a_bit() {
    for p in [4.0 / 3.0, 1.27] {
        let case = Case::large(p);
        let alphas = [&case.alpha[..], &case.d, &case.alpha, &moved(&case.alpha, -0.5, &case.d), &case.d].concat();
        for (route, form) in case.forms() {
            let run = |threads| {
                with_threads(threads, || bits(&*form, &alphas, &mut Evaluation::default(), &mut Scratch::new()))
            };
            let one = run(1);
            assert!([2, 5].iter().all(|&threads| run(threads) == one), "{route:?}");
        }
    }
}

/// A call does not see what its `Scratch` and `Evaluation` were used for before.
#[test]
fn earlier_use_of_the_memory_leaves_no_trace() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(8);
    let exponent = Exponent::new(1.2).expect("inside");
    let (mut out, mut scratch) = (Evaluation::default(), Scratch::new());
    for (n, d, count) in [(3, 5, 2), (12, 3000, 6), (2, 4, 3), (7, 1, 2), (12, 900, 9), (1, 1, 2)] {
        let x = Table::random(n, d, 0.3, &mut rng);
        let alphas: Vec<f64> = (0..n * count).map(|_| rng.random_range(-1.0..1.0)).collect();
        for (route, form) in all(&x, exponent) {
            let fresh = bits(&*form, &alphas, &mut Evaluation::default(), &mut Scratch::new());
            assert_eq!(bits(&*form, &alphas, &mut out, &mut scratch), fresh, "{route:?} {n} {d} {count}");
        }
    }
}
