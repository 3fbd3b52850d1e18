//! `up`: reads and writes properties of objects by path.

use std::rc::{Rc, Weak};

use crate::boundary::CallError;
use crate::bridge::core::{Core, alive};
use crate::bridge::described_protocol::BuiltIn;
use crate::bridge::paths::member_path;
use crate::bridge::slots;
use crate::bridge::uf::module_of;
use crate::object::property::Property;
use crate::signature::described;
use crate::zcall::call::{Call, Dispatcher, Resolved, Slots};
use crate::zcall::chain::{Answer, Resolver};
use crate::zcall::name::ZCallName;

pub(super) const UP: BuiltIn = BuiltIn {
    word: "up",
    form: "`up:/Script/Package.Type:Property`",
    help: "declare the property, or load the module that does",
    read: |address| member_path(address, "property"),
};

pub(super) struct PropertyResolver(pub(super) Weak<Core>);

impl Resolver for PropertyResolver {
    fn resolve(&self, name: &ZCallName) -> Result<Answer, CallError> {
        let (core, path) = (alive(&self.0)?, name.address());
        let property = core.world.types.property_by_path(path);
        let found = property.and_then(|property| Some((core.world.types.class_by_path(&property.owner)?, property)));
        let Some((owner, property)) = found else { return Ok(Answer::declined("")) };
        let signature = described(&property.ty.to_string(), property.ty.fingerprint());
        let function = Resolved::new(signature, PropertyDispatcher { core: Weak::clone(&self.0), property });
        Ok(Answer::Function(function.of_module(module_of(&core, path, owner.tag)).with_slots(Slots::Property)))
    }
}

/// Dispatches reads and writes of a property. Slot 0 is the object, slot 1 selects read (0) or write (1), slot 2 is the value.
struct PropertyDispatcher {
    core: Weak<Core>,
    property: Rc<Property>,
}

impl Dispatcher for PropertyDispatcher {
    fn call(&self, call: Call<'_>) -> Result<(), CallError> {
        let mut buffer = call.into_buffer();
        let core = alive(&self.core)?;
        buffer.expect_len(3)?;
        slots::exchange(&mut buffer, &core.world.objects, &self.property)
    }
}
