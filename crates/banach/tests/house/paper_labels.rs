//! A label of the paper that the sources cite has its row in `docs/paper-map.md`.

use std::collections::BTreeSet;

use super::{assert_none, repository};

/// The labels in the second column of the tables.
fn listed(map: &str) -> BTreeSet<&str> {
    let cells = map.lines().filter_map(|line| line.strip_prefix('|')?.split('|').nth(1));
    cells.flat_map(|cell| cell.split(',')).map(str::trim).filter(|label| is_label(label)).collect()
}

fn is_label(text: &str) -> bool {
    let name = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_+".contains(c));
    text.starts_with(|c: char| c.is_ascii_lowercase()) && text.split(':').count() <= 2 && text.split(':').all(name)
}

/// The labels that a source cites, as in "(24) `[eq:gendual]`": in square brackets, with a colon or after a number.
fn cited(source: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in source.match_indices('[') {
        let Some(length) = source[at + 1..].find(']') else { break };
        let label = &source[at + 1..at + 1 + length];
        let before = source[..at].strip_suffix('`').unwrap_or("").trim_end();
        let numbered = before.ends_with(|c: char| c == ')' || c.is_ascii_digit());
        if is_label(label) && (label.contains(':') || numbered) {
            found.push(label);
        }
    }
    found
}

fn complaints(map: &str, files: &[(String, String)]) -> Vec<String> {
    let listed = listed(map);
    let unknown = |(path, text): &(String, String)| {
        let labels = cited(text).into_iter().filter(|label| !listed.contains(label));
        labels.map(|label| format!("{path}: [{label}] has no row in docs/paper-map.md")).collect::<Vec<_>>()
    };
    files.iter().flat_map(unknown).collect()
}

#[test]
fn labels_that_the_sources_cite_are_in_the_map() {
    let files = ["crates/banach/src", "crates/banach-cli/src", "crates/banach-py/src", "experiments/src"];
    let files: Vec<_> = files.into_iter().flat_map(repository::rust_files).collect();
    assert!(files.iter().map(|(_, text)| cited(text).len()).sum::<usize>() > 20, "labels are found");
    assert_none(&complaints(&repository::read("docs/paper-map.md"), &files));
}

#[test]
fn labels_without_a_row_are_complained_of() {
    let map = "| paper | label | what |\n|---|---|---|\n| (1) | eq:one, two | x |\n";
    let find = |text: &str| complaints(map, &[("a.rs".to_owned(), text.to_owned())]);
    assert!(find("/// (1) `[eq:one]` and (2) `[two]`; a slice `[f64]`, a[eq::one], [`x`](y)").is_empty());
    assert_eq!(find("/// (3) `[eq:three]`, Theorem 2.1 `[four]`, [def:five]").len(), 3);
}
