//! The files under a folder.

use walkdir::WalkDir;

use crate::local::{self, told};

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let folder = local::path("walk");
    let made = std::fs::create_dir_all(folder.join("a/b")).and_then(|()| std::fs::write(folder.join("a/b/c"), "c"));
    let found = WalkDir::new(&folder).sort_by_file_name().into_iter().flatten().count();
    let gone = std::fs::remove_dir_all(&folder);
    told(made.and(gone).map(|()| found == 4))
}

pub(crate) fn end() {}
