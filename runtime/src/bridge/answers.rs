//! What answers a direct call of a function of objects, by the class of the object: the function's own native body, or a function of a
//! module. It is looked up once for each class, and good until the version of direct calls changes.
#![expect(unsafe_code, reason = "enters modules by ways that were looked up")]

use std::rc::Rc;

use alcedo_abi::black_direct::{DirectAnswer, DirectStatus};
use alcedo_abi::host::DirectoryEntry;
use alcedo_abi::kinds::property_flags;

use crate::bridge::black_direct::failed_with;
use crate::bridge::calls::{self, Dispatch};
use crate::bridge::core::Core;
use crate::bridge::direct::MethodCall;
use crate::bridge::ways::{Called, MethodWay, Ways, Words};
use crate::handles::{ClassId, ObjectHandle};
use crate::object::function::Function;
use crate::object::property::Property;
use crate::object::row::Row;
use crate::trap::caught;

/// No short way has more parameters.
const MOST: usize = 4;

/// What answers on objects of a class.
#[derive(Clone, Copy)]
pub(crate) enum Answer {
    /// The native body of the function itself.
    Itself,
    /// A function of a module, by this way.
    Module(MethodWay),
}

/// The same with the version under which it was looked up.
#[derive(Clone, Copy)]
struct Known {
    version: u64,
    answer: Answer,
}

/// Of a class that was not looked up: no version is that high.
const NOT_KNOWN: Known = Known { version: u64::MAX, answer: Answer::Itself };

/// What answers calls of a function. Game thread only.
pub(crate) struct Answers {
    function: Rc<Function>,
    /// Finds ways into modules, where there may be such.
    call: Option<MethodCall>,
    /// Whether the function has a native body that may be called directly.
    is_native: bool,
    /// By the number of a class.
    known: Row<Known>,
}

impl Answers {
    /// Those of an event with a native body, for calls of that sort; none of a function that answers itself on every object.
    pub(super) fn of_event(function: &Rc<Function>, dispatch: Dispatch) -> Option<Self> {
        let may_be_overridden = dispatch == Dispatch::Virtual && function.vslot.is_some();
        may_be_overridden.then(|| Self::new(function, dispatch, true))
    }

    /// Those of a function of a module, for calls of that sort; none where no way is short: something does not lie in a slot, there are too
    /// many parameters, or it needs no object.
    pub(super) fn of_module(function: &Rc<Function>, dispatch: Dispatch) -> Option<Self> {
        Some(Self::new(function, dispatch, false)).filter(|answers| answers.call.is_some())
    }

    fn new(function: &Rc<Function>, dispatch: Dispatch, is_native: bool) -> Self {
        let is_plain =
            |property: &Property| property.ty.kind().fits_slot() && property.flags & property_flags::OUT == 0;
        let fits = function.params.iter().all(is_plain) && function.arguments().len() <= MOST;
        let call = (fits && !calls::is_static(function)).then(|| MethodCall::new(function, dispatch));
        Self { function: Rc::clone(function), call, is_native, known: Row::new(NOT_KNOWN) }
    }

    /// What answers on objects of a class; none where that is not known.
    #[inline(always)]
    pub(crate) fn known(&self, ways: &Ways, class: ClassId) -> Option<Answer> {
        let known = self.known.get(class.0)?;
        ways.is_version(known.version).then_some(known.answer)
    }

    /// What answers on an object, looked up; none where the object is gone, no way is short, or no direct call may be made now.
    #[cold]
    pub(crate) fn look(&self, core: &Core, object: ObjectHandle) -> Option<Answer> {
        let (class, version) = (core.world.objects.class(object)?, core.ways.version()?);
        let answer = if self.is_native && Rc::ptr_eq(class.dispatch(&self.function), &self.function) {
            Answer::Itself
        } else {
            core.ways.version_of_ways()?;
            let way = self.call.as_ref()?.way(core, object)?;
            // The caller has the words of this function, so an override has to take as many.
            Answer::Module(way.takes(self.function.arguments().len()).then_some(way)?)
        };
        while self.known.count() <= class.id.0 {
            self.known.push();
        }
        self.known.set(class.id.0, Known { version, answer });
        Some(answer)
    }
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
