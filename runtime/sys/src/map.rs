//! A library mapped as code: the one place from which foreign code enters the process, and by which it leaves.
//!
//! Leaving is a fact to look for. The loader may keep an image after it was closed, and says nothing then; so
//! unmapping answers with what was seen afterwards.
#![expect(unsafe_code, reason = "mapping a library runs its code, and a symbol has the type we believe it has")]

use std::alloc::Layout;
use std::ffi::CStr;
use std::io;
use std::mem::transmute_copy;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use crate::crash;
use crate::end_report::EndPolicy;
use crate::ending::{EndState, Ending, LedgerShare};
use crate::imp::Mapping;
use crate::ledger::Ledger;
use crate::notes;
use crate::stage::StagedFile;

/// A mapped library and the staged copy it was mapped from.
///
/// Dropping it leaves the library mapped, as [`Image::park`] does: only [`Image::unmap`] runs its finalisers. It may
/// be used from any thread; which threads the library itself can stand is its owner's knowledge.
#[derive(Debug)]
pub struct Image {
    mapping: Mapping,
    staged: StagedFile,
    share: LedgerShare,
}

/// What became of an image that was to leave.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a parked image still takes memory: report why"]
pub enum Unmapped {
    /// It was looked for and is not in this process any more.
    Gone,
    /// It is still mapped and stays so until the process ends.
    Parked {
        /// The copy it was mapped from, which is no longer there as a file.
        path: PathBuf,
        /// Why it is still there, in words.
        reason: String,
    },
}

/// A library could not be mapped, or has not the symbol asked for.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MapError {
    /// The loader refused the file.
    #[error(
        "cannot map {}: {reason}; check that the libraries it needs are installed and that the directory allows \
         execution (TMPDIR chooses another)",
        path.display()
    )]
    Open {
        /// The staged copy.
        path: PathBuf,
        /// What the loader said.
        reason: String,
    },
    /// The staged copy is not the one that was checked.
    #[error(
        "will not run {}: {reason}; look for a program that writes into the staging folder, or point TMPDIR to another",
        path.display()
    )]
    Changed {
        /// The staged copy.
        path: PathBuf,
        /// What was seen.
        reason: String,
    },
    /// The library itself does not define the symbol.
    #[error("{} has no symbol `{name}`: {reason}; export it and build again", path.display())]
    Symbol {
        /// The staged copy.
        path: PathBuf,
        /// The symbol that was asked for.
        name: String,
        /// What the loader said.
        reason: String,
    },
}

impl Image {
    /// Maps a staged copy, binds all its symbols and runs its initialisers on this thread.
    ///
    /// `ledger` is the one whose word the hooks of the copy were given, if they were: the image keeps a share of it.
    ///
    /// # Safety
    ///
    /// The caller has checked that the file is a library it means to run: its initialisers are sound to run here and
    /// now, as are its finalisers later.
    ///
    /// # Errors
    ///
    /// [`MapError::Open`] with the loader's words, [`MapError::Changed`] when the copy is not as it was checked; nothing
    /// stays mapped and the copy is removed.
    pub unsafe fn map(mut staged: StagedFile, ledger: Option<Arc<Ledger>>) -> Result<Self, MapError> {
        let mut share = LedgerShare::new(ledger);
        let changed =
            |path: &Path, error: io::Error| MapError::Changed { path: path.to_owned(), reason: error.to_string() };
        if let Err(error) = staged.prepare() {
            share.give_back();
            crash::gone(staged.path());
            return Err(changed(staged.path(), error));
        }
        let opened = staged.ensure_needs_no_copy().and_then(|()| {
            // SAFETY: our caller promises that the initialisers are sound to run.
            unsafe { Mapping::open(staged.path()) }
        });
        match opened {
            Ok(mapping) => {
                notes::mapped(staged.path(), mapping.ranges());
                if let Some(ledger) = share.ledger() {
                    ledger.is_mapped(&mapping);
                }
                let unchanged = staged.ensure_unchanged();
                staged.close();
                let image = Self { mapping, staged, share };
                if let Err(error) = unchanged {
                    // Whatever it is has run its initialisers. It gets no further.
                    let error = changed(image.path(), error);
                    // SAFETY: nothing of the image was used, and its finalisers are as sound as its initialisers.
                    let _gone = unsafe { image.unmap() };
                    return Err(error);
                }
                Ok(image)
            }
            Err(reason) => {
                // The loader binds everything before it runs anything, so no code has seen the word.
                share.give_back();
                crash::gone(staged.path());
                Err(MapError::Open { path: staged.path().to_owned(), reason })
            }
        }
    }

    /// The staged copy, which is the name under which debuggers and `/proc/self/maps` know the image.
    pub fn path(&self) -> &Path {
        self.staged.path()
    }

    /// The address of the symbol `name`, taken for a `T`: a function pointer, a reference or a raw pointer.
    ///
    /// Where the platform can tell, a symbol of a library that this one merely needs does not count. A thread-local
    /// symbol is not found either.
    ///
    /// # Safety
    ///
    /// `T` is the type of the symbol's address, and the value is not used once the image is unmapped.
    ///
    /// # Errors
    ///
    /// [`MapError::Symbol`] when the library does not define it.
    pub unsafe fn symbol<T: Copy>(&self, name: &CStr) -> Result<T, MapError> {
        // SAFETY: our caller promises the same, and requires no room behind the address.
        unsafe { self.symbol_of(name, Layout::new::<()>()) }
    }

    /// The same for a symbol behind whose address there is something of `layout`: all of that lies in this image, and is
    /// aligned as it has to be. Where the platform cannot list what an image has, only the alignment is looked at.
    ///
    /// # Safety
    ///
    /// As for [`Image::symbol`].
    ///
    /// # Errors
    ///
    /// [`MapError::Symbol`] when the library does not define it, or it has no room for such a thing.
    pub unsafe fn symbol_of<T: Copy>(&self, name: &CStr, layout: Layout) -> Result<T, MapError> {
        const { assert!(size_of::<T>() == size_of::<*mut ()>(), "a symbol is as large as a pointer") };
        let found = self.mapping.address(name).and_then(|address| {
            let (at, size) = (address.addr(), layout.size());
            let room = || format!("it is at {at:#x}, which is no place for {size} bytes of this library");
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

    /// Whether the address lies in the code or data of this image, as it was mapped.
    ///
    /// Memory that the image allocated and its thread-locals do not count. Where the platform cannot tell, the answer
    /// is `false`.
    pub fn contains(&self, address: usize) -> bool {
        self.mapping.contains(address)
    }

    /// The ledger that the image was mapped with.
    pub fn ledger(&self) -> Option<&Arc<Ledger>> {
        self.share.ledger()
    }

    /// Begins to let the image go; the rest is asked of the [`Ending`]. Without a ledger nothing is known that could be
    /// waited for, and the first look closes it.
    ///
    /// # Safety
    ///
    /// The host uses nothing of the image from now on: no symbol, no value whose code or type is in it, no call that
    /// has not returned. What its ledger knows of (threads, destructors, handlers) may still use it and is waited for;
    /// an image without a ledger, or whose file bypasses the hooks, has nothing of the kind. Its destructors, exit
    /// handlers and finalisers are sound to run on the threads that ask the ending.
    pub unsafe fn begin_end(self, policy: EndPolicy) -> Ending {
        // SAFETY: our caller promises the same.
        unsafe { Ending::new(self.mapping, self.staged, self.share, policy) }
    }

    /// Lets the image go at once, or parks it when something still keeps it. Destructors, exit handlers and finalisers
    /// run on this thread. The copy is removed.
    ///
    /// # Safety
    ///
    /// As for [`Image::begin_end`].
    pub unsafe fn unmap(self) -> Unmapped {
        // SAFETY: our caller promises the same.
        let mut ending = unsafe { self.begin_end(EndPolicy { grace: Duration::ZERO, ..EndPolicy::default() }) };
        let state = match ending.poll() {
            EndState::Waiting(_) => ending.park(),
            over => over,
        };
        match state {
            EndState::Parked { path, reason, .. } => Unmapped::Parked { path, reason },
            EndState::Waiting(_) | EndState::Gone(_) => Unmapped::Gone,
        }
    }

    /// Leaves the image mapped for good, so that what still points into it stays valid. The copy is removed.
    pub fn park(self) -> Unmapped {
        Unmapped::Parked { path: self.path().to_owned(), reason: "it was left mapped on purpose".to_owned() }
    }
}
