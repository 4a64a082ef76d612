//! The root of the crate exports few names; the others are in their modules.

use super::{layers::Root, repository};

/// The most names that fit on one page.
const MOST: usize = 25;

fn complaint(root: &str) -> Option<String> {
    let names = Root::parse(root).exports;
    (names.len() > MOST).then(|| format!("{} names, more than {MOST}: {:?}", names.len(), names.keys()))
}

#[test]
fn the_root_has_few_names() {
    let root = repository::read("crates/banach/src/lib.rs");
    assert!(Root::parse(&root).exports.contains_key("DualProblem"), "names are found");
    assert_eq!(complaint(&root), None);
}

#[test]
fn many_names_are_complained_of() {
    let names = |count: usize| (0..count).map(|k| format!("N{k}")).collect::<Vec<_>>().join(", ");
    let root = |count: usize| format!("pub use a::{{{}}};", names(count));
    assert_eq!(complaint(&root(MOST)), None);
    assert!(complaint(&root(MOST + 1)).is_some());
}
