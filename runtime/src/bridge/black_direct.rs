//! How plugins call functions of the host without slots. What a native function has for it is made when a name of it is resolved;
//! errors wait here until the caller fetches them.

use std::any::Any;
use std::cell::Cell;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

use alcedo_abi::black_direct::{DirectAnswer, DirectStatus};
use alcedo_abi::zcall::Slot;

use crate::border::{CallError, trap};
use crate::bridge::calls::Dispatch;
use crate::bridge::core::Core;
use crate::bridge::module_code::MethodRoute;
use crate::cells::RefCell;
use crate::handles::{ClassId, ObjectHandle};
use crate::object::World;
use crate::object::function::Function;
use crate::object::native_value::NativeResult;
use crate::zcall::black_code::BlackCode;

thread_local! {
    /// Why the last direct call on this thread has failed.
    static FAILED: Cell<Option<CallError>> = const { Cell::new(None) };
}

/// What a native function has beside its thunk, as reflection keeps it for the floors above: it makes the code for one resolved name,
/// and has the body as the host itself calls it.
pub(crate) struct DirectMaker {
    make: Box<Make>,
    body: Box<OwnBody>,
}

type Make = dyn Fn(&Rc<Core>, Answering) -> BlackCode;

/// Runs the body of a native function on an object, with the slots of its parameters, which are of the kinds that it has. What it
/// gives is the slot of the result. A panic goes through it.
pub(crate) type OwnBody = dyn Fn(&World, ObjectHandle, &[Slot]) -> Result<Slot, CallError>;

impl DirectMaker {
    /// One that makes it so, as a function keeps it.
    pub(crate) fn kept(
        make: impl Fn(&Rc<Core>, Answering) -> BlackCode + 'static,
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
    Some((maker.make)(core, Answering::new(function, dispatch)))
}

/// For which objects a function answers itself. Game thread only.
pub(crate) struct Answering {
    /// The event, where it is one that may be overridden.
    event: Option<Rc<Function>>,
    /// The ways to its overrides.
    route: Option<MethodRoute>,
    /// The version under which the row was begun.
    version: Cell<u64>,
    /// By the number of a class: whether its objects run the function's own body, or whether that is not known.
    classes: RefCell<Vec<Option<bool>>>,
}

impl Answering {
    fn new(function: &Rc<Function>, dispatch: Dispatch) -> Self {
        let is_event = dispatch == Dispatch::Virtual && function.vslot.is_some();
        let event = is_event.then(|| Rc::clone(function));
        let route = if is_event { MethodRoute::new(function, dispatch) } else { None };
        Self { event, route, version: Cell::default(), classes: RefCell::default() }
    }

    /// Whether a call on the object runs the function's own body: it lives, and nobody overrides it there. That it is of the class,
    /// whoever asks looks at as well. Nothing where that is not known yet, or the object is gone.
    #[inline]
    pub(crate) fn known(&self, core: &Core, object: ObjectHandle) -> Option<bool> {
        let class = core.world.objects.class_id(object)?;
        if self.event.is_none() {
            return Some(true);
        }
        if self.version.get() != core.world.mode.direct_version() {
            return None;
        }
        *self.classes.borrow().get(class.0 as usize)?
    }

    /// The same, looked up where it is not known.
    pub(crate) fn answers(&self, core: &Core, object: ObjectHandle) -> bool {
        self.known(core, object).unwrap_or_else(|| match (&self.event, core.world.objects.class_id(object)) {
            (Some(event), Some(class)) => self.look(core, event, object, class),
            _ => false,
        })
    }

    /// Calls what answers where the function itself does not: an override. Not done where there is none, or no short way to it.
    #[inline]
    pub(crate) fn call_override(&self, core: &Core, object: ObjectHandle, slots: &[Slot]) -> DirectAnswer {
        match &self.route {
            Some(route) => guarded(|| route.call(core, object, slots)),
            None => DirectAnswer::without(DirectStatus::NOT_DONE),
        }
    }

    #[cold]
    fn look(&self, core: &Core, event: &Rc<Function>, object: ObjectHandle, class: ClassId) -> bool {
        let is_its_own = core.world.objects.class(object).is_some_and(|class| Rc::ptr_eq(class.dispatch(event), event));
        let mut classes = self.classes.borrow_mut();
        let version = core.world.mode.direct_version();
        if self.version.replace(version) != version {
            classes.clear();
        }
        let at = class.0 as usize;
        if classes.len() <= at {
            classes.resize(at + 1, None);
        }
        classes[at] = Some(is_its_own);
        is_its_own
    }
}

/// Does a direct call. What it throws is stopped here, which costs nothing where nothing is thrown.
#[inline]
pub(crate) fn guarded(call: impl FnOnce() -> DirectAnswer) -> DirectAnswer {
    // As in the trap: unwinding releases the guards that the runtime's own state is changed under.
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(thrown)
}

/// A part of a direct call; the answer, where it throws.
#[inline]
pub(crate) fn attempted<T>(code: impl FnOnce() -> T) -> Result<T, DirectAnswer> {
    // As above.
    catch_unwind(AssertUnwindSafe(code)).map_err(thrown)
}

/// The answer of a call that has thrown something: an error, as accessors do, or a panic.
#[cold]
#[inline(never)]
fn thrown(payload: Box<dyn Any + Send>) -> DirectAnswer {
    failed(match payload.downcast::<CallError>() {
        Ok(error) => *error,
        // The trap knows what a panic says, and how its payload ends.
        Err(panic) => match trap(|| -> Result<Infallible, CallError> { resume_unwind(panic) }) {
            Ok(never) => match never {},
            Err(error) => error,
        },
    })
}

/// The answer of a call that gives this.
#[inline]
pub(crate) fn given<R: NativeResult>(given: Result<R, CallError>) -> DirectAnswer {
    match given {
        Ok(result) => DirectAnswer::done(result.into_slot().bits()),
        Err(error) => failed(error),
    }
}

/// The answer of a call that failed. The caller fetches the reason.
#[cold]
#[inline(never)]
pub(crate) fn failed(error: CallError) -> DirectAnswer {
    // A thread whose locals have ended has nobody left who could ask.
    let _gone = FAILED.try_with(|failed| failed.set(Some(error)));
    DirectAnswer::without(DirectStatus::FAILED)
}

/// Runs `code` between a call and the fetching of its failure: what fails meanwhile is kept apart from that.
pub(crate) fn beside_failure(code: impl FnOnce()) {
    let kept = FAILED.try_with(Cell::take).ok().flatten();
    code();
    let _gone = FAILED.try_with(|failed| failed.set(kept));
}

/// Why the last direct call on this thread has failed.
pub(crate) fn take_failure() -> CallError {
    let kept = FAILED.try_with(Cell::take).ok().flatten();
    kept.unwrap_or_else(|| CallError::other("no direct call has failed on this thread"))
}
