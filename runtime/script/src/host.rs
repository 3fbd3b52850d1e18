//! Interface through which the machine calls its embedder.

use std::rc::Rc;

use alcedo_base::boundary::CallError;
use alcedo_base::handles::ObjectHandle;
use alcedo_reflect::World;
use alcedo_reflect::class::Class;
use alcedo_reflect::construction::ConstructionArgs;

/// Operations that only the embedder can perform for scripts.
pub trait Host {
    /// Creates an object for a `new` expression.
    ///
    /// # Errors
    /// Returns the reason if the host cannot create the object.
    fn construct(&self, world: &World, class: &Rc<Class>, args: ConstructionArgs) -> Result<ObjectHandle, CallError>;
}
