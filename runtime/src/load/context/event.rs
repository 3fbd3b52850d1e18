//! What happens to load contexts, for listeners, in one set of terms for all of them.

use std::fmt;
use std::sync::Arc;

use crate::callback::Callbacks;
use crate::load::context::home::Home;
use crate::load::context_id::{ContextId, ContextKind, title};

/// Something happened to a load context: a Slim, a pinned one, the Default or the Master.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ContextEvent {
    /// To which generation of which context.
    pub id: ContextId,
    /// What sort of context that is.
    pub kind: ContextKind,
    /// Its name.
    pub name: String,
    /// What happened.
    pub event: ContextEventKind,
    /// The way back to it.
    pub(super) home: Home,
}

/// What can happen to a load context. The words are those of [`MasterEvent`](crate::MasterEvent), which says the same to
/// listeners on the game thread; here the generation stands in [`ContextEvent::id`].
///
/// | here | [`MasterEvent`](crate::MasterEvent) | told of | state from then on |
/// | --- | --- | --- | --- |
/// | `PreStartup` | `PreStartup` | the Master | `Alive` |
/// | `Kept(modules)` | `Kept` | the Master | |
/// | `Startup(module)` | `Startup` | the Master | |
/// | `PostStartup` | `PostStartup` | the Master | |
/// | `Loaded(module)`, for each that came up | `Loaded`, for all of them | all | |
/// | `Unloading` | `Unloading` | all | `Unloading` |
/// | `Resumed` | `Resumed` | the Master | `Alive` |
/// | `Unloaded` | `Unloaded` | the Master | |
/// | `Blocked(blockers)` | `Blocked` | the Master | `Blocked` |
/// | `Dead` | `Dead` | all that are collectible | `Dead` |
/// | `Parked(images)` | `Parked` | all that are collectible | `Parked` |
///
/// A generation of the Master comes up in public, step by step; that of a Slim is reported when it is there. In a
/// reload the old generation of the Master is `Alive` until the new one is loaded, since it may resume. Whether a Slim
/// is blocked, its ticket says.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ContextEventKind {
    /// A generation is about to start; none of its mains has run.
    PreStartup,
    /// These modules of older generations stay, and belong to this one.
    Kept(Vec<String>),
    /// The main of a module has returned; the generation is not complete.
    Startup(String),
    /// All mains have returned.
    PostStartup,
    /// A module has been loaded, and its main has returned. Of the Master, when the generation is complete and live.
    Loaded(String),
    /// It takes nothing new any more; raised once. For the Default, when the host shuts down.
    Unloading,
    /// A reload did not come to pass: the generation goes on as it was.
    Resumed,
    /// Every conjugate and finalizer of the generation has ended.
    Unloaded,
    /// Something keeps images of the generation: these. Raised once.
    Blocked(Vec<String>),
    /// Its images left the process.
    Dead,
    /// Images of it stay mapped: which, and why.
    Parked(Vec<String>),
}

impl fmt::Display for ContextEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = title(self.kind, &self.name);
        let generation = self.id.generation;
        match &self.event {
            ContextEventKind::PreStartup => write!(f, "PreStartup {name} {generation}"),
            ContextEventKind::Kept(modules) => write!(f, "Kept {name} {generation}: {}", modules.join(", ")),
            ContextEventKind::Startup(module) => write!(f, "Startup {name} {generation} {module}"),
            ContextEventKind::PostStartup => write!(f, "PostStartup {name} {generation}"),
            ContextEventKind::Resumed => write!(f, "Resumed {name} {generation}"),
            ContextEventKind::Unloaded => write!(f, "Unloaded {name} {generation}"),
            ContextEventKind::Blocked(by) => write!(f, "Blocked {name} {generation}: {}", by.join(", ")),
            ContextEventKind::Loaded(module) => write!(f, "Loaded {name} {generation} {module}"),
            ContextEventKind::Unloading => write!(f, "Unloading {name} {generation}"),
            ContextEventKind::Dead => write!(f, "Dead {name} {generation}"),
            ContextEventKind::Parked(images) => write!(f, "Parked {name} {generation}: {}", images.join(", ")),
        }
    }
}

/// A listener. Called on the thread on which the event happens.
pub(super) type Listener = dyn Fn(&ContextEvent) + Send + Sync;

/// Listeners in the order they came, or by priority where they have one.
pub(super) type Listeners = Callbacks<Arc<Listener>>;

/// Calls all of them; the panic of one does not reach the others. Returns what went wrong.
pub(super) fn tell(listeners: &Listeners, event: &ContextEvent) -> Vec<String> {
    let mut problems = Vec::new();
    listeners.each(|priority, listener| {
        let told = crate::border::trap(|| {
            (listener.code)(event);
            Ok(())
        });
        if let Err(error) = told {
            tracing::error!(%event, priority, callback = %listener.site, %error, "a listener of a load context failed");
            problems.push(format!("a callback of priority {priority} {error}"));
        }
    });
    problems
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::{ContextEvent, ContextEventKind, Listener, Listeners, tell};
    use crate::callback::{Registered, Site};
    use crate::load::context::home::Home;
    use crate::load::context_id::{ContextId, ContextKind};

    #[test]
    fn listeners_are_called_by_priority_and_a_panic_stops_none() {
        let (listeners, heard) = (Listeners::default(), Arc::new(Mutex::new(Vec::new())));
        for (priority, name) in [(5, "five"), (-1, "first"), (5, "five again"), (0, "panics")] {
            let heard = Arc::clone(&heard);
            let listener: Arc<Listener> = Arc::new(move |_| {
                assert!(name != "panics", "on purpose");
                heard.lock().expect("no panic while it is held").push(name);
            });
            listeners.add(priority, Registered { code: listener, site: Site::new("test", &()) });
        }
        let event = ContextEvent {
            id: ContextId::DEFAULT,
            kind: ContextKind::Default,
            name: "Default".into(),
            event: ContextEventKind::Unloading,
            home: Home::default(),
        };
        let problems = tell(&listeners, &event);
        assert_eq!(*heard.lock().expect("no panic while it is held"), ["first", "five", "five again"]);
        assert_eq!(problems, ["a callback of priority 0 panicked: \"on purpose\""]);
    }
}
