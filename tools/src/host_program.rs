//! Selects the host that `alcedo dev` runs: the author's host, or the sample engine in this program. Builds the author's host if needed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use alcedo_build::{Artifact, BuildError, SourceCrate, find_host};
use anyhow::bail;

use crate::error::{Error, file};
use crate::figures::{millis, stem};
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
        let program = program_of(package, &outcome.artifacts)?;
        print(&format!("the host is built, in {}", millis(outcome.millis)));
        Ok(HostProgram { program, args })
    }
}

/// Returns the program of a built host: the program with the name of the package, or the only program.
///
/// # Errors
/// Fails if the package has several programs, and none of them has the name of the package.
pub(crate) fn program_of(package: &str, built: &[Artifact]) -> Result<PathBuf, Error> {
    let own = built.iter().find(|artifact| stem(&artifact.path) == package);
    match (own, built) {
        (Some(program), _) => Ok(program.path.clone()),
        (None, [only]) => Ok(only.path.clone()),
        (None, several) => {
            let programs: Vec<_> = several.iter().map(|artifact| stem(&artifact.path)).collect();
            bail!(
                "package `{package}` builds the programs {}: give the host program the name of the package, or name its file \
                 with --host",
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
