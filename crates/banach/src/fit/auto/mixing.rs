//! Weights of a mixture: non-negative, summing to one, best on held-out predictions.

use super::scoring::Scoring;

/// Steps of either method, at most. Their cost does not count beside one fit.
const MOST_STEPS: usize = 5_000;
/// Steps that change no weight by more are the last.
const SMALL: f64 = 1e-9;

/// The weights that minimise the loss of the mixture of several predictions.
///
/// - Solves: `min_(v >= 0, sum v = 1) sum_i w_i (y_i - sum_m v_m t_im)^2` for numbers, and for probabilities
///   `max sum_i w_i ln sum_m v_m p_im`.
/// - Given: the held-out predictions `t` or probabilities `p` of every contender.
/// - Cost: some thousand products of a matrix of the size of the number of contenders.
/// - See: L. Breiman, "Stacked regressions", Machine Learning 24, 1996.
pub(super) fn mixture(scoring: &Scoring, predictions: &[&[f64]]) -> Vec<f64> {
    let columns = scoring.mixed_columns(predictions);
    match scoring.numbers() {
        Some(y) => least_squares(&columns, y, scoring.weights()),
        None => most_likely(&columns, scoring.weights()),
    }
}

/// Accelerated gradient steps, each projected onto the simplex.
fn least_squares(columns: &[Vec<f64>], y: &[f64], weights: &[f64]) -> Vec<f64> {
    let count = columns.len();
    // As the weights sum to one, residuals mix like predictions.
    let residuals: Vec<Vec<f64>> =
        columns.iter().map(|column| column.iter().zip(y).map(|(t, y)| t - y).collect()).collect();
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).zip(weights).map(|((a, b), w)| w * a * b).sum::<f64>();
    let gram: Vec<f64> = residuals.iter().flat_map(|a| residuals.iter().map(|b| product(a, b))).collect();
    let largest: f64 = (0..count).map(|at| gram[at * count + at]).sum();
    let mut mixed = vec![1.0 / count as f64; count];
    if largest <= 0.0 {
        return mixed;
    }
    let (mut ahead, mut momentum) = (mixed.clone(), 1.0_f64);
    for _ in 0..MOST_STEPS {
        let slope = |at: usize| gram[at * count..(at + 1) * count].iter().zip(&ahead).map(|(g, v)| g * v).sum::<f64>();
        let next = onto_simplex((0..count).map(|at| ahead[at] - slope(at) / largest).collect());
        let following = f64::midpoint(1.0, (1.0 + 4.0 * momentum * momentum).sqrt());
        let push = (momentum - 1.0) / following;
        ahead = next.iter().zip(&mixed).map(|(next, last)| next + push * (next - last)).collect();
        let moved = next.iter().zip(&mixed).map(|(next, last)| (next - last).abs()).fold(0.0, f64::max);
        (mixed, momentum) = (next, following);
        if moved < SMALL {
            break;
        }
    }
    mixed
}

/// Expectation and maximisation, which never lowers the likelihood.
fn most_likely(columns: &[Vec<f64>], weights: &[f64]) -> Vec<f64> {
    let (count, total) = (columns.len(), weights.iter().sum::<f64>());
    let mut mixed = vec![1.0 / count as f64; count];
    for _ in 0..MOST_STEPS {
        let mut next = vec![0.0; count];
        for (i, weight) in weights.iter().enumerate() {
            let sum: f64 = columns.iter().zip(&mixed).map(|(column, v)| v * column[i]).sum();
            for (next, (column, v)) in next.iter_mut().zip(columns.iter().zip(&mixed)) {
                *next += weight / total * v * column[i] / sum;
            }
        }
        let moved = next.iter().zip(&mixed).map(|(next, last)| (next - last).abs()).fold(0.0, f64::max);
        mixed = next;
        if moved < SMALL {
            break;
        }
    }
    mixed
}

/// The nearest point with non-negative entries that sum to one.
fn onto_simplex(point: Vec<f64>) -> Vec<f64> {
    let mut sorted = point.clone();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut shift) = (0.0, 0.0);
    for (at, value) in sorted.iter().enumerate() {
        sum += value;
        let candidate = (sum - 1.0) / (at + 1) as f64;
        if *value > candidate {
            shift = candidate;
        }
    }
    point.into_iter().map(|value| (value - shift).max(0.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_point_of_the_simplex() {
        assert_eq!(onto_simplex(vec![0.5, 0.5]), [0.5, 0.5]);
        assert_eq!(onto_simplex(vec![3.0, 0.0, -1.0]), [1.0, 0.0, 0.0]);
        let moved = onto_simplex(vec![0.9, 0.8, -5.0]);
        assert!((moved[0] - 0.55).abs() < 1e-12 && (moved[1] - 0.45).abs() < 1e-12 && moved[2] == 0.0);
    }

    #[test]
    fn least_squares_finds_a_known_mixture_and_drops_what_does_harm() {
        let jumble = |k: usize| ((k * k) as f64 * 0.618_033_988).fract() * 2.0 - 1.0;
        let column = |seed: usize| -> Vec<f64> { (0..50).map(|i| jumble(i + seed)).collect() };
        let (a, b, c) = (column(1), column(100), column(1000));
        let y: Vec<f64> = a.iter().zip(&b).map(|(a, b)| 0.3 * a + 0.7 * b).collect();
        let found = least_squares(&[a, b, c], &y, &[1.0; 50]);
        assert!((found[0] - 0.3).abs() < 1e-6 && (found[1] - 0.7).abs() < 1e-6 && found[2] < 1e-6, "{found:?}");
    }

    #[test]
    fn likelihood_is_stationary_at_its_mixture() {
        let columns = [vec![0.9, 0.2, 0.6, 0.7], vec![0.4, 0.8, 0.5, 0.6], vec![0.1, 0.1, 0.1, 0.1]];
        let (weights, n) = ([1.0, 2.0, 1.0, 1.0], 5.0);
        let found = most_likely(&columns, &weights);
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-9 && found[2] < 1e-6, "{found:?}");
        let sum = |i: usize| columns.iter().zip(&found).map(|(column, v)| v * column[i]).sum::<f64>();
        for (column, v) in columns.iter().zip(&found) {
            let slope: f64 = (0..4).map(|i| weights[i] / n * column[i] / sum(i)).sum();
            assert!(slope <= 1.0 + 1e-6 && (*v < 1e-6 || slope > 1.0 - 1e-6), "{found:?} {slope}");
        }
    }
}
