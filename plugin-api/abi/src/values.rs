//! Host functions for strings, containers, delegates and references in host memory, and for owned values. A plugin can change such a
//! value only by a call of the host.
#![allow(unsafe_code, reason = "derived accessors of functions that an older host may lack read by offset")]

use abi_stable::StableAbi;

use crate::call::{Failure, Status};
use crate::handles::{BlackHandle, ClassId, ConjugateHandle, Name, ObjectHandle, TypeNumber, ZCallHandle};
use crate::host::HostRef;
use crate::kinds::PropertyKind;
use crate::value::{TextSink, TextView};
use crate::zcall::{ZCallBuffer, ZCallStatus};

/// Location of a value in host memory, with the value's type and owner.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct RawLocation {
    /// Object that contains the value, directly or in a nested value. None for owned values and for values in parameter
    /// blocks. Before a write, the host checks that the owner may be written.
    pub owner: ObjectHandle,
    /// Address of the value's first byte.
    pub at: *mut u8,
    /// Type of the value.
    pub ty: TypeNumber,
}

impl RawLocation {
    /// Location that refers to no value; initial value of an out parameter.
    pub const NONE: Self = Self { owner: ObjectHandle::NONE, at: core::ptr::null_mut(), ty: TypeNumber::NONE };
}

/// Source location at which a plugin created a value, for statistics.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct Site {
    /// Source file.
    pub file: TextView,
    /// Line in the source file.
    pub line: u32,
}

/// Constants for [`ConjugateState::color`]: the side that created the conjugate.
pub mod color {
    /// Conjugate that the host created.
    pub const RED: u8 = 1;
    /// Conjugate that plugin code created.
    pub const BLACK: u8 = 2;
}

/// State of a live or expired conjugate that is not an object.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConjugateState {
    /// A constant of [`color`].
    pub color: u8,
    /// 1 if the value no longer exists, otherwise 0.
    pub expired: u8,
    /// Kind of the value.
    pub kind: PropertyKind,
    /// 1 if `age` is only a lower bound, which happens after the host has reused the conjugate's entry many times. Otherwise 0.
    pub older: u8,
    /// Nanoseconds since the conjugate was created or borrowed.
    pub age: u64,
}

impl ConjugateState {
    /// State of an unknown conjugate; initial value of an out parameter.
    pub const UNKNOWN: Self = Self { color: 0, expired: 1, kind: PropertyKind(0), older: 0, age: 0 };
}

crate::value_functions!(crate::list::table);
