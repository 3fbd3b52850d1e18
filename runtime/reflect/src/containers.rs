//! Arrays in raw memory, and what sets and maps (in `maps`) have in common with them. Their values lie one behind the
//! other and are moved as bytes, which no kind of value minds; what a value is, `memory` knows. An epoch is counted up by
//! whatever moves a value or ends one, so that an address taken before is known to be stale; the last count is kept.
#![expect(unsafe_code, reason = "the rows of containers are raw memory that plugins read too")]

mod maps;

use std::alloc::{Layout, handle_alloc_error};

use alcedo_abi::value::ArrayRaw;

use crate::block;
use crate::memory;
use crate::property::PropertyType;

pub(crate) use maps::{map_clear, map_copy, map_destroy, map_rekey};
pub use maps::{map_find, map_insert, map_remove};

/// Why a container was not changed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ContainerError {
    /// A place behind the end.
    #[error("{count} values from {at} on are more than the {len} there are: ask for the length first")]
    OutOfRange {
        /// The first.
        at: u32,
        /// How many.
        count: u32,
        /// How many there are.
        len: u32,
    },
    /// More than a container can hold.
    #[error("{more} values more than {len} are more than a container can hold: spread them over several")]
    TooLong {
        /// How many there are.
        len: u32,
        /// How many more.
        more: u32,
    },
    /// The system has no more memory.
    #[error("the system has no {bytes} bytes for a container: hold less")]
    NoMemory {
        /// How many were asked for.
        bytes: usize,
    },
}

/// How the values of a row of memory lie: their bytes and alignment.
#[derive(Clone, Copy)]
struct Step {
    size: usize,
    align: usize,
}

impl Step {
    fn of(element: &PropertyType) -> Self {
        Self { size: element.size(), align: element.align() }
    }

    fn layout(self, count: u32) -> Option<Layout> {
        let bytes = self.size.checked_mul(count as usize)?;
        Layout::from_size_align(bytes, self.align).ok()
    }
}

/// The addresses of the values of an array, or the rows of a map.
pub fn rows(array: &ArrayRaw, size: usize) -> impl Iterator<Item = *mut u8> + use<> {
    let (data, len) = (array.data, array.len as usize);
    (0..len).map(move |at| data.wrapping_add(at * size))
}

/// Takes `remove` values from `at` on out of an array, and puts `insert` there that zero bytes mean.
///
/// # Errors
/// When there are not so many values, or no room for them; nothing is changed then.
///
/// # Safety
/// `array` is an aligned array of `element`s in host memory that nobody else reads or writes meanwhile.
pub unsafe fn array_splice(
    array: *mut ArrayRaw,
    element: &PropertyType,
    at: u32,
    remove: u32,
    insert: u32,
) -> Result<(), ContainerError> {
    // SAFETY: promised by the caller.
    let old = unsafe { array.read() };
    let Some(tail) = at.checked_add(remove).and_then(|end| old.len.checked_sub(end)) else {
        return Err(ContainerError::OutOfRange { at, count: remove, len: old.len });
    };
    let kept = old.len - remove;
    let len = kept.checked_add(insert).ok_or(ContainerError::TooLong { len: kept, more: insert })?;
    if len > old.capacity {
        // SAFETY: promised by the caller.
        unsafe { grow(array, Step::of(element), len) }?;
    }
    // SAFETY: promised by the caller; it may have been moved.
    let ArrayRaw { data, capacity, epoch, .. } = unsafe { array.read() };
    let size = element.size();
    let place = |index: u32| data.wrapping_add(index as usize * size);
    if element.owns_memory() {
        for gone in at..at + remove {
            // SAFETY: there are as many values by the check above, and each is one of `element`.
            unsafe { memory::destroy(place(gone), element) };
        }
    }
    let moves = tail != 0 && remove != insert;
    if moves {
        // SAFETY: as many rows are reserved, and the tail is as long by the check above; they may overlap.
        unsafe { place(at + insert).copy_from(place(at + remove), tail as usize * size) };
    }
    if insert != 0 {
        // SAFETY: as many rows are reserved, and what was there has been moved or destroyed.
        unsafe { place(at).write_bytes(0, insert as usize * size) };
    }
    let epoch = if moves || remove != 0 { epoch.saturating_add(1) } else { epoch };
    // SAFETY: promised by the caller.
    unsafe { array.write(ArrayRaw { data, len, capacity, epoch, ..old }) };
    Ok(())
}

/// Makes room for so many values more than there are.
///
/// # Errors
/// When there is no room for so many; nothing is changed then.
///
/// # Safety
/// As for [`array_splice`].
pub unsafe fn array_reserve(array: *mut ArrayRaw, element: &PropertyType, more: u32) -> Result<(), ContainerError> {
    // SAFETY: promised by the caller.
    unsafe { reserve(array, Step::of(element), more) }
}

/// Ends all values and keeps their room.
///
/// # Safety
/// As for [`array_splice`].
pub(crate) unsafe fn array_clear(array: *mut ArrayRaw, element: &PropertyType) {
    // SAFETY: promised by the caller.
    let len = unsafe { array.read() }.len;
    // SAFETY: promised by the caller. It cannot fail: there are as many, and none is added.
    let _done = unsafe { array_splice(array, element, 0, len, 0) };
}

/// Overwrites an array with copies of the values of another.
///
/// # Safety
/// Both are aligned arrays of `element`s in host memory that nobody else reads or writes meanwhile; they are not the same.
pub(crate) unsafe fn array_copy(to: *mut ArrayRaw, from: *const ArrayRaw, element: &PropertyType) {
    // SAFETY: promised by the caller.
    let source = unsafe { from.read() };
    // SAFETY: promised by the caller.
    unsafe { array_clear(to, element) };
    // SAFETY: promised by the caller.
    let room = unsafe { exactly(to, Step::of(element), source.len) };
    if source.len == 0 {
        return;
    }
    let size = element.size();
    if element.owns_memory() {
        // SAFETY: `exactly` made room for as many rows, and zeros are a value of every type.
        unsafe { room.write_bytes(0, size * source.len as usize) };
        for (at, value) in rows(&source, size).enumerate() {
            // SAFETY: both are values of `element`, and two arrays are apart.
            unsafe { memory::copy(room.wrapping_add(at * size), value, element) };
        }
    } else {
        // SAFETY: `exactly` made room for as many bytes, and two arrays are apart.
        unsafe { room.copy_from_nonoverlapping(source.data, size * source.len as usize) };
    }
    // SAFETY: promised by the caller; the values are there.
    unsafe { (*to).len = source.len };
}

/// Ends all values and gives the memory back. The epoch goes on.
///
/// # Safety
/// As for [`array_splice`].
pub(crate) unsafe fn array_destroy(array: *mut ArrayRaw, element: &PropertyType) {
    // SAFETY: promised by the caller.
    unsafe { array_clear(array, element) };
    // SAFETY: promised by the caller; its values have ended.
    unsafe { free(array, Step::of(element)) };
}

/// # Safety
/// `array` is an aligned row of values of that step that nobody else reads or writes meanwhile.
unsafe fn reserve(array: *mut ArrayRaw, step: Step, more: u32) -> Result<(), ContainerError> {
    // SAFETY: promised by the caller.
    let ArrayRaw { len, capacity, .. } = unsafe { array.read() };
    let wanted = len.checked_add(more).ok_or(ContainerError::TooLong { len, more })?;
    if wanted <= capacity {
        return Ok(());
    }
    // SAFETY: promised by the caller.
    unsafe { grow(array, step, wanted) }
}

/// Room for `wanted` values, or for twice as many as now: so growing one by one stays cheap.
///
/// # Safety
/// As for [`reserve`].
unsafe fn grow(array: *mut ArrayRaw, step: Step, wanted: u32) -> Result<(), ContainerError> {
    // SAFETY: promised by the caller.
    let capacity = unsafe { array.read() }.capacity;
    let roomy = wanted.max(capacity.saturating_mul(2)).max(4);
    // SAFETY: promised by the caller.
    let moved = unsafe { move_to(array, step, roomy) };
    // Twice as many may be too many where those that are needed are not.
    // SAFETY: promised by the caller.
    moved.or_else(|_too_many| unsafe { move_to(array, step, wanted) })
}

/// Moves the values to other memory, with room for `capacity` of them.
///
/// # Safety
/// As for [`reserve`]; there are no more values than that.
unsafe fn move_to(array: *mut ArrayRaw, step: Step, capacity: u32) -> Result<(), ContainerError> {
    // SAFETY: promised by the caller.
    let old = unsafe { array.read() };
    let more = capacity - old.len;
    let layout = step.layout(capacity).ok_or(ContainerError::TooLong { len: old.len, more })?;
    let data = block::take(layout).ok_or(ContainerError::NoMemory { bytes: layout.size() })?.as_ptr();
    if old.len != 0 {
        // SAFETY: there are as many values, room for as many, and the new memory is apart from all other.
        unsafe { data.copy_from_nonoverlapping(old.data, step.size * old.len as usize) };
    }
    let epoch = old.epoch.saturating_add(1);
    // SAFETY: promised by the caller; the old memory's values were moved.
    unsafe { free(array, step) };
    // SAFETY: promised by the caller.
    unsafe { array.write(ArrayRaw { data, capacity, epoch, ..old }) };
    Ok(())
}

/// Room for exactly so many values in an array that has none; where they go.
///
/// # Safety
/// As for [`reserve`], and the array is empty.
unsafe fn exactly(array: *mut ArrayRaw, step: Step, count: u32) -> *mut u8 {
    // SAFETY: promised by the caller.
    let old = unsafe { array.read() };
    if count <= old.capacity {
        return old.data;
    }
    // SAFETY: promised by the caller; it is empty.
    unsafe { free(array, step) };
    let layout = step.layout(count).expect("another container has as many");
    let data = block::take(layout).unwrap_or_else(|| handle_alloc_error(layout)).as_ptr();
    let epoch = old.epoch.saturating_add(1);
    // SAFETY: promised by the caller.
    unsafe { array.write(ArrayRaw { data, len: 0, capacity: count, epoch, ..old }) };
    data
}

/// Gives the memory back and leaves the empty array, whose epoch goes on.
///
/// # Safety
/// As for [`reserve`]; its values have ended or were moved.
unsafe fn free(array: *mut ArrayRaw, step: Step) {
    // SAFETY: promised by the caller.
    let old = unsafe { array.read() };
    let ArrayRaw { epoch, reserved, .. } = old;
    // SAFETY: promised by the caller.
    unsafe { array.write(ArrayRaw { epoch, reserved, ..ArrayRaw::EMPTY }) };
    if old.capacity == 0 {
        return;
    }
    if let Some(layout) = step.layout(old.capacity) {
        // SAFETY: only `move_to` and `exactly` reserve rows, with this layout, and the array has just forgotten them.
        unsafe { block::give_back(old.data, layout) };
    }
}

#[cfg(test)]
mod tests;
