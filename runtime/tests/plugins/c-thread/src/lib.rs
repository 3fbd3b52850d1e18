//! Clock that C code drives. A C thread calls back, and each callback posts to the game thread. The exit hook stops the thread, because the
//! C library does not support unloading.

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

/// Clock that counts beats.
#[uclass(package = "Game", base = Actor, blueprintable)]
pub struct Clock {
    /// Number of received beats.
    #[uproperty(edit_anywhere, default = 0)]
    beats: i32,
}

#[uclass]
impl Clock {
    /// Starts a beat every `microseconds`. Returns `false` if the metronome is already running or cannot start.
    #[ufunction(blueprint_callable)]
    fn listen(&self, this: This<Self>, microseconds: u32) -> bool {
        let me = this.as_obj();
        metronome::start(microseconds, move || {
            // The post fails during the module's unload. Ignores beats at that time.
            let _late = task::post_to(me, |this| this.set_beats(this.beats() + 1));
        })
    }
}
