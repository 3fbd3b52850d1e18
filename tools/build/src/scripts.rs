//! Files of script packages. A package is a folder of `.uc` files.

use std::fs;
use std::path::{Path, PathBuf};

use crate::copy::is_hidden;

/// Optional subfolder of a package of scripts for its `.uc` files.
pub const SCRIPT_CLASSES: &str = "Classes";

/// Returns the script files of a package, sorted by path. Returns an empty list if the folder cannot be read. Includes links without a
/// target and irregular files, which the host refuses.
///
/// # Examples
/// ```
/// use std::path::Path;
///
/// assert!(alcedo_build::script_files(Path::new("missing")).is_empty());
/// ```
pub fn script_files(package: &Path) -> Vec<PathBuf> {
    let entries = |dir: PathBuf| fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let all = entries(package.to_owned()).chain(entries(package.join(SCRIPT_CLASSES)));
    let is_file = |path: &PathBuf| is_script(path) && !path.file_name().is_some_and(is_hidden) && !path.is_dir();
    let mut files: Vec<_> = all.filter(is_file).collect();
    files.sort();
    files
}

/// Returns `true` for script files, with an extension in lower or upper case.
pub(crate) fn is_script(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("uc"))
}
