//! Errors while loading a module. Each message names the operation, its subject, and a hint.

pub(crate) mod canary;
pub(crate) mod context;

use std::path::{Path, PathBuf};
use std::time::Duration;

use alcedo_abi::manifest::ManifestError;

use crate::boundary::CallError;
use crate::emit::error::EmitError;
use crate::faults::FaultInjected;
use crate::load::order::OrderError;
use crate::load::paths::not_absolute;
use crate::load::tables::TableError;
use crate::object::construction::ConstructionFailed;

use canary::CanaryStep;
use context::ContextError;

/// Error while loading a module. Modules that are already loaded are not affected.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{Error, LoadError, Runtime};
///
/// let runtime = Runtime::builder().build()?;
/// let lease = runtime.unloads().lease_master("the renderer draws its clouds");
/// assert!(matches!(lease, Err(Error::Load(LoadError::NoMaster))));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The path is relative. Loads require absolute paths.
    #[error("{}", not_absolute(path))]
    PathNotAbsolute {
        /// Relative path.
        path: PathBuf,
    },
    /// The file is not a complete library of this platform.
    #[error(transparent)]
    Image(#[from] alcedo_sys::ImageError),
    /// The file has no manifest section.
    #[error(
        "{path} is a library, but no Alcedo module: it has no manifest section; write `module! {{ name: … }}` in its lib.rs"
    )]
    NoManifest {
        /// Path of the file.
        path: PathBuf,
    },
    /// The manifest section is damaged, or its format is unknown.
    #[error("the manifest section of {path} is refused: {source}; build the plugin again with `alcedo build`")]
    Manifest {
        /// Path of the file.
        path: PathBuf,
        /// Defect of the manifest section.
        source: ManifestError,
    },
    /// The ABI numbers of module and host differ.
    #[error("{module} has ABI {found}, this host expects {expected}: rebuild it with this host's alcedo-plugin-api")]
    Abi {
        /// Name of the module.
        module: String,
        /// ABI number of the module.
        found: u32,
        /// ABI number of the host.
        expected: u32,
    },
    /// Module and host support no common API version.
    #[error("{module} needs host API {} to {}, this host offers {} to {}: rebuild the module or update the host", found.0, found.1, expected.0, expected.1)]
    Api {
        /// Name of the module.
        module: String,
        /// Oldest and newest API version that the module supports.
        found: (u32, u32),
        /// Oldest and newest API version that the host offers.
        expected: (u32, u32),
    },
    /// The module was built for a newer host API.
    #[error("{module} was built for host API {found}, this host offers up to {offered}: update the host")]
    Newer {
        /// Name of the module.
        module: String,
        /// API version that the module was built for.
        found: u32,
        /// Newest API version of the host.
        offered: u32,
    },
    /// Call slots contain the types of their values in the module or in the host, but not in both.
    #[error("{module} was built {} the feature slot-types, this host was built the other way: use the same features for both", if *found { "with" } else { "without" })]
    SlotTypes {
        /// Name of the module.
        module: String,
        /// Set if the call slots of the module contain the types of their values.
        found: bool,
    },
    /// Types that are passed by value have different layouts in module and host.
    #[error(
        "{module} has layout {found:#018x} for the types of the ABI, this host has {expected:#018x}: build both with the same alcedo-abi"
    )]
    Layout {
        /// Name of the module.
        module: String,
        /// Layout hash of the module.
        found: u64,
        /// Layout hash of the host.
        expected: u64,
    },
    /// The module was built with `panic = "abort"`. A panic in the module would abort the host.
    #[error(
        "{module} was built with panic = \"abort\", so a panic in it would end the host: remove that from the plugin's profile"
    )]
    PanicAborts {
        /// Name of the module.
        module: String,
    },
    /// The module links a shared libstd. A shared libstd registers the destructors of the module's thread-locals. The registrations remain
    /// after an unload of the module.
    #[error(
        "{module} links {library} dynamically, so thread exit would run code that is gone: build without -C prefer-dynamic"
    )]
    DynamicStd {
        /// Name of the module.
        module: String,
        /// Shared libstd that the module is linked with.
        library: String,
    },
    /// The hook slot of the module is invalid. The host stores the address of the hook context in this slot.
    #[error("{module}: its slot for hooks ({}) {what}; build it again", alcedo_abi::hooks::SECTION)]
    HookSlot {
        /// Name of the module.
        module: String,
        /// Description of the defect.
        what: &'static str,
    },
    /// The module uses resources without a declared permission, and the policy of the host rejects this use; see
    /// [`PermissionPolicy`](crate::PermissionPolicy).
    #[error(
        "{module} uses resources that its `module!` does not declare: {uses}; write `permissions: [{permissions}]`, or remove these \
         uses; the policy of this host is `PermissionPolicy::Refuse`"
    )]
    Undeclared {
        /// Name of the module.
        module: String,
        /// Missing permissions. Each permission is followed by the import or the call that uses the resource.
        uses: String,
        /// Declared and missing permissions, separated by commas.
        permissions: String,
    },
    /// The host requires a seal, but the file has no seal.
    #[error("{path} has no seal, and this host accepts only sealed libraries: build it with `alcedo build`")]
    NotSealed {
        /// Path of the file.
        path: PathBuf,
    },
    /// The folder is not a script package.
    #[cfg(feature = "script")]
    #[error(transparent)]
    Package(#[from] crate::script::package::PackageError),
    /// The host requires signatures, but script packages cannot be signed.
    #[cfg(feature = "script")]
    #[error(
        "{path} is a package of scripts, which cannot be signed, and this host accepts only signed modules: leave out \
         `Builder::trust`, or write its classes as a plugin"
    )]
    ScriptsNotSigned {
        /// Path of the folder.
        path: PathBuf,
    },
    /// The private copy of the library file could not be created.
    #[error(transparent)]
    Stage(#[from] alcedo_sys::StageError),
    /// The static thread-local storage of the process is exhausted. The process reserves a fixed amount of this storage at startup.
    #[error("cannot map {module}: {reason}")]
    StaticTls {
        /// Name of the module.
        module: String,
        /// Message of the dynamic linker, followed by a list of the modules and libraries that use static thread-local storage.
        reason: String,
    },
    /// The dynamic linker failed.
    #[error(transparent)]
    Map(#[from] alcedo_sys::MapError),
    /// `abi_stable` found a difference in the root module.
    #[error(
        "{module} does not have the root module that this host expects: {difference}; build it with this host's alcedo-plugin-api"
    )]
    RootModule {
        /// Name of the module.
        module: String,
        /// Message of `abi_stable`.
        difference: String,
    },
    /// The names, versions or dependencies of the modules are inconsistent.
    #[error(transparent)]
    Order(#[from] OrderError),
    /// A dependency of a Master module could not be resolved. The dependency is missing, the Default has a different version, or the
    /// resolver or handler of the Default failed.
    #[error("{}{}", .0, help(.0))]
    Dependency(Box<ContextError>),
    /// A version or version range is invalid.
    #[error(
        "{module}: \"{text}\" is not a {what} in Cargo's format: {reason}; correct it in the Cargo.toml or `module!`"
    )]
    Version {
        /// Name of the module.
        module: String,
        /// Invalid version or version range, as written.
        text: String,
        /// Kind of the text: `version` or `version range of …`.
        what: String,
        /// Message of the parser.
        reason: String,
    },
    /// The module could not be attached to the host.
    #[error("{module} could not be attached: {error}")]
    Attach {
        /// Name of the module.
        module: String,
        /// Error of the attachment.
        error: CallError,
    },
    /// A function table differs between the module and the host, or the host does not offer the table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A declaration breaks a rule, or a type that the module uses is missing.
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// The main failed.
    #[error("main of {module} {error}{}{}", logger(error), held(*live_generation))]
    Main {
        /// Name of the module.
        module: String,
        /// Failure of the main, such as a panic.
        error: CallError,
        /// Generation of this module that was live while the main ran. Set only if the module has no `suspend`. Without `suspend`, the live
        /// generation still holds its resources.
        live_generation: Option<u64>,
    },
    /// The `suspend` of a module failed during a replacement. The module continues to run.
    #[error("suspend of {module} failed, so nothing was replaced: {error}")]
    Suspend {
        /// Name of the module.
        module: String,
        /// Panic or error of the `suspend`.
        error: CallError,
    },
    /// The value of a kept field could not be saved before a reload.
    #[error("a kept field of {object} could not be saved: {error}")]
    Keep {
        /// Class and name of the object.
        object: String,
        /// Reason why the field could not be saved.
        error: CallError,
    },
    /// The plugin part of an object could not be rebuilt in a reload.
    #[error("{error}")]
    Rebuild {
        /// Error of the red constructor, with the name of the object.
        error: CallError,
    },
    /// The value of a property could not be carried over in a reload.
    #[error("carrying the values over: {0}")]
    Carry(#[from] CallError),
    /// A conversion function of a plugin author failed.
    #[error(
        "{object}: the conversion of {value} {error}; correct the function of `#[migrate]`, or the value, and reload"
    )]
    Conversion {
        /// Path of the object.
        object: String,
        /// Name of the property, with its old value and both types. For a conversion of a whole object, all old values.
        value: String,
        /// Panic or error of the conversion, or the reason why the property cannot store the result.
        error: CallError,
    },
    /// A class default object could not be constructed.
    #[error(transparent)]
    Construction(#[from] ConstructionFailed),
    /// Host code panicked, such as a listener or a native hook.
    #[error(
        "host code panicked: \"{message}\"; this is a fault of the host, not of the modules, and nothing has changed"
    )]
    HostPanic {
        /// Message of the panic.
        message: String,
    },
    /// A test injected a fault.
    #[error(transparent)]
    Fault(#[from] FaultInjected),
    /// The Master cannot be created, because a Master exists.
    #[error("the Master load context is alive with generation {generation}: reload it, or unload it first")]
    MasterAlive {
        /// Generation of the existing Master.
        generation: u64,
    },
    /// The canary process ended during the load of new modules.
    #[error(
        "{module} ended the canary, the process that loads new modules first, while {step} ({how}): check the \
         initializers of the module; this host never mapped it{output}"
    )]
    CanaryCrashed {
        /// Name of the module.
        module: String,
        /// Step in which the canary ended.
        step: CanaryStep,
        /// Signal that ended the canary process, if any.
        signal: Option<i32>,
        /// Exit status or signal of the canary process, as text.
        how: String,
        /// Beginning and end of the canary process's output, formatted for the end of the error message.
        output: String,
    },
    /// The canary process did not load the new modules within the deadline.
    #[error(
        "{module} did not finish {step} within {after:?} in the canary, the process that loads new modules first: check \
         the initializers of the module, or raise `Builder::canary_deadline`; this host never mapped it{output}"
    )]
    CanaryHung {
        /// Name of the module.
        module: String,
        /// Step that the canary did not complete.
        step: CanaryStep,
        /// Deadline for all modules together.
        after: Duration,
        /// Beginning and end of the canary process's output, formatted for the end of the error message.
        output: String,
    },
    /// The canary process sent invalid bytes, or a message out of order.
    #[error(
        "{module} disturbed the canary, the process that loads new modules first, while {step}: {problem}; check if an \
         initializer of the module writes to a descriptor that it did not open; this host never mapped it{output}"
    )]
    CanaryDisturbed {
        /// Name of the module.
        module: String,
        /// Step of the canary when the host received the bytes.
        step: CanaryStep,
        /// Description of the invalid bytes, or of the message that was out of order.
        problem: String,
        /// Beginning and end of the canary process's output, formatted for the end of the error message.
        output: String,
    },
    /// The canary process rejected a new module.
    #[error(
        "{module} was refused while {step} in the canary, the process that loads new modules first: {text}; this host \
         never mapped it"
    )]
    CanaryRefused {
        /// Name of the module.
        module: String,
        /// Step in which the canary rejected the module.
        step: CanaryStep,
        /// Reason for the rejection.
        text: String,
    },
    /// The canary process could not be started or did not respond.
    #[error(
        "{program} could not be the canary, the process that loads new modules first: {reason}; name another program \
         with `Canary::Program`, or set `Canary::Off`"
    )]
    CanaryUnavailable {
        /// Path of the canary program.
        program: PathBuf,
        /// Description of the failure.
        reason: String,
    },
    /// The number of parked images exceeds the budget. The host loads no further modules.
    #[error(
        "{} images stay mapped on purpose, and this host allows {budget}: end their blockers and restart the host, or \
         raise `parked_budget`. They are: {}",
        parked.len(), parked.join("; ")
    )]
    ParkedBudget {
        /// Maximum number of parked images.
        budget: usize,
        /// Parked images. Each entry contains the reason.
        parked: Vec<String>,
    },
    /// The living Master has no module with this name.
    #[error("the living Master has no module {module}: `modules` lists its modules")]
    NoModule {
        /// Requested name.
        module: String,
    },
    /// The generation is not unloading.
    #[error("generation {generation} is not unloading: it is alive or ended; `contexts` lists all")]
    NotUnloading {
        /// Requested generation.
        generation: u64,
    },
    /// No Master load context exists.
    #[error("no Master load context exists: create it with `create_master`")]
    NoMaster,
}

/// Returns the hint for a failed main. The main may need a resource that the live generation of the module holds.
fn held(live_generation: Option<u64>) -> String {
    let Some(generation) = live_generation else { return String::new() };
    format!(
        "; generation {generation} of it is live at the same time: if it holds a resource that the new one needs (a port, a lock, a \
         database), release it in `suspend:` of `module!` and acquire it again in `resume:`, see docs/recipes.md"
    )
}

/// Returns the hint for a main that failed to set a logger. The host has already set the logger of each module.
fn logger(error: &CallError) -> &'static str {
    // Substrings of the panic messages of `log` and `tracing`. Some are error messages, and some are error types in debug format.
    const WORDS: [&str; 4] = [
        "set a logger after the logging system was already initialized",
        "global default trace dispatcher has already been set",
        "SetLoggerError(",
        "SetGlobalDefaultError",
    ];
    let text = error.to_string();
    if !WORDS.iter().any(|words| text.contains(words)) {
        return "";
    }
    "; the host sets the loggers of a module before its main, unless `module!` has `logger: own` or the names in the file show \
     that main sets them: write `logger: own`"
}

fn help(error: &ContextError) -> &'static str {
    match error {
        ContextError::NotFound { .. } => "; add its library, or load it into the Default",
        _ => "",
    }
}

/// Runs steps of a load. Converts a panic to [`LoadError::HostPanic`]. After an error, the caller undoes the completed steps.
pub(crate) fn caught<T>(steps: impl FnOnce() -> Result<T, LoadError>) -> Result<T, LoadError> {
    // Unwinding releases the `RefCell` borrows of the object store and the type registry. The caller's list of completed steps stays valid
    // after a panic.
    crate::panic_guard::caught(steps).unwrap_or_else(|message| Err(LoadError::HostPanic { message }))
}

impl LoadError {
    /// Checks if the error reports a missing package, class, struct or member on which a module depends.
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

    /// Returns the path of the file, if the error was detected before the module name was read.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Self::Image(error) => Some(error.path()),
            Self::PathNotAbsolute { path }
            | Self::NoManifest { path }
            | Self::Manifest { path, .. }
            | Self::NotSealed { path } => Some(path),
            _ => None,
        }
    }

    /// Checks if the canary process caused the error. After such an error, no new module is mapped in the host.
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
