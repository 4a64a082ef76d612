//! A file or folder that `ARCHITECTURE.md`, `CONTRIBUTING.md` or the map of the paper names is there.

use super::{assert_none, repository};

/// Ends of names by which a file is known as one.
const EXTENSIONS: [&str; 8] = [".rs", ".md", ".py", ".pyi", ".toml", ".txt", ".json", ".html"];
/// The documents that are held to what they name, besides the decisions.
const DOCUMENTS: [&str; 5] =
    ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/paper-map.md", "docs/errata.md", "docs/extending.md"];
/// What stands for a name that the reader chooses.
const PLACEHOLDER: &str = "NAME";

/// The pieces of a text in backquotes that are paths.
fn quoted(text: &str) -> Vec<&str> {
    text.lines()
        .filter(|line| !line.starts_with("    "))
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .filter(|piece| is_path(piece))
        .collect()
}

/// Formulas begin with a digit or a bracket, folders of the machine with a slash.
fn is_path(piece: &str) -> bool {
    let plain = piece.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c));
    let named = piece.contains('/') || EXTENSIONS.iter().any(|extension| piece.ends_with(extension));
    plain && named && !piece.starts_with(|c: char| c.is_ascii_digit() || c == '/')
}

/// Whether a path of the repository is this one, or ends with it. A name that the reader chooses stands for none: its folder is
/// looked for.
fn is_there(path: &str, all: &[String]) -> bool {
    let known = path.find(PLACEHOLDER).map_or(path, |at| &path[..path[..at].rfind('/').map_or(0, |slash| slash + 1)]);
    let known = known.trim_end_matches('/');
    let is_it = |one: &String| {
        let one = one.trim_end_matches('/');
        one == known || one.strip_suffix(known).is_some_and(|before| before.ends_with('/'))
    };
    known.is_empty() || all.iter().any(is_it)
}

/// The names in the tree of `ARCHITECTURE.md`, as paths. It is indented by two for every level; what stands after two spaces, or far
/// to the right, explains.
fn tree(architecture: &str) -> Vec<String> {
    const INDENT: usize = 4;
    const FAR: usize = 20;
    let mut parents: Vec<String> = Vec::new();
    let mut found = Vec::new();
    let is_tree = |line: &&str| line.starts_with("    crates/banach ");
    let lines = architecture.lines().skip_while(|line| !is_tree(line)).take_while(|line| !line.is_empty());
    for line in lines {
        let indent = line.len() - line.trim_start().len();
        if indent >= FAR {
            continue;
        }
        parents.truncate((indent - INDENT) / 2);
        let names = line.trim_start().split("  ").next().unwrap_or("");
        for name in names.split(',').map(|name| name.split(" (").next().unwrap_or(name).trim()) {
            found.push(format!("{}{name}", parents.concat()));
        }
        let name = names.trim_end_matches('/');
        parents.push(format!("{name}/"));
    }
    found
}

/// Whether a path of the tree is there: a folder, a module in Rust or in Python, below the sources of a crate or not.
fn is_in_tree(path: &str, all: &[String]) -> bool {
    let path = path.trim_end_matches('/');
    let inside = path.splitn(3, '/').collect::<Vec<_>>();
    let mut places = vec![path.to_owned()];
    if let [first, second, rest] = inside[..] {
        places.push(format!("{first}/{second}/src/{rest}"));
    }
    let is_one = |place: &String| ["", "/", ".rs", ".py"].iter().any(|end| all.contains(&format!("{place}{end}")));
    places.iter().any(is_one)
}

fn complaints(document: &str, text: &str, all: &[String]) -> Vec<String> {
    let quoted = quoted(text).into_iter().filter(|path| !is_there(path, all)).map(str::to_owned);
    let tree = tree(text).into_iter().filter(|path| !is_in_tree(path, all));
    quoted.chain(tree).map(|path| format!("{document} names {path}, which is not there")).collect()
}

#[test]
fn files_that_documents_name_are_there() {
    let all = repository::paths("");
    // Those for readers of the sources; the others name files of users.
    let mut documents: Vec<String> = DOCUMENTS.map(str::to_owned).to_vec();
    documents.extend(repository::paths("docs/adr"));
    assert!(tree(&repository::read("ARCHITECTURE.md")).len() > 50, "the tree is found");
    let find = |document: &String| complaints(document, &repository::read(document), &all);
    assert_none(&documents.iter().flat_map(find).collect::<Vec<_>>());
}

/// The same of the comments of a source, in which a path is known by its end: formulas have slashes too.
fn complaints_of_comments(path: &str, source: &str, all: &[String]) -> Vec<String> {
    let comments = source.lines().map(str::trim_start).filter(|line| line.starts_with("//"));
    let named =
        comments.flat_map(quoted).filter(|piece| EXTENSIONS[..2].iter().any(|extension| piece.ends_with(extension)));
    let lost = named.filter(|piece| !is_there(piece, all));
    lost.map(|piece| format!("{path} names {piece}, which is not there")).collect()
}

#[test]
fn files_that_comments_name_are_there() {
    let all = repository::paths("");
    let sources = ["crates", "experiments/src"].into_iter().flat_map(repository::rust_files);
    // Here stand files that are made up.
    let sources = sources.filter(|(path, _)| !path.ends_with("tests/house/named_files.rs"));
    assert_none(&sources.flat_map(|(path, text)| complaints_of_comments(&path, &text, &all)).collect::<Vec<_>>());
}

#[test]
fn files_that_are_not_there_are_complained_of() {
    let all = ["a/", "a/b/", "a/b/c.rs", "crates/banach/", "crates/banach/src/form/", "crates/banach/src/form/x.rs"];
    let all = all.map(str::to_owned);
    let find = |text: &str| complaints("a document", text, &all);
    assert!(find("`c.rs`, `b/c.rs`, `a/b/`, `a/b/NAME.rs`, `NAME.rs`, `1/2`, `f(x)/y`, `crate::d`, `Plan`").is_empty());
    assert_eq!(find("`d.rs`, `b/d.rs`, `c/b`, `d/NAME.rs`, `b.rs`").len(), 5);
    let comments = |text: &str| complaints_of_comments("a source", text, &all).len();
    assert_eq!((comments("  /// `b/c.rs`, `x/y`\nlet a = \"`d.rs`\";"), comments("//! `b/d.rs`")), (0, 1));
    let tree =
        "    crates/banach    words\n      form/       words\n        x, y      words\n      z           words\n";
    assert_eq!(
        find(tree),
        ["form/y", "z"].map(|path| format!("a document names crates/banach/{path}, which is not there"))
    );
}
