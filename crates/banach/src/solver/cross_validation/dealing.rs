//! Folds for samples that are no independent draws: groups, time, and folds that are dealt again.

use std::{collections::HashSet, fmt, ops::Range};

use super::{Dealing, Folds, SplitMix64, shuffle};
use crate::{Error, error::Parameter};

/// Blocks of neighbouring samples in time that count as one witness each, at most.
const WITNESSES_OF_TIME: usize = 20;

impl Folds {
    /// `count` sets of whole groups, with sizes and, if labels are given, shares of every label that are as even as the groups allow: groups
    /// are dealt from the largest to the smallest, each to the fold that is evened most by it.
    ///
    /// ```
    /// use banach::solver::Folds;
    /// let folds = Folds::grouped(&[0, 0, 1, 1, 2, 2], None, 3, 0)?;
    /// assert!(folds.held_out().iter().all(|fold| fold.len() == 2 && fold[0] % 2 == 0));
    /// # Ok::<(), banach::Error>(())
    /// ```
    pub fn grouped(groups: &[usize], labels: Option<&[i64]>, count: usize, seed: u64) -> Result<Self, Error> {
        let classes = sorted(labels.unwrap_or_default());
        let class = |sample: usize| labels.map_or(0, |labels| classes.partition_point(|class| *class < labels[sample]));
        let known = sorted(groups);
        Error::check_length("labels", labels.map_or(groups.len(), <[i64]>::len), groups.len())?;
        let got = || format!("{count} for {} groups", known.len());
        Parameter::Folds.check(got(), (2..=known.len()).contains(&count), "from 2 folds to one for every group")?;
        let mut members = vec![Vec::new(); known.len()];
        for (sample, group) in groups.iter().enumerate() {
            members[known.partition_point(|other| other < group)].push(sample);
        }
        let mut order: Vec<usize> = (0..known.len()).collect();
        shuffle(&mut order, &mut SplitMix64::new(seed));
        order.sort_by_key(|&group| std::cmp::Reverse(members[group].len()));
        let mut counts = vec![vec![0_usize; classes.len().max(1)]; count];
        let mut held_out = vec![Vec::new(); count];
        for group in order {
            let mut added = vec![0_usize; classes.len().max(1)];
            members[group].iter().for_each(|&sample| added[class(sample)] += 1);
            // What the squares of all counts rise by: least where the group's classes are rarest. Of equal ones the smallest fold.
            let rise = |fold: &usize| -> usize {
                added.iter().zip(&counts[*fold]).map(|(new, has)| new * (2 * has + new)).sum()
            };
            let fold = (0..count).min_by_key(|fold| (rise(fold), held_out[*fold].len())).unwrap_or(0);
            counts[fold].iter_mut().zip(&added).for_each(|(has, new)| *has += new);
            held_out[fold].extend_from_slice(&members[group]);
        }
        held_out.iter_mut().for_each(|fold| fold.sort_unstable());
        let folds = Self { dealing: Dealing::Groups, ..Self::new(groups.len(), held_out)? };
        folds.with_groups(groups)
    }

    /// `count` folds forward in time: the samples in the order of their times are cut into `count + 1` blocks, and each block but the first is
    /// held out of a fit to all before it. Samples of one time stay together.
    ///
    /// ```
    /// use banach::solver::Folds;
    /// let folds = Folds::forward(&[3.0, 1.0, 2.0, 4.0], 3)?;
    /// assert_eq!(folds.held_out(), [vec![2], vec![0], vec![3]]);
    /// assert_eq!(folds.absent(), [vec![0, 2, 3], vec![0, 3], vec![3]]);
    /// # Ok::<(), banach::Error>(())
    /// ```
    pub fn forward(times: &[f64], count: usize) -> Result<Self, Error> {
        Error::check_values("times", times, "finite numbers", f64::is_finite)?;
        let mut order: Vec<usize> = (0..times.len()).collect();
        order.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
        let moments: Vec<&[usize]> = order.chunk_by(|&a, &b| times[a] == times[b]).collect();
        let got = format!("{count} for {} different times", moments.len());
        Parameter::Folds.check(
            got,
            (1..moments.len()).contains(&count),
            "fewer folds than different times, at least 1",
        )?;
        // Cut where the share of samples is nearest, with at least one time in every block.
        let mut ends = Vec::with_capacity(count + 1);
        let (mut seen, mut moment) = (0, 0);
        for block in 1..=count + 1 {
            let wanted = (times.len() * block).div_ceil(count + 1);
            let latest = moments.len() - (count + 1 - block);
            loop {
                seen += moments[moment].len();
                moment += 1;
                if moment == latest || seen >= wanted {
                    break;
                }
            }
            ends.push(seen);
        }
        let within = |from: usize, to: usize| {
            let mut samples = order[from..to].to_vec();
            samples.sort_unstable();
            samples
        };
        let splits = ends.windows(2).map(|pair| (within(0, pair[0]), within(pair[0], pair[1]))).collect();
        Ok(Self::from_splits(times.len(), splits)?.of_time(&order))
    }

    /// Splits of somebody else's, which are known by what they do: if there are groups and none has samples on both sides of a
    /// split, they are folds of whole groups; if each of several is held out of a fit to earlier samples alone, they go forward in time. Samples of
    /// a group are one witness, and so are those of a block of time if there are no groups.
    ///
    /// ```
    /// use banach::solver::{Dealing, Folds};
    /// let forward = vec![(vec![0, 1], vec![2]), (vec![0, 1, 2], vec![3])];
    /// assert_eq!(Folds::given(4, forward, None)?.dealing(), Dealing::Time);
    /// let halves = vec![(vec![0, 1], vec![2, 3]), (vec![2, 3], vec![0, 1])];
    /// assert_eq!(Folds::given(4, halves.clone(), Some(&[7, 7, 8, 8]))?.dealing(), Dealing::Groups);
    /// assert_eq!(Folds::given(4, halves, Some(&[7, 8, 7, 8]))?.dealing(), Dealing::Plain);
    /// # Ok::<(), banach::Error>(())
    /// ```
    pub fn given(
        samples: usize,
        splits: Vec<(Vec<usize>, Vec<usize>)>,
        groups: Option<&[usize]>,
    ) -> Result<Self, Error> {
        let is_past = |(fitted, held_out): &(Vec<usize>, Vec<usize>)| fitted.iter().max() < held_out.iter().min();
        // One split by itself is a part that was held out, wherever it lies.
        let is_forward = splits.len() > 1 && splits.iter().all(is_past);
        let is_whole = groups.is_some_and(|groups| {
            splits.iter().all(|(fitted, held_out)| {
                let fitted: HashSet<_> = fitted.iter().map(|&sample| groups.get(sample)).collect();
                held_out.iter().all(|&sample| !fitted.contains(&groups.get(sample)))
            })
        });
        let folds = Self::from_splits(samples, splits)?;
        match groups {
            Some(groups) => {
                let plain = if is_forward { Dealing::Time } else { Dealing::Plain };
                Self { dealing: if is_whole { Dealing::Groups } else { plain }, ..folds }.with_groups(groups)
            }
            None if is_forward => Ok(folds.of_time(&(0..samples).collect::<Vec<_>>())),
            None => Ok(folds),
        }
    }

    /// The same folds, forward in time, with blocks of the samples in the order of their times for witnesses.
    fn of_time(self, order: &[usize]) -> Self {
        let blocks = self.samples.min(WITNESSES_OF_TIME);
        let mut groups = vec![0; self.samples];
        order.iter().enumerate().for_each(|(place, &sample)| groups[sample] = place * blocks / self.samples);
        Self { dealing: Dealing::Time, groups: Some(groups), ..self }
    }

    /// Several sets of folds of the same samples, one after another: every sample is held out as often as there are sets.
    pub fn repeated(sets: &[Self]) -> Result<Self, Error> {
        let count = sets.len();
        let Some(first) = sets.first().cloned() else { return Err(Error::Empty { what: "the list of folds" }) };
        if count == 1 {
            return Ok(first);
        }
        if let Some(other) = sets.iter().find(|set| set.samples() != first.samples()) {
            return Err(Error::Shape { what: "folds", got: other.samples(), expected: first.samples() });
        }
        let held_out: Vec<Vec<usize>> = sets.iter().flat_map(|set| set.held_out().to_vec()).collect();
        Ok(Self { dealing: Dealing::Repeated(count), groups: first.groups, ..Self::new(first.samples, held_out)? })
    }

    /// The same folds, whose samples are no independent witnesses within a group.
    pub fn with_groups(self, groups: &[usize]) -> Result<Self, Error> {
        Error::check_length("groups", groups.len(), self.samples())?;
        Ok(Self { groups: Some(groups.to_vec()), ..self })
    }

    /// The same folds, where every fit sees a random part of the samples that it saw: at least one, and of a larger share all that it sees of a
    /// smaller one.
    ///
    /// ```
    /// use banach::solver::Folds;
    /// let half = Folds::contiguous(6, 3)?.thinned(0.5, 0)?;
    /// assert_eq!(half.held_out()[0], [0, 1]);
    /// assert_eq!(half.absent()[0].len(), 4);
    /// # Ok::<(), banach::Error>(())
    /// ```
    pub fn thinned(&self, share: f64, seed: u64) -> Result<Self, Error> {
        Parameter::Folds.check(share, share > 0.0 && share <= 1.0, "a share of the samples above 0, at most 1")?;
        let mut order: Vec<usize> = (0..self.samples).collect();
        shuffle(&mut order, &mut SplitMix64::new(seed));
        let thinner = |absent: &Vec<usize>| {
            let mut seen = vec![true; self.samples];
            absent.iter().for_each(|&sample| seen[sample] = false);
            let kept = ((self.samples - absent.len()) as f64 * share).ceil() as usize;
            let left_out = order.iter().filter(|&&sample| seen[sample]).skip(kept);
            let mut absent: Vec<usize> = absent.iter().chain(left_out).copied().collect();
            absent.sort_unstable();
            absent
        };
        Ok(Self { absent: self.absent.iter().map(thinner).collect(), ..self.clone() })
    }

    /// Every fold by itself.
    pub(crate) fn each(&self) -> Vec<Self> {
        let one = |(held_out, absent): (&Vec<usize>, &Vec<usize>)| Self {
            held_out: vec![held_out.clone()],
            absent: vec![absent.clone()],
            ..self.clone()
        };
        self.held_out.iter().zip(&self.absent).map(one).collect()
    }

    /// What counts as one independent witness of how good predictions are: the group of a sample, or the sample itself.
    pub fn witness(&self, sample: usize) -> usize {
        self.groups.as_ref().map_or(sample, |groups| groups[sample])
    }

    /// How the samples were dealt.
    pub fn dealing(&self) -> Dealing {
        self.dealing
    }

    /// Whether any sample could stand for any other: neither groups nor an order in time matter.
    pub fn is_exchangeable(&self) -> bool {
        self.groups.is_none()
    }

    /// How many orders of the samples there are by chance, beside the one that they have: of b groups, or of b samples without groups, b! - 1,
    /// and b - 1 of b blocks of time. `None` if they are beyond counting.
    ///
    /// ```
    /// use banach::solver::Folds;
    /// assert_eq!(Folds::grouped(&[0, 0, 1, 1, 2, 2], None, 3, 0)?.orders_by_chance(), Some(5));
    /// assert_eq!(Folds::forward(&[3.0, 1.0, 2.0, 4.0], 3)?.orders_by_chance(), Some(3));
    /// # Ok::<(), banach::Error>(())
    /// ```
    pub fn orders_by_chance(&self) -> Option<usize> {
        let blocks = self.groups.as_ref().map_or(self.samples, |groups| sorted(groups).len());
        let orders = match self.dealing {
            Dealing::Time => Some(blocks),
            _ => (1..=blocks).try_fold(1_usize, usize::checked_mul),
        };
        orders.map(|orders| orders.saturating_sub(1))
    }

    /// Orders of the samples as they could have been by chance: of samples without groups any; else groups are put into another order, and what
    /// lies beside each other in a group stays so as far as the sizes of groups allow. Of time, a shift round the end. None is the order that the
    /// samples have, none comes twice, and there are fewer than `most` if [there are no more](Self::orders_by_chance).
    pub fn by_chance(&self, most: usize) -> impl Iterator<Item = Vec<usize>> {
        let mut order: Vec<usize> = (0..self.samples).collect();
        order.sort_by_key(|&sample| self.witness(sample));
        let ends = order.chunk_by(|&a, &b| self.witness(a) == self.witness(b)).scan(0, |end, block| {
            let begin = *end;
            *end += block.len();
            Some(begin..*end)
        });
        let blocks: Vec<Range<usize>> = ends.collect();
        let (is_time, there_are) = (self.dealing == Dealing::Time, self.orders_by_chance());
        let same: Vec<usize> = (0..blocks.len()).collect();
        // Among orders beyond counting none comes twice, so none has to be remembered.
        let mut met: HashSet<Vec<usize>> = there_are.map(|_| same.clone()).into_iter().collect();
        let mut seeds = 0_u64..;
        let mut draw = move || {
            loop {
                let random = &mut SplitMix64::new(seeds.next()?);
                let mut places = same.clone();
                if is_time {
                    places.rotate_left(1 + random.below(same.len() - 1));
                } else {
                    shuffle(&mut places, random);
                }
                if there_are.is_none() || met.insert(places.clone()) {
                    return Some(places);
                }
            }
        };
        (0..most.min(there_are.unwrap_or(usize::MAX))).map_while(move |_| {
            let moved = draw()?.into_iter().flat_map(|place| blocks[place].clone());
            let mut by_chance = vec![0; order.len()];
            order.iter().zip(moved).for_each(|(&sample, other)| by_chance[sample] = order[other]);
            Some(by_chance)
        })
    }
}

impl fmt::Display for Folds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.count();
        match self.dealing {
            Dealing::Plain if count == 1 => f.write_str("1 part held out"),
            Dealing::Plain => write!(f, "{count} folds"),
            Dealing::Groups => write!(f, "{count} folds of whole groups"),
            Dealing::Time => write!(f, "{count} folds forward in time"),
            Dealing::OneByOne => f.write_str("each row left out"),
            Dealing::Repeated(times) => write!(f, "{} folds, dealt {times} times", count / times),
        }
    }
}

/// What occurs, in order.
fn sorted<T: Ord + Copy>(values: &[T]) -> Vec<T> {
    let mut values = values.to_vec();
    values.sort_unstable();
    values.dedup();
    values
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn thinner_folds_hold_out_the_same_and_see_parts_of_each_other() {
        let whole = Folds::shuffled(40, 4, 1).expect("valid");
        let parts = [0.25, 0.5, 1.0].map(|share| whole.thinned(share, 3).expect("valid"));
        for (part, seen) in parts.iter().zip([8, 15, 30]) {
            assert_eq!(part.held_out(), whole.held_out());
            assert!(part.absent().iter().all(|absent| absent.len() == 40 - seen), "{part:?}");
        }
        assert_eq!(parts[2], whole);
        let within = |few: &Vec<usize>, many: &Vec<usize>| many.iter().all(|absent| few.contains(absent));
        assert!(parts[0].absent().iter().zip(parts[1].absent()).all(|(few, many)| within(few, many)));
        assert!(whole.thinned(0.0, 3).is_err() && whole.thinned(f64::NAN, 3).is_err());
    }

    proptest! {
    #[test]
        fn groups_stay_together_and_time_goes_forward(
            keys in prop::collection::vec(0_usize..9, 12..40),
            count in 2_usize..4,
            seed: u64,
        ) {
            prop_assume!(sorted(&keys).len() > count);
            let labels: Vec<i64> = keys.iter().map(|key| (key % 2) as i64).collect();
            let folds = Folds::grouped(&keys, Some(&labels), count, seed).expect("valid");
            let mut all = folds.held_out().concat();
            all.sort_unstable();
            prop_assert!(all.into_iter().eq(0..keys.len()));
            for fold in folds.held_out() {
                prop_assert!((0..keys.len()).all(|i| fold.contains(&i) || fold.iter().all(|&j| keys[i] != keys[j])));
            }
            let times: Vec<f64> = keys.iter().map(|key| *key as f64).collect();
            let folds = Folds::forward(&times, count).expect("valid");
            prop_assert_eq!(folds.count(), count);
            for (held_out, absent) in folds.held_out().iter().zip(folds.absent()) {
                let first = held_out.iter().map(|&i| keys[i]).min().expect("a sample");
                prop_assert!((0..keys.len()).all(|i| absent.contains(&i) == (keys[i] >= first)));
            }
            for folds in [folds, Folds::grouped(&keys, None, count, seed).expect("valid"), Folds::leave_one_out(7).expect("valid")] {
                for mut order in folds.by_chance(5) {
                    order.sort_unstable();
                    prop_assert!(order.into_iter().eq(0..folds.samples()));
                }
            }
        }
    }

    /// An order that came twice would make chance look rarer than the orders that there are can show.
    #[test]
    fn orders_by_chance_are_different_and_no_more_than_there_are() {
        let times: Vec<f64> = (0..60).map(f64::from).collect();
        let of_groups = |groups: &[usize]| Folds::grouped(groups, None, 2, 0).expect("valid");
        for (folds, there_are) in [
            (Folds::forward(&times, 4).expect("valid"), 19),
            (of_groups(&[0, 0, 1, 1, 1, 2]), 5),
            (of_groups(&[0, 0, 1, 1]), 1),
            (Folds::leave_one_out(4).expect("valid"), 23),
            (Folds::leave_one_out(4).expect("valid").with_groups(&[7; 4]).expect("valid"), 0),
        ] {
            assert_eq!(folds.orders_by_chance(), Some(there_are));
            let n = folds.samples();
            let orders: Vec<Vec<usize>> = folds.by_chance(99).collect();
            let different: HashSet<&Vec<usize>> = orders.iter().collect();
            assert_eq!((orders.len(), different.len()), (there_are, there_are), "{folds}");
            assert!(orders.iter().all(|order| !order.iter().copied().eq(0..n)), "{folds}");
            assert!(folds.by_chance(3).eq(orders.into_iter().take(3)), "{folds}");
        }
        let many = Folds::leave_one_out(40).expect("valid");
        assert_eq!((many.orders_by_chance(), many.by_chance(99).collect::<HashSet<_>>().len()), (None, 99));
    }

    /// Samples in the order of time, split as a series is, are what `forward` deals; a group on both sides is no whole one.
    #[test]
    fn splits_that_were_given_are_known_by_what_they_do() {
        let times: Vec<f64> = (0..12).map(f64::from).collect();
        let splits = |folds: &Folds| -> Vec<(Vec<usize>, Vec<usize>)> {
            let fitted = |absent: &Vec<usize>| (0..folds.samples()).filter(|i| !absent.contains(i)).collect();
            folds.absent().iter().map(fitted).zip(folds.held_out().to_vec()).collect()
        };
        let forward = Folds::forward(&times, 3).expect("valid");
        assert_eq!(Folds::given(12, splits(&forward), None).expect("valid"), forward);
        let groups: Vec<usize> = (0..12).map(|sample| sample / 2).collect();
        let grouped = Folds::grouped(&groups, None, 3, 0).expect("valid");
        assert_eq!(Folds::given(12, splits(&grouped), Some(&groups)).expect("valid"), grouped);
        assert_eq!(Folds::given(12, splits(&grouped), None).expect("valid").to_string(), "3 folds");
        let told = |splits, groups: &[usize]| Folds::given(12, splits, Some(groups)).expect("valid").to_string();
        assert_eq!(told(splits(&grouped), &[0; 12]), "3 folds");
        assert_eq!(told(splits(&forward), &[0; 12]), "3 folds forward in time");
        let last = vec![((0..8).collect(), (8..12).collect())];
        assert_eq!(Folds::given(12, last, None).expect("valid").to_string(), "1 part held out");
        assert!(Folds::given(12, splits(&forward), Some(&[0; 3])).is_err());
    }

    #[test]
    fn wrong_groups_and_times_are_refused() {
        let refused = Folds::grouped(&[0, 0, 1], None, 3, 0).expect_err("two groups").to_string();
        assert!(refused.contains("3 for 2 groups"), "{refused}");
        let refused = Folds::forward(&[1.0, 1.0, 2.0], 2).expect_err("two times").to_string();
        assert!(refused.contains("2 for 2 different times"), "{refused}");
        assert!(Folds::forward(&[1.0, f64::NAN, 2.0], 1).is_err());
        assert!(Folds::repeated(&[]).is_err());
        let twice =
            Folds::repeated(&[Folds::shuffled(9, 3, 0).expect("valid"), Folds::shuffled(9, 3, 1).expect("valid")]);
        assert_eq!(twice.expect("valid").to_string(), "3 folds, dealt 2 times");
    }
}
