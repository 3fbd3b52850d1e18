//! Tests plugins of earlier versions. `runtime/tests/old` has builds of `magic-cube` by several compilers for each version of the plugin
//! API. A library of a released version is never replaced. If the host refuses such a library after an ABI change, this test fails.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use alcedo_abi::API_CURRENT;
use alcedo_build::{BuildRequest, Switches};
use alcedo_runtime::{Error, LoadError, seal_file};

use super::{DEBIANS, check_cubes, compiler, output_of};
use crate::support;
use crate::support::elf::with_manifest;

/// Maximum size of a library in the repository, in bytes.
const LARGEST: usize = 600 << 10;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/old")
}

/// Returns the libraries with their file names.
fn libraries() -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(folder()).expect("a folder of libraries").map(|entry| entry.expect("an entry"));
    let named = entries.map(|entry| (entry.file_name().into_string().expect("a name"), entry.path()));
    let mut libraries: Vec<_> = named.filter(|(name, _)| name.ends_with(".so")).collect();
    libraries.sort();
    libraries
}

#[test]
fn plugins_of_earlier_versions_work_in_this_host() {
    let libraries = libraries();
    let compilers: BTreeSet<_> = libraries.iter().map(|(_, library)| compiler(library)).collect();
    assert!(compilers.len() >= 3, "{compilers:?}");
    for (name, library) in libraries {
        support::host(std::slice::from_ref(&library)).shutdown().into_result().expect("its image is gone");
        check_cubes(&support::with_switches(&library, &format!("old-{name}"), &Switches { on: &[], tag: Some(2) }));
    }
}

/// Simulates a change of the ABI: in each library, the layout hash is replaced by a hash that differs from the host's.
#[test]
fn plugins_of_earlier_versions_are_refused_after_a_change_of_the_abi() {
    const LAYOUT_HASH: usize = 20;
    const SEAL: usize = 24;
    let dir = tempfile::tempdir().expect("a folder");
    for (name, library) in libraries() {
        let bytes = fs::read(library).expect("a library");
        let file = dir.path().join(&name);
        let changed = with_manifest(&bytes[..bytes.len() - SEAL], |facts| facts[LAYOUT_HASH] ^= 1);
        fs::write(&file, changed).expect("the folder is writable");
        seal_file(&file).expect("the folder is writable");
        let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
        let refused = host.create_master(&[&file]);
        assert!(matches!(refused, Err(Error::Load(LoadError::Layout { .. }))), "{name}: {refused:?}");
    }
}

#[test]
fn libraries_of_earlier_versions_are_small_and_name_no_folder_of_a_machine() {
    for (name, library) in libraries() {
        let bytes = fs::read(library).expect("a library");
        assert!(bytes.len() <= LARGEST, "{name} has {} bytes", bytes.len());
        let text = String::from_utf8_lossy(&bytes);
        let folder = ["home", "root", "work", "tmp"].into_iter().find(|folder| text.contains(&format!("/{folder}/")));
        assert_eq!(folder, None, "{name}");
    }
}

/// Returns a build request whose library is small and contains no paths of this machine.
fn small(package: &str) -> BuildRequest<'_> {
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo = cargo.unwrap_or_else(|| std::env::home_dir().expect("a home folder").join(".cargo"));
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("a checkout");
    let paths = [(cargo, "cargo"), (checkout, ".")]
        .map(|(folder, name)| format!("--remap-path-prefix={}={name}", folder.display()))
        .join(" ");
    let flags = format!("{paths} -Clink-arg=-Wl,-z,pack-relative-relocs");
    let request = support::request(package, &[]).release(true).target_dir(support::test_dir().join("plugins-old"));
    let profile = [("LTO", "fat"), ("CODEGEN_UNITS", "1"), ("OPT_LEVEL", "s"), ("STRIP", "symbols")];
    profile
        .iter()
        .fold(request, |request, (name, value)| request.env(format!("CARGO_PROFILE_RELEASE_{name}"), *value))
        .env("RUSTFLAGS", flags)
}

/// Adds the library of this version for each installed compiler. Existing libraries are not replaced.
#[test]
#[ignore = "adds libraries to `runtime/tests/old`, for a release"]
fn each_compiler_adds_a_library_of_this_version() {
    let nightly = output_of("rustup", &["toolchain", "list"]).is_some_and(|list| list.contains("nightly-"));
    let debians = output_of(DEBIANS, &["-V"]).is_some();
    let requests = [
        Some(small("magic-cube")),
        nightly.then(|| small("magic-cube").toolchain("nightly")),
        debians.then(|| small("magic-cube").env("RUSTC", DEBIANS)),
    ];
    for request in requests.into_iter().flatten() {
        let built = alcedo_build::build(&request).unwrap_or_else(|error| panic!("{error}"));
        let library = &built.artifacts[0].path;
        let version = compiler(library).split_whitespace().nth(1).expect("a version").to_owned();
        let file = folder().join(format!("api-{API_CURRENT}-rustc-{version}.so"));
        if !file.exists() {
            fs::copy(library, file).expect("the folder is writable");
        }
    }
}
