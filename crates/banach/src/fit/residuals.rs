//! How far predictions of held-out samples were off, and the intervals that follow.

use serde::{Deserialize, Serialize};

use super::{Searched, Target};
use crate::{Error, error::Parameter, loss::Targets, solver::Folds};

/// For every output, how far the predictions of held-out samples were off, from the smallest to the largest.
///
/// Split conformal intervals are made of them: of the next sample the prediction is off by no more than the k-th of n, with
/// k = ceil((n + 1) coverage), in at least the share `coverage` of all cases, whatever the distribution, if samples are
/// exchangeable and the model had been fitted to others. Here each residual is of a model without its fold and the final model is of
/// all samples, so this holds up to how much a model changes with a fold of its samples: near the asked coverage, and rather above.
///
/// ```
/// use banach::fit::Residuals;
///
/// let residuals = Residuals::new(vec![vec![0.3, 0.1, 0.2, 0.5, 0.4, 0.9, 0.8, 0.6, 0.7]])?;
/// assert_eq!(residuals.half_widths(0.8)?, [0.8]);
/// assert!(residuals.half_widths(0.95).is_err(), "nine samples cannot tell what nineteen of twenty do");
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "Vec<Vec<f64>>", try_from = "Vec<Vec<f64>>")]
pub struct Residuals(Vec<Vec<f64>>);

impl Residuals {
    /// Of every output the sizes of its residuals, in any order.
    pub fn new(mut outputs: Vec<Vec<f64>>) -> Result<Self, Error> {
        for sizes in &mut outputs {
            if let Some(row) = sizes.iter().position(|size| !(size.is_finite() && *size >= 0.0)) {
                let allowed = "a finite number >= 0";
                return Err(Error::BadValue { what: "the residuals", row, value: sizes[row], allowed });
            }
            sizes.sort_by(f64::total_cmp);
        }
        if outputs.is_empty() || outputs.iter().any(Vec::is_empty) {
            return Err(Error::Empty { what: "the residuals" });
        }
        Ok(Self(outputs))
    }

    /// Of every output, the targets and what was predicted of them, where a sample counts.
    pub(super) fn of(pairs: &[Vec<(f64, f64)>]) -> Option<Self> {
        let sizes =
            |pairs: &Vec<(f64, f64)>| pairs.iter().map(|(target, prediction)| (target - prediction).abs()).collect();
        Self::new(pairs.iter().map(sizes).collect()).ok()
    }

    /// The number of outputs.
    pub fn outputs(&self) -> usize {
        self.0.len()
    }

    /// For every output, how far a prediction is off at most in this share of cases.
    pub fn half_widths(&self, coverage: f64) -> Result<Vec<f64>, Error> {
        Parameter::Coverage.check(coverage, coverage > 0.0 && coverage < 1.0, "a number > 0 and < 1")?;
        let width = |sizes: &Vec<f64>| {
            // As many digits as a share has, so that 0.9 of 10 are 9.
            let rank = ((sizes.len() + 1) as f64 * coverage * (1.0 - 4.0 * f64::EPSILON)).ceil() as usize;
            let allowed = "at most n/(n + 1), where n samples were held out when the model was fitted: 0.9 needs 9 of them, 0.99 needs 99";
            sizes.get(rank.max(1) - 1).copied().ok_or_else(|| Error::parameter(Parameter::Coverage, coverage, allowed))
        };
        self.0.iter().map(width).collect()
    }
}

impl TryFrom<Vec<Vec<f64>>> for Residuals {
    type Error = Error;

    fn try_from(outputs: Vec<Vec<f64>>) -> Result<Self, Error> {
        Self::new(outputs)
    }
}

impl From<Residuals> for Vec<Vec<f64>> {
    fn from(residuals: Residuals) -> Self {
        residuals.0
    }
}

impl Searched {
    /// How far the choice was off on held-out samples of positive weight; a sample that was held out several times counts once, with
    /// the mean. `None` for classes and counts, and where nothing was chosen.
    pub fn residuals(&self, target: &Target<'_>, sample_weight: Option<&[f64]>) -> Option<Residuals> {
        let (tried, gamma) = self.taken()?;
        if tried.option.spec.loss.targets() == Targets::Counts {
            // How far counts are off grows with their size.
            return None;
        }
        let decisions: Vec<Vec<f64>> = { tried.functions.iter() }
            .map(|validated| validated.fits[gamma].iter().flat_map(|fit| fit.predictions.iter().copied()).collect())
            .collect();
        Residuals::in_folds(&tried.functions.first()?.folds, target, sample_weight, &decisions)
    }
}

impl Residuals {
    /// How far functions were off on held-out samples of positive weight, by their decisions about the samples of every fold in turn; a sample
    /// that was held out several times counts once, with the mean. `None` for classes.
    pub(super) fn in_folds(
        folds: &Folds,
        target: &Target<'_>,
        sample_weight: Option<&[f64]>,
        decisions: &[Vec<f64>],
    ) -> Option<Self> {
        let Target::Numbers(outputs) = target else { return None };
        let counts = |sample: usize| sample_weight.is_none_or(|weights| weights[sample] > 0.0);
        let of_output = |(y, decisions): (&std::borrow::Cow<'_, [f64]>, &Vec<f64>)| {
            let mut sums = vec![(0.0, 0_usize); y.len()];
            for (&sample, prediction) in folds.held_out().iter().flatten().zip(decisions) {
                sums[sample].0 += (y[sample] - prediction).abs();
                sums[sample].1 += 1;
            }
            let met = sums.into_iter().enumerate().filter(|(sample, (_, times))| *times > 0 && counts(*sample));
            met.map(|(_, (sum, times))| sum / times as f64).collect()
        };
        Self::new(outputs.iter().zip(decisions).map(of_output).collect()).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::{
        Account, FeatureMatrix, Fit, Memory, Search, Spec, Unobserved,
        fit::{Auto, Effort, KernelSpace},
        sparse::SparseSpec,
    };

    const WIDE: usize = 12;

    /// Samples of a linear function with noise of deviation 1, from a seed.
    fn draw(samples: usize, seed: u64) -> (FeatureMatrix<'static>, Vec<f64>) {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut normal = || (-2.0 * (1.0 - uniform()).ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
        let x: Vec<f64> = (0..samples * WIDE).map(|_| normal()).collect();
        let y = (0..samples).map(|i| 2.0 * x[i] - x[samples + i] + normal()).collect();
        (FeatureMatrix::from_columns(samples, WIDE, x).expect("finite"), y)
    }

    /// The share of fresh samples within the interval, over several fits.
    fn covered(coverage: f64, fit: impl Fn(&FeatureMatrix<'_>, &[f64], &FeatureMatrix<'_>) -> (Vec<f64>, f64)) -> f64 {
        let (fits, fresh) = (8, 500);
        let inside = |seed: u64| {
            let ((x, y), (new, truth)) = (draw(60, 2 * seed + 1), draw(fresh, 2 * seed + 2));
            let (predictions, width) = fit(&x, &y, &new);
            predictions.iter().zip(&truth).filter(|(f, y)| (*f - *y).abs() <= width).count()
        };
        let share = (0..fits).map(inside).sum::<usize>() as f64 / (fits * fresh as u64) as f64;
        // Given its n residuals an interval covers a share that is distributed as Beta(k, n + 1 - k), and the fresh samples of a fit are drawn
        // with that share. Of 1000 such means over independent fits one is farther off than 3.29 deviations.
        let (n, fits, fresh) = (60.0, fits as f64, fresh as f64);
        let mean = ((n + 1.0) * coverage).ceil() / (n + 1.0);
        let variance = mean * (1.0 - mean) * (1.0 / (n + 2.0) + (n + 1.0) / (n + 2.0) / fresh) / fits;
        assert!((share - mean).abs() < 3.29 * variance.sqrt(), "{share} of {coverage}, deviation {}", variance.sqrt());
        share
    }

    /// The least and the largest number of successes of which, below and above, there are at most so large a share of all cases.
    fn binomial_limits(trials: usize, chance: f64, tail: f64) -> (usize, usize) {
        let mut terms = vec![(1.0 - chance).powi(trials as i32)];
        for k in 0..trials {
            terms.push(terms[k] * (trials - k) as f64 / (k + 1) as f64 * chance / (1.0 - chance));
        }
        let below = |k: usize| terms[..k].iter().sum::<f64>() <= tail;
        let above = |k: usize| terms[k + 1..].iter().sum::<f64>() <= tail;
        let least = (0..=trials).rev().find(|&k| below(k)).expect("none is below 0");
        (least, (0..=trials).find(|&k| above(k)).expect("none is above all"))
    }

    /// One fresh sample for every fit: then the cases are independent, and their number is binomial.
    #[test]
    fn intervals_of_few_terms_hold_as_many_fresh_samples_as_asked_for() {
        assert_eq!(binomial_limits(10, 0.5, 0.01), (1, 9), "1 of 1024 has none, 11 have at most one");
        let (fits, samples, coverage) = (150, 40, 0.8);
        let inside = |seed: u64| {
            let ((x, y), (new, truth)) = (draw(samples, 2 * seed + 1001), draw(1, 2 * seed + 1002));
            let (spec, target, account) = (SparseSpec::default(), Target::from(&y), Account::new(Memory::available()));
            let folds = target.folds(samples, 5, 0).expect("enough samples");
            let model = spec.model(&x, &target, None, &account).expect("fitted");
            assert!(model.half_widths(coverage).is_err(), "nothing was held out yet");
            let mut watch = |_| ControlFlow::Continue(());
            let unseen = spec.held_out(&model, &x, &target, None, &folds, &account, &mut watch).expect("fitted");
            let model = model.with_residuals(unseen.expect("not ended").residuals);
            let width = model.half_widths(coverage).expect("known")[0];
            (model.decisions(&new).expect("finite")[0] - truth[0]).abs() <= width
        };
        let count = (0..fits).filter(|&seed| inside(seed as u64)).count();
        let (least, most) = binomial_limits(fits, 33.0 / 41.0, 5e-4);
        assert!((least..=most).contains(&count), "{count} of {fits}: {least} to {most}");
    }

    #[test]
    fn intervals_of_a_search_hold_as_many_fresh_samples_as_asked_for() {
        for coverage in [0.5, 0.8, 0.9] {
            covered(coverage, |x, y, new| {
                let (spec, target) = (Spec::default(), Target::from(y));
                let folds = target.folds(x.samples(), 5, 0).expect("enough samples");
                let search = Search::new(KernelSpace::Fixed(spec.kernel.clone()));
                let fit = Fit::new(&spec).expect("in range");
                let found = search.run(&fit, x, &target, None, &folds, &mut Unobserved).expect("fitted");
                let residuals = found.residuals(&target, None).expect("numbers");
                let model = found.chosen_or_middle().fit(x, target).expect("fitted").with_residuals(Some(residuals));
                (model.decisions(new).expect("finite"), model.half_widths(coverage).expect("known")[0])
            });
        }
    }

    #[test]
    fn intervals_of_an_automatic_choice_do_so_too() {
        covered(0.8, |x, y, new| {
            let auto = Auto { effort: Effort::Quick, ..Auto::default() };
            let model = auto.fit(x, &Target::from(y), None, &Account::new(Memory::available())).expect("fitted");
            // Also where few terms are the model by evidence.
            (model.predictions(new).expect("finite"), model.half_widths(0.8).expect("held out")[0])
        });
    }

    #[test]
    fn widths_are_order_statistics() {
        let residuals = Residuals::new(vec![(1..=99).rev().map(f64::from).collect()]).expect("valid");
        for (coverage, width) in [(0.001, 1.0), (0.5, 50.0), (0.9, 90.0), (0.95, 95.0), (0.99, 99.0)] {
            assert_eq!(residuals.half_widths(coverage).expect("in range"), [width], "{coverage}");
        }
        for coverage in [0.0, 1.0, -1.0, f64::NAN, 0.995] {
            assert!(residuals.half_widths(coverage).is_err(), "{coverage}");
        }
        assert!(Residuals::new(vec![vec![f64::NAN]]).is_err() && Residuals::new(vec![Vec::new()]).is_err());
    }
}
