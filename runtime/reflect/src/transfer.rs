//! Between raw memory and [`Value`]s: a value is read out whole, and written only when all of it fits.
#![expect(unsafe_code, reason = "property memory is raw memory that plugins write too")]

use std::sync::Arc;

use alcedo_abi::value::{ArrayRaw, DelegateRaw, LazyRaw, LocalTextRaw, MapRaw, SparseRaw};

use crate::containers::{array_clear, array_splice, map_clear, map_insert, rows};
use crate::memory::{destroy, load, sparse_list, store};
use crate::owned::OwnedValue;
use crate::property::PropertyType;
use crate::text_memory::{ansi_assign, ansi_read, text_assign, text_read};
use crate::value::{Binding, LocalText, Value, is_latin_1};

/// A value that does not fit the property it was to be written to.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a {found} cannot be written to a {wanted}: convert it first")]
pub struct WrongType {
    /// The value's kind, or the field that the struct does not have.
    pub found: String,
    /// The property's type.
    pub wanted: String,
}

/// The value at `at`.
///
/// # Safety
/// `at` holds a value of `ty`, aligned, that nobody writes meanwhile.
pub unsafe fn read(at: *const u8, ty: &PropertyType) -> Value {
    match ty {
        // SAFETY: the caller promises a text there.
        PropertyType::Text => Value::Text(unsafe { text_read(at.cast()) }),
        // SAFETY: the caller promises a text there.
        PropertyType::Utf8Text => Value::Utf8(unsafe { text_read(at.cast()) }),
        // SAFETY: the caller promises a text there.
        PropertyType::AnsiText => Value::Ansi(unsafe { ansi_read(at.cast()) }),
        PropertyType::LocalText => {
            // SAFETY: the caller promises such a text, which begins with a text.
            let shown = unsafe { text_read(at.cast()) };
            // SAFETY: the caller promises the value.
            let LocalTextRaw { namespace, key, .. } = unsafe { at.cast::<LocalTextRaw>().read() };
            Value::LocalText(LocalText { shown, namespace, key })
        }
        PropertyType::Struct(of) => {
            let read_field = |field: &crate::property::Property| {
                let at = at.wrapping_add(field.offset as usize);
                // SAFETY: the caller promises the struct, and so its fields.
                (Arc::from(&*field.text), unsafe { read(at, &field.ty) })
            };
            Value::Struct(of.fields().iter().map(read_field).collect())
        }
        // SAFETY: the caller promises the value.
        PropertyType::LazyObject(_) => Value::LazyObject(unsafe { at.cast::<LazyRaw>().read() }),
        // SAFETY: the caller promises the value.
        PropertyType::Delegate(_) => Value::Delegate(unsafe { at.cast::<DelegateRaw>().read() }.into()),
        // SAFETY: the caller promises an array.
        PropertyType::Array(of) => Value::Array(unsafe { read_rows(at.cast(), of.ty()) }),
        // SAFETY: the caller promises a list of delegates.
        PropertyType::MulticastDelegate(_) => Value::Multicast(unsafe { read_bindings(at.cast()) }),
        PropertyType::SparseDelegate(_) => {
            // SAFETY: the caller promises the value.
            let list = unsafe { at.cast::<SparseRaw>().read() }.list;
            // SAFETY: a list of delegates.
            Value::Sparse(if list.is_null() { Vec::new() } else { unsafe { read_bindings(list) } })
        }
        PropertyType::Set(of) => {
            // SAFETY: the caller promises a set, which begins with its row.
            Value::Set(unsafe { read_rows(at.cast(), of.ty()) })
        }
        PropertyType::Map(of) => {
            let row = of.row();
            // SAFETY: the caller promises a map.
            let entries = unsafe { at.cast::<MapRaw>().read() }.entries;
            let entry = |place: *mut u8| {
                // SAFETY: a row begins with its key.
                let key = unsafe { read(place, of.key()) };
                let value = place.wrapping_add(row.value.map_or(0, |(_, at)| at));
                // SAFETY: the value lies there.
                (key, unsafe { read(value, of.value()) })
            };
            Value::Map(rows(&entries, row.size).map(entry).collect())
        }
        PropertyType::Optional(of) => {
            // SAFETY: the caller promises the value.
            let is_there = unsafe { at.read() } != 0;
            let value = at.wrapping_add(of.value_at());
            // SAFETY: the value lies behind the byte.
            Value::Optional(is_there.then(|| Box::new(unsafe { read(value, of.ty()) })))
        }
        word => {
            // SAFETY: the caller promises a value of this size and alignment.
            let bits = unsafe { load(at, word) };
            Value::from_bits(word.kind(), bits).expect("every other type is a word")
        }
    }
}

/// # Safety
/// An array of `element`s that nobody writes meanwhile.
unsafe fn read_rows(at: *const ArrayRaw, element: &PropertyType) -> Vec<Value> {
    // SAFETY: promised by the caller.
    let array = unsafe { at.read() };
    // SAFETY: the values of the array.
    rows(&array, element.size()).map(|place| unsafe { read(place, element) }).collect()
}

/// # Safety
/// A list of delegates that nobody writes meanwhile.
unsafe fn read_bindings(at: *const ArrayRaw) -> Vec<Binding> {
    // SAFETY: promised by the caller.
    let array = unsafe { at.read() };
    // SAFETY: the delegates of the list.
    rows(&array, size_of::<DelegateRaw>()).map(|place| unsafe { place.cast::<DelegateRaw>().read() }.into()).collect()
}

/// Overwrites the value at `at`. A struct's fields that `value` does not name stay as they are. On an error nothing
/// was written.
///
/// # Errors
/// [`WrongType`] when the value is of another kind, or a struct has no such field.
///
/// # Safety
/// `at` holds a value of `ty`, aligned, that nobody else reads or writes meanwhile.
pub unsafe fn write(at: *mut u8, ty: &PropertyType, value: &Value) -> Result<(), WrongType> {
    fits(ty, value)?;
    // SAFETY: the caller promises the same, and the line above that the value fits.
    unsafe { put(at, ty, value) };
    Ok(())
}

/// Whether the value can be written to such a property.
///
/// # Errors
/// [`WrongType`] for the part of it that cannot.
pub fn fits(ty: &PropertyType, value: &Value) -> Result<(), WrongType> {
    let wrong = |found: &str| Err(WrongType { found: found.to_owned(), wanted: ty.to_string() });
    let is_short = |len: usize| if u32::try_from(len).is_ok() { Ok(()) } else { wrong("container with 2³² values") };
    match (ty, value) {
        (PropertyType::Struct(of), Value::Struct(fields)) => fields.iter().try_for_each(|(name, value)| {
            of.field(name).map_or_else(|| wrong(&format!("struct with `{name}`")), |field| fits(&field.ty, value))
        }),
        (PropertyType::AnsiText, Value::Ansi(text)) if !is_latin_1(text) => {
            wrong("text with letters beyond ISO 8859-1")
        }
        (PropertyType::Array(of), Value::Array(values)) | (PropertyType::Set(of), Value::Set(values)) => {
            is_short(values.len())?;
            values.iter().try_for_each(|value| fits(of.ty(), value))
        }
        (PropertyType::Map(of), Value::Map(entries)) => {
            is_short(entries.len())?;
            entries.iter().try_for_each(|(key, value)| {
                fits(of.key(), key)?;
                fits(of.value(), value)
            })
        }
        (PropertyType::MulticastDelegate(_), Value::Multicast(bindings))
        | (PropertyType::SparseDelegate(_), Value::Sparse(bindings)) => is_short(bindings.len()),
        (PropertyType::Optional(of), Value::Optional(Some(value))) => fits(of.ty(), value),
        (ty, value) if ty.kind() == value.kind() => Ok(()),
        (_, value) => wrong(value.kind().text().unwrap_or("?")),
    }
}

/// Writes a value that [`fits`].
///
/// # Safety
/// As for [`write`]; and the value fits the type.
unsafe fn put(at: *mut u8, ty: &PropertyType, value: &Value) {
    match (ty, value) {
        (PropertyType::Text, Value::Text(text)) | (PropertyType::Utf8Text, Value::Utf8(text)) => {
            // SAFETY: the caller promises a text at `at`; the value's own text lies in a `String`, not there.
            unsafe { text_assign(at.cast(), text) };
        }
        // SAFETY: as above.
        (PropertyType::AnsiText, Value::Ansi(text)) => unsafe { ansi_assign(at.cast(), text) },
        (PropertyType::LocalText, Value::LocalText(LocalText { shown, namespace, key })) => {
            // SAFETY: the caller promises such a text, which begins with a text.
            unsafe { text_assign(at.cast(), shown) };
            // SAFETY: the caller promises the value to write.
            unsafe { (*at.cast::<LocalTextRaw>()).namespace = *namespace };
            // SAFETY: as above.
            unsafe { (*at.cast::<LocalTextRaw>()).key = *key };
        }
        (PropertyType::Struct(of), Value::Struct(fields)) => {
            for (field, value) in fields.iter().filter_map(|(name, value)| Some((of.field(name)?, value))) {
                let at = at.wrapping_add(field.offset as usize);
                // SAFETY: the caller promises the struct, and so its fields.
                unsafe { put(at, &field.ty, value) };
            }
        }
        // SAFETY: the caller promises the value to write.
        (PropertyType::LazyObject(_), Value::LazyObject(id)) => unsafe { at.cast::<LazyRaw>().write(*id) },
        // SAFETY: as above.
        (PropertyType::Delegate(_), Value::Delegate(to)) => unsafe { at.cast::<DelegateRaw>().write((*to).into()) },
        (PropertyType::MulticastDelegate(of), Value::Multicast(bindings)) => {
            // SAFETY: the caller promises a list of delegates.
            unsafe { put_bindings(at.cast(), of.ty(), bindings) };
        }
        (PropertyType::SparseDelegate(_), Value::Sparse(bindings)) if bindings.is_empty() => {
            // SAFETY: the caller promises the value.
            unsafe { destroy(at, ty) };
        }
        (PropertyType::SparseDelegate(of), Value::Sparse(bindings)) => {
            // SAFETY: the caller promises the value.
            let list = unsafe { sparse_list(at.cast()) };
            // SAFETY: its list of delegates.
            unsafe { put_bindings(list, of.ty(), bindings) };
        }
        (PropertyType::Array(of), Value::Array(values)) => {
            // SAFETY: the caller promises an array.
            let places = unsafe { make_room(at.cast(), of.ty(), values.len()) };
            for (place, value) in places.zip(values) {
                // SAFETY: the values of the array, zero until now.
                unsafe { put(place, of.ty(), value) };
            }
        }
        (PropertyType::Set(of), Value::Set(values)) => {
            // SAFETY: the caller promises a set.
            unsafe { put_rows(at.cast(), ty, of.ty(), values.iter().map(|key| (key, None))) };
        }
        (PropertyType::Map(of), Value::Map(entries)) => {
            let entries = entries.iter().map(|(key, value)| (key, Some(value)));
            // SAFETY: the caller promises a map.
            unsafe { put_rows(at.cast(), ty, of.key(), entries) };
        }
        (PropertyType::Optional(of), Value::Optional(value)) => {
            let inner = at.wrapping_add(of.value_at());
            match value {
                // SAFETY: the value lies behind the byte, and zeros are one.
                Some(value) => unsafe { put(inner, of.ty(), value) },
                // SAFETY: as above.
                None => unsafe { destroy(inner, of.ty()) },
            }
            // SAFETY: the caller promises the value to write.
            unsafe { at.write(value.is_some().into()) };
        }
        (ty, value) => {
            let Some(bits) = value.bits() else { return };
            // SAFETY: the caller promises a place of this size and alignment.
            unsafe { store(at, ty.size(), bits) };
        }
    }
}

/// So many new values in place of those there are.
///
/// # Safety
/// `at` is an aligned array of `element`s in host memory that nobody else reads or writes meanwhile.
pub(super) unsafe fn make_room(
    at: *mut ArrayRaw,
    element: &PropertyType,
    count: usize,
) -> impl Iterator<Item = *mut u8> + use<> {
    let count = u32::try_from(count).expect("whoever fills a container has looked how many there are");
    // SAFETY: promised by the caller.
    unsafe { array_clear(at, element) };
    // SAFETY: promised by the caller.
    let room = unsafe { array_splice(at, element, 0, 0, count) };
    room.expect("there is memory for a second copy of what is in memory");
    // SAFETY: promised by the caller.
    rows(&unsafe { at.read() }, element.size())
}

/// # Safety
/// `at` is an aligned list of delegates in host memory that nobody else reads or writes meanwhile.
unsafe fn put_bindings(at: *mut ArrayRaw, element: &PropertyType, bindings: &[Binding]) {
    // SAFETY: promised by the caller.
    let places = unsafe { make_room(at, element, bindings.len()) };
    for (place, binding) in places.zip(bindings) {
        // SAFETY: the delegates of the list.
        unsafe { place.cast::<DelegateRaw>().write((*binding).into()) };
    }
}

/// # Safety
/// `at` is an aligned set or map of type `ty` in host memory that nobody else reads or writes meanwhile; keys and values
/// fit it.
unsafe fn put_rows<'v>(
    at: *mut MapRaw,
    ty: &PropertyType,
    key_type: &PropertyType,
    entries: impl Iterator<Item = (&'v Value, Option<&'v Value>)>,
) {
    let Some(row) = ty.row() else { return };
    // SAFETY: promised by the caller.
    unsafe { map_clear(at, row) };
    let own = OwnedValue::zero(key_type.clone());
    for (key, value) in entries {
        // A struct's value may leave fields out, so each key begins with zeros.
        // SAFETY: the value of its own that the key is made in.
        unsafe { destroy(own.at(), key_type) };
        // SAFETY: as above, and the key fits.
        unsafe { put(own.at(), key_type, key) };
        // SAFETY: promised by the caller; the key is apart.
        let place = unsafe { map_insert(at, row, own.at()) };
        let (index, _is_new) = place.expect("there is memory for a second copy of what is in memory");
        if let (Some(value), Some((value_type, value_at))) = (value, row.value) {
            // SAFETY: promised by the caller.
            let data = unsafe { at.read() }.entries.data;
            // SAFETY: the value of the row that was found.
            unsafe { put(data.wrapping_add(index as usize * row.size + value_at), value_type, value) };
        }
    }
}
