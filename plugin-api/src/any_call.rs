//! Calls by name of code that knows no types: numbers, names and objects travel as they are, everything else as a conjugate.
#![expect(unsafe_code, reason = "declares the traits that say what stands in slots")]

use alcedo_abi::call::{Failure, FailureKind};
use alcedo_abi::handles::{ConjugateHandle, ObjectHandle, ZCallHandle};
use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::zcall::{Slot, SlotType};
use alcedo_rt::CallError;

use crate::value::{plain_slot, plain_value};
use crate::zcall::{buffer_of, is_of_objects};
use crate::{AnyConjugate, Class, Obj, ObjectView, UName, host};

/// The kind that nothing is of.
const NOTHING: PropertyKind = PropertyKind(0);

/// What can stand in a slot of [`ObjectView::zcall_any`](crate::ObjectView::zcall_any).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed where its type is unknown",
    label = "take a number, a `bool`, a `UName`, an `Obj<Class>`, or an `AnyConjugate` of the value"
)]
///
/// # Safety
/// The slot is a plain value, or the number of a conjugate: never an address.
pub unsafe trait AnyArgument {
    /// Its slot.
    #[doc(hidden)]
    fn slot(&self) -> Slot;
}

/// The arguments of such a call: a tuple of up to eight.
///
/// # Safety
/// The slots are those of [`AnyArgument`]s.
pub unsafe trait AnyArguments {
    /// Lends a row of slots: the object, the arguments, and one that is empty.
    #[doc(hidden)]
    fn with_slots<R>(&self, object: ObjectHandle, code: impl FnOnce(&mut [Slot]) -> R) -> R;
}

/// The result of such a call: a plain value, an [`AnyConjugate`] of the caller's own, or `()`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result where its type is unknown",
    label = "take (), a number, a `bool`, a `UName`, an `Obj<Class>`, or an `AnyConjugate`"
)]
///
/// # Safety
/// `WANTED` tells all kinds that `take` can make a value of.
pub unsafe trait AnyResult: Sized {
    /// What the callee has to give; none for nothing.
    #[doc(hidden)]
    const WANTED: Option<Wanted>;

    /// Takes it out of its slot.
    ///
    /// # Safety
    /// A callee that gives what is wanted has filled the slot, and nothing else takes anything out of it.
    #[doc(hidden)]
    unsafe fn take(slot: Slot) -> Result<Self, CallError>;
}

/// What a caller without static types takes. The host checks before the call: what comes out of a slot is a number,
/// which cannot be told from the number of a value of another owner.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// Just this kind.
    Plain(PropertyKind),
    /// Whatever has a conjugate.
    Conjugate,
}

impl Wanted {
    /// Whether a result of that kind will do.
    fn takes(self, kind: PropertyKind) -> bool {
        match self {
            Self::Plain(wanted) => wanted == kind,
            Self::Conjugate => kind != NOTHING && !kind.fits_slot(),
        }
    }

    /// Whether a result of the kind `found` will do for an `R`, of a call by that name.
    ///
    /// # Errors
    /// `SIGNATURE` where it will not.
    pub(crate) fn check<R: AnyResult>(name: &str, found: PropertyKind) -> Result<(), CallError> {
        let fits = match R::WANTED {
            Some(wanted) => wanted.takes(found),
            // A property that is written gives nothing back.
            None => found == NOTHING || name.starts_with("up:"),
        };
        if fits {
            return Ok(());
        }
        let words = |text: &str| format!("… -> {text}").into();
        let (held, wanted) = (found.text().unwrap_or("nothing"), R::WANTED.map_or("nothing", Self::text));
        let failure =
            Failure { held: words(held), wanted: words(wanted), ..Failure::new(FailureKind::SIGNATURE, name) };
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
        // SAFETY: a plain value.
        unsafe impl AnyArgument for $ty {
            fn slot(&self) -> Slot {
                plain_slot(*self)
            }
        }

        // SAFETY: just this kind.
        unsafe impl AnyResult for $ty {
            const WANTED: Option<Wanted> = Some(Wanted::Plain(PropertyKind::$kind));

            unsafe fn take(slot: Slot) -> Result<Self, CallError> {
                plain_value(slot)
            }
        }
    )*};
}
plain! {
    u8: U8, u16: U16, u32: U32, u64: U64, i8: I8, i16: I16, i32: I32, i64: I64, f32: F32, f64: F64, bool: BOOL
}

// SAFETY: a plain value.
unsafe impl AnyArgument for UName {
    fn slot(&self) -> Slot {
        plain_slot(self.0)
    }
}

// SAFETY: just this kind.
unsafe impl AnyResult for UName {
    const WANTED: Option<Wanted> = Some(Wanted::Plain(PropertyKind::NAME));

    unsafe fn take(slot: Slot) -> Result<Self, CallError> {
        plain_value(slot).map(Self)
    }
}

// SAFETY: a plain value: a handle, which the host looks up.
unsafe impl<C: Class> AnyArgument for Obj<C> {
    fn slot(&self) -> Slot {
        plain_slot(self.handle())
    }
}

// SAFETY: just this kind.
unsafe impl<C: Class> AnyResult for Obj<C> {
    const WANTED: Option<Wanted> = Some(Wanted::Plain(PropertyKind::OBJECT));

    /// An object of another class is an error here, where signatures were not compared; one that is gone is reported
    /// when it is used.
    unsafe fn take(slot: Slot) -> Result<Self, CallError> {
        let obj = plain_value(slot).map(Self::from_handle)?;
        match host::object_memory(obj.handle(), C::id()) {
            Err(error) if error.kind() == FailureKind::WRONG_CLASS => Err(error),
            _ => Ok(obj),
        }
    }
}

// SAFETY: the number of a conjugate, which the host looks up.
unsafe impl AnyArgument for AnyConjugate {
    fn slot(&self) -> Slot {
        Slot::from_bits(SlotType::CONJUGATE, self.number())
    }
}

// SAFETY: the number of a conjugate, which the host looks up.
unsafe impl AnyArgument for &AnyConjugate {
    fn slot(&self) -> Slot {
        AnyArgument::slot(*self)
    }
}

// SAFETY: whatever has a conjugate.
unsafe impl AnyResult for AnyConjugate {
    const WANTED: Option<Wanted> = Some(Wanted::Conjugate);

    /// What comes out of such a call is a black of this module's, which nobody else has.
    unsafe fn take(slot: Slot) -> Result<Self, CallError> {
        plain_value::<ConjugateHandle>(slot).map(Self::own)
    }
}

// SAFETY: nothing.
unsafe impl AnyResult for () {
    const WANTED: Option<Wanted> = None;

    unsafe fn take(_slot: Slot) -> Result<(), CallError> {
        Ok(())
    }
}

macro_rules! arguments {
    ($($name:ident $value:ident)*) => {
        // SAFETY: each answers for itself.
        unsafe impl<$($name: AnyArgument),*> AnyArguments for ($($name,)*) {
            fn with_slots<R>(&self, object: ObjectHandle, code: impl FnOnce(&mut [Slot]) -> R) -> R {
                let ($($value,)*) = self;
                code(&mut [plain_slot(object), $($value.slot(),)* Slot::EMPTY])
            }
        }
    };
}
arguments!();
arguments!(A a);
arguments!(A a B b);
arguments!(A a B b C c);
arguments!(A a B b C c D d);
arguments!(A a B b C c D d E e);
arguments!(A a B b C c D d E e F f);
arguments!(A a B b C c D d E e F f G g);
arguments!(A a B b C c D d E e F f G g H h);

/// Calls through a handle, with conjugates in place of values that have one. Checks the kind of the result before the call.
pub(crate) fn conjugate_zcall<A: AnyArguments, R: AnyResult>(
    object: Option<ObjectHandle>,
    handle: ZCallHandle,
    name: &str,
    args: &A,
) -> Result<R, CallError> {
    args.with_slots(object.unwrap_or_default(), |slots| {
        let end = slots.len() - usize::from(R::WANTED.is_none());
        let slots = &mut slots[usize::from(object.is_none())..end];
        let host = host::host(name)?;
        let result = match slots.first() {
            // The kind of the result is known to the delegate alone.
            Some(delegate) if name.starts_with("nd:") => host.delegate_result(plain_value(*delegate)?)?,
            _ => host.zcall_result(handle)?,
        };
        Wanted::check::<R>(name, result)?;
        // SAFETY: the buffer lends `slots`, of which the host follows no address: it refuses slots that are neither plain nor a
        // known conjugate. The result is of the expected kind, as was checked before the call, and is passed to this call alone.
        unsafe {
            host.conjugate_zcall(handle, &mut buffer_of(slots))?;
            R::take(slots.last().copied().unwrap_or(Slot::EMPTY))
        }
    })
}

/// Resolves and calls. A name of the `uf` protocol gets the object as slot 0.
pub(crate) fn by_name<A: AnyArguments, R: AnyResult>(
    object: ObjectHandle,
    name: &str,
    args: &A,
) -> Result<R, CallError> {
    // Nobody has a signature to compare: the host looks at each argument, and says beforehand what comes back.
    let handle = host::zcall_resolve(name, 0)?;
    conjugate_zcall(is_of_objects(name).then_some(object), handle, name, args)
}

impl ObjectView<'_> {
    /// Calls as [`ObjectView::zcall`] does, without types: plain values and objects as they are, everything else as
    /// an [`AnyConjugate`](crate::AnyConjugate), also as the result, which is this module's own then. Conjugates go in as
    /// copies. A property is read by `up:/…` with its object and `0_u8`, and written with `1_u8` and the value.
    ///
    /// # Errors
    /// `EXPIRED`, with kind and age, for a conjugate that leads nowhere any more; `BUFFER` when the arguments are others than
    /// the callee takes, `SIGNATURE` when it gives something else; `NOT_FOUND`, and the failures of the callee.
    pub fn zcall_any<A: AnyArguments, R: AnyResult>(&self, name: &str, args: A) -> Result<R, CallError> {
        by_name(self.handle(), name, &args)
    }
}
