//! Uses a pool of connections to SQLite databases in memory. Each connection has a thread. The pool is closed when the module ends. In the
//! row `sqlx-leaked`, the pool is left in a static with the runtime.

use crate::local::Kept;

use sqlx::SqlitePool;
use sqlx::sqlite::SqlitePoolOptions;
use tokio::runtime::{Builder, Runtime};

static POOL: Kept<(Runtime, SqlitePool)> = Kept::new();

fn pool() -> Result<(Runtime, SqlitePool), Box<dyn std::error::Error>> {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let pool = runtime.block_on(SqlitePoolOptions::new().max_connections(1).connect("sqlite::memory:"))?;
    Ok((runtime, pool))
}

pub(crate) fn begin() {
    POOL.keep(pool());
}

pub(crate) fn work() -> String {
    POOL.work(|(runtime, pool)| {
        runtime.block_on(async {
            sqlx::query("create table if not exists numbers (number integer)").execute(&*pool).await?;
            sqlx::query("delete from numbers").execute(&*pool).await?;
            for number in 0..10_i64 {
                sqlx::query("insert into numbers values (?)").bind(number).execute(&*pool).await?;
            }
            let sum: i64 = sqlx::query_scalar("select sum(number) from numbers").fetch_one(&*pool).await?;
            Ok::<_, sqlx::Error>(sum == 45)
        })
    })
}

pub(crate) fn end() {
    let Some((runtime, pool)) = (if cfg!(feature = "sqlx-leaked") { None } else { POOL.take() }) else { return };
    runtime.block_on(pool.close());
    drop(pool);
    // Waits for the threads of the runtime.
    drop(runtime);
}
