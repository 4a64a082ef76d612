//! The Hessian on the heaviest features: what is kept is exact, what is left out keeps its trace.

use super::*;

const N: usize = 6;

/// Columns of norm 1 times the given sizes.
fn columns(d: usize, sizes: impl Fn(usize) -> f64) -> Table {
    let mut table = Table::random(N, d, 0.0, &mut Xoshiro256PlusPlus::seed_from_u64(21));
    for (k, column) in table.columns.chunks_mut(N).enumerate() {
        let norm = dot(column, column).sqrt();
        column.iter_mut().for_each(|x| *x *= sizes(k) / norm);
    }
    table
}

fn alpha() -> Vec<f64> {
    vec![0.4, -0.9, 0.3, 0.7, -0.2, 0.5]
}

fn hessian(x: &Table, p: f64, keep: usize) -> Hessian {
    let form = Features::new(x.by_columns(), Exponent::new(p).expect("inside"));
    let (mut at, mut scratch) = (Expansion::default(), Scratch::new());
    form.expand(&alpha(), &mut [&mut at], &mut scratch);
    form.hessian(&at, keep, &mut scratch)
}

fn entry(hessian: &Hessian, i: usize, j: usize) -> f64 {
    match &hessian.main {
        HessianPart::Dense(entries) => entries[i.min(j) * N + i.max(j)],
        HessianPart::Factor(factor) => factor.chunks(N).map(|column| column[i] * column[j]).sum(),
        HessianPart::InPlace(_) => panic!("both sides are small"),
    }
}

/// The trace of all, and of what stands for the features that were left out.
fn traces(hessian: &Hessian) -> (f64, f64) {
    let tail = N as f64 * hessian.tail;
    ((0..N).map(|i| entry(hessian, i, i)).sum::<f64>() + tail, tail)
}

/// `(q-1) sum_k |u_k|^(q-2) x_ik x_jk` over some features.
fn expected(x: &Table, p: f64, features: &[usize], i: usize, j: usize) -> f64 {
    let (q, u) = (p / (p - 1.0), x.adjoint(&alpha()));
    let terms = features.iter().map(|&k| u[k].abs().powf(q - 2.0) * x.columns[k * N + i] * x.columns[k * N + j]);
    (q - 1.0) * terms.sum::<f64>()
}

fn all_features(x: &Table) -> Vec<usize> {
    (0..x.d).collect()
}

#[test]
fn all_features_are_exact() {
    for (d, p) in [(4, 1.1), (40, 1.1), (40, 4.0 / 3.0), (300, 1.05), (40, 2.0)] {
        let x = columns(d, |k| 1.0 + (k % 5) as f64);
        for keep in [d, d + 1, usize::MAX] {
            let found = hessian(&x, p, keep);
            assert_eq!((found.tail, found.tail_share), (0.0, 0.0), "{d} {p} {keep}");
            let size = traces(&found).0;
            for (i, j) in (0..N).flat_map(|i| (0..N).map(move |j| (i, j))) {
                let exact = expected(&x, p, &all_features(&x), i, j);
                assert!(close(entry(&found, i, j), exact, 1e-12 * size), "{d} {p} {keep}: {exact:e}");
            }
        }
    }
}

/// The kept features are the heaviest up to the width of a bucket, the matrix is theirs, and the identity has about the
/// trace of the others.
#[test]
fn some_features_keep_the_trace() {
    for (p, spread, accuracy) in [(1.1, 0.0, 0.01), (4.0 / 3.0, 0.0, 0.01), (1.1, 0.5, 0.05), (1.5, 0.5, 0.05)] {
        let x = columns(2000, |k| 1.0 + spread * ((k * k) as f64).sin());
        let exact = traces(&hessian(&x, p, usize::MAX)).0;
        let u = x.adjoint(&alpha());
        for keep in [40, 700, 1999] {
            let found = hessian(&x, p, keep);
            let (total, tail) = traces(&found);
            let what = format!("p = {p}, keep {keep} of 2000, spread {spread}");
            let count = found.columns.len();
            assert!(count <= keep && 4 * count >= keep, "{what}: {count}");
            assert!(found.columns.is_sorted(), "{what}");
            assert!(close(total, exact, accuracy * exact), "{what}: {total:e} {exact:e}");
            assert!(close(found.tail_share, tail / total, 1e-12), "{what}: {} {}", found.tail_share, tail / total);
            for (i, j) in [(0, 0), (3, 1), (5, 5)] {
                let kept = expected(&x, p, &found.columns, i, j);
                assert!(close(entry(&found, i, j), kept, 1e-12 * exact), "{what}: {kept:e}");
            }
            let (q, norm) = (p / (p - 1.0), |k: usize| dot(&x.columns[k * N..][..N], &x.columns[k * N..][..N]));
            let share = |k: usize| u[k].abs().powf(q - 2.0) * norm(k);
            let least = found.columns.iter().map(|&k| share(k)).fold(f64::INFINITY, f64::min);
            let left_out = (0..x.d).filter(|k| !found.columns.contains(k)).map(share).fold(0.0, f64::max);
            assert!(left_out <= least * 1.07_f64.powf(q - 2.0), "{what}: {left_out} {least}");
        }
    }
}

/// More features, less left out.
#[test]
fn the_tail_falls_with_what_is_kept() {
    let x = columns(500, |_| 1.0);
    let shares: Vec<f64> =
        [0, 1, 3, 10, 30, 100, 300, 500].iter().map(|&keep| hessian(&x, 1.1, keep).tail_share).collect();
    assert!(shares.is_sorted_by(|a, b| a > b), "{shares:?}");
    assert_eq!((shares[0], shares[7]), (1.0, 0.0));
}

/// Features of equal weight are kept in their order, whatever the number of threads.
#[test]
fn ties_are_broken_by_the_order() {
    let one = columns(1, |_| 1.0);
    let x = Table { n: N, d: 5000, columns: one.columns.repeat(5000) };
    for keep in [1, 7, 100, 4999] {
        let [found, again] = [1, 3].map(|threads| with_threads(threads, || hessian(&x, 1.1, keep)));
        assert_eq!(found.columns, (0..keep).collect::<Vec<_>>());
        assert_eq!(found.columns, again.columns);
        assert_eq!(
            (found.tail.to_bits(), entry(&found, 0, 1).to_bits()),
            (again.tail.to_bits(), entry(&again, 0, 1).to_bits())
        );
    }
}

/// Features that nothing reaches have no part.
#[test]
fn no_weight_no_part() {
    let x = columns(50, |k| if k % 2 == 0 { 1.0 } else { 0.0 });
    for keep in [3, 25, 30, 50] {
        let found = hessian(&x, 1.2, keep);
        assert_eq!(found.columns.len(), keep.min(25));
        assert!(found.columns.iter().all(|k| k % 2 == 0), "{:?}", found.columns);
    }
}
