//! Second derivatives, predictions and norms.

use super::*;

/// Q, omega and M at every dual vector, from expansions and their exact Hessians.
pub(crate) fn curvature(form: &dyn QForm, alphas: &[f64]) -> Evaluation {
    let (n, mut scratch) = (form.samples(), Scratch::new());
    let mut expansions = vec![Expansion::default(); alphas.len() / n];
    form.expand(alphas, &mut expansions.iter_mut().collect::<Vec<_>>(), &mut scratch);
    let mut all = Evaluation::default();
    for at in &expansions {
        let Evaluation { values, ln_values, omegas, roundings, .. } = &at.evaluation;
        all.values.extend(values);
        all.ln_values.extend(ln_values);
        all.omegas.extend(omegas);
        all.roundings.extend(roundings);
        let hessian = form.hessian(at, usize::MAX, &mut scratch);
        assert_eq!(hessian.tail, 0.0, "nothing is left out");
        let matrix = symmetric(&hessian.main, n);
        all.curvatures.extend(matrix.iter().map(|entry| entry / (form.exponent().q() - 1.0)));
    }
    all
}

/// The entries of a matrix given by those below its diagonal, or by a factor.
fn symmetric(part: &HessianPart, n: usize) -> Vec<f64> {
    let entry = |at: usize| {
        let (i, j) = (at / n, at % n);
        match part {
            HessianPart::Dense(entries) => entries[i.min(j) * n + i.max(j)],
            HessianPart::Factor(columns) => columns.chunks(n).map(|column| column[i] * column[j]).sum(),
            HessianPart::InPlace(_) => panic!("both sides are small"),
        }
    };
    (0..n * n).map(entry).collect()
}

fn absolute_sum(v: &[f64]) -> f64 {
    v.iter().map(|v| v.abs()).sum()
}

/// M against its definition, `omega = M alpha`, and the rest as from `evaluate`.
fn check_curvature(case: &Case) {
    let (n, q) = (case.x.n, case.q());
    let u = case.x.adjoint(&case.alpha);
    let weights: Vec<f64> = u.iter().map(|u| if q == 2.0 { 1.0 } else { u.abs().powf(q - 2.0) }).collect();
    let rows: Vec<Vec<f64>> = (0..n).map(|i| case.x.columns.chunks(n).map(|column| column[i]).collect()).collect();
    let product = |i: usize, j: usize| rows[i].iter().zip(&rows[j]).zip(&weights).map(|((a, b), w)| a * b * w).sum();
    let exact: Vec<f64> = (0..n * n).map(|at| product(at / n, at % n)).collect();
    for (route, form) in case.forms() {
        let (found, expected) = (curvature(&*form, &case.alpha), evaluate(&*form, &case.alpha));
        let slack = 4.0 * case.rounding(route);
        assert!(close(found.values[0], expected.values[0], slack * expected.values[0]), "{route:?}");
        assert!(all_close(&found.omegas, &expected.omegas, slack * case.omega_size()), "{route:?}");
        // M is at most what the largest entries of the columns make it.
        let size: f64 = case.x.columns.chunks(n).map(|column| largest(column).powi(2)).sum();
        let size = size * 0.9_f64.powf(q - 2.0).max(1e-300);
        for i in 0..n {
            let row = &found.curvatures[i * n..(i + 1) * n];
            for (j, entry) in row.iter().enumerate() {
                let exact = exact[i * n + j];
                assert!(close(*entry, exact, slack * size), "{route:?} [{i}, {j}]: {entry:e} {exact:e}");
            }
            // Errors of a row are multiplied by the dual vector, whose entries may be large where u cancels.
            let omega = dot(row, &case.alpha);
            let slack = slack * (size * absolute_sum(&case.alpha) + case.omega_size());
            assert!(close(omega, expected.omegas[i], slack), "{route:?}: {omega:e}");
        }
    }
}

/// `f(x_i) = omega_i`, and `f` at other points is `<w, x>` with `w = J_q(u)`.
fn check_predictions(case: &Case) {
    let q = case.q();
    let w: Vec<f64> = case.x.adjoint(&case.alpha).iter().map(|u| u.abs().powf(q - 1.0).copysign(*u)).collect();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    let mut new = Table::random(3, case.x.d, 0.2, &mut rng);
    new.columns.iter_mut().enumerate().for_each(|(at, x)| *x += case.x.columns[at / 3 * case.x.n]);
    let expected = new.apply(&w);
    let size = 4.0 * case.omega_size().max(largest(&new.columns) * w.iter().map(|w| w.abs()).sum::<f64>());
    for (route, form) in case.forms() {
        let slack = case.rounding(route) * size;
        let model = form.predictor(&case.alpha);
        let inside = model.predict(&case.x.by_columns()).expect("the samples themselves");
        let omega = evaluate(&*form, &case.alpha).omegas;
        assert!(all_close(&inside, &omega, slack), "{route:?}: {inside:?} {omega:?}");
        for new in [new.by_columns(), new.sparse()] {
            let outside = model.predict(&new).expect("points of the same kind");
            assert!(all_close(&outside, &expected, slack), "{route:?}: {outside:?} {expected:?}");
            let models = form.predictor(&[&case.d[..], &case.alpha].concat());
            let both = [form.predictor(&case.d).predict(&new).expect("the same points"), outside].concat();
            assert_eq!(models.predict(&new), Ok(both), "{route:?}: a batch predicts as each of its functions does");
        }
        if let Some(weights) = model.weights() {
            assert!(all_close(&weights, &w, slack / largest(&new.columns).max(1e-300)), "{route:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// F3, F4: the Hessian is `(q-1) M` with `M = Phi_n diag(|u|^(q-2)) Phi_n*`.
    #[test]
    fn curvature_is_that_of_the_definition(case in cases()) {
        check_curvature(&case);
    }

    /// (17) `[eq:20171009b]`.
    #[test]
    fn predictions_are_those_of_the_definition(case in cases()) {
        check_predictions(&case);
    }

    /// (36) `[eq:20170519a]`: `||f|| = ||w||_p`.
    #[test]
    fn the_norm_is_that_of_the_weights(case in cases()) {
        let (p, q) = (case.exponent.p(), case.q());
        let w = case.x.adjoint(&case.alpha).into_iter().map(|u| u.abs().powf(q - 1.0));
        let expected = w.map(|w| w.powf(p)).sum::<f64>().powf(1.0 / p);
        for (route, form) in case.forms() {
            let found = form.norm(&case.alpha);
            prop_assert!(close(found, expected, (case.rounding(route) + 1e-12) * expected), "{:?}: {:e}", route, found);
        }
    }

    /// What a form says of its rounding errors is true, however much its sums cancel.
    #[test]
    fn roundings_are_bounds(case in cases()) {
        let exact = case.x.omega(&case.alpha, case.q());
        for (route, form) in all(&case.x, case.exponent) {
            let found = evaluate(&*form, &case.alpha);
            let slack = case.rounding(Route::ByColumns) * case.omega_size();
            for ((found, exact), rounding) in found.omegas.iter().zip(&exact).zip(&found.roundings) {
                prop_assert!(close(*found, *exact, rounding + slack), "{:?}: {:e} {:e} {:e}", route, found, exact, rounding);
            }
        }
    }

    /// A batch of curvatures is as many single calls.
    #[test]
    fn a_batch_of_curvatures_equals_single_calls(case in cases(), count in 1_usize..6) {
        let n = case.x.n;
        let batch: Vec<f64> = (0..count).flat_map(|k| times(1.0 / (1.0 + k as f64), &case.alpha)).collect();
        for (route, form) in case.forms() {
            let together = curvature(&*form, &batch);
            for (k, alpha) in batch.chunks(n).enumerate() {
                let alone = curvature(&*form, alpha);
                let slack = case.rounding(route) * largest(&alone.curvatures) * 100.0;
                prop_assert!(all_close(&together.curvatures[k * n * n..(k + 1) * n * n], &alone.curvatures, slack), "{:?}", route);
            }
        }
    }
}

#[test]
fn large_tables() {
    for p in [2.0, 4.0 / 3.0] {
        let case = Case::large(p);
        check_curvature(&case);
        check_predictions(&case);
    }
}

/// Many samples: every kind of tile and several stripes of the tensor.
#[test]
fn many_samples() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(12);
    for (n, d, p) in [(300, 7, 2.0), (70, 300, 4.0 / 3.0), (26, 5, 1.2), (13, 4, 8.0 / 7.0)] {
        let mut x = Table::random(n, d, 0.1, &mut rng);
        x.columns.iter_mut().for_each(|x| *x += 0.5);
        let mut vector = || (0..n).map(|_| rng.random_range(-0.2..1.0)).collect::<Vec<_>>();
        let case = Case::new(x, p, &vector(), &vector()).expect("u is not lost in rounding");
        check_definition(&case);
        check_line(&case, 0.3);
        check_curvature(&case);
        check_predictions(&case);
        let alphas = [&case.alpha[..], &case.d, &moved(&case.alpha, -0.5, &case.d)].concat();
        for (route, form) in case.forms() {
            let run = |threads| {
                with_threads(threads, || {
                    let predictions = form.predictor(&case.alpha).predict(&case.x.by_columns()).expect("the samples");
                    [curvature(&*form, &alphas).curvatures, predictions].concat()
                })
            };
            let one = run(1);
            assert!([2, 5].iter().all(|&threads| run(threads) == one), "{route:?}");
            let run = |threads| {
                with_threads(threads, || bits(&*form, &alphas, &mut Evaluation::default(), &mut Scratch::new()))
            };
            let one = run(1);
            assert!([2, 5].iter().all(|&threads| run(threads) == one), "{route:?}");
        }
        let [stored, streamed] = [Route::Gram, Route::Streamed].map(|wanted| {
            let form = case.forms().into_iter().find(|(route, _)| *route == wanted).expect("a tensor").1;
            bits(&*form, &alphas, &mut Evaluation::default(), &mut Scratch::new())
        });
        assert_eq!(stored, streamed, "the streamed tensor is the stored one, bit for bit");
    }
}

/// Any number of new points: whole blocks, rests of blocks, and every shape of tile at the edge of the tensor.
#[test]
fn any_number_of_points() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(13);
    for (p, most) in [(2.0, 40), (4.0 / 3.0, 40), (1.2, 12)] {
        for n in (1..=most).step_by(3) {
            let x = Table::random(n, 3, 0.0, &mut rng);
            let alpha: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
            let exponent = Exponent::new(p).expect("inside");
            let w = Features::new(x.by_columns(), exponent).weights(&alpha);
            let size = 1e-9 * (1.0 + n as f64).powf(exponent.q() - 1.0);
            for points in [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 24, 47, 48, 100, 256, 261] {
                let new = Table::random(points, 3, 0.0, &mut rng);
                let expected = new.apply(&w);
                for (route, form) in all(&x, exponent) {
                    let found = form.predictor(&alpha).predict(&new.by_columns()).expect("valid");
                    assert!(all_close(&found, &expected, size), "{route:?} {n} {points}");
                }
            }
        }
    }
}

/// Entries and dual vectors of every size: no NaN in second derivatives, predictions and norms.
#[test]
fn extreme_sizes() {
    for p in [2.0, 1.5, 4.0 / 3.0, 1.001] {
        let exponent = Exponent::new(p).expect("inside");
        for c in [1e-150, 1e-50, 1.0, 1e50, 1e199] {
            let x = Table { n: 2, d: 3, columns: times(c, &[1.0, -0.5, 0.0, 0.7, -0.9, 0.4]) };
            for alpha in [[0.0, 0.0], [1e-250, 1e-250], [1.0, -1.0], [1e200, 1e-200]] {
                for (route, form) in all(&x, exponent) {
                    let found = curvature(&*form, &alpha);
                    let model = form.predictor(&alpha);
                    let predictions = model.predict(&x.by_columns()).expect("the samples themselves");
                    let numbers = [&found.curvatures[..], &found.omegas, &found.values, &predictions].concat();
                    assert!(
                        !numbers.iter().any(|number| number.is_nan()),
                        "{route:?} {p} {c:e} {alpha:?}: {numbers:?}"
                    );
                    assert!(!form.norm(&alpha).is_nan());
                }
            }
        }
    }
    // Representable, though the products of the entries alone are not.
    let x = Table { n: 1, d: 1, columns: vec![1e200] };
    let form = Features::new(x.by_columns(), Exponent::from_fraction(4, 3).expect("inside"));
    let found = curvature(&form, &[1e-250]).curvatures[0];
    assert!(close(found / 1e300, 1.0, 1e-12), "{found:e}");
}
