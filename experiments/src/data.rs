//! What experiments do with drawn data: build the form, and compare what is found with the truth.

use banach::{Exponent, FeatureMatrix, form::Features, synthetic::Sample};

use crate::Error;

/// The features route, with the variables as features, for the exponent that the paper writes so.
pub(crate) fn features<'a>(sample: &'a Sample, p: &str) -> Result<Features<'a>, Error> {
    let n = sample.targets.len();
    let matrix = FeatureMatrix::from_columns(n, sample.columns.len() / n, &sample.columns[..])?;
    Ok(Features::new(matrix, p.parse::<Exponent>()?))
}

/// How many relevant features are among as many largest weights.
pub(crate) fn count_found(truth: &[(usize, f64)], weights: &[f64]) -> usize {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|&a, &b| weights[b].abs().total_cmp(&weights[a].abs()));
    truth.iter().filter(|(feature, _)| order[..truth.len()].contains(feature)).count()
}

/// How many weights are left by the largest threshold that keeps every relevant feature.
pub(crate) fn count_kept(truth: &[(usize, f64)], weights: &[f64]) -> usize {
    let threshold = truth.iter().map(|(feature, _)| weights[*feature].abs()).fold(f64::INFINITY, f64::min);
    weights.iter().filter(|weight| weight.abs() >= threshold).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn found_and_kept_look_at_magnitudes() {
        let truth = [(1, 1.0), (4, -1.0)];
        let weights = [0.1, 0.9, -0.4, 0.0, -0.3];
        assert_eq!((count_found(&truth, &weights), count_kept(&truth, &weights)), (1, 3));
        assert_eq!((count_found(&truth[..1], &weights), count_kept(&truth[..1], &weights)), (1, 1));
    }
}
