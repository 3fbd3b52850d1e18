//! A clock whose hands are moved by C code: a thread of its own calls back, and each call is posted to the game thread.
//! The exit hook stops that thread: no C library knows that it can be unloaded.

#![deny(unsafe_code)]

use alcedo_plugin_api::prelude::*;
use engine_glue::Actor;

mod metronome;
#[cfg(any(feature = "static-tls", feature = "little-static-tls"))]
mod static_tls;

module! { name: "c_thread", exit: ended }

fn ended() {
    #[cfg(any(feature = "static-tls", feature = "little-static-tls"))]
    static_tls::touch();
    if !fixture::on!("forgets-to-stop") {
        metronome::stop();
    }
}

/// A clock.
#[uclass(package = "Game", base = Actor, blueprintable)]
pub struct Clock {
    /// The beats it heard.
    #[uproperty(edit_anywhere, default = 0)]
    beats: i32,
}

#[uclass]
impl Clock {
    /// Starts to hear a beat every so many microseconds. Whether it does: there is one metronome.
    #[ufunction(blueprint_callable)]
    fn listen(&self, this: This<Self>, microseconds: u32) -> bool {
        let me = this.as_obj();
        metronome::start(microseconds, move || {
            // A beat that comes while the module is on its way out is ignored.
            let _late = task::post_to(me, |this| this.set_beats(this.beats() + 1));
        })
    }
}
