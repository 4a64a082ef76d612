//! Elementary symmetric polynomials of the products of heads and tails.

use super::products::room;
use crate::{kernel::MAX_ORDER, numeric::vectorised};

/// Heads that are handled at a time: their sums stay in registers.
const LANES: usize = 16;

/// Takes more inputs into the sums `e_1, ..., e_orders` of every pair of a head and a tail, `2 <= orders <= 8`.
///
/// `rows` holds the products of the heads for the first of these inputs, then for the second, and so on, `columns` those of the
/// tails. In `out` stand the sums `e_1`, heads by tails, then `e_2`, and so on.
///
/// With one more product z the sums become `e_m + z e_(m-1)`, highest first. Nothing is subtracted: after d inputs a sum is off by
/// at most `d + 2 m` roundings of the same sum of `|z|`, besides those of the products z themselves.
pub(super) fn add(
    orders: usize,
    (rows, height): (&[f64], usize),
    (columns, width): (&[f64], usize),
    out: &mut [f64],
    panels: &mut Vec<f64>,
) {
    let inputs = rows.len() / height;
    let (tails, heads) = room(panels, (width + LANES) * inputs).split_at_mut(width * inputs);
    // One tail after another.
    for (j, columns) in columns.chunks(width).enumerate() {
        columns.iter().enumerate().for_each(|(tail, column)| tails[tail * inputs + j] = *column);
    }
    for first in (0..height).step_by(LANES) {
        let count = LANES.min(height - first);
        for (heads, rows) in heads.chunks_mut(LANES).zip(rows.chunks(height)) {
            heads[..count].copy_from_slice(&rows[first..first + count]);
            heads[count..].fill(0.0);
        }
        for (tail, tails) in tails.chunks(inputs).enumerate() {
            let mut sums = [[0.0; LANES]; MAX_ORDER];
            let place = |m: usize| m * height * width + tail * height + first;
            for (m, sums) in sums.iter_mut().enumerate().take(orders) {
                sums[..count].copy_from_slice(&out[place(m)..][..count]);
            }
            vectorised(
                #[inline(always)]
                || match orders {
                    2 => recur::<2>(heads, tails, &mut sums),
                    3 => recur::<3>(heads, tails, &mut sums),
                    4 => recur::<4>(heads, tails, &mut sums),
                    5 => recur::<5>(heads, tails, &mut sums),
                    6 => recur::<6>(heads, tails, &mut sums),
                    7 => recur::<7>(heads, tails, &mut sums),
                    _ => recur::<MAX_ORDER>(heads, tails, &mut sums),
                },
            );
            for (m, sums) in sums.iter().enumerate().take(orders) {
                out[place(m)..][..count].copy_from_slice(&sums[..count]);
            }
        }
    }
}

/// Takes the inputs of some heads and of one tail into the first M sums.
#[inline(always)]
fn recur<const M: usize>(heads: &[f64], tails: &[f64], out: &mut [[f64; LANES]; MAX_ORDER]) {
    let mut sums = [[0.0; LANES]; M];
    sums.copy_from_slice(&out[..M]);
    for (heads, tail) in heads.as_chunks::<LANES>().0.iter().zip(tails) {
        for lane in 0..LANES {
            let z = heads[lane] * tail;
            for m in (1..M).rev() {
                sums[m][lane] += z * sums[m - 1][lane];
            }
            sums[0][lane] += z;
        }
    }
    out[..M].copy_from_slice(&sums);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Anova, symmetric_sums};

    /// Every place of every shape, in one go and in two.
    #[test]
    fn agrees_with_the_recurrence_of_one_entry() {
        for (height, width, inputs) in [(1, 1, 1), (5, 3, 7), (16, 2, 4), (37, 4, 9)] {
            let at = |k: usize| (k as f64 * 0.7).sin() * 10_f64.powi((k % 5) as i32 - 2);
            let rows: Vec<f64> = (0..height * inputs).map(at).collect();
            let columns: Vec<f64> = (0..width * inputs).map(|k| at(k + 1000)).collect();
            for orders in 2..=MAX_ORDER {
                let kernel = Anova::new(1, orders).expect("valid");
                let mut out = vec![0.0; orders * height * width];
                for part in [0..inputs / 2, inputs / 2..inputs].into_iter().filter(|part| !part.is_empty()) {
                    let rows = &rows[part.start * height..part.end * height];
                    let columns = &columns[part.start * width..part.end * width];
                    add(orders, (rows, height), (columns, width), &mut out, &mut Vec::new());
                }
                for (row, column) in (0..height).flat_map(|row| (0..width).map(move |column| (row, column))) {
                    let z = |j: usize| rows[j * height + row] * columns[j * width + column];
                    let (expected, moduli) =
                        (symmetric_sums(&kernel, inputs, z), symmetric_sums(&kernel, inputs, |j| z(j).abs()));
                    for m in 0..orders {
                        let got = out[m * height * width + column * height + row];
                        assert!((got - expected[m]).abs() <= 40.0 * f64::EPSILON * moduli[m], "{got} {}", expected[m]);
                    }
                }
            }
        }
    }
}
