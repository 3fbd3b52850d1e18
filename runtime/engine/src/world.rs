//! `World`: what all actors share.

use alcedo_runtime::kinds::{PropertyKind, property_flags};
use alcedo_runtime::native::NativeClass;

use crate::PACKAGE;

const OBJECT: &str = "/Script/Core.Object";

pub(crate) fn world() -> NativeClass {
    NativeClass::new(PACKAGE, "World", OBJECT)
        .doc("What all actors share: the time, and the gravity.")
        .property("time", (PropertyKind::F64, ""), property_flags::BLUEPRINT_READ, "")
        .property("gravity", (PropertyKind::F64, ""), property_flags::EDIT_ANYWHERE, "-980")
        .member_docs(&[("time", "Seconds since it began."), ("gravity", "How strongly it pulls down.")])
}
