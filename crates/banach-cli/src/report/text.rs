//! A table in a terminal.

use comfy_table::presets;

use super::Table;
use crate::visible::visible_name;

impl Table {
    pub(crate) fn text(&self) -> String {
        let mut body = comfy_table::Table::new();
        body.load_style(presets::UTF8_FULL_CONDENSED);
        // Names of columns are part of all of them, and may hold anything.
        body.set_header(self.header.iter().map(|name| visible_name(name)));
        for row in &self.rows {
            body.add_row(row.iter().map(|cell| visible_name(&cell.marked()).into_owned()));
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
    use super::super::{Cell, Table};

    #[test]
    fn everything_is_said() {
        let table = Table {
            title: "Table 0".into(),
            setting: "Small.".into(),
            header: vec!["row".into(), "count".into()],
            rows: vec![vec!["ours".into(), Cell::judged("3", Some(false))]],
            notes: vec!["A note.".into()],
        };
        let text = table.text();
        for expected in ["Table 0. Small.\n", "┆ count", "┆ 3 !=", "\nA note.\n"] {
            assert!(text.contains(expected), "{expected} is missing in\n{text}");
        }
    }
}
