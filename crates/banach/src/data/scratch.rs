//! Memory for intermediate results, owned by the caller.

use std::sync::Mutex;

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
    /// Matrices and columns of a step.
    pub(crate) spare: Spare,
}

impl Scratch {
    /// Empty working memory.
    pub fn new() -> Self {
        Self::default()
    }
}

/// Vectors that somebody owned for a while, until others need some.
#[derive(Debug, Default)]
pub(crate) struct Spare(Vec<Vec<f64>>);

/// Most vectors that wait: a step has a Hessian, a factor and the columns of a local model.
const MOST_SPARE: usize = 3;
/// A vector is used again for one of at least this part of its length, as who takes it may keep it: what is kept is counted.
const LEAST_USED: usize = 2;

impl Spare {
    /// A vector of this length; its contents are left from earlier use.
    pub(crate) fn take(&mut self, length: usize) -> Vec<f64> {
        let fits = |capacity: usize| capacity >= length && capacity / LEAST_USED <= length;
        let fitting = (0..self.0.len()).filter(|&at| fits(self.0[at].capacity()));
        let Some(at) = fitting.min_by_key(|&at| self.0[at].capacity()) else { return vec![0.0; length] };
        let mut vector = self.0.swap_remove(at);
        vector.resize(length, 0.0);
        vector
    }

    /// Gives a vector that is no longer needed. Of too many the smallest is freed.
    pub(crate) fn give(&mut self, vector: Vec<f64>) {
        self.0.push(vector);
        if self.0.len() > MOST_SPARE {
            let smallest = (0..self.0.len()).min_by_key(|&at| self.0[at].capacity());
            smallest.map(|at| self.0.swap_remove(at));
        }
    }
}

/// A buffer that only grows, and others for blocks of features that are not stored as numbers.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    numbers: Vec<f64>,
    blocks: BlockBuffers,
}

/// Buffers that threads share: as many as blocks are read at a time.
#[derive(Debug, Default)]
pub(crate) struct BlockBuffers(Mutex<Vec<Vec<f64>>>);

impl BlockBuffers {
    /// Does some work with a buffer that nobody else has meanwhile.
    pub(crate) fn lend<T>(&self, work: impl FnOnce(&mut Vec<f64>) -> T) -> T {
        let free = || self.0.lock().expect("nobody panics with the list of buffers");
        let mut buffer = free().pop().unwrap_or_default();
        let result = work(&mut buffer);
        free().push(buffer);
        result
    }
}

impl Pool {
    /// The first `length` numbers; their contents are left from earlier use.
    pub(crate) fn take(&mut self, length: usize) -> &mut [f64] {
        self.take_with_blocks(length).0
    }

    /// The same, and the buffers for blocks.
    pub(crate) fn take_with_blocks(&mut self, length: usize) -> (&mut [f64], &BlockBuffers) {
        let Self { numbers, blocks } = self;
        if numbers.len() < length {
            // The old numbers are freed first: no more memory is taken than is counted.
            *numbers = Vec::new();
            *numbers = vec![0.0; length];
        }
        (&mut numbers[..length], blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_come_back_where_they_fit() {
        let mut spare = Spare::default();
        let places: Vec<*const f64> = [100, 40, 1000]
            .map(|length| {
                let vector = vec![1.0; length];
                let place = vector.as_ptr();
                spare.give(vector);
                place
            })
            .to_vec();
        // The smallest that holds them, but none that is far too large.
        let taken = spare.take(60);
        assert_eq!((taken.as_ptr(), taken.len()), (places[0], 60));
        let [other, largest] = [100, 900].map(|length| spare.take(length));
        assert!(!places.contains(&other.as_ptr()));
        assert_eq!(largest.as_ptr(), places[2]);
        // Of too many the smallest is freed.
        (1..=MOST_SPARE + 1).for_each(|times| spare.give(vec![0.0; 100 * times]));
        assert!(spare.0.len() == MOST_SPARE && spare.0.iter().all(|vector| vector.len() > 100));
    }
}
