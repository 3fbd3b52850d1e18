//! Direct calls: a function of the other side by its plain address, for values that all lie in slots. There is one form for each
//! number of arguments, whatever the types are: each value is the 64 bits that it has in a slot. Who calls has compared the
//! signature when it was given the address, and looks at one word of the host before each call.
#![expect(unsafe_code, reason = "calls an address, and makes addresses of functions")]

use core::mem::MaybeUninit;

use abi_stable::StableAbi;

use crate::call::Failure;
use crate::direct_answer::{DirectAnswer, DirectStatus};
use crate::handles::ObjectHandle;
use crate::zcall::Slot;

/// A function that is called directly, as it is found by a handle.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct DirectCallee {
    /// Its code: a [`DirectBits::Code`]. Null for a function that is not called so.
    pub code: *const (),
    /// What the code is given first.
    pub context: *const (),
    /// What the host's word has to be in each call: see [`ModuleContext::direct`](crate::host::ModuleContext::direct). Zero where the
    /// word said that no direct call may be made.
    pub version: u64,
}

impl DirectCallee {
    /// None.
    pub const NONE: Self = Self { code: core::ptr::null(), context: core::ptr::null(), version: 0 };

    /// The context of a leaf: a function whose code follows none, in the host's own image. It may be called at all times while code of the
    /// module runs, under each version: on the game thread, and on any thread by a module that belongs to none.
    pub const LEAF: *const () = core::ptr::without_provenance(1);
}

/// The host's word while no direct call may be made.
pub const CLOSED: u64 = 0;

/// The arguments of a direct call: as many words.
pub trait DirectBits: Copy {
    /// The form of the code.
    type Code: Copy;

    /// The words.
    fn words(&self) -> &[u64];

    /// The code whose body is `B`.
    fn code_of<B: DirectBody<Self>>() -> Self::Code;

    /// Runs the body `B` in a function of its own, with the words in registers. A function that does so last needs no stack for it.
    ///
    /// # Safety
    /// As for [`DirectBody::run`].
    unsafe fn apart<B: DirectBody<Self>>(self, context: *const (), object: ObjectHandle) -> DirectAnswer;

    /// The code as an address.
    fn address(code: Self::Code) -> *const ();

    /// The code that runs the body `B` on several objects.
    fn each_of<B: DirectBody<Self>>() -> EachCode;

    /// Calls it.
    ///
    /// # Safety
    /// `code` is the address of a function of this form, whose side says that it may be called now with this context, this object
    /// and values of the types that these bits are of.
    unsafe fn call(self, code: *const (), context: *const (), object: ObjectHandle) -> DirectAnswer;
}

/// The code of a function of objects that is called on several of them, one after the other, with the same arguments, until one
/// is not done. It takes a context, the objects and their number, the words of the arguments, and where results are written, which
/// need not be initialized before. The status is that of the last call, and the bits say how many were done before it.
pub type EachCode = unsafe extern "C" fn(*const (), *const ObjectHandle, usize, *const u64, *mut u64) -> DirectAnswer;

/// A call on several objects, as a module lends it to the host.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct EachCall {
    /// The objects.
    pub objects: *const ObjectHandle,
    /// How many they are.
    pub count: usize,
    /// A row of slots for one call: an empty one for the object, the arguments, an empty one for the result if there is one.
    pub slots: *mut Slot,
    /// How many slots these are.
    pub len: usize,
    /// Where the results are written, one for each object, by their bits; zero for a call that failed. Not initialized before, and all of
    /// them written when the host says that the calls were made.
    pub results: *mut u64,
    /// What is given to `failed`.
    pub told: *mut (),
    /// Hears of each call that failed: the number of its object, and why.
    pub failed: unsafe extern "C" fn(*mut (), usize, &Failure),
}

/// A body of direct calls, as a type.
pub trait DirectBody<Bits: Copy> {
    /// Does the call. It does not unwind.
    ///
    /// # Safety
    /// The context is the one that stands beside the code, and the bits are values of the types of the signature.
    unsafe fn run(context: *const (), object: ObjectHandle, bits: Bits) -> DirectAnswer;

    /// Does the call on objects one after the other until one is not done. The answer is that of [`EachCode`]; as many results are
    /// written as it says, and there is a place for the result of each.
    ///
    /// # Safety
    /// As for [`DirectBody::run`].
    #[inline]
    unsafe fn run_each(
        context: *const (),
        objects: &[ObjectHandle],
        bits: Bits,
        results: &mut [MaybeUninit<u64>],
    ) -> DirectAnswer {
        // SAFETY: promised by the caller.
        one_by_one(objects, results, |object| unsafe { Self::run(context, object, bits) })
    }
}

/// Calls `one` on objects one after the other until one is not done: the answer of [`EachCode`].
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
            unsafe fn apart<B: DirectBody<Self>>(self, context: *const (), object: ObjectHandle) -> DirectAnswer {
                #[inline(never)]
                unsafe extern "C" fn apart<B: DirectBody<[u64; $count]>>(
                    context: *const (),
                    object: ObjectHandle
                    $(, $name: u64)*
                ) -> DirectAnswer {
                    // SAFETY: promised by the caller of the function around this one.
                    unsafe { B::run(context, object, [$($name),*]) }
                }
                let [$($name),*] = self;
                // SAFETY: promised by the caller.
                unsafe { apart::<B>(context, object $(, $name)*) }
            }

            #[inline]
            fn code_of<B: DirectBody<Self>>() -> Self::Code {
                unsafe extern "C" fn shell<B: DirectBody<[u64; $count]>>(
                    context: *const (),
                    object: ObjectHandle
                    $(, $name: u64)*
                ) -> DirectAnswer {
                    // SAFETY: the caller promises what the body demands, as `DirectBits::call` says.
                    unsafe { B::run(context, object, [$($name),*]) }
                }
                shell::<B>
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
                    // SAFETY: the caller lends so many objects, places for results and words, and promises for each call what the
                    // body demands.
                    unsafe {
                        let bits = bits.cast::<[u64; $count]>().read();
                        let objects = core::slice::from_raw_parts(objects, count);
                        B::run_each(context, objects, bits, core::slice::from_raw_parts_mut(results.cast(), count))
                    }
                }
                each::<B>
            }

            #[inline]
            unsafe fn call(self, code: *const (), context: *const (), object: ObjectHandle) -> DirectAnswer {
                let [$($name),*] = self;
                // SAFETY: the caller promises that the address is one of this form, and that it may be called.
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
        unsafe fn run(context: *const (), object: ObjectHandle, bits: [u64; N]) -> DirectAnswer {
            let sum = bits.iter().fold(0_u64, |sum, word| sum.wrapping_add(*word));
            DirectAnswer::done(sum.wrapping_add(object.0).wrapping_add(context.addr() as u64))
        }
    }

    #[test]
    fn what_is_called_gets_the_words_in_order_and_gives_one_back() {
        struct Last;
        impl<const N: usize> DirectBody<[u64; N]> for Last {
            unsafe fn run(_context: *const (), _object: ObjectHandle, bits: [u64; N]) -> DirectAnswer {
                bits.last().map_or(DirectAnswer::without(DirectStatus::NOT_DONE), |last| DirectAnswer::done(*last))
            }
        }
        fn both<B: DirectBits>(bits: B) -> (u64, DirectAnswer)
        where
            Sum: DirectBody<B>,
            Last: DirectBody<B>,
        {
            let (sum, last) = (B::address(B::code_of::<Sum>()), B::address(B::code_of::<Last>()));
            let context = core::ptr::without_provenance(100);
            // SAFETY: both are of this form, and take any words.
            unsafe {
                let sum = bits.call(sum, context, ObjectHandle(1000));
                assert_eq!(sum.status, DirectStatus::DONE);
                (sum.bits, bits.call(last, context, ObjectHandle(1000)))
            }
        }
        assert_eq!(both([]).0, 1100);
        assert_eq!(both([]).1.status, DirectStatus::NOT_DONE);
        assert_eq!(both([7, u64::MAX - 6]).1.bits, u64::MAX - 6);
        let (sum, last) = both([1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!((sum, last.bits), (1136, 8));
    }
}
