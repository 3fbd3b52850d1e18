//! ALC0192.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uenum(package = "Game")]
#[repr(i32)]
pub enum Channel {
    None,
    Far = 300,
}

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Radio {
    #[uproperty(blueprint_read, enum_as_byte)]
    channel: Channel,
}

fn main() {}
