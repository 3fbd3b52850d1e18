//! What a runtime says about load contexts: the handle that goes to other threads, and whose an object is.

use super::Runtime;
use crate::handles::ObjectHandle;
use crate::load::context::handle::Contexts;
use crate::load::context::id::{ContextId, ContextInfo, ContextKind};

impl Runtime {
    /// The load contexts of this runtime: the Default, Slims, and a picture of the Master. The handle may go to any
    /// thread.
    #[must_use]
    pub fn load_contexts(&self) -> Contexts {
        Contexts::of(&self.inner.loads.hub)
    }

    /// The context whose module declares the class of an object: a generation of the Master, or the Default for native
    /// classes. None for an object that is gone.
    #[must_use]
    pub fn context_of_object(&self, object: ObjectHandle) -> Option<ContextInfo> {
        let class = self.inner.core.world.objects.class(object)?;
        let id = match class.tag {
            0 => ContextId::DEFAULT,
            generation => ContextId::master(generation),
        };
        let all = self.load_contexts().all();
        // A class of a generation that has gone would be the host's mistake; the Default is always there.
        all.into_iter().find(|info| info.id == id).filter(|info| info.kind != ContextKind::Slim)
    }
}
