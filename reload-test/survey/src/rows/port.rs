//! A fixed port, which only one can have: given up in `suspend`, before the next generation begins.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Mutex, PoisonError};

static LISTENER: Mutex<Option<TcpListener>> = Mutex::new(None);

/// The same in every generation, and another in every process.
fn address() -> (Ipv4Addr, u16) {
    (Ipv4Addr::LOCALHOST, 20_000 + u16::try_from(std::process::id() % 10_000).unwrap_or(0))
}

pub(crate) fn begin() {
    *LISTENER.lock().unwrap_or_else(PoisonError::into_inner) = TcpListener::bind(address()).ok();
}

pub(crate) fn work() -> String {
    let listener = LISTENER.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(listener) = &*listener else { return "the port is taken".to_owned() };
    // Who closes first keeps the port for a minute, so that is the side without a fixed one.
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
