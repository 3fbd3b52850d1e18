//! Operations of native host code on a world: inspection of objects, and access to their properties by name and Rust type. The stores, the
//! memory and the mode of a world are internal to the runtime. [`World`] exposes no address, function or layout. Safe host code therefore
//! cannot combine an address with a wrong layout.

use std::ops::Deref;

use alcedo_abi::host::mode;
use alcedo_abi::kinds::{PropertyKind, property_flags};
use alcedo_base::boundary::{CallError, mismatch, not_found};
use alcedo_base::handles::{ClassId, Name, ObjectHandle};
use ref_cast::{RefCastCustom, ref_cast_custom};

use crate::World as Core;
use crate::member::{FunctionKey as _, FunctionRef, PropertyKey};
use crate::native_out::OutValues;
use crate::native_value::{NativeParams, NativeResult};
use crate::property::{Property, PropertyType};
use crate::storage::View;
use crate::thunk::ParamBlock;
use crate::typed::{FrameValue, owned};
use crate::value::Value;

/// View of all objects and types of a host for native code. Game thread only.
///
/// # Examples
/// ```
/// use alcedo_base::boundary::CallError;
/// use alcedo_base::handles::ObjectHandle;
/// use alcedo_reflect::natives::World;
///
/// fn report(world: &World, lamp: ObjectHandle) -> Result<String, CallError> {
///     let power: f64 = world.get(lamp, "power")?;
///     Ok(format!("{} at {power} W", world.name_of(lamp).unwrap_or_default()))
/// }
/// ```
#[derive(Debug, RefCastCustom)]
#[repr(transparent)]
pub struct World(pub(crate) Core);

/// Returns the internal [`World`](crate::World) of a view. For the runtime only.
#[inline]
pub fn core_of(world: &World) -> &Core {
    &world.0
}

impl Deref for Core {
    type Target = World;

    #[inline]
    fn deref(&self) -> &World {
        World::of_core(self)
    }
}

impl World {
    #[ref_cast_custom]
    const fn of_core(core: &Core) -> &Self;

    /// Checks if the object is alive.
    pub fn is_alive(&self, object: ObjectHandle) -> bool {
        self.0.objects.is_alive(object)
    }

    /// Returns the number of objects, including class default objects and their subobjects.
    pub fn object_count(&self) -> usize {
        self.0.objects.len()
    }

    /// Returns the path of an object's class.
    pub fn class_of(&self, object: ObjectHandle) -> Option<String> {
        Some(self.0.objects.class(object)?.path.to_string())
    }

    /// Checks if an object is an instance of the class at the path `class` or of a derived class.
    pub fn is_a(&self, object: ObjectHandle, class: &str) -> bool {
        self.0.objects.class(object).is_some_and(|found| self.0.is_below(&found, class))
    }

    /// Checks if an object is a class default object or a subobject of a class default object.
    pub fn is_template(&self, object: ObjectHandle) -> bool {
        self.0.objects.is_template(object)
    }

    /// Returns the name of an object.
    pub fn name_of(&self, object: ObjectHandle) -> Option<String> {
        Some(self.text(self.0.objects.name(object)?))
    }

    /// Returns the outer of an object. Returns `None` for an object without an outer, and after the destruction of the outer.
    pub fn outer_of(&self, object: ObjectHandle) -> Option<ObjectHandle> {
        self.0.objects.outer(object).filter(|outer| self.0.objects.is_alive(*outer))
    }

    /// Returns the default subobject that the object's class declares under that name.
    pub fn subobject(&self, object: ObjectHandle, name: &str) -> Option<ObjectHandle> {
        self.0.objects.subobject(object, name)
    }

    /// Returns the default subobject that the object's class declares as root.
    pub fn root_subobject(&self, object: ObjectHandle) -> Option<ObjectHandle> {
        let class = self.0.objects.class(object)?;
        let root = class.lineage().flat_map(|class| &class.subobjects).find(|subobject| subobject.is_root)?;
        self.0.objects.subobject(object, &root.name)
    }

    /// Returns the value of a property as a Rust type: a number, `bool`, `String`, [`Name`], [`ObjectHandle`], or a struct that
    /// [`plain_struct!`](crate::plain_struct) defines.
    ///
    /// # Errors
    /// Returns [`CallError::Stale`] if the object does not exist. Returns [`CallError::NotFound`] if the object's class has no property of
    /// that name. Returns [`CallError::Signature`] if the property has a different type. Returns [`CallError::Borrowed`] while plugin code
    /// may write to a borrowed slice.
    pub fn get<T: FrameValue>(&self, object: ObjectHandle, property: impl PropertyKey) -> Result<T, CallError> {
        match self.0.get_cached(object, property) {
            Some(value) => Ok(value),
            None => self.0.get_uncached(object, property),
        }
    }

    /// Overwrites a property with a value of a Rust type. Calls in progress of an overwritten delegate skip the bindings that the new value
    /// lacks.
    ///
    /// # Errors
    /// Returns the errors of [`World::get`]. Returns [`CallError::WrongClass`] if the property does not allow the class of the referenced
    /// object. Returns [`CallError::DuringRebuild`] if a reload is in progress and its rollback could not restore the old value.
    pub fn set<T: FrameValue>(
        &self,
        object: ObjectHandle,
        property: impl PropertyKey,
        value: T,
    ) -> Result<(), CallError> {
        match self.0.set_cached(object, property, value) {
            Ok(()) => Ok(()),
            Err(value) => self.0.set_uncached(object, property, value),
        }
    }

    /// Returns the value of a property of any type.
    ///
    /// # Errors
    /// Returns [`CallError::Stale`] if the object does not exist. Returns [`CallError::NotFound`] if the object's class has no property of
    /// that name. Returns [`CallError::Borrowed`] while plugin code may write to a borrowed slice.
    pub fn read(&self, object: ObjectHandle, property: impl PropertyKey) -> Result<Value, CallError> {
        self.0.objects.read_value(object, property)
    }

    /// Overwrites the value of a property of any type. Calls in progress of an overwritten delegate skip the bindings that the new value
    /// lacks.
    ///
    /// # Errors
    /// Returns the errors of [`World::set`].
    pub fn write(&self, object: ObjectHandle, property: impl PropertyKey, value: &Value) -> Result<(), CallError> {
        self.0.objects.may_write(object)?;
        self.0.objects.with_property(object, property, |view, property| {
            self.0.check_objects_of(property, value)?;
            self.0.write_noted(view, property, || view.write(property, value))
        })
    }

    /// Returns the text of a name.
    pub fn text(&self, name: Name) -> String {
        self.0.names.text(name).to_string()
    }

    /// Returns the field path of the property at `path`. For an empty path, returns the empty field path.
    ///
    /// # Errors
    /// Returns [`CallError::NotFound`] if the property does not exist.
    pub fn field_path(&self, path: &str) -> Result<Value, CallError> {
        if path.is_empty() {
            return Ok(Value::FieldPath(Name::default()));
        }
        if self.0.types.property_by_path(path).is_none() {
            return Err(not_found(format!("unknown property {path}: write /Script/<package>.<class>:<property>")));
        }
        Ok(Value::FieldPath(self.0.names.intern(path)))
    }
}

impl Core {
    /// Checks that an object's class implements the interface at the path `interface`.
    ///
    /// # Errors
    /// Returns [`CallError::Stale`] if the object does not exist. Returns [`CallError::WrongClass`] if the object's class does not
    /// implement the interface.
    pub fn check_implements(&self, object: ObjectHandle, interface: &str) -> Result<(), CallError> {
        let class = self.objects.class(object).ok_or(CallError::Stale { handle: object })?;
        if self.implements(&class, interface) {
            return Ok(());
        }
        let (place, found, expected) = (String::new(), class.path.to_string(), interface.to_owned());
        Err(CallError::WrongClass { place, handle: object, found, expected })
    }

    /// Reads a property at its cached offset. Returns `None` if the offset is outdated or is not cached for the object's class. Also
    /// returns `None` while any slice is borrowed.
    #[doc(hidden)]
    #[inline]
    pub fn get_cached<T: FrameValue>(&self, object: ObjectHandle, property: impl PropertyKey) -> Option<T> {
        let offsets = property.offsets()?;
        let may_read = offsets.epoch() == self.epoch.get() && !self.slices.are_out();
        if may_read { offsets.read(self.objects.columns(), object) } else { None }
    }

    #[cold]
    #[inline(never)]
    fn get_uncached<T: FrameValue>(&self, object: ObjectHandle, property: impl PropertyKey) -> Result<T, CallError> {
        if T::RUNS_CODE {
            // Converts a copy, because the code may change or destroy the object.
            let own = self.objects.copy_as::<T>(object, property)?;
            return own.as_ptr().get().ok_or_else(|| mismatch(&property.name(), own.ty(), &T::describe()));
        }
        let value = self.objects.get(object, property)?;
        self.cache_offset::<T>(object, property);
        Ok(value)
    }

    /// Caches the offset of the property for the object's class.
    fn cache_offset<T: FrameValue>(&self, object: ObjectHandle, property: impl PropertyKey) {
        if let (Some(offsets), Some(class)) = (property.offsets(), self.objects.class(object))
            && let Some(property) = property.find(&class)
        {
            let path = property.ty.type_path();
            let required =
                if property.ty.kind() == PropertyKind::OBJECT { self.types.class_by_path(path) } else { None };
            // A class may be declared at a redirected path without a change to the epoch. The cache therefore excludes redirects.
            let referenced = required.filter(|class| *class.path == *path).map_or(ClassId::NONE, |class| class.id);
            offsets.note::<T>(self.epoch.count(), &class, property, referenced);
        }
    }

    /// Writes a property at its cached offset.
    ///
    /// # Errors
    /// Returns `value` if the offset is outdated or not cached, or if the write needs further checks.
    #[doc(hidden)]
    #[inline]
    pub fn set_cached<T: FrameValue>(
        &self,
        object: ObjectHandle,
        property: impl PropertyKey,
        value: T,
    ) -> Result<(), T> {
        let Some(offsets) = property.offsets() else { return Err(value) };
        let may_write = offsets.epoch() == self.epoch.get() && !self.mode.is_before_commit() && !self.slices.are_out();
        if !may_write {
            return Err(value);
        }
        // All other cases use the slow path, which contains the write barrier of a mark and reports referenced objects of a wrong class.
        offsets.write(self.objects.columns(), object, value, |to, class| {
            self.mode.get() == mode::NORMAL && (to.is_none() || self.objects.is_of(to, class))
        })
    }

    #[cold]
    #[inline(never)]
    fn set_uncached<T: FrameValue>(
        &self,
        object: ObjectHandle,
        property: impl PropertyKey,
        value: T,
    ) -> Result<(), CallError> {
        self.objects.may_write(object)?;
        if T::RUNS_CODE {
            return self.set_converted(object, property, value);
        }
        self.objects.with_property(object, property, |view, property| {
            if property.ty.names_objects() && T::matches(&property.ty) {
                let value = match value.reference() {
                    Some(to) => Value::Object(to),
                    None => owned(property.ty.clone(), value).read(),
                };
                self.check_objects_of(property, &value)?;
                return self.write_noted(view, property, || view.write(property, &value));
            }
            self.write_noted(view, property, || view.set(property, value))
        })?;
        self.cache_offset::<T>(object, property);
        Ok(())
    }

    /// Writes to a property with `write`. Calls in progress of a written delegate skip the bindings that the new value lacks.
    fn write_noted(
        &self,
        view: View<'_>,
        property: &Property,
        write: impl FnOnce() -> Result<(), CallError>,
    ) -> Result<(), CallError> {
        let is_noted = matches!(property.ty, PropertyType::MulticastDelegate(_) | PropertyType::SparseDelegate(_));
        let mark = if is_noted { self.broadcasts.before_write(view.ptr_mut(property)?) } else { None };
        write()?;
        if mark.is_some() {
            self.broadcasts.after_write(mark, view.ptr_mut(property)?.as_ptr());
        }
        Ok(())
    }

    /// Overwrites a property with a value whose conversion runs code of the host. Converts the value before the write, because the code may
    /// change or destroy the object.
    fn set_converted<T: FrameValue>(
        &self,
        object: ObjectHandle,
        property: impl PropertyKey,
        value: T,
    ) -> Result<(), CallError> {
        let ty = self.objects.with_property(object, property, |view, property| view.type_as::<T>(property).cloned())?;
        let own = owned(ty, value);
        self.objects.may_write(object)?;
        self.objects.with_property(object, property, |view, property| {
            if property.ty != *own.ty() {
                return Err(mismatch(&property.text, &property.ty, own.ty()));
            }
            if property.ty.names_objects() {
                self.check_objects_of(property, &own.read())?;
            }
            view.put(property, own.as_ptr())
        })
    }

    /// Calls a function with Rust arguments and a Rust result. Without a class path, calls the most derived override in the object's class.
    /// With a class path, calls the function of that class or of its nearest base.
    ///
    /// # Errors
    /// Returns [`CallError::Stale`] if the object does not exist. Returns [`CallError::NotFound`] if the object's class has no function of
    /// that name. Returns [`CallError::Signature`] if the function has different types. Returns [`CallError::WrongClass`] if a parameter
    /// does not allow the class of its argument. Also returns the errors of the function.
    pub fn call_typed<A: NativeParams, R: NativeResult>(
        &self,
        object: ObjectHandle,
        function: &FunctionRef,
        of: Option<&str>,
        arguments: A,
    ) -> Result<R, CallError> {
        self.call_typed_with_out_parameters::<A, R, ()>(object, function, of, arguments).map(|(result, ())| result)
    }

    /// Variant of [`World::call_typed`] that also returns the values of the out parameters, in order.
    ///
    /// # Errors
    /// Returns the errors of [`World::call_typed`].
    #[doc(hidden)]
    pub fn call_typed_with_out_parameters<A: NativeParams, R: NativeResult, O: OutValues>(
        &self,
        object: ObjectHandle,
        function: &FunctionRef,
        of: Option<&str>,
        arguments: A,
    ) -> Result<(R, O), CallError> {
        let class = self.objects.class(object).ok_or(CallError::Stale { handle: object })?;
        let found = match of {
            None => function.find(&class),
            Some(path) => {
                let of = class.lineage().find(|of| *of.path == *path);
                of.and_then(|of| of.find_function(function.name()).cloned())
            }
        };
        let function = found.ok_or_else(|| not_found(format!("{} has no function {}", class.path, function.name())))?;
        if function.arguments().len() != A::COUNT {
            return Err(mismatch(&function.path, &function.signature(), &format!("{} arguments", A::COUNT)));
        }
        let mut block = ParamBlock::new(&function);
        let back = arguments.put(&mut block)?;
        for param in function.arguments().iter().filter(|param| param.ty.names_objects()) {
            self.check_objects_of(param, &block.view().read(param)?)?;
        }
        function.invoke(self, object, &mut block)?;
        let result = R::take(&block)?;
        A::take_back(back, &block)?;
        let is_out = |(_, param): &(usize, &Property)| param.flags & property_flags::OUT != 0;
        let out_parameters: Vec<_> = match O::COUNT {
            0 => Vec::new(),
            _ => function.arguments().iter().enumerate().filter(is_out).map(|(at, _)| at).collect(),
        };
        Ok((result, O::read(&block, &out_parameters)?))
    }

    /// Checks that an object has the function, and that the function's signature text equals `expected`.
    ///
    /// # Errors
    /// Returns [`CallError::Stale`] if the object does not exist. Returns [`CallError::NotFound`] if the function does not exist. Returns
    /// [`CallError::Signature`] if the signatures differ.
    pub fn check_function(
        &self,
        object: ObjectHandle,
        function: &FunctionRef,
        expected: &str,
    ) -> Result<(), CallError> {
        let class = self.objects.class(object).ok_or(CallError::Stale { handle: object })?;
        let missing = || not_found(format!("{} has no function {}", class.path, function.name()));
        let found = function.find(&class).ok_or_else(missing)?;
        if found.signature_text() == expected {
            return Ok(());
        }
        Err(mismatch(&found.path, &found.signature_text(), &expected))
    }
}
