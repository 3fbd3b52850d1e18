//! Persistent links between objects: references and delegates that store the path or the id of an object.

use alcedo_abi::value::LazyRaw;

use crate::bridge::delegates;
use crate::error::Error;
use crate::handles::ObjectHandle;
use crate::native::{Delegate, Signature};
use crate::object::convert::Paths as _;
use crate::object::native_value::signature_of;
use crate::object::property::PropertyType;
use crate::object::value::Value;
use crate::runtime::Runtime;

/// Access to reference properties and delegate properties of all kinds; see [`Runtime::links`]. Game thread only.
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
    /// Returns the id by which lazy references refer to an object. Returns `None` if no lazy reference to the object was ever created.
    pub fn lazy_id_of(&self, object: ObjectHandle) -> Option<u128> {
        let id = self.0.core().world.lazy.find(object)?;
        Some(u128::from(id.high) << 64 | u128::from(id.low))
    }

    /// Returns the live object that lazy references with this id refer to.
    pub fn object_of_lazy_id(&self, id: u128) -> Option<ObjectHandle> {
        let id = LazyRaw { high: (id >> 64) as u64, low: id as u64 };
        self.0.core().world.object_with_id(id)
    }

    /// Sets a reference property of any kind to an object, or to [`ObjectHandle::NONE`].
    ///
    /// # Errors
    /// Fails if the property is not a reference, does not accept the object, or cannot currently be written.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::native::{Obj, uclass};
    /// use alcedo_runtime::{ObjectHandle, Runtime, natives};
    ///
    /// #[uclass(package = "Game")]
    /// struct Robot {
    ///     #[uproperty]
    ///     target: Obj<Robot>,
    /// }
    ///
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// let runtime = Runtime::builder().natives(natives![Robot]).build()?;
    /// let hunter = runtime.objects().spawn("/Script/Game.Robot")?;
    /// let prey = runtime.objects().spawn("/Script/Game.Robot")?;
    /// runtime.links().point(hunter, "target", prey)?;
    /// assert_eq!(runtime.links().resolve(hunter, "target")?, prey);
    /// runtime.links().point(hunter, "target", ObjectHandle::NONE)?;
    /// assert!(runtime.links().resolve(hunter, "target")?.is_none());
    /// # Ok(())
    /// # }
    /// ```
    pub fn point(&self, object: ObjectHandle, property: &str, target: ObjectHandle) -> Result<(), Error> {
        let ty = self.type_of(object, property)?;
        self.0.objects().set(object, property, &self.0.core().world.reference_to(&ty, target)?)
    }

    /// Returns the object to which a reference property of any kind currently refers. Returns [`ObjectHandle::NONE`] if the target does not
    /// exist.
    ///
    /// # Errors
    /// Fails if the object is destroyed or has no such property.
    pub fn resolve(&self, object: ObjectHandle, property: &str) -> Result<ObjectHandle, Error> {
        let (ty, value) = (self.type_of(object, property)?, self.0.objects().get(object, property)?);
        Ok(self.0.core().world.resolve_reference(&ty, &value))
    }

    /// Sets a class reference property to the class with the path `class`. An empty path clears the reference.
    ///
    /// # Errors
    /// Fails if the property does not accept the class, or if a `SubclassOf` would refer to a missing class.
    pub fn point_at_class(&self, object: ObjectHandle, property: &str, class: &str) -> Result<(), Error> {
        let ty = self.type_of(object, property)?;
        self.0.objects().set(object, property, &self.0.core().world.class_reference(&ty, class)?)
    }

    /// Returns the path of the class to which a class reference property currently refers. Returns `None` if the target class does not
    /// exist.
    ///
    /// # Errors
    /// Fails if the object is destroyed or has no such property.
    pub fn resolve_class(&self, object: ObjectHandle, property: &str) -> Result<Option<String>, Error> {
        let (ty, value) = (self.type_of(object, property)?, self.0.objects().get(object, property)?);
        Ok(self.0.core().world.resolve_class(&ty, &value).map(|class| class.path.to_string()))
    }

    /// Sets a field path property to the property with the path `field`. An empty path clears the field path.
    ///
    /// # Errors
    /// Fails if the property does not exist.
    pub fn point_at_field(&self, object: ObjectHandle, property: &str, field: &str) -> Result<(), Error> {
        self.0.objects().set(object, property, &self.0.core().world.field_path(field)?)
    }

    /// Returns the path of the property to which a field path property refers. If the property was renamed, returns the new path.
    ///
    /// # Errors
    /// Fails if the object is destroyed or has no such property.
    pub fn resolve_field(&self, object: ObjectHandle, property: &str) -> Result<Option<String>, Error> {
        let value = self.0.objects().get(object, property)?;
        Ok(self.0.core().world.resolve_field(&value).map(|field| field.path()))
    }

    /// Binds a delegate property to a function of an object. A multicast delegate keeps its existing bindings, and ignores a duplicate.
    ///
    /// # Errors
    /// Fails if the function does not exist or has a different signature, or if the property is not a delegate.
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

    /// Returns a delegate value that is bound to a function of an object. Intended as an argument for functions of native classes and
    /// modules.
    ///
    /// # Errors
    /// Fails if the object is destroyed, or if the function does not exist or has a different signature.
    pub fn delegate<F: Signature>(&self, object: ObjectHandle, function: &str) -> Result<Delegate<F>, Error> {
        let signature = signature_of::<F::Args, F::Result>()?.to_string();
        let binding = delegates::binding_of(&self.0.core().world, &signature, object, function)?;
        Ok(Delegate::of(binding))
    }

    /// Removes bindings to `function` of `target` from a delegate property, and returns their number. If `function` is empty, removes all
    /// bindings to `target`. If `target` is [`ObjectHandle::NONE`], removes all bindings.
    ///
    /// # Errors
    /// Fails if the property is not a delegate or cannot currently be written.
    pub fn unbind(
        &self,
        object: ObjectHandle,
        property: &str,
        target: ObjectHandle,
        function: &str,
    ) -> Result<u32, Error> {
        let (core, ty) = (self.0.core(), self.type_of(object, property)?);
        Ok(delegates::unbind(&core.world, (object, property), &ty, target, function)?)
    }

    /// Calls the bindings of a delegate property, newest first. Returns the result of a single delegate. Removes bindings to destroyed
    /// objects. Skips bindings that are removed during the broadcast. Bindings that are added during the broadcast are called from the next
    /// broadcast on.
    ///
    /// # Errors
    /// Fails if a single delegate is unbound, the arguments do not match the parameters, delegate calls are nested too deeply, or a callee
    /// fails. After a failed binding, a multicast delegate calls the remaining bindings, and then returns the first error.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::native::{MulticastDelegate, This, uclass};
    /// use alcedo_runtime::{Runtime, Value, natives};
    ///
    /// #[uclass(package = "Game")]
    /// #[derive(Default)]
    /// struct Button {
    ///     #[uproperty]
    ///     on_press: MulticastDelegate<fn(u32)>,
    ///     #[uproperty]
    ///     presses: u32,
    /// }
    ///
    /// #[uclass]
    /// impl Button {
    ///     #[ufunction]
    ///     fn count(&self, this: This<Self>, times: u32) {
    ///         this.set_presses(this.presses() + times);
    ///     }
    /// }
    ///
    /// let runtime = Runtime::builder().natives(natives![Button]).build()?;
    /// let button = runtime.objects().spawn("/Script/Game.Button")?;
    /// runtime.links().bind(button, "on_press", button, "count")?;
    /// runtime.links().broadcast(button, "on_press", &[Value::U32(2)])?;
    /// assert_eq!(runtime.objects().get(button, "presses")?, Value::U32(2));
    /// assert_eq!(runtime.links().unbind(button, "on_press", button, "count")?, 1);
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn broadcast(&self, object: ObjectHandle, property: &str, arguments: &[Value]) -> Result<Option<Value>, Error> {
        let (core, ty) = (self.0.core(), self.type_of(object, property)?);
        Ok(delegates::broadcast(&core.world, (object, property), &ty, arguments)?)
    }

    pub(super) fn type_of(&self, object: ObjectHandle, property: &str) -> Result<PropertyType, Error> {
        Ok(self.0.objects().property(object, property)?.ty.clone())
    }
}
