//! `alcedo bindgen`: writes the declarations by which plugins call the functions of a C library, from its header. What cannot be
//! declared is listed in what is written, each with the reason.

mod error;
mod header;
mod rust;

use std::fs;
use std::io::{Write as _, stdout};
use std::path::Path;
use std::process::ExitCode;

use crate::error::Error;
use error::BindgenError;

/// What is declared of a header.
#[derive(Debug, Default, PartialEq, Eq)]
struct Declarations {
    structs: Vec<Struct>,
    functions: Vec<Function>,
    left_out: Vec<LeftOut>,
}

/// A struct, under its name in Rust.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Struct {
    name: String,
    doc: String,
    /// Names and Rust types.
    fields: Vec<(String, String)>,
    /// Whether all of it are numbers.
    is_pod: bool,
}

/// A function, under its name in C.
#[derive(Debug, PartialEq, Eq)]
struct Function {
    name: String,
    doc: String,
    /// Names and Rust types.
    params: Vec<(String, String)>,
    result: Option<String>,
    /// It returns a `bool` that fills one byte.
    is_bool8: bool,
    /// What an author has to know before it is called.
    remarks: Vec<String>,
}

/// What is not declared.
#[derive(Debug, PartialEq, Eq)]
struct LeftOut {
    name: String,
    why: String,
}

/// What is to be written.
pub(crate) struct Wish<'a> {
    pub(crate) header: &'a Path,
    /// The library; the name of the header where it is not said.
    pub(crate) library: Option<&'a str>,
    pub(crate) package: &'a str,
    pub(crate) out: Option<&'a Path>,
    /// For the compiler.
    pub(crate) arguments: &'a [String],
}

/// Writes it to a file, or to standard output where none is named.
///
/// # Errors
/// When there is no libclang, or the header is not C.
pub(crate) fn run(wish: &Wish<'_>) -> Result<ExitCode, Error> {
    let stem = wish.header.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let library = wish.library.unwrap_or(&stem);
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
    if library.is_empty() || !library.chars().all(is_plain) {
        return Err(Error::part(BindgenError::Library(library.to_owned())));
    }
    let declarations = header::read(wish.header, wish.arguments).map_err(Error::part)?;
    let name = wish.header.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let source = rust::source(&declarations, &name, library, wish.package);
    match wish.out {
        None => {
            // The reader has closed the output: there is nothing to report to.
            let _ = write!(stdout(), "{source}");
        }
        Some(out) => fs::write(out, source).map_err(Error::file("write", out))?,
    }
    Ok(ExitCode::SUCCESS)
}
