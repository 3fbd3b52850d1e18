//! Representation of values in host memory and in parameter blocks. Zero bytes are a value of every kind: the empty string, no
//! object, an empty container, an unbound delegate.

use abi_stable::StableAbi;

use crate::handles::{Name, ObjectHandle};

/// UTF-8 string whose memory belongs to the host. A plugin reads it; only the host changes it. Zero bytes are the empty string.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct TextRaw {
    /// First byte; null if `capacity` is zero.
    pub data: *mut u8,
    /// Bytes in use.
    pub len: usize,
    /// Bytes reserved.
    pub capacity: usize,
}

impl TextRaw {
    /// The empty string.
    pub const EMPTY: Self = Self { data: core::ptr::null_mut(), len: 0, capacity: 0 };
}

/// A string borrowed for one call.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct TextView {
    /// First byte; never read if `len` is zero.
    pub data: *const u8,
    /// Length in bytes.
    pub len: usize,
}

impl TextView {
    /// Borrows `text`; the caller keeps it alive and unchanged for the call.
    #[must_use]
    pub const fn of(text: &str) -> Self {
        Self { data: text.as_ptr(), len: text.len() }
    }
}

/// Receives a string that the caller will own: called once with the whole string.
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct TextSink {
    /// Passed to `put`.
    pub context: *mut (),
    /// Copies `len` bytes of UTF-8 from `data`.
    pub put: unsafe extern "C" fn(context: *mut (), data: *const u8, len: usize),
}

/// Receives the kept fields of a plugin part, which are carried over a reload.
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct KeepSink {
    /// Passed to `put`.
    pub context: *mut (),
    /// Copies one field: its name, and its value in CBOR.
    pub put: unsafe extern "C" fn(context: *mut (), name: TextView, data: *const u8, len: usize),
}

/// Translatable text: the source text, and its key in a translation. Not translated if both names are empty.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct LocalTextRaw {
    /// The text in its source language.
    pub display: TextRaw,
    /// Namespace of the key.
    pub namespace: Name,
    /// Key in the namespace.
    pub key: Name,
}

/// Persistent id of an object, also valid in other processes; zero is none.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
pub struct LazyRaw {
    /// The first eight bytes.
    pub high: u64,
    /// The last eight bytes.
    pub low: u64,
}

/// A contiguous array of values of one type. A plugin reads and writes values that own no memory in place; all other changes
/// are made by the host.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct ArrayRaw {
    /// The first value, aligned for its type; null if `capacity` is zero.
    pub data: *mut u8,
    /// Number of values.
    pub len: u32,
    /// Number of values that fit into the allocation.
    pub capacity: u32,
    /// Incremented whenever values are moved or destroyed: an address taken at another count is stale. At [`ArrayRaw::WORN`]
    /// the counter stops, and every address is stale.
    pub epoch: u64,
    /// Used by the host to detect a moved list of delegates.
    pub reserved: u32,
}

/// Map or set as a dense array: each entry is the key, followed at the next aligned offset by the value. A set has keys only.
/// Entries are in insertion order until one is removed: the last entry then takes its position.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct MapRaw {
    /// The entries. A plugin never writes their keys.
    pub entries: ArrayRaw,
    /// Hash index of the host; null if there is none.
    pub index: *mut (),
}

/// A function of an object. Unbound if the object is none.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct DelegateRaw {
    /// The object. A delegate keeps the object alive, but it may still be destroyed explicitly: no function is called then, and a
    /// call of a single delegate fails with `NOT_FOUND`.
    pub object: ObjectHandle,
    /// Name of the function in the object's class.
    pub function: Name,
    /// Always zero.
    pub reserved: u32,
}

/// Delegates that are usually absent: null, or an array owned by the host.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct SparseRaw {
    /// The array of [`DelegateRaw`]; null for none.
    pub list: *mut ArrayRaw,
}

impl ArrayRaw {
    /// The maximum count. The counter stops there, so later moves cannot be detected.
    pub const WORN: u64 = u64::MAX;
    /// The empty array.
    pub const EMPTY: Self = Self { data: core::ptr::null_mut(), len: 0, capacity: 0, epoch: 0, reserved: 0 };
}

impl LazyRaw {
    /// No object.
    pub const NONE: Self = Self { high: 0, low: 0 };
}
