//! What is left of a support when one column after another is left out, the one that explains least first.

use super::Support;
use crate::workers::checkpoint;

/// A support of some size by its columns, and what it leaves unexplained.
#[derive(Debug, Clone)]
pub(crate) struct PrunedSupport {
    pub places: Vec<usize>,
    pub unexplained: f64,
}

/// All that is left of a support, from the smallest.
///
/// With `B = (Phi_S' Phi_S)^-1` and the coefficients c, leaving out column i leaves `c_i^2 / B_ii` more unexplained; what is left has
/// `B - B_i B_i'/B_ii` and `c - c_i B_i/B_ii`. So all sizes together cost no more than the support itself.
pub(crate) fn pruned(support: &Support, target: &[f64]) -> Vec<PrunedSupport> {
    checkpoint();
    let k = support.len();
    let own = support.own_directions(target);
    // The i-th row of the triangle's inverse is that direction times its length.
    let rows: Vec<Vec<f64>> = own
        .combinations
        .chunks(k.max(1))
        .zip(&own.lengths)
        .map(|(row, length)| row.iter().map(|entry| entry * length).collect())
        .collect();
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut inverse: Vec<Vec<f64>> = rows.iter().map(|a| rows.iter().map(|b| product(a, b)).collect()).collect();
    let mut coefficients: Vec<f64> =
        own.explained.iter().zip(&own.lengths).map(|(explained, length)| explained * length).collect();
    let mut alive: Vec<usize> = (0..k).collect();
    let mut unexplained = support.unexplained();
    let mut sizes = Vec::with_capacity(k);
    while !alive.is_empty() {
        sizes.push(PrunedSupport { places: alive.iter().map(|&i| support.places()[i]).collect(), unexplained });
        let loss = |i: usize| coefficients[i] * coefficients[i] / inverse[i][i];
        let Some(at) = (0..alive.len()).min_by(|&a, &b| loss(alive[a]).total_cmp(&loss(alive[b]))) else { break };
        let i = alive.remove(at);
        unexplained += loss(i);
        let (row, coefficient) = (inverse[i].clone(), coefficients[i]);
        for &j in &alive {
            let share = row[j] / row[i];
            alive.iter().for_each(|&l| inverse[j][l] -= share * row[l]);
            coefficients[j] -= share * coefficient;
        }
    }
    sizes.reverse();
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::WorkingColumns;

    /// Every size is that of a support without the column that explains least, found anew.
    #[test]
    fn pruning_is_leaving_out_the_weakest_again_and_again() {
        let (n, k) = (20, 9);
        let jumble = |i: usize| ((i * i) as f64 * 0.618_033_988_7).fract() * 2.0 - 1.0;
        let unit = |from: usize| {
            let vector: Vec<f64> = (from..from + n).map(jumble).collect();
            let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
            vector.iter().map(|x| x / length).collect::<Vec<f64>>()
        };
        let mut columns = WorkingColumns::new(n);
        (0..k).for_each(|place| {
            columns.push(place as u64, &unit(100 * place + 7));
        });
        let target = unit(5000);
        let mut support = Support::of(&columns, 0..k, &target);
        for found in pruned(&support, &target).iter().rev() {
            assert_eq!(found.places, support.places());
            assert!((found.unexplained - support.unexplained()).abs() < 1e-10);
            let weakest = support.own_directions(&target).weakest().expect("not empty");
            support = support.replaced(&columns, weakest, None, &target);
        }
        assert_eq!(support.len(), 0);
    }
}
