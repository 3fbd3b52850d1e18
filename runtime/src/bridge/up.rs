//! `up`: reads and writes properties of objects by path.

use std::rc::Weak;

use crate::boundary::CallError;
use crate::bridge::core::{Core, alive};
use crate::bridge::described_protocol::BuiltIn;
use crate::bridge::paths::member_path;
use crate::bridge::slots;
use crate::bridge::uf::module_of;
use crate::signature::described;
use crate::zcall::call::{Call, Resolved, Slots};
use crate::zcall::chain::Answer;
use crate::zcall::name::ZCallName;

pub(super) const UP: BuiltIn = BuiltIn {
    word: "up",
    form: "`up:/Script/Package.Type:Property`",
    help: "declare the property, or load the module that does",
    read: |address| member_path(address, "property"),
};

/// Resolves a property to a function that reads and writes the property. Slot 0 is the object, slot 1 selects read (0) or write (1), slot 2
/// is the value.
pub(super) fn resolve(weak: &Weak<Core>, name: &ZCallName) -> Result<Answer, CallError> {
    let (core, path) = (alive(weak)?, name.address());
    let property = core.world.types.property_by_path(path);
    let found = property.and_then(|property| Some((core.world.types.class_by_path(&property.owner)?, property)));
    let Some((owner, property)) = found else { return Ok(Answer::declined("")) };
    let signature = described(&property.ty.to_string(), property.ty.fingerprint());
    let weak = Weak::clone(weak);
    let exchange = move |call: Call<'_>| {
        let mut buffer = call.into_buffer();
        let core = alive(&weak)?;
        buffer.expect_len(3)?;
        slots::exchange(&mut buffer, &core.world, &property)
    };
    let function = Resolved::new(signature, exchange).of_module(module_of(&core, path, owner.tag));
    Ok(Answer::Function(function.with_slots(Slots::Property)))
}
