//! References to objects by handle: strong references to objects of a class or with an interface, and weak references.

use alcedo_base::boundary::CallError;

use super::prelude::*;
use super::ptr::{Mut, Ref, Word};
use super::{Links, word};
use crate::text::object;

macro_rules! references {
    ($($kind:ident is $number:ident, keeps alive: $strong:literal;)*) => {$(
        pub(crate) struct $kind;

        impl Kind for $kind {
            type Of = Rc<str>;
            type Raw = ObjectHandle;
            const KIND: PropertyKind = PropertyKind::$number;
            const WRITTEN: Written = Written::Word;

            #[inline]
            fn nature(_of: &Rc<str>) -> Nature {
                Nature { holds_objects: $strong, names_objects: true, ..Nature::PLAIN }
            }

            fn references(_of: &Rc<str>, _ty: &PropertyType, offset: usize, found: &mut References) {
                if $strong {
                    found.add_direct(offset);
                }
            }

            word!();

            fn visit_objects(at: Ref<'_, Self>, visit: &mut dyn FnMut(ObjectHandle)) {
                if $strong {
                    visit(at.raw());
                }
            }

            fn map_objects(at: Mut<'_, Self>, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) {
                at.set(map(at.raw()));
            }

            fn each_object(value: &ObjectHandle, visit: &mut dyn FnMut(ObjectHandle, bool)) {
                visit(*value, $strong);
            }

            fn with_objects(
                value: &ObjectHandle,
                map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle,
            ) -> ObjectHandle {
                map(*value)
            }

            fn resolves_to(value: &ObjectHandle) -> Option<ObjectHandle> {
                Some(*value)
            }

            fn refer(object: ObjectHandle, _links: &dyn Links) -> Option<Result<ObjectHandle, CallError>> {
                Some(Ok(object))
            }

            fn print(value: &ObjectHandle, _names: &Names) -> String {
                value.to_string()
            }

            fn from_text(text: &str, ty: &PropertyType, _names: &Names) -> Result<ObjectHandle, ParseError> {
                object(text).ok_or_else(|| fail(text, ty, "write none or #index.serial"))
            }

            fn offer<'v>(value: &'v ObjectHandle, _cx: &Conversion<'_>) -> Option<Offer<'v>> {
                Some(Offer::Reference(*value))
            }

            fn accept(offer: Offer<'_>, _of: &Rc<str>, _cx: &Conversion<'_>) -> Option<ObjectHandle> {
                if let Offer::Reference(object) = offer { Some(object) } else { None }
            }
        }
    )*};
}
references! {
    Object is OBJECT, keeps alive: true;
    ScriptInterface is SCRIPT_INTERFACE, keeps alive: true;
    WeakObject is WEAK_OBJECT, keeps alive: false;
}
