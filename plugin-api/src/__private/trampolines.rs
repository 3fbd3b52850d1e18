//! Trampolines that the host calls. Inside one panic guard, a trampoline converts values and calls the author's safe function through a
//! small trait, so this file has only one generic trampoline for each kind of function.
#![expect(unsafe_code, reason = "converts data borrowed from the host into references and values")]

use core::marker::PhantomData;

use alcedo_abi::call::{Call, Failure, FailureKind, Status};
use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::zcall::{Slot, ZCallBuffer};
use alcedo_rt::catch_panics;

use super::returned::{Returned, SourceLocation};
use crate::class::Part;
use crate::part_cell::{self, Holders, PartCell, Space};
use crate::ptr::{ArgumentSlots, Block, BlockLayout, ResultSlot};
use crate::signature::{Params, ReturnValue};
use crate::thunk::Frame;
use crate::{CallError, Class, This};

/// Kind of the `self` parameter of a method.
pub trait Receiver {
    /// Reference to the plugin part: `&C` or `&mut C`.
    type Ref<'p, C: 'p>;
    /// True if the method begins a shared borrow of the plugin part.
    const IS_SHARED: bool;
    /// Borrow of the plugin part. Dropping the value ends the borrow.
    #[doc(hidden)]
    type Borrow<'p, C: 'p>;

    #[doc(hidden)]
    fn begin<'p, C>(
        cell: &'p PartCell<C>,
        object: ObjectHandle,
        holders: &'static Holders,
        space: &'p mut Space,
    ) -> Result<Self::Borrow<'p, C>, CallError>;

    #[doc(hidden)]
    fn part<'p, C>(borrow: &'p mut Self::Borrow<'_, C>) -> Self::Ref<'p, C>;
}

/// Marker for `&self`.
#[derive(Debug)]
pub enum Shared {}

/// Marker for `&mut self`.
#[derive(Debug)]
pub enum Exclusive {}

/// Implements `Receiver` for a marker of `&self` or `&mut self`.
macro_rules! receivers {
    ($($marker:ident: &$($mutable:ident)?, is_shared: $is_shared:literal, $borrow:ident = $begin:ident($holder:ident);)*) => {$(
        impl Receiver for $marker {
            type Ref<'p, C: 'p> = &'p $($mutable)? C;
            const IS_SHARED: bool = $is_shared;
            type Borrow<'p, C: 'p> = part_cell::$borrow<'p, C>;

            #[inline(always)]
            fn begin<'p, C>(
                cell: &'p PartCell<C>,
                object: ObjectHandle,
                holders: &'static Holders,
                space: &'p mut Space,
            ) -> Result<part_cell::$borrow<'p, C>, CallError> {
                cell.$begin(object, &holders.$holder, space)
            }

            #[inline(always)]
            fn part<'p, C>(borrow: &'p mut part_cell::$borrow<'_, C>) -> &'p $($mutable)? C {
                borrow.part()
            }
        }
    )*};
}
receivers! {
    Shared: &, is_shared: true, Shared = shared(sharing);
    Exclusive: &mut, is_shared: false, Taken = taken(taking);
}

/// Marker for a method without `self`. Other methods may borrow the plugin part during the call.
#[derive(Debug)]
pub enum Untouched {}

impl Receiver for Untouched {
    type Ref<'p, C: 'p> = ();
    const IS_SHARED: bool = false;
    type Borrow<'p, C: 'p> = ();

    #[inline]
    fn begin<'p, C>(
        _cell: &'p PartCell<C>,
        _object: ObjectHandle,
        _holders: &'static Holders,
        _space: &'p mut Space,
    ) -> Result<(), CallError> {
        Ok(())
    }

    #[inline]
    fn part<C>((): &mut ()) {}
}

/// Type that represents a method of a plugin part.
pub trait Method {
    /// Class of the plugin part.
    type Class: Part;
    /// Types of the parameters.
    type Args: Params;
    /// Type of the result.
    type Result: ReturnValue;
    /// Rust return type: the result, or a `Result` that contains the result.
    type Returned: Returned<Value = Self::Result>;
    /// Kind of the `self` parameter.
    type Receiver: Receiver;
    /// Name of the method, for errors.
    const NAME: &'static str;
    /// Source location of the method, for errors that the method returns.
    const LOCATION: SourceLocation;

    /// Calls the method.
    fn run<'f>(part: Held<'_, Self>, this: This<'f, Self::Class>, args: Arguments<'f, Self>) -> Self::Returned;
}

/// Parameters of a method, in the form that the method receives during the call `'f`.
pub type Arguments<'f, M> = <<M as Method>::Args as Params>::Seen<'f>;

/// Value of `self` that a method receives.
pub type Held<'p, M> = <<M as Method>::Receiver as Receiver>::Ref<'p, <M as Method>::Class>;

/// Type that represents a static function of a class.
pub(super) trait StaticMethod {
    /// Types of the parameters.
    type Args: Params;
    /// Rust return type: the result, or a `Result` that contains the result.
    type Returned: Returned;
    /// Source location of the function, for errors that the function returns.
    const LOCATION: SourceLocation;

    /// Calls the function.
    fn run<'f>(args: <Self::Args as Params>::Seen<'f>) -> Self::Returned;
}

/// Name of a method, names of the parameters, defaults of the parameters, and the source location for errors that the method returns. The
/// lists of defaults and locations may be empty.
pub type MethodNames = (&'static str, &'static [&'static str], &'static [&'static str], &'static [SourceLocation]);

/// Names of the methods of an `impl` block. A trampoline refers to the names by position.
pub trait Methods: 'static {
    /// Class of the methods.
    type Class: Class;
    /// Names of the methods, by position.
    const NAMES: &'static [MethodNames];
}

/// Returns the source location for errors that the method returns. For a method that does not return a `Result`, the location is empty.
const fn location_of(names: &MethodNames) -> SourceLocation {
    match names.3 {
        [location] => *location,
        _ => SourceLocation { file: "", line: 0, column: 0 },
    }
}

/// Names of a method with an implementation of [`Method`].
pub(super) struct NamesOf<M>(PhantomData<M>);

impl<M: Method + 'static> Methods for NamesOf<M> {
    type Class = M::Class;
    const NAMES: &'static [MethodNames] = &[(M::NAME, &[], &[], &[M::LOCATION])];
}

/// Type of the body of a method: a closure or a function without captures. Functions that are generic over the body receive the other types
/// as separate parameters. Associated types of a trait for methods would take longer to compile, because no two methods share them.
pub(super) trait MethodBody<B: Methods, K: Receiver, A: Params, X>:
    for<'p, 'f> Fn(K::Ref<'p, B::Class>, This<'f, B::Class>, A::Seen<'f>) -> X + Copy + Send + Sync + 'static
{
}

impl<B, K, A, X, F> MethodBody<B, K, A, X> for F
where
    B: Methods,
    K: Receiver,
    A: Params,
    F: for<'p, 'f> Fn(K::Ref<'p, B::Class>, This<'f, B::Class>, A::Seen<'f>) -> X + Copy + Send + Sync + 'static,
{
}

/// Constant data of a method's trampolines.
struct About {
    holders: Holders,
    location: SourceLocation,
}

/// Static function with a body of the closure type `F`. The names of the function and of its parameters are in `B::NAMES[AT]`. This type is
/// used only in functions that receive a zero-sized body of type `F`, because `run` creates a value of `F`.
pub(super) struct StaticMethodOf<B, const AT: usize, A, X, F>(PhantomData<(B, A, X, F)>);

impl<B, const AT: usize, A, X, F> StaticMethod for StaticMethodOf<B, AT, A, X, F>
where
    B: Methods,
    A: Params,
    X: Returned,
    F: for<'f> Fn(A::Seen<'f>) -> X + Copy + Send + Sync + 'static,
{
    type Args = A;
    type Returned = X;
    const LOCATION: SourceLocation = location_of(&B::NAMES[AT]);

    #[inline(always)]
    fn run<'f>(args: A::Seen<'f>) -> X {
        // SAFETY: this type is used only in functions that receive a value of `F`, which is `Copy` and zero-sized.
        let body = unsafe { Body::<F> { nothing: () }.body };
        body(args)
    }
}

/// Closure without captures. Code reads the closure from this union as a value, without a function call.
union Body<F: Copy> {
    nothing: (),
    body: F,
}

/// Body of a trampoline. The arguments are the object, the object's memory, the plugin part, and the parameter block of the call.
pub(super) type Code = unsafe fn(ObjectHandle, *mut u8, *mut (), *mut u8) -> Result<(), CallError>;

/// Calls `code` in a panic guard. This function is not generic, so builds without optimization compile the guard only once, in this
/// crate. Optimized builds always inline this function, so that the compiler can inline `code` as well.
///
/// # Safety
/// See [`Invoke`](alcedo_abi::call::Invoke); `code` has the same requirements.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn guarded(call: &mut Call<'_>, code: Code) -> Status {
    let Call { object, memory, part, params, failure } = call;
    let (object, memory, part, params) = (*object, *memory, *part, *params);
    // SAFETY: the caller upholds the contract of this function.
    catch_panics(failure, || unsafe { code(object, memory, part, params) })
}

/// Trampoline of a static function.
///
/// # Safety
/// See [`Invoke`](alcedo_abi::call::Invoke).
pub(super) unsafe extern "C" fn invoke_static<M: StaticMethod>(call: &mut Call<'_>) -> Status {
    // SAFETY: the caller upholds the contract of this function.
    unsafe { guarded(call, perform_static::<M>) }
}

/// Calls a static function. The parameters for the object, its memory and its plugin part are unused.
///
/// # Safety
/// `params` is a parameter block of the function, live for the call.
#[inline(always)]
pub(super) unsafe fn perform_static<M: StaticMethod>(
    _object: ObjectHandle,
    _memory: *mut u8,
    _part: *mut (),
    params: *mut u8,
) -> Result<(), CallError> {
    // SAFETY: the caller promises a block in the layout of this function's description: the parameters, then the result.
    let (args, result_at) = unsafe { (Block::new(params, BlockLayout::EMPTY), Block::new(params, M::Args::LAYOUT)) };
    M::run(M::Args::open(args)).crossing(M::LOCATION)?.store_result(result_at)
}

/// Type that represents an author's custom thunk.
pub trait CustomThunk {
    /// Class of the function.
    type Class: Class;

    /// Reads the parameters one by one, performs the call, and sets the result.
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

/// Trampoline of a function without a body. The result is the zero value that the host has written before the call.
///
/// # Safety
/// No requirements.
pub(super) unsafe extern "C" fn invoke_nothing(_call: &mut Call<'_>) -> Status {
    Status::OK
}

/// Trampoline of a method with a body of the closure type `F`. The name of the method is in `B::NAMES[AT]`. This function is used only in
/// functions that receive a zero-sized body of type `F`, because [`perform`] creates a value of `F`.
///
/// # Safety
/// See [`Invoke`](alcedo_abi::call::Invoke).
pub(super) unsafe extern "C" fn invoke<B, const AT: usize, K, A, X, F>(call: &mut Call<'_>) -> Status
where
    B: Methods<Class: Part>,
    K: Receiver,
    A: Params,
    X: Returned,
    F: MethodBody<B, K, A, X>,
{
    // SAFETY: the caller upholds the contract of this function.
    unsafe { guarded(call, perform::<B, AT, K, A, X, F>) }
}

/// Calls a method.
///
/// # Safety
/// `memory` is the memory of `object`. Both are live until the function returns. `part` is null, or the plugin part that this module
/// created for the class. `params` is a parameter block of the method, live during the call.
#[inline(always)]
#[expect(clippy::question_mark, reason = "the functions of `?` would be code of each class")]
pub(super) unsafe fn perform<B, const AT: usize, K, A, X, F>(
    object: ObjectHandle,
    memory: *mut u8,
    part: *mut (),
    params: *mut u8,
) -> Result<(), CallError>
where
    B: Methods<Class: Part>,
    K: Receiver,
    A: Params,
    X: Returned,
    F: MethodBody<B, K, A, X>,
{
    // SAFETY: the caller upholds this contract; the block has the layout in the method's description: the parameters, then the result.
    let (this, cell, args, result_at) = unsafe {
        let this = This::<B::Class>::new(object, memory);
        let cell = match cell_of::<B::Class>(part, object) {
            Ok(cell) => cell,
            Err(error) => return Err(error),
        };
        (this, cell, Block::new(params, BlockLayout::EMPTY), Block::new(params, A::LAYOUT))
    };
    let about = const { &About { holders: Holders::new(B::NAMES[AT].0), location: location_of(&B::NAMES[AT]) } };
    let (args, mut space) = (A::open(args), Space::new());
    let mut borrow = match K::begin(cell, object, &about.holders, &mut space) {
        Ok(borrow) => borrow,
        Err(error) => return Err(error),
    };
    // SAFETY: this function is used only in functions that receive a value of `F`, which is `Copy` and zero-sized.
    let body = unsafe { Body::<F> { nothing: () }.body };
    let returned = body(K::part(&mut borrow), this, args);
    // The borrow ends before the conversion of an error, because `Display` and `Drop` of the error run the author's code.
    drop(borrow);
    returned.crossing(about.location)?.store_result(result_at)
}

/// # Safety
/// `part` is null, or the plugin part that this module created for `C`. The host keeps the part during `'a`.
pub(super) unsafe fn cell_of<'a, C: Part>(part: *mut (), object: ObjectHandle) -> Result<&'a PartCell<C>, CallError> {
    if part.is_null() {
        return Err(without_part(object, C::PATH));
    }
    // SAFETY: the caller upholds the contract of this function.
    Ok(unsafe { &*part.cast::<PartCell<C>>() })
}

/// Returns the error of a call for an object without a plugin part for the class at `path`.
#[cold]
fn without_part(object: ObjectHandle, path: &str) -> CallError {
    CallError::new(FailureKind::UNAVAILABLE, format!("the plugin part of {object} for {path}"))
}

/// Type that represents an exported static function.
pub trait Export {
    /// Types of the parameters.
    type Args: Params;
    /// Type of the result.
    type Result: ReturnValue;
    /// Rust return type: the result, or a `Result` that contains the result.
    type Returned: Returned<Value = Self::Result>;
    /// Name of the function, for errors.
    const NAME: &'static str;
    /// Source location of the function, for errors that the function returns.
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
    // SAFETY: the caller upholds the contract of this function.
    unsafe { guarded_slots(buffer, failure, export::<E>) }
}

/// # Safety
/// See [`alcedo_abi::describe::ZCallInvoke`].
unsafe fn export<E: Export>(buffer: &mut ZCallBuffer) -> Result<(), CallError> {
    // SAFETY: `ZCallInvoke` promises slots that match the signature, live for the call.
    unsafe { typed_slots::<E::Args, E::Returned>(E::NAME, E::LOCATION, buffer, E::run) }
}

/// # Safety
/// See [`export_trampoline`]; `code` has the requirements of [`export`].
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn guarded_slots(
    buffer: &mut ZCallBuffer,
    failure: &mut Failure,
    code: unsafe fn(&mut ZCallBuffer) -> Result<(), CallError>,
) -> Status {
    // SAFETY: the caller upholds the contract of this function.
    catch_panics(failure, || unsafe { code(buffer) })
}

/// Calls `run` with the arguments in the slots, and writes the result into the last slot. Error messages contain `name` as the
/// function's name.
///
/// # Safety
/// The slots of the buffer are live and unshared for the call. Pointer slots match the signature of `A` and `X`.
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
    // SAFETY: the caller promises slots that are live and unshared during the call.
    // Pointer slots match the signature: first the slots of the arguments, then the slot of the result, if any.
    let (args, result) = unsafe {
        let slots: &mut [Slot] =
            if expected == 0 { &mut [] } else { core::slice::from_raw_parts_mut(buffer.slots, expected) };
        let (args, result) = slots.split_at_mut(A::COUNT);
        (ArgumentSlots::new(args), ResultSlot::new(result.first_mut().unwrap_or(&mut none)))
    };
    run(A::from_slots(args)?).crossing(location)?.into_result_slot(result)
}

/// Typed wrapper of a description. Only the inner description is part of the ABI.
///
/// # Safety
/// The type is `repr(transparent)` over `Inner`, or a reference to a type that is transparent over the target of `Inner`.
pub(super) unsafe trait Transparent: 'static {
    /// Type in the ABI.
    type Inner: 'static;
}

/// Converts a list of wrappers into a list of their inner descriptions for the host.
pub(super) const fn bare<D: Transparent>(list: &'static [D]) -> &'static [D::Inner] {
    // SAFETY: `Transparent` promises that both types have the same layout; the list is never written.
    unsafe { core::slice::from_raw_parts(list.as_ptr().cast(), list.len()) }
}
