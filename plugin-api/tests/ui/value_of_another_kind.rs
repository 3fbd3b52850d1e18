//! A value that plugin code owns keeps its kind, also where its hidden parts are named or lie in the same module.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;
use alcedo_plugin_api::{Kind, Value};

#[ustruct(package = "Game")]
pub struct Words {
    a: u64,
}

#[ustruct(package = "Game")]
pub struct Others {
    a: String,
}

fn by_the_trait() -> Words {
    Kind::from_owned(<UArray<u64> as Value>::out())
}

fn by_the_private_field(others: Others) -> Words {
    Words(others.0)
}

fn main() {}
