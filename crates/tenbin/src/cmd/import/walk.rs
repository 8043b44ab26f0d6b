//! The files that the command line means: folders are walked in the order of their names.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::output;

/// Something to be read.
#[derive(Debug, PartialEq, Eq)]
pub enum Input {
    /// `-`
    Stdin,
    /// A regular file.
    File(PathBuf),
    /// What can't be read, and why.
    Unreadable(PathBuf, String),
}

impl Input {
    /// As the user named it.
    pub fn name(&self) -> String {
        match self {
            Input::Stdin => "-".to_owned(),
            Input::File(path) | Input::Unreadable(path, _) => path.display().to_string(),
        }
    }
}

/// All inputs, in order. Hidden files within folders are left out, and a folder is walked once.
pub fn inputs(named: &[PathBuf]) -> Vec<Input> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    for path in named {
        match path.as_os_str() == "-" {
            true => found.push(Input::Stdin),
            false => add(path.clone(), &mut found, &mut seen),
        }
    }
    found
}

fn add(path: PathBuf, found: &mut Vec<Input>, seen: &mut HashSet<(u64, u64)>) {
    // A stack of its own: folders may be nested deeper than the program's.
    let mut stack = vec![path];
    while let Some(path) = stack.pop() {
        match fs::metadata(&path) {
            Ok(meta) if meta.is_dir() => {
                if seen.insert((meta.dev(), meta.ino())) {
                    match listed(&path) {
                        Ok(inside) => stack.extend(inside.into_iter().rev()),
                        Err(error) => found.push(Input::Unreadable(path, output::why(&error))),
                    }
                }
            }
            Ok(meta) => found.push(match unfit(&meta) {
                Some(why) => Input::Unreadable(path, why.to_owned()),
                None => Input::File(path),
            }),
            Err(error) => found.push(Input::Unreadable(path, output::why(&error))),
        }
    }
}

/// What is in a folder, sorted.
fn listed(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut inside = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        // Journals of stores lie beside them.
        let journal =
            [b"-wal".as_slice(), b"-shm", b"-journal"].iter().any(|end| name.as_bytes().ends_with(end));
        if !name.as_bytes().starts_with(b".") && !journal {
            inside.push(folder.join(name));
        }
    }
    inside.sort();
    Ok(inside)
}

/// Why a thing that is no folder is no file either.
fn unfit(meta: &Metadata) -> Option<&'static str> {
    let kind = meta.file_type();
    match () {
        () if kind.is_file() => None,
        () if kind.is_fifo() => {
            Some("it is a pipe\nhint: `... | tenbin import -` reads what a program prints")
        }
        () if kind.is_socket() => Some("it is a socket"),
        () if kind.is_block_device() || kind.is_char_device() => Some("it is a device"),
        () => Some("it is no regular file"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("b/deep")).unwrap();
        for name in ["z.txt", "a.txt", ".hidden", "b/deep/x", "s.db", "s.db-wal"] {
            fs::write(at(name), "x").unwrap();
        }
        std::os::unix::fs::symlink(folder.path(), at("b/loop")).unwrap();
        std::os::unix::fs::symlink(at("nowhere"), at("b/broken")).unwrap();
        nix::unistd::mkfifo(&at("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let found = inputs(&[folder.path().to_owned(), "-".into(), at("a.txt")]);
        let names: Vec<_> = found
            .iter()
            .map(|input| match input {
                Input::Stdin => "-".to_owned(),
                Input::File(path) => path.strip_prefix(folder.path()).unwrap().display().to_string(),
                Input::Unreadable(path, why) => {
                    let name = path.strip_prefix(folder.path()).unwrap().display();
                    format!("{name}: {}", why.lines().next().unwrap())
                }
            })
            .collect();
        let expected = [
            "a.txt",
            "b/broken: no such file or directory",
            "b/deep/x",
            "pipe: it is a pipe",
            "s.db",
            "z.txt",
        ];
        assert_eq!(names[..6], expected);
        assert_eq!(names[6..], ["-", "a.txt"]);
    }
}
