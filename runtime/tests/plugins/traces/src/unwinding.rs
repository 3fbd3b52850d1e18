//! Registers unwind tables with the unwinder, as code generators do at run time.
#![expect(unsafe_code, reason = "registers tables with the unwinder")]

use std::ffi::c_void;

unsafe extern "C" {
    fn __register_frame(begin: *const c_void);
    fn __deregister_frame(begin: *const c_void);
}

/// Creates a table with one function of sixteen bytes. The function never runs.
fn table() -> *const c_void {
    let mut bytes = Vec::new();
    // Common entry: version 1, no augmentation, alignments 1 and -8, the return address in column 16.
    bytes.extend_from_slice(&12u32.to_ne_bytes());
    bytes.extend_from_slice(&0u32.to_ne_bytes());
    bytes.extend_from_slice(&[1, 0, 1, 0x78, 16, 0, 0, 0]);
    // Entry of the function: reference to the common entry, and address and length of the code.
    bytes.extend_from_slice(&20u32.to_ne_bytes());
    bytes.extend_from_slice(&20u32.to_ne_bytes());
    bytes.extend_from_slice(&0x1000u64.to_ne_bytes());
    bytes.extend_from_slice(&16u64.to_ne_bytes());
    // Terminator of the table.
    bytes.extend_from_slice(&0u32.to_ne_bytes());
    bytes.resize(4096, 0);
    bytes.leak().as_ptr().cast()
}

pub(crate) fn register_frame() {
    // SAFETY: a complete table that remains valid until this module is unloaded.
    unsafe { __register_frame(table()) };
}

pub(crate) fn register_frame_closed() {
    let table = table();
    // SAFETY: a complete table that remains valid until this module is unloaded.
    unsafe { __register_frame(table) };
    // SAFETY: `__register_frame` has registered the table.
    unsafe { __deregister_frame(table) };
}

/// Unwinds the stack. The unwinder searches all tables.
pub(crate) fn check() -> String {
    std::panic::catch_unwind(|| panic!("on purpose")).map_or_else(|_| "caught".to_owned(), |()| "not caught".to_owned())
}
