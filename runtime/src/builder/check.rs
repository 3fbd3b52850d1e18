//! Checks script packages against the types of the host, without loading a package. Used by `alcedo check` and by tools that read
//! declarations. If the packages use plugin libraries, the check reads the library files but does not map them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use semver::{Version, VersionReq};

use crate::emit::c_bodies::Layouts;
use crate::emit::error::EmitError;
use crate::emit::order::{ModuleNeeds, batches};
use crate::emit::scripts::{check_and_declare, declare_library};
use crate::load::declared::{ScriptCheck, of_package};
use crate::load::module::info::ManifestInfo;
use crate::load::open::scripts::dependencies_among;
use crate::load::order::{OrderError, find_needed};
use crate::object::World;
use crate::object::decl::Batch;
use crate::object::path::TypePath;
use crate::script::package::Package;

/// Script package, and the index of its path in the argument list.
struct Script {
    at: usize,
    folder: PathBuf,
    package: Package,
    needs: Vec<(String, VersionReq)>,
}

struct Library {
    at: usize,
    path: PathBuf,
    info: ManifestInfo,
    batch: Batch,
}

/// Checks the script packages among these modules, in dependency order. The results include a library only if the library cannot be read or
/// declared.
pub(super) fn check(world: &World, modules: &[PathBuf], layouts: &Layouts) -> Vec<ScriptCheck> {
    // Ignores a name conflict here, because the load of a package reports the conflict.
    let _declared = declare_library(world);
    let (mut found, mut scripts, mut libraries) = (Vec::new(), Vec::new(), Vec::new());
    for (at, path) in modules.iter().enumerate() {
        // Treats a missing path as a package folder, so the check reports an invalid folder.
        if path.is_file() {
            match ManifestInfo::peek_declarations(path) {
                Ok((info, found)) => libraries.push(Library { at, path: path.clone(), info, batch: found.batch }),
                Err(error) => found.push((at, refused(path, &error.to_string()))),
            }
        } else {
            match Package::read_partial(path) {
                Ok((package, _)) => scripts.push(Script { at, folder: path.clone(), package, needs: Vec::new() }),
                Err(error) => found.push((at, refused(path, &error.to_string()))),
            }
        }
    }
    let packages: Vec<_> = scripts.iter().map(|script| &script.package).collect();
    let infos: Vec<_> = libraries.iter().map(|library| library.info.clone()).collect();
    let needs = dependencies_among(&packages, &infos);
    scripts.iter_mut().zip(needs).for_each(|(script, needs)| script.needs = needs);
    // Descriptions of modules with errors, by the lower-case names that these modules declare.
    let mut wrong = HashMap::new();
    for batch in in_order(&scripts, &libraries) {
        let (of_scripts, of_libraries): (Vec<_>, Vec<_>) = batch.into_iter().partition(|at| *at < scripts.len());
        let group: Vec<_> = of_libraries.iter().map(|at| &libraries[at - scripts.len()]).collect();
        if let Err(error) = declare(world, &group)
            && let Some(first) = group.first()
        {
            found.push((first.at, refused(&first.path, &error)));
            for library in group {
                let of = format!("the plugin `{}`", library.info.name);
                let names = library.info.types.iter().filter_map(|path| path.rsplit_once('.'));
                wrong.extend(names.map(|(_, name)| (name.to_ascii_lowercase(), of.clone())));
            }
        }
        // A batch with several packages is a dependency cycle. The first package of such a batch therefore reports unresolved names.
        for script in of_scripts.into_iter().map(|at| &scripts[at]) {
            let versions = out_of_range(script, &scripts, &libraries);
            let check = checked(world, script, versions, (&wrong, layouts));
            if check.declared.is_err() {
                let of = format!("the package `{}`", script.package.name);
                wrong.extend(script.package.outline.names.iter().map(|name| (name.clone(), of.clone())));
            }
            found.push((script.at, check));
        }
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, check)| check).collect()
}

/// Returns batches of module indices in dependency order. Indices below `scripts.len()` refer to packages. All higher indices refer to
/// libraries.
fn in_order(scripts: &[Script], libraries: &[Library]) -> Vec<Vec<usize>> {
    let needs =
        scripts.iter().map(|script| &script.needs).chain(libraries.iter().map(|found| &found.info.dependencies));
    let needs: Vec<Vec<&str>> = needs.map(|needs| needs.iter().map(|(name, _)| &**name).collect()).collect();
    let names = scripts.iter().map(|script| (&*script.package.name, true));
    let names = names.chain(libraries.iter().map(|found| (&*found.info.name, false)));
    let module_needs = names.zip(&needs).map(|((name, is_script), needs)| ModuleNeeds { name, is_script, needs });
    batches(&module_needs.collect::<Vec<_>>())
}

fn declare(world: &World, libraries: &[&Library]) -> Result<(), String> {
    let mut batch = Batch::default();
    for library in libraries {
        library.info.types.iter().filter_map(|path| path.parse::<TypePath>().ok()).for_each(|path| {
            world.types.declare_package(&path.package);
        });
        batch.append(library.batch.clone());
    }
    let modules = libraries.iter().map(|library| &*library.info.name).collect::<Vec<_>>().join(", ");
    let failed = |source| EmitError::Declare { modules, source }.to_string();
    world.types.declare(&world.names, &batch).map(drop).map_err(failed)
}

/// Returns an error for the first dependency in `package.toml` that is missing, or whose version does not match.
fn out_of_range(script: &Script, scripts: &[Script], libraries: &[Library]) -> Option<OrderError> {
    let of_scripts = scripts.iter().map(|script| (&*script.package.name, &script.package.manifest.version));
    let offered = of_scripts.chain(libraries.iter().map(|found| (&*found.info.name, &found.info.version)));
    let Package { name, manifest, .. } = &script.package;
    manifest.dependencies.iter().find_map(|need| find_needed(name, need, offered.clone()).err())
}

fn checked(
    world: &World,
    script: &Script,
    versions: Option<OrderError>,
    (wrong, layouts): (&HashMap<String, String>, &Layouts),
) -> ScriptCheck {
    let Script { folder, package, needs, .. } = script;
    world.types.declare_package(&package.name);
    let (declared, warnings) = match (check_and_declare(world, package, wrong, layouts), versions) {
        (Ok(found), None) => (Ok(of_package(world, &package.name)), found.warnings),
        (Ok(_), Some(error)) => (Err(error.to_string()), String::new()),
        (Err(error), _) => (Err(error.to_string()), String::new()),
    };
    ScriptCheck {
        folder: folder.clone(),
        package: package.name.clone(),
        version: package.manifest.version.clone(),
        dependencies: needs.clone(),
        files: package.sources.len(),
        declared,
        warnings,
    }
}

/// Returns the result for a module that could not be read.
fn refused(path: &Path, error: &str) -> ScriptCheck {
    ScriptCheck {
        folder: path.to_owned(),
        package: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        version: Version::new(0, 0, 0),
        dependencies: Vec::new(),
        files: 0,
        declared: Err(error.to_owned()),
        warnings: String::new(),
    }
}
