//! Creates a file and a folder that are deleted on drop.

use std::io::{self, Read as _, Seek as _, Write as _};

use crate::local::report;

fn use_them() -> io::Result<bool> {
    let mut file = tempfile::tempfile()?;
    file.write_all(b"hello")?;
    file.rewind()?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().to_owned();
    std::fs::write(path.join("x"), "x")?;
    folder.close()?;
    Ok(text == "hello" && !path.exists())
}

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    report(use_them())
}

pub(crate) fn end() {}
