//! Events and spans of a plugin on their way to the host's subscriber. Allowed on any thread.

use abi_stable::StableAbi;
use abi_stable::std_types::{RSlice, RStr};

/// How loud a record is.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LogLevel(pub u8);

impl LogLevel {
    /// Nothing.
    pub const OFF: Self = Self(0);
    /// Something failed.
    pub const ERROR: Self = Self(1);
    /// Something is odd.
    pub const WARN: Self = Self(2);
    /// Something happened.
    pub const INFO: Self = Self(3);
    /// For who debugs.
    pub const DEBUG: Self = Self(4);
    /// Everything.
    pub const TRACE: Self = Self(5);
}

/// One field of an event or span, its value printed.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct LogField<'a> {
    /// Its name.
    pub name: RStr<'a>,
    /// Its value as text.
    pub value: RStr<'a>,
}

/// An event, or a span at its start.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct LogRecord<'a> {
    /// How loud.
    pub level: LogLevel,
    /// Line in `file`, or zero.
    pub line: u32,
    /// The module path or the author's own word.
    pub target: RStr<'a>,
    /// The message of an event, the name of a span.
    pub message: RStr<'a>,
    /// Source file, or empty.
    pub file: RStr<'a>,
    /// The other fields.
    pub fields: RSlice<'a, LogField<'a>>,
}

/// What happens to a span that was opened.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpanStep(pub u8);

impl SpanStep {
    /// This thread goes in.
    pub const ENTER: Self = Self(1);
    /// This thread comes out.
    pub const EXIT: Self = Self(2);
    /// Nobody can go in again.
    pub const CLOSE: Self = Self(3);
}
