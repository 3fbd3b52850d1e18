//! Kind for tests: a four-byte color with the text form `#aabbccdd`. Demonstrates that a new kind needs only a file and an entry in the
//! list of kinds.

use super::prelude::*;
use super::ptr::{Mut, Ref, Word};
use super::word;

pub(crate) struct Toy;

impl Kind for Toy {
    type Of = ();
    type Raw = u32;
    const KIND: PropertyKind = PropertyKind(200);
    const NAME: &'static str = "Toy";
    const WRITTEN: Written = Written::Word;

    word!();

    fn print(value: &u32, _names: &Names) -> String {
        format!("#{value:08x}")
    }

    fn from_text(text: &str, ty: &PropertyType, _names: &Names) -> Result<u32, ParseError> {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 8);
        let value = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        value.ok_or_else(|| fail(text, ty, "write # and 8 hexadecimal digits"))
    }

    fn offer<'v>(value: &'v u32, _cx: &Conversion<'_>) -> Option<Offer<'v>> {
        Some(Offer::Integer((*value).into()))
    }

    fn accept(offer: Offer<'_>, _of: &(), _cx: &Conversion<'_>) -> Option<u32> {
        if let Offer::Integer(value) = offer { value.try_into().ok() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use alcedo_abi::kinds::PropertyKind;
    use alcedo_base::handles::ObjectHandle;

    use crate::World;
    use crate::body::Body;
    use crate::convert::convert;
    use crate::decl::PropertyDecl;
    use crate::names::Names;
    use crate::owned::OwnedValue;
    use crate::property::PropertyType;
    use crate::testing::{declare, dynamic, structure, type_of, world};
    use crate::value::Value;

    const TOY: PropertyKind = PropertyKind(200);

    fn read_back(ty: PropertyType, text: &str) {
        let names = Names::default();
        let value = Value::parse(text, &ty, &names).unwrap_or_else(|error| panic!("{error}"));
        let (mut one, mut two) = (OwnedValue::zero(ty.clone()), OwnedValue::zero(ty));
        one.write(&value).unwrap();
        two.as_mut().copy_from(one.as_mut().as_ptr());
        assert_eq!(two.read().print(&names), text);
        let (one, two) = (one.as_mut(), two.as_mut());
        assert!(one.as_ptr().equal(two.as_ptr()) && one.as_ptr().hashed() == two.as_ptr().hashed());
    }

    #[test]
    fn a_toy_is_a_property_with_a_default() {
        let property = PropertyDecl::new("color", TOY).with_default("#00ff00ff");
        let class = declare(&world(), [dynamic("Cube", "/Script/Engine.Object", &[property])]).remove(0);
        let (body, property) = (Body::new(&class), &class.properties[0]);
        assert_eq!(property.default, Some(Value::Toy(0x00ff_00ff)));
        body.view().write(property, &Value::Toy(7)).unwrap();
        assert_eq!(body.view().read(property), Ok(Value::Toy(7)));
        assert!(body.view().write(property, &Value::U32(7)).is_err());
    }

    #[test]
    fn a_toy_is_an_element_a_key_a_field_and_text() {
        read_back(type_of("Toy"), "#01020304");
        read_back(type_of("Array(Toy)"), "(#01020304, #ffffffff)");
        read_back(type_of("Set(Toy)"), "(#00000001, #00000002)");
        read_back(type_of("Map(Toy, Optional(Toy))"), "((#00000001, some(#00000002)), (#00000003, none))");
        read_back(PropertyType::Struct(structure("Paint", &[PropertyDecl::new("color", TOY)])), "(color=#0000000a)");
        let error = Value::parse("red", &type_of("Toy"), &Names::default()).unwrap_err();
        assert_eq!(error.to_string(), "`red` is not a valid Toy: write # and 8 hexadecimal digits");
    }

    #[test]
    fn a_toy_is_converted() {
        let check = |value: Value, ty: &str, expected: Option<Value>| {
            assert_eq!(convert(&value, &type_of(ty), &Names::default(), &World::new()), expected, "{value:?} to {ty}");
        };
        check(Value::Toy(7), "u8", Some(Value::U8(7)));
        check(Value::Toy(300), "u8", None);
        check(Value::I64(7), "Toy", Some(Value::Toy(7)));
        check(Value::I64(-7), "Toy", None);
        check(Value::Array(vec![Value::Toy(7)]), "Set(i32)", Some(Value::Set(vec![Value::I32(7)])));
        check(Value::Toy(7), "Object(/Script/Engine.Object)", None);
        check(Value::Object(ObjectHandle::NONE), "Toy", None);
    }
}
