//! What is done with values of every kind, on blocks that hold them.
#![expect(unsafe_code, reason = "the blocks of these tests are raw memory")]

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher;

use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::value::ArrayRaw;
use alcedo_base::handles::ObjectHandle;

use super::{PropertyType, copy, destroy, equal, hash, map_objects, visit_objects};
use crate::block::{Block, live};
use crate::decl::PropertyDecl;
use crate::names::Names;
use crate::owned::OwnedValue;
use crate::testing::{structure, type_of};
use crate::transfer::{read, write};
use crate::typed::FrameValue;
use crate::value::Value;

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
    // SAFETY: the block holds a value; it means zeros afterwards.
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
fn nothing_is_left_behind() {
    let before = live();
    check(&type_of("Map(String, Array(Map(String, Optional(String))))"), "((a, (((b, some(c)), (d, none)))), (e, ()))");
    check(&type_of("Array(SparseDelegate())"), "((#1.2:open), ())");
    assert_eq!(live(), before);
}

#[test]
fn the_order_of_sets_and_maps_is_not_felt() {
    for (ty, one, two) in [
        ("Set(String)", "(a, b, c)", "(c, a, b)"),
        ("Map(u8, Set(u8))", "((1, (1, 2)), (2, ()))", "((2, ()), (1, (2, 1)))"),
        ("Array(Set(u8))", "((1, 2))", "((2, 1))"),
    ] {
        let (ty, names) = (type_of(ty), Names::new());
        let (first, second) = (block(&ty), block(&ty));
        for (block, text) in [(&first, one), (&second, two)] {
            // SAFETY: a block of zeros is a value of every type.
            unsafe { write(block.start(), &ty, &Value::parse(text, &ty, &names).unwrap()) }.unwrap();
        }
        // SAFETY: both blocks hold values of the type.
        assert!(unsafe { equal(first.start(), second.start(), &ty) }, "{one} = {two}");
        assert_eq!(hashed(&first, &ty), hashed(&second, &ty));
        for block in [first, second] {
            // SAFETY: the block holds a value, and is not used again.
            unsafe { destroy(block.start(), &ty) };
        }
    }
}

#[test]
fn two_keys_that_become_one_are_one_row() {
    let (ty, names) = (type_of("Map(WeakObject(/Script/Engine.Object), String)"), Names::new());
    let block = block(&ty);
    let value = Value::parse("((#1.1, a), (#2.1, b), (#3.1, c))", &ty, &names).unwrap();
    // SAFETY: a block of zeros is a value of every type.
    unsafe { write(block.start(), &ty, &value) }.unwrap();
    let one = ObjectHandle::new(1, 1);
    // SAFETY: the block holds a value of the type.
    unsafe { map_objects(block.start(), &ty, &mut |object| if object.index() == 2 { one } else { object }) };
    // SAFETY: as above.
    assert_eq!(unsafe { read(block.start(), &ty) }.print(&names), "((#1.1, \"a\"), (#3.1, \"c\"))");
    // SAFETY: as above; it is not used again.
    unsafe { destroy(block.start(), &ty) };
}

#[test]
fn what_keeps_objects_alive_is_found_wherever_it_is() {
    let check = |ty: &str, text: &str, strong: &[u32]| {
        let (ty, names) = (type_of(ty), Names::new());
        let block = block(&ty);
        let value = Value::parse(text, &ty, &names).unwrap();
        // SAFETY: a block of zeros is a value of every type.
        unsafe { write(block.start(), &ty, &value) }.unwrap();
        let mut found = Vec::new();
        // SAFETY: the block holds a value of the type.
        unsafe { visit_objects(block.start(), &ty, &mut |object| found.push(object.index())) };
        assert_eq!(found, strong, "{ty}");
        let mut in_value = Vec::new();
        value.visit_objects(&mut |object, is_strong| in_value.extend(is_strong.then_some(object.index())));
        assert_eq!(in_value, strong, "{ty} as a value");
        assert_eq!(ty.holds_objects(), !strong.is_empty());
        // SAFETY: the block holds a value, and is not used again.
        unsafe { destroy(block.start(), &ty) };
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

/// How often a value in the container inside of optionals was moved or ended.
fn epoch(own: &OwnedValue) -> u64 {
    let (mut at, mut ty) = (own.at(), own.ty());
    while let PropertyType::Optional(of) = ty {
        (at, ty) = (at.wrapping_add(of.value_at()), of.ty());
    }
    // SAFETY: the callers have a container there, and each begins with a row.
    unsafe { at.cast::<ArrayRaw>().read() }.epoch
}

/// What it is called, and what empties an optional by it.
type Way = (&'static str, fn(&OwnedValue));

/// However an optional is emptied: who took an address in it before knows by the epoch that it is stale, also when there is
/// a value again.
fn check_emptied<T: FrameValue>(words: &str, text: &str) {
    let ways: [Way; 4] = [
        ("a value of the host's", |own| {
            // SAFETY: the value of this test.
            unsafe { write(own.at(), own.ty(), &Value::Optional(None)) }.unwrap();
        }),
        ("an option of Rust's", |own| {
            assert!(Option::<T>::matches(own.ty()));
            // SAFETY: the value of this test, and the type matches.
            unsafe { None::<T>.store(own.at(), own.ty()) };
        }),
        ("a copy", |own| {
            let none = OwnedValue::zero(own.ty().clone());
            // SAFETY: two values of the type.
            unsafe { copy(own.at(), none.at(), own.ty()) };
        }),
        ("the end of what it owns", |own| {
            // SAFETY: the value of this test.
            unsafe { destroy(own.at(), own.ty()) };
        }),
    ];
    let (ty, names, before) = (type_of(words), Names::new(), live());
    let value = Value::parse(text, &ty, &names).unwrap();
    for (way, empty) in ways {
        let mut own = OwnedValue::zero(ty.clone());
        own.write(&value).unwrap();
        let taken = epoch(&own);
        empty(&own);
        assert_eq!(own.read(), Value::Optional(None), "{words} by {way}");
        own.write(&value).unwrap();
        assert!(epoch(&own) > taken, "{words} by {way}: {} after {taken}", epoch(&own));
    }
    assert_eq!(live(), before, "{words} leaves nothing behind");
}

#[test]
fn an_address_inside_of_an_optional_is_stale_once_that_was_empty() {
    check_emptied::<Vec<u8>>("Optional(Array(u8))", "some((1, 2))");
    check_emptied::<Vec<String>>("Optional(Array(String))", "some((a, b))");
    check_emptied::<BTreeSet<u8>>("Optional(Set(u8))", "some((1, 2))");
    check_emptied::<BTreeMap<u8, String>>("Optional(Map(u8, String))", "some(((1, a), (2, b)))");
    check_emptied::<Option<Vec<u8>>>("Optional(Optional(Array(u8)))", "some(some((1, 2)))");
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
