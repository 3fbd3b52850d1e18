//! Functions whose bodies are in a C library: what of the types C can read, how they are described, and how what C has written
//! comes back to the caller.
#![expect(unsafe_code, reason = "declares the trait that says which slots out parameters have")]

use alcedo_abi::describe::Cell;
use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::kinds::{PropertyKind, function_flags, property_flags};
use alcedo_abi::zcall::Slot;

use super::declared::{About, Function, FunctionCell, import_of_c};
use super::describe::SignatureBlock;
use super::interfaces::CalledAs;
use crate::signature::{Params, ReturnValue};
use crate::{CallError, Class, Value, zcall};

/// Receives the handle of a function of class `C`, which takes `A`, gives `R` and changes `O` of what it takes.
pub struct ImportCell<C, A, R, O>(FunctionCell<C, A, R>, core::marker::PhantomData<fn() -> O>);

impl<C, A, R, O> ImportCell<C, A, R, O> {
    /// An empty one. Until it is filled, calls through it are refused.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "a static is made of it")]
    pub const fn new() -> Self {
        Self(FunctionCell::new(), core::marker::PhantomData)
    }

    /// As the border has it.
    pub(crate) const fn cell(&self) -> &Cell {
        self.0.cell()
    }
}

/// How a function of C is called.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// It needs no working directory.
    pub no_cwd: bool,
    /// The `bool` that it gives fills one byte.
    pub bool8: bool,
    /// States that a `bool` result fills four bytes.
    pub bool32: bool,
}

/// The values of out parameters: a tuple of up to eight.
///
/// # Safety
/// The slots are those that the border prescribes for results of the values, in order.
pub unsafe trait Outs: Params {
    /// What waits for the values.
    #[doc(hidden)]
    type Out;
    /// That, empty.
    #[doc(hidden)]
    fn out() -> Self::Out;
    /// Puts the slots that wait, and says how many.
    #[doc(hidden)]
    fn put_slots(out: &mut Self::Out, slots: &mut [Slot]) -> usize;
    /// The values.
    ///
    /// # Safety
    /// A callee has filled the slots, and what waited.
    #[doc(hidden)]
    unsafe fn take(slots: &[Slot], out: Self::Out) -> Result<Self, CallError>;
}

macro_rules! outs {
    ($count:literal $($name:ident $value:ident $at:literal)*) => {
        // SAFETY: each value answers for itself, and they stand in order.
        unsafe impl<$($name: Value),*> Outs for ($($name,)*) {
            type Out = ($(<$name as Value>::Out,)*);

            #[allow(clippy::unused_unit, reason = "for none")]
            fn out() -> Self::Out {
                ($(<$name as Value>::out(),)*)
            }

            fn put_slots(out: &mut Self::Out, slots: &mut [Slot]) -> usize {
                let ($($value,)*) = out;
                let waiting: [Slot; $count] = [$(<$name as Value>::slot_out($value)),*];
                slots[..$count].copy_from_slice(&waiting);
                $count
            }

            #[allow(unused_variables, unused_unsafe, clippy::unused_unit, reason = "for none")]
            unsafe fn take(slots: &[Slot], out: Self::Out) -> Result<Self, CallError> {
                let ($($value,)*) = out;
                // SAFETY: our caller promises that a callee has filled them.
                let ($($value,)*) = unsafe { ($(<$name as Value>::take_out(slots[$at], $value),)*) };
                Ok(($($value?,)*))
            }
        }
    };
}

outs!(0);
outs!(1 A a 0);
outs!(2 A a 0 B b 1);
outs!(3 A a 0 B b 1 C c 2);
outs!(4 A a 0 B b 1 C c 2 D d 3);
outs!(5 A a 0 B b 1 C c 2 D d 3 E e 4);
outs!(6 A a 0 B b 1 C c 2 D d 3 E e 4 F f 5);
outs!(7 A a 0 B b 1 C c 2 D d 3 E e 4 F f 5 G g 6);
outs!(8 A a 0 B b 1 C c 2 D d 3 E e 4 F f 5 G g 6 H h 7);

/// A function of the C library that class `C` is bound to.
#[must_use]
pub const fn dll_import<C: Class, A: Params, R: ReturnValue, O: Outs>(
    name: &'static str,
    manner: Manner,
    block: &'static SignatureBlock<A, R>,
    cell: &'static ImportCell<C, A::Values, R, O>,
    about: About,
) -> Function<C> {
    // The host fills as many slots, of just these types.
    let (params, mut at, mut outs) = (block.descriptions(), 0, Fingerprint::START);
    while at < A::COUNT {
        if params[at].flags & property_flags::OUT != 0 {
            outs = outs.value(A::TYPES[at].kind, A::TYPES[at].path);
        }
        at += 1;
    }
    assert!(outs.finish() == O::FINGERPRINT.finish(), "what C may write to is what the cell says");
    let no_cwd = if manner.no_cwd { function_flags::NO_CWD } else { 0 };
    let bool8 = if manner.bool8 { function_flags::BOOL8 } else { 0 };
    let bool32 = if manner.bool32 { function_flags::BOOL32 } else { 0 };
    import_of_c::<C, A, R>((name, function_flags::DLL_IMPORT | no_cwd | bool8 | bool32), block, &cell.0, about)
}

/// Calls a function of a C library: its result, and what its out parameters hold then.
///
/// # Errors
/// Whatever the callee fails with.
pub fn invoke_import<T, A: Params, R: ReturnValue, O: Outs>(
    this: &impl CalledAs<T>,
    cell: &ImportCell<T, A::Values, R, O>,
    what: &str,
    args: &A,
) -> Result<(R, O), CallError> {
    zcall::import_by_cell(this, cell, what, args)
}

/// What a caller lends to C, and gets back changed from a value `T` of the host.
pub trait GiveBack<T>: Sized {
    /// What is written.
    type Ready;

    /// The value as the caller has it.
    ///
    /// # Errors
    /// When it has become another length than the caller has.
    fn ready(lent: &Self, given: T) -> Result<Self::Ready, CallError>;
}

impl<T> GiveBack<T> for T {
    type Ready = T;

    fn ready(_lent: &T, given: T) -> Result<T, CallError> {
        Ok(given)
    }
}

impl<T, const N: usize> GiveBack<Vec<T>> for [T; N] {
    type Ready = Self;

    fn ready(_lent: &Self, given: Vec<T>) -> Result<Self, CallError> {
        let len = given.len();
        given.try_into().map_err(|_| CallError::other(format!("C gave {len} values back instead of {N}")))
    }
}

/// Whether C can take a value of that type; an array has a declared length.
#[must_use]
pub const fn c_takes<T: Value>(has_len: bool) -> bool {
    if has_len { T::KIND.0 == PropertyKind::ARRAY.0 } else { is_number::<T>() || is_text_or_struct::<T>() }
}

/// Whether a value of that type can be read of C's result.
#[must_use]
pub const fn c_gives<T: Value>() -> bool {
    is_number::<T>() || is_text_or_struct::<T>() || T::KIND.0 == PropertyKind::BOOL.0
}

const fn is_number<T: Value>() -> bool {
    T::KIND.0 >= PropertyKind::U8.0 && T::KIND.0 <= PropertyKind::F64.0
}

const fn is_text_or_struct<T: Value>() -> bool {
    T::KIND.0 == PropertyKind::STRING.0 || T::KIND.0 == PropertyKind::STRUCT.0
}
