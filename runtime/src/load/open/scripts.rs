//! Opens a script package without copying, mapping or attaching a library. The source is parsed once. Syntax errors are reported
//! immediately. Names are resolved later, after the types of the dependencies are declared.

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
use crate::load::error::LoadError;
use crate::load::module::Module;
use crate::load::module::info::{ManifestInfo, ModuleInfo};
use crate::load::module::master::MasterModule;
use crate::load::module::scripts::ScriptCode;
use crate::load::open::{Found, Inspected, admitted};
use crate::load::permissions::Declaration;
use crate::script::package::Package;

/// Reads and parses a package. Returns an error if the folder is not a package, if its source has syntax errors, or if the host requires
/// signed modules.
pub(super) fn inspect(path: &Path, demands: &Demands) -> Result<(Arc<Package>, ModuleInfo), LoadError> {
    if !demands.trusted.is_empty() {
        return Err(LoadError::ScriptsNotSigned { path: path.to_owned() });
    }
    let package = Package::read(path)?;
    let info = info(&package, path);
    Ok((Arc::new(package), info))
}

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
        types: [&*package.outline.types, &package.outline.delegates].concat(),
        classes: package.outline.classes.clone(),
        park_reason: None,
        unhooked: Vec::new(),
        c_heap_shared: None,
        permissions: Declaration::default(),
    }
}

/// Adds the dependencies of packages. A package depends on the modules in its manifest. A package also depends on the modules that declare
/// the types named in its source. Omits modules that depend on the package, because their types are declared after the package.
pub(super) fn add_dependencies(modules: &mut [Inspected]) {
    let known = modules.iter().map(|(found, info)| match found {
        Found::Scripts(package) => Known::of_package(package, info),
        _ => Known::of(info),
    });
    let known: Vec<_> = known.collect();
    let scripts = modules.iter().filter_map(|(found, _)| match found {
        Found::Scripts(package) => Some(&**package),
        _ => None,
    });
    let mut dependencies = dependencies(&scripts.collect::<Vec<_>>(), &known).into_iter();
    let infos = modules.iter_mut().filter(|(found, _)| matches!(found, Found::Scripts(_)));
    for ((_, info), dependencies) in infos.zip(&mut dependencies) {
        info.dependencies = dependencies;
    }
}

/// Names and dependencies of one module, as input for the computation of dependencies.
struct Known {
    name: String,
    version: Version,
    /// Names of the types that the module declares, in lower case.
    types: BTreeSet<String>,
    /// Names of enum entries and delegates that the module declares.
    others: BTreeSet<String>,
    /// Names of the dependencies that the module declares.
    needs: Vec<String>,
}

impl Known {
    fn new(name: &str, version: &Version, types: &[String], dependencies: &[(String, VersionReq)]) -> Self {
        Self {
            name: name.to_owned(),
            version: version.clone(),
            types: names_of(types),
            others: BTreeSet::new(),
            needs: dependencies.iter().map(|(name, _)| name.clone()).collect(),
        }
    }

    fn of(info: &ModuleInfo) -> Self {
        Self::new(&info.name, &info.version, &info.types, &info.dependencies)
    }

    /// Includes the names of enum entries and delegates from the source.
    fn of_package(package: &Package, info: &ModuleInfo) -> Self {
        Self { others: package.outline.names.clone(), ..Self::of(info) }
    }

    fn of_library(info: &ManifestInfo) -> Self {
        Self::new(&info.name, &info.version, &info.types, &info.dependencies)
    }
}

/// Returns the names of types in lower case, each with and without the package prefix.
fn names_of(paths: &[String]) -> BTreeSet<String> {
    let paths = paths.iter().map(|path| path.trim_start_matches("/Script/").to_ascii_lowercase());
    paths.flat_map(|path| [path.rsplit('.').next().unwrap_or("").to_owned(), path]).collect()
}

/// Returns the dependencies among packages, and the dependencies of packages on `libraries`. See [`add_dependencies`].
pub(crate) fn dependencies_among(packages: &[&Package], libraries: &[ManifestInfo]) -> Vec<Vec<(String, VersionReq)>> {
    let of_packages = packages.iter().map(|package| Known::of_package(package, &info(package, Path::new(""))));
    let known: Vec<_> = of_packages.chain(libraries.iter().map(Known::of_library)).collect();
    dependencies(packages, &known)
}

fn dependencies(packages: &[&Package], known: &[Known]) -> Vec<Vec<(String, VersionReq)>> {
    let identifiers: Vec<_> = packages.iter().map(|package| (&*package.name, &package.outline.mentions)).collect();
    let needed = needed(&identifiers, known);
    let each = packages.iter().zip(needed).map(|(package, needed)| {
        let mut dependencies = package.manifest.dependencies.clone();
        for Known { name, version, .. } in needed.into_iter().map(|at| &known[at]) {
            if dependencies.iter().all(|(other, _)| other != name) {
                dependencies.push((name.clone(), this(version)));
            }
        }
        dependencies
    });
    each.collect()
}

/// Returns the indices of the modules that each package requires. A package requires a module if the source of the package contains a name
/// of the module.
///
/// Type names are evaluated first. Names of enum entries and delegates may also be variables or functions of the package itself. Such a
/// name therefore adds no dependency on a module that already depends on the package.
fn needed(packages: &[(&str, &BTreeSet<String>)], modules: &[Known]) -> Vec<Vec<usize>> {
    let mut needs: Needs<'_> = Needs::new();
    for module in modules {
        needs.entry(&module.name).or_default().extend(module.needs.iter().map(|need| &**need));
    }
    let named = |needs: &Needs<'_>, package: &str, names: &dyn Fn(&Known) -> bool| {
        let is_named = |at: &usize| {
            let module = &modules[*at];
            module.name != package && names(module) && !depends_on(needs, &module.name, package)
        };
        (0..modules.len()).filter(is_named).collect::<Vec<_>>()
    };
    let by_type = |(package, words): &(&str, &BTreeSet<String>)| {
        named(&needs, package, &|module: &Known| !module.types.is_disjoint(words))
    };
    let mut found: Vec<_> = packages.iter().map(by_type).collect();
    for ((package, _), found) in packages.iter().zip(&found) {
        needs.entry(package).or_default().extend(found.iter().map(|at| &*modules[*at].name));
    }
    for ((package, words), found) in packages.iter().zip(&mut found) {
        let own = modules.iter().find(|module| module.name == *package).map(|module| &module.others);
        let is_own = |name: &String| own.is_some_and(|own| own.contains(name));
        let mentions = |module: &Known| module.others.intersection(words).any(|name| !is_own(name));
        let others = named(&needs, package, &mentions);
        needs.entry(package).or_default().extend(others.iter().map(|at| &*modules[*at].name));
        found.extend(others);
        found.sort_unstable();
        found.dedup();
    }
    found
}

type Needs<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Checks if the module `from` depends on the module `to`, directly or indirectly.
fn depends_on(needs: &Needs<'_>, from: &str, to: &str) -> bool {
    let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(name) = next.pop() {
        if name == to {
            return true;
        }
        if seen.insert(name) {
            next.extend(needs.get(name).into_iter().flatten());
        }
    }
    false
}

/// Returns the range of all versions from `version` on, because the range `*` would exclude pre-releases.
fn this(version: &Version) -> VersionReq {
    let Version { major, minor, patch, pre, .. } = version.clone();
    VersionReq {
        comparators: vec![Comparator { op: Op::GreaterEq, major, minor: Some(minor), patch: Some(patch), pre }],
    }
}

/// Creates a Master module for a package, with a gate and leases.
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

    use std::collections::BTreeSet;

    use super::{Known, names_of, needed, this};

    /// Parses a module for a test. For example, `cube: MagicCube, Spin + entry > scripts` describes a module with two types and one further
    /// name. The module depends on `scripts`.
    fn module(text: &str) -> Known {
        let list =
            |text: &str| text.split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect();
        let (name, rest) = text.split_once(':').expect("a name");
        let (names, needs) = rest.split_once('>').unwrap_or((rest, ""));
        let (types, others) = names.split_once('+').unwrap_or((names, ""));
        let paths: Vec<String> = list(types);
        let paths: Vec<_> = paths.iter().map(|ty| format!("/Script/{name}.{ty}")).collect();
        let others: Vec<String> = list(others);
        let (name, version) = (name.to_owned(), Version::new(1, 0, 0));
        Known { name, version, types: names_of(&paths), others: others.into_iter().collect(), needs: list(needs) }
    }

    fn check(package: &str, words: &str, modules: &[&str], expected: &str) {
        check_all(&[(package, words, expected)], modules);
    }

    /// Checks the dependencies of packages whose sources contain these identifiers.
    fn check_all(packages: &[(&str, &str, &str)], modules: &[&str]) {
        let modules: Vec<_> = modules.iter().map(|text| module(text)).collect();
        let words: Vec<BTreeSet<_>> =
            packages.iter().map(|(_, words, _)| words.split_whitespace().map(str::to_owned).collect()).collect();
        let identifiers: Vec<_> = packages.iter().zip(&words).map(|((name, ..), words)| (*name, words)).collect();
        for ((name, _, expected), found) in packages.iter().zip(needed(&identifiers, &modules)) {
            let found: Vec<_> = found.into_iter().map(|at| &*modules[at].name).collect();
            assert_eq!(found.join(" "), *expected, "{name}");
        }
    }

    #[test]
    fn a_package_needs_the_modules_whose_types_it_names() {
        check("tale", "class extends magiccube", &["cube: MagicCube", "lamp: Lamp", "tale: Tale"], "cube");
        check("tale", "tale", &["tale: Tale"], "");
        check("tale", "lamp magiccube", &["cube: MagicCube", "lamp: Lamp"], "cube lamp");
        check("tale", "tale lamp.tale", &["lamp: Lamp, Tale", "shade: Lamp"], "lamp");
    }

    #[test]
    fn a_module_that_needs_the_package_is_none_of_its_own_needs() {
        check("tale", "lamp", &["lamp: Lamp > tale", "tale: Tale"], "");
        check("tale", "lamp shade", &["lamp: Lamp > shade", "shade: Shade > tale", "tale: Tale"], "");
        check("tale", "lamp", &["lamp: Lamp > shade", "shade: Shade > lamp", "tale: Tale"], "lamp");
    }

    #[test]
    fn enum_entries_are_dependencies_unless_types_disagree() {
        check("tale", "m_b", &["cube: Mode + m_a, m_b"], "cube");
        check("tale", "lamp.mode", &["cube: Mode + m_a", "lamp: Mode"], "lamp");
        check("tale", "m_b lamp", &["cube: Mode + m_a, m_b", "tale: Tale + m_b, lamp", "lamp: Lamp"], "lamp");
        let modules = ["lamp: Lamp + idle", "tale: Tale + busy"];
        check_all(&[("lamp", "tale", "tale"), ("tale", "idle", "")], &modules);
        check_all(&[("lamp", "busy", "tale"), ("tale", "idle", "")], &modules);
    }

    #[test]
    fn the_derived_range_accepts_the_present_version_including_prereleases() {
        for version in ["1.2.3", "0.1.0-beta.2", "1.0.0-alpha"] {
            let version: Version = version.parse().expect("a version");
            assert!(this(&version).matches(&version), "{version}");
        }
    }
}
