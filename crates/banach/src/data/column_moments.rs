//! Mean and standard deviation of a column, and the column with mean 0 and deviation 1.

/// The mean and the standard deviation of a column, to all their digits: what `(x - mean)/deviation` takes.
///
/// ```
/// use banach::data::ColumnMoments;
///
/// let mut column = [1.0, 2.0, 3.0, 6.0];
/// let moments = ColumnMoments::standardize(&mut column).expect("it varies");
/// assert_eq!((moments.mean, moments.deviation), (3.0, 3.5_f64.sqrt()));
/// let mut new = [3.0];
/// moments.apply(&mut new);
/// assert_eq!(new, [0.0]);
/// assert_eq!(ColumnMoments::of(&[7.0, 7.0], 0), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColumnMoments {
    /// What is taken off: the mean, or 0 of a column that stays sparse.
    pub mean: f64,
    /// What is missing to the mean beyond the digits of an f64; 0 but for columns far from 0.
    pub correction: f64,
    /// The standard deviation, `sqrt(sum (x - mean)^2/n)`.
    pub deviation: f64,
}

impl ColumnMoments {
    /// Those of a column with so many zeros beside these values; `None` for a constant, up to rounding.
    pub fn of(values: &[f64], zeros: usize) -> Option<Self> {
        Some(InRange::of(values, zeros)?.moments())
    }

    /// Gives a column mean 0 and standard deviation 1. `None`, and the column as it was, for a constant.
    pub fn standardize(values: &mut [f64]) -> Option<Self> {
        let own = InRange::of(values, 0)?;
        values.iter_mut().for_each(|x| *x = own.centred(*x) / own.deviation);
        Some(own.moments())
    }

    /// Gives a column of these values and so many zeros standard deviation 1, without moving it: zeros stay zeros.
    pub fn scale(values: &mut [f64], zeros: usize) -> Option<Self> {
        let own = InRange::of(values, zeros)?;
        values.iter_mut().for_each(|x| *x = own.scale * *x / own.deviation);
        Some(Self { mean: 0.0, correction: 0.0, ..own.moments() })
    }

    /// Does to new values of the column what was done to those that it was made from.
    pub fn apply(&self, values: &mut [f64]) {
        // A power of two, so that differences of large numbers stay in range.
        let scale = if self.mean.abs().max(self.deviation) > 1e100 { 2.0_f64.powi(-600) } else { 1.0 };
        let (mean, correction, deviation) = (scale * self.mean, scale * self.correction, scale * self.deviation);
        values.iter_mut().for_each(|x| *x = ((scale * *x - mean) - correction) / deviation);
    }
}

/// The moments of `scale x`, whose squares are in range.
struct InRange {
    /// A power of two.
    scale: f64,
    /// The mean, rounded as a sum of large numbers is.
    centre: f64,
    /// What is missing to the mean: far from 0, its digits are not those of the centre.
    correction: f64,
    deviation: f64,
}

impl InRange {
    fn of(column: &[f64], zeros: usize) -> Option<Self> {
        let first = if zeros > 0 { 0.0 } else { *column.first()? };
        if column.iter().all(|x| *x == first) {
            return None;
        }
        let scale = match column.iter().fold(0.0_f64, |size, x| size.max(x.abs())) {
            size if size > 1e100 => 2.0_f64.powi(-600),
            size if size < 1e-100 => 2.0_f64.powi(600),
            _ => 1.0,
        };
        let (n, zeros) = ((column.len() + zeros) as f64, zeros as f64);
        let centre = column.iter().map(|x| scale * x).sum::<f64>() / n;
        let correction = (column.iter().map(|x| scale * x - centre).sum::<f64>() - zeros * centre) / n;
        let mut own = Self { scale, centre, correction, deviation: 0.0 };
        let squares = column.iter().map(|x| own.centred(*x).powi(2)).sum::<f64>();
        own.deviation = ((squares + zeros * own.centred(0.0).powi(2)) / n).sqrt();
        let varies = own.deviation > 8.0 * f64::EPSILON * (centre + correction).abs();
        (varies && own.deviation / scale > 0.0).then_some(own)
    }

    /// `scale x` less its mean. Nearby numbers have an exact difference, so nothing cancels.
    fn centred(&self, x: f64) -> f64 {
        (self.scale * x - self.centre) - self.correction
    }

    fn moments(&self) -> ColumnMoments {
        let mean = self.centre + self.correction;
        ColumnMoments {
            mean: mean / self.scale,
            correction: ((self.centre - mean) + self.correction) / self.scale,
            deviation: self.deviation / self.scale,
        }
    }
}
