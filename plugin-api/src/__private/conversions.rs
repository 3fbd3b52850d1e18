//! Conversion functions of plugin authors, for example `of_number` in `#[migrate(from = "f64", with = Self::of_number)]`. For each
//! conversion function, the macro emits a static function of the class, which calls the author's function and passes the result to this
//! Rust module.

use alcedo_abi::fingerprint::Fingerprint;
use alcedo_rt::CallError;

use super::returned::{Returned, SourceLocation};
use crate::{ReturnValue, Value};

/// Returns the value that a conversion function has returned, or converts the function's error into a [`CallError`].
///
/// # Errors
/// Returns the error of the conversion function.
///
/// # Examples
/// The parameter of a conversion function must have the type that the attribute specifies:
/// ```compile_fail,E0308
/// use alcedo_plugin_api::prelude::*;
///
/// #[uclass(package = "Game")]
/// #[derive(Default)]
/// pub struct Oven {
///     #[uproperty]
///     #[migrate(from = "f64", with = Self::of_text)]
///     heat: i32,
/// }
///
/// impl Oven {
///     fn of_text(heat: String) -> i32 {
///         heat.len() as i32
///     }
/// }
/// # fn main() {}
/// ```
#[inline]
pub fn converted<T: ReturnValue, R: Returned<Value = T>>(returned: R, place: SourceLocation) -> Result<T, CallError> {
    returned.crossing(place)
}

/// Returns true if the host treats `A` and `B` as the same type.
#[must_use]
pub const fn is_same_type<A: Value, B: Value>() -> bool {
    let (one, other) =
        (Fingerprint::START.value(A::KIND, A::TYPE_PATH), Fingerprint::START.value(B::KIND, B::TYPE_PATH));
    one.finish() == other.finish()
}

#[cfg(test)]
mod tests {
    use super::{converted, is_same_type};
    use crate::__private::SourceLocation;
    use crate::{UArray, UString};

    const HERE: SourceLocation = SourceLocation { file: "src/lib.rs", line: 4, column: 8 };

    #[test]
    fn a_conversion_returns_a_value_or_a_result() {
        assert_eq!(converted::<u32, _>(7_u32, HERE).ok(), Some(7));
        assert_eq!(converted::<u32, _>(Ok::<_, String>(7_u32), HERE).ok(), Some(7));
        let error = converted::<u32, _>(Err::<u32, _>("too hot"), HERE).expect_err("it is one");
        assert_eq!((error.is_returned(), error.message()), (true, "too hot"));
    }

    #[test]
    fn types_of_one_kind_and_path_are_one_type() {
        assert!(is_same_type::<String, UString>() && is_same_type::<Vec<f64>, UArray<f64>>());
        assert!(!is_same_type::<f32, f64>() && !is_same_type::<UArray<f32>, UArray<f64>>());
    }
}
