//! What only the routes of this crate are, so that nobody else implements [`QForm`](super::QForm).

use super::{Endpoint, Features, Gram, KernelFeatures, Tiles};

pub trait Sealed {
    /// The form of p = 1, for the one solver that knows it.
    fn endpoint(&self) -> Option<&Endpoint<'_>> {
        None
    }
}

impl Sealed for Endpoint<'_> {
    fn endpoint(&self) -> Option<&Endpoint<'_>> {
        Some(self)
    }
}
impl Sealed for Features<'_> {}
impl Sealed for Gram<'_> {}
impl Sealed for KernelFeatures {}
impl Sealed for Tiles<'_> {}
