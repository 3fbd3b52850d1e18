//! `alcedo glue`: writes the Rust source that plugins use another module's types by, from that module's library, or a host's, from
//! its answer. The library is read and not mapped. What is written depends on the declarations only, so the same ones give the same bytes;
//! the crate `alcedo-glue` is what writes it.

use std::fs;
use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use alcedo_build::{BuildError, PluginFolder, build};
use alcedo_glue::{Elsewhere, Glue, Origin};
use alcedo_runtime::development::plain_file;
use alcedo_runtime::{Declared, ManifestInfo};
use anyhow::anyhow;

use crate::args::HostArgs;
use crate::ask::ask;
use crate::check::{check, package_with};
use crate::described::{LARGEST_SOURCE, described, hosts, manifest_above};
use crate::error::{Error, file};
use crate::host_program::{Chosen, choose};
use crate::modules::BuildOptions;
use crate::screen::say;
use crate::scripts;
use crate::world::HostProgram;

/// Writes the Rust source by which plugins use the types of a host, or of another module.
///
/// Without a library and a host, all such sources of the workspace are written again: those with the types of its host and its plugins.
///
/// Those of a module are read from its library, and none of its code runs; a host is started and asked. Put the source into a crate of
/// its own or into a module of the plugin: `mod lamps;`. What it says is compared while the plugin is loaded; after a change write it
/// again. The same declarations give the same bytes, and a file that has them is left alone. The crate `alcedo-glue` does the same in a
/// `build.rs`.
#[derive(Debug, clap::Args)]
pub(crate) struct Wish {
    /// The library: `target/debug/libmy_plugin.so`.
    #[arg(value_name = "FILE", group = "origin", conflicts_with = "host")]
    file: Option<PathBuf>,
    /// What a package of scripts builds on beside the sample engine: other packages, folders of plugin crates, built libraries; may be given
    /// several times.
    #[arg(long, value_name = "PATH", requires = "file")]
    with: Vec<PathBuf>,
    /// A host instead of a library: a package, its folder, or a program that is built already.
    ///
    /// It is started, says what it declares, and ends before it constructs or loads anything.
    #[arg(long, value_name = "PACKAGE|PATH", group = "origin")]
    host: Option<String>,
    /// An argument for the host; may be given several times.
    #[arg(long = "host-arg", value_name = "TEXT", allow_hyphen_values = true, requires = "host")]
    host_args: Vec<String>,
    /// How many seconds the host has for its answer.
    #[arg(long, value_name = "SECONDS", default_value_t = crate::args::PATIENCE, value_parser = clap::value_parser!(u64).range(1..=3600))]
    patience: u64,
    /// Write it for a host, which uses the module's types, instead of for plugins.
    #[arg(long, requires = "file")]
    for_host: bool,
    /// Write only the types of this package; may be given several times.
    #[arg(long, value_name = "NAME", requires = "origin")]
    only: Vec<String>,
    /// Where the glue of a package is whose types are used; may be given several times.
    #[arg(long = "package", value_name = "NAME=RUST_PATH", requires = "origin")]
    packages: Vec<Elsewhere>,
    /// Where it goes, instead of standard output.
    #[arg(short, long, value_name = "FILE", requires = "origin")]
    out: Option<PathBuf>,
}

/// Writes the glue to a file or to standard output; without a library and a host, writes all glue of the workspace again. A file that has
/// the bytes already is left alone.
///
/// # Errors
/// When the library cannot be read, the host does not answer, a type is of a package whose glue is not named, or the workspace has no glue.
pub(crate) fn run(wish: &Wish) -> Result<ExitCode, Error> {
    let (origin, declared) = match (&wish.file, &wish.host) {
        (Some(library), _) => of_library(library, &wish.with)?,
        (None, Some(host)) => of_host(host, wish)?,
        (None, None) => return of_workspace(Duration::from_secs(wish.patience)),
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

fn of_host(named: &str, wish: &Wish) -> Result<(Origin, Declared), Error> {
    let chosen = choose(Some(named), &[])?.unwrap_or_else(|| Chosen::Program(PathBuf::from(named)));
    let host = chosen.build(&BuildOptions::default(), &wish.host_args, say)?;
    let declared = ask(&host.program, &host.args, Duration::from_secs(wish.patience))?;
    Ok((host_origin(&host), declared))
}

/// Writes the glue in the workspace of the working folder again: that of its host, then those of its plugins.
///
/// # Errors
/// When no file has glue of these, and errors of builds, of the host and of [`rewrite`].
fn of_workspace(patience: Duration) -> Result<ExitCode, Error> {
    let here = std::env::current_dir().map_err(file("find", Path::new(".")))?;
    let Some(manifest) = manifest_above(&here) else { return Err(no_glue(&here, None, None)) };
    let metadata = described(&manifest).map_err(|message| BuildError::Metadata { manifest, message })?;
    let root = metadata.workspace_root.clone().into_std_path_buf();
    let folders = metadata.packages.iter().filter_map(|package| package.manifest_path.parent());
    let sources: Vec<_> = folders.map(|dir| dir.join("src").into_std_path_buf()).collect();
    let only_host = match hosts(&metadata).as_slice() {
        [only] => Some(only.name.to_string()),
        _ => None,
    };
    let dirs = [root.clone()];
    let chosen = choose(None, &dirs)?.map_or_else(|| choose(only_host.as_deref(), &dirs), |found| Ok(Some(found)))?;
    let (mut is_found, mut written, mut host) = (false, Vec::new(), None);
    if let Some(chosen) = chosen {
        let program = chosen.build(&BuildOptions::default(), &[], say)?;
        let origin = host_origin(&program);
        let glue = glue_of(&sources, &origin);
        is_found = !glue.is_empty();
        written = write_again(&glue, &origin, || ask(&program.program, &program.args, patience))?;
        host = Some(name_of(&program.program));
    }
    let folder = match PluginFolder::of(&root) {
        Ok(folder) => [folder.plugins, folder.left_out].concat(),
        Err(BuildError::NoPlugins { .. }) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    for plugin in &folder {
        let name = plugin.name.replace('-', "_");
        if glue_of(&sources, &Origin::module(&name, "")).is_empty() {
            continue;
        }
        is_found = true;
        say(&format!("building the plugin `{}`", plugin.name));
        for artifact in build(&plugin.request())?.artifacts.iter().filter(|artifact| artifact.package == plugin.name) {
            let (origin, declared) = of_module(&artifact.path)?;
            // The sources may have changed during the build.
            written.extend(rewrite(&sources, &origin, || Ok(declared))?);
        }
    }
    if !is_found {
        let plugin = folder.first().map(|plugin| plugin.name.replace('-', "_"));
        return Err(no_glue(&root, host.or(only_host).as_deref(), plugin.as_deref()));
    }
    if written.is_empty() {
        say("all glue is up to date");
    }
    written.iter().for_each(|path| say(&format!("glue written again: {}", path.display())));
    Ok(ExitCode::SUCCESS)
}

fn no_glue(workspace: &Path, host: Option<&str>, plugin: Option<&str>) -> Error {
    anyhow!(
        "no file of {} has glue that could be written again; write that of a host with \
         `alcedo glue --host {} -o glue/src/host.rs`, that of a plugin with `alcedo build` and \
         `alcedo glue target/debug/lib{}.so -o src/{}.rs`",
        workspace.display(),
        host.unwrap_or("HOST"),
        plugin.unwrap_or("PLUGIN"),
        plugin.unwrap_or("plugin")
    )
}

/// The longest time that a session waits for the types of a host. A host declares them in some milliseconds.
const OF_SESSION: Duration = Duration::from_secs(3);

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
    write_again(&glue_of(dirs, origin), origin, declared)
}

/// Writes these sources, which have glue of `origin`, as [`rewrite`] does.
fn write_again(
    glue: &[(String, PathBuf)],
    origin: &Origin,
    declared: impl FnOnce() -> Result<Declared, Error>,
) -> Result<Vec<PathBuf>, Error> {
    if glue.is_empty() {
        return Ok(Vec::new());
    }
    let declared = declared()?;
    let mut written = Vec::new();
    for (source, path) in glue {
        if let Some(now) = alcedo_glue::rewritten(source, origin, &declared)?.filter(|now| now != source) {
            alcedo_glue::write(path, &now).map_err(file("write", path))?;
            written.push(path.clone());
        }
    }
    Ok(written)
}

/// The host as the header of its glue names it.
pub(crate) fn host_origin(host: &HostProgram) -> Origin {
    Origin::host(&name_of(&host.program))
}

/// Returns the sources below folders that have glue of `origin`, each with its path.
fn glue_of(dirs: &[PathBuf], origin: &Origin) -> Vec<(String, PathBuf)> {
    let mut sources = Vec::new();
    dirs.iter().for_each(|dir| rust_sources(dir, &mut sources));
    let read = sources.into_iter().filter_map(|path| Some((plain_file::read_text(&path, LARGEST_SOURCE).ok()?, path)));
    read.filter(|(source, _)| alcedo_glue::describes(source, origin)).collect()
}

/// Starts a host for its types.
///
/// # Errors
/// When it sends no answer.
pub(crate) fn host_types(host: &HostProgram) -> Result<Declared, Error> {
    ask(&host.program, &host.args, OF_SESSION)
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
fn name_of(program: &Path) -> String {
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
