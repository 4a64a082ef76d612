//! As much of the grammar of Rust as it takes to see what a file imports, declares and says.

/// The words, signs and texts of a source, without comments, characters and lifetimes. `::` is one sign, and a text is one token that
/// begins with a quote.
pub(crate) fn tokens(source: &str) -> Vec<String> {
    let chars: Vec<char> = source.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let (mut out, mut i) = (Vec::new(), 0);
    while i < chars.len() {
        match at(i) {
            '/' if at(i + 1) == '/' => i = end_of_line(&chars, i),
            '/' if at(i + 1) == '*' => i = end_of_comment(&chars, i),
            '"' => {
                let end = end_of_text(&chars, i).min(chars.len());
                out.push(chars[i..end].iter().collect());
                i = end;
            }
            'r' if at(i + 1) == '"' || at(i + 1) == '#' && matches!(at(i + 2), '"' | '#') => {
                let end = end_of_raw(&chars, i + 1).min(chars.len());
                out.push(chars[i + 1..end].iter().skip_while(|c| **c == '#').collect());
                i = end;
            }
            '\'' if at(i + 1) == '\\' => i = end_of_character(&chars, i),
            '\'' if at(i + 2) == '\'' => i += 3,
            '\'' => i = end_of_word(&chars, i + 1),
            ':' if at(i + 1) == ':' => {
                out.push("::".to_owned());
                i += 2;
            }
            c if is_word(c) => {
                let end = end_of_word(&chars, i);
                out.push(chars[i..end].iter().collect());
                i = end;
            }
            c => {
                if !c.is_whitespace() {
                    out.push(c.to_string());
                }
                i += 1;
            }
        }
    }
    out
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn end_of_word(chars: &[char], from: usize) -> usize {
    chars[from..].iter().position(|c| !is_word(*c)).map_or(chars.len(), |length| from + length)
}

fn end_of_line(chars: &[char], from: usize) -> usize {
    chars[from..].iter().position(|c| *c == '\n').map_or(chars.len(), |length| from + length)
}

fn end_of_comment(chars: &[char], from: usize) -> usize {
    let (mut depth, mut i) = (0, from);
    while i + 1 < chars.len() {
        match (chars[i], chars[i + 1]) {
            ('/', '*') => (depth, i) = (depth + 1, i + 2),
            ('*', '/') => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
        if depth == 0 {
            return i;
        }
    }
    chars.len()
}

fn end_of_text(chars: &[char], from: usize) -> usize {
    let mut i = from + 1;
    while i < chars.len() && chars[i] != '"' {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    i + 1
}

/// After the `r` of a raw text.
fn end_of_raw(chars: &[char], from: usize) -> usize {
    let hashes = chars[from..].iter().take_while(|c| **c == '#').count();
    let mut i = from + hashes + 1;
    while i < chars.len() && !(chars[i] == '"' && chars[i + 1..].iter().take_while(|c| **c == '#').count() >= hashes) {
        i += 1;
    }
    i + 1 + hashes
}

fn end_of_character(chars: &[char], from: usize) -> usize {
    // The sign after the backslash may itself be a quote.
    chars[from + 3..].iter().position(|c| *c == '\'').map_or(chars.len(), |length| from + 4 + length)
}

/// The tokens without the items under `#[cfg(test)]`, and the names of the modules among those.
pub(crate) fn without_tests(tokens: &[String]) -> (Vec<String>, Vec<String>) {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let (mut kept, mut modules, mut i) = (Vec::new(), Vec::new(), 0);
    while i < tokens.len() {
        if !tokens[i..].iter().map(String::as_str).take(MARK.len()).eq(MARK) {
            kept.push(tokens[i].clone());
            i += 1;
            continue;
        }
        i += MARK.len();
        let end = end_of_item(tokens, i);
        if let Some(place) = tokens[i..end].iter().position(|token| token == "mod") {
            modules.push(tokens[i + place + 1].clone());
        }
        i = end;
    }
    (kept, modules)
}

/// A file of a crate without what is only there for tests.
pub(crate) struct Shipped<'a> {
    pub path: &'a str,
    /// The module that the file is, from the root of the crate.
    pub module: Vec<String>,
    pub tokens: Vec<String>,
}

/// The files of a crate, by their paths below `src`, that are not modules of tests.
pub(crate) fn shipped(files: &[(String, String)]) -> Vec<Shipped<'_>> {
    let (mut all, mut tests) = (Vec::new(), Vec::new());
    for (path, text) in files {
        let (module, (tokens, own_tests)) = (module_of(path), without_tests(&self::tokens(text)));
        tests.extend(own_tests.into_iter().map(|test| [module.as_slice(), &[test]].concat()));
        all.push(Shipped { path, module, tokens });
    }
    all.retain(|file| !tests.iter().any(|test| file.module.starts_with(test)));
    all
}

/// The module of a file, by its path below `src`.
fn module_of(path: &str) -> Vec<String> {
    let path = path.strip_suffix(".rs").expect("a source");
    let path = path.strip_suffix("/mod").unwrap_or(path);
    if matches!(path, "lib" | "main") { Vec::new() } else { path.split('/').map(str::to_owned).collect() }
}

/// Where the item that begins here ends: after its semicolon, or after the brace that closes it.
fn end_of_item(tokens: &[String], from: usize) -> usize {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(from) {
        match token.as_str() {
            "{" | "(" | "[" => depth += 1,
            ")" | "]" => depth -= 1,
            "}" => {
                depth -= 1;
                if depth == 0 {
                    return i + 1;
                }
            }
            ";" if depth == 0 => return i + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// All paths that begin with `crate` or `super`, in imports and elsewhere, from the root of the crate, for a file that is the module
/// `own`.
pub(crate) fn paths(tokens: &[String], own: &[String]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        let begins = (token == "crate" || token == "super") && (i == 0 || tokens[i - 1] != "::");
        let goes_on = tokens.get(i + 1).is_some_and(|next| next == "::");
        // Within braces, `super` goes on from what stands before them.
        let nested = i > 0 && matches!(tokens[i - 1].as_str(), "{" | ",") && in_use(tokens, i);
        if begins && goes_on && !nested {
            tree(tokens, i, own.to_vec(), &mut found);
        }
    }
    found
}

/// Whether a token is inside the braces of a `use`.
fn in_use(tokens: &[String], at: usize) -> bool {
    tokens[..at].iter().rev().take_while(|token| *token != ";").any(|token| token == "use")
        && tokens[..at]
            .iter()
            .rev()
            .find(|token| matches!(token.as_str(), "use" | ")"))
            .is_some_and(|token| token == "use")
}

/// The paths of a tree as after `use`; returns where it ends.
pub(crate) fn tree(tokens: &[String], mut i: usize, mut path: Vec<String>, found: &mut Vec<Vec<String>>) -> usize {
    loop {
        let token = tokens.get(i).map_or("", String::as_str);
        match token {
            "{" => {
                i += 1;
                while tokens.get(i).is_some_and(|token| token != "}") {
                    i = tree(tokens, i, path.clone(), found);
                    if tokens.get(i).is_some_and(|token| token == ",") {
                        i += 1;
                    }
                }
                return i + 1;
            }
            "crate" => path.clear(),
            "super" => drop(path.pop()),
            "self" => {}
            _ => path.push(token.to_owned()),
        }
        i += 1;
        if tokens.get(i).is_none_or(|token| token != "::") || tokens.get(i + 1).is_some_and(|token| token == "<") {
            if tokens.get(i).is_some_and(|token| token == "as") {
                path.extend(tokens.get(i + 1).cloned());
                i += 2;
            }
            found.push(path);
            return i;
        }
        i += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths_of(source: &str, own: &[&str]) -> Vec<String> {
        let own: Vec<String> = own.iter().map(|&part| part.to_owned()).collect();
        paths(&without_tests(&tokens(source)).0, &own).iter().map(|path| path.join("::")).collect()
    }

    #[test]
    fn comments_and_characters_are_no_tokens_and_texts_are_one_each() {
        let source = "/* a /* b */ c */ x // crate::y\n \"crate::z \\\" \" r#\"super::\"# '\\'' 'c' 'long: loop";
        assert_eq!(tokens(source), ["x", "\"crate::z \\\" \"", "\"super::\"#", ":", "loop"]);
    }

    #[test]
    fn imports_and_inline_paths_are_found() {
        let source =
            "use crate::{a::{B, c::D}, E}; use super::{f, super::g::H}; fn i() { crate::j::k::<L>(super::super::m()) }";
        let found = paths_of(source, &["top", "middle", "low"]);
        let expected = ["a::B", "a::c::D", "E", "top::middle::f", "top::g::H", "j::k", "top::m"];
        assert_eq!(found, expected);
    }

    #[test]
    fn tests_are_left_out() {
        let source = "#[cfg(test)] mod laws; use crate::a; #[cfg(test)] mod tests { use crate::b; } fn c() {}";
        assert_eq!(paths_of(source, &["top"]), ["a"]);
        assert_eq!(without_tests(&tokens(source)).1, ["laws", "tests"]);
    }
}
