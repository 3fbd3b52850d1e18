//! What a C function did that its declaration does not allow. What the call gave is discarded then.

/// A function broke the rules of its call: which, and where. The host is unharmed as far as the rules can tell.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{function}` of `{library}`: {place} {breach}; its results were discarded")]
pub struct Broken {
    /// The name of the library.
    pub library: String,
    /// The function.
    pub function: String,
    /// The parameter, with the field in it, or the result.
    pub place: String,
    /// What is wrong.
    pub breach: Breach,
}

/// What is wrong with it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Breach {
    /// Bytes before the buffer were written.
    #[error("was written to {bytes} bytes before its start: it is {size} bytes long")]
    Before {
        /// How far away the farthest byte is that was found changed.
        bytes: usize,
        /// The size of the buffer in bytes.
        size: usize,
    },
    /// Bytes behind the buffer were written.
    #[error("was written to {bytes} bytes behind its end: it is {size} bytes long")]
    Behind {
        /// How far away the farthest byte is that was found changed.
        bytes: usize,
        /// The size of the buffer in bytes.
        size: usize,
    },
    /// The pointer of a text or an array in a struct came back changed.
    #[error("came back with another `data` pointer: its memory is the host's, write where it points to")]
    MovedData,
    /// The capacity of a text or an array in a struct came back changed.
    #[error("came back with `max` {found} instead of {max}: only the host makes room")]
    ChangedMax {
        /// What it was.
        max: i32,
        /// What it is.
        found: i32,
    },
    /// The length of a text or an array in a struct is out of range.
    #[error("came back with `num` {num}, and there is room for {max}")]
    Num {
        /// The length.
        num: i32,
        /// The capacity.
        max: i32,
    },
    /// A text has no zero where it has to end.
    #[error("came back as a text without a zero at its end, within {units} units")]
    Unterminated {
        /// How many units were looked at.
        units: usize,
    },
    /// A text is no UTF-16.
    #[error("is no UTF-16: unit {at} is half of a pair, {unit:#06x}")]
    NoText {
        /// The place of the unit.
        at: usize,
        /// The unit.
        unit: u16,
    },
    /// A `bool` result of unstated width is false in one byte and true in four.
    #[error(
        "is the word {word:#010x}: as a `bool` of one byte (C++ `bool`) it is false, as one of four (`uint32_t`) it is true; \
         declare the width as `bool8` or `bool32`"
    )]
    Bool {
        /// The four bytes.
        word: u32,
    },
    /// A value for a field that is `float` in C is beyond the range of `float`.
    #[error("is {value}, and the field is a `float` in C, which ends at {max:e}", max = f32::MAX)]
    NotAFloat {
        /// The value in digits.
        value: String,
    },
    /// A pointer is null.
    #[error("is a null pointer")]
    Null,
    /// A pointer leads to memory that is not there.
    #[error("leads to {address:#x}, where no memory is")]
    Nowhere {
        /// The address.
        address: usize,
    },
    /// A text that is passed has a zero in it, where C would take it to end.
    #[error("has a zero in its text, where C would take it to end")]
    ZeroInside,
    /// An array that is passed has another length than is declared.
    #[error("has {found} values, and {wanted} are declared")]
    Len {
        /// How many there are.
        found: usize,
        /// How many there have to be.
        wanted: usize,
    },
    /// A text or an array that is passed is longer than C could say.
    #[error("is longer than C can say: it has {len} values")]
    TooLong {
        /// How many values, or units.
        len: usize,
    },
    /// A value that is passed is of another type than is declared.
    #[error("is {found}, and {wanted} is declared")]
    Type {
        /// What it is.
        found: &'static str,
        /// What it has to be.
        wanted: String,
    },
    /// The function runs in the folder of its library, and there is no thread for that.
    #[error("cannot be called: there is no thread in the folder of the library ({message}); declare it `no_cwd`")]
    NoThread {
        /// What the system says.
        message: String,
    },
    /// Buffers are to end at a fence, and there is none.
    #[error("cannot be called: there is no fence for its buffers ({message})")]
    NoFence {
        /// What the system says.
        message: String,
    },
    /// A function that is called by Rust types is declared with others.
    #[error("is declared as ({declared}), and called as ({called})")]
    Signature {
        /// As it is declared.
        declared: String,
        /// As it is called.
        called: String,
    },
}
