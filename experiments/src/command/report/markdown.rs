//! A table in Markdown.

use std::fmt::Write as _;

use comfy_table::presets;

use super::{Cell, ResultTable};

impl ResultTable {
    pub(crate) fn markdown(&self) -> String {
        let mut body = comfy_table::Table::new();
        body.load_style(presets::ASCII_MARKDOWN);
        body.set_header(self.header.iter().map(|name| escape(name)));
        for row in &self.rows {
            body.add_row(row.iter().map(Cell::marked).map(|cell| escape(&cell)));
        }
        let mut text = format!("## {}\n\n{}\n\n{body}\n", escape(&self.title), escape(&self.setting));
        for note in &self.notes {
            let _ = write!(text, "\n{}\n", escape(note));
        }
        text
    }
}

/// Text that Markdown shows as it is.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '\\' | '|' | '*' | '`' | '<' | '[') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_cannot_break_its_table() {
        let table = ResultTable {
            title: "w_*".into(),
            setting: "gamma < 1".into(),
            header: vec!["|u|^(q-1)".into()],
            rows: vec![vec![Cell::judged("3", Some(true))]],
            notes: vec!["A note.".into(), "Another.".into()],
        };
        let expected = "## w_\\*\n\ngamma \\< 1\n\n\
                        | \\|u\\|^(q-1) |\n|-------------|\n| 3 =         |\n\nA note.\n\nAnother.\n";
        assert_eq!(table.markdown(), expected);
    }
}
