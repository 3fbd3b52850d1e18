//! Native libraries that the modules of a context need: found in a fixed order, kept with the context, and closed after
//! it only where the host vouches that they can be closed. How one is looked up in a place and opened is
//! `alcedo-sys`'s.
#![expect(unsafe_code, reason = "vouches for the native libraries that the host's configuration names")]

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use alcedo_sys::{NativeError, NativeFailure, NativePlace};

use crate::callback::Share;
use crate::lease::LeaseKind;
use crate::load::context::free_generation::FreeGeneration;
use crate::load::context::resolvers::{NativeResolver, ask};
use crate::load::context::under_way;
use crate::load::context::waits::Sort;
use crate::load::context_id::ContextId;
use crate::load::error::context::{Attempt, ContextError};
use crate::load::paths::ensure_absolute;

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
    pub(super) fn list(&self, generation: &FreeGeneration) -> Vec<RetainedNative> {
        self.found().values().map(|library| retained(generation, library, true)).collect()
    }

    /// The generation is over: what may be closed is, once no handle is left; the rest stays open and is listed.
    pub(super) fn retire(&self, generation: &FreeGeneration) -> Vec<RetainedNative> {
        let found = std::mem::take(&mut *self.found());
        found.values().map(|library| retained(generation, library, false)).collect()
    }

    fn found(&self) -> MutexGuard<'_, BTreeMap<String, NativeLibrary>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn retained(generation: &FreeGeneration, library: &NativeLibrary, is_held: bool) -> RetainedNative {
    let unloadable = library.opened.library.is_unloadable();
    RetainedNative {
        context: generation.id,
        name: library.opened.name.clone(),
        path: library.path().to_owned(),
        unloadable,
        open: (unloadable && !is_held).then(|| Arc::downgrade(&library.opened)),
    }
}

/// Finds a native library for `generation`, and for one of its modules where that is named.
///
/// # Errors
/// When it is not found, a resolver fails or gives a path that is not absolute, or the loader refuses what was found.
pub(super) fn find(
    generation: &Arc<FreeGeneration>,
    name: &str,
    module: Option<&str>,
) -> Result<NativeLibrary, ContextError> {
    let action = format!("looking up the native library {name}");
    let lease = generation.leases.take_inside(LeaseKind::Call, action.as_str());
    let _busy = lease.map_err(|sealed| ContextError::sealed(sealed, action))?;
    let mut search = Search { generation, name, trace: Vec::new() };
    if name.is_empty() {
        // To the system's loader that would be this very program.
        let trace = vec![Attempt::new("the name", "is empty")];
        return Err(ContextError::NativeNotFound { context: generation.title(), name: name.to_owned(), trace });
    }
    if let Some(found) = generation.natives.found().get(name) {
        return Ok(found.clone());
    }
    let _asking = under_way::begin(Sort::Asking, &[generation.native_work(name, module)])?;
    search.trace.push(Attempt::new("own libraries", "did not have it"));
    let resolvers = generation.resolvers.of_natives(module);
    let of_module = module.zip(resolvers.of_module.as_ref());
    if let Some((module, resolver)) = of_module
        && let Some(found) = search.ask(&format!("the resolver of module {module}"), resolver)?
    {
        return Ok(found);
    }
    if let Some(resolver) = &resolvers.resolver
        && let Some(found) = search.ask("the resolver", resolver)?
    {
        return Ok(found);
    }
    if let Some(found) = search.probe(module)? {
        return Ok(found);
    }
    for (at, handler) in resolvers.handlers.iter().enumerate() {
        if let Some(found) = search.ask(&format!("handler {}", at + 1), handler)? {
            return Ok(found);
        }
    }
    let Search { trace, .. } = search;
    Err(ContextError::NativeNotFound { context: generation.title(), name: name.to_owned(), trace })
}

struct Search<'a> {
    generation: &'a Arc<FreeGeneration>,
    name: &'a str,
    trace: Vec<Attempt>,
}

/// Where a library is opened from.
enum Source<'a> {
    Place(NativePlace<'a>),
    File(&'a Path),
}

impl Search<'_> {
    /// Asks a resolver, which answers with a path.
    fn ask(&mut self, who: &str, resolver: &Share<NativeResolver>) -> Result<Option<NativeLibrary>, ContextError> {
        let Some(path) = ask(&self.generation.title(), who, self.name, || resolver(self.name))? else {
            self.trace.push(Attempt::new(who, "did not have it"));
            return Ok(None);
        };
        ensure_absolute(&path, |path| ContextError::PathNotAbsolute { path })?;
        self.open(&path)
    }

    /// What is tried without a resolver: the name as a path, the folders of the modules, the system.
    fn probe(&mut self, module: Option<&str>) -> Result<Option<NativeLibrary>, ContextError> {
        let path = Path::new(self.name);
        if path.is_absolute() {
            if path.exists() {
                return self.open(path);
            }
            self.trace.push(Attempt::new("the path itself", "is no file"));
            return Ok(None);
        }
        let modules = self.generation.modules();
        let asking = modules.iter().filter(|known| module.is_none_or(|module| known.name() == module));
        let mut folders: Vec<_> = asking.filter_map(|module| module.folder()).collect();
        folders.dedup();
        for folder in folders {
            if let Some(found) = self.look(NativePlace::Folder(folder))? {
                return Ok(Some(found));
            }
            self.trace.push(Attempt::new(format!("the folder {}", folder.display()), "has none"));
        }
        if let Some(found) = self.look(NativePlace::System)? {
            return Ok(Some(found));
        }
        self.trace.push(Attempt::new("the system's loader", "did not find it"));
        Ok(None)
    }

    fn look(&self, place: NativePlace<'_>) -> Result<Option<NativeLibrary>, ContextError> {
        self.load(Source::Place(place))
    }

    fn open(&self, path: &Path) -> Result<Option<NativeLibrary>, ContextError> {
        self.load(Source::File(path))
    }

    fn load(&self, source: Source<'_>) -> Result<Option<NativeLibrary>, ContextError> {
        // SAFETY: the host's configuration, or its own resolver, names the library; it is run as its author meant.
        let found = unsafe {
            match source {
                Source::Place(place) => alcedo_sys::NativeLibrary::find(place, self.name),
                Source::File(path) => alcedo_sys::NativeLibrary::open(path)
                    .map(Some)
                    .map_err(|error| NativeFailure { path: path.to_owned(), error }),
            }
        };
        let found = found.map_err(|NativeFailure { path, error }| refused(&path, &error))?;
        Ok(found.map(|library| self.keep(library)))
    }

    fn keep(&self, library: alcedo_sys::NativeLibrary) -> NativeLibrary {
        let opened = Arc::new(Opened { name: self.name.to_owned(), library });
        // Another thread may have been faster: one library per name, and the first stays.
        self.generation.natives.found().entry(self.name.to_owned()).or_insert(NativeLibrary { opened }).clone()
    }
}

fn refused(path: &Path, error: &NativeError) -> ContextError {
    ContextError::Native { path: path.to_owned(), reason: error.to_string() }
}
