//! What a web server keeps in its process: a book that its handlers sign. The book is an object of the host, so its pages
//! live on while this code is replaced. `runtime/examples/web-server` serves it.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;
use fixture::BUILD;

module! { name: "server_handler" }

/// Who was here.
#[uclass(package = "Game", base = Object)]
pub struct Guestbook {
    /// How many have signed.
    #[uproperty]
    guests: u64,
    /// Who signed last.
    #[uproperty]
    last: String,
}

#[uclass]
impl Guestbook {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self {}
    }

    /// One more guest; the line that is shown to him.
    #[ufunction]
    fn sign(&mut self, this: This<Self>, name: String) -> String {
        let guests = this.guests() + 1;
        this.set_guests(guests);
        this.set_last(name.as_str());
        format!("{name} is guest {guests} of build {BUILD}")
    }
}
