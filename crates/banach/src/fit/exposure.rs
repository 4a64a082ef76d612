//! Counts over exposures: how long, or how much, every sample was watched.

use std::borrow::Cow;

use crate::{Error, error::Parameter, loss::LossSpec, loss::Targets};

/// Offsets beyond this belong to exposures that no count has; `e^460` is 1e200.
const MOST_OFFSET: f64 = 460.0;

/// What every sample was exposed to, so that its count has the mean `exposure * exp(f(x) + b)`: the offset, the logarithm of the exposure,
/// is added to the prediction before the loss.
///
/// For the Poisson loss that is the same problem as that of the rates `counts/exposure` with the weights `exposure`,
///
/// ```text
/// L(y, t + log e) = e L(y/e, t)
/// ```
///
/// and so it is fitted: solvers, certificates and held-out scores know rates and weights only.
///
/// ```
/// use banach::{FeatureMatrix, Spec, fit::Exposure, loss::LossSpec};
///
/// // Twice as many events where x is 1, watched for 10 or for 1000 days.
/// let x = FeatureMatrix::from_rows(4, 1, &[0.0, 1.0, 0.0, 1.0])?;
/// let days = [10.0, 10.0, 1000.0, 1000.0];
/// let exposure = Exposure::Factors(&days);
/// let spec = Spec { loss: LossSpec::Poisson, gamma: 1e3, ..Spec::default() };
/// let rates = exposure.rates(spec.loss, &[1.0, 2.0, 100.0, 200.0], None)?;
/// let model = spec.fit_weighted(&x, &rates.rates, &rates.weights)?;
/// let means = model.responses(&x, Some(exposure))?;
/// assert!((means[0] - 1.0).abs() < 1e-2 && (means[3] - 200.0).abs() < 1.0, "{means:?}");
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub enum Exposure<'a> {
    /// The exposures.
    Factors(&'a [f64]),
    /// Their logarithms.
    Offsets(&'a [f64]),
}

/// What is fitted instead of counts.
#[derive(Debug, Clone)]
pub struct CountRates {
    /// Counts over exposures.
    pub rates: Vec<f64>,
    /// Exposures times the weights of the samples.
    pub weights: Vec<f64>,
}

impl Exposure<'_> {
    /// Whether every exposure can be one, and there is one for each of so many samples.
    fn check(&self, samples: usize) -> Result<(), Error> {
        match self {
            Self::Factors(factors) => {
                Error::check_length("exposure", factors.len(), samples)?;
                let allowed = "finite numbers above 0; leave out samples that were exposed to nothing";
                Error::check_values("exposure", factors, allowed, |e| {
                    e.is_normal() && e > 0.0 && e.ln().abs() <= MOST_OFFSET
                })
            }
            Self::Offsets(offsets) => {
                Error::check_length("offset", offsets.len(), samples)?;
                let allowed =
                    "logarithms of exposures, from -460 to 460; leave out samples that were exposed to nothing";
                Error::check_values("offset", offsets, allowed, |offset| offset.abs() <= MOST_OFFSET)
            }
        }
    }

    /// The exposures.
    fn factors(&self) -> Cow<'_, [f64]> {
        match self {
            Self::Factors(factors) => Cow::Borrowed(factors),
            Self::Offsets(offsets) => offsets.iter().map(|offset| offset.exp()).collect(),
        }
    }

    /// The logarithms of the exposures.
    fn offsets(&self) -> Cow<'_, [f64]> {
        match self {
            Self::Factors(factors) => factors.iter().map(|factor| factor.ln()).collect(),
            Self::Offsets(offsets) => Cow::Borrowed(offsets),
        }
    }

    /// The rates of counts and their weights, for a loss of counts; others are refused.
    pub fn rates(&self, loss: LossSpec, counts: &[f64], sample_weight: Option<&[f64]>) -> Result<CountRates, Error> {
        let allowed =
            "poisson, with an exposure or an offset; for other losses of numbers take the offset off the target";
        Parameter::Loss.check(loss.name(), loss.targets() == Targets::Counts, allowed)?;
        self.check(counts.len())?;
        Error::check_values("y", counts, "counts: finite numbers >= 0", |y| (0.0..f64::INFINITY).contains(&y))?;
        if let Some(weights) = sample_weight {
            Error::check_length("sample_weight", weights.len(), counts.len())?;
        }
        let factors = self.factors();
        let weight = |i: usize| sample_weight.map_or(1.0, |weights| weights[i]);
        Ok(CountRates {
            rates: counts.iter().zip(&*factors).map(|(count, factor)| count / factor).collect(),
            weights: factors.iter().enumerate().map(|(i, factor)| factor * weight(i)).collect(),
        })
    }

    /// Adds the offsets to decisions: all points of the first function, then all of the second, and so on.
    pub fn add_to(&self, decisions: &mut [f64], points: usize) -> Result<(), Error> {
        self.check(points)?;
        let offsets = self.offsets();
        for values in decisions.chunks_mut(points.max(1)) {
            values.iter_mut().zip(&*offsets).for_each(|(value, offset)| *value += offset);
        }
        Ok(())
    }
}
