//! Executes C calls. On x86-64 and aarch64, precompiled trampolines execute calls with few arguments. `libffi` executes all other calls.
#![expect(unsafe_code, reason = "calls C functions")]

use libffi::middle::{Arg, Cif, CodePtr, Ret, Type};

use crate::number::Number;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Register {
    Number(Number),
    Pointer,
}

#[derive(Debug)]
pub(crate) struct Stub {
    code: CodePtr,
    cif: Cif,
    params: Vec<Register>,
    result: Option<Register>,
    has_trampoline: bool,
}

// SAFETY: the data that `libffi` prepared never changes after its creation, and the address of a function is only a number.
unsafe impl Send for Stub {}
// SAFETY: the data that `libffi` prepared never changes after its creation, and the address of a function is only a number.
unsafe impl Sync for Stub {}

/// Number of registers for integer and address arguments (`INTEGERS`), and for float arguments (`FLOATS`). Equal on all platforms with
/// trampolines.
const INTEGERS: usize = 6;
const FLOATS: usize = 8;

impl Register {
    fn is_float(self) -> bool {
        matches!(self, Self::Number(Number::F32 | Number::F64))
    }

    fn ty(self) -> Type {
        match self {
            Self::Pointer => Type::pointer(),
            Self::Number(Number::U8) => Type::u8(),
            Self::Number(Number::I8) => Type::i8(),
            Self::Number(Number::U16) => Type::u16(),
            Self::Number(Number::I16) => Type::i16(),
            Self::Number(Number::U32) => Type::u32(),
            Self::Number(Number::I32) => Type::i32(),
            Self::Number(Number::U64) => Type::u64(),
            Self::Number(Number::I64) => Type::i64(),
            Self::Number(Number::F32) => Type::f32(),
            Self::Number(Number::F64) => Type::f64(),
        }
    }

    fn size(self) -> usize {
        match self {
            Self::Pointer => 8,
            Self::Number(number) => number.size(),
        }
    }
}

impl Stub {
    pub(crate) fn new(code: *const (), params: Vec<Register>, result: Option<Register>, with_trampoline: bool) -> Self {
        let cif = Cif::new(params.iter().map(|param| param.ty()), result.map_or_else(Type::void, Register::ty));
        let has_trampoline = with_trampoline && fits_trampoline(&params);
        Self { code: CodePtr(code.cast_mut().cast()), cif, params, result, has_trampoline }
    }

    pub(crate) fn code(&self) -> *const () {
        self.code.as_ptr().cast()
    }

    pub(crate) fn has_trampoline(&self) -> bool {
        self.has_trampoline
    }

    /// Calls the function. Each argument is an address or a number widened to eight bytes. The bits of the result above its size are
    /// undefined.
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

    #[inline]
    unsafe fn call_by_libffi(&self, words: &[u64]) -> u64 {
        let shifted: Vec<u64>;
        let words = if cfg!(target_endian = "big") {
            shifted = words.iter().zip(&self.params).map(|(word, param)| first_bytes(*word, *param)).collect();
            shifted.as_slice()
        } else {
            words
        };
        // SAFETY: our caller vouches for the function. Each argument is passed on unchanged.
        unsafe { self.call_in_memory(words) }
    }

    #[inline]
    unsafe fn call_in_memory(&self, words: &[u64]) -> u64 {
        const FEW: usize = 4;
        const MANY: usize = 16;
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
        // SAFETY: our caller vouches for the function.
        unsafe { self.call_at(arguments) }
    }

    #[inline]
    unsafe fn call_at(&self, arguments: &[Arg]) -> u64 {
        let mut result = 0_u64;
        // SAFETY: `call` was promised a function of this type, whose result, if any, has at most eight bytes.
        unsafe { self.cif.call_return_into(self.code, arguments, Ret::new(&mut result)) };
        self.result.map_or(0, |of| from_first_bytes(result, of))
    }

    /// Calls through a trampoline, which fills all integer registers, and also all float registers if a parameter is a float. Integers and
    /// addresses use one sequence of registers and floats use a separate sequence, so the order of integer parameters among float
    /// parameters is irrelevant. The C function ignores registers without a parameter.
    unsafe fn call_by_trampoline(&self, arguments: &[u64]) -> u64 {
        let (mut i, mut f) = ([0_u64; INTEGERS], [0_f64; FLOATS]);
        let (mut integers, mut floats) = (0, 0);
        for (word, param) in arguments.iter().zip(&self.params) {
            if param.is_float() {
                // An `f32` occupies the low half of the register.
                f[floats] = f64::from_bits(*word);
                floats += 1;
            } else {
                i[integers] = *word;
                integers += 1;
            }
        }
        let code: *const std::ffi::c_void = self.code.as_ptr();
        macro_rules! trampoline {
            ($result:ty) => {
                match floats {
                    // SAFETY: `call` was promised a function with these registers; the function ignores all other registers.
                    0 => unsafe {
                        type Function<R> = unsafe extern "C" fn(u64, u64, u64, u64, u64, u64) -> R;
                        let code = std::mem::transmute::<*const std::ffi::c_void, Function<$result>>(code);
                        code(i[0], i[1], i[2], i[3], i[4], i[5])
                    },
                    // SAFETY: `call` was promised a function with these registers; the function ignores all other registers.
                    _ => unsafe {
                        type Function<R> = unsafe extern "C" fn(
                            u64,
                            u64,
                            u64,
                            u64,
                            u64,
                            u64,
                            f64,
                            f64,
                            f64,
                            f64,
                            f64,
                            f64,
                            f64,
                            f64,
                        ) -> R;
                        let code = std::mem::transmute::<*const std::ffi::c_void, Function<$result>>(code);
                        code(i[0], i[1], i[2], i[3], i[4], i[5], f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7])
                    },
                }
            };
        }
        if self.result.is_some_and(Register::is_float) { trampoline!(f64).to_bits() } else { trampoline!(u64) }
    }
}

fn fits_trampoline(params: &[Register]) -> bool {
    let floats = params.iter().filter(|param| param.is_float()).count();
    // On Windows, integers and floats use one sequence of registers. Other processors have no trampolines.
    let is_supported = cfg!(all(unix, any(target_arch = "x86_64", target_arch = "aarch64"), target_endian = "little"));
    is_supported && floats <= FLOATS && params.len() - floats <= INTEGERS
}

/// Shifts the number to the bytes that come first in memory. Has an effect only on big-endian platforms.
fn first_bytes(word: u64, of: Register) -> u64 {
    if cfg!(target_endian = "big") { word << (64 - of.size() * 8) } else { word }
}

/// Returns the number that is stored in the first bytes of `word`, the inverse of [`first_bytes`].
fn from_first_bytes(word: u64, of: Register) -> u64 {
    if cfg!(target_endian = "big") { word >> (64 - of.size() * 8) } else { word }
}
