//! Checks if a built library is up to date. A note next to the library records the request, the environment, the compiler, and digests of
//! the sources that cargo lists, of the manifests, of the lock file, and of the variables that sources and build scripts read. An unknown
//! input counts as changed.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::SystemTime;
use std::{env, fs, io};

use xxhash_rust::xxh3::xxh3_128;

use crate::dep_info;
use crate::lock;
use crate::record::{configurations, manifest_folders};
use crate::request::{BuildRequest, set_variables};
use crate::stamp::{CLOCK_TICK, Stamp};

/// Returns a string with all inputs of a build except sources. Equal strings mean equal inputs.
pub(crate) fn inputs(request: &BuildRequest<'_>) -> String {
    let cargo = request.cargo();
    let variables = environment(&cargo);
    let mut text = format!("{}\n", request.command_line());
    for (name, value) in variables.iter().filter(|(name, _)| name.to_str().is_some_and(decides)) {
        // Adds a digest of the file if the value is the path of a file, for example of a wrapper program for the compiler.
        let digest = fs::read(value).map_or(0, |program| xxh3_128(&program));
        let _ = writeln!(text, "{}={} {digest:x}", name.display(), value.display());
    }
    for path in configurations(&[request.folder()], &variables) {
        if let Ok(config) = fs::read(&path) {
            let _ = writeln!(text, "{} {:x}", path.display(), xxh3_128(&config));
        }
    }
    text + &compiler(&cargo)
}

pub(crate) fn environment(command: &Command) -> BTreeMap<OsString, OsString> {
    let mut variables: BTreeMap<OsString, OsString> = env::vars_os().collect();
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => variables.insert(name.to_owned(), value.to_owned()),
            None => variables.remove(name),
        };
    }
    variables
}

/// Returns `true` for environment variables that a compiler reads.
fn decides(name: &str) -> bool {
    let prefixes =
        ["CARGO_BUILD_", "CARGO_ENCODED_", "CARGO_PROFILE_", "CARGO_TARGET_", "RUST", "CC", "CFLAGS", "ALCEDO_BUILD_"];
    name != "CARGO_TARGET_TMPDIR"
        && !name.starts_with("RUST_")
        && prefixes.iter().any(|prefix| name.starts_with(prefix))
}

/// Returns the version output of the request's compiler, cached per process.
fn compiler(cargo: &Command) -> String {
    static CACHE: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let mut cache = lock(&CACHE);
    let rustc = cargo.get_envs().find(|(name, _)| *name == "RUSTC").and_then(|(_, value)| value);
    let mut command = Command::new(rustc.unwrap_or(cargo.get_program()));
    if rustc.is_none() {
        command.args(cargo.get_args());
    }
    set_variables(&mut command, cargo.get_envs());
    let key = format!("{command:?}");
    let query = || {
        let output = command.arg("-vV").output();
        // If the compiler cannot run, the error message replaces the version.
        output.map_or_else(|error| format!("{error}\n"), |output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    cache.entry(key).or_insert_with(query).clone()
}

/// Prefix of an environment variable among the files of a note.
const VARIABLE: &str = "env:";

/// Digests of files and of environment variables. Each file is read once, because libraries of one workspace share most of their inputs.
#[derive(Default)]
pub(crate) struct Digests {
    known: BTreeMap<PathBuf, Option<String>>,
    environment: BTreeMap<OsString, OsString>,
    /// Start of the build that has read the files. `None` if no build has read them.
    start: Option<SystemTime>,
}

impl Digests {
    /// Creates digests with the environment of a request's build.
    pub(crate) fn new(request: &BuildRequest<'_>) -> Self {
        Self { environment: environment(&request.cargo()), ..Self::default() }
    }

    /// Creates digests of the files that a build since `start` has read. Must be called after the build.
    pub(crate) fn of_build(request: &BuildRequest<'_>, start: SystemTime) -> Self {
        Self { start: Some(start), ..Self::new(request) }
    }

    /// Returns `true` if a file was written or replaced during the build. The compiler may then have read the older version.
    fn is_newer(&self, file: &Path) -> bool {
        // Adds the tick that `Stamp::before` subtracts, because cargo starts the compiler later than one tick after `start`.
        self.start.is_some_and(|start| Stamp::before(file, start + CLOCK_TICK) == Stamp::Unknown)
    }

    /// Returns the digest of a file, or of the value of a variable with the prefix [`VARIABLE`]. Returns `None` for a file that cannot be
    /// read.
    fn of(&mut self, input: &Path) -> Option<&str> {
        let Self { known, environment, .. } = self;
        let digest = |bytes: &[u8]| format!("{:x}", xxh3_128(bytes));
        let read = || match input.to_str().and_then(|input| input.strip_prefix(VARIABLE)) {
            Some(name) => {
                let value = environment.get(OsStr::new(name));
                Some(value.map_or_else(|| "unset".to_owned(), |value| digest(value.as_encoded_bytes())))
            }
            None => fs::read(input).ok().map(|bytes| digest(&bytes)),
        };
        known.entry(input.to_owned()).or_insert_with(read).as_deref()
    }
}

/// Returns the library that a note records. Returns `None` if the request, a recorded file or a recorded variable has changed.
pub(crate) fn unchanged(note: &Path, inputs: &str, digests: &mut Digests) -> Option<PathBuf> {
    let text = fs::read_to_string(note).ok()?;
    let mut lines = text.strip_prefix(inputs)?.lines();
    let library = PathBuf::from(lines.next()?.strip_prefix("library ")?);
    let is_as_it_was =
        |line: &str| line.split_once(' ').is_some_and(|(known, path)| digests.of(path.as_ref()) == Some(known));
    lines.all(is_as_it_was).then_some(library)
}

/// Records that `copy` was built from the inputs of `libraries`, which cargo has just built, and from environment variables. Writes no note
/// if an input was saved during the build, or cannot be read.
pub(crate) fn note(
    note: &Path,
    inputs: &str,
    copy: &Path,
    libraries: &[&Path],
    manifest: &Path,
    variables: &BTreeSet<String>,
    digests: &mut Digests,
) -> io::Result<()> {
    let mut files = BTreeSet::<PathBuf>::new();
    for library in libraries {
        files.extend(dep_info::read(&library.with_extension("d"))?);
    }
    let folders = manifest_folders(files.iter().map(PathBuf::as_path).chain([manifest]));
    let of_cargo =
        |name: &'static str| folders.iter().map(move |folder| folder.join(name)).filter(|path| path.is_file());
    files.extend(of_cargo("Cargo.toml"));
    // Ignores the times of files that a build script writes to its output folder. The list also contains the inputs of the script.
    let is_output =
        |file: &Path| file.ancestors().any(|dir| dir.ends_with("out") && dir.with_file_name("output").is_file());
    // Reads each digest before the time of the file, so that no later save is recorded.
    if files.iter().any(|file| digests.of(file).is_none() || !is_output(file) && digests.is_newer(file)) {
        return Ok(());
    }
    // Cargo itself may have written the lock file during the build.
    files.extend(of_cargo("Cargo.lock"));
    files.extend(variables.iter().map(|name| PathBuf::from(format!("{VARIABLE}{name}"))));
    note_files(note, inputs, copy, &files, digests)
}

/// Records that `copy` was built from these files and variables.
pub(crate) fn note_files(
    note: &Path,
    inputs: &str,
    copy: &Path,
    files: &BTreeSet<PathBuf>,
    digests: &mut Digests,
) -> io::Result<()> {
    let mut text = format!("{inputs}library {}\n", copy.display());
    for file in files.iter().map(PathBuf::as_path).chain([copy]) {
        let _ = writeln!(text, "{} {}", digests.of(file).unwrap_or("none"), file.display());
    }
    fs::write(note, text)
}

#[cfg(test)]
mod tests {
    use super::decides;

    #[test]
    fn variables_for_running_programs_do_not_affect_builds() {
        assert!(
            ["RUSTFLAGS", "RUSTC_WORKSPACE_WRAPPER", "CARGO_PROFILE_DEV_DEBUG", "ALCEDO_BUILD_TAG"]
                .iter()
                .all(|name| decides(name))
        );
        assert!(
            !["RUST_LOG", "RUST_BACKTRACE", "CARGO_TARGET_TMPDIR", "ALCEDO_TEST_PART"].iter().any(|name| decides(name))
        );
    }
}
