//! Errors of saving and loading a world.

use std::path::PathBuf;

use crate::boundary::CallError;
use crate::escape::line;
use crate::object::construction::ConstructionFailed;
use crate::world::records::FormatError;

/// Error of saving or loading a world. After an error, the world and an existing file are unchanged.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{Error, Runtime, WorldError};
///
/// let runtime = Runtime::builder().build()?;
/// let folder = tempfile::tempdir()?;
/// let file = folder.path().join("harbor.world");
/// std::fs::write(&file, "a text")?;
/// match runtime.worlds().load(&file) {
///     Err(Error::World(WorldError::Format { path, source })) => println!("{} is damaged: {source}", path.display()),
///     other => panic!("{other:?}"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorldError {
    /// The file system returned an error.
    #[error("{doing} {}: {source}", path.display())]
    Disk {
        /// Attempted operation.
        doing: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// The path is a folder, a pipe or a device.
    #[error("{} is not a regular file: name one that `Worlds::save` wrote", path.display())]
    NotAFile {
        /// Path that is not a regular file.
        path: PathBuf,
    },
    /// The file is not a complete world file that this host can read.
    #[error("{}: {source}", path.display())]
    Format {
        /// Path of the file.
        path: PathBuf,
        /// Defect of the file.
        source: FormatError,
    },
    /// The host does not have the native base of a saved class. Without the native base, objects of the class cannot be dormant.
    #[error(
        "objects of {class} extend the native class {native}, which this host does not have: build the host with the \
         natives that it was saved with, or redirect the path"
    )]
    NoNative {
        /// Path of the class.
        class: String,
        /// Path of the nearest native base class.
        native: String,
    },
    /// A class that was native when the world was saved is not native in this host.
    #[error(
        "objects of {class} are stated to extend the native class {native}, which is not native here: redirect its path \
         to that of the native class"
    )]
    NotNative {
        /// Path of the class.
        class: String,
        /// Path of the nearest native base class when the world was saved.
        native: String,
    },
    /// A kept field of a plugin part cannot be serialized.
    #[error("the kept fields of {object} were not saved: {error}")]
    Keep {
        /// Class and name of the object.
        object: String,
        /// Error of the serialization.
        error: CallError,
    },
    /// An object could not be created.
    #[error("{}: {error}", line(object))]
    Object {
        /// Name of the object in the file, or a description of the failed step.
        object: String,
        /// Error of the creation.
        error: CallError,
    },
    /// A construction failed during the load.
    #[error(transparent)]
    Construction(#[from] ConstructionFailed),
}
