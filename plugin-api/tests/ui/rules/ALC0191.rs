//! ALC0191.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uenum(package = "Game")]
#[repr(i32)]
pub enum Channel {
    None,
    Far = 255,
}

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Radio {
    #[uproperty(blueprint_read_write)]
    channel: Channel,
}

fn main() {}
