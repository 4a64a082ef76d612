//! `K(x, ..., x)` of every sample: it bounds all other entries, and normalises them.

use crate::{
    Error, FeatureMatrix,
    kernel::{TensorKernel, check_range},
};

/// The diagonal of the Gram tensor, found to be in range.
#[derive(Debug, Clone)]
pub(crate) struct Diagonal {
    /// `ln K(x_i, ..., x_i)/q` for a normalised kernel, [`VANISHED`] where `K` is 0; otherwise empty.
    pub shifts: Vec<f64>,
    /// `ln ||Phi(x_i)||_q`, where the features of a normalised kernel have norm 1.
    pub ln_sizes: Vec<f64>,
    /// The largest `|ln K(x_i, ..., x_i)|`.
    pub largest_ln: f64,
    /// `p_1 = sum_j x_ij^q` of every sample, and the largest of them.
    pub sums: Vec<f64>,
    pub largest: f64,
}

/// Below `e^-640`, about 1e-278, products of entries with dual vectors lose digits to underflow.
const LN_SMALLEST: f64 = -640.0;

/// The shift of a sample without features: `e^-1e300` is 0, and so are all its entries, also where rounding leaves something of
/// interactions.
const VANISHED: f64 = 1e300;

impl Diagonal {
    /// The diagonal of the samples.
    pub(crate) fn of_samples(kernel: &dyn TensorKernel, x: &FeatureMatrix<'_>, order: usize) -> Result<Self, Error> {
        let sums = DiagonalSums::new(kernel, x, order);
        check_largest(kernel, "X", sums.first())?;
        sums.refuse_underflow(kernel, "X", x)?;
        Ok(sums.diagonal(kernel, order))
    }

    /// The diagonal of new points, which meet q - 1 samples each: `|p_1| <= p_1(x_i)^((q-1)/q) p_1(x)^(1/q)` (Hoelder).
    pub(crate) fn of_points(
        &self,
        kernel: &dyn TensorKernel,
        x: &FeatureMatrix<'_>,
        order: usize,
    ) -> Result<Self, Error> {
        let sums = DiagonalSums::new(kernel, x, order);
        // A sum that underflowed is not 0.
        let samples = self.largest.max(f64::MIN_POSITIVE).powf(1.0 - 1.0 / order as f64);
        let orders = kernel.symmetric() as i32;
        let met = |&p_1: &f64| {
            // The sums of a point must be finite by themselves.
            let alone = kernel.normalized() || !p_1.powi(orders).is_finite();
            if alone { p_1 } else { samples * p_1.powf(1.0 / order as f64) }
        };
        check_largest(kernel, "the new X", &sums.first().iter().map(met).collect::<Vec<_>>())?;
        if kernel.normalized() {
            sums.refuse_underflow(kernel, "the new X", x)?;
        }
        Ok(sums.diagonal(kernel, order))
    }
}

/// Refuses the sample that is farthest out of range, so that what helps it helps all.
fn check_largest(kernel: &dyn TensorKernel, what: &'static str, p_1: &[f64]) -> Result<(), Error> {
    let farthest = p_1.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
    farthest.map_or(Ok(()), |(row, &p_1)| check_range(kernel, what, row, p_1))
}

/// `e_m` of the powers `x_ij^q`: the samples of m = 1, then those of m = 2, and so on.
struct DiagonalSums {
    samples: usize,
    sums: Vec<f64>,
}

impl DiagonalSums {
    fn new(kernel: &dyn TensorKernel, x: &FeatureMatrix<'_>, order: usize) -> Self {
        let samples = x.samples();
        let orders = kernel.symmetric();
        let mut sums = vec![0.0; samples * orders];
        let mut column = vec![0.0; samples];
        for j in 0..x.features() {
            x.column_into(j, &mut column);
            column.iter_mut().for_each(|x| *x = x.powi(order as i32));
            for (i, z) in column.iter().enumerate() {
                for m in (1..orders).rev() {
                    sums[m * samples + i] += z * sums[(m - 1) * samples + i];
                }
                sums[i] += z;
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
        let values: Vec<f64> = self.ln_values(kernel).collect();
        // Without normalisation a small sample is harmless beside a large one.
        if !kernel.normalized() && values.iter().any(|&ln| ln >= LN_SMALLEST) {
            return Ok(());
        }
        let mut column = vec![0.0; self.samples];
        let mut sizes = vec![0.0_f64; self.samples];
        for j in 0..x.features() {
            x.column_into(j, &mut column);
            sizes.iter_mut().zip(&column).for_each(|(size, x)| *size = size.max(x.abs()));
        }
        // Interactions may vanish at any size of the variables, for want of variables, and logarithms know the powers of a
        // small number: there the sums tell.
        let (lowest, _) = kernel.degrees();
        let smallest = match (kernel.symmetric() > 1, kernel.normalized()) {
            (true, _) => (LN_SMALLEST / lowest as f64).exp(),
            (false, true) => LN_SMALLEST.exp(),
            (false, false) => f64::INFINITY,
        };
        let lost = |&row: &usize| sizes[row] > 0.0 && values[row] < LN_SMALLEST && self.first()[row] < smallest;
        match (0..self.samples).find(lost) {
            Some(row) => Err(Error::KernelUnderflow { kernel: kernel.name(), what, row, size: sizes[row] }),
            None => Ok(()),
        }
    }

    fn diagonal(&self, kernel: &dyn TensorKernel, order: usize) -> Diagonal {
        let shift = |ln: f64| if ln == f64::NEG_INFINITY { VANISHED } else { ln / order as f64 };
        let shifts = if kernel.normalized() { self.ln_values(kernel).map(shift).collect() } else { Vec::new() };
        let divided = |ln: f64| kernel.normalized() && ln > f64::NEG_INFINITY;
        let ln_sizes = self.ln_values(kernel).map(|ln| if divided(ln) { 0.0 } else { ln / order as f64 });
        let largest_ln =
            self.ln_values(kernel).filter(|ln| ln.is_finite()).fold(0.0_f64, |most, ln| most.max(ln.abs()));
        let largest = self.first().iter().copied().fold(0.0, f64::max);
        Diagonal { shifts, ln_sizes: ln_sizes.collect(), largest_ln, sums: self.first().to_vec(), largest }
    }
}
