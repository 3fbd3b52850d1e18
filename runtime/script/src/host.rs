//! Interface through which the machine calls its embedder.

use std::num::NonZeroU32;
use std::rc::Rc;

use alcedo_base::boundary::CallError;
use alcedo_base::handles::ObjectHandle;
use alcedo_reflect::World;
use alcedo_reflect::class::Class;
use alcedo_reflect::construction::ConstructionArgs;
use alcedo_reflect::value::Binding;

/// Operations that only the embedder can perform for scripts.
pub trait Host {
    /// Creates an object for a `new` expression.
    ///
    /// # Errors
    /// Returns the reason if the host cannot create the object.
    fn construct(&self, world: &World, class: &Rc<Class>, args: ConstructionArgs) -> Result<ObjectHandle, CallError>;

    /// Receives the bindings of a delegate after a script has changed the delegate. The mark identifies the delegate during its calls.
    /// Calls in progress should skip the bindings that are missing in the list.
    fn note_bindings(&self, _mark: NonZeroU32, _left: &[Binding]) {}
}
