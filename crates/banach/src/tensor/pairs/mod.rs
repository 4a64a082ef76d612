//! Second derivatives where heads and tails are pairs of samples, q = 4: what one read of a few columns adds to V, Z and C.
//!
//! A column E of the tail `(k, l)` is a packed symmetric matrix over the samples up to k. With `y = E alpha`, where the diagonal
//! counts once,
//!
//! ```text
//! V    += W_T E
//! Z_T  += <alpha, y>/2           (Euler)
//! C_ak += alpha_l y_a
//! C_al += alpha_k y_a            (not for k = l)
//! ```
//!
//! Three multiply-adds for an entry and a dual vector are all that there is to do, so the loops keep what they add to in
//! registers. `one` has the vectors of the machine along the samples, for one dual vector; `eight` has them across eight dual vectors, and
//! then no run of entries is too short for them.

mod eight;
mod one;

use std::array::from_fn;

use pulp::Simd;

use super::layout::Stripe;

/// Dual vectors that are contracted together. Fewer than these are contracted one by one.
pub(super) const EIGHT: usize = 8;
/// Most columns of one block.
pub(super) const MOST_COLUMNS: usize = 16;
/// Columns whose y are formed together.
pub(super) const COLUMNS: usize = 2;

/// A few columns of the tensor with the dual vectors that they meet, and the sums to which they add. All but the block have
/// one number for each dual vector, side by side.
pub(super) struct Pairs<'a> {
    /// Column after column.
    pub block: &'a [f64],
    /// The pairs of the columns.
    pub tails: &'a [u32],
    /// The first pair of the rows, `i <= j`.
    pub first: (usize, usize),
    /// The dual vectors, with zeros up to a [`padded`] length.
    pub alpha: &'a [f64],
    /// V.
    pub rows: &'a mut [f64],
    /// Z.
    pub columns: &'a mut [f64],
    /// C.
    pub cross: &'a mut [f64],
    /// Where C is.
    pub place: CrossPlace,
    /// Room for [`COLUMNS`] vectors as long as alpha.
    pub y: &'a mut [f64],
}

impl Pairs<'_> {
    /// Contracts with one dual vector, or with eight.
    pub(super) fn run(self, problems: usize) {
        if problems == EIGHT { eight::run(self) } else { one::run(self) }
    }
}

/// Numbers of the longest vectors that a machine has.
const LONGEST_VECTOR: usize = 8;

/// The length of a list that vectors divide.
pub(super) fn padded(length: usize) -> usize {
    length.next_multiple_of(LONGEST_VECTOR)
}

/// The part of C to which a stripe adds: the samples a of its heads and b of its tails. `C_ab` is at `(b - first) width + a`.
#[derive(Debug, Clone, Copy)]
pub(super) struct CrossPlace {
    pub first: usize,
    pub width: usize,
}

impl CrossPlace {
    pub(super) fn of(stripe: &Stripe) -> Self {
        Self { first: stripe.tails_from, width: padded(stripe.heads_below) }
    }

    /// The numbers that it takes.
    pub(super) fn length(self, samples: usize) -> usize {
        (samples - self.first) * self.width
    }
}

/// How many of the first columns are handled together: neighbours `(k, l), (k, l + 1)`, and `(k, k)` by itself.
fn neighbours(tails: &[[u32; 2]]) -> usize {
    let [k, l] = tails[0];
    let alike = tails.iter().take(COLUMNS).take_while(|tail| k < l && tail[0] == k);
    alike.count().max(1)
}

/// `Z` and `C` of neighbouring columns, given y. Numbers come in groups of V vectors.
struct Spread<'a, S: Simd, const V: usize> {
    simd: S,
    alpha: &'a [[S::f64s; V]],
    /// Groups from one b to the next.
    width: usize,
}

impl<S: Simd, const V: usize> Spread<'_, S, V> {
    /// The columns (k, l), (k, l + 1), ...: returns `<alpha, y>` of each. `cross` begins at k, and the `l - k`-th b is l.
    #[inline(always)]
    fn add<const W: usize>(
        &self,
        y: [&[[S::f64s; V]]; W],
        alpha_k: [S::f64s; V],
        alpha_l: [[S::f64s; V]; W],
        from_k_to_l: usize,
        cross: &mut [[S::f64s; V]],
    ) -> [[S::f64s; V]; W] {
        let Self { simd, alpha, width } = *self;
        let length = y[0].len();
        let (of_k, mut rest) = cross.split_at_mut(from_k_to_l * width);
        let (of_k, alpha) = (&mut of_k[..length], &alpha[..length]);
        let of_l: [&mut [_]; W] = from_fn(|_| {
            let (own, left) = std::mem::take(&mut rest).split_at_mut(width);
            rest = left;
            &mut own[..length]
        });
        let y: [_; W] = from_fn(|c| &y[c][..length]);
        let mut sums = [[simd.splat_f64s(0.0); V]; W];
        for at in 0..length {
            for v in 0..V {
                let mut sum = of_k[at][v];
                for c in 0..W {
                    let y = y[c][at][v];
                    sum = simd.mul_add_f64s(alpha_l[c][v], y, sum);
                    of_l[c][at][v] = simd.mul_add_f64s(alpha_k[v], y, of_l[c][at][v]);
                    sums[c][v] = simd.mul_add_f64s(alpha[at][v], y, sums[c][v]);
                }
                of_k[at][v] = sum;
            }
        }
        sums
    }

    /// The column (k, k).
    #[inline(always)]
    fn add_diagonal(&self, y: &[[S::f64s; V]], alpha_k: [S::f64s; V], of_k: &mut [[S::f64s; V]]) -> [S::f64s; V] {
        let simd = self.simd;
        let mut sums = [simd.splat_f64s(0.0); V];
        for ((of_k, y), alpha) in of_k.iter_mut().zip(y).zip(self.alpha) {
            for v in 0..V {
                of_k[v] = simd.mul_add_f64s(alpha_k[v], y[v], of_k[v]);
                sums[v] = simd.mul_add_f64s(alpha[v], y[v], sums[v]);
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(k: usize) -> f64 {
        (k as f64 * 0.7).sin()
    }

    /// V, Z and C of every entry by itself, for one dual vector.
    fn plain(first: (usize, usize), height: usize, tails: &[[u32; 2]], alpha: &[f64], block: &[f64]) -> [Vec<f64>; 3] {
        let n = alpha.len();
        let [mut rows, mut columns, mut cross] = [vec![0.0; height], vec![0.0; tails.len()], vec![0.0; n * n]];
        for (column, tail) in tails.iter().enumerate() {
            let (mut i, mut j) = first;
            let [k, l] = tail.map(|sample| sample as usize);
            for row in 0..height {
                let entry = block[column * height + row];
                rows[row] += entry * alpha[k] * alpha[l] * if k == l { 0.5 } else { 1.0 };
                columns[column] += entry * alpha[i] * alpha[j] * if i == j { 0.5 } else { 1.0 };
                let heads = if i == j { vec![(i, alpha[i])] } else { vec![(i, alpha[j]), (j, alpha[i])] };
                let tails = if k == l { vec![(k, alpha[k])] } else { vec![(k, alpha[l]), (l, alpha[k])] };
                for (a, by_head) in heads {
                    tails.iter().for_each(|(b, by_tail)| cross[b * n + a] += by_head * by_tail * entry);
                }
                (i, j) = if i < j { (i + 1, j) } else { (0, j + 1) };
            }
        }
        [rows, columns, cross]
    }

    /// From any pair on and up to any pair, also in the middle of a run; any number of columns; one dual vector and eight.
    #[test]
    fn agrees_with_the_sums_over_all_entries() {
        let n = 23;
        for (i, j) in [(0, 0), (0, 1), (0, 4), (3, 6), (5, 5), (1, 11), (7, 15)] {
            for height in [1, 2, 3, 9, 26, 40, 61] {
                let (mut end, mut left) = ((i, j), height);
                while left > 1 {
                    end = if end.0 < end.1 { (end.0 + 1, end.1) } else { (0, end.1 + 1) };
                    left -= 1;
                }
                let samples = u32::try_from(n).expect("small");
                let from = u32::try_from(end.1).expect("small");
                let all = (from..samples).flat_map(|k| (k..samples).map(move |l| [k, l]));
                let tails: Vec<[u32; 2]> = all.take(MOST_COLUMNS - height % 3).collect();
                if tails.is_empty() {
                    continue;
                }
                for problems in [1, EIGHT] {
                    check(n, (i, j), (end.1 + 1, height), &tails, problems);
                }
            }
        }
    }

    fn check(n: usize, first: (usize, usize), (below, height): (usize, usize), tails: &[[u32; 2]], problems: usize) {
        let block: Vec<f64> = (0..height * tails.len()).map(number).collect();
        let mut alpha = vec![0.0; padded(n) * problems];
        (0..n * problems).for_each(|at| alpha[at] = number(at + 5));
        let place = CrossPlace { first: tails[0][0] as usize, width: padded(below) };
        let (mut rows, mut columns) = (vec![0.0; height * problems], vec![0.0; tails.len() * problems]);
        let (mut cross, mut y) = (vec![0.0; place.length(n) * problems], vec![f64::NAN; COLUMNS * alpha.len()]);
        Pairs {
            block: &block,
            tails: tails.as_flattened(),
            first,
            alpha: &alpha,
            rows: &mut rows,
            columns: &mut columns,
            cross: &mut cross,
            place,
            y: &mut y,
        }
        .run(problems);
        for problem in 0..problems {
            let own = |numbers: &[f64]| numbers.iter().skip(problem).step_by(problems).copied().collect::<Vec<f64>>();
            let [expected_rows, expected_columns, expected_cross] =
                plain(first, height, tails, &own(&alpha)[..n], &block);
            let close = |found: f64, expected: f64| {
                assert!(
                    (found - expected).abs() < 1e-12 * height as f64,
                    "{first:?} {height} {problems}: {found} {expected}"
                );
            };
            own(&rows).iter().zip(expected_rows).for_each(|(found, expected)| close(*found, expected));
            own(&columns).iter().zip(expected_columns).for_each(|(found, expected)| close(*found, expected));
            for (at, expected) in expected_cross.into_iter().enumerate() {
                let (b, a) = (at / n, at % n);
                let inside = b >= place.first && a < place.width;
                close(if inside { own(&cross)[(b - place.first) * place.width + a] } else { 0.0 }, expected);
            }
        }
    }
}
