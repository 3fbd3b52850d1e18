//! What the core calls when it is the turn of code above it: hooks of native classes. Classes and functions carry them, and
//! lie far below the world that the hooks look at. So a hook is not given the world by its type, but a context that only the
//! world itself can make and read.
#![expect(unsafe_code, reason = "a reference to the world goes by, without its type")]

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::rc::Rc;

use alcedo_base::handles::ObjectHandle;

/// The world that a hook is called for. [`World::of`](crate::World::of) is the way back.
#[derive(Clone, Copy, Debug)]
pub struct HookContext<'a> {
    world: NonNull<()>,
    lent: PhantomData<&'a ()>,
}

impl<'a> HookContext<'a> {
    /// The context of `world`.
    ///
    /// # Safety
    /// `world` is the [`World`](crate::World).
    #[inline]
    pub(super) unsafe fn new<T>(world: &'a T) -> Self {
        Self { world: NonNull::from(world).cast(), lent: PhantomData }
    }

    /// The world.
    ///
    /// # Safety
    /// `T` is the [`World`](crate::World).
    #[inline]
    pub(super) unsafe fn world<T>(self) -> &'a T {
        // SAFETY: `new` was given a reference to a value of this type for this lifetime, as it and the caller promise.
        unsafe { self.world.cast().as_ref() }
    }
}

/// A step of the birth of native objects, run by the host. An error ends the birth.
pub(crate) type NativeHook = Rc<dyn Fn(HookContext<'_>, ObjectHandle) -> Result<(), String>>;

/// The end of a native object begins, and nothing of it has ended.
pub(crate) type EndHook = Rc<dyn Fn(HookContext<'_>, ObjectHandle)>;

/// How a native class tells what its objects refer to beside their properties. It is called with no store borrowed; what it
/// writes, makes and roots is looked at as if it happened between two slices.
pub(crate) type AddReferences = Rc<dyn Fn(HookContext<'_>, ObjectHandle, &mut dyn FnMut(ObjectHandle))>;
