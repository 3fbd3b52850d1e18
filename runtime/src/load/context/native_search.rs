//! Searches for native libraries in a fixed order. The order is: open libraries, the resolver of the module, the resolver of the context,
//! the folders of the modules, the system, and the handlers.

use std::path::Path;
use std::sync::Arc;

use alcedo_sys::NativeLocation;

use crate::load::context::free_generation::FreeGeneration;
use crate::load::context::in_progress;
use crate::load::context::native_libs::NativeLibrary;
use crate::load::context::resolvers::{NamedResolver, call_resolver};
use crate::load::context::waits::Sort;
use crate::load::error::context::{Attempt, ContextError};
use crate::load::paths::ensure_absolute;

/// Finds a native library for `generation`, optionally for one of its modules. Returns an error if no library is found, if a
/// resolver fails or returns a relative path, or if the dynamic linker rejects the library.
pub(super) fn find(
    generation: &Arc<FreeGeneration>,
    name: &str,
    module: Option<&str>,
) -> Result<NativeLibrary, ContextError> {
    let _busy = generation.busy(&format!("looking up the native library {name}"))?;
    let mut search = Search { generation, name, trace: Vec::new() };
    let found = search.run(module)?;
    found.ok_or_else(|| ContextError::NativeNotFound {
        context: generation.title(),
        name: name.to_owned(),
        trace: search.trace,
    })
}

struct Search<'a> {
    generation: &'a Arc<FreeGeneration>,
    name: &'a str,
    trace: Vec<Attempt>,
}

impl Search<'_> {
    fn run(&mut self, module: Option<&str>) -> Result<Option<NativeLibrary>, ContextError> {
        if self.name.is_empty() {
            // Rejects an empty name, because the dynamic linker would resolve an empty name to this program.
            self.trace.push(Attempt::new("the name", "is empty"));
            return Ok(None);
        }
        if let Some(found) = self.generation.natives.get(self.name) {
            return Ok(Some(found));
        }
        let _asking = in_progress::begin(Sort::Asking, &[self.generation.native_work(self.name, module)])?;
        self.trace.push(Attempt::new("own libraries", "did not have it"));
        let (resolvers, handlers) = self.generation.resolvers.of_natives(module);
        if let Some(found) = self.call_each(&resolvers)? {
            return Ok(Some(found));
        }
        match self.probe(module)? {
            None => self.call_each(&handlers),
            found => Ok(found),
        }
    }

    /// Calls resolvers until one of them returns a path, and opens the library at this path.
    fn call_each(&mut self, resolvers: &[NamedResolver]) -> Result<Option<NativeLibrary>, ContextError> {
        for (source, resolver) in resolvers {
            if let Some(path) = call_resolver(&self.generation.title(), source, self.name, || resolver(self.name))? {
                ensure_absolute(&path, |path| ContextError::PathNotAbsolute { path })?;
                return self.open(NativeLocation::File(&path));
            }
            self.trace.push(Attempt::new(source, "did not have it"));
        }
        Ok(None)
    }

    /// Searches for the library without resolvers. Tries the name as a path, then the folders of the modules, and then the system.
    fn probe(&mut self, module: Option<&str>) -> Result<Option<NativeLibrary>, ContextError> {
        let path = Path::new(self.name);
        if path.is_absolute() {
            if path.exists() {
                return self.open(NativeLocation::File(path));
            }
            self.trace.push(Attempt::new("the path itself", "is not a file"));
            return Ok(None);
        }
        let modules = self.generation.modules();
        let asking = modules.iter().filter(|known| module.is_none_or(|module| known.name() == module));
        let mut folders: Vec<_> = asking.filter_map(|module| module.folder()).collect();
        folders.dedup();
        for folder in folders {
            if let Some(found) = self.open(NativeLocation::Folder(folder))? {
                return Ok(Some(found));
            }
            self.trace.push(Attempt::new(format!("the folder {}", folder.display()), "has none"));
        }
        if let Some(found) = self.open(NativeLocation::System)? {
            return Ok(Some(found));
        }
        self.trace.push(Attempt::new("the system's loader", "did not find it"));
        Ok(None)
    }

    fn open(&self, location: NativeLocation<'_>) -> Result<Option<NativeLibrary>, ContextError> {
        self.generation.natives.open(self.name, location)
    }
}
