//! What the core calls when it is the turn of code above it: hooks of native classes. Classes and functions carry them, and
//! lie far below the world that the hooks look at. So a hook is not given the world by its type, but a context that only the
//! world itself can make and read.

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

/// What is the [`World`](crate::World), which alone says so.
pub(super) trait TheWorld {}

impl<'a> HookContext<'a> {
    /// The context of the world.
    #[inline]
    pub(super) fn new(world: &'a impl TheWorld) -> Self {
        Self { world: NonNull::from(world).cast(), lent: PhantomData }
    }

    /// Where the world lies.
    #[inline]
    pub(super) fn world(self) -> NonNull<()> {
        self.world
    }
}

/// A step of the construction of native objects, run by the host. An error ends the construction.
pub(crate) type NativeHook = Rc<dyn Fn(HookContext<'_>, ObjectHandle) -> Result<(), String>>;

/// The end of a native object begins, and nothing of it has ended.
pub(crate) type EndHook = Rc<dyn Fn(HookContext<'_>, ObjectHandle)>;

/// How a native class reports what its objects refer to beside their properties. It is called with no store borrowed;
/// what it writes, makes and roots is looked at as if it happened between two slices.
pub(crate) type AddReferences = Rc<dyn Fn(HookContext<'_>, ObjectHandle, &mut dyn FnMut(ObjectHandle))>;
