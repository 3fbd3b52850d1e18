//! Finds types and functions by name. Searches a generation's own and borrowed modules, and then the Default. If the name contains the
//! name of a module, searches only this module, which is found in the same way as a dependency. Also finds dependencies of the Master in
//! the Default.

use std::sync::Arc;

use semver::VersionReq;

use crate::bridge::exports::ModuleExport;
use crate::lease::Leases;
use crate::load::context::free_generation::{FreeGeneration, Target};
use crate::load::context::free_module::FreeModule;
use crate::load::context::identity::TypeRef;
use crate::load::context::info::{ContextInfo, ModuleSummary};
use crate::load::context::loading;
use crate::load::context::registry::ContextRegistry;
use crate::load::context::resolve::{Guidance, Step, steps};
use crate::load::context::resolvers::ModuleRequest;
use crate::load::context::search::{Answer, search};
use crate::load::context::type_name::TypeName;
use crate::load::context_id::{ContextKind, title};
use crate::load::error::LoadError;
use crate::load::error::context::{Attempt, ContextError};

/// Finds a function for `generation` by type and method; see [`TypeName`] for the forms of type names. If the type name contains a module
/// that is not loaded, finds and loads the module like a dependency. Returns an error if no module or more than one module offers the
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
    let name = TypeName::read(type_path).map_err(&no_such)?;
    let mut offered = Vec::new();
    let is_meant = |export: &ModuleExport| *export.name == *method && name.is(&export.type_path);
    let held = |step| match step {
        Step::Own => Ok(generation.held()),
        _ => Ok(registry()?.default_generation().held()),
    };
    let named = |module: &str| named(generation, &registry, module);
    let mut found = first(&name, generation.kind, named, held, |step, held| {
        let exports = held
            .iter()
            .flat_map(|module| module.exports.iter().enumerate().map(move |(at, export)| (module, at, export)));
        let full: Vec<_> = exports.clone().map(|(_, _, export)| &*export.full).collect();
        offered.extend(describe_available(&name, step, "offers", &full));
        exports.filter(|(_, _, export)| is_meant(export)).map(|(module, at, _)| (Arc::clone(module), at)).collect()
    })?;
    let full = |(module, at): &(Arc<FreeModule>, usize)| module.exports[*at].full.to_string();
    let (module, at) = match found.len() {
        1 => found.remove(0),
        0 => return Err(no_such(offered.join("; "))),
        _ => {
            let full: Vec<_> = found.iter().map(full).collect();
            return Err(no_such(format!("name one of {}, as `module::Type`", full.join(", "))));
        }
    };
    let owner = match module.context {
        own if own == generation.id => Arc::clone(generation),
        // The dependent module keeps the generation of its dependency alive.
        other => registry()?.generation(other).ok_or_else(|| no_such("the context that offers it is gone".into()))?,
    };
    let target = generation.target(&owner, &module, at).filter(Target::is_complete);
    target.ok_or_else(|| no_such("the module that offers it is gone".into()))
}

/// Finds a type for `generation`. Returns an error if no module or more than one module has the type, if the named module is
/// not found, or if the context is unloading.
pub(super) fn type_of(
    generation: &Arc<FreeGeneration>,
    registry: &Arc<ContextRegistry>,
    path: &str,
) -> Result<TypeRef, ContextError> {
    let own = || summaries(&generation.held());
    let named = |module: &str| Ok(named(generation, &|| Ok(Arc::clone(registry)), module)?.summary());
    find_type(registry, (generation.title(), generation.kind), path, own, named)
}

/// Finds a type for a context from a snapshot of the context. Used for the Master. Searches the modules of the snapshot, then the Default.
/// Returns the errors of [`type_of`].
pub(super) fn type_in_picture(
    registry: &Arc<ContextRegistry>,
    info: &ContextInfo,
    path: &str,
) -> Result<TypeRef, ContextError> {
    let context = title(info.kind, &info.name);
    let named = |module: &str| match info.modules.iter().find(|known| known.name == module) {
        Some(known) => Ok(known.clone()),
        None => {
            let request = request(registry, &context, module, None);
            Ok(from_default(registry, &request, "did not have it".into())?.summary())
        }
    };
    find_type(registry, (context.clone(), info.kind), path, || info.modules.clone(), named)
}

fn find_type(
    registry: &ContextRegistry,
    (context, kind): (String, ContextKind),
    path: &str,
    own: impl Fn() -> Vec<ModuleSummary>,
    named: impl FnOnce(&str) -> Result<ModuleSummary, ContextError>,
) -> Result<TypeRef, ContextError> {
    let no_such = |known: String| ContextError::NoSuchType { context: context.clone(), path: path.to_owned(), known };
    let name = TypeName::read(path).map_err(&no_such)?;
    let held = |step| match step {
        Step::Own => Ok(own()),
        _ => Ok(summaries(&registry.default_generation().held())),
    };
    let mut known = Vec::new();
    let mut found = first(&name, kind, named, held, |step, held| {
        let types = held.iter().flat_map(|module| module.types.iter().map(move |declared| (module, declared)));
        let all: Vec<_> = types.clone().map(|(_, declared)| declared.as_str()).collect();
        known.extend(describe_available(&name, step, "has", &all));
        let meant = types.filter(|(_, declared)| name.is(declared));
        meant.map(|(module, declared)| (declared.clone(), module.clone())).collect()
    })?;
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

fn summaries(held: &[Arc<FreeModule>]) -> Vec<ModuleSummary> {
    held.iter().map(|module| module.summary()).collect()
}

/// Module of the Default that a module of the Master depends on.
pub(crate) struct BorrowedModule {
    pub name: String,
    pub leases: Arc<Leases>,
}

/// Returns a module of the Default that a module of the Master depends on. The caller has already searched the modules of the
/// Master. Returns an error if the Default lacks the module, if the version differs, or if a resolver or handler of the Default fails.
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

/// Creates a request that the Default resolves for the context with the name `context`.
fn request(registry: &ContextRegistry, context: &str, name: &str, needed_by: Option<&str>) -> ModuleRequest {
    let request = registry.default_generation().request(name, &VersionReq::STAR, needed_by);
    ModuleRequest { context: context.to_owned(), ..request }
}

/// Finds a module for the Master in the Default. Calls the resolver and the handlers of the Default, since the Master has neither. If they
/// return a library, loads the library into the Default.
fn from_default(
    registry: &ContextRegistry,
    request: &ModuleRequest,
    own: String,
) -> Result<Arc<FreeModule>, ContextError> {
    let default = registry.default_generation();
    match search(registry, &default, request) {
        Ok(Answer::Module(module)) => Ok(module),
        Ok(Answer::Library(library)) => loading::load(registry, &default, *library, None),
        Err(ContextError::NotFound { .. }) => {
            let trace = vec![Attempt::new("its own modules", own), Attempt::new("Default", "did not have it")];
            Err(ContextError::NotFound { context: request.context.clone(), request: request.to_string(), trace })
        }
        Err(error) => Err(error),
    }
}

/// Returns the module with this name for a generation. If the module is not loaded, finds and loads the module.
fn named(
    generation: &Arc<FreeGeneration>,
    registry: &impl Fn() -> Result<Arc<ContextRegistry>, ContextError>,
    name: &str,
) -> Result<Arc<FreeModule>, ContextError> {
    match generation.find(name) {
        Some(module) => Ok(module),
        None => loading::load_name(&*registry()?, generation, name, &VersionReq::STAR),
    }
}

/// Calls `pick` with the module that `name` contains. If `name` contains no module, calls `pick` with the modules of each search step.
/// Returns the first nonempty result of `pick`.
fn first<M, T>(
    name: &TypeName<'_>,
    kind: ContextKind,
    named: impl FnOnce(&str) -> Result<M, ContextError>,
    held: impl Fn(Step) -> Result<Vec<M>, ContextError>,
    mut pick: impl FnMut(Step, &[M]) -> Vec<T>,
) -> Result<Vec<T>, ContextError> {
    if let Some(module) = name.module {
        return Ok(pick(Step::Own, &[named(module)?]));
    }
    // Calls no resolvers and handlers, because these functions search by module name.
    for step in steps(Guidance { is_default: kind == ContextKind::Default, ..Guidance::default() }) {
        let found = pick(step, &held(step)?);
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// Describes the types or functions that exist in a search step. Returns `None` for the step of the Default if the list `all` is empty.
fn describe_available(name: &TypeName<'_>, step: Step, has: &str, all: &[&str]) -> Option<String> {
    let owner = name.module.unwrap_or(if step == Step::Default { "Default" } else { "it" });
    match (all.is_empty(), name.module, step) {
        (false, ..) => Some(format!("{owner} {has} {}", all.join(", "))),
        (true, None, Step::Default) => None,
        (true, ..) => Some(format!("{owner} {has} none")),
    }
}
