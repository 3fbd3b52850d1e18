//! Opens a database in a folder. The database is flushed and dropped when the module ends. In the row `sled-leaked`, the database is left
//! in a static, and its flushing thread keeps running.

use crate::local::{self, Kept};

use sled::Db;

static DATABASE: Kept<Db> = Kept::new();

pub(crate) fn begin() {
    DATABASE.keep(sled::Config::new().path(local::path("sled")).temporary(true).open());
}

pub(crate) fn work() -> String {
    DATABASE.work(|database| {
        for number in 0..10_u8 {
            database.insert([number], &[number * 2])?;
        }
        database.flush()?;
        Ok::<_, sled::Error>(database.get([9])?.is_some_and(|found| found == [18]))
    })
}

pub(crate) fn end() {
    if cfg!(not(feature = "sled-leaked")) {
        drop(DATABASE.take());
    }
}
