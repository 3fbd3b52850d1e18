//! Environment of the nested cargo: the cargo process that builds plugins.
//!
//! The program that starts this cargo often runs under `cargo run` or `cargo test`, which describe the *outer* package in the environment.
//! Inherited variables would cause unnecessary runs of build scripts, make linkers find the host's libraries, and specify a jobserver that
//! is not available. Variables that the *user* set (CARGO_TARGET_DIR, CARGO_HOME, CARGO_PROFILE_*, RUSTFLAGS, …) are kept. This module
//! computes the changes to the environment. `request.rs` applies the changes to the command.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Name of an environment variable, and its value for the nested cargo. `None` unsets the variable.
type Change = (OsString, Option<OsString>);

/// Returns the changes to the environment of a nested cargo. `other_toolchain` is `true` if the request specifies a toolchain that differs
/// from the toolchain of this process. Relative paths of the user are resolved against `cwd`, because the nested cargo runs in another
/// folder.
pub(crate) fn changes(vars: &[(OsString, OsString)], other_toolchain: bool, cwd: &Path) -> Vec<Change> {
    let under_cargo = vars.iter().any(|(name, _)| name == "CARGO_MANIFEST_DIR");
    vars.iter()
        .filter_map(|(name, value)| {
            let known = name.to_str()?;
            if of_outer_build(known) || (other_toolchain && of_toolchain(known)) {
                return Some((name.clone(), None));
            }
            match known {
                "LD_LIBRARY_PATH" | "DYLD_FALLBACK_LIBRARY_PATH" if under_cargo => users_library_path(name, value),
                _ if is_relative(known, Path::new(value)) => Some((name.clone(), Some(cwd.join(value).into()))),
                _ => None,
            }
        })
        .collect()
}

/// Returns `true` for variables that `cargo run` or `cargo test` sets for its program. Some of these variables describe the package of the
/// program.
fn of_outer_build(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "CARGO_BIN_NAME",
        "CARGO_CRATE_NAME",
        "CARGO_MAKEFLAGS",
        "CARGO_MANIFEST_DIR",
        "CARGO_MANIFEST_LINKS",
        "CARGO_MANIFEST_PATH",
        "CARGO_PRIMARY_PACKAGE",
        "CARGO_RUSTC_CURRENT_DIR",
        "CARGO_TARGET_TMPDIR",
        "MAKEFLAGS",
        "MAKELEVEL",
        "MFLAGS",
        "OUT_DIR",
    ];
    const PREFIXES: &[&str] = &["CARGO_PKG_", "CARGO_BIN_EXE_", "CARGO_CFG_", "CARGO_FEATURE_", "__CARGO_"];
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Returns `true` for variables that select the toolchain of this process, and would override the requested toolchain.
fn of_toolchain(name: &str) -> bool {
    matches!(name, "CARGO" | "RUSTC" | "RUSTDOC" | "RUSTUP_TOOLCHAIN" | "RUSTUP_TOOLCHAIN_SOURCE")
}

/// Returns `true` for variables whose value is a path relative to the working directory.
fn is_relative(name: &str, value: &Path) -> bool {
    let is_path: fn(&Path) -> bool = match name {
        "CARGO_TARGET_DIR" | "CARGO_BUILD_TARGET_DIR" | "CARGO_HOME" | "RUSTUP_HOME" => is_not_empty,
        "CARGO_BUILD_BUILD_DIR" => is_not_template,
        "CARGO"
        | "RUSTC"
        | "RUSTC_WRAPPER"
        | "RUSTC_WORKSPACE_WRAPPER"
        | "CARGO_BUILD_RUSTC"
        | "CARGO_BUILD_RUSTC_WRAPPER"
        | "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER" => has_folder,
        _ if name.starts_with("CARGO_TARGET_") && name.ends_with("_LINKER") => has_folder,
        _ => return false,
    };
    value.is_relative() && is_path(value)
}

fn is_not_empty(path: &Path) -> bool {
    !path.as_os_str().is_empty()
}

/// Returns `true` for a path that does not begin with a template for an absolute path. A path that begins with `{workspace-path-hash}` is
/// relative.
fn is_not_template(path: &Path) -> bool {
    let value = path.as_os_str().as_encoded_bytes();
    let begins_with = |template: &str| value.starts_with(template.as_bytes());
    is_not_empty(path) && !["{workspace-root}", "{cargo-cache-home}"].into_iter().any(begins_with)
}

/// Returns `true` if the name of a program contains a folder. The system searches PATH only for a name without a folder.
///
/// # Examples
/// ```
/// use std::path::Path;
///
/// use alcedo_build::has_folder;
///
/// assert!(has_folder(Path::new("bin/rustc")) && !has_folder(Path::new("rustc")));
/// ```
pub fn has_folder(program: &Path) -> bool {
    program.components().count() > 1
}

fn users_library_path(name: &OsStr, value: &OsStr) -> Option<Change> {
    let all: Vec<_> = std::env::split_paths(value).collect();
    let kept: Vec<_> = all.iter().filter(|entry| !added_by_cargo(entry)).collect();
    if kept.len() == all.len() {
        return None;
    }
    let value = std::env::join_paths(&kept).ok().filter(|_| !kept.is_empty());
    Some((name.to_owned(), value))
}

/// Returns `true` for folders that cargo prepends to the search path of libraries: its profile folder, subfolders (`deps`, `build/*/out`),
/// and the toolchain's libraries.
fn added_by_cargo(entry: &Path) -> bool {
    let parts: Vec<_> = entry.iter().filter_map(OsStr::to_str).collect();
    let profile = |part: &str| matches!(part, "debug" | "release");
    match parts.as_slice() {
        parts if parts.contains(&"rustlib") => true,
        [.., "toolchains", _, "lib"] => true,
        [.., last] if profile(last) => true,
        [.., parent, "deps"] if profile(parent) => true,
        parts => parts.windows(2).any(|pair| profile(pair[0]) && pair[1] == "build"),
    }
}

#[cfg(test)]
mod tests {
    use super::changes;
    use std::path::Path;

    /// Checks the changes to the environment `vars`. In `expected`, `NAME` is an unset variable, and `NAME=value` a changed variable.
    fn check(other_toolchain: bool, vars: &[(&str, &str)], expected: &[&str]) {
        let vars: Vec<_> = vars.iter().map(|(name, value)| (name.into(), value.into())).collect();
        let found: Vec<_> = changes(&vars, other_toolchain, Path::new("/here"))
            .into_iter()
            .map(|(name, value)| match value {
                None => name.into_string().unwrap(),
                Some(value) => format!("{}={}", name.display(), value.display()),
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn variables_of_the_outer_package_are_not_inherited() {
        let names = ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", "CARGO_MAKEFLAGS", "MAKEFLAGS", "__CARGO_X", "OUT_DIR"];
        check(false, &names.map(|name| (name, "x")), &names);
    }

    #[test]
    fn variables_of_the_user_are_inherited() {
        let names = ["CARGO_HOME", "CARGO_PROFILE_DEV_DEBUG", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO", "PATH"];
        check(false, &names.map(|name| (name, "/x")), &[]);
    }

    #[test]
    fn a_requested_toolchain_is_not_overridden_by_the_running_one() {
        let vars = [("CARGO", "/c"), ("RUSTUP_TOOLCHAIN", "stable"), ("RUSTUP_HOME", "/r")];
        check(false, &vars, &[]);
        check(true, &vars, &["CARGO", "RUSTUP_TOOLCHAIN"]);
    }

    #[test]
    fn only_the_library_folders_that_cargo_added_go() {
        let ours = "/w/target/debug/build/x-1/out:/w/target/debug/deps:/w/target/debug:/r/toolchains/stable/lib";
        check(false, &[("LD_LIBRARY_PATH", ours)], &[]); // without an outer cargo, the user has set the variable
        let outer = ("CARGO_MANIFEST_DIR", "/w");
        check(false, &[outer, ("LD_LIBRARY_PATH", ours)], &["CARGO_MANIFEST_DIR", "LD_LIBRARY_PATH"]);
        let both = format!("{ours}:/opt/lib:/opt/deps");
        let expected = ["CARGO_MANIFEST_DIR", "LD_LIBRARY_PATH=/opt/lib:/opt/deps"];
        check(false, &[outer, ("LD_LIBRARY_PATH", &both)], &expected);
    }

    #[test]
    fn a_relative_path_is_relative_to_the_user() {
        check(false, &[("CARGO_TARGET_DIR", "out")], &["CARGO_TARGET_DIR=/here/out"]);
        check(false, &[("CARGO_BUILD_TARGET_DIR", "out")], &["CARGO_BUILD_TARGET_DIR=/here/out"]);
        check(false, &[("CARGO_BUILD_BUILD_DIR", "out")], &["CARGO_BUILD_BUILD_DIR=/here/out"]);
        for kept in ["{workspace-root}/out", "{cargo-cache-home}/{workspace-path-hash}", ""] {
            check(false, &[("CARGO_BUILD_BUILD_DIR", kept)], &[]);
        }
        for relative in ["{workspace-path-hash}/out", "{other}"] {
            let expected = format!("CARGO_BUILD_BUILD_DIR=/here/{relative}");
            check(false, &[("CARGO_BUILD_BUILD_DIR", relative)], &[&expected]);
        }
        check(
            false,
            &[("CARGO_HOME", "home"), ("RUSTC", "bin/rustc")],
            &["CARGO_HOME=/here/home", "RUSTC=/here/bin/rustc"],
        );
        check(false, &[("CARGO", "./cargo")], &["CARGO=/here/./cargo"]);
        check(false, &[("CARGO_BUILD_RUSTC_WRAPPER", "bin/cache")], &["CARGO_BUILD_RUSTC_WRAPPER=/here/bin/cache"]);
        check(
            false,
            &[("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER", "bin/link")],
            &["CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER=/here/bin/link"],
        );
        check(false, &[("CARGO_TARGET_DIR", "/out"), ("CARGO_HOME", ""), ("RUSTC_WRAPPER", "sccache")], &[]);
    }
}
