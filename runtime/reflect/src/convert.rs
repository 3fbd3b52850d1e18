//! Converts the value of a property after the property's type changed. Only lossless conversions succeed.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use alcedo_abi::value::LazyRaw;
use alcedo_base::boundary::CallError;
use alcedo_base::cells::RefCell;
use alcedo_base::handles::ObjectHandle;

use crate::dormant::Aside;
use crate::fixed::{self, Extent};
use crate::names::Names;
use crate::property::{Property, PropertyType};
use crate::structs::StructType;
use crate::value::{Value, any_object, names_object};

/// Resolves references to paths and ids, and paths and ids to objects. Also returns the current and earlier names of members.
pub trait Paths {
    /// Returns the path of an existing object.
    fn path_of(&self, object: ObjectHandle) -> Option<String>;
    /// Returns the object at a path.
    fn object_at(&self, path: &str) -> Option<ObjectHandle>;
    /// Returns the id of an existing object. Generates an id if the object has none.
    ///
    /// # Errors
    /// Fails with [`CallError::Stale`] if the object is destroyed. Also fails if the system provides no random numbers.
    fn id_of(&self, object: ObjectHandle) -> Result<LazyRaw, CallError>;
    /// Returns the existing object with an id.
    fn object_with_id(&self, id: LazyRaw) -> Option<ObjectHandle>;
    /// Returns the current and earlier names of the member `name`. The first name is `name` itself. `owners` are the paths of the member's
    /// type and its bases.
    fn names_of_member(&self, owners: &mut dyn Iterator<Item = &str>, name: &str) -> Vec<String>;
}

/// Converts `value` to `target`, if the conversion is lossless. Numbers convert if `target` can represent them exactly. Strings, names and
/// localized text convert if they have no translation and the target can represent all characters. `false` and `true` convert to 0 and 1,
/// and back. Structs convert if every field has a matching field. New fields receive their defaults. Containers convert element by element.
/// Elements of sets and keys of maps must remain distinct. A plain value converts to an optional value, and a present optional value
/// converts back. References convert to other kinds of references, by handle, path or id, if `paths` can resolve them. The caller checks the
/// class of the object.
pub fn convert(value: &Value, target: &PropertyType, names: &Names, paths: &dyn Paths) -> Option<Value> {
    Conversion { names, paths, extent: None, keeps_now: false, known: &RefCell::new(HashMap::new()) }
        .convert(value, target)
}

/// Converts a value by the rules of [`convert`]. Also accepts a struct if some of its fields have no counterpart in the target. Adjusts
/// fixed arrays to the length of the property. In a longer fixed array, the new elements are copied from `default`.
pub fn convert_in_part(
    value: &Value,
    property: &Property,
    default: Option<&Value>,
    names: &Names,
    paths: &dyn Paths,
) -> Option<(Value, Extent)> {
    let extent = Cell::new(Extent::Whole);
    let conversion =
        Conversion { names, paths, extent: Some(&extent), keeps_now: false, known: &RefCell::new(HashMap::new()) };
    let converted = conversion.convert(value, &property.ty)?;
    let converted = fixed::at_length(property, converted, default, &extent);
    Some((converted, extent.get()))
}

/// Combines `now`, the current value of the property, with `earlier`, a saved value that the property could hold only in part. The result
/// contains the fields and elements of `earlier` that the property could not hold. Elements that were added to fill a fixed array are
/// removed. The result also keeps all changes that were made to `now` since `earlier` was saved. A property that can hold no part of
/// `earlier` has the value `default`. Returns `None` if no part of `now` can come from `earlier`.
///
/// The property may have held some fields or elements in a converted form. For these fields and elements, `earlier.value` contains the
/// original form, and `earlier.instead` contains the converted form.
pub fn rejoin(
    now: &Value,
    earlier: &Aside,
    property: &Property,
    default: Option<&Value>,
    names: &Names,
    paths: &dyn Paths,
) -> Option<Aside> {
    let parts = Earlier { value: &earlier.value, instead: earlier.instead.as_ref() };
    let known = RefCell::new(HashMap::new());
    let joined = |keeps_now| {
        let conversion = Conversion { names, paths, extent: None, keeps_now, known: &known };
        conversion.rejoin_property(now, parts, property, default)
    };
    let value = joined(false)?;
    let instead = joined(true).filter(|instead| *instead != value);
    let ty = if value == *now { 0 } else { earlier.ty };
    Some(Aside { value, instead, ty, before: earlier.before.clone(), redo: earlier.redo.clone() })
}

/// Checks if the reverse conversion may return a value that differs from `from`. This applies to enums, because the numbers and names of
/// their entries may change before the reverse conversion.
fn is_one_way(from: &Value, to: &Value) -> bool {
    match (from, to) {
        (Value::Enum(from), Value::Enum(to)) => from.text != to.text,
        // A value inside an optional value is checked separately, when the inner value is converted.
        (_, Value::Optional(_)) => false,
        _ => matches!(from, Value::Enum(_)) || matches!(to, Value::Enum(_)),
    }
}

/// Checks if `aside` is a reference that was saved without its object, and `now` refers to an object.
fn lacks_object(aside: &Value, now: &Value) -> bool {
    any_object(aside, |_| true) && !names_object(aside) && names_object(now)
}

/// Earlier value of a property, or of one of its fields or elements. `instead` is the value that replaced the earlier value.
#[derive(Clone, Copy)]
struct Earlier<'v> {
    value: &'v Value,
    instead: Option<&'v Value>,
}

impl<'v> Earlier<'v> {
    /// Returns a field or element of the earlier value. `counterpart` returns the counterpart of this field or element in `instead`.
    fn part(self, value: &'v Value, counterpart: impl FnOnce(&'v Value) -> Option<&'v Value>) -> Self {
        Self { value, instead: self.instead.and_then(counterpart) }
    }

    /// Returns element `at` of an array or a set.
    fn element(self, at: usize, value: &'v Value) -> Self {
        self.part(value, |instead| match instead {
            Value::Array(values) | Value::Set(values) => values.get(at),
            _ => None,
        })
    }

    /// Returns the key and the value of entry `at` of a map.
    fn entry(self, at: usize, (key, value): &'v (Value, Value)) -> (Self, Self) {
        let entry = match self.instead {
            Some(Value::Map(entries)) => entries.get(at),
            _ => None,
        };
        (self.part(key, |_| entry.map(|entry| &entry.0)), self.part(value, |_| entry.map(|entry| &entry.1)))
    }

    /// Returns a field of a struct. `name` is the name of its counterpart in `instead`.
    fn field(self, name: &str, value: &'v Value) -> Self {
        self.part(value, |instead| match instead {
            Value::Struct(fields) => fields.iter().find(|(known, _)| **known == *name).map(|(_, value)| value),
            _ => None,
        })
    }
}

/// Maps a struct and a field name to the current and earlier names of the field.
type MemberNames = RefCell<HashMap<(*const StructType, String), Rc<[String]>>>;

/// Context of a conversion: table of names, paths of objects, and cached names of fields.
pub(crate) struct Conversion<'a> {
    pub(crate) names: &'a Names,
    pub(crate) paths: &'a dyn Paths,
    /// Records that a part of the value was lost. If `None`, the conversion fails at the first field or element without a counterpart.
    extent: Option<&'a Cell<Extent>>,
    /// Selects the form of a field or element that has both an earlier and a current form, when [`rejoin`] combines values. If true, the
    /// conversion keeps the current form, otherwise the earlier form.
    keeps_now: bool,
    /// Cached names of fields. Reused for later elements of an array of structs.
    known: &'a MemberNames,
}

impl Conversion<'_> {
    pub(crate) fn convert(&self, value: &Value, target: &PropertyType) -> Option<Value> {
        match value {
            // Converts the content of an optional value to a type that is not optional.
            Value::Optional(inner) if !matches!(target, PropertyType::Optional(_)) => {
                self.convert(inner.as_ref()?, target)
            }
            value => {
                let converted = target.convert(value, self)?;
                if let Some(extent) = self.extent.filter(|_| is_one_way(value, &converted)) {
                    extent.set(extent.get().and(Extent::OneWay));
                }
                Some(converted)
            }
        }
    }

    /// Records that a field or element has no counterpart. Returns `None` if the conversion must be complete. The caller then returns
    /// `None` and the conversion fails.
    pub(crate) fn mark_lossy(&self) -> Option<()> {
        self.extent.map(|extent| extent.set(extent.get().and(Extent::Part)))
    }

    fn in_part(&self, value: &Value, target: &PropertyType) -> Option<Value> {
        let extent = Cell::new(Extent::Whole);
        let value = Conversion { extent: Some(&extent), ..*self }.convert(value, target)?;
        Some(fixed::inside(target, value, &extent))
    }

    /// Returns the value of type `ty` that replaced an earlier value. If the replacement is unknown, converts the earlier value.
    fn became(&self, earlier: Earlier<'_>, ty: &PropertyType) -> Option<Value> {
        earlier.instead.cloned().or_else(|| self.in_part(earlier.value, ty))
    }

    fn rejoin_property(
        &self,
        now: &Value,
        earlier: Earlier<'_>,
        property: &Property,
        default: Option<&Value>,
    ) -> Option<Value> {
        match (fixed::dim(property), now, earlier.value, &property.ty) {
            (Some(_), Value::Array(now), Value::Array(values) | Value::Set(values), PropertyType::Array(of)) => {
                self.became(earlier, &property.ty)?;
                let both = now.iter().zip(values).enumerate();
                let both = both.map(|(at, (now, value))| self.rejoin_or(now, earlier.element(at, value), of.ty()));
                let longer = if now.len() > values.len() { now } else { values };
                let rest = longer.iter().skip(now.len().min(values.len())).cloned();
                let is_filled = fixed::is_filled_from(values.len(), now, default, of.ty());
                let len = if is_filled { values.len() } else { longer.len() };
                let joined: Vec<_> = both.chain(rest).take(len).collect();
                let is_set = matches!(earlier.value, Value::Set(_)) && differ(joined.iter());
                Some(if is_set { Value::Set(joined) } else { Value::Array(joined) })
            }
            _ => self.rejoin(now, earlier, &property.ty, default),
        }
    }

    fn rejoin_or(&self, now: &Value, earlier: Earlier<'_>, ty: &PropertyType) -> Value {
        self.rejoin(now, earlier, ty, None).unwrap_or_else(|| now.clone())
    }

    fn rejoin(&self, now: &Value, earlier: Earlier<'_>, ty: &PropertyType, default: Option<&Value>) -> Option<Value> {
        let current = self.became(earlier, ty);
        if let (Value::Struct(now), Value::Struct(fields), PropertyType::Struct(of)) = (now, earlier.value, ty) {
            return self.rejoin_fields(now, (earlier, fields), of, default.filter(|_| current.is_none()));
        }
        // If `earlier` or one of its elements does not convert, `now` contains no part of `earlier`.
        let current = current?;
        Some(match (now, earlier.value, ty) {
            (Value::Array(now), Value::Array(values), PropertyType::Array(of)) => {
                Value::Array(self.rejoin_all(now, (earlier, values), of.ty()))
            }
            (Value::Set(now), Value::Set(values), PropertyType::Set(of)) => {
                Value::Set(self.rejoin_all(now, (earlier, values), of.ty()))
            }
            (Value::Map(now), Value::Map(entries), PropertyType::Map(of)) => {
                let olds = entries.iter().enumerate().filter_map(|(at, entry)| {
                    let (key, value) = earlier.entry(at, entry);
                    Some((self.became(key, of.key())?, (key, value)))
                });
                let olds: HashMap<_, _> = olds.collect();
                let join = |(key, value): &(Value, Value)| match olds.get(key) {
                    Some((old, earlier)) => {
                        (self.rejoin_or(key, *old, of.key()), self.rejoin_or(value, *earlier, of.value()))
                    }
                    None => (key.clone(), value.clone()),
                };
                Value::Map(now.iter().map(join).collect())
            }
            (Value::Optional(Some(now)), Value::Optional(Some(value)), PropertyType::Optional(of)) => {
                let inner = earlier.part(value, |instead| match instead {
                    Value::Optional(inner) => inner.as_deref(),
                    _ => None,
                });
                Value::Optional(Some(Box::new(self.rejoin(now, inner, of.ty(), None)?)))
            }
            _ if current == *now && !self.keeps_now && !lacks_object(earlier.value, now) => earlier.value.clone(),
            _ => now.clone(),
        })
    }

    /// Restores the fields of an earlier struct in `now`. `default` is the value with which `now` was initialized, or `None` if `now` was
    /// initialized with the converted fields of `earlier`.
    fn rejoin_fields(
        &self,
        now: &[(Arc<str>, Value)],
        (earlier, fields): (Earlier<'_>, &[(Arc<str>, Value)]),
        of: &StructType,
        default: Option<&Value>,
    ) -> Option<Value> {
        let (mut joined, mut is_related) = (now.to_vec(), fields.is_empty());
        for (name, value) in fields {
            let field = self.current_field(of, name).filter(|field| self.is_source(of, field, name, fields));
            let Some((field, held)) = field.and_then(|field| {
                let at = joined.iter().position(|(name, _)| **name == *field.text)?;
                Some((field, &mut joined[at].1))
            }) else {
                joined.push((name.clone(), value.clone()));
                continue;
            };
            is_related = true;
            let default = match default {
                Some(Value::Struct(fields)) => fields.iter().find(|(name, _)| **name == *field.text),
                _ => None,
            };
            let default = default.map_or_else(|| field.start(), |(_, value)| value.clone());
            let is_held = self.in_part(value, &field.ty).is_some();
            let part = earlier.field(&field.text, value);
            let part = Earlier { instead: part.instead.filter(|instead| is_held || **instead != default), ..part };
            // A field that could not hold the earlier value received its default. If the field still has the default, no code has written
            // the field.
            if *held == default && !is_held {
                *held = value.clone();
            } else if let Some(both) = self.rejoin_property(held, part, field, Some(&default)) {
                *held = both;
            }
        }
        is_related.then_some(Value::Struct(joined))
    }

    /// Combines each element of `now` with an earlier element. Prefers the earlier element at the same index if its conversion equals the
    /// element. Otherwise uses any earlier element whose conversion equals the element. If no earlier element matches and both containers
    /// have equal lengths, uses the earlier element at the same index, unless it is already used.
    fn rejoin_all(&self, now: &[Value], (earlier, values): (Earlier<'_>, &[Value]), ty: &PropertyType) -> Vec<Value> {
        let earlier: Vec<_> = values.iter().enumerate().map(|(at, value)| earlier.element(at, value)).collect();
        let mut current: Vec<_> = earlier.iter().map(|value| self.became(*value, ty)).collect();
        let mut origins: Vec<Option<usize>> = vec![None; now.len()];
        for (at, (value, origin)) in now.iter().zip(&mut origins).enumerate() {
            if current.get(at).is_some_and(|old| old.as_ref() == Some(value)) {
                (current[at], *origin) = (None, Some(at));
            }
        }
        let mut others: HashMap<Value, Vec<usize>> = HashMap::new();
        let mut free = HashSet::new();
        for (at, old) in current.into_iter().enumerate().rev() {
            if let Some(old) = old {
                others.entry(old).or_default().push(at);
                free.insert(at);
            }
        }
        for (value, origin) in now.iter().zip(&mut origins).filter(|(_, origin)| origin.is_none()) {
            *origin = others.get_mut(value).and_then(Vec::pop);
            origin.iter().for_each(|at| _ = free.remove(at));
        }
        let has_len = now.len() == earlier.len();
        let join = |(at, (value, origin)): (usize, (&Value, Option<usize>))| {
            let origin = origin.or((has_len && free.contains(&at)).then_some(at));
            origin.map_or_else(|| value.clone(), |old| self.rejoin_or(value, earlier[old], ty))
        };
        now.iter().zip(origins).enumerate().map(join).collect()
    }

    /// Returns the field named `name`. Otherwise returns a field of which `name` is an earlier or later name. A field has a later name if a
    /// reload undoes the renaming of the field.
    pub(crate) fn current_field<'s>(&self, of: &'s StructType, name: &str) -> Option<&'s Property> {
        of.field(name).or_else(|| self.names_of_field(of, name).iter().find_map(|name| of.field(name)))
    }

    /// Checks if the value of `field` is restored from the entry `name` of `values`. An entry under the field's current name has
    /// precedence, then an entry under the nearest of its earlier and later names.
    pub(crate) fn is_source(
        &self,
        of: &StructType,
        field: &Property,
        name: &str,
        values: &[(Arc<str>, Value)],
    ) -> bool {
        let has = |known: &str| values.iter().any(|(name, _)| **name == *known);
        let is_of_field = |known: &str| self.current_field(of, known).is_some_and(|other| other.text == field.text);
        let find = || {
            let known = self.names_of_field(of, &field.text);
            known.iter().find(|known| has(known) && (*known == name || is_of_field(known))).cloned()
        };
        *field.text == *name || find().is_some_and(|first| first == name)
    }

    /// Returns the current and earlier names of a field. The names are looked up only once per struct and field.
    fn names_of_field(&self, of: &StructType, name: &str) -> Rc<[String]> {
        let key = (std::ptr::from_ref(of), name.to_owned());
        if let Some(names) = self.known.borrow().get(&key) {
            return Rc::clone(names);
        }
        let names: Rc<[String]> = self.paths.names_of_member(&mut of.chain().map(|(path, _)| &**path), name).into();
        self.known.borrow_mut().insert(key, Rc::clone(&names));
        names
    }

    pub(crate) fn all(&self, values: &[Value], target: &PropertyType) -> Option<Vec<Value>> {
        values.iter().map(|value| self.convert(value, target)).collect()
    }
}

/// Checks if all values are different.
pub(crate) fn differ<'v>(mut keys: impl Iterator<Item = &'v Value>) -> bool {
    let mut seen = HashSet::new();
    keys.all(|key| seen.insert(key))
}

#[cfg(test)]
mod tests {

    use alcedo_abi::kinds::PropertyKind;
    use alcedo_base::handles::{Name, ObjectHandle};

    use super::{CallError, LazyRaw, Paths, PropertyType, Value, convert};
    use crate::convertible::{Convertible, convertible};
    use crate::decl::PropertyDecl;
    use crate::names::Names;
    use crate::testing::{structure, type_of};

    fn check(value: Value, target: &PropertyType, expected: Option<Value>) {
        assert_eq!(convert(&value, target, &Names::default(), &Door), expected, "{value:?} to {target}");
    }

    #[test]
    fn numbers_convert_if_the_value_is_equal() {
        use PropertyType as T;
        use Value as V;
        for (value, target, expected) in [
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
            check(value, &target, expected);
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
    fn strings_and_names_convert_to_each_other() {
        let names = Names::default();
        let cube = names.intern("cube");
        assert_eq!(convert(&Value::Text("cube".into()), &PropertyType::Name, &names, &Door), Some(Value::Name(cube)));
        assert_eq!(convert(&Value::Name(cube), &PropertyType::Text, &names, &Door), Some(Value::Text("cube".into())));
        check(Value::Name(Name(99)), &PropertyType::Text, None);
        check(Value::Text("1".into()), &PropertyType::U8, None);
    }

    #[test]
    fn references_convert_to_references_only() {
        let handle = ObjectHandle::new(1, 1);
        let ty = PropertyType::Object { class: "/Script/A.B".into() };
        check(Value::Object(handle), &ty, Some(Value::Object(handle)));
        check(Value::Object(handle), &PropertyType::U64, None);
        check(Value::U64(1), &ty, None);
    }

    #[test]
    fn structs_convert_if_every_field_converts() {
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

    /// Paths of a world with one object: `#1.1`, at the path `/World/door`, with the id [`DOOR`].
    struct Door;

    const DOOR: LazyRaw = LazyRaw { high: 1, low: 2 };

    impl Paths for Door {
        fn path_of(&self, object: ObjectHandle) -> Option<String> {
            (object == ObjectHandle::new(1, 1)).then(|| "/World/door".to_owned())
        }

        fn object_at(&self, path: &str) -> Option<ObjectHandle> {
            (path == "/World/door").then_some(ObjectHandle::new(1, 1))
        }

        fn id_of(&self, object: ObjectHandle) -> Result<LazyRaw, CallError> {
            if object == ObjectHandle::new(1, 1) { Ok(DOOR) } else { Err(CallError::Stale { handle: object }) }
        }

        fn object_with_id(&self, id: LazyRaw) -> Option<ObjectHandle> {
            (id == DOOR).then_some(ObjectHandle::new(1, 1))
        }

        fn names_of_member(&self, _owners: &mut dyn Iterator<Item = &str>, name: &str) -> Vec<String> {
            vec![name.to_owned()]
        }
    }

    /// For each row, converts the value `text` of type `from` to the type `to`. Compares the result with `expected`, and with the
    /// prediction from the types.
    fn table(rows: &[(&str, &str, &str, &str)]) {
        let names = Names::default();
        for (from, text, to, expected) in rows {
            let predicted = convertible(&from.parse().expect("a type"), &to.parse().expect("a type"));
            let contradiction = if *expected == "-" { Convertible::Always } else { Convertible::Never };
            assert_ne!(predicted, contradiction, "{from} {text} to {to}");
            let (from, to) = (type_of(from), type_of(to));
            let value = Value::parse(text, &from, &names).unwrap_or_else(|error| panic!("{error}"));
            let found = convert(&value, &to, &names, &Door);
            let printed = found.as_ref().map_or("-".to_owned(), |value| value.print(&names));
            assert_eq!(printed, *expected, "{from} {text} to {to}");
            assert!(found.is_none_or(|value| crate::values::fits(&to, &value).is_ok()), "{to} takes it");
        }
    }

    /// Compares the predictions for numbers with actual conversions of the minimum and maximum of each kind.
    #[test]
    fn the_prediction_for_numbers_agrees_with_the_conversion_of_their_limits() {
        let limits = [
            ("u8", vec![Value::U8(0), Value::U8(u8::MAX)]),
            ("u16", vec![Value::U16(0), Value::U16(u16::MAX)]),
            ("u32", vec![Value::U32(0), Value::U32(u32::MAX)]),
            ("u64", vec![Value::U64(0), Value::U64(u64::MAX)]),
            ("i8", vec![Value::I8(i8::MIN), Value::I8(i8::MAX)]),
            ("i16", vec![Value::I16(i16::MIN), Value::I16(i16::MAX)]),
            ("i32", vec![Value::I32(i32::MIN), Value::I32(i32::MAX)]),
            ("i64", vec![Value::I64(i64::MIN), Value::I64(i64::MAX)]),
            ("f32", vec![Value::F32(0.5), Value::F32(f32::MAX)]),
            ("f64", vec![Value::F64(0.5), Value::F64(f64::MAX)]),
            ("bool", vec![Value::Bool(false), Value::Bool(true)]),
        ];
        for (from, values) in &limits {
            for (to, _) in &limits {
                let predicted = convertible(&from.parse().expect("a type"), &to.parse().expect("a type"));
                let ty = type_of(to);
                let fits = |value: &Value| convert(value, &ty, &Names::default(), &Door).is_some();
                let is_whole = values.iter().all(fits);
                assert_eq!(predicted == Convertible::Always, is_whole, "{from} to {to}: {predicted:?}");
                assert!(predicted != Convertible::Never || !values.iter().any(fits), "{from} to {to}: {predicted:?}");
            }
        }
    }

    #[test]
    fn string_kinds_convert_if_no_character_or_translation_is_lost() {
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
    fn references_convert_between_handles_paths_and_ids() {
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
            (OBJECT, "#1.1", LAZY, "00000000000000010000000000000002"),
            (OBJECT, "#2.1", LAZY, "-"),
            (SOFT, "/World/door", LAZY, "00000000000000010000000000000002"),
            (LAZY, "00000000000000010000000000000002", SOFT, "/World/door"),
            (LAZY, "00000000000000010000000000000002", WEAK, "#1.1"),
            (LAZY, "00000000000000010000000000000003", WEAK, "-"),
            (LAZY, "none", INTERFACE, "none"),
            (OBJECT, "#1.1", "u64", "-"),
            (SUBCLASS, "/Script/Engine.Object", SOFT_CLASS, "/Script/Engine.Object"),
            (SOFT_CLASS, "/Script/A.Gone", SUBCLASS, "/Script/A.Gone"),
            (SOFT_CLASS, "/Script/A.Gone", SOFT, "-"),
        ]);
    }

    #[test]
    fn containers_convert_element_by_element() {
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
