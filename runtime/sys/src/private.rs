//! Library bytes for inspection, in memory or mapped from a private copy. An inspected copy is written only once. The loader later maps
//! this copy.
#![expect(unsafe_code, reason = "reads a file in place")]

use std::fs::File;
use std::io::{self, Write as _};
use std::ops::Deref;
use std::path::Path;

use memmap2::{Mmap, MmapOptions};

use crate::source::{Copied, Source};
use crate::stage::{StageDir, StagedFile};

#[derive(Debug)]
pub(crate) struct Bytes {
    held: Held,
    len: usize,
}

#[derive(Debug)]
enum Held {
    Read(Vec<u8>),
    // The order of the fields matters. The view must be dropped before the file becomes writable again.
    Copy(Mmap, StagedFile),
}

impl Bytes {
    pub(crate) fn read(bytes: Vec<u8>) -> Self {
        Self { len: bytes.len(), held: Held::Read(bytes) }
    }

    /// Copies a file into `dir` and maps the copy for reading. The original and the copy share disk blocks if the file system supports
    /// this.
    pub(crate) fn copy<'a>(source: Source<'a>, path: &Path, dir: &StageDir) -> io::Result<(Self, Copied<'a>)> {
        let (copy, mut file) = dir.fresh(&label(path))?;
        let copied = source.copy_to(&mut file)?;
        Ok((Self::map(copy, file, copied.len())?, copied))
    }

    pub(crate) fn copy_bytes(bytes: &[u8], name: &Path, dir: &StageDir) -> io::Result<Self> {
        let (copy, mut file) = dir.fresh(&label(name))?;
        file.write_all(bytes)?;
        Self::map(copy, file, bytes.len() as u64)
    }

    fn map(mut copy: StagedFile, file: File, len: u64) -> io::Result<Self> {
        file.set_len(len)?;
        if len == 0 {
            return Ok(Self::read(Vec::new()));
        }
        // SAFETY: the file does not change while it is mapped: its directory is private to this user, only this value has its name, and
        // `into_copy`, which passes the file on, drops the view first.
        let view = unsafe { MmapOptions::new().populate().map(&file) }?;
        copy.hold(file)?;
        Ok(Self { len: view.len(), held: Held::Copy(view, copy) })
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    pub(crate) fn is_copy(&self) -> bool {
        matches!(self.held, Held::Copy(..))
    }

    /// Drops the view and returns the private copy, which may then be written. Returns `None` for bytes in memory.
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
