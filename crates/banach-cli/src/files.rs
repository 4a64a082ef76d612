//! Result files.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};

/// A folder for results.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Makes the folder, before the work starts, so that a wrong name does not cost the result.
    pub(crate) fn create(path: PathBuf) -> anyhow::Result<Self> {
        fs::create_dir_all(&path).with_context(|| format!("cannot make the folder {}", path.display()))?;
        Ok(Self(path))
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> anyhow::Result<()> {
        write_file(&self.0.join(name), contents)
    }
}

/// Writes a file and says so on standard error.
pub(crate) fn write_file(path: &Path, contents: impl AsRef<[u8]>) -> anyhow::Result<()> {
    replace(path, contents.as_ref())?;
    eprintln!("wrote {}", path.display());
    Ok(())
}

/// Refuses to write over a file that is being read.
pub(crate) fn ensure_other(output: &Path, read: &[&Path]) -> anyhow::Result<()> {
    let same = |path: &&Path| matches!((output.canonicalize(), path.canonicalize()), (Ok(a), Ok(b)) if a == b);
    ensure!(!read.iter().any(same), "-o {}: that is the file to be read; name another", output.display());
    Ok(())
}

/// Writes a file under another name in its folder first, so that a reader never sees half of it.
pub(crate) fn replace(path: &Path, contents: &[u8]) -> anyhow::Result<()> {
    let name = path.file_name().with_context(|| format!("{} is no name of a file", path.display()))?;
    let unfinished = path.with_file_name(format!(".{}.part", name.to_string_lossy()));
    let written = fs::write(&unfinished, contents).and_then(|()| fs::rename(&unfinished, path));
    if written.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}
