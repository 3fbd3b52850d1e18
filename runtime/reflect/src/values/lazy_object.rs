//! Lazy references to objects, stored as a permanent unique id. The object may be missing.

use alcedo_abi::value::LazyRaw;
use alcedo_base::boundary::CallError;

use super::prelude::*;
use super::ptr::{Mut, Ref};
use super::{Links, by_content};

pub(crate) struct LazyObject;

impl Kind for LazyObject {
    type Of = Rc<str>;
    type Raw = LazyRaw;
    const KIND: PropertyKind = PropertyKind::LAZY_OBJECT;
    const WRITTEN: Written = Written::Word;

    fn equal(one: Ref<'_, Self>, two: Ref<'_, Self>) -> bool {
        one.raw() == two.raw()
    }

    fn hash(at: Ref<'_, Self>, hasher: &mut dyn Hasher) {
        let LazyRaw { high, low } = at.raw();
        hasher.write_u64(high);
        hasher.write_u64(low);
    }

    fn read(at: Ref<'_, Self>) -> LazyRaw {
        at.raw()
    }

    fn write(at: Mut<'_, Self>, value: &LazyRaw) {
        at.set(*value);
    }

    by_content!();

    fn refer(object: ObjectHandle, links: &dyn Links) -> Option<Result<LazyRaw, CallError>> {
        Some(if object.is_none() { Ok(LazyRaw::NONE) } else { links.id_of(object) })
    }

    fn referent(value: &LazyRaw, links: &dyn Links) -> Option<ObjectHandle> {
        links.object_with_id(*value)
    }

    fn print(value: &LazyRaw, _names: &Names) -> String {
        match *value {
            LazyRaw::NONE => "none".to_owned(),
            LazyRaw { high, low } => format!("{high:016x}{low:016x}"),
        }
    }

    fn from_text(text: &str, ty: &PropertyType, _names: &Names) -> Result<LazyRaw, ParseError> {
        id(text).ok_or_else(|| fail(text, ty, "write none or 32 hexadecimal digits"))
    }

    fn offer<'v>(value: &'v LazyRaw, cx: &Conversion<'_>) -> Option<Offer<'v>> {
        match *value {
            LazyRaw::NONE => Some(Offer::Reference(ObjectHandle::NONE)),
            id => cx.paths.object_with_id(id).map(Offer::Reference),
        }
    }

    fn accept(offer: Offer<'_>, _of: &Rc<str>, cx: &Conversion<'_>) -> Option<LazyRaw> {
        match offer {
            Offer::Reference(ObjectHandle::NONE) => Some(LazyRaw::NONE),
            Offer::Reference(object) => cx.paths.id_of(object).ok(),
            _ => None,
        }
    }
}

fn id(text: &str) -> Option<LazyRaw> {
    if text == "none" {
        return Some(LazyRaw::NONE);
    }
    if text.len() != 32 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let half = |part: &str| u64::from_str_radix(part, 16).ok();
    Some(LazyRaw { high: half(&text[..16])?, low: half(&text[16..])? })
}
