//! Functions for the custom thunks of a module. A custom thunk refers to its call frame by number.

use crate::boundary::{CallError, mismatch};
use crate::bridge::core::Core;
use crate::bridge::frames::{number, text};
use crate::object::containers::{array_ref, keyed};

pub(super) fn frame_step(core: &Core, frame: u64) -> Result<u32, CallError> {
    core.frames.step(frame)
}

pub(super) fn frame_finish(core: &Core, frame: u64) -> Result<(), CallError> {
    core.frames.finish(frame)
}

pub(super) fn frame_type(core: &Core, frame: u64, param: u32, path: String) -> Result<String, CallError> {
    core.frames.read(frame, param, &path, |value| Ok(value.ty().to_string()))
}

pub(super) fn frame_count(core: &Core, frame: u64, param: u32, path: String) -> Result<u32, CallError> {
    core.frames.read(frame, param, &path, |value| {
        let rows = array_ref(value).map(|rows| rows.len()).or_else(|| keyed(value).map(|rows| rows.len()));
        rows.ok_or_else(|| mismatch(&"the value", value.ty(), &"an array, a set or a map"))
    })
}

pub(super) fn frame_number(core: &Core, frame: u64, param: u32, path: String) -> Result<f64, CallError> {
    core.frames.read(frame, param, &path, number)
}

pub(super) fn frame_text(core: &Core, frame: u64, param: u32, path: String) -> Result<String, CallError> {
    core.frames.read(frame, param, &path, |value| Ok(text(value, &core.world.names)))
}

pub(super) fn frame_write(core: &Core, frame: u64, param: u32, text: String) -> Result<(), CallError> {
    core.frames.write(frame, param, &text, &core.world)
}
