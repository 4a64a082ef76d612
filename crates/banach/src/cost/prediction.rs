//! How long fits are expected to take, for whoever waits for them.

use std::{fmt, iter::Sum, ops::Add};

/// Seconds from which fits are announced before they start.
const ANNOUNCED: f64 = 30.0;
/// Seconds from which nothing is fitted that nobody has asked for: nobody waits at the screen for ten minutes.
const UNASKED: f64 = 600.0;

/// What fits are expected to take: the seconds until they are done, without the reading of files and the tables about a model.
///
/// Predictions can be added.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prediction {
    /// Seconds in all.
    pub seconds: f64,
    /// The seconds of them before the first pass.
    pub setup: f64,
    /// The seconds of them that passes over the data or the tensor take. The rest are the systems of steps between passes.
    pub passes: f64,
    /// The number of fits.
    pub fits: usize,
    /// The longest pass.
    pub longest: Option<PredictedPass>,
}

/// A pass, and what it goes through.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictedPass {
    /// Seconds, for all problems that share it.
    pub seconds: f64,
    /// The data, so many monomials, or the tensor.
    pub over: String,
}

impl Prediction {
    /// Seconds of something that is not made of fits over one form.
    pub(crate) fn of_seconds(seconds: f64) -> Self {
        Self { seconds, ..Self::default() }
    }

    /// The same where nothing is begun after so many seconds.
    pub(crate) fn within(self, limit: f64) -> Self {
        Self { seconds: self.seconds.min(limit), ..self }
    }

    /// Whether it is worth a word before it starts: more than 30 seconds.
    pub fn is_announced(&self) -> bool {
        self.seconds > ANNOUNCED
    }

    /// Whether it is too long to be done without being asked for: more than ten minutes.
    pub fn is_left_to_ask(&self) -> bool {
        self.seconds > UNASKED
    }
}

impl Add for Prediction {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let seconds = |pass: &Option<PredictedPass>| pass.as_ref().map_or(0.0, |pass| pass.seconds);
        let longest = if seconds(&self.longest) >= seconds(&other.longest) { self.longest } else { other.longest };
        Self {
            seconds: self.seconds + other.seconds,
            setup: self.setup + other.setup,
            passes: self.passes + other.passes,
            fits: self.fits.saturating_add(other.fits),
            longest,
        }
    }
}

impl Sum for Prediction {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

/// A pass is worth a word from a second on.
const LONG_PASS: f64 = 1.0;

/// `about 3 minutes (101 fits, a pass over 6.5e9 monomials takes 2 seconds)`.
impl fmt::Display for Prediction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "about {}", time(self.seconds))?;
        let mut of = Vec::new();
        match self.fits {
            0 => {}
            1 => of.push("1 fit".to_owned()),
            fits => of.push(format!("{fits} fits")),
        }
        if let Some(PredictedPass { seconds, over }) = self.longest.as_ref().filter(|pass| pass.seconds >= LONG_PASS) {
            of.push(format!("a pass over {over} takes {}", time(*seconds)));
        }
        if of.is_empty() { Ok(()) } else { write!(f, " ({})", of.join(", ")) }
    }
}

/// Seconds in the unit that people would take.
fn time(seconds: f64) -> String {
    match seconds {
        s if s < 0.01 => "10 ms or less".to_owned(),
        s if s < 1.0 => format!("{:.0} ms", 1e3 * s),
        s if s < 9.5 => format!("{s:.1} seconds"),
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

    #[test]
    fn times_have_the_unit_of_people() {
        let texts = [0.001, 0.25, 2.0, 90.0, 600.0, 3.0 * 3600.0, 5e5, 1e12].map(time);
        let expected = ["10 ms or less", "250 ms", "2.0 seconds", "90 seconds", "10 minutes", "3 hours", "6 days"];
        assert_eq!((&texts[..7], &texts[7][..]), (&expected.map(str::to_owned)[..], "3e4 years"));
    }

    #[test]
    fn half_a_minute_is_announced_and_ten_are_asked_for() {
        let said = |seconds| {
            (Prediction::of_seconds(seconds).is_announced(), Prediction::of_seconds(seconds).is_left_to_ask())
        };
        assert_eq!([29.9, 30.1, 599.0, 601.0].map(said), [(false, false), (true, false), (true, false), (true, true)]);
        assert_eq!(said(f64::INFINITY), (true, true));
    }

    #[test]
    fn predictions_add_up_and_tell_the_longest_pass() {
        let pass = |seconds, over: &str| Some(PredictedPass { seconds, over: over.to_owned() });
        let some = Prediction { seconds: 40.0, setup: 1.0, passes: 30.0, fits: 100, longest: pass(3.0, "the data") };
        let one = Prediction { seconds: 5.0, setup: 2.0, passes: 1.0, fits: 1, longest: pass(0.1, "the Gram tensor") };
        let both: Prediction = [some.clone(), one.clone()].into_iter().sum();
        assert_eq!((both.seconds, both.setup, both.passes, both.fits), (45.0, 3.0, 31.0, 101));
        assert_eq!(both.to_string(), "about 45 seconds (101 fits, a pass over the data takes 3.0 seconds)");
        assert_eq!((one.clone() + some).longest, both.longest);
        assert_eq!(one.to_string(), "about 5.0 seconds (1 fit)");
        assert_eq!(Prediction::of_seconds(0.5).to_string(), "about 500 ms");
    }
}
