//! What is known of a module before it is loaded: for a library, what its manifest section says.

use std::path::PathBuf;

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

/// Name, version and build of a module, as all errors and reports say them.
pub(crate) fn titled(name: &str, version: &semver::Version, build_id: u128) -> String {
    format!("{name} {version} (build {build_id:032x})")
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
