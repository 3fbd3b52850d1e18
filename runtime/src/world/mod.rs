//! The world on disk: all living objects in a file, and back again. Saving looks and writes; loading is a transaction
//! like a reload: the new world is made whole beside the old one, by the same rules by which values are carried over a
//! change of code, and only then does the old one go.

mod bring;
mod check;
mod disk;
mod error;
mod file_value;
mod format;
mod gather;
mod load;
mod plan;
mod records;
mod report;

pub use error::WorldError;
pub use records::FormatError;
pub use report::WorldLoad;

pub(crate) use load::load;

use std::path::Path;

use crate::bridge::core::Core;

/// Writes all living objects to a file; what was there before is replaced when the new one is whole. The caller stands at
/// a safe point. Returns how many objects it were.
///
/// # Errors
/// When a kept field does not serialize, or the file cannot be written; what was there before is still there then.
pub(crate) fn save(core: &Core, path: &Path) -> Result<u64, WorldError> {
    let file = gather::gather(core)?;
    let bytes = file.encode().map_err(|source| WorldError::Format { path: path.to_owned(), source })?;
    disk::write(path, &bytes)?;
    Ok(file.objects.len() as u64)
}
