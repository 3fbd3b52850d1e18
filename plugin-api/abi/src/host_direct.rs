//! Direct calls of host functions by address. Each argument is passed as the 64 bits of its slot, so the function type depends only on the
//! number of arguments. The caller compares the signatures once, when it receives the address, and reads the host's version word before
//! each call.
#![expect(unsafe_code, reason = "calls an address, and makes addresses of functions")]

use core::mem::MaybeUninit;

use abi_stable::StableAbi;

use crate::call::Failure;
use crate::direct_answer::{DirectAnswer, DirectStatus};
use crate::handles::ObjectHandle;
use crate::zcall::Slot;

/// Host function for direct calls, as the host returns it for a call handle.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct DirectCallee {
    /// Code of the function: a [`DirectBits::Code`]. Null for a function that cannot be called directly.
    pub code: *const (),
    /// First argument of each call of `code`.
    pub context: *const (),
    /// The function may be called while [`ModuleContext::direct`](crate::host::ModuleContext::direct) has this value. Zero if direct calls
    /// were closed when the function was looked up.
    pub version: u64,
}

impl DirectCallee {
    /// Value for a function that cannot be called directly.
    pub const NONE: Self = Self { code: core::ptr::null(), context: core::ptr::null(), version: 0 };

    /// Context of a leaf: a function in the host's image whose code uses no context. A running module may call a leaf even if the version
    /// word differs from [`Self::version`]. The call must be made on the game thread, or, in a module that is not bound to a thread, on any
    /// thread.
    pub const LEAF: *const () = core::ptr::without_provenance(1);
}

/// Value of the version word while direct calls are closed.
pub const CLOSED: u64 = 0;

/// Arguments of a direct call as an array of machine words. Implemented for arrays of `u64`.
pub trait DirectBits: Copy {
    /// Function type of code that takes a context, an object, and one parameter for each machine word in the array.
    type Code: Copy;

    /// Returns the arguments as machine words.
    fn words(&self) -> &[u64];

    /// Returns the code that runs the body `B`.
    fn code_of<B: DirectBody<Self>>() -> Self::Code;

    /// Runs the body `B` in a separate function, with the words in registers. The compiler can call this function with a tail call, which
    /// needs no additional stack.
    ///
    /// # Safety
    /// See [`DirectBody::run`].
    unsafe fn apart<B: DirectBody<Self>>(self, context: &B::Context, object: ObjectHandle) -> DirectAnswer;

    /// Returns the address of the code.
    fn address(code: Self::Code) -> *const ();

    /// Returns the code that runs the body `B` on several objects.
    fn each_of<B: DirectBody<Self>>() -> EachCode;

    /// Calls the code.
    ///
    /// # Safety
    /// `code` is the address of a function of type `Code`. The owner of the code currently allows a call with this context, this object
    /// and these words. The context is a [`DirectBody::Context`] of the body and lives until the call returns; a context of size zero is
    /// not read.
    unsafe fn call(self, code: *const (), context: *const (), object: ObjectHandle) -> DirectAnswer;
}

/// Code that calls a function on several objects in order, with equal arguments, until a call fails. The parameters are a context, the
/// objects, the number of objects, the argument words, and the buffer for results. The buffer may be uninitialized. The returned status is
/// the status of the last call, and the returned bits contain the number of successful calls.
pub type EachCode = unsafe extern "C" fn(*const (), *const ObjectHandle, usize, *const u64, *mut u64) -> DirectAnswer;

/// Request from a module that the host call one function on several objects.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct EachCall {
    /// Objects on which the function is called.
    pub objects: *const ObjectHandle,
    /// Number of objects.
    pub count: usize,
    /// Slots for one call: an empty slot for the object, the arguments, and an empty slot for the result, if any.
    pub slots: *mut Slot,
    /// Number of slots.
    pub len: usize,
    /// Buffer for the results, one word per object; the word is zero for a failed call. May be uninitialized. The host writes all results
    /// before it reports that the calls were made.
    pub results: *mut u64,
    /// First argument for each call of [`Self::failed`].
    pub failures: *mut (),
    /// Callback for each failed call. Receives the index of the object and the failure.
    pub failed: unsafe extern "C" fn(*mut (), usize, &Failure),
}

/// Type that provides the body of a direct call.
pub trait DirectBody<Bits: Copy> {
    /// Data that is stored together with the code; `()` if the code uses no context.
    type Context;

    /// Performs the call without unwinding.
    ///
    /// # Safety
    /// `context` is the context that was stored with this code. The bits are values of the types in the signature.
    unsafe fn run(context: &Self::Context, object: ObjectHandle, bits: Bits) -> DirectAnswer;

    /// Performs the call on the objects in order until a call fails. Returns the status and the count that [`EachCode`] specifies, and
    /// writes the results of the successful calls. `results` has room for one result per object.
    ///
    /// # Safety
    /// See [`DirectBody::run`].
    #[inline]
    unsafe fn run_each(
        context: &Self::Context,
        objects: &[ObjectHandle],
        bits: Bits,
        results: &mut [MaybeUninit<u64>],
    ) -> DirectAnswer {
        // SAFETY: the caller upholds the contract of `DirectBody::run`.
        one_by_one(objects, results, |object| unsafe { Self::run(context, object, bits) })
    }
}

/// Calls `one` on the objects in order until a call fails. Returns the status and the count that [`EachCode`] specifies.
#[inline(always)]
pub fn one_by_one(
    objects: &[ObjectHandle],
    results: &mut [MaybeUninit<u64>],
    mut one: impl FnMut(ObjectHandle) -> DirectAnswer,
) -> DirectAnswer {
    let mut done = 0;
    for (object, result) in objects.iter().zip(results) {
        let DirectAnswer { status, bits } = one(*object);
        if status != DirectStatus::DONE {
            return DirectAnswer { status, bits: done };
        }
        result.write(bits);
        done += 1;
    }
    DirectAnswer::done(done)
}

/// Returns a reference to the context of a call.
///
/// # Safety
/// `context` is the address of a live context, unless the type `C` has size zero.
#[inline(always)]
unsafe fn context_of<'a, C>(context: *const ()) -> &'a C {
    let context = if size_of::<C>() == 0 { core::ptr::dangling() } else { context.cast::<C>() };
    // SAFETY: the caller promises a live context; a reference to a zero-sized type may have any aligned address.
    unsafe { &*context }
}

macro_rules! bits {
    (@word $name:ident) => { u64 };
    ($($count:literal($($name:ident)*))*) => {$(
        impl DirectBits for [u64; $count] {
            type Code = unsafe extern "C" fn(*const (), ObjectHandle $(, bits!(@word $name))*) -> DirectAnswer;

            #[inline(always)]
            fn words(&self) -> &[u64] {
                self
            }

            #[inline(always)]
            unsafe fn apart<B: DirectBody<Self>>(self, context: &B::Context, object: ObjectHandle) -> DirectAnswer {
                let [$($name),*] = self;
                // SAFETY: the caller upholds the contract of `DirectBody::run`, and the context is borrowed for the call.
                unsafe { Self::code_of::<B>()(core::ptr::from_ref(context).cast(), object $(, $name)*) }
            }

            #[inline(always)]
            fn code_of<B: DirectBody<Self>>() -> Self::Code {
                // The compiler must not inline this function into `apart`.
                #[inline(never)]
                unsafe extern "C" fn trampoline<B: DirectBody<[u64; $count]>>(
                    context: *const (),
                    object: ObjectHandle
                    $(, $name: u64)*
                ) -> DirectAnswer {
                    // SAFETY: the caller promises the context and the requirements of the body, as `DirectBits::call` states.
                    unsafe { B::run(context_of(context), object, [$($name),*]) }
                }
                trampoline::<B>
            }

            #[inline]
            fn address(code: Self::Code) -> *const () {
                code as *const ()
            }

            #[inline]
            fn each_of<B: DirectBody<Self>>() -> EachCode {
                unsafe extern "C" fn each<B: DirectBody<[u64; $count]>>(
                    context: *const (),
                    objects: *const ObjectHandle,
                    count: usize,
                    bits: *const u64,
                    results: *mut u64
                ) -> DirectAnswer {
                    if count == 0 {
                        return DirectAnswer::done(0);
                    }
                    // SAFETY: the caller lends `count` objects, room for `count` results, and the argument bits.
                    // The caller also promises the context and the requirements of the body for each call.
                    unsafe {
                        let bits = bits.cast::<[u64; $count]>().read();
                        let objects = core::slice::from_raw_parts(objects, count);
                        let results = core::slice::from_raw_parts_mut(results.cast(), count);
                        B::run_each(context_of(context), objects, bits, results)
                    }
                }
                each::<B>
            }

            #[inline]
            unsafe fn call(self, code: *const (), context: *const (), object: ObjectHandle) -> DirectAnswer {
                let [$($name),*] = self;
                // SAFETY: the caller promises that the address has this function type and may be called.
                unsafe {
                    let code = core::mem::transmute::<*const (), Self::Code>(code);
                    code(context, object $(, $name)*)
                }
            }
        }
    )*};
}
bits! {
    0() 1(a) 2(a b) 3(a b c) 4(a b c d) 5(a b c d e) 6(a b c d e f) 7(a b c d e f g) 8(a b c d e f g h)
}

#[cfg(test)]
mod tests {
    use super::{DirectAnswer, DirectBits, DirectBody, DirectStatus};
    use crate::handles::ObjectHandle;

    struct Sum;

    impl<const N: usize> DirectBody<[u64; N]> for Sum {
        type Context = u64;

        unsafe fn run(context: &u64, object: ObjectHandle, bits: [u64; N]) -> DirectAnswer {
            let sum = bits.iter().fold(0_u64, |sum, word| sum.wrapping_add(*word));
            DirectAnswer::done(sum.wrapping_add(object.0).wrapping_add(*context))
        }
    }

    #[test]
    fn callee_receives_the_words_in_order_and_returns_one() {
        struct Last;
        impl<const N: usize> DirectBody<[u64; N]> for Last {
            type Context = ();

            unsafe fn run(_context: &(), _object: ObjectHandle, bits: [u64; N]) -> DirectAnswer {
                bits.last().map_or(DirectAnswer::without(DirectStatus::NOT_DONE), |last| DirectAnswer::done(*last))
            }
        }
        fn both<B: DirectBits>(bits: B) -> (u64, DirectAnswer)
        where
            Sum: DirectBody<B>,
            Last: DirectBody<B>,
        {
            let (sum, last) = (B::address(B::code_of::<Sum>()), B::address(B::code_of::<Last>()));
            // SAFETY: both functions have this type and accept any words. The context of `sum` is a number; `last` has no context.
            unsafe {
                let sum = bits.call(sum, core::ptr::from_ref(&100_u64).cast(), ObjectHandle(1000));
                assert_eq!(sum.status, DirectStatus::DONE);
                (sum.bits, bits.call(last, core::ptr::null(), ObjectHandle(1000)))
            }
        }
        assert_eq!(both([]).0, 1100);
        assert_eq!(both([]).1.status, DirectStatus::NOT_DONE);
        assert_eq!(both([7, u64::MAX - 6]).1.bits, u64::MAX - 6);
        let (sum, last) = both([1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!((sum, last.bits), (1136, 8));
    }
}
