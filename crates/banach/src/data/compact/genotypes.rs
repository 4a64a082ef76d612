//! What the codes of genotypes mean.

use rayon::prelude::*;

use super::two_bit::PER_BYTE;
use crate::Error;

/// The numbers of copies of an allele that two bits mean in the order of PLINK: 00 is 2, 10 is 1, 11 is 0, and 01 is missing, which
/// counts as the mean of its column.
///
/// ```
/// use banach::{FeatureMatrix, data::Genotypes};
///
/// // One variant of five samples: 2, 1, 0, missing, 1; the last byte is filled up.
/// let bytes = [0b01_11_10_00, 0b10];
/// let Genotypes { levels, missing } = Genotypes::of(5, &bytes)?;
/// assert_eq!((levels[0], missing[0]), ([2.0, 1.0, 1.0, 0.0], 1));
/// let x = FeatureMatrix::from_two_bit(5, 1, &bytes[..], levels)?;
/// assert_eq!(x.row(3), [1.0]);
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Genotypes {
    /// What the codes 0 to 3 of every column mean.
    pub levels: Vec<[f64; 4]>,
    /// The number of entries of every column that are missing.
    pub missing: Vec<usize>,
}

impl Genotypes {
    /// Those of columns of whole bytes. A column without a genotype is 0.
    pub fn of(samples: usize, bytes: &[u8]) -> Result<Self, Error> {
        if samples == 0 {
            return Err(Error::Empty { what: "X" });
        }
        let length = samples.div_ceil(PER_BYTE);
        Error::check_length("the bytes of X", bytes.len(), bytes.len() / length * length)?;
        let column = |bytes: &[u8]| {
            let [twos, missing, ones, zeros] = counts(samples, bytes);
            let known = (twos + ones + zeros).max(1);
            ([2.0, (2 * twos + ones) as f64 / known as f64, 1.0, 0.0], missing)
        };
        let (levels, missing) = bytes.par_chunks(length).map(column).unzip();
        Ok(Self { levels, missing })
    }
}

/// How often each code occurs in a column.
fn counts(samples: usize, bytes: &[u8]) -> [usize; 4] {
    let mut counts = [0; 4];
    for (at, byte) in bytes.iter().enumerate() {
        let inside = (samples - PER_BYTE * at).min(PER_BYTE);
        let known = 0x55 & (!0 >> (8 - 2 * inside));
        let (low, high) = (byte & known, byte >> 1 & known);
        for (count, places) in counts.iter_mut().zip([!low & !high & known, low & !high, high & !low, low & high]) {
            *count += places.count_ones() as usize;
        }
    }
    counts
}
