//! Writes the object records of a world file as canonical CBOR, and reads the body of a file in this form. In canonical form, lengths are
//! definite, tags are absent, and all keys are known. Names, kept fields, and values of the kinds `String` and `Name` that the reader returns
//! borrow from the bytes, and each name of a kept field is stored once for all objects. If the body has a different form, for example because
//! a different program has written the file, the result is `None`. The general reader of `ciborium` then reads the body or describes the
//! defect.

use std::borrow::Cow;
use std::io;
use std::rc::Rc;
use std::str;

use rustc_hash::FxHashSet;
use serde::de::DeserializeOwned;

use crate::world::file_value::FileValue;
use crate::world::records::{FlatFile, FlatRecord, KeptRecord, ObjectRecord, Span};

/// Major types of CBOR items.
const UNSIGNED: u8 = 0;
const NEGATIVE: u8 = 1;
const BYTES: u8 = 2;
const TEXT: u8 = 3;
const ARRAY: u8 = 4;
const MAP: u8 = 5;
/// First byte of the items `false` and `true`.
const FALSE: u8 = 0xf4;
const TRUE: u8 = 0xf5;

/// Start of an `f64` value: a map with the name of its variant, and the header of a number of eight bytes.
const F64: &[u8] = b"\xa1\x63f64\xfb";

/// Starts of a string value and of a name value: a map with the name of the variant.
const STRING: &[u8] = b"\xa1\x66String";
const NAME: &[u8] = b"\xa1\x64Name";

/// Minimum size in bytes of an object record: the header of the map, and the keys `class` and `name` with their values.
const MIN_OBJECT: usize = 14;

/// Kept fields of one object in canonical form. The fields are encoded before the record of their object, because the record begins with
/// the number of its entries.
#[derive(Default)]
pub(crate) struct KeptBytes {
    bytes: Vec<u8>,
    /// Number of fields.
    count: u64,
}

impl KeptBytes {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.count = 0;
    }

    /// Adds a field: the path of the declaring class, the name, and the value in CBOR.
    pub(super) fn put(&mut self, class: &str, name: &str, data: &[u8]) {
        let to = &mut self.bytes;
        to.extend_from_slice(b"\xa3\x65class");
        put_text(class, to);
        to.extend_from_slice(b"\x64name");
        put_text(name, to);
        to.extend_from_slice(b"\x64data");
        put(BYTES, data.len() as u64, to);
        to.extend_from_slice(data);
        self.count += 1;
    }
}

/// Adds the record of an object to `to`. The byte strings in this file contain constant items with their headers, such as `b"\x65class"` for
/// the string `class`, because one copy is faster than several.
pub(super) fn write(record: &ObjectRecord<'_, KeptBytes>, to: &mut Vec<u8>) -> io::Result<()> {
    let ObjectRecord { class, name, outer, part, root, lazy, values, kept } = record;
    let optional = [outer.is_some(), part.is_some(), *root, lazy.is_some(), !values.is_empty(), kept.count > 0];
    put(MAP, 2 + optional.iter().filter(|is_present| **is_present).count() as u64, to);
    to.extend_from_slice(b"\x65class");
    put(UNSIGNED, u64::from(*class), to);
    to.extend_from_slice(b"\x64name");
    put_text(name, to);
    if let Some(outer) = outer {
        to.extend_from_slice(b"\x65outer");
        put(UNSIGNED, u64::from(*outer), to);
    }
    if let Some(part) = part {
        to.extend_from_slice(b"\x64part");
        put_text(part, to);
    }
    if *root {
        to.extend_from_slice(b"\x64root\xf5");
    }
    if let Some((high, low)) = lazy {
        to.extend_from_slice(b"\x64lazy\x82");
        put(UNSIGNED, *high, to);
        put(UNSIGNED, *low, to);
    }
    if !values.is_empty() {
        to.extend_from_slice(b"\x66values");
        put(ARRAY, values.len() as u64, to);
    }
    for (index, value) in values {
        to.push(ARRAY << 5 | 2);
        put(UNSIGNED, u64::from(*index), to);
        put_value(value, to)?;
    }
    if kept.count > 0 {
        to.extend_from_slice(b"\x64kept");
        put(ARRAY, kept.count, to);
        to.extend_from_slice(&kept.bytes);
    }
    Ok(())
}

/// Adds a value. Writes most numbers directly, because the general writer takes several times as long. The result is equal.
fn put_value(value: &FileValue<'_>, to: &mut Vec<u8>) -> io::Result<()> {
    match *value {
        FileValue::U8(number) => put_integer(b"\xa1\x62u8", number.into(), to),
        FileValue::U16(number) => put_integer(b"\xa1\x63u16", number.into(), to),
        FileValue::U32(number) => put_integer(b"\xa1\x63u32", number.into(), to),
        FileValue::U64(number) => put_integer(b"\xa1\x63u64", number.into(), to),
        FileValue::I8(number) => put_integer(b"\xa1\x62i8", number.into(), to),
        FileValue::I16(number) => put_integer(b"\xa1\x63i16", number.into(), to),
        FileValue::I32(number) => put_integer(b"\xa1\x63i32", number.into(), to),
        FileValue::I64(number) => put_integer(b"\xa1\x63i64", number.into(), to),
        FileValue::Bool(flag) => to.extend_from_slice(if flag { b"\xa1\x64bool\xf5" } else { b"\xa1\x64bool\xf4" }),
        // Canonical CBOR uses the shortest float that preserves the value. A float of two bytes, extended to four, has zeros in these bits.
        FileValue::F32(number) if number.to_bits() & 0x1fff != 0 && !number.is_nan() => {
            to.extend_from_slice(b"\xa1\x63f32\xfa");
            to.extend_from_slice(&number.to_be_bytes());
        }
        FileValue::F64(number) if f64::from(number as f32) != number && !number.is_nan() => {
            to.extend_from_slice(F64);
            to.extend_from_slice(&number.to_be_bytes());
        }
        _ => ciborium::into_writer(value, to).map_err(io::Error::other)?,
    }
    Ok(())
}

#[inline]
fn put_integer(kind: &[u8], number: i128, to: &mut Vec<u8>) {
    to.extend_from_slice(kind);
    let (major, number) = if number < 0 { (NEGATIVE, !number) } else { (UNSIGNED, number) };
    put(major, number as u64, to);
}

#[inline]
fn put_text(text: &str, to: &mut Vec<u8>) {
    put(TEXT, text.len() as u64, to);
    to.extend_from_slice(text.as_bytes());
}

/// Adds the shortest CBOR header with this major type and number.
#[inline]
fn put(major: u8, number: u64, to: &mut Vec<u8>) {
    let (major, bytes) = (major << 5, number.to_be_bytes());
    match number {
        0..24 => to.push(major | bytes[7]),
        24..0x100 => to.extend_from_slice(&[major | 24, bytes[7]]),
        0x100..0x1_0000 => to.extend_from_slice(&[major | 25, bytes[6], bytes[7]]),
        0x1_0000..0x1_0000_0000 => to.extend_from_slice(&[major | 26, bytes[4], bytes[5], bytes[6], bytes[7]]),
        _ => {
            to.push(major | 27);
            to.extend_from_slice(&bytes);
        }
    }
}

/// Reads the whole body of a world file. Returns `None` if the body is not in canonical form, or is invalid.
pub(super) fn read(body: &[u8]) -> Option<FlatFile<'_>> {
    let (values, kept, names, latest) = Default::default();
    let mut reader = Reader { rest: body, scratch: vec![0; 4096], values, kept, names, latest };
    let (mut structs, mut classes, mut objects) = (None, None, None);
    reader.header(MAP, 3)?;
    for _ in 0..3 {
        match reader.text()? {
            "structs" => structs = Some(reader.other()?),
            "classes" => classes = Some(reader.other()?),
            "objects" => objects = Some(reader.objects()?),
            _ => return None,
        }
    }
    let Reader { rest, values, kept, .. } = reader;
    rest.is_empty().then_some(FlatFile { structs: structs?, classes: classes?, objects: objects?, values, kept })
}

struct Reader<'a> {
    rest: &'a [u8],
    /// Buffer of the general reader.
    scratch: Vec<u8>,
    /// Values of the objects that were read.
    values: Vec<(u32, FileValue<'a>)>,
    /// Kept fields of the objects that were read.
    kept: Vec<KeptRecord<'a>>,
    /// Class paths and names of kept fields, each stored once. Objects of one class share the strings.
    names: FxHashSet<Rc<str>>,
    /// Class path and name of the latest kept field. The next object mostly has an equal field.
    latest: [Rc<str>; 2],
}

impl<'a> Reader<'a> {
    fn objects(&mut self) -> Option<Vec<FlatRecord<'a>>> {
        let len = self.length(ARRAY)?;
        let mut objects = Vec::with_capacity(len.min(self.rest.len() / MIN_OBJECT));
        for _ in 0..len {
            objects.push(FlatRecord::default());
            self.object(objects.last_mut()?)?;
        }
        Some(objects)
    }

    /// Reads an object into an empty record. Reads in place, because a move of this large value has a measurable cost.
    fn object(&mut self, record: &mut FlatRecord<'a>) -> Option<()> {
        let mut keys = 0;
        for _ in 0..self.number(MAP)? {
            let key: u8;
            match self.string()? {
                b"class" => (record.class, key) = (self.index()?, 1),
                b"name" => (record.name, key) = (Cow::Borrowed(self.text()?), 2),
                b"outer" => (record.outer, key) = (Some(self.index()?), 4),
                b"part" => (record.part, key) = (Some(Cow::Borrowed(self.text()?)), 8),
                b"root" => (record.root, key) = (self.flag()?, 16),
                b"lazy" => (record.lazy, key) = (Some(self.lazy()?), 32),
                b"values" => (record.values, key) = (self.value_list()?, 64),
                b"kept" => (record.kept, key) = (self.kept_list()?, 128),
                _ => return None,
            }
            if keys & key != 0 {
                return None;
            }
            keys |= key;
        }
        // `class` and `name` are required.
        (keys & 3 == 3).then_some(())
    }

    fn lazy(&mut self) -> Option<(u64, u64)> {
        self.header(ARRAY, 2)?;
        Some((self.number(UNSIGNED)?, self.number(UNSIGNED)?))
    }

    fn value_list(&mut self) -> Option<Span> {
        let start = self.values.len();
        for _ in 0..self.length(ARRAY)? {
            let value = self.value()?;
            self.values.push(value);
        }
        Some(Span { start, end: self.values.len() })
    }

    fn kept_list(&mut self) -> Option<Span> {
        let start = self.kept.len();
        for _ in 0..self.length(ARRAY)? {
            let field = self.kept_field()?;
            self.kept.push(field);
        }
        Some(Span { start, end: self.kept.len() })
    }

    fn value(&mut self) -> Option<(u32, FileValue<'a>)> {
        self.header(ARRAY, 2)?;
        let index = self.index()?;
        // Most values of a world are numbers, and the general reader is slow for a value of few bytes and copies strings.
        if let Some((bits, rest)) = self.rest.strip_prefix(F64).and_then(<[u8]>::split_first_chunk) {
            self.rest = rest;
            return Some((index, FileValue::F64(f64::from_be_bytes(*bits))));
        }
        if let Some(rest) = self.rest.strip_prefix(STRING) {
            self.rest = rest;
            return Some((index, FileValue::Text(Cow::Borrowed(self.text()?))));
        }
        if let Some(rest) = self.rest.strip_prefix(NAME) {
            self.rest = rest;
            return Some((index, FileValue::Name(Cow::Borrowed(self.text()?))));
        }
        Some((index, self.other()?))
    }

    fn kept_field(&mut self) -> Option<KeptRecord<'a>> {
        self.header(MAP, 3)?;
        let class = self.key("class").and_then(|()| self.shared(0))?;
        let name = self.key("name").and_then(|()| self.shared(1))?;
        let len = self.key("data").and_then(|()| self.length(BYTES))?;
        Some(KeptRecord { class, name, data: Cow::Borrowed(self.take(len)?) })
    }

    /// Reads an item with the general reader. Used for types that the canonical reader does not support.
    fn other<T: DeserializeOwned>(&mut self) -> Option<T> {
        ciborium::de::from_reader_with_buffer(&mut self.rest, &mut self.scratch).ok()
    }

    /// Reads a string of a kept field. `at` is the index of the string in `latest`.
    fn shared(&mut self, at: usize) -> Option<Rc<str>> {
        let bytes = self.string()?;
        if self.latest[at].as_bytes() != bytes {
            let text = str::from_utf8(bytes).ok()?;
            if !self.names.contains(text) {
                self.names.insert(text.into());
            }
            self.latest[at] = Rc::clone(self.names.get(text)?);
        }
        Some(Rc::clone(&self.latest[at]))
    }

    fn header(&mut self, major: u8, number: u64) -> Option<()> {
        (self.number(major)? == number).then_some(())
    }

    fn key(&mut self, key: &str) -> Option<()> {
        (self.string()? == key.as_bytes()).then_some(())
    }

    fn flag(&mut self) -> Option<bool> {
        match self.take(1)? {
            [FALSE] => Some(false),
            [TRUE] => Some(true),
            _ => None,
        }
    }

    fn text(&mut self) -> Option<&'a str> {
        str::from_utf8(self.string()?).ok()
    }

    /// Reads a string without a check of its encoding. Used for keys, which are compared with known strings.
    fn string(&mut self) -> Option<&'a [u8]> {
        let len = self.length(TEXT)?;
        self.take(len)
    }

    fn index(&mut self) -> Option<u32> {
        self.number(UNSIGNED)?.try_into().ok()
    }

    fn length(&mut self, major: u8) -> Option<usize> {
        self.number(major)?.try_into().ok()
    }

    /// Reads the header of an item of this major type, and returns the number in the header. This number is a value or a definite length.
    #[inline]
    fn number(&mut self, major: u8) -> Option<u64> {
        let first = self.take(1)?[0];
        if first >> 5 != major {
            return None;
        }
        let size = match first & 0x1f {
            small @ 0..24 => return Some(small.into()),
            24 => 1,
            25 => 2,
            26 => 4,
            27 => 8,
            _ => return None,
        };
        Some(self.take(size)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    #[inline]
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        self.rest.split_off(..len)
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::{put_value, read};
    use crate::world::file_value::{FileReference, FileValue};
    use crate::world::records::{
        ClassRecord, FlatFile, KeptRecord, ObjectRecord, PropertyRecord, StructRecord, WorldFile,
    };

    fn file() -> WorldFile<'static> {
        let property = |name: &str, ty: &str| PropertyRecord { name: name.into(), ty: ty.into() };
        let class = ClassRecord {
            path: "/Script/Game.Cube".into(),
            bases: vec!["/Script/Game.Base".into()],
            native: "/Script/Engine.Actor".into(),
            properties: vec![property("speed", "f64")],
        };
        let kept = |name: &str, len| KeptRecord {
            class: "/Script/Game.Cube".into(),
            name: name.into(),
            data: (0..len).map(|at| at as u8).collect(),
        };
        let object = |number: u32| ObjectRecord {
            class: number,
            name: format!("Cube_{number}").into(),
            outer: number.checked_sub(1),
            part: (number % 3 == 1).then(|| "mesh".into()),
            root: number.is_multiple_of(2),
            lazy: (number % 3 == 2).then(|| (u64::MAX, number.into())),
            values: vec![
                (0, FileValue::F64(f64::from(number) / 3.0)),
                (number, FileValue::Array(vec![FileValue::Object(FileReference::In(number))])),
                (1, FileValue::Text("größer".into())),
                (2, FileValue::Name("red".into())),
            ],
            kept: vec![kept("greetings", 3), kept("mood", number as usize)],
        };
        let structs = vec![StructRecord { path: "/Script/Game.P".into(), fields: vec![property("x", "u8")] }];
        let mut objects = [0, 23, 24, 255, 256, 70_000].map(object).to_vec();
        objects.insert(1, ObjectRecord { name: "bare".into(), ..ObjectRecord::default() });
        WorldFile { structs, classes: vec![class], objects }
    }

    fn body(file: &WorldFile<'_>) -> Vec<u8> {
        let bytes = file.encode().expect("records are written");
        bytes[crate::world::format::HEAD..bytes.len() - 8].to_vec()
    }

    #[test]
    fn both_readers_read_equal_records() {
        for file in [WorldFile::default(), file()] {
            let body = body(&file);
            let found = read(&body).expect("it is canonical");
            assert_eq!(found.nested(), file);
            let general: WorldFile<'_> = ciborium::from_reader(body.as_slice()).expect("it is valid");
            assert_eq!(general, file);
            assert_eq!(FlatFile::from(general).nested(), file, "each object has its own entries of both lists");
            let tree: ciborium::Value = ciborium::from_reader(body.as_slice()).expect("it is CBOR");
            let mut again = Vec::new();
            ciborium::into_writer(&tree, &mut again).expect("a tree is written");
            // The header of the object list always has a length field of four bytes, even for a short list.
            assert_eq!(again.len() + 4, body.len(), "each header is as short as possible");
        }
    }

    #[test]
    fn strings_and_kept_fields_borrow_from_the_body() {
        let body = body(&file());
        let found = read(&body).expect("it is canonical");
        let is_copied = |part: &Option<Cow<'_, str>>| matches!(part, Some(Cow::Owned(_)));
        assert!(found.objects.iter().all(|object| matches!(object.name, Cow::Borrowed(_)) && !is_copied(&object.part)));
        assert!(found.kept.iter().all(|field| matches!(field.data, Cow::Borrowed(_))));
        let is_borrowed = |value: &FileValue<'_>| {
            matches!(value, FileValue::Text(Cow::Borrowed(_)) | FileValue::Name(Cow::Borrowed(_)))
        };
        assert_eq!(found.values.iter().filter(|(_, value)| is_borrowed(value)).count(), 2 * 6);
    }

    #[test]
    fn a_number_is_written_as_by_the_general_writer() {
        let bits = [0, 1, 2, 10, 12, 13, 14, 23, 29, 30, 31, 32, 51, 52, 62, 63].map(|bit| 1_u64 << bit);
        let integers = bits.into_iter().flat_map(|bit| [bit - 1, bit, !bit]).chain([23, 24]);
        let floats = [0.0, 1.0, 1.5, 0.1, 65_504.0, 1e30, 1e300, 5e-324, 6e-8, f64::INFINITY, f64::NAN];
        let numbers = integers.chain(floats.map(f64::to_bits)).flat_map(|bits| {
            let (double, single) = (f64::from_bits(bits), f32::from_bits(bits as u32));
            [
                FileValue::U8(bits as u8),
                FileValue::U16(bits as u16),
                FileValue::U32(bits as u32),
                FileValue::U64(bits),
                FileValue::I8(bits as i8),
                FileValue::I16(bits as i16),
                FileValue::I32(bits as i32),
                FileValue::I64(bits as i64),
                FileValue::Bool(bits.is_multiple_of(2)),
                FileValue::F32(single),
                FileValue::F32(double as f32),
                FileValue::F64(single.into()),
                FileValue::F64(double),
                FileValue::F64(-double),
            ]
        });
        for number in numbers {
            let (mut found, mut expected) = (Vec::new(), Vec::new());
            put_value(&number, &mut found).expect("it is written");
            ciborium::into_writer(&number, &mut expected).expect("it is written");
            assert_eq!(found, expected, "{number:?}");
        }
    }

    #[test]
    fn a_changed_body_is_read_as_by_the_general_reader_or_left_to_it() {
        let small = WorldFile { objects: file().objects[..2].to_vec(), ..file() };
        let whole = body(&small);
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let Some(found) = read(&bytes) else { continue };
            // Compares the debug strings, because a changed number may be a NaN, which is not equal to itself.
            let expected = ciborium::from_reader::<WorldFile<'_>, _>(bytes.as_slice()).expect("both readers accept it");
            assert_eq!(format!("{:?}", found.nested()), format!("{expected:?}"), "bit {bit}");
        }
        for end in 0..whole.len() {
            assert_eq!(read(&whole[..end]), None, "{end}");
        }
        assert_eq!(read(&[&whole[..], &[0]].concat()), None);
    }

    #[test]
    fn a_body_with_an_unknown_key_is_left_to_the_general_reader() {
        let mut whole = body(&file());
        let at = whole.windows(4).position(|four| four == b"root").expect("a root");
        whole[at] = b'R';
        assert_eq!(read(&whole), None);
        assert!(ciborium::from_reader::<WorldFile<'_>, _>(whole.as_slice()).is_ok());
    }
}
