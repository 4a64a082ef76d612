//! Sums of a few monomials in bounded variables.

use serde::Serialize;

use super::{Sample, draw::Draw};

/// `y = sum of some monomials + sigma eps` with variables that are at most 1 in modulus. The degrees of the monomials run
/// through 1, 2, 3, their variables are drawn, and their coefficients are +1 or -1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SparseMonomials {
    /// Samples, n.
    pub samples: usize,
    /// Variables, d.
    pub inputs: usize,
    /// Monomials.
    pub relevant: usize,
    /// The noise level sigma, relative to the size of the rest.
    pub noise: f64,
    /// The variables.
    pub entries: EntryDistribution,
}

/// The distribution of variables that are at most 1 in modulus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryDistribution {
    /// Uniform in (-1, 1).
    Uniform,
    /// Uniform in (0, 1).
    Positive,
    /// Normal, each variable divided by its largest value.
    Normal,
}

impl EntryDistribution {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform in (-1, 1)",
            Self::Positive => "uniform in (0, 1)",
            Self::Normal => "normal, largest 1",
        }
    }
}

/// One draw of such data. The monomials are known by their variables and exponents, with their coefficients.
pub type MonomialSample = Sample<Vec<(usize, usize)>>;

impl SparseMonomials {
    /// The draw that belongs to a seed, the same on every machine.
    pub fn sample(&self, seed: u64) -> MonomialSample {
        let (n, d) = (self.samples, self.inputs);
        let mut draw = Draw::new(seed);
        let mut columns = match self.entries {
            EntryDistribution::Uniform => (0..n * d).map(|_| 2.0 * draw.uniform() - 1.0).collect(),
            EntryDistribution::Positive => (0..n * d).map(|_| draw.uniform()).collect(),
            EntryDistribution::Normal => draw.normals(n * d, 1.0),
        };
        if self.entries == EntryDistribution::Normal {
            for column in columns.chunks_mut(n) {
                let largest = column.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
                column.iter_mut().for_each(|x| *x /= largest);
            }
        }
        let mut truth = Vec::new();
        for term in 0..self.relevant {
            let mut variables: Vec<usize> = (0..=term % 3).map(|_| draw.index(d)).collect();
            variables.sort_unstable();
            let factors = variables.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect();
            truth.push((factors, draw.sign()));
        }
        let value = |(factors, weight): &(Vec<(usize, usize)>, f64), i: usize| {
            weight * factors.iter().map(|&(j, e)| columns[j * n + i].powi(e as i32)).product::<f64>()
        };
        let mut targets: Vec<f64> = (0..n).map(|i| truth.iter().map(|term| value(term, i)).sum()).collect();
        let size = (targets.iter().map(|y| y * y).sum::<f64>() / n as f64).sqrt();
        let noise = draw.normals(n, self.noise * size);
        targets.iter_mut().zip(noise).for_each(|(y, noise)| *y += noise);
        MonomialSample { columns, targets, truth }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monomials_explain_their_targets_and_no_variable_is_above_1() {
        for entries in [EntryDistribution::Uniform, EntryDistribution::Positive, EntryDistribution::Normal] {
            let setting = SparseMonomials { samples: 200, inputs: 5, relevant: 4, noise: 0.0, entries };
            let MonomialSample { columns, targets, truth } = setting.sample(1);
            assert!(columns.iter().all(|x| x.abs() <= 1.0));
            let degree = |factors: &[(usize, usize)]| factors.iter().map(|(_, e)| e).sum::<usize>();
            assert_eq!(truth.iter().map(|(factors, _)| degree(factors)).collect::<Vec<_>>(), [1, 2, 3, 1]);
            for (i, y) in targets.iter().enumerate() {
                let power = |&(j, e): &(usize, usize)| (0..e).map(|_| columns[j * 200 + i]).product::<f64>();
                let value = |factors: &[(usize, usize)]| factors.iter().map(power).product::<f64>();
                let sum: f64 = truth.iter().map(|(factors, weight)| weight * value(factors)).sum();
                assert!((y - sum).abs() < 1e-12);
            }
        }
    }
}
