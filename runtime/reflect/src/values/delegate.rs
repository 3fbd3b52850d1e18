//! Single delegates: a reference to an object, and the name of a function in the object's class.

use alcedo_abi::value::DelegateRaw;

use super::by_content;
use super::prelude::*;
use super::ptr::{Mut, Ref};
use crate::text::{object, print_name};
use crate::value::Binding;

pub(crate) struct Delegate;

/// Delegates keep objects alive, and are not allowed as keys.
pub(super) const NATURE: Nature =
    Nature { holds_objects: true, names_objects: true, can_be_key: false, ..Nature::PLAIN };

pub(super) fn parse(scanner: &mut Scanner<'_>, ty: &PropertyType) -> Result<Binding, ParseError> {
    const FORM: &str = "write none or #index.serial:function";
    let word = scanner.word_up_to([',', ')', ':']);
    let to = object(word).ok_or_else(|| fail(word, ty, FORM))?;
    if !scanner.take(":") {
        return if to.is_none() { Ok(Binding::default()) } else { Err(fail(word, ty, FORM)) };
    }
    let function = if scanner.take("\"") { scanner.quoted(ty)? } else { scanner.word().to_owned() };
    Ok(Binding { object: to, function: scanner.names.intern(&function) })
}

impl Kind for Delegate {
    type Of = Rc<str>;
    type Raw = DelegateRaw;
    const KIND: PropertyKind = PropertyKind::DELEGATE;

    fn nature(_of: &Rc<str>) -> Nature {
        NATURE
    }

    // The object handle is at the start of a delegate.
    fn references(_of: &Rc<str>, _ty: &PropertyType, offset: usize, found: &mut References) {
        found.add_direct(offset);
    }

    fn equal(one: Ref<'_, Self>, two: Ref<'_, Self>) -> bool {
        Self::read(one) == Self::read(two)
    }

    fn hash(at: Ref<'_, Self>, hasher: &mut dyn Hasher) {
        let Binding { object, function } = Self::read(at);
        hasher.write_u64(object.0);
        hasher.write_u32(function.0);
    }

    fn visit_objects(at: Ref<'_, Self>, visit: &mut dyn FnMut(ObjectHandle)) {
        visit(at.raw().object);
    }

    fn map_objects(at: Mut<'_, Self>, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) {
        let raw = at.raw();
        at.set(DelegateRaw { object: map(raw.object), ..raw });
    }

    fn read(at: Ref<'_, Self>) -> Binding {
        at.raw().into()
    }

    fn write(at: Mut<'_, Self>, value: &Binding) {
        at.set((*value).into());
    }

    by_content!();

    fn each_object(value: &Binding, visit: &mut dyn FnMut(ObjectHandle, bool)) {
        visit(value.object, true);
    }

    fn with_objects(value: &Binding, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) -> Binding {
        Binding { object: map(value.object), ..*value }
    }

    fn print(value: &Binding, names: &Names) -> String {
        match *value {
            Binding { object, function: Name(0) } if object.is_none() => "none".to_owned(),
            Binding { object, function } => format!("{object}:{}", print_name(function, names)),
        }
    }

    fn parse(scanner: &mut Scanner<'_>, _of: &Rc<str>, ty: &PropertyType) -> Result<Binding, ParseError> {
        parse(scanner, ty)
    }

    fn offer<'v>(value: &'v Binding, _cx: &Conversion<'_>) -> Option<Offer<'v>> {
        let bound = if *value == Binding::default() { &[] } else { std::slice::from_ref(value) };
        Some(Offer::Bindings(bound))
    }

    fn accept(offer: Offer<'_>, _of: &Rc<str>, _cx: &Conversion<'_>) -> Option<Binding> {
        let Offer::Bindings(bindings) = offer else { return None };
        match *bindings {
            [] => Some(Binding::default()),
            [one] => Some(one),
            _ => None,
        }
    }
}
