//! Which context is meant, and what is known of it at one moment: copies that any thread may keep, print and compare.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use crate::load::module::ModuleInfo;
use crate::load::state::ContextState;

/// What sort of load context it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextKind {
    /// The host's executable and the contract modules that all share; never unloaded.
    Default,
    /// The modules with classes, replaced by reloads; game thread only.
    Master,
    /// Named, without classes, for any thread.
    Slim,
}

impl fmt::Display for ContextKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Default => "Default",
            Self::Master => "Master",
            Self::Slim => "Slim",
        })
    }
}

/// One generation of one load context. Never given twice by a runtime, also where a name is used again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize)]
pub struct ContextId {
    /// The context: 0 is the Default, 1 the Master, Slims count from 2.
    pub index: u64,
    /// Its generation: counts the reloads of the Master and the replacements of a Slim, from 1.
    pub generation: u64,
}

impl ContextId {
    /// The Default load context.
    pub const DEFAULT: Self = Self { index: 0, generation: 1 };

    /// A generation of the Master.
    pub(crate) fn master(generation: u64) -> Self {
        Self { index: 1, generation }
    }
}

impl fmt::Display for ContextId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{} generation {}", self.index, self.generation)
    }
}

/// A loaded module, as it was when it was looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleSummary {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: semver::Version,
    /// Differs between builds that differ.
    pub build_id: u128,
    /// The generation of the context it is in.
    pub context: ContextId,
    /// The file it was loaded from; none for one that came as bytes.
    pub origin: Option<PathBuf>,
    /// The private copy that is mapped, as debuggers know it.
    pub image: PathBuf,
    /// Paths of the types it declares, and of the types whose functions it offers.
    pub types: Vec<String>,
}

impl ModuleSummary {
    /// What a manifest says of a module that is in `context`.
    pub(crate) fn new(info: &ModuleInfo, context: ContextId, image: PathBuf) -> Self {
        Self {
            name: info.name.clone(),
            version: info.version.clone(),
            build_id: info.build_id,
            context,
            origin: info.origin.clone(),
            image,
            types: info.types.clone(),
        }
    }
}

impl fmt::Display for ModuleSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} (build {:032x})", self.name, self.version, self.build_id)
    }
}

/// One generation of a load context, as it was when it was looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ContextInfo {
    /// Which.
    pub id: ContextId,
    /// What sort.
    pub kind: ContextKind,
    /// Its name: `Default`, `Master`, or what a Slim was created with.
    pub name: String,
    /// How far its life has come.
    pub state: ContextState,
    /// Its modules, dependencies first.
    pub modules: Vec<ModuleSummary>,
}

impl fmt::Display for ContextInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", title(self.kind, &self.name), self.id, self.state)
    }
}

/// How errors and reports name a context.
pub(crate) fn title(kind: ContextKind, name: &str) -> String {
    match kind {
        ContextKind::Slim => format!("Slim \"{name}\""),
        single => single.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{ContextId, ContextInfo, ContextKind};
    use crate::load::state::ContextState;

    #[test]
    fn a_context_prints_kind_name_number_generation_and_state() {
        let check = |kind, name: &str, index, says: &str| {
            let id = ContextId { index, generation: 3 };
            let info = ContextInfo { id, kind, name: name.into(), state: ContextState::Blocked, modules: vec![] };
            assert_eq!(info.to_string(), says);
        };
        check(ContextKind::Slim, "reports", 7, "Slim \"reports\" #7 generation 3: blocked");
        check(ContextKind::Master, "Master", 1, "Master #1 generation 3: blocked");
    }
}
