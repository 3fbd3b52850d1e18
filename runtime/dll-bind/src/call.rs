//! Calls C functions. On x86-64 and aarch64, precompiled trampolines execute calls with few arguments. `libffi` executes all other calls.
//! Functions whose parameters and results are numbers can also be called with static Rust types.
#![expect(unsafe_code, reason = "calls C functions")]

use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::transmute;

use libffi::middle::{Arg, Cif, CodePtr, Ret, Type};

use crate::number::{CNumber, Number, sealed};

/// C function with the types of its parameters and of its result. An address counts as a number of eight bytes, because all supported
/// platforms pass both in the same registers.
#[derive(Debug)]
pub(crate) struct Stub {
    code: CodePtr,
    cif: Cif,
    params: Vec<Number>,
    result: Option<Number>,
    has_trampoline: bool,
}

// SAFETY: the data that `libffi` prepared never changes after its creation, and the address of a function is only a number.
unsafe impl Send for Stub {}
// SAFETY: the data that `libffi` prepared never changes after its creation, and the address of a function is only a number.
unsafe impl Sync for Stub {}

/// Number of registers for integer and address arguments (`INTEGERS`) and for float arguments (`FLOATS`) that trampolines use on all
/// supported platforms.
const INTEGERS: usize = 6;
const FLOATS: usize = 8;

impl Stub {
    /// Creates the stub of the function at `code`.
    ///
    /// # Safety
    /// While a call of the stub runs, the function exists. The function has these parameters and this result, follows the C calling
    /// convention of the platform, and accepts all numbers of its types. Parameters that are addresses accept only valid addresses.
    pub(crate) unsafe fn new(
        code: *const (),
        params: Vec<Number>,
        result: Option<Number>,
        with_trampoline: bool,
    ) -> Self {
        let result_type = result.map_or_else(Type::void, Number::ffi_type);
        let cif = Cif::new(params.iter().map(|param| param.ffi_type()), result_type);
        let has_trampoline = with_trampoline && fits_trampoline(&params);
        Self { code: CodePtr(code.cast_mut().cast()), cif, params, result, has_trampoline }
    }

    /// Returns the code for calls with the Rust types `A` and `R`. Returns `None` if the declared types differ from these types.
    ///
    /// # Safety
    /// The function neither receives nor returns an address.
    pub(crate) unsafe fn typed<A: CNumbers, R: CResult>(&self) -> Option<TypedCode<'_, A, R>> {
        let is_declared = self.params == A::NUMBERS && self.result == R::NUMBER;
        is_declared.then(|| TypedCode { code: self.code.as_ptr().cast(), stub: PhantomData, types: PhantomData })
    }

    pub(crate) fn has_trampoline(&self) -> bool {
        self.has_trampoline
    }

    /// Calls the function. Each argument is an address or a number widened to eight bytes. In the result, the bits above the size of the
    /// declared type are undefined.
    ///
    /// # Safety
    /// The function exists, has the declared parameters and result, and follows the C calling convention of the platform. The function may
    /// dereference the passed addresses.
    pub(crate) unsafe fn call(&self, arguments: &[u64]) -> u64 {
        assert_eq!(arguments.len(), self.params.len(), "a call has the arguments that are declared");
        match self.has_trampoline {
            // SAFETY: our caller vouches for the function. The trampoline was selected by the parameter types of the function.
            true => unsafe { self.call_by_trampoline(arguments) },
            // SAFETY: our caller vouches for the function.
            false => unsafe { self.call_by_libffi(arguments) },
        }
    }

    /// Calls through `libffi`. Allocates memory for the arguments only if the function has many parameters. On big-endian platforms, also
    /// shifts each number to the first bytes of its machine word.
    #[inline]
    unsafe fn call_by_libffi(&self, words: &[u64]) -> u64 {
        const FEW: usize = 4;
        const MANY: usize = 16;
        const IS_BIG: bool = cfg!(target_endian = "big");
        let shifted: Vec<u64>;
        let words = if IS_BIG {
            shifted = words.iter().zip(&self.params).map(|(word, param)| word << (64 - param.size() * 8)).collect();
            shifted.as_slice()
        } else {
            words
        };
        let argument = |at: usize| Arg::new(words.get(at).unwrap_or(&0));
        let few;
        let many;
        let all;
        let arguments: &[Arg] = match words.len() {
            count @ ..=FEW => {
                few = std::array::from_fn::<_, FEW, _>(argument);
                &few[..count]
            }
            count @ ..=MANY => {
                many = std::array::from_fn::<_, MANY, _>(argument);
                &many[..count]
            }
            _ => {
                all = words.iter().map(Arg::new).collect::<Vec<_>>();
                all.as_slice()
            }
        };
        let mut result = 0_u64;
        // SAFETY: our caller vouches for the function, which has these parameters, and whose result, if any, has at most eight bytes. Each
        // argument is passed on unchanged.
        unsafe { self.cif.call_return_into(self.code, arguments, Ret::new(&mut result)) };
        self.result.map_or(0, |of| if IS_BIG { result >> (64 - of.size() * 8) } else { result })
    }

    /// Calls through a trampoline, which fills all integer registers, and also all float registers if a parameter is a float. Integers and
    /// addresses use one sequence of registers and floats use a separate sequence, so the order of integer parameters among float
    /// parameters is irrelevant. The C function ignores registers without a parameter.
    unsafe fn call_by_trampoline(&self, arguments: &[u64]) -> u64 {
        let (mut i, mut f) = ([0_u64; INTEGERS], [0_f64; FLOATS]);
        let (mut integers, mut floats) = (0, 0);
        for (word, param) in arguments.iter().zip(&self.params) {
            if param.is_float() {
                // Also correct for an `f32`, which occupies the low half of the register.
                f[floats] = f64::from_bits(*word);
                floats += 1;
            } else {
                i[integers] = *word;
                integers += 1;
            }
        }
        let code: *const c_void = self.code.as_ptr();
        // SAFETY: our caller vouches for the function, and float registers are filled if a parameter is a float.
        unsafe {
            match self.result {
                Some(result) if result.is_float() => trampoline::<f64>(code, i, f, floats > 0).to_bits(),
                _ => trampoline::<u64>(code, i, f, floats > 0),
            }
        }
    }
}

/// Calls a function with these integer registers, and also with the float registers if `has_floats` is set.
///
/// # Safety
/// The function accepts the values of its registers, and returns an `R`, or nothing if `R` is an integer.
#[inline(always)]
unsafe fn trampoline<R>(code: *const c_void, i: [u64; INTEGERS], f: [f64; FLOATS], has_floats: bool) -> R {
    type Plain<R> = unsafe extern "C" fn(u64, u64, u64, u64, u64, u64) -> R;
    type All<R> = unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, f64, f64, f64, f64, f64, f64, f64, f64) -> R;
    // SAFETY: our caller vouches for the function, which ignores registers without a parameter.
    unsafe {
        if !has_floats {
            return transmute::<*const c_void, Plain<R>>(code)(i[0], i[1], i[2], i[3], i[4], i[5]);
        }
        let code = transmute::<*const c_void, All<R>>(code);
        code(i[0], i[1], i[2], i[3], i[4], i[5], f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7])
    }
}

fn fits_trampoline(params: &[Number]) -> bool {
    let floats = params.iter().filter(|param| param.is_float()).count();
    // Excludes Windows, where integers and floats use one common sequence of registers.
    let is_supported = cfg!(all(unix, any(target_arch = "x86_64", target_arch = "aarch64"), target_endian = "little"));
    is_supported && floats <= FLOATS && params.len() - floats <= INTEGERS
}

/// Parameters of a function, as a tuple of up to eight numbers.
pub trait CNumbers: sealed::Sealed {
    /// Types of the parameters.
    const NUMBERS: &'static [Number];

    /// Calls the function at `code`.
    ///
    /// # Safety
    /// `code` is the address of a function with these parameters and this result. The function follows the C calling convention of
    /// the platform.
    unsafe fn call<R: CResult>(self, code: *const ()) -> R;

    /// Calls `then` with the numbers widened to eight bytes.
    fn with_words<T>(self, then: impl FnOnce(&[u64]) -> T) -> T;
}

/// Result of a function: a number or `()`.
pub trait CResult: sealed::Sealed + 'static {
    /// C type of the number. `None` for `()`.
    const NUMBER: Option<Number>;

    /// Converts a returned machine word to the result.
    fn of_word(word: u64) -> Self;
}

/// Code of a function whose parameters and result are numbers. The declared types were compared with `A` and `R`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TypedCode<'a, A, R> {
    code: *const (),
    stub: PhantomData<&'a Stub>,
    types: PhantomData<fn(A) -> R>,
}

impl<A: CNumbers, R: CResult> TypedCode<'_, A, R> {
    #[inline]
    pub(crate) fn call(&self, arguments: A) -> R {
        // SAFETY: the creator of the stub vouches for the function, which handles no addresses. The declared types were compared with
        // these types.
        unsafe { arguments.call(self.code) }
    }
}

impl<N: CNumber> CResult for N {
    const NUMBER: Option<Number> = Some(<N as CNumber>::NUMBER);

    #[inline]
    fn of_word(word: u64) -> Self {
        N::from_bits(word)
    }
}

impl CResult for () {
    const NUMBER: Option<Number> = None;

    #[inline]
    fn of_word(_word: u64) {}
}

macro_rules! tuples {
    ($($($ty:ident $name:ident),*;)*) => {$(
        impl<$($ty: CNumber),*> sealed::Sealed for ($($ty,)*) {}

        impl<$($ty: CNumber),*> CNumbers for ($($ty,)*) {
            const NUMBERS: &'static [Number] = &[$(<$ty as CNumber>::NUMBER),*];

            #[inline]
            unsafe fn call<R: CResult>(self, code: *const ()) -> R {
                let ($($name,)*) = self;
                // SAFETY: our caller promises a function of this type at the address.
                unsafe {
                    let function = transmute::<*const (), unsafe extern "C" fn($($ty),*) -> R>(code);
                    function($($name),*)
                }
            }

            #[inline]
            fn with_words<T>(self, then: impl FnOnce(&[u64]) -> T) -> T {
                let ($($name,)*) = self;
                then(&[$($name.into_bits()),*])
            }
        }
    )*};
}

tuples! {
    ;
    A a;
    A a, B b;
    A a, B b, C c;
    A a, B b, C c, D d;
    A a, B b, C c, D d, E e;
    A a, B b, C c, D d, E e, F f;
    A a, B b, C c, D d, E e, F f, G g;
    A a, B b, C c, D d, E e, F f, G g, H h;
}
