//! Script package on disk: the `.uc` files of a folder or of its subfolder `Classes`. The subfolder is the traditional layout of
//! UnrealScript sources. Each file is read only once, so that all steps use one version of the source.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use alcedo_abi::names::is_identifier;
use alcedo_sys::{Digest, plain_file};
use alcedo_uc::{Diagnostic, Outline, Parsed, Source};

use crate::script::manifest::{self, Manifest};
use crate::sync::lock;

/// Extension of files with classes.
pub(crate) const ENDING: &str = "uc";

/// Subfolder that may contain the files of a package.
pub(crate) const CLASSES: &str = "Classes";

/// Maximum total size in bytes of the `.uc` files of a package.
const LARGEST: u64 = 64 << 20;

/// Maximum number of diagnostics that are rendered per package.
const MOST_MESSAGES: usize = 200;

/// Source of a package. Usable on any thread.
#[derive(Clone, Debug)]
pub(crate) struct Package {
    /// Name of the folder. The module, and the package of its types, also have this name.
    pub name: String,
    /// Files, sorted by name.
    pub sources: Vec<Source>,
    pub manifest: Manifest,
    /// Digest of the sources and the manifest.
    pub digest: Digest,
    /// Declarations and identifiers of the package, which do not depend on other packages.
    pub outline: Outline,
    /// Syntax trees of the files. Dropped after the package is checked, because syntax trees need several times the memory of the source.
    parsed: Arc<Mutex<Option<Parsed>>>,
}

/// Reason why a folder cannot be read as a package.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackageError {
    /// The folder or a file of the folder could not be read.
    #[error("cannot read {}: {source}; name a folder with `.uc` files in it or in its folder `Classes`", path.display())]
    Io {
        /// Path of the folder or the file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The name of the folder is not a valid package name.
    #[error(
        "{} cannot be a package of scripts: a package has the name of its folder, of letters, digits and `_`, not beginning \
         with a digit; rename the folder",
        path.display()
    )]
    Name {
        /// Path of the folder.
        path: PathBuf,
    },
    /// The folder contains no `.uc` files.
    #[error(
        "{} is a folder with no `.uc` files in it or in its folder `Classes`: name a library itself, or the folder of a package of \
         scripts",
        path.display()
    )]
    Empty {
        /// Path of the folder.
        path: PathBuf,
    },
    /// The source has syntax errors.
    #[error("the package {package} has errors, so none of it was loaded:\n\n{diagnostics}")]
    Text {
        /// Name of the package.
        package: String,
        /// Diagnostics, one paragraph each, with file, line and source.
        diagnostics: String,
    },
    /// The `package.toml` is invalid.
    #[error("{problem}; it has `version = \"1.0.0\"`, and below `[dependencies]` lines such as `magic_cube = \"^1\"`")]
    Manifest {
        /// Description of the defect, with its location.
        problem: String,
    },
    /// The package exceeds the maximum size.
    #[error("the `.uc` files of {} have more than {largest} bytes: name the folder of one package", path.display())]
    TooLarge {
        /// Path of the folder.
        path: PathBuf,
        /// Maximum total size in bytes.
        largest: u64,
    },
}

impl Package {
    /// Reads the folder of a package.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be read or is not a package.
    pub(crate) fn read(folder: &Path) -> Result<Self, PackageError> {
        match Self::read_partial(folder)? {
            (package, true) => Ok(package),
            (package, false) => {
                let parsed = package.take_parsed();
                let Self { name, sources, .. } = package;
                let diagnostics = rendered(&alcedo_uc::outside(&name, &sources, parsed), &sources);
                Err(PackageError::Text { package: name, diagnostics })
            }
        }
    }

    /// Reads the folder of a package, even if its source has syntax errors. The returned flag is true if the syntax of all
    /// files is valid.
    ///
    /// # Errors
    /// Returns the errors of [`Package::read`] except [`PackageError::Text`].
    pub(crate) fn read_partial(folder: &Path) -> Result<(Self, bool), PackageError> {
        let paths = paths(folder)?;
        if paths.is_empty() {
            return Err(PackageError::Empty { path: folder.to_owned() });
        }
        let name = folder.file_name().and_then(|name| name.to_str()).filter(|name| is_identifier(name));
        let name = name.ok_or_else(|| PackageError::Name { path: folder.to_owned() })?.to_owned();
        let mut left = LARGEST;
        let mut sources = Vec::new();
        for path in paths {
            let bytes = plain_file::read(&path, left).map_err(|source| match source.kind() {
                io::ErrorKind::FileTooLarge => PackageError::TooLarge { path: folder.to_owned(), largest: LARGEST },
                _ => PackageError::Io { path: path.clone(), source },
            })?;
            left -= bytes.len() as u64;
            // Uses the path inside the package for messages, so that messages do not depend on the location of the folder.
            let relative = path.strip_prefix(folder).unwrap_or(&path);
            let file = format!("{name}/{}", relative.display());
            sources.push(Source::decode(&file, &bytes));
        }
        let parsed = Parsed::of(&sources);
        let (outline, is_right) = (alcedo_uc::outline(&name, &sources, &parsed), !parsed.has_errors());
        let written = written(folder, &name)?;
        let manifest = written.as_deref().map(|text| manifest::read(&name, text)).transpose();
        let manifest = manifest.map_err(|problem| PackageError::Manifest { problem })?.unwrap_or_default();
        let digest = digest(&sources, written.as_deref().unwrap_or_default());
        Ok((Self { name, sources, manifest, digest, outline, parsed: Arc::new(Mutex::new(Some(parsed))) }, is_right))
    }

    /// Returns the syntax trees of the files. The first call moves the stored trees out of the package. Later calls parse the files again,
    /// for example when a package is checked again after a rollback.
    pub(crate) fn take_parsed(&self) -> Parsed {
        let parsed = lock(&self.parsed).take();
        parsed.unwrap_or_else(|| Parsed::of(&self.sources))
    }
}

/// Reads `package.toml`. Returns `None` if the package has no such file.
fn written(folder: &Path, package: &str) -> Result<Option<String>, PackageError> {
    let path = folder.join(manifest::FILE);
    match plain_file::read_text(&path, manifest::LARGEST) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => Ok(None),
        Err(error) => Err(PackageError::Manifest { problem: format!("{package}/{}: {error}", manifest::FILE) }),
    }
}

/// Renders the first [`MOST_MESSAGES`] diagnostics of a package, one paragraph each, and states the number of the remaining
/// diagnostics.
pub(crate) fn rendered(found: &[Diagnostic], sources: &[Source]) -> String {
    let first = found.iter().take(MOST_MESSAGES).map(|found| found.render(sources).trim_end().to_owned());
    let others = found.get(MOST_MESSAGES..).unwrap_or_default();
    let files: BTreeSet<_> = others.iter().map(|found| found.file).collect();
    let count = (!others.is_empty()).then(|| {
        let errors = others.iter().filter(|found| found.is_error()).count();
        format!(
            "{} more messages in {} files, {errors} of them errors: correct those above first",
            others.len(),
            files.len()
        )
    });
    first.chain(count).collect::<Vec<_>>().join("\n\n")
}

/// Returns the two folders that may contain the files of a package.
pub(crate) fn folders(folder: &Path) -> [PathBuf; 2] {
    [folder.to_owned(), folder.join(CLASSES)]
}

/// Returns the files of a package, sorted by name.
fn paths(folder: &Path) -> Result<Vec<PathBuf>, PackageError> {
    let mut found = Vec::new();
    for dir in folders(folder) {
        let entries = match std::fs::read_dir(&dir) {
            Err(error) if dir != folder && error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries,
        };
        let failed = |source| PackageError::Io { path: dir.clone(), source };
        for entry in entries.map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let is_source = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(ENDING));
            // Skips hidden files, whose names start with a dot. Editors and systems create hidden files next to source files.
            let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
            // Includes links without a target and irregular files, so that the error of reading such a file names the file.
            if is_source && !is_hidden && !path.is_dir() {
                found.push(path);
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

fn digest(sources: &[Source], manifest: &str) -> Digest {
    let mut all = Vec::new();
    let sources = sources.iter().flat_map(|Source { name, text, .. }| [&**name, &**text]);
    for part in sources.chain([manifest]) {
        all.extend((part.len() as u64).to_le_bytes());
        all.extend(part.as_bytes());
    }
    Digest::of(&all)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Package, PackageError};

    fn write(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        }
        dir
    }

    #[test]
    fn a_package_has_the_sorted_files_of_its_folder_and_classes() {
        let dir = write(&[
            ("Tale/B.uc", "class B extends Object;"),
            ("Tale/Classes/A.UC", "class A extends Object;"),
            ("Tale/notes.txt", "no"),
            ("Tale/C.uc", "class C extends B;"),
        ]);
        let package = Package::read(&dir.path().join("Tale")).expect("a package");
        assert_eq!(package.name, "Tale");
        let names: Vec<_> = package.sources.iter().map(|source| &*source.name).collect();
        assert_eq!(names, ["Tale/B.uc", "Tale/C.uc", "Tale/Classes/A.UC"]);
        assert_eq!(package.outline.classes, ["/Script/Tale.B", "/Script/Tale.C", "/Script/Tale.A"]);
        assert!(package.outline.mentions.contains("extends") && !package.outline.mentions.contains("no"));
        let again = Package::read(&dir.path().join("Tale")).expect("a package");
        assert_eq!(package.digest, again.digest);
        fs::write(dir.path().join("Tale/B.uc"), "class B extends A;").expect("written");
        assert_ne!(Package::read(&dir.path().join("Tale")).expect("a package").digest, package.digest);
    }

    #[test]
    fn syntax_errors_are_reported_together_with_unsupported_features() {
        let dir = write(&[
            ("Tale/A.uc", "class A extends Nowhere;\nvar ;\n"),
            ("Tale/B.uc", "class B extends A;\nstate S { }"),
        ]);
        let Err(PackageError::Text { diagnostics, .. }) = Package::read(&dir.path().join("Tale")) else {
            panic!("it has a mistake")
        };
        assert!(diagnostics.contains("uc-syntax") && diagnostics.contains("Tale/A.uc:2"), "{diagnostics}");
        assert!(diagnostics.contains("uc-state") && diagnostics.contains("Tale/B.uc:2"), "{diagnostics}");
        assert!(!diagnostics.contains("Nowhere"), "types come later: {diagnostics}");
    }

    #[test]
    fn hidden_files_are_not_part_of_a_package() {
        let dir = write(&[("Tale/A.uc", "class A extends Object;"), ("Tale/._A.uc", "\0\u{5}\u{16}\u{7}")]);
        let package = Package::read(&dir.path().join("Tale")).expect("a package");
        assert_eq!(package.sources.len(), 1);
    }

    #[test]
    fn the_manifest_sets_the_version_and_is_part_of_the_digest() {
        let dir = write(&[("Tale/A.uc", "class A extends Object;")]);
        let (folder, read) = (dir.path().join("Tale"), || Package::read(&dir.path().join("Tale")));
        let without = read().expect("a package");
        assert_eq!(without.manifest.version.to_string(), "0.0.0");
        fs::write(folder.join("package.toml"), "version = \"1.2.0\"").expect("written");
        let with = read().expect("a package");
        assert_eq!(with.manifest.version.to_string(), "1.2.0");
        assert_ne!(with.digest, without.digest);
        fs::write(folder.join("package.toml"), "version = 1").expect("written");
        let error = read().expect_err("no version").to_string();
        assert!(error.contains("Tale/package.toml:1: ") && error.contains("[dependencies]"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_manifest_that_is_irregular_or_too_long_is_refused() {
        let dir = write(&[("Tale/A.uc", "class A extends Object;")]);
        let manifest = dir.path().join("Tale/package.toml");
        let refusal = || {
            let refusal = Package::read(&dir.path().join("Tale")).expect_err("no manifest").to_string();
            fs::remove_file(&manifest).expect("removed");
            refusal
        };
        assert!(std::process::Command::new("mkfifo").arg(&manifest).status().expect("mkfifo runs").success());
        assert!(refusal().starts_with("Tale/package.toml: it is a named pipe, not a plain file"));
        std::os::unix::fs::symlink("/dev/zero", &manifest).expect("linked");
        assert!(refusal().starts_with("Tale/package.toml: it is a device, not a plain file"));
        fs::File::create(&manifest).expect("made").set_len(1 << 40).expect("long");
        assert!(
            refusal().starts_with("Tale/package.toml: it has 1099511627776 bytes, more than the maximum of 1048576")
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_source_that_cannot_be_read_is_named() {
        let dir = write(&[("Tale/A.uc", "class A extends Object;"), ("Tale/Old.uc/readme.md", "")]);
        let (tale, read) = (dir.path().join("Tale"), || Package::read(&dir.path().join("Tale")));
        assert_eq!(read().expect("a package").sources.len(), 1, "a folder is not a source");
        for name in ["B.uc", "package.toml"] {
            std::os::unix::fs::symlink("gone", tale.join(name)).expect("linked");
            let error = read().expect_err("a link without a target").to_string();
            assert!(error.contains(&format!("Tale/{name}: ")), "{error}");
            fs::remove_file(tale.join(name)).expect("removed");
        }
        assert!(std::process::Command::new("mkfifo").arg(tale.join("B.uc")).status().expect("mkfifo runs").success());
        let error = read().expect_err("a pipe").to_string();
        assert!(error.contains("Tale/B.uc: it is a named pipe, not a plain file"), "{error}");
    }

    #[test]
    fn an_invalid_package_folder_is_refused_with_the_reason() {
        let dir = write(&[("Empty/readme.md", ""), ("no-name/A.uc", "class A extends Object;")]);
        let read = |name: &str| Package::read(&dir.path().join(name));
        assert!(matches!(read("Empty"), Err(PackageError::Empty { .. })));
        assert!(matches!(read("no-name"), Err(PackageError::Name { .. })));
        assert!(matches!(read("Missing"), Err(PackageError::Io { .. })));
    }
}
