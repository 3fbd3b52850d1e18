//! Even where the plugin part could be sent, `This` does not live long enough.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Hoarder {
    names: Vec<String>,
}

#[uclass]
impl Hoarder {
    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {
        KEPT.with(|kept| kept.set(Some(this)));
        self.names.push(this.name());
    }
}

thread_local! {
    static KEPT: std::cell::Cell<Option<This<'static, Hoarder>>> = const { std::cell::Cell::new(None) };
}

fn main() {}
