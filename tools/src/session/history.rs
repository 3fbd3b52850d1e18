//! Stores builds of earlier generations, so that the user can load them again. The libraries of a build are copied before they are loaded,
//! because the next build overwrites the originals. `Shelf` decides which builds are kept. `History` stores their files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, file};
use crate::guard::session_folder;
use crate::scripts;
use alcedo_build::Artifact;
use alcedo_runtime::development::PrivateFolder;

/// Number of builds that are kept. The number is limited because debug libraries are large, and the folder for temporary files is often in
/// memory.
const KEPT: usize = 20;

/// Number of a copied build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BuildNumber(pub(crate) u64);

/// Builds by the generations that have run them. A restarted world counts its generations from 1, so its entries replace earlier entries.
#[derive(Debug, Default)]
struct Shelf {
    builds: BTreeMap<u64, BuildNumber>,
    /// All kept builds. The build that ran last is at the end.
    recent: Vec<BuildNumber>,
}

impl Shelf {
    /// Records that `generation` runs `build`. Returns the builds that are dropped because `keep` is exceeded.
    fn bind(&mut self, generation: u64, build: BuildNumber, keep: usize) -> Vec<BuildNumber> {
        self.builds.insert(generation, build);
        self.recent.retain(|other| *other != build);
        self.recent.push(build);
        let excess = self.recent.len().saturating_sub(keep);
        let dropped: Vec<_> = self.recent.drain(..excess).collect();
        self.builds.retain(|_, build| !dropped.contains(build));
        dropped
    }

    fn find(&self, generation: u64) -> Result<BuildNumber, String> {
        let missing = || {
            let kept = self.builds.keys().map(u64::to_string).collect::<Vec<_>>().join(", ");
            let kept = if kept.is_empty() { "nothing has run yet".to_owned() } else { format!("available are {kept}") };
            format!("no code of generation {generation} is kept: {kept}")
        };
        self.builds.get(&generation).copied().ok_or_else(missing)
    }
}

/// The libraries of recent generations, in a folder that is deleted at the end of the session.
#[derive(Debug)]
pub(crate) struct History {
    dir: PrivateFolder,
    next: u64,
    shelf: Shelf,
}

impl History {
    pub(crate) fn new() -> Result<Self, Error> {
        Ok(Self { dir: session_folder()?, next: 1, shelf: Shelf::default() })
    }

    /// Returns the libraries of a build. Returns an empty list if they are no longer kept.
    pub(crate) fn libraries(&self, build: BuildNumber) -> Vec<PathBuf> {
        let entries = |dir: &Path| -> Vec<PathBuf> {
            let read = fs::read_dir(dir).into_iter().flatten();
            let mut paths: Vec<_> = read.filter_map(Result::ok).map(|entry| entry.path()).collect();
            paths.sort();
            paths
        };
        entries(&self.folder(build)).iter().flat_map(|dir| entries(dir)).collect()
    }

    /// Copies libraries with their seals. If a build overwrites a library while it is copied, the seal does not match the copy, so a host
    /// rejects the copy.
    pub(crate) fn keep(&mut self, artifacts: &[Artifact]) -> Result<(BuildNumber, Vec<PathBuf>), Error> {
        let build = BuildNumber(self.next);
        self.next += 1;
        let copy = |(number, artifact): (usize, &Artifact)| -> Result<PathBuf, Error> {
            // Uses a separate folder per library, because libraries of two plugins may have the same file name.
            let folder = self.folder(build).join(number.to_string());
            let copy = folder.join(artifact.path.file_name().unwrap_or_default());
            fs::create_dir_all(&folder).map_err(file("create", &folder))?;
            match artifact.path.is_dir() {
                true => scripts::copy(&artifact.path, &copy)?,
                false => fs::copy(&artifact.path, &copy).map(drop).map_err(file("copy", &artifact.path))?,
            }
            Ok(copy)
        };
        let copies: Result<Vec<_>, Error> = artifacts.iter().enumerate().map(copy).collect();
        // Deletes the copies of this build after an error, because they could fill a disk until the end of the session.
        Ok((build, copies.inspect_err(|_| self.discard(build))?))
    }

    pub(crate) fn bind(&mut self, generation: u64, build: BuildNumber) {
        for dropped in self.shelf.bind(generation, build, KEPT) {
            self.discard(dropped);
        }
    }

    /// Deletes a build that no generation runs.
    pub(crate) fn discard(&self, build: BuildNumber) {
        // Ignores errors: the whole folder is deleted at the end of the session.
        let _ = fs::remove_dir_all(self.folder(build));
    }

    /// Returns the libraries that `generation` ran.
    pub(crate) fn find(&self, generation: u64) -> Result<(BuildNumber, Vec<PathBuf>), String> {
        let build = self.shelf.find(generation)?;
        Ok((build, self.libraries(build)))
    }

    fn folder(&self, build: BuildNumber) -> PathBuf {
        self.dir.path().join(build.0.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Artifact, BuildNumber, History, Shelf};

    #[test]
    fn an_incomplete_copy_of_a_build_is_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let artifact = |name: &str| Artifact { package: "one".into(), path: dir.path().join(name), fresh: false };
        fs::write(dir.path().join("libone.so"), "one").unwrap();
        let mut history = History::new().unwrap();
        history.keep(&[artifact("libone.so"), artifact("missing.so")]).unwrap_err();
        assert!(!history.folder(BuildNumber(1)).exists(), "no copy is left");
        let (build, copies) = history.keep(&[artifact("libone.so")]).unwrap();
        assert_eq!(history.libraries(build), copies);
    }

    /// Calls `bind` for each `generation:build` pair in `script`, and checks the dropped and the remaining builds.
    fn check(script: &str, dropped: &[u64], left: &[u64]) {
        let mut shelf = Shelf::default();
        let mut discarded = Vec::new();
        for pair in script.split(' ') {
            let (generation, build) = pair.split_once(':').unwrap();
            let build = BuildNumber(build.parse().unwrap());
            discarded.extend(shelf.bind(generation.parse().unwrap(), build, 3).iter().map(|build| build.0));
        }
        assert_eq!(discarded, dropped, "{script}");
        assert_eq!(shelf.builds.keys().copied().collect::<Vec<_>>(), left, "{script}");
    }

    #[test]
    fn the_oldest_build_goes_when_there_are_too_many() {
        check("1:1 2:2 3:3", &[], &[1, 2, 3]);
        check("1:1 2:2 3:3 4:4 5:5", &[1, 2], &[3, 4, 5]);
    }

    #[test]
    fn a_build_that_ran_again_is_kept_for_its_younger_generation() {
        check("1:1 2:2 3:3 4:1 5:4", &[2], &[1, 3, 4, 5]);
        check("1:1 2:1 3:1 4:1", &[], &[1, 2, 3, 4]);
    }

    #[test]
    fn a_restarted_world_does_not_hide_builds_of_earlier_generations() {
        check("1:1 2:2 3:3 1:2 2:4", &[1], &[1, 2, 3]);
        check("1:1 2:2 3:3 1:3 2:4 3:5", &[1, 2], &[1, 2, 3]);
    }

    #[test]
    fn a_missing_generation_gets_the_list_of_kept_ones() {
        let mut shelf = Shelf::default();
        let text = |shelf: &Shelf, generation| shelf.find(generation).unwrap_err();
        assert_eq!(text(&shelf, 1), "no code of generation 1 is kept: nothing has run yet");
        shelf.bind(1, BuildNumber(1), 3);
        shelf.bind(2, BuildNumber(2), 3);
        assert_eq!(text(&shelf, 7), "no code of generation 7 is kept: available are 1, 2");
        assert_eq!(shelf.find(2), Ok(BuildNumber(2)));
    }
}
