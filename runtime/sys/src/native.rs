//! Native libraries that are opened by name: how their files may be called, where they are looked for, and one that is
//! open. A library stays open unless the caller vouches that it can be closed, since it may have threads, handlers and
//! destructors of its own. It is none of the images that are unmapped in a way that can be believed.
#![expect(unsafe_code, reason = "opening a native library runs its initializers, closing it its finalizers")]

use std::ffi::CString;
use std::fmt;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use libloading::Library;

/// Where a library is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NativePlace<'a> {
    /// In this folder, and nowhere else.
    Folder(&'a Path),
    /// Where the system's loader looks; what stands in the current folder is not the system's.
    System,
}

/// An open native library. It is closed when it is dropped if it was marked unloadable, and stays open otherwise. Any thread.
pub struct NativeLibrary {
    path: PathBuf,
    library: ManuallyDrop<Library>,
    is_unloadable: AtomicBool,
}

/// The loader's words, or those about a name that is none.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct NativeError(String);

impl NativeLibrary {
    /// Opens the library of that file, or, where the path has no folder, the one that the system's loader finds. Its
    /// initializers run.
    ///
    /// # Safety
    /// The caller that names the library vouches for it: its initializers do what its author meant, and it fits this
    /// process.
    ///
    /// # Errors
    /// When the loader refuses it.
    pub unsafe fn open(path: &Path) -> Result<Self, NativeError> {
        // SAFETY: our caller vouches for the initializers.
        let library = unsafe { Library::new(path) }.map_err(|error| in_words(&error))?;
        let (path, library) = (path.to_owned(), ManuallyDrop::new(library));
        Ok(Self { path, library, is_unloadable: AtomicBool::new(false) })
    }

    /// Finds a library by name, written with or without what the platform writes before and behind it, and opens it; `None`
    /// where there is none in that place.
    ///
    /// # Safety
    /// As for [`Self::open`].
    ///
    /// # Errors
    /// When a file of that name is in the folder, and the loader refuses it.
    pub unsafe fn find(place: NativePlace<'_>, name: &str) -> Result<Option<Self>, NativeFailure> {
        match place {
            NativePlace::Folder(folder) => {
                let Some(path) = beside(folder, name) else { return Ok(None) };
                // SAFETY: our caller vouches for the initializers.
                let opened = unsafe { Self::open(&path) };
                opened.map(Some).map_err(|error| NativeFailure { path, error })
            }
            NativePlace::System => {
                Ok(spellings(name).into_iter().filter(|file| !file.contains('/')).find_map(|file| {
                    // SAFETY: our caller vouches for the initializers.
                    unsafe { Self::open(Path::new(&file)) }.ok()
                }))
            }
        }
    }

    /// Where it was found, or the name given to the system's loader.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The address of a symbol. It is good as long as this library is open.
    ///
    /// # Errors
    /// When it has no such symbol.
    pub fn symbol(&self, name: &str) -> Result<*const (), NativeError> {
        let symbol = CString::new(name).map_err(|error| NativeError(error.to_string()))?;
        // SAFETY: an address is read whatever the symbol is; what it points to is not read here.
        let found = unsafe { self.library.get::<*const ()>(symbol.as_bytes_with_nul()) };
        let address = *found.map_err(|error| in_words(&error))?;
        crate::imp::note_for_all(address.addr());
        Ok(address)
    }

    /// Whether it is closed when it is dropped.
    #[must_use]
    pub fn is_unloadable(&self) -> bool {
        self.is_unloadable.load(Ordering::Relaxed)
    }

    /// Says that it may be closed when it is dropped.
    ///
    /// # Safety
    /// It has no thread, handler or destructor that would run afterwards, and no address in it is followed then.
    pub unsafe fn mark_unloadable(&self) {
        self.is_unloadable.store(true, Ordering::Relaxed);
    }
}

impl Drop for NativeLibrary {
    fn drop(&mut self) {
        if !*self.is_unloadable.get_mut() {
            return;
        }
        // SAFETY: dropped once, here.
        let library = unsafe { ManuallyDrop::take(&mut self.library) };
        if let Err(error) = library.close() {
            tracing::warn!(path = %self.path.display(), %error, "a native library was not closed");
        }
    }
}

impl fmt::Debug for NativeLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "native library at {}", self.path.display())
    }
}

/// A library that was found and could not be opened.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}: {error}", path.display())]
pub struct NativeFailure {
    /// Where it was found.
    pub path: PathBuf,
    /// What the loader says.
    pub error: NativeError,
}

/// The file in `folder` that is meant by `name`.
fn beside(folder: &Path, name: &str) -> Option<PathBuf> {
    spellings(name).into_iter().map(|file| folder.join(file)).find(|path| path.is_file())
}

/// How a library's file may be called: as it was written, and as the platform writes it.
fn spellings(name: &str) -> Vec<String> {
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let mut spellings = vec![name.to_owned(), format!("{prefix}{name}{suffix}"), format!("{name}{suffix}")];
    spellings.dedup();
    spellings
}

fn in_words(error: &libloading::Error) -> NativeError {
    use std::error::Error as _;
    NativeError(error.source().map_or_else(|| error.to_string(), ToString::to_string))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{NativeLibrary, NativePlace, beside, spellings};

    #[test]
    fn a_name_is_written_with_or_without_what_the_platform_adds() {
        let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
        assert_eq!(spellings("z"), ["z".to_owned(), format!("{prefix}z{suffix}"), format!("z{suffix}")]);
    }

    #[test]
    fn in_a_folder_the_name_as_it_was_written_comes_first_and_a_folder_is_no_library() {
        let folder = tempfile::tempdir().expect("a folder");
        let found = |name: &str| beside(folder.path(), name).and_then(|path| Some(path.file_name()?.to_owned()));
        let platform = spellings("z").swap_remove(1);
        assert_eq!(found("z"), None);
        fs::write(folder.path().join(&platform), "no library").expect("written");
        assert_eq!(found("z"), Some(platform.into()));
        fs::create_dir(folder.path().join("z")).expect("made");
        assert!(found("z").is_some_and(|name| name != "z"));
        // SAFETY: a file of a few words has no initializer.
        let refused = unsafe { NativeLibrary::find(NativePlace::Folder(folder.path()), "z") };
        assert!(refused.is_err_and(|failure| failure.path.starts_with(folder.path())));
    }

    #[test]
    fn the_system_is_not_asked_for_a_path() {
        for name in ["no-such-library", "./no-such-library"] {
            // SAFETY: there is no library of that name.
            let found = unsafe { NativeLibrary::find(NativePlace::System, name) };
            assert!(found.is_ok_and(|found| found.is_none()), "{name}");
        }
    }

    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[test]
    fn an_open_library_gives_addresses_and_says_what_it_has_not() {
        // SAFETY: the C library is in this process already.
        let library = unsafe { NativeLibrary::open(Path::new("libc.so.6")) }.expect("it is there");
        assert!(library.symbol("getpid").is_ok_and(|address| !address.is_null()));
        assert!(library.symbol("no_such_symbol").expect_err("there is none").to_string().contains("no_such_symbol"));
        assert!(library.symbol("with\0nul").is_err());
        assert!(!library.is_unloadable());
    }
}
