//! Finds the sources of Alcedo and the enclosing workspace of a new project. Creates the folder of the project either completely or not at
//! all.

use std::fs;
use std::path::{Component, Path, PathBuf};

use alcedo_build::shell_word;
use anyhow::{anyhow, bail, ensure};
use cargo_metadata::{Metadata, Package, Target};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::host::sources;
use super::templates::Placeholders;
use crate::described::{described, hosts, manifest_above, read_text, uses};
use crate::error::{Error, file};
use crate::figures::resolved;
use crate::install::{checkout_of, package};

/// Environment variable with the path of the checkout to use by default.
const CHECKOUT: &str = "ALCEDO_CHECKOUT";

/// Folders in a checkout of Alcedo, one for each crate that projects depend on. Includes crates that only projects of older versions of
/// `alcedo new` depend on.
pub(crate) const CRATES: [&str; 6] =
    ["example-plugins/engine-glue", "plugin-api", "runtime", "runtime/alcedo", "runtime/engine", "tools/build"];

/// Version of this program, and of the published crates of Alcedo that new projects use.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Sources of Alcedo for a new project.
#[derive(Debug)]
pub(super) struct Sources {
    kind: Kind,
    /// Folder that contains the lock file: a checkout, or the package of this program.
    dir: PathBuf,
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    /// A checkout on this machine.
    Checkout,
    /// A repository, by its URL.
    Git(String),
    /// Crates of a registry, by their version.
    Published,
}

impl Sources {
    /// Returns the sources that the arguments or the environment specify. Without such a specification, returns the checkout from which
    /// this program was built, or the published crates if this program was installed from a registry.
    pub(super) fn find(named: Option<PathBuf>, git: Option<String>) -> Result<Self, Error> {
        let from_environment = || std::env::var_os(CHECKOUT).filter(|dir| !dir.is_empty()).map(PathBuf::from);
        Self::choose(named.or_else(from_environment), git, package())
    }

    /// Selects the sources. This program was built from the folder `package`.
    fn choose(named: Option<PathBuf>, git: Option<String>, package: &Path) -> Result<Self, Error> {
        // Cargo rejects a path, and also the form `user@host:path` of git.
        if let Some(url) = git.as_ref().filter(|url| !url.contains("://")) {
            bail!(
                "`{url}` is not a URL, as `https://…` and `ssh://git@…` are: for a checkout on this machine, use `--alcedo DIR` instead \
                 of `--git`"
            );
        }
        let checkout = named.or_else(|| checkout_of(package).map(Path::to_owned));
        let kind = match (git, &checkout) {
            (Some(url), _) => Kind::Git(url),
            (None, Some(_)) => Kind::Checkout,
            (None, None) => Kind::Published,
        };
        let path = resolved(checkout.as_deref().unwrap_or(package));
        for dir in CRATES.iter().filter(|_| kind == Kind::Checkout) {
            let missing = format!("{dir}/Cargo.toml");
            if !path.join(&missing).is_file() {
                bail!(
                    "{} is not a checkout of Alcedo: {missing} is missing in it. New projects refer to Alcedo by path until the crates \
                     are published: clone the repository again, and pass its folder with `--alcedo DIR` or ALCEDO_CHECKOUT=DIR",
                    path.display()
                );
            }
        }
        Ok(Self { kind, dir: path })
    }

    /// Returns the values of placeholders for a manifest in the folder `from`: the source of each crate, and the shell command that
    /// installs `alcedo`.
    pub(super) fn placeholders(&self, from: &Path) -> Result<Placeholders, Error> {
        let mut placeholders = Placeholders::new();
        for dir in CRATES {
            placeholders.insert(dir, self.source(dir, from)?);
        }
        let install = match &self.kind {
            Kind::Git(url) => format!("cargo install --git {} alcedo-tools", shell_word(url)),
            Kind::Checkout => {
                format!("cargo install --path {}", shell_word(&text(relative(from, &self.dir.join("tools")))?))
            }
            Kind::Published => "cargo install alcedo-tools".to_owned(),
        };
        placeholders.insert("install", install);
        let sources = match self.kind {
            Kind::Git(_) | Kind::Checkout => "Path to the checkout of Alcedo",
            Kind::Published => "Version of the `alcedo` command that wrote this file",
        };
        placeholders.insert("sources", sources.to_owned());
        Ok(placeholders)
    }

    /// Returns the entry `git`, `path` or `version` of a dependency on a crate, for a manifest in the folder `from`.
    pub(super) fn source(&self, dir: &str, from: &Path) -> Result<String, Error> {
        Ok(match &self.kind {
            Kind::Git(url) => format!("git = {}", toml::Value::from(url.as_str())),
            Kind::Checkout => format!("path = {}", toml::Value::from(text(relative(from, &self.dir.join(dir)))?)),
            Kind::Published => format!("version = {}", toml::Value::from(VERSION)),
        })
    }

    /// Returns the lock file with tested versions of third-party crates. Returns `None` if the sources contain no lock file.
    pub(super) fn lock_file(&self) -> Result<Option<String>, Error> {
        let path = self.dir.join("Cargo.lock");
        if !path.is_file() {
            return Ok(None);
        }
        read_text(&path).map(Some).map_err(file("read", &path))
    }
}

/// Returns the folder of the workspace that contains `here`. A new project in `here` would belong to this workspace.
pub(crate) fn enclosing_workspace(here: &Path) -> Option<PathBuf> {
    let is_workspace = |dir: &&Path| {
        let text = read_text(&dir.join("Cargo.toml"));
        text.is_ok_and(|text| text.parse::<toml::Table>().is_ok_and(|table| table.contains_key("workspace")))
    };
    here.ancestors().find(is_workspace).map(Path::to_owned)
}

/// A workspace with a host and its glue. A plugin can be added to this workspace.
pub(super) struct Around {
    pub(super) root: PathBuf,
    /// Name and folder of the host package.
    pub(super) host: (String, PathBuf),
    /// Set if the workspace specifies its host, so that `alcedo dev` runs this host.
    pub(super) names_host: bool,
    /// Name and folder of the package that declares the host's classes for plugins.
    pub(super) glue: (String, PathBuf),
    /// Names of the workspace members.
    pub(super) packages: Vec<String>,
}

impl Around {
    /// Finds the workspace that contains `here`. This workspace must specify a host and its glue, or contain exactly one host and one glue
    /// package.
    pub(super) fn find(here: &Path) -> Result<Option<Self>, Error> {
        let Some(manifest) = manifest_above(here) else { return Ok(None) };
        let metadata = described_around(here, &manifest).map_err(|message| {
            anyhow!(
                "`cargo metadata` could not read {}: {message}\ncorrect what it names, or go to a folder outside of it",
                manifest.display()
            )
        })?;
        let root: PathBuf = metadata.workspace_root.clone().into();
        let declared = |key| metadata.workspace_metadata.get("alcedo")?.get(key)?.as_str();
        let package = |key, declared: &str| {
            let manifest = root.join(declared).join("Cargo.toml");
            let in_folder = |package: &&Package| package.manifest_path.as_std_path() == manifest;
            // Prefers the folder, because a plugin may have the name of this folder.
            let found = metadata.packages.iter().find(in_folder);
            let found = found.or_else(|| metadata.packages.iter().find(|package| *package.name == declared));
            let wrong = || {
                anyhow!(
                    "{} declares a workspace for Alcedo, but `{key} = \"{declared}\"` in `[workspace.metadata.alcedo]` is not a folder \
                     of a package in it: correct the line",
                    root.join("Cargo.toml").display()
                )
            };
            found.map(member).ok_or_else(wrong)
        };
        let host = match (declared("host"), &hosts(&metadata)[..]) {
            (Some(declared), _) => package("host", declared)?,
            (None, [host]) => member(host),
            (None, _) => return Ok(None),
        };
        let glue = match (declared("glue"), metadata.packages.iter().find(|package| is_glue(package))) {
            (Some(declared), _) => package("glue", declared)?,
            (None, Some(glue)) => member(glue),
            (None, None) => {
                let host = host.0;
                bail!(
                    "the host `{host}` has no glue in the workspace of {}, by which plugins use its classes: make a library with \
                     `alcedo-plugin-api` as its dependency, write its source with `alcedo glue --host {host} -o glue/src/lib.rs`, and \
                     run this again",
                    root.join("Cargo.toml").display()
                )
            }
        };
        let names_host = declared("host").is_some();
        let packages = metadata.packages.iter().map(|package| package.name.to_string()).collect();
        Ok(Some(Self { root, host, names_host, glue, packages }))
    }

    /// Checks that the manifest of the workspace lists the folder `made` as a member. Returns this manifest.
    pub(super) fn manifest_with_member(&self, made: &Path) -> Result<toml::Table, Error> {
        let manifest = self.root.join("Cargo.toml");
        let text = read_text(&manifest).map_err(file("read", &manifest))?;
        let parsed: toml::Table = text.parse().unwrap_or_default();
        ensure!(
            lists_plugins(&parsed),
            "{} would be no member of its workspace: add \"plugins/*\" to `members` in {}, and run this again",
            made.display(),
            manifest.display()
        );
        Ok(parsed)
    }
}

/// Describes the workspace that contains `here`. Cargo rejects the member `plugins/*` if the folder `plugins` is missing or empty. In this
/// case, describes the workspace with a temporary file in the folder.
///
/// # Errors
/// Returns cargo's error message.
fn described_around(here: &Path, manifest: &Path) -> Result<Metadata, String> {
    let first = described(manifest);
    let root = enclosing_workspace(here).filter(|_| first.is_err());
    let manifest_of = |root: &PathBuf| read_text(&root.join("Cargo.toml")).ok()?.parse::<toml::Table>().ok();
    let Some(root) = root.filter(|root| manifest_of(root).is_some_and(|manifest| lists_plugins(&manifest))) else {
        return first;
    };
    let plugins = root.join("plugins");
    let is_new = fs::create_dir(&plugins).is_ok();
    let is_empty = fs::read_dir(&plugins).is_ok_and(|mut entries| entries.next().is_none());
    let file = is_empty.then(|| tempfile::Builder::new().prefix("README-").tempfile_in(&plugins));
    let second = if matches!(file, Some(Ok(_))) { described(manifest) } else { first };
    drop(file);
    if is_new {
        // Ignores the error, because an empty folder has no effect.
        let _ = fs::remove_dir(&plugins);
    }
    second
}

/// Returns true if all folders in `plugins` are members of the workspace with this manifest.
fn lists_plugins(manifest: &toml::Table) -> bool {
    let members = manifest.get("workspace").and_then(|table| table.get("members")?.as_array());
    members.is_some_and(|members| members.iter().any(|member| member.as_str() == Some("plugins/*")))
}

/// Returns the name of a package, and its folder.
fn member(package: &Package) -> (String, PathBuf) {
    let manifest = package.manifest_path.as_std_path();
    (package.name.to_string(), manifest.parent().unwrap_or(manifest).to_owned())
}

/// Returns true if a package declares the classes of a host for plugins. Excludes the plugins themselves.
fn is_glue(package: &Package) -> bool {
    let is_plugin = package.targets.iter().any(Target::is_cdylib);
    uses(package, "alcedo-plugin-api") && !is_plugin && sources(&member(package).1).contains("#[uclass(imported")
}

/// Creates the folder `made` with these files. First writes the files to a temporary folder in `parent`, and then renames this folder, so
/// that `made` is created in one step.
pub(super) fn write(made: &Path, parent: &Path, files: &[(PathBuf, String)]) -> Result<(), Error> {
    let exists = || anyhow!("{} is there already: take another name, or move it away first", made.display());
    if made.symlink_metadata().is_ok() {
        return Err(exists());
    }
    let scratch = tempfile::Builder::new().prefix(".alcedo-new-").tempdir_in(parent);
    let scratch = scratch.map_err(file("write into", parent))?;
    // Writes to a subfolder, because the temporary folder itself has private permissions.
    let whole = scratch.path().join("new");
    for (path, text) in files {
        let path = whole.join(path);
        let dir = path.parent().unwrap_or(&whole);
        fs::create_dir_all(dir).map_err(file("create", dir))?;
        fs::write(&path, text).map_err(file("write", &path))?;
    }
    if let Some(dir) = made.parent() {
        fs::create_dir_all(dir).map_err(file("create", dir))?;
    }
    match renameat_with(CWD, &whole, CWD, made, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => Err(exists()),
        // Reached if the file system does not support `NOREPLACE`. `made` did not exist before, and `rename` fails if the target folder
        // contains files.
        Err(Errno::INVAL | Errno::NOSYS) => fs::rename(&whole, made).map_err(file("write", made)),
        Err(error) => Err(file("write", made)(error.into())),
    }
}

/// Returns the path of `to`, relative to the folder `from`. Both paths are absolute.
pub(crate) fn relative(from: &Path, to: &Path) -> PathBuf {
    let common = from.components().zip(to.components()).take_while(|(one, other)| one == other).count();
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    up.chain(to.components().skip(common)).collect()
}

fn text(path: PathBuf) -> Result<String, Error> {
    path.into_os_string().into_string().map_err(|path| {
        anyhow!(
            "the path {} is not UTF-8, so a Cargo.toml cannot contain it: put the checkout elsewhere",
            path.display()
        )
    })
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use expect_test::expect;

    use super::{Around, CRATES, Kind, Sources, VERSION, enclosing_workspace};
    use crate::install::checkout;
    use crate::new::templates::{ALONE, WORKSPACE, filled};

    /// Folder of this package in cargo's copy of a registry.
    const PUBLISHED: &str = "/r/registry/src/index.crates.io-1/alcedo-tools-0.1.0";

    #[test]
    fn a_program_from_a_registry_uses_versions_unless_other_sources_are_named() {
        let check = |named: Option<&Path>, git: Option<&str>, package: &str, expected: Kind| {
            let sources = Sources::choose(named.map(Path::to_owned), git.map(str::to_owned), Path::new(package));
            assert_eq!(sources.unwrap().kind, expected, "{named:?} {git:?} {package}");
        };
        let here = checkout().unwrap();
        check(None, None, PUBLISHED, Kind::Published);
        check(Some(here), None, PUBLISHED, Kind::Checkout);
        let url = "https://alcedo.example/alcedo?a&b";
        check(None, Some(url), PUBLISHED, Kind::Git(url.into()));
        check(None, None, env!("CARGO_MANIFEST_DIR"), Kind::Checkout);
        for url in [url, "ssh://git@h/a", "file:///a"] {
            check(None, Some(url), env!("CARGO_MANIFEST_DIR"), Kind::Git(url.into()));
        }
        let sources = Sources::choose(None, Some(url.to_owned()), Path::new(PUBLISHED)).unwrap();
        let install = &sources.placeholders(Path::new("/home/a/x")).unwrap()["install"];
        assert_eq!(install, "cargo install --git 'https://alcedo.example/alcedo?a&b' alcedo-tools");
        for other in ["../alcedo", "git@alcedo.example:alcedo", "h:a", ""] {
            let error = Sources::choose(None, Some(other.to_owned()), Path::new(PUBLISHED)).unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{other}` is not a URL")), "{error}");
        }
        // Expects an error if the checkout was removed after this program was built. The published versions would be wrong.
        let error = Sources::choose(None, None, Path::new("/gone/alcedo/tools")).unwrap_err().to_string();
        assert!(error.starts_with("/gone/alcedo is not a checkout of Alcedo"), "{error}");
    }

    #[test]
    fn manifests_of_a_program_from_a_registry_contain_versions_and_no_path_to_alcedo() {
        let sources = Sources::choose(None, None, Path::new(PUBLISHED)).unwrap();
        let mut placeholders = sources.placeholders(Path::new("/home/a/x")).unwrap();
        placeholders.extend([("name", "x".to_owned()), ("rust_version", "1.95".to_owned())]);
        let manifest = |templates, section: &[&str]| {
            let files = filled(templates, "", &placeholders);
            let text = &files.iter().find(|(path, _)| path == &PathBuf::from("Cargo.toml")).unwrap().1;
            assert!(!text.contains("checkout"), "{text}");
            let table: toml::Table = text.parse().unwrap();
            let dependencies = section.iter().fold(toml::Value::Table(table), |table, key| table[key].clone());
            dependencies.as_table().unwrap().iter().map(|(name, source)| format!("{name} = {source}\n")).collect()
        };
        let workspace: String = manifest(WORKSPACE, &["workspace", "dependencies"]);
        expect![[r#"
            alcedo = { version = "0.1.0" }
            alcedo-plugin-api = { version = "0.1.0" }
            tracing = "0.1"
            tracing-subscriber = "0.3"
            x-glue = { path = "glue" }
            x-host = { path = "host" }
        "#]]
        .assert_eq(&workspace.replace(VERSION, "0.1.0"));
        let alone: String = manifest(ALONE, &["dependencies"]) + &manifest(ALONE, &["dev-dependencies"]);
        expect![[r#"
            alcedo-plugin-api = { version = "0.1.0" }
            engine-glue = { version = "0.1.0" }
            tracing = "0.1"
            alcedo = { features = ["testing"], version = "0.1.0" }
        "#]]
        .assert_eq(&alone.replace(VERSION, "0.1.0"));
        assert_eq!(placeholders["install"], "cargo install alcedo-tools");
        assert_eq!(sources.lock_file().unwrap(), None);
    }

    /// The manifest of a new project requires the same version of all crates. `engine-glue` is an exception, because it is in another
    /// workspace.
    #[test]
    fn each_crate_that_a_manifest_names_has_the_version_of_this_program() {
        let checkout = checkout().unwrap();
        let version = |manifest: PathBuf| {
            let table: toml::Table = std::fs::read_to_string(&manifest).unwrap().parse().unwrap();
            table["workspace"]["package"]["version"].as_str().unwrap().to_owned()
        };
        assert_eq!(version(checkout.join("Cargo.toml")), VERSION);
        assert_eq!(version(checkout.join("example-plugins/Cargo.toml")), VERSION);
        for dir in CRATES {
            let text = std::fs::read_to_string(checkout.join(dir).join("Cargo.toml")).unwrap();
            assert!(text.contains("\nversion.workspace = true\n") && !text.contains("\npublish"), "{dir}: {text}");
        }
    }

    #[test]
    fn a_plugin_with_the_name_of_a_declared_folder_is_not_the_host() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let packages = [
            ("plugins/host", "host"),
            ("plugins/glue", "glue"),
            ("host", "my-host"),
            ("glue", "my-glue"),
            ("far", "far"),
        ];
        for (dir, name) in packages {
            std::fs::create_dir_all(root.join(dir).join("src")).unwrap();
            std::fs::write(root.join(dir).join("src/lib.rs"), "").unwrap();
            let manifest = format!("[package]\nname = {name:?}\nedition = \"2024\"\n");
            std::fs::write(root.join(dir).join("Cargo.toml"), manifest).unwrap();
        }
        for (host, expected) in
            [("host", ("my-host", "host")), ("far", ("far", "far")), ("my-host", ("my-host", "host"))]
        {
            let manifest = format!(
                "[workspace]\nresolver = \"3\"\nmembers = [\"plugins/*\", \"glue\", \"host\", \"far\"]\n\
                 [workspace.metadata.alcedo]\nhost = {host:?}\nglue = \"glue\"\n"
            );
            std::fs::write(root.join("Cargo.toml"), manifest).unwrap();
            let around = Around::find(&root.join("plugins")).unwrap().unwrap();
            assert_eq!(around.host, (expected.0.to_owned(), root.join(expected.1)));
            assert_eq!(around.glue, ("my-glue".to_owned(), root.join("glue")));
        }
    }

    #[test]
    fn the_nearest_workspace_above_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("crates/one");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::write(inner.join("Cargo.toml"), "[package]\nname = \"one\"\n").unwrap();
        std::fs::write(folder.path().join("Cargo.toml"), "[workspace]\n").unwrap();
        assert_eq!(enclosing_workspace(&inner).as_deref(), Some(folder.path()));
    }
}
