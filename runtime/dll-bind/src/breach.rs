//! Errors of calls that violate the declaration of the called C function. The results of such a call are discarded.

/// Error of a call in which the arguments or the C function violated the declaration. A C function can also damage host memory in ways that
/// no check detects.
///
/// # Examples
/// ```
/// use alcedo_dll_bind::{Breach, Broken};
///
/// let (library, function, location) = ("MathDLL".into(), "Sum".into(), "`values`".into());
/// let broken = Broken { library, function, location, breach: Breach::Len { found: 3, expected: 4 } };
/// assert!(broken.to_string().starts_with("`Sum` of `MathDLL`: `values` has 3 values, and 4 are declared"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{function}` of `{library}`: {location} {breach}; its results were discarded")]
pub struct Broken {
    /// Name of the library.
    pub library: String,
    /// Name of the function.
    pub function: String,
    /// Location of the violation: a parameter with the path to the invalid value ("parameter `path.points[2]`"), "the result", "its row of
    /// arguments" (the whole argument list) or "the function".
    pub location: String,
    /// Kind of violation of a C function's declaration.
    pub breach: Breach,
}

/// Kind of violation of a C function's declaration.
///
/// # Examples
/// ```
/// use alcedo_dll_bind::Breach;
///
/// assert_eq!(Breach::Null.to_string(), "is a null pointer");
/// assert_eq!(Breach::ZeroInside.to_string(), "contains a zero, which ends a string in C");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Breach {
    /// Bytes before the buffer were overwritten.
    #[error("was written to {bytes} bytes before its start: it is {size} bytes long")]
    Before {
        /// Distance in bytes from the start of the buffer to the farthest changed byte.
        bytes: usize,
        /// Size of the buffer in bytes.
        size: usize,
    },
    /// Bytes after the buffer were overwritten.
    #[error("was written to {bytes} bytes past its end: it is {size} bytes long")]
    Behind {
        /// Distance in bytes from the end of the buffer to the farthest changed byte.
        bytes: usize,
        /// Size of the buffer in bytes.
        size: usize,
    },
    /// The C function changed the data pointer of a string or array in a struct.
    #[error("came back with another `data` pointer: the host owns the memory; write into it")]
    MovedData,
    /// The C function changed the capacity of a string or array in a struct.
    #[error("came back with `max` {found} instead of {max}: only the host changes the capacity")]
    ChangedMax {
        /// Capacity before the call.
        max: i32,
        /// Capacity after the call.
        found: i32,
    },
    /// The length that C wrote for a string or array in a struct is negative or exceeds the capacity.
    #[error("came back with `num` {num}, over the capacity of {max}")]
    Num {
        /// Length after the call.
        num: i32,
        /// Capacity of the string or array.
        max: i32,
    },
    /// The terminating zero of a string is missing.
    #[error("came back as a string without a terminating zero, within {units} units")]
    Unterminated {
        /// Number of UTF-16 units that were scanned for the terminating zero.
        units: usize,
    },
    /// A string from C is not valid UTF-16.
    #[error("is not UTF-16: unit {at} is an unpaired surrogate, {unit:#06x}")]
    NoText {
        /// Index of the invalid UTF-16 unit.
        at: usize,
        /// Value of the invalid unit.
        unit: u16,
    },
    /// The declaration does not state the width of a `bool` result, and the returned value is ambiguous: false as one byte, but true as
    /// four bytes.
    #[error(
        "is {word:#010x}: as a `bool` of one byte (C++ `bool`) it is false, as one of four (`uint32_t`) it is true; \
         declare the width as `bool8` or `bool32`"
    )]
    Bool {
        /// The four bytes of the result.
        word: u32,
    },
    /// The value of a field exceeds the range of `float`, the type of the field in C.
    #[error("is {value}, and the field is a `float` in C, which ends at {max:e}", max = f32::MAX)]
    NotAFloat {
        /// The value as a decimal number.
        value: String,
    },
    /// The pointer is null.
    #[error("is a null pointer")]
    Null,
    /// The pointer refers to unmapped memory.
    #[error("points to {address:#x}, which is not mapped")]
    Nowhere {
        /// The address.
        address: usize,
    },
    /// A string argument contains a zero character. In C, a zero character ends the string.
    #[error("contains a zero, which ends a string in C")]
    ZeroInside,
    /// The length of an array argument differs from the declared length.
    #[error("has {found} values, and {expected} are declared")]
    Len {
        /// Length of the argument.
        found: usize,
        /// Declared length.
        expected: usize,
    },
    /// The length of a string or array argument exceeds the range of the C type.
    #[error("is too long for C: it has {len} values")]
    TooLong {
        /// Number of values or units.
        len: usize,
    },
    /// The type of an argument differs from the declared type.
    #[error("is {found}, and {expected} is declared")]
    Type {
        /// Type of the argument.
        found: &'static str,
        /// Declared type.
        expected: String,
    },
    /// The function must run with the folder of its library as working directory, but the thread for such calls could not be started.
    #[error(
        "cannot be called: the thread in the folder of the library was not started ({message}); declare it `no_cwd`"
    )]
    NoThread {
        /// Error message of the operating system.
        message: String,
    },
    /// Fences are enabled, but the memory between inaccessible pages could not be allocated.
    #[error("cannot be called: fences for its buffers could not be allocated ({message})")]
    NoFence {
        /// Error message of the operating system.
        message: String,
    },
    /// The Rust types of a typed call differ from the types in the declaration.
    #[error("is declared as ({declared}), and called as ({called})")]
    Signature {
        /// Declared types.
        declared: String,
        /// Types of the call.
        called: String,
    },
}
