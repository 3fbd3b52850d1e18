//! Callbacks that find the missing modules and native libraries of a context. The callbacks belong to the context, so all its generations
//! use them. Resolvers are called first, and handlers last.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use semver::VersionReq;

use crate::callback::{Registered, Share, Site, drop_caught};
use crate::load::canary::Canary;
use crate::load::context::info::ModuleSummary;
use crate::load::context::owner::Owner;
use crate::load::error::context::ContextError;
use crate::panic_guard;
use crate::sync::lock;

/// Request for a module, passed to resolvers and handlers.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{Runtime, VersionReq};
///
/// let runtime = Runtime::builder().build()?;
/// let reports = runtime.contexts().create_slim("reports")?;
/// reports.on_resolving(|request| {
///     println!("{} of {} is missing in {}", request.name, request.range, request.context);
///     assert_eq!((&*request.name, &request.needed_by), ("maps", &None));
///     Ok(None)
/// });
/// assert!(reports.load_name("maps", &VersionReq::STAR).is_err());
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleRequest {
    /// Name of the requested module.
    pub name: String,
    /// Versions that the requester accepts.
    pub range: VersionReq,
    /// Name of the requesting module. `None` for a request from the host.
    pub needed_by: Option<String>,
    /// Name of the context that requests the module.
    pub context: String,
    pub(super) owner: Owner,
}

impl fmt::Display for ModuleRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.name, self.range)?;
        self.needed_by.iter().try_for_each(|by| write!(f, ", which `{by}` needs"))
    }
}

/// Module that a resolver has found, in one of several forms.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{FoundModule, ModuleRequest, ResolverFailure};
///
/// /// Uses the module of a Slim that holds modules for all contexts.
/// fn resolve(request: &ModuleRequest) -> Result<Option<FoundModule>, ResolverFailure> {
///     let base = request.contexts().and_then(|contexts| contexts.slim("base")).ok_or("the Slim base has ended")?;
///     let mut modules = base.modules().into_iter();
///     Ok(modules.find(|module| module.name == request.name).map(FoundModule::Loaded))
/// }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum FoundModule {
    /// Library file with this absolute path.
    File(PathBuf),
    /// Library with this content.
    Bytes {
        /// Content of the complete library file.
        image: Vec<u8>,
        /// Content of the file with separate debug symbols, if any.
        symbols: Option<Vec<u8>>,
    },
    /// Loaded module. A module of a different context stays loaded while it has dependents.
    Loaded(ModuleSummary),
}

/// Error that a resolver returns.
pub type ResolverFailure = Box<dyn std::error::Error + Send + Sync>;

/// Function that finds modules. Returns `Ok(None)` for an unknown module. May be called on any thread, repeatedly, and concurrently with
/// equal requests. Must return equal results for equal requests. May load modules. However, loading the requested module by name fails with
/// `ContextError::LoadCycle`.
pub type ModuleResolver = dyn Fn(&ModuleRequest) -> Result<Option<FoundModule>, ResolverFailure> + Send + Sync;

/// Function that finds native libraries by name. Must return an absolute path, or `None` for an unknown library.
pub type NativeResolver = dyn Fn(&str) -> Result<Option<PathBuf>, ResolverFailure> + Send + Sync;

/// Resolvers, handlers and canary setting of a context.
#[derive(Default)]
pub(super) struct Resolvers {
    pub(super) owner: Owner,
    pub(super) modules: Ranked<ModuleResolver>,
    pub(super) natives: Ranked<NativeResolver>,
    canary: Mutex<Option<Canary>>,
}

/// Rank of a resolver. The rank determines the order of calls.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Rank {
    /// Resolver for one module. Called first.
    OfModule(String),
    /// Resolver of the context. Called after the resolver for one module.
    Resolver,
    /// Handler. Handlers are called last, in the order of registration.
    Handler,
}

type Known<C> = Registered<Arc<C>>;

/// Resolver for native libraries, with its name in errors.
pub(super) type NamedResolver = (String, Share<NativeResolver>);

/// Resolvers and handlers of one kind, in the order of registration.
pub(super) type Ranked<C> = Mutex<Vec<(Rank, Known<C>)>>;

impl Resolvers {
    pub(super) fn new(owner: Owner) -> Self {
        Self { owner, ..Self::default() }
    }

    pub(super) fn set_canary(&self, canary: Canary) {
        *lock(&self.canary) = Some(canary);
    }

    pub(super) fn canary(&self) -> Option<Canary> {
        lock(&self.canary).clone()
    }

    /// Returns the resolver and the handlers for modules. The caller calls the returned functions without a lock.
    pub(super) fn of_modules(&self) -> (Option<Share<ModuleResolver>>, Vec<Share<ModuleResolver>>) {
        let modules = lock(&self.modules);
        (of_rank(&modules, &Rank::Resolver).next(), of_rank(&modules, &Rank::Handler).collect())
    }

    /// Returns the resolvers for native libraries, and the handlers. The resolver of `module` precedes the resolver of the context.
    pub(super) fn of_natives(&self, module: Option<&str>) -> (Vec<NamedResolver>, Vec<NamedResolver>) {
        let natives = lock(&self.natives);
        let all = |rank: &Rank, name: &dyn Fn(usize) -> String| -> Vec<NamedResolver> {
            let known = of_rank(&natives, rank).enumerate();
            known.map(|(at, resolver)| (name(at), resolver)).collect()
        };
        let of_module =
            |module: &str| all(&Rank::OfModule(module.to_owned()), &|_| format!("the resolver of module {module}"));
        let mut resolvers = module.map(of_module).unwrap_or_default();
        resolvers.extend(all(&Rank::Resolver, &|_| "the resolver".to_owned()));
        (resolvers, all(&Rank::Handler, &|at| format!("handler {}", at + 1)))
    }
}

/// Adds a resolver. A resolver replaces the previous resolver with this rank. A handler is added to the existing handlers.
pub(super) fn add<C: ?Sized>(all: &Ranked<C>, rank: Rank, new: Known<C>) {
    let mut list = lock(all);
    let before = match list.iter_mut().find(|(known, _)| *known == rank && rank != Rank::Handler) {
        Some((_rank, known)) => Some(std::mem::replace(known, new)),
        None => {
            list.push((rank, new));
            None
        }
    };
    drop(list);
    // Drops the replaced resolver outside of the lock, because the drop of a captured value may add or remove resolvers. `remove` and
    // `take` also drop resolvers outside of the lock.
    before.into_iter().for_each(drop_caught);
}

pub(super) fn remove<C: ?Sized>(all: &Ranked<C>, site: Site) {
    let removed: Vec<_> = lock(all).extract_if(.., |(_rank, known)| known.site.is(site)).collect();
    removed.into_iter().for_each(|(_rank, known)| drop_caught(known));
}

pub(super) fn take<C: ?Sized>(all: &Ranked<C>) -> Vec<Known<C>> {
    lock(all).drain(..).map(|(_rank, known)| known).collect()
}

fn of_rank<C: ?Sized>(all: &[(Rank, Known<C>)], rank: &Rank) -> impl Iterator<Item = Share<C>> {
    all.iter().filter(move |(known, _)| known == rank).map(|(_rank, known)| Share::of(&known.code))
}

/// Calls a resolver. An error or panic of the resolver is returned as [`ContextError::ResolverError`] and ends the search.
pub(super) fn call_resolver<T>(
    context: &str,
    resolver: &str,
    requested: &str,
    question: impl FnOnce() -> Result<Option<T>, ResolverFailure>,
) -> Result<Option<T>, ContextError> {
    // A resolver is host code. After a panic, the host is responsible for the state of the resolver.
    let answer =
        panic_guard::caught(question).unwrap_or_else(|message| Err(format!("it panicked: \"{message}\"").into()));
    answer.map_err(|source| ContextError::ResolverError {
        context: context.to_owned(),
        resolver: resolver.to_owned(),
        requested: requested.to_owned(),
        source,
    })
}
