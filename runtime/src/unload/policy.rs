//! How long an unload may take before it is called blocked, and before it is given up. This file decides; it reads no
//! clock.
#![expect(unsafe_code, reason = "two of the things that a host may ask for are sound for some modules only")]

use std::time::Duration;

use alcedo_sys::{EndPolicy, ReferenceSearch};

/// What the host does about unloads that do not come to their end by themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnloadPolicy {
    /// How long [`Runtime::reload`](crate::Runtime::reload) and [`Runtime::unload_master`](crate::Runtime::unload_master)
    /// wait for what is about to end, on the game thread. What is not gone then is looked at in every safe point, and is
    /// called blocked. 50 ms unless said otherwise.
    pub grace: Duration,
    /// How long after that a blocked context is given up: its images stay mapped, with the names of what kept them.
    /// None waits for ever. 10 s by default.
    pub park_after: Option<Duration>,
    /// How many images may stay mapped on purpose; beyond it, no more modules are loaded. 64 unless said otherwise.
    pub parked_budget: usize,
    /// How long the end of the host waits for what is still unloading. 5 s unless said otherwise.
    pub shutdown: Duration,
    /// Whether processes that a module has started, and that it has not waited for, are waited for: those that have ended
    /// when it goes, and the others in the safe point after their end. By default they are only reported, and
    /// one that has ended then stays a zombie. For hosts where only the module waits for these.
    pub reap_children: bool,
    /// Set by [`UnloadPolicy::evict_after`].
    pub(crate) evict_after: Option<Duration>,
    /// Set by [`UnloadPolicy::close_fds`].
    close_fds: bool,
    /// Whether blocks of the C heap that a module left are freed. They are, unless said otherwise, but for a module that
    /// may have given some away: one that links a library of its own dynamically, or calls `getline`.
    pub free_c_heap: bool,
    /// For which modules the memory of the process is looked through, before an image goes, for what still leads into it: a
    /// callback that was left in a table of a library, for one. As long as there is such a thing the image is kept, and a
    /// report says where that is and what it leads to. For those that use libraries of the system unless said otherwise, and
    /// for all in [development](crate::Builder::development).
    ///
    /// A look took 0.3 to 0.5 ms in a small host, and 0.8 s where variables of a library led to 100 MB on the C heap in blocks
    /// of 1 kB (a debug build); it stops after 64 MiB, 262,144 blocks or a second; the image then stays, and a report states the limit. What only the program leads to
    /// is not followed, and from the C library's variables little is. A word that means nothing any more may look like an
    /// address; then an image that could go is kept.
    pub look_for_references: ReferenceSearch,
}

impl Default for UnloadPolicy {
    fn default() -> Self {
        Self {
            grace: Duration::from_millis(50),
            park_after: Some(Duration::from_secs(10)),
            parked_budget: 64,
            shutdown: Duration::from_secs(5),
            reap_children: false,
            evict_after: None,
            close_fds: false,
            free_c_heap: true,
            look_for_references: ReferenceSearch::default(),
        }
    }
}

impl UnloadPolicy {
    /// After how long threads that a module left in a blocking system call are led out of it by force. What is on their
    /// stacks is not dropped, so this is for plugins that cannot be made to stop their threads. Never, unless said
    /// otherwise. Their thread-locals are forgotten. A thread that blocks all signals, or waits for a condition variable of
    /// the C library, is not led out: its image stays.
    ///
    /// # Safety
    ///
    /// No address in the stack of such a thread is used once it is gone. A thread that waits in
    /// [`std::thread::scope`] has lent its stack to others.
    pub unsafe fn evict_after(&mut self, after: Option<Duration>) {
        self.evict_after = after;
    }

    /// Whether file descriptors that a module left open are closed. They are only reported unless said otherwise.
    ///
    /// # Safety
    ///
    /// No descriptor that a module has opened belongs to other code by now, as one does that was sent to the host or to
    /// another module.
    pub unsafe fn close_fds(&mut self, closes: bool) {
        self.close_fds = closes;
    }

    /// Whether a context that has been unloading for so long, and does not come to its end, is given up.
    pub(crate) fn gives_up(&self, age: Duration) -> bool {
        self.park_after.is_some_and(|after| age >= self.grace.saturating_add(after))
    }

    /// How one image ends. The code that drives an unload does the waiting, so a look at it never sleeps.
    pub(crate) fn of_an_image(&self) -> EndPolicy {
        EndPolicy {
            grace: Duration::ZERO,
            close_fds: self.close_fds,
            free_c_heap: self.free_c_heap,
            look: self.look_for_references,
            evict: self.evict_after.map(|_| Duration::ZERO),
            reap_children: self.reap_children,
            live_heap: None,
        }
    }

    /// Whether so many parked images are more than the host's limit.
    pub(crate) fn is_spent(&self, parked: usize) -> bool {
        parked > self.parked_budget
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::UnloadPolicy;

    #[test]
    fn a_context_is_given_up_after_grace_and_patience_and_never_without_a_limit() {
        let policy = UnloadPolicy { grace: Duration::from_millis(50), ..UnloadPolicy::default() };
        let ages = [0, 49, 10_049, 10_050, 1_000_000].map(Duration::from_millis);
        assert_eq!(ages.map(|age| policy.gives_up(age)), [false, false, false, true, true]);
        let patient = UnloadPolicy { park_after: None, ..policy };
        assert_eq!(ages.map(|age| patient.gives_up(age)), [false; 5]);
    }

    #[test]
    fn a_budget_is_spent_by_one_image_more_than_it_allows() {
        let policy = UnloadPolicy { parked_budget: 2, ..UnloadPolicy::default() };
        assert_eq!([0, 1, 2, 3].map(|parked| policy.is_spent(parked)), [false, false, false, true]);
    }
}
