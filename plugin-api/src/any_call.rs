//! Calls by name without static types. Numbers, names and objects are passed as plain values, and all remaining values as conjugates.
#![expect(unsafe_code, reason = "declares the traits that define the content of slots")]

use alcedo_abi::call::{Failure, FailureKind};
use alcedo_abi::handles::{ConjugateHandle, ObjectHandle, ZCallHandle};
use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::zcall::{Slot, SlotType};
use alcedo_rt::CallError;

use crate::signature::for_each_count;
use crate::value::{plain_slot, plain_value};
use crate::zcall::{buffer_of, is_of_objects};
use crate::{AnyConjugate, Class, Obj, ObjectView, UName, host};

/// Result kind of a function without a result.
const NO_VALUE: PropertyKind = PropertyKind(0);

/// Type of an argument that [`ObjectView::zcall_any`](crate::ObjectView::zcall_any) accepts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed where its type is unknown",
    label = "take a number, a `bool`, a `UName`, an `Obj<Class>`, or an `AnyConjugate` of the value"
)]
///
/// # Safety
/// The slot contains a plain value or the number of a conjugate, never an address.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
/// use alcedo_plugin_api::AnyArgument;
///
/// /// Writes a property whose type is declared only in the host.
/// fn write(this: This<'_, Object>, name: &str, value: impl AnyArgument) -> Result<(), CallError> {
///     this.zcall_any(name, (this.as_obj(), 1_u8, value))
/// }
///
/// fn show(this: This<'_, Object>) -> Result<(), CallError> {
///     write(this, "up:/Script/Game.Crate:weight", 12.5)?;
///     write(this, "up:/Script/Game.Crate:is_open", true)
/// }
/// ```
pub unsafe trait AnyArgument {
    #[doc(hidden)]
    fn slot(&self) -> Slot;
}

/// Arguments of a call without static types: a tuple of up to eight values.
///
/// # Safety
/// Each slot that `with_slots` passes for an argument was created by that argument's [`AnyArgument::slot`].
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
/// use alcedo_plugin_api::AnyArguments;
///
/// fn report<A: AnyArguments>(this: This<'_, Object>, args: A) {
///     if let Err(error) = this.zcall_any::<A, ()>("ex:/log.event", args) {
///         eprintln!("no event: {error}");
///     }
/// }
///
/// fn show(this: This<'_, Object>) {
///     report(this, (3_u32, true));
/// }
/// ```
pub unsafe trait AnyArguments {
    /// Calls `code` with a buffer of slots: the object, the arguments, and an empty slot.
    #[doc(hidden)]
    fn with_slots<R>(&self, object: ObjectHandle, code: impl FnOnce(&mut [Slot]) -> R) -> R;
}

/// Result of a call without static types: a plain value, an [`AnyConjugate`] that the caller owns, or `()`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result where its type is unknown",
    label = "take (), a number, a `bool`, a `UName`, an `Obj<Class>`, or an `AnyConjugate`"
)]
///
/// # Safety
/// `take` can convert a result of each kind that `EXPECTED` accepts.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
/// use alcedo_plugin_api::AnyResult;
///
/// /// Reads a property of this object.
/// fn read<R: AnyResult>(this: This<'_, Object>, name: &str) -> Result<R, CallError> {
///     this.zcall_any(name, (this.as_obj(), 0_u8))
/// }
///
/// fn show(this: This<'_, Object>) -> Result<(), CallError> {
///     let weight: f64 = read(this, "up:/Script/Game.Crate:weight")?;
///     let tags: AnyConjugate = read(this, "up:/Script/Game.Crate:tags")?;
///     Ok(())
/// }
/// ```
pub unsafe trait AnyResult: Sized {
    /// Kind that the callee's result must have; `None` for `()`.
    #[doc(hidden)]
    const EXPECTED: Option<Expected>;

    /// Converts the content of the result slot.
    ///
    /// # Safety
    /// A callee whose result matches `EXPECTED` has filled the slot, and no other code takes ownership of the value.
    #[doc(hidden)]
    unsafe fn take(slot: Slot) -> Result<Self, CallError>;
}

/// Result kind that a caller without static types expects. The kind is checked before the call, because the content of a result slot does
/// not show if the caller owns the value.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expected {
    /// Exactly this kind of plain value.
    Plain(PropertyKind),
    /// Any kind that has a conjugate.
    Conjugate,
}

impl Expected {
    /// Returns true if a result of this kind is accepted.
    fn accepts(self, kind: PropertyKind) -> bool {
        match self {
            Self::Plain(expected) => expected == kind,
            Self::Conjugate => kind != NO_VALUE && !kind.fits_slot(),
        }
    }

    /// Checks that `R` accepts the result kind `found` of the function `name`.
    ///
    /// # Errors
    /// Fails with `SIGNATURE` if `R` does not accept the kind.
    pub(crate) fn check<R: AnyResult>(name: &str, found: PropertyKind) -> Result<(), CallError> {
        let fits = match R::EXPECTED {
            Some(expected) => expected.accepts(found),
            // Writing a property returns no value.
            None => found == NO_VALUE || name.starts_with("up:"),
        };
        if fits {
            return Ok(());
        }
        let words = |text: &str| format!("… -> {text}").into();
        let (held, expected) = (found.text().unwrap_or("nothing"), R::EXPECTED.map_or("nothing", Self::text));
        let failure =
            Failure { held: words(held), expected: words(expected), ..Failure::new(FailureKind::SIGNATURE, name) };
        Err(CallError::from_failure(failure))
    }

    fn text(self) -> &'static str {
        match self {
            Self::Plain(kind) => kind.text().unwrap_or("?"),
            Self::Conjugate => "a value that has a conjugate",
        }
    }
}

macro_rules! plain {
    ($($ty:ty: $kind:ident),*) => {$(
        // SAFETY: the slot contains a plain value.
        unsafe impl AnyArgument for $ty {
            fn slot(&self) -> Slot {
                plain_slot(*self)
            }
        }

        // SAFETY: `EXPECTED` accepts exactly the kind that `take` converts.
        unsafe impl AnyResult for $ty {
            const EXPECTED: Option<Expected> = Some(Expected::Plain(PropertyKind::$kind));

            unsafe fn take(slot: Slot) -> Result<Self, CallError> {
                plain_value(slot)
            }
        }
    )*};
}
plain! {
    u8: U8, u16: U16, u32: U32, u64: U64, i8: I8, i16: I16, i32: I32, i64: I64, f32: F32, f64: F64, bool: BOOL
}

// SAFETY: the slot contains a plain value.
unsafe impl AnyArgument for UName {
    fn slot(&self) -> Slot {
        plain_slot(self.0)
    }
}

// SAFETY: `EXPECTED` accepts exactly the kind that `take` converts.
unsafe impl AnyResult for UName {
    const EXPECTED: Option<Expected> = Some(Expected::Plain(PropertyKind::NAME));

    unsafe fn take(slot: Slot) -> Result<Self, CallError> {
        plain_value(slot).map(Self)
    }
}

// SAFETY: the slot contains a handle, which is a plain value. The host looks up the handle.
unsafe impl<C: Class> AnyArgument for Obj<C> {
    fn slot(&self) -> Slot {
        plain_slot(self.handle())
    }
}

// SAFETY: `EXPECTED` accepts exactly the kind that `take` converts.
unsafe impl<C: Class> AnyResult for Obj<C> {
    const EXPECTED: Option<Expected> = Some(Expected::Plain(PropertyKind::OBJECT));

    /// Returns an error if the object's class is not `C`, because a call without static types compares no signatures. Accepts a destroyed
    /// object, for which each later use fails.
    unsafe fn take(slot: Slot) -> Result<Self, CallError> {
        let obj = plain_value(slot).map(Self::from_handle)?;
        match host::object_memory(obj.handle(), C::id()) {
            Err(error) if error.kind() == FailureKind::WRONG_CLASS => Err(error),
            _ => Ok(obj),
        }
    }
}

// SAFETY: the slot contains the number of a conjugate, which the host looks up.
unsafe impl AnyArgument for AnyConjugate {
    fn slot(&self) -> Slot {
        Slot::from_bits(SlotType::CONJUGATE, self.number())
    }
}

// SAFETY: the slot contains the number of a conjugate, which the host looks up.
unsafe impl AnyArgument for &AnyConjugate {
    fn slot(&self) -> Slot {
        AnyArgument::slot(*self)
    }
}

// SAFETY: `take` converts every kind that has a conjugate.
unsafe impl AnyResult for AnyConjugate {
    const EXPECTED: Option<Expected> = Some(Expected::Conjugate);

    /// The result is an owned value of this module, and no other code owns the value.
    unsafe fn take(slot: Slot) -> Result<Self, CallError> {
        plain_value::<ConjugateHandle>(slot).map(Self::own)
    }
}

// SAFETY: `take` does not read the slot.
unsafe impl AnyResult for () {
    const EXPECTED: Option<Expected> = None;

    unsafe fn take(_slot: Slot) -> Result<(), CallError> {
        Ok(())
    }
}

macro_rules! arguments {
    ($count:literal: $($at:literal $name:ident $value:ident $staged:ident $back:ident)*) => {
        // SAFETY: each argument upholds its own contract.
        unsafe impl<$($name: AnyArgument),*> AnyArguments for ($($name,)*) {
            fn with_slots<R>(&self, object: ObjectHandle, code: impl FnOnce(&mut [Slot]) -> R) -> R {
                let ($($value,)*) = self;
                code(&mut [plain_slot(object), $($value.slot(),)* Slot::EMPTY])
            }
        }
    };
}
for_each_count!(arguments);

/// Calls a function through a handle, without static types. Checks the kind of the result before the call.
pub(crate) fn conjugate_zcall<A: AnyArguments, R: AnyResult>(
    object: Option<ObjectHandle>,
    handle: ZCallHandle,
    name: &str,
    args: &A,
) -> Result<R, CallError> {
    args.with_slots(object.unwrap_or_default(), |slots| {
        let end = slots.len() - usize::from(R::EXPECTED.is_none());
        let slots = &mut slots[usize::from(object.is_none())..end];
        let host = host::host(name)?;
        let result = match slots.first() {
            // The kind of the result depends on the delegate, which is the first argument.
            Some(delegate) if name.starts_with("nd:") => host.delegate_result(plain_value(*delegate)?)?,
            _ => host.zcall_result(handle)?,
        };
        Expected::check::<R>(name, result)?;
        // SAFETY: the buffer borrows `slots`.
        // The host dereferences no address in the slots: it rejects any slot that is neither plain nor a known conjugate.
        // The result has the expected kind, as checked above, and only this call receives the result.
        unsafe {
            host.conjugate_zcall(handle, &mut buffer_of(slots))?;
            R::take(slots.last().copied().unwrap_or(Slot::EMPTY))
        }
    })
}

/// Resolves and calls a function. For a name with the `uf` protocol, slot 0 contains the object.
pub(crate) fn by_name<A: AnyArguments, R: AnyResult>(
    object: ObjectHandle,
    name: &str,
    args: &A,
) -> Result<R, CallError> {
    // Fingerprint 0 disables the comparison of signatures. Instead, the host checks each argument, and returns the kind of the result
    // before the call.
    let handle = host::zcall_resolve(name, 0)?;
    conjugate_zcall(is_of_objects(name).then_some(object), handle, name, args)
}

impl ObjectView<'_> {
    /// Calls a function by name like [`ObjectView::zcall`], but without static types. Plain values and objects are passed directly; every
    /// other value is passed as an [`AnyConjugate`](crate::AnyConjugate). The call copies conjugate arguments. If the result is a
    /// conjugate, this module owns it. To read a property, call `up:/…` with its object and `0_u8`. To write a property, call `up:/…` with
    /// its object, `1_u8` and the value.
    ///
    /// # Errors
    /// Fails with `EXPIRED`, and reports kind and age, if a conjugate's value was destroyed. Fails with `BUFFER` if the arguments do not
    /// match the callee, with `SIGNATURE` if the result does not match, or with `NOT_FOUND` for an unknown name. Also returns errors of the
    /// called function.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn load(this: This<'_, Object>, crate_: Obj<Object>) -> Result<f64, CallError> {
    ///     this.zcall_any("uf:/Script/Game.Crane:load", (crate_, 2_u32))
    /// }
    /// ```
    pub fn zcall_any<A: AnyArguments, R: AnyResult>(&self, name: &str, args: A) -> Result<R, CallError> {
        by_name(self.handle(), name, &args)
    }
}
