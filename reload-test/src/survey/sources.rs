//! Computes digests of the sources of the host, of the survey and of a row. A stored result is valid only for these sources, and for the
//! versions of the crates.

use anyhow::{Context, Result};
use rustc_hash::FxHasher;
use std::fs;
use std::hash::Hasher as _;
use std::path::{Path, PathBuf};

/// The sources on which every row depends, relative to the survey's folder.
const SHARED: &[&str] = &[
    "../../runtime/src",
    "../../runtime/base/src",
    "../../runtime/reflect/src",
    "../../runtime/sys/src",
    "../../plugin-api/src",
    "../../plugin-api/abi/src",
    "../../plugin-api/macros/src",
    "../../plugin-api/rt/src",
    "../src/survey/child.rs",
    "neighbor/src",
    "build.rs",
];

/// Returns a digest of the sources on which all rows depend. The digest excludes the list of rows in the `lib.rs` of the survey.
///
/// # Errors
/// Fails if a file cannot be read.
pub(crate) fn shared(sources: &Path) -> Result<u64> {
    let mut hasher = FxHasher::default();
    for path in SHARED {
        for file in files(&sources.join(path))? {
            hasher.write(&read(&file)?);
        }
    }
    let is_of_a_row = |line: &&[u8]| line.trim_ascii_start().starts_with(b"\"");
    for file in entries(&sources.join("src"))?.iter().filter(|entry| entry.is_file()) {
        let text = read(file)?;
        text.split(|byte| *byte == b'\n').filter(|line| !is_of_a_row(line)).for_each(|line| hasher.write(line));
    }
    Ok(hasher.finish())
}

/// Returns a digest of the sources of one row: the file that `lib.rs` names for the row, and all files that are not Rust. These files may
/// belong to any row.
///
/// # Errors
/// Fails if the row has no file, or if a file cannot be read.
pub(crate) fn of_row(sources: &Path, row: &str) -> Result<u64> {
    let list = sources.join("src/lib.rs");
    let text = String::from_utf8_lossy(&read(&list)?).into_owned();
    let file = file_of(&text, row).with_context(|| format!("{} names no file for `{row}`", list.display()))?;
    let mut hasher = FxHasher::default();
    hasher.write(&read(&sources.join("src").join(file))?);
    for file in files(&sources.join("src/rows"))?.iter().filter(|file| file.extension().is_some_and(|end| end != "rs"))
    {
        hasher.write(&read(file)?);
    }
    Ok(hasher.finish())
}

/// Returns `rows/rand.rs` from a line `"rand" rand_row "rows/rand.rs"`.
fn file_of<'t>(list: &'t str, row: &str) -> Option<&'t str> {
    let begin = format!("\"{row}\" ");
    let line = list.lines().find_map(|line| line.trim_start().strip_prefix(&begin))?;
    line.split('"').nth(1)
}

/// Returns the file at a path, or all files below a folder, in a fixed order.
fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let below = entries(path)?.iter().map(|path| files(path)).collect::<Result<Vec<_>>>()?;
    Ok(below.into_iter().flatten().collect())
}

/// Returns the entries of a folder, sorted.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("could not list {}", folder.display()))?;
    let mut paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("could not read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::{file_of, of_row, shared};
    use crate::survey::rows::all;
    use std::path::Path;

    #[test]
    fn every_row_has_a_file() {
        let sources = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/survey"));
        for row in all() {
            of_row(sources, &row.name).unwrap_or_else(|error| panic!("{error:#}"));
        }
        assert_eq!(shared(sources).expect("they are there"), shared(sources).expect("they are there"));
    }

    #[test]
    fn the_file_of_a_row_is_read_from_the_list() {
        let list = "rows! {\n    \"std\" std_row \"rows/std.rs\"\n    \"rayon-own\" rayon_own \"rows/rayon_own.rs\"\n}";
        assert_eq!(file_of(list, "std"), Some("rows/std.rs"));
        assert_eq!(file_of(list, "rayon-own"), Some("rows/rayon_own.rs"));
        assert_eq!(file_of(list, "rayon"), None);
    }
}
