//! LMDB, a database in a mapped file; closed when the module ends, or left in a static. It is C, and has a
//! thread-specific key of its own.
#![allow(unsafe_code, reason = "opening it maps a file, which somebody else may write to")]

use crate::local::{self, Kept};

use heed::types::U64;
use heed::{Database, Env, EnvOpenOptions, Error};

type Numbers = Database<U64<heed::byteorder::BigEndian>, U64<heed::byteorder::BigEndian>>;

static DATABASE: Kept<(Env, Numbers)> = Kept::new();

fn open() -> Result<(Env, Numbers), Error> {
    let path = local::path("lmdb");
    std::fs::create_dir(&path)?;
    // SAFETY: nobody else knows the folder.
    let env = unsafe { EnvOpenOptions::new().map_size(1 << 20).open(path) }?;
    let mut write = env.write_txn()?;
    let numbers = env.create_database(&mut write, None)?;
    write.commit()?;
    Ok((env, numbers))
}

pub(crate) fn begin() {
    DATABASE.keep(open());
}

pub(crate) fn work() -> String {
    DATABASE.work(|(env, numbers)| {
        let mut write = env.write_txn()?;
        for number in 0..10 {
            numbers.put(&mut write, &number, &(number * number))?;
        }
        write.commit()?;
        Ok::<_, Error>(numbers.get(&env.read_txn()?, &9)? == Some(81))
    })
}

pub(crate) fn end() {
    let Some((env, _numbers)) = (if cfg!(feature = "heed-leaked") { None } else { DATABASE.take() }) else { return };
    let path = env.path().to_owned();
    env.prepare_for_closing().wait();
    let _absent = std::fs::remove_dir_all(path);
}
