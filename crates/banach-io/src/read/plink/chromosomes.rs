//! Which chromosomes were asked for.

use std::{collections::BTreeSet, ops::RangeInclusive};

use super::variants::Variants;
use crate::{Error, FileRemedy};

/// The most chromosomes that a message lists.
const SHOWN: usize = 30;

#[derive(Debug)]
pub(super) struct Chromosomes {
    names: Vec<String>,
    ranges: Vec<RangeInclusive<u32>>,
}

impl Chromosomes {
    /// Names, numbers and ranges.
    pub(super) fn new(asked: &[String]) -> Self {
        let (mut names, mut ranges) = (Vec::new(), Vec::new());
        for one in asked.iter().flat_map(|entry| entry.split(',')).map(str::trim).filter(|one| !one.is_empty()) {
            let range = one.split_once('-').map(|(from, to)| (plain(from).parse(), plain(to).parse()));
            match range {
                Some((Ok(from), Ok(to))) => ranges.push(from..=to),
                _ => names.push(plain(one)),
            }
        }
        Self { names, ranges }
    }

    pub(super) fn are_all(&self) -> bool {
        self.names.is_empty() && self.ranges.is_empty()
    }

    fn have(&self, chromosome: &str) -> bool {
        let name = plain(chromosome);
        let number = number(&name);
        self.names.contains(&name)
            || number.is_some_and(|number| self.ranges.iter().any(|range| range.contains(&number)))
    }

    /// The variants on these chromosomes.
    pub(super) fn variants(&self, all: &Variants) -> Result<Vec<usize>, Error> {
        if self.are_all() {
            return Ok((0..all.len()).collect());
        }
        let found: Vec<usize> = (0..all.len()).filter(|variant| self.have(all.chromosome(*variant))).collect();
        if found.is_empty() {
            let there: BTreeSet<&str> = (0..all.len()).map(|variant| all.chromosome(variant)).collect();
            let shown: Vec<&str> = there.iter().copied().take(SHOWN).collect();
            let problem = format!("no variant is on the chromosomes that were asked for; it has {}", shown.join(", "));
            return Err(Error::unsupported(
                all.file(),
                "its first column",
                problem,
                FileRemedy::Do("name some of these"),
            ));
        }
        Ok(found)
    }
}

/// A chromosome as it is compared: without `chr`, and by its letter where PLINK has a number for it.
fn plain(name: &str) -> String {
    let name = name.trim().to_ascii_uppercase();
    let name = name.strip_prefix("CHR").unwrap_or(&name);
    match name {
        "23" => "X",
        "24" => "Y",
        "25" | "PAR1" | "PAR2" => "XY",
        "26" | "M" => "MT",
        other => other.strip_prefix('0').filter(|rest| !rest.is_empty()).unwrap_or(other),
    }
    .to_owned()
}

/// The number of a chromosome, as ranges mean it.
fn number(plain: &str) -> Option<u32> {
    match plain {
        "X" => Some(23),
        "Y" => Some(24),
        "XY" => Some(25),
        "MT" => Some(26),
        other => other.parse().ok(),
    }
}
