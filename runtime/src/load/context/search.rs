//! Searches for a module by name, in the order that `resolve.rs` defines. Checks the modules that resolvers return.

use std::path::PathBuf;
use std::sync::Arc;

use crate::callback::Share;
use crate::load::context::free_generation::FreeGeneration;
use crate::load::context::free_module::FreeModule;
use crate::load::context::in_progress;
use crate::load::context::loading::{self, Library};
use crate::load::context::registry::ContextRegistry;
use crate::load::context::resolve::{Guidance, Step, steps, will_do};
use crate::load::context::resolvers::{FoundModule, ModuleRequest, ModuleResolver, call_resolver};
use crate::load::context::waits::Sort;
use crate::load::context_id::ContextKind;
use crate::load::error::context::{Attempt, ContextError};

pub(super) enum Answer {
    Module(Arc<FreeModule>),
    /// Library that the caller must load into this context.
    Library(Box<Library>),
}

/// Searches for the requested module. Returns an error if no step finds the module, if the found module is invalid, or if a resolver fails.
pub(super) fn search(
    registry: &ContextRegistry,
    generation: &Arc<FreeGeneration>,
    request: &ModuleRequest,
) -> Result<Answer, ContextError> {
    if let Some(answer) = known(generation, request)? {
        return Ok(answer);
    }
    // Waits while a concurrent thread loads the module. The first step then finds the loaded module.
    let _asking = in_progress::begin(Sort::Asking, &[generation.module_work(&request.name)])?;
    let (resolver, handlers) = generation.resolvers.of_modules();
    let guidance = Guidance {
        is_default: generation.kind == ContextKind::Default,
        has_resolver: resolver.is_some(),
        handlers: handlers.len(),
    };
    let ask = |source: String, resolver: Option<&Share<ModuleResolver>>| {
        let found = resolver.map(|resolver| put(registry, generation, &source, resolver, request)).transpose()?;
        Ok::<_, ContextError>((source, found.flatten()))
    };
    let mut trace = Vec::new();
    for step in steps(guidance) {
        let mut outcome = "did not have it".to_owned();
        let (source, found) = match step {
            Step::Own => ("its own modules".to_owned(), known(generation, request)?),
            Step::Resolver => ask("the resolver".to_owned(), resolver.as_ref())?,
            Step::Default => {
                let found = match in_default(registry, request) {
                    // Continues after a version mismatch, because a handler may find a matching version for this context.
                    Err(ContextError::VersionMismatch { name, found, .. }) if name == request.name => {
                        outcome = format!("has {name} {found}");
                        None
                    }
                    other => other?,
                };
                // Accepts any version that the resolver of the Default has returned, like a version of the context's own resolver.
                if let Some(Answer::Module(module)) = &found {
                    grant(generation, request, &module.info().version);
                }
                ("Default".to_owned(), found)
            }
            Step::Handler(at) => ask(format!("handler {}", at + 1), handlers.get(at))?,
        };
        if let Some(answer) = found {
            return Ok(answer);
        }
        trace.push(Attempt::new(source, outcome));
    }
    Err(ContextError::NotFound { context: generation.title(), request: request.to_string(), trace })
}

/// Searches the generation's own and borrowed modules.
fn known(generation: &FreeGeneration, request: &ModuleRequest) -> Result<Option<Answer>, ContextError> {
    let Some(module) = generation.find(&request.name) else { return Ok(None) };
    let found = module.info().version.clone();
    if !will_do(&found, &request.range, &generation.granted(&request.name)) {
        return Err(ContextError::VersionMismatch {
            context: generation.title(),
            name: request.name.clone(),
            found,
            requested: request.range.clone(),
        });
    }
    Ok(Some(Answer::Module(module)))
}

/// Searches the Default. First searches the modules of the Default, then calls the resolver of the Default. If the resolver returns a
/// library, loads the library into the Default. Returns an error if the version does not match, or if the resolver fails.
fn in_default(registry: &ContextRegistry, request: &ModuleRequest) -> Result<Option<Answer>, ContextError> {
    let generation = &registry.default_generation();
    if let Some(answer) = known(generation, request)? {
        return Ok(Some(answer));
    }
    let _asking = in_progress::begin(Sort::Asking, &[generation.module_work(&request.name)])?;
    if let Some(answer) = known(generation, request)? {
        return Ok(Some(answer));
    }
    let (Some(resolver), _handlers) = generation.resolvers.of_modules() else { return Ok(None) };
    match put(registry, generation, "the resolver", &resolver, request)? {
        Some(Answer::Library(library)) => {
            Ok(Some(Answer::Module(loading::load(registry, generation, *library, None)?)))
        }
        other => Ok(other),
    }
}

fn put(
    registry: &ContextRegistry,
    generation: &Arc<FreeGeneration>,
    source: &str,
    resolver: &Share<ModuleResolver>,
    request: &ModuleRequest,
) -> Result<Option<Answer>, ContextError> {
    let context = generation.title();
    let Some(found) = call_resolver(&context, source, &request.name, || resolver(request))? else { return Ok(None) };
    // Checks the generation again, because the resolver or a concurrent thread may have started the unload.
    generation.expect_unsealed(|| format!("loading {}", request.name))?;
    let is_named = |name: &str| match name == request.name {
        true => Ok(()),
        false => Err(ContextError::ResolverWrongName {
            context: context.clone(),
            resolver: source.to_owned(),
            requested: request.name.clone(),
            found: name.to_owned(),
        }),
    };
    let library = match found {
        FoundModule::File(path) => Library::read(&path, &registry.stage_dir)?,
        FoundModule::Bytes { image, symbols } => {
            Library::from_bytes(&format!("the answer of {source}"), &image, symbols, &registry.stage_dir)?
        }
        FoundModule::Loaded(summary) => {
            is_named(&summary.name)?;
            let Some(module) = registry.module(&summary) else {
                let resolver = source.to_owned();
                if registry.masters.has(&summary) {
                    return Err(ContextError::MasterModule { context, resolver, module: summary.to_string() });
                }
                let module = format!("{summary} of context {}", summary.context);
                return Err(ContextError::ForeignModule { context, resolver, module });
            };
            // A context that no longer exists was collectible.
            let is_collectible = registry.generation(summary.context).is_none_or(|owner| owner.kind.is_collectible());
            if is_collectible && !generation.kind.is_collectible() {
                return Err(ContextError::PinnedDependsOnCollectible {
                    context,
                    module: request.needed_by.clone().unwrap_or_else(|| request.name.clone()),
                    dependency: summary.name.clone(),
                    collectible: registry.title_of(summary.context),
                });
            }
            let lending = || format!("lending {} to {}", summary.name, request.context);
            registry.generation(summary.context).map_or(Ok(()), |owner| owner.expect_unsealed(lending))?;
            grant(generation, request, &module.info().version);
            if summary.context != generation.id {
                // Claims the name, because a context has one module per name. A concurrent thread may be loading a module with this name.
                let _claimed = in_progress::begin(Sort::Claiming, &[generation.module_work(&request.name)])?;
                if let Some(answer) = known(generation, request)? {
                    return Ok(Some(answer));
                }
                generation.borrow(&module)?;
            }
            return Ok(Some(Answer::Module(module)));
        }
    };
    is_named(&library.info.name)?;
    grant(generation, request, &library.info.version);
    Ok(Some(Answer::Library(Box::new(library.found_for(&request.range)))))
}

/// If the version is outside of the requested range, records that a resolver has returned the version for the range.
fn grant(generation: &FreeGeneration, request: &ModuleRequest, found: &semver::Version) {
    if !request.range.matches(found) {
        generation.grant(&request.name, &request.range);
    }
}

pub(super) fn name_of_bytes(name: &str) -> PathBuf {
    PathBuf::from(format!("<{name}>"))
}
