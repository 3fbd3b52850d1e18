//! `alcedo glue`: writes the Rust source that plugins use another module's types by, from that module's library. The library is
//! read and not mapped; what is written depends on its declarations only, so the same declarations give the same bytes.

mod rust;
mod types;

use std::collections::BTreeMap;
use std::fs;
use std::io::{Write as _, stdout};
use std::path::Path;
use std::process::ExitCode;

use alcedo_runtime::ManifestInfo;

use crate::error::Error;

/// Where the glue of another package is: `Engine=engine_glue`.
#[derive(Clone, Debug)]
pub(crate) struct Elsewhere {
    /// The package, as paths name it.
    package: String,
    /// The path of the Rust module that has its types.
    module: String,
}

impl std::str::FromStr for Elsewhere {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_path = |path: &str| {
            let is_word = |word: &str| {
                word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
                    && word.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
            };
            path.split("::").all(is_word)
        };
        match text.split_once('=') {
            Some((package, module)) if !package.is_empty() && is_path(module) => {
                Ok(Self { package: package.to_owned(), module: module.to_owned() })
            }
            _ => Err("write a package and the Rust path of its glue: `Engine=engine_glue`".to_owned()),
        }
    }
}

/// Writes it to a file, or to standard output where none is named. A file that has these bytes already is left alone.
///
/// # Errors
/// When the library cannot be read, or names a type of a package whose glue is not named.
pub(crate) fn run(library: &Path, elsewhere: &[Elsewhere], out: Option<&Path>) -> Result<ExitCode, Error> {
    let library = std::path::absolute(library).map_err(Error::file("find", library))?;
    let (manifest, declared) = ManifestInfo::peek_declared(&library).map_err(Box::new)?;
    let elsewhere: BTreeMap<&str, &str> =
        elsewhere.iter().map(|other| (other.package.as_str(), other.module.as_str())).collect();
    let source = rust::source(&manifest.name, &manifest.version.to_string(), &declared, &elsewhere)?;
    match out {
        None => {
            // The reader has closed the output: there is nothing to report to.
            let _ = write!(stdout(), "{source}");
        }
        Some(out) if fs::read(out).is_ok_and(|found| found == source.as_bytes()) => {}
        Some(out) => fs::write(out, source).map_err(Error::file("write", out))?,
    }
    Ok(ExitCode::SUCCESS)
}
