//! Build requests and their cargo commands. A request only stores its options. The environment is read when a request is converted to a
//! command.

use crate::cargo_env;
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf, absolute};
use std::process::Command;

/// Request to build some plugin crates, or all default members of a workspace.
///
/// # Examples
/// ```no_run
/// use std::path::Path;
///
/// use alcedo_build::{BuildRequest, build};
///
/// let request = BuildRequest::new(Path::new("plugins/Cargo.toml")).package("spinner").release(true);
/// let outcome = build(&request)?;
/// println!("{}", outcome.artifacts[0].path.display());
/// # Ok::<(), alcedo_build::BuildError>(())
/// ```
#[derive(Debug, Clone)]
pub struct BuildRequest<'a> {
    manifest: &'a Path,
    folder: Option<PathBuf>,
    packages: Vec<&'a str>,
    features: Vec<String>,
    pub(crate) programs: bool,
    release: bool,
    toolchain: Option<String>,
    target_dir: Option<PathBuf>,
    envs: Vec<(String, String)>,
    pub(crate) color: bool,
}

impl<'a> BuildRequest<'a> {
    /// Creates a request for a debug build of the crate or workspace whose `Cargo.toml` is `manifest`, with the user's environment and
    /// configuration.
    pub fn new(manifest: &'a Path) -> Self {
        Self {
            manifest,
            folder: None,
            packages: Vec::new(),
            features: Vec::new(),
            programs: false,
            release: false,
            toolchain: None,
            target_dir: None,
            envs: Vec::new(),
            color: false,
        }
    }

    /// Selects a member of the workspace. Repeated calls select more members. If no member is selected, cargo builds the default members.
    pub fn package(mut self, name: &'a str) -> Self {
        self.packages.push(name);
        self
    }

    /// Builds programs that run as hosts, instead of libraries. The artifacts of the build are then these programs.
    pub fn programs(mut self) -> Self {
        self.programs = true;
        self
    }

    /// Enables a feature.
    pub fn feature(mut self, name: impl Into<String>) -> Self {
        self.features.push(name.into());
        self
    }

    /// Selects the release profile if `yes` is `true`.
    pub fn release(mut self, yes: bool) -> Self {
        self.release = yes;
        self
    }

    /// Builds with this rustup toolchain, as `cargo +name` does.
    pub fn toolchain(mut self, name: impl Into<String>) -> Self {
        self.toolchain = Some(name.into());
        self
    }

    /// Builds into this folder instead of cargo's default. The default is CARGO_TARGET_DIR, then the workspace's configuration.
    pub fn target_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.target_dir = Some(dir.into());
        self
    }

    /// Runs cargo in this folder instead of the manifest's folder. Cargo searches its configuration from the working directory upward.
    pub fn run_in(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Sets an environment variable for cargo, the compiler and build scripts.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.envs.push((name.into(), value.into()));
        self
    }

    /// Requests colored diagnostics if `yes` is `true`.
    pub fn color(mut self, yes: bool) -> Self {
        self.color = yes;
        self
    }

    /// Returns a description of the built package for error messages: its name, or the path of the manifest.
    pub(crate) fn what(&self) -> String {
        self.package_name().map_or_else(|| self.manifest.display().to_string(), |name| format!("package `{name}`"))
    }

    /// Returns the selected package, if exactly one was selected.
    pub(crate) fn package_name(&self) -> Option<&'a str> {
        if let [name] = self.packages[..] { Some(name) } else { None }
    }

    pub(crate) fn manifest(&self) -> PathBuf {
        full(self.manifest)
    }

    /// Returns the folder in which cargo runs.
    pub(crate) fn folder(&self) -> PathBuf {
        let of_manifest = || self.manifest().parent().unwrap_or(Path::new("/")).to_owned();
        self.folder.as_deref().map_or_else(of_manifest, full)
    }

    pub(crate) fn own_target_dir(&self) -> Option<PathBuf> {
        self.target_dir.as_deref().map(full)
    }

    /// Returns a cargo command without a subcommand, with the user's environment, in the folder of the request. The folder matters because
    /// cargo searches its configuration from the working directory upward, not from the manifest.
    pub(crate) fn cargo(&self) -> Command {
        let mut cargo = match (&self.toolchain, env::var_os("CARGO")) {
            (Some(toolchain), _) => {
                let mut shim = Command::new("cargo");
                shim.arg(format!("+{toolchain}"));
                shim
            }
            (None, Some(program)) if cargo_env::has_folder(program.as_ref()) => Command::new(full(program.as_ref())),
            (None, Some(program)) if !program.is_empty() => Command::new(program),
            (None, _) => Command::new("cargo"),
        };
        let folder = self.folder();
        if folder.is_dir() {
            cargo.current_dir(folder);
        }
        let vars: Vec<_> = env::vars_os().collect();
        let cwd = env::current_dir().unwrap_or_default();
        set_variables(&mut cargo, cargo_env::changes(&vars, self.toolchain.is_some(), &cwd));
        cargo.envs(self.envs.iter().map(|(name, value)| (name, value)));
        cargo
    }

    pub(crate) fn build_args(&self) -> Vec<String> {
        let format = if self.color { "json-diagnostic-rendered-ansi" } else { "json" };
        let mut args = vec![
            "build".into(),
            if self.programs { "--bins" } else { "--lib" }.into(),
            format!("--message-format={format}"),
        ];
        args.extend(["--color".into(), if self.color { "always" } else { "never" }.into()]);
        args.extend(["--manifest-path".into(), self.manifest().display().to_string()]);
        args.extend(self.packages.iter().flat_map(|package| ["--package".into(), (*package).into()]));
        if !self.features.is_empty() {
            args.extend(["--features".into(), self.features.join(",")]);
        }
        if self.release {
            args.push("--release".into());
        }
        if let Some(dir) = self.own_target_dir() {
            args.extend(["--target-dir".into(), dir.display().to_string()]);
        }
        args
    }

    /// Returns the command as a user would type it, without the arguments for machine-readable output.
    pub(crate) fn command_line(&self) -> String {
        let variables = self.envs.iter().map(|(name, value)| format!("{name}={}", shell_word(value)));
        let mut parts: Vec<String> = variables.collect();
        parts.push("cargo".into());
        parts.extend(self.toolchain.iter().map(|name| format!("+{name}")));
        let mut args = self.build_args().into_iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--color" => drop(args.next()),
                format if format.starts_with("--message-format") => {}
                arg => parts.push(shell_word(arg)),
            }
        }
        parts.join(" ")
    }
}

/// Sets the environment variables of a command. Unsets variables without a value.
pub(crate) fn set_variables(
    command: &mut Command,
    variables: impl IntoIterator<Item = (impl AsRef<OsStr>, Option<impl AsRef<OsStr>>)>,
) {
    for (name, value) in variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
}

fn full(path: &Path) -> PathBuf {
    absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns a word of a shell command, in quotes if needed.
///
/// # Examples
/// ```
/// use alcedo_build::shell_word;
///
/// assert_eq!((shell_word("../tools"), shell_word("my tools")), ("../tools".into(), "'my tools'".into()));
/// ```
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:+@".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.into() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::BuildRequest;
    use std::path::Path;

    #[test]
    fn a_request_reads_as_the_command_a_person_would_type() {
        let request = BuildRequest::new(Path::new("/p/Cargo.toml")).package("x").feature("a").feature("b");
        let request = request.release(true).toolchain("nightly").env("A", "b c").target_dir("/t").color(true);
        assert_eq!(
            request.command_line(),
            "A='b c' cargo +nightly build --lib --manifest-path /p/Cargo.toml --package x --features a,b --release \
             --target-dir /t"
        );
    }
}
