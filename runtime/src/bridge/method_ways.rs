//! What host code keeps of a method that it calls over and over by Rust types: for the classes of the last objects either the way into the
//! module that answers, or the host's own function that does, whose body is called with the words and without a parameter block.

use std::cell::Cell;
use std::rc::{Rc, Weak};

use alcedo_abi::zcall::{Slot, SlotType};

use crate::border::CallError;
use crate::bridge::callees::DirectMaker;
use crate::bridge::core::Core;
use crate::bridge::direct::MethodCall;
use crate::bridge::slots;
use crate::bridge::ways::{CLASSES, Called, MethodWay, Ways, place_of};
use crate::cells::RefCell;
use crate::handles::{ClassId, ObjectHandle};
use crate::object::World;
use crate::object::function::Function;
use crate::object::native_value::{NativeResult, SlotRow};
use crate::zcall::buffer::BufferMut;

/// The ways into what answers calls of one method. It keeps nothing alive. Game thread only.
#[derive(Debug, Default)]
pub(crate) struct MethodWays {
    /// Each at the place of its class's number.
    by_class: [Cell<Option<MethodWay>>; CLASSES],
    /// Where the host itself answers, in the same places.
    own: RefCell<[Option<OwnWay>; CLASSES]>,
    /// Where no short way was found, in the same places: the class, and the count of the stamp then.
    none: [Cell<Option<(u64, ClassId)>>; CLASSES],
}

/// A function of the host's own that answers for objects of one class.
#[derive(Debug)]
struct OwnWay {
    looked: u64,
    class: ClassId,
    function: Weak<Function>,
}

impl MethodWays {
    /// The ways into modules.
    #[inline]
    pub(crate) fn by_class(&self) -> &[Cell<Option<MethodWay>>; CLASSES] {
        &self.by_class
    }

    /// Forgets what was looked up.
    pub(crate) fn forget(&self) {
        self.by_class.iter().for_each(|place| place.set(None));
        *self.own.borrow_mut() = Default::default();
        self.none.iter().for_each(|place| place.set(None));
    }

    /// Whether a call on the object goes a way that is kept, as things stand.
    #[inline]
    pub(crate) fn have(&self, ways: &Ways, object: ObjectHandle) -> bool {
        let Some(entry) = ways.columns().find(object) else { return false };
        match place_of(&self.by_class, entry.class).get() {
            Some(way) => way.class() == entry.class && ways.are_open(way.looked()),
            None => self.own_of(ways, entry.class).is_some(),
        }
    }

    /// Calls the method by Rust types that are [plain](is_plain) on an object, of which it was seen that they have a way. `function` finds
    /// it again where making the arguments has changed what was kept.
    ///
    /// # Errors
    /// What it fails with.
    #[inline]
    pub(crate) fn call_typed<A: SlotRow, R: NativeResult>(
        &self,
        (ways, world): (&Ways, &World),
        object: ObjectHandle,
        arguments: A,
        settle: impl FnOnce(usize),
        function: impl FnOnce() -> Result<Rc<Function>, CallError>,
    ) -> Result<R, CallError> {
        let mut slots = arguments.into_slots();
        let slots = slots.as_mut();
        let given = match self.call(ways, world, object, &slots[..A::COUNT], settle) {
            Some(Ok(bits)) => result_slot::<R>(bits),
            Some(Err(error)) => return Err(*error),
            None => {
                let slots = &mut slots[..A::COUNT + usize::from(R::VALUE.is_some())];
                call_with_slots(world, &*function()?, object, slots)?;
                slots.last().copied().unwrap_or(Slot::EMPTY)
            }
        };
        R::from_slot(given).ok_or_else(other_result)
    }

    /// Calls the method on an object, if that way is kept. The words are those of the slots. `settle` is called where a red frame
    /// leaves something to be done. The caller keeps the host there meanwhile.
    #[inline]
    pub(crate) fn call(
        &self,
        ways: &Ways,
        world: &World,
        object: ObjectHandle,
        slots: &[Slot],
        settle: impl FnOnce(usize),
    ) -> Called {
        match ways.call_on(&self.by_class, object, slots, settle) {
            None => self.call_own(ways, world, object, slots),
            called => called,
        }
    }

    /// The same where the host itself answers. A panic of the body goes through it.
    #[inline]
    pub(crate) fn call_own(&self, ways: &Ways, world: &World, object: ObjectHandle, slots: &[Slot]) -> Called {
        let function = self.own_of(ways, ways.columns().find(object)?.class)?;
        let body = function.black_code.as_ref()?.downcast_ref::<DirectMaker>()?.body();
        let _call = match world.stack.enter(&format_args!("{} of {object}", function.path)) {
            Ok(call) => call,
            Err(error) => return Some(Err(Box::new(error))),
        };
        let _held = world.stack.hold(Some(object));
        Some(body(world, object, slots).map(|slot| slot.bits()).map_err(Box::new))
    }

    fn own_of(&self, ways: &Ways, class: ClassId) -> Option<Rc<Function>> {
        let own = self.own.borrow();
        let own = own[class.0 as usize % CLASSES].as_ref().filter(|own| own.class == class)?;
        if ways.are_open(own.looked) { own.function.upgrade() } else { None }
    }

    /// Whether there may be a short way for objects of the class of this one, as things stand: calls are not watched, no commit is
    /// awaited, and none was looked for in vain.
    pub(crate) fn are_worth_a_look(&self, ways: &Ways, object: ObjectHandle) -> bool {
        let count = ways.stamp().count();
        let Some(entry) = ways.columns().find(object).filter(|_| ways.are_open(count)) else { return false };
        place_of(&self.none, entry.class).get() != Some((count, entry.class))
    }

    /// Notes the way for objects of the class of this one, for the next call: to what answers calls of `method`, if there is a short one.
    pub(crate) fn look(&self, core: &Core, method: Option<&MethodCall>, object: ObjectHandle) {
        let Some(class) = core.world.objects.class_id(object) else { return };
        let way = method.and_then(|method| method.way(core, object));
        let own = method.filter(|_| way.is_none()).and_then(|method| OwnWay::of(core, method, object, class));
        // An object that sleeps has no way; others of its class may.
        if way.is_none() && own.is_none() && core.world.objects.waits_for(object).is_none() {
            place_of(&self.none, class).set(Some((core.zcalls.stamp().count(), class)));
        }
        place_of(&self.by_class, class).set(way);
        self.own.borrow_mut()[class.0 as usize % CLASSES] = own;
    }
}

/// Calls exactly this function on an object the long way.
#[cold]
fn call_with_slots(
    world: &World,
    function: &Function,
    object: ObjectHandle,
    slots: &mut [Slot],
) -> Result<(), CallError> {
    slots::call(world, function, object, &mut BufferMut::over(slots), 0)
}

impl OwnWay {
    fn of(core: &Core, method: &MethodCall, object: ObjectHandle, class: ClassId) -> Option<Self> {
        if core.world.mode.is_before_commit() {
            return None;
        }
        let function = method.target(core, object)?;
        function.black_code.as_ref()?.downcast_ref::<DirectMaker>()?;
        Some(Self { looked: core.zcalls.stamp().count(), class, function: Rc::downgrade(&function) })
    }
}

/// Whether calls by these Rust types may go short ways: all that they take and give lies in slots, and no class of an object is to be
/// compared.
pub(crate) const fn is_plain<A: SlotRow, R: NativeResult>() -> bool {
    A::IN_SLOTS && R::IN_SLOT && !A::FIRST_IS_OBJECT && !A::OTHERS_ARE_OBJECTS
}

/// The word of a result as the slot that it would be in.
#[inline]
pub(crate) fn result_slot<R: NativeResult>(bits: u64) -> Slot {
    match R::VALUE.and_then(|(kind, _)| SlotType::of_kind(kind)) {
        Some(kind) => Slot::from_bits(kind, bits),
        None => Slot::EMPTY,
    }
}

#[cold]
fn other_result() -> CallError {
    CallError::Buffer { message: "a function gave another result than its signature says".to_owned() }
}
