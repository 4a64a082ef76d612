//! What was done to columns before a model saw them.

/// A column is `(variable - mean)/deviation`.
#[derive(Debug, Clone, Copy)]
pub struct ColumnUnits<'a> {
    /// The mean of every variable.
    pub means: &'a [f64],
    /// The standard deviation of every variable.
    pub deviations: &'a [f64],
}

impl ColumnUnits<'_> {
    /// The point at which every variable is 0.
    pub(crate) fn origin(&self) -> Vec<f64> {
        self.means.iter().zip(self.deviations).map(|(mean, deviation)| -mean / deviation).collect()
    }
}
