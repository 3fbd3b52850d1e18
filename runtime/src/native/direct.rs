//! Direct calls of native methods by plugins. A direct call passes its arguments in registers instead of slots: the call converts the
//! register values to parameters, borrows the Rust fields, and runs the method. If one of these steps is impossible, the caller takes the
//! slow path with slots.
#![expect(unsafe_code, reason = "enters modules, and uses parts and the core without reference counts")]

use std::any::Any;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::rc::Rc;

use alcedo_abi::direct::DirectAnswer;
use alcedo_abi::host_direct::{DirectBits, DirectBody, EachCode, one_by_one};
use alcedo_abi::zcall::Slot;

use crate::boundary::CallError;
use crate::bridge::callees::{Callee, Callees, DirectMaker};
use crate::bridge::core::Core;
use crate::bridge::host_direct::{NOT_DONE, attempted, failed, guarded, in_no_slot, preserve_failure, to_answer};
use crate::bridge::module_code::{CodeOf, Context, Target, address};
use crate::handles::ObjectHandle;
use crate::native::failing::failing;
use crate::native::method::{Method, Receiver as _, StaticMethod, run, run_static};
use crate::native::part_cell::PartCell;
use crate::native::parts::Parts;
use crate::native::this::This;
use crate::object;
use crate::object::native_value::{NativeParams, NativeResult, NativeReturned as _, SlotRow};
use crate::zcall::black_code::BlackCode;

/// Target of the direct calls of a method: the parts of the class, and the call cache.
struct NativeMethod<M: Method> {
    parts: Rc<Parts<M::Class>>,
    /// Call cache with a callee for each class. Present only if the function can be overridden.
    callees: Option<Callees>,
}

type BitsOf<A> = <A as SlotRow>::Bits;

const fn is_plain<A: SlotRow, R: NativeResult>() -> bool {
    A::IN_SLOTS && R::IN_SLOT
}

/// Returns the code with which plugins call a method directly. Returns `None` if a parameter or the result does not fit in a slot.
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
        let (code, each) = match callees {
            Some(_) => code_of::<M, CodeOf<NativeMethod<M>>>(),
            None => code_of::<M, MethodCode<M>>(),
        };
        let target = NativeMethod::<M> { parts: Rc::clone(&parts), callees };
        // SAFETY: the code takes the method's number of arguments, and all values fit in slots. The context points to the core whose table
        // owns the context, so the core outlives the context.
        unsafe { BlackCode::new(code, Some(Rc::new(Context::new(core, target)))).with_each(each) }
    };
    Some(DirectMaker::kept(make, body))
}

/// Returns two functions that run the body `B`: one for a direct call on one object, one for direct calls on several objects.
fn code_of<M: Method, B: DirectBody<BitsOf<M::Args>>>() -> (*const (), EachCode) {
    (address::<BitsOf<M::Args>, B>(), BitsOf::<M::Args>::each_of::<B>())
}

/// Returns the code with which plugins call a static function directly. Returns `None` if a parameter or the result does not fit in a slot.
pub(super) fn of_static<M: StaticMethod>() -> Option<Rc<dyn Any>> {
    if !is_plain::<M::Args, M::Result>() {
        return None;
    }
    let body = |_world: &object::World, _object: ObjectHandle, slots: &[Slot]| {
        let args = failing(|| args_of::<M::Args>(slots))?;
        Ok(run_static::<M>(args)?.into_slot())
    };
    let make = |_core: &Rc<Core>, _callees| {
        let code = address::<BitsOf<M::Args>, StaticCode<M>>();
        // SAFETY: the code takes the function's number of arguments, and all values fit in slots. The code has no context.
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

impl<M: Method> DirectBody<BitsOf<M::Args>> for MethodCode<M> {
    type Context = Context<NativeMethod<M>>;

    #[inline(always)]
    unsafe fn run(context: &Self::Context, object: ObjectHandle, bits: BitsOf<M::Args>) -> DirectAnswer {
        // Without an open red frame, a safe point could run during the call. A safe point can destroy objects and end generations.
        if !context.fast_paths.in_a_frame() {
            return NOT_DONE;
        }
        run_own::<M>(context, object, bits)
    }

    unsafe fn run_each(
        context: &Self::Context,
        objects: &[ObjectHandle],
        bits: BitsOf<M::Args>,
        results: &mut [MaybeUninit<u64>],
    ) -> DirectAnswer {
        // Checks the red frame once, because the frame stays open until the last call has returned.
        if !context.fast_paths.in_a_frame() {
            return NOT_DONE;
        }
        one_by_one(objects, results, |object| run_own::<M>(context, object, bits))
    }
}

/// Calls of a method that can be overridden.
impl<M: Method> Target<BitsOf<M::Args>> for NativeMethod<M> {
    #[inline(always)]
    unsafe fn enter(found: &Context<Self>, object: ObjectHandle, bits: BitsOf<M::Args>) -> Option<DirectAnswer> {
        let (entry, callee) = found.callee(found.target.callees.as_ref()?, object)?;
        Some(match callee {
            Callee::Itself if found.fast_paths.is_on_stack() => run_own::<M>(found, object, bits),
            // SAFETY: `entry` and `fast_path` were found for the object just now. The caller promises the number of words.
            Callee::Module(fast_path) => unsafe { found.enter_module(fast_path, (object, entry.memory), bits.words()) },
            Callee::Itself | Callee::WithSlots => NOT_DONE,
        })
    }

    fn resolve(found: &Context<Self>, object: ObjectHandle) {
        let _kept = found.target.callees.as_ref().and_then(|callees| callees.resolve(found.core(), object));
    }
}

/// Runs the method. A red frame must be open, and the caller must run on the stack of the game thread. Only live objects of the class have
/// Rust fields. For an object without Rust fields, the caller takes the slow path.
#[inline(always)]
fn run_own<M: Method>(context: &Context<NativeMethod<M>>, object: ObjectHandle, bits: BitsOf<M::Args>) -> DirectAnswer {
    // Converts the arguments before the lookup of the part, because the conversion is user code and may destroy the object.
    let mut args = match attempted(|| M::Args::of_bits(bits)) {
        Ok(Some(args)) => Some(args),
        Ok(None) => return failed(in_no_slot()),
        Err(answer) => return answer,
    };
    let Some(part) = context.target.parts.find(object) else { return not_done(args) };
    // SAFETY: the part exists, and does not move until it is dropped. It is not dropped while a method uses it, as in the following call.
    // No other code runs before this call.
    let part = unsafe { part.as_ref() };
    let this = This::<M::Class>::new(&context.core().world, object).with_part(part);
    let called = M::Receiver::try_with(part, M::NAME, |part| match args.take() {
        Some(args) => guarded(|| to_answer(M::run(part, this, args.into()).crossing(|| M::LOCATION.into()))),
        None => NOT_DONE,
    });
    match called {
        Some(answer) if context.target.parts.has_ended() => drop_ended(context, answer),
        Some(answer) => answer,
        None => refused(part, object, M::NAME, args),
    }
}

/// Returns the result of a call that conflicts with an open borrow.
#[cold]
#[inline(never)]
fn refused<C, A>(part: &PartCell<C>, object: ObjectHandle, method: &'static str, args: A) -> DirectAnswer {
    let refused = part.refused(object, method);
    guarded(|| {
        drop(args);
        failed(refused)
    })
}

/// Drops the arguments, whose destructors are user code and may panic. Returns the result that makes the caller take the slow path.
#[cold]
#[inline(never)]
fn not_done<A>(args: A) -> DirectAnswer {
    guarded(|| {
        drop(args);
        NOT_DONE
    })
}

/// Runs the hooks and drops the Rust fields of objects that were destroyed during the call.
#[cold]
#[inline(never)]
fn drop_ended<M: Method>(context: &Context<NativeMethod<M>>, answer: DirectAnswer) -> DirectAnswer {
    guarded(|| {
        preserve_failure(|| context.target.parts.drop_ended(&context.core().world));
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
