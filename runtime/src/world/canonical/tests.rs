//! Tests that both readers read equal records, and that the writer writes canonical CBOR.

use std::borrow::Cow;

use super::{KeptBytes, Reader, put_integer, put_value};
use crate::handles::ObjectHandle;
use crate::world::file_value::{FileBinding, FileReference, FileText, FileValue};
use crate::world::format::{VERSION, read_any};
use crate::world::records::{ClassRecord, FlatFile, KeptRecord, ObjectRecord, PropertyRecord, StructRecord};
use crate::world::testing::WorldFile;

fn read(body: &[u8]) -> Option<FlatFile<'_>> {
    super::read(body, VERSION)
}

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
        let general = read_any(&body, VERSION).expect("it is valid");
        assert_eq!(general.nested(), file, "each object has its own entries of both lists");
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
    let is_borrowed =
        |value: &FileValue<'_>| matches!(value, FileValue::Text(Cow::Borrowed(_)) | FileValue::Name(Cow::Borrowed(_)));
    assert_eq!(found.values.iter().filter(|(_, value)| is_borrowed(value)).count(), 2 * 6);
}

#[test]
fn a_record_has_the_kept_fields_of_its_object() {
    let [first, none, last] = [1, 2, 3].map(|index| ObjectHandle::new(index, 1));
    let class = "/Script/Game.Cube".into();
    let mut kept = KeptBytes::default();
    for (object, name) in [(first, "a"), (first, "b"), (last, "a")] {
        kept.put(object, &class, name, &[0xee]);
    }
    let mut record: ObjectRecord<'_, KeptBytes> = ObjectRecord { kept, ..ObjectRecord::default() };
    let counts = [first, none, last].map(|object| {
        record.kept.select(object);
        let mut bytes = Vec::new();
        super::write(&record, &mut bytes).expect("it is written");
        bytes.iter().filter(|byte| **byte == 0xee).count()
    });
    assert_eq!(counts, [2, 0, 1]);
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
        read_by_both(&found);
    }
}

#[test]
fn a_value_that_could_not_be_read_is_not_written() {
    let nested = |levels| (0..levels).fold(FileValue::U8(1), |value, _| FileValue::Array(vec![value]));
    let mut bytes = Vec::new();
    put_value(&nested(64), &mut bytes).expect("it is written");
    ciborium::from_reader::<FileValue<'_>, _>(bytes.as_slice()).expect("it is read");
    put_value(&nested(127), &mut bytes).expect("it is written");
    let error = put_value(&nested(128), &mut bytes).expect_err("it is refused").to_string();
    assert!(error.contains("nested too deep"), "{error}");

    let pair = || Box::new((Cow::Borrowed("a"), Cow::Borrowed("b")));
    let text = FileText { display: "a".into(), namespace: "b".into(), key: "c".into() };
    let binding = || FileBinding { object: FileReference::None, function: "f".into() };
    let cases = [
        FileValue::Struct(vec![("a".into(), nested(1))]),
        FileValue::Struct(Vec::new()),
        FileValue::Set(vec![nested(1), nested(0)]),
        FileValue::Map(vec![(nested(0), nested(1))]),
        FileValue::Optional(Some(Box::new(nested(1)))),
        FileValue::Optional(None),
        FileValue::Sparse(vec![binding()]),
        FileValue::Delegate(Box::new(binding())),
        FileValue::Enum(pair()),
        FileValue::LocalText(Box::new(text)),
        FileValue::LazyObject(1, 2),
        FileValue::Object(FileReference::In(1)),
        FileValue::WeakObject(FileReference::None),
        FileValue::Text("a".into()),
    ];
    for value in cases {
        let mut bytes = Vec::new();
        put_value(&value, &mut bytes).expect("it is written");
        let read = |limit| ciborium::de::from_reader_with_recursion_limit::<FileValue<'_>, _>(bytes.as_slice(), limit);
        assert!(read(value.depth()).is_ok() && read(value.depth() - 1).is_err(), "{value:?}");
    }
}

/// Reads a value with both readers. Checks that the canonical reader reads the value as the general reader does. Returns `true` if the
/// value is read without the general reader.
fn read_by_both(bytes: &[u8]) -> bool {
    let body = [&[0x82, 0][..], bytes].concat();
    let mut reader = Reader::new(&body, VERSION);
    let expected = ciborium::from_reader::<FileValue<'_>, _>(bytes).ok();
    let found = reader.value();
    assert_eq!(format!("{:?}", found.map(|(_, value)| value)), format!("{expected:?}"), "{bytes:02x?}");
    let mut reader = Reader::new(bytes, VERSION);
    reader.plain().is_some() && reader.rest.is_empty()
}

#[test]
fn integers_at_the_limits_of_a_type_are_read_as_by_the_general_reader() {
    for kind in ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"] {
        let bits: u32 = kind[1..].parse().expect("the size of the type");
        let (least, most) = match &kind[..1] {
            "u" => (0, (1_i128 << bits) - 1),
            _ => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
        };
        for (number, is_valid) in [(least - 1, false), (least, true), (0, true), (most, true), (most + 1, false)] {
            // CBOR integers have at most 64 bits, and a sign.
            if !(-(1 << 64)..1 << 64).contains(&number) {
                continue;
            }
            let mut bytes = [&[0xa1, 0x60 | kind.len() as u8][..], kind.as_bytes()].concat();
            put_integer(&[], number, &mut bytes);
            assert_eq!(read_by_both(&bytes), is_valid, "{number} as {kind}");
        }
    }
    for kind in ["bool", "String", "f32", "none"] {
        let bytes = [&[0xa1, 0x60 | kind.len() as u8][..], kind.as_bytes(), &[0x05]].concat();
        assert!(!read_by_both(&bytes), "{kind}");
    }
}

#[test]
fn a_changed_body_is_read_as_by_the_general_reader_or_left_to_it() {
    // The third object has kept fields whose names are in the record of the first object.
    let small = WorldFile { objects: file().objects[..3].to_vec(), ..file() };
    let whole = body(&small);
    for bit in 0..whole.len() * 8 {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let Some(found) = read(&bytes) else { continue };
        // Compares the debug strings, because a changed number may be a NaN, which is not equal to itself.
        let expected = read_any(&bytes, VERSION).expect("both readers accept it");
        assert_eq!(format!("{:?}", found.nested()), format!("{:?}", expected.nested()), "bit {bit}");
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
    assert!(read_any(&whole, VERSION).is_ok());
}

#[test]
fn values_of_several_strings_have_the_documented_form() {
    let map = |entries: &[(&str, ciborium::Value)]| {
        let entries = entries.iter().map(|(key, value)| (ciborium::Value::from(*key), value.clone()));
        ciborium::Value::Map(entries.collect())
    };
    let pair = || ciborium::Value::Array(vec!["a".into(), "b".into()]);
    let strings = || Box::new((Cow::Borrowed("a"), Cow::Borrowed("b")));
    let text = FileText { display: "a".into(), namespace: "b".into(), key: "c".into() };
    let texts = map(&[("shown", "a".into()), ("namespace", "b".into()), ("key", "c".into())]);
    let binding = FileBinding { object: FileReference::None, function: "f".into() };
    let bound = map(&[("object", "none".into()), ("function", "f".into())]);
    let cases = [
        (FileValue::Enum(strings()), map(&[("Enum", pair())])),
        (FileValue::Printed(strings()), map(&[("printed", pair())])),
        (FileValue::LocalText(Box::new(text)), map(&[("Text", texts)])),
        (FileValue::Delegate(Box::new(binding)), map(&[("Delegate", bound)])),
    ];
    for (value, expected) in cases {
        let mut bytes = Vec::new();
        put_value(&value, &mut bytes).expect("it is written");
        assert_eq!(ciborium::from_reader::<ciborium::Value, _>(&*bytes).expect("it is CBOR"), expected);
        assert_eq!(ciborium::from_reader::<FileValue<'_>, _>(&*bytes).expect("it is valid"), value);
    }
}
