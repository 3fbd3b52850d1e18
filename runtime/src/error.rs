//! Errors that a host receives.

use alcedo_base::figures::counted;

use crate::boundary::CallError;
use crate::load::error::LoadError;
use crate::object::construction::ConstructionFailed;
use crate::object::refusal::DeclareError;

/// Error of a runtime operation. A failed operation has no effect.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{Error, Runtime};
///
/// let runtime = Runtime::builder().build()?;
/// match runtime.objects().spawn("/Script/Game.Ghost") {
///     Err(Error::UnknownClass { path, .. }) => assert_eq!(path, "/Script/Game.Ghost"),
///     other => panic!("{other:?}"),
/// }
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A module was not loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A call failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// An object was not constructed.
    #[error(transparent)]
    Construction(#[from] ConstructionFailed),
    /// A declaration of a native type is invalid.
    #[error("a native type cannot be declared: {0}")]
    Declare(#[from] DeclareError),
    /// A function of a native class cannot be bound to a C function.
    #[cfg(feature = "dll-bind")]
    #[error(transparent)]
    Bind(#[from] alcedo_dll_bind::BindError),
    /// A system operation has failed, such as the creation of a thread, a folder or a file.
    #[error("{doing}: {source}")]
    System {
        /// Attempted operation.
        doing: String,
        /// Error of the system.
        source: std::io::Error,
    },
    /// No class has this path.
    #[error("class {path} not found: {}", unknown_class(*waiting))]
    UnknownClass {
        /// Path of the class.
        path: String,
        /// Number of dormant objects of this class. Nonzero if a reload has removed the class, and the objects wait for its return.
        waiting: u64,
    },
    /// The class of the object does not have this member.
    #[error("{class} has no {what} `{name}`")]
    UnknownMember {
        /// Path of the class.
        class: String,
        /// `property` or `function`.
        what: &'static str,
        /// Name of the member.
        name: String,
    },
    /// The operation requires a safe point, but plugin code or a hook of a native class is on the stack.
    #[error("{action} is for a safe point, and `{frame}` has not returned: {}", later(action))]
    NotASafePoint {
        /// Name of the operation.
        action: &'static str,
        /// Innermost open call.
        frame: String,
    },
    /// The list and the batch belong to different runtimes. No object was called.
    #[error(
        "`{name}` was not called: the list has objects of another runtime, and their handles refer to other objects here; refresh the \
         list with the runtime of `{name}`"
    )]
    OtherRuntime {
        /// Name of the method.
        name: String,
    },
    /// A module or load context accepts no new leases.
    #[error(transparent)]
    Sealed(#[from] crate::lease::Sealed),
    /// An operation on a Slim, a pinned context or the Default failed.
    #[error(transparent)]
    Context(#[from] crate::load::error::context::ContextError),
    /// A file watch cannot be started.
    #[error(transparent)]
    Watch(#[from] crate::reload::watch::WatchError),
    /// `alcedo dev` runs this host, and has requested the shutdown of the host.
    #[error("the end of this host was requested before any plugin was loaded: return from `main`")]
    Ended,
    /// A world was not saved or loaded.
    #[error(transparent)]
    World(#[from] crate::world::WorldError),
}

impl From<Error> for CallError {
    /// Converts an error of the runtime, so that function bodies of the host can use `?`. A contained [`CallError`] is returned unchanged.
    fn from(error: Error) -> Self {
        match error {
            Error::Call(error) => error,
            other => Self::other(other.to_string()),
        }
    }
}

/// Returns a hint for the error message of `action`: the method that requests this action for the next safe point.
fn later(action: &str) -> &'static str {
    match action {
        A_COLLECTION => "it is done at the next safe point",
        A_RELOAD => "do it between ticks, or use `request_reload`",
        A_TICK => "call `tick` again afterwards",
        UNLOADING => "do it between ticks, or use `request_unload`",
        _ => "do it between ticks",
    }
}

/// Actions that can be requested for the next safe point.
pub(crate) const A_COLLECTION: &str = "a collection";
pub(crate) const A_RELOAD: &str = "a reload";
pub(crate) const UNLOADING: &str = "unloading the Master";

pub(crate) const A_TICK: &str = "a tick";

fn unknown_class(waiting: u64) -> String {
    match waiting {
        0 => "it is `/Script/<package>.<class>` of a native class or of a loaded module".to_owned(),
        waiting => format!(
            "it is dormant, since the loaded modules no longer declare it; {} for a reload that restores it",
            if waiting == 1 { "1 object waits".to_owned() } else { counted(waiting, "object") + " wait" }
        ),
    }
}
