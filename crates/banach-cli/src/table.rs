//! A table in a terminal.

use comfy_table::{ColumnConstraint, ContentArrangement, Width, presets};

use crate::{
    lines::{LINE, wrapped},
    visible::visible_name,
};

/// Characters of a line that is never broken.
const WIDE: usize = u16::MAX as usize;
/// What a column takes beside its text: two spaces and a border.
const FRAME: usize = 3;
/// Columns with longer texts are made narrower, down to this.
const NARROW: usize = 12;

/// What a table says.
#[derive(Debug, Clone)]
pub struct Table {
    /// Its name.
    pub title: String,
    /// What was run, in one sentence.
    pub setting: String,
    /// The names of the columns.
    pub header: Vec<String>,
    /// Its rows, as long as the header.
    pub rows: Vec<Vec<String>>,
    /// What the reader must know, a sentence or two each.
    pub notes: Vec<String>,
}

impl Table {
    /// The table as text, in lines of at most 80 characters: long texts go on in the next line of their row, and columns for which there is no
    /// room follow in a second table. Names of columns of data are part of it, and may hold anything.
    pub fn text(&self) -> String {
        self.within(LINE)
    }

    /// The same in lines as long as they are, for files and wide windows.
    pub fn wide_text(&self) -> String {
        self.within(WIDE)
    }

    fn within(&self, line: usize) -> String {
        let shown = |text: &String| visible_name(text).into_owned();
        let header: Vec<String> = self.header.iter().map(shown).collect();
        let rows: Vec<Vec<String>> = self.rows.iter().map(|row| row.iter().map(shown).collect()).collect();
        let title = visible_name(&self.title);
        let mut text = wrapped(&format!("{title}. {}", self.setting), line, 0);
        for columns in self.blocks(&header, &rows, line) {
            let mut body = comfy_table::Table::new();
            body.load_style(presets::UTF8_FULL_CONDENSED);
            body.set_content_arrangement(ContentArrangement::Dynamic);
            body.set_width(line as u16);
            let of = |row: &[String]| columns.iter().map(|&at| row[at].clone()).collect::<Vec<_>>();
            body.set_header(of(&header));
            body.add_rows(rows.iter().map(|row| of(row)));
            for (column, &at) in body.column_iter_mut().zip(&columns) {
                let least = least_width(&header[at], rows.iter().map(|row| &row[at]));
                column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed((least + FRAME - 1) as u16)));
            }
            text.push_str(&body.to_string());
            text.push('\n');
        }
        for note in &self.notes {
            text.push_str(&wrapped(&visible_name(note), line, 0));
        }
        text
    }

    /// The columns that stand side by side. The first is in every block, and so is the second where the first only counts.
    fn blocks(&self, header: &[String], rows: &[Vec<String>], line: usize) -> Vec<Vec<usize>> {
        let width = |at: usize| FRAME + least_width(&header[at], rows.iter().map(|row| &row[at]));
        let keys: Vec<usize> =
            (0..header.len().min(if self.header.first().is_some_and(String::is_empty) { 2 } else { 1 })).collect();
        let mut blocks = vec![keys.clone()];
        let taken = |block: &[usize]| 1 + block.iter().map(|&at| width(at)).sum::<usize>();
        for at in keys.len()..header.len() {
            let last = blocks.last().map_or(&keys[..], |block| block);
            if taken(last) + width(at) > line && last.len() > keys.len() {
                blocks.push(keys.clone());
            }
            blocks.last_mut().expect("there is a block from the beginning").push(at);
        }
        blocks
    }
}

/// What a column needs: numbers and other short texts whole.
fn least_width<'a>(name: &str, cells: impl Iterator<Item = &'a String>) -> usize {
    let longest = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
    longest.min(NARROW).max(name.chars().count().min(NARROW - 2)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_said() {
        let table = Table {
            title: "Table 0".into(),
            setting: "Small.".into(),
            header: vec!["row".into(), "count".into()],
            rows: vec![vec!["ours".into(), "3 !=".into()]],
            notes: vec!["A note.".into()],
        };
        let text = table.text();
        for expected in ["Table 0. Small.\n", "┆ count", "┆ 3 !=", "\nA note.\n"] {
            assert!(text.contains(expected), "{expected} is missing in\n{text}");
        }
    }

    #[test]
    fn no_line_is_longer_than_a_terminal() {
        let name = |at: usize| format!("the_long_name_of_a_column_that_was_measured_{at}");
        let row = |at: usize| {
            let numbers = (0..12).map(|column| format!("-0.{:05}", 977 * (column + at)));
            [at.to_string(), format!("{} * {}", name(at), name(at + 1))].into_iter().chain(numbers).collect()
        };
        let table = Table {
            title: "Wide".into(),
            setting: "A sentence that goes on and on, until no terminal of the usual width has room for all of it."
                .into(),
            header: ["", "monomial"].map(String::from).into_iter().chain((0..12).map(name)).collect(),
            rows: (0..3).map(row).collect(),
            notes: Vec::new(),
        };
        let text = table.text();
        assert!(text.lines().all(|line| line.chars().count() <= LINE), "{text}");
        // Every number is whole, and every name is there in pieces.
        for number in table.rows.iter().flat_map(|row| &row[2..]) {
            assert!(text.contains(&format!(" {number} ")), "{number} is missing in\n{text}");
        }
        assert!(text.contains("-0.00977"), "{text}");
    }
}
