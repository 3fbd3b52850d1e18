//! Views of objects for native code. Each class has a view type. A view consists of an object handle and the world. A view of a destroyed
//! object is safe to use, because each access looks up the object by its handle.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::Deref;

use crate::handles::ObjectHandle;
use crate::kinds::PropertyKind;
use crate::native::failing::or_end;
use crate::native::part_cell::{PartCell, not_its_own};
use crate::object::host_value::HostValue;
use crate::object::native_value::NativeValue;
use crate::object::natives::World;

/// An object and its world.
#[derive(Clone, Copy)]
pub struct At<'f> {
    pub(super) world: &'f World,
    pub(super) object: ObjectHandle,
}

/// A view of objects of a class.
pub trait View<'f>: Copy {
    #[doc(hidden)]
    fn new(at: At<'f>) -> Self;
    #[doc(hidden)]
    fn at(&self) -> At<'f>;
}

/// Implemented by the Rust type that represents a reflected class.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
/// use alcedo_runtime::native::{Class, Object};
///
/// /// Counts the objects of a class.
/// fn count<C: Class>(runtime: &Runtime) -> usize {
///     let mut list = runtime.list(C::PATH);
///     list.refresh(runtime);
///     list.list().objects().len()
/// }
///
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// let runtime = Runtime::builder().build()?;
/// runtime.objects().spawn_as::<Object>()?;
/// assert_eq!(count::<Object>(&runtime), 1);
/// # Ok(())
/// # }
/// ```
pub trait Class: Sized + 'static {
    /// Base class. The base of [`Object`] is [`Object`].
    type Base: Class;
    /// View with the accessors and calls of the class and of its base classes.
    type View<'f>: View<'f>;
    /// Path of the class, such as `/Script/Package.Name`.
    const PATH: &'static str;
    /// Name of the C library to which the class is bound. Empty for a class without a library. A class with a library is final.
    #[doc(hidden)]
    const LIBRARY: &'static str = "";
    /// Names of declared events, for compiler messages.
    #[doc(hidden)]
    const EVENTS: &'static [&'static str] = &[];
    /// Names of the properties that the class itself declares, for compiler messages.
    #[doc(hidden)]
    const PROPERTIES: &'static [&'static str] = &[];
    /// Paths of the interfaces that the class declaration lists.
    #[doc(hidden)]
    const IMPLEMENTS: &'static [&'static str] = &[];
}

/// Root of all classes.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
/// use alcedo_runtime::native::{Obj, Object};
///
/// let runtime = Runtime::builder().build()?;
/// // A property for an object of any class.
/// let anything: Obj<Object> = runtime.objects().spawn_as()?;
/// assert!(runtime.objects().is_alive(anything.handle()));
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Debug)]
pub enum Object {}

impl Class for Object {
    type Base = Self;
    type View<'f> = ObjectView<'f>;
    const PATH: &'static str = "/Script/Core.Object";
}

/// View of any object.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::native::Object;
/// use alcedo_runtime::{ObjectHandle, Runtime};
///
/// let runtime = Runtime::builder().build()?;
/// let player = runtime.objects().spawn_as::<Object>()?;
/// runtime.objects().rename(player.handle(), "Ada", ObjectHandle::NONE)?;
/// let (name, is_template) = runtime.objects().with(player, |player| (player.name(), player.is_template()))?;
/// assert_eq!((&*name, is_template), ("Ada", false));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    /// Returns the handle.
    pub fn handle(&self) -> ObjectHandle {
        self.0.object
    }

    /// Returns the world of the object.
    pub fn world(&self) -> &'f World {
        self.0.world
    }

    /// Returns the name. Returns an empty string if the object is destroyed.
    pub fn name(&self) -> String {
        self.0.world.name_of(self.0.object).unwrap_or_default()
    }

    /// Returns the outer of the object. Returns `None` if the outer is not of class `D`.
    pub fn outer<D: Class>(&self) -> Option<This<'f, D>> {
        let At { world, object } = self.0;
        let outer = world.outer_of(object).filter(|outer| world.is_a(*outer, D::PATH))?;
        Some(This::new(world, outer))
    }

    /// Returns the default subobject that the class declares as the root. Returns `None` if this subobject is not of class `D`.
    pub fn root_subobject<D: Class>(&self) -> Option<This<'f, D>> {
        let At { world, object } = self.0;
        let root = world.root_subobject(object).filter(|root| world.is_a(*root, D::PATH))?;
        Some(This::new(world, root))
    }

    /// Returns `true` if the object is a class default object, or a subobject of a class default object.
    pub fn is_template(&self) -> bool {
        self.0.world.is_template(self.0.object)
    }
}

/// Receiver of a native call. Usable only on the game thread, and only during the call.
///
/// Dereferences to the view of the class `C`. The view has property accessors and methods that call functions. The view of each class
/// dereferences to the view of its base class, up to [`ObjectView`].
///
/// # Examples
/// ```rust
/// use alcedo_runtime::native::{Obj, This, uclass};
/// use alcedo_runtime::{Runtime, natives};
///
/// #[uclass(package = "Game")]
/// #[derive(Default)]
/// struct Robot {
///     #[uproperty(default = 3)]
///     charge: u32,
/// }
///
/// #[uclass]
/// impl Robot {
///     /// Moves all charge of another robot to this one.
///     #[ufunction]
///     fn drain(&self, this: This<Self>, other: Obj<Robot>) -> u32 {
///         if let Some(other) = this.get(other) {
///             this.set_charge(this.charge() + other.charge());
///             other.set_charge(0);
///         }
///         this.charge()
///     }
/// }
///
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// let runtime = Runtime::builder().natives(natives![Robot]).build()?;
/// let [one, two] = [runtime.objects().spawn_as::<Robot>()?, runtime.objects().spawn_as::<Robot>()?];
/// assert_eq!(runtime.objects().with(one, |one| one.drain(two))?, 6);
/// assert_eq!(runtime.objects().with(two, |two| two.charge())?, 0);
/// # Ok(())
/// # }
/// ```
pub struct This<'f, C: Class> {
    pub(super) view: C::View<'f>,
    /// Rust fields that the running method borrows.
    part: Option<&'f PartCell<C>>,
}

alcedo_abi::copies! { impl[C: Class] This<'_, C>; }

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

    /// Attaches the Rust fields that the running method borrows.
    #[inline]
    pub(super) fn with_part<'p>(self, part: &'p PartCell<C>) -> This<'p, C>
    where
        'f: 'p,
    {
        let At { world, object } = self.view.at();
        This { view: C::View::new(At { world, object }), part: Some(part) }
    }

    /// Lends `part`, the `&mut self` of the running method, to the object while `code` runs. Calls in `code` can then borrow the Rust
    /// fields again. Required if a call in `code` may run another method of this object.
    ///
    /// If `part` does not belong to this object, or on the stack of a coroutine, the running call ends with an error. A method with `&self`
    /// need not lend `self`, because shared borrows do not exclude each other.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::native::{MulticastDelegate, This, uclass};
    /// use alcedo_runtime::{Runtime, natives};
    ///
    /// #[uclass(package = "Game")]
    /// #[derive(Default)]
    /// struct Bell {
    ///     #[uproperty]
    ///     on_rung: MulticastDelegate<fn(u32)>,
    ///     rung: u32,
    /// }
    ///
    /// #[uclass]
    /// impl Bell {
    ///     #[ufunction]
    ///     fn ring(&mut self, this: This<Self>, times: u32) {
    ///         self.rung += times;
    ///         // A listener may call the bell.
    ///         this.lend(self, |this| this.on_rung().broadcast((times,)));
    ///     }
    ///     #[ufunction]
    ///     fn total(&self) -> u32 {
    ///         self.rung
    ///     }
    /// }
    ///
    /// let runtime = Runtime::builder().natives(natives![Bell]).build()?;
    /// let bell = runtime.objects().spawn_as::<Bell>()?;
    /// runtime.objects().with(bell, |bell| bell.ring(3))?;
    /// assert_eq!(runtime.objects().with(bell, |bell| bell.total())?, 3);
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn lend<R>(self, part: &mut C, code: impl FnOnce(Self) -> R) -> R {
        let object = self.view.at().object;
        or_end(match self.part {
            Some(cell) => cell.reborrow(object, part, || code(self)),
            None => Err(not_its_own(object)),
        })
    }

    /// Returns the object to which `obj` refers. Returns `None` if the object is destroyed, or is not of class `D`.
    pub fn get<D: Class>(&self, obj: Obj<D>) -> Option<This<'f, D>> {
        let world = self.view.at().world;
        (world.is_alive(obj.0) && world.is_a(obj.0, D::PATH)).then(|| This::new(world, obj.0))
    }

    /// Returns a storable reference to the object, for properties and parameters.
    #[must_use]
    pub fn as_obj(self) -> Obj<C> {
        Obj::new(self.view.at().object)
    }
}

/// A reference to an object of class `C`, or a null reference. Properties and parameters of this type are declared with the class `C`.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
/// use alcedo_runtime::native::{Obj, Object};
///
/// let runtime = Runtime::builder().build()?;
/// let player: Obj<Object> = runtime.objects().spawn_as()?;
/// assert_eq!(Obj::new(player.handle()), player);
/// assert!(Obj::<Object>::none().is_none());
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
pub struct Obj<C>(ObjectHandle, PhantomData<fn() -> C>);

alcedo_abi::copies! { impl[C] Obj<C>; }

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
    /// Returns a null reference.
    #[must_use]
    pub const fn none() -> Self {
        Self::new(ObjectHandle::NONE)
    }

    /// Returns `true` for a null reference.
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.0.is_none()
    }

    /// Creates a reference to the object with this handle. Each use checks the class.
    pub const fn new(object: ObjectHandle) -> Self {
        Self(object, PhantomData)
    }

    /// Returns the handle.
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
