//! What only the routes of this crate are, so that nobody else implements [`QForm`](super::QForm).

use super::{Features, Gram, KernelFeatures, Tiles};

pub trait Sealed {}

impl Sealed for Features<'_> {}
impl Sealed for Gram<'_> {}
impl Sealed for KernelFeatures {}
impl Sealed for Tiles<'_> {}
