//! The laws of the tiles route that need more than one degree: tiles = features = tensor, for every kernel with finitely many
//! features, every scale and every shape of tile. The laws of `form/laws.rs` hold too.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::{
    DualProblem, Newton, Solver, Unobserved,
    form::{
        Gram, KernelFeatures,
        laws::{Table, all_close, close, curvature, evaluate, with_threads},
    },
    kernel::{Anova, Linear, Normalized, Polynomial, PowerSeries},
    loss::Squared,
};

const MEMORY: Memory = Memory::limit(1 << 30);

fn exponent(p: f64) -> Exponent {
    Exponent::new(p).expect("inside")
}

/// Kernels of every kind: degrees 0 to 4, powers or none, ranges, scales, constants, normalised.
fn kernels() -> Vec<Arc<dyn TensorKernel>> {
    let polynomial = |degree, scale, coef0| Polynomial::new(degree, scale, coef0).expect("valid");
    let plain: Vec<Arc<dyn TensorKernel>> = vec![
        Arc::new(Linear),
        Arc::new(polynomial(1, 0.7, 0.3)),
        Arc::new(polynomial(2, 1.0, 0.0)),
        Arc::new(polynomial(2, 0.37, 0.8)),
        Arc::new(polynomial(3, 1.0, 0.0)),
        Arc::new(polynomial(3, 0.6, 1.3)),
        Arc::new(polynomial(4, 0.5, 0.0)),
        Arc::new(Anova::new(2, 2).expect("valid")),
        Arc::new(Anova::new(1, 3).expect("valid")),
        Arc::new(Anova::new(3, 4).expect("valid")),
        Arc::new(PowerSeries::from_coefficients(vec![0.0, 0.0, 1.0, 0.4], 0.9).expect("valid")),
        Arc::new(PowerSeries::from_coefficients(vec![0.2, 0.0, 0.7], 1.1).expect("valid")),
    ];
    let normalized = plain.iter().map(|kernel| Arc::new(Normalized(kernel.clone())) as Arc<dyn TensorKernel>);
    plain.clone().into_iter().chain(normalized).collect()
}

/// Data and dual vectors; the samples are not centred.
struct Case {
    x: Table,
    alpha: Vec<f64>,
    d: Vec<f64>,
}

fn case(n: usize, inputs: usize, seed: u64) -> Case {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut x = Table::random(n, inputs, 0.2, &mut rng);
    x.columns.iter_mut().filter(|x| **x != 0.0).for_each(|x| *x += 0.3);
    let mut vector = || (0..n).map(|_| rng.random_range(-1.0..1.0)).collect::<Vec<_>>();
    let (alpha, d) = (vector(), vector());
    Case { x, alpha, d }
}

/// The tiles, with narrow blocks, and the listed features; `None` where the kernel has no feature.
fn both<'a>(
    x: &'a Table,
    sparse: bool,
    kernel: &Arc<dyn TensorKernel>,
    monomial_scale: MonomialScale,
    p: f64,
) -> Option<(Tiles<'a>, KernelFeatures)> {
    let matrix = if sparse { x.sparse() } else { x.by_columns() };
    let tiles = Tiles::new(matrix, kernel.clone(), monomial_scale, exponent(p), MEMORY);
    let listed =
        KernelFeatures::with_monomial_scale(&x.by_columns(), kernel.clone(), monomial_scale, exponent(p), MEMORY);
    match (tiles, listed) {
        (Ok(tiles), Ok(listed)) => Some((tiles.with_layout(8, usize::MAX), listed)),
        (Err(_), Err(_)) => None,
        (tiles, listed) => panic!("{}: {tiles:?} {:?}", kernel.name(), listed.map(|_| ())),
    }
}

fn size(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |size: f64, v| size.max(v.abs()))
}

/// Everything that both forms say.
fn check(case: &Case, tiles: &Tiles<'_>, listed: &KernelFeatures, what: &str) {
    let q = tiles.exponent().q();
    assert_eq!(tiles.cardinality(), listed.cardinality(), "{what}");
    let (found, expected) = (curvature(tiles, &case.alpha), curvature(listed, &case.alpha));
    // Standard deviations are known to fewer digits than sums.
    let slack = 1e-10 * q;
    let [ln_value, expected_ln] = [&found, &expected].map(|evaluation| evaluation.ln_values[0]);
    assert!(ln_value == expected_ln || close(ln_value, expected_ln, slack), "{what}: {found:?} {expected:?}");
    assert!(close(found.values[0], expected.values[0], slack * expected.values[0]), "{what}");
    let magnitude = size(&expected.omegas);
    assert!(all_close(&found.omegas, &expected.omegas, 10.0 * slack * magnitude), "{what}: {found:?} {expected:?}");
    let magnitude = size(&expected.curvatures);
    assert!(
        all_close(&found.curvatures, &expected.curvatures, 10.0 * slack * magnitude),
        "{what}: {:?} {:?}",
        found.curvatures,
        expected.curvatures
    );
    let (mut own, mut other) = (Scratch::new(), Scratch::new());
    let lines = [tiles.lines(&case.alpha, &case.d, &mut own), listed.lines(&case.alpha, &case.d, &mut other)];
    for (pass, t) in [0.0, 0.3, -1.0, 1e-7].into_iter().enumerate() {
        let [found, expected] = [lines[0].at(0, t), lines[1].at(0, t)];
        let magnitude = expected.value + expected.slope.abs();
        assert!(close(found.value, expected.value, slack * magnitude), "{what} {t}: {found:?} {expected:?}");
        assert!(close(found.slope, expected.slope, 10.0 * slack * magnitude), "{what} {t}: {found:?} {expected:?}");
        assert!(close(found.bregman, expected.bregman, 1e-6 * expected.bregman + slack * slack), "{what} {t}");
        assert_eq!((lines[0].passes(), lines[1].passes()), (pass + 1, 1));
    }
    drop(lines);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut new = Table::random(7, case.x.d, 0.3, &mut rng);
    new.columns.iter_mut().for_each(|x| *x += 0.2);
    let alphas = [&case.d[..], &case.alpha].concat();
    let [found, expected] = [tiles.predictor(&alphas), listed.predictor(&alphas)];
    let inside = found.predict(&case.x.by_columns()).expect("the samples");
    let omegas = evaluate(tiles, &alphas).omegas;
    assert!(all_close(&inside, &omegas, 10.0 * slack * size(&omegas)), "{what}");
    let expected = expected.predict(&new.by_columns()).expect("points of the same kind");
    for new in [new.by_columns(), new.sparse()] {
        let found = found.predict(&new).expect("points of the same kind");
        assert!(
            all_close(&found, &expected, 100.0 * slack * size(&expected).max(size(&omegas))),
            "{what}: {found:?} {expected:?}"
        );
    }
    // A segment of which everything is kept is a line.
    let end: Vec<f64> = case.alpha.iter().zip(&case.d).map(|(alpha, d)| alpha + d).collect();
    let mut points = [Expansion::default(), Expansion::default()];
    let [from, to] = &mut points;
    tiles.expand(&[&case.alpha[..], &end].concat(), &mut [from, to], &mut own);
    let segment = tiles.segment((&case.alpha, from), (&end, to), &mut own);
    for t in [0.0, 0.4, 1.0] {
        let (found, expected) = (segment.at(0, t), listed.lines(&case.alpha, &case.d, &mut other).at(0, t));
        let magnitude = expected.value + expected.slope.abs();
        assert!(close(found.slope, expected.slope, 100.0 * slack * magnitude), "{what} {t}: {found:?} {expected:?}");
    }
    drop(segment);
    let (hessian, d) = (tiles.hessian(from, usize::MAX, &mut own), &case.d);
    if let Some(preview) = tiles.preview(from, &hessian, d, &mut own) {
        let expected = listed.lines(&case.alpha, d, &mut other).at(0, 0.4);
        let found = preview.at(0, 0.4);
        let magnitude = expected.value + expected.slope.abs();
        assert!(close(found.slope, expected.slope, 100.0 * slack * magnitude), "{what}: {found:?} {expected:?}");
    }
}

/// Every kernel and scale, blocks of 8 variables: one block, some, and rests of blocks; one sample and one variable.
#[test]
fn tiles_are_the_listed_features() {
    for (n, inputs) in [(6, 19), (9, 8), (5, 1), (1, 5), (4, 3)] {
        let case = case(n, inputs, 3);
        for kernel in kernels() {
            for monomial_scale in MonomialScale::ALL {
                for (p, sparse) in [(2.0, false), (4.0 / 3.0, true), (1.27, false), (1.05, true)] {
                    let what = format!("n = {n}, d = {inputs}, {}, {monomial_scale}, p = {p}", kernel.name());
                    if let Some((tiles, listed)) = both(&case.x, sparse, &kernel, monomial_scale, p) {
                        check(&case, &tiles, &listed, &what);
                    }
                }
            }
        }
    }
}

/// More samples than fit in one product.
#[test]
fn many_samples() {
    let case = case(1100, 5, 4);
    let kernel: Arc<dyn TensorKernel> = Arc::new(Polynomial::new(3, 0.6, 1.3).expect("valid"));
    for monomial_scale in MonomialScale::ALL {
        for sparse in [false, true] {
            let (tiles, listed) = both(&case.x, sparse, &kernel, monomial_scale, 4.0 / 3.0).expect("finite");
            check(&case, &tiles, &listed, &format!("{monomial_scale}, sparse: {sparse}"));
        }
    }
}

/// tiles = tensor.
#[test]
fn tiles_are_the_tensor() {
    let case = case(7, 11, 6);
    for kernel in kernels() {
        let e = exponent(4.0 / 3.0);
        let gram = Gram::new(case.x.by_columns(), kernel.clone(), e, MEMORY).expect("in range");
        let tiles = Tiles::new(case.x.by_columns(), kernel.clone(), MonomialScale::Raw, e, MEMORY).expect("finite");
        let [found, expected] = [curvature(&tiles, &case.alpha), curvature(&gram, &case.alpha)];
        let what = kernel.name();
        assert!(close(found.values[0], expected.values[0], 1e-9 * expected.values[0]), "{what}");
        assert!(all_close(&found.omegas, &expected.omegas, 1e-9 * size(&expected.omegas)), "{what}");
        assert!(all_close(&found.curvatures, &expected.curvatures, 1e-9 * size(&expected.curvatures)), "{what}");
    }
}

/// `PolynomialFeatures` and `StandardScaler`: every feature has mean 0 and variance 1, constant ones are absent.
#[test]
fn standardised_monomials_are_those_of_the_definition() {
    let mut case = case(12, 6, 7);
    case.x.columns[2 * 12..3 * 12].fill(1.7);
    let kernel = Polynomial::new(2, 1.0, 1.0).expect("valid");
    for (monomial_scale, p) in [(MonomialScale::Unit, 1.3), (MonomialScale::Standardized, 1.3)] {
        let tiles = Tiles::new(case.x.by_columns(), kernel, monomial_scale, exponent(p), MEMORY).expect("finite");
        let q = tiles.exponent().q();
        let mut columns = vec![vec![1.0; 12]];
        let x = |j: usize| &case.x.columns[j * 12..(j + 1) * 12];
        columns.extend((0..6).map(|j| x(j).to_vec()));
        for j in 0..6 {
            columns.extend((j..6).map(|k| x(j).iter().zip(x(k)).map(|(a, b)| a * b).collect::<Vec<_>>()));
        }
        let centred = monomial_scale == MonomialScale::Standardized;
        let mut value = 0.0;
        for column in &columns {
            let mean = if centred { column.iter().sum::<f64>() / 12.0 } else { 0.0 };
            let sd = (column.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 12.0).sqrt();
            if sd > 1e-9 {
                let u: f64 = column.iter().zip(&case.alpha).map(|(x, alpha)| (x - mean) / sd * alpha).sum();
                value += u.abs().powf(q) / q;
            }
        }
        let found = evaluate(&tiles, &case.alpha).values[0];
        assert!(close(found, value, 1e-10 * value), "{monomial_scale}: {found} {value}");
    }
}

/// The same bits from any number of threads, also of what is kept; a batch is as many single calls.
#[test]
fn threads_and_batches() {
    let case = case(40, 260, 8);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(9);
    let alphas: Vec<f64> = (0..40 * 5).map(|_| rng.random_range(-1.0..1.0)).collect();
    for monomial_scale in MonomialScale::ALL {
        let kernel = Polynomial::new(2, 1.0, 1.0).expect("valid");
        let tiles = Tiles::new(case.x.by_columns(), kernel, monomial_scale, exponent(1.1), MEMORY).expect("finite");
        let tiles = tiles.with_layout(32, 500);
        assert!(tiles.monomials.stripes() > 1);
        let run = |threads| {
            with_threads(threads, || {
                let (mut at, mut scratch) = (vec![Expansion::default(); 5], Scratch::new());
                tiles.expand(&alphas, &mut at.iter_mut().collect::<Vec<_>>(), &mut scratch);
                let line = tiles.lines(&case.alpha, &case.d, &mut scratch).at(0, 0.3);
                let predictions = tiles.predictor(&alphas).predict(&case.x.by_columns()).expect("the samples");
                let hessians: Vec<f64> = at.iter().map(|at| tiles.hessian(at, 300, &mut Scratch::new()).tail).collect();
                let kept = at.iter().flat_map(|at| heaviest::kept(at).indices.clone()).collect::<Vec<_>>();
                let omegas = at.iter().flat_map(|at| at.evaluation.omegas.clone());
                let numbers = omegas.chain(predictions).chain(hessians).chain([line.value, line.slope, line.bregman]);
                (kept, numbers.map(f64::to_bits).collect::<Vec<_>>())
            })
        };
        let one = run(1);
        assert!([2, 3].iter().all(|&threads| run(threads) == one), "{monomial_scale}");
        let together = evaluate(&tiles, &alphas);
        for (k, alpha) in alphas.chunks(40).enumerate() {
            let alone = evaluate(&tiles, alpha);
            assert_eq!(
                (alone.values[0], &alone.omegas[..]),
                (together.values[k], &together.omegas[k * 40..(k + 1) * 40])
            );
        }
    }
}

/// What is kept are the heaviest monomials, with their u; what is left out keeps its part of the trace.
#[test]
fn the_heaviest_are_kept() {
    let case = case(30, 120, 10);
    for (p, monomial_scale) in
        [(1.1, MonomialScale::Raw), (4.0 / 3.0, MonomialScale::Raw), (1.1, MonomialScale::Standardized)]
    {
        let kernel = Polynomial::new(2, 1.0, 0.5).expect("valid");
        let build = |capacity| {
            let tiles = Tiles::new(case.x.by_columns(), kernel, monomial_scale, exponent(p), MEMORY).expect("finite");
            tiles.with_layout(16, capacity)
        };
        let (some, all) = (build(600), build(usize::MAX));
        let mut at = [Expansion::default(), Expansion::default()];
        for (form, at) in [&some, &all].into_iter().zip(&mut at) {
            form.expand(&case.alpha, &mut [at], &mut Scratch::new());
        }
        let [kept, everything] = [heaviest::kept(&at[0]), heaviest::kept(&at[1])];
        assert_eq!((kept.indices.len(), everything.left_out.len()), (600, 0));
        for (index, u) in kept.indices.iter().zip(&kept.u) {
            let place = everything.indices.binary_search(index).expect("among all");
            assert_eq!(everything.u[place], *u, "{p} {monomial_scale}");
        }
        let traces = |form: &Tiles<'_>, at: &Expansion, keep| {
            let hessian = form.hessian(at, keep, &mut Scratch::new());
            let crate::form::HessianPart::Dense(entries) = &hessian.main else { panic!("many features") };
            (entries.iter().step_by(31).sum::<f64>() + 30.0 * hessian.tail, hessian.tail_share)
        };
        let exact = traces(&all, &at[1], usize::MAX).0;
        let mut last = 1.0;
        for (form, at, keep) in [(&some, &at[0], 100), (&some, &at[0], 600), (&all, &at[1], 2000)] {
            let (trace, share) = traces(form, at, keep);
            // Norms of products are not quite the products of norms.
            assert!(close(trace, exact, 0.3 * exact), "{p} {monomial_scale} {keep}: {trace:e} {exact:e}");
            assert!(share < last, "{p} {monomial_scale} {keep}: {share}");
            last = share;
        }
        assert_eq!(traces(&all, &at[1], usize::MAX).1, 0.0);
    }
}

/// A fit over tiles is the fit over listed features, also where the Hessian sees few of them.
#[test]
fn fits_agree() {
    let case = case(25, 30, 11);
    let y: Vec<f64> = (0..25).map(|i| case.x.columns[i] * case.x.columns[25 + i] + 0.1 * case.d[i]).collect();
    let kernel: Arc<dyn TensorKernel> = Arc::new(Polynomial::new(2, 1.0, 1.0).expect("valid"));
    for monomial_scale in MonomialScale::ALL {
        for p in [2.0, 4.0 / 3.0, 1.1, 1.05] {
            let (tiles, listed) = both(&case.x, false, &kernel, monomial_scale, p).expect("finite");
            let few = both(&case.x, false, &kernel, monomial_scale, p).expect("finite").0.with_layout(16, 150);
            let solve = |form: &dyn QForm| {
                let problem =
                    DualProblem::new(form, &Squared, &y, 10.0).expect("valid").with_intercept().expect("valid");
                Newton::default().solve(&problem, &mut Unobserved).expect("it runs")
            };
            let [expected, found, sparse] = [solve(&listed), solve(&tiles), solve(&few)];
            for solution in [&expected, &found, &sparse] {
                assert!(solution.certificate.relative_gap() <= 1e-8, "{monomial_scale} {p}: {:?}", solution.status);
            }
            // Listed features of few samples take fewer still.
            assert!(found.passes <= 12, "{monomial_scale} {p}: {} {}", found.passes, expected.passes);
            for other in [&found, &sparse] {
                let distance = size(&expected.omega.iter().zip(&other.omega).map(|(a, b)| a - b).collect::<Vec<_>>());
                assert!(distance <= 1e-3 * size(&expected.omega), "{monomial_scale} {p}: {distance}");
            }
        }
    }
}

/// Entries and powers of every size: no NaN, and a refusal where a monomial is out of range.
#[test]
fn extreme_sizes() {
    let case = case(4, 5, 12);
    for p in [2.0, 1.5, 4.0 / 3.0, 1.05, 1.001] {
        for monomial_scale in MonomialScale::ALL {
            for (c, kernel) in
                [1e-120, 1e-30, 1.0, 1e30, 1e95].into_iter().flat_map(|c| kernels().into_iter().map(move |k| (c, k)))
            {
                let x = case.x.scaled(c);
                let Ok(tiles) = Tiles::new(x.by_columns(), kernel.clone(), monomial_scale, exponent(p), MEMORY) else {
                    continue;
                };
                for factor in [1e-200, 1.0, 1e200] {
                    let alpha: Vec<f64> = case.alpha.iter().map(|alpha| factor * alpha).collect();
                    let found = curvature(&tiles, &alpha);
                    let line = tiles.lines(&alpha, &case.d, &mut Scratch::new()).at(0, 0.5);
                    let predictions = tiles.predictor(&alpha).predict(&x.by_columns()).expect("the samples");
                    let numbers = [&found.values[..], &found.omegas, &found.curvatures, &predictions].concat();
                    assert!(
                        !numbers.iter().any(|number| number.is_nan()),
                        "{} {monomial_scale} {p} {c:e} {factor:e}",
                        kernel.name()
                    );
                    assert!(!line.value.is_nan() && !line.slope.is_nan() && !line.bregman.is_nan());
                }
            }
        }
    }
    let large = case.x.scaled(1e150);
    let refused = Tiles::new(
        large.by_columns(),
        Polynomial::new(2, 1.0, 0.0).expect("valid"),
        MonomialScale::Raw,
        exponent(1.1),
        MEMORY,
    );
    assert!(matches!(refused, Err(Error::BadEntry { what: "Phi_n", .. })));
    let scaled = Tiles::new(
        large.by_columns(),
        Polynomial::new(2, 1.0, 0.0).expect("valid"),
        MonomialScale::Unit,
        exponent(1.1),
        MEMORY,
    );
    assert!(scaled.is_ok());
}

#[test]
fn what_cannot_be_had_is_refused() {
    let case = case(3, 4, 13);
    let exponential = crate::kernel::Exponential::new(1.0).expect("valid");
    let refused = |kernel: Arc<dyn TensorKernel>, memory| {
        Tiles::new(case.x.by_columns(), kernel, MonomialScale::Raw, exponent(1.1), memory).expect_err("refused")
    };
    assert!(matches!(refused(Arc::new(exponential), MEMORY), Error::InfinitelyManyFeatures { .. }));
    assert!(matches!(refused(Arc::new(Anova::new(5, 6).expect("valid")), MEMORY), Error::Parameter { .. }));
    let memory = refused(Arc::new(Linear), Memory::limit(100));
    assert!(matches!(memory, Error::Memory { allowed: 100, .. }), "{memory}");
    let wide = Table { n: 1, d: 1000, columns: vec![0.5; 1000] };
    let many = Tiles::new(
        wide.by_columns(),
        Polynomial::new(9, 1.0, 0.0).expect("valid"),
        MonomialScale::Raw,
        exponent(1.1),
        MEMORY,
    );
    assert!(matches!(many, Err(Error::TooManyFeatures { .. })));
    let tiles = Tiles::new(case.x.by_columns(), Linear, MonomialScale::Raw, exponent(1.1), MEMORY).expect("finite");
    let error = tiles.predictor(&case.alpha).predict(&wide.by_columns()).expect_err("another number of variables");
    assert!(matches!(error, Error::Shape { got: 1000, expected: 4, .. }));
}
