//! The bytes of a text, as far as they are in memory.

use std::io::{self, Read};

use csv::{ByteRecord, ReaderBuilder};
use memchr::{memchr, memchr_iter, memchr2};

use super::failed;
use crate::{
    At, Error,
    room::{Held, Room, reserve},
};

/// The most bytes of the first line before it is read in full.
const START: usize = 1 << 16;

/// Lines that tell how numbers are written, beside the first, at least; and the most bytes that are read for them.
const SAMPLED: usize = 2;
const LONGEST_SAMPLE: usize = 1 << 22;

/// The share of what is left that these may take.
const SAMPLE_SHARE: u64 = 32;

/// What a byte of the first line takes: in the text, in a record that grows by doubling, and in the names.
const FIRST: u64 = 4;

/// The same of a field, whose name has memory of its own.
const FIELD: u64 = 64;

/// A text, and the part of it that is in memory.
pub(super) struct Text<'a, 'r> {
    pub stream: Box<dyn Read + 'a>,
    pub buffer: Vec<u8>,
    pub ended: bool,
    /// What the part in memory takes, with what is made of it at once.
    pub held: Held<'r>,
    pub room: &'a Room<'r>,
}

impl<'a, 'r> Text<'a, 'r> {
    pub(super) fn new(stream: Box<dyn Read + 'a>, room: &'a Room<'r>) -> Self {
        Self { stream, buffer: Vec::new(), ended: false, held: room.part(), room }
    }

    /// Reads on until so many bytes are in memory, of which each takes `each` with what is made of it.
    pub(super) fn fill(&mut self, length: usize, each: u64, at: At) -> Result<(), Error> {
        let wanted = length.saturating_sub(self.buffer.len());
        if self.ended || wanted == 0 {
            return Ok(());
        }
        self.held.set((length as u64).saturating_mul(each), at)?;
        reserve(&mut self.buffer, wanted, self.room.file, at)?;
        let read = (&mut self.stream).take(wanted as u64).read_to_end(&mut self.buffer);
        self.ended = read.map_err(|error| failed(self.room.file, error))? < wanted;
        Ok(())
    }

    /// Skips the mark of the order of bytes.
    pub(super) fn skip_mark(&mut self) -> Result<(), Error> {
        self.fill(3, 1, At::Line(1))?;
        if self.buffer.starts_with(b"\xef\xbb\xbf") {
            self.buffer.drain(..3);
        }
        Ok(())
    }

    /// Reads on until the first lines are in memory, from which its dialect is told; fewer where they are long.
    pub(super) fn sample(&mut self) -> Result<(), Error> {
        let mut length = START;
        loop {
            self.fill(length, 1, At::Line(1))?;
            let enough = memchr_iter(b'\n', &self.buffer).nth(SAMPLED).is_some();
            if self.ended || enough || length >= LONGEST_SAMPLE || length as u64 > self.room.left() / SAMPLE_SHARE {
                return Ok(());
            }
            length *= 2;
        }
    }

    /// The first record, and the bytes that it takes with what is before it and the end of its line.
    pub(super) fn first_record(&mut self, delimiter: u8) -> Result<(ByteRecord, usize), Error> {
        let mut length = START;
        loop {
            self.fill(length, FIRST, At::Line(1))?;
            if !self.ended && memchr2(b'\n', b'\r', &self.buffer).is_none() {
                length *= 2;
                continue;
            }
            // Without quotes it ends with its line.
            let line = memchr2(b'\n', b'\r', &self.buffer).unwrap_or(self.buffer.len());
            let end = if memchr(b'"', &self.buffer[..line]).is_some() { self.buffer.len() } else { line };
            let fields = memchr_iter(delimiter, &self.buffer[..end]).count() as u64;
            let beyond = (self.buffer.len() - end) as u64;
            self.held.set(FIRST * end as u64 + beyond + FIELD * fields, At::Line(1))?;
            let mut reader = ReaderBuilder::new().delimiter(delimiter).has_headers(false).from_reader(&self.buffer[..]);
            let mut record = ByteRecord::new();
            let found = reader.read_byte_record(&mut record).map_err(|error| failed(self.room.file, error.into()))?;
            let mut size = reader.position().byte() as usize;
            if self.ended || found && size + 1 < self.buffer.len() {
                if !found {
                    return Err(Error::Empty { file: self.room.file.to_owned() });
                }
                if size > 0 && self.buffer[size - 1] == b'\r' && self.buffer.get(size) == Some(&b'\n') {
                    size += 1;
                }
                return Ok((record, size));
            }
            length *= 2;
        }
    }

    /// Gives back what a long first line took.
    pub(super) fn shrink(&mut self) {
        self.buffer.shrink_to_fit();
        // Less can always be taken.
        let _ = self.held.set(self.buffer.len() as u64, At::Line(1));
    }
}

/// A stream that ends after so many bytes.
pub(super) struct Bounded<R> {
    pub inner: R,
    pub left: u64,
    /// Whether the end was that of the bytes allowed.
    pub out: bool,
    /// Whether the quotes so far are of an odd number.
    pub odd_quotes: bool,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            self.out = true;
            return Ok(0);
        }
        let most = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let read = self.inner.read(&mut buffer[..most])?;
        self.left -= read as u64;
        self.odd_quotes ^= memchr_iter(b'"', &buffer[..read]).count() % 2 == 1;
        Ok(read)
    }
}
