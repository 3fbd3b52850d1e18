//! Writes private copies of inspected libraries, from which images are mapped.

use std::io::{self, Write as _};

use super::ImageFile;
use crate::stage::{StageDir, StageError, StagedFile};

/// Patch of a copy: section name, offset in the section, and bytes.
pub type Patch<'a> = (&'a str, usize, &'a [u8]);

impl StageDir {
    /// Writes a copy of the library under a name that contains `label`, in which `_` replaces special characters.
    ///
    /// # Errors
    ///
    /// Returns [`StageError`] if the copy cannot be written. Partial files are removed.
    pub fn stage(&self, image: &ImageFile, label: &str) -> Result<StagedFile, StageError> {
        self.stage_with(image, label, None, &[])
    }

    /// Writes a copy of the library, for mapping with `patches`. Writes `symbols` to a file with the name of the copy and the suffix
    /// `.debug`.
    ///
    /// The patches are written only when the copy is mapped. Until then, the copy contains the unchanged bytes of the library. A canary
    /// process may map the copy before, and addresses of this process would be invalid there.
    ///
    /// # Errors
    ///
    /// Returns [`StageError`] if a patch exceeds its section in the file, or if a file cannot be written. Partial files are removed.
    pub fn stage_with(
        &self,
        image: &ImageFile,
        label: &str,
        symbols: Option<&[u8]>,
        patches: &[Patch<'_>],
    ) -> Result<StagedFile, StageError> {
        let mut staged = self.named(label, image.needed());
        let written = located(image, patches).and_then(|patches| {
            image.meets(self.demands()).map_err(io::Error::other)?;
            let mut file = self.create(&staged)?;
            file.write_all(image.bytes())?;
            file.set_len(image.bytes().len() as u64)?;
            staged.hold(file)?;
            Ok(patches)
        });
        staged.finished(&image.name, written, symbols)
    }

    /// Stages a library as [`StageDir::stage_with`] does, but renames the private copy of an already inspected library instead of copying
    /// the library again. A library without a private copy is copied.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`StageDir::stage_with`].
    pub fn stage_whole(
        &self,
        image: ImageFile,
        label: &str,
        symbols: Option<&[u8]>,
        patches: &[Patch<'_>],
    ) -> Result<StagedFile, StageError> {
        if !image.bytes.is_copy() {
            return self.stage_with(&image, label, symbols, patches);
        }
        let mut staged = self.named(label, image.needed());
        let renamed = located(&image, patches).and_then(|patches| {
            staged.take(image.bytes.into_copy().ok_or_else(|| io::Error::other("the copy is missing"))?)?;
            Ok(patches)
        });
        staged.finished(&image.name, renamed, symbols)
    }
}

fn located(image: &ImageFile, patches: &[Patch<'_>]) -> io::Result<Vec<(u64, Vec<u8>)>> {
    let locate = |(section, offset, patch): &Patch<'_>| {
        let misfit = || io::Error::other(format!("{} bytes at {offset} do not fit section {section}", patch.len()));
        let range = image.section_range(section).ok_or_else(misfit)?;
        let start = range.start.checked_add(*offset).ok_or_else(misfit)?;
        let end = start.checked_add(patch.len()).filter(|end| *end <= range.end);
        end.map(|_| (start as u64, patch.to_vec())).ok_or_else(misfit)
    };
    patches.iter().map(locate).collect()
}
