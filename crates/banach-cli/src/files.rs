//! Result files.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail, ensure};
use banach_io::{destination, replace};

use crate::options::Common;

/// A folder for results.
#[derive(Debug)]
pub struct Folder<'a> {
    path: PathBuf,
    common: &'a Common,
}

impl<'a> Folder<'a> {
    /// Makes the folder, before the work starts, so that a wrong name does not cost the result.
    pub fn create(path: PathBuf, common: &'a Common) -> anyhow::Result<Self> {
        fs::create_dir_all(&path).with_context(|| format!("cannot make the folder {}", path.display()))?;
        Ok(Self { path, common })
    }

    /// The path of a file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> anyhow::Result<()> {
        write_file(&self.file(name), contents, self.common)
    }
}

/// Writes a file, so that a reader never sees half of it, and says so on standard error.
pub(crate) fn write_file(path: &Path, contents: impl AsRef<[u8]>, common: &Common) -> anyhow::Result<()> {
    let written = replace(path, |file| file.write_all(contents.as_ref()));
    written.with_context(|| format!("cannot write {}", path.display()))?;
    common.say(format_args!("wrote {}", path.display()));
    Ok(())
}

/// Refuses a model file, an equation or a page that cannot be written, before it costs the work.
pub(crate) fn check_outputs(outputs: &[(&str, Option<&Path>)], data: &Path) -> anyhow::Result<()> {
    for (at, &(option, output)) in outputs.iter().enumerate() {
        check_output(option, output, &[data])?;
        let same = outputs[..at].iter().find(|(_, other)| output.is_some() && *other == output);
        if let Some((other, _)) = same {
            bail!("{other} and {option} name the same file; one would replace the other");
        }
    }
    Ok(())
}

/// Refuses the name of a file that cannot be written, or that is read, before it costs the work. `option` is where it was given.
pub(crate) fn check_output(option: &str, output: Option<&Path>, read: &[&Path]) -> anyhow::Result<()> {
    let Some(output) = output else { return Ok(()) };
    let name = output.display();
    let same = |path: &&Path| matches!((output.canonicalize(), path.canonicalize()), (Ok(a), Ok(b)) if a == b);
    ensure!(!read.iter().any(same), "{option} {name}: that is the file to be read; name another");
    ensure!(!output.is_dir(), "{option} {name}: it is a folder; name a file in it");
    // A link to a file that is not there yet is as good as its name.
    let output = &destination(output).with_context(|| format!("{option} {name}: it cannot be written"))?;
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    ensure!(folder.is_dir(), "{option} {name}: there is no folder {}", folder.display());
    if !output.exists() {
        let probe = || fs::File::create_new(output).and_then(|_| fs::remove_file(output));
        probe().with_context(|| format!("{option} {name}: it cannot be written"))?;
    }
    Ok(())
}
