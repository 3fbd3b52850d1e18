//! Tests of operations on values of every kind in memory.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher;

use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::value::MapRaw;
use alcedo_base::handles::ObjectHandle;

use super::array::Array;
use super::map::Map;
use super::optional::Optional;
use super::ptr::{Ptr, Ref};
use super::set::Set;
use crate::block::live;
use crate::decl::PropertyDecl;
use crate::fixed::ARRAY_DIM;
use crate::names::Names;
use crate::owned::OwnedValue;
use crate::property::PropertyType;
use crate::testing::{structure, type_of};
use crate::typed::OfKind;
use crate::value::Value;

/// Returns a struct type with the fields `(flag: bool, label: String, who: Object, from: Point)`. The fields test padding, owned memory, a
/// reference and a nested struct.
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

fn hashed(own: &OwnedValue) -> u64 {
    let mut hasher = DefaultHasher::new();
    own.as_ptr().hash_into(&mut hasher);
    hasher.finish()
}

fn written(ty: &PropertyType, text: &str, names: &Names) -> OwnedValue {
    let mut own = OwnedValue::zero(ty.clone());
    own.write(&Value::parse(text, ty, names).unwrap()).unwrap();
    own
}

fn check(ty: &PropertyType, text: &str) {
    let names = Names::default();
    let value = Value::parse(text, ty, &names).unwrap();
    let (mut one, mut two) = (OwnedValue::zero(ty.clone()), OwnedValue::zero(ty.clone()));
    assert_eq!(one.read(), Value::zero(ty));
    one.write(&value).unwrap();
    assert_eq!(one.read(), value, "{text}");
    assert!(!one.as_ptr().equal(two.as_ptr()), "{text} is not zero");
    two.as_mut().copy_from(one.as_ptr());
    assert!(one.as_ptr().equal(two.as_ptr()), "{text}");
    assert_eq!(hashed(&one), hashed(&two));
    one.as_mut().destroy();
    assert_eq!(one.read(), Value::zero(ty));
    assert_eq!(two.read(), value, "{text} was copied deeply");
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
    for (ty, text) in [
        ("Utf8String", "größer"),
        ("AnsiString", "größer"),
        ("Text", "(\"Open\", \"menu\", \"open\")"),
        ("SubclassOf(/Script/Engine.Object)", "/Script/Engine.Object"),
        ("SoftObject(/Script/Engine.Object)", "Level.Door_1"),
        ("LazyObject(/Script/Engine.Object)", "00000000000000010000000000000002"),
        ("WeakObject(/Script/Engine.Object)", "#3.4"),
        ("ScriptInterface(/Script/Engine.Sings)", "#3.4"),
        ("Array(u8)", "(1, 2, 3)"),
        ("Array(Array(String))", "((a, b), (), (c))"),
        ("Set(String)", "(a, b)"),
        ("Set(/Script/Test.Point)", "((x=1), (x=2, y=3))"),
        ("Map(u16, String)", "((1, a), (2, b), (3, c), (4, d), (5, e), (6, f), (7, g), (8, h), (9, i), (10, j))"),
        ("Map(Name, Map(Name, f32))", "((a, ((b, 1))), (c, ()))"),
        ("Optional(u8)", "some(0)"),
        ("Optional(Array(String))", "some((a))"),
        ("Delegate()", "#1.2:open"),
        ("MulticastDelegate()", "(#1.2:open, #3.4:shut)"),
        ("SparseDelegate()", "(#1.2:open)"),
        ("FieldPath", "/Script/Engine.Object:x"),
    ] {
        check(&type_of(ty), text);
    }
}

#[test]
fn values_free_all_their_memory() {
    let before = live();
    check(&type_of("Map(String, Array(Map(String, Optional(String))))"), "((a, (((b, some(c)), (d, none)))), (e, ()))");
    check(&type_of("Array(SparseDelegate())"), "((#1.2:open), ())");
    assert_eq!(live(), before);
}

#[test]
fn the_order_of_sets_and_maps_is_irrelevant() {
    for (ty, one, two) in [
        ("Set(String)", "(a, b, c)", "(c, a, b)"),
        ("Map(u8, Set(u8))", "((1, (1, 2)), (2, ()))", "((2, ()), (1, (2, 1)))"),
        ("Array(Set(u8))", "((1, 2))", "((2, 1))"),
    ] {
        let (ty, names) = (type_of(ty), Names::default());
        let (first, second) = (written(&ty, one, &names), written(&ty, two, &names));
        assert!(first.as_ptr().equal(second.as_ptr()), "{one} = {two}");
        assert_eq!(hashed(&first), hashed(&second));
    }
}

#[test]
fn keys_that_become_equal_are_merged() {
    let (ty, names) = (type_of("Map(WeakObject(/Script/Engine.Object), String)"), Names::default());
    let mut own = written(&ty, "((#1.1, a), (#2.1, b), (#3.1, c))", &names);
    let one = ObjectHandle::new(1, 1);
    own.as_mut().map_objects(&mut |object| if object.index() == 2 { one } else { object });
    assert_eq!(own.read().print(&names), "((#1.1, \"a\"), (#3.1, \"c\"))");
}

#[test]
fn strong_references_are_found_at_any_depth() {
    let check = |ty: &str, text: &str, strong: &[u32]| {
        let (ty, names) = (type_of(ty), Names::default());
        let own = written(&ty, text, &names);
        let mut found = Vec::new();
        own.each_object(&mut |object| found.push(object.index()));
        assert_eq!(found, strong, "{ty}");
        let mut in_value = Vec::new();
        own.read().visit_objects(&mut |object, is_strong| in_value.extend(is_strong.then_some(object.index())));
        assert_eq!(in_value, strong, "{ty} as a value");
        assert_eq!(ty.holds_objects(), !strong.is_empty());
    };
    check("Array(Object(/Script/Engine.Object))", "(#1.1, #2.1)", &[1, 2]);
    check("Array(WeakObject(/Script/Engine.Object))", "(#1.1, #2.1)", &[]);
    check("Map(WeakObject(/Script/Engine.Object), ScriptInterface(/Script/Engine.Sings))", "((#1.1, #2.1))", &[2]);
    check("Set(Object(/Script/Engine.Object))", "(#4.1)", &[4]);
    check("Optional(Object(/Script/Engine.Object))", "some(#4.1)", &[4]);
    check("Delegate()", "#5.1:f", &[5]);
    check("Array(MulticastDelegate())", "((#5.1:f, #6.1:g), ())", &[5, 6]);
    check("SparseDelegate()", "(#7.1:g)", &[7]);
    check("LazyObject(/Script/Engine.Object)", "00000000000000010000000000000002", &[]);
}

/// Returns the epoch of a container. The container may be inside optionals.
fn epoch(at: Ptr<'_>) -> u64 {
    if let Some(optional) = at.to::<Optional>() {
        return epoch(optional.inner().expect("there is a value"));
    }
    let array = at.to::<Array>().map(Ref::raw);
    let entries = |raw: MapRaw| raw.entries;
    let row = array.or_else(|| at.to::<Set>().map(Ref::raw).or_else(|| at.to::<Map>().map(Ref::raw)).map(entries));
    row.expect("it is a container").epoch
}

/// Operation that empties an optional value, with the name of the operation.
type Emptying = (&'static str, fn(&mut OwnedValue));

/// Checks that every operation that empties an optional value changes the epoch. An address of the old value is then detected as stale,
/// even after a new value was set.
fn check_emptied<T: OfKind>(type_name: &str, text: &str) {
    let operations: [Emptying; 4] = [
        ("a value of the host's", |own| own.write(&Value::Optional(None)).unwrap()),
        ("an option of Rust's", |own| {
            assert!(Option::<T>::matches(own.ty()));
            None::<T>.store(own.as_mut().to().unwrap());
        }),
        ("a copy", |own| {
            let none = OwnedValue::zero(own.ty().clone());
            own.as_mut().copy_from(none.as_ptr());
        }),
        ("the end of what it owns", |own| own.as_mut().destroy()),
    ];
    let (ty, names, before) = (type_of(type_name), Names::default(), live());
    let value = Value::parse(text, &ty, &names).unwrap();
    for (operation, empty) in operations {
        let mut own = OwnedValue::zero(ty.clone());
        own.write(&value).unwrap();
        let taken = epoch(own.as_ptr());
        empty(&mut own);
        assert_eq!(own.read(), Value::Optional(None), "{type_name} by {operation}");
        own.write(&value).unwrap();
        let now = epoch(own.as_ptr());
        assert!(now > taken, "{type_name} by {operation}: {now} after {taken}");
    }
    assert_eq!(live(), before, "{type_name} leaves nothing behind");
}

#[test]
fn addresses_inside_an_emptied_optional_are_stale() {
    check_emptied::<Vec<u8>>("Optional(Array(u8))", "some((1, 2))");
    check_emptied::<Vec<String>>("Optional(Array(String))", "some((a, b))");
    check_emptied::<BTreeSet<u8>>("Optional(Set(u8))", "some((1, 2))");
    check_emptied::<BTreeMap<u8, String>>("Optional(Map(u8, String))", "some(((1, a), (2, b)))");
    check_emptied::<Option<Vec<u8>>>("Optional(Optional(Array(u8)))", "some(some((1, 2)))");
}

#[test]
fn values_that_do_not_fit_are_refused_without_a_write() {
    let ty = mixed();
    let mut own = OwnedValue::zero(ty.clone());
    let fields = vec![("flag".into(), Value::Bool(true)), ("label".into(), Value::U8(1))];
    let error = own.write(&Value::Struct(fields)).unwrap_err();
    assert_eq!(error.to_string(), "a u8 cannot be written to a String: convert it first");
    let fields = vec![("flag".into(), Value::Bool(true)), ("size".into(), Value::U8(1))];
    let error = own.write(&Value::Struct(fields)).unwrap_err();
    assert_eq!(error.found, "struct with `size`");
    assert_eq!(own.read(), Value::zero(&ty));
}

#[test]
fn references_are_found_and_replaced_in_structs_too() {
    let mut own = OwnedValue::zero(mixed());
    let (old, new) = (ObjectHandle::new(1, 2), ObjectHandle::new(3, 4));
    own.write(&Value::Struct(vec![("who".into(), Value::Object(old))])).unwrap();
    own.as_mut().map_objects(&mut |object| if object == old { new } else { object });
    let mut found = Vec::new();
    own.each_object(&mut |object| found.push(object));
    assert_eq!(found, [new]);
}

#[test]
fn a_fixed_array_in_a_struct_always_has_its_length() {
    let cells = PropertyDecl::new("cells", PropertyKind::ARRAY).of_type("i32").with_default("(7, 8, 9)");
    let cells = PropertyDecl { meta: vec![(ARRAY_DIM.to_owned(), "3".to_owned())], ..cells };
    let ty = PropertyType::Struct(structure("Row", &[PropertyDecl::new("x", PropertyKind::I32), cells]));
    let names = Names::default();
    for (text, expected) in [("(cells=(1))", [1, 8, 9]), ("(cells=(1, 2, 3, 4))", [1, 2, 3]), ("(x=1)", [7, 8, 9])] {
        let Value::Struct(fields) = written(&ty, text, &names).read() else { panic!("{text} is a struct") };
        assert_eq!(fields[1].1, Value::Array(expected.map(Value::I32).to_vec()), "{text}");
    }
}
