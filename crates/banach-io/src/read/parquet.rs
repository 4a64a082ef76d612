//! Parquet: columns of pages, read one column after another straight into their places.

mod pages;
mod thrift;

use bytes::Bytes;
use parquet::{
    basic::{ConvertedType, LogicalType, Type},
    column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader},
    data_type::DataType,
    errors::ParquetError,
    file::{
        reader::{ChunkReader, FileReader},
        serialized_reader::SerializedFileReader,
    },
    schema::types::ColumnDescriptor,
};

use self::pages::{Checked, Refusal, check_contents, check_pages, contents_size};
use super::{
    Request, failed,
    guard::guarded,
    input::{Input, Source},
};
use crate::{
    At, Dataset, Error, FileRemedy,
    assembly::{Assembly, Role},
    room::{FREE, Room},
};

/// Bytes that the table of contents takes in memory for every one in the file, about.
const CONTENTS: u64 = 12;

/// How often a page is in memory: packed, unpacked, as a list of labels, and as values.
const PAGES: u64 = 4;

/// The most values that are read at a time.
const BATCH: usize = 1 << 14;

pub(super) fn read<'a>(input: Input<'_>, request: &'a Request, room: &Room<'a>) -> Result<Dataset, Error> {
    let (source, _held) = input.source(room)?;
    let read = || match source {
        Source::File(opened) => {
            let again = opened.try_clone().map_err(|error| failed(room.file, error))?;
            read_chunks(opened, &again, request, room)
        }
        Source::Bytes(bytes) => {
            let bytes = Bytes::from(bytes.into_inner());
            read_chunks(bytes.clone(), &bytes, request, room)
        }
    };
    guarded(read).unwrap_or_else(|| Err(Error::damaged(room.file, "its pages", "they contradict each other")))
}

/// Reads the file; `again` is the same.
fn read_chunks<'a, R: ChunkReader + 'static>(
    chunks: R,
    again: &R,
    request: &'a Request,
    room: &Room<'a>,
) -> Result<Dataset, Error> {
    let file = room.file;
    let refused = |refusal: Refusal, place: &str| match refusal {
        Refusal::Damaged(problem) => Error::damaged(file, place, problem),
        Refusal::TooLarge(bytes) => Error::too_large(file, At::Row(1), bytes),
    };
    let contents = contents_size(again).map_err(|refusal| refused(refusal, "its end"))?;
    let mut contents_held = room.part();
    contents_held.set(contents.saturating_mul(CONTENTS), At::Row(1))?;
    check_contents(again).map_err(|refusal| refused(refusal, "its end"))?;
    let reader = SerializedFileReader::new(chunks).map_err(|error| Error::damaged(file, "its end", error))?;
    let metadata = reader.metadata();
    let schema = metadata.file_metadata().schema_descr();
    let names = schema.columns().iter().map(|column| column.path().string()).collect();
    let mut assembly = Assembly::new(file, request, room, names)?;
    let mut rows = 0_usize;
    for group in metadata.row_groups() {
        let more = usize::try_from(group.num_rows()).ok();
        rows = more
            .and_then(|more| rows.checked_add(more))
            .ok_or_else(|| Error::damaged(file, "its end", "no number of rows"))?;
    }
    assembly.allocate(rows)?;
    let roles = assembly.roles().to_vec();
    let kept = || schema.columns().iter().enumerate().filter(|(place, _)| roles[*place] != Role::Dropped);
    kept().try_for_each(|(_, column)| supported(column, file))?;
    let mut first = 0;
    for (at, group) in metadata.row_groups().iter().enumerate() {
        // Opening a group takes time in proportion to its columns, so it is done once.
        let opened =
            reader.get_row_group(at).map_err(|error| Error::damaged(file, format!("group {}", at + 1), error))?;
        let rows = group.num_rows() as usize;
        for (place, column) in kept() {
            let name = name(column);
            let wrong = |error: ParquetError| Error::damaged(file, &name, error);
            let memory = room.left() / PAGES;
            let largest = check_pages(again, group.column(place), memory.max(FREE));
            let largest = largest.map_err(|refusal| refused(refusal, &name))?;
            let mut pages_held = room.part();
            pages_held.set(PAGES.saturating_mul(largest), At::Row(1 + first as u64))?;
            let pages = opened.get_column_page_reader(place).map_err(wrong)?;
            let pages = Box::new(Checked { pages, optional: column.max_def_level() > 0 });
            let pages = get_column_reader(column.clone(), pages);
            let batch = batch(column, largest, memory);
            let mut chunk = Chunk { assembly: &mut assembly, place, first, rows, column, batch };
            chunk.read(pages)?;
        }
        first += rows;
    }
    assembly.finish()
}

/// How many values to read at a time. Each text may be as long as its page, if it repeats the one before.
fn batch(column: &ColumnDescriptor, largest: u64, memory: u64) -> usize {
    if column.physical_type() != Type::BYTE_ARRAY {
        return BATCH;
    }
    (memory / largest.max(1)).clamp(1, BATCH as u64) as usize
}

/// Refuses what is neither a number nor a text.
fn supported(column: &ColumnDescriptor, file: &str) -> Result<(), Error> {
    let logical = column.logical_type_ref();
    let known = match column.physical_type() {
        Type::BOOLEAN | Type::FLOAT | Type::DOUBLE => logical.is_none(),
        Type::INT32 | Type::INT64 => {
            matches!(logical, None | Some(LogicalType::Integer { .. }))
                && !matches!(
                    column.converted_type(),
                    ConvertedType::DECIMAL
                        | ConvertedType::DATE
                        | ConvertedType::TIME_MILLIS
                        | ConvertedType::TIME_MICROS
                        | ConvertedType::TIMESTAMP_MILLIS
                        | ConvertedType::TIMESTAMP_MICROS
                )
        }
        Type::BYTE_ARRAY => {
            matches!(logical, None | Some(LogicalType::String | LogicalType::Enum))
                && column.converted_type() != ConvertedType::DECIMAL
        }
        Type::INT96 | Type::FIXED_LEN_BYTE_ARRAY => false,
    };
    if known && column.max_rep_level() == 0 && column.max_def_level() <= 1 {
        return Ok(());
    }
    let kind = logical.map_or(String::new(), |kind| format!(" ({kind:?})"));
    let problem = format!("its type is {}{kind}", column.physical_type());
    Err(Error::unsupported(file, name(column), problem, FileRemedy::ConvertOrDrop))
}

/// A column, for people.
fn name(column: &ColumnDescriptor) -> String {
    format!("column {:?}", column.path().string())
}

/// The part of a column that is in one group of rows.
struct Chunk<'a, 'b> {
    assembly: &'a mut Assembly<'b>,
    place: usize,
    /// The first row.
    first: usize,
    /// The number of rows.
    rows: usize,
    column: &'a ColumnDescriptor,
    /// Values that are read at a time.
    batch: usize,
}

impl Chunk<'_, '_> {
    fn read(&mut self, pages: ColumnReader) -> Result<(), Error> {
        let converted = self.column.converted_type();
        match pages {
            ColumnReader::BoolColumnReader(pages) => {
                self.values(pages, |chunk, row, value| chunk.assembly.text(chunk.place, row, &value.to_string()))
            }
            ColumnReader::Int32ColumnReader(pages) => {
                let unsigned = converted == ConvertedType::UINT_32;
                self.numbers(pages, |value| if unsigned { value.cast_unsigned().into() } else { f64::from(*value) })
            }
            ColumnReader::Int64ColumnReader(pages) => {
                let unsigned = converted == ConvertedType::UINT_64;
                self.numbers(pages, |value| if unsigned { value.cast_unsigned() as f64 } else { *value as f64 })
            }
            ColumnReader::FloatColumnReader(pages) => self.numbers(pages, |value| f64::from(*value)),
            ColumnReader::DoubleColumnReader(pages) => self.numbers(pages, |value| *value),
            ColumnReader::ByteArrayColumnReader(pages) => {
                self.values(pages, |chunk, row, value| match value.as_utf8() {
                    Ok(text) => chunk.assembly.text(chunk.place, row, text),
                    Err(_) => Err(chunk.assembly.encoding(chunk.place, row)),
                })
            }
            ColumnReader::Int96ColumnReader(_) | ColumnReader::FixedLenByteArrayColumnReader(_) => {
                Err(Error::damaged(self.assembly.file, "its end", "a column has two types"))
            }
        }
    }

    fn numbers<T: DataType>(&mut self, pages: ColumnReaderImpl<T>, number: impl Fn(&T::T) -> f64) -> Result<(), Error> {
        self.values(pages, |chunk, row, value| chunk.assembly.number(chunk.place, row, number(value)))
    }

    fn values<T: DataType>(
        &mut self,
        mut pages: ColumnReaderImpl<T>,
        take: impl Fn(&mut Self, usize, &T::T) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (file, name) = (self.assembly.file, name(self.column));
        let (mut levels, mut values) = (Vec::new(), Vec::new());
        let optional = self.column.max_def_level() > 0;
        let (mut row, end) = (self.first, self.first + self.rows);
        while row < end {
            levels.clear();
            values.clear();
            let most = self.batch.min(end - row);
            let read = pages.read_records(most, optional.then_some(&mut levels), None, &mut values);
            let (records, found, _) = read.map_err(|error| Error::damaged(file, &name, error))?;
            let present = if optional { levels.iter().filter(|level| **level > 0).count() } else { records };
            if records == 0 || records > most || found != present || optional && levels.len() != records {
                let problem = format!("it ends after {row} rows, and there should be {end}");
                return Err(Error::damaged(file, &name, problem));
            }
            let mut values = values.iter();
            for at in 0..records {
                if optional && levels.get(at) == Some(&0) {
                    self.assembly.missing(self.place, row + at, "null");
                } else if let Some(value) = values.next() {
                    take(self, row + at, value)?;
                }
            }
            row += records;
        }
        Ok(())
    }
}
