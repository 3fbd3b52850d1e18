//! Decides if a build needs cargo. A record contains cargo's compiler call for a plugin, and the inputs that determine this call. As long
//! as these inputs are unchanged, cargo would repeat this call after a change to the plugin's own sources.
//!
//! Unknown inputs count as changed, because an unnecessary run of cargo costs less than a stale library.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use crate::call::CompilerCall;
use crate::reason::CargoReason;
use crate::report::{Artifact, package_name};
use crate::stamp::{self, Stamp, Stamps};

/// Folder of cargo's configuration, in the working directory of cargo and in the folders above.
pub(crate) const CONFIGURATION: &str = ".cargo";

/// Toolchain files in the working directory of cargo and in the folders above.
pub(crate) const TOOLCHAIN_FILES: [&str; 2] = ["rust-toolchain", "rust-toolchain.toml"];

/// Method of a plugin's next build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Plan {
    /// The library is up to date, so no build is needed.
    Fresh,
    /// Repeats the recorded compiler call.
    Direct,
    Cargo(CargoReason),
}

/// The last build of a plugin.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) package_id: String,
    pub(crate) call: CompilerCall,
    /// Working directory of the call.
    pub(crate) dir: PathBuf,
    /// Stamp of the dependency file that cargo's call wrote. Cargo replaces this file in each later call for this library.
    pub(crate) list: Stamp,
    /// The library in cargo's target folder.
    pub(crate) library: PathBuf,
    /// Libraries of the plugin's workspace. These libraries are linked with their debug information.
    pub(crate) debugged: Vec<PathBuf>,
    pub(crate) inputs: Inputs,
}

impl Record {
    /// Returns the paths of the files that cargo locks: in the folder of its libraries, and in the folder of its intermediate output. Both
    /// folders may be identical.
    pub(crate) fn locks(&self) -> Vec<PathBuf> {
        let folders = [self.library.parent(), self.call.value("--out-dir").and_then(|dir| Path::new(dir).parent())];
        let real = |folder: &Path| folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        folders.into_iter().flatten().map(|folder| real(folder).join(".cargo-lock")).collect()
    }

    pub(crate) fn artifact(&self, fresh: bool) -> Artifact {
        Artifact { package: package_name(&self.package_id).to_owned(), path: self.library.clone(), fresh }
    }
}

/// Versions of all inputs to the build of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inputs {
    pub(crate) environment: BTreeMap<OsString, OsString>,
    /// Files that the compiler read as sources of the plugin, including files of `include!` and `include_str!`.
    pub(crate) own: Stamps,
    /// Digest of the contents of `own`. `None` if a file of `own` changed during the build.
    pub(crate) contents: Option<u128>,
    /// Files whose change requires a build by cargo. Some of these files may not exist.
    pub(crate) foreign: Stamps,
    /// Stamp of the library after the last build. Unknown if that build failed.
    pub(crate) library: Stamp,
}

impl Inputs {
    /// Returns the current versions of the same inputs. `stamp` returns the stamp of each file.
    pub(crate) fn seen(
        &self,
        environment: BTreeMap<OsString, OsString>,
        library: &Path,
        stamp: impl Fn(&Path) -> Stamp,
    ) -> Self {
        let all = |stamps: &Stamps| stamps.keys().map(|path| (path.clone(), stamp(path))).collect();
        let own = all(&self.own);
        let contents = if own == self.own { self.contents } else { stamp::contents(&own) };
        Self { environment, own, contents, foreign: all(&self.foreign), library: stamp(library) }
    }
}

/// Decides how to build a plugin. Compares the inputs `last` of the last build with the current inputs `seen`.
pub(crate) fn plan(last: &Inputs, seen: &Inputs) -> Plan {
    if let Some(name) = changed_variable(&last.environment, &seen.environment) {
        return Plan::Cargo(CargoReason::Variable(name.display().to_string()));
    }
    if let Some(path) = changed(&last.foreign, &seen.foreign) {
        return Plan::Cargo(CargoReason::Changed(path.to_owned()));
    }
    let is_equal = last.contents.is_some() && last.contents == seen.contents;
    match (is_equal || changed(&last.own, &seen.own).is_none()) && last.library.is_same(&seen.library) {
        true => Plan::Fresh,
        false => Plan::Direct,
    }
}

/// Returns the first file whose stamp has changed.
fn changed<'a>(last: &'a Stamps, seen: &Stamps) -> Option<&'a Path> {
    let is_same = |path: &Path, stamp: &Stamp| seen.get(path).is_some_and(|now| now.is_same(stamp));
    last.iter().find(|(path, stamp)| !is_same(path, stamp)).map(|(path, _)| path.as_path())
}

fn changed_variable<'a>(
    last: &'a BTreeMap<OsString, OsString>,
    seen: &'a BTreeMap<OsString, OsString>,
) -> Option<&'a OsString> {
    let names = last.keys().chain(seen.keys());
    names.into_iter().find(|name| last.get(*name) != seen.get(*name))
}

/// Returns the folders above `sources`, in which cargo searches for manifests. Adds the folders of workspaces that these manifests name.
pub(crate) fn manifest_folders<'a>(sources: impl IntoIterator<Item = &'a Path>) -> BTreeSet<PathBuf> {
    let above = sources.into_iter().flat_map(|source| source.ancestors().skip(1));
    let mut folders: BTreeSet<_> = above.map(Path::to_owned).collect();
    let named: Vec<_> = folders.iter().filter_map(|folder| named_workspace(folder)).collect();
    folders.extend(named);
    folders
}

/// Returns the folder of the workspace that the manifest in `folder` names. A member may name a workspace in any folder.
fn named_workspace(folder: &Path) -> Option<PathBuf> {
    let manifest: toml::Table = fs::read_to_string(folder.join("Cargo.toml")).ok()?.parse().ok()?;
    let package = manifest.get("package").or_else(|| manifest.get("project"))?;
    folder.join(package.get("workspace")?.as_str()?).canonicalize().ok()
}

/// Returns the manifests and build scripts of `sources`, and the configuration files, lock files and toolchain files that cargo reads if it
/// runs in one of `dirs`. A change to one of these files requires a build by cargo. The files need not exist.
pub(crate) fn cargo_files(
    sources: &[PathBuf],
    dirs: &[PathBuf],
    environment: &BTreeMap<OsString, OsString>,
) -> BTreeSet<PathBuf> {
    let manifests: Vec<_> = dirs.iter().map(|dir| dir.join("Cargo.toml")).collect();
    let mut files: BTreeSet<_> = manifest_folders(sources.iter().chain(&manifests).map(PathBuf::as_path))
        .iter()
        .flat_map(|folder| ["Cargo.toml", "Cargo.lock", "build.rs"].map(|name| folder.join(name)))
        .collect();
    let above = dirs.iter().flat_map(|dir| dir.ancestors());
    files.extend(above.flat_map(|folder| TOOLCHAIN_FILES.map(|name| folder.join(name))));
    files.extend(configurations(dirs, environment));
    files.extend(home(environment, "RUSTUP_HOME", ".rustup").map(|home| home.join("settings.toml")));
    files
}

/// Returns the configuration files of a cargo that runs in one of `dirs`, and the files that these files include. The files need not exist.
pub(crate) fn configurations(dirs: &[PathBuf], environment: &BTreeMap<OsString, OsString>) -> Vec<PathBuf> {
    let above = dirs.iter().flat_map(|dir| dir.ancestors()).map(|folder| folder.join(CONFIGURATION));
    let folders: BTreeSet<_> = above.chain(home(environment, "CARGO_HOME", CONFIGURATION)).collect();
    let mut files: Vec<_> =
        folders.iter().flat_map(|folder| ["config", "config.toml"].map(|name| folder.join(name))).collect();
    let mut at = 0;
    while let Some(file) = files.get(at) {
        let new: Vec<_> = included(file).into_iter().filter(|path| !files.contains(path)).collect();
        files.extend(new);
        at += 1;
    }
    files
}

/// Returns the paths that a configuration file includes. Resolves the links in their folders, so that files that include each other have
/// one path each.
fn included(file: &Path) -> Vec<PathBuf> {
    let config = fs::read_to_string(file).ok().and_then(|text| text.parse::<toml::Table>().ok()).unwrap_or_default();
    let list = config.get("include").and_then(toml::Value::as_array).into_iter().flatten();
    let paths = list.filter_map(|entry| entry.as_str().or_else(|| entry.get("path")?.as_str()));
    let real = |path: &Path| Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    paths.map(|path| file.with_file_name(path)).map(|path| real(&path).unwrap_or(path)).collect()
}

/// Returns the folder that an environment variable names. If the variable is unset or empty, returns `folder` in the user's home folder.
fn home(environment: &BTreeMap<OsString, OsString>, variable: &str, folder: &str) -> Option<PathBuf> {
    let named = environment.get(OsStr::new(variable)).filter(|named| !named.is_empty()).map(PathBuf::from);
    named.or_else(|| Some(std::env::home_dir()?.join(folder)))
}

#[cfg(test)]
mod tests {
    use super::{Inputs, Plan, cargo_files, plan};
    use crate::reason::CargoReason;
    use crate::stamp::Stamp;
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    /// Parses inputs: `own:` and `foreign:` files with numbers as stamps, `NAME=value`, `contents:` with a number, and `lib:`. The stamp `-`
    /// denotes a missing file, `?` an unknown stamp.
    fn inputs(text: &str) -> Inputs {
        let stamp = |stamp: &str| match stamp {
            "-" => Stamp::Missing,
            "?" => Stamp::Unknown,
            number => Stamp::Folder(number.parse().unwrap()),
        };
        let (environment, own) = (BTreeMap::new(), BTreeMap::new());
        let foreign = BTreeMap::new();
        let mut inputs = Inputs { environment, own, contents: None, foreign, library: Stamp::Unknown };
        for word in text.split(' ') {
            match (word.split(':').collect::<Vec<_>>().as_slice(), word.split_once('=')) {
                (["own", path, version], _) => drop(inputs.own.insert((*path).into(), stamp(version))),
                (["foreign", path, version], _) => drop(inputs.foreign.insert((*path).into(), stamp(version))),
                (["contents", digest], _) => inputs.contents = digest.parse().ok(),
                (["lib", version], _) => inputs.library = stamp(version),
                (_, Some((name, value))) => drop(inputs.environment.insert(name.into(), value.into())),
                _ => panic!("{word}"),
            }
        }
        inputs
    }

    const LAST: &str = "own:lib.rs:1 own:text.txt:1 foreign:Cargo.toml:1 foreign:rust-toolchain:- lib:1 A=1";

    /// Plans the build after replacing `old` by `new` in the inputs of the last build.
    fn check(old: &str, new: &str, expected: &str) {
        assert!(LAST.contains(old), "{old}");
        let text = match plan(&inputs(LAST), &inputs(&LAST.replace(old, new))) {
            Plan::Fresh => "fresh".to_owned(),
            Plan::Direct => "direct".to_owned(),
            Plan::Cargo(reason) => reason.to_string(),
        };
        assert_eq!(text, expected, "{old} to {new}");
    }

    #[test]
    fn a_build_without_changes_is_fresh() {
        check("A=1", "A=1", "fresh");
    }

    #[test]
    fn own_sources_and_the_library_need_the_compiler_only() {
        check("own:lib.rs:1", "own:lib.rs:2", "direct");
        check("own:lib.rs:1", "own:lib.rs:-", "direct");
        check("own:text.txt:1", "own:text.txt:2", "direct");
        check("own:text.txt:1", "own:text.txt:?", "direct");
        check("lib:1", "lib:2", "direct");
        check("lib:1", "lib:-", "direct");
    }

    #[test]
    fn sources_with_equal_contents_are_fresh_in_spite_of_their_times() {
        let both = |last: &str, seen: &str| plan(&inputs(last), &inputs(seen));
        assert_eq!(both("own:a:1 lib:1 contents:5", "own:a:2 lib:1 contents:5"), Plan::Fresh);
        assert_eq!(both("own:a:1 lib:1 contents:5", "own:a:2 lib:1 contents:6"), Plan::Direct);
        assert_eq!(both("own:a:1 lib:1 contents:?", "own:a:2 lib:1 contents:?"), Plan::Direct);
        assert_eq!(both("own:a:1 lib:1 contents:5", "own:a:2 lib:2 contents:5"), Plan::Direct);
        assert_eq!(both("own:a:1 lib:? contents:5", "own:a:2 lib:? contents:5"), Plan::Direct);
    }

    #[test]
    fn everything_else_needs_cargo() {
        check("foreign:Cargo.toml:1", "foreign:Cargo.toml:2", "Cargo.toml has changed");
        check("foreign:Cargo.toml:1", "foreign:Cargo.toml:-", "Cargo.toml has changed");
        check("foreign:Cargo.toml:1", "foreign:Cargo.toml:?", "Cargo.toml has changed");
        check("foreign:rust-toolchain:-", "foreign:rust-toolchain:1", "rust-toolchain has changed");
        check(
            "own:lib.rs:1 own:text.txt:1 foreign:Cargo.toml:1",
            "own:lib.rs:2 own:text.txt:1 foreign:Cargo.toml:2",
            "Cargo.toml has changed",
        );
        check("A=1", "A=2", "the variable A has changed");
        check("A=1", "B=1", "the variable A has changed");
        check("A=1", "A=1 B=1", "the variable B has changed");
    }

    #[test]
    fn an_unknown_input_counts_as_changed_even_if_it_is_still_unknown() {
        let both = |text: &str| plan(&inputs(text), &inputs(text));
        assert_eq!(both("own:lib.rs:1 lib:1"), Plan::Fresh);
        assert_eq!(both("own:lib.rs:? lib:1"), Plan::Direct);
        assert_eq!(both("own:lib.rs:1 lib:?"), Plan::Direct);
        assert_eq!(both("foreign:x:? lib:1"), Plan::Cargo(CargoReason::Changed("x".into())));
    }

    #[test]
    fn cargo_reads_files_of_all_folders_above_and_of_the_user() {
        let environment = BTreeMap::from([("CARGO_HOME".into(), "/c".into()), ("RUSTUP_HOME".into(), "/r".into())]);
        let files = cargo_files(&["/w/glue/src/lib.rs".into()], &["/w/x".into()], &environment);
        for file in [
            "/w/glue/Cargo.toml",
            "/w/glue/src/Cargo.toml",
            "/w/glue/build.rs",
            "/w/x/Cargo.toml",
            "/w/Cargo.lock",
            "/w/x/.cargo/config.toml",
            "/.cargo/config",
            "/w/rust-toolchain.toml",
            "/c/config.toml",
            "/r/settings.toml",
        ] {
            assert!(files.contains(&PathBuf::from(file)), "{file}");
        }
    }

    #[test]
    fn an_empty_variable_names_no_folder() {
        let files = |environment| cargo_files(&[], &["/w/x".into()], &environment);
        let empty = BTreeMap::from([("CARGO_HOME".into(), "".into()), ("RUSTUP_HOME".into(), "".into())]);
        assert_eq!(files(empty), files(BTreeMap::new()));
    }
}
