//! Native libraries that the modules of a context need: found in a fixed order, kept with the context, and closed after
//! it only where the host vouches that they can be closed. How one is looked up in a place and opened is
//! `alcedo-sys`'s.
#![expect(unsafe_code, reason = "vouches for the native libraries that the host's configuration names")]

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use alcedo_sys::{NativeError, NativeFailure, NativePlace};

use crate::load::context_id::ContextId;
use crate::load::error::context::ContextError;

/// An open native library, by the name it was requested by.
struct Opened {
    name: String,
    library: alcedo_sys::NativeLibrary,
}

/// A native library that a context has found. A clone is the same one; it stays open while any of them is there, and
/// after that unless it was marked unloadable. Any thread.
#[derive(Clone)]
pub struct NativeLibrary {
    opened: Arc<Opened>,
}

impl NativeLibrary {
    /// The name it was requested by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.opened.name
    }

    /// Where it was found, or the name given to the system's loader.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.opened.library.path()
    }

    /// The address of a symbol. It is good as long as this library is open.
    ///
    /// # Errors
    /// When it has no such symbol.
    pub fn symbol(&self, name: &str) -> Result<*const (), ContextError> {
        self.opened.library.symbol(name).map_err(|error| refused(self.path(), &error))
    }

    /// Says that it may be closed once its context is dead and no handle is left.
    ///
    /// # Safety
    /// It has no thread, handler or destructor that would run afterwards, and no address in it is used then.
    pub unsafe fn mark_unloadable(&self) {
        // SAFETY: our caller vouches for the same.
        unsafe { self.opened.library.mark_unloadable() };
    }
}

impl fmt::Debug for NativeLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "native library {} at {}", self.opened.name, self.path().display())
    }
}

/// A native library that a context holds, or has left open behind it.
#[derive(Clone, Debug)]
pub struct RetainedNative {
    /// The generation that looked it up.
    pub context: ContextId,
    /// The name it was requested by.
    pub name: String,
    /// Where it was found.
    pub path: PathBuf,
    /// Whether it is closed after its context.
    pub unloadable: bool,
    /// Open for ever, or as long as there is a handle.
    open: Option<Weak<Opened>>,
}

impl RetainedNative {
    /// Whether it is still open.
    pub(super) fn is_open(&self) -> bool {
        self.open.as_ref().is_none_or(|open| open.strong_count() != 0)
    }
}

/// The native libraries of one generation.
#[derive(Default)]
pub(super) struct Natives {
    found: Mutex<BTreeMap<String, NativeLibrary>>,
}

impl Natives {
    /// What the generation holds.
    pub(super) fn list(&self, context: ContextId) -> Vec<RetainedNative> {
        self.found().values().map(|library| retained(context, library, true)).collect()
    }

    /// The generation is over: what may be closed is, once no handle is left; the rest stays open and is listed.
    pub(super) fn retire(&self, context: ContextId) -> Vec<RetainedNative> {
        let found = std::mem::take(&mut *self.found());
        found.values().map(|library| retained(context, library, false)).collect()
    }

    /// The one of that name.
    pub(super) fn get(&self, name: &str) -> Option<NativeLibrary> {
        self.found().get(name).cloned()
    }

    /// Opens a library that is looked for by that name. Another thread may have been faster: one library per name, and the first
    /// stays.
    ///
    /// # Errors
    /// When the loader refuses what is there.
    pub(super) fn open(&self, source: Source<'_>, name: &str) -> Result<Option<NativeLibrary>, ContextError> {
        // SAFETY: the host's configuration, or its own resolver, names the library; it is run as its author meant.
        let found = unsafe {
            match source {
                Source::Place(place) => alcedo_sys::NativeLibrary::find(place, name),
                Source::File(path) => alcedo_sys::NativeLibrary::open(path)
                    .map(Some)
                    .map_err(|error| NativeFailure { path: path.to_owned(), error }),
            }
        };
        let Some(library) = found.map_err(|NativeFailure { path, error }| refused(&path, &error))? else {
            return Ok(None);
        };
        let opened = Arc::new(Opened { name: name.to_owned(), library });
        Ok(Some(self.found().entry(name.to_owned()).or_insert(NativeLibrary { opened }).clone()))
    }

    fn found(&self) -> MutexGuard<'_, BTreeMap<String, NativeLibrary>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Where a library is opened from.
pub(super) enum Source<'a> {
    Place(NativePlace<'a>),
    File(&'a Path),
}

fn refused(path: &Path, error: &NativeError) -> ContextError {
    ContextError::Native { path: path.to_owned(), reason: error.to_string() }
}
