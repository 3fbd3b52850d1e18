//! Objects as native code sees them while it runs for one: a view for each class, on the world that the object is in. All of it
//! is safe: a view is a handle and the world, and each access looks the object up.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::Deref;

use crate::handles::ObjectHandle;
use crate::kinds::PropertyKind;
use crate::native::failing::fail;
use crate::native::part_cell::{PartCell, not_its_own};
use crate::object::host_value::HostValue;
use crate::object::native_value::NativeValue;
use crate::object::natives::World;

/// An object of a world, as views have it.
#[derive(Clone, Copy)]
pub struct At<'f> {
    pub(super) world: &'f World,
    pub(super) object: ObjectHandle,
}

/// What can be done with objects of a class.
pub trait View<'f>: Copy {
    #[doc(hidden)]
    fn new(at: At<'f>) -> Self;
    #[doc(hidden)]
    fn at(&self) -> At<'f>;
}

/// A class as a type.
pub trait Class: Sized + 'static {
    /// The class it extends; [`Object`] is its own.
    type Base: Class;
    /// Its accessors and calls, then those of its base.
    type View<'f>: View<'f>;
    /// `/Script/Package.Name`.
    const PATH: &'static str;
    /// The C library that its functions are in; empty for most. A class that has one is final.
    #[doc(hidden)]
    const LIBRARY: &'static str = "";
    /// Names of the events that it declares, for messages of the compiler.
    #[doc(hidden)]
    const EVENTS: &'static [&'static str] = &[];
}

/// The root of all classes.
#[derive(Debug)]
pub enum Object {}

impl Class for Object {
    type Base = Self;
    type View<'f> = ObjectView<'f>;
    const PATH: &'static str = "/Script/Core.Object";
}

/// What can be done with any object.
#[derive(Clone, Copy)]
pub struct ObjectView<'f>(At<'f>);

impl<'f> View<'f> for ObjectView<'f> {
    #[inline]
    fn new(at: At<'f>) -> Self {
        Self(at)
    }

    #[inline]
    fn at(&self) -> At<'f> {
        self.0
    }
}

impl<'f> ObjectView<'f> {
    /// Its handle.
    pub fn handle(&self) -> ObjectHandle {
        self.0.object
    }

    /// The world it is in.
    pub fn world(&self) -> &'f World {
        self.0.world
    }

    /// Its name; empty when it is gone.
    pub fn name(&self) -> String {
        self.0.world.name_of(self.0.object).unwrap_or_default()
    }

    /// The object that contains it, where that is of class `D`.
    pub fn outer<D: Class>(&self) -> Option<This<'f, D>> {
        let At { world, object } = self.0;
        let outer = world.outer_of(object).filter(|outer| world.is_a(*outer, D::PATH))?;
        Some(This::new(world, outer))
    }

    /// Its default subobject that its class declares as the root of the others, where that is of class `D`.
    pub fn root_subobject<D: Class>(&self) -> Option<This<'f, D>> {
        let At { world, object } = self.0;
        let root = world.root_subobject(object).filter(|root| world.is_a(*root, D::PATH))?;
        Some(This::new(world, root))
    }

    /// Whether it is a class default object or lies in one.
    pub fn is_template(&self) -> bool {
        self.0.world.is_template(self.0.object)
    }
}

/// An object while native code runs for it. Game thread only, and no longer than the call.
///
/// It dereferences to the view of its class, which has the accessors of its properties and the calls of its functions, then
/// those of every base up to [`ObjectView`].
pub struct This<'f, C: Class> {
    pub(super) view: C::View<'f>,
    /// The Rust fields that the running method is for.
    part: Option<&'f PartCell<C>>,
}

impl<C: Class> Clone for This<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Class> Copy for This<'_, C> {}

impl<C: Class> fmt::Debug for This<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", C::PATH, self.view.at().object)
    }
}

impl<'f, C: Class> Deref for This<'f, C> {
    type Target = C::View<'f>;

    #[inline]
    fn deref(&self) -> &C::View<'f> {
        &self.view
    }
}

impl<'f, C: Class> This<'f, C> {
    #[inline]
    pub(super) fn new(world: &'f World, object: ObjectHandle) -> Self {
        Self { view: C::View::new(At { world, object }), part: None }
    }

    /// The same, while a method runs for its Rust fields.
    #[inline]
    pub(super) fn with_part<'p>(self, part: &'p PartCell<C>) -> This<'p, C>
    where
        'f: 'p,
    {
        let At { world, object } = self.view.at();
        This { view: C::View::new(At { world, object }), part: Some(part) }
    }

    /// Lends `part`, the `&mut self` of the running method, back to its object while `code` runs, so that whatever `code`
    /// calls may borrow the Rust fields anew. Needed when a call may come back to this object.
    ///
    /// Ends the running call with a typed error when `part` is not that of this object. For `&self` there is nothing to
    /// lend: shared borrows do not exclude each other.
    pub fn lend<R>(self, part: &mut C, code: impl FnOnce(Self) -> R) -> R {
        let object = self.view.at().object;
        let lent = match self.part {
            Some(cell) => cell.lend(object, part, || code(self)),
            None => Err(not_its_own(object)),
        };
        lent.unwrap_or_else(|error| fail(error))
    }

    /// The object that `obj` names, where it is alive and of the class.
    pub fn get<D: Class>(&self, obj: Obj<D>) -> Option<This<'f, D>> {
        let world = self.view.at().world;
        (world.is_alive(obj.0) && world.is_a(obj.0, D::PATH)).then(|| This::new(world, obj.0))
    }

    /// A reference to it, for properties and parameters, which may be kept.
    #[must_use]
    pub fn as_obj(self) -> Obj<C> {
        Obj::new(self.view.at().object)
    }
}

/// A reference to an object of a class, or to none. A property or parameter of this type has that class.
pub struct Obj<C>(ObjectHandle, PhantomData<fn() -> C>);

impl<C> Clone for Obj<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Obj<C> {}

impl<C> PartialEq for Obj<C> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<C> Eq for Obj<C> {}

impl<C> Hash for Obj<C> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl<C: Class> fmt::Debug for Obj<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", C::PATH, self.0)
    }
}

impl<C> Default for Obj<C> {
    fn default() -> Self {
        Self::none()
    }
}

impl<C> Obj<C> {
    /// No object.
    #[must_use]
    pub const fn none() -> Self {
        Self::new(ObjectHandle::NONE)
    }

    /// Whether it names no object at all.
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.0.is_none()
    }

    /// To the object of this handle. Whether it is of the class is looked at when it is used.
    pub const fn new(object: ObjectHandle) -> Self {
        Self(object, PhantomData)
    }

    /// The handle.
    pub const fn handle(self) -> ObjectHandle {
        self.0
    }
}

impl<C: Class> HostValue for Obj<C> {
    type Raw = ObjectHandle;

    fn from_raw(raw: ObjectHandle) -> Self {
        Self::new(raw)
    }

    fn into_raw(self) -> ObjectHandle {
        self.0
    }
}

impl<C: Class> NativeValue for Obj<C> {
    type Literal = Self;
    const KIND: PropertyKind = PropertyKind::OBJECT;
    const TYPE_PATH: &'static str = C::PATH;
}
