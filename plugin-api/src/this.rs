//! The type [`This`], through which all plugin code accesses objects. A trampoline creates a [`This`] when the host calls. The value cannot
//! outlive this call: code cannot store it in a field, send it to a thread, or use it in a finalizer.
#![expect(unsafe_code, reason = "follows the memory of objects, and casts between a frame-bound value and its views")]

use core::marker::PhantomData;
use core::ops::Deref;

use alcedo_abi::handles::ObjectHandle;
use alcedo_rt::CallError;

use crate::class::{Class, Part};
use crate::part_cell::PartCell;
use crate::step::Step;
use crate::{Obj, Object, host};

/// Object of class `C` for the duration of one call `'f` from the host. The type is not `Send`, so the value remains on the game thread.
///
/// Dereferences to the view of its class, which has accessors for the properties and methods for the functions of the class. A view
/// dereferences to the view of the base class, up to [`crate::ObjectView`].
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
///
/// #[uclass(package = "Game")]
/// #[derive(Default)]
/// pub struct Door {
///     #[uproperty]
///     is_open: bool,
/// }
///
/// #[uclass]
/// impl Door {
///     #[ufunction(blueprint_callable)]
///     fn toggle(&mut self, this: This<Self>) -> bool {
///         this.set_is_open(!this.is_open());
///         this.is_open()
///     }
/// }
/// # fn main() {}
/// ```
#[repr(C)]
pub struct This<'f, C> {
    pub(crate) object: ObjectHandle,
    // The raw pointer also makes the type `!Send`. The host keeps the memory during the frame.
    pub(crate) memory: *mut u8,
    frame: PhantomData<&'f ()>,
    class: PhantomData<fn() -> C>,
}

/// Trait that no type implements. [`This`] is `Send` and `Sync` only under this bound, so that the compiler prints the message below if
/// code violates the bound.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` stays on the game thread, in the call that it was made for",
    label = "a field, a thread or a task outlives the call, and objects are used on the game thread only",
    note = "keep `this.as_obj()`, and post a closure back: `task::post_to(object, |this| …)`; on another thread a plugin posts, logs with \
            `tracing`, and drops what it owns"
)]
pub trait OnAnyThread {}

// SAFETY: no type implements `OnAnyThread`, and the path of the trait is private, so no `This` is `Send` or `Sync`.
unsafe impl<C> Send for This<'_, C> where Self: OnAnyThread {}
// SAFETY: no type implements `OnAnyThread`, as stated above.
unsafe impl<C> Sync for This<'_, C> where Self: OnAnyThread {}

alcedo_abi::copies! { impl[C] This<'_, C>; }

impl<C: Class> core::fmt::Debug for This<'_, C> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} {}", C::PATH, self.object)
    }
}

impl<'f, C: Class> This<'f, C> {
    /// # Safety
    /// `object` is a living object of class `C` or a subclass, and `memory` is its memory. The memory stays readable during `'f`. The
    /// lifetime `'f` ends when the host's current call on this thread returns.
    pub(crate) unsafe fn new(object: ObjectHandle, memory: *mut u8) -> Self {
        Self { object, memory, frame: PhantomData, class: PhantomData }
    }

    /// Returns a view of the object to which `obj` refers. The view is valid for the rest of the running call.
    ///
    /// # Errors
    /// Fails with `STALE` for a destroyed object, or with `WRONG_CLASS` if an unchecked handle refers to an object whose class is neither
    /// `T` nor a subclass.
    #[inline]
    pub(crate) fn other<T: Class>(&self, obj: Obj<T>) -> Result<This<'f, T>, CallError> {
        // If the object's class is exactly `T`, no host call is needed. Only the host can check if the class is a subclass.
        let memory = match host::entry(obj.handle()) {
            Some(entry) if T::id() == entry.class || T::id().0 == 0 => entry.memory,
            _ => host::object_memory(obj.handle(), T::id())?,
        };
        // SAFETY: the host found the object alive and of this class.
        // The host keeps its memory until the safe point, which is after the running call of `'f`.
        Ok(unsafe { This::new(obj.handle(), memory) })
    }

    pub(crate) fn object(&self) -> ObjectHandle {
        self.object
    }

    /// Returns a handle of the object, which may outlive the call.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// /// Plugin part that stores another object beyond the call.
    /// #[derive(Default)]
    /// struct Memory {
    ///     last_visitor: Obj<Object>,
    /// }
    ///
    /// fn visit(memory: &mut Memory, visitor: This<'_, Object>) {
    ///     memory.last_visitor = visitor.as_obj();
    /// }
    /// ```
    #[must_use]
    pub fn as_obj(self) -> Obj<C> {
        Obj::from_handle(self.object)
    }

    /// Casts the object to its base class.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// #[uclass(package = "Game")]
    /// #[derive(Default)]
    /// pub struct Tool {
    ///     #[uproperty(default = 1.0)]
    ///     wear: f64,
    /// }
    /// #[uclass(package = "Game", base = Tool)]
    /// #[derive(Default)]
    /// pub struct Hammer {}
    ///
    /// fn repair(tool: This<'_, Tool>) {
    ///     tool.set_wear(0.0);
    /// }
    /// fn show(hammer: This<'_, Hammer>) {
    ///     repair(hammer.as_base());
    /// }
    /// ```
    #[must_use]
    pub fn as_base(self) -> This<'f, C::Base> {
        This { object: self.object, memory: self.memory, frame: PhantomData, class: PhantomData }
    }

    pub(crate) fn base_ref(&self) -> &This<'f, C::Base> {
        let this: *const Self = self;
        // SAFETY: `This` is `repr(C)` and its class is only a marker, so both types have equal layouts.
        // `Class` promises that the object is also an object of the base class.
        unsafe { &*this.cast() }
    }
}

impl<C: Class> Obj<C> {
    /// Runs `code` with the object in a step of a job.
    ///
    /// # Errors
    /// Fails with `WRONG_STACK` on the stack of a coroutine, or with the errors of [`This::other`].
    pub(crate) fn with_in<R>(self, _step: Step, code: impl FnOnce(This<'_, C>) -> R) -> Result<R, CallError> {
        alcedo_rt::may_open_scope("entering an object")?;
        let memory = host::object_memory(self.handle(), C::id())?;
        // SAFETY: the host found the object alive and of this class.
        // A step of a job runs in a red frame of the host, and the host keeps the memory until the safe point that follows.
        Ok(code(unsafe { This::new(self.handle(), memory) }))
    }
}

impl<'f, C: Part> This<'f, C> {
    /// Returns the plugin part that this module created for the object. Returns `None` if the module created no part.
    pub(crate) fn part(&self) -> Result<Option<&'f PartCell<C>>, CallError> {
        let cell = host::part(self.object, C::id())?;
        // SAFETY: the host returns the address that this module's red constructor created for this object and class.
        // The object owns the plugin part and is alive during the frame.
        Ok(unsafe { cell.0.cast::<PartCell<C>>().as_ref() })
    }

    /// Calls PostInitProperties of the closest base class that a plugin declares with this hook. The host calls only the hook of the most
    /// derived class, so a hook that extends the hook of its base calls this method. Has no effect if no base has the hook.
    ///
    /// If the hook of the base fails, the running call fails.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// #[uclass(package = "Game")]
    /// #[derive(Default)]
    /// pub struct Tool {
    ///     #[uproperty]
    ///     wear: f64,
    /// }
    ///
    /// #[uclass]
    /// impl Tool {
    ///     #[post_init_properties]
    ///     fn wear_in(&self, this: This<Self>) {
    ///         this.set_wear(1.0);
    ///     }
    /// }
    ///
    /// #[uclass(package = "Game", base = Tool)]
    /// #[derive(Default)]
    /// pub struct Hammer {}
    ///
    /// #[uclass]
    /// impl Hammer {
    ///     #[post_init_properties]
    ///     fn harden(&self, this: This<Self>) {
    ///         this.base_post_init_properties();
    ///         this.set_wear(this.wear() / 2.0);
    ///     }
    /// }
    /// # fn main() {}
    /// ```
    pub fn base_post_init_properties(self) {
        let host = host::host("base_post_init_properties");
        if let Err(error) = host.and_then(|host| host.base_post_init(self.object, C::id())) {
            alcedo_rt::fail(error);
        }
    }

    /// Runs `code` while functions that `code` calls may borrow the plugin part, although the running method borrows it exclusively. `part`
    /// is the `&mut self` of the running method. Use `lend` if a call in `code` may call a method of this object.
    ///
    /// Ends the running call with an error if `part` is not the plugin part of this object, and on a coroutine's stack. A `&self` method
    /// does not need `lend`, because any number of shared borrows may be active together.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// #[uclass(package = "Game")]
    /// #[derive(Default)]
    /// pub struct Counter {
    ///     count: u32,
    /// }
    ///
    /// #[uclass]
    /// impl Counter {
    ///     #[ufunction]
    ///     fn increment(&mut self, by: u32) -> u32 {
    ///         self.count += by;
    ///         self.count
    ///     }
    ///
    ///     #[ufunction]
    ///     fn increment_twice(&mut self, this: This<Self>) -> u32 {
    ///         // Without `lend`, each call fails with `REENTRANT_BORROW`.
    ///         this.lend(self, |this| this.increment(1));
    ///         this.lend(self, |this| this.increment(1))
    ///     }
    /// }
    /// # fn main() {}
    /// ```
    pub fn lend<R>(self, part: &mut C, code: impl FnOnce(Self) -> R) -> R {
        alcedo_rt::may_open_scope("lending a plugin part").unwrap_or_else(|error| alcedo_rt::fail(error));
        let cell = self.part().unwrap_or_else(|error| alcedo_rt::fail(error)).unwrap_or_else(|| {
            alcedo_rt::fail(CallError::other(format!("{}: no plugin part of {} to lend", self.object, C::PATH)))
        });
        cell.reborrow(self.object, part, || code(self)).unwrap_or_else(|error| alcedo_rt::fail(error))
    }
}

impl<'f, C: Class> Deref for This<'f, C> {
    type Target = C::View<'f>;

    fn deref(&self) -> &C::View<'f> {
        let this: *const Self = self;
        // SAFETY: `ClassView` promises that the view is transparent over `This<'f, C>`.
        unsafe { &*this.cast() }
    }
}

/// View of an object as an interface, for the rest of the running call. The creator of the view has checked that the object's class
/// implements the interface, and the host repeats this check in each call.
#[derive(Debug)]
pub struct InterfaceThis<'f, I> {
    object: This<'f, Object>,
    of: PhantomData<fn() -> I>,
}

alcedo_abi::copies! { impl[I] InterfaceThis<'_, I>; }

impl<'f, I> InterfaceThis<'f, I> {
    pub(crate) fn new(object: This<'f, Object>) -> Self {
        Self { object, of: PhantomData }
    }
}

impl<'f, I> Deref for InterfaceThis<'f, I> {
    type Target = This<'f, Object>;

    fn deref(&self) -> &This<'f, Object> {
        &self.object
    }
}
