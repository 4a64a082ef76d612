//! Products that say nothing beyond their factors.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::FeatureMatrix;

/// With fewer samples, columns of two values are no sign of two kinds.
const FEWEST_SAMPLES: usize = 5;

/// Products of columns that are no monomials, because on the samples they are affine functions of their factors: powers of a column of two
/// values, and products of two labels of one factor, of which no sample has both.
///
/// Two values stay two values whatever a column is shifted and multiplied by. A product with such a product among its factors is none either.
///
/// ```
/// use banach::{FeatureMatrix, data::ExcludedProducts};
///
/// // Three labels of one factor, a flag, and a number.
/// let rows = [[1.0, 0.0, 0.0, 1.0, 0.3], [0.0, 1.0, 0.0, 1.0, 0.1], [0.0, 0.0, 1.0, 0.0, 0.7], [1.0, 0.0, 0.0, 0.0, 0.2], [0.0, 1.0, 0.0, 0.0, 0.9]];
/// let excluded = ExcludedProducts::of(&FeatureMatrix::from_rows(5, 5, &rows.concat())?).expect("labels and a flag");
/// assert!(excluded.excludes(&[0, 1]) && excluded.excludes(&[3, 3]) && excluded.excludes(&[0, 2, 4]));
/// assert!(!excluded.excludes(&[0, 3]) && !excluded.excludes(&[4, 4]) && !excluded.excludes(&[1, 3, 4]));
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExcludedProducts {
    /// The factor of which a column is a label; its own number where it is none.
    factors: Vec<u32>,
    two_values: Vec<bool>,
}

impl ExcludedProducts {
    /// The products that samples exclude, if there are any. Labels of a factor are columns next to each other, each of two values, of which no
    /// sample has two at the larger one.
    pub fn of(x: &FeatureMatrix<'_>) -> Option<Arc<Self>> {
        let (n, d) = (x.samples(), x.features());
        if n < FEWEST_SAMPLES {
            return None;
        }
        let mut found = Self { factors: (0..d as u32).collect(), two_values: vec![false; d] };
        let (mut column, mut taken) = (vec![0.0; n], vec![false; n]);
        for j in 0..d {
            x.column_into(j, &mut column);
            let Some(larger) = larger_of_two(&column) else { continue };
            found.two_values[j] = true;
            let follows = j > 0 && found.two_values[j - 1];
            if follows && !column.iter().zip(&taken).any(|(x, taken)| *taken && *x == larger) {
                found.factors[j] = found.factors[j - 1];
            } else {
                taken.fill(false);
            }
            taken.iter_mut().zip(&column).for_each(|(taken, x)| *taken |= *x == larger);
        }
        found.two_values.contains(&true).then(|| Arc::new(found))
    }

    /// The number of columns.
    pub(crate) fn columns(&self) -> usize {
        self.factors.len()
    }

    /// Whether the product of these columns, each as often as it occurs and in increasing order, is no monomial.
    pub fn excludes(&self, columns: &[usize]) -> bool {
        (1..columns.len()).any(|at| self.conflicts(&columns[..at], columns[at]))
    }

    /// Whether a column and one of others make a product that is no monomial.
    pub(crate) fn conflicts(&self, others: &[usize], column: usize) -> bool {
        others.iter().any(|&other| self.pair(other, column))
    }

    /// Whether the product of two columns, or the square of one, is no monomial.
    pub(crate) fn pair(&self, first: usize, second: usize) -> bool {
        if first == second { self.two_values[first] } else { self.factors[first] == self.factors[second] }
    }

    /// Whether a column is in any of these products.
    pub(crate) fn concerns(&self, column: usize) -> bool {
        self.two_values[column]
    }

    /// How many products of so many columns are monomials, with powers unless columns are distinct.
    ///
    /// A product takes at most one column of every factor, with one power if that has two values: the coefficient of `t^degree` in the product
    /// over factors of `1 + sum_j (t + t^2 + ...)`.
    pub(crate) fn count(&self, degree: usize, distinct: bool) -> u64 {
        let mut ways = vec![0_u64; degree + 1];
        ways[0] = 1;
        for group in self.factors.chunk_by(|a, b| a == b) {
            let first = group[0] as usize;
            let highest = if distinct || self.two_values[first] { 1 } else { degree };
            for size in (1..=degree).rev() {
                let own: u64 = (1..=highest.min(size)).map(|power| ways[size - power]).sum();
                ways[size] = ways[size].saturating_add(own.saturating_mul(group.len() as u64));
            }
        }
        ways[degree]
    }
}

/// Which products of variables are monomials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interactions {
    /// Those that the samples do not exclude ([`ExcludedProducts::of`]).
    #[default]
    Possible,
    /// All of them.
    All,
}

impl Interactions {
    /// What files say that were written before there was a choice.
    pub fn of_old_files() -> Self {
        Self::All
    }

    /// The products of columns that are no monomials, for a kernel up to a degree. Those of every degree have all: their sum is a formula.
    pub(crate) fn excluded(self, x: &FeatureMatrix<'_>, highest: Option<usize>) -> Option<Arc<ExcludedProducts>> {
        if self == Self::All || highest.is_none_or(|highest| highest < 2) {
            return None;
        }
        x.excluded().cloned().or_else(|| ExcludedProducts::of(x))
    }
}

/// The larger of the two values of a column; `None` if it has one, or more.
fn larger_of_two(column: &[f64]) -> Option<f64> {
    let (low, high) =
        column.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
    (low < high && column.iter().all(|x| *x == low || *x == high)).then_some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the columns are shifted and scaled by, sparse or not; and counts are those of a list.
    #[test]
    fn products_are_counted_and_found_in_any_units() {
        let rows: Vec<[f64; 6]> = (0..12_u32)
            .map(|i| {
                let label = |own: u32| f64::from(u8::from(i % 3 == own));
                [f64::from(i * i % 7), label(0), label(1), label(2), f64::from(u8::from(i > 4)), f64::from(i)]
            })
            .collect();
        let moved: Vec<f64> = rows.concat().iter().map(|x| 3.0 * x - 1.0).collect();
        let [plain, moved] = [&rows.concat(), &moved]
            .map(|rows| ExcludedProducts::of(&FeatureMatrix::from_rows(12, 6, rows).expect("finite")).expect("labels"));
        assert_eq!(plain, moved);
        assert_eq!((&plain.factors[..], plain.concerns(0)), (&[0, 1, 1, 1, 4, 5][..], false));
        for (degree, distinct) in [(1, false), (2, false), (2, true), (3, false), (3, true)] {
            let mut all = vec![vec![]];
            for _ in 0..degree {
                let longer = |one: &Vec<usize>| {
                    let first = one.last().map_or(0, |last| last + usize::from(distinct));
                    (first..6).map(|next| [&one[..], &[next]].concat()).collect::<Vec<_>>()
                };
                all = all.iter().flat_map(longer).collect();
            }
            let allowed = all.iter().filter(|one| !plain.excludes(one)).count() as u64;
            assert_eq!(plain.count(degree, distinct), allowed, "{degree} {distinct}");
        }
    }

    #[test]
    fn numbers_and_few_samples_exclude_nothing() {
        let x = FeatureMatrix::from_rows(5, 2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 9.5]).expect("finite");
        assert_eq!(ExcludedProducts::of(&x), None);
        let x = FeatureMatrix::from_rows(4, 1, &[0.0, 1.0, 0.0, 1.0]).expect("finite");
        assert_eq!(ExcludedProducts::of(&x), None);
    }
}
