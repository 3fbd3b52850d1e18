//! What happens to contexts that belong to no thread, for whoever wants to know.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::load::context::id::{ContextId, ContextKind, title};

/// Something happened to a Slim or to the Default.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ContextNotice {
    /// To which generation of which context.
    pub id: ContextId,
    /// What sort of context that is.
    pub kind: ContextKind,
    /// Its name.
    pub name: String,
    /// What happened.
    pub event: ContextHappening,
}

/// What can happen to a context that belongs to no thread.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ContextHappening {
    /// A module has been loaded, and its main has returned.
    Loaded(String),
    /// It takes nothing new any more; raised once. For the Default, when the host shuts down.
    Unloading,
    /// Its images left the process.
    Dead,
    /// Images of it stay mapped: which, and why.
    Parked(Vec<String>),
}

impl fmt::Display for ContextNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = title(self.kind, &self.name);
        let generation = self.id.generation;
        match &self.event {
            ContextHappening::Loaded(module) => write!(f, "Loaded {name} {generation} {module}"),
            ContextHappening::Unloading => write!(f, "Unloading {name} {generation}"),
            ContextHappening::Dead => write!(f, "Dead {name} {generation}"),
            ContextHappening::Parked(images) => write!(f, "Parked {name} {generation}: {}", images.join(", ")),
        }
    }
}

/// Who is told. Called on the thread on which it happens.
pub(super) type Listener = dyn Fn(&ContextNotice) + Send + Sync;

/// Listeners in the order they came, or by priority where they have one.
#[derive(Default)]
pub(super) struct Listeners {
    list: Mutex<Vec<(i32, Arc<Listener>)>>,
}

impl Listeners {
    /// Adds one; smaller priorities are called first, equal ones in the order they came.
    pub(super) fn add(&self, priority: i32, listener: Arc<Listener>) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let at = list.partition_point(|(other, _)| *other <= priority);
        list.insert(at, (priority, listener));
    }

    /// Tells all of them; none hears of another's panic. Returns what went wrong.
    pub(super) fn tell(&self, notice: &ContextNotice) -> Vec<String> {
        let list = self.list.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut problems = Vec::new();
        for (priority, listener) in list {
            let told = crate::border::trap(|| {
                listener(notice);
                Ok(())
            });
            if let Err(error) = told {
                tracing::error!(%notice, priority, %error, "a listener of a load context failed");
                problems.push(format!("a callback of priority {priority} {error}"));
            }
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::{ContextHappening, ContextNotice, Listeners};
    use crate::load::context::id::{ContextId, ContextKind};

    #[test]
    fn listeners_are_called_by_priority_and_a_panic_stops_none() {
        let (listeners, heard) = (Listeners::default(), Arc::new(Mutex::new(Vec::new())));
        for (priority, name) in [(5, "five"), (-1, "first"), (5, "five again"), (0, "panics")] {
            let heard = Arc::clone(&heard);
            listeners.add(
                priority,
                Arc::new(move |_| {
                    assert!(name != "panics", "on purpose");
                    heard.lock().expect("no panic while it is held").push(name);
                }),
            );
        }
        let notice = ContextNotice {
            id: ContextId::DEFAULT,
            kind: ContextKind::Default,
            name: "Default".into(),
            event: ContextHappening::Unloading,
        };
        let problems = listeners.tell(&notice);
        assert_eq!(*heard.lock().expect("no panic while it is held"), ["first", "five", "five again"]);
        assert_eq!(problems, ["a callback of priority 0 panicked: \"on purpose\""]);
    }
}
