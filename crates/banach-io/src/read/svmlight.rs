//! svmlight and LIBSVM: `label index:value index:value ... # comment`, sparse and kept so.

use std::io::{BufRead, BufReader, Read};

use super::{Request, failed, input::Input};
use crate::{
    At, Dataset, Error, FileRemedy, ModelColumns, Setting, Table,
    columns::{ColumnUse, Names},
    field::{Field, shown},
    room::{FREE, Held, NAME, Room},
    target::Collector,
};

/// The name of the target.
const TARGET: &str = "y";

/// Entries that are kept together while reading.
const CHUNK: usize = 1 << 16;

/// The most columns of a file without an entry.
const FEW: u64 = 1 << 20;

/// The most columns for every entry beyond that.
const COLUMNS_PER_ENTRY: u64 = 64;

/// The bytes of a row: its target, as a number and as a label, and its size.
const PER_ROW: u64 = 56;

/// The bytes of an entry: as it is read, and as it is placed in its column.
const ENTRY: u64 = 22;

pub(super) fn read(input: Input<'_>, request: &Request, room: &Room<'_>) -> Result<Dataset, Error> {
    let file = room.file;
    if request.id.is_some() {
        let problem = "svmlight has no column that tells rows apart";
        return Err(Error::unsupported(file, "its columns", problem, FileRemedy::Unset(Setting::Id)));
    }
    let mut stream = BufReader::with_capacity(1 << 16, input.stream());
    let mut rows = Rows::new(file, request, room);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        // A line grows by doubling.
        let limit = (room.left() / 4).saturating_add(FREE);
        let bounded = (&mut stream).take(limit);
        let size = { bounded }.read_until(b'\n', &mut line).map_err(|error| failed(file, error))?;
        if size == 0 {
            break;
        }
        let at = At::Line(number);
        if size as u64 == limit {
            return Err(Error::too_large(file, at, limit));
        }
        let content = line.split(|byte| *byte == b'#').next().unwrap_or_default();
        rows.push(content, at)?;
    }
    rows.finish(request)
}

/// The entries so far, row by row, in chunks that are given back one by one.
struct Rows<'a> {
    file: &'a str,
    held: Held<'a>,
    columns: Vec<Vec<u32>>,
    values: Vec<Vec<f64>>,
    /// The number of entries of every row.
    sizes: Vec<u32>,
    entries: u64,
    /// The largest index, and where it is.
    largest: (u32, At),
    /// Whether the first column has the index 0.
    from_zero: bool,
    /// `None` if nobody asks for it.
    target: Option<Collector>,
    /// The line of every row, for messages.
    lines: crate::at::Lines,
}

impl<'a> Rows<'a> {
    fn new(file: &'a str, request: &Request, room: &Room<'a>) -> Self {
        Self {
            file,
            held: room.part(),
            columns: Vec::new(),
            values: Vec::new(),
            sizes: Vec::new(),
            entries: 0,
            largest: (0, At::Line(1)),
            from_zero: false,
            target: request.model.is_none().then(|| Collector::new(TARGET)),
            lines: crate::at::Lines::default(),
        }
    }

    fn push(&mut self, content: &[u8], at: At) -> Result<(), Error> {
        let mut words = content.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let Some(label) = words.next() else { return Ok(()) };
        let file = || self.file.to_owned();
        match Field::parse(label) {
            _ if self.target.is_none() && !label.contains(&b':') => {}
            field @ (Field::Number(_) | Field::Text(_)) if !label.contains(&b':') => {
                if let Some(target) = &mut self.target {
                    target.push(self.file, at, field, &String::from_utf8_lossy(label))?;
                }
            }
            _ => return Err(self.wrong(at, label, "is not a label")),
        }
        let mut size = 0;
        for word in words.filter(|word| !word.starts_with(b"qid:")) {
            let Some(colon) = memchr::memchr(b':', word) else {
                return Err(self.wrong(at, word, "is not an index and a value such as 7:0.5"));
            };
            let index = std::str::from_utf8(&word[..colon]).ok().and_then(|text| text.parse::<u32>().ok());
            let Some(index) = index.filter(|index| *index < u32::MAX) else {
                return Err(self.wrong(at, word, "has no index of a column, a number below 4294967295"));
            };
            let Ok(value) = fast_float2::parse::<f64, _>(&word[colon + 1..]) else {
                return Err(self.wrong(at, word, "has no number for a value"));
            };
            if !value.is_finite() {
                let column = index.to_string();
                return Err(Error::NotFinite { file: file(), at, column, value: shown(&word[colon + 1..]) });
            }
            if self.largest.0 < index {
                self.largest = (index, at);
            }
            self.from_zero |= index == 0;
            if value == 0.0 {
                continue;
            }
            if self.columns.last().is_none_or(|chunk| chunk.len() == CHUNK) {
                self.columns.push(Vec::with_capacity(CHUNK));
                self.values.push(Vec::with_capacity(CHUNK));
            }
            if let (Some(columns), Some(values)) = (self.columns.last_mut(), self.values.last_mut()) {
                columns.push(index);
                values.push(value);
            }
            size += 1;
        }
        if let At::Line(line) = at {
            self.lines.push(line);
        }
        self.entries += u64::from(size);
        self.sizes.push(size);
        self.held.set(self.bytes(0), at)
    }

    /// What all rows and so many columns take when they become a table.
    fn bytes(&self, columns: u64) -> u64 {
        let target = self.target.as_ref().map_or(0, Collector::bytes);
        let rows = PER_ROW * self.sizes.len() as u64 + self.lines.bytes() + target;
        ENTRY * self.entries + rows + NAME.saturating_mul(columns)
    }

    fn wrong(&self, at: At, word: &[u8], problem: &str) -> Error {
        Error::damaged(self.file, at, format_args!("{:?} {problem}", shown(word)))
    }

    fn finish(mut self, request: &Request) -> Result<Dataset, Error> {
        let (largest, at) = self.largest;
        let file = self.file.to_owned();
        let zero_based = self.zero_based(request)?;
        let (rows, count) = (self.sizes.len(), largest as usize + usize::from(zero_based));
        if rows == 0 {
            return Err(Error::Empty { file });
        }
        let needed = request.fewest_rows();
        if rows < needed {
            return Err(Error::TooFewRows { file, columns: count + 1, found: rows, needed });
        }
        let bytes = self.bytes(count as u64);
        self.held.set(bytes, at)?;
        if count as u64 > FEW + COLUMNS_PER_ENTRY * self.entries {
            let problem = format_args!("index {largest} in a file of {} entries", self.entries);
            return Err(Error::damaged(&file, at, problem));
        }
        // For every index its feature.
        let mut features = vec![u32::MAX; largest as usize + 1];
        let (kept, others) = match &request.model {
            Some(model) if !model.names.is_empty() => self.of_model(model, count, &mut features)?,
            // Samples of zeros.
            Some(_) if count == 0 => (Vec::new(), vec![TARGET.to_owned()]),
            _ => self.asked(request, (count, zero_based), &mut features)?,
        };
        let lines = self.lines;
        let compressed = compress(&features, kept.len(), self.columns, self.values, &self.sizes);
        let compressed = compressed.map_err(|(row, feature)| {
            Error::damaged(&file, lines.at(row), format_args!("the column {} stands there twice", kept[feature]))
        })?;
        let table = Table::sparse(kept, rows, compressed);
        let (columns, target) = (count + 1, self.target.unwrap_or_else(|| Collector::new("")).finish());
        Ok(Dataset { columns, others, zero_based, ..Dataset::new(file, table, target, lines) })
    }

    /// Whether the first column has the index 0: in new samples of a model if it had in those that it was fitted to.
    fn zero_based(&self, request: &Request) -> Result<bool, Error> {
        match &request.model {
            Some(model) if self.from_zero && !model.zero_based => {
                let problem = "there is an index 0, and the columns of the model count from 1";
                Err(Error::unsupported(self.file, "its columns", problem, FileRemedy::Do("add 1 to every index")))
            }
            Some(model) => Ok(model.zero_based),
            None => Ok(self.from_zero),
        }
    }

    /// The variables of a model, and the names of the columns that it does not have. Columns that are not there are 0.
    fn of_model(
        &self,
        model: &ModelColumns,
        count: usize,
        features: &mut [u32],
    ) -> Result<(Vec<String>, Vec<String>), Error> {
        let mut others: Vec<bool> = vec![true; count];
        let mut missing = Vec::new();
        for (feature, name) in model.names.iter().enumerate() {
            let number = name.strip_prefix('x').and_then(|number| number.parse::<usize>().ok());
            match number.filter(|number| *number > 0 && *name == format!("x{number}")) {
                Some(number) if number <= count => {
                    features[number - usize::from(model.zero_based)] = feature as u32;
                    others[number - 1] = false;
                }
                Some(_) => {}
                None => missing.push(name.clone()),
            }
        }
        let others = others.iter().enumerate().filter(|(_, other)| **other).map(|(at, _)| format!("x{}", at + 1));
        let others: Vec<String> = [TARGET.to_owned()].into_iter().chain(others).collect();
        if missing.is_empty() {
            return Ok((model.names.clone(), others));
        }
        Err(Error::MissingColumns { file: self.file.to_owned(), missing, extra: others })
    }

    /// The columns that are asked for, and the names of those that are left out.
    fn asked(
        &self,
        request: &Request,
        (count, zero_based): (usize, bool),
        features: &mut [u32],
    ) -> Result<(Vec<String>, Vec<String>), Error> {
        let names: Vec<String> = [TARGET.to_owned()].into_iter().chain(Names::numbered(count)).collect();
        let names = Names::new(self.file, names);
        let target = Some(request.target.clone().unwrap_or(TARGET.to_owned()));
        let request = Request { target, model: None, ..request.clone() };
        let uses = names.uses(&request)?;
        let unsupported =
            |problem: &str, unset| Error::unsupported(self.file, "its columns", problem, FileRemedy::Unset(unset));
        if uses[0] != ColumnUse::Target {
            return Err(unsupported("the target of svmlight is its first word", Setting::Target));
        }
        if uses.contains(&ColumnUse::Label) {
            return Err(unsupported("a sparse table has no columns of labels", Setting::Categorical));
        }
        let first = usize::from(zero_based);
        let (mut kept, mut others) = (Vec::new(), Vec::new());
        for (place, used) in uses.iter().enumerate() {
            match used {
                ColumnUse::Target => {}
                ColumnUse::Dropped | ColumnUse::Id => others.push(names.name(place).to_owned()),
                ColumnUse::Feature | ColumnUse::Label => {
                    features[place - first] = kept.len() as u32;
                    kept.push(names.name(place).to_owned());
                }
            }
        }
        Ok((kept, others))
    }
}

/// Where columns start, the rows of their values, and these.
type Compressed = (Vec<usize>, Vec<usize>, Vec<f64>);

/// Entries by rows into compressed columns. First the values find their places and their chunks are given back, then the
/// rows, so that beside the result there is never more than a quarter of it. A column that stands twice in a row is an error.
fn compress(
    features: &[u32],
    count: usize,
    columns: Vec<Vec<u32>>,
    values: Vec<Vec<f64>>,
    sizes: &[u32],
) -> Result<Compressed, (usize, usize)> {
    let feature = |column: u32| Some(features[column as usize] as usize).filter(|feature| *feature < count);
    let mut starts = vec![0; count + 1];
    columns.iter().flatten().filter_map(|&column| feature(column)).for_each(|feature| starts[feature + 1] += 1);
    (0..count).for_each(|feature| starts[feature + 1] += starts[feature]);
    let mut placed = vec![0.0; starts[count]];
    let mut next = starts.clone();
    for (columns, values) in columns.iter().zip(values) {
        for (&column, value) in columns.iter().zip(values) {
            let Some(feature) = feature(column) else { continue };
            placed[next[feature]] = value;
            next[feature] += 1;
        }
    }
    next.copy_from_slice(&starts);
    let mut rows = vec![0; starts[count]];
    let mut row_of = sizes.iter().enumerate().flat_map(|(row, &size)| std::iter::repeat_n(row, size as usize));
    for columns in columns {
        for (column, row) in columns.into_iter().zip(&mut row_of) {
            let Some(feature) = feature(column) else { continue };
            let place = next[feature];
            if place > starts[feature] && rows[place - 1] == row {
                return Err((row, feature));
            }
            rows[place] = row;
            next[feature] += 1;
        }
    }
    Ok((starts, rows, placed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, Values};

    fn read(text: &str) -> Result<Dataset, Error> {
        Request { format: Some(Format::Svmlight), ..Request::default() }.read_from(text.as_bytes(), "data.svm")
    }

    #[test]
    fn entries_stay_sparse() {
        let data = read("# made by hand\n1 1:0.5 3:2 # one\n-1 qid:7 2:1e-3\n\n1 3:-4 1:0 5:0\n").expect("valid");
        assert_eq!((data.table.names().join(" "), data.columns), ("x1 x2 x3 x4 x5".into(), 6));
        let (starts, rows, values) = (vec![0, 1, 2, 4, 4, 4], vec![0, 1, 0, 2], vec![0.5, 1e-3, 2.0, -4.0]);
        assert_eq!(data.table.values(), &Values::Sparse { starts, rows, values });
        assert_eq!((data.target.name(), data.target.numbers()), ("y", Some(&[1.0, -1.0, 1.0][..])));
        let data = read("a 0:1\nb 2:5\n").expect("indices from 0");
        assert_eq!((data.table.names().join(" "), data.table.column(0)), ("x1 x2 x3".into(), vec![1.0, 0.0]));
        let request = Request { drop: vec!["x[13]".into()], target: None, ..Request::default() };
        let data = request.read_from("1 1:1 2:2 3:3\n2 2:5\n".as_bytes(), "data.libsvm").expect("valid");
        assert_eq!((data.table.names().join(" "), data.table.column(0)), ("x2".into(), vec![2.0, 5.0]));
    }

    #[test]
    fn a_model_finds_its_columns_whatever_is_there() {
        let read = |zero_based, names: &[&str], text: &str| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            let columns = ModelColumns { names, zero_based, ..ModelColumns::default() };
            Request::of_model(columns).read_from(text.as_bytes(), "new.svm")
        };
        let data = read(false, &["x3", "x1", "x9"], "? 1:2 2:5 3:4\n").expect("one row, and no target");
        let (starts, rows, values) = (vec![0, 1, 2, 2], vec![0, 0], vec![4.0, 2.0]);
        assert_eq!(data.table.values(), &Values::Sparse { starts, rows, values });
        assert_eq!((data.table.names().join(" "), data.others.join(" ")), ("x3 x1 x9".into(), "y x2".into()));
        // The index 0 need not be among the new samples.
        let data = read(true, &["x1", "x2"], "0 1:7\n1 1:8\n").expect("valid");
        assert_eq!((data.table.column(0), data.table.column(1)), (vec![0.0; 2], vec![7.0, 8.0]));
        let data = read(true, &[], "0 1:7\n").expect("all columns");
        assert_eq!((data.table.column(0), data.table.column(1)), (vec![0.0], vec![7.0]));
        let message = read(false, &["x1"], "0 0:7\n").expect_err("another way to count").to_string();
        assert!(message.contains("the columns of the model count from 1"), "{message}");
        let message = read(false, &["age", "x01"], "0 1:7\n").expect_err("no such columns").to_string();
        assert!(message.contains("lacks 2 columns that the model is made of: \"age\", \"x01\""), "{message}");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, expected) in [
            ("1 1:2\n1 2\n", "line 2: \"2\" is not an index and a value"),
            ("1 1:2\n1 x:2\n", "line 2: \"x:2\" has no index"),
            ("1 1:2\n1 -1:2\n", "line 2: \"-1:2\" has no index"),
            ("1 1:2\n1 4294967295:2\n", "has no index"),
            ("1 1:2\n\n1 4294967294:2\n", "line 3: index 4294967294 in a file of 2 entries"),
            ("1 1:2\n1 1:x\n", "line 2: \"1:x\" has no number"),
            ("1 1:2\n1 1:nan\n", "line 2, column \"1\": nan is not a finite number"),
            ("1 1:2\n2:1 3:1\n", "line 2: \"2:1\" is not a label"),
            ("1 1:2\n1 3:1 4:1 3:2\n", "line 2: the column x3 stands there twice"),
            ("1 1:2\n", "one row"),
            ("", "is empty"),
        ] {
            let message = read(text).expect_err("refused").to_string();
            assert!(message.contains(expected), "{text:?}: {message}");
        }
    }
}
