//! Methods of native classes as plugins call them without slots: the words of the call become parameters, the Rust fields are
//! borrowed, and the method runs. Whatever is not the plain case is left to the call with slots.
#![expect(unsafe_code, reason = "follows the context that stands beside the code")]

use std::any::Any;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::rc::Rc;

use alcedo_abi::black_direct::{DirectAnswer, DirectBits, DirectBody, DirectStatus};

use crate::border::CallError;
use crate::bridge::black_direct::{Answering, DirectMaker, failed, given, guarded};
use crate::bridge::core::Core;
use crate::handles::ObjectHandle;
use crate::native::method::{Method, Receiver as _, StaticMethod};
use crate::native::parts::Parts;
use crate::native::this::This;
use crate::native::world::World;
use crate::object::native_value::{NativeResult, NativeReturned as _, SlotRow};
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
    let parts = Rc::clone(parts);
    Some(DirectMaker::kept(move |core, answering| {
        let context = Context { core: NonNull::from(&**core), parts: Rc::clone(&parts), answering };
        let code = BitsOf::<M::Args>::address(BitsOf::<M::Args>::code_of::<Shell<M>>());
        let each = BitsOf::<M::Args>::each_of::<Shell<M>>();
        // SAFETY: the code has the form for so many arguments, whose values lie in slots. Its context stands in the table of the core
        // that it leads to, and so does not outlive it.
        unsafe { BlackCode::new(code, Some(Rc::new(context))).with_each(each) }
    }))
}

/// What a function without an object has for direct calls, if all its values lie in slots.
pub(super) fn of_static<M: StaticMethod>() -> Option<Rc<dyn Any>> {
    if !is_plain::<M::Args, M::Result>() {
        return None;
    }
    Some(DirectMaker::kept(|_core, _answering| {
        let code = BitsOf::<M::Args>::address(BitsOf::<M::Args>::code_of::<StaticShell<M>>());
        // SAFETY: as for a method; it has no context.
        unsafe { BlackCode::new(code, None) }
    }))
}

/// The code of a method.
struct Shell<M>(PhantomData<M>);

impl<M: Method> DirectBody<BitsOf<M::Args>> for Shell<M> {
    #[inline]
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
        if !context.answering.answers(core, object) {
            return context.answering.call_override(core, object, bits.slots().as_ref());
        }
        let answer = guarded(|| {
            // What a type makes of its bits may be anything, so the part is looked for after it.
            let Some(args) = M::Args::of_bits(bits) else { return failed(in_no_slot()) };
            let Some(part) = context.parts.find(object) else { return DirectAnswer::without(DirectStatus::NOT_DONE) };
            // SAFETY: the part is there. It stays where it is until it is dropped, and while a method uses it, as the one below does as
            // soon as it runs, it is not dropped; what is done before runs no other code.
            let part = unsafe { part.as_ref() };
            let this = This::<M::Class>::new(World::new(&core.world), object).with_part(part);
            match M::Receiver::try_with(part, M::NAME, |part| M::run(part, this, args.into())) {
                Some(returned) => given(returned.crossing(|| M::PLACE.into())),
                None => failed(part.refused(object, M::NAME)),
            }
        });
        if context.parts.has_ended() {
            // Fields may panic when they are dropped.
            return guarded(|| {
                context.parts.drop_ended();
                answer
            });
        }
        answer
    }
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
