//! Lines of a terminal.

/// Characters of a line.
pub(crate) const LINE: usize = 80;

/// Words in lines of at most so many characters, all but the first behind so many spaces; a longer word has a line of its own.
pub(crate) fn wrapped(text: &str, most: usize, indent: usize) -> String {
    let (mut lines, mut line, mut first) = (String::new(), String::new(), true);
    for word in text.split(' ') {
        if !first && line.chars().count() + 1 + word.chars().count() > most {
            lines.push_str(&line);
            lines.push('\n');
            line = " ".repeat(indent);
        } else if !first {
            line.push(' ');
        }
        line.push_str(word);
        first = false;
    }
    lines + &line + "\n"
}

/// A text in which sentences, lines behind a label, such as `model:  ...`, and lines that are indented go on below themselves where they are
/// too long. All others are as they are: tables have their own width, and formulas are copied.
pub(crate) fn folded(text: &str) -> String {
    let fold = |line: &str| match indent(line) {
        Some(indent) if line.chars().count() > LINE => wrapped(line, LINE, indent),
        _ => format!("{line}\n"),
    };
    text.lines().map(fold).collect()
}

/// Where the text of a line begins: behind its label or its spaces, or at once in a sentence.
fn indent(line: &str) -> Option<usize> {
    let label = line.find(|at: char| !at.is_ascii_alphabetic()).filter(|&at| at > 0 && line[at..].starts_with(": "));
    let begin = label.map_or(0, |at| at + 1);
    let spaces = line[begin..].len() - line[begin..].trim_start_matches(' ').len();
    let sentence = line.starts_with(|first: char| first.is_uppercase()) && !line.contains(" = ");
    if spaces > 0 { Some(begin + spaces) } else { sentence.then_some(0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_behind_labels_go_on_below_themselves() {
        let words = ["word"; 30].join(" ");
        for (line, indent) in
            [(format!("model:  {words}"), 8), (format!("         {words}"), 9), (format!("Some {words}."), 0)]
        {
            let text = folded(&line);
            let lines: Vec<&str> = text.lines().collect();
            assert!(lines.len() > 1 && lines.iter().all(|line| line.chars().count() <= LINE), "{text}");
            let starts = |line: &&str| line.len() - line.trim_start().len() == indent;
            assert!(lines[1..].iter().all(starts), "{text}");
            assert_eq!(text.split_whitespace().collect::<Vec<_>>(), line.split_whitespace().collect::<Vec<_>>());
        }
    }

    #[test]
    fn all_other_lines_are_as_they_are() {
        let long = "x".repeat(100);
        for line in
            [format!("y = {long} + {long}"), format!("│ {long} {long} │"), "note: short".to_owned(), String::new()]
        {
            assert_eq!(folded(&line), if line.is_empty() { String::new() } else { format!("{line}\n") });
        }
        assert_eq!(folded(&format!("note: {long}")), format!("note:\n      {long}\n"));
    }
}
