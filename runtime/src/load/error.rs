//! Why a module was not loaded. Each text says what was tried, on what, and the way out.

pub(crate) mod canary;
pub(crate) mod context;

use std::path::PathBuf;
use std::time::Duration;

use alcedo_abi::manifest::ManifestError;

use crate::border::CallError;
use crate::emit::error::EmitError;
use crate::faults::FaultInjected;
use crate::load::order::OrderError;
use crate::load::paths::not_absolute;
use crate::load::tables::TableError;
use crate::object::construction::ConstructionFailed;

use canary::CanaryStep;
use context::ContextError;

/// Why a module was not loaded. The host goes on with what it had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A path that depends on the current folder.
    #[error("{}", not_absolute(path))]
    PathNotAbsolute {
        /// The path.
        path: PathBuf,
    },
    /// The file is no complete library of this platform.
    #[error(transparent)]
    Image(#[from] alcedo_sys::ImageError),
    /// The file has no manifest section.
    #[error(
        "{path} is a library, but no Alcedo module: it has no manifest section; write `module! {{ name: … }}` in its lib.rs"
    )]
    NoManifest {
        /// The file.
        path: PathBuf,
    },
    /// The manifest section is damaged or of another format.
    #[error("the manifest section of {path} is refused: {source}; build the plugin again with `alcedo build`")]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: ManifestError,
    },
    /// Another border.
    #[error("{module} speaks ABI {found}, this host speaks {wanted}: rebuild it with this host's alcedo-plugin-api")]
    Abi {
        /// The module.
        module: String,
        /// Its number.
        found: u32,
        /// The host's.
        wanted: u32,
    },
    /// No common API.
    #[error("{module} needs host API {} to {}, this host offers {} to {}: rebuild the module or update the host", found.0, found.1, wanted.0, wanted.1)]
    Api {
        /// The module.
        module: String,
        /// Oldest and newest it can live with.
        found: (u32, u32),
        /// Oldest and newest the host offers.
        wanted: (u32, u32),
    },
    /// Built for a host with more functions.
    #[error("{module} was built for host API {found}, this host offers up to {offered}: update the host")]
    Newer {
        /// The module.
        module: String,
        /// What it was built for.
        found: u32,
        /// What there is.
        offered: u32,
    },
    /// One side carries the type byte of slots, the other does not.
    #[error("{module} was built {} the feature slot-types, this host is the other way round: build both alike", if *found { "with" } else { "without" })]
    SlotTypes {
        /// The module.
        module: String,
        /// Whether the module has them.
        found: bool,
    },
    /// Other layouts of what crosses by value.
    #[error(
        "{module} has layout {found:#018x} for what crosses the border, this host has {wanted:#018x}: build both with the same alcedo-abi"
    )]
    Layout {
        /// The module.
        module: String,
        /// Its hash.
        found: u64,
        /// The host's.
        wanted: u64,
    },
    /// A panic in it would end the host.
    #[error(
        "{module} was built with panic = \"abort\", so a panic in it would end the host: remove that from the plugin's profile"
    )]
    PanicAborts {
        /// The module.
        module: String,
    },
    /// Its thread-locals would belong to a library that stays.
    #[error(
        "{module} links {library} dynamically, so thread exit would run code that is gone: build without -C prefer-dynamic"
    )]
    DynamicStd {
        /// The module.
        module: String,
        /// The libstd it needs.
        library: String,
    },
    /// The place through which its hooks would learn of their host is not as it was built.
    #[error("{module}: its slot for hooks ({}) {what}; build it again", alcedo_abi::hooks::SECTION)]
    HookSlot {
        /// The module.
        module: String,
        /// What is wrong with the slot.
        what: &'static str,
    },
    /// No seal where the host demands one.
    #[error("{path} has no seal, and this host takes sealed libraries only: build it with `alcedo build`")]
    NotSealed {
        /// The file.
        path: PathBuf,
    },
    /// A folder that is no package of scripts.
    #[cfg(feature = "script")]
    #[error(transparent)]
    Package(#[from] crate::script::package::PackageError),
    /// A host that demands signatures is given text, which has none.
    #[cfg(feature = "script")]
    #[error(
        "{path} is a package of scripts, which nobody can sign, and this host takes signed modules only: leave out \
         `Builder::trust`, or write its classes as a plugin"
    )]
    ScriptsNotSigned {
        /// The folder.
        path: PathBuf,
    },
    /// The private copy could not be made.
    #[error(transparent)]
    Stage(#[from] alcedo_sys::StageError),
    /// It needs thread-local storage of the sort that a process sets aside when it starts, and there is not enough
    /// left.
    #[error("cannot map {module}: {reason}")]
    StaticTls {
        /// The module.
        module: String,
        /// Message of the dynamic linker, with the consumers of such storage and the help.
        reason: String,
    },
    /// The dynamic linker refused.
    #[error(transparent)]
    Map(#[from] alcedo_sys::MapError),
    /// `abi_stable` found a difference in the root module.
    #[error(
        "{module} does not have the root module this host knows: {difference}; build it with this host's alcedo-plugin-api"
    )]
    RootModule {
        /// The module.
        module: String,
        /// The checker's words.
        difference: String,
    },
    /// Names, versions or dependencies do not add up.
    #[error(transparent)]
    Order(#[from] OrderError),
    /// A module of the Master needs one that it does not get: it is not found, the Default has another version, or the
    /// Default's resolver failed.
    #[error("{}{}", .0, way_out(.0))]
    Dependency(Box<ContextError>),
    /// A name that is no version or version range.
    #[error(
        "{module}: \"{text}\" is no {what} as Cargo writes them: {reason}; write it so in the Cargo.toml or `module!`"
    )]
    Version {
        /// The module.
        module: String,
        /// What it says.
        text: String,
        /// `version` or `version range of …`.
        what: String,
        /// The parser's words.
        reason: String,
    },
    /// The module did not take its host.
    #[error("{module} could not be attached: {error}")]
    Attach {
        /// The module.
        module: String,
        /// What it said.
        error: CallError,
    },
    /// A table of functions is defined otherwise in the module than at the host, or the host does not offer it.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A declaration breaks a rule, or something a module uses is not there.
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// The main failed.
    #[error("main of {module} {error}{}{}", logger(error), held(*beside))]
    Main {
        /// The module.
        module: String,
        /// Its panic.
        error: CallError,
        /// The generation of the same module that was live meanwhile, where that has no `suspend` and so gave nothing up.
        beside: Option<u64>,
    },
    /// A module that was to be replaced could not give up what its next generation may need. It goes on.
    #[error("suspend of {module} failed, so nothing was replaced: {error}")]
    Suspend {
        /// The module.
        module: String,
        /// Its panic, or its own error.
        error: CallError,
    },
    /// A field marked to be kept could not be saved.
    #[error("a kept field of {object} could not be saved: {error}")]
    Keep {
        /// The class and the name of the object.
        object: String,
        /// What the field said.
        error: CallError,
    },
    /// A plugin part could not be built anew.
    #[error("{error}")]
    Rebuild {
        /// The red constructor, its object, and what it said.
        error: CallError,
    },
    /// A value could not be carried over.
    #[error("carrying the values over: {0}")]
    Carry(#[from] CallError),
    /// A class default object could not be born.
    #[error(transparent)]
    Construction(#[from] ConstructionFailed),
    /// The host's own code panicked, or a listener's or native hook's that it called.
    #[error(
        "host code panicked: \"{message}\"; this is a fault of the host, not of the modules, and nothing has changed"
    )]
    HostPanic {
        /// The panic's message.
        message: String,
    },
    /// A test made a step fail.
    #[error(transparent)]
    Fault(#[from] FaultInjected),
    /// There is a Master load context already.
    #[error("the Master load context is alive with generation {generation}: reload it, or unload it first")]
    MasterAlive {
        /// Its generation.
        generation: u64,
    },
    /// New modules ended the process that tried them first.
    #[error(
        "{module} ended the process that tried it first, while {step} ({how}): its initializers run then, so look there; \
         this host never mapped it{output}"
    )]
    CanaryCrashed {
        /// The module.
        module: String,
        /// What was done with it.
        step: CanaryStep,
        /// The signal that ended the process, if one did.
        signal: Option<i32>,
        /// How the process ended, in words.
        how: String,
        /// What it had printed last, as the end of the sentence.
        output: String,
    },
    /// New modules did not come to an end in the process that tried them first.
    #[error(
        "{module} was not done {step} within {after:?} in the process that tried it first: its initializers run then, \
         so look there, or give it longer with `Builder::canary_deadline`; this host never mapped it{output}"
    )]
    CanaryHung {
        /// The module.
        module: String,
        /// What was done with it.
        step: CanaryStep,
        /// How long all modules together had.
        after: Duration,
        /// What it had printed last, as the end of the sentence.
        output: String,
    },
    /// Something came from the process that tried new modules first that it did not say.
    #[error(
        "{module} disturbed the process that tried it first, while {step}: {problem}; initializers that write to \
         descriptors which they did not open do that, so look there; this host never mapped it{output}"
    )]
    CanaryDisturbed {
        /// The module.
        module: String,
        /// What was done with it.
        step: CanaryStep,
        /// What came, or how it was out of turn.
        problem: String,
        /// What it had printed last, as the end of the sentence.
        output: String,
    },
    /// New modules were refused in the process that tried them first.
    #[error("{module} was refused while {step}, in the process that tried it first: {text}; this host never mapped it")]
    CanaryRefused {
        /// The module.
        module: String,
        /// What was done with it.
        step: CanaryStep,
        /// Why.
        text: String,
    },
    /// There is no process that could try new modules first.
    #[error(
        "{program} could not try the modules first: {reason}; name a program that can with `Canary::Program`, or say \
         `Canary::Off`"
    )]
    CanaryUnavailable {
        /// The program.
        program: PathBuf,
        /// What went wrong with it.
        reason: String,
    },
    /// Too many images stay mapped on purpose.
    #[error(
        "{} images stay mapped on purpose, and this host pays for {budget}: end what keeps them and start the host anew, or \
         raise `parked_budget`. They are: {}",
        parked.len(), parked.join("; ")
    )]
    ParkedBudget {
        /// How many the host pays for.
        budget: usize,
        /// Those that stay, and why.
        parked: Vec<String>,
    },
    /// No module of this name is in the living Master.
    #[error("there is no module {module} in the living Master: `modules` lists those that are")]
    NoModule {
        /// The name.
        module: String,
    },
    /// There is no such generation on its way out.
    #[error("generation {generation} is not on its way out: it is alive, or gone; `contexts` lists what there is")]
    NotUnloading {
        /// The generation requested.
        generation: u64,
    },
    /// There is no Master load context.
    #[error("there is no Master load context: create it with `create_master`")]
    NoMaster,
}

/// What may have been in the way of a main.
fn held(beside: Option<u64>) -> String {
    let Some(generation) = beside else { return String::new() };
    format!(
        "; generation {generation} of it is live meanwhile: if that holds what the new one needs (a port, a lock, a \
         database), give it up in `suspend:` of `module!` and take it again in `resume:`, see docs/recipes.md"
    )
}

/// The way out where a main could not set a logger, since the host had set the module's.
fn logger(error: &CallError) -> &'static str {
    // Messages of `log` and of `tracing`, and the two errors as a panic formats them.
    const WORDS: [&str; 4] = [
        "set a logger after the logging system was already initialized",
        "global default trace dispatcher has already been set",
        "SetLoggerError(",
        "SetGlobalDefaultError",
    ];
    let said = error.to_string();
    if !WORDS.iter().any(|words| said.contains(words)) {
        return "";
    }
    "; the host sets the loggers of a module before its main, unless `module!` says `logger: own` or the names of the file show \
     that main sets them: say `logger: own`"
}

/// The way out where a module is not found.
fn way_out(error: &ContextError) -> &'static str {
    match error {
        ContextError::NotFound { .. } => "; add its library, or load it into the Default",
        _ => "",
    }
}

/// Runs steps of a load. A panic of host code in them is an error like any other: it is undone like one.
pub(crate) fn caught<T>(steps: impl FnOnce() -> Result<T, LoadError>) -> Result<T, LoadError> {
    // The stores guard themselves with `RefCell`s, which unwinding releases; what the steps had done so far is written
    // down outside of them, for the caller to undo.
    crate::trap::caught(steps).unwrap_or_else(|message| Err(LoadError::HostPanic { message }))
}

impl LoadError {
    /// Whether a package, class, struct or member of the host's is missing that a module is built on.
    pub(crate) fn lacks_type(&self) -> bool {
        use crate::object::refusal::DeclareError::{UnknownBase, UnknownPackage, UnknownType};
        match self {
            Self::Emit(EmitError::Import { .. }) => true,
            Self::Emit(EmitError::Declare { source, .. }) => {
                matches!(source, UnknownBase { .. } | UnknownPackage { .. } | UnknownType { .. })
            }
            _ => false,
        }
    }

    /// Whether it is about the process that tries modules first: the host itself had not begun then.
    pub(crate) fn is_of_canary(&self) -> bool {
        matches!(
            self,
            Self::CanaryCrashed { .. }
                | Self::CanaryHung { .. }
                | Self::CanaryDisturbed { .. }
                | Self::CanaryRefused { .. }
                | Self::CanaryUnavailable { .. }
        )
    }
}
