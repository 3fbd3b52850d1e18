//! The bytes that checks look at: read into memory, or those of a private copy, where they lie. What is looked at in a
//! copy was moved once, and is what is mapped later.
#![expect(unsafe_code, reason = "looks at a file in place")]

use std::fs::File;
use std::io::{self, Write as _};
use std::ops::Deref;
use std::path::Path;

use memmap2::{Mmap, MmapOptions};

use crate::source::{Copied, Source};
use crate::stage::{StageDir, StagedFile};

/// The bytes of a library, up to where its seal begins.
#[derive(Debug)]
pub(crate) struct Bytes {
    held: Held,
    len: usize,
}

#[derive(Debug)]
enum Held {
    Read(Vec<u8>),
    // In this order: the view goes before anybody may write the file again.
    Copy(Mmap, StagedFile),
}

impl Bytes {
    /// Bytes in memory.
    pub(crate) fn read(bytes: Vec<u8>) -> Self {
        Self { len: bytes.len(), held: Held::Read(bytes) }
    }

    /// Copies a file into `dir` and looks at the copy. Where the file system can, the two share their blocks.
    pub(crate) fn copy<'a>(source: Source<'a>, path: &Path, dir: &StageDir) -> io::Result<(Self, Copied<'a>)> {
        let (copy, mut file) = dir.fresh(&label(path))?;
        let copied = source.copy_to(&mut file)?;
        Ok((Self::look_at(copy, file, copied.len())?, copied))
    }

    /// Writes bytes into a copy in `dir` and looks at that.
    pub(crate) fn copy_bytes(bytes: &[u8], name: &Path, dir: &StageDir) -> io::Result<Self> {
        let (copy, mut file) = dir.fresh(&label(name))?;
        file.write_all(bytes)?;
        Self::look_at(copy, file, bytes.len() as u64)
    }

    fn look_at(mut copy: StagedFile, file: File, len: u64) -> io::Result<Self> {
        file.set_len(len)?;
        if len == 0 {
            return Ok(Self::read(Vec::new()));
        }
        // SAFETY: the file is not changed while it is looked at: its directory is this user's alone, its name is known
        // to this value only, and `into_copy`, which gives it out, ends the view.
        let view = unsafe { MmapOptions::new().populate().map(&file) }?;
        copy.hold(file)?;
        Ok(Self { len: view.len(), held: Held::Copy(view, copy) })
    }

    /// Leaves the end out from now on.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Whether they are looked at in a private copy.
    pub(crate) fn is_copy(&self) -> bool {
        matches!(self.held, Held::Copy(..))
    }

    /// The private copy, if there is one; it may be written from now on.
    pub(crate) fn into_copy(self) -> Option<StagedFile> {
        match self.held {
            Held::Read(_) => None,
            Held::Copy(view, copy) => {
                drop(view);
                Some(copy)
            }
        }
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let all: &[u8] = match &self.held {
            Held::Read(bytes) => bytes,
            Held::Copy(view, _) => view,
        };
        &all[..self.len]
    }
}

fn label(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
