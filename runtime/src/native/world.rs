//! The objects as native code of a host sees them: look at objects, read and write their properties, by name and by Rust
//! type. Everything else of the core's world (its stores, its memory, its mode) is the runtime's own: nothing here gives out
//! an address, a function or a layout, so no safe code of a host can bring two of them together that do not fit.

use ref_cast::{RefCastCustom, ref_cast_custom};

use crate::border::CallError;
use crate::handles::{Name, ObjectHandle};
use crate::object;
use crate::object::hooks::HookContext;
use crate::object::member::{FunctionRef, PropertyKey};
use crate::object::native_out::OutValues;
use crate::object::native_value::{NativeParams, NativeResult};
use crate::object::typed::FrameValue;
use crate::object::value::Value;

/// All objects and types of a host, as native code sees them. It never leaves the game thread.
#[derive(Debug, RefCastCustom)]
#[repr(transparent)]
pub struct World(object::World);

impl World {
    /// A host's view of the core's world.
    #[ref_cast_custom]
    pub(crate) const fn new(world: &object::World) -> &Self;

    /// The world that a hook is called for.
    #[inline]
    pub(crate) fn of(context: HookContext<'_>) -> &Self {
        Self::new(object::World::of(context))
    }

    /// The core's world.
    #[inline]
    pub(super) fn of_core(&self) -> &object::World {
        &self.0
    }

    /// Whether the object is alive.
    pub fn is_alive(&self, object: ObjectHandle) -> bool {
        self.0.is_alive(object)
    }

    /// How many objects there are, class default objects and what lies in them included.
    pub fn object_count(&self) -> usize {
        self.0.object_count()
    }

    /// The path of an object's class.
    pub fn class_of(&self, object: ObjectHandle) -> Option<String> {
        self.0.class_of(object)
    }

    /// Whether an object is of the class of this path, or of a subclass.
    pub fn is_a(&self, object: ObjectHandle, class: &str) -> bool {
        self.0.is_a(object, class)
    }

    /// Says why an object cannot be seen as the interface of this path.
    pub(super) fn check_implements(&self, object: ObjectHandle, interface: &str) -> Result<(), CallError> {
        self.0.check_implements(object, interface)
    }

    /// Whether an object is a class default object or lies in one.
    pub fn is_template(&self, object: ObjectHandle) -> bool {
        self.0.is_template(object)
    }

    /// An object's name.
    pub fn name_of(&self, object: ObjectHandle) -> Option<String> {
        self.0.name_of(object)
    }

    /// The object that contains another; none for one that stands alone.
    pub fn outer_of(&self, object: ObjectHandle) -> Option<ObjectHandle> {
        self.0.outer_of(object)
    }

    /// The default subobject of an object that its class declares under that name.
    pub fn subobject(&self, object: ObjectHandle, name: &str) -> Option<ObjectHandle> {
        self.0.subobject(object, name)
    }

    /// The default subobject of an object that its class declares as the root of the others.
    pub fn root_subobject(&self, object: ObjectHandle) -> Option<ObjectHandle> {
        self.0.root_subobject(object)
    }

    /// The value of a property, by its Rust type: a number, a `bool`, a `String`, a [`Name`], an [`ObjectHandle`], or what
    /// [`plain_struct!`](crate::plain_struct) defines.
    ///
    /// # Errors
    /// [`CallError::Stale`] when the object is gone, [`CallError::NotFound`] when its class has no such property,
    /// [`CallError::Signature`] when it holds other values.
    pub fn get<T: FrameValue>(&self, object: ObjectHandle, property: impl PropertyKey) -> Result<T, CallError> {
        self.0.get(object, property)
    }

    /// Overwrites the value of a property, by its Rust type.
    ///
    /// # Errors
    /// As for [`World::get`]; [`CallError::WrongClass`] when it names an object that is not of the class the property is for;
    /// [`CallError::DuringRebuild`] while a reload is under way that could not put it back.
    pub fn set<T: FrameValue>(
        &self,
        object: ObjectHandle,
        property: impl PropertyKey,
        value: T,
    ) -> Result<(), CallError> {
        self.0.set(object, property, value)
    }

    /// Says why an object has no function of that signature.
    pub(super) fn check_function(
        &self,
        object: ObjectHandle,
        function: &FunctionRef,
        wanted: &str,
    ) -> Result<(), CallError> {
        self.0.check_function(object, function, wanted)
    }

    /// Calls a function by the Rust types of its parameters and result.
    pub(super) fn call_typed<A: NativeParams, R: NativeResult>(
        &self,
        object: ObjectHandle,
        function: &FunctionRef,
        of: Option<&str>,
        arguments: A,
    ) -> Result<R, CallError> {
        self.0.call_typed(object, function, of, arguments)
    }

    /// The same, and what the out parameters hold then.
    pub(super) fn call_typed_with_outs<A: NativeParams, R: NativeResult, O: OutValues>(
        &self,
        object: ObjectHandle,
        function: &FunctionRef,
        arguments: A,
    ) -> Result<(R, O), CallError> {
        self.0.call_typed_with_outs(object, function, None, arguments)
    }

    /// The value of a property of whatever type.
    ///
    /// # Errors
    /// [`CallError::Stale`] when the object is gone, [`CallError::NotFound`] when its class has no such property.
    pub fn read(&self, object: ObjectHandle, property: impl PropertyKey) -> Result<Value, CallError> {
        self.0.read(object, property)
    }

    /// Overwrites the value of a property of whatever type.
    ///
    /// # Errors
    /// As for [`World::set`].
    pub fn write(&self, object: ObjectHandle, property: impl PropertyKey, value: &Value) -> Result<(), CallError> {
        self.0.write(object, property, value)
    }

    /// The text of a name.
    pub fn text(&self, name: Name) -> String {
        self.0.text(name)
    }

    /// The path of an object; `None` when it is gone, or an object that it lies in.
    pub fn path_of(&self, object: ObjectHandle) -> Option<String> {
        self.0.path_of(object)
    }

    /// The object at a path; `None` when there is none, or the text is no path. Where several objects of one outer have
    /// the same name, as while a reload has the old and the new of something, the last of them is meant.
    pub fn object_at(&self, path: &str) -> Option<ObjectHandle> {
        self.0.object_at(path)
    }

    /// Gives an object another name, another place, or both: an empty name and no outer leave what is there. To lie in
    /// itself means to lie in nothing.
    ///
    /// # Errors
    /// [`CallError::Stale`] when one of the two is gone; otherwise the sentence says why it stays as it is.
    pub fn rename(&self, object: ObjectHandle, name: &str, outer: ObjectHandle) -> Result<(), CallError> {
        self.0.rename(object, name, outer)
    }

    /// The value of a field path that names the property of that path; the empty path names none.
    ///
    /// # Errors
    /// [`CallError::NotFound`] when there is none.
    pub fn field_path(&self, path: &str) -> Result<Value, CallError> {
        self.0.field_path(path)
    }
}
