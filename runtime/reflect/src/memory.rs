//! Values in raw memory. Plugins read and write the same bytes directly, so no reference into them is ever made here:
//! a value is loaded or stored whole, and what it means is decided by safe code. Types that have others in them recurse;
//! how deep is limited where types are read.
#![expect(unsafe_code, reason = "property memory is raw memory that plugins write too")]

mod marks;
mod named;

use std::hash::Hasher;

use alcedo_abi::value::{ArrayRaw, DelegateRaw, LazyRaw, LocalTextRaw, MapRaw, SparseRaw};
use alcedo_base::handles::Name;
use rustc_hash::FxHasher;

use crate::containers::{array_copy, array_destroy, map_copy, map_destroy, map_find, rows};
use crate::nested::Row;
use crate::property::PropertyType;
use crate::structs::StructType;
use crate::text_memory::{text_copy, text_destroy, text_equal, with_bytes};

pub use marks::delegate_mark;
pub use named::{map_objects, visit_objects};

/// Makes the value at `at` zero, without looking at what was there.
///
/// # Safety
/// `at` is aligned for `ty` and valid for writes of its size. A value there that owns memory was destroyed before.
pub(crate) unsafe fn init_zero(at: *mut u8, ty: &PropertyType) {
    // SAFETY: the caller promises that many bytes to write to.
    unsafe { at.write_bytes(0, ty.size()) };
}

/// Overwrites the value at `to` with that at `from`; what owns memory gets a copy of its own.
///
/// # Safety
/// Both hold a value of `ty`, aligned, that nobody else reads or writes meanwhile. They do not overlap unless they are
/// the same value.
pub unsafe fn copy(to: *mut u8, from: *const u8, ty: &PropertyType) {
    if to.cast_const() == from {
        return;
    }
    match ty {
        // SAFETY: the caller promises two texts.
        PropertyType::Text | PropertyType::Utf8Text | PropertyType::AnsiText => unsafe {
            text_copy(to.cast(), from.cast());
        },
        PropertyType::LocalText => {
            let (to, from) = (to.cast::<LocalTextRaw>(), from.cast::<LocalTextRaw>());
            // SAFETY: the caller promises two such texts, each of which begins with a text.
            unsafe { text_copy(to.cast(), from.cast()) };
            // SAFETY: the caller promises the value.
            let (namespace, key) = unsafe { names_of(from) };
            // SAFETY: the caller promises the value to write.
            unsafe { (*to).namespace = namespace };
            // SAFETY: as above.
            unsafe { (*to).key = key };
        }
        PropertyType::Struct(of) if ty.owns_memory() => each_field(of, |offset, field| {
            let (to, from) = (to.wrapping_add(offset), from.wrapping_add(offset));
            // SAFETY: the caller promises the structs, and so their fields.
            unsafe { copy(to, from, field) };
        }),
        PropertyType::Array(of) | PropertyType::MulticastDelegate(of) => {
            // SAFETY: the caller promises two arrays; the same one was told above.
            unsafe { array_copy(to.cast(), from.cast(), of.ty()) };
        }
        // SAFETY: the caller promises two sets or maps; the same one was told above.
        PropertyType::Set(of) => unsafe { map_copy(to.cast(), from.cast(), of.row()) },
        // SAFETY: as above.
        PropertyType::Map(of) => unsafe { map_copy(to.cast(), from.cast(), of.row()) },
        PropertyType::Optional(of) if ty.owns_memory() => {
            // SAFETY: the caller promises the value.
            let is_there = unsafe { from.read() } != 0;
            let (value, other) = (to.wrapping_add(of.value_at()), from.wrapping_add(of.value_at()));
            if is_there {
                // SAFETY: the value lies behind the byte, and zeros are one.
                unsafe { copy(value, other, of.ty()) };
            } else {
                // SAFETY: as above.
                unsafe { destroy(value, of.ty()) };
            }
            // SAFETY: the caller promises the value to write.
            unsafe { to.write(is_there.into()) };
        }
        PropertyType::SparseDelegate(of) => {
            // SAFETY: the caller promises two such values.
            let source = unsafe { from.cast::<SparseRaw>().read() }.list;
            if source.is_null() {
                // SAFETY: the caller promises the value to write.
                return unsafe { destroy(to, ty) };
            }
            // SAFETY: as above.
            let list = unsafe { sparse_list(to.cast()) };
            // SAFETY: both are lists of delegates, each of its own value.
            unsafe { array_copy(list, source, of.ty()) };
        }
        // SAFETY: the caller promises two values of this size, apart from each other; they own nothing.
        plain => unsafe { to.copy_from_nonoverlapping(from, plain.size()) },
    }
}

/// Whether the two values are equal; floats by their bits, structs by their fields, whatever the padding holds, sets and
/// maps whatever the order.
///
/// # Safety
/// Both hold a value of `ty`, aligned, that nobody writes meanwhile.
pub unsafe fn equal(one: *const u8, two: *const u8, ty: &PropertyType) -> bool {
    match ty {
        // SAFETY: the caller promises two texts.
        PropertyType::Text | PropertyType::Utf8Text | PropertyType::AnsiText => unsafe {
            text_equal(one.cast(), two.cast())
        },
        PropertyType::LocalText => {
            // SAFETY: the caller promises two such texts, each of which begins with a text.
            let same = unsafe { text_equal(one.cast(), two.cast()) };
            // SAFETY: the caller promises the first value.
            let names = unsafe { names_of(one.cast()) };
            // SAFETY: the caller promises the second value.
            same && names == unsafe { names_of(two.cast()) }
        }
        PropertyType::Struct(of) => {
            let mut all = true;
            each_field(of, |offset, field| {
                let (one, two) = (one.wrapping_add(offset), two.wrapping_add(offset));
                // SAFETY: the caller promises the structs, and so their fields.
                all = all && unsafe { equal(one, two, field) };
            });
            all
        }
        PropertyType::LazyObject(_) => {
            // SAFETY: the caller promises the first value.
            let one = unsafe { one.cast::<LazyRaw>().read() };
            // SAFETY: the caller promises the second value.
            one == unsafe { two.cast::<LazyRaw>().read() }
        }
        PropertyType::Delegate(_) => {
            // SAFETY: the caller promises the first value.
            let one = unsafe { one.cast::<DelegateRaw>().read() };
            // SAFETY: the caller promises the second value.
            let two = unsafe { two.cast::<DelegateRaw>().read() };
            (one.object, one.function) == (two.object, two.function)
        }
        PropertyType::Array(of) | PropertyType::MulticastDelegate(of) => {
            // SAFETY: the caller promises two arrays.
            unsafe { equal_rows(one.cast(), two.cast(), of.ty()) }
        }
        PropertyType::Set(of) => {
            // SAFETY: the caller promises two sets.
            unsafe { equal_maps(one.cast(), two.cast(), of.row()) }
        }
        PropertyType::Map(of) => {
            // SAFETY: the caller promises two maps.
            unsafe { equal_maps(one.cast(), two.cast(), of.row()) }
        }
        PropertyType::Optional(of) => {
            // SAFETY: the caller promises the first value.
            let first = unsafe { one.read() } != 0;
            // SAFETY: the caller promises the second value.
            let second = unsafe { two.read() } != 0;
            let (one, two) = (one.wrapping_add(of.value_at()), two.wrapping_add(of.value_at()));
            // SAFETY: the values lie behind the bytes.
            first == second && (!first || unsafe { equal(one, two, of.ty()) })
        }
        PropertyType::SparseDelegate(of) => {
            // SAFETY: the caller promises the first value.
            let one = unsafe { one.cast::<SparseRaw>().read() }.list.cast_const();
            // SAFETY: the caller promises the second value.
            let two = unsafe { two.cast::<SparseRaw>().read() }.list.cast_const();
            let empty = ArrayRaw::EMPTY;
            let (one, two) = (or_empty(one, &empty), or_empty(two, &empty));
            // SAFETY: two lists of delegates, or none.
            unsafe { equal_rows(one, two, of.ty()) }
        }
        word => {
            // SAFETY: the caller promises the first value.
            let one = unsafe { load(one, word) };
            // SAFETY: the caller promises the second value.
            one == unsafe { load(two, word) }
        }
    }
}

fn or_empty(list: *const ArrayRaw, empty: &ArrayRaw) -> *const ArrayRaw {
    if list.is_null() { empty } else { list }
}

/// # Safety
/// Two arrays of `element`s that nobody writes meanwhile.
unsafe fn equal_rows(one: *const ArrayRaw, two: *const ArrayRaw, element: &PropertyType) -> bool {
    // SAFETY: promised by the caller.
    let one = unsafe { one.read() };
    // SAFETY: promised by the caller.
    let two = unsafe { two.read() };
    let size = element.size();
    // SAFETY: both are values of `element`.
    one.len == two.len && rows(&one, size).zip(rows(&two, size)).all(|(one, two)| unsafe { equal(one, two, element) })
}

/// # Safety
/// Two sets or maps of such rows that nobody writes meanwhile.
unsafe fn equal_maps(one: *const MapRaw, two: *const MapRaw, row: Row<'_>) -> bool {
    // SAFETY: promised by the caller.
    let first = unsafe { one.read() }.entries;
    // SAFETY: promised by the caller.
    let second = unsafe { two.read() }.entries;
    first.len == second.len
        && rows(&first, row.size).all(|place| {
            // SAFETY: a row begins with its key.
            let Some(at) = (unsafe { map_find(two, row, place) }) else { return false };
            let other = second.data.wrapping_add(at as usize * row.size);
            let is_same = |(value, at): (&PropertyType, usize)| {
                // SAFETY: the values lie there in both rows.
                unsafe { equal(place.wrapping_add(at), other.wrapping_add(at), value) }
            };
            row.value.is_none_or(is_same)
        })
}

/// Feeds the value at `at` to `hasher`: equal values feed the same.
///
/// # Safety
/// `at` holds a value of `ty`, aligned, that nobody writes meanwhile.
pub unsafe fn hash(at: *const u8, ty: &PropertyType, hasher: &mut dyn Hasher) {
    match ty {
        PropertyType::Text | PropertyType::Utf8Text | PropertyType::AnsiText => {
            let feed = |bytes: &[u8]| {
                hasher.write_usize(bytes.len()); // so that two texts in a row are told apart
                hasher.write(bytes);
            };
            // SAFETY: the caller promises a text there.
            unsafe { with_bytes(at.cast(), feed) };
        }
        PropertyType::LocalText => {
            // SAFETY: the caller promises such a text, which begins with a text.
            unsafe { hash(at, &PropertyType::Text, hasher) };
            // SAFETY: the caller promises the value.
            let (namespace, key) = unsafe { names_of(at.cast()) };
            hasher.write_u32(namespace.0);
            hasher.write_u32(key.0);
        }
        PropertyType::Struct(of) => each_field(of, |offset, field| {
            // SAFETY: the caller promises the struct, and so its fields.
            unsafe { hash(at.wrapping_add(offset), field, hasher) };
        }),
        PropertyType::LazyObject(_) => {
            // SAFETY: the caller promises the value.
            let LazyRaw { high, low } = unsafe { at.cast::<LazyRaw>().read() };
            hasher.write_u64(high);
            hasher.write_u64(low);
        }
        PropertyType::Delegate(_) => {
            // SAFETY: the caller promises the value.
            let DelegateRaw { object, function, .. } = unsafe { at.cast::<DelegateRaw>().read() };
            hasher.write_u64(object.0);
            hasher.write_u32(function.0);
        }
        PropertyType::Array(of) | PropertyType::MulticastDelegate(of) => {
            // SAFETY: the caller promises an array.
            unsafe { hash_rows(at.cast(), of.ty(), hasher) };
        }
        // SAFETY: the caller promises a set.
        PropertyType::Set(of) => unsafe { hash_map(at.cast(), of.row(), hasher) },
        // SAFETY: the caller promises a map.
        PropertyType::Map(of) => unsafe { hash_map(at.cast(), of.row(), hasher) },
        PropertyType::Optional(of) => {
            // SAFETY: the caller promises the value.
            let is_there = unsafe { at.read() } != 0;
            hasher.write_u8(is_there.into());
            if is_there {
                // SAFETY: the value lies behind the byte.
                unsafe { hash(at.wrapping_add(of.value_at()), of.ty(), hasher) };
            }
        }
        PropertyType::SparseDelegate(of) => {
            // SAFETY: the caller promises the value.
            let list = unsafe { at.cast::<SparseRaw>().read() }.list.cast_const();
            // SAFETY: a list of delegates, or none.
            unsafe { hash_rows(or_empty(list, &ArrayRaw::EMPTY), of.ty(), hasher) };
        }
        // SAFETY: the caller promises a value of this size and alignment.
        word => hasher.write_u64(unsafe { load(at, word) }),
    }
}

/// The hash by which containers find the value at `at`.
///
/// # Safety
/// As for [`hash`].
pub unsafe fn hashed(at: *const u8, ty: &PropertyType) -> u64 {
    let mut hasher = FxHasher::default();
    // SAFETY: promised by the caller.
    unsafe { hash(at, ty, &mut hasher) };
    hasher.finish()
}

/// # Safety
/// An array of `element`s that nobody writes meanwhile.
unsafe fn hash_rows(at: *const ArrayRaw, element: &PropertyType, hasher: &mut dyn Hasher) {
    // SAFETY: promised by the caller.
    let array = unsafe { at.read() };
    hasher.write_u32(array.len);
    for place in rows(&array, element.size()) {
        // SAFETY: the values of the array.
        unsafe { hash(place, element, hasher) };
    }
}

/// The order of the rows must not be felt, so their hashes are added up.
///
/// # Safety
/// A set or map of such rows that nobody writes meanwhile.
unsafe fn hash_map(at: *const MapRaw, row: Row<'_>, hasher: &mut dyn Hasher) {
    // SAFETY: promised by the caller.
    let entries = unsafe { at.read() }.entries;
    let mut sum = u64::from(entries.len);
    for place in rows(&entries, row.size) {
        let mut own = FxHasher::default();
        // SAFETY: a row begins with its key.
        unsafe { hash(place, row.key, &mut own) };
        if let Some((value, at)) = row.value {
            // SAFETY: the value lies there.
            unsafe { hash(place.wrapping_add(at), value, &mut own) };
        }
        sum = sum.wrapping_add(own.finish());
    }
    hasher.write_u64(sum);
}

/// Frees what the value at `at` owns and leaves the one that zero bytes mean. Only the epochs of containers in it go on, so
/// that an address that was taken before is stale for good, whatever comes to lie there.
///
/// # Safety
/// `at` holds a value of `ty`, aligned, that nobody else reads or writes meanwhile.
pub unsafe fn destroy(at: *mut u8, ty: &PropertyType) {
    match ty {
        // SAFETY: the caller promises a text there.
        PropertyType::Text | PropertyType::Utf8Text | PropertyType::AnsiText => unsafe { text_destroy(at.cast()) },
        PropertyType::LocalText => {
            // SAFETY: the caller promises such a text, which begins with a text.
            unsafe { text_destroy(at.cast()) };
            // SAFETY: the caller promises the value, and what it owned is gone.
            unsafe { init_zero(at, ty) };
        }
        PropertyType::Struct(of) if ty.owns_memory() => each_field(of, |offset, field| {
            // SAFETY: the caller promises the struct, and so its fields.
            unsafe { destroy(at.wrapping_add(offset), field) };
        }),
        PropertyType::Array(of) | PropertyType::MulticastDelegate(of) => {
            // SAFETY: the caller promises an array.
            unsafe { array_destroy(at.cast(), of.ty()) };
        }
        // SAFETY: the caller promises a set.
        PropertyType::Set(of) => unsafe { map_destroy(at.cast(), of.row()) },
        // SAFETY: the caller promises a map.
        PropertyType::Map(of) => unsafe { map_destroy(at.cast(), of.row()) },
        PropertyType::Optional(of) if ty.owns_memory() => {
            // SAFETY: the value lies behind the byte; a plugin may have cleared the byte alone.
            unsafe { destroy(at.wrapping_add(of.value_at()), of.ty()) };
            // SAFETY: the caller promises the value.
            unsafe { at.write(0) };
        }
        PropertyType::SparseDelegate(of) => {
            // SAFETY: the caller promises the value.
            let list = unsafe { at.cast::<SparseRaw>().replace(SparseRaw { list: std::ptr::null_mut() }) }.list;
            if !list.is_null() {
                // SAFETY: a list of delegates that belonged to this value.
                unsafe { array_destroy(list, of.ty()) };
                // SAFETY: only `sparse_list` writes a list, and the value has just forgotten it.
                unsafe { crate::block::give_back(list.cast(), std::alloc::Layout::new::<ArrayRaw>()) };
            }
        }
        // SAFETY: the caller promises a value there, and a plain one owns nothing.
        plain => unsafe { init_zero(at, plain) },
    }
}

/// The list of a sparse delegate, made if there is none.
///
/// # Safety
/// `at` is an aligned [`SparseRaw`] in host memory that nobody else reads or writes meanwhile.
pub(crate) unsafe fn sparse_list(at: *mut SparseRaw) -> *mut ArrayRaw {
    // SAFETY: promised by the caller.
    let list = unsafe { at.read() }.list;
    if !list.is_null() {
        return list;
    }
    let layout = std::alloc::Layout::new::<ArrayRaw>();
    let list = crate::block::take(layout).unwrap_or_else(|| std::alloc::handle_alloc_error(layout));
    let list = list.as_ptr().cast::<ArrayRaw>();
    // SAFETY: it was just taken with that layout.
    unsafe { list.write(ArrayRaw::EMPTY) };
    // SAFETY: promised by the caller.
    unsafe { at.write(SparseRaw { list }) };
    list
}

/// # Safety
/// `at` is an aligned text for people that nobody writes meanwhile.
unsafe fn names_of(at: *const LocalTextRaw) -> (Name, Name) {
    // SAFETY: promised by the caller.
    let text = unsafe { at.read() };
    (text.namespace, text.key)
}

fn each_field(of: &StructType, mut each: impl FnMut(usize, &PropertyType)) {
    of.fields().iter().for_each(|field| each(field.offset as usize, &field.ty));
}

/// The bytes of a number, name or handle, zero-extended; of a `bool` whether it is one.
///
/// # Safety
/// `at` holds a value of `word`, which is a word, aligned, that nobody writes meanwhile.
pub(super) unsafe fn load(at: *const u8, word: &PropertyType) -> u64 {
    match word.size() {
        // SAFETY: the caller promises one byte; a plugin may have left any in a `bool`.
        1 if matches!(word, PropertyType::Bool) => (unsafe { at.read() } != 0).into(),
        // SAFETY: the caller promises one byte.
        1 => unsafe { at.read() }.into(),
        // SAFETY: the caller promises two bytes, aligned.
        2 => unsafe { at.cast::<u16>().read() }.into(),
        // SAFETY: the caller promises four bytes, aligned.
        4 => unsafe { at.cast::<u32>().read() }.into(),
        // SAFETY: the caller promises eight bytes, aligned.
        _ => unsafe { at.cast::<u64>().read() },
    }
}

/// Writes the low bytes of `bits`.
///
/// # Safety
/// `at` is writable for `size` bytes and aligned to it; `size` is 1, 2, 4 or 8.
pub(super) unsafe fn store(at: *mut u8, size: usize, bits: u64) {
    match size {
        // SAFETY: the caller promises one byte.
        1 => unsafe { at.write(bits as u8) },
        // SAFETY: the caller promises two bytes, aligned.
        2 => unsafe { at.cast::<u16>().write(bits as u16) },
        // SAFETY: the caller promises four bytes, aligned.
        4 => unsafe { at.cast::<u32>().write(bits as u32) },
        // SAFETY: the caller promises eight bytes, aligned.
        _ => unsafe { at.cast::<u64>().write(bits) },
    }
}

#[cfg(test)]
mod tests;
