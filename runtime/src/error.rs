//! The errors that a host gets.

use crate::border::CallError;
use crate::load::error::LoadError;
use crate::object::construction::ConstructionFailed;
use crate::object::refusal::DeclareError;

/// Why the runtime did not do what the host requested. Nothing has changed then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A module was not loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A call was not done.
    #[error(transparent)]
    Call(#[from] CallError),
    /// An object was not born.
    #[error(transparent)]
    Construction(#[from] ConstructionFailed),
    /// A native declaration breaks a rule.
    #[error("a native type cannot be declared: {0}")]
    Declare(#[from] DeclareError),
    /// A function of a native class cannot be bound to a C function.
    #[cfg(feature = "dll-bind")]
    #[error(transparent)]
    Bind(#[from] alcedo_dll_bind::BindError),
    /// The system refused a thread, a folder or a watch.
    #[error("{doing}: {source}")]
    System {
        /// What was tried.
        doing: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A path that names no class.
    #[error("there is no class {path}: {}", unknown_class(*waiting))]
    UnknownClass {
        /// The path.
        path: String,
        /// How many dormant objects wait for it: the loaded modules do not declare it any more.
        waiting: u64,
    },
    /// A member that the object's class does not have.
    #[error("{class} has no {what} `{name}`")]
    UnknownMember {
        /// Path of the class.
        class: String,
        /// `property` or `function`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Asked for at a place where plugin code is still on the stack.
    #[error(
        "{action} is for a safe point, and `{frame}` has not returned: do it between ticks, or ask with `request_reload`"
    )]
    NotASafePoint {
        /// What was requested.
        action: &'static str,
        /// The innermost call that is open.
        frame: String,
    },
    /// A module, or a load context, takes no new leases.
    #[error(transparent)]
    Sealed(#[from] crate::lease::Sealed),
    /// A load context that belongs to no thread did not do it.
    #[error(transparent)]
    Context(#[from] crate::load::error::context::ContextError),
    /// Files cannot be watched.
    #[error(transparent)]
    Watch(#[from] crate::reload::watch::WatchError),
    /// `alcedo dev`, which runs this host, has requested its end.
    #[error("the end of this host was requested before any plugin was loaded: return from `main`")]
    Ended,
    /// A world was not saved or loaded.
    #[error(transparent)]
    World(#[from] crate::world::WorldError),
}

impl From<Error> for CallError {
    /// For bodies of the host, which are called as functions are and use the runtime: a call's error stays what it is.
    fn from(error: Error) -> Self {
        match error {
            Error::Call(error) => error,
            other => Self::other(other.to_string()),
        }
    }
}

fn unknown_class(waiting: u64) -> String {
    match waiting {
        0 => "it is `/Script/<package>.<class>` of a native class or of a loaded module".to_owned(),
        waiting => format!(
            "it is dormant, since the loaded modules do not declare it any more; {waiting} objects wait for a reload that brings it back"
        ),
    }
}
