//! Runs futures on a thread pool. The pool is dropped when the module ends. In the row `futures-leaked`, the pool is left in a static.

use crate::local::Kept;

use futures::channel::mpsc;
use futures::executor::{ThreadPool, block_on};
use futures::{StreamExt as _, join};

static POOL: Kept<ThreadPool> = Kept::new();

pub(crate) fn begin() {
    POOL.keep(ThreadPool::builder().pool_size(2).create());
}

pub(crate) fn work() -> String {
    POOL.work(|pool| {
        let (sender, receiver) = mpsc::unbounded();
        for number in 0..10_u64 {
            let sender = sender.clone();
            pool.spawn_ok(async move { drop(sender.unbounded_send(number)) });
        }
        drop(sender);
        let (sum, one) =
            block_on(async { join!(receiver.fold(0, |sum, number| async move { sum + number }), async { 1 }) });
        Ok::<_, ()>((sum, one) == (45, 1))
    })
}

pub(crate) fn end() {
    if cfg!(not(feature = "futures-leaked")) {
        drop(POOL.take());
    }
}
