//! What a workbook takes in memory, before it is read.

use std::io::Read;

use memchr::memmem;
use zip::ZipArchive;

use crate::{
    At, Error,
    read::{archive::members, failed, input::Source},
    room::{Held, Room},
};

/// What an entry of its directory takes, about.
const MEMBER: u64 = 1024;

/// What a byte of texts and styles takes when it is read: an empty text has a few bytes in the file, and 24 in memory.
const PER_BYTE: u64 = 12;

/// The same of a byte of the row at hand.
const PER_ROW_BYTE: u64 = 6;

/// What a merged cell takes.
const MERGED: u64 = 96;

/// Bytes that are unpacked at a time.
const BLOCK: usize = 1 << 16;

/// Parts that nobody reads.
const SKIPPED: [&str; 6] = ["/media/", "/drawings/", "/charts/", "/pivotCache/", "/printerSettings/", "/embeddings/"];

/// The bytes that the workbook takes beside the table that is made of it. Every part is unpacked once, a block at a time: what its
/// directory says of its size may be wrong.
pub(super) fn of(source: &mut Source, room: &Room<'_>) -> Result<u64, Error> {
    let file = room.file;
    let length = source.length(file)?;
    let mut held = room.part();
    let directory = MEMBER * members(source, file)?;
    held.set(directory, At::Row(1))?;
    let wrong = |problem: &dyn std::fmt::Display| Error::damaged(file, "its directory", problem);
    let mut archive = ZipArchive::new(&mut *source).map_err(|error| wrong(&error))?;
    let (mut packed, mut texts, mut row, mut merged) = (0_u64, 0_u64, 0_u64, 0_u64);
    for at in 0..archive.len() {
        let mut part = archive.by_index(at).map_err(|error| wrong(&error))?;
        let name = part.name().map_err(|error| wrong(&error))?.into_owned();
        packed = packed.saturating_add(part.compressed_size());
        if packed > length {
            return Err(wrong(&"its parts are larger than the file"));
        }
        if SKIPPED.iter().any(|skipped| name.contains(skipped)) {
            continue;
        }
        let sheet = name.contains("worksheets/");
        let measured = Measured::of(&mut part, room, |so_far| {
            let (texts, row) = if sheet { (texts, row.max(so_far.row)) } else { (texts + so_far.bytes, row) };
            set(&mut held, directory, texts, row, merged + so_far.merged)
        })?;
        if sheet {
            (row, merged) = (row.max(measured.row), merged.max(measured.merged));
        } else {
            texts += measured.bytes;
        }
    }
    drop(archive);
    std::io::Seek::rewind(source).map_err(|error| failed(file, error))?;
    Ok(total(directory, texts, row, merged))
}

fn total(directory: u64, texts: u64, row: u64, merged: u64) -> u64 {
    directory + PER_BYTE * texts + PER_ROW_BYTE * row + MERGED * merged
}

fn set(held: &mut Held<'_>, directory: u64, texts: u64, row: u64, merged: u64) -> Result<(), Error> {
    held.set(total(directory, texts, row, merged), At::Row(1))
}

/// What is in a part.
#[derive(Default)]
struct Measured {
    bytes: u64,
    /// The bytes of the longest row.
    row: u64,
    merged: u64,
}

impl Measured {
    fn of(
        part: &mut impl Read,
        room: &Room<'_>,
        mut check: impl FnMut(&Self) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let mut measured = Self::default();
        let (mut block, mut kept, mut last_row) = (vec![0; BLOCK], 0, 0);
        loop {
            let read = part.read(&mut block[kept..]).map_err(|error| failed(room.file, error))?;
            if read == 0 {
                return Ok(measured);
            }
            let begin = measured.bytes - kept as u64;
            measured.bytes += read as u64;
            let seen = &block[..kept + read];
            for at in memmem::find_iter(seen, b"<row") {
                let at = begin + at as u64;
                measured.row = measured.row.max(at.saturating_sub(last_row));
                last_row = at;
            }
            measured.row = measured.row.max(measured.bytes - last_row);
            measured.merged += memmem::find_iter(seen, b"mergeCell ").count() as u64;
            check(&measured)?;
            // A mark may lie across two blocks; the longest one is not seen twice.
            let length = kept + read;
            kept = length.min(LONGEST_MARK - 1);
            block.copy_within(length - kept..length, 0);
        }
    }
}

/// The bytes of the longest mark that is looked for.
const LONGEST_MARK: usize = b"mergeCell ".len();
