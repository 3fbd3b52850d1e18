//! Builds the example plugins and the plugins in `runtime/tests/plugins`, for tests of any package in the checkout. Names of features
//! select a build (`workspace.rs`). Names of switches and a tag select a copy of that build: see `plugins/fixture`. A copy is not compiled
//! again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use alcedo_build::{BuildRequest, Switches, Variants};

#[path = "workspace.rs"]
pub(crate) mod workspace;

/// Workspaces of plugins, relative to the root of the checkout.
pub(super) const WORKSPACES: [&str; 2] = ["example-plugins", "runtime/tests/plugins"];

pub(super) fn checkout() -> &'static Path {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    folders.find(|folder| folder.join(WORKSPACES[1]).is_dir()).expect("a test in a checkout")
}

/// Returns the folder of a plugin or of another example. Searches all workspaces.
pub(crate) fn folder(name: &str) -> PathBuf {
    let mut folders = WORKSPACES.iter().map(|workspace| checkout().join(workspace).join(name));
    folders.find(|folder| folder.is_dir()).unwrap_or_else(|| panic!("no workspace of {WORKSPACES:?} has {name}"))
}

/// Returns the folder for test builds. This folder is next to the folder of the host's builds, so that `cargo clean` removes both.
pub(crate) fn test_dir() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).to_owned()
}

/// True if the tests are a release build. Plugins are built with the profile of the tests.
const RELEASE: bool = !cfg!(debug_assertions);

pub(crate) fn request<'a>(package: &'a str, features: &[&str]) -> BuildRequest<'a> {
    let request = of_tests(BuildRequest::new(workspace::manifest()).package(package));
    features.iter().fold(request, |request, feature| request.feature(*feature))
}

/// Adds the profile and the target folder of all test builds to the request.
pub(super) fn of_tests(request: BuildRequest<'_>) -> BuildRequest<'_> {
    request.target_dir(test_dir().join("plugins")).release(RELEASE)
}

pub(super) fn variants() -> Variants {
    Variants::new(variants_dir())
}

/// Returns the folder with the libraries of all builds.
pub(super) fn variants_dir() -> PathBuf {
    test_dir().join(if RELEASE { "variants-release" } else { "variants" })
}

/// Returns the library of a plugin, built with these features and switches. Calls with equal arguments share one build.
pub(crate) fn plugin(package: &str, names: &[&str]) -> PathBuf {
    let label = std::iter::once(package).chain(names.iter().copied()).collect::<Vec<_>>().join("+");
    once(&label, || copy(package, names, None, &label))
}

pub(crate) fn tagged(package: &str, names: &[&str], tag: u64) -> PathBuf {
    let label = format!("{package}-{tag}{}", names.join("+"));
    once(&label, || copy(package, names, Some(tag), &label))
}

/// Returns the build that has the features in `names`. If `names` contains switches or there is a tag, returns a copy of the build with
/// these switches and this tag.
fn copy(package: &str, names: &[&str], tag: Option<u64>, label: &str) -> PathBuf {
    let known = workspace::features_of(package);
    let (features, on): (Vec<_>, Vec<_>) = names.iter().partition(|name| known.iter().any(|known| known == *name));
    let library = workspace::library(package, &features);
    if on.is_empty() && tag.is_none() {
        return library;
    }
    let copy = variants().switched(&library, label, &Switches { on: &on, tag });
    copy.unwrap_or_else(|error| panic!("{package} has the features {known:?}; {error}"))
}

/// Returns a copy of a separately built library, with these switches on.
pub(crate) fn with_switches(library: &Path, label: &str, switches: &Switches<'_>) -> PathBuf {
    variants().switched(library, label, switches).unwrap_or_else(|error| panic!("{error}"))
}

/// Finds a string in the sources of a plugin. Returns the string's location in the format of panics: `broken/src/lib.rs:40`.
pub(crate) fn line_of(package: &str, text: &str) -> String {
    let files = folder(package).join("src").read_dir().expect("the plugin has sources");
    let line = |file: std::fs::DirEntry| {
        let source = std::fs::read_to_string(file.path()).ok()?;
        let line = source.lines().position(|line| line.contains(text))?;
        Some(format!("{package}/src/{}:{}", file.file_name().display(), line + 1))
    };
    let found = files.filter_map(|file| line(file.ok()?)).min();
    found.unwrap_or_else(|| panic!("{package} has no {text}"))
}

/// Builds the request separately, under this label. The build runs once per process.
pub(crate) fn build(request: &BuildRequest<'_>, label: &str) -> PathBuf {
    once(label, || variants().get(request, label).unwrap_or_else(|error| panic!("{error}")))
}

fn once(label: &str, build: impl FnOnce() -> PathBuf) -> PathBuf {
    static BUILT: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    built.entry(label.to_owned()).or_insert_with(build).clone()
}
