//! The samples of a `.fam`: family, name, father, mother, sex, phenotype.

use std::collections::HashMap;

use super::field_lines::FieldLines;
use crate::{At, Error, FileRemedy, field::Field};

/// What to do about a `.fam` or a `.bim` that cannot be one.
pub(super) const WRITE_AGAIN: FileRemedy =
    FileRemedy::Do("write the three files again with PLINK (make-bed), whose .bed, .bim and .fam belong together");

/// Missing, as PLINK writes it.
const MISSING: f64 = -9.0;

pub(super) struct Samples {
    text: FieldLines,
    /// Whether the phenotypes are 1 and 2 for controls and cases, where 0 is missing.
    cases: bool,
}

impl Samples {
    pub(super) fn new(text: FieldLines) -> Result<Self, Error> {
        text.check(6, "family, sample, father, mother, sex and phenotype")?;
        let mut samples = Self { text, cases: false };
        let mut known = HashMap::with_capacity(samples.len());
        for sample in 0..samples.len() {
            if let Some(first) = known.insert((samples.family(sample), samples.name(sample)), sample) {
                let problem = format!(
                    "the sample {:?} of the family {:?} is also in line {}",
                    samples.name(sample),
                    samples.family(sample),
                    first + 1
                );
                let instead = FileRemedy::Do("a sample is found by its two names; give each its own");
                return Err(Error::unsupported(&samples.text.file, At::Line(sample as u64 + 1), problem, instead));
            }
        }
        let all = |allowed: &[f64]| {
            (0..samples.len()).all(|sample| match Field::parse(samples.text.field(sample, 5).as_bytes()) {
                Field::Number(number) => allowed.contains(&number),
                field => field == Field::Missing,
            })
        };
        samples.cases = all(&[MISSING, 0.0, 1.0, 2.0]) && !all(&[MISSING, 0.0, 1.0]);
        Ok(samples)
    }

    pub(super) fn file(&self) -> &str {
        &self.text.file
    }

    pub(super) fn len(&self) -> usize {
        self.text.lines()
    }

    pub(super) fn family(&self, sample: usize) -> &str {
        self.text.field(sample, 0)
    }

    pub(super) fn name(&self, sample: usize) -> &str {
        self.text.field(sample, 1)
    }

    /// 1 for male and 2 for female.
    pub(super) fn sex(&self, sample: usize) -> Option<&str> {
        Some(self.text.field(sample, 4)).filter(|sex| ["1", "2"].contains(sex))
    }

    pub(super) fn phenotype(&self, sample: usize) -> Option<&str> {
        let present = |text: &&str| text.parse() != Ok(0.0) || !self.cases;
        given(self.text.field(sample, 5)).filter(present)
    }
}

/// A value, unless PLINK takes it for a missing one.
pub(super) fn given(text: &str) -> Option<&str> {
    match Field::parse(text.as_bytes()) {
        Field::Missing | Field::Number(MISSING) => None,
        _ => Some(text),
    }
}
