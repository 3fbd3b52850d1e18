//! A library on its way into a context: from a file, from memory or from a reader, copied and admitted.

use std::io::Read;
use std::path::{Path, PathBuf};

use alcedo_sys::{ImageFile, StageDir};
use semver::VersionReq;

use crate::load::context::peek;
use crate::load::error::context::ContextError;
use crate::load::module::info::ModuleInfo;

/// A library that was read and admitted.
pub(super) struct Library {
    /// What it says of itself.
    pub info: ModuleInfo,
    pub image: ImageFile,
    /// What debuggers read, where that is apart.
    pub symbols: Option<Vec<u8>>,
    /// The versions that will do where it was requested by name: another build of it that has come meanwhile does as
    /// well.
    pub range: Option<VersionReq>,
}

impl Library {
    /// From a file.
    ///
    /// # Errors
    /// As [`peek::read_copy`].
    pub(super) fn read(path: &Path, dir: &StageDir) -> Result<Self, ContextError> {
        let (image, mut info) = peek::read_copy(path, dir)?;
        info.origin = Some(path.to_owned());
        Ok(Self { info, image, symbols: None, range: None })
    }

    /// From memory.
    ///
    /// # Errors
    /// As [`peek::copy_bytes`].
    pub(super) fn from_bytes(
        name: &str,
        image: &[u8],
        symbols: Option<Vec<u8>>,
        dir: &StageDir,
    ) -> Result<Self, ContextError> {
        let (image, info) = peek::copy_bytes(&name_of_bytes(name), image, dir)?;
        Ok(Self { info, image, symbols, range: None })
    }

    /// From wherever it can be read, to the end.
    ///
    /// # Errors
    /// As [`peek::copy_bytes`], and when a reader fails or does not end where the host has enough.
    pub(super) fn from_reader(
        name: &str,
        image: impl Read,
        symbols: Option<&mut dyn Read>,
        dir: &StageDir,
    ) -> Result<Self, ContextError> {
        let largest = dir.demands().largest;
        let image = read_all(&name_of_bytes(name).display().to_string(), image, largest)?;
        let symbols = symbols.map(|symbols| read_all(&format!("the symbols of <{name}>"), symbols, largest));
        Self::from_bytes(name, &image, symbols.transpose()?, dir)
    }

    /// It is the answer to a question for a name and these versions.
    pub(super) fn found_for(self, range: &VersionReq) -> Self {
        Self { range: Some(range.clone()), ..self }
    }
}

/// At most `largest` bytes, and one more by which to see that there are more.
fn read_all(name: &str, reader: impl Read, largest: u64) -> Result<Vec<u8>, ContextError> {
    let mut bytes = Vec::new();
    let read = reader.take(largest.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|source| ContextError::Reading { name: name.to_owned(), source })?;
    match bytes.len() as u64 > largest {
        true => Err(ContextError::ReadsTooLong { name: name.to_owned(), largest }),
        false => Ok(bytes),
    }
}

/// What errors call a library that came as bytes.
pub(super) fn name_of_bytes(name: &str) -> PathBuf {
    PathBuf::from(format!("<{name}>"))
}
