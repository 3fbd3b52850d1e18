//! Uses the blocking client, which has a thread with a runtime. The client is dropped when the module ends. In the row `reqwest-leaked`,
//! the client is left in a static.

use crate::local::{self, Kept};

use reqwest::Error;
use reqwest::blocking::Client;

static CLIENT: Kept<Client> = Kept::new();

pub(crate) fn begin() {
    CLIENT.keep(Client::builder().no_proxy().build());
}

pub(crate) fn work() -> String {
    CLIENT.work(|client| {
        local::with_server(|address| Ok::<_, Error>(client.get(format!("http://{address}/")).send()?.text()? == "ok"))
    })
}

pub(crate) fn end() {
    if cfg!(not(feature = "reqwest-leaked")) {
        drop(CLIENT.take());
    }
}
