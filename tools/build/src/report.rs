//! Converts cargo's messages into libraries, diagnostics and a result. Pure functions; `running.rs` reads the pipe.

use crate::error::BuildError;
use cargo_metadata::{Message, diagnostic::DiagnosticLevel};
use std::collections::HashSet;
use std::env::consts::DLL_EXTENSION;
use std::path::{Path, PathBuf};

/// Library that a host can load, or program if programs were requested.
///
/// # Examples
/// ```
/// use alcedo_build::Artifact;
///
/// let (package, path) = ("spinner".to_owned(), "target/debug/libspinner.so".into());
/// let spinner = Artifact { package, path, fresh: true };
/// assert!(spinner.path.ends_with("libspinner.so"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// Package name.
    pub package: String,
    /// Path of the library or program in cargo's target folder; the next build overwrites it.
    pub path: PathBuf,
    /// `true` if the file was up to date and nothing was compiled.
    pub fresh: bool,
}

/// Result of a successful build.
///
/// # Examples
/// ```no_run
/// use std::path::Path;
///
/// use alcedo_build::{BuildRequest, build};
///
/// let outcome = build(&BuildRequest::new(Path::new("plugins/Cargo.toml")))?;
/// let compiled = outcome.artifacts.iter().filter(|artifact| !artifact.fresh);
/// println!("{} plugins compiled in {} ms\n{}", compiled.count(), outcome.millis, outcome.warnings);
/// # Ok::<(), alcedo_build::BuildError>(())
/// ```
#[derive(Debug, Clone)]
pub struct BuildOutcome {
    /// Libraries, in the order in which cargo finished them; at least one.
    pub artifacts: Vec<Artifact>,
    /// Each warning of the compiler once, as rendered by it.
    pub warnings: String,
    /// Duration of the cargo process.
    pub millis: f64,
}

/// Messages of one build so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    artifacts: Vec<Artifact>,
    rendered: String,
    rendered_before: HashSet<String>,
    errors: bool,
}

/// End state of cargo.
#[derive(Debug)]
pub(crate) struct Ending {
    pub(crate) success: bool,
    pub(crate) stderr: String,
    pub(crate) millis: f64,
}

impl Report {
    pub(crate) fn note(&mut self, message: Message) {
        match message {
            Message::CompilerMessage(message) => {
                let diagnostic = message.message;
                let failed = matches!(diagnostic.level, DiagnosticLevel::Error | DiagnosticLevel::Ice);
                self.errors |= failed;
                if !is_summary(&diagnostic.message) {
                    self.diagnostic(diagnostic.rendered.unwrap_or(diagnostic.message));
                }
            }
            Message::CompilerArtifact(artifact) if artifact.target.is_cdylib() => {
                let library = artifact.filenames.iter().find(|file| is_root_library(file.as_std_path()));
                self.artifacts.extend(library.map(|path| Artifact {
                    package: package_name(&artifact.package_id.repr).to_owned(),
                    path: path.into(),
                    fresh: artifact.fresh,
                }));
            }
            Message::CompilerArtifact(artifact) if artifact.target.is_bin() => {
                self.artifacts.extend(artifact.executable.map(|path| Artifact {
                    package: package_name(&artifact.package_id.repr).to_owned(),
                    path: path.into(),
                    fresh: artifact.fresh,
                }));
            }
            _ => {}
        }
    }

    /// Returns the result after the end of cargo.
    pub(crate) fn conclude(self, ending: Ending, what: String, command: String) -> Result<BuildOutcome, BuildError> {
        match ending {
            Ending { success: true, millis, .. } if !self.artifacts.is_empty() => {
                Ok(BuildOutcome { artifacts: self.artifacts, warnings: self.rendered, millis })
            }
            Ending { success: true, .. } => Err(BuildError::NoLibrary { what }),
            _ if self.errors => Err(BuildError::DoesNotCompile { rendered: self.rendered, command }),
            Ending { stderr, .. } if stderr.contains("no library targets found") => Err(BuildError::NoLibrary { what }),
            Ending { stderr, .. } => Err(BuildError::CargoFailed { command, stderr }),
        }
    }

    fn diagnostic(&mut self, rendered: String) {
        if self.rendered_before.contains(&rendered) {
            return;
        }
        self.rendered.push_str(&rendered);
        if !rendered.ends_with('\n') {
            self.rendered.push('\n');
        }
        self.rendered_before.insert(rendered);
    }
}

/// Returns `true` for a message that only counts other messages; cargo hides these as well.
fn is_summary(message: &str) -> bool {
    message.starts_with("aborting due to ")
        || message.ends_with(" warning emitted")
        || message.ends_with(" warnings emitted")
}

/// Returns `true` for a requested artifact, which cargo places in the profile's folder; cdylibs of dependencies stay in a subfolder.
fn is_root_library(file: &Path) -> bool {
    let folder = file.parent().and_then(Path::file_name);
    file.extension().is_some_and(|extension| extension == DLL_EXTENSION)
        && folder.is_some_and(|name| name == "debug" || name == "release")
}

/// Returns the name in a package id: `url#name@version`, `url/name#version`, or `name version (url)` before cargo 1.77.
fn package_name(id: &str) -> &str {
    let Some((url, rest)) = id.rsplit_once('#') else {
        return id.split(' ').next().unwrap_or(id);
    };
    match rest.split_once('@') {
        Some((name, _)) => name,
        None => url.rsplit('/').next().unwrap_or(url),
    }
}

#[cfg(test)]
mod tests {
    use super::{Ending, Report, is_root_library, package_name};
    use crate::error::BuildError;
    use std::path::Path;

    fn check(report: Report, success: bool, stderr: &str) -> String {
        let ending = Ending { success, stderr: stderr.into(), millis: 1.0 };
        match report.conclude(ending, "x".into(), "cargo build".into()) {
            Ok(outcome) => format!("{} artifacts", outcome.artifacts.len()),
            Err(BuildError::DoesNotCompile { rendered, .. }) => format!("does not compile: {rendered}"),
            Err(BuildError::NoLibrary { what }) => format!("no library in {what}"),
            Err(BuildError::CargoFailed { stderr, .. }) => format!("cargo: {stderr}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_verdict_follows_from_the_ending_and_the_messages() {
        let mut broken = Report { errors: true, ..Report::default() };
        broken.diagnostic("error: a\n".into());
        broken.diagnostic("error: a\n".into());
        assert_eq!(check(broken, false, "could not compile"), "does not compile: error: a\n");
        assert_eq!(check(Report::default(), false, "bad manifest"), "cargo: bad manifest");
        assert_eq!(check(Report::default(), false, "error: no library targets found in `x`"), "no library in x");
        assert_eq!(check(Report::default(), true, ""), "no library in x");
    }

    #[test]
    fn a_package_id_holds_a_name_in_any_of_its_forms() {
        assert_eq!(package_name("path+file:///w/foo#0.1.0"), "foo");
        assert_eq!(package_name("path+file:///w/dir#foo@0.1.0"), "foo");
        assert_eq!(package_name("foo 0.1.0 (path+file:///w/foo)"), "foo");
    }

    #[test]
    fn only_a_requested_library_is_a_root_library() {
        let library = |folder: &str| is_root_library(&Path::new(folder).join(format!("x.{}", super::DLL_EXTENSION)));
        assert!(library("/t/debug") && library("/t/x86_64-unknown-linux-gnu/release"));
        assert!(!library("/t/debug/deps"));
        assert!(!is_root_library(Path::new("/t/debug/libx.rlib")));
    }
}
