//! Excel's workbooks (`.xlsx`, `.xlsm`): one sheet, whose first row that holds something names the columns.
//!
//! The `calamine` crate tells cells; what it keeps in memory is measured before it is asked. A sheet is gone through twice: its
//! size first, then its values.

mod size;

use std::collections::{BTreeMap, HashMap};

use calamine::{DataRef, Reader as _, Sheet, SheetType, SheetVisible, Xlsx, XlsxError};

use super::{
    Request,
    guard::guarded,
    input::{Input, Source},
};
use crate::{
    At, Dataset, Error, FileRemedy,
    assembly::Assembly,
    at::Lines,
    columns::Names,
    field::number_label,
    room::{NAME, Room},
    written::NumberStyle,
};

/// The most rows and columns of a sheet.
const MOST: (u32, u32) = (1 << 20, 1 << 14);

pub(super) fn read<'a>(input: Input<'_>, request: &'a Request, room: &Room<'a>) -> Result<Dataset, Error> {
    let file = room.file;
    let (mut source, _held) = input.source(room)?;
    let mut book = room.part();
    book.set(size::of(&mut source, room)?, At::Row(1))?;
    let fallen = || Err(Error::damaged(file, "its sheets", "they contradict each other"));
    guarded(|| Workbook::open(source, room)?.read(request)).unwrap_or_else(fallen)
}

struct Workbook<'r, 'a> {
    book: Xlsx<Source>,
    room: &'r Room<'a>,
}

/// The cells of a sheet that hold something.
struct Used {
    /// The first row with such a cell, its cells by their columns, from the left, and whether all of them are numbers.
    header: (u32, BTreeMap<u32, String>, bool),
    columns: u32,
    /// The rows with such cells, from 1.
    lines: Lines,
    rows: usize,
}

impl<'r, 'a> Workbook<'r, 'a> {
    fn open(source: Source, room: &'r Room<'a>) -> Result<Self, Error> {
        let book = Xlsx::new(source).map_err(|error| match error {
            XlsxError::Password => Error::unsupported(
                room.file,
                "its beginning",
                "it is encrypted",
                FileRemedy::Do("save it without a password"),
            ),
            other => Error::damaged(room.file, "its contents", other),
        })?;
        Ok(Self { book, room })
    }

    fn read(mut self, request: &'a Request) -> Result<Dataset, Error> {
        let file = self.room.file;
        let (name, others) = self.sheet(request)?;
        let Used { header: (first, mut header, numbers), columns, lines, rows } = self.used(&name, request.header)?;
        self.room.part().set(NAME.saturating_mul(u64::from(columns)), At::Row(1))?;
        let names = if request.header {
            if numbers {
                let first = header.values().next().cloned().unwrap_or_default();
                return Err(Error::NoHeader { file: file.to_owned(), first });
            }
            (0..columns).map(|column| header.remove(&column).unwrap_or_default()).collect()
        } else {
            Names::numbered(columns as usize)
        };
        let mut assembly = Assembly::new(file, request, self.room, names)?;
        assembly.lines = lines;
        let decimal = request.decimal.unwrap_or_default();
        assembly.style = NumberStyle { decimal, grouped: request.decimal.is_some() };
        assembly.allocate(rows)?;
        let begin = first + u32::from(request.header);
        self.fill(&name, begin, columns as usize, &mut assembly)?;
        let data = assembly.finish()?;
        Ok(Dataset { sheet: (others && request.sheet.is_none()).then_some(name), ..data })
    }

    /// The sheet that is read, and whether others can be seen, too.
    fn sheet(&self, request: &Request) -> Result<(String, bool), Error> {
        let sheets: Vec<&Sheet> =
            self.book.sheets_metadata().iter().filter(|sheet| sheet.typ == SheetType::WorkSheet).collect();
        let visible = |sheet: &&Sheet| sheet.visible == SheetVisible::Visible;
        let others = sheets.iter().copied().filter(visible).count() > 1;
        let found = match &request.sheet {
            None => sheets.iter().copied().find(visible).or(sheets.first().copied()),
            Some(asked) => {
                let named = sheets.iter().copied().find(|sheet| sheet.name == *asked);
                let number = asked.parse().ok().and_then(|number: usize| number.checked_sub(1));
                named.or_else(|| number.and_then(|at| sheets.get(at).copied()))
            }
        };
        let names: Vec<String> = sheets.iter().take(8).map(|sheet| format!("{:?}", sheet.name)).collect();
        found.map(|sheet| (sheet.name.clone(), others)).ok_or_else(|| {
            let asked = request.sheet.clone().unwrap_or_default();
            let problem = format!("there is no such sheet; its sheets are {}", names.join(", "));
            Error::unsupported(self.room.file, format!("sheet {asked:?}"), problem, FileRemedy::NameSheet)
        })
    }

    /// Goes through the cells that hold something, row by row and from left to right.
    fn cells(
        &mut self,
        name: &str,
        mut visit: impl FnMut((u32, u32), DataRef<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let file = self.room.file;
        let wrong = |problem: &dyn std::fmt::Display| Error::damaged(file, format!("sheet {name:?}"), problem);
        let mut reader = self.book.worksheet_cells_reader(name).map_err(|error| wrong(&error))?;
        let mut last = None;
        while let Some(cell) = reader.next_cell().map_err(|error| wrong(&error))? {
            let at = cell.get_position();
            if at.0 >= MOST.0 || at.1 >= MOST.1 || last.is_some_and(|last| at <= last) {
                return Err(wrong(&format!("the cell in row {}, column {} is out of its place", at.0 + 1, at.1 + 1)));
            }
            last = Some(at);
            let value = cell.get_value();
            if !is_blank(value) {
                visit(at, value.clone())?;
            }
        }
        Ok(())
    }

    fn used(&mut self, name: &str, header: bool) -> Result<Used, Error> {
        let file = self.room.file;
        let (mut names, mut held) = (BTreeMap::new(), self.room.part());
        let mut first: Option<u32> = None;
        let (mut columns, mut rows, mut lines, mut last, mut bytes) = (0, 0, Lines::of_rows(), None, 0);
        let mut numbers = true;
        self.cells(name, |(row, column), value| {
            let begin = *first.get_or_insert(row);
            columns = columns.max(column + 1);
            if row == begin && header {
                numbers &= matches!(value, DataRef::Int(_) | DataRef::Float(_));
                let name = text(&value);
                bytes += NAME + name.len() as u64;
                held.set(bytes, At::Row(u64::from(row) + 1))?;
                names.insert(column, name.trim().to_owned());
            } else if last != Some(row) {
                last = Some(row);
                rows += 1;
                lines.push(u64::from(row) + 1);
            }
            Ok(())
        })?;
        let Some(first) = first else { return Err(Error::Empty { file: file.to_owned() }) };
        Ok(Used { header: (first, names, numbers), columns, lines, rows })
    }

    /// Puts the values of all rows from `begin` on in their places. A cell that is merged with those below says what they hold.
    fn fill(&mut self, name: &str, begin: u32, columns: usize, assembly: &mut Assembly<'_>) -> Result<(), Error> {
        let damaged = |error: XlsxError| Error::damaged(self.room.file, format!("sheet {name:?}"), error);
        let merged = self.book.merge_cells_by_sheet_name(name).map_err(damaged)?;
        let ends: HashMap<(u32, u32), u32> =
            merged.into_iter().filter(|area| area.end.0 > area.start.0).map(|area| (area.start, area.end.0)).collect();
        let mut rows = SheetRows { assembly, row: 0, cells: vec![DataRef::Empty; columns], open: HashMap::new() };
        let mut current = None;
        self.cells(name, |(row, column), value| {
            if row < begin {
                return Ok(());
            }
            if let Some(before) = current.replace(row).filter(|before| *before != row) {
                rows.take(before)?;
            }
            if let Some(end) = ends.get(&(row, column)) {
                rows.open.insert(column as usize, (*end, owned(&value)));
            }
            rows.cells[column as usize] = owned(&value);
            Ok(())
        })?;
        current.map_or(Ok(()), |last| rows.take(last))
    }
}

/// Takes in rows, one after the other.
struct SheetRows<'s, 'a> {
    assembly: &'s mut Assembly<'a>,
    /// The next row of the table.
    row: usize,
    cells: Vec<DataRef<'static>>,
    /// For columns with a merged cell its last row, and its value.
    open: HashMap<usize, (u32, DataRef<'static>)>,
}

impl SheetRows<'_, '_> {
    fn take(&mut self, sheet_row: u32) -> Result<(), Error> {
        for (place, cell) in self.cells.iter_mut().enumerate() {
            let mut cell = std::mem::take(cell);
            if is_blank(&cell)
                && let Some((_, value)) = self.open.get(&place).filter(|(end, _)| *end >= sheet_row)
            {
                cell = value.clone();
            }
            match &cell {
                DataRef::Int(value) => self.assembly.number(place, self.row, *value as f64)?,
                DataRef::Float(value) => self.assembly.number(place, self.row, *value)?,
                DataRef::Empty => self.assembly.missing(place, self.row, ""),
                DataRef::Error(error) => self.assembly.missing(place, self.row, &error.to_string()),
                other => self.assembly.text_or_number(place, self.row, &text(other))?,
            }
        }
        self.row += 1;
        Ok(())
    }
}

fn is_blank(value: &DataRef<'_>) -> bool {
    match value {
        DataRef::Empty => true,
        DataRef::String(text) => text.trim().is_empty(),
        DataRef::SharedString(text) => text.trim().is_empty(),
        _ => false,
    }
}

/// A value of its own.
fn owned(value: &DataRef<'_>) -> DataRef<'static> {
    match value {
        DataRef::Int(value) => DataRef::Int(*value),
        DataRef::Float(value) => DataRef::Float(*value),
        DataRef::Error(error) => DataRef::Error(error.clone()),
        other => DataRef::String(text(other)),
    }
}

/// A value as it is written.
fn text(value: &DataRef<'_>) -> String {
    match value {
        DataRef::Int(value) => value.to_string(),
        DataRef::Float(value) => number_label(*value),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text.clone(),
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::Bool(value) => value.to_string(),
        DataRef::DateTime(time) => {
            let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
            match (time.is_duration() || time.as_f64() < 1.0, (hour, minute, second)) {
                (true, _) => format!("{hour:02}:{minute:02}:{second:02}"),
                (false, (0, 0, 0)) => format!("{year:04}-{month:02}-{day:02}"),
                (false, _) => format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"),
            }
        }
        DataRef::Error(_) | DataRef::Empty => String::new(),
    }
}
