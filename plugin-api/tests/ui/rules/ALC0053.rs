//! ALC0053.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uinterface(package = "Game")]
pub unsafe trait Hears {

}

fn main() {}
