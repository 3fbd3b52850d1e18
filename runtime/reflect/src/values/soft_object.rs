//! Soft references to objects, stored as the interned path of the object. The object may be missing.

use alcedo_base::boundary::{CallError, not_found};

use super::class_paths::path_text;
use super::prelude::*;
use super::ptr::{Mut, Ref, Word};
use super::{Links, word};
use crate::text::print_path;

pub(crate) struct SoftObject;

impl Kind for SoftObject {
    type Of = Rc<str>;
    type Raw = Name;
    const KIND: PropertyKind = PropertyKind::SOFT_OBJECT;

    path_text!();

    fn refer(object: ObjectHandle, links: &dyn Links) -> Option<Result<Name, CallError>> {
        if object.is_none() {
            return Some(Ok(Name::default()));
        }
        let path = links.path_of(object).ok_or_else(|| {
            not_found(format!("{object} has no path, since its outer was destroyed: give it another outer first"))
        });
        Some(path.map(|path| links.names().intern(&path)))
    }

    fn referent(value: &Name, links: &dyn Links) -> Option<ObjectHandle> {
        links.object_at(&links.names().text(*value))
    }

    fn offer<'v>(value: &'v Name, cx: &Conversion<'_>) -> Option<Offer<'v>> {
        match *value {
            Name(0) => Some(Offer::Reference(ObjectHandle::NONE)),
            path => cx.paths.object_at(&cx.names.text(path)).map(Offer::Reference),
        }
    }

    fn accept(offer: Offer<'_>, _of: &Rc<str>, cx: &Conversion<'_>) -> Option<Name> {
        match offer {
            Offer::Reference(ObjectHandle::NONE) => Some(Name(0)),
            Offer::Reference(object) => Some(cx.names.intern(&cx.paths.path_of(object)?)),
            _ => None,
        }
    }
}
