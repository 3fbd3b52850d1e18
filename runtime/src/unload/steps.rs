//! Order of the unload steps for each cause of an unload. `load/master` performs the steps of a Master, `reload/transaction.rs` the steps
//! of a rollback, and `load/context/unloading.rs` the steps of a Slim. Steps that run module code precede steps that destroy data of
//! modules, because module code may access this data.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UnloadCause {
    /// The Master is unloaded, or its host shuts down.
    Unloaded,
    /// A reload has replaced the generation.
    Replaced,
    /// A reload failed, and the new generation is unloaded.
    RolledBack,
    /// The Master could not be created.
    NotCreated,
    /// Some new modules were mapped, but the next module could not be mapped.
    NotStaged,
    /// A Slim is unloaded or replaced. Slims have no objects, values or jobs.
    Slim,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UnloadStep {
    /// Rejects new leases.
    Seal,
    /// Calls unloading listeners, unloading callbacks and object destruction listeners. All objects still exist, and all calls are allowed.
    Notify,
    /// Closes the gates, so that new calls fail with `Unavailable`. Requests the threads of the modules to stop. Values owned by the
    /// modules remain.
    ShutGates,
    DropJobs,
    /// Destroys the objects of the generation, and the per-module data of their classes.
    EndObjects,
    /// Removes the call names, exports and class hooks of the modules. Passes plugin parts to the finalizer thread.
    ReleasePluginParts,
    /// Reopens the gates of the old generation, and resumes the modules that the failed reload has suspended.
    Resume,
    /// Waits for finalizers, up to the limit in the host's policy. A hanging finalizer does not prevent the later steps. For a replaced
    /// generation with many or slow finalizers, later safe points perform this step and the steps after it.
    AwaitFinalizers,
    /// Runs the exit hooks of modules whose mains have returned, dependents first. Then drops the values that a module has registered for a
    /// drop at its exit.
    ExitHooks,
    /// Drops the thread-locals of the current thread. The finalizer thread drops its own thread-locals after its last
    /// finalizer.
    EndThreadLocals,
    /// Drops the values in host memory that the modules own, after every finalizer has run or was abandoned.
    EndOwnedValues,
    /// Removes the ids by which the modules refer to types.
    EndTypeNumbers,
    /// Unmaps each image once the image is unused.
    EndImages,
}

/// Last steps of an unload of the Master. These steps may run after the call that began the unload has returned.
pub(crate) const LATER: [UnloadStep; 3] =
    [UnloadStep::EndOwnedValues, UnloadStep::EndTypeNumbers, UnloadStep::EndImages];

impl UnloadCause {
    pub(crate) fn steps(self) -> Vec<UnloadStep> {
        let has_parts = self != Self::Slim;
        let all = [
            (UnloadStep::Seal, true),
            // For a replaced generation, the reload has already called the unloading listeners.
            (UnloadStep::Notify, self == Self::Unloaded),
            (UnloadStep::ShutGates, true),
            (UnloadStep::DropJobs, has_parts),
            // A generation that was not staged has no objects, because it has declared no types and its mains have not run.
            (UnloadStep::EndObjects, has_parts && self != Self::NotStaged),
            (UnloadStep::ReleasePluginParts, has_parts),
            (UnloadStep::Resume, self == Self::RolledBack),
            (UnloadStep::AwaitFinalizers, has_parts),
            (UnloadStep::ExitHooks, true),
            (UnloadStep::EndThreadLocals, true),
            (UnloadStep::EndOwnedValues, has_parts),
            (UnloadStep::EndTypeNumbers, has_parts),
            (UnloadStep::EndImages, true),
        ];
        all.into_iter().filter_map(|(step, is_part)| is_part.then_some(step)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{LATER, UnloadCause, UnloadStep};

    const ENDS: [UnloadCause; 6] = [
        UnloadCause::Unloaded,
        UnloadCause::Replaced,
        UnloadCause::RolledBack,
        UnloadCause::NotCreated,
        UnloadCause::NotStaged,
        UnloadCause::Slim,
    ];

    /// Steps that run module code.
    const RUNS: [UnloadStep; 5] = [
        UnloadStep::Notify,
        UnloadStep::DropJobs,
        UnloadStep::AwaitFinalizers,
        UnloadStep::ExitHooks,
        UnloadStep::EndThreadLocals,
    ];

    /// Steps that destroy data of modules. Module code may access this data.
    const GOES: [UnloadStep; 3] = [UnloadStep::EndOwnedValues, UnloadStep::EndTypeNumbers, UnloadStep::EndImages];

    fn at(end: UnloadCause, step: UnloadStep) -> Option<usize> {
        end.steps().iter().position(|other| *other == step)
    }

    #[test]
    fn module_code_stops_before_anything_it_may_refer_to_ends() {
        for end in ENDS {
            for (runs, goes) in RUNS.iter().flat_map(|runs| GOES.map(|goes| (*runs, goes))) {
                if let (Some(runs_at), Some(goes_at)) = (at(end, runs), at(end, goes)) {
                    assert!(runs_at < goes_at, "{end:?}: {runs:?} after {goes:?}");
                }
            }
        }
    }

    #[test]
    fn gates_close_after_all_notifications_and_before_any_end() {
        for end in ENDS {
            let shut = at(end, UnloadStep::ShutGates).expect("every end shuts gates");
            assert!(at(end, UnloadStep::Notify).is_none_or(|notify| notify < shut), "{end:?}");
            assert!(at(end, UnloadStep::Seal).is_some_and(|seal| seal < shut), "{end:?}");
            for step in &end.steps()[..shut] {
                assert!(matches!(step, UnloadStep::Seal | UnloadStep::Notify), "{end:?}: {step:?} behind an open gate");
            }
        }
    }

    #[test]
    fn every_end_has_each_step_once_and_all_have_the_same_order() {
        let longest: Vec<_> = {
            let mut steps = UnloadCause::Unloaded.steps();
            let released = steps.iter().position(|step| *step == UnloadStep::ReleasePluginParts).expect("it is there");
            steps.insert(released + 1, UnloadStep::Resume);
            steps
        };
        for end in ENDS {
            let mut rest = longest.iter();
            assert!(end.steps().iter().all(|step| rest.any(|other| other == step)), "{end:?}: {:?}", end.steps());
            assert_eq!(end.steps().last(), Some(&UnloadStep::EndImages));
            assert!(end == UnloadCause::Slim || end.steps().ends_with(&LATER), "{end:?}");
            for (at, step) in end.steps().iter().enumerate() {
                assert!(!end.steps()[..at].contains(step), "{end:?}: {step:?}");
            }
        }
        assert_eq!(ENDS.map(|end| end.steps().len()), [12, 11, 12, 11, 10, 5]);
        let values = [UnloadStep::EndOwnedValues, UnloadStep::EndTypeNumbers];
        let with_values = |end: &UnloadCause| values.iter().all(|step| end.steps().contains(step));
        assert_eq!(ENDS.map(|end| with_values(&end)), [true, true, true, true, true, false]);
    }
}
