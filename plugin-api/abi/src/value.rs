//! How values lie in host memory and in parameter blocks.

use abi_stable::StableAbi;

/// UTF-8 text whose memory belongs to the host. A plugin reads it and asks the host to change it.
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

/// Where a plugin half puts the fields that are to be carried over a reload.
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct KeepSink {
    /// Handed back to `put`.
    pub context: *mut (),
    /// Copies one field: its name, and its value in CBOR.
    pub put: unsafe extern "C" fn(context: *mut (), name: TextView, data: *const u8, len: usize),
}
