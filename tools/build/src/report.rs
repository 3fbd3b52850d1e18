//! Converts cargo's messages to libraries, diagnostics and the result of a build, by pure functions. `running.rs` reads these messages from
//! cargo's output.

use crate::error::BuildError;
use crate::named_files::{full_path, is_error, named_files};
use crate::reason::CargoReason;
use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel};
use cargo_metadata::{Message, PackageId};
use std::collections::{BTreeSet, HashSet};
use std::env::consts::DLL_EXTENSION;
use std::path::{Path, PathBuf};

/// Library that a host can load, or a program if programs were requested.
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
    /// Path of the library or program in cargo's target folder. The next build overwrites this file.
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
    /// Libraries in the order in which cargo finished them. Never empty.
    pub artifacts: Vec<Artifact>,
    /// Warnings as the compiler rendered them, without duplicates.
    pub warnings: String,
    /// Run time in milliseconds of cargo, or of the compiler in a build without cargo.
    pub millis: f64,
    /// Method of the build: cargo with the reason why cargo ran, or the compiler alone with its times.
    pub method: BuildMethod,
    /// Environment variables that the sources and the build scripts of local crates read. `None` if not all inputs are known.
    pub(crate) variables: Option<BTreeSet<String>>,
}

impl BuildOutcome {
    /// Returns the phases of the build with their durations in milliseconds, in chronological order. The durations add up to
    /// [`millis`](Self::millis).
    ///
    /// # Examples
    /// ```no_run
    /// use std::path::Path;
    ///
    /// use alcedo_build::{BuildRequest, Builder};
    ///
    /// let outcome = Builder::new().build(&BuildRequest::new(Path::new("plugins/Cargo.toml")))?;
    /// for (name, millis) in outcome.parts() {
    ///     println!("{millis:>6.0} ms  {name}");
    /// }
    /// # Ok::<(), alcedo_build::BuildError>(())
    /// ```
    pub fn parts(&self) -> Vec<(String, f64)> {
        let (compile, link, slow_link) = match &self.method {
            BuildMethod::Cargo(reason) => return vec![(format!("cargo, because {reason}"), self.millis)],
            BuildMethod::Direct { compile, link, slow_link } => (*compile, link.unwrap_or_default(), slow_link),
        };
        let link_name =
            slow_link.as_ref().map_or("link".to_owned(), |reason| format!("link by `cc`, because {reason}"));
        let rest = (self.millis - compile).max(0.0);
        let parts = [("compiler".to_owned(), compile - link), (link_name, link), ("seal and copy".to_owned(), rest)];
        parts.into_iter().filter(|(_, millis)| *millis > 0.0).collect()
    }
}

/// Method of a build.
///
/// # Examples
/// ```
/// use alcedo_build::{BuildMethod, CargoReason};
///
/// let text = |method: &BuildMethod| match method {
///     BuildMethod::Cargo(reason) => format!("cargo, because {reason}"),
///     BuildMethod::Direct { link: Some(link), .. } => format!("compiler only, {link} ms of it to link"),
///     _ => "compiler only".to_owned(),
/// };
/// assert_eq!(text(&BuildMethod::Cargo(CargoReason::Locked)), "cargo, because another cargo uses the target folder");
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum BuildMethod {
    /// Cargo ran, for this reason.
    Cargo(CargoReason),
    /// Only the recorded compiler calls ran, for the plugins whose own sources had changed.
    Direct {
        /// Milliseconds that the slowest compiler call took, including its link.
        compile: f64,
        /// Milliseconds that the link in this call took. `None` if no [`Builder::linker`](crate::Builder::linker) is set, or if nothing was
        /// compiled.
        link: Option<f64>,
        /// Reason why `cc` linked the library. `None` if the linker was called directly.
        slow_link: Option<String>,
    },
}

/// Messages of one build that have been read so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    artifacts: Vec<Artifact>,
    pub(crate) units: Units,
    pub(crate) diagnostics: Diagnostics,
    /// Files whose change may correct the errors.
    pub(crate) inputs: Vec<PathBuf>,
}

/// Compiled and up-to-date crates of local packages.
#[derive(Debug, Default)]
pub(crate) struct Units {
    /// The requested plugins.
    pub(crate) plugins: Vec<Unit>,
    /// Package name and output folder of each build script.
    pub(crate) scripts: Vec<(String, PathBuf)>,
    /// Manifest and output file of each library that is not a plugin.
    pub(crate) libraries: Vec<(PathBuf, PathBuf)>,
    /// Folders of all outputs, including those of packages that are not local.
    pub(crate) folders: BTreeSet<PathBuf>,
}

/// Plugin that is named in a message from cargo.
#[derive(Debug, Clone)]
pub(crate) struct Unit {
    pub(crate) package_id: String,
    pub(crate) manifest: PathBuf,
    /// The crate's root source.
    pub(crate) root: PathBuf,
    pub(crate) crate_name: String,
    pub(crate) library: PathBuf,
    pub(crate) fresh: bool,
}

/// Diagnostics by package, as rendered by the compiler.
#[derive(Debug, Clone, Default)]
pub(crate) struct Diagnostics {
    rendered: Vec<(String, String)>,
    pub(crate) errors: bool,
    /// Set after an error whose cause may be outside the sources, for example an error from the linker.
    pub(crate) errors_elsewhere: bool,
}

impl Report {
    pub(crate) fn note(&mut self, message: Message) {
        if let Message::CompilerArtifact(artifact) = &message {
            self.units.folders.extend(artifact.filenames.iter().filter_map(|file| file.parent().map(PathBuf::from)));
        }
        match message {
            // Skips warnings in packages that are not local. Cargo also hides these warnings, except with `-vv`.
            Message::CompilerMessage(message) if is_local(&message.package_id) || is_error(&message.message) => {
                let root = message.target.src_path.as_std_path();
                let named = named_files(&message.message);
                self.inputs.extend(named.iter().filter_map(|file| full_path(file, root)));
                self.diagnostics.note(&message.package_id.repr, message.message);
            }
            Message::CompilerArtifact(artifact) if artifact.target.is_cdylib() => {
                let library = artifact.filenames.iter().find(|file| is_root_library(file.as_std_path()));
                let Some(library) = library.map(|library| PathBuf::from(library.as_std_path())) else { return };
                let name = package_name(&artifact.package_id.repr).to_owned();
                self.units.plugins.push(Unit {
                    package_id: artifact.package_id.repr,
                    manifest: artifact.manifest_path.into(),
                    root: artifact.target.src_path.into(),
                    crate_name: artifact.target.name.replace('-', "_"),
                    library: library.clone(),
                    fresh: artifact.fresh,
                });
                self.artifacts.push(Artifact { package: name, path: library, fresh: artifact.fresh });
            }
            Message::CompilerArtifact(artifact) if artifact.target.is_bin() => {
                self.artifacts.extend(artifact.executable.map(|path| Artifact {
                    package: package_name(&artifact.package_id.repr).to_owned(),
                    path: path.into(),
                    fresh: artifact.fresh,
                }));
            }
            Message::BuildScriptExecuted(script) if is_local(&script.package_id) => {
                self.units.scripts.push((package_name(&script.package_id.repr).to_owned(), script.out_dir.into()));
            }
            Message::CompilerArtifact(artifact) if is_local(&artifact.package_id) => {
                let manifest = PathBuf::from(artifact.manifest_path);
                let files = artifact.filenames.into_iter().filter(|file| file.extension() == Some("rlib"));
                self.units.libraries.extend(files.map(|file| (manifest.clone(), file.into())));
            }
            _ => {}
        }
    }

    /// Returns the artifacts and the warnings of the build after cargo has exited. If cargo failed, `failure` is its error stream.
    pub(crate) fn conclude(
        self,
        failure: Option<String>,
        what: String,
        command: String,
    ) -> Result<(Vec<Artifact>, String), BuildError> {
        let warnings = self.diagnostics.text();
        match failure {
            None if self.artifacts.is_empty() => Err(BuildError::NoLibrary { what }),
            None => Ok((self.artifacts, warnings)),
            Some(_) if self.diagnostics.errors => {
                Err(BuildError::DoesNotCompile { rendered: warnings, command, inputs: self.inputs })
            }
            Some(stderr) if stderr.contains("no library targets found") => Err(BuildError::NoLibrary { what }),
            Some(stderr) => Err(BuildError::CargoFailed { command, stderr }),
        }
    }
}

impl Diagnostics {
    pub(crate) fn note(&mut self, package: &str, diagnostic: Diagnostic) {
        if is_error(&diagnostic) {
            self.errors = true;
            self.errors_elsewhere |= !is_summary(&diagnostic.message) && is_elsewhere(&diagnostic);
        }
        if is_summary(&diagnostic.message) {
            return;
        }
        let mut rendered = diagnostic.rendered.unwrap_or(diagnostic.message);
        if !rendered.ends_with('\n') {
            rendered.push('\n');
        }
        self.rendered.push((package.to_owned(), rendered));
    }

    /// Replaces the diagnostics of a package.
    pub(crate) fn replace(&mut self, package: &str, new: Self) {
        self.rendered.retain(|(known, _)| known != package);
        self.rendered.extend(new.rendered);
        self.errors |= new.errors;
        self.errors_elsewhere |= new.errors_elsewhere;
    }

    /// Returns the rendered diagnostics, each once. Cargo repeats the diagnostics of a package that it compiles twice, for the library and
    /// for its tests.
    pub(crate) fn text(&self) -> String {
        let mut before = HashSet::new();
        self.rendered.iter().map(|(_, text)| text.as_str()).filter(|text| before.insert(*text)).collect()
    }
}

/// Returns `true` for an error whose cause may be outside the crate's sources: in the linker, in an incompatible library, or in the
/// compiler itself.
fn is_elsewhere(diagnostic: &Diagnostic) -> bool {
    const LIBRARIES: &[&str] = &["E0460", "E0461", "E0462", "E0463", "E0464", "E0514", "E0519", "E0523", "E0786"];
    diagnostic.level == DiagnosticLevel::Ice
        || diagnostic.spans.is_empty()
        || diagnostic.code.as_ref().is_some_and(|code| LIBRARIES.contains(&code.code.as_str()))
}

/// Returns `true` for packages from local folders. Packages from a registry are not local.
fn is_local(package: &PackageId) -> bool {
    package.repr.contains("path+file:")
}

/// Returns `true` for a message that only states the number of errors or warnings. Cargo also hides these messages.
fn is_summary(message: &str) -> bool {
    message.starts_with("aborting due to ")
        || message.ends_with(" warning emitted")
        || message.ends_with(" warnings emitted")
}

/// Returns `true` for the library of a requested package. Cargo writes this library to the profile's folder, and cdylibs of dependencies to
/// a subfolder.
fn is_root_library(file: &Path) -> bool {
    let folder = file.parent().and_then(Path::file_name);
    file.extension().is_some_and(|extension| extension == DLL_EXTENSION)
        && folder.is_some_and(|name| name == "debug" || name == "release")
}

/// Returns the name in a package id: `url#name@version`, `url/name#version`, or `name version (url)` before cargo 1.77.
pub(crate) fn package_name(id: &str) -> &str {
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
    use super::{BuildMethod, BuildOutcome, Diagnostics, Report, is_root_library, package_name};
    use crate::error::BuildError;
    use crate::reason::CargoReason;
    use cargo_metadata::Message;
    use cargo_metadata::diagnostic::Diagnostic;
    use std::path::Path;

    fn check(report: Report, success: bool, stderr: &str) -> String {
        match report.conclude((!success).then(|| stderr.into()), "x".into(), "cargo build".into()) {
            Ok((artifacts, _)) => format!("{} artifacts", artifacts.len()),
            Err(BuildError::DoesNotCompile { rendered, .. }) => format!("does not compile: {rendered}"),
            Err(BuildError::NoLibrary { what }) => format!("no library in {what}"),
            Err(BuildError::CargoFailed { stderr, .. }) => format!("cargo: {stderr}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_verdict_follows_from_the_ending_and_the_messages() {
        let mut broken = Report::default();
        broken.diagnostics.note("x", diagnostic("error", "a", &[]));
        broken.diagnostics.note("x", diagnostic("error", "a", &[]));
        assert_eq!(check(broken, false, "could not compile"), "does not compile: error: a\n");
        assert_eq!(check(Report::default(), false, "bad manifest"), "cargo: bad manifest");
        assert_eq!(check(Report::default(), false, "error: no library targets found in `x`"), "no library in x");
        assert_eq!(check(Report::default(), true, ""), "no library in x");
    }

    fn diagnostic(level: &str, message: &str, codes: &[&str]) -> Diagnostic {
        let span = serde_json::json!({
            "file_name": "a.rs", "byte_start": 0, "byte_end": 1, "line_start": 1, "line_end": 1, "column_start": 1,
            "column_end": 2, "is_primary": true, "text": [], "label": null, "suggested_replacement": null,
            "suggestion_applicability": null, "expansion": null,
        });
        let code = codes.first().map(|code| serde_json::json!({ "code": code, "explanation": null }));
        serde_json::from_value(serde_json::json!({
            "message": message, "code": code, "level": level, "spans": if codes.is_empty() { vec![] } else { vec![span] },
            "children": [], "rendered": format!("{level}: {message}\n"),
        }))
        .unwrap()
    }

    #[test]
    fn warnings_of_other_packages_are_hidden() {
        let mut report = Report::default();
        for (package, level) in [
            ("registry+https://github.com/rust-lang/crates.io-index#serde@1.0.0", "warning"),
            ("registry+https://github.com/rust-lang/crates.io-index#serde@1.0.0", "error"),
            ("path+file:///w/foo#0.1.0", "warning"),
        ] {
            let target =
                serde_json::json!({ "name": "x", "kind": ["lib"], "crate_types": ["lib"], "src_path": "/x.rs" });
            let message = serde_json::json!({
                "reason": "compiler-message", "package_id": package, "target": target,
                "message": { "message": package, "code": null, "level": level, "spans": [], "children": [], "rendered": level },
            });
            report.note(serde_json::from_value::<Message>(message).unwrap());
        }
        assert_eq!(report.diagnostics.text(), "error\nwarning\n");
    }

    #[test]
    fn diagnostics_of_a_package_replace_its_older_ones() {
        let of = |package: &str, text: &str| {
            let mut diagnostics = Diagnostics::default();
            diagnostics.note(package, diagnostic("warning", text, &["unused"]));
            diagnostics
        };
        let mut all = of("a", "one");
        all.replace("b", of("b", "two"));
        all.replace("a", of("a", "three"));
        assert_eq!((all.text().as_str(), all.errors), ("warning: two\nwarning: three\n", false));
    }

    #[test]
    fn the_parts_of_a_build_add_up() {
        let parts = |method: BuildMethod| {
            let (artifacts, warnings) = (Vec::new(), String::new());
            let outcome = BuildOutcome { artifacts, warnings, millis: 100.0, method, variables: None };
            let parts = outcome.parts();
            assert_eq!(parts.iter().map(|(_, millis)| millis).sum::<f64>(), 100.0);
            parts.iter().map(|(name, millis)| format!("{name} {millis}")).collect::<Vec<_>>().join(" · ")
        };
        assert_eq!(
            parts(BuildMethod::Cargo(CargoReason::Locked)),
            "cargo, because another cargo uses the target folder 100"
        );
        let direct = |link, slow: Option<&str>| {
            parts(BuildMethod::Direct { compile: 90.0, link, slow_link: slow.map(str::to_owned) })
        };
        assert_eq!(direct(None, None), "compiler 90 · seal and copy 10");
        assert_eq!(direct(Some(20.0), None), "compiler 70 · link 20 · seal and copy 10");
        assert_eq!(
            direct(Some(20.0), Some("no lld")),
            "compiler 70 · link by `cc`, because no lld 20 · seal and copy 10"
        );
    }

    #[test]
    fn an_error_outside_the_sources_is_recognized() {
        let is_elsewhere = |level: &str, message: &str, codes: &[&str]| {
            let mut diagnostics = Diagnostics::default();
            diagnostics.note("x", diagnostic(level, message, codes));
            diagnostics.errors_elsewhere
        };
        assert!(is_elsewhere("error", "linking with `cc` failed: exit status: 1", &[]));
        assert!(is_elsewhere("error", "can't find crate for `serde`", &["E0463"]));
        assert!(is_elsewhere("error: internal compiler error", "unexpected panic", &["none"]));
        assert!(!is_elsewhere("error", "mismatched types", &["E0308"]));
        assert!(!is_elsewhere("error", "aborting due to 1 previous error", &[]));
        assert!(!is_elsewhere("warning", "linker messages", &[]));
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
