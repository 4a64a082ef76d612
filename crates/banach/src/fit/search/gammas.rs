//! Values of gamma that a search tries, and what it adds to them.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Tried;
use crate::{DualProblem, Error, error::Parameter, solver::GammaGrid};

/// Values of a range that nobody has counted.
const COUNT: usize = 20;
/// More are a slip of the finger.
const MOST_COUNT: usize = 1000;
/// Values that are added to a grid at a time.
const ADDED: usize = 5;
/// How often they are, at most.
pub(super) const WIDENINGS: usize = 3;

/// Values of gamma.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gammas {
    /// This many values, by the rule of [`GammaGrid::from_data`]; where the first or the last is the best, more beyond it.
    Count(usize),
    /// These values.
    Given(Vec<f64>),
}

impl Default for Gammas {
    fn default() -> Self {
        Self::Count(COUNT)
    }
}

impl Gammas {
    /// How many there are.
    pub fn count(&self) -> usize {
        match self {
            Self::Count(count) => *count,
            Self::Given(gammas) => gammas.len(),
        }
    }

    /// How many are to be expected in the end: values that nobody has given are added once, which is between never and always.
    pub(super) fn expected_beyond(&self) -> usize {
        match self {
            Self::Count(_) => ADDED,
            Self::Given(_) => 0,
        }
    }

    /// The values for a problem.
    pub fn grid(&self, problem: &DualProblem<'_>) -> Result<GammaGrid, Error> {
        match self {
            Self::Count(count) => GammaGrid::from_data(problem, *count),
            Self::Given(gammas) => GammaGrid::new(gammas.clone()),
        }
    }

    /// Values beyond the end of a grid by the rule, if its best is there, in the same ratio. Downwards, where models become constants, once.
    pub(super) fn beyond(&self, tried: &Tried, round: usize) -> Option<GammaGrid> {
        let (candidates, best) = (&tried.candidates[..], tried.best());
        let (Self::Count(_), [first, second, ..]) = (self, candidates) else { return None };
        let last = &candidates[candidates.len() - 1];
        let ratio = second.gamma / first.gamma;
        if candidates.iter().any(|candidate| !candidate.finished) {
            return None;
        }
        let (from, ratio) = match best? {
            0 if round == 0 => (first.gamma, 1.0 / ratio),
            best if best == candidates.len() - 1 => (last.gamma, ratio),
            _ => return None,
        };
        let added = (1..=ADDED as i32).map(|step| from * ratio.powi(step)).filter(|gamma| gamma.is_normal());
        GammaGrid::new(added.collect()).ok()
    }
}

/// One value, several with commas, or a range `0.01..100`, of which 20 values in equal ratios are taken unless it ends in how many, as
/// `0.01..100:9`.
///
/// ```
/// use banach::fit::Gammas;
///
/// assert_eq!("0.1,1,10".parse(), Ok(Gammas::Given(vec![0.1, 1.0, 10.0])));
/// let Ok(Gammas::Given(range)) = "0.01..100:5".parse() else { panic!() };
/// assert!((range[1] - 0.1).abs() < 1e-12 && range.len() == 5);
/// assert!("10..1".parse::<Gammas>().is_err() && "1..2:9999999999999".parse::<Gammas>().is_err());
/// ```
impl FromStr for Gammas {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refused = || {
            let allowed =
                "a number > 0, several with commas, or a range such as 0.01..100 or, of 2 to 1000 values, 0.01..100:9";
            Error::parameter(Parameter::Gamma, format!("{text:?}"), allowed)
        };
        let number = |text: &str| text.trim().parse::<f64>().map_err(|_| refused());
        let Some((low, high)) = text.split_once("..") else {
            return Ok(Self::Given(text.split(',').map(number).collect::<Result<_, _>>()?));
        };
        let (high, count) = match high.split_once(':') {
            Some((high, count)) => {
                (high, count.trim().parse().ok().filter(|count| (2..=MOST_COUNT).contains(count)).ok_or_else(refused)?)
            }
            None => (high, COUNT),
        };
        let (low, high) = (number(low)?, number(high)?);
        if !(0.0 < low && low < high && high.is_finite()) {
            return Err(refused());
        }
        let value = |at: usize| match at {
            0 => low,
            at if at == count - 1 => high,
            at => (low.ln() + (high.ln() - low.ln()) * at as f64 / (count - 1) as f64).exp(),
        };
        Ok(Self::Given((0..count).map(value).collect()))
    }
}
