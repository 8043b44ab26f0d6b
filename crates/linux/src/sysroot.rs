//! Where the machine's files are read from: `/`, or a directory that holds another machine's `proc/`, `sys/` and `etc/`.
//!
//! All reads are bounded in size, never block on a pipe or device, and tell apart what is absent, what is
//! forbidden and what cannot be read. A directory never leads back to the live machine: links out of it are
//! refused, and answers that files don't give (ioctl, netlink) stand in `DIR/tenbin/NAME.json`. As a file cannot
//! return an error by itself, `DIR/tenbin/errors.json` maps paths to the error that the machine gave:
//! `{"sys/class/net/eth1/speed": "EINVAL"}`.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use thiserror::Error;

/// No file of `/proc`, `/sys` or `/etc` that is of interest is larger.
const LARGEST_FILE: u64 = 1 << 20;
/// No directory of interest has more entries.
const MOST_ENTRIES: usize = 4096;

/// Why a file gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReadError {
    /// The machine has no such thing.
    #[error("{path}: absent")]
    Absent {
        /// The path below the root.
        path: String,
    },
    /// It exists; reading it takes another user.
    #[error("cannot read {path}: permission denied")]
    Denied {
        /// The path below the root.
        path: String,
    },
    /// It exists and gave an error or nonsense.
    #[error("cannot read {path}: {why}")]
    Unreadable {
        /// The path below the root.
        path: String,
        /// The system's or the parser's reason.
        why: String,
    },
}

impl ReadError {
    /// The error of a file whose content makes no sense.
    pub fn nonsense(path: &str, text: &str) -> ReadError {
        let mut shown: String = text.chars().take(40).collect();
        if shown.len() < text.len() {
            shown.push_str("...");
        }
        ReadError::Unreadable { path: path.to_owned(), why: format!("{shown:?} makes no sense here") }
    }

    /// The reason alone, for places that name the path already.
    pub fn why(&self) -> &str {
        match self {
            ReadError::Absent { .. } => "absent",
            ReadError::Denied { .. } => "permission denied",
            ReadError::Unreadable { why, .. } => why,
        }
    }
}

/// The root below which `/proc`, `/sys` and `/etc` are looked for.
#[derive(Clone, Debug)]
pub struct SysRoot {
    /// `None`: the live machine.
    dir: Option<PathBuf>,
    /// Errors of a directory's `tenbin/errors.json`, by path without a leading slash.
    errors: BTreeMap<String, String>,
}

impl SysRoot {
    /// The machine that this program runs on.
    pub fn live() -> SysRoot {
        SysRoot { dir: None, errors: BTreeMap::new() }
    }

    /// A machine kept in a directory. Fails when `dir` is no directory or its error list is broken.
    pub fn dir(dir: &Path) -> Result<SysRoot, ReadError> {
        let shown = dir.display().to_string();
        let real = fs::canonicalize(dir).map_err(|e| sort_out(&shown, &e))?;
        if !real.is_dir() {
            return Err(ReadError::Unreadable { path: shown, why: "not a directory".to_owned() });
        }
        let mut root = SysRoot { dir: Some(real), errors: BTreeMap::new() };
        match root.read("/tenbin/errors.json") {
            Ok(text) => {
                root.errors = serde_json::from_str(&text).map_err(|e| ReadError::Unreadable {
                    path: "/tenbin/errors.json".to_owned(),
                    why: e.to_string(),
                })?;
            }
            Err(ReadError::Absent { .. }) => {}
            Err(e) => return Err(e),
        }
        Ok(root)
    }

    /// Whether ioctls and netlink answer for this root.
    pub fn is_live(&self) -> bool {
        self.dir.is_none()
    }

    /// The text of a file, without white space at its end. At most 1 MiB.
    pub fn read(&self, path: &str) -> Result<String, ReadError> {
        self.read_up_to(path, LARGEST_FILE, false)
    }

    /// The first `most` bytes of a file that may be longer, for lists that repeat themselves.
    pub fn head(&self, path: &str, most: u64) -> Result<String, ReadError> {
        self.read_up_to(path, most, true)
    }

    /// The names in a directory, sorted. At most 4096.
    pub fn list(&self, path: &str) -> Result<Vec<String>, ReadError> {
        let place = self.place(path)?;
        let mut names = Vec::new();
        for entry in fs::read_dir(place).map_err(|e| sort_out(path, &e))? {
            if names.len() == MOST_ENTRIES {
                let why = format!("more than {MOST_ENTRIES} entries");
                return Err(ReadError::Unreadable { path: path.to_owned(), why });
            }
            // Names that are not text belong to nothing that is probed.
            if let Ok(name) = entry.map_err(|e| sort_out(path, &e))?.file_name().into_string() {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// Whether there is something at `path`.
    pub fn exists(&self, path: &str) -> bool {
        self.place(path).is_ok_and(|place| place.exists())
    }

    /// Where the links of `path` lead, as a path below the root: `/sys/devices/pci0000:00/...`.
    pub fn follow(&self, path: &str) -> Result<String, ReadError> {
        let place = self.place(path)?;
        let below = match &self.dir {
            Some(dir) => Path::new("/").join(place.strip_prefix(dir).unwrap_or(&place)),
            None => fs::canonicalize(place).map_err(|e| sort_out(path, &e))?,
        };
        below.into_os_string().into_string().map_err(|_| ReadError::Unreadable {
            path: path.to_owned(),
            why: "leads to a path that is no text".to_owned(),
        })
    }

    /// The last name of where the links of `path` lead: the driver behind `device/driver`.
    pub fn link_name(&self, path: &str) -> Result<String, ReadError> {
        let target = self.follow(path)?;
        Ok(target.rsplit('/').next().unwrap_or_default().to_owned())
    }

    /// The path of a file that belongs to the network namespace of the calling thread. `/proc/net` would show
    /// that of the process, and lab hosts are threads.
    pub fn net(&self, name: &str) -> String {
        match self.dir {
            None => format!("/proc/thread-self/net/{name}"),
            Some(_) => format!("/proc/net/{name}"),
        }
    }

    /// What stands in `tenbin/NAME.json` of a directory in place of an ioctl or netlink answer;
    /// absent on the live machine.
    pub fn answer<T: serde::de::DeserializeOwned>(&self, name: &str) -> Result<T, ReadError> {
        let path = format!("/tenbin/{name}.json");
        if self.is_live() {
            return Err(ReadError::Absent { path });
        }
        let text = self.read(&path)?;
        serde_json::from_str(&text).map_err(|e| ReadError::Unreadable { path, why: e.to_string() })
    }

    fn read_up_to(&self, path: &str, most: u64, truncate: bool) -> Result<String, ReadError> {
        let unreadable = |why: &str| ReadError::Unreadable { path: path.to_owned(), why: why.to_owned() };
        let file = self.open(path)?;
        let mut bytes = Vec::new();
        file.take(most + 1).read_to_end(&mut bytes).map_err(|e| sort_out(path, &e))?;
        if bytes.len() as u64 > most {
            if !truncate {
                return Err(unreadable("larger than 1 MiB"));
            }
            bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        }
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            // A cut may fall into a character; junk elsewhere is refused.
            Err(e) if truncate && e.utf8_error().error_len().is_none() => {
                String::from_utf8_lossy(&e.into_bytes()).into_owned()
            }
            Err(_) => return Err(unreadable("not text")),
        };
        if text.contains('\0') {
            return Err(unreadable("not text"));
        }
        Ok(text.trim_end().to_owned())
    }

    fn open(&self, path: &str) -> Result<File, ReadError> {
        let place = self.place(path)?;
        // Opening a pipe or a device must not wait for its other end.
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(place)
            .map_err(|e| sort_out(path, &e))?;
        match file.metadata() {
            Ok(meta) if meta.is_file() => Ok(file),
            Ok(_) => Err(ReadError::Unreadable { path: path.to_owned(), why: "not a plain file".to_owned() }),
            Err(e) => Err(sort_out(path, &e)),
        }
    }

    /// Where `path` is on this machine. Below a directory links are followed, to see that they stay inside.
    fn place(&self, path: &str) -> Result<PathBuf, ReadError> {
        let relative = path.trim_start_matches('/');
        if let Some(name) = self.errors.get(relative) {
            return Err(named(path, name));
        }
        let Some(base) = &self.dir else {
            return Ok(Path::new("/").join(relative));
        };
        let place = fs::canonicalize(base.join(relative)).map_err(|e| sort_out(path, &e))?;
        if place.starts_with(base) {
            Ok(place)
        } else {
            Err(ReadError::Unreadable { path: path.to_owned(), why: "leads out of the directory".to_owned() })
        }
    }
}

/// "No such hardware", "not for you" and "broken" differ.
fn sort_out(path: &str, e: &io::Error) -> ReadError {
    match e.raw_os_error() {
        Some(code) => of_errno(path, Errno::from_raw(code)),
        None => ReadError::Unreadable { path: path.to_owned(), why: e.to_string() },
    }
}

/// What an error of the system means for what stands at `path`.
pub(crate) fn of_errno(path: &str, errno: Errno) -> ReadError {
    let path = path.to_owned();
    match errno {
        // A driver without the function behind a file says so with EOPNOTSUPP or ENODEV.
        Errno::ENOENT | Errno::ENOTDIR | Errno::ENODEV | Errno::ENXIO | Errno::EOPNOTSUPP => {
            ReadError::Absent { path }
        }
        Errno::EACCES | Errno::EPERM => ReadError::Denied { path },
        other => ReadError::Unreadable { path, why: other.desc().to_lowercase() },
    }
}

fn named(path: &str, name: &str) -> ReadError {
    match name {
        "ENOENT" => of_errno(path, Errno::ENOENT),
        "EACCES" | "EPERM" => of_errno(path, Errno::EACCES),
        "EINVAL" => of_errno(path, Errno::EINVAL),
        "EOPNOTSUPP" => of_errno(path, Errno::EOPNOTSUPP),
        other => ReadError::Unreadable { path: path.to_owned(), why: other.to_owned() },
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn check(root: &SysRoot, path: &str, expected: &str) {
        let got = match root.read(path) {
            Ok(text) => format!("= {text}"),
            Err(e) => e.why().to_owned(),
        };
        assert_eq!(got, expected, "{path}");
    }

    #[test]
    fn reads_are_bounded_and_stay_below_the_root() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("sys/a")).unwrap();
        fs::create_dir_all(at("tenbin")).unwrap();
        fs::write(at("sys/a/plain"), "42\n").unwrap();
        fs::write(at("sys/a/empty"), "").unwrap();
        fs::write(at("sys/a/junk"), [0xff, 0xfe, 0x00]).unwrap();
        fs::write(at("sys/a/zero"), "a\0b").unwrap();
        fs::write(at("sys/a/huge"), vec![b'x'; (1 << 20) + 1]).unwrap();
        fs::write(at("sys/a/speed"), "1000\n").unwrap();
        fs::write(
            at("tenbin/errors.json"),
            r#"{"sys/a/speed":"EINVAL","sys/a/secret":"EACCES","sys/a/odd":"EIO"}"#,
        )
        .unwrap();
        symlink("../a/plain", at("sys/a/inside")).unwrap();
        symlink("/etc/passwd", at("sys/a/outside")).unwrap();
        symlink("/proc/version", at("sys/a/live")).unwrap();
        symlink("loop", at("sys/a/loop")).unwrap();
        nix::unistd::mkfifo(&at("sys/a/pipe"), nix::sys::stat::Mode::S_IRUSR).unwrap();
        let root = SysRoot::dir(dir.path()).unwrap();
        check(&root, "/sys/a/plain", "= 42");
        check(&root, "sys/a/plain", "= 42");
        check(&root, "/sys/a/inside", "= 42");
        check(&root, "/sys/a/empty", "= ");
        check(&root, "/sys/a/junk", "not text");
        check(&root, "/sys/a/zero", "not text");
        check(&root, "/sys/a/huge", "larger than 1 MiB");
        check(&root, "/sys/a/none", "absent");
        check(&root, "/sys/a/plain/below", "absent");
        check(&root, "/sys/a/speed", "invalid argument");
        check(&root, "/sys/a/secret", "permission denied");
        check(&root, "/sys/a/odd", "EIO");
        check(&root, "/sys/a/outside", "leads out of the directory");
        check(&root, "/sys/a/live", "leads out of the directory");
        check(&root, "/../../../etc/passwd", "leads out of the directory");
        check(&root, "/sys/a/pipe", "not a plain file");
        check(&root, "/sys/a", "not a plain file");
        assert!(root.read("/sys/a/loop").is_err());
        assert_eq!(root.head("/sys/a/huge", 10).unwrap(), "xxxxxxxxxx");
        assert_eq!(root.follow("/sys/a/inside").unwrap(), "/sys/a/plain");
        assert_eq!(root.link_name("/sys/a/inside").unwrap(), "plain");
        assert!(root.list("/sys/a").unwrap().contains(&"plain".to_owned()));
        assert!(matches!(root.list("/sys/b"), Err(ReadError::Absent { .. })));
    }

    #[test]
    fn a_root_must_be_a_directory_with_a_sound_error_list() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(SysRoot::dir(&dir.path().join("none")), Err(ReadError::Absent { .. })));
        fs::create_dir(dir.path().join("tenbin")).unwrap();
        fs::write(dir.path().join("tenbin/errors.json"), "[1").unwrap();
        assert!(SysRoot::dir(dir.path()).is_err());
    }

    #[test]
    fn a_crowded_directory_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        for n in 0..=MOST_ENTRIES {
            fs::write(dir.path().join(n.to_string()), "").unwrap();
        }
        let root = SysRoot::dir(dir.path()).unwrap();
        assert_eq!(root.list("/").unwrap_err().why(), "more than 4096 entries");
    }
}
