//! Selects the next step of an ending, based on facts only. `ending.rs` collects the facts and executes the steps.

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Facts {
    /// The process is running its exit handlers. At process exit, images must not be unmapped.
    pub(crate) process_exits: bool,
    /// Thread-local destructors of the image must run on the calling thread.
    pub(crate) locals_here: bool,
    pub(crate) threads: bool,
    /// Thread-local destructors of the image must run on other threads, are running, or must wait for a running destructor of the calling
    /// thread.
    pub(crate) locals_elsewhere: bool,
    /// Threads may be evicted, and this poll has not attempted an eviction yet.
    pub(crate) may_evict: bool,
    pub(crate) signals: bool,
    pub(crate) handler_runs: bool,
    pub(crate) exit_handlers: bool,
    /// The image is referenced from outside: the kernel may write to its memory, or a signal handler was set without the hooks.
    pub(crate) outside: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    RunThreadLocals,
    /// Forces threads out of blocking calls.
    Evict,
    Wait,
    ReleaseSignals,
    /// Runs the exit handlers. If these create new resources, the next poll detects the resources.
    RunExitHandlers,
    /// Closes the image, to which no reference is left, and then verifies that the image is unmapped.
    Close,
}

impl Facts {
    /// Returns the next step. The sequence of steps terminates, because each step clears its own fact or is followed by [`Step::Wait`].
    ///
    /// Signals are released before the image is closed, because a later signal would otherwise jump to unmapped code.
    pub(crate) fn next(self) -> Step {
        match self {
            Self { process_exits: true, .. } => Step::Wait,
            Self { locals_here: true, .. } => Step::RunThreadLocals,
            Self { threads: true, may_evict: true, .. } => Step::Evict,
            Self { threads: true, .. } | Self { locals_elsewhere: true, .. } => Step::Wait,
            Self { signals: true, .. } => Step::ReleaseSignals,
            Self { handler_runs: true, .. } => Step::Wait,
            Self { exit_handlers: true, .. } => Step::RunExitHandlers,
            // Exit handlers and destructors may have removed the outside reference.
            Self { outside: true, .. } => Step::Wait,
            _ => Step::Close,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Facts, Step};

    fn every_state() -> impl Iterator<Item = Facts> {
        (0..1u32 << 9).map(|bits| {
            let bit = |at: u32| bits >> at & 1 == 1;
            Facts {
                process_exits: bit(0),
                locals_here: bit(1),
                threads: bit(2),
                locals_elsewhere: bit(3),
                may_evict: bit(4),
                signals: bit(5),
                handler_runs: bit(6),
                exit_handlers: bit(7),
                outside: bit(8),
            }
        })
    }

    #[test]
    fn an_image_is_closed_only_without_references_to_it() {
        for facts in every_state().filter(|facts| facts.next() == Step::Close) {
            let nothing = Facts {
                process_exits: false,
                locals_here: false,
                threads: false,
                locals_elsewhere: false,
                may_evict: facts.may_evict,
                signals: false,
                handler_runs: false,
                exit_handlers: false,
                outside: false,
            };
            assert_eq!(facts, nothing);
        }
    }

    #[test]
    fn destructors_run_before_exit_handlers_and_again_after_them() {
        for facts in every_state().filter(|facts| facts.next() == Step::RunExitHandlers) {
            let again = Facts { locals_here: true, exit_handlers: false, ..facts };
            assert_eq!(again.next(), Step::RunThreadLocals, "{facts:?}");
        }
    }

    #[test]
    fn only_threads_are_evicted_and_only_where_allowed() {
        for facts in every_state().filter(|facts| facts.next() == Step::Evict) {
            assert!(facts.threads && facts.may_evict && !facts.locals_here, "{facts:?}");
            assert_eq!(Facts { may_evict: false, ..facts }.next(), Step::Wait);
        }
    }

    #[test]
    fn executing_the_plan_ends_or_waits() {
        for mut facts in every_state() {
            for _ in 0..16 {
                match facts.next() {
                    Step::RunThreadLocals => facts.locals_here = false,
                    Step::Evict => facts.may_evict = false,
                    Step::ReleaseSignals => facts.signals = false,
                    Step::RunExitHandlers => facts.exit_handlers = false,
                    Step::Wait | Step::Close => break,
                }
            }
            assert!(matches!(facts.next(), Step::Wait | Step::Close), "{facts:?}");
        }
    }
}
