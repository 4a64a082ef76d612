//! Shares as text: aligned tables with bars.

use std::fmt::{self, Write};

/// Characters of a bar that stands for everything.
const WIDTH: usize = 40;

/// One line per entry: label, share and bar, relative to the largest share.
pub(super) fn write_bars(f: &mut dyn Write, entries: &[(String, f64)]) -> fmt::Result {
    let width = entries.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    let largest = entries.iter().fold(0.0_f64, |largest, (_, share)| largest.max(*share));
    for (label, share) in entries {
        let length = if largest > 0.0 { (share / largest * WIDTH as f64).round() as usize } else { 0 };
        let padding = " ".repeat(width - label.chars().count());
        let line = format!("  {label}{padding}  {}  {}", share_text(*share), "#".repeat(length));
        writeln!(f, "{}", line.trim_end())?;
    }
    Ok(())
}

/// A share with four digits, or its size where these are all 0.
pub(super) fn share_text(share: f64) -> String {
    if share == 0.0 || share >= 5e-5 { format!("{share:>8.4}") } else { format!("{share:>8.1e}") }
}
