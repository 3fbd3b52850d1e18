//! Events of load contexts. All kinds of contexts share one event type.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::callback::Callbacks;
use crate::load::context::owner::Owner;
use crate::load::context_id::{ContextId, ContextKind, title};

/// Event of a Slim, a pinned context, the Default or the Master.
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

/// Kinds of events of a load context. The generation is stored in [`ContextEvent::id`].
///
/// | kind | raised for | resulting state |
/// | --- | --- | --- |
/// | `PreStartup` | the Master | `Alive` |
/// | `Kept(modules)` | the Master | |
/// | `Startup(module)` | the Master | |
/// | `PostStartup` | the Master | |
/// | `Loaded(modules)` | all | |
/// | `Unloading` | all | `Unloading` |
/// | `Resumed` | the Master | `Alive` |
/// | `Unloaded` | the Master | |
/// | `Blocked(blockers)` | the Master | `Blocked` |
/// | `Dead` | all collectible contexts | `Dead` |
/// | `Parked(images)` | all collectible contexts | `Parked` |
///
/// The startup of a Master generation is reported step by step. A Slim generation raises one event, when the generation is complete. During
/// a reload, the old generation of the Master stays `Alive` until the new generation is loaded. After a rollback, the old generation
/// resumes. A blocked Slim raises no event. The unload ticket of the Slim reports the blockers.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{ContextEventKind, Runtime};
///
/// let runtime = Runtime::builder().build()?;
/// let listening = runtime.contexts().on_event(|event| {
///     if let ContextEventKind::Loaded(modules) = &event.event {
///         println!("{} loaded into {}", modules.join(", "), event.name);
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
    /// The new generation reuses these modules of older generations. Raised only by a reload of changed modules, before `PreStartup`.
    Kept(Vec<String>),
    /// The main of this module has returned. The mains of later modules have not returned yet.
    Startup(String),
    /// The mains of all modules have returned.
    PostStartup,
    /// These modules have been loaded, and their mains have returned. A load into a Slim, a pinned context or the Default raises the event
    /// once per module. The Master raises the event once, with all new modules, when the generation is complete and live. The list is empty
    /// for a reload that only removes modules.
    Loaded(Vec<String>),
    /// The generation accepts no new leases, and a Slim also no new loads and calls. Each generation that was loaded raises the event once.
    /// After a failed reload, the next reload or unload of the resumed generation raises the event again. The Default and pinned contexts
    /// raise the event when the host shuts down.
    Unloading,
    /// A reload failed. The old generation continues to run.
    Resumed,
    /// All conjugates of the generation are destroyed, and its finalizers have run.
    Unloaded,
    /// The unload waits for these blockers. The event is raised once, but the unload is polled at every safe point.
    Blocked(Vec<String>),
    /// The images of the generation are unmapped.
    Dead,
    /// These images of the generation stay mapped. Each entry contains the reason.
    Parked(Vec<String>),
}

impl ContextEventKind {
    /// Returns the kind of the event, followed by `subject` and the details of the event.
    pub(in crate::load) fn text(&self, subject: &dyn fmt::Display) -> String {
        match self {
            Self::PreStartup => format!("PreStartup {subject}"),
            Self::Kept(modules) => format!("Kept {subject}: {}", modules.join(", ")),
            Self::Startup(module) => format!("Startup {subject} {module}"),
            Self::PostStartup => format!("PostStartup {subject}"),
            Self::Resumed => format!("Resumed {subject}"),
            Self::Unloaded => format!("Unloaded {subject}"),
            Self::Blocked(by) => format!("Blocked {subject}: {}", by.join(", ")),
            Self::Loaded(modules) if modules.is_empty() => format!("Loaded {subject}"),
            Self::Loaded(modules) => format!("Loaded {subject} {}", modules.join(", ")),
            Self::Unloading => format!("Unloading {subject}"),
            Self::Dead => format!("Dead {subject}"),
            Self::Parked(images) => format!("Parked {subject}: {}", images.join(", ")),
        }
    }
}

impl fmt::Display for ContextEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.event.text(&format_args!("{} {}", title(self.kind, &self.name), self.id.generation)))
    }
}

/// Listener for events of contexts. The thread that raises the event calls the listener.
pub(super) type Listener = dyn Fn(&ContextEvent) + Send + Sync;

/// Listeners of one registry or context. Listeners with smaller priorities are called first. Listeners with equal priorities are called in
/// order of registration.
pub(super) type Listeners = Callbacks<Arc<Listener>>;

/// Calls all listeners. Continues with the next listener after a panic. Returns a message for each panic.
pub(in crate::load) fn notify<L: Clone + Deref>(listeners: &Callbacks<L>, event: &ContextEvent) -> Vec<String>
where
    L::Target: Fn(&ContextEvent),
{
    let mut problems = Vec::new();
    listeners.each(|priority, listener| {
        let result = crate::boundary::catch_panics(|| {
            (*listener.code)(event);
            Ok(())
        });
        if let Err(error) = result {
            log!(ERROR, %event, priority, callback = %listener.site, %error, "a listener of a load context failed");
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

    #[test]
    fn an_event_names_the_loaded_modules() {
        let text = |modules: &[&str]| {
            let modules = modules.iter().map(|module| (*module).to_owned()).collect();
            ContextEventKind::Loaded(modules).text(&"Master 2")
        };
        assert_eq!([text(&[]), text(&["lamps", "fuses"])], ["Loaded Master 2", "Loaded Master 2 lamps, fuses"]);
    }
}
