//! Values in raw memory. Plugins read and write the same bytes directly, so no reference into them is ever made here:
//! a value is loaded or stored whole, and what it means is decided by safe code.
#![expect(unsafe_code, reason = "property memory is raw memory that plugins write too")]

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, handle_alloc_error};
use std::hash::Hasher;
use std::ptr::NonNull;

use alcedo_abi::value::TextRaw;

use crate::handles::ObjectHandle;
use crate::object::property::PropertyType;
use crate::object::structs::StructType;
use crate::object::value::Value;

/// An owned, aligned allocation that starts as zeros. It frees itself; values in it that own memory must have been
/// destroyed before.
#[derive(Debug)]
pub(crate) struct Block {
    start: NonNull<u8>,
    layout: Layout,
}

/// A value that does not fit the property it was to be written to.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a {found} cannot be written to a {wanted}: convert it first")]
pub(crate) struct WrongType {
    /// The value's kind, or the field that the struct does not have.
    pub found: String,
    /// The property's type.
    pub wanted: String,
}

impl Block {
    /// `size` bytes of zeros, aligned to `align`. Empty blocks have an address too.
    ///
    /// # Panics
    /// When `align` is no power of two or the size overflows.
    pub(crate) fn new(size: usize, align: usize) -> Self {
        let layout = Layout::from_size_align(size.max(1), align).expect("an alignment is a power of two");
        // SAFETY: the layout has at least one byte, said two lines above.
        let start = unsafe { alloc_zeroed(layout) };
        Self { start: NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout)), layout }
    }

    /// The first byte. Valid until the block is dropped, wherever the block itself is moved.
    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: `new` allocated it with this layout, and nothing else frees it.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

/// Makes the value at `at` zero, without looking at what was there.
///
/// # Safety
/// `at` is aligned for `ty` and valid for writes of its size. A value there that owns memory was destroyed before.
pub(crate) unsafe fn init_zero(at: *mut u8, ty: &PropertyType) {
    // SAFETY: the caller promises that many bytes to write to.
    unsafe { at.write_bytes(0, ty.size()) };
}

/// The value at `at`.
///
/// # Safety
/// `at` holds a value of `ty`, aligned, that nobody writes meanwhile.
pub(crate) unsafe fn read(at: *const u8, ty: &PropertyType) -> Value {
    match ty {
        // SAFETY: the caller promises a text there.
        PropertyType::Text => Value::Text(unsafe { text_read(at.cast()) }),
        PropertyType::Struct(of) => {
            let mut fields = Vec::with_capacity(of.fields().len());
            each_field(of, |offset, field| {
                let at = at.wrapping_add(offset);
                // SAFETY: the caller promises the struct, and so its fields.
                fields.push((of.fields()[field].text.clone(), unsafe { read(at, &of.fields()[field].ty) }));
            });
            Value::Struct(fields)
        }
        scalar => {
            // SAFETY: the caller promises a value of this size and alignment.
            let bits = unsafe { load(at, scalar.size()) };
            Value::from_bits(scalar.kind(), bits).expect("every other type is a scalar")
        }
    }
}

/// Overwrites the value at `at`. A struct's fields that `value` does not name stay as they are. On an error nothing
/// was written.
///
/// # Errors
/// [`WrongType`] when the value is of another kind, or a struct has no such field.
///
/// # Safety
/// `at` holds a value of `ty`, aligned, that nobody else reads or writes meanwhile.
pub(crate) unsafe fn write(at: *mut u8, ty: &PropertyType, value: &Value) -> Result<(), WrongType> {
    fits(ty, value)?;
    // SAFETY: the caller promises the same, and the line above that the value fits.
    unsafe { put(at, ty, value) };
    Ok(())
}

/// Overwrites the value at `to` with that at `from`; texts get a copy of their own.
///
/// # Safety
/// Both hold a value of `ty`, aligned, that nobody else reads or writes meanwhile. They do not overlap unless they are
/// the same value.
pub(crate) unsafe fn copy(to: *mut u8, from: *const u8, ty: &PropertyType) {
    if to.cast_const() == from {
        return;
    }
    match ty {
        PropertyType::Text => {
            // SAFETY: the caller promises a text at `from`.
            let text = unsafe { from.cast::<TextRaw>().read() };
            // SAFETY: the caller promises a text at `to`; a text's bytes are readable for its length.
            unsafe { text_assign_raw(to.cast(), text.data, text.len) };
        }
        PropertyType::Struct(of) => each_field(of, |offset, field| {
            let (to, from) = (to.wrapping_add(offset), from.wrapping_add(offset));
            // SAFETY: the caller promises the structs, and so their fields.
            unsafe { copy(to, from, &of.fields()[field].ty) };
        }),
        // SAFETY: the caller promises two values of this size, apart from each other.
        scalar => unsafe { to.copy_from_nonoverlapping(from, scalar.size()) },
    }
}

/// Whether the two values are equal; floats by their bits, structs by their fields, whatever the padding holds.
///
/// # Safety
/// Both hold a value of `ty`, aligned, that nobody writes meanwhile.
pub(crate) unsafe fn equal(one: *const u8, two: *const u8, ty: &PropertyType) -> bool {
    match ty {
        PropertyType::Struct(of) => {
            let mut all = true;
            each_field(of, |offset, field| {
                let (one, two) = (one.wrapping_add(offset), two.wrapping_add(offset));
                // SAFETY: the caller promises the structs, and so their fields.
                all = all && unsafe { equal(one, two, &of.fields()[field].ty) };
            });
            all
        }
        plain => {
            // SAFETY: the caller promises the first value.
            let one = unsafe { read(one, plain) };
            // SAFETY: the caller promises the second value.
            let two = unsafe { read(two, plain) };
            one == two
        }
    }
}

/// Feeds the value at `at` to `hasher`: equal values feed the same.
///
/// # Safety
/// `at` holds a value of `ty`, aligned, that nobody writes meanwhile.
pub(crate) unsafe fn hash(at: *const u8, ty: &PropertyType, hasher: &mut dyn Hasher) {
    match ty {
        PropertyType::Text => {
            // SAFETY: the caller promises a text there.
            let text = unsafe { text_read(at.cast()) };
            hasher.write(text.as_bytes());
            hasher.write_u8(0xff); // no UTF-8 text has this byte, so two texts in a row are told apart
        }
        PropertyType::Struct(of) => each_field(of, |offset, field| {
            // SAFETY: the caller promises the struct, and so its fields.
            unsafe { hash(at.wrapping_add(offset), &of.fields()[field].ty, hasher) };
        }),
        // SAFETY: the caller promises a value of this size and alignment.
        scalar => hasher.write_u64(unsafe { load(at, scalar.size()) }),
    }
}

/// Frees what the value at `at` owns and leaves zeros.
///
/// # Safety
/// `at` holds a value of `ty`, aligned, that nobody else reads or writes meanwhile.
pub(crate) unsafe fn destroy(at: *mut u8, ty: &PropertyType) {
    match ty {
        // SAFETY: the caller promises a text there.
        PropertyType::Text => unsafe { text_destroy(at.cast()) },
        PropertyType::Struct(of) => each_field(of, |offset, field| {
            // SAFETY: the caller promises the struct, and so its fields.
            unsafe { destroy(at.wrapping_add(offset), &of.fields()[field].ty) };
        }),
        // SAFETY: the caller promises a value there, and a scalar owns nothing.
        scalar => unsafe { init_zero(at, scalar) },
    }
}

/// Shows `visit` every reference to an object in the value, none left out.
///
/// # Safety
/// `at` holds a value of `ty`, aligned, that nobody writes meanwhile, not even `visit`.
pub(crate) unsafe fn visit_objects(at: *const u8, ty: &PropertyType, visit: &mut dyn FnMut(ObjectHandle)) {
    match ty {
        // SAFETY: the caller promises an aligned handle there.
        PropertyType::Object { .. } => visit(unsafe { at.cast::<ObjectHandle>().read() }),
        PropertyType::Struct(of) => each_field(of, |offset, field| {
            // SAFETY: the caller promises the struct, and so its fields.
            unsafe { visit_objects(at.wrapping_add(offset), &of.fields()[field].ty, visit) };
        }),
        _ => {}
    }
}

/// Replaces every reference to an object in the value by what `map` makes of it.
///
/// # Safety
/// `at` holds a value of `ty`, aligned, that nobody else reads or writes meanwhile, not even `map`.
pub(crate) unsafe fn map_objects(at: *mut u8, ty: &PropertyType, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) {
    match ty {
        PropertyType::Object { .. } => {
            // SAFETY: the caller promises an aligned handle there.
            let mapped = map(unsafe { at.cast::<ObjectHandle>().read() });
            // SAFETY: as above, and that it may be written.
            unsafe { at.cast::<ObjectHandle>().write(mapped) };
        }
        PropertyType::Struct(of) => each_field(of, |offset, field| {
            // SAFETY: the caller promises the struct, and so its fields.
            unsafe { map_objects(at.wrapping_add(offset), &of.fields()[field].ty, map) };
        }),
        _ => {}
    }
}

/// A copy of the text at `at`.
///
/// # Safety
/// `at` is an aligned [`TextRaw`] in host memory that nobody writes meanwhile.
pub(crate) unsafe fn text_read(at: *const TextRaw) -> String {
    // SAFETY: the caller promises it.
    let text = unsafe { at.read() };
    if text.len == 0 {
        return String::new();
    }
    // SAFETY: only `text_assign_raw` gives a text a length, and then this many bytes are there. The slice lives for one
    // copy, in which nobody writes.
    let bytes = unsafe { std::slice::from_raw_parts(text.data, text.len) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// Overwrites the text at `at` with a copy of `text`.
///
/// # Safety
/// `at` is an aligned [`TextRaw`] in host memory that nobody else reads or writes meanwhile, and `text` does not lie
/// in its bytes; if it may, use [`text_assign_raw`].
pub(crate) unsafe fn text_assign(at: *mut TextRaw, text: &str) {
    // SAFETY: the caller promises the text to write; a `&str` is readable.
    unsafe { text_assign_raw(at, text.as_ptr(), text.len()) };
}

/// Overwrites the text at `at` with a copy of the `len` bytes at `data`, which may lie in the text itself.
///
/// # Safety
/// `at` is an aligned [`TextRaw`] in host memory that nobody else reads or writes meanwhile. `data` is readable for
/// `len` bytes of UTF-8, and no reference to those bytes is used again if they lie in the text.
pub(crate) unsafe fn text_assign_raw(at: *mut TextRaw, data: *const u8, len: usize) {
    if len == 0 {
        // SAFETY: the caller promises the text.
        return unsafe { text_destroy(at) };
    }
    // SAFETY: the caller promises the text.
    let old = unsafe { at.read() };
    if len <= old.capacity {
        // SAFETY: `data` is readable by the caller's promise, and that many bytes are reserved; they may overlap.
        unsafe { old.data.copy_from(data, len) };
        // SAFETY: the caller promises the text.
        unsafe { at.write(TextRaw { len, ..old }) };
        return;
    }
    let layout = bytes(len);
    // SAFETY: the layout is not empty, because `len` is not zero here.
    let fresh = unsafe { alloc(layout) };
    if fresh.is_null() {
        handle_alloc_error(layout);
    }
    // SAFETY: `data` is readable by the caller's promise, and the new bytes are apart from all others.
    unsafe { fresh.copy_from_nonoverlapping(data, len) };
    // SAFETY: the caller promises the text; its old bytes were copied from, and now nobody needs them.
    unsafe { text_destroy(at) };
    // SAFETY: the caller promises the text.
    unsafe { at.write(TextRaw { data: fresh, len, capacity: len }) };
}

/// Frees the text's bytes and leaves the empty text.
///
/// # Safety
/// `at` is an aligned [`TextRaw`] in host memory that nobody else reads or writes meanwhile.
pub(crate) unsafe fn text_destroy(at: *mut TextRaw) {
    // SAFETY: the caller promises the text.
    let old = unsafe { at.replace(TextRaw::EMPTY) };
    if old.capacity != 0 {
        // SAFETY: only `text_assign_raw` reserves bytes, with this layout, and the text has just forgotten them.
        unsafe { dealloc(old.data, bytes(old.capacity)) };
    }
}

fn bytes(len: usize) -> Layout {
    Layout::array::<u8>(len).expect("a text is shorter than half the address space")
}

fn each_field(of: &StructType, mut each: impl FnMut(usize, usize)) {
    of.fields().iter().enumerate().for_each(|(index, field)| each(field.offset as usize, index));
}

fn fits(ty: &PropertyType, value: &Value) -> Result<(), WrongType> {
    let wrong = |found: &str| Err(WrongType { found: found.to_owned(), wanted: ty.to_string() });
    match (ty, value) {
        (PropertyType::Struct(of), Value::Struct(fields)) => fields.iter().try_for_each(|(name, value)| {
            of.field(name).map_or_else(|| wrong(&format!("struct with `{name}`")), |field| fits(&field.ty, value))
        }),
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
        // SAFETY: the caller promises a text at `at`; the value's own text lies in a `String`, not there.
        (PropertyType::Text, Value::Text(text)) => unsafe { text_assign(at.cast(), text) },
        (PropertyType::Struct(of), Value::Struct(fields)) => {
            for (field, value) in fields.iter().filter_map(|(name, value)| Some((of.field(name)?, value))) {
                let at = at.wrapping_add(field.offset as usize);
                // SAFETY: the caller promises the struct, and so its fields.
                unsafe { put(at, &field.ty, value) };
            }
        }
        (ty, value) => {
            let Some(bits) = value.bits() else { return };
            // SAFETY: the caller promises a place of this size and alignment.
            unsafe { store(at, ty.size(), bits) };
        }
    }
}

/// The bytes of a scalar, zero-extended.
///
/// # Safety
/// `at` is readable for `size` bytes and aligned to it; `size` is 1, 2, 4 or 8.
unsafe fn load(at: *const u8, size: usize) -> u64 {
    match size {
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
unsafe fn store(at: *mut u8, size: usize, bits: u64) {
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
mod tests {
    use std::collections::hash_map::DefaultHasher;
    use std::hash::Hasher;

    use alcedo_abi::kinds::PropertyKind;

    use super::{
        Block, PropertyType, TextRaw, Value, copy, destroy, equal, hash, map_objects, read, text_assign,
        text_assign_raw, text_destroy, text_read, visit_objects, write,
    };
    use crate::handles::ObjectHandle;
    use crate::object::decl::PropertyDecl;
    use crate::object::names::Names;
    use crate::object::testing::structure;

    /// `(flag: bool, label: String, who: Object, from: Point)`: padding, owned memory, a reference, a nested struct.
    fn mixed() -> PropertyType {
        PropertyType::Struct(structure(
            "Mixed",
            &[
                PropertyDecl::new("flag", PropertyKind::BOOL),
                PropertyDecl::new("label", PropertyKind::STRING),
                PropertyDecl::new("who", PropertyKind::OBJECT).of_type("/Script/Engine.Object"),
                PropertyDecl::new("from", PropertyKind::STRUCT).of_type("/Script/Test.Point"),
            ],
        ))
    }

    fn block(ty: &PropertyType) -> Block {
        Block::new(ty.size(), ty.align())
    }

    fn hashed(block: &Block, ty: &PropertyType) -> u64 {
        let mut hasher = DefaultHasher::new();
        // SAFETY: every test block holds a value of its type.
        unsafe { hash(block.start(), ty, &mut hasher) };
        hasher.finish()
    }

    fn check(ty: &PropertyType, text: &str) {
        let names = Names::new();
        let value = Value::parse(text, ty, &names).unwrap();
        let (one, two) = (block(ty), block(ty));
        // SAFETY: a block of zeros is a value of every type.
        assert_eq!(unsafe { read(one.start(), ty) }, Value::zero(ty));
        // SAFETY: as above.
        unsafe { write(one.start(), ty, &value) }.unwrap();
        // SAFETY: the block holds the value written.
        assert_eq!(unsafe { read(one.start(), ty) }, value, "{text}");
        // SAFETY: both blocks hold values of the type.
        assert!(!unsafe { equal(one.start(), two.start(), ty) }, "{text} is not zero");
        // SAFETY: as above.
        unsafe { copy(two.start(), one.start(), ty) };
        // SAFETY: as above.
        assert!(unsafe { equal(one.start(), two.start(), ty) }, "{text}");
        assert_eq!(hashed(&one, ty), hashed(&two, ty));
        // SAFETY: the block holds a value; it is zeros afterwards.
        unsafe { destroy(one.start(), ty) };
        // SAFETY: zeros are a value.
        assert_eq!(unsafe { read(one.start(), ty) }, Value::zero(ty));
        // SAFETY: the copy has texts of its own.
        assert_eq!(unsafe { read(two.start(), ty) }, value, "{text} was copied deeply");
        // SAFETY: the block holds a value.
        unsafe { destroy(two.start(), ty) };
    }

    #[test]
    fn every_type_is_written_read_copied_compared_and_destroyed() {
        check(&PropertyType::U8, "200");
        check(&PropertyType::I16, "-300");
        check(&PropertyType::U32, "4000000000");
        check(&PropertyType::I64, "-9000000000");
        check(&PropertyType::F32, "-0");
        check(&PropertyType::F64, "NaN");
        check(&PropertyType::Bool, "true");
        check(&PropertyType::Text, "some words");
        check(&PropertyType::Name, "word");
        check(&PropertyType::Object { class: "/Script/A.B".into() }, "#3.4");
        check(&mixed(), "(flag=true, label=words, who=#1.2, from=(x=1))");
    }

    #[test]
    fn what_does_not_fit_is_refused_and_nothing_is_written() {
        let ty = mixed();
        let block = block(&ty);
        let fields = vec![("flag".into(), Value::Bool(true)), ("label".into(), Value::U8(1))];
        // SAFETY: a block of zeros is a value of every type.
        let error = unsafe { write(block.start(), &ty, &Value::Struct(fields)) }.unwrap_err();
        assert_eq!(error.to_string(), "a u8 cannot be written to a String: convert it first");
        let fields = vec![("flag".into(), Value::Bool(true)), ("size".into(), Value::U8(1))];
        // SAFETY: as above.
        let error = unsafe { write(block.start(), &ty, &Value::Struct(fields)) }.unwrap_err();
        assert_eq!(error.found, "struct with `size`");
        // SAFETY: as above.
        assert_eq!(unsafe { read(block.start(), &ty) }, Value::zero(&ty));
    }

    #[test]
    fn a_text_grows_shrinks_and_may_be_a_part_of_itself() {
        let mut text = TextRaw::EMPTY;
        let at = &raw mut text;
        for words in ["", "short", "a good deal longer than that", "x", ""] {
            // SAFETY: `at` is a text of this test, and `words` lies elsewhere.
            unsafe { text_assign(at, words) };
            // SAFETY: as above.
            assert_eq!(unsafe { text_read(at) }, words);
        }
        // SAFETY: as above.
        unsafe { text_assign(at, "hello world") };
        // SAFETY: as above.
        let data = unsafe { (*at).data };
        // SAFETY: the five bytes at 6 lie in the text, and no reference to them exists.
        unsafe { text_assign_raw(at, data.wrapping_add(6), 5) };
        // SAFETY: as above.
        assert_eq!(unsafe { text_read(at) }, "world");
        // SAFETY: as above.
        unsafe { text_destroy(at) };
    }

    #[test]
    fn references_are_found_and_replaced_in_structs_too() {
        let ty = mixed();
        let block = block(&ty);
        let (old, new) = (ObjectHandle::new(1, 2), ObjectHandle::new(3, 4));
        // SAFETY: a block of zeros is a value of every type.
        unsafe { write(block.start(), &ty, &Value::Struct(vec![("who".into(), Value::Object(old))])) }.unwrap();
        // SAFETY: the block holds a value of the type.
        unsafe { map_objects(block.start(), &ty, &mut |object| if object == old { new } else { object }) };
        let mut found = Vec::new();
        // SAFETY: as above.
        unsafe { visit_objects(block.start(), &ty, &mut |object| found.push(object)) };
        assert_eq!(found, [new]);
    }
}
