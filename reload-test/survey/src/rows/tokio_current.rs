//! Runs a tokio runtime on the calling thread, for the duration of a call.

use std::time::Duration;

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return "no runtime".to_owned() };
    let sum = runtime.block_on(async {
        let task = tokio::spawn(async { 40 });
        tokio::time::sleep(Duration::from_millis(1)).await;
        task.await.unwrap_or(0) + 2
    });
    if sum == 42 { "ok".to_owned() } else { format!("{sum}") }
}

pub(crate) fn end() {}
