//! Typed calls of C functions whose parameters and results are plain numbers. The types are compared once, before the first call. After
//! this comparison, a function that is declared `no_cwd` is called directly by its address.

use crate::breach::{Breach, Broken};
use crate::call::{CNumbers, CResult, TypedCode};
use crate::function::Imported;
use crate::number::Number;

/// Function whose parameters and result are plain numbers and match the Rust types `A` and `R`. Game thread only.
#[derive(Clone, Copy, Debug)]
pub struct TypedCall<'a, A, R> {
    imported: &'a Imported,
    /// Code of the function if it may be called directly.
    code: Option<TypedCode<'a, A, R>>,
}

impl Imported {
    /// Returns the function for calls with the given Rust types, as in `typed::<(i32, f32), u8>()`. The Rust type of a C `bool` is `u32`,
    /// or `u8` if the declared width is one byte.
    ///
    /// # Errors
    /// Returns [`Breach::Signature`] if the declared types differ from the Rust types, or if a declared type needs a buffer.
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
        Ok(TypedCall { imported: self, code: self.direct() })
    }
}

fn format_signature(params: impl Iterator<Item = Number>, result: Option<Number>) -> String {
    let format_number = |number: Number| format!("{number:?}").to_lowercase();
    let params: Vec<_> = params.map(format_number).collect();
    let result = result.map(|number| format!(" -> {}", format_number(number))).unwrap_or_default();
    params.join(", ") + &result
}

impl<A: CNumbers, R: CResult> TypedCall<'_, A, R> {
    /// Calls the function. If the library does not export the function, the call has no effect and returns zero.
    ///
    /// # Errors
    /// Returns [`Breach::NoThread`] if the thread that runs calls in the folder did not start.
    #[inline]
    pub fn call(&self, arguments: A) -> Result<R, Broken> {
        match &self.code {
            Some(code) => Ok(code.call(arguments)),
            None => arguments.with_words(|words| self.imported.call_plain(words)).map(R::of_word),
        }
    }
}
