//! Whether a fit will take long, which is worth a word before it starts.

use std::fmt;

use super::{Plan, Route};
use crate::cost::feature_count;

/// Seconds from which a fit is announced before it starts: nobody waits at the screen for ten minutes.
const LONG_FIT_SECONDS: f64 = 600.0;

/// A fit that is predicted to take more than ten minutes.
#[derive(Debug, Clone, PartialEq)]
pub struct LongFit {
    /// Predicted seconds, of the set-up and of all passes.
    pub seconds: f64,
    /// Predicted seconds of a pass.
    pub pass: f64,
    /// The passes that are assumed.
    pub passes: usize,
    /// What a pass goes through.
    what: String,
}

impl Plan {
    /// What is predicted of the fits for this many values of gamma, if they take long. Like every plan it is made for a machine with
    /// two cores, and is right to a small factor.
    ///
    /// ```
    /// use banach::{Exponent, Planner, form::Shape, kernel::Polynomial};
    ///
    /// let (planner, exponent) = (Planner::default(), Exponent::new(1.1)?);
    /// let plan = planner.plan(Shape::dense(100, 60), Polynomial::new(8, 1.0, 0.0)?, exponent)?;
    /// println!("{}", plan.long_fit(1).expect("billions of monomials"));
    /// assert!(planner.plan(Shape::dense(100, 60), Polynomial::new(2, 1.0, 0.0)?, exponent)?.long_fit(20).is_none());
    /// # Ok::<(), banach::Error>(())
    /// ```
    pub fn long_fit(&self, gammas: usize) -> Option<LongFit> {
        let (cost, passes) = (self.cost(), self.planner.evaluations.saturating_mul(gammas.max(1)));
        let seconds = cost.setup + gammas.max(1) as f64 * (cost.total - cost.setup);
        let monomials = || feature_count(self.kernel(), self.shape().inputs);
        let what = match self.chosen() {
            Route::Features if self.lists_inputs() => "the data".to_owned(),
            Route::Features | Route::Tiles => {
                monomials().map_or_else(String::new, |count| format!("{count:.1e} monomials"))
            }
            Route::Gram | Route::Streamed => "the Gram tensor".to_owned(),
        };
        (seconds > LONG_FIT_SECONDS).then_some(LongFit { seconds, pass: cost.evaluation, passes, what })
    }
}

impl fmt::Display for LongFit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seconds, pass, passes, what } = self;
        write!(f, "the fit may take {}: {passes} passes over {what}, each {}", time(*seconds), time(*pass))
    }
}

/// Seconds in the unit that people would take.
fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{:.0} ms", 1e3 * s),
        s if s < 120.0 => format!("{s:.0} seconds"),
        s if s < 7200.0 => format!("{:.0} minutes", s / 60.0),
        s if s < 172_800.0 => format!("{:.0} hours", s / 3600.0),
        s if s < 1e9 => format!("{:.0} days", s / 86_400.0),
        s => format!("{:.0e} years", s / 31_557_600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Exponent, Memory, Planner, form::Shape, kernel::Polynomial};

    #[test]
    fn hours_are_told_before_they_pass() {
        let planner = Planner { memory: Memory::limit(1 << 30), ..Planner::default() };
        let plan = |degree| {
            let kernel = Polynomial::new(degree, 1.0, 0.0).expect("valid");
            planner.plan(Shape::dense(100, 60), kernel, Exponent::new(1.1).expect("inside")).expect("tiles")
        };
        let found = plan(8).long_fit(1).expect("billions of monomials");
        assert!((found.seconds - plan(8).cost().total).abs() <= 1e-9 * found.seconds && found.passes == 50);
        assert_eq!(found.to_string(), "the fit may take 9 hours: 50 passes over 6.5e9 monomials, each 11 minutes");
        assert_eq!(plan(2).long_fit(20), None);
        // Twenty gammas take longer than one.
        assert!(plan(5).long_fit(1).is_none() && plan(5).long_fit(1000).is_some_and(|found| found.passes == 50_000));
    }

    #[test]
    fn times_have_the_unit_of_people() {
        let texts = [0.25, 90.0, 600.0, 3.0 * 3600.0, 5e5, 1e12].map(time);
        assert_eq!(texts, ["250 ms", "90 seconds", "10 minutes", "3 hours", "6 days", "3e4 years"]);
    }
}
