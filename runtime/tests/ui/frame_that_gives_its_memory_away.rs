//! A frame gives values, never the block they lie in, and it stays a call of the object that it was made for.

use alcedo_runtime::{CallError, Frame, ObjectHandle, World};

fn body(world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let _memory: *mut u8 = frame.hand_over();
    frame.object = ObjectHandle::NONE;
    (frame.function.thunk)(world, frame)
}

fn main() {}
