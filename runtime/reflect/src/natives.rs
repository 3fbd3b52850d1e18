//! What native code of a host may do with a world: look at objects, read and write their properties, by name and by Rust
//! type. Everything else of a world (its stores, its memory, its mode) is the runtime's own: [`World`] gives out no
//! address, no function and no layout, so no safe code of a host can bring two of them together that do not fit.

use std::ops::Deref;

use alcedo_abi::kinds::property_flags;
use alcedo_base::border::CallError;
use alcedo_base::handles::{Name, ObjectHandle};
use ref_cast::{RefCastCustom, ref_cast_custom};

use crate::World as Core;
use crate::member::{FunctionKey as _, FunctionRef, PropertyKey};
use crate::native_out::OutValues;
use crate::native_value::{NativeParams, NativeResult};
use crate::property::Property;
use crate::thunk::ParamBlock;
use crate::typed::{FrameValue, owned};
use crate::value::Value;

/// All objects and types of a host, as native code sees them. It never leaves the game thread.
#[derive(Debug, RefCastCustom)]
#[repr(transparent)]
pub struct World(pub(crate) Core);

/// The core's world of a view, for the runtime alone: hosts do not name this crate.
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

    /// Whether the object is alive.
    pub fn is_alive(&self, object: ObjectHandle) -> bool {
        self.0.objects.is_alive(object)
    }

    /// How many objects there are, class default objects and what lies in them included.
    pub fn object_count(&self) -> usize {
        self.0.objects.len()
    }

    /// The path of an object's class.
    pub fn class_of(&self, object: ObjectHandle) -> Option<String> {
        Some(self.0.objects.class(object)?.path.to_string())
    }

    /// Whether an object is of the class of this path, or of a subclass.
    pub fn is_a(&self, object: ObjectHandle, class: &str) -> bool {
        match (self.0.objects.class(object), self.0.types.class_by_path(class)) {
            (Some(found), Some(wanted)) => found.is_a(&wanted),
            _ => false,
        }
    }

    /// Whether an object is a class default object or lies in one.
    pub fn is_template(&self, object: ObjectHandle) -> bool {
        self.0.objects.is_template(object)
    }

    /// An object's name.
    pub fn name_of(&self, object: ObjectHandle) -> Option<String> {
        Some(self.text(self.0.objects.name(object)?))
    }

    /// The object that contains another; none for one that stands alone.
    pub fn outer_of(&self, object: ObjectHandle) -> Option<ObjectHandle> {
        self.0.objects.outer(object).filter(|outer| !outer.is_none())
    }

    /// The default subobject of an object that its class declares under that name.
    pub fn subobject(&self, object: ObjectHandle, name: &str) -> Option<ObjectHandle> {
        self.0.objects.subobject(object, name)
    }

    /// The default subobject of an object that its class declares as the root of the others.
    pub fn root_subobject(&self, object: ObjectHandle) -> Option<ObjectHandle> {
        let chain = self.0.objects.class(object)?.chain();
        let root = chain.iter().flat_map(|class| &class.subobjects).find(|subobject| subobject.is_root())?;
        self.0.objects.subobject(object, &root.name)
    }

    /// The value of a property, by its Rust type: a number, a `bool`, a `String`, a [`Name`], an [`ObjectHandle`], or what
    /// [`plain_struct!`](crate::plain_struct) defines.
    ///
    /// # Errors
    /// [`CallError::Stale`] when the object is gone, [`CallError::NotFound`] when its class has no such property,
    /// [`CallError::Signature`] when it holds other values.
    pub fn get<T: FrameValue>(&self, object: ObjectHandle, property: impl PropertyKey) -> Result<T, CallError> {
        match self.0.get_known(object, property) {
            Some(value) => Ok(value),
            None => self.0.get_anew(object, property),
        }
    }

    /// Overwrites the value of a property, by its Rust type.
    ///
    /// # Errors
    /// Returns those of [`World::get`]; [`CallError::WrongClass`] when it names an object that is not of the class the property is for;
    /// [`CallError::DuringRebuild`] while a reload is under way that could not put it back.
    pub fn set<T: FrameValue>(
        &self,
        object: ObjectHandle,
        property: impl PropertyKey,
        value: T,
    ) -> Result<(), CallError> {
        match self.0.set_known(object, property, value) {
            Ok(()) => Ok(()),
            Err(value) => self.0.set_anew(object, property, value),
        }
    }

    /// The value of a property of any type.
    ///
    /// # Errors
    /// [`CallError::Stale`] when the object is gone, [`CallError::NotFound`] when its class has no such property.
    pub fn read(&self, object: ObjectHandle, property: impl PropertyKey) -> Result<Value, CallError> {
        self.0.objects.read_value(object, property)
    }

    /// Overwrites the value of a property of any type.
    ///
    /// # Errors
    /// Returns those of [`World::set`].
    pub fn write(&self, object: ObjectHandle, property: impl PropertyKey, value: &Value) -> Result<(), CallError> {
        self.0.objects.may_write(object)?;
        self.0.objects.with_property(object, property, |view, property| {
            self.0.check_objects_of(property, value)?;
            view.write(property, value)
        })
    }

    /// The text of a name.
    pub fn text(&self, name: Name) -> String {
        self.0.names.text(name).to_string()
    }

    /// The value of a field path that names the property of that path; the empty path names none.
    ///
    /// # Errors
    /// [`CallError::NotFound`] when there is none.
    pub fn field_path(&self, path: &str) -> Result<Value, CallError> {
        if path.is_empty() {
            return Ok(Value::FieldPath(Name::default()));
        }
        if self.0.types.property_by_path(path).is_none() {
            let message = format!("there is no property {path}: write /Script/<package>.<class>:<property>");
            return Err(CallError::NotFound { message });
        }
        Ok(Value::FieldPath(self.0.names.intern(path)))
    }
}

impl Core {
    /// Says why an object cannot be seen as the interface of this path.
    ///
    /// # Errors
    /// [`CallError::Stale`] when it is gone, [`CallError::WrongClass`] when its class does not implement the interface.
    pub fn check_implements(&self, object: ObjectHandle, interface: &str) -> Result<(), CallError> {
        let class = self.objects.class(object).ok_or(CallError::Stale { handle: object })?;
        if class.implements(interface) {
            return Ok(());
        }
        let (place, found, wanted) = (String::new(), class.path.to_string(), interface.to_owned());
        Err(CallError::WrongClass { place, handle: object, found, wanted })
    }

    /// The same, where the reference remembers where objects of this class have it, and that is right.
    #[doc(hidden)]
    #[inline]
    pub fn get_known<T: FrameValue>(&self, object: ObjectHandle, property: impl PropertyKey) -> Option<T> {
        let places = property.places()?;
        let may_read = places.looked() == self.stamp.get() && !self.slices.are_out();
        if may_read { places.read(self.objects.columns(), object) } else { None }
    }

    #[cold]
    #[inline(never)]
    fn get_anew<T: FrameValue>(&self, object: ObjectHandle, property: impl PropertyKey) -> Result<T, CallError> {
        let value = self.objects.get(object, property)?;
        self.note_place::<T>(object, property);
        Ok(value)
    }

    /// Notes where objects of the class of this one have the property, for the next time.
    fn note_place<T: FrameValue>(&self, object: ObjectHandle, property: impl PropertyKey) {
        if let (Some(places), Some(class)) = (property.places(), self.objects.class(object))
            && let Some(property) = property.find(&class)
        {
            places.note::<T>(self.stamp.count(), &class, property);
        }
    }

    /// The same, where the reference remembers where objects of this class have it, and that is right.
    ///
    /// # Errors
    /// The value, where it does not, or the property may not be written without a further look.
    #[doc(hidden)]
    #[inline]
    pub fn set_known<T: FrameValue>(
        &self,
        object: ObjectHandle,
        property: impl PropertyKey,
        value: T,
    ) -> Result<(), T> {
        let Some(places) = property.places() else { return Err(value) };
        let may_write = places.looked() == self.stamp.get() && !self.mode.is_before_commit() && !self.slices.are_out();
        if may_write { places.write(self.objects.columns(), object, value) } else { Err(value) }
    }

    #[cold]
    #[inline(never)]
    fn set_anew<T: FrameValue>(
        &self,
        object: ObjectHandle,
        property: impl PropertyKey,
        value: T,
    ) -> Result<(), CallError> {
        self.objects.may_write(object)?;
        self.objects.with_property(object, property, |view, property| {
            if property.ty.names_objects() && T::matches(&property.ty) {
                let value = owned(property.ty.clone(), value).read();
                self.check_objects_of(property, &value)?;
                return view.write(property, &value);
            }
            view.set(property, value)
        })?;
        self.note_place::<T>(object, property);
        Ok(())
    }

    /// Calls a function by the Rust types of its parameters and result: the most derived body that the object's class has, or,
    /// with a class path, the body of that class or its nearest base.
    ///
    /// # Errors
    /// [`CallError::Stale`] when the object is gone, [`CallError::NotFound`] when its class has no such function,
    /// [`CallError::Signature`] when it takes or gives others, [`CallError::WrongClass`] for an object of another class than the
    /// parameter's, and whatever the body fails with.
    pub fn call_typed<A: NativeParams, R: NativeResult>(
        &self,
        object: ObjectHandle,
        function: &FunctionRef,
        of: Option<&str>,
        arguments: A,
    ) -> Result<R, CallError> {
        self.call_typed_with_outs::<A, R, ()>(object, function, of, arguments).map(|(result, ())| result)
    }

    /// The same, and what the out parameters hold then, in their order.
    ///
    /// # Errors
    /// As for [`World::call_typed`].
    #[doc(hidden)]
    pub fn call_typed_with_outs<A: NativeParams, R: NativeResult, O: OutValues>(
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
        let function = found.ok_or_else(|| CallError::NotFound {
            message: format!("{} has no function {}", class.path, function.name()),
        })?;
        if function.arguments().len() != A::COUNT {
            return Err(CallError::Signature {
                name: function.path.to_string(),
                found: function.signature(),
                wanted: format!("{} arguments", A::COUNT),
            });
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
        let outs: Vec<_> = match O::COUNT {
            0 => Vec::new(),
            _ => function.arguments().iter().enumerate().filter(is_out).map(|(at, _)| at).collect(),
        };
        Ok((result, O::read(&block, &outs)?))
    }

    /// Says why an object has no function of that signature, in words.
    ///
    /// # Errors
    /// [`CallError::Stale`], [`CallError::NotFound`] or [`CallError::Signature`].
    pub fn check_function(&self, object: ObjectHandle, function: &FunctionRef, wanted: &str) -> Result<(), CallError> {
        let class = self.objects.class(object).ok_or(CallError::Stale { handle: object })?;
        let found = function.find(&class).ok_or_else(|| CallError::NotFound {
            message: format!("{} has no function {}", class.path, function.name()),
        })?;
        if found.words() == wanted {
            return Ok(());
        }
        let (name, found) = (found.path.to_string(), found.words().to_owned());
        Err(CallError::Signature { name, found, wanted: wanted.to_owned() })
    }
}
