//! `K(x, ..., x)` of every sample: it bounds all other entries, and normalises them.

use crate::{
    Error, FeatureMatrix,
    kernel::{TensorKernel, check_range},
};

/// The diagonal of the Gram tensor, found to be in range.
#[derive(Debug, Clone)]
pub(super) struct Diagonal {
    /// `ln K(x_i, ..., x_i)/q` for a normalised kernel, 0 where `K` is 0; otherwise empty.
    pub shifts: Vec<f64>,
    /// The largest `p_1 = sum_j x_ij^q`.
    pub largest: f64,
}

/// Below this, products of entries with dual vectors lose digits to underflow.
const LN_SMALLEST: f64 = -640.0;

impl Diagonal {
    /// The diagonal of the samples.
    pub(super) fn of_samples(kernel: &dyn TensorKernel, x: &FeatureMatrix<'_>, order: usize) -> Result<Self, Error> {
        let sums = PowerSums::new(kernel, x, order);
        for (row, &p_1) in sums.first().iter().enumerate() {
            check_range(kernel, "X", row, p_1)?;
        }
        sums.refuse_underflow(kernel, "X", x)?;
        Ok(sums.diagonal(kernel, order))
    }

    /// The diagonal of new points, which meet q - 1 samples each: `|p_1| <= p_1(x_i)^((q-1)/q) p_1(x)^(1/q)` (Hoelder).
    pub(super) fn of_points(
        &self,
        kernel: &dyn TensorKernel,
        x: &FeatureMatrix<'_>,
        order: usize,
    ) -> Result<Self, Error> {
        let sums = PowerSums::new(kernel, x, order);
        let samples = self.largest.powf(1.0 - 1.0 / order as f64);
        for (row, &p_1) in sums.first().iter().enumerate() {
            let met = if kernel.normalized() { p_1 } else { samples * p_1.powf(1.0 / order as f64) };
            check_range(kernel, "the new X", row, met)?;
        }
        Ok(sums.diagonal(kernel, order))
    }
}

/// `p_m = sum_j x_ij^(q m)`: the samples of m = 1, then those of m = 2, and so on.
struct PowerSums {
    samples: usize,
    sums: Vec<f64>,
}

impl PowerSums {
    fn new(kernel: &dyn TensorKernel, x: &FeatureMatrix<'_>, order: usize) -> Self {
        let samples = x.samples();
        let mut sums = vec![0.0; samples * kernel.power_sums()];
        let mut column = vec![0.0; samples];
        for j in 0..x.features() {
            x.column_into(j, &mut column);
            column.iter_mut().for_each(|x| *x = x.powi(order as i32));
            for (m, sums) in (1..).zip(sums.chunks_mut(samples)) {
                sums.iter_mut().zip(&column).for_each(|(sum, z)| *sum += z.powi(m));
            }
        }
        Self { samples, sums }
    }

    fn first(&self) -> &[f64] {
        &self.sums[..self.samples]
    }

    /// `ln K(x_i, ..., x_i)`.
    fn ln_values(&self, kernel: &dyn TensorKernel) -> impl Iterator<Item = f64> {
        (0..self.samples).map(move |i| {
            let own: Vec<f64> = self.sums.iter().skip(i).step_by(self.samples).copied().collect();
            kernel.ln_value(&own).1
        })
    }

    /// A kernel without a constant vanishes where its arguments underflow: refused, if that is not what the data say.
    fn refuse_underflow(
        &self,
        kernel: &dyn TensorKernel,
        what: &'static str,
        x: &FeatureMatrix<'_>,
    ) -> Result<(), Error> {
        let mut column = vec![0.0; self.samples];
        let mut size = vec![0.0_f64; self.samples];
        for j in 0..x.features() {
            x.column_into(j, &mut column);
            size.iter_mut().zip(&column).for_each(|(size, x)| *size = size.max(x.abs()));
        }
        let lost = |(i, ln): (usize, f64)| size[i] > 0.0 && ln < LN_SMALLEST;
        // Without normalisation a small sample is harmless beside a large one.
        let values: Vec<f64> = self.ln_values(kernel).collect();
        let mut rows = values.iter().copied().enumerate();
        let row = if kernel.normalized() {
            rows.find(|&row| self.first()[row.0] == 0.0 && lost(row))
        } else if values.iter().all(|&ln| ln < LN_SMALLEST) {
            rows.find(|&row| lost(row))
        } else {
            None
        };
        row.map_or(Ok(()), |(row, _)| Err(Error::KernelUnderflow { kernel: kernel.name(), what, row, size: size[row] }))
    }

    fn diagonal(&self, kernel: &dyn TensorKernel, order: usize) -> Diagonal {
        let shift = |ln: f64| if ln == f64::NEG_INFINITY { 0.0 } else { ln / order as f64 };
        let shifts = if kernel.normalized() { self.ln_values(kernel).map(shift).collect() } else { Vec::new() };
        Diagonal { shifts, largest: self.first().iter().copied().fold(0.0, f64::max) }
    }
}
