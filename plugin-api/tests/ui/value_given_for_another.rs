//! What is given has to fit.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

fn add(names: &Lent<UArray<String>>) {
    names.push(1.0);
}

fn main() {
    let _ = add;
}
