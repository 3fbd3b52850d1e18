//! What an attacker tries who may write safe code only. Each file holds the plugin's side of one kind of attack, and
//! `runtime/tests/attacks` the host's side and what has to come of it: a typed error, and a host that goes on.

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

/// One that does no harm: so a test can see that the host still answers.
#[uclass(package = "Game", base = Object)]
pub struct Bystander {}

#[uclass]
impl Bystander {
    /// Answers.
    #[ufunction(blueprint_callable)]
    fn answer(&self) -> String {
        "still here".to_owned()
    }
}
