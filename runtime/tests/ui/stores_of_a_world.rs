//! The stores of a world are the runtime's: they lead to memory, to functions and to the mode.

use alcedo_runtime::{ObjectHandle, Runtime, World};

fn reach(host: &Runtime, object: ObjectHandle) {
    let world = host.world();
    let _memory = world.objects.memory(object);
    world.types.redirect("/Script/Game.Left", "/Script/Game.Right");
    world.mode.set(0);
    let _names = &world.names;
    let _counters = &world.counters;
}

fn make() -> World {
    World::new()
}

fn main() {}
