//! Text with delimiters between fields.
//!
//! Lines are parsed in blocks, all cores at once, as long as a line is a record: up to the first quote, or the first carriage
//! return within a line. From there on the `csv` crate tells records apart, one after another.

use std::{
    io::{self, Cursor, Read},
    ops::Range,
};

use csv::{ByteRecord, ReaderBuilder};
use memchr::{memchr, memchr_iter, memchr2, memrchr};
use rayon::prelude::*;

use super::{
    Format, Request, failed,
    input::{Bound, Input},
};
use crate::{
    At, Dataset, Error,
    assembly::{Assembly, MISSING, Role},
    columns::Names,
    field::{Field, number_label, shown},
    growing::Growing,
    room::{Held, Room, reserve},
};

/// The most bytes that one core parses at a time.
const PIECE: usize = 1 << 20;

/// What a byte of text takes while it is parsed, about: numbers have two bytes at least, and most have more.
const PER_BYTE: u64 = 8;

/// The most bytes of the first line before it is read in full.
const START: usize = 1 << 16;

/// What a byte of the first line takes: in the text, in a record that grows by doubling, and in the names.
const FIRST: u64 = 4;

/// The same of a field.
const FIELD: u64 = 24;

/// The share of what is left that the text and the rows that are parsed at a time may take.
const SHARE: u64 = 4;

pub(super) fn read<'a>(
    input: Input<'_>,
    request: &'a Request,
    room: &Room<'a>,
    format: Format,
) -> Result<Dataset, Error> {
    let file = room.file;
    let delimiter = request.delimiter.unwrap_or(if format == Format::Tsv { b'\t' } else { b',' });
    let (input, bound) = input.counted().map_err(|error| failed(file, error))?;
    let mut text = Text { stream: input.stream(), buffer: Vec::new(), ended: false, held: room.part(), room };
    text.skip_mark()?;
    let (first, size) = text.first_record(delimiter)?;
    let (names, line) = if request.header {
        let names = names(file, &first)?;
        let line = 1 + lines(&text.buffer[..size]);
        text.buffer.drain(..size);
        (names, line)
    } else {
        (Names::numbered(first.len()), 1)
    };
    drop(first);
    text.shrink();
    let assembly = Assembly::new(file, request, room, names)?;
    // Every row has a line, and a byte for every delimiter and for its end.
    let least = assembly.roles().len() as u64;
    let known = bound.map(|Bound { lines, bytes }| (lines + 1).min(bytes / least + 1) as usize);
    // No more than is allowed.
    let row = 8 * assembly.features() as u64;
    let most = usize::try_from(room.left() / row.max(1)).unwrap_or(usize::MAX);
    let rows = Growing::new(assembly.features(), known.map(|rows| rows.min(most)));
    let mut body = Body { assembly, rows, line, delimiter };
    body.read(text)?;
    let Body { mut assembly, rows, .. } = body;
    assembly.set_values(rows.rows(), rows.into_columns());
    assembly.finish()
}

/// The names in the first line.
fn names(file: &str, header: &ByteRecord) -> Result<Vec<String>, Error> {
    let text = |(place, raw): (usize, &[u8])| match std::str::from_utf8(raw) {
        Ok(text) => Ok(text.trim().to_owned()),
        Err(_) => Err(Error::Encoding { file: file.to_owned(), at: At::Line(1), column: (place + 1).to_string() }),
    };
    let names: Vec<String> = header.iter().enumerate().map(text).collect::<Result<_, _>>()?;
    if names.iter().all(|name| name.parse::<f64>().is_ok()) {
        return Err(Error::NoHeader { file: file.to_owned(), first: names.first().cloned().unwrap_or_default() });
    }
    Ok(names)
}

/// How many lines end in some bytes: at every line feed, and at every carriage return without one.
fn lines(bytes: &[u8]) -> u64 {
    let alone = memchr_iter(b'\r', bytes).filter(|at| bytes.get(at + 1) != Some(&b'\n')).count();
    (memchr_iter(b'\n', bytes).count() + alone) as u64
}

/// Whether records must be told apart with care.
fn has_quotes(bytes: &[u8]) -> bool {
    memchr(b'"', bytes).is_some()
        || memchr_iter(b'\r', bytes).any(|at| bytes.get(at + 1).is_some_and(|next| *next != b'\n'))
}

/// A text, and the part of it that is in memory.
struct Text<'a, 'r> {
    stream: Box<dyn Read + 'a>,
    buffer: Vec<u8>,
    ended: bool,
    /// What the part in memory takes, with what is made of it at once.
    held: Held<'r>,
    room: &'a Room<'r>,
}

impl Text<'_, '_> {
    /// Reads on until so many bytes are in memory, of which each takes `each` with what is made of it.
    fn fill(&mut self, length: usize, each: u64, at: At) -> Result<(), Error> {
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
    fn skip_mark(&mut self) -> Result<(), Error> {
        self.fill(3, 1, At::Line(1))?;
        if self.buffer.starts_with(b"\xef\xbb\xbf") {
            self.buffer.drain(..3);
        }
        Ok(())
    }

    /// The first record, and the bytes that it takes with what is before it and the end of its line.
    fn first_record(&mut self, delimiter: u8) -> Result<(ByteRecord, usize), Error> {
        let mut length = START;
        loop {
            self.fill(length, FIRST, At::Line(1))?;
            if !self.ended && memchr2(b'\n', b'\r', &self.buffer).is_none() {
                length *= 2;
                continue;
            }
            let fields = memchr_iter(delimiter, &self.buffer).count() as u64;
            self.held.set(FIRST * self.buffer.len() as u64 + FIELD * fields, At::Line(1))?;
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
    fn shrink(&mut self) {
        self.buffer.shrink_to_fit();
        // Less can always be taken.
        let _ = self.held.set(self.buffer.len() as u64, At::Line(1));
    }
}

/// The rows so far.
struct Body<'a> {
    assembly: Assembly<'a>,
    rows: Growing,
    /// The line that comes next.
    line: u64,
    delimiter: u8,
}

impl Body<'_> {
    fn read(&mut self, mut text: Text<'_, '_>) -> Result<(), Error> {
        let pieces = rayon::current_num_threads();
        // The rows come first: what they do not need is for the text.
        self.rows.make_room(0, self.assembly.rows_held(), (text.room.file, At::Line(self.line)))?;
        let share = usize::try_from(text.room.left() / SHARE / PER_BYTE).unwrap_or(PIECE) / pieces;
        let mut length = PIECE.min(share).max(1 << 12) * pieces;
        let mut numbers_held = text.room.part();
        loop {
            text.fill(length, 1, At::Line(self.line))?;
            if text.buffer.is_empty() {
                return Ok(());
            }
            if has_quotes(&text.buffer) {
                return self.read_quoted(text);
            }
            let end = if text.ended { Some(text.buffer.len()) } else { memrchr(b'\n', &text.buffer).map(|at| at + 1) };
            let Some(end) = end else {
                length *= 2;
                continue;
            };
            let pieces = split(&text.buffer[..end], pieces);
            let (roles, delimiter, features) = (self.assembly.roles(), self.delimiter, self.assembly.features());
            let rows: Vec<usize> = pieces.par_iter().map(|piece| 1 + memchr_iter(b'\n', piece).count()).collect();
            // A number for every feature, and a line and a target for every row; a row has a byte for every field.
            let most = |(rows, piece): (&usize, &&[u8])| (*rows).min(piece.len() / roles.len().max(1) + 1);
            let rows: Vec<usize> = rows.iter().zip(&pieces).map(most).collect();
            let bytes = rows.iter().map(|rows| *rows as u64 * (8 * features as u64 + 48)).sum();
            numbers_held.set(bytes, At::Line(self.line))?;
            // Cells that are no numbers are as many as there is room for.
            let odd = text.room.left() / (2 * pieces.len() as u64) / (2 * size_of::<Odd>() as u64);
            let odd = usize::try_from(odd).unwrap_or(usize::MAX).max(1 << 10);
            let parse =
                |(piece, rows): (&&[u8], &usize)| Block::parse(piece, roles, delimiter, (*rows * features, odd));
            let blocks: Vec<Block> = pieces.par_iter().zip(&rows).map(parse).collect();
            for (piece, block) in pieces.iter().zip(blocks) {
                self.take(piece, block)?;
            }
            text.buffer.drain(..end);
        }
    }

    /// Reads records that may be quoted.
    fn read_quoted(&mut self, text: Text<'_, '_>) -> Result<(), Error> {
        let Text { stream, buffer, room, held: _held, .. } = text;
        let file = room.file;
        // A record is in memory three times, while it grows by doubling.
        let limit = room.left() / SHARE;
        let piece = PIECE.min(usize::try_from(limit / PER_BYTE).unwrap_or(PIECE)).max(1 << 12);
        let first = memchr(b'\n', &buffer);
        let windows = first.is_some_and(|at| at > 0 && buffer[at - 1] == b'\r');
        let bounded = Bounded {
            inner: Cursor::new(buffer).chain(stream),
            left: limit.saturating_add(1 << 17),
            out: false,
            odd_quotes: false,
        };
        let mut reader = ReaderBuilder::new()
            .delimiter(self.delimiter)
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(1 << 16)
            .from_reader(bounded);
        let before = self.line - 1;
        let mut record = ByteRecord::new();
        let mut block = Block::default();
        // The line of the last record, and whether its last field has several.
        let mut last = (0, false);
        loop {
            reader.get_mut().left = limit.saturating_add(1 << 17);
            let found = reader.read_byte_record(&mut record).map_err(|error| failed(file, error.into()))?;
            if reader.get_ref().out {
                return Err(Error::too_large(file, At::Line(before + reader.position().line()), limit));
            }
            if found {
                let line = start(&record, reader.position().line(), windows);
                block.record(&record, before + line - 1, self.assembly.roles());
                last = (before + line, record.iter().next_back().is_some_and(|field| field.contains(&b'\n')));
            }
            let refused = block.fault.is_some();
            let ended = !found
                || refused && !reader.read_byte_record(&mut record).map_err(|error| failed(file, error.into()))?;
            if ended && last.1 && reader.get_ref().odd_quotes {
                // It has taken in all lines behind it.
                let problem = "a quote is opened there or in the lines behind, and never closed";
                return Err(Error::damaged(file, At::Line(last.0), problem));
            }
            if !found
                || block.fault.is_some()
                || block.text.len() + 8 * block.numbers.len() + size_of::<Odd>() * block.odd.len() > piece
            {
                self.line = 1;
                let texts = std::mem::take(&mut block.text);
                self.take(&texts, std::mem::take(&mut block))?;
            }
            if !found {
                return Ok(());
            }
        }
    }

    /// Takes in the rows of a block, and how many lines it has.
    fn take(&mut self, text: &[u8], mut block: Block) -> Result<(), Error> {
        let (features, first) = (self.assembly.features(), self.rows.rows());
        let rows = block.lines.len();
        block.lines.iter().for_each(|line| self.assembly.lines.push(self.line + line));
        let mut targets = block.targets.iter();
        let mut odd = block.odd.iter().peekable();
        for row in 0..rows {
            while let Some(cell) = odd.next_if(|cell| cell.row == row) {
                let raw = &text[cell.text.clone()];
                let value = match std::str::from_utf8(raw) {
                    Err(_) => return Err(self.assembly.encoding(cell.place, first + row)),
                    Ok(text) => self.assembly.coded(cell.place, first + row, &label(text, cell.is_label))?,
                };
                block.numbers[row * features + cell.feature] = value;
            }
            if let Some(target) = targets.next() {
                self.assembly.target_text(first + row, &text[target.clone()])?;
            }
        }
        self.assembly.count_rows(first + rows)?;
        let place = (self.assembly.file, self.assembly.lines.at((first + rows).saturating_sub(1)));
        self.rows.make_room(rows, self.assembly.rows_held(), place)?;
        self.rows.push(&block.numbers[..rows * features]);
        if let Some(Fault { line, what }) = block.fault {
            let at = At::Line(self.line + line);
            self.assembly.lines.push(self.line + line);
            return Err(match what {
                Wrong::Fields(got) => {
                    let expected = self.assembly.roles().len();
                    Error::Ragged { file: self.assembly.file.to_owned(), at, got, expected }
                }
                Wrong::NotFinite(place, value) => self.assembly.not_finite(place, self.rows.rows(), &value),
                Wrong::TooMany(bytes) => Error::too_large(self.assembly.file, at, bytes),
            });
        }
        self.line += block.ends;
        Ok(())
    }
}

/// A label.
fn label(text: &str, is_label: bool) -> std::borrow::Cow<'_, str> {
    match Field::parse(text.as_bytes()) {
        Field::Number(number) if is_label => number_label(number).into(),
        _ => text.into(),
    }
}

/// The line on which a record starts, where `next` is the line that the reader has come to. The reader's own count is that
/// of the end of the record before, and does not see empty lines.
fn start(record: &ByteRecord, next: u64, windows: bool) -> u64 {
    let inside = memchr_iter(b'\n', record.as_slice()).count() as u64;
    // Of a line of Windows the reader leaves the last byte for later.
    let own = u64::from(!windows);
    next.saturating_sub(inside + own).max(record.position().map_or(0, csv::Position::line))
}

/// Cuts text into pieces of whole lines, of about the same size.
fn split(text: &[u8], pieces: usize) -> Vec<&[u8]> {
    let (mut parts, mut rest) = (Vec::with_capacity(pieces), text);
    for left in (1..=pieces).rev() {
        let end = if left == 1 {
            rest.len()
        } else {
            let wish = rest.len() / left;
            memchr(b'\n', &rest[wish..]).map_or(rest.len(), |at| wish + at + 1)
        };
        let (part, others) = rest.split_at(end);
        parts.push(part);
        rest = others;
    }
    parts
}

/// Rows that are parsed and not yet in their places.
#[derive(Default)]
struct Block {
    /// The line of every row; 0 is the first of the block.
    lines: Vec<u64>,
    /// The lines of the block.
    ends: u64,
    /// The features, row by row.
    numbers: Vec<f64>,
    /// The cells among them that are no numbers.
    odd: Vec<Odd>,
    targets: Vec<Range<usize>>,
    /// What ended it.
    fault: Option<Fault>,
    /// The fields of records that are not the lines of a text.
    text: Vec<u8>,
    /// The most cells that are no numbers, if that is limited.
    most_odd: Option<usize>,
}

/// A cell that is not a number.
struct Odd {
    row: usize,
    place: usize,
    feature: usize,
    text: Range<usize>,
    is_label: bool,
}

/// What ends the reading, and on which line of the block.
struct Fault {
    line: u64,
    what: Wrong,
}

enum Wrong {
    /// So many fields in a row.
    Fields(usize),
    /// The column and what stands there.
    NotFinite(usize, String),
    /// Cells that are no numbers, which would take so many bytes.
    TooMany(u64),
}

impl Block {
    /// Parses lines without quotes, with so many numbers and cells that are none at most.
    fn parse(text: &[u8], roles: &[Role], delimiter: u8, (numbers, odd): (usize, usize)) -> Self {
        let mut block = Self { numbers: Vec::with_capacity(numbers), most_odd: Some(odd), ..Self::default() };
        // Such a delimiter may be a part of a number.
        let whole = !b"+-.".contains(&delimiter);
        let mut from = 0;
        while from < text.len() {
            let end = memchr(b'\n', &text[from..]).map_or(text.len(), |at| from + at);
            let line = text[from..end].strip_suffix(b"\r").unwrap_or(&text[from..end]);
            if !line.is_empty() && !block.line(line, from, roles, delimiter, whole) {
                break;
            }
            block.ends += 1;
            from = end + 1;
        }
        block
    }

    /// Parses a line that starts at `from`; whether all is well.
    fn line(&mut self, line: &[u8], from: usize, roles: &[Role], delimiter: u8, whole: bool) -> bool {
        let mut at = 0;
        for (place, role) in roles.iter().enumerate() {
            if at > line.len() {
                return self.stop(Wrong::Fields(place));
            }
            let field = &line[at..];
            if whole
                && let Role::Number(_) = role
                && let Ok((number, size)) = fast_float2::parse_partial::<f64, _>(field)
                && number.is_finite()
                && field.get(size).is_none_or(|next| *next == delimiter)
            {
                self.numbers.push(number);
                at += size + 1;
                continue;
            }
            let end = memchr(delimiter, field).unwrap_or(field.len());
            if !self.field(place, *role, &field[..end], from + at) {
                return false;
            }
            at += end + 1;
        }
        if at <= line.len() {
            return self.stop(Wrong::Fields(memchr_iter(delimiter, line).count() + 1));
        }
        self.lines.push(self.ends);
        true
    }

    /// Takes in a record on some line.
    fn record(&mut self, record: &ByteRecord, line: u64, roles: &[Role]) {
        if self.fault.is_some() {
            return;
        }
        self.ends = line;
        if record.len() != roles.len() {
            self.stop(Wrong::Fields(record.len()));
            return;
        }
        for (place, (raw, role)) in record.iter().zip(roles).enumerate() {
            let from = self.text.len();
            let kept = match role {
                Role::Dropped => false,
                Role::Target | Role::Label(_) => true,
                Role::Number(_) => !matches!(Field::parse(raw), Field::Number(_)),
            };
            if kept {
                self.text.extend_from_slice(raw);
            }
            if !self.field(place, *role, raw, from) {
                return;
            }
        }
        self.lines.push(line);
    }

    /// Takes in a field that starts at `from`; whether all is well.
    fn field(&mut self, place: usize, role: Role, raw: &[u8], from: usize) -> bool {
        let text = from..from + raw.len();
        match role {
            Role::Dropped => {}
            Role::Target => self.targets.push(text),
            Role::Number(feature) | Role::Label(feature) => match Field::parse(raw) {
                Field::Number(number) if matches!(role, Role::Number(_)) => self.numbers.push(number),
                Field::NotFinite => return self.stop(Wrong::NotFinite(place, shown(raw))),
                _ if self.most_odd.is_some_and(|most| self.odd.len() >= most) => {
                    return self.stop(Wrong::TooMany(2 * (self.odd.len() * size_of::<Odd>()) as u64));
                }
                _ => {
                    let is_label = matches!(role, Role::Label(_));
                    self.odd.push(Odd { row: self.lines.len(), place, feature, text, is_label });
                    self.numbers.push(MISSING);
                }
            },
        }
        true
    }

    fn stop(&mut self, what: Wrong) -> bool {
        self.fault = Some(Fault { line: self.ends, what });
        false
    }
}

/// A stream that ends after so many bytes.
struct Bounded<R> {
    inner: R,
    left: u64,
    /// Whether the end was that of the bytes allowed.
    out: bool,
    /// Whether the quotes so far are of an odd number.
    odd_quotes: bool,
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
