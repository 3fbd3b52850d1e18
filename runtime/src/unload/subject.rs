//! What an unload has of what it ends: a generation, its modules, and the part of the runtime that loaded them. Nothing
//! here depends on what a module is made of, nor on the listeners.

use std::rc::Rc;

use crate::border::CallError;
use crate::conjugate::red::RedStack;
use crate::handles::{Generation, ModuleId};
use crate::lease::Leases;
use crate::unload::job::UnloadJob;
use crate::unload::policy::UnloadPolicy;
use crate::unload::steps::UnloadCause;
use crate::unload::ticket::UnloadTicket;
use crate::unload::unloads::Unloads;

/// A generation that unloads, or those of its modules that a reload replaces.
pub(crate) struct GenerationUnload<'a, M> {
    /// What for.
    pub cause: UnloadCause,
    /// The generation.
    pub generation: Generation,
    /// Its modules, dependencies first.
    pub modules: &'a [Rc<M>],
    /// Whether a listener was called for the generation: one that never started ends without events.
    pub is_known: bool,
}

/// A module, as far as its unload goes. Game thread.
pub(crate) trait UnloadModule {
    /// Its name.
    fn name(&self) -> &str;
    /// Its number.
    fn id(&self) -> ModuleId;
    /// Why its code must stay.
    fn leases(&self) -> &Leases;
    /// No call gets in any more.
    fn shut(&self);
    /// Asks the threads it has started to stop.
    fn ask_to_stop(&self);
    /// Whether its main has returned, so that it gets its exit hook.
    fn has_started(&self) -> bool;
    /// Runs its exit hook, if its main has returned, and drops what was left to the module to drop. The last call that it
    /// gets.
    ///
    /// # Errors
    /// Its panic.
    fn exit(&self, red: &RedStack) -> Result<(), CallError>;
    /// Runs the destructors of its thread-locals on this thread.
    fn end_thread_locals_here(&self);
    /// What does that on another thread, while the image is there; none where it has none.
    fn thread_locals(&self) -> Option<Box<dyn Fn() + Send>>;
    /// What is left to do of it when it takes no calls any more; none if that was taken before.
    fn unload_job(&self, policy: &UnloadPolicy) -> Option<UnloadJob>;
}

/// The part of the runtime that has loaded what unloads. Game thread.
pub(crate) trait UnloadHost {
    /// What is known of all generations.
    fn unloads(&self) -> &Unloads;
    /// Calls every listener for the end of a generation.
    fn tell_unloading(&self, generation: Generation);
    /// The exit hook of that module is about to run.
    fn runs_exit_hook(&self, module: &str);
    /// A generation has its ticket.
    fn begins(&self, generation: Generation, ticket: &UnloadTicket);
    /// Nothing of a generation is left.
    fn is_gone(&self, generation: Generation);
    /// Calls every listener with how far a generation has come.
    fn raise(&self, generation: Generation, event: UnloadEvent);
}

/// How far a generation has come.
pub(crate) enum UnloadEvent {
    /// Every conjugate and finalizer has ended.
    Unloaded,
    /// Something keeps images: these.
    Blocked(Vec<String>),
    /// The images left the process.
    Dead,
    /// Images stay mapped: which, and why.
    Parked(Vec<String>),
}
