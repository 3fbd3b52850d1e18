//! Functions of modules as other plugin code calls them without slots: by way of the host, which opens the red frame and looks
//! at what all calls into modules look at. The words that the caller has in registers go on in registers to the module's own shell. The
//! way is kept beside the handle, and found again when it is not right any more.
#![expect(unsafe_code, reason = "follows the context that stands beside the code")]

use std::cell::Cell;
use std::ptr::NonNull;
use std::rc::Rc;

use alcedo_abi::black_direct::{DirectBits, DirectBody};
use alcedo_abi::direct::{DirectAnswer, DirectStatus};

use crate::bridge::callees::{Callee, Callees, answer_of, enter_on, settle};
use crate::bridge::calls::Dispatch;
use crate::bridge::core::Core;
use crate::bridge::direct::{export_way, parameters};
use crate::bridge::exports::Export;
use crate::bridge::ways::{StaticWay, Ways};
use crate::handles::ObjectHandle;
use crate::object::function::Function;
use crate::zcall::black_code::BlackCode;

/// What the code of a method is given.
struct MethodContext {
    ways: Ways,
    core: NonNull<Core>,
    callees: Callees,
}

/// What the code of a static function is given.
struct StaticContext {
    ways: Ways,
    core: NonNull<Core>,
    /// The version under which the way was looked up.
    version: Cell<u64>,
    way: Cell<Option<StaticWay>>,
    export: Export,
    what: Rc<str>,
    /// How many words its callers have.
    count: usize,
}

/// The code of methods.
struct OfMethod;

/// The code of static functions.
struct OfStatic;

/// The same where the way has to be looked up.
struct LookFor<Body>(Body);

impl<Bits: DirectBits> DirectBody<Bits> for OfMethod {
    #[inline]
    unsafe fn run(context: *const (), object: ObjectHandle, bits: Bits) -> DirectAnswer {
        // SAFETY: `method_code` has put this context beside the code, and the caller promises that the runtime is there, whose table
        // has it; nothing of either ends while a red frame is open, without which nothing is done below.
        let found = unsafe { &*context.cast::<MethodContext>() };
        let MethodContext { ways, callees, .. } = found;
        if !ways.in_a_frame() {
            return DirectAnswer::without(DirectStatus::NOT_DONE);
        }
        let entry = ways.columns().find(object);
        let way = entry.and_then(|entry| callees.known(ways, entry.class));
        match (entry, way) {
            // SAFETY: it was found for this class under the version that still is; the entry is that of the object. Callers have as many
            // words as the function takes.
            (Some(entry), Some(Callee::Module(way))) => unsafe {
                enter_on(ways, way, (object, entry), bits.words(), |lent| settle(found.core(), lent))
            },
            (_, Some(_)) => DirectAnswer::without(DirectStatus::NOT_DONE),
            // SAFETY: as for this function.
            _ => unsafe { bits.apart::<LookFor<Self>>(context, object) },
        }
    }
}

impl<Bits: DirectBits> DirectBody<Bits> for LookFor<OfMethod> {
    #[cold]
    unsafe fn run(context: *const (), object: ObjectHandle, bits: Bits) -> DirectAnswer {
        // SAFETY: as in `OfMethod::run`.
        let found = unsafe { &*context.cast::<MethodContext>() };
        let MethodContext { ways, callees, .. } = found;
        match (ways.columns().find(object), callees.look(found.core(), object)) {
            // SAFETY: it was found just now; the rest as in `OfMethod::run`.
            (Some(entry), Some(Callee::Module(way))) => unsafe {
                enter_on(ways, way, (object, entry), bits.words(), |lent| settle(found.core(), lent))
            },
            _ => DirectAnswer::without(DirectStatus::NOT_DONE),
        }
    }
}

impl MethodContext {
    fn core(&self) -> &Core {
        // SAFETY: the context stands in the table of this core.
        unsafe { self.core.as_ref() }
    }
}

impl<Bits: DirectBits> DirectBody<Bits> for OfStatic {
    #[inline]
    unsafe fn run(context: *const (), object: ObjectHandle, bits: Bits) -> DirectAnswer {
        // SAFETY: as for methods, by `static_code`.
        let found = unsafe { &*context.cast::<StaticContext>() };
        if !found.ways.in_a_frame() {
            return DirectAnswer::without(DirectStatus::NOT_DONE);
        }
        match found.way.get() {
            // SAFETY: it was looked up under the version that still is, and takes as many words as the callers have.
            Some(way) if found.ways.is_version(found.version.get()) => unsafe {
                answer_of(found.ways.enter(&way, bits.words(), |lent| settle(found.core(), lent)))
            },
            // SAFETY: as for this function.
            _ => unsafe { bits.apart::<LookFor<Self>>(context, object) },
        }
    }
}

impl<Bits: DirectBits> DirectBody<Bits> for LookFor<OfStatic> {
    #[cold]
    unsafe fn run(context: *const (), _object: ObjectHandle, bits: Bits) -> DirectAnswer {
        // SAFETY: as in `OfStatic::run`.
        let found = unsafe { &*context.cast::<StaticContext>() };
        match found.look() {
            // SAFETY: it was found just now, and takes as many words as the callers have.
            Some(way) => unsafe { answer_of(found.ways.enter(&way, bits.words(), |lent| settle(found.core(), lent))) },
            None => DirectAnswer::without(DirectStatus::NOT_DONE),
        }
    }
}

impl StaticContext {
    fn core(&self) -> &Core {
        // SAFETY: as for methods.
        unsafe { self.core.as_ref() }
    }

    fn look(&self) -> Option<StaticWay> {
        let version = self.ways.version_of_ways()?;
        let way = export_way(self.core(), &self.export, &self.what).filter(|way| way.takes(self.count));
        self.way.set(way);
        self.version.set(version);
        way
    }
}

/// The code with that body, for so many arguments.
pub(crate) fn code<B>(count: usize) -> Option<*const ()>
where
    B: DirectBody<[u64; 0]> + DirectBody<[u64; 1]> + DirectBody<[u64; 2]> + DirectBody<[u64; 3]> + DirectBody<[u64; 4]>,
    B: DirectBody<[u64; 5]> + DirectBody<[u64; 6]> + DirectBody<[u64; 7]> + DirectBody<[u64; 8]>,
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
        5 => of::<[u64; 5], B>(),
        6 => of::<[u64; 6], B>(),
        7 => of::<[u64; 7], B>(),
        8 => of::<[u64; 8], B>(),
        _ => return None,
    })
}

/// How plugins call directly what callees a function of objects, if they may.
pub(crate) fn method_code(core: &Rc<Core>, function: &Rc<Function>, dispatch: Dispatch) -> Option<BlackCode> {
    let callees = Callees::of_module(function, dispatch)?;
    let code = code::<OfMethod>(function.arguments().len())?;
    let context = MethodContext { ways: (*core.ways).clone(), core: NonNull::from(&**core), callees };
    // SAFETY: the code has the form for so many arguments, which lie in slots as the result does. Its context stands in the table of the
    // core that it leads to.
    Some(unsafe { BlackCode::new(code, Some(Rc::new(context))) })
}

/// How plugins call a static function of a module directly, if they may.
pub(crate) fn static_code(core: &Rc<Core>, export: &Export, what: &Rc<str>) -> Option<BlackCode> {
    export.direct?;
    let count = parameters(export)?;
    let code = code::<OfStatic>(count)?;
    let context = StaticContext {
        ways: (*core.ways).clone(),
        core: NonNull::from(&**core),
        version: Cell::new(u64::MAX),
        way: Cell::new(None),
        export: export.clone(),
        what: Rc::clone(what),
        count,
    };
    // SAFETY: as for a method; a module has direct shells for functions alone whose values lie in slots.
    Some(unsafe { BlackCode::new(code, Some(Rc::new(context))) })
}
