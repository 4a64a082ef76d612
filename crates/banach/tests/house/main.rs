//! What the documents say of the sources is true: the order of the layers, the labels of the paper, the files that are named, the
//! date and status of every decision, how many files name a loss, and how many names the root of the crate has. A name stands for one
//! type in a crate, and what the libraries say is in nobody's words but their own.
//!
//! Each check is a function from texts to complaints. It is run on the repository, and on made-up texts on which it has to complain.

mod decisions;
mod layers;
mod messages;
mod named_files;
mod one_list;
mod paper_labels;
mod repository;
mod root_names;
mod rust_source;
mod type_names;

/// Fails with all complaints at once.
fn assert_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}
