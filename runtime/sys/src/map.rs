//! Maps private copies of libraries: for inspection as bytes, and as code. Unmaps the code. No other module adds or removes the code of
//! images.
//!
//! The loader may silently keep an image mapped after `dlclose`, so unmapping verifies the result.
#![expect(unsafe_code, reason = "maps copies, mapping code runs it, and the types of symbols are assumed")]

use std::alloc::Layout;
use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::mem::transmute_copy;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::{Mmap, MmapOptions};
use thiserror::Error;

use crate::crash;
use crate::end_report::EndPolicy;
use crate::ending::{EndState, Ending, LedgerShare};
use crate::imp::{self, Mapping};
use crate::ledger::Ledger;
use crate::notes;
use crate::source::{Copied, Source};
use crate::stage::{StageDir, StagedFile};

/// Mapped library with its staged copy.
///
/// Dropping an image leaves the library mapped, as [`Image::park`] does. The finalizers of the library run only when the image is unmapped.
/// Any thread may use an image, but its owner must follow the thread rules of the library.
#[derive(Debug)]
pub struct Image {
    mapping: Mapping,
    staged: StagedFile,
    share: LedgerShare,
}

/// Result of unmapping an image.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a parked image still takes memory: report why"]
pub enum Unmapped {
    /// The image was verified to be unmapped.
    Gone,
    /// The image stays mapped until the process exits.
    Parked {
        /// Path of the removed copy from which the image was mapped.
        path: PathBuf,
        /// Reason why the image stays mapped.
        reason: String,
    },
}

/// Error of mapping a library or finding a symbol.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MapError {
    /// The loader rejected the file.
    #[error(
        "cannot map {}: {reason}; check that the libraries it needs are installed and that the directory allows \
         execution (TMPDIR chooses another)",
        path.display()
    )]
    Open {
        /// Path of the staged copy.
        path: PathBuf,
        /// Message of the loader.
        reason: String,
    },
    /// The host is linked statically. The C library of such a host has no loader.
    #[error(
        "cannot map {}: this host is linked statically, and such a program has no loader; build it with \
         `-C target-feature=-crt-static`",
        path.display()
    )]
    StaticHost {
        /// Path of the staged copy.
        path: PathBuf,
    },
    /// The staged copy has changed since it was checked.
    #[error(
        "will not run {}: {reason}; find the program that writes to the staging folder, or set TMPDIR to another folder",
        path.display()
    )]
    Changed {
        /// Path of the staged copy.
        path: PathBuf,
        /// The observed change.
        reason: String,
    },
    /// The library does not define the symbol.
    #[error("{} has no symbol `{name}`: {reason}; export it and build again", path.display())]
    Symbol {
        /// Path of the staged copy.
        path: PathBuf,
        /// Name of the symbol.
        name: String,
        /// Message of the loader.
        reason: String,
    },
}

impl Image {
    /// Maps a staged copy, binds all symbols of the copy, and runs the initializers of the copy on this thread.
    ///
    /// The hooks of the copy receive the address of `ledger`. Pass `None` for a library without hooks. The image owns a reference to the
    /// ledger.
    ///
    /// # Safety
    ///
    /// The caller has checked that the file is a library it intends to run: its initializers are sound to run now on this thread, and
    /// its finalizers later.
    ///
    /// # Errors
    ///
    /// Returns [`MapError::Open`] with the message of the loader, [`MapError::Changed`] if the copy differs from the checked copy, or
    /// [`MapError::StaticHost`]. After an error, the library is not mapped, and the copy is removed.
    pub unsafe fn map(mut staged: StagedFile, ledger: Option<Arc<Ledger>>) -> Result<Self, MapError> {
        let mut share = LedgerShare::new(ledger);
        let opened = Self::prepare(&mut staged).and_then(|()| {
            // SAFETY: our caller promises that the initializers are sound to run.
            let opened = Mapping::open(staged.path(), |path| unsafe { imp::open_library(path) });
            opened.map_err(|reason| MapError::Open { path: staged.path().to_owned(), reason })
        });
        let mapping = opened.inspect_err(|_| {
            // The loader binds all symbols before it runs code of the library, so no code has read the address of the ledger.
            share.release();
            crash::gone(staged.path());
        })?;
        notes::mapped(staged.path(), mapping.ranges());
        if let Some(ledger) = share.ledger() {
            ledger.is_mapped(&mapping);
        }
        let unchanged = staged.ensure_unchanged();
        staged.close();
        let image = Self { mapping, staged, share };
        let Err(error) = unchanged else { return Ok(image) };
        // A different file has replaced the copy and has run its initializers. Unmaps its image immediately.
        let error = changed(image.path(), error);
        // SAFETY: no code of the image has run except its initializers, and its finalizers are as sound as its initializers.
        let _gone = unsafe { image.unmap() };
        Err(error)
    }

    /// Prepares a copy for mapping. Returns an error if the copy must not be mapped.
    fn prepare(staged: &mut StagedFile) -> Result<(), MapError> {
        if imp::IS_STATIC {
            return Err(MapError::StaticHost { path: staged.path().to_owned() });
        }
        staged.prepare().map_err(|error| changed(staged.path(), error))?;
        let checked = staged.ensure_needs_no_copy();
        checked.map_err(|reason| MapError::Open { path: staged.path().to_owned(), reason })
    }

    /// Returns the path of the staged copy. Debuggers and `/proc/self/maps` list the image under this path.
    pub fn path(&self) -> &Path {
        self.staged.path()
    }

    /// Returns the address of the symbol `name` as a `T`: a function pointer, a reference or a raw pointer.
    ///
    /// Finds only symbols that this library itself defines, and no thread-local symbols. On some platforms, symbols of needed libraries and
    /// thread-local symbols cannot be excluded.
    ///
    /// # Safety
    ///
    /// `T` is the type of the symbol's address, and the value is not used after the image is unmapped.
    ///
    /// # Errors
    ///
    /// Returns [`MapError::Symbol`] if the library does not define the symbol.
    pub unsafe fn symbol<T: Copy>(&self, name: &CStr) -> Result<T, MapError> {
        // SAFETY: our caller promises the requirements of `symbol_of`, and an empty layout requires no memory at the address.
        unsafe { self.symbol_of(name, Layout::new::<()>()) }
    }

    /// Returns the address of a value with this `layout`, as [`Image::symbol`] does. Checks that the value is aligned and inside this
    /// image. If the platform cannot list the segments of an image, checks only the alignment.
    ///
    /// # Safety
    ///
    /// The requirements of [`Image::symbol`] apply.
    ///
    /// # Errors
    ///
    /// Returns [`MapError::Symbol`] if the library does not define the symbol, or if the value is misaligned or outside of the image.
    pub unsafe fn symbol_of<T: Copy>(&self, name: &CStr, layout: Layout) -> Result<T, MapError> {
        const { assert!(size_of::<T>() == size_of::<*mut ()>(), "a symbol is as large as a pointer") };
        let found = self.mapping.address(name).and_then(|address| {
            let (at, size) = (address.addr(), layout.size());
            let room = || format!("it is at {at:#x}, which is not a valid address for {size} bytes of this library");
            let fits = at.is_multiple_of(layout.align()) && self.mapping.has_room(at, size);
            if fits { Ok(address) } else { Err(room()) }
        });
        let address = found.map_err(|reason| MapError::Symbol {
            path: self.path().to_owned(),
            name: name.to_string_lossy().into_owned(),
            reason,
        })?;
        // SAFETY: our caller promises that `T` is the type of this address, which is not null.
        Ok(unsafe { transmute_copy(&address) })
    }

    /// Returns `true` if the address is in the mapped code or data of this image.
    ///
    /// Returns `false` for the thread-locals of the image and for memory that the image has allocated. Always returns `false` if the
    /// platform cannot list the segments of the image.
    pub fn contains(&self, address: usize) -> bool {
        self.mapping.contains(address)
    }

    /// Returns the ledger that the image was mapped with.
    pub fn ledger(&self) -> Option<&Arc<Ledger>> {
        self.share.ledger()
    }

    /// Begins to unmap the image. The returned [`Ending`] executes the remaining steps. The first poll closes an image without a ledger,
    /// because no resources of such an image are known.
    ///
    /// # Safety
    ///
    /// The host no longer uses the image: no symbol, no value whose code or type is in the image, no running call. Resources in the ledger
    /// (threads, destructors, handlers) may still use the image, because the ending waits for them. If the image has no ledger, or its file
    /// bypasses the hooks, no such resources exist. The destructors, exit handlers and finalizers are sound to run on the threads that poll
    /// the ending.
    pub unsafe fn begin_end(self, policy: EndPolicy) -> Ending {
        // SAFETY: our caller promises the requirements of `begin_end`.
        unsafe { Ending::new(self.mapping, self.staged, self.share, policy) }
    }

    /// Unmaps the image immediately, or parks it if it is still in use. Destructors, exit handlers and finalizers of the image run on this
    /// thread. The copy is removed.
    ///
    /// # Safety
    ///
    /// The requirements of [`Image::begin_end`] apply.
    pub unsafe fn unmap(self) -> Unmapped {
        // SAFETY: our caller promises the requirements of `begin_end`.
        let mut ending = unsafe { self.begin_end(EndPolicy::default()) };
        let state = match ending.poll() {
            EndState::Waiting(_) => ending.park(),
            over => over,
        };
        match state {
            EndState::Parked { path, reason, .. } => Unmapped::Parked { path, reason },
            EndState::Waiting(_) | EndState::Gone(_) => Unmapped::Gone,
        }
    }

    /// Leaves the image mapped permanently. Pointers into the image stay valid. The copy is removed.
    pub fn park(self) -> Unmapped {
        Unmapped::Parked { path: self.path().to_owned(), reason: "it was left mapped on purpose".to_owned() }
    }
}

/// Library bytes for inspection, in memory or mapped from a private copy. An inspected copy is written only once. The loader later maps
/// this copy.
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

fn changed(path: &Path, error: io::Error) -> MapError {
    MapError::Changed { path: path.to_owned(), reason: error.to_string() }
}

fn label(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
