//! Every route over compact columns is that over the decoded ones, to the last bit.

use super::*;
use crate::data::compact_instances;

type Build = for<'x> fn(FeatureMatrix<'x>, Exponent) -> Option<Box<dyn QForm + 'x>>;

fn memory() -> Memory {
    Memory::limit(1 << 30)
}

fn squares() -> Polynomial {
    Polynomial::new(2, 0.7, 1.0).expect("valid")
}

fn tiles(x: FeatureMatrix<'_>, scale: MonomialScale, exponent: Exponent) -> Box<dyn QForm + '_> {
    let tiles = Tiles::new(x, squares(), scale, exponent, memory()).expect("valid");
    Box::new(tiles.with_layout(16, usize::MAX))
}

/// Every route, with a kernel that multiplies columns where it can have one.
const ROUTES: [(&str, Build); 8] = [
    ("features", |x, exponent| Some(Box::new(Features::new(x, exponent)))),
    ("listed", |x, exponent| Some(Box::new(KernelFeatures::new(&x, squares(), exponent, memory()).expect("valid")))),
    ("tiles", |x, exponent| Some(tiles(x, MonomialScale::Raw, exponent))),
    ("unit tiles", |x, exponent| Some(tiles(x, MonomialScale::Unit, exponent))),
    ("standardised tiles", |x, exponent| Some(tiles(x, MonomialScale::Standardized, exponent))),
    ("normalised tiles", |x, exponent| {
        Some(Box::new(Tiles::new(x, Normalized(squares()), MonomialScale::Raw, exponent, memory()).expect("valid")))
    }),
    ("gram", |x, exponent| {
        exponent.order().is_ok().then(|| Box::new(Gram::new(x, squares(), exponent, memory()).expect("fits")) as _)
    }),
    ("streamed", |x, exponent| {
        exponent.order().is_ok().then(|| Box::new(Gram::streamed(x, squares(), exponent, memory()).expect("fits")) as _)
    }),
];

fn of_hessian(hessian: &Hessian) -> Vec<f64> {
    let main = match &hessian.main {
        HessianPart::Dense(entries) | HessianPart::Factor(entries) => entries.clone(),
        HessianPart::InPlace(part) => part.diagonal(),
    };
    [main, vec![hessian.tail, hessian.tail_share]].concat()
}

/// Values, gradients, lines, sharpened roundings, Hessians on all and on few features, local models, and functions at new points.
fn everything(build: Build, x: &FeatureMatrix<'_>, new: &FeatureMatrix<'_>, exponent: Exponent) -> Option<Vec<u64>> {
    let (form, n) = (build(x.view(), exponent)?, x.samples());
    let vector = |from: usize| (1..=n).map(move |i| (((i + from) * 7919 % 1009) as f64 / 1009.0) - 0.47);
    let alphas: Vec<f64> = (0..11).flat_map(|at| vector(31 * at)).collect();
    let (mut out, mut scratch) = (Evaluation::default(), Scratch::new());
    let mut found = bits(&*form, &alphas, &mut out, &mut scratch);
    let alpha = &alphas[..n];
    let mut numbers = out.roundings.clone();
    let mut one = evaluate(&*form, alpha);
    form.sharpen(alpha, &mut one, &mut scratch);
    numbers.extend([one.values, one.omegas, one.roundings].concat());
    let mut at = Expansion::default();
    form.expand(alpha, &mut [&mut at], &mut scratch);
    for keep in [usize::MAX, 5] {
        numbers.extend(of_hessian(&form.hessian(&at, keep, &mut scratch)));
        if let Some(local) = form.local((alpha, &at), keep, 1.0, &mut scratch) {
            let origin = local.origin();
            numbers.push(local.tail_share());
            numbers.extend(local.omega(&origin));
        }
    }
    if let Some(hessian) = form.hessian_in_place(&at) {
        numbers.extend(of_hessian(&hessian));
    }
    numbers.extend(form.predictor(&alphas[..2 * n]).predict(new).expect("in range"));
    found.extend(numbers.iter().map(|number| number.to_bits()));
    Some(found)
}

/// Few samples and features; more features than a block has; more samples than a tile has, by routes that take them.
#[test]
fn every_route_is_that_of_the_decoded_matrix() {
    for (n, d, tensors) in [(9, 7, true), (13, 20, true), (30, 1200, false), (530, 3, false)] {
        let points = compact_instances(17, d);
        for (at, instance) in compact_instances(n, d).iter().enumerate() {
            for p in [2.0, 1.2] {
                let exponent = Exponent::new(p).expect("inside");
                for (route, build) in ROUTES.iter().filter(|(route, _)| match *route {
                    "gram" | "streamed" => tensors,
                    "features" => true,
                    _ => d < 1000,
                }) {
                    let [found, expected] =
                        [(&instance.compact, &points[at].compact), (&instance.decoded, &points[at].decoded)]
                            .map(|(x, new)| everything(*build, x, new, exponent));
                    assert!(found == expected, "{} {route} {n} {d} p = {p}", instance.name);
                }
            }
        }
    }
}

/// Stripes do not depend on the storage or the threads.
#[test]
fn threads_change_nothing() {
    let exponent = Exponent::new(1.2).expect("inside");
    for instance in compact_instances(40, 8000) {
        let form = Features::new(instance.compact.view(), exponent);
        let alphas: Vec<f64> = (0..80).map(|i| f64::from(i * 37 % 80) / 80.0 - 0.49).collect();
        let run =
            |threads| with_threads(threads, || bits(&form, &alphas, &mut Evaluation::default(), &mut Scratch::new()));
        assert!(run(1) == run(3), "{}", instance.name);
    }
}
