//! Module of the Master. A gate controls the calls into the module. Calls run in red frames on the game thread.
#![expect(unsafe_code, reason = "promises that its code is unused when its generation has ended")]

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ops::Deref;
use std::rc::Rc;

use crate::boundary::CallError;
use crate::conjugate::gate::Gate;
use crate::conjugate::red::RedStack;
use crate::lease::Lease;
use crate::load::module::{Module, Need};
use crate::object::types::Types;
use crate::unload::image::Unused;
use crate::unload::job::UnloadJob;
use crate::unload::policy::UnloadPolicy;

/// Module of the Master. Game thread only.
pub(crate) struct MasterModule {
    core: Module,
    gate: Rc<Gate>,
    linked_types: OnceCell<BTreeSet<Rc<str>>>,
}

impl MasterModule {
    /// Creates a Master module from the module core and the gate for its calls.
    pub(crate) fn new(core: Module, gate: Rc<Gate>) -> Rc<Self> {
        Rc::new(Self { core, gate, linked_types: OnceCell::new() })
    }

    /// Runs code of the module in a red frame. `what` describes the code in reports.
    fn enter<T>(
        &self,
        red: &RedStack,
        what: &str,
        code: impl FnOnce() -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        let what = format!("{what} of {}", self.core.name()).into();
        red.enter_module(self.core.name(), &what, code)
    }

    pub(crate) fn gate(&self) -> &Rc<Gate> {
        &self.gate
    }

    /// Records the current types that the names in the module resolve to. Called after the cells of the module were filled, because a later
    /// redirect does not change the cells.
    pub(crate) fn record_linked_types(&self, types: &Types) {
        self.linked_types.get_or_init(|| self.named_types().iter().map(|path| types.redirected(path)).collect());
    }

    /// Checks if the module was linked with the type at this path.
    pub(crate) fn is_linked_with(&self, path: &str) -> bool {
        self.linked_types.get().is_some_and(|linked| linked.contains(path))
    }

    /// Holds a lease on a dependency until the code of this module is unmapped.
    pub(crate) fn keep(&self, lease: Lease) {
        self.core.need(Need { use_of: None, code: lease });
    }

    pub(crate) fn main(&self, red: &RedStack, args: &[String]) -> Result<(), CallError> {
        self.enter(red, "main", || self.gate.through(|| self.core.main(args)))
    }

    /// Returns the build id that the running code reports. Returns `None` if the code does not export its build id, or if the module
    /// accepts no calls.
    pub(crate) fn build_id(&self, red: &RedStack) -> Option<u128> {
        let called = self.enter(red, "build id", || self.gate.through(|| Ok(self.core.code().build_id())));
        called.ok().flatten()
    }

    /// Calls `suspend`. In `suspend`, the module releases resources for the next generation. The main must have returned. Returns the
    /// module's error or panic.
    pub(crate) fn suspend(&self, red: &RedStack) -> Result<(), CallError> {
        self.enter(red, "suspend", || self.gate.through(|| self.core.code().suspend()))
    }

    /// Calls `resume` after a failed reload. In `resume`, the module acquires its resources again. Returns the module's error or panic.
    pub(crate) fn resume(&self, red: &RedStack) -> Result<(), CallError> {
        self.enter(red, "resume", || self.gate.through(|| self.core.code().resume()))
    }

    /// Runs the exit hook if the main has returned. Then drops the values that the module has registered for a drop at its exit. This call
    /// is the last call into the module. Returns an error if the module panics.
    pub(crate) fn exit(&self, red: &RedStack) -> Result<(), CallError> {
        // Does not check the gate, because the gate is already closed.
        self.enter(red, "exit hook", || self.core.exit())
    }

    /// Returns the unload job. The module must accept no calls. Returns `None` if the job was already taken.
    pub(crate) fn unload_job(&self, policy: &UnloadPolicy) -> Option<UnloadJob> {
        // SAFETY: the generation has ended, so none of its conjugates, handles or records is left. At a safe point no call is
        // inside the closed gate. All other users of the code hold a lease, or are parts on the finalizer thread.
        let unused = unsafe { Unused::of(self.core.code()) };
        self.core.unload_job(self.gate.inside(), policy, unused)
    }
}

impl Deref for MasterModule {
    type Target = Module;

    fn deref(&self) -> &Module {
        &self.core
    }
}
