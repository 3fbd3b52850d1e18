//! When a property changes its type, its value may come along, but only if nothing of it is lost. This file decides.

use std::collections::HashSet;
use std::sync::Arc;

use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::value::LazyRaw;
use alcedo_base::handles::{Name, ObjectHandle};

use crate::World;
use crate::names::Names;
use crate::property::PropertyType;
use crate::structs::StructType;
use crate::value::{Binding, LocalText, Value, is_latin_1};

/// Who knows where objects are, for references by path.
pub trait Paths {
    /// The path of an object that is there.
    fn path_of(&self, object: ObjectHandle) -> Option<String>;
    /// The object at a path.
    fn object_at(&self, path: &str) -> Option<ObjectHandle>;
}

impl Paths for World {
    fn path_of(&self, object: ObjectHandle) -> Option<String> {
        self.path_of(object)
    }

    fn object_at(&self, path: &str) -> Option<ObjectHandle> {
        self.object_at(path)
    }
}

/// `value` as a `wanted`, if nothing is lost: numbers that are the same number there, texts and names into each other
/// where the letters are there and no translation gets lost, `false` and `true` into 0 and 1 and back, structs when every
/// field has a place that takes it (new fields have their defaults), containers value by value when no two become one, a
/// value into an optional one and back when it is there. A reference goes into any reference, be it by handle or by path, as
/// far as `paths` knows both: whether the object's class suits is for the caller to see.
pub fn convert(value: &Value, wanted: &PropertyType, names: &Names, paths: &dyn Paths) -> Option<Value> {
    Conversion { names, paths }.convert(value, wanted)
}

struct Conversion<'a> {
    names: &'a Names,
    paths: &'a dyn Paths,
}

impl Conversion<'_> {
    fn convert(&self, value: &Value, wanted: &PropertyType) -> Option<Value> {
        use PropertyType as T;
        use Value as V;
        match (value, wanted) {
            (V::Struct(fields), T::Struct(of)) => self.structure(fields, of),
            (V::Array(values) | V::Set(values), T::Array(of)) => self.all(values, of.ty()).map(V::Array),
            (V::Array(values) | V::Set(values), T::Set(of)) => {
                self.all(values, of.ty()).filter(|keys| differ(keys.iter())).map(V::Set)
            }
            (V::Map(entries), T::Map(of)) => {
                let convert = |(key, value): &(Value, Value)| {
                    Some((self.convert(key, of.key())?, self.convert(value, of.value())?))
                };
                let converted: Option<Vec<_>> = entries.iter().map(convert).collect();
                converted.filter(|entries| differ(entries.iter().map(|(key, _)| key))).map(V::Map)
            }
            (V::Optional(None), T::Optional(_)) => Some(V::Optional(None)),
            (V::Optional(Some(value)), T::Optional(of)) => self.some(value, of.ty()),
            (value, T::Optional(of)) => self.some(value, of.ty()),
            (V::Optional(value), wanted) => self.convert(value.as_ref()?, wanted),
            (same, wanted) if same.kind() == wanted.kind() => Some(same.clone()),
            (V::Multicast(list), T::SparseDelegate(_)) => Some(V::Sparse(list.clone())),
            (V::Sparse(list), T::MulticastDelegate(_)) => Some(V::Multicast(list.clone())),
            (V::Delegate(one), T::MulticastDelegate(_)) => Some(V::Multicast(several(*one))),
            (V::Delegate(one), T::SparseDelegate(_)) => Some(V::Sparse(several(*one))),
            (V::Multicast(list) | V::Sparse(list), T::Delegate(_)) => match list.as_slice() {
                [] => Some(V::Delegate(Binding::default())),
                [one] => Some(V::Delegate(*one)),
                _ => None,
            },
            (V::SubclassOf(path), T::SoftClass(_)) => Some(V::SoftClass(*path)),
            (V::SoftClass(path), T::SubclassOf(_)) => Some(V::SubclassOf(*path)),
            (V::Bool(value), wanted) => integer_of(wanted.kind(), i128::from(*value)),
            (value, T::Bool) => match integer(value)? {
                0 => Some(V::Bool(false)),
                1 => Some(V::Bool(true)),
                _ => None,
            },
            (value, wanted) => match (integer(value), float(value)) {
                (Some(integer), _) => integer_to(wanted.kind(), integer),
                (_, Some(float)) => float_to(wanted.kind(), float),
                _ => self.reference(value, wanted).or_else(|| self.text(value, wanted)),
            },
        }
    }

    fn all(&self, values: &[Value], wanted: &PropertyType) -> Option<Vec<Value>> {
        values.iter().map(|value| self.convert(value, wanted)).collect()
    }

    fn some(&self, value: &Value, wanted: &PropertyType) -> Option<Value> {
        self.convert(value, wanted).map(|value| Value::Optional(Some(Box::new(value))))
    }

    fn structure(&self, fields: &[(Arc<str>, Value)], of: &StructType) -> Option<Value> {
        let start = |field: &crate::property::Property| {
            (Arc::from(&*field.text), field.default.clone().unwrap_or_else(|| Value::initial(&field.ty)))
        };
        let mut converted: Vec<_> = of.fields().iter().map(start).collect();
        for (name, value) in fields {
            let at = of.fields().iter().position(|field| *field.text == **name)?;
            converted[at].1 = self.convert(value, &of.fields()[at].ty)?;
        }
        Some(Value::Struct(converted))
    }

    /// A reference as one that is kept in another way.
    fn reference(&self, value: &Value, wanted: &PropertyType) -> Option<Value> {
        let object = match value {
            Value::Object(object) | Value::WeakObject(object) | Value::ScriptInterface(object) => *object,
            Value::SoftObject(Name(0)) => ObjectHandle::NONE,
            Value::SoftObject(path) => self.paths.object_at(&self.names.text(*path))?,
            Value::LazyObject(LazyRaw::NONE) => ObjectHandle::NONE,
            _ => return None,
        };
        Some(match wanted {
            PropertyType::Object { .. } => Value::Object(object),
            PropertyType::WeakObject(_) => Value::WeakObject(object),
            PropertyType::ScriptInterface(_) => Value::ScriptInterface(object),
            PropertyType::SoftObject(_) if object.is_none() => Value::SoftObject(Name(0)),
            PropertyType::SoftObject(_) => Value::SoftObject(self.names.intern(&self.paths.path_of(object)?)),
            PropertyType::LazyObject(_) if object.is_none() => Value::LazyObject(LazyRaw::NONE),
            _ => return None,
        })
    }

    fn text(&self, value: &Value, wanted: &PropertyType) -> Option<Value> {
        let text = match value {
            Value::Text(text) | Value::Utf8(text) | Value::Ansi(text) => text.clone(),
            Value::LocalText(LocalText { shown, namespace: Name(0), key: Name(0) }) => shown.clone(),
            Value::Name(name) => {
                let text = self.names.text(*name);
                // A number nobody gave out reads as the empty text; that would be a loss.
                (self.names.find(&text) == Some(*name)).then(|| text.to_string())?
            }
            _ => return None,
        };
        Some(match wanted {
            PropertyType::Text => Value::Text(text),
            PropertyType::Utf8Text => Value::Utf8(text),
            PropertyType::AnsiText if is_latin_1(&text) => Value::Ansi(text),
            PropertyType::LocalText => Value::LocalText(LocalText { shown: text, ..LocalText::default() }),
            PropertyType::Name => Value::Name(self.names.intern(&text)),
            _ => return None,
        })
    }
}

fn differ<'v>(mut keys: impl Iterator<Item = &'v Value>) -> bool {
    let mut seen = HashSet::new();
    keys.all(|key| seen.insert(key))
}

fn several(one: Binding) -> Vec<Binding> {
    if one == Binding::default() { Vec::new() } else { vec![one] }
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
    use alcedo_base::handles::{Name, ObjectHandle};

    use super::{Paths, PropertyType, Value, convert};
    use crate::decl::PropertyDecl;
    use crate::names::Names;
    use crate::testing::{structure, type_of};

    fn check(value: Value, wanted: &PropertyType, expected: Option<Value>) {
        assert_eq!(convert(&value, wanted, &Names::new(), &Door), expected, "{value:?} to {wanted}");
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
        assert_eq!(convert(&Value::Text("cube".into()), &PropertyType::Name, &names, &Door), Some(Value::Name(cube)));
        assert_eq!(convert(&Value::Name(cube), &PropertyType::Text, &names, &Door), Some(Value::Text("cube".into())));
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

    /// Knows the object `#1.1` at `/World/door`.
    struct Door;

    impl Paths for Door {
        fn path_of(&self, object: ObjectHandle) -> Option<String> {
            (object == ObjectHandle::new(1, 1)).then(|| "/World/door".to_owned())
        }

        fn object_at(&self, path: &str) -> Option<ObjectHandle> {
            (path == "/World/door").then_some(ObjectHandle::new(1, 1))
        }
    }

    fn table(rows: &[(&str, &str, &str, &str)]) {
        let names = Names::new();
        for (from, text, to, expected) in rows {
            let (from, to) = (type_of(from), type_of(to));
            let value = Value::parse(text, &from, &names).unwrap_or_else(|error| panic!("{error}"));
            let found = convert(&value, &to, &names, &Door);
            let printed = found.as_ref().map_or("-".to_owned(), |value| value.print(&names));
            assert_eq!(printed, *expected, "{from} {text} to {to}");
            assert!(found.is_none_or(|value| crate::transfer::fits(&to, &value).is_ok()), "{to} takes it");
        }
    }

    #[test]
    fn texts_are_each_other_where_no_letter_and_no_translation_gets_lost() {
        let translated = r#"("Open", "menu", "open")"#;
        table(&[
            ("String", "größer", "Utf8String", r#""größer""#),
            ("Utf8String", "größer", "AnsiString", r#""größer""#),
            ("String", "日本", "AnsiString", "-"),
            ("AnsiString", "ÿ", "Text", r#""ÿ""#),
            ("Text", "ÿ", "Name", "ÿ"),
            ("Text", translated, "String", "-"),
            ("Text", translated, "Text", translated),
            ("Name", "a", "AnsiString", r#""a""#),
        ]);
    }

    #[test]
    fn references_go_by_handle_and_by_path() {
        const OBJECT: &str = "Object(/Script/Engine.Object)";
        const WEAK: &str = "WeakObject(/Script/Engine.Object)";
        const SOFT: &str = "SoftObject(/Script/Engine.Object)";
        const LAZY: &str = "LazyObject(/Script/Engine.Object)";
        const INTERFACE: &str = "ScriptInterface(/Script/Engine.Sings)";
        const SUBCLASS: &str = "SubclassOf(/Script/Engine.Object)";
        const SOFT_CLASS: &str = "SoftClass(/Script/Engine.Object)";
        table(&[
            (OBJECT, "#1.1", WEAK, "#1.1"),
            (WEAK, "#1.1", INTERFACE, "#1.1"),
            (INTERFACE, "#2.1", OBJECT, "#2.1"),
            (OBJECT, "#1.1", SOFT, "/World/door"),
            (OBJECT, "#2.1", SOFT, "-"),
            (SOFT, "/World/door", WEAK, "#1.1"),
            (SOFT, "/World/wall", WEAK, "-"),
            (SOFT, "none", OBJECT, "none"),
            (OBJECT, "none", LAZY, "none"),
            (OBJECT, "#1.1", LAZY, "-"),
            (OBJECT, "#1.1", "u64", "-"),
            (SUBCLASS, "/Script/Engine.Object", SOFT_CLASS, "/Script/Engine.Object"),
            (SOFT_CLASS, "/Script/A.Gone", SUBCLASS, "/Script/A.Gone"),
            (SOFT_CLASS, "/Script/A.Gone", SOFT, "-"),
        ]);
    }

    #[test]
    fn containers_come_along_value_by_value() {
        table(&[
            ("Array(u8)", "(1, 2)", "Array(f64)", "(1, 2)"),
            ("Array(i32)", "(1, 300)", "Array(u8)", "-"),
            ("Array(u8)", "(1, 2)", "Set(i64)", "(1, 2)"),
            ("Array(u8)", "(1, 1)", "Set(i64)", "-"),
            ("Set(String)", "(a, b)", "Array(Name)", "(a, b)"),
            ("Set(i32)", "(0, 1)", "Set(bool)", "(false, true)"),
            ("Map(String, u8)", "((a, 1))", "Map(Name, Array(u8))", "-"),
            ("Map(String, Array(u8))", "((a, (1)))", "Map(Name, Set(i8))", "((a, (1)))"),
            ("u8", "1", "Optional(i32)", "some(1)"),
            ("Optional(i32)", "some(1)", "u8", "1"),
            ("Optional(i32)", "none", "u8", "-"),
            ("Optional(i32)", "none", "Optional(u8)", "none"),
            ("Optional(u8)", "some(1)", "Optional(Optional(u8))", "some(some(1))"),
            ("Array(/Script/Test.Point)", "((x=1))", "Array(/Script/Test.Point)", "((x=1, y=4))"),
            ("u8", "1", "Array(u8)", "-"),
        ]);
    }

    #[test]
    fn delegates_are_one_or_several() {
        table(&[
            ("Delegate()", "#1.1:f", "MulticastDelegate()", "(#1.1:f)"),
            ("Delegate()", "none", "SparseDelegate()", "()"),
            ("MulticastDelegate()", "(#1.1:f, #1.1:g)", "SparseDelegate()", "(#1.1:f, #1.1:g)"),
            ("SparseDelegate()", "(#1.1:f)", "Delegate()", "#1.1:f"),
            ("MulticastDelegate()", "(#1.1:f, #1.1:g)", "Delegate()", "-"),
            ("Delegate(u8)", "#1.1:f", "Delegate(u16)", "#1.1:f"),
        ]);
    }
}
