//! Fault injection: makes a chosen step of a reload fail or panic, so that tests can verify the rollback. Only the steps of [`ReloadStep`]
//! can fail by injection. Not intended for hosts. If no fault is armed, each step costs one read of a thread-local flag.

use std::cell::{Cell, RefCell};
use std::fmt;

use crate::boundary::CallError;

listed! {
    /// Steps of a reload that can fail, in order of execution.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    pub enum ReloadStep {
        /// Before a library is read.
        Read,
        /// The headers, sections and manifest of a library were checked.
        Check,
        /// A library was copied.
        Copy,
        /// All copies exist, but the canary has not yet loaded the copies.
        Canary,
        /// A library was mapped.
        Map,
        /// The layout of the root module was compared.
        LayoutCheck,
        /// A library was attached to the host.
        Attach,
        /// Old names are set aside and shadow types are active.
        Shadow,
        /// Types are declared. The import cells (static variables of the modules) are still empty.
        Declare,
        /// The classes and exports of a module are registered, and the cells for the module's own declarations are filled.
        Enroll,
        /// The cells of a module contain the types and functions that the module imports.
        FillCells,
        /// Before the `suspend` function of a module runs.
        Suspend,
        /// Unloading callbacks have run, and the modules that the reload replaces are suspended.
        Callbacks,
        /// The new class of each existing object was determined.
        Survivors,
        /// Kept fields of one object were saved.
        SaveKept,
        /// Old gates are shut and old conjugates expired.
        ShutGates,
        /// Listeners were called for the start of the new generation.
        PreStartup,
        /// Before the main function of a module runs.
        Main,
        /// All main functions have returned.
        PostStartup,
        /// Before a class default object is constructed.
        ClassDefault,
        /// The outcome of each property of a class was decided.
        PlanClass,
        /// Before the values of one object are migrated.
        CarryObject,
        /// An object without a class became dormant.
        Sleep,
        /// A dormant object became active, because its class was declared again.
        Wake,
        /// A conversion function of a plugin was called for one object.
        Conversion,
        /// An object was constructed again, because the native base of its class has changed.
        Reconstruction,
        /// A subobject was added to an existing object.
        AddSubobject,
        /// Before the plugin part of one object is rebuilt.
        RebuildObject,
        /// Before the first write to a body that the reload keeps in place. The values of the body have been copied for a rollback.
        UndoCopy,
        /// Before the kept fields of one object are restored.
        LoadKept,
        /// All steps before the commit are complete.
        BeforeCommit,
    }
}

impl fmt::Display for ReloadStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// Kind of an injected failure.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FaultKind {
    /// The step returns an error.
    Error,
    /// The host's own code panics in the step.
    Panic,
}

/// Fault to inject.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Fault {
    /// Step that fails.
    pub step: ReloadStep,
    /// Number of times that the step succeeds before the failure. Applies to steps that run once per module, class or object.
    pub nth: u64,
    /// Kind of the failure.
    pub kind: FaultKind,
}

/// Error of a step that fails because of fault injection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the step {step} was made to fail by a test: disarm the fault and reload again")]
pub struct FaultInjected {
    /// Step that failed.
    pub step: ReloadStep,
}

impl From<FaultInjected> for CallError {
    fn from(fault: FaultInjected) -> Self {
        Self::other(fault.to_string())
    }
}

struct ArmedFault {
    fault: Fault,
    seen: u64,
    fired: bool,
}

thread_local! {
    // Thread-local, because only the game thread that armed a fault reads the fault. The steps of a load therefore need no parameter for
    // the fault.
    static IS_ARMED: Cell<bool> = const { Cell::new(false) };
    static ARMED: RefCell<Option<ArmedFault>> = const { RefCell::new(None) };
}

/// Keeps a fault armed on this thread until dropped.
#[must_use = "the fault is disarmed when this is dropped"]
#[derive(Debug)]
pub struct Armed(());

/// Arms a fault on this thread, and disarms the previous fault.
pub fn arm(fault: Fault) -> Armed {
    ARMED.replace(Some(ArmedFault { fault, seen: 0, fired: false }));
    IS_ARMED.set(true);
    Armed(())
}

impl Armed {
    /// Returns `true` if the fault has been injected.
    pub fn has_fired(&self) -> bool {
        ARMED.with_borrow(|armed| armed.as_ref().is_some_and(|armed| armed.fired))
    }
}

impl Drop for Armed {
    fn drop(&mut self) {
        IS_ARMED.set(false);
        ARMED.take();
    }
}

/// Called when a reload reaches a step. Injects the fault that is armed for this step.
///
/// # Errors
/// Fails if an error is armed for the step.
///
/// # Panics
/// Panics if a panic is armed for the step.
#[inline]
pub(crate) fn at(step: ReloadStep) -> Result<(), FaultInjected> {
    if IS_ARMED.get() { reached(step) } else { Ok(()) }
}

/// Variant of [`at`] for a step that was reached `count` times.
///
/// # Errors
/// See [`at`].
///
/// # Panics
/// See [`at`].
pub(crate) fn at_each(step: ReloadStep, count: usize) -> Result<(), FaultInjected> {
    if IS_ARMED.get() { (0..count).try_for_each(|_| reached(step)) } else { Ok(()) }
}

#[cold]
fn reached(step: ReloadStep) -> Result<(), FaultInjected> {
    let kind = ARMED.with_borrow_mut(|armed| {
        let armed = armed.as_mut().filter(|armed| armed.fault.step == step && !armed.fired)?;
        armed.fired = armed.seen == armed.fault.nth;
        armed.seen += 1;
        armed.fired.then_some(armed.fault.kind)
    });
    match kind {
        None => Ok(()),
        Some(FaultKind::Error) => Err(FaultInjected { step }),
        Some(FaultKind::Panic) => panic!("the step {step} was made to panic by a test"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Fault, FaultKind, ReloadStep, arm, at, at_each};

    #[test]
    fn the_list_holds_every_step_once_and_in_order() {
        assert!(ReloadStep::ALL.is_sorted());
        assert!(ReloadStep::ALL.windows(2).all(|two| two[0] != two[1]));
        assert_eq!(ReloadStep::ALL.len() - 1, ReloadStep::BeforeCommit as usize, "the last is the last declared");
    }

    #[test]
    fn a_fault_happens_once_at_its_step_and_its_turn() {
        assert_eq!(at(ReloadStep::Map), Ok(()), "none is armed");
        let armed = arm(Fault { step: ReloadStep::Map, nth: 1, kind: FaultKind::Error });
        assert_eq!(at(ReloadStep::Copy), Ok(()));
        assert_eq!(at(ReloadStep::Map), Ok(()), "the first goes well");
        assert!(!armed.has_fired());
        assert!(at(ReloadStep::Map).is_err());
        assert!(armed.has_fired());
        assert_eq!(at(ReloadStep::Map), Ok(()), "once");
        drop(armed);
        assert_eq!(at(ReloadStep::Map), Ok(()));
    }

    #[test]
    fn steps_that_are_reported_together_count_one_by_one() {
        assert_eq!(at_each(ReloadStep::Map, 9), Ok(()), "none is armed");
        let armed = arm(Fault { step: ReloadStep::Map, nth: 5, kind: FaultKind::Error });
        assert_eq!((at_each(ReloadStep::Map, 0), at_each(ReloadStep::Copy, 9)), (Ok(()), Ok(())));
        assert_eq!(at_each(ReloadStep::Map, 5), Ok(()), "the first five go well");
        assert!(!armed.has_fired());
        assert!(at_each(ReloadStep::Map, 2).is_err());
        assert!(armed.has_fired());
    }

    #[test]
    fn a_fault_may_be_a_panic() {
        let _armed = arm(Fault { step: ReloadStep::Main, nth: 0, kind: FaultKind::Panic });
        assert!(std::panic::catch_unwind(|| at(ReloadStep::Main)).is_err());
    }
}
