//! Copies of libraries that were looked at.

use std::io::{self, Write as _};

use super::ImageFile;
use crate::stage::{StageDir, StageError, StagedFile};

/// Bytes to write over the copy of a library: the section's name, where in it they go, and the bytes.
pub type Patch<'a> = (&'a str, usize, &'a [u8]);

impl StageDir {
    /// Writes a copy named after `label`; whatever in it does not suit a file name becomes `_`.
    ///
    /// # Errors
    ///
    /// [`StageError`] when the copy cannot be written; what was written of it is removed again.
    pub fn stage(&self, image: &ImageFile, label: &str) -> Result<StagedFile, StageError> {
        self.stage_with(image, label, None, &[])
    }

    /// Writes a copy whose sections are to differ from the library's by `patches`, and the bytes of a symbol file beside
    /// it under the same name and `.debug`.
    ///
    /// The patches are written when the copy is mapped. Until then it holds the library's own bytes, so that another
    /// process may map it first: an address of this process would mean nothing there.
    ///
    /// # Errors
    ///
    /// [`StageError`] when a patch does not lie inside its section as it stands in the file, or a file cannot be
    /// written; what was written is removed again.
    pub fn stage_with(
        &self,
        image: &ImageFile,
        label: &str,
        symbols: Option<&[u8]>,
        patches: &[Patch<'_>],
    ) -> Result<StagedFile, StageError> {
        let mut staged = self.named(label);
        staged.needs(image.needed());
        let written = placed(image, patches).and_then(|patches| {
            image.meets(self.demands()).map_err(io::Error::other)?;
            let mut file = self.create(&staged)?;
            file.write_all(image.bytes())?;
            file.set_len(image.bytes().len() as u64)?;
            staged.hold(file)?;
            Ok(patches)
        });
        staged.finished(image.name(), written, symbols)
    }

    /// The same for a library that was looked at as a private copy: that one is taken, under its new name. Another one is
    /// copied.
    ///
    /// # Errors
    ///
    /// As for [`StageDir::stage_with`].
    pub fn stage_whole(
        &self,
        image: ImageFile,
        label: &str,
        symbols: Option<&[u8]>,
        patches: &[Patch<'_>],
    ) -> Result<StagedFile, StageError> {
        if !image.is_copy() {
            return self.stage_with(&image, label, symbols, patches);
        }
        let mut staged = self.named(label);
        staged.needs(image.needed());
        let library = image.name().to_owned();
        let renamed = placed(&image, patches).and_then(|patches| {
            staged.take(image.into_copy().ok_or_else(|| io::Error::other("there is no copy"))?)?;
            Ok(patches)
        });
        staged.finished(&library, renamed, symbols)
    }
}

/// Where in the file the patches go.
fn placed(image: &ImageFile, patches: &[Patch<'_>]) -> io::Result<Vec<(u64, Vec<u8>)>> {
    let place = |(section, offset, patch): &Patch<'_>| {
        let misfit = || io::Error::other(format!("{} bytes at {offset} do not fit section {section}", patch.len()));
        let range = image.section_range(section).ok_or_else(misfit)?;
        let start = range.start.checked_add(*offset).ok_or_else(misfit)?;
        let end = start.checked_add(patch.len()).filter(|end| *end <= range.end);
        end.map(|_| (start as u64, patch.to_vec())).ok_or_else(misfit)
    };
    patches.iter().map(place).collect()
}
