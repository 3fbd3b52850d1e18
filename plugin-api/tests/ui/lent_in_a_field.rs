//! A view cannot be kept in the plugin part: a `clone()` of the value can.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Hoarder {
    #[uproperty]
    list: UArray<f64>,

    kept: Option<Lent<'static, UArray<f64>>>,
}

#[uclass]
impl Hoarder {
    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {
        self.kept = Some(this.list());
    }
}

fn main() {}
