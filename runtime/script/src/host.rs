//! What the machine asks of whoever embeds it.

use std::rc::Rc;

use alcedo_base::border::CallError;
use alcedo_base::handles::ObjectHandle;
use alcedo_reflect::World;
use alcedo_reflect::class::Class;
use alcedo_reflect::construction::ConstructionArgs;

/// What only the code above can do for a script.
pub trait Host {
    /// Brings an object into the world, for `new`.
    ///
    /// # Errors
    /// Why it cannot.
    fn construct(&self, world: &World, class: &Rc<Class>, args: ConstructionArgs) -> Result<ObjectHandle, CallError>;
}
