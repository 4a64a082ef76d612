//! How much memory a computation may take.

use sysinfo::{MemoryRefreshKind, RefreshKind, System};

use crate::Error;

/// A limit on memory. Whatever needs more is refused before it is allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    bytes: u64,
}

/// The share of the available memory that is used unless told otherwise.
const SHARE: f64 = 0.8;

impl Memory {
    /// 80 % of the memory that is available now, to this machine or to the control group of the process.
    pub fn available() -> Self {
        let ram = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
        let system = System::new_with_specifics(ram);
        let group = system.cgroup_limits().map_or(u64::MAX, |limits| limits.free_memory);
        Self { bytes: (SHARE * system.available_memory().min(group) as f64) as u64 }
    }

    /// A limit in bytes.
    pub const fn limit(bytes: u64) -> Self {
        Self { bytes }
    }

    /// The limit in bytes.
    pub fn bytes(self) -> u64 {
        self.bytes
    }

    /// Refuses what needs more than the limit. `needed` is `None` where the number of bytes cannot even be counted.
    pub(crate) fn check(self, what: &'static str, needed: Option<u64>, instead: &'static str) -> Result<(), Error> {
        match needed {
            Some(needed) if needed <= self.bytes => Ok(()),
            needed => Err(Error::Memory { what, needed: needed.unwrap_or(u64::MAX), allowed: self.bytes, instead }),
        }
    }

    /// Numbers, all zero, within the limit.
    pub(crate) fn zeros(self, what: &'static str, length: usize, instead: &'static str) -> Result<Vec<f64>, Error> {
        let needed = (length as u64).checked_mul(8);
        self.check(what, needed, instead)?;
        // A limit of the operating system is found out here, before the memory is touched.
        let mut probe: Vec<f64> = Vec::new();
        if probe.try_reserve_exact(length).is_err() {
            return Err(Error::Memory { what, needed: needed.unwrap_or(u64::MAX), allowed: self.bytes, instead });
        }
        drop(probe);
        Ok(vec![0.0; length])
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::available()
    }
}
