//! Number types that exist in C and in Rust. One table declares each type together with its conversions to values and arguments. Machine
//! words contain the bits of [`SlotValue`]: signed numbers are sign-extended, and floats keep their bits.

use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::zcall::SlotValue;
use alcedo_base::boundary::CallError;
use alcedo_reflect::thunk::Frame;
use alcedo_reflect::value::Value;
use libffi::middle::Type;

/// Number type that exists in C and in Rust.
pub trait CNumber: SlotValue + sealed::Sealed + 'static {
    /// The C type.
    const NUMBER: Number;
}

pub(crate) mod sealed {
    pub trait Sealed {}
}

/// Declares number types. Each line contains the Rust type and its name in [`Number`].
macro_rules! numbers {
    ($($ty:ident $name:ident;)*) => {
        /// C number type. Named after the corresponding Rust type.
        ///
        /// # Examples
        /// ```
        /// use alcedo_dll_bind::Number;
        ///
        /// assert_eq!((Number::U8.size(), Number::F64.size()), (1, 8));
        /// ```
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[expect(missing_docs, reason = "the names of numbers are self-explanatory")]
        pub enum Number { $($name,)* }

        impl Number {
            /// Returns the size in bytes. Outside of structs, this is also the alignment.
            #[must_use]
            pub const fn size(self) -> usize {
                match self { $(Self::$name => size_of::<$ty>(),)* }
            }

            pub(crate) fn is_float(self) -> bool {
                matches!(self, Self::F32 | Self::F64)
            }

            /// Returns the type of the number in `libffi`.
            pub(crate) fn ffi_type(self) -> Type {
                match self { $(Self::$name => Type::$ty(),)* }
            }

            /// Returns the C number type of a reflected property kind. Returns `None` if the kind is not a number.
            pub(crate) fn of(kind: PropertyKind) -> Option<Self> {
                match kind {
                    $(PropertyKind::$name => Some(Self::$name),)*
                    _ => None,
                }
            }

            /// Widens a value to eight bytes. Returns `None` for values of other types.
            pub(crate) fn widened(self, value: &Value) -> Option<u64> {
                match (self, value) {
                    $((Self::$name, Value::$name(number)) => Some(number.into_bits()),)*
                    _ => None,
                }
            }

            /// Narrows a widened or returned number. Ignores the bits above the size of the number.
            pub(crate) fn narrowed(self, bits: u64) -> Value {
                match self { $(Self::$name => Value::$name(SlotValue::from_bits(bits)),)* }
            }

            /// Takes the next argument of a reflected call and widens it to eight bytes.
            pub(crate) fn take(self, frame: &mut Frame<'_>) -> Result<u64, CallError> {
                match self { $(Self::$name => frame.take::<$ty>().map(SlotValue::into_bits),)* }
            }

            /// Narrows a machine word to a number and sets the number as the result of a reflected call.
            pub(crate) fn set_result(self, frame: &mut Frame<'_>, word: u64) -> Result<(), CallError> {
                match self { $(Self::$name => frame.set_result(<$ty as SlotValue>::from_bits(word)),)* }
            }
        }

        $(
            impl sealed::Sealed for $ty {}

            impl CNumber for $ty {
                const NUMBER: Number = Number::$name;
            }
        )*
    };
}

numbers! {
    u8 U8;
    u16 U16;
    u32 U32;
    u64 U64;
    i8 I8;
    i16 I16;
    i32 I32;
    i64 I64;
    f32 F32;
    f64 F64;
}
