//! ALC0177.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[udelegate(multicast, package = "Game")]
pub type OnScored<T> = fn(points: T);

#[udelegate(multicast, package = "Game")]
pub type OnMissed = unsafe extern "C" fn(points: i32);

fn main() {}
