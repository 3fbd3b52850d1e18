//! Uses a client with a panic hook and a transport that counts events. The client is closed when the module ends. In the row
//! `sentry-leaked`, the client is left in a static.

use std::panic::catch_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::local::Kept;

use sentry::{ClientInitGuard, ClientOptions, Envelope, Level, Transport};

static SENT: AtomicUsize = AtomicUsize::new(0);
static CLIENT: Kept<ClientInitGuard> = Kept::new();

struct Count;

impl Transport for Count {
    fn send_envelope(&self, _envelope: Envelope) {
        SENT.fetch_add(1, Ordering::SeqCst);
    }
}

pub(crate) fn begin() {
    let count = |_options: &ClientOptions| -> Arc<dyn Transport> { Arc::new(Count) };
    let mut options = ClientOptions::default();
    options.dsn = "https://public@localhost/1".parse().ok();
    options.transport = Some(Arc::new(count));
    CLIENT.keep(Ok::<_, ()>(sentry::init(options)));
}

pub(crate) fn work() -> String {
    CLIENT.work(|client| {
        let before = SENT.load(Ordering::SeqCst);
        sentry::capture_message("a message", Level::Info);
        let is_caught = catch_unwind(|| panic!("a panic")).is_err();
        client.flush(None);
        Ok::<_, ()>(is_caught && SENT.load(Ordering::SeqCst) == before + 2)
    })
}

pub(crate) fn end() {
    if cfg!(not(feature = "sentry-leaked")) {
        let _in_time = CLIENT.take().map(|client| client.close(None));
    }
}
