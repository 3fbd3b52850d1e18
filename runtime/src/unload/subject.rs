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
    fn raise(&self, event: &MasterEvent);
}

/// A step in the life of the Master load context.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MasterEvent {
    /// A generation is about to start; none of its mains has run.
    PreStartup(Generation),
    /// The main of a module has returned.
    Startup(Generation, String),
    /// All mains have returned.
    PostStartup(Generation),
    /// The generation is complete and live.
    Loaded(Generation),
    /// The generation takes no new calls; raised once.
    Unloading(Generation),
    /// These modules of older generations stay, and belong to the one that comes up: raised before `PreStartup`, where a
    /// reload replaces no more than it must.
    Kept(Generation, Vec<String>),
    /// A reload did not come to pass: the generation goes on as it was.
    Resumed(Generation),
    /// Every conjugate and finalizer of the generation has ended.
    Unloaded(Generation),
    /// Something keeps images of the generation: these. Raised once; it is looked at again in every safe point.
    Blocked(Generation, Vec<String>),
    /// The images of the generation left the process.
    Dead(Generation),
    /// Images of the generation stay mapped: which, and why.
    Parked(Generation, Vec<String>),
}
