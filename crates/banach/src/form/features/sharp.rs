//! Predictions with twice the digits in every sum, for the last word on a certificate.
//!
//! Sums of products are compensated (`numeric/compensated.rs`): the rounding of every product and
//! addition is itself summed up and added in the end. `m` terms are then off by at most one unit of the sum and `2 (m 2^-53)^2`
//! of the sum of their moduli. What remains of the roundings of `form/rounding.rs` are those of the powers.

use std::f64::consts::LN_2;

use rayon::prelude::*;

use super::Features;
use crate::{
    data::Column,
    exponent::{NEGLIGIBLE, copy_in_range},
    form::{
        Evaluation, QForm,
        rounding::{self, UNIT},
    },
    numeric::{Product, WidePower, compensated_dot, raise, two_sum},
    workers::checkpoint,
};

/// Features that one task handles: enough to hide its start.
const PIECE: usize = 1024;
/// The passes of an evaluation: one for the products, and one for the sums.
const PASSES: usize = 2;

/// Evaluates one dual vector again; see [`QForm::sharpen`].
pub(super) fn sharpen(form: &Features<'_>, alpha: &[f64], at: &mut Evaluation) -> usize {
    let (n, q, matrix) = (form.samples(), form.exponent.q(), &form.matrix);
    let mut copy = vec![0.0; n];
    let exponent = copy_in_range(alpha, &mut copy);
    let products: Vec<Product> = (0..matrix.features())
        .into_par_iter()
        .with_min_len(PIECE)
        .map_init(Vec::new, |buffer, k| product(&matrix.column(k, buffer), &copy))
        .collect();
    let most = products.iter().fold(0.0_f64, |most, product| most.max(product.high.abs()));
    if most < NEGLIGIBLE {
        return 0;
    }
    let columns: Vec<usize> = (0..matrix.features()).step_by(PIECE).collect();
    let parts: Vec<SharpSums> = columns
        .into_par_iter()
        .map(|first| {
            checkpoint();
            let last = (first + PIECE).min(products.len());
            let (mut sums, mut buffer) = (SharpSums::new(n), Vec::new());
            let weights = Weight::all(&products[first..last], most, q, n);
            let each = weights.iter().enumerate();
            each.for_each(|(k, weight)| sums.add(&matrix.column(first + k, &mut buffer), weight));
            sums
        })
        .collect();
    // The first part takes in the others: three numbers for every sample are many where there are very many samples.
    let mut parts = parts.into_iter();
    let mut sums = parts.next().unwrap_or_else(|| SharpSums::new(n));
    parts.for_each(|part| sums.merge(&part));
    let power = WidePower::new(most, exponent, q);
    (at.values[0], at.ln_values[0]) = (power.times(sums.power_sum / q), power.ln_times(sums.power_sum / q));
    // Features that were computed are off by some units themselves.
    let sizes = form.sizes.get().expect("a form is evaluated before it is sharpened");
    sizes.origin_roundings(q, alpha, at.ln_values[0], &mut at.roundings[..n]);
    let power = WidePower::new(most, exponent, q - 1.0);
    // The sum of both and the factor take a few units.
    let units = (8.0 + rounding::wide_power(q - 1.0, most.ln() + exponent * LN_2)) * UNIT;
    for i in 0..n {
        at.omegas[i] = power.times(sums.high[i] + sums.low[i]);
        at.roundings[i] += power.times(1.01 * sums.moved[i]) + units * at.omegas[i].abs();
    }
    PASSES
}

/// `u_k` as the sum of two numbers, and `sum_i |phi_k(x_i) alpha_i|`.
fn product(column: &Column<'_>, alpha: &[f64]) -> Product {
    match column.rows {
        None => compensated_dot(column.values, alpha),
        Some(rows) => {
            let alpha: Vec<f64> = rows.iter().map(|&row| alpha[row]).collect();
            compensated_dot(column.values, &alpha)
        }
    }
}

/// `J_q(u_k)`, for u divided by its largest entry: the sum of two numbers, a bound on its error, and `|u_k|^q`.
#[derive(Clone, Copy)]
struct Weight {
    value: f64,
    low: f64,
    moved: f64,
    power: f64,
}

impl Weight {
    fn all(products: &[Product], most: f64, q: f64, n: usize) -> Vec<Self> {
        let mut powers: Vec<f64> = products.iter().map(|product| product.high.abs() / most).collect();
        raise(&mut powers, q - 1.0);
        let units = rounding::power(q) * UNIT;
        // The products of n terms, and what is left of the second order in the weight.
        let second = 3.0 * (n as f64 * UNIT).powi(2);
        let of_product = |(product, power): (&Product, &f64)| {
            let high = product.high / most;
            // What the division has rounded is known exactly.
            let low = ((-high).mul_add(most, product.high) + product.low) / most;
            let moved = second * product.moduli / most;
            let reach = high.abs() + low.abs() + moved;
            // To first order in the low part; the second is below its square.
            let first = if high == 0.0 { 0.0 } else { (q - 1.0) * (low / high) };
            let value = power.copysign(high);
            let slope = (q - 1.0) * reach.powf(q - 2.0);
            let second = first * first + 4.0 * UNIT * first.abs();
            let moved = slope * (moved + UNIT * UNIT * high.abs() * q) + power * (units + second);
            Self { value, low: value * first, moved, power: power * high.abs() }
        };
        products.iter().zip(&powers).map(of_product).collect()
    }
}

/// Predictions as sums of two numbers, and how far they may be off.
struct SharpSums {
    high: Vec<f64>,
    low: Vec<f64>,
    moved: Vec<f64>,
    power_sum: f64,
}

impl SharpSums {
    fn new(n: usize) -> Self {
        Self { high: vec![0.0; n], low: vec![0.0; n], moved: vec![0.0; n], power_sum: 0.0 }
    }

    fn add(&mut self, column: &Column<'_>, weight: &Weight) {
        self.power_sum += weight.power;
        let Self { high, low, moved, .. } = self;
        // Compensated sums leave a share of the square of a unit for each of the terms of a piece, and fewer pieces than that.
        let off = weight.moved + 4.0 * (PIECE as f64 * UNIT).powi(2) * weight.value.abs();
        let step = |high: &mut f64, low: &mut f64, moved: &mut f64, x: f64| {
            let product = x * weight.value;
            let (sum, lost) = two_sum(*high, product);
            *high = sum;
            *low += lost + x.mul_add(weight.value, -product) + x * weight.low;
            *moved += x.abs() * off;
        };
        match column.rows {
            None => {
                let sums = high.iter_mut().zip(low).zip(moved).zip(column.values);
                sums.for_each(|(((high, low), moved), x)| step(high, low, moved, *x));
            }
            Some(rows) => {
                let entries = rows.iter().zip(column.values);
                entries.for_each(|(&i, x)| step(&mut high[i], &mut low[i], &mut moved[i], *x));
            }
        }
    }

    fn merge(&mut self, part: &Self) {
        self.power_sum += part.power_sum;
        for i in 0..self.high.len() {
            let (sum, lost) = two_sum(self.high[i], part.high[i]);
            self.high[i] = sum;
            self.low[i] += lost + part.low[i];
            self.moved[i] += part.moved[i];
        }
    }
}
