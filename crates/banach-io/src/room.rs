//! What reading a file takes of the memory that is allowed. Every reader counts here before it allocates.

use banach::{Account, Memory, memory::Taken};

use crate::{At, Error};

/// So many bytes of a part are allowed whatever the limit: buffers have a fixed size, and small tables are never refused.
pub(crate) const FREE: u64 = 1 << 18;

/// What the name of a column takes beside its text, about: in the list, in the index, and in the table that is made.
pub(crate) const NAME: u64 = 240;

/// This part of the limit is left for memory that is given back and that the allocator keeps: it is no one's, and still taken.
const KEPT: u64 = 16;

/// The account of one file.
#[derive(Debug, Clone)]
pub(crate) struct Room<'a> {
    pub(crate) file: &'a str,
    account: Account,
}

impl<'a> Room<'a> {
    pub(crate) fn new(file: &'a str, limit: u64) -> Self {
        Self { file, account: Account::new(Memory::limit(limit - limit / KEPT)) }
    }

    /// The same account for another file that is read with it.
    pub(crate) fn of<'b>(&self, file: &'b str) -> Room<'b> {
        Room { file, account: self.account.clone() }
    }

    /// Bytes that nobody has taken.
    pub(crate) fn left(&self) -> u64 {
        self.account.left().bytes()
    }

    /// The bytes of a part that holds nothing yet.
    pub(crate) fn part(&self) -> Held<'a> {
        let taken = self.account.take(0).expect("nothing can be taken of any account");
        Held { file: self.file, taken, free: FREE }
    }

    /// The same for what counts from its first byte on.
    pub(crate) fn whole_part(&self) -> Held<'a> {
        Held { free: 0, ..self.part() }
    }
}

/// The bytes that one part of a file holds: its text, its names, its rows.
#[derive(Debug)]
pub(crate) struct Held<'a> {
    file: &'a str,
    taken: Taken,
    free: u64,
}

impl Held<'_> {
    /// Takes so many bytes from now on; `at` is where the file has been read to.
    pub(crate) fn set(&mut self, bytes: u64, at: At) -> Result<(), Error> {
        let taken = self.taken.set(bytes.saturating_sub(self.free));
        taken.map_err(|shortage| Error::too_large(self.file, at, shortage.needed))
    }
}

/// A vector with room for so many entries more, unless the operating system has no memory for it.
pub(crate) fn reserve<T>(vector: &mut Vec<T>, more: usize, file: &str, at: At) -> Result<(), Error> {
    let bytes = (more as u64).saturating_mul(size_of::<T>() as u64);
    vector.try_reserve_exact(more).map_err(|_| Error::too_large(file, at, bytes))
}
