//! Uses a connection pool with maintenance threads. The pool is dropped when the module ends. In the row `r2d2-leaked`, the pool is left in
//! a static. By default, as in the row `r2d2-dropped`, the threads of a dropped pool may wait up to half a minute for their next task. With
//! the custom scheduler of the other rows, the threads end immediately.

use std::convert::Infallible;
use std::sync::Arc;

use crate::local::Kept;

use r2d2::{ManageConnection, Pool};
use scheduled_thread_pool::{OnPoolDropBehavior, ScheduledThreadPool};

struct Numbers;

impl ManageConnection for Numbers {
    type Connection = u64;
    type Error = Infallible;

    fn connect(&self) -> Result<u64, Infallible> {
        Ok(42)
    }

    fn is_valid(&self, _connection: &mut u64) -> Result<(), Infallible> {
        Ok(())
    }

    fn has_broken(&self, _connection: &mut u64) -> bool {
        false
    }
}

static POOL: Kept<Pool<Numbers>> = Kept::new();

pub(crate) fn begin() {
    let mut builder = Pool::builder().max_size(3);
    if cfg!(not(feature = "r2d2-dropped")) {
        let threads = ScheduledThreadPool::builder().num_threads(3);
        let threads = threads.on_drop_behavior(OnPoolDropBehavior::DiscardPendingScheduled);
        builder = builder.thread_pool(Arc::new(threads.build()));
    }
    POOL.keep(builder.build(Numbers));
}

pub(crate) fn work() -> String {
    POOL.work(|pool| Ok::<_, r2d2::Error>(*pool.get()? == 42))
}

pub(crate) fn end() {
    if cfg!(not(feature = "r2d2-leaked")) {
        drop(POOL.take());
    }
}
