//! Builds plugins with additional compiler flags. `RUSTFLAGS` would rebuild every dependency, which takes minutes. A compiler wrapper that
//! cargo uses for workspace members rebuilds only the plugin.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use alcedo_build::{BuildRequest, Switches};

use super::{build, request, test_dir, with_switches};

/// Returns the library of an example plugin with these switches. Only the plugin's own crate is compiled and linked with `flags`. `label`
/// is a name for the flags.
pub(crate) fn plugin_with_flags(package: &str, on: &[&str], label: &str, flags: &str) -> PathBuf {
    let built = format!("{package}-{label}");
    let library = build(&with_flags(request(package, &[]), label, flags), &built);
    with_switches(&library, &format!("{built}+{}", on.join("+")), &Switches { on, tag: None })
}

pub(crate) fn with_flags<'a>(request: BuildRequest<'a>, label: &str, flags: &str) -> BuildRequest<'a> {
    request.env("RUSTC_WORKSPACE_WRAPPER", wrapper(label, flags).display().to_string())
}

/// Returns a wrapper that calls the compiler with additional flags. Cargo identifies builds by the wrapper's path, and rebuilds everything
/// if the wrapper's date changes. The function therefore does not write a wrapper that is already correct.
fn wrapper(label: &str, flags: &str) -> PathBuf {
    let (dir, text) = (test_dir().join("wrappers"), format!("#!/bin/sh\nexec \"$@\" {flags}\n"));
    let path = dir.join(label);
    if fs::read_to_string(&path).is_ok_and(|old| old == text) {
        return path;
    }
    // Writes a new file and renames it, because another test binary may be running the old file.
    let temporary = dir.join(format!("{label}.{}", std::process::id()));
    fs::create_dir_all(&dir).expect("the test directory is writable");
    fs::write(&temporary, text).expect("the test directory is writable");
    fs::set_permissions(&temporary, fs::Permissions::from_mode(0o755)).expect("the file is ours");
    fs::rename(&temporary, &path).expect("the test directory is writable");
    path
}
