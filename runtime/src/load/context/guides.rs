//! Whom a context asks for what it does not have: its resolver, and handlers in the order they were added, for modules
//! and for native libraries. They belong to the context and not to a generation of it, so a replacement asks the same.

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use semver::VersionReq;

use crate::load::canary::Canary;
use crate::load::context::error::ContextError;
use crate::load::context::id::ModuleSummary;

/// A module that is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleRequest {
    /// Its name.
    pub name: String,
    /// The versions that will do.
    pub range: VersionReq,
    /// The module that needs it; none where the host asks.
    pub needed_by: Option<String>,
    /// The context that looks for it, as it names itself.
    pub context: String,
}

impl fmt::Display for ModuleRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.name, self.range)?;
        self.needed_by.iter().try_for_each(|by| write!(f, ", which `{by}` needs"))
    }
}

/// What a resolver has found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum FoundModule {
    /// A library file, by its absolute path.
    File(PathBuf),
    /// A library that is in memory.
    Bytes {
        /// The whole library.
        image: Vec<u8>,
        /// What debuggers read, if that is apart.
        symbols: Option<Vec<u8>>,
    },
    /// A module that is loaded already, also in another context, which stays as long as whoever needs it.
    Loaded(ModuleSummary),
}

/// An error of any type, as a resolver may give it.
pub type ResolverFailure = Box<dyn std::error::Error + Send + Sync>;

/// Looks for modules. `Ok(None)` says that it does not know this one. It may be called on any thread, several times
/// with the same question, and then answers the same.
pub type ModuleResolver = dyn Fn(&ModuleRequest) -> Result<Option<FoundModule>, ResolverFailure> + Send + Sync;

/// Looks for native libraries by name. The answer is an absolute path.
pub type NativeResolver = dyn Fn(&str) -> Result<Option<PathBuf>, ResolverFailure> + Send + Sync;

/// All that a context was told about where to look.
#[derive(Default)]
pub(super) struct Guides {
    told: Mutex<Told>,
}

#[derive(Default)]
struct Told {
    resolver: Option<Arc<ModuleResolver>>,
    handlers: Vec<Arc<ModuleResolver>>,
    native_resolver: Option<Arc<NativeResolver>>,
    native_by_module: HashMap<String, Arc<NativeResolver>>,
    native_handlers: Vec<Arc<NativeResolver>>,
    canary: Option<Canary>,
}

impl Guides {
    pub(super) fn set_canary(&self, canary: Canary) {
        self.told().canary = Some(canary);
    }

    /// Who loads new modules of this context first, where it was told apart.
    pub(super) fn canary(&self) -> Option<Canary> {
        self.told().canary.clone()
    }

    pub(super) fn set_resolver(&self, resolver: Option<Arc<ModuleResolver>>) {
        self.told().resolver = resolver;
    }

    pub(super) fn add_handler(&self, handler: Arc<ModuleResolver>) {
        self.told().handlers.push(handler);
    }

    pub(super) fn set_native_resolver(&self, resolver: Option<Arc<NativeResolver>>) {
        self.told().native_resolver = resolver;
    }

    pub(super) fn set_native_resolver_of(&self, module: &str, resolver: Arc<NativeResolver>) {
        self.told().native_by_module.insert(module.to_owned(), resolver);
    }

    pub(super) fn add_native_handler(&self, handler: Arc<NativeResolver>) {
        self.told().native_handlers.push(handler);
    }

    /// The resolver and the handlers, to be asked while nothing is locked.
    pub(super) fn of_modules(&self) -> (Option<Arc<ModuleResolver>>, Vec<Arc<ModuleResolver>>) {
        let told = self.told();
        (told.resolver.clone(), told.handlers.clone())
    }

    /// The resolver of a module, that of the context, and the handlers.
    pub(super) fn of_natives(&self, module: Option<&str>) -> NativeGuides {
        let told = self.told();
        NativeGuides {
            of_module: module.and_then(|module| told.native_by_module.get(module).cloned()),
            resolver: told.native_resolver.clone(),
            handlers: told.native_handlers.clone(),
        }
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whom to ask for a native library.
pub(super) struct NativeGuides {
    pub(super) of_module: Option<Arc<NativeResolver>>,
    pub(super) resolver: Option<Arc<NativeResolver>>,
    pub(super) handlers: Vec<Arc<NativeResolver>>,
}

/// Asks one of them; its panic is an error like its own.
///
/// # Errors
/// [`ContextError::ResolverError`], which ends the search.
pub(super) fn ask<T>(
    context: &str,
    who: &str,
    wanted: &str,
    question: impl FnOnce() -> Result<Option<T>, ResolverFailure>,
) -> Result<Option<T>, ContextError> {
    // A resolver is the host's own code; what it may leave half done is its own as well.
    let answer = catch_unwind(AssertUnwindSafe(question)).unwrap_or_else(|payload| {
        let message = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
            (Some(text), _) => (*text).to_owned(),
            (_, Some(text)) => text.clone(),
            _ => "a panic without a message".to_owned(),
        };
        Err(format!("it panicked: \"{message}\"").into())
    });
    answer.map_err(|source| ContextError::ResolverError {
        context: context.to_owned(),
        who: who.to_owned(),
        wanted: wanted.to_owned(),
        source,
    })
}
