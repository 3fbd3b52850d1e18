//! Fallback for unsupported platforms: images are mapped and never unmapped. Threads, memory and other figures of the process are
//! unavailable.
//!
//! Reports every image as parked when it is closed. Also used on platforms whose loader never unmaps a library, such as Linux with musl.
#![expect(unsafe_code, reason = "mapping a library runs its code")]

use std::ffi::{CStr, c_void};
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU32;

use libloading::Library;

use crate::image_error::NativeError;
use crate::imp::Writers;
use crate::ledger::Ledger;
use crate::ledger::repair::Repair;

/// Placeholder for the lease of a file, because the platform does not report writers.
#[derive(Debug)]
pub(crate) struct Lease<'a>(PhantomData<&'a File>);

impl<'a> Lease<'a> {
    pub(crate) fn take(_file: &'a File) -> Result<Self, Writers> {
        Err(Writers::Unknown)
    }

    pub(crate) fn end(self) -> Writers {
        Writers::Unknown
    }
}

#[derive(Debug)]
pub(crate) struct Mapping {
    library: ManuallyDrop<Library>,
}

/// # Safety
///
/// The file's initializers are sound to run.
pub(crate) unsafe fn open_library(path: &Path) -> Result<Library, libloading::Error> {
    // SAFETY: our caller promises that the initializers are sound to run.
    unsafe { Library::new(path) }
}

impl Mapping {
    pub(crate) fn open(
        path: &Path,
        open: impl FnOnce(&Path) -> Result<Library, libloading::Error>,
    ) -> Result<Self, String> {
        let library = open(path).map_err(|error| NativeError::of(error).0)?;
        Ok(Self { library: ManuallyDrop::new(library) })
    }

    pub(crate) fn address(&self, name: &CStr) -> Result<*mut c_void, String> {
        // SAFETY: any symbol has an address; its target is not read here.
        let symbol = unsafe { self.library.get::<*mut c_void>(name) };
        let address = *symbol.map_err(|error| NativeError::of(error).0)?;
        if address.is_null() { Err("its address is null".to_owned()) } else { Ok(address) }
    }

    /// Returns no ranges, because the addresses of images are unknown.
    pub(crate) fn ranges(&self) -> &[std::ops::Range<usize>] {
        &[]
    }

    pub(crate) fn contains(&self, _address: usize) -> bool {
        false
    }

    /// Returns `true`, because the segments of images are unknown.
    pub(crate) fn has_room(&self, _address: usize, _size: usize) -> bool {
        true
    }

    /// # Safety
    ///
    /// No requirements: nothing is unmapped.
    pub(crate) unsafe fn close(self, _path: &Path) -> Result<bool, String> {
        Err(KEEPS_IMAGES.unwrap_or_default().to_owned())
    }
}

/// Placeholder for a snapshot of the process's resources, because resources cannot be listed on this platform.
#[derive(Debug)]
pub struct Snapshot;

impl Snapshot {
    /// Lists no resources.
    pub fn now() -> Self {
        Self
    }

    /// Returns an empty list, because resources are unknown.
    pub fn uses(&self) -> Vec<crate::ledger::uses::Use> {
        Vec::new()
    }
}

/// Uninhabited type, because fences are not supported.
#[derive(Debug)]
pub enum Fence {}

impl Fence {
    /// Fails, because the platform has no inaccessible pages.
    pub fn new(_size: usize, _label: &str) -> io::Result<Self> {
        unsupported()
    }

    /// Is never called, because no fence exists.
    pub fn bytes(&mut self) -> &mut [u8] {
        match *self {}
    }
}

fn unsupported<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Defines functions with a fixed result, because this platform cannot implement them.
macro_rules! fixed {
    ($($(#[$doc:meta])* $visible:vis fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty = $value:expr;)*) => {$(
        $(#[$doc])*
        $visible fn $name($($argument: $type),*) -> $result {
            $value
        }
    )*};
}

fixed! {
    pub(crate) fn are_panics_reported() -> bool = false;
    /// Fails, because exit handlers are not supported.
    pub fn at_exit(_handler: extern "C" fn()) -> io::Result<()> = unsupported();
    pub(crate) fn checkpoint(_is_any_ending: bool) -> u64 = 0;
    /// Fails, because descriptors cannot be listed.
    pub fn fds() -> io::Result<Vec<(i32, String)>> = unsupported();
    /// Returns `None`, because mapped files are unknown.
    pub fn file_at(_address: usize) -> Option<PathBuf> = None;
    pub(crate) fn forbids_code(_folder: &Path) -> bool = false;
    pub(crate) fn has_thread_locals_here() -> bool = false;
    /// Fails, because keys cannot be counted.
    pub fn keys_in_use() -> io::Result<usize> = unsupported();
    pub(crate) fn mapped_files() -> io::Result<Vec<PathBuf>> = unsupported();
    /// Fails, because descriptors cannot be counted.
    pub fn open_fds() -> io::Result<usize> = unsupported();
    pub(crate) fn opened_libraries() -> Vec<PathBuf> = Vec::new();
    pub(crate) fn own_ring(_fd: i32) -> bool = false;
    /// Returns zero, because reads of unmapped memory would fault on this platform.
    pub fn read_memory(_address: usize, _into: &mut [u8]) -> usize = 0;
    pub(crate) fn report_crashes(_files: [File; 3]) -> io::Result<()> = unsupported();
    pub(crate) fn reported_name(_tid: i32) -> Option<String> = None;
    /// Fails, because the memory in use is unknown.
    pub fn rss_kib() -> io::Result<u64> = unsupported();
    /// Fails, because threads cannot be listed.
    pub fn thread_names() -> io::Result<Vec<(i32, String)>> = unsupported();
    pub(crate) fn thread_number() -> Option<i32> = None;
    /// Returns `None`, because the stack is unknown.
    pub fn thread_stack() -> Option<std::ops::Range<usize>> = None;
    /// Fails, because threads cannot be counted.
    pub fn threads() -> io::Result<usize> = unsupported();
    pub(crate) fn unshare_folder() -> io::Result<()> = unsupported();
}

/// Does nothing, because waiting threads poll the word.
pub(crate) fn wake_all(_word: &AtomicU32) {}

/// Reason why every image stays mapped on this platform.
pub(crate) const KEEPS_IMAGES: Option<&str> = Some(if cfg!(target_env = "musl") {
    "the loader of musl never unmaps a library"
} else if cfg!(windows) {
    "plugins have no hooks on Windows, so their threads and thread-locals are unknown"
} else {
    "this host cannot unmap libraries on this platform"
});

/// Repairs of this platform. No repair is needed, because no image is unmapped.
pub(crate) const REPAIRS: &[Repair] = &[];

pub(crate) struct Records;

impl Records {
    pub(crate) fn new() -> Self {
        Self
    }

    pub(crate) fn is_ours(&self, _ledger: &Ledger) -> impl Fn(usize) -> bool {
        |_| false
    }
}

pub(crate) fn note_for_all(_address: usize) {}

pub(crate) fn forget_unmapped() {}

pub(crate) fn report_panics(_folder: File, _list: File) {}

pub(crate) fn write_panic(_at: &crate::panic_locations::At<'_>, _message: &str) {}

/// Does nothing, because this platform writes the file at its next sync.
pub fn start_writing(_file: &File, _range: std::ops::Range<u64>) {}

/// Returns the time since the first call of this function.
pub fn clock() -> std::time::Duration {
    static BEGAN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    BEGAN.get_or_init(std::time::Instant::now).elapsed()
}

pub use clock as coarse_clock;

#[cfg(all(test, unix))]
mod tests {
    use std::path::Path;

    use super::{Mapping, open_library};

    #[test]
    fn the_error_of_a_missing_library_contains_the_message_of_the_loader() {
        // SAFETY: the file does not exist, so no initializer runs.
        let opened = Mapping::open(Path::new("/none/libmissing.so"), |path| unsafe { open_library(path) });
        let error = opened.expect_err("no such file");
        assert!(error.contains("libmissing.so"), "{error}");
    }
}
