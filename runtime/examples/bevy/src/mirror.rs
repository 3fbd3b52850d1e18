//! Copies Bevy components to properties of objects, and back. Plugin code never accesses the memory of Bevy components, because the layout
//! of components differs between Bevy versions. Bevy systems can read a position without access to the object. Copying one number takes
//! about 2 ns; copying a struct property would take longer.

use alcedo::host::TypedProperty;
use alcedo::native::Class as _;
use alcedo::{Error, ObjectHandle, Runtime};
use bevy_ecs::prelude::*;

use crate::Behavior;
use crate::entities::Scripted;

/// Position of an entity.
#[derive(Component, Clone, Copy, PartialEq, Debug, Default)]
pub struct Position {
    /// To the right.
    pub x: f32,
    /// Upward.
    pub y: f32,
}

/// Velocity of an entity, per second.
#[derive(Component, Clone, Copy, PartialEq, Debug, Default)]
pub struct Velocity {
    /// To the right.
    pub x: f32,
    /// Upward.
    pub y: f32,
}

/// Handles of the properties of [`Behavior`]. The handles are valid for all derived classes, before and after a reload.
pub(crate) struct Mirror {
    x: TypedProperty<f32>,
    y: TypedProperty<f32>,
    velocity_x: TypedProperty<f32>,
    velocity_y: TypedProperty<f32>,
}

impl Mirror {
    pub(crate) fn new(runtime: &Runtime) -> Result<Self, Error> {
        let property = |name: &str| runtime.property::<f32>(&format!("up:{}:{name}", Behavior::PATH));
        Ok(Self {
            x: property("x")?,
            y: property("y")?,
            velocity_x: property("velocity_x")?,
            velocity_y: property("velocity_y")?,
        })
    }

    pub(crate) fn read(&self, object: ObjectHandle) -> Result<(Position, Velocity), Error> {
        let position = Position { x: self.x.get(object)?, y: self.y.get(object)? };
        let velocity = Velocity { x: self.velocity_x.get(object)?, y: self.velocity_y.get(object)? };
        Ok((position, velocity))
    }

    fn write(&self, object: ObjectHandle, position: Position, velocity: Velocity) -> Result<(), Error> {
        self.x.set(object, position.x)?;
        self.y.set(object, position.y)?;
        self.velocity_x.set(object, velocity.x)?;
        self.velocity_y.set(object, velocity.y)
    }
}

/// Matches entities whose components may differ from the properties of their objects.
type Written = Or<(Changed<Position>, Changed<Velocity>, Added<Scripted>)>;

/// Copies the components that Bevy systems have written into the properties of the paired objects.
pub(crate) fn copy_in(mirror: NonSend<Mirror>, written: Query<(&Scripted, &Position, &Velocity), Written>) {
    for (scripted, position, velocity) in &written {
        // The write fails if the object was destroyed in this frame.
        let _ended = mirror.write(scripted.object(), *position, *velocity);
    }
}

/// Copies the properties that plugin code has written into the components. Marks a component as changed only if its value differs.
pub(crate) fn copy_out(mirror: NonSend<Mirror>, mut entities: Query<(&Scripted, &mut Position, &mut Velocity)>) {
    for (scripted, mut position, mut velocity) in &mut entities {
        if let Ok((new_position, new_velocity)) = mirror.read(scripted.object()) {
            position.set_if_neq(new_position);
            velocity.set_if_neq(new_velocity);
        }
    }
}
