//! Twenty classes of ten properties and ten functions. Written by `cargo run -- --write`.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

pub mod class_00;
pub mod class_01;
pub mod class_02;
pub mod class_03;
pub mod class_04;
pub mod class_05;
pub mod class_06;
pub mod class_07;
pub mod class_08;
pub mod class_09;
pub mod class_10;
pub mod class_11;
pub mod class_12;
pub mod class_13;
pub mod class_14;
pub mod class_15;
pub mod class_16;
pub mod class_17;
pub mod class_18;
pub mod class_19;

module! { name: "with_attributes" }
