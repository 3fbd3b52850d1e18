//! A guest book that handlers of a web server sign. The guest book is an object of the host, so its entries survive reloads of this code.
//! `runtime/examples/web-server` is the server.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;
use fixture::BUILD;

module! { name: "server_handler" }

/// A guest book.
#[uclass(package = "Game", base = Object)]
pub struct Guestbook {
    /// Number of signatures.
    #[uproperty]
    guests: u64,
    /// Name of the last guest.
    #[uproperty]
    last: String,
}

#[uclass]
impl Guestbook {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self {}
    }

    /// Adds a guest. Returns the line for the response.
    #[ufunction]
    fn sign(&mut self, this: This<Self>, name: String) -> String {
        let guests = this.guests() + 1;
        this.set_guests(guests);
        this.set_last(name.as_str());
        format!("{name} is guest {guests} of build {BUILD}")
    }
}
