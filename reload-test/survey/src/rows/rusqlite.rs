//! Opens a database in memory and a database in a file. Their connections are in a static, and are never closed. SQLite is a C library.

use std::sync::{Mutex, OnceLock};

use rusqlite::Connection;

static OPEN: OnceLock<Mutex<Vec<Connection>>> = OnceLock::new();

pub(crate) fn begin() {
    let file = std::env::temp_dir().join(format!("alcedo-survey-{}.sqlite", std::process::id()));
    let all = [Connection::open_in_memory(), Connection::open(file)];
    OPEN.get_or_init(|| Mutex::new(all.into_iter().flatten().collect()));
}

pub(crate) fn work() -> String {
    let Some(open) = OPEN.get() else { return "no connection".to_owned() };
    let open = open.lock().expect("no thread panics while holding the lock");
    let sum = |connection: &Connection| {
        connection.execute("create table if not exists numbers (number integer)", [])?;
        connection.execute("delete from numbers", [])?;
        for number in 0..10 {
            connection.execute("insert into numbers values (?1)", [number])?;
        }
        connection.query_row("select sum(number) from numbers", [], |row| row.get::<_, i64>(0))
    };
    match open.iter().map(sum).collect::<Result<Vec<_>, _>>() {
        Ok(sums) if sums == [45, 45] => "ok".to_owned(),
        other => format!("{other:?}"),
    }
}

pub(crate) fn end() {}
