//! What pages claim, before memory is taken for it.
//!
//! The `parquet` crate takes the memory that a header asks for. Headers are read here before, and what is said within
//! unpacked pages between unpacking and decoding.

use std::io::{self, Read as _};

use flate2::bufread::MultiGzDecoder;
use parquet::{
    basic::{Compression, Encoding},
    column::page::{Page, PageMetadata, PageReader},
    errors::{ParquetError, Result},
    file::{metadata::ColumnChunkMetaData, reader::ChunkReader},
};

use super::thrift::{varint, walk};

/// The bytes in which a header is looked for first.
const WINDOW: u64 = 1 << 9;

/// What ends a file, after the length of its table of contents.
const MAGIC: &[u8; 4] = b"PAR1";

/// The most that gzip can save.
const MAX_RATIO: u64 = 1100;

/// The same of LZ4.
const MAX_RATIO_LZ4: u64 = 256;

/// Why a file is not read on.
pub(super) enum Refusal {
    Damaged(String),
    /// It needs so many bytes.
    TooLarge(u64),
}

impl From<ParquetError> for Refusal {
    fn from(error: ParquetError) -> Self {
        Self::Damaged(error.to_string())
    }
}

fn damaged<T>(problem: &str) -> std::result::Result<T, Refusal> {
    Err(Refusal::Damaged(problem.to_owned()))
}

/// The bytes of the table of contents.
pub(super) fn contents_size(chunks: &impl ChunkReader) -> std::result::Result<u64, Refusal> {
    let length = chunks.len();
    if length < 12 {
        return damaged("it is too short");
    }
    let tail = chunks.get_bytes(length - 8, 8)?;
    if tail[4..] != MAGIC[..] {
        return damaged("the mark of Parquet is missing");
    }
    let size = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
    if size > length - 8 {
        return damaged(&format!("its table of contents has {size} bytes, more than the file"));
    }
    Ok(size)
}

/// Checks the table of contents.
pub(super) fn check_contents(chunks: &impl ChunkReader) -> std::result::Result<(), Refusal> {
    let (length, size) = (chunks.len(), contents_size(chunks)?);
    let contents = chunks.get_bytes(length - 8 - size, size as usize)?;
    let mut children = 0;
    let walked = walk(&contents, &mut |path, number| {
        // A node of the schema says how many are below it.
        if path == [2, 5] {
            children = children.max(number);
        }
    });
    if walked.is_none() || children > contents.len() as i64 {
        return damaged("its table of contents claims more than there is");
    }
    Ok(())
}

/// What the header of a page says; 0 where it says nothing.
#[derive(Default)]
struct PageHeader {
    unpacked: i64,
    packed: i64,
    values: i64,
    labels: i64,
    levels: i64,
    /// The bytes of the header.
    size: u64,
}

/// Checks the headers of the pages of a column. Returns the bytes of the largest page.
pub(super) fn check_pages(
    chunks: &impl ChunkReader,
    column: &ColumnChunkMetaData,
    memory: u64,
) -> std::result::Result<u64, Refusal> {
    let (start, length) = column.byte_range();
    let end = start.saturating_add(length);
    if end > chunks.len() {
        return damaged("it is not within the file");
    }
    let (mut at, mut values, mut largest) = (start, 0, 0);
    while at < end && values < column.num_values() {
        let header = header(chunks, at, end)?;
        let (Ok(unpacked), Ok(packed)) = (u64::try_from(header.unpacked), u64::try_from(header.packed)) else {
            return damaged("a page has no size");
        };
        at = at.saturating_add(header.size);
        if at.saturating_add(packed) > end {
            return damaged("a page is not within its column");
        }
        if unpacked > memory {
            return Err(Refusal::TooLarge(unpacked));
        }
        // A label takes a byte at least.
        if header.labels < 0 || header.labels as u64 > unpacked {
            return damaged(&format!("{} labels cannot be in {unpacked} bytes", header.labels));
        }
        match column.compression() {
            // These are unpacked to their end, whatever the header says.
            Compression::GZIP(_) if packed.saturating_mul(MAX_RATIO) > memory => {
                check_gzip(chunks, (at, packed, unpacked), header.levels)?;
            }
            Compression::LZ4 if packed.saturating_mul(MAX_RATIO_LZ4) > memory => {
                return Err(Refusal::TooLarge(packed.saturating_mul(MAX_RATIO_LZ4)));
            }
            _ => {}
        }
        at += packed;
        values = values.saturating_add(header.values.max(0));
        largest = largest.max(unpacked);
    }
    Ok(largest)
}

fn header(chunks: &impl ChunkReader, at: u64, end: u64) -> std::result::Result<PageHeader, Refusal> {
    let mut window = WINDOW;
    loop {
        let bytes = chunks.get_bytes(at, window.min(end - at) as usize)?;
        let mut header = PageHeader::default();
        let size = walk(&bytes, &mut |path, number| match path {
            [2] => header.unpacked = number,
            [3] => header.packed = number,
            [5 | 8, 1] => header.values = number,
            [7, 1] => header.labels = number,
            [8, 5 | 6] => header.levels = header.levels.saturating_add(number),
            _ => {}
        });
        if let Some(size) = size {
            header.size = size as u64;
            return Ok(header);
        }
        if window >= end - at {
            return damaged("the header of a page has no end");
        }
        window *= 16;
    }
}

/// Refuses a page that is more than it says, without keeping it.
fn check_gzip(
    chunks: &impl ChunkReader,
    (at, packed, unpacked): (u64, u64, u64),
    levels: i64,
) -> std::result::Result<(), Refusal> {
    let page = chunks.get_bytes(at, packed as usize)?;
    // Levels before the values are not packed.
    let levels = usize::try_from(levels).unwrap_or(0).min(page.len());
    let mut unpacking = MultiGzDecoder::new(&page[levels..]).take(unpacked + 1);
    // What cannot be unpacked is found out later.
    if io::copy(&mut unpacking, &mut io::sink()).is_ok_and(|size| size > unpacked) {
        return damaged("a page is larger than it says");
    }
    Ok(())
}

/// Pages whose texts do not claim to be more than their values.
pub(super) struct Checked {
    pub(super) pages: Box<dyn PageReader>,
    /// Whether values may be missing.
    pub(super) optional: bool,
}

impl Checked {
    fn check(&self, page: &Page) -> Result<()> {
        let (buffer, values, encoding) = match page {
            Page::DataPage { buf, num_values, encoding, def_level_encoding, .. } => {
                let levels = match def_level_encoding {
                    _ if !self.optional => Some(0),
                    Encoding::RLE => buf.first_chunk().map(|size| 4 + u32::from_le_bytes(*size) as usize),
                    _ => Some(num_values.div_ceil(8) as usize),
                };
                (levels.and_then(|levels| buf.get(levels..)), *num_values, *encoding)
            }
            Page::DataPageV2 { buf, num_values, encoding, def_levels_byte_len, rep_levels_byte_len, .. } => {
                let levels = *def_levels_byte_len as usize + *rep_levels_byte_len as usize;
                (buf.get(levels..), *num_values, *encoding)
            }
            Page::DictionaryPage { .. } => return Ok(()),
        };
        let lists = match encoding {
            Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
            // How much of the text before, and how much beside it.
            Encoding::DELTA_BYTE_ARRAY => 2,
            _ => return Ok(()),
        };
        let wrong = || ParquetError::General("a page claims more texts than it has values".to_owned());
        let mut rest = buffer.ok_or_else(wrong)?;
        for _ in 0..lists {
            rest = after_deltas(rest, u64::from(values)).ok_or_else(wrong)?;
        }
        Ok(())
    }
}

/// What comes behind a list of differences (DELTA_BINARY_PACKED) of so many numbers at most.
fn after_deltas(mut bytes: &[u8], most: u64) -> Option<&[u8]> {
    fn next(bytes: &mut &[u8]) -> Option<u64> {
        let (number, size) = varint(bytes)?;
        *bytes = &bytes[size..];
        Some(number)
    }
    let (block, parts, count) = (next(&mut bytes)?, next(&mut bytes)?, next(&mut bytes)?);
    next(&mut bytes)?;
    if count > most {
        return None;
    }
    let each = block.checked_div(parts)?;
    let mut left = count.saturating_sub(1);
    while left > 0 {
        next(&mut bytes)?;
        let widths = bytes.get(..usize::try_from(parts).ok()?)?;
        bytes = &bytes[widths.len()..];
        if each == 0 || widths.is_empty() {
            return None;
        }
        for width in widths {
            // Widths of parts without numbers say nothing.
            if left == 0 {
                break;
            }
            bytes = bytes.get(usize::try_from(u64::from(*width).checked_mul(each)? / 8).ok()?..)?;
            left = left.saturating_sub(each);
        }
    }
    Some(bytes)
}

impl PageReader for Checked {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        page.iter().try_for_each(|page| self.check(page))?;
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }
}

impl Iterator for Checked {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_differences_end_where_they_say() {
        // Blocks of 128 numbers in 4 parts; 3 numbers, the first 1; differences of 2 bits from 0 on.
        let list = [128, 1, 4, 3, 2, 0, 2, 9, 9, 9, 1, 2, 3, 4, 5, 6, 7, 8, 77];
        assert_eq!(after_deltas(&list, 3), Some(&[77][..]));
        assert_eq!(after_deltas(&list, 2), None, "more than there are values");
        assert_eq!(after_deltas(&list[..17], 3), None);
        assert_eq!(after_deltas(&[128, 1, 4, 1, 2, 77], 3), Some(&[77][..]), "one number has no block");
        // No parts, parts without numbers, numbers without an end.
        assert_eq!(after_deltas(&[128, 1, 0, 3, 2, 0, 0, 0, 0], 3), None);
        assert_eq!(after_deltas(&[3, 4, 3, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 3), None);
        assert_eq!(after_deltas(&[0x80; 20], 3), None);
    }
}
