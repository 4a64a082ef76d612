//! Which samples are held out together.

use crate::Error;

/// Sets of samples, each held out once while the model is fitted to the others.
///
/// Held-out samples are numbered from 0 in the order of the data. Folds may overlap, as in repeated or Monte Carlo
/// cross-validation, and need not cover all samples.
///
/// ```
/// use banach::solver::Folds;
/// let folds = Folds::contiguous(5, 2)?;
/// assert_eq!(folds.held_out(), [vec![0, 1, 2], vec![3, 4]]);
/// assert_eq!(Folds::leave_one_out(5)?.count(), 5);
/// assert_eq!(Folds::stratified(&[1.0, 1.0, -1.0, -1.0], 2, 0)?.held_out()[0].len(), 2);
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folds {
    pub(super) samples: usize,
    pub(super) held_out: Vec<Vec<usize>>,
    /// What each fit does not see: what it holds out, and perhaps more.
    pub(super) absent: Vec<Vec<usize>>,
    /// How they were dealt.
    pub(super) dealing: Dealing,
    /// The group of every sample, where samples of one group are no independent witnesses.
    pub(super) groups: Option<Vec<usize>>,
}

/// How samples are dealt to folds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dealing {
    /// As they were given, or at random.
    #[default]
    Plain,
    /// Groups as a whole.
    Groups,
    /// Forward in time: every fit sees the past only.
    Time,
    /// Each sample by itself.
    OneByOne,
    /// At random, several times.
    Repeated(usize),
}

impl Folds {
    /// The given sets. Each needs at least one sample and must leave at least one; none may name a sample twice.
    pub fn new(samples: usize, held_out: Vec<Vec<usize>>) -> Result<Self, Error> {
        if held_out.is_empty() {
            return Err(Error::Empty { what: "the list of folds" });
        }
        // The last fold that named a sample.
        let mut named = vec![None; samples];
        for (fold, of_fold) in held_out.iter().enumerate() {
            for &sample in of_fold {
                if sample >= samples || named[sample].replace(fold) == Some(fold) {
                    return Err(Error::FoldSample { fold, sample, samples });
                }
            }
            if of_fold.is_empty() || of_fold.len() == samples {
                let (held_out, left) = (of_fold.len(), samples - of_fold.len());
                return Err(Error::FoldSize { fold, held_out, left });
            }
        }
        Ok(Self { samples, absent: held_out.clone(), held_out, dealing: Dealing::Plain, groups: None })
    }

    /// Splits into samples to fit to and samples that are held out, which together need not be all: the past and the
    /// next few samples of a series, say.
    ///
    /// ```
    /// use banach::solver::Folds;
    /// let folds = Folds::from_splits(4, vec![(vec![0, 1], vec![2]), (vec![0, 1, 2], vec![3])])?;
    /// assert_eq!(folds.held_out(), [vec![2], vec![3]]);
    /// assert_eq!(folds.absent(), [vec![2, 3], vec![3]]);
    /// # Ok::<(), banach::Error>(())
    /// ```
    pub fn from_splits(samples: usize, splits: Vec<(Vec<usize>, Vec<usize>)>) -> Result<Self, Error> {
        let (fitted, held_out): (Vec<_>, Vec<_>) = splits.into_iter().unzip();
        let folds = Self::new(samples, held_out)?;
        let mut absent = Vec::with_capacity(fitted.len());
        for (fold, (fitted, held_out)) in fitted.iter().zip(&folds.held_out).enumerate() {
            let mut seen = vec![false; samples];
            for &sample in fitted {
                if sample >= samples || held_out.contains(&sample) || std::mem::replace(&mut seen[sample], true) {
                    return Err(Error::FoldSample { fold, sample, samples });
                }
            }
            if fitted.is_empty() {
                return Err(Error::FoldSize { fold, held_out: held_out.len(), left: 0 });
            }
            absent.push((0..samples).filter(|&sample| !seen[sample]).collect());
        }
        Ok(Self { absent, ..folds })
    }

    /// `count` blocks of neighbouring samples, for data whose order means something. Sizes differ by at most one.
    pub fn contiguous(samples: usize, count: usize) -> Result<Self, Error> {
        check_count(samples, count)?;
        let (size, longer) = (samples / count, samples % count);
        let start = |fold: usize| fold * size + fold.min(longer);
        Self::new(samples, (0..count).map(|fold| (start(fold)..start(fold + 1)).collect()).collect())
    }

    /// `count` random sets whose sizes differ by at most one. The same seed gives the same sets on every machine and in
    /// every version.
    pub fn shuffled(samples: usize, count: usize, seed: u64) -> Result<Self, Error> {
        check_count(samples, count)?;
        let mut order: Vec<usize> = (0..samples).collect();
        shuffle(&mut order, &mut SplitMix64(seed));
        Self::deal(&order, count)
    }

    /// As [`shuffled`](Self::shuffled), with every class spread evenly: its share differs by at most one sample from
    /// fold to fold. A class needs two samples, so that none is ever missing from a fit.
    pub fn stratified(labels: &[f64], count: usize, seed: u64) -> Result<Self, Error> {
        check_count(labels.len(), count)?;
        let allowed = "a number for every class; leave samples without a label out";
        Error::check_values("labels", labels, allowed, |label| !label.is_nan())?;
        let mut order: Vec<usize> = (0..labels.len()).collect();
        shuffle(&mut order, &mut SplitMix64(seed));
        // The sort is stable: within its class an order stays random.
        order.sort_by(|&i, &j| labels[i].total_cmp(&labels[j]));
        if let Some(class) = order.chunk_by(|&i, &j| labels[i] == labels[j]).find(|class| class.len() < 2) {
            let allowed = "labels that at least two samples share; leave this sample out, or use shuffled folds";
            return Err(Error::BadValue { what: "labels", row: class[0], value: labels[class[0]], allowed });
        }
        Self::deal(&order, count)
    }

    /// Every sample by itself.
    pub fn leave_one_out(samples: usize) -> Result<Self, Error> {
        Ok(Self { dealing: Dealing::OneByOne, ..Self::contiguous(samples, samples)? })
    }

    /// The number of samples, n.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// The number of folds.
    pub fn count(&self) -> usize {
        self.held_out.len()
    }

    /// The samples of every fold.
    pub fn held_out(&self) -> &[Vec<usize>] {
        &self.held_out
    }

    /// The samples that the fit of every fold does not see: those of the fold, and perhaps more.
    pub fn absent(&self) -> &[Vec<usize>] {
        &self.absent
    }

    /// Deals the samples in turn, and names those of a fold in the order of the data.
    fn deal(order: &[usize], count: usize) -> Result<Self, Error> {
        let mut held_out = vec![vec![]; count];
        order.iter().enumerate().for_each(|(at, &sample)| held_out[at % count].push(sample));
        held_out.iter_mut().for_each(|fold| fold.sort_unstable());
        Self::new(order.len(), held_out)
    }
}

fn check_count(samples: usize, folds: usize) -> Result<(), Error> {
    if (2..=samples).contains(&folds) { Ok(()) } else { Err(Error::FoldCount { folds, samples }) }
}

/// Fisher and Yates.
pub(crate) fn shuffle(order: &mut [usize], random: &mut SplitMix64) {
    for i in (1..order.len()).rev() {
        order.swap(i, random.below(i + 1));
    }
}

/// The generator of Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014), written out because
/// folds must not change with the version of a library.
pub(crate) struct SplitMix64(u64);

impl SplitMix64 {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`; the bias of the product is `end/2^64`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The first numbers of the reference implementation for the seed 1234567.
    #[test]
    fn known_numbers() {
        let mut random = SplitMix64(1_234_567);
        let known = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(known, std::array::from_fn(|_| random.next()));
    }

    #[test]
    fn seeds_decide() {
        let folds = |seed| Folds::shuffled(40, 4, seed).expect("valid");
        assert_eq!(folds(1), folds(1));
        assert_ne!(folds(1), folds(2));
        assert_ne!(folds(1), Folds::contiguous(40, 4).expect("valid"));
    }

    #[test]
    fn wrong_folds_are_refused() {
        for (samples, count) in [(3, 4), (3, 1), (3, 0), (0, 2), (1, 1), (1, 2), (0, 0)] {
            let refused = Err(Error::FoldCount { folds: count, samples });
            assert_eq!(Folds::contiguous(samples, count), refused);
            assert_eq!(Folds::shuffled(samples, count, 0), refused);
            assert_eq!(Folds::stratified(&vec![1.0; samples], count, 0), refused);
        }
        assert_eq!(Folds::new(3, vec![]), Err(Error::Empty { what: "the list of folds" }));
        assert_eq!(Folds::new(3, vec![vec![0], vec![]]), Err(Error::FoldSize { fold: 1, held_out: 0, left: 3 }));
        assert_eq!(Folds::new(3, vec![vec![2, 0, 1]]), Err(Error::FoldSize { fold: 0, held_out: 3, left: 0 }));
        assert_eq!(Folds::new(3, vec![vec![0], vec![3]]), Err(Error::FoldSample { fold: 1, sample: 3, samples: 3 }));
        assert_eq!(Folds::new(3, vec![vec![1, 1]]), Err(Error::FoldSample { fold: 0, sample: 1, samples: 3 }));
        let lonely = Folds::stratified(&[1.0, 1.0, -1.0, 1.0], 2, 0);
        assert!(matches!(lonely, Err(Error::BadValue { row: 2, value: -1.0, .. })), "{lonely:?}");
        let unknown = Folds::stratified(&[1.0, 1.0, f64::NAN, f64::NAN], 2, 0).expect_err("no label").to_string();
        assert!(
            unknown.starts_with("labels[2] = NaN") && unknown.contains("leave samples without a label"),
            "{unknown}"
        );
    }

    #[test]
    fn wrong_splits_are_refused() {
        let splits =
            |fitted: &[usize], held_out: &[usize]| Folds::from_splits(4, vec![(fitted.to_vec(), held_out.to_vec())]);
        let complement = splits(&[0, 1, 3], &[2]).expect("valid");
        assert_eq!(complement, Folds::new(4, vec![vec![2]]).expect("valid"));
        for fitted in [&[0, 2][..], &[0, 0], &[4]] {
            assert!(matches!(splits(fitted, &[2]), Err(Error::FoldSample { fold: 0, .. })), "{fitted:?}");
        }
        assert_eq!(splits(&[], &[2]), Err(Error::FoldSize { fold: 0, held_out: 1, left: 0 }));
        assert_eq!(splits(&[1], &[]), Err(Error::FoldSize { fold: 0, held_out: 0, left: 4 }));
    }

    proptest! {
        #[test]
        fn every_sample_is_held_out_once(samples in 2_usize..60, share in 0.0..1.0, seed: u64) {
            let count = 2 + (share * (samples - 1) as f64) as usize;
            let labels: Vec<f64> = (0..samples).map(|i| if i % 3 == 0 && samples > 3 { 1.0 } else { -1.0 }).collect();
            let stratified = Folds::stratified(&labels, count, seed).expect("valid");
            let shuffled = Folds::shuffled(samples, count, seed).expect("valid");
            for folds in [&Folds::contiguous(samples, count).expect("valid"), &shuffled, &stratified] {
                let mut seen = folds.held_out().concat();
                seen.sort_unstable();
                prop_assert!(seen.iter().copied().eq(0..samples));
                prop_assert_eq!(folds.count(), count);
                let sizes = samples / count..=samples.div_ceil(count);
                prop_assert!(folds.held_out().iter().all(|fold| sizes.contains(&fold.len())));
            }
            let positive = |fold: &Vec<usize>| fold.iter().filter(|i| labels[**i] > 0.0).count();
            let counts: Vec<usize> = stratified.held_out().iter().map(positive).collect();
            prop_assert!(counts.iter().max() <= counts.iter().min().map(|least| least + 1).as_ref(), "{:?}", counts);
        }
    }
}
