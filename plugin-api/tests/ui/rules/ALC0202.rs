//! ALC0202.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;
use alcedo_plugin_api::thunk::Frame;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[ufunction(blueprint_callable, array_parm = "times")]
    fn ring(times: Vec<u32>) -> f64 {
        0.0
    }

    fn exec_ring(frame: &mut Frame<'_>) -> Result<(), CallError> {
        let times = frame.step()?;
        frame.finish()?;
        frame.give(frame.number(times, "")?)
    }
}

fn main() {}
