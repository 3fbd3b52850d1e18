//! Methods of native classes as plugins call them without slots: the words of the call become parameters, the Rust fields are
//! borrowed, and the method runs. Whatever is not the plain case is left to the call with slots.
#![expect(unsafe_code, reason = "follows the context that stands beside the code")]

use std::any::Any;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::rc::Rc;

use alcedo_abi::black_direct::{DirectAnswer, DirectBits, DirectBody, DirectStatus};
use alcedo_abi::zcall::Slot;

use crate::border::CallError;
use crate::bridge::black_direct::{Answering, DirectMaker, attempted, beside_failure, failed, given, guarded};
use crate::bridge::core::Core;
use crate::handles::ObjectHandle;
use crate::native::failing::failing;
use crate::native::method::{Method, Receiver as _, StaticMethod, run, run_static};
use crate::native::part_cell::PartCell;
use crate::native::parts::Parts;
use crate::native::this::This;
use crate::native::world::World;
use crate::object;
use crate::object::native_value::{NativeParams, NativeResult, NativeReturned as _, SlotRow};
use crate::zcall::black_code::BlackCode;

/// What the code of a method is given.
struct Context<C> {
    /// The stores that the context is kept in, as a part of a handle.
    core: NonNull<Core>,
    parts: Rc<Parts<C>>,
    answering: Answering,
}

type BitsOf<A> = <A as SlotRow>::Bits;

/// Whether all that a function takes and gives lies in slots.
const fn is_plain<A: SlotRow, R: NativeResult>() -> bool {
    A::IN_SLOTS && R::IN_SLOT
}

/// What a method has for direct calls, if all its values lie in slots.
pub(super) fn of_method<M: Method>(parts: &Rc<Parts<M::Class>>) -> Option<Rc<dyn Any>> {
    if !is_plain::<M::Args, M::Result>() {
        return None;
    }
    let own = Rc::clone(parts);
    let body = move |world: &object::World, object: ObjectHandle, slots: &[Slot]| {
        let args = failing(|| args_of::<M::Args>(slots))?;
        Ok(run::<M>(&own, This::new(World::new(world), object), args)?.into_slot())
    };
    let parts = Rc::clone(parts);
    let make = move |core: &Rc<Core>, answering| {
        let context = Context { core: NonNull::from(&**core), parts: Rc::clone(&parts), answering };
        let code = BitsOf::<M::Args>::address(BitsOf::<M::Args>::code_of::<Shell<M>>());
        let each = BitsOf::<M::Args>::each_of::<Shell<M>>();
        // SAFETY: the code has the form for so many arguments, whose values lie in slots. Its context stands in the table of the core
        // that it leads to, and so does not outlive it.
        unsafe { BlackCode::new(code, Some(Rc::new(context))).with_each(each) }
    };
    Some(DirectMaker::kept(make, body))
}

/// What a function without an object has for direct calls, if all its values lie in slots.
pub(super) fn of_static<M: StaticMethod>() -> Option<Rc<dyn Any>> {
    if !is_plain::<M::Args, M::Result>() {
        return None;
    }
    let body = |_world: &object::World, _object: ObjectHandle, slots: &[Slot]| {
        let args = failing(|| args_of::<M::Args>(slots))?;
        Ok(run_static::<M>(args)?.into_slot())
    };
    let make = |_core: &Rc<Core>, _answering| {
        let code = BitsOf::<M::Args>::address(BitsOf::<M::Args>::code_of::<StaticShell<M>>());
        // SAFETY: as for a method; it has no context.
        unsafe { BlackCode::new(code, None) }
    };
    Some(DirectMaker::kept(make, body))
}

/// What a body has of the slots of its parameters.
#[inline]
fn args_of<A: SlotRow>(slots: &[Slot]) -> Result<<A as NativeParams>::Seen, CallError> {
    A::bits_of(slots).and_then(A::of_bits).ok_or_else(in_no_slot)
}

/// The code of a method.
struct Shell<M>(PhantomData<M>);

impl<M: Method> DirectBody<BitsOf<M::Args>> for Shell<M> {
    // Into the loop of a call on several objects as well. What is not the plain case is in functions of its own, which are called last: so
    // the plain one needs no stack.
    #[inline(always)]
    unsafe fn run(context: *const (), object: ObjectHandle, bits: BitsOf<M::Args>) -> DirectAnswer {
        // SAFETY: `of_method` has put this context beside the code, and the caller promises that the runtime is there, whose table has
        // it; nothing of either ends while a red frame is open, without which nothing is done below.
        let (context, core) = unsafe {
            let context = &*context.cast::<Context<M::Class>>();
            (context, context.core.as_ref())
        };
        // Outside of every red frame this could be a safe point, where objects and generations end.
        if core.red.depth() == 0 {
            return DirectAnswer::without(DirectStatus::NOT_DONE);
        }
        match context.answering.known(core, object) {
            Some(true) => run_own::<M>(context, core, object, bits),
            Some(false) => overridden::<M>(context, core, object, bits),
            None => look_and_run::<M>(context, core, object, bits),
        }
    }
}

/// A call on an object of whose class it is known that an override answers.
#[inline(never)]
fn overridden<M: Method>(
    context: &Context<M::Class>,
    core: &Core,
    object: ObjectHandle,
    bits: BitsOf<M::Args>,
) -> DirectAnswer {
    context.answering.call_override(core, object, bits.slots().as_ref())
}

/// A call on an object of which it is not known what answers.
#[cold]
#[inline(never)]
fn look_and_run<M: Method>(
    context: &Context<M::Class>,
    core: &Core,
    object: ObjectHandle,
    bits: BitsOf<M::Args>,
) -> DirectAnswer {
    if context.answering.answers(core, object) {
        run_own::<M>(context, core, object, bits)
    } else {
        overridden::<M>(context, core, object, bits)
    }
}

/// Runs the method itself, in a red frame.
#[inline(always)]
fn run_own<M: Method>(
    context: &Context<M::Class>,
    core: &Core,
    object: ObjectHandle,
    bits: BitsOf<M::Args>,
) -> DirectAnswer {
    // What a type makes of its bits may be anything, so the part is looked for after it.
    let args = match attempted(|| M::Args::of_bits(bits)) {
        Ok(Some(args)) => args,
        Ok(None) => return failed(in_no_slot()),
        Err(answer) => return answer,
    };
    let Some(part) = context.parts.find(object) else { return DirectAnswer::without(DirectStatus::NOT_DONE) };
    // SAFETY: the part is there. It stays where it is until it is dropped, and while a method uses it, as the one below does as
    // soon as it runs, it is not dropped; what is done before runs no other code.
    let part = unsafe { part.as_ref() };
    let this = This::<M::Class>::new(World::new(&core.world), object).with_part(part);
    let called = M::Receiver::try_with(part, M::NAME, |part| {
        guarded(|| given(M::run(part, this, args.into()).crossing(|| M::PLACE.into())))
    });
    match called {
        Some(answer) if context.parts.has_ended() => drop_ended(&context.parts, answer),
        Some(answer) => answer,
        None => refused(part, object, M::NAME),
    }
}

/// The answer of a call that another borrow is in the way of.
#[cold]
#[inline(never)]
fn refused<C>(part: &PartCell<C>, object: ObjectHandle, wanted: &'static str) -> DirectAnswer {
    failed(part.refused(object, wanted))
}

/// After a call in which Rust fields have ended. They may panic when they are dropped.
#[cold]
#[inline(never)]
fn drop_ended<C>(parts: &Parts<C>, answer: DirectAnswer) -> DirectAnswer {
    guarded(|| {
        beside_failure(|| parts.drop_ended());
        answer
    })
}

/// The code of a function without an object.
struct StaticShell<M>(PhantomData<M>);

impl<M: StaticMethod> DirectBody<BitsOf<M::Args>> for StaticShell<M> {
    #[inline]
    unsafe fn run(_context: *const (), _object: ObjectHandle, bits: BitsOf<M::Args>) -> DirectAnswer {
        guarded(|| match M::Args::of_bits(bits) {
            Some(args) => given(M::run(args.into()).crossing(|| M::PLACE.into())),
            None => failed(in_no_slot()),
        })
    }
}

#[cold]
fn in_no_slot() -> CallError {
    CallError::other("a parameter of a direct call does not lie in a slot")
}
