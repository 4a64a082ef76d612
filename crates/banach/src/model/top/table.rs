//! The largest monomials for people to read.

use crate::error::counted;
use std::fmt;

use super::{SearchEnd, TopMonomials};

impl TopMonomials {
    /// As displayed, with these names for the variables. Variables without a name are numbered.
    pub fn with_names<S: AsRef<str>>(&self, names: &[S]) -> String {
        let mut lines = self.lines(names);
        lines.push(self.summary());
        lines.join("\n")
    }

    fn lines<S: AsRef<str>>(&self, names: &[S]) -> Vec<String> {
        let mut rows = vec![["", "monomial", "weight", "coefficient", "share", "solver interval"].map(str::to_owned)];
        for (rank, entry) in self.entries.iter().enumerate() {
            rows.push([
                (rank + 1).to_string(),
                entry.monomial.with_names(names),
                format!("{:.4e}", entry.weight),
                format!("{:.4e}", entry.coefficient),
                entry.share.map_or_else(String::new, |share| format!("{:.2} %", 100.0 * share)),
                entry.interval.map_or_else(String::new, |(low, high)| format!("[{low:.4e}, {high:.4e}]")),
            ]);
        }
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: [usize; 6] = std::array::from_fn(width);
        // A column without entries is left out.
        let used = |column: usize| column < 4 || rows[1..].iter().any(|row| !row[column].is_empty());
        let line = |row: &[String; 6]| {
            let cells = row.iter().zip(widths).enumerate().filter(|(column, _)| used(*column));
            let cells = cells.map(|(column, (cell, width))| match column {
                1 | 5 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        rows.iter().map(line).collect()
    }

    /// What is known of the list.
    fn summary(&self) -> String {
        let Self { nodes, unlisted, .. } = self;
        match (self.end, self.set_proven, self.order_proven) {
            (_, _, true) => "The solver's error cannot change this list or its order.".to_owned(),
            (_, true, false) => "The solver's error cannot change this list; it may change its order.".to_owned(),
            (SearchEnd::Complete, ..) => "The largest of this dual vector.".to_owned(),
            (end, ..) => {
                let why = match end {
                    SearchEnd::TimeLimit => "when its time was over",
                    SearchEnd::DegreeLimit => "at the highest degree it looks at",
                    _ => "at the end of its budget",
                };
                format!(
                    "The search stopped {why}, after {}: others may have weights up to {unlisted:.4e}.",
                    counted(nodes, "monomial", "monomials")
                )
            }
        }
    }
}

impl fmt::Display for TopMonomials {
    /// A table with a row for every monomial, and a line on what the solver's error may change.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with_names::<&str>(&[]))
    }
}
