//! Typed calls of C functions whose parameters and results are plain numbers. The types are compared once, before the first call. After
//! this comparison, a function that is declared `no_cwd` is called directly by its address.
#![expect(unsafe_code, reason = "calls what was bound, by the types that were compared")]

use std::marker::PhantomData;

use crate::breach::{Breach, Broken};
use crate::function::Imported;
use crate::number::{CNumber, Number, sealed};

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

/// Function of plain numbers whose declaration was compared with the Rust types `A` and `R`. Game thread only.
#[derive(Clone, Copy, Debug)]
pub struct TypedCall<'a, A, R> {
    imported: &'a Imported,
    /// Address of the function if it may be called directly.
    code: Option<*const ()>,
    types: PhantomData<fn(A) -> R>,
}

impl<N: CNumber> CResult for N {
    const NUMBER: Option<Number> = Some(<N as CNumber>::NUMBER);

    #[inline]
    fn of_word(word: u64) -> Self {
        <N as CNumber>::of_word(word)
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

impl Imported {
    /// Returns the function for calls with the requested Rust types, as in `typed::<(i32, f32), u8>()`. The Rust type of a C `bool` is
    /// `u32`, or `u8` if the declared width is one byte.
    ///
    /// # Errors
    /// [`Breach::Signature`] if the declared types differ from the requested types, or if a declared type needs a buffer.
    ///
    /// # Examples
    /// ```
    /// use alcedo_dll_bind::{Broken, Imported};
    ///
    /// /// Calls a bound `int32_t Add(int32_t a, int32_t b)`, with types that are checked once.
    /// fn sum(function: &Imported, numbers: &[i32]) -> Result<i32, Broken> {
    ///     let add = function.typed::<(i32, i32), i32>()?;
    ///     numbers.iter().try_fold(0, |sum, number| add.call((sum, *number)))
    /// }
    /// ```
    pub fn typed<A: CNumbers, R: CResult>(&self) -> Result<TypedCall<'_, A, R>, Broken> {
        let is_declared =
            self.is_plain() && self.numbers().eq(A::NUMBERS.iter().copied()) && self.number_of_result() == R::NUMBER;
        if !is_declared {
            let breach = Breach::Signature {
                declared: if self.is_plain() {
                    format_signature(self.numbers(), self.number_of_result())
                } else {
                    "buffers".to_owned()
                },
                called: format_signature(A::NUMBERS.iter().copied(), R::NUMBER),
            };
            return Err(self.broken("the function".to_owned(), breach));
        }
        Ok(TypedCall { imported: self, code: self.direct(), types: PhantomData })
    }
}

fn format_signature(params: impl Iterator<Item = Number>, result: Option<Number>) -> String {
    let format_number = |number: Number| format!("{number:?}").to_lowercase();
    let params: Vec<_> = params.map(format_number).collect();
    let result = result.map(|number| format!(" -> {}", format_number(number))).unwrap_or_default();
    params.join(", ") + &result
}

impl<A: CNumbers, R: CResult> TypedCall<'_, A, R> {
    /// Calls the function. If the function does not exist, the call has no effect and returns zero.
    ///
    /// # Errors
    /// [`Breach::NoThread`] if the thread of the folder did not start.
    #[inline]
    pub fn call(&self, arguments: A) -> Result<R, Broken> {
        match self.code {
            // SAFETY: the creator of the folder vouches for the functions of its libraries. The declaration was compared with these types,
            // and `imported` keeps the library open.
            Some(code) => Ok(unsafe { arguments.call(code) }),
            None => arguments.with_words(|words| self.imported.call_plain(words)).map(R::of_word),
        }
    }
}
