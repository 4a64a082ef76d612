//! The root of the crate exports few names; the others are in their modules.

use super::{layers::Root, repository};

/// The most names that fit on one page.
const MOST: usize = 25;

#[test]
fn the_root_has_few_names() {
    let names = Root::parse(&repository::read("crates/banach/src/lib.rs")).exports;
    assert!(names.contains_key("Spec") && names.contains_key("DualProblem"), "names are found");
    assert!(names.len() <= MOST, "{} names, more than {MOST}: {:?}", names.len(), names.keys());
}
