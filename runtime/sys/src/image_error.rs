//! Why a file cannot be mapped here. What reads, measures and parses files fails with it, and lies above it.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::elf::{self, Flaw};
use crate::signature::SignatureFound;

/// Why a file cannot be mapped here. Nothing of it was mapped to find out.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The file could not be read.
    #[error("cannot read {}: {source}; check that the path is right and the build has finished", path.display())]
    Io {
        /// The file that was asked for.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is a folder, a named pipe, a socket or a device. It was not opened.
    #[error("{} is {found}, not a file: name the library itself", path.display())]
    NotAFile {
        /// What was asked for.
        path: PathBuf,
        /// What it is, in words.
        found: String,
    },
    /// The file is longer than the host allows. Nothing of it was read.
    #[error(
        "{} has {len} bytes, and this host takes libraries of at most {largest}: leave out debug information          (`strip = \"debuginfo\"` in the profile), or raise `Builder::largest_library`",
        path.display()
    )]
    TooLarge {
        /// The file that was looked at.
        path: PathBuf,
        /// Its length in bytes.
        len: u64,
        /// The greatest length in bytes that is allowed.
        largest: u64,
    },
    /// The private copy could not be written, or the file could not be read to its end.
    #[error(
        "cannot copy {} into the staging folder {}: {source}; make room there, or let TMPDIR name a folder that has some",
        path.display(), folder.display()
    )]
    Copy {
        /// The file that was to be copied.
        path: PathBuf,
        /// The folder of the copy.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file has no seal, and was written to while it was read. A watch tries again when the writer is done.
    #[error(
        "{} is still being written: {how}; load it when the build is done, or build it with `alcedo build`, whose seal tells a whole file from a part of one",
        path.display()
    )]
    StillWritten {
        /// The file that was looked at.
        path: PathBuf,
        /// How that was noticed.
        how: String,
    },
    /// The host trusts some keys, and none of them has signed the file.
    #[error(
        "{} {found}, and this host takes only libraries that a key given to `Builder::trust` has signed: build it with `alcedo build --sign` and such a key",
        path.display()
    )]
    NotTrusted {
        /// The file that was looked at.
        path: PathBuf,
        /// What was found for a signature.
        found: SignatureFound,
    },
    /// The file has no bytes at all.
    #[error("{} is empty: it is still being built or the build failed; build it again", path.display())]
    Empty {
        /// The file that was looked at.
        path: PathBuf,
    },
    /// The file ends before something that its headers announce.
    #[error("{} is cut short: {what} needs {need} bytes, the file has {have}; build it again", path.display())]
    Truncated {
        /// The file that was looked at.
        path: PathBuf,
        /// The part that is not all there.
        what: String,
        /// The length in bytes that the file would need to have.
        need: u64,
        /// The length in bytes that it has.
        have: u64,
    },
    /// The file is not for this host.
    #[error("{} is {found}, this host maps {wanted}: build it for this host's target", path.display())]
    Foreign {
        /// The file that was looked at.
        path: PathBuf,
        /// What it is, in words.
        found: String,
        /// What it should be, in words.
        wanted: String,
    },
    /// The file is for this host but is a program or an object file.
    #[error("{} is {found}, not a shared library: set `crate-type = [\"cdylib\"]` and build it again", path.display())]
    WrongKind {
        /// The file that was looked at.
        path: PathBuf,
        /// What it is, in words.
        found: String,
    },
    /// The file's headers contradict each other.
    #[error("{} is damaged: {what}; build it again", path.display())]
    Malformed {
        /// The file that was looked at.
        path: PathBuf,
        /// The first contradiction found.
        what: String,
    },
}

impl ImageError {
    /// For those who have words for errors of the system only.
    pub(crate) fn in_words(self) -> io::Error {
        match self {
            Self::Io { source, .. } => source,
            other => io::Error::other(other),
        }
    }
}

/// What is wrong with the file at a path, which has that many bytes.
pub(crate) fn with_path(flaw: Flaw, path: &Path, have: u64) -> ImageError {
    let path = path.to_owned();
    match flaw {
        Flaw::Truncated { what, need } => ImageError::Truncated { path, what, need, have },
        Flaw::Foreign { found } => ImageError::Foreign { path, found, wanted: elf::wanted() },
        Flaw::WrongKind { found } => ImageError::WrongKind { path, found },
        Flaw::Malformed { what } => ImageError::Malformed { path, what },
    }
}
