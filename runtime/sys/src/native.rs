//! Native libraries, opened by name: possible file names, search locations, open libraries, and open copies of user libraries. A native
//! library may have threads, handlers and destructors, so it stays open unless the caller guarantees that closing is safe. In contrast to
//! images, native libraries are closed without a check that they are unmapped.
#![expect(unsafe_code, reason = "opening a native library runs its initializers, closing it its finalizers")]

use std::ffi::CString;
use std::fmt;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use libloading::Library;

use crate::image::Digest;
use crate::image_error::NativeError;
use crate::stamp::Stamp;
use crate::user_library::{LibraryCopy, UserLibraryError, content_of, copy_of, file_names, find};

/// Search location of a library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NativeLocation<'a> {
    /// Only this file, with any name.
    File(&'a Path),
    /// Only this folder.
    Folder(&'a Path),
    /// Search path of the system's loader. Excludes the current folder.
    System,
}

/// Open native library. Dropping this value closes the library if the library was marked as unloadable, and otherwise leaves it open. Any
/// thread may use the value.
pub struct NativeLibrary {
    path: PathBuf,
    library: ManuallyDrop<Library>,
    is_unloadable: AtomicBool,
}

impl NativeLibrary {
    /// Opens the library at this path and runs its initializers. If the path has no folder, the system's loader searches for the library.
    ///
    /// # Safety
    /// The initializers of the library must be sound to run in this process.
    ///
    /// # Errors
    /// Fails if the loader rejects the library.
    pub unsafe fn open(path: &Path) -> Result<Self, NativeError> {
        // SAFETY: our caller vouches for the initializers.
        let library = unsafe { Library::new(path) }.map_err(NativeError::of)?;
        let (path, library) = (path.to_owned(), ManuallyDrop::new(library));
        Ok(Self { path, library, is_unloadable: AtomicBool::new(false) })
    }

    /// Finds a library by name and opens it. The name of the file may have the prefix and the suffix of the platform. Returns `None` if the
    /// folder or the search path has no such library.
    ///
    /// # Safety
    /// The requirements of [`Self::open`] apply.
    ///
    /// # Errors
    /// Fails if the loader rejects the file, or a file of that name in the folder.
    pub unsafe fn find(location: NativeLocation<'_>, name: &str) -> Result<Option<Self>, NativeFailure> {
        // SAFETY: our caller vouches for the initializers of libraries with this name.
        let open = |path: &Path| unsafe { Self::open(path) };
        let open_file = |path: &Path| {
            let opened = open(path);
            opened.map(Some).map_err(|error| NativeFailure { path: path.to_owned(), error })
        };
        match location {
            NativeLocation::File(path) => open_file(path),
            NativeLocation::Folder(folder) => path_in(folder, name).map_or(Ok(None), |path| open_file(&path)),
            NativeLocation::System => {
                let mut files = spellings(name).into_iter().filter(|file| !file.contains('/'));
                Ok(files.find_map(|file| open(Path::new(&file)).ok()))
            }
        }
    }

    /// Returns the path, or the name passed to the system's loader.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the address of a symbol, valid while this library is open.
    ///
    /// # Errors
    /// Fails if the library does not define the symbol.
    pub fn symbol(&self, name: &str) -> Result<*const (), NativeError> {
        let symbol = CString::new(name).map_err(|error| NativeError(error.to_string()))?;
        // SAFETY: any symbol has an address; its target is not read here.
        let found = unsafe { self.library.get::<*const ()>(symbol.as_bytes_with_nul()) };
        let address = *found.map_err(NativeError::of)?;
        crate::imp::note_for_all(address.addr());
        Ok(address)
    }

    /// Returns `true` if the library is closed on drop.
    #[must_use]
    pub fn is_unloadable(&self) -> bool {
        self.is_unloadable.load(Ordering::Relaxed)
    }

    /// Marks the library as closable on drop.
    ///
    /// # Safety
    /// After the library is closed, no thread, handler or destructor of the library may run, and no address in the library may be used.
    pub unsafe fn mark_unloadable(&self) {
        self.is_unloadable.store(true, Ordering::Relaxed);
    }
}

impl Drop for NativeLibrary {
    fn drop(&mut self) {
        if !*self.is_unloadable.get_mut() {
            return;
        }
        // SAFETY: the library is dropped once, here.
        let library = unsafe { ManuallyDrop::take(&mut self.library) };
        match library.close() {
            Ok(()) => crate::imp::forget_unmapped(),
            Err(error) => log!(WARN, path = %self.path.display(), %error, "a native library was not closed"),
        }
    }
}

impl fmt::Debug for NativeLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "native library at {}", self.path.display())
    }
}

/// Open private copy of a user library. Dropping the value closes the library, which runs its finalizers (`.fini_array`). Any thread may
/// use the value.
#[derive(Debug)]
pub struct UserLibrary {
    // This field is declared first, so that the library is closed before the copy is removed.
    library: NativeLibrary,
    copy: LibraryCopy,
}

impl UserLibrary {
    /// Opens the library with this name in `folder` and runs its initializers on this thread.
    ///
    /// # Safety
    /// The initializers and finalizers of every library in the folder must be sound. When the value is dropped, no thread or handler of the
    /// library may remain, and no address in the library may be used afterwards.
    ///
    /// # Errors
    /// Fails if the library does not exist, if the file is outside of the folder, or if the loader rejects the library.
    pub unsafe fn open(folder: &Path, name: &str) -> Result<Self, UserLibraryError> {
        let copy = copy_of(folder, name)?;
        // SAFETY: our caller vouches for the library; this is a copy of it.
        let opened = unsafe { NativeLibrary::open(&copy.path) };
        let library = opened.map_err(|error| UserLibraryError::Open { file: copy.source.clone(), error })?;
        // SAFETY: our caller vouches that the library can be closed on drop.
        unsafe { library.mark_unloadable() };
        Ok(Self { library, copy })
    }

    /// Returns the stamp of the library with this name in `folder`. Returns `None` if no such library exists.
    #[must_use]
    pub fn stamp(folder: &Path, name: &str) -> Option<Stamp> {
        find(folder, name).ok().map(|(.., found)| Stamp::of(&found))
    }

    /// Returns the digest of the library with this name in `folder`. Returns `None` if no such library exists or its file is being written.
    #[must_use]
    pub fn digest_in(folder: &Path, name: &str) -> Option<Digest> {
        let (source, file, found) = find(folder, name).ok()?;
        content_of(&source, file, &found).ok().map(|(_, digest)| digest)
    }

    /// Returns the digest of the mapped file.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.copy.digest
    }

    /// Returns the file that was copied.
    #[must_use]
    pub fn source(&self) -> &Path {
        &self.copy.source
    }

    /// Returns the mapped file, a private copy.
    #[must_use]
    pub fn mapped(&self) -> &Path {
        self.library.path()
    }

    /// Returns the address of a symbol, valid while this library is open.
    ///
    /// # Errors
    /// The library does not define the symbol.
    pub fn symbol(&self, name: &str) -> Result<*const (), NativeError> {
        self.library.symbol(name)
    }
}

/// Error of a library that was found but could not be opened.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}: {error}", path.display())]
pub struct NativeFailure {
    /// Path of the library.
    pub path: PathBuf,
    /// Error of the loader.
    pub error: NativeError,
}

fn path_in(folder: &Path, name: &str) -> Option<PathBuf> {
    spellings(name).into_iter().map(|file| folder.join(file)).find(|path| path.is_file())
}

/// Returns the possible file names of a library: as written, and in the form of the platform.
fn spellings(name: &str) -> Vec<String> {
    let mut spellings: Vec<_> = std::iter::once(name.to_owned()).chain(file_names(name)).collect();
    spellings.dedup();
    spellings
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{NativeLibrary, NativeLocation, UserLibrary, path_in, spellings};

    #[test]
    fn library_names_have_an_optional_platform_prefix_and_suffix() {
        let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
        let mut expected = vec!["z".to_owned(), format!("{prefix}z{suffix}"), format!("z{suffix}")];
        // File names on Windows have no prefix, so two of the spellings are equal.
        expected.dedup();
        assert_eq!(spellings("z"), expected);
    }

    #[test]
    fn exact_names_come_first_and_folders_are_not_libraries() {
        let folder = tempfile::tempdir().expect("a folder");
        let found = |name: &str| path_in(folder.path(), name).and_then(|path| Some(path.file_name()?.to_owned()));
        let platform = spellings("z").swap_remove(1);
        assert_eq!(found("z"), None);
        fs::write(folder.path().join(&platform), "no library").expect("written");
        assert_eq!(found("z"), Some(platform.into()));
        fs::create_dir(folder.path().join("z")).expect("made");
        assert!(found("z").is_some_and(|name| name != "z"));
        // SAFETY: a file of a few bytes has no initializer.
        let refused = unsafe { NativeLibrary::find(NativeLocation::Folder(folder.path()), "z") };
        assert!(refused.is_err_and(|failure| failure.path.starts_with(folder.path())));
    }

    #[test]
    fn invalid_libraries_are_refused_and_their_copy_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = spellings("z").swap_remove(1);
        fs::write(folder.path().join(&file), "no library").expect("written");
        // SAFETY: a file of a few bytes has no initializer.
        let refused = unsafe { UserLibrary::open(folder.path(), "z") };
        assert!(refused.as_ref().is_err_and(|error| error.to_string().contains(&file)), "{refused:?}");
    }

    #[test]
    fn paths_are_not_searched_by_the_system() {
        for name in ["no-such-library", "./no-such-library"] {
            // SAFETY: no library has that name.
            let found = unsafe { NativeLibrary::find(NativeLocation::System, name) };
            assert!(found.is_ok_and(|found| found.is_none()), "{name}");
        }
    }

    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[test]
    fn an_open_library_returns_addresses_and_reports_missing_symbols() {
        // SAFETY: the C library is in this process already, so its initializers do not run again.
        let library = unsafe { NativeLibrary::open(Path::new("libc.so.6")) }.expect("it is there");
        assert!(library.symbol("getpid").is_ok_and(|address| !address.is_null()));
        assert!(library.symbol("no_such_symbol").expect_err("there is none").to_string().contains("no_such_symbol"));
        assert!(library.symbol("with\0nul").is_err());
        assert!(!library.is_unloadable());
    }

    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[test]
    fn a_closed_library_leaves_only_addresses_of_mapped_libraries() {
        // Null page, in which no library is mapped.
        const NOWHERE: usize = 1;
        // SAFETY: the C library is in this process already, so its initializers do not run again.
        let library = unsafe { NativeLibrary::open(Path::new("libc.so.6")) }.expect("it is there");
        // SAFETY: the C library stays open, because this program needs it.
        unsafe { library.mark_unloadable() };
        let function = library.symbol("getpid").expect("it is there").addr();
        crate::imp::note_for_all(NOWHERE);
        drop(library);
        assert!(!crate::imp::is_noted_for_all(NOWHERE));
        assert!(crate::imp::is_noted_for_all(function));
    }
}
