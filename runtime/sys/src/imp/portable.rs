//! Any platform of which nothing is known: images are mapped and never unmapped, and numbers are not to be had.
//!
//! musl never unmaps either, so leaving an image where it is and saying so is the honest answer, not a stopgap.
#![expect(unsafe_code, reason = "mapping a library runs its code")]

use std::ffi::{CStr, c_void};
use std::io;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use libloading::Library;

/// A mapped image; never closed.
#[derive(Debug)]
pub(crate) struct Mapping {
    library: ManuallyDrop<Library>,
}

impl Mapping {
    /// # Safety
    ///
    /// The file's initialisers are sound to run.
    pub(crate) unsafe fn open(path: &Path) -> Result<Self, String> {
        // SAFETY: our caller promises that the initialisers are sound to run.
        let library = unsafe { Library::new(path) }.map_err(|error| error.to_string())?;
        Ok(Self { library: ManuallyDrop::new(library) })
    }

    pub(crate) fn address(&self, name: &CStr) -> Result<*mut c_void, String> {
        // SAFETY: an address is read whatever the symbol is; nobody looks behind it here.
        let symbol = unsafe { self.library.get::<*mut c_void>(name) };
        let address = *symbol.map_err(|error| error.to_string())?;
        if address.is_null() { Err("its address is null".to_owned()) } else { Ok(address) }
    }

    /// Nothing is known about addresses, so none is claimed.
    pub(crate) fn contains(&self, _address: usize) -> bool {
        false
    }

    /// # Safety
    ///
    /// None needed: nothing is unmapped.
    pub(crate) unsafe fn close(self, _path: &Path) -> Result<(), String> {
        Err("unmapping is not supported on this platform".to_owned())
    }
}

pub(crate) fn mapped_files() -> io::Result<Vec<PathBuf>> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn rss_kib() -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn open_fds() -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn threads() -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}
