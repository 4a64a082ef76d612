//! How fast a machine is, in the units that passes are made of.

/// Rates of one machine, with all its cores, per second.
///
/// The default is a machine with two cores, whatever the machine at hand, so that the same data take the same route
/// everywhere; the rates of today's machines stand in similar proportions to each other. [`measure`](Self::measure)
/// asks the machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Threads that work at a time. All other rates are those of all of them together.
    pub cores: f64,
    /// Bytes read from memory.
    pub stream: f64,
    /// Bytes of new memory written for the first time, which the operating system has to grant.
    pub fresh: f64,
    /// Operations of a matrix product that fills a Gram tensor; a multiply-add is two.
    pub product: f64,
    /// Operations of factorisations of symmetric matrices, one matrix for each thread.
    pub factor: f64,
    /// Entries of a matrix or a tensor contracted from both sides with a dual vector, in cache.
    pub contraction: f64,
    /// Entries of a stored tensor contracted to the matrix of second derivatives at a dual vector.
    pub expansion: f64,
    /// Stored entries of a sparse matrix contracted from both sides with a dual vector.
    pub scatter: f64,
    /// Kernel values, from their sums to their place in the tensor.
    pub kernel: f64,
    /// Values of features written by a feature map.
    pub listing: f64,
    /// Powers `|u|^(q-1)` where `q-1` is a whole or a half number.
    pub power: f64,
    /// The other powers.
    pub real_power: f64,
}

impl Default for Rates {
    fn default() -> Self {
        Self {
            cores: 2.0,
            stream: 28e9,
            fresh: 2e9,
            product: 55e9,
            factor: 20e9,
            contraction: 5e9,
            expansion: 1.5e9,
            scatter: 0.4e9,
            kernel: 0.4e9,
            listing: 0.3e9,
            power: 1.5e9,
            real_power: 0.3e9,
        }
    }
}
