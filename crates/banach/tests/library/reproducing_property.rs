//! The Banach spaces of a tensor kernel, appendix A.2: the reproducing property `<f, K_x> = f(x)` and the dual space, on kernels
//! with finitely many features.
//!
//! A function knows its coefficients only through its values. So those of f in B, `f = <w, Phi(.)>`, and those of
//! `K_x: x' -> K(x', ..., x', x)` in B*, `K_x = <u, Phi*(.)>` with `Phi* = J_q o Phi`, are recovered by least squares from values of
//! the tensor and of the kernel. That they can be is the density that the paper assumes.

use banach::{
    Exponent, FeatureMatrix, Memory, QForm,
    form::Gram,
    kernel::{Anova, FeatureMap, Linear, Polynomial, TensorKernel},
};
use faer::{Mat, prelude::SolveLstsq};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const D: usize = 3;
const N: usize = 5;

/// `K(x_1, ..., x_q)`, from the elementary symmetric polynomials of the products of coordinates.
fn value(kernel: &dyn TensorKernel, points: &[&[f64]]) -> f64 {
    let mut sums = vec![0.0; kernel.symmetric() + 1];
    sums[0] = 1.0;
    for j in 0..D {
        let product: f64 = points.iter().map(|point| point[j]).product();
        for s in (1..sums.len()).rev() {
            sums[s] += product * sums[s - 1];
        }
    }
    kernel.apply(&mut sums[1..], 1);
    sums[1]
}

/// The coefficients of a function with these values, given the features of the points.
fn coefficients(features: &[Vec<f64>], values: &[f64]) -> Vec<f64> {
    let matrix = Mat::from_fn(features.len(), features[0].len(), |i, k| features[i][k]);
    let right = Mat::from_fn(values.len(), 1, |i, _| values[i]);
    let found = matrix.qr().solve_lstsq(&right);
    (0..features[0].len()).map(|k| found[(k, 0)]).collect()
}

fn pairing(w: &[f64], u: &[f64]) -> f64 {
    w.iter().zip(u).map(|(w, u)| w * u).sum()
}

fn norm(v: &[f64], exponent: f64) -> f64 {
    v.iter().map(|v| v.abs().powf(exponent)).sum::<f64>().powf(1.0 / exponent)
}

fn check(kernel: impl TensorKernel + Clone + 'static, q: u64) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(q);
    let mut point = |_| -> Vec<f64> {
        (0..D).map(|_| rng.random_range(0.4..1.2) * if rng.random() { 1.0 } else { -1.0 }).collect()
    };
    let samples: Vec<Vec<f64>> = (0..N).map(&mut point).collect();
    let [x, probe]: [Vec<f64>; 2] = std::array::from_fn(&mut point);
    let exponent = Exponent::from_fraction(q, q - 1).expect("q is even");
    let map = FeatureMap::new(&kernel, D, exponent, None).expect("finitely many features");
    let points: Vec<Vec<f64>> = (0..6 * map.len()).map(&mut point).collect();
    let what = format!("{}, q = {q}", kernel.name());

    let phi = |point: &Vec<f64>| map.phi(point).expect("in range");
    let dual_phi = |point: &Vec<f64>| {
        let mut features = phi(point);
        exponent.j_q(&mut features);
        features
    };
    let close = |a: f64, b: f64, scale: f64| assert!((a - b).abs() <= 1e-8 * scale, "{what}: {a} {b}");

    // K_x is in B*, and its coefficients are Phi(x).
    let k_x = |other: &Vec<f64>| {
        let others = vec![&other[..]; q as usize - 1];
        value(&kernel, &[&others[..], &[&x[..]]].concat())
    };
    let u = coefficients(&points.iter().map(dual_phi).collect::<Vec<_>>(), &points.iter().map(k_x).collect::<Vec<_>>());
    u.iter().zip(phi(&x)).for_each(|(u, phi)| close(*u, phi, 1.0));
    close(pairing(&u, &dual_phi(&probe)), k_x(&probe), k_x(&x).abs());

    // f of the representer formula (35), by the tensor.
    let rows: Vec<f64> = samples.concat();
    let matrix = FeatureMatrix::from_rows(N, D, &rows).expect("valid");
    let gram = Gram::new(matrix, kernel.clone(), exponent, Memory::limit(1 << 24)).expect("small");
    let alpha: Vec<f64> = (0..N).map(|i| (1.3 * i as f64).cos()).collect();
    let predictor = gram.predictor(&alpha);
    let f = |point: &Vec<f64>| {
        let point = FeatureMatrix::from_rows(1, D, point).expect("valid");
        predictor.predict(&point).expect("in range")[0]
    };
    let w = coefficients(&points.iter().map(phi).collect::<Vec<_>>(), &points.iter().map(f).collect::<Vec<_>>());
    let (p, q) = (exponent.p(), exponent.q());
    let (of_f, of_k) = (norm(&w, p), norm(&u, q));

    // <f, K_x> = f(x), and the norms are (36) and K(x, ..., x)^(1/q).
    close(pairing(&w, &u), f(&x), of_f * of_k);
    close(of_f, gram.norm(&alpha), of_f);
    close(of_k, k_x(&x).powf(1.0 / q), of_k);

    // B* is the dual of B: values are bounded by both norms, and J_q(u) attains the bound.
    assert!(f(&x).abs() <= of_f * of_k * (1.0 + 1e-8), "{what}");
    let mut attaining = u.clone();
    exponent.j_q(&mut attaining);
    close(pairing(&attaining, &u), norm(&attaining, p) * of_k, of_k.powf(q));
}

#[test]
fn kernels_reproduce_and_their_spaces_are_dual() {
    for q in [4, 6] {
        check(Linear, q);
        check(Polynomial::new(2, 1.0, 0.0).expect("valid"), q);
        check(Polynomial::new(2, 0.7, 0.5).expect("valid"), q);
        check(Anova::new(1, 2).expect("valid"), q);
    }
}
