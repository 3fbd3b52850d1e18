//! Uses a tokio runtime with threads, and never shuts it down.

use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};

static RUNTIME: OnceLock<Option<Runtime>> = OnceLock::new();

pub(crate) fn begin() {
    RUNTIME.get_or_init(|| Builder::new_multi_thread().worker_threads(2).enable_all().build().ok());
}

pub(crate) fn work() -> String {
    let Some(Some(runtime)) = RUNTIME.get() else { return "no runtime".to_owned() };
    let sum = runtime.block_on(async { tokio::spawn(async { 42 }).await.unwrap_or(0) });
    if sum == 42 { "ok".to_owned() } else { format!("{sum}") }
}

pub(crate) fn end() {}
