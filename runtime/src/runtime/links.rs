//! What outlives a handle: paths and ids of objects, references and delegates that are found again by them, and the world
//! on disk.

use alcedo_abi::value::LazyRaw;

use crate::border::CallError;
use crate::bridge::delegates;
use crate::error::Error;
use crate::handles::ObjectHandle;
use crate::native::{Delegate, Signature};
use crate::object::native_value::signature_of;
use crate::object::property::PropertyType;
use crate::object::value::Value;
use crate::runtime::Runtime;

/// What outlives a handle: references of all kinds, and delegates: [`Runtime::links`]. Game thread only.
///
/// ```no_run
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// # let runtime = alcedo_runtime::Runtime::builder().build()?;
/// # let (lamp, button) = (runtime.objects().spawn("/Script/Game.Lamp")?, runtime.objects().spawn("/Script/Game.Button")?);
/// runtime.links().point(button, "lamp", lamp)?;
/// assert_eq!(runtime.links().resolve(button, "lamp")?, lamp);
/// runtime.links().bind(button, "pressed", lamp, "toggle")?;
/// runtime.links().broadcast(button, "pressed", &[])?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Links<'a>(pub(super) &'a Runtime);

impl Links<'_> {
    /// The id by which lazy references name an object; none when no lazy reference was ever made to it.
    pub fn lazy_id_of(&self, object: ObjectHandle) -> Option<u128> {
        let id = self.0.core().world.lazy.find(object)?;
        Some(u128::from(id.high) << 64 | u128::from(id.low))
    }

    /// The living object of an id.
    pub fn object_of_lazy_id(&self, id: u128) -> Option<ObjectHandle> {
        let id = LazyRaw { high: (id >> 64) as u64, low: id as u64 };
        self.0.core().world.lazy.object(id).filter(|object| self.0.objects().is_alive(*object))
    }

    /// Points a property that is a reference of any kind to an object, or to none.
    ///
    /// # Errors
    /// When the object does not suit, or the property is none such or may not be written now.
    pub fn point(&self, object: ObjectHandle, property: &str, target: ObjectHandle) -> Result<(), Error> {
        let ty = self.type_of(object, property)?;
        self.0.objects().set(object, property, &self.0.core().world.reference_to(&ty, target)?)
    }

    /// The object that a property that is a reference of any kind leads to now; none when it is not there.
    ///
    /// # Errors
    /// When the object is gone or has no such property.
    pub fn resolve(&self, object: ObjectHandle, property: &str) -> Result<ObjectHandle, Error> {
        let (ty, value) = (self.type_of(object, property)?, self.0.objects().get(object, property)?);
        Ok(self.0.core().world.resolve_reference(&ty, &value))
    }

    /// Makes a property that is a reference to a class name the class of that path; the empty path names none.
    ///
    /// # Errors
    /// When the class does not suit, or a `SubclassOf` would name one that is not there.
    pub fn point_at_class(&self, object: ObjectHandle, property: &str, class: &str) -> Result<(), Error> {
        let ty = self.type_of(object, property)?;
        self.0.objects().set(object, property, &self.0.core().world.class_reference(&ty, class)?)
    }

    /// The path of the class that a property names now; nothing when it is not there.
    ///
    /// # Errors
    /// When the object is gone or has no such property.
    pub fn resolve_class(&self, object: ObjectHandle, property: &str) -> Result<Option<String>, Error> {
        let (ty, value) = (self.type_of(object, property)?, self.0.objects().get(object, property)?);
        Ok(self.0.core().world.resolve_class(&ty, &value).map(|class| class.path.to_string()))
    }

    /// Makes a property that is a field path name the property of that path; the empty path names none.
    ///
    /// # Errors
    /// When there is no property of that path.
    pub fn point_at_field(&self, object: ObjectHandle, property: &str, field: &str) -> Result<(), Error> {
        self.0.objects().set(object, property, &self.0.core().world.field_path(field)?)
    }

    /// The path of the property that a field path names now, be it renamed meanwhile.
    ///
    /// # Errors
    /// When the object is gone or has no such property.
    pub fn resolve_field(&self, object: ObjectHandle, property: &str) -> Result<Option<String>, Error> {
        let value = self.0.objects().get(object, property)?;
        Ok(self.0.core().world.resolve_field(&value).map(|field| format!("{}:{}", field.owner, field.text)))
    }

    /// Binds a delegate property to a function of an object; one of several gets it in addition, once.
    ///
    /// # Errors
    /// When there is no such function or it takes or gives something else, or the property is no delegate.
    pub fn bind(
        &self,
        object: ObjectHandle,
        property: &str,
        target: ObjectHandle,
        function: &str,
    ) -> Result<(), Error> {
        let ty = self.type_of(object, property)?;
        Ok(delegates::bind(&self.0.core().world, (object, property), &ty, target, function)?)
    }

    /// A delegate that is bound to a function of an object, for native functions that take one and for those of modules.
    ///
    /// # Errors
    /// When the object is gone, or has no such function, or that takes or gives something else.
    pub fn delegate<F: Signature>(&self, object: ObjectHandle, function: &str) -> Result<Delegate<F>, Error> {
        let signature = signature_of::<F::Args, F::Result>()?.to_string();
        let binding = delegates::binding_of(&self.0.core().world, &signature, object, function)?;
        Ok(Delegate::of(binding))
    }

    /// Takes bindings out of a delegate property: those to the object and function; with an empty name all to the object;
    /// with no object all. Returns how many there were.
    ///
    /// # Errors
    /// When the property is no delegate or may not be written now.
    pub fn unbind(
        &self,
        object: ObjectHandle,
        property: &str,
        target: ObjectHandle,
        function: &str,
    ) -> Result<u32, Error> {
        let (core, ty) = (self.0.core(), self.type_of(object, property)?);
        Ok(core.delegates.unbind(&core.world, (object, property), &ty, target, function)?)
    }

    /// Calls a delegate property: all that are bound, those added last first. The result is that of a single one. Bindings
    /// to objects that are gone are taken out. One that is unbound while this runs is not called any more; one that is bound
    /// is called the next time.
    ///
    /// # Errors
    /// When a single one is bound to nothing, the arguments do not fit, calls of delegates are too deep inside each other,
    /// and what a callee says; of several the first that fails, after all were called.
    pub fn broadcast(&self, object: ObjectHandle, property: &str, arguments: &[Value]) -> Result<Option<Value>, Error> {
        let (core, ty) = (self.0.core(), self.type_of(object, property)?);
        Ok(core.delegates.broadcast(&core.world, (object, property), &ty, arguments)?)
    }

    pub(super) fn type_of(&self, object: ObjectHandle, property: &str) -> Result<PropertyType, Error> {
        self.0.objects().property(object, property)?;
        let class = self.0.core().world.objects.class(object).ok_or(CallError::Stale { handle: object })?;
        let found = class.find_property(property).map(|property| property.ty.clone());
        Ok(found.ok_or(CallError::Stale { handle: object })?)
    }
}
