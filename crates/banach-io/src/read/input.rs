//! Where the bytes come from.

use std::{
    fs::File,
    io::{self, BufReader, Cursor, Read, Seek, SeekFrom},
};

use flate2::bufread::MultiGzDecoder;

/// The first bytes of what gzip has packed.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// As many bytes as tell a format.
const HEAD: usize = 8;

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

    pub(super) fn stream(self) -> Box<dyn Read + 'a> {
        match self {
            Self::File(file) => Box::new(file),
            Self::Stream(stream) => stream,
        }
    }
}
