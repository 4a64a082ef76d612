//! Which variants are variables: those on the chromosomes that were asked for, not too often missing, not too rare, and not constant.

use super::{
    calls::{Calls, Counts},
    chromosomes::Chromosomes,
    cohort::{Cohort, Genotypes},
    variants::Variants,
};
use crate::{
    At, Error,
    room::{Held, Room},
};

/// The variants that are left, each with its counts.
pub(super) struct Sieved<'a> {
    pub(super) variants: Vec<usize>,
    pub(super) counts: Vec<Counts>,
    _held: Held<'a>,
}

/// Counts among the samples that are left. What is left out, and why, is added to `told`.
pub(super) fn sieve<'a>(
    (calls, variants): (&mut Calls<'_>, &Variants),
    samples: &[usize],
    cohort: &Cohort,
    told: &mut Genotypes,
    room: &Room<'a>,
) -> Result<Sieved<'a>, Error> {
    let mut held = room.whole_part();
    let each = (size_of::<usize>() + size_of::<Counts>()) as u64;
    held.set(each * variants.len() as u64, At::Row(1))?;
    let wanted = Chromosomes::new(&cohort.chromosomes).variants(variants)?;
    told.other_chromosomes = variants.len() - wanted.len();
    let counts = calls.count(&wanted, samples)?;
    let mut left = |counts: &Counts| {
        let frequency = counts.frequency();
        let missing = counts.missing as f64 / samples.len().max(1) as f64;
        let reason = if cohort.max_missing.is_some_and(|most| missing > most) {
            &mut told.too_many_missing
        } else if cohort.min_frequency.is_some_and(|least| frequency.min(1.0 - frequency) < least) {
            &mut told.too_rare
        } else if !cohort.keep_constant && counts.is_constant() {
            &mut told.constant
        } else {
            return true;
        };
        *reason += 1;
        false
    };
    let (variants, counts) = wanted.into_iter().zip(counts).filter(|(_, counts)| left(counts)).unzip();
    Ok(Sieved { variants, counts, _held: held })
}
