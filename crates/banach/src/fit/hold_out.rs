//! Which samples are held out together.

use super::Target;
use crate::{
    Error,
    error::Parameter,
    solver::{Dealing, Folds},
};

/// How samples are held out: in random folds, five or [ten](Self::among_many) of them unless told otherwise, with every class spread evenly.
///
/// ```
/// use banach::{Target, fit::HoldOut};
///
/// let y = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
/// // Two rows for every patient, which must not be on both sides.
/// let patients = HoldOut { groups: Some(vec![0, 0, 1, 1, 2, 2]), folds: Some(3), ..HoldOut::default() };
/// let folds = patients.folds(&Target::from(&y), 6)?;
/// assert!(folds.held_out().iter().all(|fold| fold.len() == 2 && fold[1] == fold[0] + 1));
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HoldOut {
    /// The number of folds.
    pub folds: Option<usize>,
    /// Many models are compared on the samples that are held out: of fewer than 100 samples, or groups, there are ten folds instead of five
    /// then, as the difference of two models is noisy, and fits that see 90 % of so few samples are more like the one that sees all.
    pub among_many: bool,
    /// How often they are dealt; 0 and 1 are once.
    pub repeats: usize,
    /// Each sample by itself instead.
    pub leave_one_out: bool,
    /// The group of every sample; groups are held out as a whole.
    pub groups: Option<Vec<usize>>,
    /// The time of every sample; every fit sees the past only.
    pub times: Option<Vec<f64>>,
    /// What deals the samples.
    pub seed: u64,
}

/// From this number of samples on, five folds are enough for a choice among many models.
const NOT_FEW: usize = 100;
/// The folds of fewer.
const FOLDS_OF_FEW: usize = 10;

impl HoldOut {
    /// The folds of so many samples or groups, unless told otherwise.
    fn usual(&self, units: usize) -> usize {
        if self.among_many && units < NOT_FEW { FOLDS_OF_FEW.min(units) } else { Target::FOLDS.min(units) }
    }

    /// The folds of these samples. Refused are wishes that contradict each other, and folds without which a class is not seen.
    pub fn folds(&self, target: &Target<'_>, samples: usize) -> Result<Folds, Error> {
        let asked = [self.leave_one_out, self.groups.is_some(), self.times.is_some(), self.repeats > 1];
        if asked.iter().filter(|asked| **asked).count() > usize::from(self.repeats > 1 && self.groups.is_some()) + 1 {
            return Err(Error::parameter(
                Parameter::Folds,
                "several ways at once",
                "one of groups, times, repeats and each sample by itself; groups can be dealt repeatedly",
            ));
        }
        let labels = if let Target::Labels(labels) = target { Some(&labels[..]) } else { None };
        let folds = match (&self.times, self.leave_one_out) {
            (Some(times), _) => {
                Error::check_length("times", times.len(), samples)?;
                Folds::forward(times, self.folds.unwrap_or(Target::FOLDS))?
            }
            (None, true) => Folds::leave_one_out(samples)?,
            (None, false) => {
                let dealt = |round: usize| self.dealt(target, labels, samples, self.seed.wrapping_add(round as u64));
                Folds::repeated(&(0..self.repeats.max(1)).map(dealt).collect::<Result<Vec<_>, _>>()?)?
            }
        };
        if let Some(labels) = labels {
            check_classes(&folds, labels)?;
        }
        Ok(folds)
    }

    /// The folds of one seed, of whole groups if there are any.
    fn dealt(&self, target: &Target<'_>, labels: Option<&[i64]>, samples: usize, seed: u64) -> Result<Folds, Error> {
        let Some(groups) = &self.groups else {
            return target.folds(samples, self.folds.unwrap_or(self.usual(samples)), seed);
        };
        Error::check_length("groups", groups.len(), samples)?;
        let mut known = groups.clone();
        known.sort_unstable();
        known.dedup();
        Folds::grouped(groups, labels, self.folds.unwrap_or(self.usual(known.len())), seed)
    }
}

/// Every fit needs every class.
pub(super) fn check_classes(folds: &Folds, labels: &[i64]) -> Result<(), Error> {
    let mut classes = labels.to_vec();
    classes.sort_unstable();
    classes.dedup();
    for (fold, absent) in folds.absent().iter().enumerate() {
        let mut seen = vec![true; labels.len()];
        absent.iter().for_each(|&i| seen[i] = false);
        let sees = |class: &i64| labels.iter().zip(&seen).any(|(label, seen)| *seen && label == class);
        if !classes.iter().all(sees) {
            let what = if folds.dealing() == Dealing::Time { "before it" } else { "outside of it" };
            return Err(Error::parameter(
                Parameter::Folds,
                format!("{}, and fold {} has no sample of some class {what}", folds.count(), fold + 1),
                "folds that leave samples of every class to fit to: take fewer or more of them, or other groups",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_samples_or_groups_have_ten_folds_among_many_models() {
        let y = vec![0.0; 200];
        let count = |samples: usize, hold_out: HoldOut| {
            hold_out.folds(&Target::from(&y[..samples]), samples).expect("valid").count()
        };
        let among_many = || HoldOut { among_many: true, ..HoldOut::default() };
        assert_eq!([4, 99, 100].map(|samples| count(samples, HoldOut::default())), [4, 5, 5]);
        assert_eq!([4, 99, 100].map(|samples| count(samples, among_many())), [4, 10, 5]);
        assert_eq!(count(99, HoldOut { folds: Some(3), ..among_many() }), 3);
        let pairs = |samples: usize| Some((0..samples).map(|sample| sample / 2).collect());
        assert_eq!([12, 198, 200].map(|n| count(n, HoldOut { groups: pairs(n), ..among_many() })), [6, 10, 5]);
    }

    #[test]
    fn wishes_that_contradict_each_other_are_refused() {
        let y = Target::from(&[1.0, 2.0, 3.0, 4.0]);
        let groups = Some(vec![0, 0, 1, 1]);
        let refused = |hold_out: HoldOut| hold_out.folds(&y, 4).expect_err("refused").to_string();
        let usual = HoldOut::default;
        assert!(refused(HoldOut { groups: groups.clone(), times: Some(vec![0.0; 4]), ..usual() }).contains("several"));
        assert!(refused(HoldOut { repeats: 2, leave_one_out: true, ..usual() }).contains("several"));
        assert!(refused(HoldOut { groups: Some(vec![1, 1]), ..usual() }).contains("groups"));
        assert_eq!(HoldOut { groups, repeats: 3, ..usual() }.folds(&y, 4).expect("valid").count(), 6);
        assert_eq!(HoldOut { leave_one_out: true, ..usual() }.folds(&y, 4).expect("valid").count(), 4);
        // The past has one class only.
        let labels = Target::from(&[1_i64, 1, 2, 2]);
        let times = Some(vec![1.0, 2.0, 3.0, 4.0]);
        let told = HoldOut { times, folds: Some(1), ..usual() }.folds(&labels, 4).expect_err("one class").to_string();
        assert!(told.contains("before it"), "{told}");
    }
}
