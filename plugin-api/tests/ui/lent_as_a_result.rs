//! A view is no result: the value itself is.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Giver {
    #[uproperty]
    list: UArray<f64>,
}

#[uclass]
impl Giver {
    #[ufunction]
    fn give(&self, this: This<Self>) -> Lent<'static, UArray<f64>> {
        this.list()
    }
}

fn main() {}
