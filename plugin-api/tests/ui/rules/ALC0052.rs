//! ALC0052.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uinterface(package = "Game")]
pub trait Hears
where
    Self: Sized,
 {

}

fn main() {}
