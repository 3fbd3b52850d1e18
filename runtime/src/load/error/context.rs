//! Errors in operations on load contexts. Each message names the context, the operation, and a hint. A `ContextError` may contain the
//! `LoadError` of a failed load. A `LoadError` may contain the `ContextError` of a missing dependency.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::boundary::CallError;
use crate::lease::Sealed;
use crate::load::context_id::{ContextId, ContextKind};
use crate::load::error::LoadError;
use crate::load::paths::not_absolute;

/// Error in an operation on a load context. After an error the context is unchanged.
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
    /// The name of a new context is invalid, or is the name of an existing context.
    #[error("{} cannot be named {name:?}: {reason}", kind.any())]
    Name {
        /// Kind of the new context: a Slim or a pinned context.
        kind: ContextKind,
        /// Name of the new context. Truncated if the name is invalid.
        name: String,
        /// Context that uses the name, or the reason why the name is invalid.
        reason: String,
    },
    /// No living Slim and no pinned context has this name, and the name is not `Default`.
    #[error("{}", no_such_context(name))]
    NoSuchContext {
        /// Requested name.
        name: String,
    },
    /// The context is unloading and accepts no loads, calls or leases.
    #[error("{context} has been unloading for {:.1} s; this operation is no longer allowed: {action}", since.as_secs_f64())]
    ContextUnloading {
        /// Name of the context.
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
        joined(chain, " → ")
    )]
    LoadCycle {
        /// Cycle of load requests. The last link repeats the first link.
        chain: Vec<LoadStep>,
    },
    /// Too many resolver calls or loads are nested on this thread.
    #[error(
        "{requested} is requested inside of {limit} others: let resolvers, mains and listeners end without a look-up or load of another \
         module"
    )]
    LoadTooDeep {
        /// Requested module or library, with its context.
        requested: String,
        /// Maximum depth of nested resolver calls, and of nested loads.
        limit: usize,
    },
    /// The context is the Default or a pinned context. Both are never unloaded.
    #[error("{context} is never unloaded: load modules that must be unloadable into a Slim or the Master")]
    NotCollectible {
        /// Name of the context.
        context: String,
    },
    /// The generation cannot be parked, because its unload has not begun or has ended.
    #[error("{context} ({id}) cannot be parked: {reason}")]
    NotUnloading {
        /// Name of the context.
        context: String,
        /// Id of the generation.
        id: ContextId,
        /// Reason why the generation cannot be parked, and a hint.
        reason: String,
    },
    /// The path is relative. Contexts require absolute paths.
    #[error("{}", not_absolute(path))]
    PathNotAbsolute {
        /// Relative path.
        path: PathBuf,
    },
    /// The reader of a library failed.
    #[error("reading {name} failed: {source}")]
    Reading {
        /// Name that was passed with the reader.
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
        /// Name that was passed with the reader.
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
    /// The file is not a library that could be mapped in this process.
    #[error("{path} is not a module: {reason}")]
    BadImage {
        /// Path of the file, or the name that was passed with the bytes.
        path: PathBuf,
        /// Description of the defect.
        reason: String,
    },
    /// No module with this name was found.
    #[error("{context} finds no module {request}: {}", joined(trace, "; "))]
    NotFound {
        /// Name of the context that searched for the module.
        context: String,
        /// Requested name and version range.
        request: String,
        /// Steps of the search with their outcomes, in order.
        trace: Vec<Attempt>,
    },
    /// The version of the existing module is outside of the requested range.
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
    /// The context already has a different build of the module. A context accepts only one build per module name.
    #[error(
        "{context} has {name} already, as build {loaded_build:032x}, and build {requested_build:032x} is requested: \
         replace the context, or load it into another one"
    )]
    ModuleNameOccupied {
        /// Name of the context.
        context: String,
        /// Module name of both builds.
        name: String,
        /// Id of the loaded build.
        loaded_build: u128,
        /// Id of the requested build.
        requested_build: u128,
    },
    /// A resolver returned a module with a different name.
    #[error(
        "{resolver} of {context} was called for {requested} and returned {found}: a resolver must return what is requested"
    )]
    ResolverWrongName {
        /// Name of the context.
        context: String,
        /// Description of the resolver or handler.
        resolver: String,
        /// Requested name.
        requested: String,
        /// Name of the returned module.
        found: String,
    },
    /// A resolver failed. The search ended, and the remaining resolvers were not called.
    #[error("{resolver} of {context} failed when it was called for {requested}: {source}")]
    ResolverError {
        /// Name of the context.
        context: String,
        /// Description of the resolver or handler.
        resolver: String,
        /// Requested name.
        requested: String,
        /// Error or panic of the resolver.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A resolver returned an unloaded module, or a module of a different runtime.
    #[error("{resolver} of {context} returned {module}, which is not a living module of this runtime")]
    ForeignModule {
        /// Name of the context.
        context: String,
        /// Description of the resolver or handler.
        resolver: String,
        /// Module that the resolver returned.
        module: String,
    },
    /// A resolver returned a module of the Master, although only the game thread may call code of the Master.
    #[error(
        "{resolver} of {context} returned {module}, which is a module of the Master and belongs to the game thread: load its library \
         into this context or into the Default, and return that one"
    )]
    MasterModule {
        /// Name of the context.
        context: String,
        /// Description of the resolver or handler.
        resolver: String,
        /// Module of the Master that the resolver returned.
        module: String,
    },
    /// A module of a permanent context would depend on a module of a collectible context.
    #[error(
        "{module} in {context}, which is never unloaded, cannot depend on {dependency} in {collectible}, which may be: \
         load the dependency into the Default as well"
    )]
    PinnedDependsOnCollectible {
        /// Name of the permanent context.
        context: String,
        /// Name of the dependent module. For a request from the host, the requested name.
        module: String,
        /// Name of the dependency in the collectible context.
        dependency: String,
        /// Name of the collectible context.
        collectible: String,
    },
    /// The module declares a class, but the context has no objects.
    #[error("{module} declares the class {class}, and {context} has no objects: load it into the Master")]
    ClassInSlim {
        /// Name of the context.
        context: String,
        /// Name of the module.
        module: String,
        /// Path of the first class that the module declares.
        class: String,
    },
    /// No function with this type and method exists.
    #[error("{context} offers no function {function}: {offered}")]
    NoSuchFunction {
        /// Name of the context.
        context: String,
        /// Requested type and method.
        function: String,
        /// Functions that the context offers.
        offered: String,
    },
    /// No type with this name exists.
    #[error("{context} has no type {path}: {known}")]
    NoSuchType {
        /// Name of the searched context, or of the searched module.
        context: String,
        /// Requested path of the type.
        path: String,
        /// Existing types, or the reason why the search failed.
        known: String,
    },
    /// No native library with this name was found.
    #[error("{context} finds no native library {name}: {}", joined(trace, "; "))]
    NativeNotFound {
        /// Name of the context that searched for the library.
        context: String,
        /// Requested name of the library.
        name: String,
        /// Steps of the search with their outcomes, in order.
        trace: Vec<Attempt>,
    },
    /// The native library cannot be opened, or does not define the symbol.
    #[error("the native library {path}: {reason}")]
    Native {
        /// Path of the library, or the name that was passed to the dynamic linker.
        path: PathBuf,
        /// Message of the dynamic linker.
        reason: String,
    },
    /// The module could not be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The call failed or could not begin.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The operating system rejected an operation, such as the registration of an exit handler.
    #[error("{doing}: {source}")]
    System {
        /// Rejected operation.
        doing: String,
        /// Error of the operating system.
        source: std::io::Error,
    },
}

impl ContextError {
    /// Creates the error for an operation without a lease. `sealed` describes why the lease was rejected.
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
    /// Searched location, such as `its own modules`, `the resolver`, `Default` or `handler 1`.
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

/// Load in progress, as a link in a cycle of loads.
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
    /// Name of the loading context.
    pub context: String,
    /// Item that the context is loading.
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
    /// Module with this name.
    Module(String),
    /// Native library with this name.
    Native {
        /// Requested name of the library.
        name: String,
        /// Module that needs the library. `None` if the request named no module.
        for_module: Option<String>,
    },
    /// New generation that replaces the current generation of the context.
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

fn no_such_context(name: &str) -> String {
    match name {
        "Master" => "functions of the Master are called on its game thread, with `Calls::call`".to_owned(),
        _ => format!("no living context is named \"{name}\": create it with `create_slim`, or with `create_pinned`"),
    }
}

fn joined<T: fmt::Display>(items: &[T], between: &str) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(between)
}
