//! Errors of files that cannot be mapped, shared by the code that reads, checks and parses files.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::format::{self, FormatError};
use crate::signature::SignatureFound;

/// Error of the loader, or error of an invalid library name.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{0}")]
pub struct NativeError(pub(crate) String);

impl NativeError {
    /// Creates the error with the loader's message, because the message of the crate `libloading` names only the failed call.
    pub(crate) fn of(error: libloading::Error) -> Self {
        use std::error::Error as _;
        Self(error.source().map_or_else(|| error.to_string(), ToString::to_string))
    }
}

/// Error of a file that cannot be mapped. Reported before the file is mapped.
///
/// # Examples
/// ```
/// use std::path::Path;
///
/// use alcedo_sys::{ImageError, ImageFile};
///
/// match ImageFile::read(Path::new("no-such-library.so")) {
///     Err(ImageError::Io { path, .. }) => assert_eq!(path, Path::new("no-such-library.so")),
///     _ => panic!("the file does not exist"),
/// }
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The file could not be read.
    #[error("cannot read {}: {source}; check that the path is right and the build has finished", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// The path is a folder, named pipe, socket or device. The entry was not opened.
    #[error("{} is {found}, not a file: name the library itself{}", path.display(), folder_help(found))]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// Kind of the file system entry.
        found: String,
    },
    /// The file exceeds the size limit of the host. The file was not read.
    #[error(
        "{} has {len} bytes, and this host accepts libraries of at most {largest}: leave out debug information \
         (`strip = \"debuginfo\"` in the profile), or raise `Builder::largest_library`",
        path.display()
    )]
    TooLarge {
        /// Path of the file.
        path: PathBuf,
        /// Size in bytes.
        len: u64,
        /// Maximum size in bytes.
        largest: u64,
    },
    /// The private copy could not be written, or the file could not be read completely.
    #[error(
        "cannot copy {} into the staging folder {}: {source}; free space there, or set TMPDIR to a folder with free space",
        path.display(), folder.display()
    )]
    Copy {
        /// Path of the file.
        path: PathBuf,
        /// Folder of the copy.
        folder: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// The file has no seal and was modified while it was read. A watcher retries after the writer has finished.
    #[error(
        "{} is still being written: {how}; load it when the build is done, or build it with `alcedo build`, whose seal marks a complete file",
        path.display()
    )]
    StillWritten {
        /// Path of the file.
        path: PathBuf,
        /// Observation that shows the modification.
        how: String,
    },
    /// The host trusts only certain keys, and none of these keys has signed the file.
    #[error(
        "{} {found}, and this host accepts only libraries signed with a key passed to `Builder::trust`: build it with `alcedo build --sign` and such a key",
        path.display()
    )]
    NotTrusted {
        /// Path of the file.
        path: PathBuf,
        /// Signature state of the file.
        found: SignatureFound,
    },
    /// The file is empty.
    #[error("{} is empty: it is still being built or the build failed; build it again", path.display())]
    Empty {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file ends before the end of a part that its headers describe.
    #[error("{} is cut short: {need} bytes are required for {what}, the file has {have}; build it again", path.display())]
    Truncated {
        /// Path of the file.
        path: PathBuf,
        /// Name of the incomplete part.
        what: String,
        /// Required size of the file in bytes.
        need: u64,
        /// Actual size of the file in bytes.
        have: u64,
    },
    /// The file is for another platform.
    #[error("{} is {found}, this host maps {expected}: build it for this host's target", path.display())]
    Foreign {
        /// Path of the file.
        path: PathBuf,
        /// Platform of the file.
        found: String,
        /// Platform of the host.
        expected: String,
    },
    /// The file is a program or an object file.
    #[error("{} is {found}, not a shared library: set `crate-type = [\"cdylib\"]` and build it again", path.display())]
    WrongKind {
        /// Path of the file.
        path: PathBuf,
        /// Kind of the file.
        found: String,
    },
    /// The headers of the file are inconsistent.
    #[error("{} is damaged: {what}; build it again", path.display())]
    Malformed {
        /// Path of the file.
        path: PathBuf,
        /// First inconsistency found.
        what: String,
        /// Names of the sections. Empty if the section headers cannot be read.
        sections: Vec<String>,
    },
}

impl ImageError {
    /// Returns the path of the file.
    ///
    /// # Examples
    /// ```
    /// use std::path::Path;
    ///
    /// use alcedo_sys::ImageFile;
    ///
    /// let error = ImageFile::read(Path::new("no-such-library.so")).err();
    /// assert_eq!(error.as_ref().map(|error| error.path()), Some(Path::new("no-such-library.so")));
    /// ```
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Io { path, .. }
            | Self::NotAFile { path, .. }
            | Self::TooLarge { path, .. }
            | Self::Copy { path, .. }
            | Self::StillWritten { path, .. }
            | Self::NotTrusted { path, .. }
            | Self::Empty { path }
            | Self::Truncated { path, .. }
            | Self::Foreign { path, .. }
            | Self::WrongKind { path, .. }
            | Self::Malformed { path, .. } => path,
        }
    }
}

/// Returns the help for a folder, which may be a package of scripts.
fn folder_help(found: &str) -> &'static str {
    if found == "a folder" { "; a host loads folders of scripts with the feature `script` of alcedo" } else { "" }
}

/// Returns a function for `map_err` that converts the error of a copy into `folder`.
pub(crate) fn not_copied(path: &Path, folder: &Path) -> impl FnOnce(io::Error) -> ImageError {
    let (path, folder) = (path.to_owned(), folder.to_owned());
    move |source| ImageError::Copy { path, folder, source }
}

/// Adds the path and the sections of the file to an error. `bytes` are the known bytes of the file. `have` is the size of the file in
/// bytes.
pub(crate) fn with_path(error: FormatError, path: &Path, bytes: &[u8], have: u64) -> ImageError {
    let path = path.to_owned();
    match error {
        FormatError::Truncated { what, need } => ImageError::Truncated { path, what, need, have },
        FormatError::Foreign { found } => ImageError::Foreign { path, found, expected: format::expected() },
        FormatError::WrongKind { found } => ImageError::WrongKind { path, found },
        FormatError::Malformed { what } => ImageError::Malformed { path, what, sections: format::section_names(bytes) },
    }
}
