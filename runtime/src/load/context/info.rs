//! Snapshots of contexts and their modules, usable on any thread.

use std::fmt;
use std::path::PathBuf;

use crate::bridge::exports::is_type;
use crate::load::context_id::{ContextId, ContextKind, title};
use crate::load::module::info::ModuleInfo;
use crate::load::order::titled;
use crate::unload::state::ContextState;

/// Snapshot of a module of the living Master.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{MasterModuleInfo, Runtime};
///
/// /// Returns the name and version of each plugin, for the main menu.
/// fn plugins(runtime: &Runtime) -> Vec<String> {
///     let line = |module: MasterModuleInfo| format!("{} {}", module.name, module.version);
///     runtime.modules().into_iter().map(line).collect()
/// }
///
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// assert!(plugins(&Runtime::builder().build()?).is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MasterModuleInfo {
    /// Name of the module.
    pub name: String,
    /// Version of the module.
    pub version: semver::Version,
    /// Generation that loaded the module. If a reload kept the module, this generation is older than the current generation of the Master.
    pub generation: u64,
    /// Build id that the running code of the module returns. `None` if the module currently accepts no calls, or if the module does not
    /// export its build id.
    pub build_id: Option<u128>,
}

/// Snapshot of a loaded module.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::LoadContext;
///
/// fn list(context: &LoadContext) {
///     for module in context.modules() {
///         println!("{} {} from {:?}: {}", module.name, module.version, module.origin, module.types.join(", "));
///     }
/// }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleSummary {
    /// Name of the module.
    pub name: String,
    /// Version of the module.
    pub version: semver::Version,
    /// Id of the build. Different builds have different ids.
    pub build_id: u128,
    /// Generation that contains the module.
    pub context: ContextId,
    /// File that was loaded. `None` if the module was loaded from memory or from a reader.
    pub origin: Option<PathBuf>,
    /// Path of the mapped private copy, as seen by debuggers.
    pub image: PathBuf,
    /// Paths of the types that the module declares. Also contains undeclared types if the module exports functions of these types.
    pub types: Vec<String>,
}

impl ModuleSummary {
    /// Creates the summary of a module in `context` from the module's manifest.
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

    /// Adds the types to which the exported functions of the module belong. Skips names of declared types, with or without their package.
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

/// Snapshot of one generation of a load context.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{ContextKind, ContextState, Runtime};
///
/// let runtime = Runtime::builder().build()?;
/// let contexts = runtime.contexts().all();
/// let default = contexts.iter().find(|context| context.kind == ContextKind::Default).unwrap();
/// assert_eq!(default.state, ContextState::Alive);
/// assert!(default.modules.is_empty());
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ContextInfo {
    /// Id of the generation.
    pub id: ContextId,
    /// Kind of the context.
    pub kind: ContextKind,
    /// Name of the context: `Default`, `Master`, or the name of the Slim or pinned context.
    pub name: String,
    /// State of the generation.
    pub state: ContextState,
    /// Modules, dependencies first.
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
        let check = |kind, name: &str, index, expected: &str| {
            let id = ContextId { index, generation: 3 };
            let info = ContextInfo { id, kind, name: name.into(), state: ContextState::Blocked, modules: vec![] };
            assert_eq!(info.to_string(), expected);
        };
        check(ContextKind::Slim, "reports", 7, "Slim \"reports\" #7 generation 3: blocked");
        check(ContextKind::Pinned, "contracts", 8, "Pinned \"contracts\" #8 generation 3: blocked");
        check(ContextKind::Master, "Master", 1, "Master #1 generation 3: blocked");
    }
}
