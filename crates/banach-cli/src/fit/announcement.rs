//! How long the command will take, said before it starts.

use banach::{fit::PlannedFits, form::Prediction};

use crate::options::Common;

/// Seconds from which `--explain` says how long it will take. Nobody waits for less.
const EXPLAINED: f64 = 3.0;

/// Says how long it is expected to take: where that is long, and with `--explain` where that is seconds.
pub(crate) fn announce(expected: &Prediction, advice: &str, common: &Common) {
    if expected.is_announced() {
        common.say(format_args!("note: it is expected to take {expected}; {advice}"));
    } else if common.explain && expected.seconds > EXPLAINED {
        common.say(format_args!("note: it is expected to take {expected}"));
    }
}

/// The same of fits. What cannot be planned is refused by the fit itself.
pub(crate) fn announce_fits(planned: Result<PlannedFits, banach::Error>, common: &Common) {
    if let Ok(planned) = planned {
        announce(&planned.prediction_here(), OF_FITS, common);
    }
}

/// What makes fits of one kind shorter.
const OF_FITS: &str = "a lower --degree, fewer columns (--features), fewer rows or fewer gammas and folds take less";

/// What makes the choice of a model shorter.
pub(crate) const OF_CHOICE: &str = "--effort quick and --max-seconds take less";
