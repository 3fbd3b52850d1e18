//! Tests of access to properties through views, and of the checks of schemas.

use alcedo_abi::kinds::PropertyKind;
use alcedo_base::boundary::CallError;

use super::Schema;
use crate::body::Body;
use crate::decl::PropertyDecl;
use crate::property::Property;
use crate::property::PropertyType;
use crate::testing::{declare, dynamic, world};
use crate::value::Value;

fn body(properties: &[PropertyDecl]) -> Body {
    let class = declare(&world(), [dynamic("Cube", "/Script/Engine.Object", properties)]).remove(0);
    Body::new(&class)
}

#[test]
fn a_property_of_another_layout_is_refused() {
    let one = body(&[PropertyDecl::new("a", PropertyKind::U64)]);
    let other = body(&[PropertyDecl::new("a", PropertyKind::U8), PropertyDecl::new("b", PropertyKind::STRING)]);
    for property in &other.class().properties {
        assert!(matches!(one.view().read(property), Err(CallError::Signature { .. })), "{}", property.text);
        assert!(one.view().set(property, 1u8).is_err());
    }
    let inside = Property { offset: 4, ty: PropertyType::U32, ..Property::clone(&one.class().properties[0]) };
    assert!(one.view().read(&inside).is_err(), "a place inside of a property is none");
}

#[test]
fn values_are_copied_and_compared_between_layouts() {
    let text = PropertyDecl::new("label", PropertyKind::STRING);
    let one = body(std::slice::from_ref(&text));
    let other = body(&[PropertyDecl::new("pad", PropertyKind::U64), text]);
    let (from, to) = (&one.class().properties[0], &other.class().properties[1]);
    one.view().set(from, "words".to_owned()).unwrap();
    assert_eq!(other.view().equal(to, one.view(), from), Ok(false));
    other.view().copy_from(to, one.view(), from).unwrap();
    drop(one);
    assert_eq!(other.view().read(to), Ok(Value::Text("words".to_owned())));
    assert!(other.view().copy_from(&other.class().properties[0], other.view(), to).is_err());
}

#[test]
fn values_before_between_and_after_owned_memory_are_copied() {
    let kinds = [PropertyKind::U8, PropertyKind::STRING, PropertyKind::U64, PropertyKind::STRING, PropertyKind::U8];
    let declared = ["a", "b", "c", "d", "e"].into_iter().zip(kinds);
    let declared: Vec<_> = declared.map(|(name, kind)| PropertyDecl::new(name, kind)).collect();
    let from = body(&declared);
    let text = |text: &str| Value::Text(text.to_owned());
    let values = [Value::U8(1), text("one"), Value::U64(2), text("two"), Value::U8(3)];
    for (property, value) in from.class().properties.iter().zip(&values) {
        from.view().write(property, value).unwrap();
    }
    let copy = from.storage.duplicate();
    let properties = from.class().properties.clone();
    drop(from);
    let copied: Vec<_> = properties.iter().map(|property| copy.view().read(property).unwrap()).collect();
    assert_eq!(copied, values);
}

#[test]
#[should_panic(expected = "is misplaced")]
fn overlapping_fields_are_rejected() {
    Schema::new(16, 8, [(0, PropertyType::U64), (4, PropertyType::U32)]);
}

#[test]
#[should_panic(expected = "past the end")]
fn fields_beyond_the_size_are_rejected() {
    Schema::new(4, 8, [(0, PropertyType::U64)]);
}
