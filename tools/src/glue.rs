//! `alcedo glue`: writes the Rust source that plugins use another module's types by, from that module's library, or a host's, from
//! its answer. The library is read and not mapped. What is written depends on the declarations only, so the same ones give the same bytes;
//! the crate `alcedo-glue` is what writes it.

use std::fs;
use std::io::{Write as _, stderr, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use alcedo_glue::{Elsewhere, Glue, Origin};
use alcedo_runtime::development::plain_file;
use alcedo_runtime::{Declared, ManifestInfo, printable};

use crate::args::HostArgs;
use crate::ask::ask;
use crate::check::{check, package_with};
use crate::described::LARGEST_SOURCE;
use crate::error::{Error, file};
use crate::host_program::{Chosen, choose};
use crate::modules::BuildOptions;
use crate::scripts;
use crate::world::HostProgram;

/// Writes the Rust source by which plugins use the types of a host, or of another module.
///
/// Those of a module are read from its library, and none of its code runs; a host is started and asked. Put the source into a crate of
/// its own or into a module of the plugin: `mod lamps;`. What it says is compared while the plugin is loaded; after a change write it
/// again. The same declarations give the same bytes, and a file that has them is left alone. The crate `alcedo-glue` does the same in a
/// `build.rs`.
#[derive(Debug, clap::Args)]
pub(crate) struct Wish {
    /// The library: `target/debug/libmy_plugin.so`.
    #[arg(value_name = "FILE", required_unless_present = "host", conflicts_with = "host")]
    file: Option<PathBuf>,
    /// What a package of scripts builds on beside the sample engine: other packages, folders of plugin crates, built libraries; may be given
    /// several times.
    #[arg(long, value_name = "PATH", requires = "file")]
    with: Vec<PathBuf>,
    /// A host instead of a library: a package, its folder, or a program that is built already.
    ///
    /// It is started, says what it declares, and ends before it constructs or loads anything.
    #[arg(long, value_name = "PACKAGE|PATH")]
    host: Option<String>,
    /// An argument for the host; may be given several times.
    #[arg(long = "host-arg", value_name = "TEXT", allow_hyphen_values = true, requires = "host")]
    host_args: Vec<String>,
    /// How many seconds the host has for its answer.
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=3600))]
    patience: u64,
    /// Write it for a host, which uses the module's types, instead of for plugins.
    #[arg(long, requires = "file")]
    for_host: bool,
    /// Write only the types of this package; may be given several times.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Where the glue of a package is whose types are used; may be given several times.
    #[arg(long = "package", value_name = "NAME=RUST_PATH")]
    packages: Vec<Elsewhere>,
    /// Where it goes, instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Writes it to a file, or to standard output where none is named. A file that has these bytes already is left alone.
///
/// # Errors
/// When the library cannot be read, the host gives no answer, or a type is of a package whose glue is not named.
pub(crate) fn run(wish: &Wish) -> Result<ExitCode, Error> {
    let (origin, declared) = match (&wish.file, &wish.host) {
        (Some(library), _) => of_library(library, &wish.with)?,
        (None, host) => of_host(host.as_deref(), wish)?,
    };
    let glue = wish.packages.iter().cloned().fold(Glue::default(), Glue::package);
    let glue = wish.only.iter().fold(glue, |glue, package| glue.only(package));
    let source = match wish.for_host {
        true => glue.for_host(&origin, &declared)?,
        false => glue.for_plugins(&origin, &declared)?,
    };
    match &wish.out {
        None => {
            // The reader has closed the output: there is nothing to report to.
            let _ = write!(stdout(), "{source}");
        }
        Some(out) => alcedo_glue::write(out, &source).map_err(file("write", out))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn of_library(library: &Path, with: &[PathBuf]) -> Result<(Origin, Declared), Error> {
    let library = std::path::absolute(library).map_err(file("find", library))?;
    if library.is_dir() {
        let folder = library.canonicalize().map_err(file("find", &library))?;
        return of_scripts(&folder, with);
    }
    of_module(&library)
}

/// The module in a library and its types.
///
/// # Errors
/// When the library cannot be read.
pub(crate) fn of_module(library: &Path) -> Result<(Origin, Declared), Error> {
    let (manifest, declared) = ManifestInfo::peek_declared(library)?;
    Ok((Origin::module(&manifest.name, &manifest.version.to_string()), declared))
}

/// A package of scripts, whose types build on those of the sample engine and of the modules that it is seen with.
fn of_scripts(folder: &Path, with: &[PathBuf]) -> Result<(Origin, Declared), Error> {
    let (mut version, mut all) = (String::new(), Declared::default());
    for found in check(package_with(folder, with)?, &HostArgs::default(), 0)? {
        let declared = found.declared.map_err(Error::msg)?;
        if found.folder == folder {
            (version, all) = (found.version.to_string(), declared);
        }
    }
    Ok((Origin::module(&scripts::name(folder), &version), all))
}

fn of_host(named: Option<&str>, wish: &Wish) -> Result<(Origin, Declared), Error> {
    let named = named.unwrap_or_default();
    let chosen = choose(Some(named), &[])?.unwrap_or_else(|| Chosen::Program(PathBuf::from(named)));
    // Standard output is for the source.
    let say = |line: &str| drop(writeln!(stderr(), "{}", printable(line)));
    let HostProgram { program, args } = chosen.build(&BuildOptions::default(), &wish.host_args, say)?;
    let declared = ask(&program, &args, Duration::from_secs(wish.patience))?;
    Ok((Origin::host(&name_of(&program)), declared))
}

/// The longest time that a session waits for the types of a host. A host declares them in some milliseconds.
const PATIENCE: Duration = Duration::from_secs(3);

/// Writes the glue of `origin` below `dirs` again where it declares other types now. Returns the files that have changed. `declared` is
/// called only if there is such glue.
///
/// # Errors
/// Returns those of `declared`, and one when types cannot be written, or a file cannot be written.
pub(crate) fn rewrite(
    dirs: &[PathBuf],
    origin: &Origin,
    declared: impl FnOnce() -> Result<Declared, Error>,
) -> Result<Vec<PathBuf>, Error> {
    let mut sources = Vec::new();
    dirs.iter().for_each(|dir| rust_sources(dir, &mut sources));
    let read = sources.into_iter().filter_map(|path| Some((plain_file::read_text(&path, LARGEST_SOURCE).ok()?, path)));
    let glue: Vec<_> = read.filter(|(source, _)| alcedo_glue::describes(source, origin)).collect();
    if glue.is_empty() {
        return Ok(Vec::new());
    }
    let declared = declared()?;
    let mut written = Vec::new();
    for (source, path) in glue {
        if let Some(now) = alcedo_glue::rewritten(&source, origin, &declared)?.filter(|now| *now != source) {
            alcedo_glue::write(&path, &now).map_err(file("write", &path))?;
            written.push(path);
        }
    }
    Ok(written)
}

/// Starts a host for its types.
///
/// # Errors
/// When it sends no answer.
pub(crate) fn host_types(host: &HostProgram) -> Result<Declared, Error> {
    ask(&host.program, &host.args, PATIENCE)
}

/// Collects the Rust sources below a folder. Links are not followed.
fn rust_sources(dir: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type());
        match kind {
            Ok(kind) if kind.is_dir() => rust_sources(&path, into),
            Ok(kind) if kind.is_file() && path.extension().is_some_and(|end| end == "rs") => into.push(path),
            _ => {}
        }
    }
}

/// The name of a host: that of its program.
pub(crate) fn name_of(program: &Path) -> String {
    program.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(all(test, unix))]
mod tests {
    use std::time::{Duration, Instant};

    use super::host_types;
    use crate::world::HostProgram;

    #[test]
    fn a_session_waits_some_seconds_for_a_host_that_hangs() {
        let host = HostProgram { program: "/bin/sleep".into(), args: vec!["1000".into()] };
        let begun = Instant::now();
        let error = host_types(&host).expect_err("the program is no host").to_string();
        assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
        let expected = ["/bin/sleep", "after 3 s", "was ended", ".answer_glue()", "`alcedo glue --host`", "--patience"];
        expected.iter().for_each(|part| assert!(error.contains(part), "{part} in\n{error}"));
    }
}
