//! Objects are the game thread's: neither a runtime nor a world gets to another one.

use alcedo_runtime::{Runtime, World};

fn send(host: Runtime) {
    std::thread::spawn(move || host.safe_point());
}

fn share(world: &'static World) {
    std::thread::spawn(move || world.object_count());
}

fn main() {}
