//! Opens a database in a file. The database is dropped when the module ends. In the row `redb-leaked`, the database is left in a static.
//! Each generation has a separate file.

use crate::local::{self, Kept};

use redb::{Database, Error, ReadableDatabase as _, TableDefinition};

static DATABASE: Kept<Database> = Kept::new();
const NUMBERS: TableDefinition<'_, u64, u64> = TableDefinition::new("numbers");

pub(crate) fn begin() {
    let path = local::path("redb");
    DATABASE.keep(Database::create(&path));
    // Unlinks the file, which is deleted when its last descriptor is closed.
    let _absent = std::fs::remove_file(path);
}

pub(crate) fn work() -> String {
    DATABASE.work(|database| {
        let write = database.begin_write()?;
        {
            let mut table = write.open_table(NUMBERS)?;
            for number in 0..10 {
                table.insert(number, number * number)?;
            }
        }
        write.commit()?;
        let table = database.begin_read()?.open_table(NUMBERS)?;
        Ok::<_, Error>(table.get(9)?.map(|found| found.value()) == Some(81))
    })
}

pub(crate) fn end() {
    if cfg!(not(feature = "redb-leaked")) {
        drop(DATABASE.take());
    }
}
