//! Listens on a fixed port. Only one generation can own this port. `suspend` releases the port before the next generation starts.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Mutex, PoisonError};

static LISTENER: Mutex<Option<TcpListener>> = Mutex::new(None);

/// Returns an address that is the same in every generation and differs between processes.
fn address() -> (Ipv4Addr, u16) {
    (Ipv4Addr::LOCALHOST, 20_000 + u16::try_from(std::process::id() % 10_000).unwrap_or(0))
}

pub(crate) fn begin() {
    *LISTENER.lock().unwrap_or_else(PoisonError::into_inner) = TcpListener::bind(address()).ok();
}

pub(crate) fn work() -> String {
    let listener = LISTENER.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(listener) = &*listener else { return "the port is taken".to_owned() };
    // The port of the side that closes first stays reserved for a minute, so the client closes first.
    match TcpStream::connect(address()).and_then(|client| listener.accept().map(|served| (client, served))) {
        Ok((client, served)) => {
            drop(client);
            drop(served);
            "ok".to_owned()
        }
        Err(error) => error.to_string(),
    }
}

pub(crate) fn end() {
    LISTENER.lock().unwrap_or_else(PoisonError::into_inner).take();
}
