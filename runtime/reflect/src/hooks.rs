//! Hooks of native classes. The modules `class` and `function`, whose types store the hooks, do not depend on the module `world`. A hook
//! therefore receives an opaque context that only the world can create and read.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::rc::Rc;

use alcedo_base::boundary::CallError;
use alcedo_base::handles::ObjectHandle;

/// Context of a hook call. Refers to a world. [`World::of`](crate::World::of) returns that world.
#[derive(Clone, Copy, Debug)]
pub struct HookContext<'a> {
    world: NonNull<()>,
    borrow: PhantomData<&'a ()>,
}

/// Marker for the [`World`](crate::World), its only implementor.
pub(super) trait TheWorld {}

impl<'a> HookContext<'a> {
    #[inline]
    pub(super) fn new(world: &'a impl TheWorld) -> Self {
        Self { world: NonNull::from(world).cast(), borrow: PhantomData }
    }

    #[inline]
    pub(super) fn world(self) -> NonNull<()> {
        self.world
    }
}

/// Hook that runs a step in the construction of a native object. An error fails the construction.
pub(crate) type NativeHook = Rc<dyn Fn(HookContext<'_>, ObjectHandle) -> Result<(), String>>;

/// Hook that runs before a native object is destroyed. The object is still complete during the hook.
pub(crate) type EndHook = Rc<dyn Fn(HookContext<'_>, ObjectHandle)>;

/// Hook that reports the references of an object of a native class, except the references in properties. No store is borrowed during the
/// call. During a mark phase, the writes, new objects and new roots of the hook are tracked, like those of any code between two slices of
/// the mark. An error means that some references are unknown.
pub(crate) type AddReferences =
    Rc<dyn Fn(HookContext<'_>, ObjectHandle, &mut dyn FnMut(ObjectHandle)) -> Result<(), CallError>>;
