//! The variants of a `.bim`: chromosome, name, place on the genetic map, position, and the two alleles.

use super::{cohort::Allele, field_lines::FieldLines};
use crate::Error;

/// What stands for an allele that no sample has.
pub(super) const UNKNOWN: &str = "0";

pub(super) struct Variants {
    text: FieldLines,
}

impl Variants {
    pub(super) fn new(text: FieldLines) -> Result<Self, Error> {
        text.check(6, "chromosome, variant, genetic position, position and two alleles")?;
        Ok(Self { text })
    }

    pub(super) fn file(&self) -> &str {
        &self.text.file
    }

    pub(super) fn len(&self) -> usize {
        self.text.lines()
    }

    pub(super) fn chromosome(&self, variant: usize) -> &str {
        self.text.field(variant, 0)
    }

    pub(super) fn allele(&self, variant: usize, which: Allele) -> &str {
        self.text.field(variant, if which == Allele::A1 { 4 } else { 5 })
    }

    /// The name, or chromosome and position of a variant that has none.
    pub(super) fn id(&self, variant: usize) -> String {
        match self.text.field(variant, 1) {
            "." => format!("{}:{}", self.chromosome(variant), self.text.field(variant, 3)),
            name => name.to_owned(),
        }
    }

    /// The name of the variable that counts an allele: `rs123_A`.
    pub(super) fn variable(&self, variant: usize, counted: Allele) -> String {
        format!("{}_{}", self.id(variant), self.allele(variant, counted))
    }
}
