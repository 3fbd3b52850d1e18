//! What is known of a module before it is loaded: for a library, what its manifest section says.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use crate::load::order::titled;
use crate::load::stays::{self, Stays};

/// What the manifest section of a module says, kept by the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModuleInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: semver::Version,
    /// The modules it needs.
    pub dependencies: Vec<(String, semver::VersionReq)>,
    /// Differs between builds that differ.
    pub build_id: u128,
    /// The compiler that made it, for reports.
    pub compiler: String,
    /// Digest of the whole file.
    pub digest: alcedo_sys::Digest,
    /// The file it was read from; none for one that came as bytes.
    pub origin: Option<PathBuf>,
    /// Whether it is a package of scripts, and no library.
    pub is_scripts: bool,
    /// Whether the file was sealed.
    pub is_sealed: bool,
    /// The oldest and the newest host API it can live with.
    pub api: (u32, u32),
    /// Paths of the types it declares.
    pub types: Vec<String>,
    /// Those of them that are classes.
    pub classes: Vec<String>,
    /// Why its image will stay mapped whatever happens; none as a rule.
    pub stays: Option<Stays>,
    /// The C functions that it defines itself, where the hooks of these names are left out.
    pub unhooked: Vec<String>,
    /// Why others may free what it took of the C heap, so that nothing else does; none where they cannot.
    pub gives_blocks_away: Option<String>,
}

impl ModuleInfo {
    /// How errors about two of a kind name it: two builds may have one name and one version.
    pub(crate) fn title(&self) -> String {
        titled(&self.name, &self.version, self.build_id)
    }

    /// Why its image will stay mapped whatever happens; none for one that can be unmapped.
    pub(crate) fn will_park(&self) -> Option<String> {
        self.stays.as_ref().map(Stays::told)
    }

    /// Returns the warnings of its file, as ends of sentences that begin with its name.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let stays = self.will_park().map(|reason| format!("will stay mapped for ever: {reason}"));
        stays.into_iter().chain(stays::of_unhooked(&self.unhooked)).collect()
    }
}

/// A module that another needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dependency {
    /// Its name.
    pub name: String,
    /// The versions that will do.
    pub versions: semver::VersionReq,
}

/// What the manifest section of a module says, and what else its file shows.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ManifestInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: semver::Version,
    /// Differs between builds that differ.
    pub build_id: u128,
    /// The compiler that made it.
    pub compiler: String,
    /// The number of the border it speaks.
    pub abi: u32,
    /// The oldest and the newest host API it can live with.
    pub api: RangeInclusive<u32>,
    /// The modules it needs.
    pub dependencies: Vec<Dependency>,
    /// Paths of the types it declares.
    pub types: Vec<String>,
    /// Those of them that are classes: a module with any is for the Master.
    pub classes: Vec<String>,
    /// Whether the file carries a seal, which then fits.
    pub sealed: bool,
    /// Why its image would stay mapped after an unload, when that is known beforehand.
    pub will_park: Option<String>,
}

impl ManifestInfo {
    /// What is known of a module.
    pub(crate) fn of(info: ModuleInfo) -> Self {
        Self {
            will_park: info.will_park(),
            name: info.name,
            version: info.version,
            build_id: info.build_id,
            compiler: info.compiler,
            abi: alcedo_abi::ABI_NUMBER,
            api: info.api.0..=info.api.1,
            dependencies: info.dependencies.into_iter().map(|(name, versions)| Dependency { name, versions }).collect(),
            types: info.types,
            classes: info.classes,
            sealed: info.is_sealed,
        }
    }
}
