//! Finds the modules in a folder: packages of scripts and crates of plugins.

use std::fs;
use std::path::{Path, PathBuf};

use alcedo_build::{
    BuildError, BuildOutcome, BuildRequest, Builder, PluginFolder, RunningBuild, SourceCrate, metadata, real_path,
};
use anyhow::{anyhow, bail};
use crossbeam_channel::select;

use crate::described::read_text;
use crate::error::Error;
use crate::figures::{listed, millis, near};
use crate::input::Stop;
use crate::screen::print_progress;
use crate::scripts;

/// Maximum depth of the search for packages below a folder.
const DEPTH: usize = 4;

/// Modules below the folder arguments of a command.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) packages: Vec<PathBuf>,
    pub(crate) libraries: Vec<PathBuf>,
    /// Plugin crates, and workspaces that contain plugins. Excludes folders whose plugins are all in another folder of this list.
    pub(crate) crates: Vec<PluginFolder>,
    /// All folders of plugin crates, in the order of the arguments. The first folder that names a host selects the host.
    pub(crate) host_dirs: Vec<PathBuf>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct BuildOptions {
    pub(crate) release: bool,
    pub(crate) color: bool,
    /// Target folder. `None` for the default of cargo.
    pub(crate) target_dir: Option<PathBuf>,
    /// Builder with the recorded compiler calls of plugins, for builds without cargo.
    pub(crate) builder: Builder,
}

/// Returns a builder for an edit session. Libraries that this builder builds are linked through this program.
pub(crate) fn session_builder() -> Builder {
    match std::env::current_exe() {
        Ok(program) => Builder::new().linker(program),
        Err(_) => Builder::new(),
    }
}

/// Builds a request with cargo, and waits for the end. A request to quit cancels the build, because cargo runs in a separate process group.
///
/// # Errors
/// Returns cargo's error.
pub(crate) fn build(request: &BuildRequest<'_>) -> Result<BuildOutcome, Error> {
    let stop = Stop::new()?;
    let mut running = RunningBuild::start(request)?;
    select! {
        recv(running.finished()) -> _ended => {}
        recv(stop.receiver) -> _quit => running.cancel(),
    }
    Ok(running.wait()?)
}

/// Finds the modules at these paths. A path denotes a library, a package of scripts, a folder of plugin crates, or a folder that contains
/// any of these.
///
/// # Errors
/// Fails if a path contains no module, if cargo cannot read a manifest, or if two packages would be built into one library.
pub(crate) fn find(paths: &[PathBuf]) -> Result<Found, Error> {
    let mut found = Found::default();
    for path in paths {
        let no_modules = |found: &str| {
            anyhow!(
                "{found} {}: name a folder of `.uc` files, a folder of plugin crates (`crate-type = \
                 [\"cdylib\"]`), or a built library",
                path.display()
            )
        };
        let whole = path.canonicalize().map_err(|_| no_modules("no file and no folder at"))?;
        let mut here = Found::default();
        if whole.is_file() && !whole.ends_with("Cargo.toml") {
            here.libraries.push(whole);
        } else if scripts::is_package(&whole) {
            here.packages.push(whole);
        } else {
            here.crates.extend(plugins(&whole)?);
            find_in(&whole, DEPTH, &mut here)?;
        }
        if here.packages.is_empty() && here.crates.is_empty() && here.libraries.is_empty() {
            return Err(no_modules("no package of scripts and no plugin in"));
        }
        here.packages.sort();
        here.crates.sort_by(|one, other| one.manifest.cmp(&other.manifest));
        add(&mut found.packages, here.packages);
        add(&mut found.libraries, here.libraries);
        add(&mut found.crates, here.crates);
    }
    found.host_dirs = found.crate_dirs();
    found.crates = distinct(&found.crates);
    check_names(&found.crates)?;
    Ok(found)
}

/// Rejects two packages with one library name and one target folder, because the library of the second build replaces the library of the
/// first. Compares the default names of libraries, because a [`SourceCrate`] does not contain the key `name` of `[lib]`.
fn check_names(crates: &[PluginFolder]) -> Result<(), Error> {
    let target_dir = |folder: &PluginFolder| metadata(&folder.request()).map(|found| found.target_directory);
    let library = |plugin: &SourceCrate| plugin.name.replace('-', "_");
    for (at, folder) in crates.iter().enumerate() {
        for earlier in &crates[..at] {
            let pairs = folder.plugins.iter().flat_map(|one| earlier.plugins.iter().map(move |other| (one, other)));
            let mut pairs = pairs.filter(|(one, other)| library(one) == library(other) && !is_same(one, other));
            let Some((one, other)) = pairs.next() else { continue };
            let dir = target_dir(folder)?;
            if dir == target_dir(earlier)? {
                bail!(
                    "package `{}` ({}) and package `{}` ({}) are built into one library in {dir}: rename one package, or separate their \
                     target folders, which `target-dir` or CARGO_TARGET_DIR sets",
                    other.name,
                    other.manifest.display(),
                    one.name,
                    one.manifest.display()
                );
            }
        }
    }
    Ok(())
}

/// Returns true if both describe one package. The paths of their manifests may differ by links.
fn is_same(one: &SourceCrate, other: &SourceCrate) -> bool {
    one.name == other.name && real_path(&one.manifest) == real_path(&other.manifest)
}

/// Removes folders whose plugins are all in another folder of the list, for example a member of a workspace whose root is also listed.
/// Otherwise, a host would receive two copies of one plugin, and would reject them.
fn distinct(crates: &[PluginFolder]) -> Vec<PluginFolder> {
    let contains = |folder: &PluginFolder, inner: &PluginFolder| {
        inner.plugins.iter().all(|plugin| folder.plugins.iter().any(|other| is_same(plugin, other)))
    };
    let is_inner = |at: usize, inner: &PluginFolder| {
        let mut others = crates.iter().enumerate().filter(|(other, _)| *other != at);
        // Of two folders with the same plugins, keeps the first.
        others.any(|(other, folder)| contains(folder, inner) && (other < at || !contains(inner, folder)))
    };
    let kept = crates.iter().enumerate().filter(|(at, folder)| !is_inner(*at, folder));
    // A plugin that one workspace omits may be listed by its own folder.
    let is_listed =
        |plugin: &SourceCrate| crates.iter().flat_map(|folder| &folder.plugins).any(|known| is_same(known, plugin));
    let listed = kept.map(|(_, folder)| {
        let mut folder = folder.clone();
        folder.left_out.retain(|plugin| !is_listed(plugin));
        folder
    });
    listed.collect()
}

fn add<T: PartialEq>(list: &mut Vec<T>, more: Vec<T>) {
    for one in more {
        if !list.contains(&one) {
            list.push(one);
        }
    }
}

/// Returns the plugins of a folder. Returns `None` if the folder has no manifest or no plugins.
pub(crate) fn plugins(dir: &Path) -> Result<Option<PluginFolder>, BuildError> {
    if dir.is_dir() && !dir.join("Cargo.toml").is_file() {
        return Ok(None);
    }
    match PluginFolder::of(dir) {
        Ok(folder) => Ok(Some(folder)),
        Err(BuildError::NoPlugins { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Adds the packages and crates below a folder. Skips target folders, hidden folders, and crates inside other crates.
fn find_in(dir: &Path, depth: usize, found: &mut Found) -> Result<(), BuildError> {
    for path in subfolders(dir) {
        if scripts::is_package(&path) {
            found.packages.push(path);
            continue;
        }
        let is_within = |folder: &PluginFolder| folder.manifest.parent().is_some_and(|root| path.starts_with(root));
        // Does not start cargo for a crate whose manifest shows that the crate contains no plugin.
        let may_have_plugins = |text: String| text.contains("cdylib") || text.contains("[workspace");
        let may_be_one = read_text(&path.join("Cargo.toml")).is_ok_and(may_have_plugins);
        if may_be_one && !found.crates.iter().any(is_within) {
            found.crates.extend(plugins(&path)?);
        }
        if depth > 1 {
            find_in(&path, depth - 1, found)?;
        }
    }
    Ok(())
}

/// Returns the subfolders except target folders and hidden folders. Skips symbolic links, because a link may point to a parent folder.
pub(crate) fn subfolders(dir: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(dir).into_iter().flatten().flatten().filter_map(|entry| {
        let (is_folder, name) = (entry.file_type().is_ok_and(|kind| kind.is_dir()), entry.file_name());
        (is_folder && name != "target" && !name.to_string_lossy().starts_with('.')).then(|| entry.path())
    })
}

impl Found {
    pub(crate) fn crate_dirs(&self) -> Vec<PathBuf> {
        let dir = |folder: &PluginFolder| folder.manifest.parent().unwrap_or(&folder.manifest).to_owned();
        self.crates.iter().map(dir).collect()
    }

    /// Returns a line for each workspace in which plugins are omitted. The line contains the command that runs the omitted plugins.
    pub(crate) fn left_out(&self) -> Vec<String> {
        self.crates.iter().filter(|folder| !folder.left_out.is_empty()).map(left_out).collect()
    }

    /// Builds the crates. Returns the packages and all libraries.
    ///
    /// # Errors
    /// Returns cargo's error if a crate does not build.
    pub(crate) fn built(self) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Error> {
        let Self { packages, mut libraries, crates, .. } = self;
        for folder in crates {
            let outcome = build(&folder.request())?;
            if outcome.artifacts.iter().any(|artifact| !artifact.fresh) {
                let dir = folder.manifest.parent().unwrap_or(&folder.manifest).display().to_string();
                // Prints to standard error, because standard output is reserved for the result.
                print_progress(&format!("plugins of {dir} built, in {}", millis(outcome.millis)));
            }
            add(&mut libraries, outcome.artifacts.into_iter().map(|artifact| artifact.path).collect());
        }
        Ok((packages, libraries))
    }
}

fn left_out(folder: &PluginFolder) -> String {
    let names: Vec<_> = folder.left_out.iter().map(|plugin| plugin.name.as_str()).collect();
    let one = folder.left_out.first().and_then(|plugin| plugin.manifest.parent()).unwrap_or(Path::new("."));
    format!(
        "left out: {}, which are not in `default-members` of {} · add them there, or name their folders: {}",
        listed(&names),
        near(&folder.manifest),
        near(one)
    )
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use alcedo_build::find_host;

    use super::find;

    #[test]
    fn packages_below_a_folder_are_found_but_generated_ones_are_not() {
        let dir = tempfile::tempdir().expect("a folder");
        for package in ["scripts/Tale", "scripts/Saga/Classes", "target/debug/Old", ".git/Kept", "a/b/c/d/Deep"] {
            fs::create_dir_all(dir.path().join(package)).expect("made");
            fs::write(dir.path().join(package).join("A.uc"), "class A extends Object;").expect("written");
        }
        let expected = [dir.path().join("scripts/Saga"), dir.path().join("scripts/Tale")];
        let found = find(&[dir.path().to_owned(), dir.path().join("scripts/Tale")]).expect("packages");
        assert_eq!((found.packages, found.crates.len(), found.libraries.len()), (expected.to_vec(), 0, 0));
    }

    #[test]
    fn crates_below_a_folder_are_found_as_default_members_only() {
        let dir = tempfile::tempdir().expect("a folder");
        let plugin = |path: &str| {
            let folder = dir.path().join(path);
            fs::create_dir_all(folder.join("src")).expect("made");
            fs::write(folder.join("src/lib.rs"), "").expect("written");
            let name = path.rsplit('/').next().expect("a name");
            let manifest =
                format!("[package]\nname = {name:?}\nedition = \"2024\"\n[lib]\ncrate-type = [\"cdylib\"]\n");
            fs::write(folder.join("Cargo.toml"), manifest).expect("written");
        };
        ["plugins/one", "plugins/two", "plugins/three"].into_iter().for_each(plugin);
        fs::create_dir_all(dir.path().join("scripts/Tale")).expect("made");
        fs::write(dir.path().join("scripts/Tale/A.uc"), "class A extends Object;").expect("written");
        let workspace = |text: &str| fs::write(dir.path().join("Cargo.toml"), text).expect("written");
        let names = |found: &super::Found| {
            let plugins = found.crates.iter().flat_map(|folder| &folder.plugins);
            plugins.map(|plugin| plugin.name.clone()).collect::<Vec<_>>().join(" ")
        };
        workspace("[workspace]\nmembers = [\"plugins/*\"]\ndefault-members = [\"plugins/two\", \"plugins/one\"]\n");
        let found = find(&["scripts", "plugins"].map(|name| dir.path().join(name))).expect("both");
        assert_eq!((names(&found).as_str(), found.packages.len()), ("one three two", 1));
        assert_eq!(found.left_out(), [""; 0]);
        let found = find(&[dir.path().to_owned()]).expect("a workspace");
        assert_eq!((names(&found).as_str(), found.packages.len()), ("one two", 1));
        // A member may be listed together with its workspace.
        let listed = |paths: &[&str]| {
            let paths: Vec<_> = paths.iter().map(|path| dir.path().join(path)).collect();
            names(&find(&paths).expect("plugins"))
        };
        assert_eq!(listed(&["", "plugins/one"]), "one two");
        assert_eq!(listed(&["plugins/one", "", "plugins/three"]), "one two three");
        let both = find(&["", "plugins/three"].map(|path| dir.path().join(path))).expect("plugins");
        assert_eq!(both.left_out(), [""; 0]);
        let line = found.left_out().join("");
        assert!(
            line.starts_with("left out: three, which are not in `default-members` of ")
                && line.ends_with("plugins/three"),
            "{line}"
        );
    }

    #[test]
    fn the_first_folder_that_names_a_host_selects_the_host() {
        let dir = tempfile::tempdir().expect("a folder");
        let host =
            |name: &str| format!("[lib]\ncrate-type = [\"cdylib\"]\n[package.metadata.alcedo]\nhost = {name:?}\n");
        let packages = [("one", host("zoo")), ("two", host("rig")), ("rig", String::new()), ("zoo", String::new())];
        for (name, more) in &packages {
            let folder = dir.path().join(name);
            fs::create_dir_all(folder.join("src")).expect("made");
            fs::write(folder.join("src/lib.rs"), "").expect("written");
            let manifest = format!("[package]\nname = {name:?}\nedition = \"2024\"\n{more}");
            fs::write(folder.join("Cargo.toml"), manifest).expect("written");
        }
        let members = packages.each_ref().map(|(name, _)| *name);
        let manifest = format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n");
        fs::write(dir.path().join("Cargo.toml"), manifest).expect("written");
        for (paths, expected) in [("two .", ("rig", 1)), (". two", ("zoo", 1)), ("two one", ("rig", 2))] {
            let folders: Vec<_> = paths.split(' ').map(|path| dir.path().join(path)).collect();
            let found = find(&folders).expect("plugins");
            let host = find_host(None, &found.host_dirs).expect("manifests").expect("a host");
            assert_eq!((host.name.as_str(), found.crates.len()), expected, "{paths}");
        }
    }

    #[test]
    fn packages_of_one_library_name_need_separate_target_folders() {
        let dir = tempfile::tempdir().expect("a folder");
        let workspaces = ["one", "two"].map(|name| dir.path().join(name));
        for (workspace, name) in workspaces.iter().zip(["magic-cube", "magic_cube"]) {
            fs::create_dir_all(workspace.join("src")).expect("made");
            fs::create_dir_all(workspace.join(".cargo")).expect("made");
            fs::write(workspace.join("src/lib.rs"), "").expect("written");
            let manifest = format!(
                "[package]\nname = {name:?}\nedition = \"2024\"\n[lib]\ncrate-type = [\"cdylib\"]\n[workspace]\n"
            );
            fs::write(workspace.join("Cargo.toml"), manifest).expect("written");
        }
        let build_into = |workspace: &Path, target: &str| {
            let config = format!("[build]\ntarget-dir = {:?}\n", dir.path().join(target));
            fs::write(workspace.join(".cargo/config.toml"), config).expect("written");
        };
        workspaces.iter().for_each(|workspace| build_into(workspace, "shared"));
        // A variable of the test run would override the configuration.
        let is_set = ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"].iter().any(|name| std::env::var_os(name).is_some());
        let error = find(&workspaces).expect_err("one library").to_string();
        assert!(error.contains("package `magic-cube` (") && error.contains("package `magic_cube` ("), "{error}");
        build_into(&workspaces[0], "own");
        assert_eq!(find(&workspaces).is_ok(), !is_set);
    }

    #[test]
    fn a_package_that_is_also_listed_by_a_link_is_built_once() {
        let dir = tempfile::tempdir().expect("a folder");
        let [cube, workspace] = ["cube", "workspace"].map(|name| dir.path().join(name));
        for folder in [dir.path().join(".cargo"), cube.join("src"), workspace.clone()] {
            fs::create_dir_all(folder).expect("made");
        }
        let config = format!("[build]\ntarget-dir = {:?}\n", dir.path().join("shared"));
        let manifest = "[package]\nname = \"cube\"\nedition = \"2024\"\n[lib]\ncrate-type = [\"cdylib\"]\n";
        let files = [
            (dir.path().join(".cargo/config.toml"), config.as_str()),
            (cube.join("src/lib.rs"), ""),
            (cube.join("Cargo.toml"), manifest),
            (workspace.join("Cargo.toml"), "[workspace]\nresolver = \"3\"\nmembers = [\"cube\"]\n"),
        ];
        for (file, content) in files {
            fs::write(file, content).expect("written");
        }
        std::os::unix::fs::symlink(&cube, workspace.join("cube")).expect("linked");
        let found = find(&[cube, workspace]).expect("one package");
        assert_eq!(found.crates.len(), 1);
    }

    #[test]
    fn an_empty_folder_is_reported() {
        let dir = tempfile::tempdir().expect("a folder");
        let error = find(&[dir.path().to_owned()]).expect_err("nothing is there");
        assert!(error.to_string().contains("name a folder of `.uc` files"), "{error}");
    }
}
