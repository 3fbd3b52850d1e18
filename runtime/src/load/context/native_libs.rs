//! Native libraries used by modules of a context. They are kept with the context, and closed after it only if the host declares
//! this safe. `alcedo-sys` finds and opens them.
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

/// Native library found by a context. Clones share it; it stays open while a clone exists, and permanently unless it was marked
/// unloadable. Any thread.
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

    /// Returns the path, or the name passed to the system's loader.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.opened.library.path()
    }

    /// Returns the address of a symbol, valid while this library is open.
    ///
    /// # Errors
    /// If the library has no such symbol.
    pub fn symbol(&self, name: &str) -> Result<*const (), ContextError> {
        self.opened.library.symbol(name).map_err(|error| refused(self.path(), &error))
    }

    /// Allows closing the library once its context is dead and no handle is left.
    ///
    /// # Safety
    /// The library has no thread, handler or destructor that would run afterwards, and no address in it is used then.
    pub unsafe fn mark_unloadable(&self) {
        // SAFETY: the caller promises the same.
        unsafe { self.opened.library.mark_unloadable() };
    }
}

impl fmt::Debug for NativeLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "native library {} at {}", self.opened.name, self.path().display())
    }
}

/// Native library that a context holds, or has left open.
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
    /// Generation that requested the library.
    pub context: ContextId,
    /// Requested name.
    pub name: String,
    /// Path of the library.
    pub path: PathBuf,
    /// Set if the library is closed after its context.
    pub unloadable: bool,
    /// Set for a closable library after its context; `None` while the library is held or if it stays open permanently.
    open: Option<Weak<Opened>>,
}

impl RetainedNative {
    pub(super) fn is_open(&self) -> bool {
        self.open.as_ref().is_none_or(|open| open.strong_count() != 0)
    }
}

pub(super) enum Source<'a> {
    Location(NativeLocation<'a>),
    File(&'a Path),
}

#[derive(Default)]
pub(super) struct Natives {
    found: Mutex<BTreeMap<String, NativeLibrary>>,
}

impl Natives {
    /// Lists the held libraries.
    pub(super) fn list(&self, generation: ContextId) -> Vec<RetainedNative> {
        lock(&self.found).values().map(|library| retained(generation, library, true)).collect()
    }

    /// Releases the libraries at the end of the generation. Unloadable ones are closed once no handle is left; the others stay
    /// open. Returns the list.
    pub(super) fn retire(&self, generation: ContextId) -> Vec<RetainedNative> {
        let found = std::mem::take(&mut *lock(&self.found));
        found.values().map(|library| retained(generation, library, false)).collect()
    }

    pub(super) fn get(&self, name: &str) -> Option<NativeLibrary> {
        lock(&self.found).get(name).cloned()
    }

    /// Opens a library and holds it under `name`. `None` if the location has no such library. Returns an error if the loader
    /// rejects the library.
    pub(super) fn open(&self, name: &str, source: Source<'_>) -> Result<Option<NativeLibrary>, ContextError> {
        // SAFETY: the library is named by the host's configuration or by its resolver, and is run as its author intended.
        let found = unsafe {
            match source {
                Source::Location(location) => alcedo_sys::NativeLibrary::find(location, name),
                Source::File(path) => alcedo_sys::NativeLibrary::open(path)
                    .map(Some)
                    .map_err(|error| NativeFailure { path: path.to_owned(), error }),
            }
        };
        let found = found.map_err(|NativeFailure { path, error }| refused(&path, &error))?;
        Ok(found.map(|library| {
            let opened = Arc::new(Opened { name: name.to_owned(), library });
            // Keeps one library per name: the first, which may be from another thread.
            lock(&self.found).entry(name.to_owned()).or_insert(NativeLibrary { opened }).clone()
        }))
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
