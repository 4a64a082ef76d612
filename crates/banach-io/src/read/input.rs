//! Where the bytes come from.

use std::{
    fs::File,
    io::{self, BufReader, Cursor, Read, Seek, SeekFrom},
};

use flate2::bufread::MultiGzDecoder;

use super::failed;
use crate::{
    At, Error,
    room::{Held, Room, reserve},
};

/// The first bytes of what gzip has packed.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// As many bytes as tell a format.
const HEAD: usize = 48;

/// Bytes of a stream that are read at a time.
const STEP: usize = 1 << 16;

/// How much a text is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    pub(super) lines: u64,
    pub(super) bytes: u64,
}

/// The bytes of a file.
pub(super) enum Input<'a> {
    File(File),
    Stream(Box<dyn Read + 'a>),
}

impl<'a> Input<'a> {
    /// The same bytes, unpacked if gzip has packed them, and the first few of them.
    pub(super) fn unpacked(self) -> io::Result<(Self, Vec<u8>)> {
        let (input, head) = self.peek()?;
        if !head.starts_with(&GZIP) {
            return Ok((input, head));
        }
        let packed = BufReader::with_capacity(1 << 16, input.stream());
        Self::Stream(Box::new(MultiGzDecoder::new(packed))).peek()
    }

    fn peek(self) -> io::Result<(Self, Vec<u8>)> {
        let mut head = Vec::with_capacity(HEAD);
        match self {
            Self::File(mut file) => {
                (&mut file).take(HEAD as u64).read_to_end(&mut head)?;
                file.seek(SeekFrom::Start(0))?;
                Ok((Self::File(file), head))
            }
            Self::Stream(mut stream) => {
                (&mut stream).take(HEAD as u64).read_to_end(&mut head)?;
                Ok((Self::Stream(Box::new(Cursor::new(head.clone()).chain(stream))), head))
            }
        }
    }

    /// The same bytes, and how many they are and how many lines they have, where that can be known before.
    pub(super) fn counted(self) -> io::Result<(Self, Option<Bound>)> {
        let Self::File(mut file) = self else { return Ok((self, None)) };
        let (mut bound, mut buffer) = (Bound { lines: 0, bytes: 0 }, vec![0; 1 << 18]);
        loop {
            let size = match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(size) => size,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            bound.bytes += size as u64;
            bound.lines += memchr::memchr_iter(b'\n', &buffer[..size]).count() as u64;
        }
        file.seek(SeekFrom::Start(0))?;
        Ok((Self::File(file), Some(bound)))
    }

    /// Bytes that can be read in any order. Those of a stream are kept in memory, within the limit, as long as the part is held.
    pub(super) fn source<'r>(self, room: &Room<'r>) -> Result<(Source, Held<'r>), Error> {
        let mut held = room.part();
        match self {
            Self::File(opened) => Ok((Source::File(opened), held)),
            Self::Stream(mut stream) => {
                let mut bytes = Vec::new();
                loop {
                    // By a quarter at a time, so that little is taken in vain.
                    let more = STEP.max(bytes.len() / 4);
                    held.set((bytes.len() + more) as u64, At::Row(1))?;
                    reserve(&mut bytes, more, room.file, At::Row(1))?;
                    let read = (&mut stream).take(more as u64).read_to_end(&mut bytes);
                    if read.map_err(|error| failed(room.file, error))? < more {
                        return Ok((Source::Bytes(Cursor::new(bytes)), held));
                    }
                }
            }
        }
    }

    pub(super) fn stream(self) -> Box<dyn Read + 'a> {
        match self {
            Self::File(file) => Box::new(file),
            Self::Stream(stream) => stream,
        }
    }
}

/// Bytes that can be read in any order.
pub(super) enum Source {
    File(File),
    Bytes(Cursor<Vec<u8>>),
}

impl Source {
    /// The number of bytes.
    pub(super) fn length(&self, file: &str) -> Result<u64, Error> {
        match self {
            Self::File(opened) => Ok(opened.metadata().map_err(|error| failed(file, error))?.len()),
            Self::Bytes(bytes) => Ok(bytes.get_ref().len() as u64),
        }
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Bytes(bytes) => bytes.read(buffer),
        }
    }
}

impl Seek for Source {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(to),
            Self::Bytes(bytes) => bytes.seek(to),
        }
    }
}
