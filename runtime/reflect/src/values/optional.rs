//! Optional values: a byte, followed by the value at its alignment. The byte is 1 if the value is present. All bytes of an absent value are
//! zero.

use super::array::of_element;
use super::by_content;
use super::prelude::*;
use super::ptr::{Mut, Ref};
use super::structure::put_new;
use crate::nested::ElementType;

pub(crate) struct Optional;

type Content = Option<Box<Value>>;

impl Kind for Optional {
    type Of = Rc<ElementType>;
    type Raw = u8;
    const KIND: PropertyKind = PropertyKind::OPTIONAL;

    of_element!();

    #[inline]
    fn size(of: &Rc<ElementType>) -> usize {
        of.row().align + of.row().size
    }

    #[inline]
    fn align(of: &Rc<ElementType>) -> usize {
        of.row().align
    }

    fn nature(of: &Rc<ElementType>) -> Nature {
        Nature { can_be_key: false, has_defaults: false, ..of.ty().nature() }
    }

    fn copy(to: Mut<'_, Self>, from: Ref<'_, Self>) {
        if !to.of().ty().owns_memory() {
            return to.copy_bytes(from);
        }
        let value = from.inner();
        match value {
            Some(value) => to.inner().copy_from(value),
            None => to.inner().destroy(),
        }
        to.set(value.is_some().into());
    }

    fn equal(one: Ref<'_, Self>, two: Ref<'_, Self>) -> bool {
        match (one.inner(), two.inner()) {
            (Some(one), Some(two)) => one.equal(two),
            (one, two) => one.is_none() && two.is_none(),
        }
    }

    fn hash(at: Ref<'_, Self>, hasher: &mut dyn Hasher) {
        let value = at.inner();
        hasher.write_u8(value.is_some().into());
        if let Some(value) = value {
            value.hash_into(hasher);
        }
    }

    fn destroy(at: Mut<'_, Self>) {
        if !at.of().ty().owns_memory() {
            return at.zero();
        }
        // Destroys the value even if the byte is 0, because a plugin may have cleared only the byte.
        at.inner().destroy();
        at.set(0);
    }

    fn visit_objects(at: Ref<'_, Self>, visit: &mut dyn FnMut(ObjectHandle)) {
        if let Some(value) = at.inner() {
            value.visit_objects(visit);
        }
    }

    fn map_objects(at: Mut<'_, Self>, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) {
        at.inner().map_objects(map);
    }

    fn read(at: Ref<'_, Self>) -> Content {
        at.inner().map(|value| Box::new(value.read()))
    }

    fn write(at: Mut<'_, Self>, value: &Content) {
        match value {
            Some(value) if at.raw() == 0 => put_new(at.inner(), value),
            Some(value) => at.inner().put(value),
            None => at.inner().destroy(),
        }
        at.set(value.is_some().into());
    }

    by_content!();

    fn each_object(value: &Content, visit: &mut dyn FnMut(ObjectHandle, bool)) {
        if let Some(value) = value {
            value.visit_objects(visit);
        }
    }

    fn with_objects(value: &Content, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) -> Content {
        value.as_ref().map(|value| Box::new(value.map_objects(map)))
    }

    fn each_part<E>(
        of: &Rc<ElementType>,
        value: &Content,
        visit: &mut dyn FnMut(Part<'_>, &PropertyType, &Value) -> Result<(), E>,
    ) -> Result<(), E> {
        value.as_ref().map_or(Ok(()), |value| visit(Part::Whole, of.ty(), value))
    }

    fn with_parts(of: &Rc<ElementType>, value: Content, map: &mut dyn FnMut(&PropertyType, Value) -> Value) -> Content {
        value.map(|value| Box::new(map(of.ty(), *value)))
    }

    fn print(value: &Content, names: &Names) -> String {
        value.as_ref().map_or("none".to_owned(), |value| format!("some({})", value.print(names)))
    }

    fn parse(scanner: &mut Scanner<'_>, of: &Rc<ElementType>, ty: &PropertyType) -> Result<Content, ParseError> {
        if scanner.take("some(") {
            let value = scanner.value(of.ty())?;
            scanner.expect(")", ty, "a ) is missing")?;
            return Ok(Some(Box::new(value)));
        }
        match scanner.word() {
            "none" => Ok(None),
            other => Err(fail(other, ty, "write none or some(value)")),
        }
    }

    /// Offers the contained value.
    fn offer<'v>(value: &'v Content, cx: &Conversion<'_>) -> Option<Offer<'v>> {
        cx.offer(value.as_ref()?)
    }

    fn convert(value: &Value, of: &Rc<ElementType>, cx: &Conversion<'_>) -> Option<Content> {
        let inner = match value {
            Value::Optional(None) => return Some(None),
            Value::Optional(Some(inner)) => inner,
            other => other,
        };
        cx.convert(inner, of.ty()).map(|value| Some(Box::new(value)))
    }
}
