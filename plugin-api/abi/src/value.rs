//! How values lie in host memory and in parameter blocks. Zero bytes are a value of every kind: the empty text, no
//! object, an empty container, an unbound delegate.

use abi_stable::StableAbi;

use crate::handles::{Name, ObjectHandle};

/// UTF-8 text whose memory belongs to the host. A plugin reads it; only the host changes it.
/// All zero bytes are the empty text.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct TextRaw {
    /// First byte, or null when `capacity` is zero.
    pub data: *mut u8,
    /// Bytes in use.
    pub len: usize,
    /// Bytes reserved.
    pub capacity: usize,
}

impl TextRaw {
    /// The empty text.
    pub const EMPTY: Self = Self { data: core::ptr::null_mut(), len: 0, capacity: 0 };
}

/// Text lent for one call.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct TextView {
    /// First byte; never read when `len` is zero.
    pub data: *const u8,
    /// Bytes.
    pub len: usize,
}

impl TextView {
    /// Lends `text`; the caller keeps it alive and unchanged for the call.
    #[must_use]
    pub const fn of(text: &str) -> Self {
        Self { data: text.as_ptr(), len: text.len() }
    }
}

/// Where a callee writes text that the caller will own: called once with all of it.
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct TextSink {
    /// Handed back to `put`.
    pub context: *mut (),
    /// Copies `len` bytes of UTF-8 from `data`.
    pub put: unsafe extern "C" fn(context: *mut (), data: *const u8, len: usize),
}

/// Where a plugin part puts the fields that are to be carried over a reload.
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct KeepSink {
    /// Handed back to `put`.
    pub context: *mut (),
    /// Copies one field: its name, and its value in CBOR.
    pub put: unsafe extern "C" fn(context: *mut (), name: TextView, data: *const u8, len: usize),
}

/// Text for people: what is shown, and what it is looked up by in a translation. Both names empty: it is not translated.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct LocalTextRaw {
    /// The text in the language it was written in.
    pub shown: TextRaw,
    /// Which set of texts the key belongs to.
    pub namespace: Name,
    /// The key in it.
    pub key: Name,
}

/// The id that an object is known by for ever, also in other processes; zero is none.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
pub struct LazyRaw {
    /// The first eight bytes.
    pub high: u64,
    /// The last eight bytes.
    pub low: u64,
}

/// A row of values of one type, one behind the other. A plugin reads and writes values that own no memory where they
/// lie; everything else is done by the host.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct ArrayRaw {
    /// The first value, aligned for its type; null when `capacity` is zero.
    pub data: *mut u8,
    /// Values there are.
    pub len: u32,
    /// Values there is room for.
    pub capacity: u32,
    /// Counted up by whatever moves a value or ends one: an address of a value that was taken at another count is stale. At
    /// [`ArrayRaw::WORN`] it stands still, and every address is.
    pub epoch: u64,
    /// The host's own, by which it recognises a list of delegates that has moved.
    pub reserved: u32,
}

/// Values by key, or values alone, in a dense row: each the key and then, at the next offset that suits it, the value. A
/// set has keys only. The order is that of insertion until something is removed: the last one takes its place.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct MapRaw {
    /// The row. Keys are never written there by a plugin.
    pub entries: ArrayRaw,
    /// The host's own, by which it finds a key; null when there is none.
    pub index: *mut (),
}

/// A function of an object. Bound to nothing when the object is none.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct DelegateRaw {
    /// The object. A delegate keeps it alive, but it may be destroyed all the same: then nothing is called.
    pub object: ObjectHandle,
    /// The function's name in the object's class.
    pub function: Name,
    /// Zero.
    pub reserved: u32,
}

/// Delegates that are mostly not there: null, or a row of the host's.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct SparseRaw {
    /// The row of [`DelegateRaw`], or null for none.
    pub list: *mut ArrayRaw,
}

impl ArrayRaw {
    /// The last count. It is kept for ever, so moves after it cannot be detected.
    pub const WORN: u64 = u64::MAX;
    /// The empty row.
    pub const EMPTY: Self = Self { data: core::ptr::null_mut(), len: 0, capacity: 0, epoch: 0, reserved: 0 };
}

impl LazyRaw {
    /// No object.
    pub const NONE: Self = Self { high: 0, low: 0 };
}
