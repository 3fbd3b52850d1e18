//! Representation of values in host memory and in parameter blocks. Zero bytes are a valid value of every kind: the empty string, no
//! object, an empty container, an unbound delegate.

use abi_stable::StableAbi;

use crate::handles::{Name, ObjectHandle};

/// UTF-8 string whose memory belongs to the host. A plugin may read the string, but only the host may change it. Zero bytes represent
/// the empty string.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct TextRaw {
    /// Address of the first byte; null if `capacity` is zero.
    pub data: *mut u8,
    /// Number of bytes in use.
    pub len: usize,
    /// Number of allocated bytes.
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
    /// Address of the first byte; never read if `len` is zero.
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

    /// Borrows the bytes.
    ///
    /// # Safety
    /// The `len` bytes at `data` are readable and do not change during `'a`.
    #[inline]
    #[must_use]
    #[expect(unsafe_code, reason = "dereferences the address that the caller vouches for")]
    pub const unsafe fn bytes<'a>(self) -> &'a [u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: the caller promises readable bytes that do not change.
        unsafe { core::slice::from_raw_parts(self.data, self.len) }
    }
}

/// Callback that receives a string and copies it for the caller. The callee calls `put` once, with the whole string.
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct TextSink {
    /// First argument of `put`.
    pub context: *mut (),
    /// Copies `len` bytes of UTF-8, starting at `data`.
    pub put: unsafe extern "C" fn(context: *mut (), data: *const u8, len: usize),
}

/// Callback that receives the name and the value of each field that a plugin part keeps during a reload.
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct KeepSink {
    /// First argument of `put`.
    pub context: *mut (),
    /// Copies the name of a field, and the field's value in CBOR. For packed fields, which have no names, `name` is empty and `data` points
    /// to the next piece of the packed bytes.
    pub put: unsafe extern "C" fn(context: *mut (), name: TextView, data: *const u8, len: usize),
}

/// Localized text: the visible text, and the namespace and key of its translation. If namespace and key are empty, the text has no
/// translation.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct LocalTextRaw {
    /// Visible text, in its source language.
    pub display: TextRaw,
    /// Namespace of the translation key.
    pub namespace: Name,
    /// Translation key, unique in its namespace.
    pub key: Name,
}

/// Persistent id of an object, valid across processes. Zero refers to no object.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
pub struct LazyRaw {
    /// First eight bytes of the id.
    pub high: u64,
    /// Last eight bytes of the id.
    pub low: u64,
}

/// Contiguous array of values of one type. A plugin may read values, and may overwrite values that own no memory. Only the host may make
/// further changes.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct ArrayRaw {
    /// Address of the first value, aligned for its type; null if `capacity` is zero.
    pub data: *mut u8,
    /// Number of values.
    pub len: u32,
    /// Number of values that fit into the allocation.
    pub capacity: u32,
    /// Incremented whenever values are moved or destroyed. The address of a value is stale if the count has changed since the address was
    /// read. The counter stops at [`ArrayRaw::WORN`]; after that, every address is treated as stale.
    pub epoch: u64,
    /// Reserved for the host, which detects with this field that a list of delegates has moved.
    pub reserved: u32,
}

/// Map or set as a dense array. Each entry consists of the key and, at the next aligned offset, the value. A set has only keys. Entries are
/// in insertion order until an entry is removed, since the last entry then moves to the position of the removed entry.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct MapRaw {
    /// Array of entries. A plugin must not write keys.
    pub entries: ArrayRaw,
    /// Hash index of the host, or null.
    pub index: *mut (),
}

/// Bound function of an object. The delegate is unbound if `object` is none.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct DelegateRaw {
    /// Object of the function. A delegate protects its object from collection, but code may still destroy the object explicitly. Then the
    /// function is not called, and a call of a single delegate fails with `NOT_FOUND`.
    pub object: ObjectHandle,
    /// Name of the function in the object's class.
    pub function: Name,
    /// Reserved; always zero.
    pub reserved: u32,
}

/// List of delegates, stored as null while the list is empty, or as the address of an array that the host owns.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct SparseRaw {
    /// Array of [`DelegateRaw`]; null if no function is bound.
    pub list: *mut ArrayRaw,
}

impl ArrayRaw {
    /// Maximum value of `epoch`. The counter stops at this value, because a counter that wraps around could repeat an earlier value.
    pub const WORN: u64 = u64::MAX;
    /// The empty array.
    pub const EMPTY: Self = Self { data: core::ptr::null_mut(), len: 0, capacity: 0, epoch: 0, reserved: 0 };
}

impl LazyRaw {
    /// Id that refers to no object.
    pub const NONE: Self = Self { high: 0, low: 0 };
}
