//! Interface of the machine to its embedder.

use std::rc::Rc;

use alcedo_base::boundary::CallError;
use alcedo_base::handles::ObjectHandle;
use alcedo_reflect::World;
use alcedo_reflect::class::Class;
use alcedo_reflect::construction::ConstructionArgs;

/// Operations for scripts that only the embedder can perform.
pub trait Host {
    /// Creates an object for `new`.
    ///
    /// # Errors
    /// Returns the reason of a failure.
    fn construct(&self, world: &World, class: &Rc<Class>, args: ConstructionArgs) -> Result<ObjectHandle, CallError>;
}
