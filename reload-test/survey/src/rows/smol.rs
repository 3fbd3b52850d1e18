//! Uses the default executor of smol, which cannot be shut down.

use std::time::Duration;

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let sum = smol::block_on(async {
        let task = smol::spawn(async { 40 });
        smol::Timer::after(Duration::from_millis(1)).await;
        task.await + smol::unblock(|| 2).await
    });
    if sum == 42 { "ok".to_owned() } else { format!("{sum}") }
}

pub(crate) fn end() {}
