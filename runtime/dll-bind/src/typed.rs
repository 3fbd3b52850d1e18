//! Calls of plain numbers by their Rust types: what the types are is compared once, and a call is then a call of a function
//! pointer.
#![expect(unsafe_code, reason = "calls what was bound, by the types that were compared")]

use std::marker::PhantomData;

use crate::breach::{Breach, Broken};
use crate::function::Imported;
use crate::shape::Number;

/// A number that C and Rust both have.
pub trait CNumber: Copy + sealed::Sealed + 'static {
    /// Which one it is.
    const NUMBER: Number;

    /// Widened to eight bytes, signed ones with their sign; a float as its bits.
    fn word(self) -> u64;

    /// The number in a word. What is above it is not looked at.
    fn of_word(word: u64) -> Self;
}

/// Up to eight numbers: the parameters of a function, as a tuple.
pub trait CNumbers: sealed::Sealed {
    /// Which ones they are.
    const NUMBERS: &'static [Number];

    /// Calls a function.
    ///
    /// # Safety
    /// There is a function at the address, with these parameters and that result, by the C convention of the platform.
    unsafe fn call<R: CResult>(self, code: *const ()) -> R;

    /// Lends the numbers, widened, to `then`.
    fn with_words<T>(self, then: impl FnOnce(&[u64]) -> T) -> T;
}

/// A number, or nothing.
pub trait CResult: sealed::Sealed + 'static {
    /// Which number it is.
    const NUMBER: Option<Number>;

    /// The result in a word.
    fn of_word(word: u64) -> Self;
}

/// A function of plain numbers, with its types compared. Game thread only.
#[derive(Clone, Copy, Debug)]
pub struct TypedCall<'a, A, R> {
    imported: &'a Imported,
    /// Where a call may go at once.
    code: Option<*const ()>,
    types: PhantomData<fn(A) -> R>,
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! integers {
    ($($ty:ident $wide:ty, $name:ident;)*) => {$(
        impl sealed::Sealed for $ty {}

        impl CNumber for $ty {
            const NUMBER: Number = Number::$name;

            #[inline]
            fn word(self) -> u64 {
                <$wide>::from(self) as u64
            }

            #[inline]
            fn of_word(word: u64) -> Self {
                word as Self
            }
        }

        result!($ty);
    )*};
}

macro_rules! floats {
    ($($ty:ident $bits:ty, $name:ident;)*) => {$(
        impl sealed::Sealed for $ty {}

        impl CNumber for $ty {
            const NUMBER: Number = Number::$name;

            #[inline]
            fn word(self) -> u64 {
                self.to_bits().into()
            }

            #[inline]
            fn of_word(word: u64) -> Self {
                Self::from_bits(word as $bits)
            }
        }

        result!($ty);
    )*};
}

macro_rules! result {
    ($ty:ident) => {
        impl CResult for $ty {
            const NUMBER: Option<Number> = Some(<$ty as CNumber>::NUMBER);

            #[inline]
            fn of_word(word: u64) -> Self {
                <$ty as CNumber>::of_word(word)
            }
        }
    };
}

integers! {
    u8 u64, U8;
    u16 u64, U16;
    u32 u64, U32;
    u64 u64, U64;
    i8 i64, I8;
    i16 i64, I16;
    i32 i64, I32;
    i64 i64, I64;
}

floats! {
    f32 u32, F32;
    f64 u64, F64;
}

impl CResult for () {
    const NUMBER: Option<Number> = None;

    #[inline]
    fn of_word(_word: u64) {}
}

macro_rules! rows {
    ($($($ty:ident $name:ident),*;)*) => {$(
        impl<$($ty: CNumber),*> sealed::Sealed for ($($ty,)*) {}

        impl<$($ty: CNumber),*> CNumbers for ($($ty,)*) {
            const NUMBERS: &'static [Number] = &[$($ty::NUMBER),*];

            #[inline]
            unsafe fn call<R: CResult>(self, code: *const ()) -> R {
                let ($($name,)*) = self;
                // SAFETY: our caller promises such a function there.
                unsafe {
                    let function = std::mem::transmute::<*const (), unsafe extern "C" fn($($ty),*) -> R>(code);
                    function($($name),*)
                }
            }

            #[inline]
            fn with_words<T>(self, then: impl FnOnce(&[u64]) -> T) -> T {
                let ($($name,)*) = self;
                then(&[$($name.word()),*])
            }
        }
    )*};
}

rows! {
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

impl Imported {
    /// The function by its Rust types: `typed::<(i32, f32), u8>()`. A `bool` of C is a `u32`, or a `u8` where it fills one byte.
    ///
    /// # Errors
    /// [`Breach::Signature`] where it is declared with other types, or with buffers.
    pub fn typed<A: CNumbers, R: CResult>(&self) -> Result<TypedCall<'_, A, R>, Broken> {
        let is_declared =
            self.is_plain() && self.numbers().eq(A::NUMBERS.iter().copied()) && self.number_of_result() == R::NUMBER;
        if !is_declared {
            let breach = Breach::Signature {
                declared: if self.is_plain() {
                    words(self.numbers(), self.number_of_result())
                } else {
                    "buffers".to_owned()
                },
                called: words(A::NUMBERS.iter().copied(), R::NUMBER),
            };
            return Err(self.broken("the function".to_owned(), breach));
        }
        Ok(TypedCall { imported: self, code: self.direct(), types: PhantomData })
    }
}

fn words(params: impl Iterator<Item = Number>, result: Option<Number>) -> String {
    let word = |number: Number| format!("{number:?}").to_lowercase();
    let params: Vec<_> = params.map(word).collect();
    let result = result.map(|number| format!(" -> {}", word(number))).unwrap_or_default();
    params.join(", ") + &result
}

impl<A: CNumbers, R: CResult> TypedCall<'_, A, R> {
    /// Calls it. Where there is no such function nothing happens, and the result is zero.
    ///
    /// # Errors
    /// [`Breach::NoThread`] where it runs in its folder and cannot.
    #[inline]
    pub fn call(&self, arguments: A) -> Result<R, Broken> {
        match self.code {
            // SAFETY: who made the folder vouches for its functions, and the declaration was compared with these types; the library
            // is open as long as `imported` is there.
            Some(code) => Ok(unsafe { arguments.call(code) }),
            None => arguments.with_words(|words| self.imported.call_plain(words)).map(R::of_word),
        }
    }
}
