//! A frame is made by a call alone, so its parameters are those of its function.

use alcedo_runtime::{CallError, Frame, ObjectHandle, World};

fn over(object: ObjectHandle, _world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let mut other = Frame::over(object, frame.function, frame.params);
    other.finish()
}

fn new(object: ObjectHandle, block: &mut alcedo_runtime::ParamBlock<'_>) -> Frame<'_> {
    Frame::new(object, block)
}

fn main() {}
