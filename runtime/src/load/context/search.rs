//! Looks a module's name up: asks whom `resolve` names, and checks what they answer.

use std::path::PathBuf;
use std::sync::Arc;

use crate::callback::Share;
use crate::load::context::error::{Attempt, ContextError};
use crate::load::context::free_module::FreeModule;
use crate::load::context::guides::{FoundModule, ModuleRequest, ModuleResolver, ask};
use crate::load::context::hub::Hub;
use crate::load::context::id::{ContextId, ContextKind, ModuleSummary};
use crate::load::context::loading::{self, Library};
use crate::load::context::resolve::{Guidance, Step, after, will_do};
use crate::load::context::space::Space;
use crate::load::context::under_way;
use crate::load::context::waits::Sort;

/// What a name stands for.
pub(super) enum Answer {
    /// A module that is loaded, and where.
    Module(Arc<FreeModule>, ContextId),
    /// A library that is still to be loaded, here.
    Library(Box<Library>),
}

/// Looks up `request` for `space`.
///
/// # Errors
/// When nobody knows it, an answer is wrong, or a resolver fails.
pub(super) fn search(hub: &Hub, space: &Arc<Space>, request: &ModuleRequest) -> Result<Answer, ContextError> {
    if let Some(answer) = known(space, request)? {
        return Ok(answer);
    }
    // Another thread may be bringing it up: then it is known afterwards.
    let _asking = under_way::begin(Sort::Asking, &[space.module_work(&request.name)])?;
    let (resolver, handlers) = space.guides.of_modules();
    let guidance = Guidance {
        is_default: space.kind == ContextKind::Default,
        has_resolver: resolver.is_some(),
        handlers: handlers.len(),
    };
    let mut trace = Vec::new();
    let mut step = Step::Own;
    loop {
        let (who, found) = match step {
            Step::Own => ("own modules".to_owned(), known(space, request)?),
            Step::Resolver => {
                let who = "the resolver".to_owned();
                let found = resolver.as_ref().map(|resolver| put(hub, space, &who, resolver, request)).transpose()?;
                (who, found.flatten())
            }
            Step::Default => ("Default".to_owned(), in_default(hub, request)?),
            Step::Handler(at) => {
                let who = format!("handler {}", at + 1);
                let found = handlers.get(at).map(|handler| put(hub, space, &who, handler, request)).transpose()?;
                (who, found.flatten())
            }
            Step::NotFound => {
                let (context, request) = (space.title(), request.to_string());
                return Err(ContextError::NotFound { context, request, trace });
            }
        };
        if let Some(answer) = found {
            return Ok(answer);
        }
        trace.push(Attempt::new(who, "did not know it"));
        step = after(step, guidance);
    }
}

/// Among the modules that a context has, or has borrowed.
fn known(space: &Space, request: &ModuleRequest) -> Result<Option<Answer>, ContextError> {
    let Some((module, home)) = space.find(&request.name) else { return Ok(None) };
    let found = module.info().version.clone();
    if !will_do(&found, &request.range, &space.granted(&request.name)) {
        return Err(ContextError::VersionMismatch {
            context: space.title(),
            name: request.name.clone(),
            found,
            requested: request.range.clone(),
        });
    }
    Ok(Some(Answer::Module(module, home)))
}

/// In the Default: what it has, or what its own resolver finds, which is loaded there then.
///
/// # Errors
/// When the version there will not do, or the resolver fails.
pub(super) fn in_default(hub: &Hub, request: &ModuleRequest) -> Result<Option<Answer>, ContextError> {
    let space = &hub.default_space();
    if let Some(answer) = known(space, request)? {
        return Ok(Some(answer));
    }
    let _asking = under_way::begin(Sort::Asking, &[space.module_work(&request.name)])?;
    if let Some(answer) = known(space, request)? {
        return Ok(Some(answer));
    }
    let (Some(resolver), _handlers) = space.guides.of_modules() else { return Ok(None) };
    match put(hub, space, "the resolver", &resolver, request)? {
        Some(Answer::Library(library)) => {
            let module = loading::load(hub, space, *library, None)?;
            Ok(Some(Answer::Module(module, space.id)))
        }
        other => Ok(other),
    }
}

/// Puts the question to a resolver, and checks the answer.
fn put(
    hub: &Hub,
    space: &Arc<Space>,
    who: &str,
    resolver: &Share<ModuleResolver>,
    request: &ModuleRequest,
) -> Result<Option<Answer>, ContextError> {
    let context = space.title();
    let Some(found) = ask(&context, who, &request.name, || (resolver.code())(request))? else { return Ok(None) };
    let is_named = |name: &str| match name == request.name {
        true => Ok(()),
        false => Err(ContextError::ResolverWrongName {
            context: context.clone(),
            who: who.to_owned(),
            wanted: request.name.clone(),
            found: name.to_owned(),
        }),
    };
    match found {
        FoundModule::File(path) => {
            let library = Library::read(&path, &hub.stage_dir)?;
            is_named(&library.info.name)?;
            grant(space, request, &library.info.version);
            Ok(Some(Answer::Library(Box::new(library.found_for(&request.range)))))
        }
        FoundModule::Bytes { image, symbols } => {
            let library = Library::from_bytes(&format!("the answer of {who}"), &image, symbols, &hub.stage_dir)?;
            is_named(&library.info.name)?;
            grant(space, request, &library.info.version);
            Ok(Some(Answer::Library(Box::new(library.found_for(&request.range)))))
        }
        FoundModule::Loaded(summary) => {
            is_named(&summary.name)?;
            let Some(module) = hub.module(&summary) else {
                let module = format!("{summary} of context {}", summary.context);
                return Err(ContextError::ForeignModule { context, who: who.to_owned(), module });
            };
            refuse_collectible(hub, space, request, &summary)?;
            refuse_unloading(hub, request, &summary)?;
            grant(space, request, &module.info().version);
            if summary.context != space.id {
                // One name, one module: another thread may be about to have one of that name.
                let _claimed = under_way::begin(Sort::Claiming, &[space.module_work(&request.name)])?;
                if let Some(answer) = known(space, request)? {
                    return Ok(Some(answer));
                }
                space.borrow(&module, summary.context)?;
            }
            Ok(Some(Answer::Module(module, summary.context)))
        }
    }
}

/// A resolver that answers knows what it does, also where the version is another.
fn grant(space: &Space, request: &ModuleRequest, found: &semver::Version) {
    if !request.range.matches(found) {
        space.grant(&request.name, &request.range);
    }
}

/// What stays for ever does not depend on what may go.
fn refuse_collectible(
    hub: &Hub,
    space: &Space,
    request: &ModuleRequest,
    found: &ModuleSummary,
) -> Result<(), ContextError> {
    // What is gone by now is of a context that could go.
    let stays = hub.space(found.context).is_some_and(|home| !home.kind.is_collectible());
    if space.kind.is_collectible() || stays {
        return Ok(());
    }
    Err(ContextError::PinnedDependsOnCollectible {
        context: space.title(),
        module: request.needed_by.clone().unwrap_or_else(|| request.name.clone()),
        dependency: found.name.clone(),
        collectible: hub.title_of(found.context),
    })
}

/// Who unloads lends nothing more.
fn refuse_unloading(hub: &Hub, request: &ModuleRequest, found: &ModuleSummary) -> Result<(), ContextError> {
    let home = hub.space(found.context);
    let ticket = home.as_ref().and_then(|home| home.ticket());
    ticket.map_or(Ok(()), |ticket| {
        let action = format!("lending {} to {}", found.name, request.context);
        Err(ContextError::ContextUnloading { context: hub.title_of(found.context), since: ticket.age(), action })
    })
}

/// What errors call a library that came as bytes.
pub(super) fn name_of_bytes(name: &str) -> PathBuf {
    PathBuf::from(format!("<{name}>"))
}
