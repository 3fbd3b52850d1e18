//! Tests enum values as fields, elements, keys and text. Also tests changes to the entries' numbers.

use alcedo_abi::kinds::PropertyKind;

use crate::World;
use crate::convert::convert;
use crate::decl::{Batch, EnumDecl};
use crate::enums::{EnumEntry, EnumValue};
use crate::names::Names;
use crate::origin::Origin;
use crate::owned::OwnedValue;
use crate::property::PropertyType;
use crate::types::Types;
use crate::value::Value;

fn entry(name: &str, number: i128) -> EnumEntry {
    EnumEntry { name: name.into(), number, display: "".into(), is_hidden: false, doc: "".into() }
}

fn decl(underlying: PropertyKind, is_flags: bool, entries: &[(&str, i128)]) -> EnumDecl {
    EnumDecl {
        package: "Test".to_owned(),
        name: "Mood".to_owned(),
        origin: Origin::Native,
        underlying,
        is_flags,
        entries: entries.iter().map(|(name, number)| entry(name, *number)).collect(),
        fingerprint: 0,
        doc: String::new(),
    }
}

fn types(decl: EnumDecl) -> Result<Types, String> {
    let types = Types::default();
    types.declare_package("Test");
    let batch = Batch { enums: vec![decl], ..Batch::default() };
    types.declare(&Names::default(), &batch).map_err(|error| error.to_string())?;
    Ok(types)
}

fn mood(underlying: PropertyKind, entries: &[(&str, i128)], text: &str) -> PropertyType {
    let types = types(decl(underlying, false, entries)).unwrap();
    PropertyType::parse(&text.replace("Mood", "Enum(/Script/Test.Mood)"), &types).unwrap()
}

fn read_back(ty: &PropertyType, text: &str) {
    let names = Names::default();
    let value = Value::parse(text, ty, &names).unwrap_or_else(|error| panic!("{error}"));
    let (mut one, mut two) = (OwnedValue::zero(ty.clone()), OwnedValue::zero(ty.clone()));
    one.write(&value).unwrap();
    two.as_mut().copy_from(one.as_mut().as_ptr());
    assert_eq!(two.read().print(&names), text);
    let (one, two) = (one.as_mut(), two.as_mut());
    assert!(one.as_ptr().equal(two.as_ptr()) && one.as_ptr().hashed() == two.as_ptr().hashed());
}

const EIGHT: [PropertyKind; 8] = [
    PropertyKind::U8,
    PropertyKind::U16,
    PropertyKind::U32,
    PropertyKind::U64,
    PropertyKind::I8,
    PropertyKind::I16,
    PropertyKind::I32,
    PropertyKind::I64,
];

#[test]
fn enums_of_each_underlying_type_work_as_values_elements_keys_and_text() {
    for kind in EIGHT {
        let lowest = if kind.0 > 4 { -1 } else { 1 };
        let entries = [("Calm", 0), ("Odd", lowest), ("Angry", 100)];
        let ty = mood(kind, &entries, "Mood");
        assert_eq!(ty.to_string(), "Enum(/Script/Test.Mood)");
        assert_eq!(ty.size(), PropertyType::plain(kind).unwrap().size());
        read_back(&ty, "Odd");
        read_back(&mood(kind, &entries, "Array(Mood)"), "(Angry, Calm, Angry)");
        read_back(&mood(kind, &entries, "Set(Mood)"), "(Angry, Odd)");
        read_back(&mood(kind, &entries, "Map(Mood, Optional(Mood))"), "((Odd, some(Angry)), (Angry, none))");
        let mut own = OwnedValue::zero(ty.clone());
        assert_eq!(own.read().print(&Names::default()), "Calm", "zero bytes");
        let refused = own.write(&Value::Enum(EnumValue::named("Sad"))).unwrap_err().to_string();
        assert!(refused.contains("`Sad`, which is none of Calm, Odd, Angry"), "{refused}");
        assert!(own.write(&Value::U8(0)).is_err(), "a number is converted first");
    }
}

#[test]
fn values_keep_their_entry_when_the_numbers_change() {
    let old = mood(PropertyKind::U8, &[("Calm", 0), ("Angry", 1), ("Gone", 2)], "Mood");
    let new = mood(PropertyKind::I32, &[("New", 0), ("Angry", 7), ("Calm", 1)], "Mood");
    assert_ne!(old, new, "another layout");
    assert_ne!(old.layout(), new.layout());
    let (names, world) = (Names::default(), World::new());
    let over = |text: &str| {
        let value = Value::parse(text, &old, &names).unwrap();
        convert(&value, &new, &names, &world).map(|value| value.print(&names))
    };
    assert_eq!([over("Calm"), over("Angry"), over("Gone")], [Some("Calm".into()), Some("Angry".into()), None]);
    let check = |value: &Value, ty: &PropertyType, expected: Option<Value>| {
        assert_eq!(convert(value, ty, &names, &world), expected, "{value:?}");
    };
    let angry = Value::parse("Angry", &new, &names).unwrap();
    check(&angry, &PropertyType::U8, Some(Value::U8(7)));
    check(&angry, &PropertyType::Text, Some(Value::Text("Angry".into())));
    check(&Value::I64(7), &new, Some(angry.clone()));
    check(&Value::Text("Angry".into()), &new, Some(angry));
    check(&Value::I64(8), &new, None);
    check(&Value::F64(7.0), &new, None);
    // The new enum rejects a value that had no entry in the old enum, even if an entry of the new enum has this number.
    let of_no_entry = EnumValue { text: "7".into(), number: 7 };
    check(&Value::Enum(of_no_entry), &new, None);
    // If the numbers of the entries change, the keys of a map still refer to the same entries.
    let (from, to) = (
        mood(PropertyKind::U8, &[("A", 0), ("B", 1)], "Map(Mood, i32)"),
        mood(PropertyKind::U8, &[("B", 0), ("A", 1)], "Map(Mood, i32)"),
    );
    let map = Value::parse("((A, 1), (B, 2))", &from, &names).unwrap();
    let mut own = OwnedValue::zero(to.clone());
    own.write(&convert(&map, &to, &names, &world).unwrap()).unwrap();
    assert_eq!(own.read(), Value::parse("((B, 2), (A, 1))", &to, &names).unwrap());
}

#[test]
fn flags_are_several_entries_and_bits_without_one() {
    let entries = [("Read", 1), ("Write", 2), ("Both", 3), ("Last", 1 << 63)];
    let types = types(decl(PropertyKind::U64, true, &entries)).unwrap();
    let ty = PropertyType::parse("Enum(/Script/Test.Mood)", &types).unwrap();
    for text in ["Read", "Both", "Read | 4", "Write | Last", "0"] {
        read_back(&ty, text);
    }
    let of = types.enum_by_path("/Script/Test.Mood").unwrap();
    assert_eq!((of.number("Read|Write"), of.number(" "), of.number("Read | Nothing")), (Some(3), Some(0), None));
}

#[test]
fn invalid_enums_are_refused_by_name() {
    let check = |kind, is_flags, entries: &[(&str, i128)], expected: &str| {
        let error = types(decl(kind, is_flags, entries)).err().unwrap_or_default();
        assert!(error.contains(expected) && error.contains("Test.Mood"), "{error}");
    };
    check(PropertyKind::F32, false, &[("A", 0)], "not of an integer kind");
    check(PropertyKind::U8, false, &[("A", 0), ("B", 256)], "`B` is 256, which does not fit in u8");
    check(PropertyKind::I8, false, &[("A", 0), ("B", -129)], "`B` is -129, which does not fit in i8");
    check(PropertyKind::U8, false, &[("A", 0), ("B", 0)], "`B` has the number 0 of another entry");
    check(PropertyKind::U8, false, &[("A", 0), ("A", 1)], "A");
    check(PropertyKind::U8, false, &[("A", 1)], "no entry has the number 0");
    check(PropertyKind::U8, false, &[], "no entry has the number 0");
    check(PropertyKind::I8, true, &[("A", -1)], "flags are bits");
    assert!(types(decl(PropertyKind::U8, false, &[("no name", 0)])).is_err());
}
