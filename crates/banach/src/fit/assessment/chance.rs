//! How often chance alone would make a gain over a constant look as large.

use crate::solver::SplitMix64;

/// Random signs that are tried, and one more: that of the data.
const FLIPS: usize = 1999;
/// More witnesses than these are summed up in so many blocks.
const MOST_WITNESSES: usize = 250;
/// With fewer witnesses nothing can be told.
const LEAST_WITNESSES: usize = 5;

/// The share of tables without a signal in which the best of several candidates would be as far ahead of a constant as one of them is.
///
/// - Given: for every candidate the gains of all witnesses, samples or groups of them: loss of the constant less loss of the candidate.
/// - Tests: if a candidate were no better than the constant, each gain could as well have been a loss of the same size. So the signs of
///   all witnesses are drawn at random, the same ones for all candidates, and the best candidate of every draw is compared with the one that
///   was chosen, each by `sum_i g_i / sqrt(sum_i g_i^2)`, of which Student's t is an increasing function. That many candidates were
///   tried, and how much they are alike, is in the draws.
/// - Returns: at least 1/2000; `None` for fewer than five witnesses.
/// - Cost: 2000 sums over at most 250 witnesses for every candidate.
/// - See: P. Westfall and S. Young, "Resampling-based multiple testing", 1993 (single-step maxT, here with signs).
pub(super) fn chance(gains: &[Vec<f64>], chosen: usize) -> Option<f64> {
    let witnesses = gains.first()?.len();
    if witnesses < LEAST_WITNESSES {
        return None;
    }
    let candidates: Vec<Vec<f64>> = gains.iter().map(|gains| unit(blocks(gains))).collect();
    let ahead: f64 = candidates[chosen].iter().sum();
    let random = &mut SplitMix64::new(0);
    let mut signs = vec![1.0; candidates[chosen].len()];
    let mut as_good = 0;
    for _ in 0..FLIPS {
        signs.iter_mut().for_each(|sign| *sign = if random.below(2) == 0 { 1.0 } else { -1.0 });
        let flipped = |gains: &Vec<f64>| gains.iter().zip(&signs).map(|(gain, sign)| gain * sign).sum::<f64>();
        as_good += usize::from(candidates.iter().any(|gains| flipped(gains) >= ahead));
    }
    Some((1 + as_good) as f64 / (1 + FLIPS) as f64)
}

/// Sums over blocks of neighbours, where there are very many.
fn blocks(gains: &[f64]) -> Vec<f64> {
    let count = gains.len().min(MOST_WITNESSES);
    let mut sums = vec![0.0; count];
    gains.iter().enumerate().for_each(|(at, gain)| sums[at * count / gains.len()] += gain);
    sums
}

/// Divided by the root of the sum of squares; what is not finite or 0 stays 0.
fn unit(mut gains: Vec<f64>) -> Vec<f64> {
    let size = gains.iter().fold(0.0_f64, |size, gain| size.max(gain.abs()));
    let norm = size * gains.iter().map(|gain| (gain / size).powi(2)).sum::<f64>().sqrt();
    gains.iter_mut().for_each(|gain| *gain = if norm > 0.0 && norm.is_finite() { *gain / norm } else { 0.0 });
    gains
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jumble(seed: usize, count: usize) -> Vec<f64> {
        (0..count).map(|k| (((k + seed) * (k + seed)) as f64 * 0.618_033_988).fract() - 0.5).collect()
    }

    #[test]
    fn a_gain_of_every_witness_is_no_chance_and_a_loss_is() {
        let clear: Vec<f64> = jumble(1, 40).iter().map(|x| x.abs() + 0.1).collect();
        let losing: Vec<f64> = clear.iter().map(|gain| -gain).collect();
        assert_eq!(chance(std::slice::from_ref(&clear), 0), Some(5e-4));
        assert!(chance(&[losing, clear.clone()], 0).expect("enough") > 0.99);
        assert_eq!(chance(&[clear[..4].to_vec()], 0), None);
        assert_eq!(chance(&[vec![0.0; 10]], 0), Some(1.0));
        assert_eq!(chance(&[vec![f64::INFINITY; 10]], 0), Some(1.0));
    }

    /// Of six witnesses all 64 signs can be listed.
    #[test]
    fn the_share_is_that_of_all_signs() {
        let gains = [vec![0.3, 0.5, -0.1, 0.4, 0.2, 0.6], vec![-0.2, 0.4, 0.1, 0.3, 0.5, -0.3]];
        let t = |gains: &[f64]| gains.iter().sum::<f64>() / gains.iter().map(|gain| gain * gain).sum::<f64>().sqrt();
        let exact = (0..64).filter(|signs| {
            let flipped = |gains: &Vec<f64>| -> Vec<f64> {
                gains.iter().enumerate().map(|(i, gain)| if signs >> i & 1 == 1 { -gain } else { *gain }).collect()
            };
            gains.iter().any(|one| t(&flipped(one)) >= t(&gains[0]) - 1e-12)
        });
        let exact = exact.count() as f64 / 64.0;
        let found = chance(&gains, 0).expect("enough");
        assert!((found - exact).abs() < 4.0 * (exact * (1.0 - exact) / 2000.0).sqrt(), "{found} {exact}");
    }

    #[test]
    fn more_candidates_ask_for_more() {
        let chosen: Vec<f64> = jumble(1, 30).iter().map(|x| x + 0.15).collect();
        let alone = chance(std::slice::from_ref(&chosen), 0).expect("enough");
        let twins = chance(&[chosen.clone(), chosen.clone()], 0).expect("enough");
        let many: Vec<Vec<f64>> = std::iter::once(chosen).chain((2..20).map(|seed| jumble(100 * seed, 30))).collect();
        let among = chance(&many, 0).expect("enough");
        assert!(alone == twins && among > 3.0 * alone, "{alone} {twins} {among}");
    }
}
