//! Faults on purpose: every step of a reload can be made to fail or to panic, so that a test can show for each of them
//! that a rollback leaves the world as it was. The list of steps is the list of promises; a step that is not in it is
//! not tested. Not for hosts: without an armed fault a step costs one look at a thread-local flag.

use std::cell::{Cell, RefCell};
use std::fmt;

use crate::border::CallError;

/// A step of a reload that may fail. In the order in which they come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ReloadStep {
    /// A library is about to be read.
    Read,
    /// The headers, sections and manifest of a library were checked.
    Check,
    /// A library was copied.
    Copy,
    /// All copies are there; the canary is about to look at them.
    Canary,
    /// A library was mapped.
    Map,
    /// The layout of its root module was compared.
    LayoutCheck,
    /// It was attached to the host.
    Attach,
    /// The old names are set aside and the shadows are up.
    Shadow,
    /// The types were declared, and no cell is filled.
    Declare,
    /// The classes, exports and own cells of a module are known.
    Enroll,
    /// The imports of a module are filled.
    FillCells,
    /// The `suspend` of a module is about to run.
    Suspend,
    /// The unloading callbacks have run, and what is to be replaced was suspended.
    Callbacks,
    /// It was looked which class each living object goes to.
    Survivors,
    /// The kept fields of one object were saved.
    SaveKept,
    /// The old gates are shut, the old conjugates expired.
    ShutGates,
    /// The listeners were called for the start of the new generation.
    PreStartup,
    /// A main is about to run.
    Main,
    /// All mains have returned.
    PostStartup,
    /// A class default object is about to be born.
    ClassDefault,
    /// It was decided what becomes of a class's properties.
    PlanClass,
    /// The values of one object are about to be carried.
    CarryObject,
    /// An object without its class was laid to sleep.
    Sleep,
    /// An object whose class returned was woken.
    Wake,
    /// An object was born anew on another native class.
    Reconstruction,
    /// A subobject was made for a living object.
    AddSubobject,
    /// The plugin part of one object is about to be rebuilt.
    RebuildObject,
    /// The kept fields of one object are about to be put back.
    LoadKept,
    /// All is ready for the commit.
    BeforeCommit,
}

impl ReloadStep {
    /// All steps, in order.
    pub const ALL: [Self; 29] = [
        Self::Read,
        Self::Check,
        Self::Copy,
        Self::Canary,
        Self::Map,
        Self::LayoutCheck,
        Self::Attach,
        Self::Shadow,
        Self::Declare,
        Self::Enroll,
        Self::FillCells,
        Self::Suspend,
        Self::Callbacks,
        Self::Survivors,
        Self::SaveKept,
        Self::ShutGates,
        Self::PreStartup,
        Self::Main,
        Self::PostStartup,
        Self::ClassDefault,
        Self::PlanClass,
        Self::CarryObject,
        Self::Sleep,
        Self::Wake,
        Self::Reconstruction,
        Self::AddSubobject,
        Self::RebuildObject,
        Self::LoadKept,
        Self::BeforeCommit,
    ];
}

impl fmt::Display for ReloadStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// How a step fails.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FaultKind {
    /// It returns an error.
    Error,
    /// The host's own code panics in it.
    Panic,
}

/// One fault: what fails, and how.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Fault {
    /// The step.
    pub step: ReloadStep,
    /// How many times the step goes well before, for a step that is done for each module, class or object.
    pub nth: u64,
    /// How it fails.
    pub kind: FaultKind,
}

/// The error of a step that failed on purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the step {step} was made to fail by a test: disarm the fault and reload again")]
pub struct FaultInjected {
    /// The step.
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
    // A fault concerns the game thread that armed it, so steps deep in the load need no parameter for it.
    static IS_ARMED: Cell<bool> = const { Cell::new(false) };
    static ARMED: RefCell<Option<ArmedFault>> = const { RefCell::new(None) };
}

/// A fault waits on this thread until this is dropped.
#[must_use = "the fault is disarmed when this is dropped"]
#[derive(Debug)]
pub struct Armed(());

/// Arms a fault on this thread; one at a time, the last one counts.
pub fn arm(fault: Fault) -> Armed {
    ARMED.replace(Some(ArmedFault { fault, seen: 0, fired: false }));
    IS_ARMED.set(true);
    Armed(())
}

impl Armed {
    /// Whether the step was reached often enough that the fault happened.
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

/// Says that a step is reached.
///
/// # Errors
/// When a fault is armed for it.
///
/// # Panics
/// When the armed fault is a panic.
#[inline]
pub(crate) fn at(step: ReloadStep) -> Result<(), FaultInjected> {
    if IS_ARMED.get() { reached(step) } else { Ok(()) }
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
    use super::{Fault, FaultKind, ReloadStep, arm, at};

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
    fn a_fault_may_be_a_panic() {
        let _armed = arm(Fault { step: ReloadStep::Main, nth: 0, kind: FaultKind::Panic });
        assert!(std::panic::catch_unwind(|| at(ReloadStep::Main)).is_err());
    }
}
