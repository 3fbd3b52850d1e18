//! What cargo's messages amount to: libraries, diagnostics, and a verdict. Data in, data out; `running.rs` reads the
//! pipe.

use crate::error::BuildError;
use cargo_metadata::{Message, diagnostic::DiagnosticLevel};
use std::collections::HashSet;
use std::env::consts::DLL_EXTENSION;
use std::path::{Path, PathBuf};

/// A library a host can load, or a program where programs were asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// The package it is of.
    pub package: String,
    /// The library or program, in cargo's target folder: the next build writes it anew.
    pub path: PathBuf,
    /// Whether it was already there, so that nothing was compiled.
    pub fresh: bool,
}

/// A build that went well.
#[derive(Debug, Clone)]
pub struct BuildOutcome {
    /// The libraries, in the order cargo finished them; at least one.
    pub artifacts: Vec<Artifact>,
    /// The compiler's warnings, once each, as it rendered them.
    pub warnings: String,
    /// Time from the start of cargo to its end.
    pub millis: f64,
}

/// The messages of one build so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    artifacts: Vec<Artifact>,
    rendered: String,
    seen: HashSet<String>,
    errors: bool,
}

/// How cargo ended.
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
                if !is_tally(&diagnostic.message) {
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

    /// The verdict, once cargo has ended.
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
        if self.seen.contains(&rendered) {
            return;
        }
        self.rendered.push_str(&rendered);
        if !rendered.ends_with('\n') {
            self.rendered.push('\n');
        }
        self.seen.insert(rendered);
    }
}

/// A count of messages rather than a message; cargo hides these as well.
fn is_tally(message: &str) -> bool {
    message.starts_with("aborting due to ")
        || message.ends_with(" warning emitted")
        || message.ends_with(" warnings emitted")
}

/// Cargo lifts what was asked for into the profile's folder; the cdylib of a mere dependency stays below it.
fn is_root_library(file: &Path) -> bool {
    let folder = file.parent().and_then(Path::file_name);
    file.extension().is_some_and(|extension| extension == DLL_EXTENSION)
        && folder.is_some_and(|name| name == "debug" || name == "release")
}

/// The name within a package id: `url#name@version`, `url/name#version`, or `name version (url)` before cargo 1.77.
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
    fn only_what_was_asked_for_is_a_root_library() {
        let library = |folder: &str| is_root_library(&Path::new(folder).join(format!("x.{}", super::DLL_EXTENSION)));
        assert!(library("/t/debug") && library("/t/x86_64-unknown-linux-gnu/release"));
        assert!(!library("/t/debug/deps"));
        assert!(!is_root_library(Path::new("/t/debug/libx.rlib")));
    }
}
