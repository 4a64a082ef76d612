//! Sorted index tuples, the rows and columns of the packed Gram tensor, and the polynomials they stand for.
//!
//! A multiset `H = {i_1 <= ... <= i_h}` of samples, with multiplicities `m_i`, stands for the monomial
//!
//! ```text
//! W_H(alpha) = prod_i alpha_i^(m_i)/m_i!
//! ```
//!
//! whose derivative with respect to `alpha_a` is `W` of H without one a, or 0 where a is not in H.

use std::ops::Range;

/// In which order the multisets are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// By the last index, then the one before, and so on: those below a sample are a prefix.
    Colex,
    /// By the first index, then the next, and so on: those that begin with a sample are a range.
    Lex,
}

/// All multisets of a given size over n samples.
#[derive(Debug, Clone)]
pub(crate) struct Multisets {
    samples: usize,
    size: usize,
    order: Order,
    len: usize,
    /// `size` indices for each multiset.
    indices: Vec<u32>,
}

/// `(n choose k)`, or `None` beyond `usize`.
pub(crate) fn binomial(n: usize, k: usize) -> Option<usize> {
    let mut value = 1_u128;
    for factor in 1..=k {
        value = value.checked_mul((n as u128 + factor as u128).checked_sub(k as u128)?)? / factor as u128;
    }
    usize::try_from(value).ok()
}

/// The number of multisets of `size` out of n samples.
pub(crate) fn count(samples: usize, size: usize) -> Option<usize> {
    if size == 0 { Some(1) } else { binomial(samples.checked_add(size - 1)?, size) }
}

impl Multisets {
    /// Heads: ordered so that the multisets of the samples up to k come first.
    pub(crate) fn heads(samples: usize, size: usize) -> Self {
        Self::new(samples, size, Order::Colex)
    }

    /// Tails: ordered by their smallest sample.
    pub(crate) fn tails(samples: usize, size: usize) -> Self {
        Self::new(samples, size, Order::Lex)
    }

    fn new(samples: usize, size: usize, order: Order) -> Self {
        let len = count(samples, size).expect("the memory estimate has been checked");
        let mut indices = Vec::with_capacity(len * size);
        let mut set = vec![0_u32; size];
        for _ in 0..len {
            indices.extend_from_slice(&set);
            match order {
                Order::Colex => {
                    // The first index that can grow without passing the next one does; those before it return to 0.
                    let grows = (0..size).find(|&s| s + 1 == size || set[s] < set[s + 1]);
                    if let Some(s) = grows {
                        set[s] += 1;
                        set[..s].fill(0);
                    }
                }
                Order::Lex => {
                    // The last index that can grow does; those after it follow it.
                    let grows = (0..size).rev().find(|&s| set[s] + 1 < samples as u32);
                    if let Some(s) = grows {
                        let next = set[s] + 1;
                        set[s..].fill(next);
                    }
                }
            }
        }
        Self { samples, size, order, len, indices }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn samples(&self) -> usize {
        self.samples
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    pub(crate) fn get(&self, at: usize) -> &[u32] {
        &self.indices[at * self.size..(at + 1) * self.size]
    }

    /// The indices of a range of multisets, one after another.
    pub(crate) fn range(&self, range: Range<usize>) -> &[u32] {
        &self.indices[range.start * self.size..range.end * self.size]
    }

    /// Heads only: how many have all their samples below k.
    pub(crate) fn below(&self, k: usize) -> usize {
        debug_assert_eq!(self.order, Order::Colex);
        if k == 0 { 0 } else { count(k, self.size).expect("a part of the heads") }
    }

    /// The place of a sorted multiset in the list.
    pub(crate) fn rank(&self, set: &[usize]) -> usize {
        debug_assert!(set.len() == self.size && set.is_sorted());
        self.rank_of(set.iter().enumerate().map(|(place, &i)| self.rank_term(place, i)).sum())
    }

    /// The rank from the sum of its terms.
    pub(crate) fn rank_of(&self, terms: usize) -> usize {
        match self.order {
            Order::Colex => terms,
            // The multisets that come later are those of larger indices: a colex rank from the other end.
            Order::Lex => self.len - 1 - terms,
        }
    }

    /// What a sample at a place of the multiset contributes to its rank.
    fn rank_term(&self, place: usize, i: usize) -> usize {
        let (k, size) = match self.order {
            Order::Colex => (i, place + 1),
            Order::Lex => (self.samples - 1 - i, self.size - place),
        };
        if k == 0 { 0 } else { count(k, size).expect("below the length") }
    }

    /// The terms of all samples, place after place.
    pub(crate) fn rank_terms(&self) -> Vec<usize> {
        (0..self.size).flat_map(|place| (0..self.samples).map(move |i| self.rank_term(place, i))).collect()
    }

    /// The runs of a list of pairs: the sample that all pairs of the run share, the others, and where the run is.
    fn runs(&self) -> impl Iterator<Item = (usize, Range<usize>, Range<usize>)> {
        debug_assert_eq!(self.size, 2);
        let (n, order) = (self.samples, self.order);
        let mut start = 0;
        (0..n).map(move |shared| {
            let others = if order == Order::Colex { 0..shared + 1 } else { shared..n };
            let run = start..start + others.len();
            start = run.end;
            (shared, others, run)
        })
    }

    /// The sample that is in the pair twice is the last of a run of heads and the first of a run of tails.
    fn diagonal(&self, run: &Range<usize>) -> usize {
        if self.order == Order::Colex { run.end - 1 } else { run.start }
    }

    /// `W` of every multiset.
    pub(crate) fn weights(&self, alpha: &[f64], out: &mut [f64]) {
        if self.size == 2 {
            for (shared, others, run) in self.runs() {
                let weights = out[run.clone()].iter_mut().zip(&alpha[others]);
                weights.for_each(|(weight, other)| *weight = alpha[shared] * other);
                out[self.diagonal(&run)] *= 0.5;
            }
        } else {
            (0..self.len).for_each(|at| out[at] = weight(self.get(at), alpha, &[]));
        }
    }

    /// The coefficients of `t^0, ..., t^size` in `W(alpha + t d)`: one list of all multisets after another.
    pub(crate) fn line_weights(&self, alpha: &[f64], d: &[f64], out: &mut [f64]) {
        let mut coefficients = [0.0; 8];
        for at in 0..self.len {
            let coefficients = &mut coefficients[..=self.size];
            coefficients.fill(0.0);
            coefficients[0] = 1.0;
            let mut run = Repetitions::default();
            for (done, &i) in self.get(at).iter().enumerate() {
                let inverse = 1.0 / f64::from(run.next(i));
                let (a, d) = (alpha[i as usize] * inverse, d[i as usize] * inverse);
                for r in (1..=done + 1).rev() {
                    coefficients[r] = coefficients[r] * a + coefficients[r - 1] * d;
                }
                coefficients[0] *= a;
            }
            coefficients.iter().enumerate().for_each(|(r, value)| out[r * self.len + at] = *value);
        }
    }

    /// `out_a += sum_H sums_H dW_H/dalpha_a`.
    pub(crate) fn add_gradient(&self, sums: &[f64], alpha: &[f64], out: &mut [f64]) {
        if self.size == 2 {
            for (shared, others, run) in self.runs() {
                // Both samples of a pair, or the one of a pair of equals.
                let (mut product, diagonal) = (0.0, sums[self.diagonal(&run)]);
                for ((sum, other), out) in sums[run].iter().zip(&alpha[others.clone()]).zip(&mut out[others]) {
                    product += sum * other;
                    *out += alpha[shared] * sum;
                }
                out[shared] += product - alpha[shared] * diagonal;
            }
            return;
        }
        for (at, sum) in sums.iter().enumerate() {
            let set = self.get(at);
            for s in firsts(set) {
                out[set[s] as usize] += sum * weight(set, alpha, &[s]);
            }
        }
    }

    /// `out_ab += sum_H sums_H d^2 W_H/dalpha_a dalpha_b`, an n x n matrix.
    pub(crate) fn add_hessian(&self, sums: &[f64], alpha: &[f64], out: &mut [f64]) {
        let n = self.samples;
        if self.size == 2 {
            for (shared, others, run) in self.runs() {
                for (other, sum) in others.zip(&sums[run]) {
                    out[shared * n + other] += sum;
                    if other != shared {
                        out[other * n + shared] += sum;
                    }
                }
            }
            return;
        }
        for (at, sum) in sums.iter().enumerate() {
            let set = self.get(at);
            for s in firsts(set) {
                let a = set[s] as usize;
                if set.get(s + 1) == Some(&set[s]) {
                    out[a * n + a] += sum * weight(set, alpha, &[s, s + 1]);
                }
                for t in firsts(set).filter(|&t| t > s) {
                    let (b, value) = (set[t] as usize, sum * weight(set, alpha, &[s, t]));
                    out[a * n + b] += value;
                    out[b * n + a] += value;
                }
            }
        }
    }

    /// `dW_H/dalpha` at the place of each index; 0 at the repetitions of an index.
    pub(crate) fn derivatives(&self, alpha: &[f64], out: &mut [f64]) {
        if self.size == 2 {
            for (pair, out) in self.indices.chunks_exact(2).zip(out.chunks_exact_mut(2)) {
                let (a, b) = (pair[0] as usize, pair[1] as usize);
                out.copy_from_slice(&[alpha[b], if a == b { 0.0 } else { alpha[a] }]);
            }
            return;
        }
        out.fill(0.0);
        for at in 0..self.len {
            let set = self.get(at);
            for s in firsts(set) {
                out[at * self.size + s] = weight(set, alpha, &[s]);
            }
        }
    }

    /// `prod_(i in H) x_i` for a range of multisets.
    pub(crate) fn products(&self, range: Range<usize>, x: &[f64], out: &mut [f64]) {
        debug_assert_eq!(out.len(), range.len());
        match self.size {
            0 => out.fill(1.0),
            1 => out.copy_from_slice(&x[range]),
            2 => {
                let mut done = 0;
                while done < out.len() {
                    let set = self.get(range.start + done);
                    let (i, l) = (set[0] as usize, set[1] as usize);
                    let (shared, others) =
                        if self.order == Order::Colex { (l, i..l + 1) } else { (i, l..self.samples) };
                    let others = &x[others];
                    let length = others.len().min(out.len() - done);
                    let shared = x[shared];
                    let products = out[done..done + length].iter_mut().zip(others);
                    products.for_each(|(product, other)| *product = shared * other);
                    done += length;
                }
            }
            _ => {
                let sets = self.range(range).chunks_exact(self.size);
                let product = |set: &[u32]| set.iter().map(|&i| x[i as usize]).product::<f64>();
                out.iter_mut().zip(sets).for_each(|(out, set)| *out = product(set));
            }
        }
    }

    /// `sum_(i in H) x_i`.
    pub(crate) fn sum(&self, at: usize, x: &[f64]) -> f64 {
        self.get(at).iter().map(|&i| x[i as usize]).sum()
    }

    /// How often sample k is in the multiset.
    pub(crate) fn multiplicity(&self, at: usize, k: usize) -> usize {
        self.get(at).iter().filter(|&&i| i as usize == k).count()
    }
}

/// Counts repetitions in a sorted list.
#[derive(Default)]
struct Repetitions {
    last: Option<u32>,
    length: u32,
}

impl Repetitions {
    fn next(&mut self, i: u32) -> u32 {
        self.length = if self.last == Some(i) { self.length + 1 } else { 1 };
        self.last = Some(i);
        self.length
    }
}

/// `W` of a sorted list without the entries at the places `without`.
fn weight(set: &[u32], alpha: &[f64], without: &[usize]) -> f64 {
    let mut run = Repetitions::default();
    let kept = set.iter().enumerate().filter(|(s, _)| !without.contains(s));
    kept.map(|(_, &i)| alpha[i as usize] / f64::from(run.next(i))).product()
}

/// The places at which an index occurs for the first time.
fn firsts(set: &[u32]) -> impl Iterator<Item = usize> + '_ {
    (0..set.len()).filter(|&s| s == 0 || set[s - 1] != set[s])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists() -> Vec<Multisets> {
        let sizes = [0, 1, 2, 3, 4];
        sizes
            .iter()
            .flat_map(|&size| [1, 2, 5].map(|n| [Multisets::heads(n, size), Multisets::tails(n, size)]))
            .flatten()
            .collect()
    }

    fn vector(n: usize, phase: f64) -> Vec<f64> {
        (0..n).map(|i| (i as f64 + phase).sin()).collect()
    }

    #[test]
    fn lists_are_complete_ordered_and_ranked() {
        for list in lists() {
            let sets: Vec<Vec<usize>> =
                (0..list.len()).map(|at| list.get(at).iter().map(|&i| i as usize).collect()).collect();
            let key = |set: &Vec<usize>| -> Vec<usize> {
                if list.order == Order::Colex { set.iter().rev().copied().collect() } else { set.clone() }
            };
            assert!(sets.iter().all(|set| set.is_sorted() && set.iter().all(|&i| i < list.samples)));
            assert!(sets.windows(2).all(|pair| key(&pair[0]) < key(&pair[1])), "{list:?}");
            for (at, set) in sets.iter().enumerate() {
                assert_eq!(list.rank(set), at, "{list:?}");
            }
            if list.order == Order::Colex && list.size > 0 {
                for k in 0..=list.samples {
                    assert_eq!(list.below(k), sets.iter().filter(|set| set.iter().all(|&i| i < k)).count());
                }
            }
        }
    }

    /// `sum_H W_H = (sum_i alpha_i)^h/h!`, and its derivatives.
    #[test]
    fn weights_expand_the_power_of_a_sum() {
        for list in lists() {
            let (n, h) = (list.samples, list.size);
            let alpha = vector(n, 0.3);
            let total: f64 = alpha.iter().sum();
            let power = |k: usize| (1..=k).map(|m| total / m as f64).product::<f64>();
            let mut weights = vec![0.0; list.len()];
            list.weights(&alpha, &mut weights);
            assert!((weights.iter().sum::<f64>() - power(h)).abs() < 1e-13, "{list:?}");
            let ones = vec![1.0; list.len()];
            let (mut gradient, mut hessian) = (vec![0.0; n], vec![0.0; n * n]);
            list.add_gradient(&ones, &alpha, &mut gradient);
            list.add_hessian(&ones, &alpha, &mut hessian);
            let expected = if h >= 1 { power(h - 1) } else { 0.0 };
            assert!(gradient.iter().all(|g| (g - expected).abs() < 1e-13), "{list:?}");
            let expected = if h >= 2 { power(h - 2) } else { 0.0 };
            assert!(hessian.iter().all(|g| (g - expected).abs() < 1e-13), "{list:?}");
        }
    }

    #[test]
    fn line_weights_are_the_weights_along_the_line() {
        for list in lists() {
            let (alpha, d, t) = (vector(list.samples, 0.3), vector(list.samples, 2.0), 0.7_f64);
            let mut coefficients = vec![0.0; list.len() * (list.size + 1)];
            list.line_weights(&alpha, &d, &mut coefficients);
            let there: Vec<f64> = alpha.iter().zip(&d).map(|(a, d)| a + t * d).collect();
            let mut weights = vec![0.0; list.len()];
            list.weights(&there, &mut weights);
            for (at, weight) in weights.iter().enumerate() {
                let sum: f64 = (0..=list.size).map(|r| coefficients[r * list.len() + at] * t.powi(r as i32)).sum();
                assert!((sum - weight).abs() < 1e-14, "{list:?}");
            }
        }
    }

    #[test]
    fn products_of_any_range_are_products() {
        for list in lists() {
            let x = vector(list.samples, 1.1);
            for start in 0..list.len() {
                for end in start..=list.len() {
                    let mut out = vec![0.0; end - start];
                    list.products(start..end, &x, &mut out);
                    for (at, product) in (start..end).zip(&out) {
                        let expected: f64 = list.get(at).iter().map(|&i| x[i as usize]).product();
                        assert!((product - expected).abs() < 1e-15);
                    }
                }
            }
        }
    }

    #[test]
    fn counts_beyond_the_range_are_refused() {
        assert_eq!(count(300, 4), Some(300 * 301 * 302 * 303 / 24));
        assert_eq!(count(1_000_000, 8), None);
        assert_eq!(count(usize::MAX, 2), None);
    }
}
