//! Provides a workspace with a package for each combination of features that tests load. One cargo run then builds all of them in parallel.
//! Cargo has one library path per package, so each combination is a package with its own name: `broken--unknown-base`. Its folder is
//! `broken+unknown-base/broken` and has links to the sources of the plugin. The crate name is `broken`, for log targets and symbols. A
//! panic names `broken/src/lib.rs`: see [`WRAPPER`].
//!
//! Each single feature is a combination. [`TOGETHER`] lists further combinations. A separate cargo run builds each feature of [`ALONE`].
//! The packages are those of both [`WORKSPACES`].

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Instant;

use alcedo_build::{BuildRequest, Member};

use super::{WORKSPACES, checkout, of_tests, request, test_dir, variants, variants_dir};

/// Features that cannot be built in the shared cargo run. Some do not compile or link, need another compiler, or change the crates that all
/// plugins share. The others are only for benchmarks.
const ALONE: [&str; 11] = [
    "base-inserted",
    "cpp",
    "does-not-compile",
    "hooked",
    "other-constant",
    "other-default",
    "pass-through",
    "planted-use-after-free",
    "property-added",
    "undefined",
    "unresolved-symbol",
];

/// Packages that no test of `all.rs` loads: packages of `soak.rs`, and a plugin that the stress programs build themselves.
const ELSEWHERE: [&str; 5] = ["churn", "coro", "everything-unloads", "lifetimes", "surface"];

/// Environment variable with the packages whose libraries were built before the process started. Checking the inputs of a library takes
/// longer than most tests need to load the library.
const PREPARED: &str = "ALCEDO_TEST_PREPARED";

const TOGETHER: [(&str, &[&str]); 1] = [("figures", &["misnamed", "needs-reports"])];

/// Compiles a variant as the crate of its plugin. The library keeps the file name that cargo expects.
///
/// Compiles without incremental compilation, which would slow down first builds. A profile without incremental compilation would also apply
/// to the crates in the repository that plugins depend on. Cargo would then compile these crates again for other workspaces of plugins.
///
/// Debug builds have no debug information, which would make a library four times as large: each load reads, hashes and copies whole
/// libraries. Symbols remain. Builds for benchmarks and sanitizers have the debug information of their profile. A test that needs debug
/// information in a debug build uses another wrapper: see `flags.rs`.
const WRAPPER: &str = r#"#!/bin/sh
rustc=$1 before= without='-C debuginfo=0 -C strip=debuginfo'
shift
for word; do
    shift
    case $word in
    opt-level=* | *sanitizer=*) without= ;;
    incremental=*) word=codegen-units=16 ;;
    esac
    if [ "$before" = --crate-name ]; then
        case $word in
        [a-z]*__[a-z]*)
            folder=${CARGO_MANIFEST_DIR%/*}
            set -- "$@" "${word%%__*}" -C "extra-filename=__${word#*__}" "--remap-path-prefix=${folder##*/}="
            before=
            continue
            ;;
        esac
    fi
    before=$word
    set -- "$@" "$word"
done
# shellcheck disable=SC2086 # a list of options
exec "$rustc" "$@" $without
"#;

/// Builds the plugins of the tests in `all.rs`.
pub(crate) fn build_all() -> Vec<(&'static str, String)> {
    build_packages(|package| !ELSEWHERE.contains(&package))
}

/// Builds the plugins that only the tests in `soak.rs` load.
pub(crate) fn build_soak() -> Vec<(&'static str, String)> {
    build_packages(|package| ELSEWHERE.contains(&package))
}

/// Builds all stale combinations of some packages in one cargo run. Returns the variable for processes that load the libraries. Only prints
/// an error, because a test that loads a missing library reports it again.
fn build_packages(is_chosen: impl Fn(&str) -> bool) -> Vec<(&'static str, String)> {
    let begun = Instant::now();
    let (mut members, mut names) = (Vec::new(), Vec::new());
    for package in packages().iter().filter(|package| package.is_plugin && is_chosen(&package.name)) {
        names.push(package.name.as_str());
        members.push(member(&package.name, &[]));
        members.extend(combinations(package).iter().map(|features| member(&package.name, features)));
    }
    if let Err(error) = variants().get_all(&of_tests(BuildRequest::new(manifest())), &members) {
        eprintln!("{error}");
        return Vec::new();
    }
    eprintln!("{} libraries of plugins are built, after {:.1} s", members.len(), begun.elapsed().as_secs_f64());
    vec![(PREPARED, names.join(" "))]
}

fn is_prepared(package: &str) -> bool {
    std::env::var(PREPARED).is_ok_and(|names| names.split(' ').any(|name| name == package))
}

/// Returns the library of a plugin with these features.
pub(super) fn library(package: &str, features: &[&str]) -> PathBuf {
    let is_member = packages()
        .iter()
        .filter(|known| known.name == package)
        .any(|known| features.is_empty() || combinations(known).iter().any(|combination| combination == features));
    if !is_member {
        let request = request(package, features);
        return variants().get(&request, &label(package, features)).unwrap_or_else(|error| panic!("{error}"));
    }
    let member = member(package, features);
    if is_prepared(package) {
        return variants_dir().join(member.label).join(member.file);
    }
    let request = of_tests(BuildRequest::new(manifest()));
    let built = variants().get_all(&request, &[member]);
    built.unwrap_or_else(|error| panic!("{error}")).remove(0)
}

/// Returns the names of the features of a plugin.
pub(super) fn features_of(package: &str) -> &'static [String] {
    packages().iter().find(|known| known.name == package).map_or(&[], |known| &known.features)
}

struct Package {
    name: String,
    folder: PathBuf,
    manifest: String,
    features: Vec<String>,
    is_plugin: bool,
}

/// Returns all packages of the workspaces, as their manifests describe them.
fn packages() -> &'static [Package] {
    static PACKAGES: OnceLock<Vec<Package>> = OnceLock::new();
    PACKAGES.get_or_init(|| {
        let folders =
            WORKSPACES.iter().flat_map(|workspace| fs::read_dir(checkout().join(workspace)).expect("plugins"));
        let package = |entry: fs::DirEntry| {
            let folder = entry.path();
            let manifest = fs::read_to_string(folder.join("Cargo.toml")).ok()?;
            let (_, rest) = manifest.split_once("[features]\n").unwrap_or_default();
            let features = rest.lines().take_while(|line| !line.starts_with('[')).filter(|line| !line.starts_with('#'));
            let features = features.filter_map(|line| Some(line.split_once(" = ")?.0.to_owned())).collect();
            let is_plugin = manifest.contains("cdylib");
            Some(Package { name: entry.file_name().into_string().ok()?, folder, manifest, features, is_plugin })
        };
        let mut packages: Vec<_> = folders.filter_map(Result::ok).filter_map(package).collect();
        packages.sort_by(|left, right| left.name.cmp(&right.name));
        let mut pairs = packages.windows(2);
        assert!(pairs.all(|pair| pair[0].name != pair[1].name), "two packages in {WORKSPACES:?} have one name");
        packages
    })
}

fn combinations(package: &Package) -> Vec<Vec<&str>> {
    let single = package.features.iter().filter(|feature| !ALONE.contains(&feature.as_str()));
    let together = TOGETHER.iter().filter(|(name, _)| *name == package.name).map(|(_, features)| features.to_vec());
    single.map(|feature| vec![feature.as_str()]).chain(together).collect()
}

fn label(package: &str, features: &[&str]) -> String {
    [&[package], features].concat().join("+")
}

fn member(package: &str, features: &[&str]) -> Member {
    let label = label(package, features);
    let file = format!("{}{}{}", std::env::consts::DLL_PREFIX, package.replace('-', "_"), std::env::consts::DLL_SUFFIX);
    Member { package: label.replace('+', "--"), label, file }
}

/// Writes those files of the workspace that have changed, and returns the path of its manifest.
pub(crate) fn manifest() -> &'static Path {
    static MANIFEST: OnceLock<PathBuf> = OnceLock::new();
    MANIFEST.get_or_init(|| {
        let root = test_dir().join("workspace");
        write_workspace(&root).unwrap_or_else(|error| panic!("{}: {error}", root.display()));
        root.join("Cargo.toml")
    })
}

fn write_workspace(root: &Path) -> io::Result<()> {
    fs::create_dir_all(root)?;
    let turn = fs::File::create(root.join(".turn"))?;
    turn.lock()?;
    let mut folders = Vec::new();
    for package in packages() {
        folders.push(package.name.clone());
        write_member(&root.join(&package.name), package, &[])?;
        for features in combinations(package) {
            let folder = format!("{}/{}", label(&package.name, &features), package.name);
            write_member(&root.join(&folder), package, &features)?;
            folders.push(folder);
        }
    }
    let [examples, fixtures] = WORKSPACES.map(|workspace| checkout().join(workspace));
    let manifest = fs::read_to_string(fixtures.join("Cargo.toml"))?;
    let (_, rest) = manifest.split_once("[workspace.package]").expect("the members come before what they share");
    // In this workspace, the example plugins are members.
    let rest = rest.replace("path = \"../../../example-plugins/", "path = \"");
    let rest = rest.replace("path = \"../../../", &format!("path = \"{}/", checkout().display()));
    let manifest = format!("[workspace]\nresolver = \"3\"\nmembers = {folders:?}\n\n[workspace.package]{rest}");
    write(&root.join("Cargo.toml"), &manifest)?;
    let wrapper = root.join("rustc");
    write(&wrapper, WRAPPER)?;
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755))?;
    fs::create_dir_all(root.join(".cargo"))?;
    let config = format!("[build]\nrustc-workspace-wrapper = {:?}\n", wrapper.display().to_string());
    write(&root.join(".cargo/config.toml"), &config)?;
    // Cargo adds the packages of the variants to the lock file. The file is therefore written again only if the lock files of the two
    // source workspaces have changed.
    let [examples, fixtures] = [examples, fixtures].map(|folder| fs::read_to_string(folder.join("Cargo.lock")));
    let lock = both_locks(fixtures?, &examples?);
    if write(&root.join("Cargo.lock.sources"), &lock)? {
        write(&root.join("Cargo.lock"), &lock)?;
    }
    Ok(())
}

/// Adds to `lock` the packages that only the lock file `other` contains. A package in both files is not added, because a second version
/// would make its name ambiguous in entries of `lock`.
fn both_locks(mut lock: String, other: &str) -> String {
    let entry = "\n[[package]]\n";
    for package in other.split(entry).skip(1) {
        let name = package.split_inclusive('\n').next().unwrap_or_default();
        if !lock.contains(&format!("{entry}{name}")) {
            lock.extend([entry, package]);
        }
    }
    lock
}

fn write_member(folder: &Path, package: &Package, features: &[&str]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let sources = &package.folder;
    let names = |folder: &Path| -> io::Result<Vec<OsString>> {
        fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()
    };
    let expected: Vec<_> = names(sources)?.into_iter().filter(|name| name != "Cargo.toml").collect();
    for name in names(folder)?.iter().filter(|name| *name != "Cargo.toml" && !expected.contains(name)) {
        fs::remove_file(folder.join(name))?;
    }
    for name in expected {
        let (source, link) = (sources.join(&name), folder.join(&name));
        if fs::read_link(&link).ok().as_ref() != Some(&source) {
            let _ = fs::remove_file(&link);
            symlink(source, link)?;
        }
    }
    // Removes the dev-dependencies. Only the tests of the examples use them, and those tests need a host.
    let (library, _tests) = package.manifest.split_once("\n[dev-dependencies]\n").unwrap_or((&package.manifest, ""));
    let mut manifest = library.to_owned();
    // Adds a dependency that most plugins have. Otherwise the features of `syn` would depend on the selected packages, and cargo would
    // compile the macros and all crates above them again.
    if !manifest.contains("\ntracing.workspace") {
        manifest = manifest.replacen("[dependencies]\n", "[dependencies]\ntracing.workspace = true\n", 1);
    }
    if !features.is_empty() {
        let name = member(&package.name, features).package;
        manifest = manifest.replacen(&format!("name = \"{}\"", package.name), &format!("name = \"{name}\""), 1);
        manifest = manifest.replacen("[features]\n", &format!("[features]\ndefault = {features:?}\n"), 1);
    }
    write(&folder.join("Cargo.toml"), &manifest).map(drop)
}

/// Writes a file if its content differs. Returns true if the file was written.
fn write(path: &Path, content: &str) -> io::Result<bool> {
    let differs = fs::read_to_string(path).map_or(true, |old| old != content);
    if differs {
        let temporary = path.with_extension("new");
        fs::write(&temporary, content)?;
        fs::rename(&temporary, path)?;
    }
    Ok(differs)
}
