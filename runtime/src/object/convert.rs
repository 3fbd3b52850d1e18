//! When a property changes its type, its value may come along, but only if nothing of it is lost. This file decides.

use alcedo_abi::kinds::PropertyKind;

use crate::handles::Name;
use crate::object::names::Names;
use crate::object::property::PropertyType;
use crate::object::structs::StructType;
use crate::object::value::Value;

/// `value` as a `wanted`, if nothing is lost: numbers that are the same number there, text and name into each other,
/// `false` and `true` into 0 and 1 and back, structs when every field has a place that takes it (new fields have their
/// defaults). A reference goes into any reference: whether the object's class suits is for the caller to see.
pub(crate) fn convert(value: &Value, wanted: &PropertyType, names: &Names) -> Option<Value> {
    match (value, wanted) {
        (Value::Struct(fields), PropertyType::Struct(of)) => convert_struct(fields, of, names),
        (same, wanted) if same.kind() == wanted.kind() => Some(same.clone()),
        (Value::Text(text), PropertyType::Name) => Some(Value::Name(names.intern(text))),
        (Value::Name(name), PropertyType::Text) => name_text(*name, names),
        (Value::Bool(value), wanted) => integer_of(wanted.kind(), i128::from(*value)),
        (value, PropertyType::Bool) => match integer(value)? {
            0 => Some(Value::Bool(false)),
            1 => Some(Value::Bool(true)),
            _ => None,
        },
        (value, wanted) => match (integer(value), float(value)) {
            (Some(integer), _) => integer_to(wanted.kind(), integer),
            (_, Some(float)) => float_to(wanted.kind(), float),
            _ => None,
        },
    }
}

fn convert_struct(fields: &[(std::rc::Rc<str>, Value)], of: &StructType, names: &Names) -> Option<Value> {
    let mut converted: Vec<_> = of
        .fields()
        .iter()
        .map(|field| (field.text.clone(), field.default.clone().unwrap_or_else(|| Value::initial(&field.ty))))
        .collect();
    for (name, value) in fields {
        let at = of.fields().iter().position(|field| field.text == *name)?;
        converted[at].1 = convert(value, &of.fields()[at].ty, names)?;
    }
    Some(Value::Struct(converted))
}

fn name_text(name: Name, names: &Names) -> Option<Value> {
    let text = names.text(name);
    // A number nobody gave out reads as the empty text; that would be a loss.
    (names.find(&text) == Some(name)).then(|| Value::Text(text.to_string()))
}

fn integer(value: &Value) -> Option<i128> {
    Some(match *value {
        Value::U8(value) => value.into(),
        Value::U16(value) => value.into(),
        Value::U32(value) => value.into(),
        Value::U64(value) => value.into(),
        Value::I8(value) => value.into(),
        Value::I16(value) => value.into(),
        Value::I32(value) => value.into(),
        Value::I64(value) => value.into(),
        _ => return None,
    })
}

fn float(value: &Value) -> Option<f64> {
    match *value {
        Value::F32(value) => Some(value.into()),
        Value::F64(value) => Some(value),
        _ => None,
    }
}

fn integer_of(kind: PropertyKind, value: i128) -> Option<Value> {
    Some(match kind {
        PropertyKind::U8 => Value::U8(value.try_into().ok()?),
        PropertyKind::U16 => Value::U16(value.try_into().ok()?),
        PropertyKind::U32 => Value::U32(value.try_into().ok()?),
        PropertyKind::U64 => Value::U64(value.try_into().ok()?),
        PropertyKind::I8 => Value::I8(value.try_into().ok()?),
        PropertyKind::I16 => Value::I16(value.try_into().ok()?),
        PropertyKind::I32 => Value::I32(value.try_into().ok()?),
        PropertyKind::I64 => Value::I64(value.try_into().ok()?),
        _ => return None,
    })
}

fn integer_to(kind: PropertyKind, value: i128) -> Option<Value> {
    match kind {
        // Back through i128, because `as i64` would saturate and so call 2^63 - 1 exact.
        PropertyKind::F32 => (value as f32 as i128 == value).then_some(Value::F32(value as f32)),
        PropertyKind::F64 => (value as f64 as i128 == value).then_some(Value::F64(value as f64)),
        _ => integer_of(kind, value),
    }
}

fn float_to(kind: PropertyKind, value: f64) -> Option<Value> {
    match kind {
        PropertyKind::F64 => Some(Value::F64(value)),
        PropertyKind::F32 => {
            let narrow = value as f32;
            (f64::from(narrow).to_bits() == value.to_bits()).then_some(Value::F32(narrow))
        }
        // Compared by bits, so that minus zero and NaN are a loss.
        _ => (value as i128 as f64).to_bits().eq(&value.to_bits()).then(|| integer_of(kind, value as i128))?,
    }
}

#[cfg(test)]
mod tests {
    use alcedo_abi::kinds::PropertyKind;

    use super::{PropertyType, Value, convert};
    use crate::handles::{Name, ObjectHandle};
    use crate::object::decl::PropertyDecl;
    use crate::object::names::Names;
    use crate::object::testing::structure;

    fn check(value: Value, wanted: &PropertyType, expected: Option<Value>) {
        assert_eq!(convert(&value, wanted, &Names::new()), expected, "{value:?} to {wanted}");
    }

    #[test]
    fn a_number_comes_along_when_it_is_the_same_number_there() {
        use PropertyType as T;
        use Value as V;
        for (value, wanted, expected) in [
            (V::U8(7), T::I64, Some(V::I64(7))),
            (V::I64(255), T::U8, Some(V::U8(255))),
            (V::I64(256), T::U8, None),
            (V::I32(-1), T::U32, None),
            (V::U64(u64::MAX), T::I64, None),
            (V::I32(3), T::F64, Some(V::F64(3.0))),
            (V::I64((1 << 53) + 1), T::F64, None),
            (V::I64(i64::MAX), T::F64, None),
            (V::I64(i64::MIN), T::F64, Some(V::F64(-9_223_372_036_854_775_808.0))),
            (V::U64(u64::MAX), T::F32, None),
            (V::I32((1 << 24) + 1), T::F32, None),
            (V::F64(3.0), T::U8, Some(V::U8(3))),
            (V::F64(3.5), T::I32, None),
            (V::F64(-0.0), T::I32, None),
            (V::F64(f64::NAN), T::I32, None),
            (V::F64(f64::INFINITY), T::I64, None),
            (V::F64(9_223_372_036_854_775_808.0), T::I64, None),
            (V::F64(9_223_372_036_854_775_808.0), T::U64, Some(V::U64(1 << 63))),
            (V::F64(0.5), T::F32, Some(V::F32(0.5))),
            (V::F64(0.1), T::F32, None),
            (V::F64(f64::INFINITY), T::F32, Some(V::F32(f32::INFINITY))),
            (V::F64(1e300), T::F32, None),
            (V::F32(0.1), T::F64, Some(V::F64(f64::from(0.1f32)))),
            (V::F64(0.1), T::F64, Some(V::F64(0.1))),
        ] {
            check(value, &wanted, expected);
        }
    }

    #[test]
    fn false_and_true_are_zero_and_one() {
        check(Value::Bool(true), &PropertyType::I32, Some(Value::I32(1)));
        check(Value::U8(0), &PropertyType::Bool, Some(Value::Bool(false)));
        check(Value::I64(2), &PropertyType::Bool, None);
        check(Value::F64(1.0), &PropertyType::Bool, None);
        check(Value::Bool(true), &PropertyType::F64, None);
        check(Value::Text("true".to_owned()), &PropertyType::Bool, None);
    }

    #[test]
    fn text_and_name_are_each_other() {
        let names = Names::new();
        let cube = names.intern("cube");
        assert_eq!(convert(&Value::Text("cube".into()), &PropertyType::Name, &names), Some(Value::Name(cube)));
        assert_eq!(convert(&Value::Name(cube), &PropertyType::Text, &names), Some(Value::Text("cube".into())));
        check(Value::Name(Name(99)), &PropertyType::Text, None);
        check(Value::Text("1".into()), &PropertyType::U8, None);
    }

    #[test]
    fn a_reference_stays_a_reference_and_nothing_else() {
        let handle = ObjectHandle::new(1, 1);
        let ty = PropertyType::Object { class: "/Script/A.B".into() };
        check(Value::Object(handle), &ty, Some(Value::Object(handle)));
        check(Value::Object(handle), &PropertyType::U64, None);
        check(Value::U64(1), &ty, None);
    }

    #[test]
    fn a_struct_comes_along_when_every_field_does() {
        let of = structure(
            "P",
            &[PropertyDecl::new("x", PropertyKind::F64), PropertyDecl::new("y", PropertyKind::U8).with_default("9")],
        );
        let ty = PropertyType::Struct(of);
        let field = |name: &str, value| (name.into(), value);
        let expected = Value::Struct(vec![field("x", Value::F64(2.0)), field("y", Value::U8(9))]);
        check(Value::Struct(vec![field("x", Value::I32(2))]), &ty, Some(expected));
        check(Value::Struct(vec![field("x", Value::I32(2)), field("z", Value::I32(2))]), &ty, None);
        check(Value::Struct(vec![field("y", Value::I32(300))]), &ty, None);
    }
}
