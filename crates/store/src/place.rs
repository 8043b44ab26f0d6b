//! Where a store's file lies: made for its owner only, and recognised when it is on another machine's disk.

use std::ffi::OsString;
use std::fs::{DirBuilder, Metadata, OpenOptions};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};

use crate::error::StoreError;

/// The folder that holds `path`.
pub(crate) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Makes the file and the folders above it where they lack, readable by their owner only: runs tell much about
/// machines. Says plainly if they can't be written to.
pub(crate) fn prepare(path: &Path) -> Result<(), StoreError> {
    let folder = folder(path);
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(failed("create the folder", folder))?;
    // An existing file is never opened here: closing it would drop the locks that another connection of this
    // process holds on it.
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(failed("create the store", path)(error)),
    }
    let found = std::fs::metadata(path).map_err(failed("open the store", path))?;
    must_be_file(path, &found)?;
    may_write(path).map_err(failed("open the store for writing", path))?;
    // The journal lies beside it.
    may_write(folder).map_err(failed("write beside the store into", folder))
}

/// A folder is no store, and opening a pipe would wait for somebody at its other end.
pub(crate) fn must_be_file(path: &Path, found: &Metadata) -> Result<(), StoreError> {
    let why = match found {
        _ if found.is_file() => return Ok(()),
        _ if found.is_dir() => "it is a folder",
        _ => "it is no regular file",
    };
    Err(StoreError::NotAStore { path: path.to_owned(), why: why.to_owned() })
}

/// Whether this process may write to the file or folder; the error says why not.
pub(crate) fn may_write(path: &Path) -> io::Result<()> {
    access(path, AccessFlags::R_OK | AccessFlags::W_OK).map_err(io::Error::from)
}

fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    move |source| StoreError::Io { doing, path: path.to_owned(), source }
}

/// Whether a journal with content lies beside the store.
pub(crate) fn has_journal(path: &Path) -> bool {
    ["-wal", "-journal"].iter().any(|suffix| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        std::fs::metadata(PathBuf::from(name)).is_ok_and(|found| found.len() > 0)
    })
}

/// `path` as the URI of a file that nobody changes while it is read.
pub(crate) fn immutable_uri(path: &Path) -> OsString {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut uri = b"file://".to_vec();
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => uri.push(byte),
            _ => uri.extend(format!("%{byte:02x}").bytes()),
        }
    }
    uri.extend(b"?immutable=1");
    OsString::from_vec(uri)
}

/// The name of the file system if other machines may have it mounted too, or a program implements it: shared memory
/// and locks can't be relied on there. `None` for a disk of this machine.
pub(crate) fn remote(path: &Path) -> Option<&'static str> {
    let found = nix::sys::statfs::statfs(folder(path)).ok()?;
    // The field's width and sign differ between platforms; the numbers have 32 bits.
    remote_type(found.filesystem_type().0 as u32)
}

// linux/magic.h, and the sources of the file systems that live outside the kernel.
fn remote_type(magic: u32) -> Option<&'static str> {
    Some(match magic {
        0x0000_6969 => "NFS",
        0x0bd0_0bd0 => "Lustre",
        0x4750_4653 => "GPFS",
        0xff53_4d42 | 0xfe53_4d42 | 0x0000_517b => "SMB",
        0x00c3_6400 => "CephFS",
        0x1983_0326 => "BeeGFS",
        0x5346_414f | 0x6b41_4653 => "AFS",
        0x7375_7245 => "Coda",
        0x0102_1997 => "9p",
        0x7461_636f => "OCFS2",
        0x0116_1970 => "GFS2",
        0x2003_0528 => "OrangeFS",
        0x786f_4256 => "VirtualBox shared folders",
        0x6573_5546 => "FUSE",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems() {
        for (magic, name) in [
            (0x6969, Some("NFS")),
            (0xff53_4d42, Some("SMB")),
            (0xef53, None),
            (0x0102_1994, None),
            (0x9123_683e, None),
        ] {
            assert_eq!(remote_type(magic), name, "{magic:x}");
        }
    }

    #[test]
    fn uris() {
        let uri = |path| immutable_uri(Path::new(path));
        assert_eq!(uri("/a/b.db"), "file:///a/b.db?immutable=1");
        assert_eq!(uri("/a b/%?#.db"), "file:///a%20b/%25%3f%23.db?immutable=1");
        assert_eq!(uri("//host/b.db"), "file:////host/b.db?immutable=1");
    }
}
