//! Records of a plugin's events and spans. A plugin sends these records from any of its threads to the host's subscriber.

use abi_stable::StableAbi;
use abi_stable::std_types::{RSlice, RStr};

/// Log level of a record.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LogLevel(pub u8);

impl LogLevel {
    /// Disables all records.
    pub const OFF: Self = Self(0);
    /// Level of an error.
    pub const ERROR: Self = Self(1);
    /// Level of a warning.
    pub const WARN: Self = Self(2);
    /// Level of an informational record.
    pub const INFO: Self = Self(3);
    /// Level of details for debugging.
    pub const DEBUG: Self = Self(4);
    /// Level of the most verbose records.
    pub const TRACE: Self = Self(5);
}

/// Field of an event or span, with its formatted value.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct LogField<'a> {
    /// Name of the field.
    pub name: RStr<'a>,
    /// Formatted value.
    pub value: RStr<'a>,
}

/// An event, or a span at its creation.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct LogRecord<'a> {
    /// Level of the record.
    pub level: LogLevel,
    /// Line in `file`, or zero if unknown.
    pub line: u32,
    /// Target of the record: the module path, or a name that the author has chosen.
    pub target: RStr<'a>,
    /// Message of an event, or name of a span.
    pub message: RStr<'a>,
    /// Source file, or empty if unknown.
    pub file: RStr<'a>,
    /// Fields of the record, without the message.
    pub fields: RSlice<'a, LogField<'a>>,
}

/// State change of an open span.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpanStep(pub u8);

impl SpanStep {
    /// The calling thread enters the span.
    pub const ENTER: Self = Self(1);
    /// The calling thread exits the span.
    pub const EXIT: Self = Self(2);
    /// The span is closed.
    pub const CLOSE: Self = Self(3);
}
