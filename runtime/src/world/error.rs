//! Why a world was not saved or loaded.

use std::path::PathBuf;

use crate::border::CallError;
use crate::object::construction::ConstructionFailed;
use crate::shown::line;
use crate::world::records::FormatError;

/// Why a world was not saved or loaded. The world, and the file that was there, are as they were.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorldError {
    /// The file system said no.
    #[error("{doing} {}: {source}", path.display())]
    Disk {
        /// What was tried.
        doing: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A folder, a pipe or a device.
    #[error("{} is no regular file: name one that `save_world` wrote", path.display())]
    NotAFile {
        /// What it was.
        path: PathBuf,
    },
    /// The file is no whole world that this host reads.
    #[error("{}: {source}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: FormatError,
    },
    /// A class has nothing native under it here, so its objects could not even sleep.
    #[error(
        "objects of {class} sit on the native class {native}, which this host does not have: build the host with the \
         natives that it was saved with, or redirect the path"
    )]
    NoNative {
        /// Path of the class.
        class: String,
        /// Path of its nearest native class.
        native: String,
    },
    /// A class that is said to be native is none.
    #[error(
        "objects of {class} are said to sit on the native class {native}, which is no native class here: redirect its path \
         to that of the native class"
    )]
    NotNative {
        /// Path of the class.
        class: String,
        /// Path of what is said to be its nearest native class.
        native: String,
    },
    /// A kept field of a plugin part does not serialize.
    #[error("the kept fields of {object} were not saved: {error}")]
    Keep {
        /// Whose: class and name.
        object: String,
        /// Why not.
        error: CallError,
    },
    /// An object could not be made.
    #[error("{}: {error}", line(object))]
    Object {
        /// Its name in the file.
        object: String,
        /// Why not.
        error: CallError,
    },
    /// A construction that the load needed failed.
    #[error(transparent)]
    Construction(#[from] ConstructionFailed),
}
