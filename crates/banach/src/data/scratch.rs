//! Memory for intermediate results, owned by the caller.

/// Working memory that grows on first use and is reused afterwards, so hot calls do not allocate.
///
/// One `Scratch` serves any number of calls, one after another.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Accumulators of a pass over the data.
    pub(crate) pass: Pool,
    /// Copies of dual vectors.
    pub(crate) duals: Pool,
    /// Numbers kept for each feature.
    pub(crate) per_feature: Pool,
}

impl Scratch {
    /// Empty working memory.
    pub fn new() -> Self {
        Self::default()
    }
}

/// A buffer that only grows.
#[derive(Debug, Default)]
pub(crate) struct Pool(Vec<f64>);

impl Pool {
    /// The first `length` numbers; their contents are left from earlier use.
    pub(crate) fn take(&mut self, length: usize) -> &mut [f64] {
        if self.0.len() < length {
            // The old numbers are freed first: no more memory is taken than is counted.
            self.0 = Vec::new();
            self.0 = vec![0.0; length];
        }
        &mut self.0[..length]
    }
}
