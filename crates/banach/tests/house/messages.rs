//! No text of a library has the words of a door: a flag of the command, an argument of Python, or a path or type of Rust.
//! Errors carry ids, and every door spells them.

use std::collections::BTreeSet;

use super::{
    assert_none, repository,
    rust_source::{tokens, without_tests},
};

/// The libraries, which every door speaks for.
const LIBRARIES: [&str; 2] = ["crates/banach/src", "crates/banach-io/src"];

/// The doors and the libraries: their types are for those who write Rust.
const CRATES: &str = "crates";

/// The keys of attributes whose texts are code, or reasons for those who read it.
const CODE: [&str; 3] = ["default", "reason", "skip_serializing_if"];

/// The words that only doors have.
#[derive(Default)]
struct Foreign {
    /// Arguments of Python's estimators, of more than one word, that the libraries do not have as well.
    arguments: BTreeSet<String>,
    /// Types of more than one word: those of one, such as Gram, are also words of every day.
    types: BTreeSet<String>,
}

impl Foreign {
    /// `documented` has an entry for every argument; see `python/banach/_doc.py`.
    fn new(documented: &str, sources: &[(String, String)]) -> Self {
        let entry = |line: &str| Some(line.strip_prefix("    \"")?.split_once("\": ")?.0.to_owned());
        let mut foreign = Self::default();
        foreign.arguments.extend(documented.lines().filter_map(entry).filter(|name| name.contains('_')));
        for (path, text) in sources {
            let tokens = tokens(text);
            let named = tokens.windows(2).filter(|pair| ["struct", "enum", "trait"].contains(&&*pair[0]));
            let is_type = |name: &str| name.chars().filter(|c| c.is_uppercase()).count() > 1;
            foreign.types.extend(named.map(|pair| pair[1].clone()).filter(|name| is_type(name)));
            if LIBRARIES.iter().any(|library| path.starts_with(library)) {
                foreign.arguments.retain(|argument| !tokens.contains(argument));
            }
        }
        foreign
    }

    /// What a text should not say.
    fn found(&self, text: &str) -> Option<String> {
        let flag = text.match_indices("--").find(|(at, _)| {
            let after = text[at + 2..].starts_with(|c: char| c.is_ascii_lowercase());
            after && !text[..*at].ends_with(|c: char| c == '-' || c.is_alphanumeric())
        });
        let words = || text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        if let Some((at, _)) = flag {
            let end = text[at + 2..].find(|c: char| !(c.is_alphanumeric() || c == '-'));
            return Some(format!("the flag {}", &text[at..end.map_or(text.len(), |end| at + 2 + end)]));
        }
        if text.contains("::") && text.split("::").nth(1).is_some_and(|after| after.starts_with(char::is_alphabetic)) {
            return Some("a path of Rust".to_owned());
        }
        words().find(|word| self.types.contains(*word)).map(|word| format!("the type {word}")).or_else(|| {
            words().find(|word| self.arguments.contains(*word)).map(|word| format!("Python's argument {word}"))
        })
    }
}

/// Complaints about the files of a library.
fn complaints(foreign: &Foreign, files: &[(String, String)]) -> Vec<String> {
    let parsed: Vec<_> = files.iter().map(|(path, text)| (path, without_tests(&tokens(text)))).collect();
    let tests: Vec<String> = parsed
        .iter()
        .flat_map(|(path, (_, modules))| {
            let folder = path.strip_suffix("/mod.rs").or_else(|| path.strip_suffix(".rs")).unwrap_or(path);
            modules.iter().map(move |module| format!("{folder}/{module}"))
        })
        .collect();
    let is_test = |path: &str| {
        tests.iter().any(|test| path.starts_with(&format!("{test}.rs")) || path.starts_with(&format!("{test}/")))
    };
    let mut complaints = Vec::new();
    for (path, (kept, _)) in parsed.iter().filter(|(path, _)| !is_test(path)) {
        for (i, text) in kept.iter().enumerate().filter(|(_, token)| token.starts_with('"')) {
            // A type shows itself to those who write Rust; and the text of an attribute may be code.
            let before = |back: usize| i.checked_sub(back).map_or("", |at| &*kept[at]);
            let is_code = before(2).starts_with("debug_") || CODE.contains(&before(2));
            if let Some(found) = foreign.found(text).filter(|_| !is_code) {
                complaints.push(format!("{path}: {text} names {found}: carry an id, and let the door spell it"));
            }
        }
    }
    complaints
}

#[test]
fn libraries_speak_no_words_of_doors() {
    let foreign = Foreign::new(&repository::read("python/banach/_doc.py"), &repository::rust_files(CRATES));
    // The law would hold of nothing if these were not found.
    for word in ["memory_limit", "max_iter", "solver_options"] {
        assert!(foreign.arguments.contains(word), "{word}");
    }
    for word in ["ProximalGradient", "FeatureMatrix", "SavedModel"] {
        assert!(foreign.types.contains(word), "{word}");
    }
    for library in LIBRARIES {
        assert_none(&complaints(&foreign, &repository::rust_files(library)));
    }
}

#[test]
fn words_of_doors_are_complained_of() {
    let sources = [("lib.rs".to_owned(), "pub struct ProximalGradient; enum Gram {}".to_owned())];
    let foreign = Foreign::new("    \"memory_limit\": \"\"\"int\n    \"p\": \"\"\"float", &sources);
    let find = |text: &str| complaints(&foreign, &[("a.rs".to_owned(), text.to_owned())]);
    for text in [
        r#"f("say --no-header")"#,
        r#"format!("{x}; (--drop) it")"#,
        r#"f("--memory-limit")"#,
        r##"f(r#"take ProximalGradient"#)"##,
        r#"f("tiles (Tiles::new)")"#,
        r#"f("raise memory_limit")"#,
        r#"#[error("raise --memory-limit")] struct A;"#,
    ] {
        assert_eq!(find(text).len(), 1, "{text}: {:?}", find(text));
    }
    for text in [
        r#"f("the Gram tensor -- a staircase"); // --drop"#,
        r#"f("a---b"); f("raise the limit on memory, p"); f("f(x): {y}")"#,
        r#"f.debug_struct("ProximalGradient")"#,
        r#"#[cfg(test)] mod tests { fn f() { g("--drop") } }"#,
    ] {
        assert_eq!(find(text), [] as [String; 0], "{text}");
    }
    let files = [("a.rs", "#[cfg(test)] mod tests;"), ("a/tests.rs", r#"f("--drop")"#)];
    assert!(complaints(&foreign, &files.map(|(path, text)| (path.to_owned(), text.to_owned()))).is_empty());
}
