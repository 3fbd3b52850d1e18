//! Attacks by a plugin author who may write only safe code. Each file contains the plugin side of one kind of attack.
//! `runtime/tests/attacks` contains the host side. Each host-side test expects a typed error and a host that continues.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

mod broken_drops;
mod ends;
mod rollback;
#[cfg(feature = "doomed")]
mod teller;
mod values;

module! { name: "attacker", main: started, exit: ended }

fn started() {
    ends::started();
    rollback::started();
}

fn ended() {
    ends::ended();
    rollback::ended();
}

/// Harmless class. Tests use it to check that the host still responds.
#[uclass(package = "Game", base = Object)]
pub struct Bystander {}

#[uclass]
impl Bystander {
    /// Returns a fixed reply.
    #[ufunction(blueprint_callable)]
    fn answer(&self) -> String {
        "still here".to_owned()
    }
}
