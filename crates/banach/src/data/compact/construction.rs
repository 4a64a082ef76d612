//! Matrices of compact columns, and their checks.

use std::{borrow::Cow, sync::Arc};

use rayon::prelude::*;

use super::{Compact, Numbers, TwoBit, two_bit::PER_BYTE};
use crate::{
    Error, FeatureMatrix,
    data::feature_matrix::{MAX_ENTRY, Storage, check_size},
    numeric::largest,
};

impl<'a> FeatureMatrix<'a> {
    /// A dense matrix from its columns in f32, one after another: half the memory of f64, and answers to the last bit those of the same
    /// numbers in f64.
    ///
    /// ```
    /// use banach::FeatureMatrix;
    ///
    /// let x = FeatureMatrix::from_columns_f32(2, 2, &[1.0_f32, 0.5, -2.0, 0.0][..])?;
    /// assert_eq!(x.row(1), [0.5, 0.0]);
    /// # Ok::<(), banach::Error>(())
    /// ```
    pub fn from_columns_f32(samples: usize, features: usize, values: impl Into<Cow<'a, [f32]>>) -> Result<Self, Error> {
        let values = values.into();
        check_size(samples, features, values.len())?;
        Self::from_compact(samples, features, Compact::F32(Numbers::new(samples, values)))
    }

    /// A dense matrix from its columns of whole numbers from -128 to 127, one after another: an eighth of the memory of f64.
    ///
    /// ```
    /// use banach::FeatureMatrix;
    ///
    /// let x = FeatureMatrix::from_columns_i8(2, 2, &[1_i8, 0, -2, 127][..])?;
    /// assert_eq!(x.row(1), [0.0, 127.0]);
    /// # Ok::<(), banach::Error>(())
    /// ```
    pub fn from_columns_i8(samples: usize, features: usize, values: impl Into<Cow<'a, [i8]>>) -> Result<Self, Error> {
        let values = values.into();
        check_size(samples, features, values.len())?;
        Self::from_compact(samples, features, Compact::I8(Numbers::new(samples, values)))
    }

    /// A dense matrix of at most four different numbers in every column, two bits for each entry. Four entries are in a byte, the first in
    /// its lowest bits, and every column begins with a byte of its own, as in a BED file of PLINK; `levels` are, for each column, the
    /// numbers that the codes 0 to 3 mean. [`Genotypes`](crate::data::Genotypes) finds those of genotypes.
    ///
    /// ```
    /// use banach::FeatureMatrix;
    ///
    /// let x = FeatureMatrix::from_two_bit(3, 1, &[0b10_01_00][..], vec![[0.5, -1.0, 7.0, 0.0]])?;
    /// assert_eq!([0, 1, 2].map(|sample| x.row(sample)[0]), [0.5, -1.0, 7.0]);
    /// # Ok::<(), banach::Error>(())
    /// ```
    pub fn from_two_bit(
        samples: usize,
        features: usize,
        bytes: impl Into<Cow<'a, [u8]>>,
        levels: impl Into<Arc<[[f64; 4]]>>,
    ) -> Result<Self, Error> {
        let (bytes, levels) = (bytes.into(), levels.into());
        Error::check_length("the bytes of X", bytes.len(), samples.div_ceil(PER_BYTE).saturating_mul(features))?;
        Error::check_length("the levels of X", levels.len(), features)?;
        Self::from_compact(samples, features, Compact::TwoBit(TwoBit::new(samples, bytes, levels)))
    }

    /// The checked matrix.
    pub(in crate::data) fn from_compact(samples: usize, features: usize, columns: Compact<'a>) -> Result<Self, Error> {
        if samples == 0 || features == 0 {
            return Err(Error::Empty { what: "X" });
        }
        let wrong = |column: usize| {
            let mut found = None;
            columns.visit(column, samples, |range, values| {
                let at = values.iter().position(|value| !is_good(*value));
                found = found.or(at.map(|at| (range.start + at, values[at])));
            });
            found.map(|(row, value)| Error::BadEntry { what: "X", row, column, value, limit: MAX_ENTRY })
        };
        let size = |column: usize| {
            let (mut size, mut good) = (0.0_f64, true);
            columns.visit(column, samples, |_, values| {
                // What is no number is no largest one.
                good = good && values.iter().all(|value| is_good(*value));
                size = size.max(largest(values));
            });
            if good { Ok(size) } else { Err(column) }
        };
        let sizes = (0..features).into_par_iter().with_min_len(64).map(size);
        match sizes.try_reduce(|| 0.0, |a, b| Ok(a.max(b))) {
            Ok(size) => Ok(Self::checked(samples, features, Storage::Compact(columns), size)),
            Err(_) => Err((0..features).find_map(wrong).expect("some entry is none")),
        }
    }
}

fn is_good(value: f64) -> bool {
    value.abs() <= MAX_ENTRY
}
