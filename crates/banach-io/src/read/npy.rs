//! NumPy's arrays: one in a file (`.npy`), or several by name in an archive (`.npz`).
//!
//! The header is read here rather than by a crate: those at hand take the size that a header claims for granted, and build a
//! general parser of Python for its one line.

mod item;
mod literal;

use std::io::Read;

use zip::{ZipArchive, result::ZipError};

use self::{
    item::{Cell, Item},
    literal::Literal,
};
use super::{Request, archive, input::Input};
use crate::{
    At, Dataset, Error, FileRemedy,
    assembly::Assembly,
    columns::Names,
    room::{NAME, Room},
};

/// The longest header.
const MAX_HEADER: usize = 1 << 20;

/// Bytes that are read at a time.
const BLOCK: usize = 1 << 20;

/// The most that packing can save.
const MAX_RATIO: u64 = 1100;

/// What an array of an archive takes in its directory, about.
const MEMBER: u64 = 1024;

/// The arrays of an archive that hold the names of the columns.
const NAMES: [&str; 3] = ["feature_names", "names", "columns"];

/// The archive that numpy.savez writes has this behind every name.
const SUFFIX: &str = ".npy";

pub(super) fn read<'a>(input: Input<'_>, request: &'a Request, room: &Room<'a>) -> Result<Dataset, Error> {
    let (mut source, _held) = input.source(room)?;
    let length = source.length(room.file)?;
    let array = Array::read(&mut source, room.file, "")?;
    array.check(length)?;
    check_names(array.columns as u64, room)?;
    let names = array.names(None);
    let mut assembly = Assembly::new(room.file, request, room, names)?;
    assembly.allocate(array.rows)?;
    array.fill(&mut source, &mut assembly, 0)?;
    assembly.finish()
}

pub(super) fn read_archive<'a>(input: Input<'_>, request: &'a Request, room: &Room<'a>) -> Result<Dataset, Error> {
    let file = room.file;
    let in_directory = |problem: ZipError| Error::damaged(file, "its directory", problem);
    let (mut source, _held) = input.source(room)?;
    let length = source.length(file)?;
    let mut members = room.part();
    members.set(MEMBER * archive::members(&mut source, file)?, At::Row(1))?;
    let mut archive = ZipArchive::new(source).map_err(in_directory)?;
    let mut arrays: Vec<(usize, Array)> = Vec::new();
    let mut given: Option<Vec<String>> = None;
    let (mut columns, mut total) = (0_u64, 0_u64);
    for at in 0..archive.len() {
        let unreadable = |error| Error::damaged(file, format_args!("array {}", at + 1), error);
        let mut member = archive.by_index(at).map_err(unreadable)?;
        let name = member.name().map_err(in_directory)?.into_owned();
        let name = name.strip_suffix(SUFFIX).unwrap_or(&name).to_owned();
        let (packed, size) = (member.compressed_size(), member.size());
        // A small archive could have the same bytes unpacked without an end.
        total = total.saturating_add(packed);
        if total > length {
            return Err(Error::damaged(file, "its directory", "its arrays are larger than the file"));
        }
        let array = Array::read(&mut member, file, &name)?;
        if size > packed.saturating_mul(MAX_RATIO).saturating_add(1 << 12) {
            let problem = format_args!("{packed} bytes cannot be those of {size}, packed");
            return Err(Error::damaged(file, array.place(), problem));
        }
        array.check(size)?;
        if NAMES.contains(&&name[..]) && matches!(&array.items[..], [item] if item.is_text()) {
            let texts = (array.rows as u64).saturating_mul(array.columns as u64);
            let bytes = texts.saturating_mul(array.items[0].size() as u64);
            check_names(texts.saturating_add(bytes / NAME), room)?;
            given = Some(array.texts(&mut member)?);
        } else if array.dimensions > 0 {
            columns = columns.saturating_add(array.columns as u64);
            check_names(columns, room)?;
            arrays.push((at, array));
        }
    }
    let Some((_, first)) = arrays.first() else { return Err(Error::Empty { file: file.to_owned() }) };
    let rows = first.rows;
    if let Some((_, other)) = arrays.iter().find(|(_, array)| array.rows != rows) {
        let problem = format!("{} rows, and {:?} has {rows}", other.rows, first.name);
        let instead = FileRemedy::Do("every array of the archive must have a row for every sample");
        return Err(Error::unsupported(file, other.place(), problem, instead));
    }
    let matrices = arrays.iter().filter(|(_, array)| array.dimensions == 2).count();
    let mut names = Vec::new();
    let mut places = Vec::new();
    for (_, array) in &arrays {
        places.push(names.len());
        let given = given.as_ref().filter(|given| array.dimensions == 2 && given.len() == array.columns);
        names.extend(match given {
            None if array.dimensions == 2 && matrices > 1 => {
                (1..=array.columns).map(|column| format!("{}{column}", array.name)).collect()
            }
            _ => array.names(given),
        });
    }
    let mut assembly = Assembly::new(file, request, room, names)?;
    assembly.allocate(rows)?;
    for ((at, array), first) in arrays.into_iter().zip(places) {
        let mut member = archive.by_index(at).map_err(|error| Error::damaged(file, array.place(), error))?;
        // The header was read and is passed over.
        Array::read(&mut member, file, &array.name)?;
        array.fill(&mut member, &mut assembly, first)?;
    }
    assembly.finish()
}

/// Refuses more names than the limit on memory allows, as a small array may have very many columns.
fn check_names(count: u64, room: &Room<'_>) -> Result<(), Error> {
    room.part().set(count.saturating_mul(NAME), At::Row(1))
}

/// What the header of an array says.
struct Array {
    file: String,
    /// In its archive; empty for a file of its own.
    name: String,
    rows: usize,
    columns: usize,
    /// 0, 1 or 2.
    dimensions: usize,
    /// Column after column, not row after row.
    by_columns: bool,
    /// What a cell holds; several for records, each of which is a column.
    items: Vec<Item>,
}

impl Array {
    fn read(stream: &mut impl Read, file: &str, name: &str) -> Result<Self, Error> {
        let place = if name.is_empty() { "its header".to_owned() } else { format!("the header of {name:?}") };
        let damaged = |problem: &str| Error::damaged(file, &place, problem);
        let short = |_| damaged("it ends too early");
        let mut start = [0; 8];
        stream.read_exact(&mut start).map_err(short)?;
        if !start.starts_with(b"\x93NUMPY") {
            return Err(damaged("it does not begin as an array of NumPy does"));
        }
        let mut size = [0; 4];
        let bytes = if start[6] == 1 { 2 } else { 4 };
        stream.read_exact(&mut size[..bytes]).map_err(short)?;
        let size = u32::from_le_bytes(size) as usize;
        if size > MAX_HEADER {
            return Err(damaged(&format!("its header has {size} bytes, and at most {MAX_HEADER} are allowed")));
        }
        let mut header = vec![0; size];
        stream.read_exact(&mut header).map_err(short)?;
        let header = String::from_utf8(header).map_err(|_| damaged("it is not text"))?;
        let parsed = Literal::parse(&header).ok_or_else(|| damaged("it cannot be understood"))?;
        let unknown = || {
            let kind = parsed.get("descr").map_or_else(String::new, Literal::text);
            let instead = FileRemedy::Do("convert it to numbers or texts of fixed size, as with astype('f8')");
            Error::unsupported(file, &place, format_args!("its type is {kind}"), instead)
        };
        let (Some(order), Some(Literal::List(shape))) = (parsed.get("fortran_order"), parsed.get("shape")) else {
            return Err(damaged("it says nothing of the shape"));
        };
        let items = match parsed.get("descr") {
            Some(Literal::Text(text)) => vec![Item::parse(None, text).ok_or_else(unknown)?],
            Some(Literal::List(fields)) if !fields.is_empty() => {
                let field = |field: &Literal| match field {
                    Literal::List(pair) => match &pair[..] {
                        [Literal::Text(name), Literal::Text(text)] => Item::parse(Some(name.clone()), text),
                        _ => None,
                    },
                    _ => None,
                };
                fields.iter().map(|each| field(each).ok_or_else(unknown)).collect::<Result<_, _>>()?
            }
            _ => return Err(unknown()),
        };
        let sizes: Option<Vec<usize>> = shape
            .iter()
            .map(|size| match size {
                Literal::Number(number) => usize::try_from(*number).ok(),
                _ => None,
            })
            .collect();
        let sizes = sizes.ok_or_else(|| damaged("its shape is not one"))?;
        let record = items.first().is_some_and(|item| item.name.is_some());
        let (rows, columns) = match sizes[..] {
            [] => (1, 1),
            [rows] => (rows, items.len()),
            [rows, columns] if !record => (rows, columns),
            _ => {
                let instead = FileRemedy::Do("a table has rows and columns; reshape it");
                return Err(Error::unsupported(file, place, format_args!("its shape is {sizes:?}"), instead));
            }
        };
        let by_columns = *order == Literal::Bool(true) && !record;
        Ok(Self {
            file: file.to_owned(),
            name: name.to_owned(),
            rows,
            columns,
            dimensions: sizes.len(),
            by_columns,
            items,
        })
    }

    fn place(&self) -> String {
        if self.name.is_empty() { "its data".to_owned() } else { format!("array {:?}", self.name) }
    }

    /// Refuses an array that cannot be in so many bytes.
    fn check(&self, length: u64) -> Result<(), Error> {
        let row: u64 = if self.items.len() > 1 || self.dimensions < 2 {
            self.items.iter().map(|item| item.size() as u64).sum()
        } else {
            (self.columns as u64).saturating_mul(self.items[0].size() as u64)
        };
        let needed = row.saturating_mul(self.rows as u64);
        // Columns without rows would be names without an end, and rows without columns take forever.
        if needed > length || self.columns as u64 > length || self.rows as u64 > length {
            let problem =
                format!("{} x {} values need {needed} bytes, and there are {length} in all", self.rows, self.columns);
            return Err(Error::damaged(&self.file, self.place(), problem));
        }
        Ok(())
    }

    fn names(&self, given: Option<&Vec<String>>) -> Vec<String> {
        match (given, self.dimensions) {
            (Some(given), 2) => given.clone(),
            (_, 2) => Names::numbered(self.columns),
            _ if self.items.iter().all(|item| item.name.is_some()) => {
                self.items.iter().filter_map(|item| item.name.clone()).collect()
            }
            _ if self.name.is_empty() => Names::numbered(1),
            _ => vec![self.name.clone()],
        }
    }

    /// What a column holds.
    fn item(&self, column: usize) -> &Item {
        self.items.get(column).filter(|_| self.items.len() > 1).unwrap_or(&self.items[0])
    }

    /// Passes on every cell with its row and column, in the order of the bytes.
    fn cells(
        &self,
        stream: &mut impl Read,
        mut take: impl FnMut(usize, usize, Cell) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let damaged = |problem: String| Error::damaged(&self.file, self.place(), problem);
        let (outer, inner) = if self.by_columns { (self.columns, self.rows) } else { (self.rows, self.columns) };
        let mut buffer = Vec::new();
        for line in 0..outer {
            let mut at = 0;
            while at < inner {
                // As many cells of a line as fill a block.
                let (mut end, mut bytes) = (at, 0);
                while end < inner && (end == at || bytes < BLOCK) {
                    bytes += self.item(if self.by_columns { line } else { end }).size();
                    end += 1;
                }
                buffer.resize(bytes, 0);
                stream.read_exact(&mut buffer).map_err(|error| {
                    let (row, column) = if self.by_columns { (at, line) } else { (line, at) };
                    damaged(format!("row {}, column {}: {error}", row + 1, column + 1))
                })?;
                let mut rest = &buffer[..];
                for place in at..end {
                    let (row, column) = if self.by_columns { (place, line) } else { (line, place) };
                    let item = self.item(column);
                    let (bytes, others) = rest.split_at(item.size());
                    let Some(cell) = item.decode(bytes) else {
                        return Err(damaged(format!("row {}, column {}: it is not text", row + 1, column + 1)));
                    };
                    take(row, column, cell)?;
                    rest = others;
                }
                at = end;
            }
        }
        Ok(())
    }

    fn fill(&self, stream: &mut impl Read, assembly: &mut Assembly<'_>, first: usize) -> Result<(), Error> {
        self.cells(stream, |row, column, cell| match cell {
            Cell::Number(number) => assembly.number(first + column, row, number),
            Cell::Text(text) => assembly.text(first + column, row, &text),
        })
    }

    fn texts(&self, stream: &mut impl Read) -> Result<Vec<String>, Error> {
        let mut texts = Vec::new();
        self.cells(stream, |_, _, cell| {
            texts.extend(match cell {
                Cell::Text(text) => Some(text),
                Cell::Number(_) => None,
            });
            Ok(())
        })?;
        Ok(texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;

    /// An array as numpy.save writes it.
    pub(crate) fn array(descr: &str, shape: &str, by_columns: bool, data: &[u8]) -> Vec<u8> {
        let order = if by_columns { "True" } else { "False" };
        let descr = if descr.starts_with('[') { descr.to_owned() } else { format!("'{descr}'") };
        let mut header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
        while (10 + header.len() + 1) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        let size = (header.len() as u16).to_le_bytes();
        [b"\x93NUMPY\x01\x00", &size[..], header.as_bytes(), data].concat()
    }

    fn floats(values: &[f64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn read(bytes: &[u8]) -> Result<Dataset, Error> {
        Request { format: Some(Format::Npy), ..Request::new("3") }.read_from(bytes, "data.npy")
    }

    #[test]
    fn both_orders_and_all_types_are_the_same_table() {
        let rows = read(&array("<f8", "(2, 3)", false, &floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))).expect("valid");
        assert_eq!((rows.table.names().join(" "), rows.target.numbers()), ("x1 x2".into(), Some(&[3.0, 6.0][..])));
        assert_eq!((rows.table.column(0), rows.table.column(1)), (vec![1.0, 4.0], vec![2.0, 5.0]));
        let columns = [1_u8, 4, 2, 5, 3, 6];
        let wide = |size: usize, big: bool| -> Vec<u8> {
            let wide = |value: &u8| {
                let mut bytes = vec![0; size];
                bytes[if big { size - 1 } else { 0 }] = *value;
                bytes
            };
            columns.iter().flat_map(wide).collect()
        };
        for (descr, data) in [
            ("|u1", columns.to_vec()),
            ("|i1", columns.to_vec()),
            ("<i2", wide(2, false)),
            (">i4", wide(4, true)),
            ("<u8", wide(8, false)),
            ("<f4", columns.iter().flat_map(|value| f32::from(*value).to_le_bytes()).collect()),
            (">f8", columns.iter().flat_map(|value| f64::from(*value).to_be_bytes()).collect()),
        ] {
            let read = read(&array(descr, "(2, 3)", true, &data)).expect("valid");
            assert_eq!(read, rows, "{descr}");
        }
        let negative =
            read(&array("<i2", "(2L, 3L)", false, &(-3_i16..3).flat_map(i16::to_le_bytes).collect::<Vec<_>>()));
        assert_eq!(negative.expect("valid").table.column(0), [-3.0, 0.0]);
    }

    #[test]
    fn records_have_names() {
        let record = |x: f64, word: &str, y: i32| -> Vec<u8> {
            let characters = word.chars().map(u32::from).chain([0; 4]).take(4);
            [&x.to_le_bytes()[..], &characters.flat_map(u32::to_le_bytes).collect::<Vec<_>>(), &y.to_le_bytes()]
                .concat()
        };
        let data = [record(0.5, "red", 1), record(1.5, "blue", 2), record(2.5, "red", 3)].concat();
        let data = array("[('a', '<f8'), ('color', '<U4'), ('y', '<i4')]", "(3,)", false, &data);
        let data = Request::new("y").read_from(&data[..], "data.npy").expect("valid");
        assert_eq!(data.table.names(), ["a", "color=red"]);
        assert_eq!((data.table.column(0), data.table.column(1)), (vec![0.5, 1.5, 2.5], vec![1.0, 0.0, 1.0]));
    }

    #[test]
    fn what_headers_claim_is_checked() {
        let good = array("<f8", "(2, 3)", false, &floats(&[1.0, 2.0, 3.0, 4.0, 5.0, f64::INFINITY]));
        assert!(read(&good).expect_err("infinite").to_string().contains("row 2, column \"x3\": inf is not a finite"));
        for cut in 0..good.len() {
            assert!(matches!(read(&good[..cut]), Err(Error::Damaged { .. })), "{cut}: {:?}", read(&good[..cut]));
        }
        for (shape, expected) in [
            ("(2, 1000000000000)", "2 x 1000000000000 values need"),
            ("(1000000000000, 3)", "values need"),
            ("(18446744073709551615, 3)", "cannot be understood"),
            ("(9223372036854775807, 9223372036854775807)", "values need"),
            ("(0, 1000000000000)", "values need 0 bytes"),
            ("(2, 3, 4)", "reshape it"),
            ("(2, -3)", "its shape is not one"),
            ("(2, 3", "cannot be understood"),
        ] {
            let message = read(&array("<f8", shape, false, &floats(&[1.0; 6]))).expect_err("refused").to_string();
            assert!(message.contains(expected), "{shape}: {message}");
        }
        for descr in ["|O", "<c16", "<f2", "<M8[ns]", "<U99999999999", "", "\u{e4}"] {
            let message = read(&array(descr, "(2, 3)", false, &floats(&[1.0; 6]))).expect_err("refused").to_string();
            assert!(message.contains("astype('f8')"), "{descr}: {message}");
        }
    }
}
