//! The search: gamma, and on request p, kernel, degree and scale, by the loss of held-out samples.

mod assessed;
mod candidate;
mod exponential;
mod formed_option;
mod gammas;
mod planned;
mod space;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

pub use candidate::Candidate;
pub(in crate::fit) use exponential::degrees as exponential_degrees;
pub(in crate::fit) use formed_option::{FormedOption, SearchedSamples};
pub use gammas::Gammas;
use gammas::WIDENINGS;
pub use space::{KernelSpace, SearchOption};

use super::{Fit, Spec, Target};
use crate::{
    Error, FeatureMatrix, Observer, Status,
    form::Plan,
    solver::{Choice, CrossValidation, Folds, Mean, Metric, Progress},
};

/// What is searched, and how one of the candidates is taken.
///
/// ```
/// use banach::{FeatureMatrix, Fit, Search, Spec, Target, Unobserved, fit::KernelSpace, kernel::KernelSpec};
///
/// let jumble = |k: usize| ((k * k) as f64 * 0.618_033_988).fract() * 2.0 - 1.0;
/// let x: Vec<f64> = (0..40 * 5).map(|k| jumble(k + 1)).collect();
/// let y: Vec<f64> = (0..40).map(|i| 3.0 * x[i] * x[40 + i]).collect();
/// let (x, y) = (FeatureMatrix::from_columns(40, 5, x)?, Target::from(&y));
///
/// let spec = Spec { kernel: KernelSpec::poly(2), ..Spec::default() };
/// let search = Search { exponents: vec![1.1, 1.5], ..Search::new(KernelSpace::Fixed(spec.kernel.clone())) };
/// let folds = y.folds(40, 5, 0)?;
/// let found = search.run(&Fit::new(&spec)?, &x, &y, None, &folds, &mut Unobserved)?;
/// let chosen = found.chosen_spec().expect("nothing stopped it");
/// assert!([1.1, 1.5].contains(&chosen.p));
/// let model = chosen.fit(&x, y)?;
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// Values of p; if none are given, those that suit the kernel.
    pub exponents: Vec<f64>,
    /// Kernels, one after the other.
    pub kernels: Vec<KernelSpace>,
    /// Values of gamma.
    pub gammas: Gammas,
    /// The rule by which a candidate is taken.
    pub choice: Choice,
    /// The relative duality gap of its fits, unless that of the final fit is larger: held-out losses do not need more digits.
    pub tolerance: f64,
}

/// What a search found.
#[derive(Debug, Clone)]
pub struct Searched {
    /// The samples that were held out together.
    pub folds: Folds,
    /// What scores are.
    pub metric: Metric,
    /// The combinations that were tried.
    pub tried: Vec<Tried>,
    /// The combinations that could not be fitted to these data, and why.
    pub left_out: Vec<(SearchOption, Error)>,
    /// The choice: its place among the combinations that were tried, and the place of its gamma. `None` if nothing was finished.
    pub chosen: Option<(usize, usize)>,
}

/// One combination of p and kernel, with every gamma.
#[derive(Debug, Clone)]
pub struct Tried {
    /// The combination.
    pub option: SearchOption,
    /// The route that was taken.
    pub plan: Plan,
    /// The held-out scores of each function.
    pub functions: Vec<CrossValidation>,
    /// The held-out scores of all functions together, for each gamma from the smallest to the largest.
    pub candidates: Vec<Candidate>,
}

impl Search {
    /// The relative duality gap of its fits unless told otherwise: held-out losses do not need more digits.
    pub const TOLERANCE: f64 = 1e-6;

    /// A search over gamma, for one kernel and the values of p that suit it.
    pub fn new(kernel: KernelSpace) -> Self {
        Self {
            exponents: Vec::new(),
            kernels: vec![kernel],
            gammas: Gammas::default(),
            choice: Choice::default(),
            tolerance: Self::TOLERANCE,
        }
    }

    /// Fits every combination to the samples outside of each fold, and takes one by the loss of the held-out samples. The gamma, p and
    /// kernel of `fit` do not count; its loss does.
    ///
    /// Combinations that cannot be fitted to these data are left out; if all are, the first error is returned. The observer sees
    /// problems numbered one combination after another, [`fits`](Self::fits) in all.
    pub fn run(
        &self,
        fit: &Fit,
        x: &FeatureMatrix<'_>,
        y: &Target<'_>,
        sample_weight: Option<&[f64]>,
        folds: &Folds,
        observer: &mut dyn Observer,
    ) -> Result<Searched, Error> {
        let options = self.options(fit.spec(), x, sample_weight)?;
        let samples = SearchedSamples { x, y, weight: sample_weight };
        let (mut tried, mut left_out, mut before) = (Vec::new(), Vec::new(), 0);
        // The last one with its form; that of another would take memory beside it.
        let mut last = None;
        for option in options {
            drop(last.take());
            let mut shifted = Shifted { observer, before };
            let found = FormedOption::new(fit, &option, samples, folds.count()).and_then(|mut combination| {
                let found = combination.try_out(&self.gammas, self.gap(&option.spec), folds, &mut shifted)?;
                last = Some((tried.len(), combination));
                Ok(found)
            });
            match found {
                Ok(found) => {
                    before += found.functions.len() * folds.count() * found.candidates.len();
                    let finished = found.candidates.iter().all(|candidate| candidate.finished);
                    tried.push(found);
                    if !finished {
                        break;
                    }
                }
                Err(error) => left_out.push((option, error)),
            }
        }
        // A grid whose best value lies at its end has not found it.
        for round in 0..WIDENINGS {
            let Some((place, _)) = self.choose(&tried) else { break };
            let Some(grid) = self.gammas.beyond(&tried[place], round) else { break };
            let mut combination = match last.take().filter(|(own, _)| *own == place) {
                Some((_, combination)) => combination,
                None => match FormedOption::new(fit, &tried[place].option, samples, folds.count()) {
                    Ok(combination) => combination,
                    Err(_) => break,
                },
            };
            // Fits there end at the gap of the final fit, so that what is chosen reaches it.
            let (gammas, tolerance) = (Gammas::Given(grid.values().to_vec()), fit.spec().tolerance);
            let mut shifted = Shifted { observer, before };
            let Ok(more) = combination.try_out(&gammas, tolerance, folds, &mut shifted) else { break };
            // Beyond where fits converge there is nothing to find.
            if more.functions.iter().any(|function| function.unconverged().next().is_some()) {
                break;
            }
            let known = tried[place].clone();
            before += more.functions.len() * folds.count() * more.candidates.len();
            tried[place].join(more);
            // Of all samples the fit may fail where those without a fold did not.
            let mut shifted = Shifted { observer, before };
            let gamma = self.choose(&tried).map(|(place, candidate)| tried[place].candidates[candidate].gamma);
            if !gamma.is_some_and(|gamma| combination.converges(gamma, tolerance, &mut shifted)) {
                tried[place] = known;
                break;
            }
            last = Some((place, combination));
        }
        let Some(first) = tried.first() else {
            let error = left_out.into_iter().next().map(|(_, error)| error);
            return Err(error.unwrap_or(Error::Empty { what: "what is searched" }));
        };
        let metric = first.functions[0].metric;
        let chosen = self.choose(&tried);
        Ok(Searched { folds: folds.clone(), metric, tried, left_out, chosen })
    }

    /// The relative duality gap at which the fits of the search end.
    pub fn gap(&self, spec: &Spec) -> f64 {
        spec.tolerance.max(self.tolerance)
    }

    /// The fits of a search: every combination, gamma, function and fold.
    pub fn fits(&self, options: usize, functions: usize, folds: usize) -> usize {
        options * self.gammas.count() * functions * folds
    }

    /// The combination with the best candidate, and its candidate by the rule: the smaller gamma is the simpler model.
    fn choose(&self, tried: &[Tried]) -> Option<(usize, usize)> {
        let best = |tried: &Tried| tried.best().map(|best| tried.candidates[best].loss);
        let option = Choice::Best.pick(&tried.iter().map(best).collect::<Vec<Option<Mean>>>())?;
        Some((option, tried[option].pick(self.choice)?))
    }
}

impl Tried {
    /// With other gammas of the same combination, all of them smaller or all larger.
    fn join(&mut self, other: Self) {
        let below = other.candidates.last().map(|last| last.gamma) < self.candidates.first().map(|first| first.gamma);
        let at = if below { 0 } else { self.candidates.len() };
        self.candidates.splice(at..at, other.candidates);
        self.functions.iter_mut().zip(other.functions).for_each(|(own, other)| own.join(other));
    }

    /// The place of the candidate with the smallest loss.
    pub fn best(&self) -> Option<usize> {
        self.pick(Choice::Best)
    }

    fn pick(&self, choice: Choice) -> Option<usize> {
        choice.pick(&self.candidates.iter().map(Candidate::known_loss).collect::<Vec<_>>())
    }
}

impl Searched {
    /// The parameters that were chosen.
    pub fn chosen_spec(&self) -> Option<Spec> {
        let (option, candidate) = self.chosen?;
        let tried = &self.tried[option];
        Some(Spec { gamma: tried.candidates[candidate].gamma, ..tried.option.spec.clone() })
    }

    /// The parameters that were chosen; if nothing was finished, those of the first combination with the gamma in the middle of its grid.
    pub fn chosen_or_middle(&self) -> Spec {
        let middle = || {
            let tried = &self.tried[0];
            Spec { gamma: tried.candidates[tried.candidates.len() / 2].gamma, ..tried.option.spec.clone() }
        };
        self.chosen_spec().unwrap_or_else(middle)
    }

    /// The combination that was chosen, and the place of its gamma.
    pub fn taken(&self) -> Option<(&Tried, usize)> {
        self.chosen.map(|(option, candidate)| (&self.tried[option], candidate))
    }

    /// Whether it was ended before it was done.
    pub fn interrupted(&self) -> bool {
        self.tried.iter().flat_map(|tried| &tried.candidates).any(|candidate| !candidate.finished)
    }

    /// Whether the best gamma of the chosen combination is the first or last of several, so that a wider grid may hold a better one.
    pub(crate) fn best_is_at_end(&self) -> bool {
        let Some((tried, _)) = self.taken() else { return false };
        let last = tried.candidates.len() - 1;
        last > 0 && tried.best().is_some_and(|best| best == 0 || best == last)
    }

    /// The number of fits that did not converge, and of all fits.
    pub fn unconverged(&self) -> (usize, usize) {
        let fits =
            || self.tried.iter().flat_map(|tried| &tried.functions).flat_map(|function| &function.fits).flatten();
        (fits().filter(|fit| fit.status != Status::Converged).count(), fits().count())
    }
}

/// Numbers the problems of one combination after those of the combinations before it.
struct Shifted<'a> {
    observer: &'a mut dyn Observer,
    before: usize,
}

impl Observer for Shifted<'_> {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.observer.observe(&Progress { problem: self.before + progress.problem, ..*progress })
    }
}
