//! Writes the object records of a world file as canonical CBOR, and reads the body of a file in this form. In canonical form, lengths are
//! definite, tags are absent, and all keys are known. Names, kept fields, and values of the kinds `String` and `Name` that the reader returns
//! borrow from the bytes, and each name of a kept field is stored once for all objects. If the body has a different form, for example because
//! a different program has written the file, the result is `None`. The general reader of `ciborium` then reads the body or describes the
//! defect.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::rc::Rc;
use std::str;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::de::DeserializeOwned;

use crate::escape::line;
use crate::handles::ObjectHandle;
use crate::world::file_value::FileValue;
use crate::world::records::{FlatFile, FlatKept, FlatRecord, ObjectRecord, Span};

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

/// Maximum number of nested CBOR items that the general reader reads.
const MAX_DEPTH: usize = 256;

/// Minimum size in bytes of an object record: the header of the map, and the keys `class` and `name` with their values.
const MIN_OBJECT: usize = 14;

/// Kept fields of adjacent objects in canonical form. The fields are encoded before the record of their object, because the record begins
/// with the number of its entries. All objects of a file share one value, because only the first entry of a field contains its names.
#[derive(Default)]
pub(crate) struct KeptBytes {
    bytes: Vec<u8>,
    /// Objects after the selected object, each with the number of its fields and the end of its bytes.
    objects: VecDeque<(ObjectHandle, u64, usize)>,
    /// Number and bytes of the selected object's fields.
    selected: (u64, Range<usize>),
    /// Index in `fields` of each class path.
    classes: FxHashMap<Rc<str>, usize>,
    /// Latest class path with its index. Adjacent fields mostly share this path.
    latest: Option<(Rc<str>, usize)>,
    /// Fields of the file so far: names and numbers, one list per class.
    fields: Vec<Vec<(Box<str>, u32)>>,
    /// Number of the next new field.
    next: u32,
}

impl KeptBytes {
    /// Removes the fields of all objects.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.objects.clear();
        self.selected = (0, 0..0);
    }

    /// Selects the fields that [`write`] adds to the next record. Objects must be selected in the order in which their fields were added.
    /// For an object without fields, selects no field.
    pub(super) fn select(&mut self, object: ObjectHandle) {
        let start = self.selected.1.end;
        let own = self.objects.pop_front_if(|(owner, ..)| *owner == object);
        self.selected = own.map_or((0, start..start), |(_, count, end)| (count, start..end));
    }

    /// Returns the index in `fields` of a class path.
    fn class(&mut self, class: &Rc<str>) -> usize {
        match &self.latest {
            Some((latest, at)) if Rc::ptr_eq(latest, class) => *at,
            _ => {
                let at = *self.classes.entry(Rc::clone(class)).or_insert_with(|| {
                    self.fields.push(Vec::new());
                    self.fields.len() - 1
                });
                self.latest = Some((Rc::clone(class), at));
                at
            }
        }
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds a field of an object: the path of the declaring class, the name, and the value in CBOR. If an earlier entry of the file
    /// contains the path and the name, writes the number of this entry instead. The fields of an object are added one after another.
    pub(super) fn put(&mut self, object: ObjectHandle, class: &Rc<str>, name: &str, data: &[u8]) {
        let at = self.class(class);
        let Self { bytes: to, objects, fields, next, .. } = self;
        let fields = &mut fields[at];
        match fields.iter().find(|(known, _)| **known == *name) {
            Some((_, number)) => {
                to.push(ARRAY << 5 | 2);
                put(UNSIGNED, u64::from(*number), to);
            }
            None => {
                fields.push((name.into(), *next));
                *next += 1;
                to.extend_from_slice(b"\xa3\x65class");
                put_text(class, to);
                to.extend_from_slice(b"\x64name");
                put_text(name, to);
                to.extend_from_slice(b"\x64data");
            }
        }
        put(BYTES, data.len() as u64, to);
        to.extend_from_slice(data);
        let end = to.len();
        match objects.back_mut().filter(|(owner, ..)| *owner == object) {
            Some((_, count, known_end)) => (*count, *known_end) = (*count + 1, end),
            None => objects.push_back((object, 1, end)),
        }
    }
}

/// Adds the record of an object to `to`. The byte strings in this file contain constant items with their headers, such as `b"\x65class"` for
/// the string `class`, because one copy is faster than several.
pub(super) fn write(record: &ObjectRecord<'_, KeptBytes>, to: &mut Vec<u8>) -> io::Result<()> {
    let ObjectRecord { class, name, outer, part, root, lazy, values, kept } = record;
    let (fields, range) = &kept.selected;
    let optional = [outer.is_some(), part.is_some(), *root, lazy.is_some(), !values.is_empty(), *fields > 0];
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
        put_value(value, to).map_err(|error| io::Error::other(format!("a value of {}: {error}", line(name))))?;
    }
    if *fields > 0 {
        to.extend_from_slice(b"\x64kept");
        put(ARRAY, *fields, to);
        to.extend_from_slice(&kept.bytes[range.clone()]);
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
        _ if value.depth() > MAX_DEPTH => {
            return Err(io::Error::other("it is nested too deep to be loaded: nest fewer structs and containers"));
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

/// Reads the whole body of a world file of the version `version`. Returns `None` if the body is not in canonical form, or is invalid.
pub(super) fn read(body: &[u8], version: u32) -> Option<FlatFile<'_>> {
    let mut reader = Reader::new(body, version);
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
    let Reader { rest, values, fields, kept, .. } = reader;
    rest.is_empty().then_some(FlatFile {
        structs: structs?,
        classes: classes?,
        objects: objects?,
        values,
        fields,
        kept,
    })
}

struct Reader<'a> {
    rest: &'a [u8],
    /// Buffer of the general reader.
    scratch: Vec<u8>,
    /// Values of the objects that were read.
    values: Vec<(u32, FileValue<'a>)>,
    /// Kept fields of the objects that were read.
    kept: Vec<FlatKept<'a>>,
    /// Class paths and names of kept fields, each stored once. Objects of one class share the strings.
    names: FxHashSet<Rc<str>>,
    /// Class paths and names of the kept fields that contain them, in the order of the file.
    fields: Vec<[Rc<str>; 2]>,
    /// False in version 1, in which all kept fields contain their class paths and names.
    has_numbers: bool,
}

impl<'a> Reader<'a> {
    fn new(rest: &'a [u8], version: u32) -> Self {
        let (values, kept, names, fields) = Default::default();
        Self { rest, scratch: vec![0; 4096], values, kept, names, fields, has_numbers: version > 1 }
    }

    fn objects(&mut self) -> Option<Vec<FlatRecord<'a>>> {
        let len = self.length(ARRAY)?;
        let room = len.min(self.rest.len() / MIN_OBJECT);
        let mut objects = Vec::with_capacity(room);
        // Mostly sufficient. The growth of a long list copies the list, and memory that no entry uses costs little.
        self.values.reserve(room);
        self.kept.reserve(room);
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
            // Compares each key together with its header. Frequent keys are first.
            if self.skip(b"\x65class") {
                (record.class, key) = (self.index()?, 1);
            } else if self.skip(b"\x64name") {
                (record.name, key) = (Cow::Borrowed(self.text()?), 2);
            } else if self.skip(b"\x66values") {
                (record.values, key) = (self.value_list()?, 4);
            } else if self.skip(b"\x64kept") {
                (record.kept, key) = (self.kept_list()?, 8);
            } else if self.skip(b"\x64root") {
                (record.root, key) = (self.flag()?, 16);
            } else if self.skip(b"\x65outer") {
                (record.outer, key) = (Some(self.index()?), 32);
            } else if self.skip(b"\x64part") {
                (record.part, key) = (Some(Cow::Borrowed(self.text()?)), 64);
            } else if self.skip(b"\x64lazy") {
                (record.lazy, key) = (Some(self.lazy()?), 128);
            } else {
                return None;
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
        Some(Span::since(start, &self.values))
    }

    fn kept_list(&mut self) -> Option<Span> {
        let start = self.kept.len();
        for _ in 0..self.length(ARRAY)? {
            let field = self.kept_field()?;
            self.kept.push(field);
        }
        Some(Span::since(start, &self.kept))
    }

    fn value(&mut self) -> Option<(u32, FileValue<'a>)> {
        self.header(ARRAY, 2)?;
        let index = self.index()?;
        // Most values of a world are numbers, and the general reader is slow for a value of few bytes and copies strings.
        if let Some((bits, rest)) = self.rest.strip_prefix(F64).and_then(<[u8]>::split_first_chunk) {
            self.rest = rest;
            return Some((index, FileValue::F64(f64::from_be_bytes(*bits))));
        }
        let start = self.rest;
        if let Some(value) = self.plain() {
            return Some((index, value));
        }
        self.rest = start;
        Some((index, self.other()?))
    }

    /// Reads an integer, a flag, a string or a name. Returns `None` for values of all other kinds, and for invalid values.
    fn plain(&mut self) -> Option<FileValue<'a>> {
        self.header(MAP, 1)?;
        Some(match self.string()? {
            b"u8" => FileValue::U8(self.number(UNSIGNED)?.try_into().ok()?),
            b"u16" => FileValue::U16(self.number(UNSIGNED)?.try_into().ok()?),
            b"u32" => FileValue::U32(self.index()?),
            b"u64" => FileValue::U64(self.number(UNSIGNED)?),
            b"i8" => FileValue::I8(self.signed()?.try_into().ok()?),
            b"i16" => FileValue::I16(self.signed()?.try_into().ok()?),
            b"i32" => FileValue::I32(self.signed()?.try_into().ok()?),
            b"i64" => FileValue::I64(self.signed()?),
            b"bool" => FileValue::Bool(self.flag()?),
            b"String" => FileValue::Text(Cow::Borrowed(self.text()?)),
            b"Name" => FileValue::Name(Cow::Borrowed(self.text()?)),
            _ => return None,
        })
    }

    fn signed(&mut self) -> Option<i64> {
        let is_negative = self.rest.first()? >> 5 == NEGATIVE;
        let number = self.number(if is_negative { NEGATIVE } else { UNSIGNED })?;
        // A negative integer is stored as the complement of its bits.
        i64::try_from(number).ok().map(|number| if is_negative { !number } else { number })
    }

    fn kept_field(&mut self) -> Option<FlatKept<'a>> {
        let field = if self.rest.first()? >> 5 == ARRAY {
            self.header(ARRAY, 2)?;
            let field = self.index()?;
            (self.has_numbers && (field as usize) < self.fields.len()).then_some(field)?
        } else {
            self.header(MAP, 3)?;
            let class = self.key("class").and_then(|()| self.shared())?;
            let name = self.key("name").and_then(|()| self.shared())?;
            self.key("data")?;
            self.fields.push([class, name]);
            u32::try_from(self.fields.len() - 1).ok()?
        };
        let len = self.length(BYTES)?;
        Some(FlatKept { field, data: Cow::Borrowed(self.take(len)?) })
    }

    /// Reads an item with the general reader. Used for types that the canonical reader does not support.
    fn other<T: DeserializeOwned>(&mut self) -> Option<T> {
        ciborium::de::from_reader_with_buffer(&mut self.rest, &mut self.scratch).ok()
    }

    /// Reads a string of a kept field. Equal strings share their memory.
    fn shared(&mut self) -> Option<Rc<str>> {
        let text = self.text()?;
        if !self.names.contains(text) {
            self.names.insert(text.into());
        }
        self.names.get(text).cloned()
    }

    /// Skips `bytes` if the rest begins with these bytes.
    #[inline]
    fn skip<const N: usize>(&mut self, bytes: &[u8; N]) -> bool {
        match self.rest.split_first_chunk::<N>() {
            Some((first, rest)) if first == bytes => self.rest = rest,
            _ => return false,
        }
        true
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
#[path = "canonical/tests.rs"]
mod tests;
