//! Opens an LMDB database in a mapped file. The database is closed when the module ends. In the row `heed-leaked`, the database is left in
//! a static. LMDB is a C library with its own thread-specific key.
#![allow(unsafe_code, reason = "opening it maps a file, which other processes may write to")]

use crate::local::{self, Kept};

use heed::byteorder::BigEndian;
use heed::types::U64;
use heed::{CommitOrAbort, Env, EnvOpenOptions, Error};

type Number = U64<BigEndian>;

static DATABASE: Kept<Env> = Kept::new();

fn open() -> Result<Env, Error> {
    let path = local::path("lmdb");
    std::fs::create_dir(&path)?;
    // SAFETY: the folder is used by this environment only.
    unsafe { EnvOpenOptions::new().map_size(1 << 20).open(path) }
}

pub(crate) fn begin() {
    DATABASE.keep(open());
}

pub(crate) fn work() -> String {
    DATABASE.work(|env| {
        let make = env.create_databases_and_commit(env.write_txn()?, |opener, write| {
            opener.create_database::<Number, Number>(write, None).map(CommitOrAbort::<_, ()>::Commit)
        });
        let numbers = make?.unwrap_commit();
        let mut write = env.write_txn()?;
        for number in 0..10 {
            numbers.put(&mut write, &number, &(number * number))?;
        }
        write.commit()?;
        let read = env.read_txn()?;
        Ok::<_, Error>(numbers.get(&read, &9)? == Some(81))
    })
}

pub(crate) fn end() {
    let Some(env) = (if cfg!(feature = "heed-leaked") { None } else { DATABASE.take() }) else { return };
    let path = env.path().to_owned();
    env.prepare_for_closing().wait();
    let _absent = std::fs::remove_dir_all(path);
}
