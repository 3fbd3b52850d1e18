//! Errors of load contexts. Each message names the context, the operation, and a hint. `ContextError` and `LoadError` contain
//! each other: a failed load is an error of a context, and a missing dependency is an error of a load.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::boundary::CallError;
use crate::lease::Sealed;
use crate::load::context_id::{ContextId, ContextKind};
use crate::load::error::LoadError;
use crate::load::paths::not_absolute;

/// Error of a load context, which is unchanged then.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{ContextError, Runtime};
///
/// let runtime = Runtime::builder().build()?;
/// match runtime.contexts().create_slim("night/reports") {
///     Err(ContextError::Name { name, reason, .. }) => println!("{name:?} is not a name: {reason}"),
///     other => panic!("{other:?}"),
/// }
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContextError {
    /// The name of a new context is invalid or used.
    #[error("{} cannot be named {name:?}: {reason}", kind.any())]
    Name {
        /// Kind of the new context: a Slim or a pinned one.
        kind: ContextKind,
        /// The name; only its beginning if it is invalid.
        name: String,
        /// Owner of the name, or the reason why it is invalid.
        reason: String,
    },
    /// No living Slim and no pinned context has this name.
    #[error("no living context is named \"{name}\": create it with `create_slim`, or with `create_pinned`")]
    NoSuchContext {
        /// Requested name.
        name: String,
    },
    /// The context is unloading and accepts no load, call or lease.
    #[error("{context} has been unloading for {:.1} s; this operation is no longer allowed: {action}", since.as_secs_f64())]
    ContextUnloading {
        /// The context.
        context: String,
        /// Time since the unload began.
        since: Duration,
        /// Rejected operation.
        action: String,
    },
    /// A load would wait for itself.
    #[error(
        "a load would wait for itself: {}; let resolvers and listeners return what they find, and not request what is in \
         progress",
        arrows(chain)
    )]
    LoadCycle {
        /// Cycle of requests; the last link repeats the first.
        chain: Vec<LoadStep>,
    },
    /// Too many nested resolver calls on this thread, each made inside of the previous one.
    #[error(
        "{requested} is requested inside of {limit} other look-ups: let a resolver answer without looking up another name"
    )]
    LoadTooDeep {
        /// Requested item, and its context.
        requested: String,
        /// Maximum depth.
        limit: usize,
    },
    /// The Default and pinned contexts are never unloaded.
    #[error("{context} is never unloaded: load modules that shall be unloaded into a Slim or the Master")]
    NotCollectible {
        /// The context.
        context: String,
    },
    /// Only unloading generations can be parked.
    #[error("{context} ({id}) cannot be parked: {reason}")]
    NotUnloading {
        /// The context.
        context: String,
        /// Id of the generation.
        id: ContextId,
        /// Reason, and a hint.
        reason: String,
    },
    /// The path depends on the current folder.
    #[error("{}", not_absolute(path))]
    PathNotAbsolute {
        /// Relative path.
        path: PathBuf,
    },
    /// The reader of a library failed.
    #[error("reading {name} failed: {source}")]
    Reading {
        /// Name passed with the reader.
        name: String,
        /// Error of the reader.
        source: std::io::Error,
    },
    /// A reader contains more bytes than the host allows.
    #[error(
        "reading {name} exceeded {largest} bytes, the maximum of this host: leave out debug \
         information (`strip = \"debuginfo\"` in the profile), or raise `Builder::largest_library`"
    )]
    ReadsTooLong {
        /// Name passed with the reader.
        name: String,
        /// Maximum length in bytes.
        largest: u64,
    },
    /// The file does not exist.
    #[error("file {path} not found; was it built?")]
    NoFile {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file is not a library that could be mapped here.
    #[error("{path} is not a module: {reason}")]
    BadImage {
        /// Path of the file, or the name passed with the bytes.
        path: PathBuf,
        /// Description of the defect.
        reason: String,
    },
    /// No module of that name was found.
    #[error("{context} finds no module {request}: {}", steps(trace))]
    NotFound {
        /// Searching context.
        context: String,
        /// Requested name and versions.
        request: String,
        /// Search steps, in order.
        trace: Vec<Attempt>,
    },
    /// The existing module's version is outside of the requested range.
    #[error("{context} has {name} {found}, and {requested} is requested: load one in that range into another context")]
    VersionMismatch {
        /// Context of the existing module.
        context: String,
        /// Name of the module.
        name: String,
        /// Existing version.
        found: semver::Version,
        /// Requested range.
        requested: semver::VersionReq,
    },
    /// A context accepts only a single build per module name.
    #[error(
        "{context} has {name} already, as build {loaded_build:032x}, and build {requested_build:032x} is requested: \
         replace the context, or load it into another one"
    )]
    ModuleNameOccupied {
        /// The context.
        context: String,
        /// Common name.
        name: String,
        /// Loaded build.
        loaded_build: u128,
        /// Requested build.
        requested_build: u128,
    },
    /// A resolver returned a module with another name.
    #[error(
        "{resolver} of {context} was called for {requested} and returned {found}: a resolver must return what is requested"
    )]
    ResolverWrongName {
        /// The context.
        context: String,
        /// The resolver or handler.
        resolver: String,
        /// Requested name.
        requested: String,
        /// Name of the returned module.
        found: String,
    },
    /// A resolver failed. The following resolvers were not called.
    #[error("{resolver} of {context} failed when it was called for {requested}: {source}")]
    ResolverError {
        /// The context.
        context: String,
        /// The resolver or handler.
        resolver: String,
        /// Requested name.
        requested: String,
        /// Error or panic of the resolver.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A resolver returned a module of another runtime, or an unloaded one.
    #[error("{resolver} of {context} returned {module}, which is not a living module of this runtime")]
    ForeignModule {
        /// The context.
        context: String,
        /// The resolver or handler.
        resolver: String,
        /// Returned module.
        module: String,
    },
    /// A resolver returned a module of the Master, whose code belongs to the game thread.
    #[error(
        "{resolver} of {context} returned {module}, which is a module of the Master and belongs to the game thread: load its library \
         into this context or into the Default, and return that one"
    )]
    MasterModule {
        /// The context.
        context: String,
        /// The resolver or handler.
        resolver: String,
        /// Module of the Master.
        module: String,
    },
    /// A module that is never unloaded would depend on a collectible one.
    #[error(
        "{module} in {context}, which is never unloaded, cannot depend on {dependency} in {collectible}, which may be: \
         load the dependency into the Default as well"
    )]
    PinnedDependsOnCollectible {
        /// The permanent context.
        context: String,
        /// Name of its module, or the name requested in it.
        module: String,
        /// Collectible dependency.
        dependency: String,
        /// Context of the dependency.
        collectible: String,
    },
    /// The module declares a class, but the context has no objects.
    #[error("{module} declares the class {class}, and {context} has no objects: load it into the Master")]
    ClassInSlim {
        /// The context.
        context: String,
        /// Name of the module.
        module: String,
        /// First declared class.
        class: String,
    },
    /// No function of that name exists.
    #[error("{context} offers no function {function}: {offered}")]
    NoSuchFunction {
        /// The context.
        context: String,
        /// Requested type and method.
        function: String,
        /// Offered functions.
        offered: String,
    },
    /// No type of that name exists.
    #[error("{context} has no type {path}: {known}")]
    NoSuchType {
        /// The context, or the searched part of it.
        context: String,
        /// Requested path.
        path: String,
        /// Existing types, or the reason for the failure.
        known: String,
    },
    /// No native library of that name was found.
    #[error("{context} finds no native library {name}: {}", steps(trace))]
    NativeNotFound {
        /// Searching context.
        context: String,
        /// Requested name.
        name: String,
        /// Search steps, in order.
        trace: Vec<Attempt>,
    },
    /// The native library cannot be opened, or lacks the symbol.
    #[error("the native library {path}: {reason}")]
    Native {
        /// Path, or the name passed to the system's loader.
        path: PathBuf,
        /// Message of the loader.
        reason: String,
    },
    /// The module was not loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The call failed, or was not started.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The system refused an operation, such as registering a handler for the end of the process.
    #[error("{doing}: {source}")]
    System {
        /// Operation.
        doing: String,
        /// Error of the system.
        source: std::io::Error,
    },
}

impl ContextError {
    /// Creates the error of a rejected lease.
    pub(crate) fn sealed(sealed: Sealed, action: impl Into<String>) -> Self {
        Self::ContextUnloading { context: sealed.owner, since: sealed.since, action: action.into() }
    }
}

/// Step of a search, with its outcome.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{Attempt, ContextError, Runtime, VersionReq};
///
/// let runtime = Runtime::builder().build()?;
/// let reports = runtime.contexts().create_slim("reports")?;
/// if let Err(ContextError::NotFound { trace, .. }) = reports.load_name("maps", &VersionReq::STAR) {
///     for Attempt { source, outcome } in trace {
///         println!("{source}: {outcome}");
///     }
/// }
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// Searched location: `its own modules`, `the resolver`, `Default`, `handler 1`.
    pub source: String,
    /// Outcome of the step.
    pub outcome: String,
}

impl Attempt {
    pub(crate) fn new(source: impl Into<String>, outcome: impl Into<String>) -> Self {
        Self { source: source.into(), outcome: outcome.into() }
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.source, self.outcome)
    }
}

/// Link of a chain of loads in progress.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::LoadStep;
///
/// fn chain(steps: &[LoadStep]) -> String {
///     steps.iter().map(ToString::to_string).collect::<Vec<_>>().join(" → ")
/// }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct LoadStep {
    /// Name of the context.
    pub context: String,
    /// Requested item.
    pub request: LoadRequest,
}

/// Item that a context is loading.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{LoadRequest, LoadStep};
///
/// /// Returns the modules in a chain of loads.
/// fn modules(chain: &[LoadStep]) -> impl Iterator<Item = &str> {
///     chain.iter().filter_map(|step| match &step.request {
///         LoadRequest::Module(name) => Some(name.as_str()),
///         _ => None,
///     })
/// }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LoadRequest {
    /// Module, by its name.
    Module(String),
    /// Native library.
    Native {
        /// Requested name.
        name: String,
        /// Module that needs the library, if any was named.
        for_module: Option<String>,
    },
    /// New generation of the context itself.
    Replacement,
}

impl fmt::Display for LoadStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { context, request } = self;
        match request {
            LoadRequest::Module(name) => write!(f, "{name} in {context}"),
            LoadRequest::Native { name, for_module: None } => write!(f, "native library {name} in {context}"),
            LoadRequest::Native { name, for_module: Some(module) } => {
                write!(f, "native library {name} for {module} in {context}")
            }
            LoadRequest::Replacement => write!(f, "replacing {context}"),
        }
    }
}

fn arrows(chain: &[LoadStep]) -> String {
    chain.iter().map(LoadStep::to_string).collect::<Vec<_>>().join(" → ")
}

fn steps(trace: &[Attempt]) -> String {
    trace.iter().map(Attempt::to_string).collect::<Vec<_>>().join("; ")
}
