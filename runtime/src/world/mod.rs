//! Saves all alive objects to a file, and loads them. Saving does not change the world. Loading is a transaction like a reload. Values are
//! converted by the rules of a reload. The old world is destroyed only after the new world is complete.

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
pub use report::WorldLoadReport;

pub(crate) use load::load;

use std::path::Path;

use crate::bridge::core::Core;

/// Saves all alive objects and returns their number. Replaces the file atomically. Must be called at a safe point. Fails if a
/// kept field cannot be serialized or the file cannot be written.
pub(crate) fn save(core: &Core, path: &Path) -> Result<u64, WorldError> {
    let file = gather::gather(core)?;
    let bytes = file.encode().map_err(|source| WorldError::Format { path: path.to_owned(), source })?;
    disk::write(path, &bytes)?;
    Ok(file.objects.len() as u64)
}
