//! A courier that fetches parcels with the plugin's own tokio runtime, which runs from `main` to `exit`. The threads of this runtime never
//! access the engine; they post closures to the game thread instead.

#![forbid(unsafe_code)]

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use alcedo_plugin_api::prelude::*;
use engine_glue::Actor;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;

module! { name: "async_tasks", main: started, exit: ended }

/// Time for which the exit hook waits for tasks that reach no `await`. The host's report lists threads that run even longer.
const PATIENCE: Duration = Duration::from_secs(5);

static WORKER: Mutex<Option<Runtime>> = Mutex::new(None);

fn started() {
    let worker = Builder::new_multi_thread().worker_threads(2).thread_name("tokio-worker").enable_time().build();
    *worker_slot() = Some(worker.unwrap_or_else(|error| panic!("the tokio runtime: {error}")));
}

fn ended() {
    // Takes the tokio runtime out of the static, because a static is never dropped. The shutdown then joins the threads of the runtime.
    let worker = worker_slot().take();
    if let Some(worker) = worker {
        worker.shutdown_timeout(PATIENCE);
    }
}

fn worker_slot() -> MutexGuard<'static, Option<Runtime>> {
    WORKER.lock().unwrap_or_else(PoisonError::into_inner)
}

fn worker() -> Handle {
    let worker = worker_slot();
    worker.as_ref().map(Runtime::handle).cloned().unwrap_or_else(|| panic!("the worker runs from `main` to `exit`"))
}

/// Fetches parcels.
#[uclass(package = "Game", base = Actor, blueprintable)]
pub struct Courier {
    /// Number of delivered parcels.
    #[uproperty(edit_anywhere, default = 0)]
    parcels: i32,
    /// Last answer of a tokio task.
    #[uproperty]
    answer: String,
}

#[uclass]
impl Courier {
    /// Fetches `parcels` parcels, each in a tokio task that waits `milliseconds` and then posts to this object.
    #[ufunction(blueprint_callable)]
    fn fetch(&self, this: This<Self>, parcels: u32, milliseconds: u32) {
        let (me, worker) = (this.as_obj(), worker());
        for _ in 0..parcels {
            worker.spawn(async move {
                tokio::time::sleep(Duration::from_millis(milliseconds.into())).await;
                let posted = task::post_to(me, |this| this.set_parcels(this.parcels() + 1));
                // The post fails only while the module is being unloaded, when the parcel is no longer needed.
                if let Err(error) = posted {
                    tracing::debug!(%error, "a parcel came too late");
                }
            });
        }
    }

    /// Sends a question to a tokio task, and awaits the answer in a task of the game thread. A tokio thread calls the waker of this
    /// task.
    #[ufunction(blueprint_callable)]
    fn query(&self, this: This<Self>, question: String) {
        let (sender, receiver) = oneshot::channel();
        worker().spawn(async move {
            tokio::time::sleep(Duration::from_millis(1)).await;
            // If the object was destroyed, the task and its receiver were dropped, and the send fails. This error is ignored.
            let _unheard =
                sender.send(format!("{question}? on {}", std::thread::current().name().unwrap_or("a thread")));
        });
        let me = this.as_obj();
        task::spawn(this, async move {
            if let Ok(answer) = receiver.await {
                me.with(|this| this.set_answer(answer.as_str()))?;
            }
            Ok(())
        });
    }
}
