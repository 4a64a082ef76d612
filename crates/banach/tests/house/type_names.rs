//! No two types of a crate have one name: a reader who meets the name knows which type it is.

use std::collections::BTreeMap;

use super::{assert_none, repository, rust_source::shipped};

/// Complaints about the files of a crate, by their paths below `src`.
fn complaints(files: &[(String, String)]) -> Vec<String> {
    let mut places: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for file in shipped(files) {
        for name in declared(&file.tokens) {
            places.entry(name).or_default().push(file.path);
        }
    }
    let doubled = places.into_iter().filter(|(_, paths)| paths.len() > 1);
    doubled.map(|(name, paths)| format!("{name} is the name of {} types: {}", paths.len(), paths.join(", "))).collect()
}

/// The types that a file declares, also inside of functions. A `type` within braces is that of a trait, which many types have.
fn declared(tokens: &[String]) -> Vec<String> {
    let (mut depth, mut names) = (0, Vec::new());
    for pair in tokens.windows(2) {
        match pair[0].as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            "struct" | "enum" | "trait" => names.push(pair[1].clone()),
            "type" if depth == 0 => names.push(pair[1].clone()),
            _ => {}
        }
    }
    names
}

#[test]
fn a_name_stands_for_one_type_of_a_crate() {
    let shipped = repository::paths("crates").into_iter();
    let shipped = shipped.filter(|path| path.matches('/').count() == 3 && path.ends_with("/src/"));
    let crates: Vec<String> = shipped.chain(["experiments/src/".to_owned()]).collect();
    assert!(crates.len() > 3, "the crates of the workspace: {crates:?}");
    for folder in crates {
        let folder = folder.trim_end_matches('/');
        let found = complaints(&repository::rust_files_of(folder));
        assert_none(&found.iter().map(|complaint| format!("{folder}: {complaint}")).collect::<Vec<_>>());
    }
}

#[test]
fn doubled_names_are_complained_of() {
    let find = |first: &str, second: &str| {
        let file = |path: &str, text: &str| (path.to_owned(), text.to_owned());
        complaints(&[file("lib.rs", first), file("a/b.rs", second), file("a/laws.rs", "struct T;")])
    };
    for (first, second) in [
        ("pub struct S;", "enum S {}"),
        ("trait S {}", "fn f() { struct S; }"),
        ("type S = u8;", "pub(crate) struct S<T>(T);"),
        ("struct S; mod a; enum S {}", ""),
        ("mod laws;", "struct T;"),
    ] {
        assert_eq!(find(first, second).len(), 1, "{first} {second}: {:?}", find(first, second));
    }
    for (first, second) in [
        ("struct S;", "// struct S;\n impl A for B { type S = u8; }"),
        ("struct S;", "#[cfg(test)] mod tests { struct S; }"),
        ("struct S;", "fn f() -> &'static str { \"struct S\" }"),
    ] {
        assert_eq!(find(first, second).len(), 0, "{first} {second}: {:?}", find(first, second));
    }
    let files =
        [("a.rs", "#[cfg(test)] mod laws; struct S;"), ("a/laws.rs", "struct S;"), ("a/laws/more.rs", "struct S;")];
    assert_eq!(complaints(&files.map(|(path, text)| (path.to_owned(), text.to_owned()))).len(), 0, "modules of tests");
}
