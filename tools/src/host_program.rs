//! Selects the host that `alcedo dev` runs: the author's host, or the sample engine in this program. Builds the author's host if needed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use alcedo_build::{Artifact, BuildError, SourceCrate, find_host};
use anyhow::bail;

use crate::error::{Error, file};
use crate::figures::{listed, millis, stem};
use crate::modules::{BuildOptions, build};
use crate::world::{HostOptions, HostProgram};

/// The host that the author has chosen instead of the sample engine.
#[derive(Debug)]
pub(crate) enum Chosen {
    /// A package to build.
    Package(SourceCrate),
    /// An existing program.
    Program(PathBuf),
}

/// Returns the host that the arguments or the manifests of the plugins specify. Returns `None` if they specify no host, so the sample
/// engine runs.
///
/// # Errors
/// Fails if the specified host does not exist.
pub(crate) fn choose(named: Option<&str>, dirs: &[PathBuf]) -> Result<Option<Chosen>, BuildError> {
    if let Some(program) = named.map(Path::new).filter(|path| path.is_file() && !path.ends_with("Cargo.toml")) {
        let program = program.canonicalize().unwrap_or_else(|_| program.to_owned());
        return Ok(Some(Chosen::Program(program)));
    }
    Ok(find_host(named, dirs)?.map(Chosen::Package))
}

/// Rejects options that the running host would ignore: those of the sample engine if the author's own host runs, and those of the author's
/// own host if the sample engine runs. An option is passed with `true` if the command line contains the option.
///
/// # Errors
/// Fails if the command line contains such an option.
pub(crate) fn check_options(
    chosen: Option<&Chosen>,
    of_sample: &[(&str, bool)],
    of_host: &[(&str, bool)],
) -> Result<(), Error> {
    let options = used_options(if chosen.is_some() { of_sample } else { of_host });
    match chosen {
        _ if options.is_empty() => Ok(()),
        Some(chosen) => {
            let host = match chosen {
                Chosen::Package(package) => package.name.clone(),
                Chosen::Program(program) => stem(program),
            };
            bail!(
                "cannot use {options} with the host `{host}`, because only the sample engine has these options: pass arguments to the \
                 host with --host-arg, or remove --host and the key `host` of the manifests, so that the sample engine runs"
            )
        }
        None => bail!(
            "cannot use {options} with the sample engine, because only a host of your own has these options: name the host with --host"
        ),
    }
}

/// Lists the options that the command line contains. Returns an empty string if it contains none of them.
fn used_options(options: &[(&str, bool)]) -> String {
    let set: Vec<_> = options.iter().filter(|(_, is_set)| *is_set).map(|(option, _)| *option).collect();
    listed(&set)
}

/// Rejects options of packages of scripts for a library. An option is passed with `true` if the command line contains the option.
///
/// # Errors
/// Fails if the command line contains such an option.
pub(crate) fn check_options_of_library(library: &Path, of_scripts: &[(&str, bool)]) -> Result<(), Error> {
    match used_options(of_scripts) {
        options if options.is_empty() => Ok(()),
        options => bail!(
            "cannot use {options} with the library {}, because only packages of scripts have these options: remove them, or name the \
             folder of a package",
            library.display()
        ),
    }
}

impl Chosen {
    /// Builds the host if needed, and prints the progress.
    ///
    /// # Errors
    /// Fails if the host does not build, or if it has no program or several programs.
    pub(crate) fn build(
        self,
        options: &BuildOptions,
        args: &[String],
        print: impl Fn(&str),
    ) -> Result<HostProgram, Error> {
        let args = args.iter().map(OsString::from).collect();
        let host = match self {
            Self::Program(program) => return Ok(HostProgram { program, args }),
            Self::Package(host) => host,
        };
        let package = &host.name;
        print(&format!("building the host, package `{package}`"));
        let outcome = build(&host.request().programs().release(options.release).color(options.color))?;
        let program = program_of(&host, &outcome.artifacts)?;
        print(&format!("the host is built, in {}", millis(outcome.millis)));
        Ok(HostProgram { program, args })
    }
}

/// Returns the program of a built host: the program that the manifest selects by `default-run`, the program with the name of the package,
/// or the only program.
///
/// # Errors
/// Fails if the package has several programs, and none of these rules selects one.
pub(crate) fn program_of(host: &SourceCrate, built: &[Artifact]) -> Result<PathBuf, Error> {
    let package = &host.name;
    let named = |name: &String| built.iter().find(|artifact| stem(&artifact.path) == *name);
    let own = host.default_run.as_ref().and_then(named).or_else(|| named(package));
    match (own, built) {
        (Some(program), _) => Ok(program.path.clone()),
        (None, [only]) => Ok(only.path.clone()),
        (None, several) => {
            let programs: Vec<_> = several.iter().map(|artifact| stem(&artifact.path)).collect();
            bail!(
                "package `{package}` builds the programs {}: name the host program with `default-run` in the manifest, or \
                 its file with --host",
                programs.join(", ")
            )
        }
    }
}

/// Returns the sample engine: this program with other arguments.
///
/// # Errors
/// Fails if the path of this program is unknown.
pub(crate) fn sample(options: &HostOptions) -> Result<HostProgram, Error> {
    let program = std::env::current_exe().map_err(file("find", Path::new("alcedo")))?;
    let mut args = vec![OsString::from("dev-world"), "--objects".into(), options.objects.to_string().into()];
    args.extend(options.packages.iter().flat_map(|package| ["--package".into(), package.into()]));
    args.extend(options.user_code.iter().flat_map(|folder| [OsString::from("--user-code"), folder.into()]));
    args.extend(options.args.iter().map(|arg| format!("--arg={arg}").into()));
    Ok(HostProgram { program, args })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use alcedo_build::{Artifact, SourceCrate};

    use super::program_of;

    #[test]
    fn the_manifest_the_package_name_or_the_number_selects_the_program_of_a_host() {
        let check = |default_run: Option<&str>, programs: &[&str], expected: Result<&str, &str>| {
            let (manifest, default_run) = ("rig/Cargo.toml".into(), default_run.map(str::to_owned));
            let host = SourceCrate { name: "rig".into(), manifest, source_dirs: Vec::new(), default_run };
            let built = |name: &&str| Artifact { package: "rig".into(), path: name.into(), fresh: false };
            let built: Vec<_> = programs.iter().map(built).collect();
            match (program_of(&host, &built), expected) {
                (Ok(program), Ok(expected)) => assert_eq!(program, Path::new(expected)),
                (Err(error), Err(expected)) => assert!(error.to_string().starts_with(expected), "{error}"),
                (found, expected) => panic!("{found:?}, expected {expected:?}"),
            }
        };
        check(None, &["game"], Ok("game"));
        check(None, &["game", "rig"], Ok("rig"));
        check(Some("game"), &["editor", "game", "rig"], Ok("game"));
        check(None, &["editor", "game"], Err("package `rig` builds the programs editor, game: name the host program"));
    }
}
