//! A module of the Master: the core of every module behind a gate, called in red frames on the game thread.
#![expect(unsafe_code, reason = "hands its code over when its generation has ended")]

use std::ops::Deref;
use std::rc::Rc;

use crate::border::CallError;
use crate::conjugate::gate::Gate;
use crate::conjugate::red::RedStack;
use crate::handles::ModuleId;
use crate::lease::{Lease, Leases};
use crate::load::module::{Module, Need};
use crate::unload::job::UnloadJob;
use crate::unload::policy::UnloadPolicy;
use crate::unload::subject::UnloadModule;

/// A module of the Master. Game thread.
pub(crate) struct MasterModule {
    core: Module,
    gate: Rc<Gate>,
    main: Rc<str>,
    exit: Rc<str>,
    suspend: Rc<str>,
    resume: Rc<str>,
}

impl MasterModule {
    /// A module whose calls pass this gate.
    pub(crate) fn new(core: Module, gate: Rc<Gate>) -> Rc<Self> {
        let called = |what: &str| format!("{what} of {}", core.name()).into();
        let (main, exit) = (called("main"), called("exit hook"));
        let (suspend, resume) = (called("suspend"), called("resume"));
        Rc::new(Self { core, gate, main, exit, suspend, resume })
    }

    /// The door to its code.
    pub(crate) fn gate(&self) -> &Rc<Gate> {
        &self.gate
    }

    /// It holds this of another module until its own code is gone.
    pub(crate) fn keep(&self, lease: Lease) {
        self.core.need(Need { use_of: None, code: lease });
    }

    /// Runs its main.
    ///
    /// # Errors
    /// Its panic.
    pub(crate) fn main(&self, red: &RedStack, args: &[String]) -> Result<(), CallError> {
        red.enter_module(self.name(), &self.main, || self.gate.through(|| self.core.main(args)))
    }

    /// Has it give up what the next generation needs. Its main has returned.
    ///
    /// # Errors
    /// Its own, or its panic.
    pub(crate) fn suspend(&self, red: &RedStack) -> Result<(), CallError> {
        red.enter_module(self.name(), &self.suspend, || self.gate.through(|| self.core.code().suspend()))
    }

    /// Has it take again what it gave up: the next generation did not come to pass.
    ///
    /// # Errors
    /// Its own, or its panic.
    pub(crate) fn resume(&self, red: &RedStack) -> Result<(), CallError> {
        red.enter_module(self.name(), &self.resume, || self.gate.through(|| self.core.code().resume()))
    }
}

impl Deref for MasterModule {
    type Target = Module;

    fn deref(&self) -> &Module {
        &self.core
    }
}

impl UnloadModule for MasterModule {
    fn name(&self) -> &str {
        self.core.name()
    }

    fn id(&self) -> ModuleId {
        self.core.tag().id
    }

    fn leases(&self) -> &Leases {
        self.core.leases()
    }

    fn shut(&self) {
        self.gate.end();
    }

    fn ask_to_stop(&self) {
        self.core.code().ask_to_stop();
    }

    fn has_started(&self) -> bool {
        self.core.has_started()
    }

    fn exit(&self, red: &RedStack) -> Result<(), CallError> {
        // The gate is shut for everybody else by now.
        red.enter_module(self.core.name(), &self.exit, || self.core.exit())
    }

    fn end_thread_locals_here(&self) {
        self.core.code().end_thread_locals_here();
    }

    fn thread_locals(&self) -> Option<Box<dyn Fn() + Send>> {
        self.core.code().thread_locals()
    }

    fn unload_job(&self, policy: &UnloadPolicy) -> Option<UnloadJob> {
        // SAFETY: the generation has ended: no conjugate, handle or record of it is left, and nobody is behind the shut gate
        // at a safe point; all else that may use the code holds a lease or is a part on the finalizer thread.
        unsafe { self.core.unload_job(self.gate.inside(), policy) }
    }
}
