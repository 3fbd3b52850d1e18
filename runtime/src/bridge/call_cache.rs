//! Call cache for repeated typed calls of one method by host code. For each recently used class, the cache contains a target: the fast path
//! into a module, or a host function. The cache calls the body of a host function without a parameter block.

use std::cell::Cell;
use std::rc::{Rc, Weak};

use alcedo_abi::zcall::{Slot, SlotType};

use crate::boundary::CallError;
use crate::bridge::callees::DirectMaker;
use crate::bridge::core::Core;
use crate::bridge::direct::MethodCall;
use crate::bridge::fast_paths::{CLASSES, Called, FastPaths, MethodFastPath, entry_of};
use crate::bridge::slots;
use crate::cells::RefCell;
use crate::handles::{ClassId, ObjectHandle};
use crate::object::World;
use crate::object::function::Function;
use crate::object::native_value::{NativeResult, SlotRow};
use crate::zcall::buffer::BufferMut;

/// Cached targets of one method. Keeps no function and no module alive. Game thread only.
#[derive(Debug, Default)]
pub(crate) struct CallCache {
    /// Fast paths into modules, indexed by the low bits of the class id.
    pub by_class: [Cell<Option<MethodFastPath>>; CLASSES],
    /// Host functions, indexed like `by_class`.
    own: RefCell<[Option<OwnTarget>; CLASSES]>,
    /// Failed resolutions, indexed like `by_class`. Each entry contains the epoch of the resolution, and the class.
    none: [Cell<Option<(u64, ClassId)>>; CLASSES],
}

/// Host function that is the target for objects of one class.
#[derive(Debug)]
struct OwnTarget {
    resolved_at: u64,
    class: ClassId,
    function: Weak<Function>,
}

impl CallCache {
    pub(crate) fn forget(&self) {
        self.by_class.iter().for_each(|entry| entry.set(None));
        *self.own.borrow_mut() = Default::default();
        self.none.iter().for_each(|entry| entry.set(None));
    }

    #[inline]
    pub(crate) fn has_target(&self, fast_paths: &FastPaths, object: ObjectHandle) -> bool {
        let Some(entry) = fast_paths.columns().find(object) else { return false };
        match entry_of(&self.by_class, entry.class).get() {
            Some(fast_path) => fast_path.class() == entry.class && fast_paths.are_open(fast_path.resolved_at()),
            None => self.own_of(fast_paths, entry.class).is_some(),
        }
    }

    /// Calls the method with [plain](is_plain) Rust types on an object with a cached target. If the conversion of the arguments has
    /// invalidated the target, calls the function that `function` returns, on the slow path. Returns the error of the callee.
    #[inline]
    pub(crate) fn call_typed<A: SlotRow, R: NativeResult>(
        &self,
        (fast_paths, world): (&FastPaths, &World),
        object: ObjectHandle,
        arguments: A,
        clean_up: impl FnOnce(usize),
        function: impl FnOnce() -> Result<Rc<Function>, CallError>,
    ) -> Result<R, CallError> {
        let mut slots = arguments.into_slots();
        let slots = slots.as_mut();
        let slot = match self.call(fast_paths, world, object, &slots[..A::COUNT], clean_up) {
            Some(Ok(bits)) => result_slot::<R>(bits),
            Some(Err(error)) => return Err(*error),
            None => {
                let slots = &mut slots[..A::COUNT + usize::from(R::VALUE.is_some())];
                call_with_slots(world, &*function()?, object, slots)?;
                slots.last().copied().unwrap_or(Slot::EMPTY)
            }
        };
        R::from_slot(slot).ok_or_else(other_result)
    }

    /// Calls the method on an object if the target is cached, with the arguments in `slots`. Calls `clean_up` if deferred operations remain
    /// when the red frame closes. The caller keeps the host alive during the call.
    #[inline]
    pub(crate) fn call(
        &self,
        fast_paths: &FastPaths,
        world: &World,
        object: ObjectHandle,
        slots: &[Slot],
        clean_up: impl FnOnce(usize),
    ) -> Called {
        match fast_paths.call_on(&self.by_class, object, slots, clean_up) {
            None => self.call_own(fast_paths, world, object, slots),
            called => called,
        }
    }

    /// Calls a cached host function. Panics of the function body propagate.
    #[inline]
    pub(crate) fn call_own(
        &self,
        fast_paths: &FastPaths,
        world: &World,
        object: ObjectHandle,
        slots: &[Slot],
    ) -> Called {
        let function = self.own_of(fast_paths, fast_paths.columns().find(object)?.class)?;
        let body = function.black_code.as_ref()?.downcast_ref::<DirectMaker>()?.body();
        let _call = match world.stack.enter(&format_args!("{} of {object}", function.path)) {
            Ok(call) => call,
            Err(error) => return Some(Err(Box::new(error))),
        };
        let _held = world.stack.hold(Some(object));
        Some(body(world, object, slots).map(|slot| slot.bits()).map_err(Box::new))
    }

    fn own_of(&self, fast_paths: &FastPaths, class: ClassId) -> Option<Rc<Function>> {
        let own = self.own.borrow();
        let own = own[class.0 as usize % CLASSES].as_ref().filter(|own| own.class == class)?;
        if fast_paths.are_open(own.resolved_at) { own.function.upgrade() } else { None }
    }

    /// Checks if a fast path for the object's class is possible. Returns `false` while calls are reported to the watchdog, before the
    /// commit of a reload, and while a slice is borrowed. Also returns `false` if the resolution has already failed in this epoch.
    pub(crate) fn may_resolve(&self, fast_paths: &FastPaths, object: ObjectHandle) -> bool {
        let count = fast_paths.epoch().count();
        let Some(entry) = fast_paths.columns().find(object).filter(|_| fast_paths.are_open(count)) else {
            return false;
        };
        entry_of(&self.none, entry.class).get() != Some((count, entry.class))
    }

    /// Resolves the target of `method` for the object's class. Caches the fast path or the host function, if one exists.
    pub(crate) fn resolve(&self, core: &Core, method: Option<&MethodCall>, object: ObjectHandle) {
        let Some(class) = core.world.objects.class_id(object) else { return };
        let fast_path = method.and_then(|method| method.fast_path(core, object));
        let own = method.filter(|_| fast_path.is_none()).and_then(|method| OwnTarget::of(core, method, object, class));
        // Records no failure for a dormant object, because objects of its class that are not dormant may have a fast path.
        if fast_path.is_none() && own.is_none() && core.world.objects.waits_for(object).is_none() {
            entry_of(&self.none, class).set(Some((core.zcalls.epoch().count(), class)));
        }
        entry_of(&self.by_class, class).set(fast_path);
        self.own.borrow_mut()[class.0 as usize % CLASSES] = own;
    }
}

/// Calls this function on an object through slots, ignoring overrides.
#[cold]
fn call_with_slots(
    world: &World,
    function: &Function,
    object: ObjectHandle,
    slots: &mut [Slot],
) -> Result<(), CallError> {
    slots::call(world, function, object, &mut BufferMut::over(slots), 0)
}

impl OwnTarget {
    fn of(core: &Core, method: &MethodCall, object: ObjectHandle, class: ClassId) -> Option<Self> {
        if core.world.mode.is_before_commit() {
            return None;
        }
        let function = method.target(core, object)?;
        function.black_code.as_ref()?.downcast_ref::<DirectMaker>()?;
        Some(Self { resolved_at: core.zcalls.epoch().count(), class, function: Rc::downgrade(&function) })
    }
}

/// Checks if calls with these Rust types can use fast paths. All values must fit in slots, and no argument may be an object, because the
/// class of an object must be checked.
pub(crate) const fn is_plain<A: SlotRow, R: NativeResult>() -> bool {
    A::IN_SLOTS && R::IN_SLOT && !A::FIRST_IS_OBJECT && !A::OTHERS_ARE_OBJECTS
}

/// Converts the machine word of a result to a slot.
#[inline]
pub(crate) fn result_slot<R: NativeResult>(bits: u64) -> Slot {
    match R::VALUE.and_then(|(kind, _)| SlotType::of_kind(kind)) {
        Some(kind) => Slot::from_bits(kind, bits),
        None => Slot::EMPTY,
    }
}

#[cold]
fn other_result() -> CallError {
    CallError::Buffer { message: "a function returned another type than its signature states".to_owned() }
}
