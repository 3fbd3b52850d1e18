//! `alcedo bindgen`: reads the header of a C library, and writes the declarations through which plugins call its functions. The output also
//! lists the functions that cannot be declared, with the reason.

mod header;
mod rust;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use alcedo_abi::names::is_identifier;
use anyhow::bail;

use crate::error::{Error, file};
use crate::figures::stem;
use crate::screen::print_result;

#[derive(Debug, Default, PartialEq, Eq)]
struct Declarations {
    structs: Vec<Struct>,
    functions: Vec<Function>,
    left_out: Vec<LeftOut>,
}

/// A struct in the header. `name` is the name of the struct in Rust.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Struct {
    name: String,
    doc: String,
    /// Names and Rust types.
    fields: Vec<(String, String)>,
    /// Set if all fields are numbers.
    is_pod: bool,
}

/// A function in the header. `name` is the name of the function in C.
#[derive(Debug, PartialEq, Eq)]
struct Function {
    name: String,
    doc: String,
    /// Names and Rust types.
    params: Vec<(String, String)>,
    result: Option<String>,
    /// Set if the function returns a `bool` of one byte.
    is_bool8: bool,
    /// Notes for plugin authors who call the function.
    remarks: Vec<String>,
}

/// An item of the header that cannot be declared.
#[derive(Debug, PartialEq, Eq)]
struct LeftOut {
    name: String,
    reason: String,
}

/// Writes the Rust source through which plugins call a C library, from its header.
///
/// Functions become functions of a class that is bound to the library, structs become reflected structs. Items that cannot be
/// declared are listed at the end with the reason. The header is parsed with libclang.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The header.
    #[arg(value_name = "FILE")]
    header: PathBuf,
    /// The library, without path and extension, instead of the name of the header.
    #[arg(long, value_name = "NAME")]
    library: Option<String>,
    /// The package of the class and the structs.
    #[arg(long, value_name = "NAME", default_value = "Game")]
    package: String,
    /// Output file, instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Arguments for the compiler: `-Iinclude -DNAME=1`.
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<String>,
}

/// Writes the source to the output file, or to standard output.
///
/// # Errors
/// Fails if the name of the library or of the package is invalid, if libclang is missing, or if the header is not C.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Error> {
    let stem = stem(&args.header);
    let library = args.library.as_deref().unwrap_or(&stem);
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
    if library.is_empty() || !library.chars().all(is_plain) {
        bail!(
            "`{library}` is not a valid library name: use `--library` with letters, digits, `_` and `-`, and without path and extension"
        );
    }
    let package = args.package.as_str();
    if !is_identifier(package) {
        bail!(
            "`{package}` is not a valid package name: use `--package` with letters, digits and `_`, not beginning with a digit"
        );
    }
    let declarations = header::read(&args.header, &args.arguments)?;
    let name = args.header.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let source = rust::source(&declarations, &name, library, package);
    match &args.out {
        None => print_result(source.trim_end()),
        Some(out) => fs::write(out, source).map_err(file("write", out))?,
    }
    Ok(ExitCode::SUCCESS)
}
