//! A view, of a parameter or of anything else, does not live long enough for a static.
#![forbid(unsafe_code)]

use std::cell::Cell;

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Hoarder {}

#[uclass]
impl Hoarder {
    #[ufunction]
    fn hoard(&mut self, list: Lent<UArray<f64>>) {
        KEPT.with(|kept| kept.set(Some(list)));
    }
}

thread_local! {
    static KEPT: Cell<Option<Lent<'static, UArray<f64>>>> = const { Cell::new(None) };
}

fn main() {}
