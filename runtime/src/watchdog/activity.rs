//! What a thread is doing, so that another one can read it. Publishing costs a copy of two short texts and a lock that
//! is rarely contended, and nothing but a look at one flag while there is no watchdog.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One thing a thread is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    /// The host is at this step of something.
    Phase(String),
    /// A call into a module has not returned.
    Call {
        /// The module; empty where it is not known.
        module: String,
        /// What was called.
        function: String,
    },
}

/// An activity with its number. Later ones have higher numbers, and none is given twice on a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Published {
    /// The number.
    pub id: u64,
    /// What it is.
    pub activity: Activity,
}

impl Published {
    /// A step of the host's.
    #[cfg(test)]
    pub(crate) fn phase(id: u64, phase: &str) -> Self {
        Self { id, activity: Activity::Phase(phase.to_owned()) }
    }

    /// A call into a module.
    pub(crate) fn call(id: u64, module: &str, function: &str) -> Self {
        let (module, function) = (module.to_owned(), function.to_owned());
        Self { id, activity: Activity::Call { module, function } }
    }
}

/// What one thread publishes. That thread enters and leaves; any thread may read.
#[derive(Debug, Default)]
pub(crate) struct Activities {
    on: AtomicBool,
    stack: Mutex<Stack>,
}

/// Entries stay when they are left, for the sake of their texts' memory.
#[derive(Debug, Default)]
struct Stack {
    last: u64,
    depth: usize,
    entries: Vec<Entry>,
}

#[derive(Debug, Default)]
struct Entry {
    id: u64,
    is_phase: bool,
    module: String,
    what: String,
}

/// Something is published until this is dropped.
#[must_use]
pub(crate) struct Entered<'a>(Option<&'a Activities>);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        if let Some(activities) = self.0 {
            activities.lock().depth -= 1;
        }
    }
}

impl Activities {
    /// From now on what is entered is published.
    pub(crate) fn turn_on(&self) {
        self.on.store(true, Ordering::Relaxed);
    }

    /// A call into `module` begins.
    #[inline]
    pub(crate) fn call(&self, module: &str, function: &str) -> Entered<'_> {
        match self.on.load(Ordering::Relaxed) {
            true => self.enter(false, module, function),
            false => Entered(None),
        }
    }

    /// The host begins a step.
    #[inline]
    pub(crate) fn phase(&self, phase: &str) -> Entered<'_> {
        match self.on.load(Ordering::Relaxed) {
            true => self.enter(true, "", phase),
            false => Entered(None),
        }
    }

    /// What the thread is doing, outermost first.
    pub(crate) fn snapshot(&self) -> Vec<Published> {
        let stack = self.lock();
        let open = stack.entries.iter().take(stack.depth);
        open.map(|entry| match entry.is_phase {
            true => Published { id: entry.id, activity: Activity::Phase(entry.what.clone()) },
            false => Published::call(entry.id, &entry.module, &entry.what),
        })
        .collect()
    }

    fn enter(&self, is_phase: bool, module: &str, what: &str) -> Entered<'_> {
        let mut stack = self.lock();
        stack.last += 1;
        let (id, depth) = (stack.last, stack.depth);
        if stack.entries.len() == depth {
            stack.entries.push(Entry::default());
        }
        let entry = &mut stack.entries[depth];
        (entry.id, entry.is_phase) = (id, is_phase);
        for (text, new) in [(&mut entry.module, module), (&mut entry.what, what)] {
            text.clear();
            text.push_str(new);
        }
        stack.depth = depth + 1;
        Entered(Some(self))
    }

    fn lock(&self) -> MutexGuard<'_, Stack> {
        self.stack.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{Activities, Published};

    #[test]
    fn what_is_entered_is_seen_until_it_is_left() {
        let activities = Activities::default();
        let unseen = activities.call("m", "before there was a watchdog");
        assert_eq!(activities.snapshot(), []);
        activities.turn_on();
        let reload = activities.phase("a reload");
        let first = activities.call("m", "f");
        assert_eq!(activities.snapshot(), [Published::phase(1, "a reload"), Published::call(2, "m", "f")]);
        drop(first);
        let second = activities.call("n", "gg");
        assert_eq!(activities.snapshot(), [Published::phase(1, "a reload"), Published::call(3, "n", "gg")]);
        drop(second);
        drop(reload);
        drop(unseen);
        assert_eq!(activities.snapshot(), []);
    }
}
