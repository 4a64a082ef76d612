//! Every kernel and every order: the Gram route is the features route on the listed features, and what a tensor can do
//! besides. The laws of all routes, in `form/laws.rs`, hold it to the linear kernel.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::{
    form::{
        Features,
        laws::{Table, all_close, close, curvature, evaluate, with_threads},
    },
    kernel::{Exponential, FeatureMap, Linear, Normalized, Polynomial, cardinality, laws},
    numeric::dot,
};

/// q, and as many samples as its tensor can have in a small test.
const ORDERS: [(usize, usize); 4] = [(2, 8), (4, 6), (6, 5), (8, 4)];

/// Features of an infinite kernel up to this degree. What is missing is less than 4.2e-13 of K on the diagonal where
/// `scale p_1 <= 0.3`, and all `a_s <= 1`.
const CUT: usize = 24;

const MEMORY: u64 = 1 << 30;

fn exponent(q: usize) -> Exponent {
    Exponent::from_fraction(q as u64, q as u64 - 1).expect("inside")
}

fn kernels() -> impl Iterator<Item = Arc<dyn TensorKernel>> {
    laws::all().into_iter().map(Arc::from)
}

fn memory() -> Memory {
    Memory::limit(MEMORY)
}

fn stored<'a>(kernel: &Arc<dyn TensorKernel>, x: FeatureMatrix<'a>, q: usize) -> Gram<'a> {
    Gram::new(x, kernel.clone(), exponent(q), memory()).expect("in range")
}

fn streamed<'a>(kernel: &Arc<dyn TensorKernel>, x: FeatureMatrix<'a>, q: usize) -> Gram<'a> {
    Gram::streamed(x, kernel.clone(), exponent(q), memory()).expect("in range")
}

fn point(x: &Table, i: usize) -> Vec<f64> {
    x.columns.chunks(x.n).map(|column| column[i]).collect()
}

/// Random samples, some of their entries zero, with `scale p_1` within the radius of every series, and for finite kernels
/// large enough for every degree to count.
fn samples(kernel: &dyn TensorKernel, q: usize, n: usize, d: usize, rng: &mut Xoshiro256PlusPlus) -> Table {
    let x = Table::random(n, d, 0.2, rng);
    let p_1 = |i| point(&x, i).iter().map(|x| x.powi(q as i32)).sum::<f64>();
    let largest = (0..n).map(p_1).fold(1e-3, f64::max) * kernel.scale().unwrap_or(1.0);
    let wanted = if kernel.degrees().1.is_some() { 2.0 } else { 0.3 };
    x.scaled((wanted / largest).powf(1.0 / q as f64))
}

fn vector(n: usize, rng: &mut Xoshiro256PlusPlus) -> Vec<f64> {
    (0..n).map(|_| rng.random_range(-0.4..1.0)).collect()
}

/// What rounding, and the cut of a series, may do. By Hoelder's inequality the terms of an entry add up to at most
/// a product of numbers that belong to its points.
struct Slack {
    unit: f64,
    samples: Vec<f64>,
    new: Vec<f64>,
}

impl Slack {
    fn new(kernel: &dyn TensorKernel, q: usize, x: &Table, new: &Table) -> Self {
        let sizes = |x: &Table| -> Vec<f64> {
            let size = |i| {
                let value = laws::diagonal(kernel, &point(x, i), q);
                if kernel.normalized() { f64::from(u8::from(value > 0.0)) } else { value.powf(1.0 / q as f64) }
            };
            (0..x.n).map(size).collect()
        };
        let (samples, new) = (sizes(x), sizes(new));
        let cut = if kernel.degrees().1.is_none() { 5.2 } else { 1.0 };
        let divided = if kernel.normalized() { 2.0 } else { 1.0 };
        Self { unit: 1e-13 * cut * divided, samples, new }
    }

    /// A bound on `|u_k|` over the features, with all terms of its sum positive.
    fn sum(&self, alpha: &[f64]) -> f64 {
        alpha.iter().zip(&self.samples).map(|(alpha, size)| alpha.abs() * size).sum()
    }
}

struct Case {
    kernel: Arc<dyn TensorKernel>,
    q: usize,
    x: Table,
    new: Table,
    alpha: Vec<f64>,
    d: Vec<f64>,
}

impl Case {
    fn random(kernel: Arc<dyn TensorKernel>, q: usize, n: usize, inputs: usize, rng: &mut Xoshiro256PlusPlus) -> Self {
        let x = samples(&*kernel, q, n, inputs, rng);
        let new = samples(&*kernel, q, 5, inputs, rng);
        Self { kernel, q, x, new, alpha: vector(n, rng), d: vector(n, rng) }
    }

    /// The matrices of the listed features, for samples and new points; `None` if there is no feature.
    fn features(&self) -> Option<[FeatureMatrix<'static>; 2]> {
        if cardinality(&*self.kernel, self.x.d) == Some(0_u32.into()) {
            return None;
        }
        let cut = self.kernel.degrees().1.is_none().then_some(CUT);
        let map = FeatureMap::new(&*self.kernel, self.x.d, exponent(self.q), cut).expect("listed");
        Some([&self.x, &self.new].map(|x| map.matrix(&x.by_columns(), memory()).expect("in range")))
    }

    fn what(&self) -> String {
        format!("{}, q = {}, {} x {}", self.kernel.name(), self.q, self.x.n, self.x.d)
    }

    fn check(&self) {
        let (gram, sparse) =
            (stored(&self.kernel, self.x.by_columns(), self.q), stored(&self.kernel, self.x.sparse(), self.q));
        assert_eq!(gram.packed(), sparse.packed(), "{}: the storage of X does not matter", self.what());
        if let Some([phi, new]) = self.features() {
            self.compare(&gram, &Features::new(phi, exponent(self.q)), &new);
        } else {
            // Without a feature only rounding is left.
            let slack = Slack::new(&*self.kernel, self.q, &self.x, &self.new);
            let size = slack.new.iter().copied().fold(slack.sum(&self.alpha), f64::max).powi(self.q as i32);
            let found = numbers(&gram, self);
            assert!(found.iter().all(|number| number.abs() <= slack.unit * size), "{}: {found:?}", self.what());
        }
    }

    /// Everything that both routes say.
    fn compare(&self, gram: &Gram<'_>, features: &Features<'_>, new: &FeatureMatrix<'_>) {
        let (n, q, what) = (self.x.n, self.q as i32, self.what());
        let slack = Slack::new(&*self.kernel, self.q, &self.x, &self.new);
        let sum = slack.sum(&self.alpha);
        let same = |name: &str, found: f64, expected: f64, size: f64| {
            let slack = slack.unit * size;
            assert!(close(found, expected, slack), "{what}: {name} {found:e}, not {expected:e}, within {slack:e}");
        };
        let (found, expected) = (evaluate(gram, &self.alpha), evaluate(features, &self.alpha));
        same("Q", found.values[0], expected.values[0], sum.powi(q));
        let relative = sum.powi(q) / expected.values[0];
        // Where sums cancel to nothing, Q may be 0.
        if slack.unit * relative < 0.1 {
            same("ln Q", found.ln_values[0], expected.ln_values[0], 2.0 * relative);
        }
        same("the norm", gram.norm(&self.alpha), features.norm(&self.alpha), relative * features.norm(&self.alpha));
        let (second, expected_second) = (curvature(gram, &self.alpha), curvature(features, &self.alpha));
        same("Q", second.values[0], expected.values[0], sum.powi(q));
        for i in 0..n {
            let size = slack.samples[i] * sum.powi(q - 1);
            same("omega", found.omegas[i], expected.omegas[i], size);
            same("omega", second.omegas[i], expected.omegas[i], size);
            for j in 0..n {
                let (found, expected) = (second.curvatures[i * n + j], expected_second.curvatures[i * n + j]);
                same("M", found, expected, slack.samples[i] * slack.samples[j] * sum.powi(q - 2));
            }
        }

        let (mut own, mut other) = (Scratch::new(), Scratch::new());
        let lines = [gram.lines(&self.alpha, &self.d, &mut own), features.lines(&self.alpha, &self.d, &mut other)];
        for t in [0.0, 1e-7, -1e-3, 0.3, -0.8, 1.0, 5.0] {
            let [found, expected] = [0, 1].map(|route: usize| lines[route].at(0, t));
            let step = slack.sum(&self.d);
            let end = sum + t.abs() * step;
            same(&format!("Q at t = {t}"), found.value, expected.value, end.powi(q));
            same(&format!("the slope at t = {t}"), found.slope, expected.slope, self.q as f64 * step * end.powi(q - 1));
            let size = (self.q as f64 * t * step).powi(2) * end.powi(q - 2);
            same(&format!("the Bregman distance at t = {t}"), found.bregman, expected.bregman, size);
        }

        let (model, expected) = (gram.predictor(&self.alpha), features.predictor(&self.alpha));
        let expected = expected.predict(new).expect("features of the same kernel");
        for points in [self.new.by_columns(), self.new.sparse()] {
            let found = model.predict(&points).expect("in range");
            for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
                same("a prediction", *found, *expected, slack.new[i] * sum.powi(q - 1));
            }
        }
    }
}

/// (16) `[def:tensorkernel2]`: the sum over the tensor is that over the features.
#[test]
fn the_tensor_stands_for_the_features() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(21);
    for kernel in (0..8).flat_map(|_| kernels()) {
        let finite = kernel.degrees().1.is_some();
        for (q, n) in ORDERS {
            let inputs: &[usize] = if finite { &[1, 2, 5] } else { &[1, 2] };
            inputs.iter().for_each(|&d| Case::random(kernel.clone(), q, n, d, &mut rng).check());
        }
    }
}

/// Sorted or not, with repetitions: an entry is K at its samples.
#[test]
fn entries_are_kernel_values() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(22);
    for kernel in kernels() {
        for (q, n) in [(2, 5), (4, 4), (6, 3), (8, 2)] {
            let x = samples(&*kernel, q, n, 3, &mut rng);
            let gram = stored(&kernel, x.by_columns(), q);
            let slack = Slack::new(&*kernel, q, &x, &x);
            let points: Vec<Vec<f64>> = (0..n).map(|i| point(&x, i)).collect();
            for tuple in 0..n.pow(q as u32) {
                let indices: Vec<usize> = (0..q).map(|place| tuple / n.pow(place as u32) % n).collect();
                let chosen: Vec<&[f64]> = indices.iter().map(|&i| &points[i][..]).collect();
                let expected = kernel.value(&chosen).expect("in range");
                let found = gram.entry(&indices).expect("stored");
                let size: f64 = indices.iter().map(|&i| slack.samples[i]).product();
                let close = close(found, expected, slack.unit * size);
                assert!(close, "{} {indices:?}: {found:e} {expected:e}", kernel.name());
            }
        }
    }
}

#[test]
fn only_what_is_stored_has_entries() {
    let x = Table::random(9, 2, 0.0, &mut Xoshiro256PlusPlus::seed_from_u64(23));
    let kernel: Arc<dyn TensorKernel> = Arc::new(Linear);
    for (q, entries) in [(2, 45), (4, 9 * 10 * 11 * 12 / 24), (6, 3003), (8, 12870)] {
        let (gram, streamed) = (stored(&kernel, x.by_columns(), q), streamed(&kernel, x.by_columns(), q));
        assert_eq!((gram.entries(), streamed.entries()), (entries, entries));
        assert_eq!(gram.packed().map(<[f64]>::len), Some(entries));
        assert!(streamed.packed().is_none() && !streamed.is_stored() && gram.is_stored());
        assert!(streamed.entry(&vec![0; q]).is_none() && gram.entry(&vec![0; q]).is_some());
    }
}

/// A recomputed tensor is the stored one, bit for bit, also in `lines` and in predictions.
#[test]
fn streaming_does_not_change_a_bit() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(24);
    for kernel in kernels() {
        for (q, n) in ORDERS {
            let case = Case::random(kernel.clone(), q, n, 3, &mut rng);
            let all = |gram: &Gram<'_>| numbers(gram, &case).iter().map(|number| number.to_bits()).collect::<Vec<_>>();
            let [stored, streamed] = [stored, streamed].map(|new| all(&new(&kernel, case.x.by_columns(), q)));
            assert_eq!(stored, streamed, "{}", case.what());
        }
    }
}

/// Everything that a form says in a case.
fn numbers(gram: &Gram<'_>, case: &Case) -> Vec<f64> {
    let found = curvature(gram, &case.alpha);
    let plain = evaluate(gram, &case.alpha);
    let predicted = gram.predictor(&case.alpha).predict(&case.new.by_columns()).expect("in range");
    let mut scratch = Scratch::new();
    let line = gram.lines(&case.alpha, &case.d, &mut scratch).at(0, 0.4);
    let line = [line.value, line.slope, line.bregman];
    [&found.values[..], &found.omegas, &found.curvatures, &plain.values, &plain.omegas, &predicted, &line].concat()
}

/// Folds, permutations and resamples, also of a subset: the form of the chosen rows.
#[test]
fn a_subset_is_the_form_of_its_samples() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(25);
    for kernel in kernels() {
        for (q, n) in ORDERS {
            let x = samples(&*kernel, q, n, 3, &mut rng);
            for chosen in [vec![1], (1..n).collect(), (0..n).rev().collect(), vec![2, 0, 2, 1, 0], vec![n - 1; 3]] {
                let rows = x.rows(&chosen);
                let expected = stored(&kernel, rows.by_columns(), q);
                let slack = Slack::new(&*kernel, q, &rows, &rows);
                let size = slack.samples.iter().copied().fold(0.0, f64::max).powi(q as i32);
                for matrix in [x.by_columns(), x.sparse()] {
                    let subset = stored(&kernel, matrix.clone(), q).subset(&chosen, memory()).expect("below n");
                    let (found, expected) = (subset.packed().expect("stored"), expected.packed().expect("stored"));
                    let what = format!("{} {chosen:?}", kernel.name());
                    assert!(all_close(found, expected, slack.unit * size), "{what}: {found:?} {expected:?}");
                    let part = streamed(&kernel, matrix, q).subset(&chosen, memory()).expect("below n");
                    assert!(!part.is_stored() && part.samples() == chosen.len(), "{what}");
                    let alpha = vector(chosen.len(), &mut rng);
                    let [omegas, expected] = [&part, &subset].map(|form| evaluate(form, &alpha).omegas);
                    let size = slack.sum(&alpha).powi(q as i32 - 1) * slack.samples.iter().copied().fold(0.0, f64::max);
                    assert!(all_close(&omegas, &expected, slack.unit * size), "{what}: {omegas:?} {expected:?}");
                }
            }
            let gram = stored(&kernel, x.by_columns(), q);
            let take = |gram: &Gram<'_>, samples: &[usize]| gram.subset(samples, memory()).expect("below n");
            let (twice, once) = (take(&take(&gram, &[1, 2, 0]), &[2, 2, 0]), take(&gram, &[0, 0, 1]));
            let [twice, once] = [&twice, &once].map(|gram| gram.packed().expect("stored"));
            assert!(twice.iter().zip(once).all(|(twice, once)| close(*twice, *once, 1e-15 * once.abs())), "copies");
        }
    }
}

#[test]
fn samples_that_are_not_there_are_refused() {
    let x = Table::random(4, 2, 0.0, &mut Xoshiro256PlusPlus::seed_from_u64(26));
    let kernel: Arc<dyn TensorKernel> = Arc::new(Linear);
    for gram in [stored(&kernel, x.by_columns(), 4), streamed(&kernel, x.sparse(), 4)] {
        match gram.subset(&[0, 3, 4], memory()) {
            Err(Error::BadValue { what: "samples", row: 2, value: 4.0, .. }) => {}
            other => panic!("{other:?}"),
        }
        assert!(gram.subset(&[usize::MAX], memory()).is_err());
        assert_eq!(gram.subset(&[], memory()).err(), Some(Error::Empty { what: "X" }));
    }
}

/// Building, subsets and predictions from 1, 2 and 5 threads, where there are several stripes and blocks of points.
#[test]
fn threads_do_not_change_a_bit() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(27);
    let exponential = Exponential::new(0.1).expect("valid");
    let kernels: [Arc<dyn TensorKernel>; 3] = [
        Arc::new(exponential),
        Arc::new(Normalized(exponential)),
        Arc::new(Normalized(Polynomial::new(3, 0.1, 0.2).expect("valid"))),
    ];
    for kernel in kernels {
        for (q, n) in [(2, 700), (4, 45), (6, 16), (8, 10)] {
            let (x, new) = (Table::random(n, 3, 0.1, &mut rng), Table::random(300, 3, 0.1, &mut rng));
            let (alpha, folds) = (vector(n, &mut rng), (0..n / 2).chain(n / 3..n).collect::<Vec<_>>());
            let run = |threads: usize| {
                with_threads(threads, || {
                    let gram = stored(&kernel, x.by_columns(), q);
                    let part = gram.subset(&folds, memory()).expect("below n");
                    let predicted = gram.predictor(&alpha).predict(&new.by_columns()).expect("in range");
                    let numbers = [gram.packed().expect("stored"), part.packed().expect("stored"), &predicted];
                    numbers.concat().iter().map(|number| number.to_bits()).collect::<Vec<_>>()
                })
            };
            let one = run(1);
            assert!([2, 5].iter().all(|&threads| run(threads) == one), "{} {q}", kernel.name());
        }
    }
}

/// `f(x_i) = omega_i`, with predictions in many blocks.
#[test]
fn samples_are_predicted_by_omega() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(28);
    let kernel: Arc<dyn TensorKernel> = Arc::new(Normalized(Exponential::new(0.3).expect("valid")));
    for (q, n) in [(2, 600), (4, 40), (6, 15), (8, 9)] {
        let x = Table::random(n, 3, 0.1, &mut rng);
        let alpha = vector(n, &mut rng);
        let gram = streamed(&kernel, x.by_columns(), q);
        let repeated = x.rows(&(0..1000).map(|i| i % n).collect::<Vec<_>>());
        let predicted = gram.predictor(&alpha).predict(&repeated.by_columns()).expect("in range");
        let omegas = evaluate(&gram, &alpha).omegas;
        let slack = 1e-13 * alpha.iter().map(|alpha| alpha.abs()).sum::<f64>().powi(q as i32 - 1);
        assert!((0..1000).all(|i| close(predicted[i], omegas[i % n], slack)), "{q}");
        let product = dot(&alpha, &omegas) / q as f64;
        assert!(close(product, evaluate(&gram, &alpha).values[0], slack), "{q}");
    }
}

/// Dual vectors with M in one pass are each by itself: in groups of eight and the others one by one.
#[test]
fn a_batch_with_second_derivatives_is_its_dual_vectors() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(31);
    for (q, n) in [(2, 9), (4, 3), (4, 37), (6, 5)] {
        let kernel = kernels().next().expect("there are kernels");
        let x = samples(&*kernel, q, n, 3, &mut rng);
        let gram = stored(&kernel, x.by_columns(), q);
        for count in [1, 7, 8, 9, 16, 19] {
            let alphas: Vec<f64> = (0..count).flat_map(|_| vector(n, &mut rng)).collect();
            let (mut together, mut alone) = (Evaluation::default(), Evaluation::default());
            gram.curvature(&alphas, &mut together, &mut Scratch::new());
            for (k, alpha) in alphas.chunks(n).enumerate() {
                gram.curvature(alpha, &mut alone, &mut Scratch::new());
                let size = alone.curvatures.iter().fold(0.0_f64, |size, entry| size.max(entry.abs()));
                for (found, expected) in together.curvatures[k * n * n..].iter().zip(&alone.curvatures) {
                    assert!((found - expected).abs() <= 1e-11 * size, "{q} {n} {count}: {found} {expected}");
                }
                let size = alone.omegas.iter().fold(0.0_f64, |size, omega| size.max(omega.abs()));
                for (found, expected) in together.omegas[k * n..].iter().zip(&alone.omegas) {
                    assert!((found - expected).abs() <= 1e-10 * size, "{q} {n} {count}: {found} {expected}");
                }
            }
        }
    }
}
