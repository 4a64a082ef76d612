//! Arrow's file format for exchange (`.arrow`, `.feather`, `.ipc`).
//!
//! Every length that the file claims is held against its size before the `arrow-ipc` crate sees it, as that crate takes memory
//! by such claims.

use std::{
    io::{Read, Seek, SeekFrom},
    sync::Arc,
};

use arrow_array::{
    Array, ArrayRef, RecordBatch,
    cast::AsArray,
    types::{
        ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
        UInt32Type, UInt64Type,
    },
};
use arrow_ipc::{
    Block, convert::fb_to_schema, reader::FileDecoder, root_as_footer_with_opts, root_as_message_with_opts,
};
use arrow_schema::{DataType, Schema};
use flatbuffers::VerifierOptions;

use super::{
    Request,
    guard::guarded,
    input::{Input, Source},
};
use crate::{
    At, Dataset, Error, FileRemedy,
    assembly::{Assembly, Role},
    room::{Held, Room},
};

/// What a file begins and ends with.
const MAGIC: &[u8; 6] = b"ARROW1";

/// Its last bytes: the length of what is before them, and the mark.
const TAIL: u64 = 10;

/// Bytes that the table of contents takes in memory for every one in the file, about.
const CONTENTS: u64 = 6;

/// The most that packing can save.
const MAX_RATIO: u64 = 40_000;

pub(super) fn read<'a>(input: Input<'_>, request: &'a Request, room: &Room<'a>) -> Result<Dataset, Error> {
    let (mut source, _held) = input.source(room)?;
    guarded(|| Reader::open(&mut source, room)?.read(request))
        .unwrap_or_else(|| Err(Error::damaged(room.file, "its batches", "they contradict each other")))
}

struct Reader<'s, 'a> {
    source: &'s mut Source,
    file: &'a str,
    length: u64,
    room: &'s Room<'a>,
    /// What the table of contents, the labels and the batch at hand take.
    held: Held<'a>,
    contents: u64,
    schema: Arc<Schema>,
    decoder: FileDecoder,
    /// Bytes of labels.
    kept: u64,
    dictionaries: Vec<Block>,
    batches: Vec<Block>,
}

impl<'s, 'a> Reader<'s, 'a> {
    fn open(source: &'s mut Source, room: &'s Room<'a>) -> Result<Self, Error> {
        let file = room.file;
        let wrong = |problem: &str| Error::damaged(file, "its end", problem);
        let length = source.length(file)?;
        if length < TAIL + 8 {
            return Err(wrong("it is too short"));
        }
        let tail = bytes(source, file, length - TAIL, TAIL)?;
        let size = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
        if tail[4..] != MAGIC[..] {
            return Err(wrong(
                "the mark of Arrow's file format is missing (streams, and Feather of version 1, have none)",
            ));
        }
        if size > length - TAIL - 8 {
            return Err(wrong(&format!("its table of contents has {size} bytes, more than the file")));
        }
        let (mut held, contents) = (room.part(), size.saturating_mul(CONTENTS));
        held.set(contents, At::Row(1))?;
        let footer = bytes(source, file, length - TAIL - size, size)?;
        let footer = root_as_footer_with_opts(&verifier(size), &footer).map_err(|error| wrong(&error.to_string()))?;
        let schema = Arc::new(fb_to_schema(footer.schema().ok_or_else(|| wrong("it has no schema"))?));
        let decoder = FileDecoder::new(schema.clone(), footer.version());
        let blocks = |blocks: Option<flatbuffers::Vector<'_, Block>>| blocks.iter().flatten().copied().collect();
        let (dictionaries, batches): (Vec<Block>, Vec<Block>) =
            (blocks(footer.dictionaries()), blocks(footer.recordBatches()));
        let reader =
            Self { source, file, length, room, held, contents, schema, decoder, kept: 0, dictionaries, batches };
        reader.disjoint()?;
        Ok(reader)
    }

    /// Refuses blocks that lie one upon another: a small file could have them read without an end.
    fn disjoint(&self) -> Result<(), Error> {
        let mut total = 0_u64;
        for block in self.dictionaries.iter().chain(&self.batches) {
            let (_, description, body) = self.extent(block)?;
            total = total.saturating_add(description + body);
        }
        if total > self.length {
            return Err(Error::damaged(self.file, "its table of contents", "its batches are larger than the file"));
        }
        Ok(())
    }

    fn read(mut self, request: &'a Request) -> Result<Dataset, Error> {
        let names = self.schema.fields().iter().map(|field| field.name().clone()).collect();
        let mut assembly = Assembly::new(self.file, request, self.room, names)?;
        self.supported(&assembly)?;
        for block in std::mem::take(&mut self.dictionaries) {
            let (data, unpacked) = self.block(&block)?;
            // Labels stay until the last batch has been read.
            self.kept = self.kept.saturating_add(data.len() as u64).saturating_add(unpacked);
            self.decoder
                .read_dictionary(&block, &data.into())
                .map_err(|error| Error::damaged(self.file, "its labels", error))?;
        }
        let (file, blocks) = (self.file, std::mem::take(&mut self.batches));
        let mut rows = 0_usize;
        for block in &blocks {
            rows = rows.saturating_add(self.rows(block)?);
        }
        assembly.allocate(rows)?;
        let mut first = 0;
        for (at, block) in blocks.iter().enumerate() {
            let place = format!("batch {}", at + 1);
            let (data, _) = self.block(block)?;
            let batch = self.decoder.read_record_batch(block, &data.into());
            let batch = batch.map_err(|error| Error::damaged(file, &place, error))?;
            let batch = batch.ok_or_else(|| Error::damaged(file, &place, "it has no rows"))?;
            if first + batch.num_rows() > rows {
                return Err(Error::damaged(file, &place, "it has more rows than it says"));
            }
            first += fill(&mut assembly, batch, first)?;
        }
        if first < rows {
            return Err(Error::damaged(file, "its batches", format!("they have {first} rows and not {rows}")));
        }
        assembly.finish()
    }

    /// Refuses what is neither a number nor a text.
    fn supported(&self, assembly: &Assembly<'_>) -> Result<(), Error> {
        for (field, role) in self.schema.fields().iter().zip(assembly.roles()) {
            let kind = match field.data_type() {
                DataType::Dictionary(_, values) => values,
                kind => kind,
            };
            let known = kind.is_integer()
                || matches!(kind, DataType::Float32 | DataType::Float64 | DataType::Boolean | DataType::Null)
                || matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
            if *role != Role::Dropped && !known {
                let (place, problem) =
                    (format!("column {:?}", field.name()), format!("its type is {}", field.data_type()));
                return Err(Error::unsupported(self.file, place, problem, FileRemedy::ConvertOrDrop));
            }
        }
        Ok(())
    }

    /// The lengths of the description and of the body of a block, and where it is.
    fn extent(&self, block: &Block) -> Result<(u64, u64, u64), Error> {
        let wrong = || Error::damaged(self.file, "its table of contents", "a batch is not within the file");
        let at = u64::try_from(block.offset()).map_err(|_| wrong())?;
        let description = u64::try_from(block.metaDataLength()).map_err(|_| wrong())?;
        let body = u64::try_from(block.bodyLength()).map_err(|_| wrong())?;
        let end = at.checked_add(description).and_then(|end| end.checked_add(body));
        if description < 8 || end.is_none_or(|end| end > self.length) {
            Err(wrong())
        } else {
            Ok((at, description, body))
        }
    }

    /// The rows of a batch, by its description.
    fn rows(&mut self, block: &Block) -> Result<usize, Error> {
        let (at, size, _) = self.extent(block)?;
        let description = bytes(self.source, self.file, at, size)?;
        let wrong = |problem: &str| Error::damaged(self.file, format!("byte {at}"), problem);
        let message = root_as_message_with_opts(&verifier(size), after_prefix(&description))
            .map_err(|error| wrong(&error.to_string()))?;
        let batch = message.header_as_record_batch().ok_or_else(|| wrong("there is no batch"))?;
        usize::try_from(batch.length()).map_err(|_| wrong("it has no number of rows"))
    }

    /// The bytes of a block, whose buffers do not claim more than they can hold, and how many more it has unpacked.
    fn block(&mut self, block: &Block) -> Result<(Vec<u8>, u64), Error> {
        let (at, size, body) = self.extent(block)?;
        self.check(size.saturating_add(body))?;
        let data = bytes(self.source, self.file, at, size + body)?;
        let wrong = |problem: &str| Error::damaged(self.file, format!("byte {at}"), problem);
        let (description, body) = data.split_at(size as usize);
        let message = root_as_message_with_opts(&verifier(size), after_prefix(description))
            .map_err(|error| wrong(&error.to_string()))?;
        let batch = message
            .header_as_record_batch()
            .or_else(|| message.header_as_dictionary_batch().and_then(|labels| labels.data()));
        let batch = batch.ok_or_else(|| wrong("there is no batch"))?;
        let mut claimed = 0_u64;
        for buffer in batch.buffers().iter().flatten() {
            let (start, size) = (usize::try_from(buffer.offset()).ok(), usize::try_from(buffer.length()).ok());
            let range = start.zip(size).and_then(|(start, size)| Some(start..start.checked_add(size)?));
            let part =
                range.and_then(|range| body.get(range)).ok_or_else(|| wrong("a buffer is not within its batch"))?;
            if batch.compression().is_some() && !part.is_empty() {
                let unpacked: [u8; 8] =
                    part.get(..8).and_then(|size| size.try_into().ok()).ok_or_else(|| wrong("a buffer has no size"))?;
                // -1 stands for bytes that are not packed.
                let unpacked = u64::try_from(i64::from_le_bytes(unpacked)).unwrap_or(0);
                if unpacked > MAX_RATIO.saturating_mul(part.len() as u64) {
                    return Err(wrong(&format!("{} bytes cannot be those of {unpacked}, packed", part.len())));
                }
                claimed = claimed.saturating_add(unpacked);
            }
        }
        self.check(claimed.saturating_add(data.len() as u64))?;
        Ok((data, claimed))
    }

    /// Takes so many bytes for a batch, beside the labels.
    fn check(&mut self, bytes: u64) -> Result<(), Error> {
        self.held.set(bytes.saturating_add(self.kept).saturating_add(self.contents), At::Row(1))
    }
}

/// A description comes after its length, and that, in newer files, after a mark.
fn after_prefix(description: &[u8]) -> &[u8] {
    if description.starts_with(&[0xff; 4]) { &description[8..] } else { &description[4..] }
}

/// Checks of a description of so many bytes, however many tables are in it.
fn verifier(size: u64) -> VerifierOptions {
    VerifierOptions { max_tables: (size as usize).max(1), ..VerifierOptions::default() }
}

/// Bytes of the file, which are known to be there.
fn bytes(source: &mut Source, file: &str, at: u64, size: u64) -> Result<Vec<u8>, Error> {
    let place = format!("byte {at}");
    source.seek(SeekFrom::Start(at)).map_err(|error| Error::damaged(file, &place, error))?;
    let mut bytes = Vec::with_capacity(size as usize);
    let read = source.take(size).read_to_end(&mut bytes).map_err(|error| Error::damaged(file, &place, error))?;
    if (read as u64) < size { Err(Error::damaged(file, &place, "it ends too early")) } else { Ok(bytes) }
}

/// Takes in a batch whose first row is `first`; says how many rows it has.
fn fill(assembly: &mut Assembly<'_>, batch: RecordBatch, first: usize) -> Result<usize, Error> {
    let rows = batch.num_rows();
    let (_, columns, _) = batch.into_parts();
    for (place, column) in columns.into_iter().enumerate() {
        if assembly.roles()[place] != Role::Dropped {
            column_of(assembly, place, first, &column)?;
        }
    }
    Ok(rows)
}

fn column_of(assembly: &mut Assembly<'_>, place: usize, first: usize, column: &ArrayRef) -> Result<(), Error> {
    let (keys, values): (Box<dyn Iterator<Item = usize>>, &ArrayRef) = match column.as_any_dictionary_opt() {
        Some(labels) => (Box::new(labels.normalized_keys().into_iter()), labels.values()),
        None => (Box::new(0..column.len()), column),
    };
    let take = taker(values);
    for (row, key) in keys.enumerate() {
        if column.is_null(row) || values.is_null(key) {
            assembly.missing(place, first + row, "null");
        } else {
            take(assembly, place, first + row, key)?;
        }
    }
    Ok(())
}

/// What takes a value of an array into a row of a column.
type Take<'a> = Box<dyn Fn(&mut Assembly<'_>, usize, usize, usize) -> Result<(), Error> + 'a>;

fn taker(array: &ArrayRef) -> Take<'_> {
    fn numbers<T: ArrowPrimitiveType>(array: &ArrayRef, number: impl Fn(T::Native) -> f64 + 'static) -> Take<'_> {
        let values = array.as_primitive::<T>();
        Box::new(move |assembly, place, row, at| assembly.number(place, row, number(values.value(at))))
    }
    match array.data_type() {
        DataType::Float64 => numbers::<Float64Type>(array, |x| x),
        DataType::Float32 => numbers::<Float32Type>(array, f64::from),
        DataType::Int8 => numbers::<Int8Type>(array, f64::from),
        DataType::Int16 => numbers::<Int16Type>(array, f64::from),
        DataType::Int32 => numbers::<Int32Type>(array, f64::from),
        DataType::Int64 => numbers::<Int64Type>(array, |x| x as f64),
        DataType::UInt8 => numbers::<UInt8Type>(array, f64::from),
        DataType::UInt16 => numbers::<UInt16Type>(array, f64::from),
        DataType::UInt32 => numbers::<UInt32Type>(array, f64::from),
        DataType::UInt64 => numbers::<UInt64Type>(array, |x| x as f64),
        DataType::Boolean => {
            let values = array.as_boolean();
            Box::new(move |assembly, place, row, at| assembly.text(place, row, &values.value(at).to_string()))
        }
        DataType::Utf8 => {
            let values = array.as_string::<i32>();
            Box::new(move |assembly, place, row, at| assembly.text(place, row, values.value(at)))
        }
        DataType::LargeUtf8 => {
            let values = array.as_string::<i64>();
            Box::new(move |assembly, place, row, at| assembly.text(place, row, values.value(at)))
        }
        DataType::Utf8View => {
            let values = array.as_string_view();
            Box::new(move |assembly, place, row, at| assembly.text(place, row, values.value(at)))
        }
        // Other types were refused; of nulls there is no value.
        _ => Box::new(|assembly, place, row, _| {
            assembly.missing(place, row, "null");
            Ok(())
        }),
    }
}
