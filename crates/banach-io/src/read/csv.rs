//! Text with delimiters between fields.
//!
//! Lines are parsed in blocks, all cores at once, as long as a line is a record: up to the first quote, or the first carriage
//! return within a line. From there on the `csv` crate tells records apart, one after another.

mod block;
mod dialect;
mod text;

use std::io::{Cursor, Read as _};

use csv::{ByteRecord, ReaderBuilder};
use memchr::{memchr, memchr_iter, memrchr};
use rayon::prelude::*;

use self::{
    block::{Block, Fault, Layout, Odd, Wrong},
    text::{Bounded, Text},
};
use super::{
    Format, Request, failed,
    input::{Bound, Input},
};
use crate::{
    At, Dataset, Error, assembly::Assembly, columns::Names, field::counted_label, growing::Growing, room::Room,
};

/// The most bytes that one core parses at a time.
const PIECE: usize = 1 << 20;

/// What a byte of text takes while it is parsed, about: numbers have two bytes at least, and most have more.
const PER_BYTE: u64 = 8;

/// The share of what is left that the text and the rows that are parsed at a time may take.
const SHARE: u64 = 4;

pub(super) fn read<'a>(
    input: Input<'_>,
    request: &'a Request,
    room: &Room<'a>,
    format: Format,
) -> Result<Dataset, Error> {
    let file = room.file;
    let (input, bound) = input.counted().map_err(|error| failed(file, error))?;
    let mut text = Text::new(input.stream(), room);
    text.skip_mark()?;
    text.sample()?;
    let (dialect, style) = dialect::of(&text.buffer, request, format);
    let (first, size) = text.first_record(dialect.delimiter)?;
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
    let mut assembly = Assembly::new(file, request, room, names)?;
    assembly.style = style;
    // Every row has a line, and a byte for every delimiter and for its end.
    let least = assembly.roles().len() as u64;
    let known = bound.map(|Bound { lines, bytes }| (lines + 1).min(bytes / least + 1) as usize);
    // No more than is allowed.
    let row = 8 * assembly.features() as u64;
    let most = usize::try_from(room.left() / row.max(1)).unwrap_or(usize::MAX);
    let rows = Growing::new(assembly.features(), known.map(|rows| rows.min(most)));
    let mut body = Body { assembly, rows, line, delimiter: dialect.delimiter };
    body.read(text)?;
    let Body { mut assembly, rows, .. } = body;
    assembly.set_values(rows.rows(), rows.into_columns());
    let data = assembly.finish()?;
    Ok(Dataset { dialect: Some(dialect), ..data })
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

/// The rows so far.
struct Body<'a> {
    assembly: Assembly<'a>,
    rows: Growing,
    /// The line that comes next.
    line: u64,
    delimiter: u8,
}

impl Body<'_> {
    fn layout(&self) -> Layout<'_> {
        Layout { roles: self.assembly.roles(), delimiter: self.delimiter, style: self.assembly.style }
    }

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
            let (layout, features) = (self.layout(), self.assembly.features());
            let roles = layout.roles;
            let rows: Vec<usize> = pieces.par_iter().map(|piece| 1 + memchr_iter(b'\n', piece).count()).collect();
            // A number for every feature, and a line and a target for every row; a row has a byte for every field.
            let most = |(rows, piece): (&usize, &&[u8])| (*rows).min(piece.len() / roles.len().max(1) + 1);
            let rows: Vec<usize> = rows.iter().zip(&pieces).map(most).collect();
            let bytes = rows.iter().map(|rows| *rows as u64 * (8 * features as u64 + 48)).sum();
            numbers_held.set(bytes, At::Line(self.line))?;
            // Cells that are no numbers are as many as there is room for.
            let odd = text.room.left() / (2 * pieces.len() as u64) / (2 * size_of::<Odd>() as u64);
            let odd = usize::try_from(odd).unwrap_or(usize::MAX).max(1 << 10);
            let parse = |(piece, rows): (&&[u8], &usize)| Block::parse(piece, layout, (*rows * features, odd));
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
                block.record(&record, before + line - 1, self.layout());
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
            if !found || block.fault.is_some() || block.bytes() > piece {
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
        self.assembly.units.add(&block.units, first);
        let (mut targets, mut ids) = (block.targets.iter(), block.ids.iter());
        let mut odd = block.odd.iter().peekable();
        for row in 0..rows {
            while let Some(cell) = odd.next_if(|cell| cell.row == row) {
                let raw = &text[cell.text.clone()];
                let value = match std::str::from_utf8(raw) {
                    Err(_) => return Err(self.assembly.encoding(cell.place, first + row)),
                    Ok(text) if cell.is_label => self.assembly.coded(cell.place, first + row, &counted_label(text))?,
                    Ok(text) => self.assembly.coded(cell.place, first + row, text)?,
                };
                block.numbers[row * features + cell.feature] = value;
            }
            if let Some(target) = targets.next() {
                self.assembly.target_text(first + row, &text[target.clone()])?;
            }
            if let Some(id) = ids.next() {
                self.assembly.id(&String::from_utf8_lossy(&text[id.clone()]));
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
