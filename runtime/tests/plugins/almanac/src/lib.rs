//! Database that only one owner may have open. The old generation closes the database in `suspend`. After a failed reload, this generation
//! opens the database again in `resume`. If the reload succeeds, `exit` finds the database closed.

#![forbid(unsafe_code)]

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use alcedo_plugin_api::prelude::*;
use redb::{Database, Error, ReadableDatabase as _, ReadableTable as _, TableDefinition};

module! { name: "almanac", main: started, exit: closed, suspend: closed, resume: opened }

const STARTS: TableDefinition<'_, &str, u64> = TableDefinition::new("starts");

static DATABASE: Mutex<Option<Database>> = Mutex::new(None);

static PATH: OnceLock<String> = OnceLock::new();

fn database() -> MutexGuard<'static, Option<Database>> {
    DATABASE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens the database at the path in the first argument. A panic here fails the load.
fn started(args: &[&str]) {
    let Some(path) = args.first() else { return };
    let _first = PATH.set((*path).to_owned());
    opened().and_then(|()| count()).unwrap_or_else(|error| panic!("{path}: {error}"));
}

fn opened() -> Result<(), Error> {
    let mut database = database();
    if let (None, Some(path)) = (&*database, PATH.get()) {
        *database = Some(Database::create(path)?);
    }
    Ok(())
}

fn closed() {
    drop(database().take());
}

/// Increments the start counter.
fn count() -> Result<(), Error> {
    let database = database();
    let Some(database) = &*database else { return Ok(()) };
    let transaction = database.begin_write()?;
    {
        let mut table = transaction.open_table(STARTS)?;
        let starts = table.get("starts")?.map_or(0, |starts| starts.value());
        table.insert("starts", starts + 1)?;
    }
    Ok(transaction.commit()?)
}

/// Returns the number of generations that have started. The number includes generations that failed to load after their start.
#[zcall(ex = "almanac.starts")]
fn starts() -> u64 {
    let read = || -> Result<u64, Error> {
        let database = database();
        let Some(database) = &*database else { return Ok(0) };
        let table = database.begin_read()?.open_table(STARTS)?;
        Ok(table.get("starts")?.map_or(0, |starts| starts.value()))
    };
    read().unwrap_or_else(|error| panic!("{error}"))
}
