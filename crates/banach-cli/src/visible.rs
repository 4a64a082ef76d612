//! Text from files and file names, made safe to be shown. A name can hold what a terminal obeys (escape sequences), what
//! reorders the text around it (bidirectional controls) or what nobody sees; such characters are shown as `\u{1b}`, as Rust
//! and Python's `repr` do. JSON has a notation of its own for them, and CSV keeps its data.

use std::borrow::Cow;

/// Whether a character is an instruction, or nothing that can be seen. Joiners are not among them: scripts need them.
fn is_hidden(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
        || matches!(c,
            // Marks, embeddings, overrides and isolates of the direction of text.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            // Separators of lines and paragraphs.
            | '\u{2028}' | '\u{2029}'
            // Without width and without use in words.
            | '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Text of several lines.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    shown(text, is_hidden, |c, out| out.extend(c.escape_unicode()))
}

/// A name or a label, which stays on its line.
pub(crate) fn visible_name(name: &str) -> Cow<'_, str> {
    shown(
        name,
        |c| is_hidden(c) || c == '\n' || c == '\t',
        |c, out| match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c => out.extend(c.escape_unicode()),
        },
    )
}

/// A JSON document, in which such characters are in strings.
pub(crate) fn visible_json(document: &str) -> Cow<'_, str> {
    shown(document, is_hidden, |c, out| {
        let mut units = [0; 2];
        out.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
    })
}

fn shown(text: &str, hidden: impl Fn(char) -> bool, show: impl Fn(char, &mut String)) -> Cow<'_, str> {
    if !text.contains(&hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    text.chars().for_each(|c| if hidden(c) { show(c, &mut out) } else { out.push(c) });
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "a\u{1b}[31m\u{202e}b\u{9b}2J\rc\u{e0041}\u{7f}";

    #[test]
    fn nothing_is_left_that_a_terminal_obeys() {
        assert_eq!(visible(NAME), "a\\u{1b}[31m\\u{202e}b\\u{9b}2J\\u{d}c\\u{e0041}\\u{7f}");
        assert_eq!(visible_name("one\n\ttwo"), "one\\n\\ttwo");
        for text in ["", "plain", "line\n\tline\n", "λ → ∞", "می‌خواهم", "👩‍🔬", "=cmd"] {
            assert!(matches!(visible(text), Cow::Borrowed(same) if same == text));
        }
        for c in (0..=0x10_ffff).filter_map(char::from_u32).filter(|c| is_hidden(*c)) {
            assert!(visible_name(&c.to_string()).chars().all(|c| c.is_ascii_graphic()), "{c:?}");
        }
    }

    #[test]
    fn json_stays_the_same_value() {
        let value = serde_json::json!({ NAME: [NAME, "plain"] });
        let text = serde_json::to_string_pretty(&value).expect("JSON");
        let shown = visible_json(&text);
        assert!(!shown.contains(is_hidden) && text.contains(is_hidden));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).expect("JSON"), value);
    }
}
