//! An interface that a host declares: native classes and this module implement it, and either calls the other.

use alcedo_plugin_api::prelude::*;

use crate::switches::Switches;

/// A switch of this module, which knows another one.
#[uclass(package = "Game", implements(Switches))]
#[derive(Default)]
pub struct Relay {
    /// What it switches in turn.
    #[uproperty]
    next: ScriptInterface<Switches>,
}

#[uclass]
impl Switches for Relay {
    fn switch(&self, this: This<Self>, on: bool) -> Result<String, CallError> {
        match this.next().get(&this) {
            Some(next) => Ok(format!("relay, {}", next.switch(on))),
            None => Ok("relay".to_owned()),
        }
    }
}
