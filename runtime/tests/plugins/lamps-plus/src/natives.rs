//! Interface that a host declares. Native classes and this module implement the interface, and call each other.

use alcedo_plugin_api::prelude::*;

use crate::switches::Switches;

/// Switch that forwards to another switch.
#[uclass(package = "Game", implements(Switches))]
#[derive(Default)]
pub struct Relay {
    /// Next switch.
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
