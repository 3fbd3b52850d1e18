//! Native libraries that modules of a context use. The context keeps these libraries open. At the unload of the context, only libraries
//! that the host has marked as unloadable are closed. `alcedo-sys` finds and opens libraries.
#![expect(unsafe_code, reason = "vouches for the native libraries that the host's configuration names")]

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};

use alcedo_sys::{NativeError, NativeFailure, NativeLocation};

use crate::load::context_id::ContextId;
use crate::load::error::context::ContextError;
use crate::sync::lock;

struct Opened {
    name: String,
    library: alcedo_sys::NativeLibrary,
}

/// Native library that was found for a context. Clones refer to the same library. A library that is marked as unloadable stays open while
/// its context or a clone exists. Without this mark, a library stays open permanently. Usable on any thread.
///
/// # Examples
/// ```rust,no_run
/// use alcedo_runtime::{ContextError, LoadContext};
///
/// fn find_codec(slim: &LoadContext) -> Result<*const (), ContextError> {
///     let library = slim.native_library("vorbis", None)?;
///     println!("{} is {}", library.name(), library.path().display());
///     library.symbol("vorbis_info_init")
/// }
/// ```
#[derive(Clone)]
pub struct NativeLibrary {
    opened: Arc<Opened>,
}

impl NativeLibrary {
    /// Returns the requested name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.opened.name
    }

    /// Returns the path of the library, or the name that was passed to the dynamic linker.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.opened.library.path()
    }

    /// Returns the address of a symbol. The address is valid while this library is open.
    ///
    /// # Errors
    /// Returns an error if the library does not define the symbol.
    pub fn symbol(&self, name: &str) -> Result<*const (), ContextError> {
        self.opened.library.symbol(name).map_err(|error| refused(self.path(), &error))
    }

    /// Marks the library as unloadable. The library is then closed when its context is dead and the last handle was dropped.
    ///
    /// # Safety
    /// After the close, no thread, handler or destructor of the library may run. After the close, no address in the library may be used.
    pub unsafe fn mark_unloadable(&self) {
        // SAFETY: the caller of this function makes the same promise.
        unsafe { self.opened.library.mark_unloadable() };
    }
}

impl fmt::Debug for NativeLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "native library {} at {}", self.opened.name, self.path().display())
    }
}

/// Open native library of a context. The context may be dead.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
///
/// let runtime = Runtime::builder().build()?;
/// for library in runtime.contexts().natives() {
///     println!("{} from {}", library.name, library.path.display());
/// }
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RetainedNative {
    /// Id of the generation that requested the library.
    pub context: ContextId,
    /// Requested name of the library.
    pub name: String,
    /// Path of the library.
    pub path: PathBuf,
    /// Set if the library is marked as unloadable. The library is then closed after the unload of its context is over.
    pub unloadable: bool,
    /// Weak reference to an unloadable library after the unload of its context. `None` while the context holds the library. Always `None`
    /// for a library that stays open permanently.
    open: Option<Weak<Opened>>,
}

impl RetainedNative {
    pub(super) fn is_open(&self) -> bool {
        self.open.as_ref().is_none_or(|open| open.strong_count() != 0)
    }
}

#[derive(Default)]
pub(super) struct Natives {
    found: Mutex<BTreeMap<String, NativeLibrary>>,
}

impl Natives {
    /// Lists the libraries that the generation holds.
    pub(super) fn list(&self, generation: ContextId) -> Vec<RetainedNative> {
        lock(&self.found).values().map(|library| retained(generation, library, true)).collect()
    }

    /// Releases the libraries at the end of the generation. An unloadable library is closed when its last handle is dropped. All other
    /// libraries stay open. Returns the released libraries.
    pub(super) fn retire(&self, generation: ContextId) -> Vec<RetainedNative> {
        let found = std::mem::take(&mut *lock(&self.found));
        found.values().map(|library| retained(generation, library, false)).collect()
    }

    /// Keeps the libraries open permanently.
    pub(super) fn leak(&self) {
        std::mem::forget(lock(&self.found).values().cloned().collect::<Vec<_>>());
    }

    pub(super) fn get(&self, name: &str) -> Option<NativeLibrary> {
        lock(&self.found).get(name).cloned()
    }

    /// Opens a library and stores the library under `name`. Returns `None` if the location does not contain the library. Returns an error
    /// if the dynamic linker rejects the library.
    pub(super) fn open(&self, name: &str, location: NativeLocation<'_>) -> Result<Option<NativeLibrary>, ContextError> {
        // SAFETY: the host's configuration or resolver names the library. The library runs as its author intended.
        let found = unsafe { alcedo_sys::NativeLibrary::find(location, name) };
        let found = found.map_err(|NativeFailure { path, error }| refused(&path, &error))?;
        let Some(library) = found else { return Ok(None) };
        let mut found = lock(&self.found);
        // Keeps one library per name. A concurrent thread or a resolver may have already stored a library under this name.
        let Some(stored) = found.get(name).cloned() else {
            let opened = NativeLibrary { opened: Arc::new(Opened { name: name.to_owned(), library }) };
            found.insert(name.to_owned(), opened.clone());
            return Ok(Some(opened));
        };
        drop(found);
        if stored.path() == library.path() {
            // SAFETY: `stored` has opened the same library, so dropping `library` does not close the library, but only removes a use.
            unsafe { library.mark_unloadable() };
        }
        Ok(Some(stored))
    }
}

fn retained(context: ContextId, library: &NativeLibrary, is_held: bool) -> RetainedNative {
    let unloadable = library.opened.library.is_unloadable();
    RetainedNative {
        context,
        name: library.opened.name.clone(),
        path: library.path().to_owned(),
        unloadable,
        open: (unloadable && !is_held).then(|| Arc::downgrade(&library.opened)),
    }
}

fn refused(path: &Path, error: &NativeError) -> ContextError {
    ContextError::Native { path: path.to_owned(), reason: error.to_string() }
}
