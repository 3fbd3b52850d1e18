//! Trampolines that the host calls. A trampoline only converts values, inside one panic guard, and calls the author's safe
//! function through a small trait. So there is one trampoline per shape of function, not one per function.
#![expect(unsafe_code, reason = "converts data borrowed from the host into references and values")]

use alcedo_abi::abi_stable::std_types::ROption;
use alcedo_abi::call::{Call, Failure, FailureKind, Invoke, Status};
use alcedo_abi::describe::PartHooks;
use alcedo_abi::handles::{ObjectHandle, PartPtr};
use alcedo_abi::value::{KeepSink, TextView};
use alcedo_abi::zcall::{Slot, ZCallBuffer};
use alcedo_rt::{catch_panics, is_game_thread};

use super::returned::{Returned, SourceLocation};
use crate::blocks::{ArgumentSlots, Block, BlockLayout, ResultSlot};
use crate::class::Part;
use crate::host::borrowed_text;
use crate::keep::KeptWriter;
use crate::part_cell::{PartCell, Sharing, Taking};
use crate::signature::{Params, ReturnValue};
use crate::thunk::Frame;
use crate::{CallError, Class, This};

/// Kind of `self` of a method.
pub trait Receiver {
    /// `&C` or `&mut C`.
    type Ref<'p, C: 'p>;
    /// True for a shared borrow.
    const IS_SHARED: bool;

    #[doc(hidden)]
    fn with<M: Method, R>(
        cell: &PartCell<M::Class>,
        object: ObjectHandle,
        code: impl FnOnce(Self::Ref<'_, M::Class>) -> R,
    ) -> Result<R, CallError>;
}

/// `&self`.
#[derive(Debug)]
pub enum Shared {}

/// `&mut self`.
#[derive(Debug)]
pub enum Exclusive {}

impl Receiver for Shared {
    type Ref<'p, C: 'p> = &'p C;
    const IS_SHARED: bool = true;

    fn with<M: Method, R>(
        cell: &PartCell<M::Class>,
        object: ObjectHandle,
        code: impl FnOnce(&M::Class) -> R,
    ) -> Result<R, CallError> {
        cell.share(object, const { &Sharing::new(M::NAME) }, code)
    }
}

impl Receiver for Exclusive {
    type Ref<'p, C: 'p> = &'p mut C;
    const IS_SHARED: bool = false;

    fn with<M: Method, R>(
        cell: &PartCell<M::Class>,
        object: ObjectHandle,
        code: impl FnOnce(&mut M::Class) -> R,
    ) -> Result<R, CallError> {
        cell.take(object, const { &Taking::new(M::NAME) }, code)
    }
}

/// No `self`: the plugin part may be borrowed by others during the call.
#[derive(Debug)]
pub enum Untouched {}

impl Receiver for Untouched {
    type Ref<'p, C: 'p> = ();
    const IS_SHARED: bool = false;

    fn with<M: Method, R>(
        _cell: &PartCell<M::Class>,
        _object: ObjectHandle,
        code: impl FnOnce(()) -> R,
    ) -> Result<R, CallError> {
        Ok(code(()))
    }
}

/// A method of a plugin part, as a type.
pub trait Method {
    /// Class of the plugin part.
    type Class: Part;
    /// Parameters.
    type Args: Params;
    /// Result.
    type Result: ReturnValue;
    /// Rust return type: the result, or a `Result` of it.
    type Returned: Returned<Value = Self::Result>;
    /// Kind of `self`.
    type Receiver: Receiver;
    /// Name of the method, for errors.
    const NAME: &'static str;
    /// Location of the method, for errors that it returns.
    const LOCATION: SourceLocation;

    /// Calls the method.
    fn run<'f>(part: Held<'_, Self>, this: This<'f, Self::Class>, args: Arguments<'f, Self>) -> Self::Returned;
}

/// Parameters of a method as the method receives them, in the call `'f`.
pub type Arguments<'f, M> = <<M as Method>::Args as Params>::Seen<'f>;

/// The `self` of a method.
pub type Held<'p, M> = <<M as Method>::Receiver as Receiver>::Ref<'p, <M as Method>::Class>;

/// A static function of a class, as a type.
pub trait StaticMethod {
    /// Class of the function.
    type Class: Class;
    /// Parameters.
    type Args: Params;
    /// Result.
    type Result: ReturnValue;
    /// Rust return type: the result, or a `Result` of it.
    type Returned: Returned<Value = Self::Result>;
    /// Location of the function, for errors that it returns.
    const LOCATION: SourceLocation;

    /// Calls the function.
    fn run<'f>(args: <Self::Args as Params>::Seen<'f>) -> Self::Returned;
}

/// Trampoline of a static function.
///
/// # Safety
/// See [`Invoke`].
pub(super) unsafe extern "C" fn invoke_static<M: StaticMethod>(call: &mut Call<'_>) -> Status {
    let Call { params, failure, .. } = call;
    let params = *params;
    catch_panics(failure, || {
        // SAFETY: `Invoke`: the block stays for the call and has the layout in the description of this function: parameters,
        // then result.
        let (args, result_at) =
            unsafe { (Block::new(params, BlockLayout::EMPTY), Block::new(params, M::Args::LAYOUT)) };
        M::run(M::Args::open(args)).crossing(M::LOCATION)?.store_result(result_at)
    })
}

/// A custom thunk written by the author, as a type.
pub trait CustomThunk {
    /// Class of the function.
    type Class: Class;

    /// Steps through the parameters, does the work and sets the result.
    fn run(frame: &mut Frame<'_>) -> Result<(), CallError>;
}

/// Trampoline of a custom thunk.
///
/// # Safety
/// No requirements: `params` is a number, which the host looks up.
pub(super) unsafe extern "C" fn invoke_custom<T: CustomThunk>(call: &mut Call<'_>) -> Status {
    let Call { object, params, failure, .. } = call;
    let (object, number) = (*object, params.addr() as u64);
    catch_panics(failure, || T::run(&mut Frame::new(number, object)))
}

/// Trampoline of a function without a body: the result is the zero value that the host has written before.
///
/// # Safety
/// No requirements.
pub(super) unsafe extern "C" fn invoke_nothing(_call: &mut Call<'_>) -> Status {
    Status::OK
}

/// Trampoline of a method.
///
/// # Safety
/// See [`Invoke`].
pub(super) unsafe extern "C" fn invoke<M: Method>(call: &mut Call<'_>) -> Status {
    let Call { object, memory, part, params, failure } = call;
    let (object, memory, part, params) = (*object, *memory, *part, *params);
    catch_panics(failure, || {
        // SAFETY: `Invoke`: object and memory are live for the call, which is the frame; the part is the one that this module
        // created for the class; the block stays for the call, too, and has the layout in the description of this method:
        // parameters, then result.
        let (this, cell, args, result_at) = unsafe {
            let this = This::<M::Class>::new(object, memory);
            let cell = cell_of::<M::Class>(part, object)?;
            (this, cell, Block::new(params, BlockLayout::EMPTY), Block::new(params, M::Args::LAYOUT))
        };
        let args = M::Args::open(args);
        let returned = <M::Receiver as Receiver>::with::<M, _>(cell, object, |part| M::run(part, this, args))?;
        // The part is no longer borrowed here, because `Display` and `Drop` of an error run code of the author.
        returned.crossing(M::LOCATION)?.store_result(result_at)
    })
}

/// # Safety
/// `part` is null or the plugin part that this module created for `C` and that the host keeps.
pub(super) unsafe fn cell_of<'a, C: Part>(part: *mut (), object: ObjectHandle) -> Result<&'a PartCell<C>, CallError> {
    // SAFETY: promised by the caller.
    unsafe { part.cast::<PartCell<C>>().as_ref() }
        .ok_or_else(|| CallError::new(FailureKind::UNAVAILABLE, format!("the plugin part of {object} for {}", C::PATH)))
}

#[must_use]
pub(super) const fn hooks<C: Part>(
    class_constructor: ROption<Invoke>,
    post_init_properties: ROption<Invoke>,
) -> PartHooks {
    PartHooks {
        red_constructor: red_constructor::<C>,
        class_constructor,
        post_init_properties,
        save_kept: save_kept::<C>,
        load_kept: load_kept::<C>,
        finalize: finalize::<C>,
    }
}

/// # Safety
/// See [`Invoke`]; the part does not exist yet.
unsafe extern "C" fn red_constructor<C: Part>(call: &mut Call<'_>, out: &mut PartPtr) -> Status {
    let Call { object, memory, failure, .. } = call;
    let (object, memory) = (*object, *memory);
    catch_panics(failure, || {
        // SAFETY: object and memory are live for the call, which is the frame.
        let this = unsafe { This::<C>::new(object, memory) };
        let cell = Box::new(PartCell::new(C::red_constructor(this)));
        *out = PartPtr(Box::into_raw(cell).cast());
        Ok(())
    })
}

/// Borrow of a plugin part while it is saved.
const SAVING: &Sharing = &Sharing::new("keep");

/// Borrow of a plugin part while it is restored.
const FILLING: &Taking = &Taking::new("keep");

/// # Safety
/// `part` is a plugin part that this module created for `C`; `sink` is live for the call.
unsafe extern "C" fn save_kept<C: Part>(part: PartPtr, sink: &KeepSink, failure: &mut Failure) -> Status {
    catch_panics(failure, || {
        // SAFETY: promised by the caller.
        let cell = unsafe { cell_of::<C>(part.0, ObjectHandle::NONE) }?;
        let put = |name: &str, data: &[u8]| {
            // SAFETY: name and data are live for the call, and the sink is the host's, lent with its own context.
            unsafe { (sink.put)(sink.context, TextView::of(name), data.as_ptr(), data.len()) };
        };
        cell.share(ObjectHandle::NONE, SAVING, |part| part.save_kept(&mut KeptWriter { sink: &put }))
    })
}

/// # Safety
/// `part` is a plugin part that this module created for `C`; name and data are live for the call.
unsafe extern "C" fn load_kept<C: Part>(
    part: PartPtr,
    name: TextView,
    data: *const u8,
    len: usize,
    failure: &mut Failure,
) -> Status {
    catch_panics(failure, || {
        // SAFETY: the host promises that the part is of this class, and that name and data are live for the call; an empty
        // slice is never read.
        let (cell, name, data) = unsafe {
            let data = if len == 0 { &[][..] } else { core::slice::from_raw_parts(data, len) };
            (cell_of::<C>(part.0, ObjectHandle::NONE)?, borrowed_text(name), data)
        };
        cell.take(ObjectHandle::NONE, FILLING, |part| part.load_kept(&name, data))?
    })
}

/// # Safety
/// `part` is a plugin part that this module created for `C`; the host passes its ownership.
unsafe extern "C" fn finalize<C: Part>(part: PartPtr, failure: &mut Failure) -> Status {
    catch_panics(failure, || {
        // SAFETY: the caller promises a part of this class and passes its ownership; the red constructor created it as a box of
        // this type.
        unsafe {
            let cell = cell_of::<C>(part.0, ObjectHandle::NONE)?;
            if !cell.is_free() {
                // The holder is on the stack of the game thread, so its name is read on that thread only.
                let holder = if is_game_thread() { cell.holder() } else { "a method" };
                return Err(CallError::reentrant(ObjectHandle::NONE, holder, "drop"));
            }
            drop(Box::from_raw(part.0.cast::<PartCell<C>>()));
        }
        Ok(())
    })
}

/// A static function that a module exports by name, as a type.
pub trait Export {
    /// Parameters.
    type Args: Params;
    /// Result.
    type Result: ReturnValue;
    /// Rust return type: the result, or a `Result` of it.
    type Returned: Returned<Value = Self::Result>;
    /// Name of the function, for errors.
    const NAME: &'static str;
    /// Location of the function, for errors that it returns.
    const LOCATION: SourceLocation;

    /// Calls the function.
    fn run(args: Self::Args) -> Self::Returned;
}

/// Trampoline of an exported function.
///
/// # Safety
/// See [`alcedo_abi::describe::ZCallInvoke`].
pub(super) unsafe extern "C" fn export_trampoline<E: Export>(
    buffer: &mut ZCallBuffer,
    failure: &mut Failure,
) -> Status {
    // SAFETY: `ZCallInvoke` promises the slots of the signature, for the call.
    catch_panics(failure, || unsafe { typed_slots::<E::Args, E::Returned>(E::NAME, E::LOCATION, buffer, E::run) })
}

/// Calls `run` with the arguments in the slots and writes its result into the last slot. Errors name the function `name`.
///
/// # Safety
/// The buffer borrows its slots, live and unshared, for the call; pointer slots match the signature of these types.
#[inline]
pub(crate) unsafe fn typed_slots<A: Params, X: Returned>(
    name: &str,
    location: SourceLocation,
    buffer: &mut ZCallBuffer,
    run: impl FnOnce(A) -> X,
) -> Result<(), CallError> {
    let expected = A::COUNT + usize::from(<X::Value as ReturnValue>::VALUE.is_some());
    if buffer.len != expected {
        let message = format!("{name} takes {expected} slots, result included, the buffer has {}", buffer.len);
        return Err(CallError::new(FailureKind::BUFFER, message));
    }
    let mut none = Slot::EMPTY;
    // SAFETY: the caller promises that the buffer borrows its slots, live and unshared, for the call, and that pointer slots
    // match the signature: those of the arguments, followed by that of the result, if any.
    let (args, result) = unsafe {
        let slots: &mut [Slot] =
            if expected == 0 { &mut [] } else { core::slice::from_raw_parts_mut(buffer.slots, expected) };
        let (args, result) = slots.split_at_mut(A::COUNT);
        (ArgumentSlots::new(args), ResultSlot::new(result.first_mut().unwrap_or(&mut none)))
    };
    run(A::from_slots(args)?).crossing(location)?.into_result_slot(result)
}

/// A typed wrapper of a description; the ABI only has the description.
///
/// # Safety
/// The type is `repr(transparent)` over `Inner`, or a reference to a type that is transparent over the target of `Inner`.
pub(super) unsafe trait Transparent: 'static {
    /// Type in the ABI.
    type Inner: 'static;
}

/// Returns a list of descriptions as the host reads it.
pub(super) const fn bare<D: Transparent>(list: &'static [D]) -> &'static [D::Inner] {
    // SAFETY: `Transparent` promises that both types have the same layout; the list is never written.
    unsafe { core::slice::from_raw_parts(list.as_ptr().cast(), list.len()) }
}
