//! Traits of types that represent methods of native classes, with the receivers and borrows of the methods.

use std::rc::Rc;

use alcedo_abi::call::SourceLocation;

use crate::boundary::CallError;
use crate::handles::ObjectHandle;
use crate::native::failing::{failing, failing_then};
use crate::native::part_cell::PartCell;
use crate::native::parts::Parts;
use crate::native::this::{At, Class, This, View};
use crate::object::native_value::{NativeParams, NativeResult, NativeReturned, SlotRow};
use crate::object::natives::World;

/// A class with Rust fields in the host.
pub trait Part: Class {
    #[doc(hidden)]
    fn red_constructor(this: This<'_, Self>) -> Self;
}

/// Kind of the `self` parameter of a method.
pub trait Receiver {
    /// `true` for `&C`, `false` for `&mut C`.
    const IS_SHARED: bool;
    /// `&C` or `&mut C`.
    type Ref<'p, C: 'p>;
    #[doc(hidden)]
    #[inline]
    fn with<C, R>(
        cell: &PartCell<C>,
        object: ObjectHandle,
        method: &'static str,
        code: impl FnOnce(Self::Ref<'_, C>) -> R,
    ) -> Result<R, CallError> {
        Self::try_with(cell, method, code).ok_or_else(|| cell.refused(object, method))
    }
    #[doc(hidden)]
    fn try_with<C, R>(cell: &PartCell<C>, method: &'static str, code: impl FnOnce(Self::Ref<'_, C>) -> R) -> Option<R>;
}

/// `&self`.
#[derive(Debug)]
pub enum Shared {}

/// `&mut self`.
#[derive(Debug)]
pub enum Exclusive {}

impl Receiver for Shared {
    const IS_SHARED: bool = true;
    type Ref<'p, C: 'p> = &'p C;

    #[inline]
    fn try_with<C, R>(cell: &PartCell<C>, method: &'static str, code: impl FnOnce(&C) -> R) -> Option<R> {
        cell.try_share(method, code)
    }
}

impl Receiver for Exclusive {
    const IS_SHARED: bool = false;
    type Ref<'p, C: 'p> = &'p mut C;

    #[inline]
    fn try_with<C, R>(cell: &PartCell<C>, method: &'static str, code: impl FnOnce(&mut C) -> R) -> Option<R> {
        cell.try_take(method, code)
    }
}

/// Implemented by a type that represents one method of a native class.
pub trait Method: 'static {
    /// Class of the method.
    type Class: Part;
    /// Parameter types.
    type Args: Params;
    /// Result type.
    type Result: NativeResult;
    /// Rust return type: the result type, or a `Result` of the result type.
    type Returned: NativeReturned<Value = Self::Result>;
    /// Kind of the `self` parameter.
    type Receiver: Receiver;
    /// Name of the method, for errors.
    const NAME: &'static str;
    /// Source location.
    const LOCATION: SourceLocation;

    /// Calls the method.
    fn run<'f>(part: Held<'_, Self>, this: This<'f, Self::Class>, args: Arguments<'f, Self>) -> Self::Returned;
}

/// Implemented by a type that represents one static function of a native class.
pub trait StaticMethod: 'static {
    /// Class of the function.
    type Class: Part;
    /// Parameter types.
    type Args: Params;
    /// Result type.
    type Result: NativeResult;
    /// Rust return type: the result type, or a `Result` of the result type.
    type Returned: NativeReturned<Value = Self::Result>;
    /// Source location.
    const LOCATION: SourceLocation;

    /// Calls the function.
    fn run<'f>(args: <Self::Args as Params>::Seen<'f>) -> Self::Returned;
}

/// Parameter types of a method, and the types of the values that the method receives.
pub trait Params: NativeParams + SlotRow {
    /// Types of the received values, valid during the call `'f`.
    type Seen<'f>: From<<Self as NativeParams>::Seen>;
}

impl<T: NativeParams + SlotRow> Params for T {
    type Seen<'f> = <T as NativeParams>::Seen;
}

/// Types of the values that the method `M` receives for its parameters.
pub type Arguments<'f, M> = <<M as Method>::Args as Params>::Seen<'f>;

/// Type of the receiver reference of the method `M`: `&C` or `&mut C`.
pub type Held<'p, M> = <<M as Method>::Receiver as Receiver>::Ref<'p, <M as Method>::Class>;

/// Returns the part of an object, which is the struct with its Rust fields. The first use builds the part.
pub(super) fn part_of<C: Part>(parts: &Parts<C>, this: This<'_, C>) -> Result<Rc<PartCell<C>>, CallError> {
    let At { world, object } = this.view.at();
    parts.get(object, || world.is_alive(object), || C::red_constructor(this))
}

pub(super) fn run<M: Method>(
    parts: &Parts<M::Class>,
    this: This<'_, M::Class>,
    args: <M::Args as NativeParams>::Seen,
) -> Result<M::Result, CallError> {
    let At { world, object } = this.view.at();
    let returned = failing_then(
        || {
            let part = part_of(parts, this)?;
            let this = this.with_part(&part);
            M::Receiver::with(&part, object, M::NAME, |part| M::run(part, this, args.into()))
        },
        || parts.drop_ended(world),
    );
    returned?.crossing(|| M::LOCATION.into())
}

/// Runs a method on the Rust fields of an object, even if the object is destroyed. Returns `None` if an open borrow of the fields conflicts
/// with the method.
pub(super) fn try_run<M: Method>(
    part: &PartCell<M::Class>,
    this: This<'_, M::Class>,
    args: <M::Args as NativeParams>::Seen,
) -> Option<Result<M::Result, CallError>> {
    let this = this.with_part(part);
    let returned = failing(|| Ok(M::Receiver::try_with(part, M::NAME, |part| M::run(part, this, args.into()))));
    Some(returned.transpose()?.and_then(|returned| returned.crossing(|| M::LOCATION.into())))
}

/// Runs `code` for an object. The caller must have checked that the object is of class `C`.
pub(crate) fn run_for<C: Class, R>(
    world: &World,
    object: ObjectHandle,
    code: impl FnOnce(This<'_, C>) -> R,
) -> Result<R, CallError> {
    failing(|| Ok(code(This::new(world, object))))
}

pub(super) fn run_static<M: StaticMethod>(args: <M::Args as NativeParams>::Seen) -> Result<M::Result, CallError> {
    failing(|| Ok(M::run(args.into())))?.crossing(|| M::LOCATION.into())
}
