//! How many parts an archive can have, before its directory is read into memory.

use std::io::{Read, Seek, SeekFrom};

use memchr::memmem;

use super::failed;
use crate::Error;

/// What an entry of the directory begins with.
const ENTRY: &[u8; 4] = b"PK\x01\x02";

/// Bytes that are looked through at a time.
const BLOCK: usize = 1 << 18;

/// The most entries that the directory can have: as often as they seem to begin, wherever it is.
pub(super) fn members(source: &mut (impl Read + Seek), file: &str) -> Result<u64, Error> {
    let (mut block, mut kept, mut count) = (vec![0; BLOCK], 0, 0);
    source.seek(SeekFrom::Start(0)).map_err(|error| failed(file, error))?;
    loop {
        let read = source.read(&mut block[kept..]).map_err(|error| failed(file, error))?;
        if read == 0 {
            break;
        }
        let length = kept + read;
        count += memmem::find_iter(&block[..length], ENTRY).count() as u64;
        // A beginning may lie across two blocks; a whole one is not seen twice.
        kept = length.min(ENTRY.len() - 1);
        block.copy_within(length - kept..length, 0);
    }
    source.seek(SeekFrom::Start(0)).map_err(|error| failed(file, error))?;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn every_beginning_is_counted_once() {
        let mut bytes = vec![b'x'; 3 * BLOCK];
        for at in [0, 100, BLOCK - 2, BLOCK + 9, 2 * BLOCK - 7, 3 * BLOCK - 4] {
            bytes[at..at + 4].copy_from_slice(ENTRY);
        }
        assert_eq!(members(&mut Cursor::new(bytes), "data.npz").expect("read"), 6);
        assert_eq!(members(&mut Cursor::new(b"PK\x01"), "data.npz").expect("read"), 0);
    }
}
