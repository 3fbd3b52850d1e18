//! Uses a tokio runtime with threads, which is shut down when the module ends.

use std::sync::Mutex;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);

pub(crate) fn begin() {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    *RUNTIME.lock().expect("no thread panics while holding the lock") = runtime.ok();
}

pub(crate) fn work() -> String {
    let runtime = RUNTIME.lock().expect("no thread panics while holding the lock");
    let Some(runtime) = &*runtime else { return "no runtime".to_owned() };
    let sum = runtime.block_on(async {
        let tasks: Vec<_> = (0..4).map(|number| tokio::spawn(async move { number })).collect();
        let blocking = tokio::task::spawn_blocking(|| 36);
        tokio::time::sleep(Duration::from_millis(1)).await;
        let mut sum = blocking.await.unwrap_or(0);
        for task in tasks {
            sum += task.await.unwrap_or(0);
        }
        sum
    });
    if sum == 42 { "ok".to_owned() } else { format!("{sum}") }
}

pub(crate) fn end() {
    // Waits for the threads of the runtime.
    RUNTIME.lock().expect("no thread panics while holding the lock").take();
}
