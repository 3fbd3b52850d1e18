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
#[expect(unsafe_code, reason = "reads the row as modules do")]
mod tests {
    use alcedo_abi::handles::ConjugateHandle;

    use super::BlackRow;

    /// Serial and address of an entry, read as a module reads it, and how many have ended.
    fn read(row: &BlackRow, index: u32) -> (u32, usize, u32) {
        // SAFETY: the row is there, and is not written meanwhile.
        let head = unsafe { row.head().read() };
        assert!(index < head.len);
        // SAFETY: the index is below the length.
        let at = unsafe { head.entries.add(index as usize) };
        // SAFETY: as above, for the row.
        let entry = unsafe { at.read() };
        (entry.serial, entry.at.addr(), head.ends)
    }

    #[test]
    fn a_module_finds_what_is_there_and_nothing_of_what_has_ended() {
        let row = BlackRow::new();
        let number = |serial: u64, index: u64| ConjugateHandle(serial << 32 | index);
        let address = std::ptr::without_provenance_mut;
        row.put(number(1, 0), address(64));
        row.put(number(1, 200), address(128));
        assert_eq!((read(&row, 0), read(&row, 100), read(&row, 200)), ((1, 64, 0), (0, 0, 0), (1, 128, 0)));
        row.clear(number(1, 0));
        assert_eq!(read(&row, 0), (0, 0, 1));
        row.put(number(2, 0), address(192));
        assert_eq!((read(&row, 0), read(&row, 200)), ((2, 192, 1), (1, 128, 1)));
    }
}
