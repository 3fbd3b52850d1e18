//! Sets and maps in raw memory: rows as an array has them, and a table that finds the row of a key by its hash.
#![expect(unsafe_code, reason = "the rows of containers are raw memory that plugins read too")]

use alcedo_abi::value::{ArrayRaw, MapRaw};
use hashbrown::HashTable;

use super::{ContainerError, Step, exactly, free, reserve, rows};
use crate::block;
use crate::memory;
use crate::nested::Row;
use crate::owned::OwnedValue;

/// Rows of a container are found by scanning until there are more than so many; a table of them would cost more.
const SCANNED: u32 = 8;

/// By the hash of a key, the row it stands in. The hash is kept, so that a table that grows reads no row: a key may have been
/// changed where it lies.
type Index = HashTable<Found>;

/// Where a key stands.
#[derive(Clone, Copy, Debug)]
struct Found {
    /// Its hash when it was put there.
    hash: u64,
    /// Its row.
    at: u32,
}

/// Where in the row the key stands.
///
/// # Safety
/// `map` is an aligned set or map of such rows in host memory, and `key` a value of the key's type; nobody writes them
/// meanwhile.
pub unsafe fn map_find(map: *const MapRaw, row: Row<'_>, key: *const u8) -> Option<u32> {
    // SAFETY: promised by the caller.
    let MapRaw { entries, index } = unsafe { map.read() };
    let is_it = |at: u32| {
        let found = entries.data.wrapping_add(at as usize * row.size);
        // SAFETY: a row below the length begins with a key.
        unsafe { memory::equal(found, key, row.key) }
    };
    if index.is_null() {
        return (0..entries.len).find(|at| is_it(*at));
    }
    // SAFETY: promised by the caller.
    let hash = unsafe { memory::hashed(key, row.key) };
    // SAFETY: only `index_in` writes an index, and it is a table of rows.
    let index = unsafe { &*index.cast::<Index>() };
    index.find(hash, |found| found.at < entries.len && is_it(found.at)).map(|found| found.at)
}

/// Where in the row the key stands, now if not before, and whether it is new; the value of a new one is zero. The key is
/// copied.
///
/// # Errors
/// When there is no room for one more; nothing is changed then.
///
/// # Safety
/// As for [`map_find`], and nobody else reads the map meanwhile.
pub unsafe fn map_insert(map: *mut MapRaw, row: Row<'_>, key: *const u8) -> Result<(u32, bool), ContainerError> {
    // SAFETY: promised by the caller.
    if let Some(at) = unsafe { map_find(map, row, key) } {
        return Ok((at, false));
    }
    // SAFETY: promised by the caller.
    let entries = unsafe { &raw mut (*map).entries };
    let step = Step { size: row.size, align: row.align };
    // SAFETY: promised by the caller.
    let ArrayRaw { len, capacity, .. } = unsafe { entries.read() };
    // The key may lie in a row of this very map, as a value or a part of one, and the rows are about to move.
    // SAFETY: promised by the caller.
    let apart = (len == capacity).then(|| unsafe { OwnedValue::copy_of(row.key.clone(), key) });
    let key = apart.as_ref().map_or(key, |apart| apart.at().cast_const());
    // SAFETY: the entries of the map, by the caller's promise.
    unsafe { reserve(entries, step, 1) }?;
    // SAFETY: promised by the caller.
    let ArrayRaw { data, len: at, .. } = unsafe { entries.read() };
    let place = data.wrapping_add(at as usize * row.size);
    // SAFETY: room for one more row was made.
    unsafe { place.write_bytes(0, row.size) };
    // SAFETY: zeros are a key; the other key is apart, since no row of the map has moved or it was copied before.
    unsafe { memory::copy(place, key, row.key) };
    // SAFETY: the row is there now.
    unsafe { (*entries).len = at + 1 };
    // SAFETY: promised by the caller.
    match unsafe { index_in(map) } {
        Some(index) => {
            // SAFETY: the key that was just written.
            let hash = unsafe { memory::hashed(place, row.key) };
            index.insert_unique(hash, Found { hash, at }, |found| found.hash);
        }
        None if at >= SCANNED => {
            // SAFETY: promised by the caller.
            unsafe { build_index(map, row) };
        }
        None => {}
    }
    Ok((at, true))
}

/// Takes a row out; the last one takes its place.
///
/// # Errors
/// When there is no such row.
///
/// # Safety
/// As for [`map_insert`].
pub unsafe fn map_remove(map: *mut MapRaw, row: Row<'_>, at: u32) -> Result<(), ContainerError> {
    // SAFETY: promised by the caller.
    let entries = unsafe { &raw mut (*map).entries };
    // SAFETY: promised by the caller.
    let ArrayRaw { data, len, epoch, .. } = unsafe { entries.read() };
    if at >= len {
        return Err(ContainerError::OutOfRange { at, count: 1, len });
    }
    let last = len - 1;
    let (gone, moved) = (data.wrapping_add(at as usize * row.size), data.wrapping_add(last as usize * row.size));
    // SAFETY: promised by the caller.
    if let Some(index) = unsafe { index_in(map) } {
        match index.find_entry(hash_of_row(data, row, at), |found| found.at == at) {
            Ok(entry) => drop(entry.remove()),
            // The key was changed where it lies.
            Err(_) => index.retain(|found| found.at != at),
        }
        match index.find_mut(hash_of_row(data, row, last), |found| found.at == last) {
            Some(found) => found.at = at,
            None => index.iter_mut().filter(|found| found.at == last).for_each(|found| found.at = at),
        }
    }
    // SAFETY: the row is below the length.
    unsafe { destroy_row(gone, row) };
    if at != last {
        // SAFETY: two rows below the length, apart from each other.
        unsafe { gone.copy_from_nonoverlapping(moved, row.size) };
    }
    // SAFETY: promised by the caller.
    unsafe { (*entries).len = last };
    // SAFETY: promised by the caller.
    unsafe { (*entries).epoch = epoch.saturating_add(1) };
    Ok(())
}

/// Ends all rows and keeps their room.
///
/// # Safety
/// As for [`map_insert`].
pub(crate) unsafe fn map_clear(map: *mut MapRaw, row: Row<'_>) {
    // SAFETY: promised by the caller.
    let entries = unsafe { &raw mut (*map).entries };
    // SAFETY: promised by the caller.
    let old = unsafe { entries.read() };
    for place in rows(&old, row.size) {
        // SAFETY: the rows below the length.
        unsafe { destroy_row(place, row) };
    }
    // SAFETY: promised by the caller.
    unsafe { drop_index(map) };
    if old.len != 0 {
        let epoch = old.epoch.saturating_add(1);
        // SAFETY: promised by the caller.
        unsafe { entries.write(ArrayRaw { len: 0, epoch, ..old }) };
    }
}

/// Overwrites a set or map with copies of the rows of another.
///
/// # Safety
/// Both are aligned sets or maps of such rows in host memory that nobody else reads or writes meanwhile; they are not the
/// same.
pub(crate) unsafe fn map_copy(to: *mut MapRaw, from: *const MapRaw, row: Row<'_>) {
    // SAFETY: promised by the caller.
    let source = unsafe { from.read() };
    // SAFETY: promised by the caller.
    unsafe { map_clear(to, row) };
    // SAFETY: promised by the caller.
    let entries = unsafe { &raw mut (*to).entries };
    // SAFETY: the entries of the map, by the caller's promise.
    let room = unsafe { exactly(entries, Step { size: row.size, align: row.align }, source.entries.len) };
    if source.entries.len == 0 {
        return;
    }
    // SAFETY: `exactly` made room for as many rows.
    unsafe { room.write_bytes(0, row.size * source.entries.len as usize) };
    for (at, place) in rows(&source.entries, row.size).enumerate() {
        // SAFETY: both are rows, the new one of zeros, and two maps are apart.
        unsafe { copy_row(room.wrapping_add(at * row.size), place, row) };
    }
    // SAFETY: promised by the caller; the rows are there.
    unsafe { (*entries).len = source.entries.len };
    if source.entries.len > SCANNED {
        // SAFETY: promised by the caller.
        unsafe { build_index(to, row) };
    }
}

/// Ends all rows and gives the memory back. The epoch goes on.
///
/// # Safety
/// As for [`map_insert`].
pub(crate) unsafe fn map_destroy(map: *mut MapRaw, row: Row<'_>) {
    // SAFETY: promised by the caller.
    unsafe { map_clear(map, row) };
    // SAFETY: promised by the caller.
    let entries = unsafe { &raw mut (*map).entries };
    // SAFETY: the entries of the map, which have ended.
    unsafe { free(entries, Step { size: row.size, align: row.align }) };
}

/// Finds every row by its key again, when keys were changed where they lie. Of rows with one key the first stays.
///
/// # Safety
/// As for [`map_insert`], but that keys may be anything.
pub(crate) unsafe fn map_rekey(map: *mut MapRaw, row: Row<'_>) {
    // SAFETY: promised by the caller.
    unsafe { drop_index(map) };
    // SAFETY: promised by the caller.
    let ArrayRaw { data, len, .. } = unsafe { map.read() }.entries;
    let mut seen = Index::with_capacity(len as usize);
    let mut twice = Vec::new();
    for at in 0..len {
        let key = data.wrapping_add(at as usize * row.size);
        let hash = hash_of_row(data, row, at);
        let is_it = |other: &Found| {
            // SAFETY: two rows below the length begin with keys.
            unsafe { memory::equal(data.wrapping_add(other.at as usize * row.size), key, row.key) }
        };
        if seen.find(hash, is_it).is_some() {
            twice.push(at);
        } else {
            seen.insert_unique(hash, Found { hash, at }, |found| found.hash);
        }
    }
    for at in twice.into_iter().rev() {
        // SAFETY: promised by the caller. From the last on, so the rows before stay where they are.
        let _done = unsafe { map_remove(map, row, at) };
    }
    // SAFETY: promised by the caller.
    if unsafe { map.read() }.entries.len > SCANNED {
        // SAFETY: promised by the caller.
        unsafe { build_index(map, row) };
    }
}

/// # Safety
/// `place` is a row that nobody else reads or writes meanwhile.
unsafe fn destroy_row(place: *mut u8, row: Row<'_>) {
    if row.key.owns_memory() {
        // SAFETY: a row begins with its key.
        unsafe { memory::destroy(place, row.key) };
    }
    if let Some((value, at)) = row.value.filter(|(value, _)| value.owns_memory()) {
        // SAFETY: the value lies there.
        unsafe { memory::destroy(place.wrapping_add(at), value) };
    }
}

/// # Safety
/// Both are rows that nobody else reads or writes meanwhile, apart from each other.
unsafe fn copy_row(to: *mut u8, from: *const u8, row: Row<'_>) {
    // SAFETY: a row begins with its key.
    unsafe { memory::copy(to, from, row.key) };
    if let Some((value, at)) = row.value {
        // SAFETY: the values lie there.
        unsafe { memory::copy(to.wrapping_add(at), from.wrapping_add(at), value) };
    }
}

/// The hash of the key in a row, which must be there.
fn hash_of_row(data: *const u8, row: Row<'_>, at: u32) -> u64 {
    // SAFETY: the functions of this file ask for rows below the length of a map that was promised to them.
    unsafe { memory::hashed(data.wrapping_add(at as usize * row.size), row.key) }
}

/// # Safety
/// As for [`map_insert`]; the reference ends before the map is touched again.
unsafe fn index_in<'a>(map: *mut MapRaw) -> Option<&'a mut Index> {
    // SAFETY: promised by the caller.
    let index = unsafe { (*map).index }.cast::<Index>();
    // SAFETY: only `build_index` writes an index, and it is a table of rows that nobody else refers to.
    unsafe { index.as_mut() }
}

/// # Safety
/// As for [`map_insert`]; keys differ from each other.
unsafe fn build_index(map: *mut MapRaw, row: Row<'_>) {
    // SAFETY: promised by the caller.
    unsafe { drop_index(map) };
    // SAFETY: promised by the caller.
    let ArrayRaw { data, len, .. } = unsafe { map.read() }.entries;
    let mut index = Index::with_capacity(len as usize);
    for at in 0..len {
        let hash = hash_of_row(data, row, at);
        index.insert_unique(hash, Found { hash, at }, |found| found.hash);
    }
    block::count(1);
    // SAFETY: promised by the caller.
    unsafe { (*map).index = Box::into_raw(Box::new(index)).cast() };
}

/// # Safety
/// As for [`map_insert`].
unsafe fn drop_index(map: *mut MapRaw) {
    // SAFETY: promised by the caller.
    let index = unsafe { (*map).index };
    // SAFETY: promised by the caller.
    unsafe { (*map).index = std::ptr::null_mut() };
    if !index.is_null() {
        block::count(-1);
        // SAFETY: only `build_index` writes an index, from such a box, and the map has just forgotten it.
        drop(unsafe { Box::from_raw(index.cast::<Index>()) });
    }
}
