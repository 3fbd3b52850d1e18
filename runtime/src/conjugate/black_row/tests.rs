//! Reads the table of owned values like a module.
#![expect(unsafe_code, reason = "reads the row as modules do")]

use alcedo_abi::handles::ConjugateHandle;

use super::BlackRow;

/// Reads an entry like a module. Returns the serial number and address of the entry, and the number of ended entries in the head.
fn read(row: &BlackRow, index: u32) -> (u32, usize, u32) {
    // SAFETY: `row` exists during the read, so the address of its head is valid. No code writes the head during the read.
    let head = unsafe { row.head().as_ptr().read() };
    assert!(index < head.len);
    // SAFETY: the index is below the length of the table.
    let at = unsafe { head.entries.add(index as usize) };
    // SAFETY: the table has an entry at each index below its length, and is not written during the read.
    let entry = unsafe { at.read() };
    (entry.serial, entry.at.addr(), head.ends)
}

#[test]
fn a_module_finds_what_is_there_and_nothing_of_what_has_ended() {
    let row = BlackRow::default();
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
