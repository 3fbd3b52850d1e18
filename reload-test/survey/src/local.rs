//! Shared helpers of rows: storage for values, unique paths, and a server on this machine.
#![allow(dead_code, reason = "each build has one row, which needs some of it")]

use std::fmt::Debug;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Static storage for a value. The value exists as long as the module, or longer.
pub(crate) struct Kept<T>(Mutex<Option<T>>);

impl<T> Kept<T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Stores a value. If its creation failed, prints the error, and [`work`](Self::work) later reports the missing value.
    pub(crate) fn keep<E: Debug>(&self, made: Result<T, E>) {
        match made {
            Ok(made) => *self.0.lock().expect("no thread panics while holding the lock") = Some(made),
            Err(error) => eprintln!("the value could not be created: {error:?}"),
        }
    }

    /// Uses the stored value. Returns `ok`, or a description of the problem.
    pub(crate) fn work<E: Debug>(&self, use_it: impl FnOnce(&mut T) -> Result<bool, E>) -> String {
        let mut kept = self.0.lock().expect("no thread panics while holding the lock");
        let Some(kept) = &mut *kept else { return "there is nothing to use".to_owned() };
        report(use_it(kept))
    }

    /// Removes and returns the value, so that the caller can shut it down.
    pub(crate) fn take(&self) -> Option<T> {
        self.0.lock().expect("no thread panics while holding the lock").take()
    }
}

/// Returns `ok`, or a description of the problem.
pub(crate) fn report<E: Debug>(done: Result<bool, E>) -> String {
    match done {
        Ok(true) => "ok".to_owned(),
        other => format!("{other:?}"),
    }
}

/// Returns a path in the temporary folder of the run. The path contains the current time, so each generation gets a different path.
pub(crate) fn path(name: &str) -> PathBuf {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    std::env::temp_dir().join(format!("alcedo-survey-{}-{now}-{name}", std::process::id()))
}

/// Calls `client` with the address of an HTTP server. The server responds to each request with `ok`, and ends when `client` returns.
pub(crate) fn with_server<T>(client: impl FnOnce(SocketAddr) -> T) -> T {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a port");
    let address = listener.local_addr().expect("it is bound");
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while let Ok((stream, _)) = listener.accept() {
                if is_over.load(Ordering::SeqCst) {
                    break;
                }
                answer(stream);
            }
        });
        let done = client(address);
        is_over.store(true, Ordering::SeqCst);
        // Wakes the server, which then checks `is_over`.
        drop(TcpStream::connect(address));
        done
    })
}

fn answer(mut stream: TcpStream) {
    let _unsupported = stream.set_read_timeout(Some(Duration::from_secs(5)));
    let mut request = Vec::new();
    let mut part = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut part) {
            Ok(0) | Err(_) => return,
            Ok(length) => request.extend_from_slice(&part[..length]),
        }
    }
    let _gone = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
}
