//! Builds of the example plugins, for tests of any package in the checkout.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use alcedo_build::{BuildRequest, Variants};

/// The workspace of the example plugins.
pub(crate) fn examples() -> PathBuf {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let mut examples = folders.map(|folder| folder.join("example-plugins")).filter(|examples| examples.is_dir());
    examples.next().expect("the test lies in the checkout")
}

/// Where builds for tests go: beside the host's own, so that `cargo clean` finds them.
pub(crate) fn test_dir() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).to_owned()
}

/// Plugins are built as the test is: a release test loads release plugins.
const RELEASE: bool = !cfg!(debug_assertions);

/// A build request for an example plugin.
pub(crate) fn request<'a>(package: &'a str, features: &[&str]) -> BuildRequest<'a> {
    static MANIFEST: OnceLock<PathBuf> = OnceLock::new();
    let manifest = MANIFEST.get_or_init(|| examples().join("Cargo.toml"));
    let request = BuildRequest::new(manifest).package(package);
    let request = request.target_dir(test_dir().join("plugins")).release(RELEASE);
    features.iter().fold(request, |request, feature| request.feature(*feature))
}

/// The library of an example plugin, built with some features. Built once for all tests.
pub(crate) fn plugin(package: &str, features: &[&str]) -> PathBuf {
    let label = std::iter::once(package).chain(features.iter().copied()).collect::<Vec<_>>().join("+");
    build(&request(package, features), &label)
}

/// The library of an example plugin that answers `tag` when it is asked which build it is.
pub(crate) fn tagged(package: &str, features: &[&str], tag: u64) -> PathBuf {
    let request = request(package, features).env("ALCEDO_BUILD_TAG", tag.to_string());
    build(&request, &format!("{package}-{tag}{}", features.join("+")))
}

/// Where the source of an example plugin has a text, as a panic there names the line: `broken/src/lib.rs:40`.
pub(crate) fn line_of(package: &str, text: &str) -> String {
    let source = std::fs::read_to_string(examples().join(package).join("src/lib.rs")).expect("the plugin has a lib.rs");
    let line = source.lines().position(|line| line.contains(text)).unwrap_or_else(|| panic!("{package} has no {text}"));
    format!("{package}/src/lib.rs:{}", line + 1)
}

/// Builds under a label of its own, once in this process.
pub(crate) fn build(request: &BuildRequest<'_>, label: &str) -> PathBuf {
    static BUILT: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = if RELEASE { "variants-release" } else { "variants" };
    let build = || Variants::new(test_dir().join(folder)).get(request, label);
    let library = built.entry(label.to_owned()).or_insert_with(|| build().unwrap_or_else(|error| panic!("{error}")));
    library.clone()
}
