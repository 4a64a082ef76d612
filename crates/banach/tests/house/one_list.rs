//! A loss is known by one list: few files name it (`CONTRIBUTING.md`, "Add a loss").

use std::path::Path;

use banach::loss::LossSpec;

use super::{assert_none, repository};

/// The places in which `CONTRIBUTING.md` has a loss named.
const PLACES: usize = 6;
/// The kinds of files in which a loss can be named.
const ENDINGS: [&str; 5] = ["rs", "py", "pyi", "md", "yml"];

/// The name of the type of a loss.
fn type_name(name: &str) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('_').map(capital).collect()
}

/// A complaint about a loss that more files name than there are places.
fn complaints(name: &str, files: &[(String, String)]) -> Vec<String> {
    let named = |text: &str| text.contains(name) || text.contains(&type_name(name));
    let naming: Vec<&str> = files.iter().filter(|(_, text)| named(text)).map(|(path, _)| &**path).collect();
    let complaint = format!("{name} is named in {} files, more than {PLACES}: {naming:?}", naming.len());
    (naming.len() > PLACES).then_some(complaint).into_iter().collect()
}

/// The last loss of the list has no parameter, which needs options of its own, and its name is no word of the language.
#[test]
fn few_files_name_a_loss() {
    let readable = |path: &String| {
        let ending = Path::new(path).extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| ENDINGS.contains(&ending))
    };
    let files: Vec<_> = repository::paths("")
        .into_iter()
        .filter(readable)
        .map(|path| (path.clone(), repository::read(&path)))
        .collect();
    let last = LossSpec::ALL[LossSpec::ALL.len() - 1];
    assert!(last.name().contains('_'), "{} may be a word of the language: choose another loss", last.name());
    assert!(files.iter().any(|(_, text)| text.contains(&type_name(last.name()))), "files are found");
    assert_none(&complaints(last.name(), &files));
}

#[test]
fn a_loss_that_many_files_name_is_complained_of() {
    let files = |count: usize, text: &str| -> Vec<(String, String)> {
        (0..count).map(|k| (format!("{k}.rs"), text.to_owned())).collect()
    };
    assert_eq!(complaints("log_cosh", &files(PLACES, "LogCosh")).len(), 0);
    assert_eq!(complaints("log_cosh", &files(PLACES + 1, "LogCosh")).len(), 1);
    assert_eq!(complaints("log_cosh", &files(PLACES + 1, "a log_cosh")).len(), 1);
    assert_eq!(complaints("log_cosh", &files(PLACES + 1, "log cosh")).len(), 0);
}
