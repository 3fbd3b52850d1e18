//! Table with the addresses of owned values. Modules read this table directly. A reader uses an address only if the serial number in the
//! entry equals the serial number in the handle. The host accepts no address from a module. The head of the table contains the address and
//! length of the entries, and has a stable address. No code creates a Rust reference to the head.

use std::cell::Cell;
use std::rc::Rc;

use alcedo_abi::handles::ConjugateHandle;
use alcedo_abi::host::{BlackDirectory, BlackEntry};

use crate::object::row::Row;

/// Empty entry: all bytes are zero.
const NOTHING: BlackEntry = BlackEntry { serial: 0, at: std::ptr::null_mut() };

/// Table of addresses with its head. Plugins find the table through the head. Game thread only.
#[derive(Debug)]
pub(super) struct BlackRow {
    entries: Row<BlackEntry>,
    /// Head of the table; its address inside the `Rc` is stable.
    head: Rc<Cell<BlackDirectory>>,
}

impl Default for BlackRow {
    fn default() -> Self {
        let head = BlackDirectory { entries: std::ptr::null(), len: 0, ends: 0 };
        Self { entries: Row::new(NOTHING), head: Rc::new(Cell::new(head)) }
    }
}

impl BlackRow {
    /// Returns the head. The address of the head is stable. After `self` is dropped, the head has no entries.
    pub(super) fn head(&self) -> &Rc<Cell<BlackDirectory>> {
        &self.head
    }

    /// Sets the address of the value with this handle.
    pub(super) fn put(&self, handle: ConjugateHandle, at: *mut u8) {
        let (index, serial) = parts(handle);
        while self.entries.count() <= index {
            self.entries.push();
        }
        self.entries.set(index, BlackEntry { serial, at });
        let (entries, len) = (self.entries.at(0).cast_const(), self.entries.count());
        self.with_head(|head| BlackDirectory { entries, len, ..head });
    }

    pub(super) fn clear(&self, handle: ConjugateHandle) {
        self.entries.set(parts(handle).0, NOTHING);
        self.with_head(|head| BlackDirectory { ends: head.ends.wrapping_add(1), ..head });
    }

    fn with_head(&self, change: impl FnOnce(BlackDirectory) -> BlackDirectory) {
        self.head.set(change(self.head.get()));
    }
}

impl Drop for BlackRow {
    fn drop(&mut self) {
        // Code of an image that stays mapped may read the head later.
        self.with_head(|head| BlackDirectory { entries: std::ptr::null(), len: 0, ends: head.ends.wrapping_add(1) });
    }
}

/// Splits the handle of an owned value into index and serial number. Indexes begin at zero.
fn parts(handle: ConjugateHandle) -> (u32, u32) {
    (handle.0 as u32, (handle.0 >> 32) as u32)
}

#[cfg(test)]
mod tests;
