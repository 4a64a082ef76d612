use serde::{Deserialize, Serialize};

use crate::{
    error::{Parameter, names},
    numeric::{largest, vectorised},
};

/// How large the features of a kernel are on the samples at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MonomialScale {
    /// As the kernel has them: `c_k^(1/q) x^k`.
    #[default]
    Raw,
    /// `x^k` divided by the root of its mean square over the samples.
    Unit,
    /// `x^k` less its mean over the samples, divided by its standard deviation there: scikit-learn's
    /// `PolynomialFeatures` followed by `StandardScaler`.
    Standardized,
}

names! {
    MonomialScale, Parameter::Monomials, "raw, unit or standardized";
    Raw "raw", Unit "unit", Standardized "standardized"
}

impl MonomialScale {
    /// The factor that brings a monomial to this scale, from its mean and its mean square over the samples; 0 for one that
    /// is 0, or constant where it is to be standardised. For a raw one it is 1.
    #[inline(always)]
    pub(crate) fn factor(self, mean: f64, mean_square: f64) -> f64 {
        let (square, least) = match self {
            Self::Raw => return 1.0,
            Self::Unit => (mean_square, 0.0),
            Self::Standardized => (mean_square - mean * mean, CONSTANT * mean_square),
        };
        if square > least && square > f64::MIN_POSITIVE { 1.0 / square.sqrt() } else { 0.0 }
    }

    /// What is to be subtracted from a column, and the factor that follows.
    pub(crate) fn of_column(self, column: &[f64]) -> (f64, f64) {
        let size = largest(column);
        if self == Self::Raw || size == 0.0 {
            return (0.0, if self == Self::Raw { 1.0 } else { 0.0 });
        }
        let n = column.len() as f64;
        let [sum, square] = sums(column, |x| [x / size, (x / size) * (x / size)]);
        let (centre, square) = (sum / n, square / n);
        if self == Self::Unit {
            return (0.0, self.factor(0.0, square) / size);
        }
        let [_, variance] = sums(column, |x| [0.0, (x / size - centre) * (x / size - centre)]);
        let variance = variance / n;
        // Without the cancellation that `factor` has to accept.
        if self.factor(0.0, variance) == 0.0 || variance <= CONSTANT * square {
            return (centre * size, 0.0);
        }
        (centre * size, 1.0 / (variance.sqrt() * size))
    }
}

/// A monomial whose variance is at most this share of its mean square counts as constant: from sums of squares its
/// standard deviation would not be known to six digits.
const CONSTANT: f64 = 1e-9;

/// Numbers that are added side by side: an addition takes about four cycles, in which the others go on.
const LANES: usize = 8;

/// The sums of two functions of the entries of a column.
fn sums(column: &[f64], terms: impl Fn(f64) -> [f64; 2]) -> [f64; 2] {
    vectorised(
        #[inline(always)]
        move || {
            let mut lanes = [[0.0; LANES]; 2];
            for part in column.chunks(LANES) {
                for (lane, x) in part.iter().enumerate() {
                    let [a, b] = terms(*x);
                    lanes[0][lane] += a;
                    lanes[1][lane] += b;
                }
            }
            lanes.map(|lanes| lanes.iter().sum())
        },
    )
}
