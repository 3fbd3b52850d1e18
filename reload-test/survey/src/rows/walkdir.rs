//! Lists the files below a folder.

use walkdir::WalkDir;

use crate::local::{self, report};

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let folder = local::path("walk");
    let made = std::fs::create_dir_all(folder.join("a/b")).and_then(|()| std::fs::write(folder.join("a/b/c"), "c"));
    let found = WalkDir::new(&folder).sort_by_file_name().into_iter().flatten().count();
    let removed = std::fs::remove_dir_all(&folder);
    report(made.and(removed).map(|()| found == 4))
}

pub(crate) fn end() {}
