//! What answers a direct call of a function of objects, by the class of the object: the function's own native body, or a function of a
//! module. It is looked up once for each class, and good until the version of direct calls changes.
#![expect(unsafe_code, reason = "enters modules by ways that were looked up")]

use std::any::Any;
use std::rc::Rc;

use alcedo_abi::direct::{DirectAnswer, DirectStatus, MOST_WORDS};
use alcedo_abi::host::DirectoryEntry;
use alcedo_abi::kinds::property_flags;
use alcedo_abi::zcall::Slot;

use crate::border::CallError;
use crate::bridge::black_direct::failed_with;
use crate::bridge::calls::{self, Dispatch};
use crate::bridge::core::Core;
use crate::bridge::direct::MethodCall;
use crate::bridge::ways::{Called, MethodWay, Ways, Words};
use crate::handles::{ClassId, ObjectHandle};
use crate::object::World;
use crate::object::function::Function;
use crate::object::property::Property;
use crate::object::row::Row;
use crate::trap::caught;
use crate::zcall::black_code::BlackCode;

/// What answers on objects of a class.
#[derive(Clone, Copy)]
pub(crate) enum Callee {
    /// The native body of the function itself.
    Itself,
    /// A function of a module, by this way.
    Module(MethodWay),
    /// Something that is called with slots, such as an override in a script.
    WithSlots,
}

/// The same with the class, and the version under which it was looked up.
#[derive(Clone, Copy)]
struct Known {
    version: u64,
    class: ClassId,
    callee: Callee,
}

/// A place that nothing is known at: no version is that high.
const NOTHING: Known = Known { version: u64::MAX, class: ClassId::NONE, callee: Callee::Itself };

/// What is known at first has so many places; a power of two.
const FEW: u32 = 8;

/// And so many at most.
const MANY: u32 = 1024;

/// What was looked up. Classes get new numbers in each reload, so they share places; there are more of these when two classes of one version
/// would have the same.
struct KnownCallees(Row<Known>);

impl KnownCallees {
    fn new() -> Self {
        Self(Row::new(NOTHING))
    }

    /// What was looked up last for a class, if it is still there.
    #[inline(always)]
    fn of(&self, class: ClassId) -> Option<Known> {
        self.0.get(self.place(class)).filter(|known| known.class == class)
    }

    /// The place of a class; as long as there are no places, one that is not there.
    #[inline(always)]
    fn place(&self, class: ClassId) -> u32 {
        class.0 & self.0.count().wrapping_sub(1)
    }

    fn keep(&self, found: Known) {
        let is_taken = |known: Known| known.version == found.version && known.class != found.class;
        let more = match self.0.get(self.place(found.class)) {
            None => FEW,
            // Those that have another place then are looked up again.
            Some(known) if is_taken(known) && self.0.count() < MANY => self.0.count(),
            Some(_) => 0,
        };
        (0..more).for_each(|_| self.0.push());
        self.0.set(self.place(found.class), found);
    }
}

/// What answers calls of a function. Game thread only.
pub(crate) struct Callees {
    function: Rc<Function>,
    /// Finds ways into modules, where there may be such.
    call: Option<MethodCall>,
    /// Whether the function has a native body that may be called directly.
    is_native: bool,
    known: KnownCallees,
}

impl Callees {
    /// Those of an event with a native body, for calls of that sort; none of a function that answers itself on every object.
    pub(super) fn of_event(function: &Rc<Function>, dispatch: Dispatch) -> Option<Self> {
        let may_be_overridden = dispatch == Dispatch::Virtual && function.vslot.is_some();
        may_be_overridden.then(|| Self::new(function, dispatch, true))
    }

    /// Those of a function of a module, for calls of that sort; none where no way is short: something does not lie in a slot, there are too
    /// many parameters, or it needs no object.
    pub(super) fn of_module(function: &Rc<Function>, dispatch: Dispatch) -> Option<Self> {
        Some(Self::new(function, dispatch, false)).filter(|callees| callees.call.is_some())
    }

    fn new(function: &Rc<Function>, dispatch: Dispatch, is_native: bool) -> Self {
        let is_plain =
            |property: &Property| property.ty.kind().fits_slot() && property.flags & property_flags::OUT == 0;
        let fits = function.params.iter().all(is_plain) && function.arguments().len() <= MOST_WORDS;
        let call = (fits && !calls::is_static(function)).then(|| MethodCall::new(function, dispatch));
        Self { function: Rc::clone(function), call, is_native, known: KnownCallees::new() }
    }

    /// What answers on objects of a class; none where that is not known.
    #[inline(always)]
    pub(crate) fn known(&self, ways: &Ways, class: ClassId) -> Option<Callee> {
        let known = self.known.of(class)?;
        ways.is_version(known.version).then_some(known.callee)
    }

    /// What answers on an object, looked up; none where the object is gone or sleeps, or no direct call may be made now.
    #[cold]
    pub(crate) fn look(&self, core: &Core, object: ObjectHandle) -> Option<Callee> {
        let (class, version) = (core.world.objects.class(object)?, core.ways.version()?);
        let callee = if self.is_native && Rc::ptr_eq(class.dispatch(&self.function), &self.function) {
            Callee::Itself
        } else {
            core.ways.version_of_ways()?;
            // Other objects of the class of one that sleeps may have a way.
            if core.world.objects.waits_for(object).is_some() {
                return None;
            }
            let way = self.call.as_ref().and_then(|call| call.way(core, object));
            // The caller has the words of this function, so an override has to take as many.
            let way = way.filter(|way| way.takes(self.function.arguments().len()));
            way.map_or(Callee::WithSlots, Callee::Module)
        };
        self.known.keep(Known { version, class: class.id, callee });
        Some(callee)
    }
}

/// What a native function has beside its thunk, as reflection keeps it for the floors above: it makes the code for one resolved name,
/// and has the body as the host itself calls it.
pub(crate) struct DirectMaker {
    make: Box<Make>,
    body: Box<OwnBody>,
}

/// With what callees by class, where that is not always the function itself.
type Make = dyn Fn(&Rc<Core>, Option<Callees>) -> BlackCode;

/// Runs the body of a native function on an object, with the slots of its parameters, which are of the kinds that it has. What it
/// gives is the slot of the result. A panic goes through it.
pub(crate) type OwnBody = dyn Fn(&World, ObjectHandle, &[Slot]) -> Result<Slot, CallError>;

impl DirectMaker {
    /// One that makes it so, as a function keeps it.
    pub(crate) fn kept(
        make: impl Fn(&Rc<Core>, Option<Callees>) -> BlackCode + 'static,
        body: impl Fn(&World, ObjectHandle, &[Slot]) -> Result<Slot, CallError> + 'static,
    ) -> Rc<dyn Any> {
        Rc::new(Self { make: Box::new(make), body: Box::new(body) })
    }

    /// The body.
    #[inline]
    pub(crate) fn body(&self) -> &OwnBody {
        &*self.body
    }
}

/// The code of a function, if it has any, for calls of that sort.
pub(crate) fn direct_of(core: &Rc<Core>, function: &Rc<Function>, dispatch: Dispatch) -> Option<BlackCode> {
    let maker = function.black_code.as_ref()?.downcast_ref::<DirectMaker>()?;
    Some((maker.make)(core, Callees::of_event(function, dispatch)))
}

/// Calls a function of a module on an object, which has this entry. `settle` is called where the frame leaves something to be done.
///
/// # Safety
/// The way was found for the class of the entry, and nothing has changed since; the entry is that of the object, looked up just now; there
/// are as many words as the function takes for which the way was looked up.
#[inline(always)]
pub(crate) unsafe fn enter_on(
    ways: &Ways,
    way: MethodWay,
    (object, entry): (ObjectHandle, DirectoryEntry),
    words: impl Words,
    settle: impl FnOnce(usize),
) -> DirectAnswer {
    // SAFETY: promised by the caller.
    answer_of(unsafe { ways.enter_on(way, (object, entry.memory), words, settle) })
}

/// The answer of a call that came to this.
#[inline(always)]
pub(super) fn answer_of(called: Called) -> DirectAnswer {
    match called {
        Some(Ok(bits)) => DirectAnswer::done(bits),
        Some(Err(error)) => failed_with(error),
        None => DirectAnswer::without(DirectStatus::NOT_DONE),
    }
}

/// Does what is left when the red frame of a direct call has closed. The call is over, so a panic of what waited for that is no failure of it.
#[cold]
#[inline(never)]
pub(crate) fn settle(core: &Core, lent: usize) {
    if let Err(message) = caught(|| core.red.settle(lent)) {
        tracing::error!(message, "what waited for the end of a call from a plugin panicked");
    }
}

#[cfg(test)]
mod tests {
    use super::{Callee, FEW, Known, KnownCallees, MANY};
    use crate::handles::ClassId;

    #[test]
    fn classes_of_one_version_have_places_of_their_own_and_those_of_earlier_ones_make_room() {
        let known = KnownCallees::new();
        assert!(known.of(ClassId(0)).is_none() && known.of(ClassId(7)).is_none());
        let keep = |version, class| known.keep(Known { version, class: ClassId(class), callee: Callee::Itself });
        let version = |class| known.of(ClassId(class)).map(|known| known.version);
        // A class that is declared anew in each of many reloads: its numbers are far apart.
        for reload in 1..=1000_u32 {
            keep(reload.into(), reload * 1000);
            assert_eq!(version(reload * 1000), Some(reload.into()));
        }
        assert_eq!(known.0.count(), FEW);
        // Many classes at once, each of which is asked for again and again.
        for _ in 0..12 {
            (0..200).filter(|class| version(*class) != Some(2000)).for_each(|class| keep(2000, class));
        }
        assert!((0..200).all(|class| version(class) == Some(2000)));
        for class in 0..5000 {
            keep(3000, class);
        }
        assert_eq!(known.0.count(), MANY);
        assert_eq!((version(4999), version(4999 - MANY)), (Some(3000), None));
    }
}
