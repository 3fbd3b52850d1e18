//! A slice is lent of values that lie in host memory as they do in Rust: `cargo check` says so where it is asked for.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[ustruct(pod, package = "Game")]
pub struct Spot {
    at: f64,
    is_lit: bool,
}

fn count(texts: Lent<'_, UArray<UString>>, flags: Lent<'_, UArray<bool>>, spots: Lent<'_, UArray<Spot>>) -> usize {
    texts.with_slice(|texts| texts.len())
        + flags.with_slice_mut(|flags| flags.len())
        + spots.try_with_slice(|spots| spots.len()).unwrap_or_default()
}

fn main() {}
