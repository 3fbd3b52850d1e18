//! What finds for a context what it does not have: its resolver, and handlers in the order they were added, for modules
//! and for native libraries. They belong to the context and not to a generation of it, so a replacement calls the same.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use semver::VersionReq;

use crate::callback::{Registered, Share, Site, drop_caught};
use crate::load::canary::Canary;
use crate::load::context::home::Home;
use crate::load::context::info::ModuleSummary;
use crate::load::error::context::ContextError;
use crate::trap;

/// A module that is looked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleRequest {
    /// Its name.
    pub name: String,
    /// The versions that will do.
    pub range: VersionReq,
    /// The module that needs it; none where the host requests it.
    pub needed_by: Option<String>,
    /// The context that looks for it, as it names itself.
    pub context: String,
    /// The way back to it.
    pub(super) home: Home,
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
    /// A module that is loaded already, also in another context, which stays as long as a module that needs it.
    Loaded(ModuleSummary),
}

/// An error of any type, as a resolver may give it.
pub type ResolverFailure = Box<dyn std::error::Error + Send + Sync>;

/// Looks for modules. `Ok(None)` says that it does not know this one. It may be called on any thread, several times
/// with the same question and on several threads at once, and then answers the same. It may load something itself, but not
/// what is being looked for (`ContextError::LoadRing`).
pub type ModuleResolver = dyn Fn(&ModuleRequest) -> Result<Option<FoundModule>, ResolverFailure> + Send + Sync;

/// Looks for native libraries by name. The answer is an absolute path.
pub type NativeResolver = dyn Fn(&str) -> Result<Option<PathBuf>, ResolverFailure> + Send + Sync;

/// All that the host has set for a context about where to look.
#[derive(Default)]
pub(super) struct Resolvers {
    /// The context that they belong to.
    home: Home,
    told: Mutex<Told>,
}

/// A resolver or a handler for modules, as it was registered.
pub(super) type RegisteredModuleResolver = Registered<Arc<ModuleResolver>>;

/// The same for native libraries.
pub(super) type RegisteredNativeResolver = Registered<Arc<NativeResolver>>;

/// Resolvers and handlers, each as it was registered.
#[derive(Default)]
pub(super) struct Told {
    pub resolver: Option<RegisteredModuleResolver>,
    pub handlers: Vec<RegisteredModuleResolver>,
    pub native_resolver: Option<RegisteredNativeResolver>,
    pub native_by_module: HashMap<String, RegisteredNativeResolver>,
    pub native_handlers: Vec<RegisteredNativeResolver>,
    pub canary: Option<Canary>,
}

impl Resolvers {
    /// None yet, for a context.
    pub(super) fn new(home: Home) -> Self {
        Self { home, told: Mutex::default() }
    }

    /// The way to the context that they belong to.
    pub(super) fn home(&self) -> Home {
        self.home.clone()
    }

    /// Takes all of them out.
    pub(super) fn take(&self) -> (Vec<RegisteredModuleResolver>, Vec<RegisteredNativeResolver>) {
        let mut told = self.told();
        let mut modules: Vec<_> = told.resolver.take().into_iter().collect();
        modules.append(&mut told.handlers);
        let mut natives: Vec<_> = told.native_resolver.take().into_iter().collect();
        natives.extend(told.native_by_module.drain().map(|(_module, resolver)| resolver));
        natives.append(&mut told.native_handlers);
        (modules, natives)
    }

    /// Which process loads new modules of this context first, where the context has a setting of its own.
    pub(super) fn canary(&self) -> Option<Canary> {
        self.told().canary.clone()
    }

    /// Changes what the host has set. A resolver that is replaced may own what comes back in here when it is dropped, so it is returned,
    /// to be dropped when nothing is locked.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut Told) -> T) -> T {
        change(&mut self.told())
    }

    /// Takes a resolver or handler back.
    pub(super) fn remove(&self, site: Site) {
        let mut told = self.told();
        let modules = out_of(&mut told.resolver, site).or_else(|| out_of_list(&mut told.handlers, site));
        let natives = out_of(&mut told.native_resolver, site).or_else(|| out_of_list(&mut told.native_handlers, site));
        let of_module =
            told.native_by_module.extract_if(|_module, resolver| resolver.site.is(site)).map(|(_module, found)| found);
        let natives: Vec<_> = natives.into_iter().chain(of_module).collect();
        drop(told);
        modules.into_iter().for_each(drop_caught);
        natives.into_iter().for_each(drop_caught);
    }

    /// The resolver and the handlers, to be called while nothing is locked.
    pub(super) fn of_modules(&self) -> (Option<Share<ModuleResolver>>, Vec<Share<ModuleResolver>>) {
        let told = self.told();
        let code = |resolver: &RegisteredModuleResolver| Share::of(&resolver.code);
        (told.resolver.as_ref().map(code), told.handlers.iter().map(code).collect())
    }

    /// The resolver of a module, that of the context, and the handlers.
    pub(super) fn of_natives(&self, module: Option<&str>) -> NativeResolvers {
        let told = self.told();
        let code = |resolver: &RegisteredNativeResolver| Share::of(&resolver.code);
        NativeResolvers {
            of_module: module.and_then(|module| told.native_by_module.get(module)).map(code),
            resolver: told.native_resolver.as_ref().map(code),
            handlers: told.native_handlers.iter().map(code).collect(),
        }
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn out_of<C>(resolver: &mut Option<Registered<C>>, site: Site) -> Option<Registered<C>> {
    resolver.take_if(|known| known.site.is(site))
}

fn out_of_list<C>(handlers: &mut Vec<Registered<C>>, site: Site) -> Option<Registered<C>> {
    handlers.iter().position(|known| known.site.is(site)).map(|at| handlers.remove(at))
}

/// The resolver and the handlers for native libraries.
pub(super) struct NativeResolvers {
    pub(super) of_module: Option<Share<NativeResolver>>,
    pub(super) resolver: Option<Share<NativeResolver>>,
    pub(super) handlers: Vec<Share<NativeResolver>>,
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
    let answer = trap::caught(question).unwrap_or_else(|message| Err(format!("it panicked: \"{message}\"").into()));
    answer.map_err(|source| ContextError::ResolverError {
        context: context.to_owned(),
        who: who.to_owned(),
        wanted: wanted.to_owned(),
        source,
    })
}
