//! The form of some of the samples, from the tensor of all.

use std::sync::Arc;

use super::{Gram, INSTEAD, PASS, PASS_INSTEAD, TENSOR, tensor_bytes};
use crate::{Error, Memory, tensor::copy};

impl Gram<'_> {
    /// The form of some of the samples, in any order and also repeated: folds, subsamples, resamples. The entries
    /// of a stored tensor are copied, not recomputed.
    ///
    /// To leave samples out without a copy, give them weight 0 instead
    /// ([`DualProblem::with_sample_weights`](crate::DualProblem::with_sample_weights)); their `omega` is then their
    /// prediction.
    pub fn subset(&self, samples: &[usize], memory: Memory) -> Result<Gram<'static>, Error> {
        let (n, inputs, kernel) = (samples.len(), self.tensor.matrix.features(), &*self.tensor.kernel);
        let (stored, tensor) = match self.entries {
            Some(_) => (true, tensor_bytes(n, self.order()).unwrap_or(u64::MAX)),
            None => (false, 0),
        };
        if stored {
            memory.check(TENSOR, Self::bytes(n, inputs, kernel, self.order()), INSTEAD)?;
        } else {
            memory.check(PASS, Self::streamed_bytes(n, inputs, kernel, self.order()), PASS_INSTEAD)?;
        }
        let matrix = self.tensor.matrix.select_samples(samples)?;
        let mut subset = Gram::unfilled(matrix, self.tensor.kernel.clone(), self.exponent, memory.less(tensor))?;
        if let Some(from) = &self.entries {
            let mut entries = memory.zeros(TENSOR, subset.tensor.layout.entries, INSTEAD)?;
            copy(&self.tensor.layout, from, samples, &subset.tensor.layout, &mut entries);
            subset.entries = Some(Arc::new(entries));
        }
        Ok(subset)
    }
}
