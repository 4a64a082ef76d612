//! Gram tensors at the edge of what is allowed, and past it, through the public interface.

use std::sync::Arc;

use allocation_counter::measure;
use banach::{
    DualProblem, Error, Exponent, FeatureMatrix, Memory, QForm, Solver, Stopping, Unobserved,
    data::Scratch,
    error::Parameter,
    form::{Evaluation, Gram},
    kernel::{Anova, Exponential, Linear, Normalized, Polynomial, PowerSeries, Series, TensorKernel},
    loss::Squared,
    solver::ProximalGradient,
};

/// Four samples of three variables, column by column.
const X: [f64; 12] = [0.9, -0.4, 0.3, 0.8, 0.7, -1.1, 0.2, -0.5, 0.5, 0.8, -0.6, 0.1];
const N: usize = 4;
const ORDERS: [u64; 4] = [2, 4, 6, 8];

fn times(c: f64, v: &[f64]) -> Vec<f64> {
    v.iter().map(|v| c * v).collect()
}

fn matrix(n: usize, columns: &[f64]) -> FeatureMatrix<'_> {
    FeatureMatrix::from_columns(n, columns.len() / n, columns).expect("valid")
}

fn exponent(q: u64) -> Exponent {
    Exponent::from_fraction(q, q - 1).expect("inside")
}

fn ample() -> Memory {
    Memory::limit(1 << 30)
}

fn gram(n: usize, columns: &[f64], kernel: impl TensorKernel + 'static, q: u64) -> Result<Gram<'_>, Error> {
    Gram::new(matrix(n, columns), kernel, exponent(q), ample())
}

fn exponential(scale: f64) -> Exponential {
    Exponential::new(scale).expect("valid")
}

fn series(series: Series, scale: f64) -> PowerSeries {
    PowerSeries::new(series, scale).expect("valid")
}

/// Kernels of every kind, with and without a constant.
fn kernels() -> Vec<Box<dyn TensorKernel>> {
    let plain = || -> Vec<Box<dyn TensorKernel>> {
        let mut kernels: Vec<Box<dyn TensorKernel>> = vec![
            Box::new(Linear),
            Box::new(exponential(0.2)),
            Box::new(Polynomial::new(2, 0.5, 0.0).expect("valid")),
            Box::new(Polynomial::new(3, 0.5, 1.0).expect("valid")),
            Box::new(Anova::new(1, 2).expect("valid")),
            Box::new(Anova::new(2, 3).expect("valid")),
            Box::new(Anova::new(1, 8).expect("valid")),
        ];
        kernels.extend(Series::ALL.map(|name| Box::new(series(name, 0.1)) as Box<dyn TensorKernel>));
        kernels
    };
    let normalized = plain().into_iter().map(|kernel| Box::new(Normalized(kernel)) as Box<dyn TensorKernel>);
    plain().into_iter().chain(normalized).collect()
}

fn refused<T>(result: Result<T, Error>) -> Error {
    result.err().expect("a wrong input is refused")
}

/// Nothing that the form says is NaN, whatever the size of the dual vector, and a fit ends with an honest certificate.
fn assert_sound(gram: &Gram<'_>, what: &str) {
    let n = gram.samples();
    let (mut out, mut scratch) = (Evaluation::default(), Scratch::new());
    let y: Vec<f64> = (0..n).map(|i| (1.0 + i as f64).sin()).collect();
    for size in [0.0, 5e-324, 1e-300, 1e-20, 1.0, 1e20, 1e300] {
        let alpha = times(size, &y);
        gram.curvature(&alpha, &mut out, &mut scratch);
        let mut numbers = [&out.values[..], &out.ln_values, &out.omegas, &out.curvatures].concat();
        gram.evaluate(&alpha, &mut out, &mut scratch);
        numbers.extend([&out.values[..], &out.ln_values, &out.omegas].concat());
        assert!(out.values[0] >= 0.0 && (size > 0.0 || out.values[0] == 0.0), "{what}");
        let lines = gram.lines(&alpha, &y, &mut scratch);
        for t in [0.0, 1e-300, -1e-9, 1.0, 1e9, -1e300] {
            let point = lines.at(0, t);
            numbers.extend([point.value, point.slope, point.bregman]);
        }
        drop(lines);
        numbers.extend(gram.predictor(&alpha).predict(gram.matrix()).expect("the samples are in range"));
        numbers.push(gram.norm(&alpha));
        assert!(numbers.iter().all(|number| !number.is_nan()), "{what}, |alpha| = {size:e}: {numbers:?}");
    }
    let problem = DualProblem::new(gram, &Squared, &y, 1.0).expect("valid");
    let stopping = Stopping { tolerance: 1e-8, max_iterations: 300 };
    let solver = ProximalGradient { stopping, ..ProximalGradient::default() };
    let solution = solver.solve(&problem, &mut Unobserved).expect("valid");
    assert!(solution.alpha.iter().chain(&solution.omega).all(|number| number.is_finite()), "{what}");
    assert!(solution.certificate.gap >= 0.0, "{what}: {:?}", solution.certificate);
}

/// The number after "lower scale to " in a message.
fn named_scale(message: &str) -> f64 {
    let (_, rest) = message.split_once("lower scale to ").expect("a scale is named");
    rest.split_once(" or less").expect("and ends").0.parse().expect("a number")
}

#[test]
fn data_that_are_too_large_are_refused_with_a_scale_that_works() {
    let build: [fn(f64) -> Box<dyn TensorKernel>; 4] = [
        |scale| Box::new(exponential(scale)),
        |scale| Box::new(series(Series::Geometric, scale)),
        |scale| Box::new(Normalized(series(Series::Logarithm, scale))),
        |scale| Box::new(Polynomial::new(40, scale, 1.0).expect("valid")),
    ];
    for q in ORDERS {
        for (build, size) in build.iter().zip([1e3, 1e3, 1e3, 1e8]) {
            let x = times(size, &X);
            let error = refused(gram(N, &x, build(1.0), q));
            let message = error.to_string();
            assert!(matches!(error, Error::KernelRange { what: "X", row: 1, .. }), "{message}");
            let scale = named_scale(&message);
            assert_sound(&gram(N, &x, build(scale), q).expect("the scale that is named works"), &message);
            assert!(gram(N, &x, build(1.2 * scale), q).is_err(), "{message}: it could be larger");
        }
    }
}

/// The exponential kernel of raw data (F14).
#[test]
fn normalised_kernels_reach_farther() {
    for (q, size) in [(2, 1e3), (4, 30.0), (6, 10.0), (8, 5.0)] {
        let x = times(size, &X);
        let message = refused(gram(N, &x, exponential(1.0), q)).to_string();
        assert!(message.contains("normalise the kernel"), "{message}");
        let gram = gram(N, &x, Normalized(exponential(1.0)), q).expect("in range");
        for i in 0..N {
            let diagonal = gram.entry(&vec![i; q as usize]).expect("stored");
            assert!((diagonal - 1.0).abs() <= 1e-8, "{q}: {diagonal}");
        }
        assert!(gram.packed().expect("stored").iter().all(|entry| entry.abs() <= 1.0 + 1e-8));
        assert_sound(&gram, "normalised");
    }
}

#[test]
fn new_points_out_of_range_are_refused_by_row() {
    let alpha = [0.3, -0.2, 0.1, 0.4];
    let kernels: [Box<dyn TensorKernel>; 4] = [
        Box::new(exponential(1.0)),
        Box::new(series(Series::Geometric, 0.1)),
        Box::new(Normalized(series(Series::Geometric, 0.1))),
        Box::new(Polynomial::new(64, 1.0, 0.0).expect("valid")),
    ];
    for kernel in kernels {
        let name = kernel.name();
        let gram = gram(N, &X, kernel, 4).expect("in range");
        let model = gram.predictor(&alpha);
        // Two points: a sample, and one far away.
        let far: Vec<f64> = X.chunks(N).flat_map(|column| [column[0], 1e20 * column[1]]).collect();
        match model.predict(&matrix(2, &far)) {
            Err(error @ Error::KernelRange { what: "the new X", row: 1, .. }) => {
                assert!(error.to_string().contains("standardise the columns"), "{error}");
            }
            other => panic!("{name}: {other:?}"),
        }
        let near: Vec<f64> = X.chunks(N).flat_map(|column| [column[0], 1.1 * column[1]]).collect();
        assert!(model.predict(&matrix(2, &near)).expect("in range").iter().all(|value| value.is_finite()), "{name}");
        for inputs in [1, 2, 4] {
            let wrong = vec![0.1; 2 * inputs];
            let error = refused(model.predict(&matrix(2, &wrong)));
            assert_eq!(error, Error::Shape { what: "a row of the new X", got: inputs, expected: 3 }, "{name}");
        }
    }
}

/// Points as large as a matrix can hold, beside samples that are small or zero: an error or a number.
#[test]
fn predictions_are_never_nan() {
    for q in ORDERS {
        for kernel in kernels().into_iter().map(Arc::new) {
            let name = kernel.name();
            for c in [0.0, 1e-15, 1.0] {
                let x: Vec<f64> = X.iter().enumerate().map(|(at, x)| if at < N { 0.0 } else { c * x }).collect();
                let Ok(gram) = Gram::new(matrix(N, &x), kernel.clone(), exponent(q), ample()) else { continue };
                for size in [0.0, 1e-300, 1e-40, 1.0, 1e10, 1e40, 1e60, 1e105, 1e150, 1e200] {
                    let point = [size, -0.5 * size, 0.1 * size];
                    if let Ok(values) = gram.predictor(&[0.3, -0.2, 0.1, 0.4]).predict(&matrix(1, &point)) {
                        assert!(!values[0].is_nan(), "{name} q = {q}, samples of size {c:e}, point of size {size:e}");
                    }
                }
            }
        }
    }
}

#[test]
fn exponents_without_a_tensor_are_refused() {
    for p in [1.5, 1.1, 1.9, 1.001, 10.0 / 9.0] {
        let exponent = Exponent::new(p).expect("inside");
        for error in [
            refused(Gram::new(matrix(N, &X), Linear, exponent, ample())),
            refused(Gram::streamed(matrix(N, &X), Linear, exponent, ample())),
        ] {
            assert!(matches!(error, Error::Parameter { parameter: Parameter::P, .. }), "{error:?}");
            assert!(error.to_string().contains("4/3"), "{error}");
        }
    }
}

/// Refused one byte below what it needs, with both numbers; accepted with it.
fn assert_limit<T>(build: impl Fn(Memory) -> Result<T, Error>) -> u64 {
    let Error::Memory { needed, allowed: 0, .. } = refused(build(Memory::limit(0))) else { panic!("no memory at all") };
    match refused(build(Memory::limit(needed - 1))) {
        error @ Error::Memory { needed: got, allowed, .. } => {
            assert_eq!((got, allowed), (needed, needed - 1));
            assert!(error.to_string().contains(&format!("{needed} bytes")), "{error}");
        }
        other => panic!("{other}"),
    }
    assert!(build(Memory::limit(needed)).is_ok());
    needed
}

#[test]
fn memory_is_kept_within_its_limit() {
    for q in ORDERS {
        let stored = assert_limit(|memory| Gram::new(matrix(N, &X), Linear, exponent(q), memory));
        assert_eq!(Some(stored), Gram::bytes(N, X.len() / N, &Linear, q as usize));
        let streamed = assert_limit(|memory| Gram::streamed(matrix(N, &X), Linear, exponent(q), memory));
        let whole = gram(N, &X, Linear, q).expect("in range");
        assert_eq!(stored, streamed + 8 * whole.entries() as u64);
        let subset = assert_limit(|memory| whole.subset(&[0, 2, 2], memory));
        assert_eq!(Some(subset), Gram::bytes(3, X.len() / N, &Linear, q as usize));
        let whole = Gram::streamed(matrix(N, &X), Linear, exponent(q), ample()).expect("in range");
        assert!(assert_limit(|memory| whole.subset(&[0, 2, 2], memory)) < subset);
    }
}

/// Tensors beyond all memory are refused before anything is allocated.
#[test]
fn huge_tensors_are_refused_at_once() {
    let n = 1_000_000;
    let x = vec![0.5; n];
    let few = [0.1, 0.2];
    let few = [gram(2, &few, Linear, 8), Gram::streamed(matrix(2, &few), Linear, exponent(8), ample())];
    let counted = measure(|| {
        for q in ORDERS {
            // At q = 2 a streamed matrix takes little memory.
            for stored in [true, false].into_iter().filter(|&stored| stored || q > 2) {
                let build = if stored { Gram::new } else { Gram::streamed };
                match refused(build(matrix(n, &x), Linear, exponent(q), Memory::limit(8 << 30))) {
                    Error::Memory { needed, allowed, .. } => assert!(needed > allowed, "{needed} {allowed}"),
                    other => panic!("{other}"),
                }
            }
        }
        assert!(matches!(
            Gram::new(matrix(n, &x), Linear, exponent(8), Memory::limit(u64::MAX)),
            Err(Error::Memory { .. })
        ));
    });
    assert!(counted.bytes_total < 1 << 16, "{counted:?}");
    let repeated = vec![1; n];
    for few in few {
        let few = few.expect("in range");
        let counted = measure(|| assert!(matches!(few.subset(&repeated, ample()), Err(Error::Memory { .. }))));
        assert!(counted.bytes_total < 1 << 16, "{counted:?}");
    }
    assert_eq!(Gram::bytes(n, 1, &Linear, 8), None);
}

#[test]
fn three_hundred_samples_at_q_4_fit_in_3_gb() {
    assert!(Gram::bytes(300, 20, &Linear, 4).is_some_and(|bytes| bytes <= 3_000_000_000));
}

#[test]
fn data_that_underflow_are_refused() {
    let tiny = times(1e-100, &X);
    let vanishing: [fn() -> Box<dyn TensorKernel>; 8] = [
        || Box::new(Linear),
        || Box::new(Normalized(Linear)),
        || Box::new(Polynomial::new(2, 0.5, 0.0).expect("valid")),
        || Box::new(Normalized(Polynomial::new(2, 0.5, 0.0).expect("valid"))),
        || Box::new(Anova::new(2, 3).expect("valid")),
        || Box::new(Normalized(Anova::new(2, 3).expect("valid"))),
        || Box::new(series(Series::Sinh, 0.1)),
        || Box::new(series(Series::Logarithm, 0.1)),
    ];
    for q in [4, 6, 8] {
        for kernel in vanishing {
            let error = refused(gram(N, &tiny, kernel(), q));
            assert!(matches!(error, Error::KernelUnderflow { what: "X", row: 0, .. }), "{error}");
            assert!(error.to_string().contains("standardise"), "{error}");
        }
        // With a constant the small variables make no difference.
        for kernel in [series(Series::Cosh, 0.1), series(Series::Geometric, 0.1)] {
            let gram = gram(N, &tiny, kernel, q).expect("in range");
            assert!(gram.packed().expect("stored")[0] > 0.0);
            assert_sound(&gram, "a constant");
        }
    }
    // In between, digits are lost before all is: the smallest data that are accepted are accurate.
    for (q, size) in [(2, 1e-135), (4, 1e-67), (6, 1e-45), (8, 1e-33)] {
        let small = times(size, &X);
        for normalized in [false, true] {
            let linear = |x: &[f64]| {
                let kernel: Box<dyn TensorKernel> =
                    if normalized { Box::new(Normalized(Linear)) } else { Box::new(Linear) };
                let mut out = Evaluation::default();
                gram(N, x, kernel, q).expect("in range").evaluate(
                    &[0.3, 0.2, -0.1, 0.4],
                    &mut out,
                    &mut Scratch::new(),
                );
                out.ln_values[0]
            };
            let expected = linear(&X) + if normalized { 0.0 } else { q as f64 * f64::ln(size) };
            assert!((linear(&small) - expected).abs() < 1e-11, "{q} {normalized}");
        }
    }
    // One tiny sample does no harm beside others, but cannot be normalised.
    let mixed: Vec<f64> =
        X.chunks(N).flat_map(|column| [column[0], 1e-100 * column[1], column[2], column[3]]).collect();
    assert_sound(&gram(N, &mixed, Linear, 4).expect("harmless"), "one tiny sample");
    let error = refused(gram(N, &mixed, Normalized(Linear), 4));
    assert!(matches!(error, Error::KernelUnderflow { what: "X", row: 1, .. }), "{error}");
    // So for new points.
    let plain = gram(N, &X, Linear, 4).expect("in range");
    let predicted = plain.predictor(&[0.1; N]).predict(&matrix(N, &mixed)).expect("harmless");
    assert!(predicted[1].abs() < 1e-99 && predicted[0].abs() > 1e-6, "{predicted:?}");
    let normalized = gram(N, &X, Normalized(Linear), 4).expect("in range");
    let error = refused(normalized.predictor(&[0.1; N]).predict(&matrix(N, &mixed)));
    assert!(matches!(error, Error::KernelUnderflow { what: "the new X", row: 1, .. }), "{error}");
}

/// Interactions of two variables where a sample has one: no feature, whatever the size of that one.
#[test]
fn samples_without_features_are_zero() {
    let one_each = [0.9, 0.0, 0.0, 0.3, 0.0, -0.7, 0.0, 0.4, 0.0, 0.0, 1e3, 0.0];
    for q in ORDERS {
        for normalized in [false, true] {
            let interactions = Anova::new(2, 3).expect("valid");
            let kernel: Box<dyn TensorKernel> =
                if normalized { Box::new(Normalized(interactions)) } else { Box::new(interactions) };
            let gram = gram(N, &one_each, kernel, q).expect("in range");
            let mut indices = vec![0; q as usize];
            assert_eq!(gram.entry(&indices), Some(0.0));
            indices.fill(3);
            assert!(gram.entry(&indices).expect("stored") > 0.0, "the last sample has an interaction");
            indices[0] = 1;
            assert_eq!(gram.entry(&indices), Some(0.0));
            assert_sound(&gram, "interactions");
            // None at all.
            assert_sound(&gram.subset(&[0, 1, 2], ample()).expect("below n"), "no interaction");
        }
    }
}

#[test]
fn small_and_degenerate_shapes() {
    let twins: Vec<f64> = X.chunks(N).flat_map(|column| [column[0], column[1], column[0], column[0]]).collect();
    for (name, n, columns) in [
        ("one sample", 1, &X[..3]),
        ("one number", 1, &X[..1]),
        ("one variable", N, &X[..N]),
        ("two samples", 2, &X[..8]),
        ("zeros", N, &[0.0; 12][..]),
        ("a zero", 1, &[0.0][..]),
        ("equal samples", N, &[0.7, 0.7, 0.7, 0.7, -0.2, -0.2, -0.2, -0.2][..]),
        ("twins", N, &twins[..]),
    ] {
        for q in ORDERS {
            for kernel in kernels() {
                let what = format!("{name}, {}, q = {q}", kernel.name());
                let gram = gram(n, columns, kernel, q).expect(&what);
                assert_sound(&gram, &what);
                let mut out = Evaluation::default();
                gram.evaluate(&vec![1.0; n], &mut out, &mut Scratch::new());
                if name == "twins" {
                    let omegas = &out.omegas;
                    let slack = 1e-13 * omegas[0].abs();
                    assert!((omegas[0] - omegas[2]).abs() <= slack && (omegas[0] - omegas[3]).abs() <= slack, "{what}");
                }
                if name == "equal samples" {
                    // Q(1, ..., 1) = n^q K/q.
                    let value = gram.entry(&vec![0; q as usize]).expect("stored") * 4.0_f64.powi(q as i32) / q as f64;
                    assert!((out.values[0] - value).abs() <= 1e-12 * value, "{what}: {} {value}", out.values[0]);
                }
                if name == "zeros" {
                    let constant = gram.entry(&vec![0; q as usize]).expect("stored");
                    assert_eq!(out.values[0] > 0.0, constant > 0.0, "{what}");
                }
            }
        }
    }
}

#[test]
fn debug_does_not_print_the_tensor() {
    let columns: Vec<f64> = (0..60).map(|k| f64::from(k).sin()).collect();
    let gram = gram(20, &columns, exponential(0.1), 4).expect("in range");
    let text = format!("{gram:?}");
    assert!(text.contains("Exponential") && text.contains(&gram.entries().to_string()), "{text}");
    assert!(text.len() < 500, "{text}");
    assert!(format!("{gram:#?}").lines().count() < 40);
}
