//! How much memory a computation may take, and what of it is taken. All limits are held here (ADR 8).

mod system;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use crate::{Error, error::Remedy};

/// A limit on memory. Whatever needs more is refused before it is allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    bytes: u64,
}

/// The share of the available memory that is used unless told otherwise. The rest is for other programs, and for what is not counted.
const SHARE: f64 = 0.8;

impl Memory {
    /// 80 % of the memory that is available now: to this machine, to the control groups of the process, and within the
    /// limit on its addresses (`ulimit -v`), where threads need room of their own.
    pub fn available() -> Self {
        Self { bytes: (SHARE * system::free() as f64) as u64 }
    }

    /// A limit in bytes.
    pub const fn limit(bytes: u64) -> Self {
        Self { bytes }
    }

    /// The limit in bytes.
    pub fn bytes(self) -> u64 {
        self.bytes
    }

    /// What is left after these bytes are taken.
    #[must_use]
    pub fn less(self, bytes: u64) -> Self {
        Self { bytes: self.bytes.saturating_sub(bytes) }
    }

    /// Refuses what needs more than the limit. `needed` is `None` where the number of bytes cannot even be counted.
    pub fn check(self, what: &'static str, needed: Option<u64>, instead: &'static [Remedy]) -> Result<(), Error> {
        match needed {
            Some(needed) if needed <= self.bytes => Ok(()),
            needed => Err(Error::Memory { what, needed: needed.unwrap_or(u64::MAX), allowed: self.bytes, instead }),
        }
    }

    /// Numbers, all zero, within the limit.
    pub(crate) fn zeros(
        self,
        what: &'static str,
        length: usize,
        instead: &'static [Remedy],
    ) -> Result<Vec<f64>, Error> {
        let needed = (length as u64).checked_mul(8);
        self.check(what, needed, instead)?;
        zeros(length).ok_or(Error::Memory { what, needed: needed.unwrap_or(u64::MAX), allowed: self.bytes, instead })
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::available()
    }
}

/// The number of threads, at most `wanted` and at least one, for which a limit on addresses (`ulimit -v`) has room. Each thread
/// reserves addresses for its stack and for matrix products, whether it uses them or not.
pub fn threads_within_limits(wanted: usize) -> usize {
    system::threads(wanted, std::path::Path::new("/proc/self"))
}

/// Numbers, all zero; `None` if the operating system does not give the memory.
pub fn zeros(length: usize) -> Option<Vec<f64>> {
    // A limit of the operating system is found out here, before the memory is touched.
    let mut probe: Vec<f64> = Vec::new();
    probe.try_reserve_exact(length).ok()?;
    drop(probe);
    Some(vec![0.0; length])
}

/// The one account of a program: a limit, and the bytes that are taken of it.
///
/// Whoever is about to keep something takes its bytes first and holds them as long as the thing lives. What is left is what
/// the next computation may take. Clones share one account.
///
/// ```
/// use banach::{Account, Memory};
///
/// let account = Account::new(Memory::limit(100));
/// let table = account.take(70)?;
/// assert_eq!(account.left(), Memory::limit(30));
/// assert_eq!(account.take(40).unwrap_err().needed, 110);
/// drop(table);
/// assert!(account.take(40).is_ok());
/// # Ok::<(), banach::memory::Shortage>(())
/// ```
#[derive(Debug, Clone)]
pub struct Account {
    limit: u64,
    taken: Arc<AtomicU64>,
}

/// More than an account has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{needed} bytes are needed in all, and {allowed} are allowed")]
pub struct Shortage {
    /// The bytes that would be taken in all.
    pub needed: u64,
    /// The limit.
    pub allowed: u64,
}

impl Shortage {
    /// The error that says what was to be kept, and what else would work.
    pub fn error(self, what: &'static str, instead: &'static [Remedy]) -> Error {
        Error::Memory { what, needed: self.needed, allowed: self.allowed, instead }
    }
}

impl Account {
    /// An account of which nothing is taken.
    pub fn new(limit: Memory) -> Self {
        Self { limit: limit.bytes, taken: Arc::default() }
    }

    /// What is not taken.
    pub fn left(&self) -> Memory {
        Memory::limit(self.limit.saturating_sub(self.taken.load(Ordering::Relaxed)))
    }

    /// Takes bytes until the answer is dropped.
    pub fn take(&self, bytes: u64) -> Result<Taken, Shortage> {
        let mut taken = Taken { account: self.clone(), bytes: 0 };
        taken.set(bytes)?;
        Ok(taken)
    }
}

/// Bytes of an account, given back when this is dropped.
#[derive(Debug)]
pub struct Taken {
    account: Account,
    bytes: u64,
}

impl Taken {
    /// The bytes that it holds.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Holds this many bytes from now on. If there are not enough it keeps what it held.
    pub fn set(&mut self, bytes: u64) -> Result<(), Shortage> {
        let (limit, own) = (self.account.limit, self.bytes);
        let change = |taken: u64| Some((taken - own).saturating_add(bytes)).filter(|all| bytes <= own || *all <= limit);
        let changed = self.account.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
        let refused = |taken: u64| Shortage { needed: (taken - own).saturating_add(bytes), allowed: limit };
        changed.map_err(refused)?;
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.account.taken.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_never_more_than_the_limit_and_comes_back() {
        let account = Account::new(Memory::limit(1000));
        let mut first = account.take(400).expect("enough");
        let second = account.clone().take(600).expect("just enough");
        assert_eq!((account.left().bytes(), first.bytes(), second.bytes()), (0, 400, 600));
        assert_eq!(first.set(401), Err(Shortage { needed: 1001, allowed: 1000 }));
        assert_eq!(account.take(u64::MAX).expect_err("too much"), Shortage { needed: u64::MAX, allowed: 1000 });
        first.set(100).expect("less");
        assert_eq!(account.left(), Memory::limit(300));
        first.set(400).expect("enough");
        drop(second);
        assert_eq!((account.left().bytes(), first.bytes()), (600, 400));
        drop(first);
        assert_eq!(account.left(), Memory::limit(1000));
    }

    /// Threads that take and give back leave nothing behind, and never hold more than the limit together.
    #[test]
    fn threads_share_one_account() {
        let account = Account::new(Memory::limit(100));
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let account = &account;
                scope.spawn(move || {
                    for round in 0..1000 {
                        let held = account.take(10 + (thread * 7 + round) % 40);
                        assert!(account.taken.load(Ordering::Relaxed) <= 100);
                        drop(held);
                    }
                });
            }
        });
        assert_eq!(account.left(), Memory::limit(100));
    }

    #[test]
    fn what_nobody_has_is_refused_and_not_asked_for_in_vain() {
        let refused = Memory::limit(u64::MAX).zeros("a matrix", usize::MAX / 16, &[]);
        assert!(matches!(refused, Err(Error::Memory { what: "a matrix", .. })), "{refused:?}");
        assert_eq!(Memory::limit(80).zeros("a vector", 10, &[]), Ok(vec![0.0; 10]));
        assert!(Memory::limit(79).zeros("a vector", 10, &[]).is_err());
    }
}
