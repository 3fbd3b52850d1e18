//! Finds types and functions in the search order of modules: own and borrowed modules, the resolver, the Default, the
//! handlers. Also finds dependencies of the Master in the Default.

use std::sync::Arc;

use semver::VersionReq;

use crate::lease::Leases;
use crate::load::context::free_generation::{FreeGeneration, Target};
use crate::load::context::free_module::{FreeExport, FreeModule};
use crate::load::context::identity::TypeRef;
use crate::load::context::info::{ContextInfo, ModuleSummary};
use crate::load::context::loading;
use crate::load::context::registry::ContextRegistry;
use crate::load::context::resolve::{Guidance, Step, after};
use crate::load::context::resolvers::ModuleRequest;
use crate::load::context::search::{Answer, in_default};
use crate::load::context::type_name::TypeName;
use crate::load::context_id::{ContextId, ContextKind, title};
use crate::load::error::LoadError;
use crate::load::error::context::{Attempt, ContextError};

/// Finds a function for `generation` by type and method; see [`TypeName`] for the forms of type names. If the name contains a module that
/// is not loaded, searches and loads the module like a dependency. Returns an error if no module or more than one module offers the
/// function, if the named module is not found, or if the context is unloading.
pub(super) fn function(
    generation: &Arc<FreeGeneration>,
    registry: impl Fn() -> Result<Arc<ContextRegistry>, ContextError>,
    type_path: &str,
    method: &str,
) -> Result<Target, ContextError> {
    let no_such = |offered: String| ContextError::NoSuchFunction {
        context: generation.title(),
        function: format!("{type_path}:{method}"),
        offered,
    };
    let name = TypeName::read(type_path).map_err(|error| no_such(error.to_string()))?;
    let mut offered = Vec::new();
    let is_meant = |export: &FreeExport| *export.name == *method && name.is(&export.type_path);
    let mut found = first(generation, &registry, &name, |step, held| {
        let mut found = Vec::new();
        let mut full = Vec::new();
        for (module, owner) in held {
            for (at, export) in module.exports().iter().enumerate() {
                if is_meant(export) {
                    found.push((Arc::clone(module), *owner, at));
                }
                full.push(&*export.full);
            }
        }
        offered.extend(describe_available(&name, step, "offers", &full));
        found
    })?;
    let full = |(module, _, at): &(Arc<FreeModule>, ContextId, usize)| module.exports()[*at].full.to_string();
    let (module, owner, at) = match found.len() {
        1 => found.remove(0),
        0 => return Err(no_such(offered.join("; "))),
        _ => {
            let full: Vec<_> = found.iter().map(full).collect();
            return Err(no_such(format!("name one of {}, as `module::Type`", full.join(", "))));
        }
    };
    let owner = match owner == generation.id {
        true => Arc::clone(generation),
        // The generation of a dependency exists: the dependent module keeps that generation alive.
        false => registry()?.generation(owner).ok_or_else(|| no_such("the context that offers it is gone".into()))?,
    };
    generation.target(&owner, &module, at).ok_or_else(|| no_such("the module that offers it is gone".into()))
}

/// Finds a type for `generation`. Returns an error if no module or more than one module has the type, if the named module is
/// not found, or if the context is unloading.
pub(super) fn type_of(
    generation: &Arc<FreeGeneration>,
    registry: &Arc<ContextRegistry>,
    path: &str,
) -> Result<TypeRef, ContextError> {
    let (context, name) = (generation.title(), read(path, || generation.title())?);
    let mut known = Vec::new();
    let found = first(generation, &|| Ok(Arc::clone(registry)), &name, |step, held| {
        let summaries: Vec<_> = held.iter().map(|(module, _)| module.summary()).collect();
        types_in(step, &summaries, &name, &mut known)
    })?;
    one_of(registry, context, path, found, &known)
}

/// Finds a type for a context of which only a snapshot is available, such as the Master. Searches the modules of the snapshot, then the
/// Default. Returns the errors of [`type_of`].
pub(super) fn type_in_picture(
    registry: &Arc<ContextRegistry>,
    info: &ContextInfo,
    path: &str,
) -> Result<TypeRef, ContextError> {
    let context = title(info.kind, &info.name);
    let name = read(path, || context.clone())?;
    let mut known = Vec::new();
    let mut found = Vec::new();
    let mut step = Step::Own;
    while found.is_empty() && step != Step::NotFound {
        let held = match (step, name.module) {
            (Step::Own, Some(module)) => info.modules.iter().filter(|known| known.name == module).cloned().collect(),
            (Step::Own, None) => info.modules.clone(),
            (Step::Default, Some(module)) => {
                vec![
                    from_default(registry, &request(registry, &context, module, None), "did not have it".into())?
                        .summary(),
                ]
            }
            (_, None) => registry.default_generation().held().iter().map(|(module, _)| module.summary()).collect(),
            (_, Some(_)) => Vec::new(),
        };
        found = types_in(step, &held, &name, &mut known);
        // If the named module is present, the search ends, even if the module lacks the type.
        if name.module.is_some() && !held.is_empty() {
            break;
        }
        step = after(step, Guidance::of_modules_only(false));
    }
    one_of(registry, context, path, found, &known)
}

/// Module of the Default that a module of the Master depends on.
pub(crate) struct BorrowedModule {
    pub name: String,
    pub leases: Arc<Leases>,
}

/// Returns a module of the Default that a module of the Master depends on. The caller has already searched the modules of the
/// Master. Returns an error if the Default lacks the module, if the version differs, or if the Default's resolver fails.
pub(crate) fn borrow_for_master(
    registry: &ContextRegistry,
    needed_by: &str,
    name: &str,
    range: &VersionReq,
    own: String,
) -> Result<BorrowedModule, LoadError> {
    let request = ModuleRequest { range: range.clone(), ..request(registry, "Master", name, Some(needed_by)) };
    let module = from_default(registry, &request, own).map_err(|error| LoadError::Dependency(Box::new(error)))?;
    Ok(BorrowedModule { name: module.name().to_owned(), leases: Arc::clone(module.leases()) })
}

/// Creates a request for a context of which only a snapshot is available. The Default searches for the module.
fn request(registry: &ContextRegistry, context: &str, name: &str, needed_by: Option<&str>) -> ModuleRequest {
    let request = registry.default_generation().request(name, &VersionReq::STAR, needed_by);
    ModuleRequest { context: context.to_owned(), ..request }
}

fn from_default(
    registry: &ContextRegistry,
    request: &ModuleRequest,
    own: String,
) -> Result<Arc<FreeModule>, ContextError> {
    if let Some(Answer::Module(module, _)) = in_default(registry, request)? {
        return Ok(module);
    }
    let trace = vec![Attempt::new("its own modules", own), Attempt::new("Default", "did not have it")];
    Err(ContextError::NotFound { context: request.context.clone(), request: request.to_string(), trace })
}

/// Passes the modules of each search step to `pick`. Returns the first nonempty results of `pick`.
fn first<T>(
    generation: &Arc<FreeGeneration>,
    registry: &impl Fn() -> Result<Arc<ContextRegistry>, ContextError>,
    name: &TypeName<'_>,
    mut pick: impl FnMut(Step, &[(Arc<FreeModule>, ContextId)]) -> Vec<T>,
) -> Result<Vec<T>, ContextError> {
    if let Some(module) = name.module {
        let held = match generation.find(module) {
            Some(held) => held,
            None => {
                let module = loading::load_name(&*registry()?, generation, module, &VersionReq::STAR)?;
                let owner = module.summary().context;
                (module, owner)
            }
        };
        return Ok(pick(Step::Own, &[held]));
    }
    let guidance = Guidance::of_modules_only(generation.kind == ContextKind::Default);
    let mut step = Step::Own;
    while step != Step::NotFound {
        let held = match step {
            Step::Own => generation.held(),
            _ => registry()?.default_generation().held(),
        };
        let found = pick(step, &held);
        if !found.is_empty() {
            return Ok(found);
        }
        step = after(step, guidance);
    }
    Ok(Vec::new())
}

fn read<'a>(path: &'a str, context: impl FnOnce() -> String) -> Result<TypeName<'a>, ContextError> {
    TypeName::read(path).map_err(|error| ContextError::NoSuchType {
        context: context(),
        path: path.to_owned(),
        known: error.to_string(),
    })
}

/// Returns the types of these modules that match the name. Adds a description of all types that the modules have to `known`.
fn types_in(
    step: Step,
    held: &[ModuleSummary],
    name: &TypeName<'_>,
    known: &mut Vec<String>,
) -> Vec<(String, ModuleSummary)> {
    let mut found = Vec::new();
    for module in held.iter().filter(|module| name.may_be_in(&module.name)) {
        let meant = module.types.iter().filter(|declared| name.is(declared));
        found.extend(meant.map(|declared| (declared.clone(), module.clone())));
    }
    let all: Vec<_> = held.iter().flat_map(|module| &module.types).map(String::as_str).collect();
    known.extend(describe_available(name, step, "has", &all));
    found
}

/// Describes the types or functions that exist in a search step. Returns `None` if the step is the Default and the Default has none.
fn describe_available(name: &TypeName<'_>, step: Step, has: &str, all: &[&str]) -> Option<String> {
    let owner = name.module.unwrap_or(if step == Step::Default { "Default" } else { "it" });
    match (all.is_empty(), name.module, step) {
        (false, ..) => Some(format!("{owner} {has} {}", all.join(", "))),
        (true, None, Step::Default) => None,
        (true, ..) => Some(format!("{owner} {has} none")),
    }
}

fn one_of(
    registry: &ContextRegistry,
    context: String,
    path: &str,
    mut found: Vec<(String, ModuleSummary)>,
    known: &[String],
) -> Result<TypeRef, ContextError> {
    let no_such = |known: String| ContextError::NoSuchType { context, path: path.to_owned(), known };
    match found.len() {
        1 => {
            let (path, module) = found.remove(0);
            Ok(TypeRef { context: registry.title_of(module.context), path, module })
        }
        0 => Err(no_such(known.join("; "))),
        _ => {
            let modules: Vec<_> = found.iter().map(|(_, module)| module.to_string()).collect();
            Err(no_such(format!("{} have one: say which, as `module::Type`", modules.join(" and "))))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::types_in;
    use crate::load::context::info::ModuleSummary;
    use crate::load::context::resolve::Step;
    use crate::load::context::type_name::TypeName;
    use crate::load::context_id::ContextId;

    #[test]
    fn a_type_is_found_by_module_path_and_bare_name() {
        let id = ContextId { index: 2, generation: 1 };
        let module = |name: &str, types: &[&str]| ModuleSummary {
            name: name.to_owned(),
            version: semver::Version::new(1, 0, 0),
            build_id: 0xb,
            context: id,
            origin: None,
            image: PathBuf::new(),
            types: types.iter().map(|ty| (*ty).to_owned()).collect(),
        };
        let held = [module("a", &["/Script/Game.Cube", "Sum"]), module("b", &["Sum"])];
        let check = |path: &str, expected: &[&str]| {
            let mut known = Vec::new();
            let found = types_in(Step::Own, &held, &TypeName::read(path).expect(path), &mut known);
            let found: Vec<_> = found.iter().map(|(path, module)| format!("{} {path}", module.name)).collect();
            assert_eq!(found, expected, "{path}");
            let owner = if path.contains(':') { "b" } else { "it" };
            assert_eq!(known, [format!("{owner} has /Script/Game.Cube, Sum, Sum")], "{path}");
        };
        check("Cube", &["a /Script/Game.Cube"]);
        check("Game.Cube", &["a /Script/Game.Cube"]);
        for name in ["b::Sum", "b:Sum"] {
            check(name, &["b Sum"]);
        }
        check("Sum", &["a Sum", "b Sum"]);
        check("Prism", &[]);
    }
}
