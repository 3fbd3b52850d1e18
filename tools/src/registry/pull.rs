//! `alcedo pull`: downloads a library from a registry, checks it, and writes it to a folder.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use alcedo_runtime::development::plain_file;

use super::client::{Access, Registry};
use super::{Trust, artifact, fetch, file_name, read_keys};
use crate::error::{Error, file};
use crate::screen::print_result;

/// Downloads a module from an OCI registry, checks digest and signature, and writes its library to a folder.
///
/// A reference with a digest names one content. A tag may name another content each time. The output has the digest of the library. No code of
/// the library runs.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The module: `registry.example.com/plugins/my-plugin@sha256:…`, or a tag.
    #[arg(value_name = "REFERENCE")]
    reference: String,
    /// Folder for the library. An existing library of the same name is replaced atomically.
    #[arg(short, long, value_name = "FOLDER", default_value = ".")]
    out: PathBuf,
    #[command(flatten)]
    trust: Trust,
    /// Target of the library, if it differs from the target of this program.
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    #[command(flatten)]
    access: Access,
}

/// Downloads and writes the library.
///
/// # Errors
/// Fails if the registry does not have the module, or if a check fails. No file is written in these cases.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Error> {
    let reference = fetch::parse(&args.reference)?;
    let keys = read_keys(&args.trust)?;
    let target = args.target.clone().unwrap_or_else(artifact::own_target);
    let registry = Registry::new(&args.access, [&reference])?;
    let fetched = fetch::fetch(&registry, &reference, &target, &keys, |_| None)?;
    fs::create_dir_all(&args.out).map_err(file("make", &args.out))?;
    let path = args.out.join(file_name(&fetched.info.name));
    plain_file::replace(&path, &fetched.bytes).map_err(file("write", &path))?;
    let (info, digest) = (&fetched.info, &fetched.digest);
    print_result(&format!("{} {}  {digest}  {}", info.name, info.version, path.display()));
    Ok(ExitCode::SUCCESS)
}
