//! Awaits a signal on a tokio runtime. The runtime is shut down when the module ends, but the signal handler cannot be removed.
#![allow(unsafe_code, reason = "raises the signal")]

use std::io;
use std::time::Duration;

use crate::local::Kept;

use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

static RUNTIME: Kept<Runtime> = Kept::new();

pub(crate) fn begin() {
    RUNTIME.keep(Builder::new_multi_thread().worker_threads(1).enable_all().build());
}

pub(crate) fn work() -> String {
    RUNTIME.work(|runtime| {
        runtime.block_on(async {
            let mut signals = signal(SignalKind::user_defined2())?;
            // SAFETY: passes no pointer, and the handler is installed.
            unsafe { libc::raise(libc::SIGUSR2) };
            let seen = tokio::time::timeout(Duration::from_secs(5), signals.recv()).await;
            Ok::<_, io::Error>(matches!(seen, Ok(Some(()))))
        })
    })
}

pub(crate) fn end() {
    drop(RUNTIME.take());
}
