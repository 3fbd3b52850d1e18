//! Functions of modules as other plugin code calls them without slots: by way of the host, which opens the red frame and looks
//! at what all calls into modules look at. The way is kept beside the handle, and found again when it is not right any more.
#![expect(unsafe_code, reason = "follows the context that stands beside the code")]

use std::cell::Cell;
use std::ptr::NonNull;
use std::rc::Rc;

use alcedo_abi::black_direct::{DirectAnswer, DirectBits, DirectBody, DirectStatus};
use alcedo_abi::kinds::property_flags;
use alcedo_abi::zcall::Slot;

use crate::bridge::black_direct::{failed, guarded};
use crate::bridge::calls::{self, Dispatch};
use crate::bridge::core::Core;
use crate::bridge::direct::{MethodCall, export_way};
use crate::bridge::nm::Export;
use crate::bridge::ways::{CLASSES, Called, MethodWay, StaticWay, place_of};
use crate::handles::ObjectHandle;
use crate::object::function::Function;
use crate::object::property::Property;
use crate::zcall::black_code::BlackCode;

/// No short way has more parameters.
const MOST: usize = 4;

#[cold]
fn answer(called: Called) -> DirectAnswer {
    match called {
        Some(Ok(bits)) => DirectAnswer::done(bits),
        Some(Err(error)) => failed(*error),
        None => DirectAnswer::without(DirectStatus::NOT_DONE),
    }
}

/// The ways to what answers calls of a method, whoever declares or overrides it, by the class of the object.
pub(crate) struct MethodRoute {
    call: MethodCall,
    ways: [Cell<Option<MethodWay>>; CLASSES],
}

impl MethodRoute {
    /// Those of a function, for calls of that sort; none where no way is short: something does not lie in a slot, there are too many
    /// parameters, or it needs no object.
    pub(crate) fn new(function: &Rc<Function>, dispatch: Dispatch) -> Option<Self> {
        let is_plain =
            |property: &Property| property.ty.kind().fits_slot() && property.flags & property_flags::OUT == 0;
        let fits = function.params.iter().all(is_plain) && function.arguments().len() <= MOST;
        (fits && !calls::is_static(function))
            .then(|| Self { call: MethodCall::new(function, dispatch), ways: Default::default() })
    }

    /// Calls it on an object.
    #[inline]
    pub(crate) fn call(&self, core: &Core, object: ObjectHandle, slots: &[Slot]) -> DirectAnswer {
        match core.ways.call_on(&self.ways, object, slots, |lent| core.red.settle(lent)) {
            Some(Ok(bits)) => DirectAnswer::done(bits),
            Some(Err(error)) => failed(*error),
            None => self.look_and_call(core, object, slots),
        }
    }

    #[cold]
    #[inline(never)]
    fn look_and_call(&self, core: &Core, object: ObjectHandle, slots: &[Slot]) -> DirectAnswer {
        let Some(way) = self.call.way(core, object) else { return DirectAnswer::without(DirectStatus::NOT_DONE) };
        place_of(&self.ways, way.class()).set(Some(way));
        answer(core.ways.call_on(&self.ways, object, slots, |lent| core.red.settle(lent)))
    }
}

/// What the code of a method is given.
struct MethodContext {
    core: NonNull<Core>,
    route: MethodRoute,
}

/// What the code of a static function is given.
struct StaticContext {
    core: NonNull<Core>,
    export: Export,
    what: Rc<str>,
    count: usize,
    way: Cell<Option<StaticWay>>,
}

/// The code of methods.
struct OfMethod;

/// The code of static functions.
struct OfStatic;

impl<Bits: DirectBits> DirectBody<Bits> for OfMethod {
    #[inline]
    unsafe fn run(context: *const (), object: ObjectHandle, bits: Bits) -> DirectAnswer {
        // SAFETY: `method_code` has put this context beside the code, and the caller promises that the runtime is there, whose table
        // has it. What it leads to stays until the red frame is closed that the call opens, and is not used after that.
        let (route, core) = unsafe {
            let MethodContext { core, route } = &*context.cast::<MethodContext>();
            (route, core.as_ref())
        };
        guarded(|| route.call(core, object, bits.slots().as_ref()))
    }
}

impl<Bits: DirectBits> DirectBody<Bits> for OfStatic {
    #[inline]
    unsafe fn run(context: *const (), _object: ObjectHandle, bits: Bits) -> DirectAnswer {
        // SAFETY: as for methods, by `static_code`.
        let (context, core) = unsafe {
            let context = &*context.cast::<StaticContext>();
            (context, context.core.as_ref())
        };
        guarded(|| context.call(core, bits.slots().as_ref()))
    }
}

impl StaticContext {
    #[inline]
    fn call(&self, core: &Core, slots: &[Slot]) -> DirectAnswer {
        let way = self.way.get();
        match way.as_ref().and_then(|way| core.ways.call(way, slots, |lent| core.red.settle(lent))) {
            Some(Ok(bits)) => DirectAnswer::done(bits),
            Some(Err(error)) => failed(*error),
            None => self.look_and_call(core, slots),
        }
    }

    #[cold]
    #[inline(never)]
    fn look_and_call(&self, core: &Core, slots: &[Slot]) -> DirectAnswer {
        let way = export_way(core, &self.export, &self.what, self.count);
        self.way.set(way);
        answer(way.and_then(|way| core.ways.call(&way, slots, |lent| core.red.settle(lent))))
    }
}

/// The code with that body, for so many arguments.
fn code<B>(count: usize) -> Option<*const ()>
where
    B: DirectBody<[u64; 0]> + DirectBody<[u64; 1]> + DirectBody<[u64; 2]> + DirectBody<[u64; 3]> + DirectBody<[u64; 4]>,
{
    fn of<Bits: DirectBits, B: DirectBody<Bits>>() -> *const () {
        Bits::address(Bits::code_of::<B>())
    }
    Some(match count {
        0 => of::<[u64; 0], B>(),
        1 => of::<[u64; 1], B>(),
        2 => of::<[u64; 2], B>(),
        3 => of::<[u64; 3], B>(),
        4 => of::<[u64; 4], B>(),
        _ => return None,
    })
}

/// How plugins call directly what answers a function of objects, if they may.
pub(crate) fn method_code(core: &Rc<Core>, function: &Rc<Function>, dispatch: Dispatch) -> Option<BlackCode> {
    let route = MethodRoute::new(function, dispatch)?;
    let code = code::<OfMethod>(function.arguments().len())?;
    let context = MethodContext { core: NonNull::from(&**core), route };
    // SAFETY: the code has the form for so many arguments, which lie in slots as the result does. Its context stands in the table of the
    // core that it leads to.
    Some(unsafe { BlackCode::new(code, Some(Rc::new(context))) })
}

/// How plugins call a static function of a module directly, if they may.
pub(crate) fn static_code(core: &Rc<Core>, export: &Export, what: &Rc<str>, count: usize) -> Option<BlackCode> {
    export.direct?;
    let code = code::<OfStatic>(count)?;
    let (core, way) = (NonNull::from(&**core), Cell::new(None));
    let context = StaticContext { core, export: export.clone(), what: Rc::clone(what), count, way };
    // SAFETY: as for a method; a module has direct shells for functions alone whose values lie in slots.
    Some(unsafe { BlackCode::new(code, Some(Rc::new(context))) })
}
