//! The files of the repository.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Folders that hold nothing of ours, or nothing that is kept.
const LEFT_OUT: [&str; 5] = ["target", "node_modules", "__pycache__", "dist", "site"];
/// The hidden folders that are ours.
const HIDDEN: [&str; 2] = [".ci", ".github"];

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file of the repository as text.
pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every file and folder below a folder, by its path from the root of the repository; folders end with a slash.
pub(crate) fn paths(below: &str) -> Vec<String> {
    let mut found = Vec::new();
    walk(&root(), below, &mut found);
    found.sort();
    found
}

/// The sources in Rust below a folder: path from that folder, and text.
pub(crate) fn rust_files_of(folder: &str) -> Vec<(String, String)> {
    rust_files(folder).into_iter().map(|(path, text)| (path[folder.len() + 1..].to_owned(), text)).collect()
}

/// The sources in Rust below a folder: path from the root of the repository, and text.
pub(crate) fn rust_files(below: &str) -> Vec<(String, String)> {
    let is_source = |path: &String| Path::new(path).extension().is_some_and(|extension| extension == "rs");
    paths(below).into_iter().filter(is_source).map(|path| (path.clone(), read(&path))).collect()
}

fn walk(root: &Path, below: &str, found: &mut Vec<String>) {
    let entries = fs::read_dir(root.join(below)).unwrap_or_else(|error| panic!("{below}: {error}"));
    for entry in entries.map(|entry| entry.expect("readable")) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        if !entry.path().is_dir() {
            found.push(path);
        } else if !LEFT_OUT.contains(&&*name) && (!name.starts_with('.') || HIDDEN.contains(&&*name)) {
            found.push(format!("{path}/"));
            walk(root, &path, found);
        }
    }
}
