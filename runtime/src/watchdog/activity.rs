//! Current activities of a thread, readable by other threads. Publishing an activity copies two short strings under a rarely contended
//! lock. Without a watchdog, publishing only reads one flag.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use crate::sync::lock;

/// Activity of a thread: a phase of a host operation, such as the phase `retire` of a reload, or a call into a module that has not
/// returned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Published {
    /// Number of the activity. The numbers of the activities on one thread are unique, and increase.
    pub id: u64,
    pub is_phase: bool,
    /// Name of the called module. Empty for a phase, and if the module is unknown.
    pub module: String,
    /// Name of the phase or of the called function.
    pub what: String,
}

impl Published {
    pub(crate) fn call(id: u64, module: &str, function: &str) -> Self {
        Self { id, is_phase: false, module: module.to_owned(), what: function.to_owned() }
    }
}

/// Published activities of one thread. Only that thread adds and removes activities. Any thread may read the activities.
#[derive(Debug, Default)]
pub(crate) struct Activities {
    on: AtomicBool,
    stack: Mutex<Stack>,
}

/// Stack of published entries. Entries beyond `depth` belong to activities that have ended, and their string buffers are reused.
#[derive(Debug, Default)]
struct Stack {
    last: u64,
    depth: usize,
    entries: Vec<Published>,
}

/// Guard of a published activity. Dropping the guard ends the activity.
#[must_use]
pub(crate) struct Entered<'a>(Option<&'a Activities>);

impl Drop for Entered<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(activities) = self.0 {
            activities.leave();
        }
    }
}

impl Activities {
    pub(crate) fn turn_on(&self) {
        self.on.store(true, Ordering::Relaxed);
    }

    /// Publishes a call into `module`.
    #[inline]
    pub(crate) fn call(&self, module: &str, function: &str) -> Entered<'_> {
        if self.on.load(Ordering::Relaxed) { self.enter(false, module, function) } else { Entered(None) }
    }

    /// Publishes a phase of the host.
    #[inline]
    pub(crate) fn phase(&self, phase: &str) -> Entered<'_> {
        if self.on.load(Ordering::Relaxed) { self.enter(true, "", phase) } else { Entered(None) }
    }

    /// Returns the current activities, outermost first.
    pub(crate) fn snapshot(&self) -> Vec<Published> {
        let stack = self.lock();
        stack.entries[..stack.depth].to_vec()
    }

    #[inline(never)]
    fn enter(&self, is_phase: bool, module: &str, what: &str) -> Entered<'_> {
        let mut stack = self.lock();
        stack.last += 1;
        let (id, depth) = (stack.last, stack.depth);
        if stack.entries.len() == depth {
            stack.entries.push(Published::default());
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

    #[inline(never)]
    fn leave(&self) {
        self.lock().depth -= 1;
    }

    fn lock(&self) -> MutexGuard<'_, Stack> {
        lock(&self.stack)
    }
}

#[cfg(test)]
mod tests {
    use super::{Activities, Published};

    impl Published {
        pub(crate) fn phase(id: u64, phase: &str) -> Self {
            Self { id, is_phase: true, what: phase.to_owned(), ..Self::default() }
        }
    }

    #[test]
    fn an_activity_is_visible_until_it_ends() {
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
