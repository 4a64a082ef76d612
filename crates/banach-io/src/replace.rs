//! Files that are replaced as a whole: nobody sees half of one, and what a killed program has left the next one removes.
//!
//! A file is written beside its place as `.NAME.banach-PID-N.tmp` and then renamed. While it is written it is locked, and the
//! operating system takes the lock of a process that is gone. So whoever gets the lock of such a file may remove it.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

/// Links that are followed one after another, at most; as many as Linux does.
const MOST_LINKS: usize = 40;

/// Names that are tried for an unfinished file.
const ATTEMPTS: usize = 100;

/// Replaces a file by what `write` writes, once it is complete. What a link leads to is replaced, not the link; a device or a
/// pipe is written to.
pub fn replace(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let path = &destination(path)?;
    if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        return write(&mut File::options().write(true).open(path)?);
    }
    let nameless = || io::Error::new(io::ErrorKind::IsADirectory, "it is a folder; name a file in it");
    let name = path.file_name().filter(|_| !path.is_dir()).ok_or_else(nameless)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    remove_left(folder, name);
    let mut unfinished = Unfinished::create(folder, name)?;
    write(&mut unfinished.file)?;
    unfinished.rename(path)
}

/// Where a path leads: links are followed, also to a file that does not exist yet.
pub fn destination(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            // A link is relative to its folder.
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            // No link, or nothing there.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other(format!("more than {MOST_LINKS} links lead from one to another")))
}

/// A file that is removed unless it is renamed.
struct Unfinished {
    path: PathBuf,
    /// It holds the lock.
    file: File,
    renamed: bool,
}

impl Unfinished {
    fn create(folder: &Path, name: &OsStr) -> io::Result<Self> {
        for attempt in 0..ATTEMPTS {
            let mut own = beginning(name);
            own.push(format!("{}-{attempt}.tmp", std::process::id()));
            let path = folder.join(own);
            let file = match File::create_new(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                created => created?,
            };
            // Another program may have taken the file for one that was left, before it was locked.
            let taken =
                matches!(file.try_lock(), Err(TryLockError::WouldBlock)) || fs::symlink_metadata(&path).is_err();
            if !taken {
                return Ok(Self { path, file, renamed: false });
            }
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{ATTEMPTS} unfinished files of this name are there")))
    }

    fn rename(mut self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)?;
        self.renamed = true;
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.renamed {
            // The failure that led here is the one to tell.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// What the names of unfinished files begin with.
fn beginning(name: &OsStr) -> OsString {
    let mut own = OsString::from(".");
    own.push(name);
    own.push(".banach-");
    own
}

/// Whether a file is an unfinished one of this name.
fn is_unfinished(file: &OsStr, name: &OsStr) -> bool {
    let numbers = file.as_encoded_bytes().strip_prefix(beginning(name).as_encoded_bytes());
    let numbers = numbers.and_then(|rest| rest.strip_suffix(b".tmp")).unwrap_or_default();
    let is_number = |digits: &[u8]| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let mut parts = numbers.split(|byte| *byte == b'-');
    matches!((parts.next(), parts.next(), parts.next()), (Some(pid), Some(attempt), None) if is_number(pid) && is_number(attempt))
}

/// Removes the unfinished files of this name that nobody is writing. What cannot be looked at or locked stays.
fn remove_left(folder: &Path, name: &OsStr) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| is_unfinished(&entry.file_name(), name)) {
        let plain = entry.file_type().is_ok_and(|kind| kind.is_file());
        if let Some(file) = plain.then(|| File::open(entry.path()).ok()).flatten()
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// A folder of this test's own.
    fn folder(test: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("banach-replace-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder");
        path
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort_unstable();
        names
    }

    fn put(path: &Path, text: &str) -> io::Result<()> {
        replace(path, |file| file.write_all(text.as_bytes()))
    }

    #[test]
    fn what_a_killed_program_left_is_removed_and_nothing_else() {
        let folder = folder("left");
        let others =
            [".a.csv.banach-12-0.tmp.keep", ".a.csv.banach-12.tmp", ".b.csv.banach-12-0.tmp", ".a.csv.banach-x-0.tmp"];
        others.iter().for_each(|name| fs::write(folder.join(name), "").expect("written"));
        // The process of the first is gone, with its lock; the second is being written.
        fs::write(folder.join(".a.csv.banach-99999999-0.tmp"), "half").expect("written");
        let written = Unfinished::create(&folder, OsStr::new("a.csv")).expect("created");
        fs::create_dir(folder.join(".a.csv.banach-7-7.tmp")).expect("a folder");
        put(&folder.join("a.csv"), "whole").expect("replaced");
        let mut expected = others.map(str::to_owned).to_vec();
        let own = written.path.file_name().expect("a name").to_string_lossy().into_owned();
        expected.extend([own.clone(), ".a.csv.banach-7-7.tmp".to_owned(), "a.csv".to_owned()]);
        expected.sort_unstable();
        assert_eq!(names(&folder), expected);
        assert_eq!(fs::read_to_string(folder.join("a.csv")).expect("there"), "whole");

        // As if its process had been killed: the lock goes, the file stays.
        let left = written.path.clone();
        fs::hard_link(&left, folder.join("kept")).expect("linked");
        drop(written);
        fs::rename(folder.join("kept"), &left).expect("renamed");
        put(&folder.join("a.csv"), "again").expect("replaced");
        assert!(!left.exists());
        fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn a_failure_leaves_what_was_there() {
        let folder = folder("failure");
        let path = folder.join("a.csv");
        put(&path, "old").expect("replaced");
        let failed = replace(&path, |file| {
            file.write_all(b"half")?;
            Err(io::Error::other("no more"))
        });
        assert_eq!(failed.expect_err("it failed").to_string(), "no more");
        assert_eq!(
            (names(&folder), fs::read_to_string(&path).expect("there")),
            (vec!["a.csv".to_owned()], "old".to_owned())
        );
        assert_eq!(put(&folder, "x").expect_err("a folder").kind(), io::ErrorKind::IsADirectory);
        fs::remove_dir_all(&folder).expect("removed");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_written_through_also_to_nothing() {
        use std::os::unix::fs::symlink;
        let folder = folder("links");
        fs::create_dir(folder.join("far")).expect("a folder");
        symlink("second", folder.join("first")).expect("linked");
        symlink("far/away.csv", folder.join("second")).expect("linked");
        for text in ["new", "newer"] {
            put(&folder.join("first"), text).expect("replaced");
            assert_eq!(fs::read_to_string(folder.join("far/away.csv")).expect("there"), text);
        }
        assert_eq!(
            (names(&folder), names(&folder.join("far"))),
            (vec!["far".into(), "first".into(), "second".into()], vec!["away.csv".to_owned()])
        );
        assert!(fs::read_link(folder.join("first")).is_ok_and(|target| target == Path::new("second")));
        symlink("round", folder.join("round")).expect("linked");
        assert!(put(&folder.join("round"), "x").expect_err("a circle").to_string().contains("40 links"));
        symlink("nowhere/a.csv", folder.join("lost")).expect("linked");
        assert_eq!(put(&folder.join("lost"), "x").expect_err("no folder").kind(), io::ErrorKind::NotFound);
        fs::remove_dir_all(&folder).expect("removed");
    }
}
