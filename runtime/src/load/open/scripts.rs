//! The same for a package of scripts: nothing is copied, mapped or attached. Its text is read once and parsed, so what is
//! no text of a script is refused here; what it means is found out when the types before it are declared.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use alcedo_abi::{API_CURRENT, API_OLDEST};
use alcedo_sys::Demands;
use semver::{Comparator, Op, Version, VersionReq};

use crate::bridge::core::Core;
use crate::conjugate::gate::ModuleTag;
use crate::handles::{Generation, ModuleId};
use crate::lease::Leases;
use crate::load::context::peek::ManifestInfo;
use crate::load::error::LoadError;
use crate::load::module::Module;
use crate::load::module::info::ModuleInfo;
use crate::load::module::master::MasterModule;
use crate::load::module::scripts::ScriptCode;
use crate::load::open::{Found, Inspected, admitted};
use crate::script::package::Package;

/// Reads and parses a package.
///
/// # Errors
/// When the folder is no package, its text cannot be parsed, or the host takes signed modules only.
pub(super) fn inspect(path: &Path, demands: &Demands) -> Result<(Arc<Package>, ModuleInfo), LoadError> {
    if !demands.trusted.is_empty() {
        return Err(LoadError::ScriptsNotSigned { path: path.to_owned() });
    }
    let package = Package::read(path)?;
    let info = info(&package, path);
    Ok((Arc::new(package), info))
}

/// What is known of a package before it is loaded.
pub(crate) fn info(package: &Package, path: &Path) -> ModuleInfo {
    ModuleInfo {
        name: package.name.clone(),
        version: package.manifest.version.clone(),
        dependencies: package.manifest.dependencies.clone(),
        build_id: package.digest.number(),
        compiler: format!("alcedo {}", env!("CARGO_PKG_VERSION")),
        digest: package.digest,
        origin: Some(path.to_owned()),
        is_scripts: true,
        is_sealed: false,
        api: (API_OLDEST, API_CURRENT),
        types: package.outline.types.clone(),
        classes: package.outline.classes.clone(),
        stays: None,
        gives_blocks_away: None,
    }
}

/// A package depends on the modules that its manifest names, and on those whose types its text names, but not on one that needs the
/// package itself: that is declared after it.
pub(super) fn add_dependencies(modules: &mut [Inspected]) {
    let known: Vec<_> = modules.iter().map(|(_, info)| Known::of(info)).collect();
    for (found, info) in modules {
        let Found::Scripts(package) = found else { continue };
        info.dependencies = dependencies(package, &known);
    }
}

/// A module as far as this decision goes.
struct Known {
    name: String,
    version: Version,
    /// The names of its types, in small letters.
    types: BTreeSet<String>,
    /// The names of the modules that it says it needs.
    needs: Vec<String>,
}

impl Known {
    fn of(info: &ModuleInfo) -> Self {
        Self {
            name: info.name.clone(),
            version: info.version.clone(),
            types: info.types.iter().map(|path| bare(path)).collect(),
            needs: info.dependencies.iter().map(|(name, _)| name.clone()).collect(),
        }
    }

    fn of_library(info: &ManifestInfo) -> Self {
        Self {
            name: info.name.clone(),
            version: info.version.clone(),
            types: info.types.iter().map(|path| bare(path)).collect(),
            needs: info.dependencies.iter().map(|found| found.name.clone()).collect(),
        }
    }
}

/// The name of a type, in small letters.
fn bare(path: &str) -> String {
    path.rsplit_once('.').map_or(path, |(_, name)| name).to_ascii_lowercase()
}

/// What these packages need of each other and of libraries, each as [`add_dependencies`] finds it; `libraries` are the others.
pub(crate) fn dependencies_among(packages: &[&Package], libraries: &[ManifestInfo]) -> Vec<Vec<(String, VersionReq)>> {
    let infos = packages.iter().map(|package| info(package, Path::new("")));
    let known: Vec<_> = infos.map(|info| Known::of(&info)).chain(libraries.iter().map(Known::of_library)).collect();
    packages.iter().map(|package| dependencies(package, &known)).collect()
}

/// What a package needs of modules.
fn dependencies(package: &Package, known: &[Known]) -> Vec<(String, VersionReq)> {
    let mut dependencies = package.manifest.dependencies.clone();
    for at in needed(&package.name, &package.outline.words, known) {
        let Known { name, version, .. } = &known[at];
        if dependencies.iter().all(|(other, _)| other != name) {
            dependencies.push((name.clone(), this(version)));
        }
    }
    dependencies
}

/// The places of the modules that a package of that name needs whose text has these words.
fn needed(package: &str, words: &BTreeSet<String>, modules: &[Known]) -> Vec<usize> {
    let needs: BTreeMap<_, _> = modules.iter().map(|module| (&*module.name, &module.needs)).collect();
    let leads_back = |from: &str| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(name) = next.pop() {
            if name == package {
                return true;
            }
            if seen.insert(name) {
                next.extend(needs.get(name).into_iter().flat_map(|needs| needs.iter().map(|need| &**need)));
            }
        }
        false
    };
    let is_named = |module: &Known| module.name != package && !module.types.is_disjoint(words);
    (0..modules.len()).filter(|at| is_named(&modules[*at]) && !leads_back(&modules[*at].name)).collect()
}

/// The range of just this version and later ones: `*` would leave out those with a stage behind it.
fn this(version: &Version) -> VersionReq {
    let Version { major, minor, patch, pre, .. } = version.clone();
    VersionReq {
        comparators: vec![Comparator { op: Op::GreaterEq, major, minor: Some(minor), patch: Some(patch), pre }],
    }
}

/// The package as a module of the Master: a gate and leases, like every other.
pub(super) fn open(
    core: &Core,
    info: ModuleInfo,
    package: Arc<Package>,
    id: ModuleId,
    generation: Generation,
) -> Rc<MasterModule> {
    let tag = ModuleTag { id, name: info.name.as_str().into(), generation };
    core.logs.introduce(&tag);
    core.world.slices.introduce(id.0, &tag.name);
    let leases = Leases::new(format!("{} of generation {generation}", info.name));
    let module = Module::new(info, tag.clone(), ScriptCode::new(package), leases, &core.logs, None);
    admitted(core, module, tag)
}

#[cfg(test)]
mod tests {
    use semver::Version;

    use super::{Known, needed, this};

    /// `cube: MagicCube, Spin > scripts` is a module with two types that needs another.
    fn check(package: &str, words: &str, modules: &[&str], expected: &str) {
        let list =
            |text: &str| text.split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect();
        let module = |text: &&str| {
            let (name, rest) = text.split_once(':').expect("a name");
            let (types, needs) = rest.split_once('>').unwrap_or((rest, ""));
            let types: Vec<String> = list(types);
            let types = types.iter().map(|ty| ty.to_ascii_lowercase()).collect();
            Known { name: name.to_owned(), version: Version::new(1, 0, 0), types, needs: list(needs) }
        };
        let modules: Vec<_> = modules.iter().map(module).collect();
        let words = words.split_whitespace().map(str::to_owned).collect();
        let found: Vec<_> = needed(package, &words, &modules).into_iter().map(|at| &*modules[at].name).collect();
        assert_eq!(found.join(" "), expected);
    }

    #[test]
    fn a_package_needs_the_modules_whose_types_it_names() {
        check("tale", "class extends magiccube", &["cube: MagicCube", "lamp: Lamp", "tale: Tale"], "cube");
        check("tale", "tale", &["tale: Tale"], "");
        check("tale", "lamp magiccube", &["cube: MagicCube", "lamp: Lamp"], "cube lamp");
    }

    #[test]
    fn a_module_that_needs_the_package_is_none_of_its_own_needs() {
        check("tale", "lamp", &["lamp: Lamp > tale", "tale: Tale"], "");
        check("tale", "lamp shade", &["lamp: Lamp > shade", "shade: Shade > tale", "tale: Tale"], "");
        check("tale", "lamp", &["lamp: Lamp > shade", "shade: Shade > lamp", "tale: Tale"], "lamp");
    }

    #[test]
    fn the_range_takes_the_version_that_is_there_whatever_its_stage() {
        for version in ["1.2.3", "0.1.0-beta.2", "1.0.0-alpha"] {
            let version: Version = version.parse().expect("a version");
            assert!(this(&version).matches(&version), "{version}");
        }
    }
}
