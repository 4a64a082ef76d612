//! A text in memory whose lines have fields. Fields are found when they are asked for, so that little more than the text is kept.

use std::{io::Read as _, ops::Range};

use super::samples::WRITE_AGAIN;
use crate::{
    At, Error,
    read::{failed, input::Input},
    room::{Held, Room, reserve},
};

/// Bytes that are read at a time.
const STEP: usize = 1 << 16;

#[derive(Debug)]
pub(super) struct FieldLines {
    pub(super) file: String,
    text: String,
    /// The lines, but for empty ones at the end.
    lines: Vec<Range<usize>>,
    /// What separates the fields; spaces and tabs, however many, if none is named.
    separator: Option<char>,
}

impl FieldLines {
    /// Reads all of a text, unpacked if gzip has packed it; the memory is taken as long as the part is held.
    pub(super) fn read<'r>(input: Input<'_>, room: &Room<'r>) -> Result<(Self, Held<'r>), Error> {
        let file = room.file;
        let unreadable = |error| failed(file, error);
        let mut stream = input.unpacked().map_err(unreadable)?.0.stream();
        let (mut bytes, mut held) = (Vec::new(), room.whole_part());
        loop {
            let more = STEP.max(bytes.len() / 4);
            held.set((bytes.len() + more) as u64, At::Line(1))?;
            reserve(&mut bytes, more, file, At::Line(1))?;
            if (&mut stream).take(more as u64).read_to_end(&mut bytes).map_err(unreadable)? < more {
                break;
            }
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = memchr::memchr_iter(b'\n', good).count();
            Error::Encoding { file: file.to_owned(), at: At::Line(line as u64 + 1), column: "1".to_owned() }
        })?;
        let text = match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        };
        let count = text.lines().count() as u64;
        held.set(text.len() as u64 + size_of::<Range<usize>>() as u64 * count, At::Line(count))?;
        let mut lines: Vec<Range<usize>> = Vec::with_capacity(count as usize);
        let start = text.as_ptr() as usize;
        lines.extend(text.lines().map(|line| {
            let from = line.as_ptr() as usize - start;
            from..from + line.len()
        }));
        while lines.last().is_some_and(|line| text[line.clone()].trim().is_empty()) {
            lines.pop();
        }
        if lines.is_empty() {
            return Err(Error::Empty { file: file.to_owned() });
        }
        Ok((Self { file: file.to_owned(), text, lines, separator: None }, held))
    }

    /// Fields are separated by tabs if the first line has one, or by commas if it has one of these.
    pub(super) fn separated(mut self) -> Self {
        let first = self.line(0);
        self.separator = ['\t', ','].into_iter().find(|mark| first.contains(*mark));
        self
    }

    pub(super) fn lines(&self) -> usize {
        self.lines.len()
    }

    /// The bytes that it keeps.
    pub(super) fn bytes(&self) -> u64 {
        (self.text.len() + size_of::<Range<usize>>() * self.lines.len()) as u64
    }

    fn line(&self, line: usize) -> &str {
        &self.text[self.lines[line].clone()]
    }

    pub(super) fn fields(&self, line: usize) -> Box<dyn Iterator<Item = &str> + '_> {
        match self.separator {
            Some(mark) => Box::new(self.line(line).split(mark).map(|field| field.trim().trim_matches('"'))),
            None => Box::new(self.line(line).split_ascii_whitespace()),
        }
    }

    /// A field that is known to be there; empty where it is not.
    pub(super) fn field(&self, line: usize, field: usize) -> &str {
        self.fields(line).nth(field).unwrap_or_default()
    }

    /// Refuses lines that have not just so many fields.
    pub(super) fn check(&self, fields: usize, names: &str) -> Result<(), Error> {
        let wrong = (0..self.lines()).map(|line| (line, self.fields(line).count())).find(|(_, count)| *count != fields);
        let Some((line, count)) = wrong else { return Ok(()) };
        let problem = format!("{count} fields, and each line has {fields}: {names}");
        Err(Error::unsupported(&self.file, At::Line(line as u64 + 1), problem, WRITE_AGAIN))
    }
}
