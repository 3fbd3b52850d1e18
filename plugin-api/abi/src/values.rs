//! What a plugin calls its host for, about values that it cannot handle by itself: texts, containers, delegates and
//! references in host memory, and the values that plugin code owns there.
#![allow(
    unsafe_code,
    reason = "the derived accessor of a function behind the mark, once there is one, reads it by its offset"
)]

use abi_stable::StableAbi;

use crate::call::{Failure, Status};
use crate::handles::{BlackHandle, ClassId, ConjugateHandle, Name, ObjectHandle, TypeNumber, ZCallHandle};
use crate::host::HostRef;
use crate::kinds::PropertyKind;
use crate::value::{TextSink, TextView};
use crate::zcall::{ZCallBuffer, ZCallStatus};

/// A value in host memory: where it lies, what it is, and whose it is.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ValuePlace {
    /// The object it belongs to, be it deep inside; none for values of parameter blocks and of plugin code. Whether it may
    /// be written is asked of the object.
    pub owner: ObjectHandle,
    /// Its first byte.
    pub at: *mut u8,
    /// Its type.
    pub ty: TypeNumber,
}

impl ValuePlace {
    /// No value: what stands where a call writes a place.
    pub const NONE: Self = Self { owner: ObjectHandle::NONE, at: core::ptr::null_mut(), ty: TypeNumber::NONE };
}

/// Where a plugin made a value, for the statistics.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct Site {
    /// The source file.
    pub file: TextView,
    /// The line.
    pub line: u32,
}

/// Which side began a conjugate, in [`ConjugateState::color`].
pub mod color {
    /// The host did.
    pub const RED: u8 = 1;
    /// Plugin code did.
    pub const BLACK: u8 = 2;
}

/// What can be asked of any conjugate that is no object, be it expired or not.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConjugateState {
    /// One of [`color`].
    pub color: u8,
    /// One when it leads to its value no more, else zero.
    pub expired: u8,
    /// The kind of its value.
    pub kind: PropertyKind,
    /// One when `age` is what it has at the least: many others have had its place since.
    pub older: u8,
    /// Nanoseconds since it was made or lent.
    pub age: u64,
}

impl ConjugateState {
    /// One of which nothing is known: what stands where a call writes a state.
    pub const UNKNOWN: Self = Self { color: 0, expired: 1, kind: PropertyKind(0), older: 0, age: 0 };
}

crate::value_functions!(crate::list::table);
