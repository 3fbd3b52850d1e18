//! Direct calls of native methods by plugins, without slots. A direct call converts register values to parameters, borrows the Rust fields,
//! and runs the method. If one of these steps is impossible, the call takes the slow path with slots.
#![expect(unsafe_code, reason = "enters modules, and uses parts and the core without reference counts")]

use std::any::Any;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::rc::Rc;

use alcedo_abi::direct::{DirectAnswer, DirectStatus};
use alcedo_abi::host::DirectoryEntry;
use alcedo_abi::host_direct::{DirectBits, DirectBody, EachCode, one_by_one};
use alcedo_abi::zcall::Slot;

use crate::boundary::CallError;
use crate::bridge::callees::{Callee, Callees, DirectMaker, answer_of, clean_up};
use crate::bridge::core::Core;
use crate::bridge::fast_paths::FastPaths;
use crate::bridge::host_direct::{attempted, failed, guarded, preserve_failure, to_answer};
use crate::handles::ObjectHandle;
use crate::native::failing::failing;
use crate::native::method::{Method, Receiver as _, StaticMethod, run, run_static};
use crate::native::part_cell::PartCell;
use crate::native::parts::Parts;
use crate::native::this::This;
use crate::object;
use crate::object::native_value::{NativeParams, NativeResult, NativeReturned as _, SlotRow};
use crate::zcall::black_code::BlackCode;

/// Context of a method's direct code. The context exists at least while a red frame is open. Direct code uses the context only in a red
/// frame.
struct Context<C> {
    fast_paths: FastPaths,
    /// Core whose table owns this context.
    core: NonNull<Core>,
    parts: Rc<Parts<C>>,
    /// Call cache with a callee for each class. Present only if the function can be overridden.
    callees: Option<Callees>,
}

type BitsOf<A> = <A as SlotRow>::Bits;

const fn is_plain<A: SlotRow, R: NativeResult>() -> bool {
    A::IN_SLOTS && R::IN_SLOT
}

/// Returns the direct code of a method. Returns `None` if a parameter or the result does not fit in a slot.
pub(super) fn of_method<M: Method>(parts: &Rc<Parts<M::Class>>) -> Option<Rc<dyn Any>> {
    if !is_plain::<M::Args, M::Result>() {
        return None;
    }
    let own = Rc::clone(parts);
    let body = move |world: &object::World, object: ObjectHandle, slots: &[Slot]| {
        let args = failing(|| args_of::<M::Args>(slots))?;
        Ok(run::<M>(&own, This::new(world, object), args)?.into_slot())
    };
    let parts = Rc::clone(parts);
    let make = move |core: &Rc<Core>, callees: Option<Callees>| {
        let (code, each) = if callees.is_some() { code_of::<M, EventCode<M>>() } else { code_of::<M, MethodCode<M>>() };
        let (fast_paths, core, parts) = ((*core.fast_paths).clone(), NonNull::from(&**core), Rc::clone(&parts));
        let context = Context { fast_paths, core, parts, callees };
        // SAFETY: the code takes this number of arguments, and all values fit in slots. The context points to the core whose table owns the
        // context, so the core outlives the context.
        unsafe { BlackCode::new(code, Some(Rc::new(context))).with_each(each) }
    };
    Some(DirectMaker::kept(make, body))
}

/// Returns the direct code with the body `B`, for calls on one object and on several objects.
fn code_of<M: Method, B: DirectBody<BitsOf<M::Args>>>() -> (*const (), EachCode) {
    (BitsOf::<M::Args>::address(BitsOf::<M::Args>::code_of::<B>()), BitsOf::<M::Args>::each_of::<B>())
}

/// Returns the direct code of a static function. Returns `None` if a parameter or the result does not fit in a slot.
pub(super) fn of_static<M: StaticMethod>() -> Option<Rc<dyn Any>> {
    if !is_plain::<M::Args, M::Result>() {
        return None;
    }
    let body = |_world: &object::World, _object: ObjectHandle, slots: &[Slot]| {
        let args = failing(|| args_of::<M::Args>(slots))?;
        Ok(run_static::<M>(args)?.into_slot())
    };
    let make = |_core: &Rc<Core>, _callees| {
        let code = BitsOf::<M::Args>::address(BitsOf::<M::Args>::code_of::<StaticCode<M>>());
        // SAFETY: the code takes this number of arguments, and all values fit in slots. The code has no context.
        unsafe { BlackCode::new(code, None) }
    };
    Some(DirectMaker::kept(make, body))
}

/// Converts slots to the parameters of a method.
#[inline]
fn args_of<A: SlotRow>(slots: &[Slot]) -> Result<<A as NativeParams>::Seen, CallError> {
    A::bits_of(slots).and_then(A::of_bits).ok_or_else(in_no_slot)
}

/// Code of a method that cannot be overridden.
struct MethodCode<M>(PhantomData<M>);

/// Code of an event, which can be overridden.
struct EventCode<M>(PhantomData<M>);

/// Code of an event whose callee is not cached yet.
struct UnresolvedEventCode<M>(PhantomData<M>);

impl<C> Context<C> {
    #[inline(always)]
    fn core(&self) -> &Core {
        // SAFETY: the table of this core owns the context, so the core exists.
        unsafe { self.core.as_ref() }
    }

    /// Returns the directory entry of an object, and the cached callee for the class of the object.
    #[inline(always)]
    fn callee(&self, object: ObjectHandle) -> Option<(DirectoryEntry, Callee)> {
        let entry = self.fast_paths.columns().find(object)?;
        Some((entry, self.callees.as_ref()?.known(&self.fast_paths, entry.class)?))
    }
}

impl<M: Method> DirectBody<BitsOf<M::Args>> for MethodCode<M> {
    type Context = Context<M::Class>;

    // Slow cases are tail calls of separate functions, so the fast path needs no stack frame.
    #[inline(always)]
    unsafe fn run(context: &Context<M::Class>, object: ObjectHandle, bits: BitsOf<M::Args>) -> DirectAnswer {
        // Without an open red frame, the call could contain a safe point. A safe point can destroy objects and end generations.
        if !context.fast_paths.in_a_frame() {
            return DirectAnswer::without(DirectStatus::NOT_DONE);
        }
        run_own::<M>(context, object, bits)
    }

    unsafe fn run_each(
        context: &Context<M::Class>,
        objects: &[ObjectHandle],
        bits: BitsOf<M::Args>,
        results: &mut [MaybeUninit<u64>],
    ) -> DirectAnswer {
        // The frame stays open until the last call has returned.
        if !context.fast_paths.in_a_frame() {
            return DirectAnswer::without(DirectStatus::NOT_DONE);
        }
        one_by_one(objects, results, |object| run_own::<M>(context, object, bits))
    }
}

impl<M: Method> DirectBody<BitsOf<M::Args>> for EventCode<M> {
    type Context = Context<M::Class>;

    #[inline(always)]
    unsafe fn run(found: &Context<M::Class>, object: ObjectHandle, bits: BitsOf<M::Args>) -> DirectAnswer {
        if !found.fast_paths.in_a_frame() {
            return DirectAnswer::without(DirectStatus::NOT_DONE);
        }
        match found.callee(object) {
            Some((_entry, Callee::Itself)) => run_own::<M>(found, object, bits),
            // SAFETY: the callee was found for the object's class, and its version is current. The directory entry belongs to the object.
            // Callers pass one word for each parameter of the event.
            Some((entry, Callee::Module(fast_path))) => answer_of(unsafe {
                found
                    .fast_paths
                    .enter_on(fast_path, (object, entry.memory), bits.words(), |height| clean_up(found.core(), height))
            }),
            Some((_entry, Callee::WithSlots)) => DirectAnswer::without(DirectStatus::NOT_DONE),
            // SAFETY: the caller of this function makes the same promises.
            None => unsafe { bits.apart::<UnresolvedEventCode<M>>(found, object) },
        }
    }
}

impl<M: Method> DirectBody<BitsOf<M::Args>> for UnresolvedEventCode<M> {
    type Context = Context<M::Class>;

    #[cold]
    unsafe fn run(found: &Context<M::Class>, object: ObjectHandle, bits: BitsOf<M::Args>) -> DirectAnswer {
        let callee = found.callees.as_ref().and_then(|callees| callees.resolve(found.core(), object));
        match (found.fast_paths.columns().find(object), callee) {
            (Some(_), Some(Callee::Itself)) => run_own::<M>(found, object, bits),
            // SAFETY: the callee was resolved for the object's class just now. The directory entry belongs to the object. Callers pass one
            // word for each parameter of the event.
            (Some(entry), Some(Callee::Module(fast_path))) => answer_of(unsafe {
                found
                    .fast_paths
                    .enter_on(fast_path, (object, entry.memory), bits.words(), |height| clean_up(found.core(), height))
            }),
            _ => DirectAnswer::without(DirectStatus::NOT_DONE),
        }
    }
}

/// Runs the method. A red frame must be open. Only live objects of the class have Rust fields. For an object without Rust fields, the
/// caller takes the slow path.
#[inline(always)]
fn run_own<M: Method>(context: &Context<M::Class>, object: ObjectHandle, bits: BitsOf<M::Args>) -> DirectAnswer {
    // Converts the arguments before the lookup of the part, because the conversion is user code and may destroy the object.
    let mut args = match attempted(|| M::Args::of_bits(bits)) {
        Ok(Some(args)) => Some(args),
        Ok(None) => return failed(in_no_slot()),
        Err(answer) => return answer,
    };
    let Some(part) = context.parts.find(object) else { return not_done(args) };
    // SAFETY: the part exists, and does not move until it is dropped. It is not dropped while a method uses it, as in the following call.
    // No other code runs before this call.
    let part = unsafe { part.as_ref() };
    let this = This::<M::Class>::new(&context.core().world, object).with_part(part);
    let called = M::Receiver::try_with(part, M::NAME, |part| match args.take() {
        Some(args) => guarded(|| to_answer(M::run(part, this, args.into()).crossing(|| M::LOCATION.into()))),
        None => DirectAnswer::without(DirectStatus::NOT_DONE),
    });
    match called {
        Some(answer) if context.parts.has_ended() => drop_ended(context, answer),
        Some(answer) => answer,
        None => refused(part, object, M::NAME, args),
    }
}

/// Returns the answer of a call that conflicts with an open borrow.
#[cold]
#[inline(never)]
fn refused<C, A>(part: &PartCell<C>, object: ObjectHandle, method: &'static str, args: A) -> DirectAnswer {
    let refused = part.refused(object, method);
    guarded(|| {
        drop(args);
        failed(refused)
    })
}

/// Drops the arguments, and returns the answer on which the caller takes the slow path. The destructors of the arguments are user code and
/// may panic.
#[cold]
#[inline(never)]
fn not_done<A>(args: A) -> DirectAnswer {
    guarded(|| {
        drop(args);
        DirectAnswer::without(DirectStatus::NOT_DONE)
    })
}

/// Runs the hooks and drops the Rust fields of objects that were destroyed during the call.
#[cold]
#[inline(never)]
fn drop_ended<C>(context: &Context<C>, answer: DirectAnswer) -> DirectAnswer {
    guarded(|| {
        preserve_failure(|| context.parts.drop_ended(&context.core().world));
        answer
    })
}

struct StaticCode<M>(PhantomData<M>);

impl<M: StaticMethod> DirectBody<BitsOf<M::Args>> for StaticCode<M> {
    type Context = ();

    #[inline]
    unsafe fn run(_context: &(), _object: ObjectHandle, bits: BitsOf<M::Args>) -> DirectAnswer {
        guarded(|| match M::Args::of_bits(bits) {
            Some(args) => to_answer(M::run(args.into()).crossing(|| M::LOCATION.into())),
            None => failed(in_no_slot()),
        })
    }
}

#[cold]
fn in_no_slot() -> CallError {
    CallError::other("a parameter of a direct call does not lie in a slot")
}
