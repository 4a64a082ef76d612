//! Every decision in `docs/adr` has a date and a status.

use super::{assert_none, repository};

const FOLDER: &str = "docs/adr";

/// The number of a decision, from the name of its file.
fn number(path: &str) -> Option<u32> {
    path.rsplit('/').next()?.split('-').next()?.parse().ok()
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let digits = |part: &&str| part.chars().all(|c| c.is_ascii_digit());
    parts.iter().map(|part| part.len()).eq([4, 2, 2]) && parts.iter().all(digits)
}

fn complaints(decisions: &[(String, String)]) -> Vec<String> {
    let numbers: Vec<_> = decisions.iter().filter_map(|(path, _)| number(path)).collect();
    let is_status = |text: &str| match text.strip_prefix("replaced by ") {
        Some(by) => by.parse().is_ok_and(|by| numbers.contains(&by)),
        None => text == "accepted",
    };
    let mut found = Vec::new();
    for (path, text) in decisions {
        let line = |begin: &str| text.lines().find_map(|line| line.strip_prefix(begin));
        if !line("- Date: ").is_some_and(is_date) {
            found.push(format!("{path}: no line \"- Date: YYYY-MM-DD\""));
        }
        if !line("- Status: ").is_some_and(is_status) {
            found.push(format!("{path}: no line \"- Status: accepted\" or \"- Status: replaced by N\""));
        }
        if number(path).is_none() {
            found.push(format!("{path}: the name begins with no number"));
        }
    }
    found
}

#[test]
fn decisions_have_a_date_and_a_status() {
    let decisions: Vec<_> =
        repository::paths(FOLDER).into_iter().map(|path| (path.clone(), repository::read(&path))).collect();
    assert!(decisions.len() >= 17, "decisions are found");
    assert_none(&complaints(&decisions));
}

#[test]
fn decisions_without_them_are_complained_of() {
    let find = |text: &str| complaints(&[("docs/adr/0001-x.md".to_owned(), text.to_owned())]).len();
    assert_eq!(find("# 1. X\n\n- Date: 2026-11-15\n- Status: accepted\n"), 0);
    assert_eq!(find("- Date: 2026-11-15\n- Status: replaced by 1\n"), 0);
    assert_eq!(find("- Date: 2026-11-15\n- Status: replaced by 2\n"), 1);
    assert_eq!(find("- Date: soon\n- Status: accepted\n"), 1);
    assert_eq!(find("- Date: 2026-1-15\n- Status: perhaps\n"), 2);
    assert_eq!(find("# 1. X\n"), 2);
    assert_eq!(
        complaints(&[("docs/adr/x.md".to_owned(), "- Date: 2026-11-15\n- Status: accepted\n".to_owned())]).len(),
        1
    );
}
