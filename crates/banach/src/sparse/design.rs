//! Least squares with weights and an intercept, as projections of vectors of unit length.

use std::ops::RangeInclusive;

use crate::{Error, numeric::dot_in_lanes};

/// The target and the constant in the geometry of weighted least squares: sample i is multiplied by the root of its weight.
#[derive(Debug, Clone)]
pub(crate) struct Design {
    /// The roots of the weights, the largest 1.
    roots: Vec<f64>,
    /// The constant, of unit length, where there is an intercept.
    constant: Option<Vec<f64>>,
    /// The target less what the constant explains, of unit length; all zeros where nothing is left.
    target: Vec<f64>,
    /// The length that the target had.
    length: f64,
    /// The sum of the weights.
    total: f64,
}

/// A target of which the constant leaves this share of its length is a constant: the rest is rounding.
const CONSTANT_TARGET: f64 = 1e-14;

/// Sums of squares that neither overflow nor lose digits to numbers that are too small.
const SQUARES: RangeInclusive<f64> = 1e-250..=1e250;

impl Design {
    /// Targets and weights, which are finite and not negative.
    pub(crate) fn new(y: &[f64], sample_weight: Option<&[f64]>, intercept: bool) -> Result<Self, Error> {
        let weights = sample_weight.map_or_else(|| vec![1.0; y.len()], <[f64]>::to_vec);
        let largest = weights.iter().copied().fold(0.0, f64::max);
        if largest == 0.0 {
            return Err(Error::NoWeight { samples: y.len(), largest, gamma: 1.0 });
        }
        let roots: Vec<f64> = weights.iter().map(|weight| (weight / largest).sqrt()).collect();
        let constant = intercept.then(|| unit(roots.clone()).0);
        let size = y.iter().fold(0.0, |size: f64, y| size.max(y.abs()));
        let divisor = if size > 0.0 { size } else { 1.0 };
        let mut target: Vec<f64> = y.iter().zip(&roots).map(|(y, root)| y / divisor * root).collect();
        let whole = dot_in_lanes(&target, &target).sqrt();
        project_out(constant.as_deref(), &mut target);
        let (mut target, length) = unit(target);
        if length <= CONSTANT_TARGET * whole {
            target.fill(0.0);
        }
        Ok(Self { roots, constant, target, length: length * divisor, total: weights.iter().sum() })
    }

    /// Targets that are already multiplied by the roots of their weights, the largest of which is not 0; `samples` is the sum of the weights that
    /// samples have.
    pub(crate) fn of_rooted(mut roots: Vec<f64>, mut target: Vec<f64>, intercept: bool, samples: f64) -> Self {
        let largest = roots.iter().copied().fold(0.0, f64::max);
        roots.iter_mut().for_each(|root| *root /= largest);
        let constant = intercept.then(|| unit(roots.clone()).0);
        project_out(constant.as_deref(), &mut target);
        let (target, length) = unit(target);
        Self { roots, constant, target, length, total: samples }
    }

    /// The factor of every sample.
    pub(crate) fn roots(&self) -> &[f64] {
        &self.roots
    }

    /// The constant, of unit length, where there is an intercept.
    pub(crate) fn constant(&self) -> Option<&[f64]> {
        self.constant.as_deref()
    }

    /// The target, of unit length and orthogonal to the constant.
    pub(crate) fn target(&self) -> &[f64] {
        &self.target
    }

    /// The length of the target before.
    pub(crate) fn length(&self) -> f64 {
        self.length
    }

    /// The length of a column outside of the constant.
    pub(crate) fn size_of(&self, column: &[f64]) -> f64 {
        let mut column: Vec<f64> = column.iter().zip(&self.roots).map(|(x, root)| x * root).collect();
        project_out(self.constant(), &mut column);
        let square = dot_in_lanes(&column, &column);
        if SQUARES.contains(&square) {
            return square.sqrt();
        }
        let largest = column.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
        if largest == 0.0 {
            return 0.0;
        }
        column.iter_mut().for_each(|x| *x /= largest);
        largest * dot_in_lanes(&column, &column).sqrt()
    }

    /// The weighted mean of numbers where there is an intercept, else 0.
    pub(crate) fn mean_of(&self, values: &[f64]) -> f64 {
        if self.constant.is_none() {
            return 0.0;
        }
        let weights = || self.roots.iter().map(|root| root * root);
        values.iter().zip(weights()).map(|(value, weight)| weight * value).sum::<f64>() / weights().sum::<f64>()
    }

    /// How many samples there are, each as often as its weight says.
    pub(crate) fn samples(&self) -> f64 {
        self.total
    }
}

/// Takes from a vector what the constant explains of it.
pub(crate) fn project_out(constant: Option<&[f64]>, vector: &mut [f64]) {
    let Some(constant) = constant else { return };
    // Twice is enough: the second time takes what rounding left.
    for _ in 0..2 {
        let part = dot_in_lanes(constant, vector);
        vector.iter_mut().zip(constant).for_each(|(x, one)| *x -= part * one);
    }
}

/// A vector divided by its length, and the length. A vector of zeros stays.
pub(crate) fn unit(mut vector: Vec<f64>) -> (Vec<f64>, f64) {
    let length = dot_in_lanes(&vector, &vector).sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x /= length);
    }
    (vector, length)
}
