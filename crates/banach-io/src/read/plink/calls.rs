//! The genotypes of a `.bed`: two bits for every sample, the first sample in the lowest, and whole bytes for every variant.
//!
//! 00 is two copies of the first allele, 10 one, 11 none, and 01 is missing. Nothing else in this crate knows that.

use std::io::{Read as _, Seek as _, SeekFrom};

use rayon::prelude::*;

use super::{cohort::Allele, samples::WRITE_AGAIN};
use crate::{
    At, Error, FileRemedy,
    assembly::MISSING,
    read::{
        failed,
        input::{Input, Source},
    },
    room::{Held, Room},
};

/// What such files begin with, before a byte that says whether variants or samples come one after another.
pub(super) const MAGIC: [u8; 2] = [0x6c, 0x1b];

/// Bytes before the genotypes.
const HEADER: u64 = 3;

/// Bytes that are read at a time, if a variant is no longer.
const BLOCK: usize = 1 << 20;

/// The low bit of each of four samples.
const LOW: u8 = 0b0101_0101;

pub(super) struct Calls<'a> {
    file: &'a str,
    source: Source,
    /// Bytes of a variant.
    line: usize,
    _held: Held<'a>,
    _block: Held<'a>,
}

/// How often a variant has which genotype.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Counts {
    /// Samples with one copy of the first allele, and with two.
    pub(super) one: usize,
    pub(super) two: usize,
    pub(super) missing: usize,
    pub(super) samples: usize,
}

impl Counts {
    pub(super) fn called(self) -> usize {
        self.samples - self.missing
    }

    /// The share of the first allele.
    pub(super) fn frequency(self) -> f64 {
        (2 * self.two + self.one) as f64 / (2 * self.called().max(1)) as f64
    }

    /// Whether all samples whose genotype is known have the same.
    pub(super) fn is_constant(self) -> bool {
        [0, self.called()].contains(&self.one) && [0, self.called()].contains(&self.two)
    }
}

impl<'a> Calls<'a> {
    /// Refuses a file that cannot have the genotypes of so many samples and variants.
    pub(super) fn open(input: Input<'_>, room: &Room<'a>, samples: usize, variants: usize) -> Result<Self, Error> {
        let file = room.file;
        let (mut source, held) = input.source(room)?;
        let length = source.length(file)?;
        let mut head = Vec::new();
        (&mut source).take(HEADER).read_to_end(&mut head).map_err(|error| failed(file, error))?;
        check_head(file, &head)?;
        let line = samples.div_ceil(4);
        let needed = (variants as u64).saturating_mul(line as u64).saturating_add(HEADER);
        if length != needed {
            let what = if length < needed { "it is cut short" } else { "it is longer" };
            let problem = format!(
                "{length} bytes, and the {variants} variants of the .bim for the {samples} samples of the .fam take {needed}: {what}, or \
                 the three files do not belong together"
            );
            return Err(Error::unsupported(file, "its length", problem, WRITE_AGAIN));
        }
        let mut block = room.part();
        block.set(BLOCK.max(line) as u64, At::Row(1))?;
        Ok(Self { file, source, line, _held: held, _block: block })
    }

    /// Reads variants, whose numbers increase, and passes them on a block at a time: the place of the first one in the list, and their
    /// bytes.
    fn each_block(&mut self, wanted: &[usize], mut take: impl FnMut(usize, &[&[u8]])) -> Result<(), Error> {
        let (line, most) = (self.line, (BLOCK / self.line.max(1)).max(1));
        let mut bytes = Vec::new();
        let mut first = 0;
        while let Some(&from) = wanted.get(first) {
            let count = wanted[first..].partition_point(|variant| variant - from < most);
            let rows = wanted[first + count - 1] - from + 1;
            bytes.resize(rows * line, 0);
            let start = HEADER + from as u64 * line as u64;
            let read = self.source.seek(SeekFrom::Start(start)).and_then(|_| self.source.read_exact(&mut bytes));
            read.map_err(|error| failed(self.file, error))?;
            let of = |variant: &usize| &bytes[(variant - from) * line..(variant - from + 1) * line];
            let lines: Vec<&[u8]> = wanted[first..first + count].iter().map(of).collect();
            take(first, &lines);
            first += count;
        }
        Ok(())
    }

    /// How often each of these variants has which genotype among the samples.
    pub(super) fn count(&mut self, wanted: &[usize], samples: &[usize]) -> Result<Vec<Counts>, Error> {
        let mut mask = vec![0_u8; self.line];
        samples.iter().for_each(|sample| mask[sample / 4] |= 1 << (2 * (sample % 4)));
        let mut counts = vec![Counts::default(); wanted.len()];
        self.each_block(wanted, |first, lines| {
            let places = counts[first..first + lines.len()].par_iter_mut();
            places.zip(lines).for_each(|(place, line)| *place = counted(line, &mask, samples.len()));
        })?;
        Ok(counts)
    }

    /// The genotypes of these variants as copies of an allele, one column for each: here alone they become numbers.
    pub(super) fn decode(
        &mut self,
        wanted: &[(usize, Allele)],
        samples: &[usize],
        columns: &mut [f64],
    ) -> Result<(), Error> {
        let variants: Vec<usize> = wanted.iter().map(|(variant, _)| *variant).collect();
        let rows = samples.len();
        self.each_block(&variants, |first, lines| {
            let columns = columns[first * rows..(first + lines.len()) * rows].par_chunks_mut(rows.max(1));
            columns.zip(lines).enumerate().for_each(|(at, (column, line))| {
                let copies = copies(wanted[first + at].1);
                for (value, sample) in column.iter_mut().zip(samples) {
                    *value = copies[usize::from(line[sample / 4] >> (2 * (sample % 4)) & 0b11)];
                }
            });
        })
    }
}

/// What the two bits of a genotype count.
fn copies(counted: Allele) -> [f64; 4] {
    match counted {
        Allele::A1 => [2.0, MISSING, 1.0, 0.0],
        Allele::A2 => [0.0, MISSING, 1.0, 2.0],
    }
}

fn counted(line: &[u8], mask: &[u8], samples: usize) -> Counts {
    let (mut one, mut missing, mut none) = (0, 0, 0);
    for (byte, mask) in line.iter().zip(mask) {
        let (low, high) = (byte & LOW, byte >> 1 & LOW);
        one += (high & !low & mask).count_ones() as usize;
        missing += (low & !high & mask).count_ones() as usize;
        none += (low & high & mask).count_ones() as usize;
    }
    Counts { one, two: samples - one - missing - none, missing, samples }
}

/// Refuses what does not begin as genotypes do, variant by variant.
pub(super) fn check_head(file: &str, head: &[u8]) -> Result<(), Error> {
    let refuse =
        |problem: String, instead| Err(Error::unsupported(file, "its beginning", problem, FileRemedy::Do(instead)));
    if !head.starts_with(&MAGIC) {
        let begin: Vec<String> = head.iter().take(3).map(|byte| format!("{byte:02x}")).collect();
        return refuse(
            format!("it begins with {:?}, and genotypes of PLINK with \"6c 1b 01\"", begin.join(" ")),
            "name the .bed that PLINK writes (make-bed); intervals of a genome, which are called .bed as well, are no genotypes",
        );
    }
    match head.get(2) {
        Some(1) => Ok(()),
        Some(0) => refuse(
            "its samples come one after another (\"6c 1b 00\"), and its variants should (\"6c 1b 01\")".to_owned(),
            "PLINK writes it variant by variant (make-bed)",
        ),
        Some(_) => refuse(
            "it is no .bed of PLINK 1, but perhaps a .pgen of PLINK 2".to_owned(),
            "PLINK 2 writes a .bed, a .bim and a .fam of it (make-bed)",
        ),
        None => refuse("it ends after two bytes".to_owned(), "write it again with PLINK (make-bed)"),
    }
}
