//! Finds the sources of this program, checks if shells find the `alcedo` command, and returns the shell command that installs `alcedo`.

use std::path::Path;

use alcedo_build::shell_word;

/// Name of this package's folder in a checkout of the repository. In registries and with `cargo vendor`, the folder has the name of the
/// package.
const FOLDER: &str = "tools";

/// Returns true if a folder of `PATH` has a file of this name.
pub(crate) fn is_in_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

/// Returns the folder of the package from which this program was built.
pub(crate) fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the checkout that contains `package`, the folder of this package. Returns `None` for a package from a registry.
pub(crate) fn checkout_of(package: &Path) -> Option<&Path> {
    package.parent().filter(|_| package.ends_with(FOLDER))
}

/// Returns the checkout from which this program was built. Returns `None` if the program was installed from a registry.
pub(crate) fn checkout() -> Option<&'static Path> {
    checkout_of(package())
}

/// Returns the shell command that installs `alcedo` from the sources of this program.
pub(crate) fn installing(features: &[&str]) -> String {
    installing_from(checkout(), features)
}

fn installing_from(checkout: Option<&Path>, features: &[&str]) -> String {
    let source = match checkout.map(|checkout| checkout.join(FOLDER)) {
        Some(tools) if tools.is_dir() => format!("--path {}", shell_word(&tools.display().to_string())),
        Some(_) => format!("--path {FOLDER}"),
        None => env!("CARGO_PKG_NAME").to_owned(),
    };
    let features = if features.is_empty() { String::new() } else { format!(" --features {}", features.join(",")) };
    format!("cargo install {source}{features}")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{checkout, checkout_of, installing_from};

    #[test]
    fn only_a_checkout_has_the_package_in_a_folder_of_another_name() {
        let check = |package: &str, expected: Option<&str>| {
            assert_eq!(checkout_of(Path::new(package)), expected.map(Path::new), "{package}");
        };
        check("/home/a/alcedo/tools", Some("/home/a/alcedo"));
        check("/home/a/.cargo/git/checkouts/alcedo-1/2/tools", Some("/home/a/.cargo/git/checkouts/alcedo-1/2"));
        check("/home/a/.cargo/registry/src/index.crates.io-1/alcedo-tools-0.1.0", None);
        check("/home/a/game/vendor/alcedo-tools", None);
        assert!(checkout().is_some_and(|checkout| checkout.join("runtime/alcedo").is_dir()));
    }

    #[test]
    fn the_command_is_installed_from_the_sources_of_this_build() {
        assert_eq!(installing_from(None, &[]), "cargo install alcedo-tools");
        assert_eq!(installing_from(None, &["bindgen"]), "cargo install alcedo-tools --features bindgen");
        assert_eq!(installing_from(Some(Path::new("/nowhere")), &[]), "cargo install --path tools");
        let dir = tempfile::tempdir().unwrap();
        let spaced = dir.path().join("my code");
        std::fs::create_dir_all(spaced.join("tools")).unwrap();
        let expected = format!("cargo install --path '{}/tools'", spaced.display());
        assert_eq!(installing_from(Some(&spaced), &[]), expected);
        let from = checkout().unwrap();
        assert_eq!(installing_from(Some(from), &[]), format!("cargo install --path {}/tools", from.display()));
    }
}
