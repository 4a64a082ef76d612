//! Shares as text: aligned tables with bars.

use std::fmt::{self, Write};

/// Characters of a line, of a label, and of a bar that stands for everything where there is room.
const LINE: usize = 80;
const LABEL: usize = 44;
const WIDTH: usize = 40;

/// One line per entry: label, share and bar, relative to the largest share. Labels that are too long end in an ellipsis.
pub(super) fn write_bars(f: &mut dyn Write, entries: &[(String, f64)]) -> fmt::Result {
    let entries: Vec<(String, f64)> = entries.iter().map(|(label, share)| (shortened(label), *share)).collect();
    let width = entries.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    let largest = entries.iter().fold(0.0_f64, |largest, (_, share)| largest.max(*share));
    let longest = WIDTH.min(LINE - width - 14);
    for (label, share) in &entries {
        let length = if largest > 0.0 { (share / largest * longest as f64).round() as usize } else { 0 };
        let padding = " ".repeat(width - label.chars().count());
        let line = format!("  {label}{padding}  {}  {}", share_text(*share), "#".repeat(length));
        writeln!(f, "{}", line.trim_end())?;
    }
    Ok(())
}

/// A label that fits into a line.
pub(super) fn shortened(label: &str) -> String {
    match label.char_indices().nth(LABEL) {
        Some(_) => label.chars().take(LABEL - 1).chain(['\u{2026}']).collect(),
        None => label.to_owned(),
    }
}

/// A share with four digits, or its size where these are all 0.
pub(super) fn share_text(share: f64) -> String {
    if share == 0.0 || share >= 5e-5 { format!("{share:>8.4}") } else { format!("{share:>8.1e}") }
}
