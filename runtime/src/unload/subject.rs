//! Interfaces between an unload and its subject: the generation, its modules, and the loader. Independent of the kind of
//! module and of the listeners.

use std::rc::Rc;
use std::sync::Arc;

use crate::boundary::CallError;
use crate::conjugate::red::RedStack;
use crate::handles::{Generation, ModuleId};
use crate::lease::Leases;
use crate::unload::job::UnloadJob;
use crate::unload::policy::UnloadPolicy;
use crate::unload::steps::UnloadCause;
use crate::unload::ticket::UnloadTicket;
use crate::unload::unloads::Unloads;

/// Unloading generation. If a reload replaces only some modules, contains only the replaced modules.
pub(crate) struct GenerationUnload<'a, M> {
    pub cause: UnloadCause,
    pub generation: Generation,
    /// Modules, dependencies first.
    pub modules: &'a [Rc<M>],
    /// Set if an event was raised for the generation. A generation that never started raises no events.
    pub is_known: bool,
}

/// Interface of a module for its unload. Game thread only.
pub(crate) trait UnloadModule: 'static {
    fn name(&self) -> &str;
    fn id(&self) -> ModuleId;
    fn leases(&self) -> &Arc<Leases>;
    /// Closes the gate. New calls then fail.
    fn shut(&self);
    fn request_stop(&self);
    /// Checks if the main has returned. The exit hook runs only after the main has returned.
    fn has_started(&self) -> bool;
    /// Runs the exit hook if the main has returned. Then drops the values whose drop was deferred to the exit. This call is the last call
    /// into the module. Returns an error if the module panics.
    fn exit(&self, red: &RedStack) -> Result<(), CallError>;
    /// Runs the destructors of the module's thread-locals on this thread. Must precede [`UnloadModule::unload_job`].
    fn end_thread_locals_here(&self);
    /// Returns a function that runs the destructors of the module's thread-locals on the calling thread, while the image is
    /// mapped. Returns `None` for modules without thread-locals.
    fn thread_locals(&self) -> Option<Box<dyn Fn() + Send>>;
    /// Returns the unload job of a module that accepts no calls. Returns `None` if the job was already taken.
    fn unload_job(&self, policy: &UnloadPolicy) -> Option<UnloadJob>;
}

/// Interface of the loader for an unload. Game thread only.
pub(crate) trait UnloadHost {
    fn unloads(&self) -> &Unloads;
    /// Calls all listeners that are registered for the end of a generation.
    fn notify_unloading(&self, generation: Generation);
    /// Records that the exit hook of this module will now run.
    fn runs_exit_hook(&self, module: &str);
    fn begins(&self, generation: Generation, ticket: &UnloadTicket);
    /// Removes a generation whose images are all unmapped.
    fn is_gone(&self, generation: Generation);
    /// Calls all listeners for an event of the Master.
    fn raise(&self, event: &MasterEvent);
}

/// Event of the Master load context.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{MasterEvent, Runtime};
///
/// fn watch_memory(event: &MasterEvent) {
///     if let MasterEvent::Parked(generation, images) = event {
///         eprintln!("generation {generation} stays mapped: {}", images.join(", "));
///     }
/// }
///
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// let runtime = Runtime::builder().on_event(watch_memory).build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MasterEvent {
    /// A generation is about to start. No main has run.
    PreStartup(Generation),
    /// The main of a module has returned.
    Startup(Generation, String),
    /// The mains of all modules have returned.
    PostStartup(Generation),
    /// The generation is complete and live.
    Loaded(Generation),
    /// The generation accepts no new calls. This event is raised once.
    Unloading(Generation),
    /// The new generation reuses these modules of older generations. Raised only by a reload of changed modules, before `PreStartup`.
    Kept(Generation, Vec<String>),
    /// A reload failed. The old generation continues to run.
    Resumed(Generation),
    /// All conjugates of the generation are destroyed, and its finalizers have run.
    Unloaded(Generation),
    /// The unload waits for these blockers. This event is raised once. The unload is polled at every safe point.
    Blocked(Generation, Vec<String>),
    /// The images of the generation are unmapped.
    Dead(Generation),
    /// These images of the generation stay mapped, with the reasons.
    Parked(Generation, Vec<String>),
}
