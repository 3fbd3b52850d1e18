//! What a load context refuses, and why. Each text names the context, what was tried on it, and the way out. A module that was not
//! loaded is one reason, and a context that did not find a module is a reason not to load another: the two errors hold each other.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::border::CallError;
use crate::lease::Sealed;
use crate::load::context_id::{ContextId, ContextKind};
use crate::load::error::LoadError;
use crate::load::paths::not_absolute;

/// Why a load context did not do what was requested. Nothing has changed then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContextError {
    /// A name that a new context cannot have.
    #[error("{} cannot be named {name:?}: {reason}", kind.any())]
    Name {
        /// What it was to be: a Slim, or a pinned one.
        kind: ContextKind,
        /// The name, or its beginning where it is no name.
        name: String,
        /// Its owner, or what is wrong with it.
        reason: String,
    },
    /// There is neither such a Slim nor such a pinned context.
    #[error("there is no living context \"{name}\": create it with `create_slim`, or with `create_pinned`")]
    NoSuchContext {
        /// The name requested.
        name: String,
    },
    /// The context takes nothing new any more: no load, no call, no lease.
    #[error("{context} is unloading since {:.1} s, so it does not do this any more: {action}", since.as_secs_f64())]
    ContextUnloading {
        /// The context.
        context: String,
        /// How long ago its unload began.
        since: Duration,
        /// What was tried.
        action: String,
    },
    /// A load that would have to wait for itself.
    #[error(
        "a load would wait for itself: {}; let resolvers and listeners answer with what they find, and not ask for what is \
         under way",
        arrows(chain)
    )]
    LoadRing {
        /// What requests what; the last link is the first again.
        chain: Vec<LoadStep>,
    },
    /// As many questions to resolvers are open on this thread as may be, each put by the resolver of the one before.
    #[error(
        "{wanted} is requested inside of {limit} other look-ups: let a resolver answer without looking up another name"
    )]
    LoadTooDeep {
        /// What is requested, and in which context.
        wanted: String,
        /// How many may be open.
        limit: usize,
    },
    /// The Default and pinned contexts are never unloaded.
    #[error("{context} is never unloaded: what shall be unloaded belongs into a Slim or the Master")]
    NotCollectible {
        /// The context.
        context: String,
    },
    /// Only what unloads can be given up.
    #[error("{context} ({id}) cannot be given up: {reason}")]
    NotUnloading {
        /// The context.
        context: String,
        /// Which generation of it.
        id: ContextId,
        /// Why not, and the way out.
        reason: String,
    },
    /// A path that depends on the current folder.
    #[error("{}", not_absolute(path))]
    PathNotAbsolute {
        /// The path.
        path: PathBuf,
    },
    /// What a library was to be read from failed.
    #[error("reading {name} failed: {source}")]
    Reading {
        /// The name given to it.
        name: String,
        /// What the reader said.
        source: std::io::Error,
    },
    /// What a library was to be read from goes on after the length that the host allows.
    #[error(
        "there is more to read of {name} than {largest} bytes, and this host takes no more: leave out debug \
         information (`strip = \"debuginfo\"` in the profile), or raise `Builder::largest_library`"
    )]
    ReadsTooLong {
        /// The name given to it.
        name: String,
        /// The greatest length in bytes that is allowed.
        largest: u64,
    },
    /// There is no such file.
    #[error("there is no file {path}; was it built?")]
    NoFile {
        /// The path.
        path: PathBuf,
    },
    /// The file is no library that could be mapped here.
    #[error("{path} is no module: {reason}")]
    BadImage {
        /// The file, or the name given to the bytes.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// No module of that name was found.
    #[error("{context} finds no module {request}: {}", steps(trace))]
    NotFound {
        /// The context that looked.
        context: String,
        /// Name and versions requested.
        request: String,
        /// Where was searched, in order.
        trace: Vec<Attempt>,
    },
    /// The version of the module that is there is not in the range requested.
    #[error("{context} has {name} {found}, and {requested} is requested: load one in that range into another context")]
    VersionMismatch {
        /// The context that has it.
        context: String,
        /// The module.
        name: String,
        /// The version there is.
        found: semver::Version,
        /// The range requested.
        requested: semver::VersionReq,
    },
    /// One name, one build.
    #[error(
        "{context} has {name} already, as build {loaded_build:032x}, and build {requested_build:032x} is requested: \
         replace the context, or load it into another one"
    )]
    ModuleNameOccupied {
        /// The context.
        context: String,
        /// The name of both.
        name: String,
        /// The build that is loaded.
        loaded_build: u128,
        /// The build requested.
        requested_build: u128,
    },
    /// A resolver gave something else.
    #[error("{who} of {context} was called for {wanted} and gave {found}: a resolver answers with what is requested")]
    ResolverWrongName {
        /// The context.
        context: String,
        /// The resolver or handler.
        who: String,
        /// The name requested.
        wanted: String,
        /// The name of what it gave.
        found: String,
    },
    /// A resolver failed; those after it were not called.
    #[error("{who} of {context} failed when it was called for {wanted}: {source}")]
    ResolverError {
        /// The context.
        context: String,
        /// The resolver or handler.
        who: String,
        /// The name requested.
        wanted: String,
        /// What it said, or its panic.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A resolver gave a module of another runtime, or one that is gone.
    #[error("{who} of {context} gave {module}, which is no living module of this runtime")]
    ForeignModule {
        /// The context.
        context: String,
        /// The resolver or handler.
        who: String,
        /// What it gave.
        module: String,
    },
    /// A resolver gave a module of the Master, whose code belongs to the game thread.
    #[error(
        "{who} of {context} gave {module}, which is a module of the Master and belongs to the game thread: load its library \
         into this context or into the Default, and give that one"
    )]
    MasterModule {
        /// The context.
        context: String,
        /// The resolver or handler.
        who: String,
        /// The module of the Master.
        module: String,
    },
    /// What stays for ever would need what may go.
    #[error(
        "{module} in {context}, which is never unloaded, cannot depend on {dependency} in {collectible}, which may be: \
         load the dependency into the Default as well"
    )]
    PinnedDependsOnCollectible {
        /// The context that stays.
        context: String,
        /// The module in it, or the name that was requested there.
        module: String,
        /// The module it would depend on.
        dependency: String,
        /// Where that is.
        collectible: String,
    },
    /// A class in a context that has no objects.
    #[error("{module} declares the class {class}, and {context} has no objects: load it into the Master")]
    ClassInSlim {
        /// The context.
        context: String,
        /// The module.
        module: String,
        /// The first class it declares.
        class: String,
    },
    /// No function of that name.
    #[error("{context} offers no function {function}: {offered}")]
    NoSuchFunction {
        /// The context.
        context: String,
        /// Type and method requested.
        function: String,
        /// What it does offer.
        offered: String,
    },
    /// No type of that name.
    #[error("{context} knows no type {path}: {known}")]
    NoSuchType {
        /// The context, or the part of it that was searched.
        context: String,
        /// The path requested.
        path: String,
        /// What there is instead.
        known: String,
    },
    /// No native library of that name.
    #[error("{context} finds no native library {name}: {}", steps(trace))]
    NativeNotFound {
        /// The context that looked.
        context: String,
        /// The name requested.
        name: String,
        /// Where was searched, in order.
        trace: Vec<Attempt>,
    },
    /// A native library was found, and is none, or has not the symbol.
    #[error("the native library {path}: {reason}")]
    Native {
        /// Its path, or the name given to the system's loader.
        path: PathBuf,
        /// What the loader said.
        reason: String,
    },
    /// The module was not loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The call was not done, or failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The system refused a thread.
    #[error("{doing}: {source}")]
    System {
        /// What was tried.
        doing: String,
        /// What the system said.
        source: std::io::Error,
    },
}

impl ContextError {
    /// A lease was refused.
    pub(crate) fn sealed(sealed: Sealed, action: impl Into<String>) -> Self {
        Self::ContextUnloading { context: sealed.owner, since: sealed.since, action: action.into() }
    }
}

/// One step of a search: where was searched, and the outcome.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// Where was searched: `own modules`, `the resolver`, `Default`, `handler 1`.
    pub asked: String,
    /// What came of it.
    pub outcome: String,
}

impl Attempt {
    /// A step.
    pub(crate) fn new(asked: impl Into<String>, outcome: impl Into<String>) -> Self {
        Self { asked: asked.into(), outcome: outcome.into() }
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.asked, self.outcome)
    }
}

/// One link in a chain of loads: what is under way, and in which context.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct LoadStep {
    /// The context, as it names itself.
    pub context: String,
    /// What it is after.
    pub wanted: Wanted,
}

/// What a context is after.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Wanted {
    /// A module, by its name.
    Module(String),
    /// A native library.
    Native {
        /// The name it was requested by.
        name: String,
        /// The module that needs it; none where no module was named.
        for_module: Option<String>,
    },
    /// Another generation of itself.
    Replacement,
}

impl fmt::Display for LoadStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { context, wanted } = self;
        match wanted {
            Wanted::Module(name) => write!(f, "{name} in {context}"),
            Wanted::Native { name, for_module: None } => write!(f, "native library {name} in {context}"),
            Wanted::Native { name, for_module: Some(module) } => {
                write!(f, "native library {name} for {module} in {context}")
            }
            Wanted::Replacement => write!(f, "replacing {context}"),
        }
    }
}

fn arrows(chain: &[LoadStep]) -> String {
    chain.iter().map(LoadStep::to_string).collect::<Vec<_>>().join(" → ")
}

fn steps(trace: &[Attempt]) -> String {
    trace.iter().map(Attempt::to_string).collect::<Vec<_>>().join("; ")
}
