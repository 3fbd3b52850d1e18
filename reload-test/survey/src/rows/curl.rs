//! Sends requests to a server on this machine through a handle. The handle is dropped when the module ends. In the row `curl-leaked`, the
//! handle is left in a static. libcurl is a C library, and the crate cannot release its global state.

use crate::local::{self, Kept};

use curl::Error;
use curl::easy::Easy;

static HANDLE: Kept<Easy> = Kept::new();

pub(crate) fn begin() {
    HANDLE.keep(Ok::<_, Error>(Easy::new()));
}

pub(crate) fn work() -> String {
    HANDLE.work(|handle| {
        local::with_server(|address| {
            let mut answer = Vec::new();
            handle.url(&format!("http://{address}/"))?;
            {
                let mut transfer = handle.transfer();
                transfer.write_function(|part| {
                    answer.extend_from_slice(part);
                    Ok(part.len())
                })?;
                transfer.perform()?;
            }
            Ok::<_, Error>(answer == b"ok" && handle.response_code()? == 200)
        })
    })
}

pub(crate) fn end() {
    if cfg!(not(feature = "curl-leaked")) {
        drop(HANDLE.take());
    }
}
