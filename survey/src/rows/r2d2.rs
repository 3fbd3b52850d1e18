//! A pool of connections with threads that look after them; dropped when the module ends, or left in a static.

use std::convert::Infallible;

use crate::local::Kept;

use r2d2::{ManageConnection, Pool};

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
    POOL.keep(Pool::builder().max_size(3).build(Numbers));
}

pub(crate) fn work() -> String {
    POOL.work(|pool| Ok::<_, r2d2::Error>(*pool.get()? == 42))
}

pub(crate) fn end() {
    if cfg!(not(feature = "r2d2-leaked")) {
        drop(POOL.take());
    }
}
