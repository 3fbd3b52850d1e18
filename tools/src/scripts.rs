//! Packages of scripts: folders of `.uc` files. Cargo is not needed for these packages.

use std::fs;
use std::path::{Path, PathBuf};

use alcedo_abi::names::is_identifier;
use alcedo_build::{SCRIPT_CLASSES, script_files};
use alcedo_runtime::development::plain_file;

use crate::error::{Error, file};

/// Returns true if a folder is a package of scripts and not a crate.
pub(crate) fn is_package(dir: &Path) -> bool {
    dir.is_dir() && !dir.join("Cargo.toml").is_file() && !script_files(dir).is_empty()
}

/// Returns the name of a package: the name of its folder.
pub(crate) fn name(dir: &Path) -> String {
    let whole = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    whole.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the valid names of packages, for the sample engine, which permits only listed packages. A package without a valid name is refused
/// by its load, with a hint.
pub(crate) fn valid_names(packages: &[PathBuf]) -> impl Iterator<Item = String> {
    packages.iter().map(|dir| name(dir)).filter(|name| is_identifier(name))
}

/// Returns the package that contains a file or a folder with scripts. Returns `None` for paths outside of packages.
pub(crate) fn package_of(path: &Path) -> Option<PathBuf> {
    let folder = if path.is_dir() { path } else { path.parent()? };
    let folder = if folder.ends_with(SCRIPT_CLASSES) { folder.parent()? } else { folder };
    is_package(folder).then(|| folder.to_owned())
}

/// Name of the file with the version of a package.
const MANIFEST: &str = "package.toml";

/// Maximum size of a script file in bytes. Twice the size that the compiler accepts.
pub(crate) const LARGEST: u64 = 16 << 20;

/// Returns the source files and the manifest of a package. Includes links without a target and irregular files, which the host refuses.
pub(crate) fn files_with_manifest(dir: &Path) -> Vec<PathBuf> {
    let manifest = Some(dir.join(MANIFEST)).filter(|path| path.symlink_metadata().is_ok());
    script_files(dir).into_iter().chain(manifest).collect()
}

/// Copies the files of a package into a new folder.
///
/// # Errors
/// Fails with the name of a file that cannot be copied.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    for path in files_with_manifest(from) {
        let copied = to.join(path.strip_prefix(from).unwrap_or(&path));
        let folder = copied.parent().unwrap_or(to);
        fs::create_dir_all(folder).map_err(file("create", folder))?;
        let text = plain_file::read(&path, LARGEST).map_err(file("read", &path))?;
        fs::write(&copied, text).map_err(file("write", &copied))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{copy, files_with_manifest, is_package, name, package_of, script_files};

    #[test]
    fn a_folder_of_sources_is_a_package_unless_it_is_a_crate() {
        let dir = tempfile::tempdir().expect("a folder");
        let tale = dir.path().join("Tale");
        fs::create_dir_all(tale.join("Classes")).expect("made");
        assert!(!is_package(&tale) && !is_package(&dir.path().join("Missing")));
        fs::write(tale.join("Classes/Hero.uc"), "class Hero extends Object;").expect("written");
        assert!(is_package(&tale));
        assert_eq!(name(&tale), "Tale");
        for path in ["Classes/Hero.uc", "Classes", "package.toml", ""] {
            assert_eq!(package_of(&tale.join(path)).as_deref(), Some(&*tale), "{path}");
        }
        assert_eq!(package_of(dir.path()), None);
        copy(&tale, &dir.path().join("kept/Tale")).expect("copied");
        let kept = dir.path().join("kept/Tale");
        assert_eq!(script_files(&kept), [kept.join("Classes/Hero.uc")]);
        fs::write(tale.join("package.toml"), "").expect("written");
        copy(&tale, &dir.path().join("kept/Tale")).expect("copied");
        assert_eq!(files_with_manifest(&kept), [kept.join("Classes/Hero.uc"), kept.join("package.toml")]);
        fs::write(tale.join(".Hero.uc"), "").expect("written");
        assert_eq!(script_files(&tale).len(), 1);
        std::os::unix::fs::symlink("gone", tale.join("Lost.uc")).expect("linked");
        let error = copy(&tale, &dir.path().join("kept/Tale")).expect_err("a link without a target").to_string();
        assert!(error.contains("Tale/Lost.uc: "), "{error}");
        fs::write(tale.join("Cargo.toml"), "").expect("written");
        assert!(!is_package(&tale));
    }
}
