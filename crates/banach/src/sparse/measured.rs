//! A function of standardised columns as one of the columns as they were measured.

use super::SparseFunction;
use crate::{Error, data::ColumnUnits};

impl SparseFunction {
    /// The same function of the columns before they were standardised: `a ((v - m)/s - c)^k` is `a/s^k (v - (m + s c))^k`, so no term is
    /// multiplied out, and what is known of a coefficient holds in the new units. Refused if a coefficient leaves the range of numbers.
    pub fn measured(&self, units: ColumnUnits<'_>) -> Result<Self, Error> {
        let mut own = self.clone();
        for term in &mut own.terms {
            let power = |&(j, power): &(usize, usize)| units.deviations[j].powi(power as i32);
            let over: f64 = term.monomial.factors().iter().map(power).product();
            for value in [&mut term.coefficient, &mut term.refit, &mut term.std_error, &mut term.lower, &mut term.upper]
            {
                *value /= over;
            }
        }
        let columns = units.means.iter().zip(units.deviations).enumerate();
        own.centres = columns.map(|(j, (mean, deviation))| mean + deviation * self.centre(j)).collect();
        if own.centres.iter().all(|centre| *centre == 0.0) {
            own.centres.clear();
        }
        for (j, least, largest) in own.extent.iter_mut().flat_map(|extent| &mut extent.ranges) {
            let (mean, deviation) = (units.means[*j], units.deviations[*j]);
            (*least, *largest) = (mean + deviation * *least, mean + deviation * *largest);
        }
        own.explicit()?;
        Ok(own)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Account, FeatureMatrix, Memory, data::ColumnUnits, kernel::KernelSpec, sparse::SparseSpec};

    #[test]
    fn values_and_equations_are_those_of_standardised_columns() {
        let (n, means, deviations) = (60, [0.5, 0.0, -200.0], [0.1, 1.0, 40.0]);
        let jumble = |k: usize| ((k * k) as f64 * 0.618_033_988).fract() * 2.0 - 1.0;
        let z: Vec<f64> = (0..3 * n).map(|k| jumble(k + 1)).collect();
        let y: Vec<f64> = (0..n).map(|i| 2.0 * z[i] * z[2 * n + i] - z[n + i] + 0.01 * jumble(i + 999)).collect();
        let measured: Vec<f64> = (0..3 * n).map(|k| means[k / n] + deviations[k / n] * z[k]).collect();
        let matrix = |values: Vec<f64>| FeatureMatrix::from_columns(n, 3, values).expect("finite");
        let (z, x) = (matrix(z), matrix(measured));
        let kernel = KernelSpec::Poly { degree: 2, scale: 1.0, coef0: 1.0, degrees: Some((1, 2)) };
        let spec = SparseSpec { kernel, ..SparseSpec::default() };
        let own = spec.run(&z, &y, None, &Account::new(Memory::available())).expect("a fit");
        assert!(own.terms().len() >= 2, "{own:?}");
        let found = own.measured(ColumnUnits { means: &means, deviations: &deviations }).expect("in range");
        let (before, after) = (own.predict(&z).expect("finite"), found.predict(&x).expect("finite"));
        let in_units = own.written(Some(ColumnUnits { means: &means, deviations: &deviations })).expect("finite");
        let written = found.written(None).expect("finite");
        assert!(written.substitutions().is_empty() && in_units.substitutions().is_empty(), "{written:?}");
        for ((k, a), (l, b)) in written.model().terms().iter().zip(in_units.model().terms()) {
            assert!(k == l && (a - b).abs() <= 1e-12 * b.abs(), "{k:?} {a} {b}");
        }
        for (before, after) in before.iter().zip(&after) {
            assert!((before - after).abs() < 1e-12, "{before} {after}");
        }
    }
}
