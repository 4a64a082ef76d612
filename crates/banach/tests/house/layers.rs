//! A module of the library imports only modules of the layers before its own. `ARCHITECTURE.md` has the list.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    assert_none, repository,
    rust_source::{Shipped, paths, shipped, tokens, tree, without_tests},
};

/// The line of `ARCHITECTURE.md` below which the layers are listed.
const HEADING: &str = "a module imports only modules of the layers before its own:";

/// The place of every module in the order of the layers.
struct Layers(BTreeMap<String, usize>);

impl Layers {
    /// Layers are separated by `<`, the modules of one by commas.
    fn parse(architecture: &str) -> Self {
        let (_, below) = architecture.split_once(HEADING).expect("ARCHITECTURE.md lists the layers");
        let block: Vec<&str> =
            below.lines().skip_while(|line| line.is_empty()).take_while(|line| !line.is_empty()).collect();
        let block = block.join(" ");
        let mut places = BTreeMap::new();
        for (place, layer) in block.split('<').enumerate() {
            places.extend(layer.split(',').map(|module| (module.trim().to_owned(), place)));
        }
        Self(places)
    }

    fn allows(&self, from: &str, to: &str) -> bool {
        from == to || self.0.get(to) < self.0.get(from)
    }
}

/// What the root of the crate declares: its modules, and the module of every name that it exports.
pub(crate) struct Root {
    modules: BTreeSet<String>,
    pub(crate) exports: BTreeMap<String, String>,
}

impl Root {
    pub(crate) fn parse(lib: &str) -> Self {
        let tokens = without_tests(&tokens(lib)).0;
        let mut root = Self { modules: BTreeSet::new(), exports: BTreeMap::new() };
        for (i, token) in tokens.iter().enumerate() {
            if token == "mod" {
                root.modules.insert(tokens[i + 1].clone());
            } else if token == "use" {
                let mut found = Vec::new();
                tree(&tokens, i + 1, Vec::new(), &mut found);
                root.exports
                    .extend(found.into_iter().filter_map(|path| Some((path.last()?.clone(), path.first()?.clone()))));
            }
        }
        root
    }
}

/// Complaints about the files of a crate, by their paths below `src`.
fn complaints(architecture: &str, files: &[(String, String)]) -> Vec<String> {
    let layers = Layers::parse(architecture);
    let lib = files.iter().find(|(path, _)| path == "lib.rs").expect("a library");
    let root = Root::parse(&lib.1);
    let mut complaints: Vec<String> = Vec::new();
    for module in &root.modules {
        if !layers.0.contains_key(module) {
            complaints.push(format!("the module {module} is in no layer of ARCHITECTURE.md"));
        }
    }
    for module in layers.0.keys() {
        if !root.modules.contains(module) {
            complaints.push(format!("ARCHITECTURE.md has a layer with {module}, which is no module"));
        }
    }
    for Shipped { path, module: own, tokens } in shipped(files) {
        if own.is_empty() {
            continue;
        }
        if tokens.windows(3).any(|window| window[0] == "mod" && window[2] == "{") {
            complaints.push(format!("{path}: a module inside a file, whose imports this test does not read"));
        }
        for target in paths(&tokens, &own) {
            let Some(first) = target.first() else {
                complaints.push(format!("{path}: imports the root of the crate"));
                continue;
            };
            match root.modules.get(first).or_else(|| root.exports.get(first)) {
                None => complaints.push(format!("{path}: {} is neither a module nor exported", target.join("::"))),
                Some(module) if !layers.allows(&own[0], module) => {
                    complaints.push(format!("{path}: {} imports {}, which is above it", own[0], target.join("::")));
                }
                Some(_) => {}
            }
        }
    }
    complaints
}

#[test]
fn modules_import_only_the_layers_before_their_own() {
    assert_none(&complaints(&repository::read("ARCHITECTURE.md"), &repository::rust_files_of("crates/banach/src")));
}

#[test]
fn upward_imports_are_complained_of() {
    let architecture = format!("{HEADING}\n\n    low, beside  <  middle\n        <  last\n\nMore.");
    let find = |path: &str, text: &str| {
        let lib = "mod beside; mod last; mod low; mod middle; pub use middle::{Name, part::Other};".to_owned();
        complaints(&architecture, &[("lib.rs".to_owned(), lib), (path.to_owned(), text.to_owned())])
    };
    for (path, text) in [
        ("low.rs", "use crate::middle::part;"),
        ("low.rs", "use crate::{Name};"),
        ("low.rs", "use crate::Other;"),
        ("low/inner.rs", "use super::super::middle;"),
        ("low/mod.rs", "use super::{middle::Name};"),
        ("low.rs", "fn f() { crate::middle::g() }"),
        ("low.rs", "use crate::beside::Thing;"),
        ("middle.rs", "use crate::last::Thing;"),
        ("middle.rs", "use crate::nowhere;"),
        ("low.rs", "#[cfg(test)] mod laws; use crate::middle;"),
    ] {
        assert_eq!(find(path, text).len(), 1, "{path}: {text}: {:?}", find(path, text));
    }
    for (path, text) in [
        ("middle.rs", "use crate::low::Thing; //! [`x`](crate::last)"),
        ("middle/inner.rs", "use super::other; use crate::{low, middle::Name};"),
        ("low.rs", "#[cfg(test)] mod tests { use crate::middle; }"),
        ("last.rs", "use crate::{Name, low};"),
    ] {
        assert_eq!(find(path, text).len(), 0, "{path}: {text}: {:?}", find(path, text));
    }
    let lib = ("lib.rs".to_owned(), "mod low; mod middle; mod other;".to_owned());
    assert_eq!(complaints(&architecture, &[lib]).len(), 3, "a module without a layer, two layers without a module");
}
