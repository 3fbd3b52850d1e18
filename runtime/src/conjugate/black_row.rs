//! Where each black lies, in a row that modules read by themselves: a number whose serial is not there leads nowhere, so no
//! module has to be trusted with an address. The head of the row stays where it is, and no reference to it is ever
//! made.

use std::cell::Cell;
use std::rc::Rc;

use alcedo_abi::handles::ConjugateHandle;
use alcedo_abi::host::{BlackDirectory, BlackEntry};

use crate::object::row::Row;

/// An entry of nothing: all zero bytes.
const NOTHING: BlackEntry = BlackEntry { serial: 0, at: std::ptr::null_mut() };

/// The row, and the head by which plugins find it. Game thread only.
#[derive(Debug)]
pub(super) struct BlackRow {
    entries: Row<BlackEntry>,
    /// Its address stays: it lies in an `Rc`.
    head: Rc<Cell<BlackDirectory>>,
}

impl BlackRow {
    /// An empty row.
    pub(super) fn new() -> Self {
        let head = BlackDirectory { entries: std::ptr::null(), len: 0, ends: 0 };
        Self { entries: Row::new(NOTHING), head: Rc::new(Cell::new(head)) }
    }

    /// Where plugins find the row. The address stays as long as `self`.
    pub(super) fn head(&self) -> *const BlackDirectory {
        self.head.as_ptr()
    }

    /// The value of this number lies there from now on.
    pub(super) fn put(&self, handle: ConjugateHandle, at: *mut u8) {
        let (index, serial) = parts(handle);
        while self.entries.count() <= index {
            self.entries.push();
        }
        self.entries.set(index, BlackEntry { serial, at });
        let (entries, len) = (self.entries.at(0).cast_const(), self.entries.count());
        self.with_head(|head| BlackDirectory { entries, len, ..head });
    }

    /// The value of this number is about to end.
    pub(super) fn clear(&self, handle: ConjugateHandle) {
        self.entries.set(parts(handle).0, NOTHING);
        self.with_head(|head| BlackDirectory { ends: head.ends.wrapping_add(1), ..head });
    }

    fn with_head(&self, change: impl FnOnce(BlackDirectory) -> BlackDirectory) {
        self.head.set(change(self.head.get()));
    }
}

/// Index and serial of a black: their numbers begin at zero.
fn parts(handle: ConjugateHandle) -> (u32, u32) {
    (handle.0 as u32, (handle.0 >> 32) as u32)
}

#[cfg(test)]
mod tests;
