//! In which order a generation is unloaded, whatever for. This file decides; `generation.rs`, `under_way.rs` and, for Slims,
//! `load/context/unloading.rs` act on it. The rule behind the order: nothing of a module runs after something has gone that it
//! may refer to. So what runs code of the module comes first, and what that code may look at comes after it.

/// What a generation is unloaded for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UnloadCause {
    /// The Master is unloaded, or its host ends.
    Unloaded,
    /// A reload has put another one in its place.
    Replaced,
    /// A reload failed: it is the new one that goes.
    RolledBack,
    /// The Master could not be created.
    NotCreated,
    /// Some of its modules were mapped, and another could not be.
    NotStaged,
    /// A Slim is unloaded or replaced. It has no objects, values or jobs.
    Slim,
}

/// One step of an unload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UnloadStep {
    /// No new lease is given.
    Seal,
    /// Listeners, unloading callbacks and the listeners for the end of an object are called. All is there yet, and
    /// every call still works.
    Tell,
    /// No call gets in any more: a new one fails with `Unavailable`. What the module owns is still its own. Its threads
    /// are asked to stop.
    ShutGates,
    /// Tasks, timers and posted closures are dropped.
    DropJobs,
    /// The objects that end with the generation are destroyed, and what belongs to their classes.
    EndObjects,
    /// Nothing that it handed out leads anywhere any more; plugin parts go to the finalizer thread.
    ReleasePluginParts,
    /// The generation that was set aside answers again.
    Resume,
    /// The finalizers run, as long as the host's patience lasts. One that hangs does not keep the others from their end.
    AwaitFinalizers,
    /// Exit hooks of modules whose mains have returned, dependents first, and what was left to each module to drop.
    ExitHooks,
    /// Thread-locals of the thread that does this. Those of the finalizer thread end behind its last finalizer.
    EndThreadLocals,
    /// Values in host memory that it owns; once every finalizer has run or was given up.
    EndBlacks,
    /// The numbers of the types of those values.
    EndTypeNumbers,
    /// Its images, as soon as they are not used.
    EndImages,
}

use UnloadStep::{
    AwaitFinalizers, DropJobs, EndBlacks, EndImages, EndObjects, EndThreadLocals, EndTypeNumbers, ExitHooks,
    ReleasePluginParts, Resume, Seal, ShutGates, Tell,
};

/// The last steps of the end of a generation, which may come later than the call that began it.
pub(crate) const LATER: [UnloadStep; 3] = [EndBlacks, EndTypeNumbers, EndImages];

impl UnloadCause {
    /// The steps, first to last.
    pub(crate) fn steps(self) -> Vec<UnloadStep> {
        let all = [
            Seal,
            Tell,
            ShutGates,
            DropJobs,
            EndObjects,
            ReleasePluginParts,
            Resume,
            AwaitFinalizers,
            ExitHooks,
            EndThreadLocals,
            EndBlacks,
            EndTypeNumbers,
            EndImages,
        ];
        all.into_iter().filter(|step| self.has(*step)).collect()
    }

    fn has(self, step: UnloadStep) -> bool {
        match step {
            Seal | ShutGates | ExitHooks | EndThreadLocals | EndImages => true,
            // The listeners of a generation that is replaced were called when it was set aside.
            Tell => self == Self::Unloaded,
            Resume => self == Self::RolledBack,
            // No type of it was declared and no main has run.
            EndObjects => !matches!(self, Self::NotStaged | Self::Slim),
            DropJobs | ReleasePluginParts | AwaitFinalizers | EndBlacks | EndTypeNumbers => self != Self::Slim,
        }
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

    /// What runs code of the module.
    const RUNS: [UnloadStep; 5] = [
        UnloadStep::Tell,
        UnloadStep::DropJobs,
        UnloadStep::AwaitFinalizers,
        UnloadStep::ExitHooks,
        UnloadStep::EndThreadLocals,
    ];

    /// What such code may look at, and goes.
    const GOES: [UnloadStep; 3] = [UnloadStep::EndBlacks, UnloadStep::EndTypeNumbers, UnloadStep::EndImages];

    fn at(end: UnloadCause, step: UnloadStep) -> Option<usize> {
        end.steps().iter().position(|other| *other == step)
    }

    #[test]
    fn nothing_of_a_module_runs_after_something_has_gone_that_it_may_refer_to() {
        for end in ENDS {
            for (runs, goes) in RUNS.iter().flat_map(|runs| GOES.map(|goes| (*runs, goes))) {
                if let (Some(runs_at), Some(goes_at)) = (at(end, runs), at(end, goes)) {
                    assert!(runs_at < goes_at, "{end:?}: {runs:?} after {goes:?}");
                }
            }
        }
    }

    #[test]
    fn all_is_told_before_a_gate_is_shut_and_every_gate_is_shut_before_anything_ends() {
        for end in ENDS {
            let shut = at(end, UnloadStep::ShutGates).expect("every end shuts gates");
            assert!(at(end, UnloadStep::Tell).is_none_or(|tell| tell < shut), "{end:?}");
            assert!(at(end, UnloadStep::Seal).is_some_and(|seal| seal < shut), "{end:?}");
            for step in &end.steps()[..shut] {
                assert!(matches!(step, UnloadStep::Seal | UnloadStep::Tell), "{end:?}: {step:?} behind an open gate");
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
        let values = [UnloadStep::EndBlacks, UnloadStep::EndTypeNumbers];
        let with_values = |end: &UnloadCause| values.iter().all(|step| end.steps().contains(step));
        assert_eq!(ENDS.map(|end| with_values(&end)), [true, true, true, true, true, false]);
    }
}
