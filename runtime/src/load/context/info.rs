//! What is known of contexts and their modules at one moment: copies that any thread may keep, print and compare.

use std::fmt;
use std::path::PathBuf;

use crate::bridge::exports::is_type;
use crate::load::context_id::{ContextId, ContextKind, title};
use crate::load::module::info::ModuleInfo;
use crate::load::order::titled;
use crate::unload::state::ContextState;

/// A module of the living Master, as it was when it was looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MasterModuleInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: semver::Version,
    /// The generation that it was loaded in; older than the Master's where a reload kept it.
    pub generation: u64,
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

    /// It offers functions of these types as well; functions name a type that the module declares by its bare name.
    pub(crate) fn offering<'a>(mut self, types: impl Iterator<Item = &'a str>) -> Self {
        for ty in types.filter(|ty| !ty.is_empty()) {
            if !self.types.iter().any(|known| is_type(known, ty)) {
                self.types.push(ty.to_owned());
            }
        }
        self
    }
}

impl fmt::Display for ModuleSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&titled(&self.name, &self.version, self.build_id))
    }
}

/// One generation of a load context, as it was when it was looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ContextInfo {
    /// Which.
    pub id: ContextId,
    /// What sort.
    pub kind: ContextKind,
    /// Its name: `Default`, `Master`, or what a Slim or a pinned one was created with.
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

#[cfg(test)]
mod tests {
    use super::{ContextId, ContextInfo, ContextKind};
    use crate::unload::state::ContextState;

    #[test]
    fn a_context_prints_kind_name_number_generation_and_state() {
        let check = |kind, name: &str, index, says: &str| {
            let id = ContextId { index, generation: 3 };
            let info = ContextInfo { id, kind, name: name.into(), state: ContextState::Blocked, modules: vec![] };
            assert_eq!(info.to_string(), says);
        };
        check(ContextKind::Slim, "reports", 7, "Slim \"reports\" #7 generation 3: blocked");
        check(ContextKind::Pinned, "contracts", 8, "Pinned \"contracts\" #8 generation 3: blocked");
        check(ContextKind::Master, "Master", 1, "Master #1 generation 3: blocked");
    }
}
