//! A table in a terminal.

use comfy_table::presets;

use crate::visible::visible_name;

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
    /// The table as text. Names of columns of data are part of it, and may hold anything.
    pub fn text(&self) -> String {
        let mut body = comfy_table::Table::new();
        body.load_style(presets::UTF8_FULL_CONDENSED);
        body.set_header(self.header.iter().map(|name| visible_name(name)));
        for row in &self.rows {
            body.add_row(row.iter().map(|cell| visible_name(cell)));
        }
        let mut text = format!("{}. {}\n{body}\n", visible_name(&self.title), self.setting);
        for note in &self.notes {
            text.push_str(&visible_name(note));
            text.push('\n');
        }
        text
    }
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
}
