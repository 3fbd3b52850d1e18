//! What a runtime says about load contexts: the handle that goes to other threads, and whose an object is.

use super::Runtime;
use crate::handles::{ModuleId, ObjectHandle};
use crate::load::context::handle::Contexts;
use crate::load::context::id::{ContextId, ContextInfo};

impl Runtime {
    /// The load contexts of this runtime: the Default, Slims, pinned contexts, and what any thread may know of the Master.
    /// The handle may go to any thread. How-tos are in `runtime/docs/load-contexts.md`.
    #[must_use]
    pub fn load_contexts(&self) -> Contexts {
        Contexts::of(&self.inner.loads.hub)
    }

    /// The context whose module declares the class of an object: a generation of the Master, or the Default for native
    /// classes. None for an object that is gone.
    #[must_use]
    pub fn context_of_object(&self, object: ObjectHandle) -> Option<ContextInfo> {
        let class = self.inner.core.world.objects.class(object)?;
        let loads = &self.inner.loads;
        let id = match ModuleId(class.tag) {
            // Native classes have no module.
            ModuleId(0) => ContextId::DEFAULT,
            module => {
                let living = loads.master().map(|master| master.generation);
                ContextId::master(loads.hub.master_with(module, living)?.0)
            }
        };
        // An object does not outlive the generation that its class is of; the Default is always there.
        self.load_contexts().all().into_iter().find(|info| info.id == id)
    }
}
