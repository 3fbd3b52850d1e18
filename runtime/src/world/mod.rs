//! Saves all living objects to a file, and loads the objects of a file. Saving does not change the world. Like a reload, loading is a
//! transaction, and converts values by the rules of a reload. The old world is destroyed only after the new world is complete.

mod bring;
mod canonical;
mod check;
mod disk;
mod error;
mod file_value;
mod format;
mod gather;
mod load;
mod plan;
mod records;
mod references;
mod report;
#[cfg(test)]
mod testing;

pub use error::WorldError;
pub use records::FormatError;
pub use report::WorldLoadReport;

pub(crate) use load::load;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::bridge::core::Core;

/// Saves all living objects and returns their number. Replaces the file atomically. Must be called at a safe point. Fails if a
/// kept field cannot be serialized or the file cannot be written.
pub(crate) fn save(core: &Core, path: &Path) -> Result<u64, WorldError> {
    disk::replace(path, |file| {
        let mut content = format::Envelope::new(file);
        let start = |range| alcedo_sys::start_writing(file, range);
        let objects = disk::write_concurrently(path, &mut content, start, |to| gather::gather(core, path, to))?;
        content.seal().map_err(disk::unwritten(path))?;
        Ok(objects)
    })
}

/// State of all living objects at one safe point. Any thread can write the snapshot to its file.
pub(crate) struct Snapshot {
    path: PathBuf,
    records: Vec<u8>,
}

/// Copies the state of all living objects for the file `path`. Must be called at a safe point. Fails if a kept field cannot be serialized.
pub(crate) fn snapshot(core: &Core, path: &Path) -> Result<Snapshot, WorldError> {
    let mut records = Vec::new();
    gather::gather(core, path, &mut records)?;
    Ok(Snapshot { path: path.to_owned(), records })
}

impl Snapshot {
    /// Replaces the file atomically. Fails if the file cannot be written.
    pub(crate) fn write(&self) -> Result<(), WorldError> {
        disk::replace(&self.path, |file| {
            let mut file = format::Envelope::new(file);
            let written = file.write_all(&self.records).and_then(|()| file.seal());
            written.map(|_file| ()).map_err(disk::unwritten(&self.path))
        })
    }
}
