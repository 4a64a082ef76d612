//! How `||w||_p^p = sum_k |w_k|^p` divides among variables, pairs of variables and degrees, feature by feature.

use crate::{
    Exponent,
    exponent::NEGLIGIBLE,
    numeric::{WidePower, largest},
};

/// Sums of `|w_k|^p = |u_k|^q`, relative to the largest `|u_k|` so far.
///
/// Features may come from any route and in any order, but in runs of neighbours: features that share all variables but the last.
#[derive(Debug, Clone)]
pub(crate) struct Energy<'a> {
    exponent: Exponent,
    /// The variables whose pairs count, in increasing order.
    chosen: &'a [usize],
    size: f64,
    total: f64,
    variables: Vec<f64>,
    /// A square, row after row.
    pairs: Vec<f64>,
    degrees: Vec<f64>,
    powers: Vec<f64>,
}

impl<'a> Energy<'a> {
    /// Empty sums, for features of d variables up to a degree.
    pub(crate) fn new(exponent: Exponent, inputs: usize, max_degree: usize, chosen: &'a [usize]) -> Self {
        Self {
            exponent,
            chosen,
            size: 0.0,
            total: 0.0,
            variables: vec![0.0; inputs],
            pairs: vec![0.0; chosen.len().pow(2)],
            degrees: vec![0.0; max_degree + 1],
            powers: Vec::new(),
        }
    }

    /// The bytes that it takes.
    pub(crate) fn bytes(inputs: usize, max_degree: usize, chosen: usize) -> u64 {
        8 * (inputs as u64 + max_degree as u64 + (chosen as u64).saturating_mul(chosen as u64))
    }

    /// Adds features with the variables `prefix`, in increasing order, and one more: `first` for the first of them, the next
    /// variable for the next, and so on; without `first`, the one feature of the prefix alone.
    pub(crate) fn add(&mut self, prefix: &[usize], first: Option<usize>, u: &[f64]) {
        let size = largest(u);
        if size < NEGLIGIBLE {
            return;
        }
        self.raise(size);
        let inverse = 1.0 / self.size;
        let mut powers = std::mem::take(&mut self.powers);
        powers.clear();
        powers.extend_from_slice(u);
        let sum = self.exponent.duality_map(&mut powers, inverse);
        powers.iter_mut().zip(u).for_each(|(power, u)| *power = (*power * (u * inverse)).abs());
        self.total += sum;
        self.degrees[prefix.len() + usize::from(first.is_some())] += sum;
        for run in prefix.chunk_by(|a, b| a == b) {
            self.variables[run[0]] += sum;
        }
        if let Some(first) = first {
            // Only the first feature can repeat a variable of the prefix, its last.
            let repeated = usize::from(prefix.last() == Some(&first));
            let own = &mut self.variables[first + repeated..];
            own.iter_mut().zip(&powers[repeated..]).for_each(|(share, power)| *share += power);
        }
        if !self.chosen.is_empty() {
            self.add_pairs(prefix, first, sum, &powers);
        }
        self.powers = powers;
    }

    fn add_pairs(&mut self, prefix: &[usize], first: Option<usize>, sum: f64, powers: &[f64]) {
        let count = self.chosen.len();
        let places = |variable: usize| self.chosen.binary_search(&variable).ok();
        let in_prefix: Vec<usize> = prefix.chunk_by(|a, b| a == b).filter_map(|run| places(run[0])).collect();
        for &a in &in_prefix {
            for &b in &in_prefix {
                self.pairs[a * count + b] += sum;
            }
        }
        let Some(first) = first else { return };
        let lasts = self.chosen.partition_point(|&variable| variable < first);
        for b in lasts..count {
            let Some(power) = powers.get(self.chosen[b] - first) else { break };
            if in_prefix.contains(&b) {
                continue;
            }
            self.pairs[b * count + b] += power;
            for &a in &in_prefix {
                self.pairs[a * count + b] += power;
                self.pairs[b * count + a] += power;
            }
        }
    }

    /// Adds the sums of another part of the features.
    pub(crate) fn merge(&mut self, other: &Self) {
        if other.size == 0.0 {
            return;
        }
        self.raise(other.size);
        let factor = (other.size / self.size).powf(self.exponent.q());
        let add = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(to, from)| *to += factor * from);
        self.total += factor * other.total;
        add(&mut self.variables, &other.variables);
        add(&mut self.pairs, &other.pairs);
        add(&mut self.degrees, &other.degrees);
    }

    /// Makes room for a larger `|u|`.
    fn raise(&mut self, size: f64) {
        if size <= self.size {
            return;
        }
        let factor = (self.size / size).powf(self.exponent.q());
        let shrink = |sums: &mut [f64]| sums.iter_mut().for_each(|sum| *sum *= factor);
        self.total *= factor;
        shrink(&mut self.variables);
        shrink(&mut self.pairs);
        shrink(&mut self.degrees);
        self.size = size;
    }

    /// `ln ||w||_p^p`, for `u` that were divided by this power of two; minus infinity if all are 0.
    pub(crate) fn ln_power_sum(&self, exponent: f64) -> f64 {
        if self.size == 0.0 {
            return f64::NEG_INFINITY;
        }
        WidePower::new(self.size, exponent, self.exponent.q()).ln_times(self.total)
    }

    /// The shares of all variables.
    pub(crate) fn variable_shares(&self) -> Vec<f64> {
        self.shares(&self.variables)
    }

    /// The shares of the pairs that were chosen, with the variables themselves on the diagonal.
    pub(crate) fn pair_shares(&self) -> Vec<f64> {
        self.shares(&self.pairs)
    }

    /// The share of every degree.
    pub(crate) fn degree_shares(&self) -> Vec<f64> {
        self.shares(&self.degrees)
    }

    fn shares(&self, sums: &[f64]) -> Vec<f64> {
        let share = |sum: &f64| if self.total > 0.0 { (sum / self.total).min(1.0) } else { 0.0 };
        sums.iter().map(share).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The runs of one's own making: x0^2, x0 x1, x0 x2, x1^2, x1 x2, x2^2 and the constant.
    #[test]
    fn every_feature_counts_for_each_of_its_variables_once() {
        let exponent = Exponent::new(1.5).expect("inside");
        let mut energy = Energy::new(exponent, 3, 2, &[0, 2]);
        energy.add(&[0], Some(0), &[1.0, -2.0, 3.0]);
        let mut other = energy.clone();
        other = Energy::new(other.exponent, 3, 2, &[0, 2]);
        other.add(&[1], Some(1), &[4.0, 0.5]);
        other.add(&[2], Some(2), &[2.0]);
        other.add(&[], None, &[1e-310, 2.0][1..]);
        energy.merge(&other);
        let cube = |x: f64| x.powi(3);
        let total = 1.0 + 8.0 + 27.0 + 64.0 + 0.125 + 8.0 + 8.0;
        let near = |got: &[f64], expected: &[f64]| {
            got.iter().zip(expected).all(|(got, expected)| (got - expected / total).abs() < 1e-15)
        };
        assert!((energy.ln_power_sum(0.0) - f64::ln(total)).abs() < 1e-15);
        assert!((energy.ln_power_sum(2.0) - (total * cube(4.0)).ln()).abs() < 1e-14);
        assert!(near(&energy.variable_shares(), &[36.0, 72.125, 35.125]), "{:?}", energy.variable_shares());
        assert!(near(&energy.pair_shares(), &[36.0, 27.0, 27.0, 35.125]), "{:?}", energy.pair_shares());
        assert!(near(&energy.degree_shares(), &[8.0, 0.0, total - 8.0]));
    }
}
