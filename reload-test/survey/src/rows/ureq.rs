//! Uses a client without threads. The client is dropped when the module ends. In the row `ureq-leaked`, the client is left in a static.

use crate::local::{self, Kept};

use ureq::{Agent, Error};

static AGENT: Kept<Agent> = Kept::new();

pub(crate) fn begin() {
    AGENT.keep(Ok::<_, Error>(Agent::new_with_defaults()));
}

pub(crate) fn work() -> String {
    AGENT.work(|agent| {
        local::with_server(|address| {
            let mut answer = agent.get(format!("http://{address}/")).call()?;
            Ok::<_, Error>(answer.body_mut().read_to_string()? == "ok")
        })
    })
}

pub(crate) fn end() {
    if cfg!(not(feature = "ureq-leaked")) {
        drop(AGENT.take());
    }
}
