//! Provides the parts of the runtime's test support that the tests of this package use.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use alcedo_build::{BuildRequest, Switches, Variants};
use alcedo_runtime::{Builder, Runtime};

/// True if each call slot of this host stores the type of its value.
pub(crate) const SLOT_TYPES: bool = alcedo_abi::SLOT_TYPES;

/// Returns a builder with the packages that the plugins need.
pub(crate) fn builder() -> Builder {
    Runtime::builder().package("Game")
}

pub(crate) fn plugin(package: &str, features: &[&str]) -> PathBuf {
    tagged(package, features, 0)
}

pub(crate) fn tagged(package: &str, features: &[&str], tag: u64) -> PathBuf {
    static BUILT: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
    // Uses the target folder of the runtime's tests, where most dependencies are already compiled.
    let package = format!("bare-{package}");
    let request = BuildRequest::new(&manifest).package(&package).target_dir(dir.join("plugins"));
    let request = features.iter().fold(request, |request, feature| request.feature(*feature));
    let label = format!("{package}{}", features.join("+"));
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let variants = Variants::new(dir.join("variants"));
    let library = built
        .entry(label.clone())
        .or_insert_with(|| variants.get(&request, &label).unwrap_or_else(|error| panic!("{error}")));
    let switches = Switches { on: &[], tag: Some(tag) };
    variants.switched(library, &format!("{label}-{tag}"), &switches).unwrap_or_else(|error| panic!("{error}"))
}
