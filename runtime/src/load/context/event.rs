//! Events of load contexts, with one type for all kinds of contexts.

use std::fmt;
use std::sync::Arc;

use crate::callback::Callbacks;
use crate::load::context::owner::Owner;
use crate::load::context_id::{ContextId, ContextKind, title};

/// Event of a load context: of a Slim, a pinned context, the Default or the Master.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{ContextEvent, ContextEventKind, Runtime};
///
/// fn log(event: &ContextEvent) {
///     match &event.event {
///         ContextEventKind::Blocked(blockers) => eprintln!("{} is held by {}", event.name, blockers.join(", ")),
///         _ => println!("{event}"),
///     }
/// }
///
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// let runtime = Runtime::builder().build()?;
/// runtime.contexts().on_event(log);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ContextEvent {
    /// Id of the generation that raised the event.
    pub id: ContextId,
    /// Kind of the context.
    pub kind: ContextKind,
    /// Name of the context.
    pub name: String,
    /// Kind of the event.
    pub event: ContextEventKind,
    pub(super) owner: Owner,
}

/// Kinds of events of a load context. The variants have the names of the variants of [`MasterEvent`](crate::MasterEvent). A `MasterEvent`
/// reports an event of the Master to listeners on the game thread. The generation is stored in [`ContextEvent::id`].
///
/// | here | [`MasterEvent`](crate::MasterEvent) | raised for | resulting state |
/// | --- | --- | --- | --- |
/// | `PreStartup` | `PreStartup` | the Master | `Alive` |
/// | `Kept(modules)` | `Kept` | the Master | |
/// | `Startup(module)` | `Startup` | the Master | |
/// | `PostStartup` | `PostStartup` | the Master | |
/// | `Loaded(module)`, for each new module | `Loaded`, for all of them | all | |
/// | `Unloading` | `Unloading` | all | `Unloading` |
/// | `Resumed` | `Resumed` | the Master | `Alive` |
/// | `Unloaded` | `Unloaded` | the Master | |
/// | `Blocked(blockers)` | `Blocked` | the Master | `Blocked` |
/// | `Dead` | `Dead` | all collectible contexts | `Dead` |
/// | `Parked(images)` | `Parked` | all collectible contexts | `Parked` |
///
/// The startup of a Master generation is reported step by step. A Slim generation is reported once, when it is complete. During a reload,
/// the old generation of the Master stays `Alive` until the new generation is loaded. After a rollback, the old generation resumes. A
/// blocked Slim raises no event. Its ticket reports the blockers.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{ContextEventKind, Runtime};
///
/// let runtime = Runtime::builder().build()?;
/// let listening = runtime.contexts().on_event(|event| {
///     if let ContextEventKind::Loaded(module) = &event.event {
///         println!("{module} is loaded into {}", event.name);
///     }
/// });
/// # drop(listening);
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ContextEventKind {
    /// A generation is about to start. No main has run.
    PreStartup,
    /// This generation reuses these modules of older generations.
    Kept(Vec<String>),
    /// The main of a module has returned, but the generation is not complete.
    Startup(String),
    /// The mains of all modules have returned.
    PostStartup,
    /// A module has been loaded, and its main has returned. For the Master, this event is raised when the generation is
    /// complete and live.
    Loaded(String),
    /// The generation accepts no new loads, calls or leases. This event is raised once. The Default raises it when the host
    /// shuts down.
    Unloading,
    /// A reload failed. The old generation continues to run.
    Resumed,
    /// All conjugates of the generation are destroyed, and its finalizers have run.
    Unloaded,
    /// The unload waits for these blockers. This event is raised once.
    Blocked(Vec<String>),
    /// The images of the generation are unmapped.
    Dead,
    /// These images of the generation stay mapped, each with the reason.
    Parked(Vec<String>),
}

impl ContextEventKind {
    /// Formats the kind of the event, followed by `subject` and the details of the event.
    pub(in crate::load) fn show(&self, f: &mut fmt::Formatter<'_>, subject: &dyn fmt::Display) -> fmt::Result {
        match self {
            Self::PreStartup => write!(f, "PreStartup {subject}"),
            Self::Kept(modules) => write!(f, "Kept {subject}: {}", modules.join(", ")),
            Self::Startup(module) => write!(f, "Startup {subject} {module}"),
            Self::PostStartup => write!(f, "PostStartup {subject}"),
            Self::Resumed => write!(f, "Resumed {subject}"),
            Self::Unloaded => write!(f, "Unloaded {subject}"),
            Self::Blocked(by) => write!(f, "Blocked {subject}: {}", by.join(", ")),
            Self::Loaded(module) => write!(f, "Loaded {subject} {module}"),
            Self::Unloading => write!(f, "Unloading {subject}"),
            Self::Dead => write!(f, "Dead {subject}"),
            Self::Parked(images) => write!(f, "Parked {subject}: {}", images.join(", ")),
        }
    }
}

impl fmt::Display for ContextEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.event.show(f, &format_args!("{} {}", title(self.kind, &self.name), self.id.generation))
    }
}

/// Listener for events of contexts. The thread that raises the event calls the listener.
pub(super) type Listener = dyn Fn(&ContextEvent) + Send + Sync;

/// Listeners of one registry or context. Smaller priorities are called first, equal priorities in order of registration.
pub(super) type Listeners = Callbacks<Arc<Listener>>;

/// Calls all listeners. A panic does not prevent the other listeners from being called. Returns a message for each panic.
pub(super) fn notify(listeners: &Listeners, event: &ContextEvent) -> Vec<String> {
    let mut problems = Vec::new();
    listeners.each(|priority, listener| {
        let result = crate::boundary::catch_panics(|| {
            (listener.code)(event);
            Ok(())
        });
        if let Err(error) = result {
            tracing::error!(%event, priority, callback = %listener.site, %error, "a listener of a load context failed");
            problems.push(format!("a callback of priority {priority} {error}"));
        }
    });
    problems
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::{ContextEvent, ContextEventKind, Listener, Listeners, notify};
    use crate::callback::{Registered, Site};
    use crate::load::context::owner::Owner;
    use crate::load::context_id::{ContextId, ContextKind};

    #[test]
    fn listeners_are_called_by_priority_and_a_panic_stops_none() {
        let (listeners, called) = (Listeners::default(), Arc::new(Mutex::new(Vec::new())));
        for (priority, name) in [(5, "five"), (-1, "first"), (5, "five again"), (0, "panics")] {
            let called = Arc::clone(&called);
            let listener: Arc<Listener> = Arc::new(move |_| {
                assert!(name != "panics", "on purpose");
                called.lock().expect("no panic while it is held").push(name);
            });
            listeners.add(priority, Registered { code: listener, site: Site::new("test", &()) });
        }
        let event = ContextEvent {
            id: ContextId::DEFAULT,
            kind: ContextKind::Default,
            name: "Default".into(),
            event: ContextEventKind::Unloading,
            owner: Owner::default(),
        };
        let problems = notify(&listeners, &event);
        assert_eq!(*called.lock().expect("no panic while it is held"), ["first", "five", "five again"]);
        assert_eq!(problems, ["a callback of priority 0 panicked: \"on purpose\""]);
    }
}
