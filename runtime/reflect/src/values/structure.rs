//! Structs that are stored by value.

use std::sync::Arc;

use super::prelude::*;
use super::ptr::{Mut, Ptr, PtrMut, Ref};
use super::{by_content, fits};
use crate::fixed;
use crate::property::Property;
use crate::structs::StructType;

pub(crate) struct Struct;

type Fields = Vec<(Arc<str>, Value)>;

/// Returns the index of a field. First checks the index `at`, because values usually list all fields in order.
fn index_of(of: &StructType, at: usize, name: &str) -> Option<usize> {
    let has_name = |field: &Property| *field.text == *name;
    let found = of.fields().get(at).is_some_and(has_name).then_some(at);
    found.or_else(|| of.fields().iter().position(has_name))
}

fn each_field(of: &StructType, value: impl Fn(&Property) -> Value) -> Fields {
    of.fields().iter().map(|field| (Arc::from(&*field.text), value(field))).collect()
}

/// Writes a value to new memory. Fields that a struct value omits receive their defaults.
pub(crate) fn put_new(mut at: PtrMut<'_>, value: &Value) {
    if let Some(start) = start_of(at.as_ptr().ty()) {
        at.reborrow().put(&start);
    }
    at.put(value);
}

/// Adjusts an array to the fixed length of its property after a write, because the written value may have any length. Missing elements are
/// copied from the default. Has no effect on other properties.
pub(crate) fn fix_length(property: &Property, at: PtrMut<'_>) {
    if fixed::dim(property).is_none_or(|len| at.as_ptr().count() == Some(len)) {
        return;
    }
    let written = at.as_ptr().read();
    at.put(&fixed::as_written(property, written));
}

/// Adjusts the fixed arrays in the fields of a struct, and in nested structs, after the whole struct was copied. Has no effect on other
/// values.
pub fn fix_fields(at: PtrMut<'_>) {
    // A struct with an array owns memory.
    let Some(at) = at.to::<Struct>().filter(|at| at.of().nature().owns_memory) else { return };
    for (property, mut field) in at.of().fields().iter().zip(at.fields()) {
        fix_length(property, field.reborrow());
        fix_fields(field);
    }
}

/// Returns the initial value of a struct type with defaults. Returns `None` for all other types.
pub(crate) fn start_of(ty: &PropertyType) -> Option<Value> {
    matches!(ty, PropertyType::Struct(of) if of.nature().has_defaults).then(|| Value::initial(ty))
}

impl Kind for Struct {
    type Of = Rc<StructType>;
    type Raw = ();
    const KIND: PropertyKind = PropertyKind::STRUCT;

    #[inline]
    fn size(of: &Rc<StructType>) -> usize {
        of.size()
    }

    #[inline]
    fn align(of: &Rc<StructType>) -> usize {
        of.align()
    }

    #[inline]
    fn nature(of: &Rc<StructType>) -> Nature {
        of.nature()
    }

    fn inner_types(of: &Rc<StructType>, visit: &mut dyn FnMut(&PropertyType)) {
        of.fields().iter().for_each(|field| visit(&field.ty));
    }

    fn references(of: &Rc<StructType>, _ty: &PropertyType, offset: usize, found: &mut References) {
        if !of.nature().holds_objects {
            return;
        }
        for field in of.fields() {
            let at = offset + field.offset as usize;
            field.ty.references(at, found);
        }
    }

    #[inline]
    fn copy(to: Mut<'_, Self>, from: Ref<'_, Self>) {
        let of = to.of();
        if of.nature().owns_memory {
            to.fields().zip(from.fields()).for_each(|(to, from)| to.copy_from(from));
        } else {
            to.copy_bytes(from);
        }
    }

    fn equal(one: Ref<'_, Self>, two: Ref<'_, Self>) -> bool {
        one.fields().zip(two.fields()).all(|(one, two)| one.equal(two))
    }

    fn hash(at: Ref<'_, Self>, hasher: &mut dyn Hasher) {
        at.fields().for_each(|field| field.hash_into(hasher));
    }

    fn destroy(at: Mut<'_, Self>) {
        let of = at.of();
        if of.nature().owns_memory {
            at.fields().for_each(PtrMut::destroy);
        } else {
            at.zero();
        }
    }

    fn visit_objects(at: Ref<'_, Self>, visit: &mut dyn FnMut(ObjectHandle)) {
        if at.of().nature().holds_objects {
            at.fields().for_each(|field| field.visit_objects(visit));
        }
    }

    fn map_objects(at: Mut<'_, Self>, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) {
        if at.of().nature().names_objects {
            at.fields().for_each(|field| field.map_objects(map));
        }
    }

    fn read(at: Ref<'_, Self>) -> Fields {
        let names = at.of().fields().iter().map(|field| Arc::from(&*field.text));
        names.zip(at.fields().map(Ptr::read)).collect()
    }

    fn fits(of: &Rc<StructType>, ty: &PropertyType, value: &Fields) -> Result<(), WrongType> {
        value.iter().enumerate().try_for_each(|(at, (name, value))| {
            let field = index_of(of, at, name).map(|index| &of.fields()[index]);
            let field = field.ok_or_else(|| WrongType::of(&format!("struct with `{name}`"), ty))?;
            fits(&field.ty, value)
        })
    }

    fn write(at: Mut<'_, Self>, value: &Fields) {
        let of = at.of();
        let mut in_order = at.fields();
        for (position, (name, value)) in value.iter().enumerate() {
            let next = in_order.next();
            let Some(index) = index_of(of, position, name) else { continue };
            let field = if index == position { next } else { at.fields().nth(index) };
            if let Some(mut field) = field {
                field.reborrow().put(value);
                fix_length(&of.fields()[index], field);
            }
        }
    }

    fn zero(of: &Rc<StructType>) -> Fields {
        each_field(of, |field| Value::zero(&field.ty))
    }

    fn initial(of: &Rc<StructType>) -> Fields {
        each_field(of, Property::start)
    }

    by_content!();

    fn each_object(value: &Fields, visit: &mut dyn FnMut(ObjectHandle, bool)) {
        value.iter().for_each(|(_, value)| value.visit_objects(visit));
    }

    fn with_objects(value: &Fields, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) -> Fields {
        value.iter().map(|(name, value)| (name.clone(), value.map_objects(map))).collect()
    }

    fn each_part<E>(
        of: &Rc<StructType>,
        value: &Fields,
        visit: &mut dyn FnMut(Part<'_>, &PropertyType, &Value) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut known = value.iter().filter_map(|(name, value)| Some((name, of.field(name)?, value)));
        known.try_for_each(|(name, field, value)| visit(Part::Field(name), &field.ty, value))
    }

    fn with_parts(of: &Rc<StructType>, value: Fields, map: &mut dyn FnMut(&PropertyType, Value) -> Value) -> Fields {
        let field = |(name, value): (Arc<str>, Value)| match of.field(&name) {
            Some(field) => (name, map(&field.ty, value)),
            None => (name, value),
        };
        value.into_iter().map(field).collect()
    }

    fn print(value: &Fields, names: &Names) -> String {
        listed(value.iter().map(|(name, value)| format!("{name}={}", value.print(names))))
    }

    fn parse(scanner: &mut Scanner<'_>, of: &Rc<StructType>, ty: &PropertyType) -> Result<Fields, ParseError> {
        if !scanner.take("(") {
            return Err(fail(scanner.rest, ty, "it does not start with (; write (x=1, y=2)"));
        }
        let mut fields = Self::initial(of);
        let mut seen = vec![false; fields.len()];
        while !scanner.take(")") {
            if seen.contains(&true) && !scanner.take(",") {
                return Err(fail(scanner.rest, ty, "a comma or ) is missing"));
            }
            let name = scanner.up_to('=').ok_or_else(|| fail(scanner.rest, ty, "a field has no ="))?;
            let at = of.fields().iter().position(|field| &*field.text == name);
            let at = at.ok_or_else(|| fail(name, ty, "unknown field"))?;
            if seen[at] {
                return Err(fail(name, ty, "the field occurs twice"));
            }
            seen[at] = true;
            fields[at].1 = scanner.value(&of.fields()[at].ty)?;
        }
        Ok(fields)
    }

    fn offer<'v>(value: &'v Fields, _cx: &Conversion<'_>) -> Option<Offer<'v>> {
        Some(Offer::Fields(value))
    }

    fn convert(value: &Value, of: &Rc<StructType>, cx: &Conversion<'_>) -> Option<Fields> {
        let Some(Offer::Fields(fields)) = cx.offer(value) else { return None };
        let (mut converted, mut has_any) = (Self::initial(of), fields.is_empty());
        for (name, value) in fields {
            let field = cx.current_field(of, name).filter(|field| cx.is_source(of, field, name, fields));
            let taken = field.and_then(|field| Some((field, cx.convert(value, &field.ty)?)));
            let Some((field, value)) = taken else {
                cx.mark_lossy()?;
                continue;
            };
            let known = converted.iter_mut().find(|(name, _)| **name == *field.text);
            known.into_iter().for_each(|(_, old)| *old = value.clone());
            has_any = true;
        }
        has_any.then_some(converted)
    }
}
