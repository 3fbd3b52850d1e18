//! Tests complete, damaged and invalid files, and files of earlier versions.

use std::io::Write as _;

use xxhash_rust::xxh3::xxh3_64;

use crate::handles::ObjectHandle;
use crate::world::canonical::KeptBytes;
use crate::world::file_value::{FileBinding, FileReference, FileText, FileValue};
use crate::world::records::{ClassRecord, FormatError, KeptRecord, ObjectRecord, PropertyRecord, StructRecord};
use crate::world::testing::{WorldFile, sealed};

fn file() -> WorldFile<'static> {
    let property = |name: &str, ty: &str| PropertyRecord { name: name.into(), ty: ty.into() };
    let class = ClassRecord {
        path: "/Script/Game.Cube".into(),
        bases: Vec::new(),
        native: "/Script/Engine.Actor".into(),
        properties: vec![property("speed", "f64"), property("friend", "Object(/Script/Engine.Actor)")],
    };
    let kept =
        KeptRecord { class: class.path.as_str().into(), name: "greetings".into(), data: vec![0x18, 0x2a].into() };
    let cube = ObjectRecord {
        name: "Cube_1".into(),
        root: true,
        lazy: Some((7, 9)),
        values: vec![(0, FileValue::F64(2.5)), (1, FileValue::Object(FileReference::In(1)))],
        kept: vec![kept],
        ..ObjectRecord::default()
    };
    let part =
        ObjectRecord { name: "mesh".into(), outer: Some(0), part: Some("mesh".into()), ..ObjectRecord::default() };
    let structs = vec![StructRecord { path: "/Script/Game.P".into(), fields: vec![property("x", "f32")] }];
    WorldFile { structs, classes: vec![class], objects: vec![cube, part] }
}

fn refusal(bytes: &[u8]) -> FormatError {
    WorldFile::decode(bytes).expect_err("it is refused")
}

#[test]
fn a_world_file_round_trips() {
    let mut named = file();
    // Rust accepts this name of a field, although one character is neither a letter nor a digit.
    named.objects[0].kept[0].name = "नमस्ते".into();
    for file in [WorldFile::default(), file(), named] {
        assert_eq!(WorldFile::decode(&file.encode().unwrap()), Ok(file));
    }
}

#[test]
fn no_bit_may_be_another() {
    let whole = file().encode().unwrap();
    for bit in 0..whole.len() * 8 {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        refusal(&bytes);
    }
}

#[test]
fn no_byte_may_be_missing_or_follow() {
    let whole = file().encode().unwrap();
    for end in 0..whole.len() {
        let error = refusal(&whole[..end]);
        assert!(matches!(error, FormatError::Length { .. } | FormatError::NotAWorld), "{end}: {error}");
    }
    let longer: Vec<_> = whole.iter().copied().chain([0]).collect();
    assert!(matches!(refusal(&longer), FormatError::Length { .. }));
}

#[test]
fn a_newer_file_is_reported() {
    let mut bytes = file().encode().unwrap();
    bytes[8] = 9;
    assert_eq!(refusal(&bytes), FormatError::Newer { found: 9, known: 2 });
    assert_eq!(refusal(b"PK\x03\x04 something else"), FormatError::NotAWorld);
}

#[test]
fn a_complete_file_with_dangling_references_is_malformed() {
    let cases: &[(Spoil, &str)] = &[
        (|file| file.objects[1].class = 1, "object 1 (mesh) is of class 1, and there are 1"),
        (|file| file.objects[1].outer = Some(2), "object 1 (mesh) is in object 2, and there are 2"),
        (|file| file.objects[1].outer = None, "object 1 (mesh) is a part without an owner"),
        (|file| file.objects[0].outer = Some(1), "object 0 (Cube_1) is in itself"),
        (
            |file| file.objects[0].values[0].0 = 2,
            "object 0 (Cube_1) has a value for property 2 of /Script/Game.Cube, which has fewer",
        ),
        (
            |file| file.objects[0].values[1].1 = FileValue::Object(FileReference::In(5)),
            "object 0 (Cube_1) refers to object 5, and there are 2",
        ),
    ];
    malformed_in(cases);
}

type Spoil = fn(&mut WorldFile<'static>);

fn spoiled(spoil: Spoil) -> FormatError {
    let mut file = file();
    spoil(&mut file);
    refusal(&file.encode().unwrap())
}

fn malformed_in(cases: &[(Spoil, &str)]) {
    for (spoil, problem) in cases {
        assert_eq!(spoiled(*spoil), FormatError::Malformed { problem: (*problem).to_owned() });
    }
}

#[test]
fn duplicates_are_malformed() {
    malformed_in(&[
        (
            |file| file.structs.push(file.structs[0].clone()),
            "struct /Script/Game.P has an invalid path, or is a duplicate",
        ),
        (
            |file| file.classes[0].properties[1].name = "speed".into(),
            "class 0 (/Script/Game.Cube) has a property \"speed\", which is not a name or is a duplicate",
        ),
        (
            |file| file.classes[0].bases = vec!["/Script/Game.Cube".into()],
            "class 0 (/Script/Game.Cube) has a base \"/Script/Game.Cube\", which is not a type path or is a duplicate",
        ),
        (
            |file| file.objects[0].values.push((0, FileValue::F64(1.0))),
            "object 0 (Cube_1) has two values for its property speed",
        ),
        (|file| file.objects[1].lazy = Some((7, 9)), "object 1 (mesh) has the id for lazy references of object 0"),
        (
            |file| {
                let again = ObjectRecord { name: "other".into(), ..file.objects[1].clone() };
                file.objects.push(again);
            },
            "object 2 (other) is the second part mesh of object 0",
        ),
        (
            |file| {
                let again = file.objects[0].kept[0].clone();
                file.objects[0].kept.push(again);
            },
            "object 0 (Cube_1) keeps \"greetings\" of \"/Script/Game.Cube\", which is not a field or is a duplicate",
        ),
        (
            |file| {
                let field = || ("x".into(), FileValue::U8(1));
                file.objects[0].values[0].1 = FileValue::Array(vec![FileValue::Struct(vec![field(), field()])]);
            },
            "object 0 (Cube_1) has a struct with a field \"x\", which is not a name or is a duplicate",
        ),
    ]);
    let twice = |outer: Option<u32>, part: Option<&str>| {
        let mut file = file();
        let part = part.map(|part| part.to_owned().into());
        let name = if outer.is_some() { "mesh" } else { "Cube_1" }.into();
        file.objects.push(ObjectRecord { name, outer, part, ..ObjectRecord::default() });
        refusal(&file.encode().unwrap())
    };
    let path = |path: &str, first| FormatError::SamePath { path: path.to_owned(), first, second: 2 };
    assert_eq!(twice(None, None), path("/World/Cube_1", 0));
    assert_eq!(twice(Some(0), None), path("/World/Cube_1/mesh", 1));
    assert_eq!(twice(Some(0), Some("other")), path("/World/Cube_1/mesh", 1));
}

#[test]
fn duplicates_are_found_in_a_file_without_outers() {
    let flat = |name: &str, lazy| {
        let mut file = file();
        file.objects[1] = ObjectRecord { name: name.to_owned().into(), lazy, ..ObjectRecord::default() };
        WorldFile::decode(&file.encode().unwrap()).map(|_file| ()).map_err(|error| error.to_string())
    };
    assert_eq!(flat("Cube_2", Some((7, 8))), Ok(()));
    let same_id = flat("Cube_2", Some((7, 9))).unwrap_err();
    assert!(same_id.contains("object 1 (Cube_2) has the id for lazy references of object 0"), "{same_id}");
    let same_path = flat("Cube_1", None).unwrap_err();
    assert!(same_path.contains("/World/Cube_1"), "{same_path}");
}

#[test]
fn every_name_is_one_and_every_path_is_one() {
    let name = |name: &str| {
        let mut file = file();
        file.objects[0].name = name.to_owned().into();
        refusal(&file.encode().unwrap())
    };
    for (input, expected) in [
        ("", "object 0 cannot be called \"\": a name has one character at least; rename it and save again"),
        (
            "Default__Cube",
            "object 0 cannot be called \"Default__Cube\": names that begin with Default__ belong to class",
        ),
        ("a\u{1b}[2J", "object 0 cannot be called \"a\\u{1b}[2J\": a name has neither control characters nor"),
    ] {
        let error = name(input);
        assert!(matches!(error, FormatError::ObjectName { object: 0, .. }), "{error:?}");
        assert!(error.to_string().starts_with(expected), "{error}");
    }
    malformed_in(&[
        (
            |file| file.classes[0].path = "Cube\n".into(),
            "class 0 (Cube\\n) has an invalid path, or names no native class",
        ),
        (
            |file| file.classes[0].native = String::new(),
            "class 0 (/Script/Game.Cube) has an invalid path, or names no native class",
        ),
        (
            |file| file.classes[0].properties[0].name = "sp eed".into(),
            "class 0 (/Script/Game.Cube) has a property \"sp eed\", which is not a name or is a duplicate",
        ),
        (
            |file| file.classes[0].properties[0].ty = "f65".into(),
            "class 0 (/Script/Game.Cube) has a property speed of no type: `f65` is not a type: unknown kind `f65`; write \
             a struct as its path",
        ),
        (
            |file| file.objects[1].part = Some("me/sh".into()),
            "object 1 (mesh) is a part named \"me/sh\", which is not a name",
        ),
        (|file| file.objects[0].lazy = Some((0, 0)), "object 0 (Cube_1) has an invalid id for lazy references"),
        (
            |file| file.objects[0].kept[0].class = "Cube".into(),
            "object 0 (Cube_1) keeps \"greetings\" of \"Cube\", which is not a field or is a duplicate",
        ),
    ]);
}

#[test]
fn a_long_path_is_shortened_to_the_nearest_names() {
    let mut file = file();
    for at in 2..100_000 {
        let name = if at % 2 == 0 { "mesh" } else { "x" }.into();
        file.objects.push(ObjectRecord { name, outer: Some(at - 1), ..ObjectRecord::default() });
    }
    assert!(WorldFile::decode(&file.encode().unwrap()).is_ok());
    file.objects.push(ObjectRecord { name: "x".into(), outer: Some(99_998), ..ObjectRecord::default() });
    let error = refusal(&file.encode().unwrap()).to_string();
    assert!(error.starts_with("/World/…/mesh/x/") && error.len() < 300, "{error}");
}

#[test]
fn an_invalid_body_is_malformed() {
    let bytes = file().encode().unwrap();
    let mut body = bytes[super::HEAD..bytes.len() - 8].to_vec();
    // The body is now a number instead of a map of records.
    body[0] = 0x07;
    assert!(matches!(refusal(&sealed(&body)), FormatError::Malformed { .. }));
}

/// Returns a world in which two objects keep one field, with the bytes of the second entry in its file.
fn two_fields() -> (WorldFile<'static>, [u8; 4]) {
    let mut file = file();
    let kept = KeptRecord { data: vec![7].into(), ..file.objects[0].kept[0].clone() };
    file.objects[1].kept.push(kept);
    (file, [0x82, 0, 0x41, 7])
}

#[test]
fn only_the_first_entry_of_a_kept_field_has_its_names() {
    let (file, second) = two_fields();
    let whole = file.encode().unwrap();
    let count = |part: &[u8]| whole.windows(part.len()).filter(|found| *found == part).count();
    assert_eq!((count(b"greetings"), count(&second)), (1, 1));
    assert_eq!(WorldFile::decode(&whole), Ok(file));
}

/// Returns the body of `file`, and the offset of the kept field `second` in the body.
fn body_of(file: &WorldFile<'_>, second: [u8; 4]) -> (usize, Vec<u8>) {
    let whole = file.encode().unwrap();
    let body = whole[super::HEAD..whole.len() - 8].to_vec();
    let at = body.windows(4).position(|found| *found == second).expect("it is in the file");
    (at, body)
}

/// Returns the entry of a kept field with all its names.
fn named(field: &KeptRecord<'_>) -> Vec<u8> {
    let mut entry = KeptBytes::default();
    entry.put(ObjectHandle::NONE, &field.class, &field.name, &field.data);
    entry.bytes().to_vec()
}

/// Returns a file of version 1 with this body. In version 1, the digest covers the bytes in the order of the file.
fn in_version_1(body: &[u8]) -> Vec<u8> {
    let mut bytes = [&super::head(body.len() as u64)[..], body].concat();
    bytes[8] = 1;
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    bytes
}

#[test]
fn a_file_of_version_1_is_read() {
    let (mut file, second) = two_fields();
    let text = FileText { display: "a".into(), namespace: "b".into(), key: "c".into() };
    let binding = FileBinding { object: FileReference::In(0), function: "f".into() };
    file.objects[0].values = vec![
        (0, FileValue::Enum(Box::new(("Red".into(), "1".into())))),
        (1, FileValue::Array(vec![FileValue::LocalText(Box::new(text)), FileValue::Delegate(Box::new(binding))])),
    ];
    let (at, body) = body_of(&file, second);
    let numbered = refusal(&in_version_1(&body)).to_string();
    assert!(numbered.contains("kept field 0 is used, and 0 are defined"), "{numbered}");
    let body = [&body[..at], &named(&file.objects[1].kept[0])[..], &body[at + 4..]].concat();
    let mut bytes = in_version_1(&body);
    assert_eq!(WorldFile::decode(&bytes), Ok(file));
    // The digest of each version covers the bytes in a different order.
    bytes[8] = 2;
    assert!(matches!(refusal(&bytes), FormatError::Damaged { .. }));
}

#[test]
fn kept_fields_with_all_names_are_read() {
    let (file, second) = two_fields();
    let (at, body) = body_of(&file, second);
    let entry = named(&file.objects[1].kept[0]);
    let with = |entry: &[u8]| sealed(&[&body[..at], entry, &body[at + 4..]].concat());
    // The reader ignores tags.
    for tags in [&b""[..], b"\xc6", b"\xd8\x2a\xc6"] {
        for form in [&entry[..], &second] {
            assert_eq!(WorldFile::decode(&with(&[tags, form].concat())), Ok(file.clone()), "{tags:02x?} {form:02x?}");
        }
    }
    for (entry, problem) in [
        (&[0x82, 1, 0x41, 7][..], "its body has an invalid value: kept field 1 is used, and 1 are defined"),
        (&[0x81, 0][..], "expected a kept field"),
        (&[0x83, 0, 0x41, 7, 0][..], "expected a kept field"),
    ] {
        let error = refusal(&with(entry)).to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn a_file_may_be_written_in_pieces_of_any_size() {
    let whole = file().encode().unwrap();
    let records = &whole[..whole.len() - 8];
    for size in [1, 7, super::HEAD - 1, super::HEAD, super::HEAD + 1, records.len()] {
        let mut envelope = super::Envelope::new(std::io::Cursor::new(Vec::new()));
        records.chunks(size).for_each(|piece| envelope.write_all(piece).expect("memory"));
        assert_eq!(envelope.seal().expect("memory").into_inner(), whole, "pieces of {size} bytes");
    }
}

#[test]
fn problems_of_a_body_are_described() {
    let whole = file().encode().unwrap();
    let body = &whole[super::HEAD..whole.len() - 8];
    assert!(WorldFile::decode(&sealed(body)).is_ok());
    let arrays = [vec![0x81; 5000], vec![0]].concat();
    for (body, expected) in [
        ([body, &[0]].concat(), "its body has 1 bytes past its end"),
        (body[..body.len() - 1].to_vec(), "its body ends in the middle of a value"),
        (vec![], "its body ends in the middle of a value"),
        (vec![0x1c], "its body is not CBOR at byte 0"),
        (vec![0xff], "its body has an invalid value: "),
        (vec![0x80], "its body has an invalid value: "),
        (arrays, "its body "),
        // The lengths in these bodies exceed the number of bytes that follow.
        (vec![0x5b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], "its body "),
        (
            [&[0xa1, 0x67][..], b"objects", &[0x9b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]].concat(),
            "its body ",
        ),
    ] {
        let error = refusal(&sealed(&body)).to_string();
        assert!(error.starts_with(expected), "{body:02x?}: {error}");
        assert!(!error.contains(['{', '(']) && error.ends_with("does not follow the format"), "{error}");
    }
}
