//! How well a set of terms explains the targets, less what it costs to name it among all that could have been named.

/// The criterion by which supports are compared; the smaller, the better, and 0 for the support without terms.
///
/// For k of the N terms of a dictionary, with the share R of the variance of n targets that they leave unexplained,
///
/// ```text
/// crit = -[(n-1-k) ln(1+g) - (n-1) ln(1+gR)] + 2 ln(N (N-1) ... (N-k+1)) + 2 ln(k+1) + 2 ln 20
/// g = max(F - 1, 0),  F = ((1-R)/k) / (R/(n-1-k))
/// ```
///
/// The bracket is twice the logarithm of the Bayes factor against the constant under Zellner's g-prior, at the g that maximises it (George
/// and Foster, "Calibration and empirical Bayes variable selection", Biometrika 87, 2000; Liang et al., "Mixtures of g priors",
/// J. Am. Stat. Assoc. 103, 2008). The rest is the price of the names, and the odds
/// for the constant beforehand, 20 to 1. Terms are named one after another, each out of all that are left: a
/// further term must explain more than the best of N columns of noise would (Foster and George, "The risk inflation criterion for multiple
/// regression", Ann. Stat. 22, 1994). The number of supports, `binomial(N, k)`, would be a lower price; with it 13 of 100 draws of 100 samples of
/// 10,000 columns, ten of them true, had a false term, and with this one none (docs/sparse.md). Without an intercept n - 1 is n.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Evidence {
    /// The samples that count, less one for the intercept.
    freedom: f64,
    /// The terms that could be named, N.
    dictionary: f64,
    /// The most terms.
    most: usize,
}

/// Less than this share of the variance is not told from rounding: an exact fit is not infinitely good.
const LEAST_UNEXPLAINED: f64 = 1e-10;

/// At most one term for so many samples, and for so many different rows: beyond it the criterion cannot tell a good support from one that fits anything.
const SAMPLES_PER_TERM: f64 = 3.0;

impl Evidence {
    /// The criterion for so many different rows, which stand for so many samples, and a dictionary of so many terms.
    pub(crate) fn new(rows: usize, samples: f64, intercept: bool, dictionary: f64, max_terms: Option<usize>) -> Self {
        let freedom = samples - f64::from(u8::from(intercept));
        let most = (samples.min(rows as f64) / SAMPLES_PER_TERM).min(freedom - 2.0).min(dictionary).max(0.0);
        Self { freedom, dictionary, most: (most as usize).min(max_terms.unwrap_or(usize::MAX)) }
    }

    /// The most terms that a support may have.
    pub(crate) fn most_terms(&self) -> usize {
        self.most
    }

    /// The criterion of `terms` terms that leave this share of the variance unexplained; infinite for too many.
    pub(crate) fn criterion(&self, unexplained: f64, terms: usize) -> f64 {
        match terms {
            0 => 0.0,
            _ if terms > self.most => f64::INFINITY,
            _ => price(self.dictionary, terms) - self.twice_ln_bayes_factor(unexplained, terms),
        }
    }

    fn twice_ln_bayes_factor(&self, unexplained: f64, terms: usize) -> f64 {
        let (k, m) = (terms as f64, self.freedom);
        let r = unexplained.clamp(LEAST_UNEXPLAINED, 1.0);
        let g = (((1.0 - r) / k) / (r / (m - k)) - 1.0).max(0.0);
        (m - k) * g.ln_1p() - m * (g * r).ln_1p()
    }

    /// Evidence beyond doubt.
    pub(crate) fn decisive(&self) -> f64 {
        decisive(self.dictionary)
    }
}

/// The odds for the constant beforehand. Without them noise, and truths too weak to be seen, were named now and then by criteria between -6
/// and 0, which are hardly evidence: a false term in 3 of 20 draws of 150 samples of 2,000 columns, ten true, with as much noise as signal.
const ODDS_OF_NOTHING: f64 = 20.0;

/// What it costs to claim that so many terms of a dictionary, and no others, matter.
fn price(dictionary: f64, terms: usize) -> f64 {
    price_of_names(dictionary, terms) + 2.0 * ODDS_OF_NOTHING.ln()
}

/// What it costs to name so many terms out of a dictionary.
fn price_of_names(dictionary: f64, terms: usize) -> f64 {
    let ln_lists: f64 = (0..terms).map(|i| (dictionary - i as f64).ln()).sum();
    2.0 * (ln_lists + (terms as f64).ln_1p())
}

/// Twice the price of one name out of a dictionary: evidence beyond doubt.
pub(crate) fn decisive(dictionary: f64) -> f64 {
    2.0 * price_of_names(dictionary, 1)
}

/// The criterion of supports for classes; the smaller, the better, and 0 for the support without terms.
///
/// For k of N terms that leave the deviance D, twice the logistic loss at its minimum, where a constant leaves `D_0`,
///
/// ```text
/// crit = D - D_0 + k ln n + 2 ln(N (N-1) ... (N-k+1)) + 2 ln(k+1) + 2 ln 20
/// ```
///
/// The first three summands are minus twice the logarithm of the Bayes factor against the constant by Laplace's approximation with a prior that
/// is worth one sample (G. Schwarz, "Estimating the dimension of a model", Ann. Stat. 6, 1978), the rest is the price of the names (J. Chen
/// and Z. Chen, "Extended Bayesian information criteria", Biometrika 95, 2008, who count sets of names; we count lists, as in [`Evidence`]).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DevianceEvidence {
    /// What a constant leaves.
    empty: f64,
    /// `ln n`.
    ln_samples: f64,
    dictionary: f64,
    most: usize,
}

impl DevianceEvidence {
    /// The criterion for so many samples, of which the smaller class has `smaller`, whose deviance around a constant is `empty`.
    pub(crate) fn new(empty: f64, samples: f64, smaller: f64, dictionary: f64, max_terms: Option<usize>) -> Self {
        // A smaller class says less than its samples of the other: it counts, and not all samples.
        let most = (smaller / SAMPLES_PER_TERM).min(dictionary).max(0.0) as usize;
        let most = most.min(max_terms.unwrap_or(usize::MAX));
        Self { empty, ln_samples: samples.max(1.0).ln(), dictionary, most }
    }

    /// The most terms that a support may have.
    pub(crate) fn most_terms(&self) -> usize {
        self.most
    }

    /// What a constant leaves.
    pub(crate) fn empty(&self) -> f64 {
        self.empty
    }

    /// The criterion of `terms` terms that leave this deviance; infinite for too many.
    pub(crate) fn criterion(&self, deviance: f64, terms: usize) -> f64 {
        match terms {
            0 => 0.0,
            _ if terms > self.most => f64::INFINITY,
            _ => deviance - self.empty + terms as f64 * self.ln_samples + price(self.dictionary, terms),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_criterion_is_that_of_its_formula() {
        let evidence = Evidence::new(100, 100.0, true, 10_000.0, None);
        for (k, r) in [(1, 0.9), (5, 0.3), (10, 0.04), (33, 0.5)] {
            let (n, terms) = (100.0, f64::from(k));
            let f = ((1.0 - r) / terms) / (r / (n - 1.0 - terms));
            let g = (f - 1.0_f64).max(0.0);
            let bracket = (n - 1.0 - terms) * (1.0 + g).ln() - (n - 1.0) * (1.0 + g * r).ln();
            let lists: f64 = (0..k).map(|i| f64::from(10_000 - i).ln()).sum();
            let expected = -bracket + 2.0 * lists + 2.0 * (terms + 1.0).ln() + 2.0 * 20.0_f64.ln();
            let got = evidence.criterion(r, usize::try_from(k).expect("small"));
            assert!((got - expected).abs() < 1e-9 * expected.abs(), "{k} {r}: {got} {expected}");
        }
    }

    #[test]
    fn explaining_more_is_better_and_noise_is_not_worth_its_name() {
        let evidence = Evidence::new(80, 80.0, true, 5000.0, None);
        assert_eq!(evidence.criterion(0.3, 0), 0.0);
        for k in 1..=evidence.most_terms() {
            let at = |r: f64| evidence.criterion(r, k);
            assert!(at(0.1) < at(0.2) && at(0.2) < at(0.5));
            // A term of noise explains 1/(n-1) of what is left.
            assert!(at(1.0 - k as f64 / 79.0) > 0.0);
            assert!(at(0.0).is_finite());
        }
        assert_eq!(evidence.criterion(0.0, evidence.most_terms() + 1), f64::INFINITY);
    }

    #[test]
    fn small_tables_have_room_for_few_terms() {
        let most = |samples: f64, intercept, dictionary, asked| {
            Evidence::new(samples as usize, samples, intercept, dictionary, asked).most_terms()
        };
        assert_eq!(most(100.0, true, 1e6, None), 33);
        assert_eq!(most(100.0, true, 1e6, Some(5)), 5);
        assert_eq!(most(100.0, true, 4.0, None), 4);
        assert_eq!((most(3.0, true, 10.0, None), most(2.0, false, 10.0, None), most(0.0, true, 10.0, None)), (0, 0, 0));
    }
}
