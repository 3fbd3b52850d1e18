//! What finds for a context what it does not have: its resolver, and handlers in the order they were added, for modules
//! and for native libraries. They belong to the context and not to a generation of it, so a replacement calls the same.

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
    pub(super) home: Home,
    told: Mutex<Told>,
}

/// Where one stands among the others.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Rank {
    /// For one module, which goes first.
    OfModule(String),
    /// The one of the context.
    Resolver,
    /// One of those that are called last, in the order in which they were added.
    Handler,
}

/// A resolver or a handler, as it was registered.
type Known<C> = Registered<Arc<C>>;

type Ranked<C> = Vec<(Rank, Known<C>)>;

#[derive(Default)]
struct Told {
    modules: Ranked<ModuleResolver>,
    natives: Ranked<NativeResolver>,
    canary: Option<Canary>,
}

impl Resolvers {
    /// None yet, for a context.
    pub(super) fn new(home: Home) -> Self {
        Self { home, told: Mutex::default() }
    }

    /// Takes all of them out.
    pub(super) fn take(&self) -> (Vec<Known<ModuleResolver>>, Vec<Known<NativeResolver>>) {
        let mut told = self.told();
        let modules = told.modules.drain(..).map(|(_rank, resolver)| resolver).collect();
        (modules, told.natives.drain(..).map(|(_rank, resolver)| resolver).collect())
    }

    pub(super) fn set_canary(&self, canary: Canary) {
        self.told().canary = Some(canary);
    }

    /// Which process loads new modules of this context first, where the context has a setting of its own.
    pub(super) fn canary(&self) -> Option<Canary> {
        self.told().canary.clone()
    }

    /// Adds one for modules, in the place of the one that had its rank, which a handler shares.
    pub(super) fn add(&self, rank: Rank, resolver: Known<ModuleResolver>) {
        let before = add(&mut self.told().modules, rank, resolver);
        // What it owned may come back in here when it is dropped, so not under the lock. The others likewise.
        drop(before);
    }

    /// Adds one for native libraries, in the same way.
    pub(super) fn add_native(&self, rank: Rank, resolver: Known<NativeResolver>) {
        let before = add(&mut self.told().natives, rank, resolver);
        drop(before);
    }

    /// Takes a resolver or handler back.
    pub(super) fn remove(&self, site: Site) {
        let mut told = self.told();
        let modules: Vec<_> = told.modules.extract_if(.., |(_rank, known)| known.site.is(site)).collect();
        let natives: Vec<_> = told.natives.extract_if(.., |(_rank, known)| known.site.is(site)).collect();
        drop(told);
        modules.into_iter().for_each(|(_rank, known)| drop_caught(known));
        natives.into_iter().for_each(|(_rank, known)| drop_caught(known));
    }

    /// The resolver and the handlers, to be called while nothing is locked.
    pub(super) fn of_modules(&self) -> (Option<Share<ModuleResolver>>, Vec<Share<ModuleResolver>>) {
        let told = self.told();
        (of_rank(&told.modules, &Rank::Resolver).next(), of_rank(&told.modules, &Rank::Handler).collect())
    }

    /// The resolver of a module, that of the context, and the handlers.
    pub(super) fn of_natives(&self, module: Option<&str>) -> NativeResolvers {
        let told = self.told();
        let natives = &told.natives;
        NativeResolvers {
            of_module: module.and_then(|module| of_rank(natives, &Rank::OfModule(module.to_owned())).next()),
            resolver: of_rank(natives, &Rank::Resolver).next(),
            handlers: of_rank(natives, &Rank::Handler).collect(),
        }
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds one, and returns the one whose place it has taken.
fn add<C: ?Sized>(all: &mut Ranked<C>, rank: Rank, new: Known<C>) -> Option<Known<C>> {
    match all.iter_mut().find(|(known, _)| *known == rank && rank != Rank::Handler) {
        Some((_rank, known)) => Some(std::mem::replace(known, new)),
        None => {
            all.push((rank, new));
            None
        }
    }
}

fn of_rank<C: ?Sized>(all: &[(Rank, Known<C>)], rank: &Rank) -> impl Iterator<Item = Share<C>> {
    all.iter().filter(move |(known, _)| known == rank).map(|(_rank, known)| Share::of(&known.code))
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
