//! Representation of values in host memory and in parameter blocks. Zero bytes are a value of every kind: the empty string, no
//! object, an empty container, an unbound delegate.

use abi_stable::StableAbi;

use crate::handles::{Name, ObjectHandle};

/// UTF-8 string whose memory belongs to the host. A plugin may read the string, but only the host changes it. Zero bytes are the
/// empty string.
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
    /// Borrows `text`. The caller keeps the string alive and unchanged while the view is used.
    #[must_use]
    pub const fn of(text: &str) -> Self {
        Self { data: text.as_ptr(), len: text.len() }
    }
}

/// Callback that receives a string and copies it for the caller. The callee calls `put` once, with the whole string.
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct TextSink {
    /// Passed to `put`.
    pub context: *mut (),
    /// Copies `len` bytes of UTF-8 from `data`.
    pub put: unsafe extern "C" fn(context: *mut (), data: *const u8, len: usize),
}

/// Callback that receives the fields of a plugin part that are kept during a reload.
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct KeepSink {
    /// Passed to `put`.
    pub context: *mut (),
    /// Copies the name of a field, and the field's value in CBOR. For packed fields, the name is empty, and the data is the next piece of
    /// the bytes.
    pub put: unsafe extern "C" fn(context: *mut (), name: TextView, data: *const u8, len: usize),
}

/// Localized text: the visible text, and the namespace and key of its translation. If namespace and key are empty, the text is
/// not translated.
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

/// Persistent id of an object, valid in all processes. Zero refers to no object.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
pub struct LazyRaw {
    /// The first eight bytes.
    pub high: u64,
    /// The last eight bytes.
    pub low: u64,
}

/// A contiguous array of values of one type. A plugin may read and write values that own no memory in place. Only the host makes
/// other changes.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct ArrayRaw {
    /// The first value, aligned for its type; null if `capacity` is zero.
    pub data: *mut u8,
    /// Number of values.
    pub len: u32,
    /// Number of values that fit into the allocation.
    pub capacity: u32,
    /// Incremented whenever values are moved or destroyed. An address is stale if the count has changed since the address was
    /// read. At [`ArrayRaw::WORN`] the counter stops, and every address is treated as stale.
    pub epoch: u64,
    /// Reserved for the host, which uses this field to detect a moved list of delegates.
    pub reserved: u32,
}

/// Map or set as a dense array: each entry is the key, followed at the next aligned offset by the value. A set has keys only.
/// Entries are in insertion order until an entry is removed. The last entry then takes the position of the removed entry.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct MapRaw {
    /// The entries. A plugin must not write keys.
    pub entries: ArrayRaw,
    /// Hash index of the host; null if there is none.
    pub index: *mut (),
}

/// A function of an object. Unbound if the object is none.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct DelegateRaw {
    /// The object. A delegate keeps its object alive, but the object may be destroyed explicitly. In this case no function is
    /// called, and a call of a single delegate fails with `NOT_FOUND`.
    pub object: ObjectHandle,
    /// Name of the function in the object's class.
    pub function: Name,
    /// Always zero.
    pub reserved: u32,
}

/// A list of delegates that is usually empty: null, or an array owned by the host.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct SparseRaw {
    /// The array of [`DelegateRaw`]; null if no function is bound.
    pub list: *mut ArrayRaw,
}

impl ArrayRaw {
    /// Maximum value of `epoch`. The counter stops at this value, so later moves cannot be detected.
    pub const WORN: u64 = u64::MAX;
    /// The empty array.
    pub const EMPTY: Self = Self { data: core::ptr::null_mut(), len: 0, capacity: 0, epoch: 0, reserved: 0 };
}

impl LazyRaw {
    /// No object.
    pub const NONE: Self = Self { high: 0, low: 0 };
}
