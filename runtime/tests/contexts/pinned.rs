//! Tests pinned contexts. A pinned context has its own name and modules, and is never unloaded.

use std::sync::{Arc, Mutex};

use alcedo_runtime::{ContextError, ContextEventKind, ContextKind, ContextState, FoundModule};

use super::{any, build_tag, figures, needy, number, refusal, reports, runtime, slim};

#[test]
fn a_pinned_context_outlives_its_handles_and_is_not_collectible() {
    let contexts = runtime().contexts();
    let pinned = contexts.create_pinned("contracts").expect("the name is free");
    pinned.load_path(reports(1)).expect("it is loaded");
    let answer = build_tag(&pinned);
    assert_eq!(
        (pinned.kind(), pinned.to_string().as_str()),
        (ContextKind::Pinned, "Pinned \"contracts\" #2 generation 1: alive")
    );
    for refused in [pinned.begin_unload(), pinned.replace(reports(2))] {
        assert!(matches!(refused, Err(ContextError::NotCollectible { .. })), "{refused:?}");
        assert!(refusal(refused).starts_with("Pinned \"contracts\" is never unloaded"));
    }
    let refused = contexts.park(pinned.id().expect("it is alive"));
    assert!(refusal(refused).ends_with("it is never unloaded"));
    drop(pinned);
    assert_eq!(number(&answer).expect("it is there"), 1);
    let listed = contexts.all().into_iter().find(|info| info.name == "contracts").expect("it is listed");
    assert_eq!((listed.kind, listed.state, listed.modules.len()), (ContextKind::Pinned, ContextState::Alive, 1));
    assert_eq!(contexts.pinned("contracts").expect("it is there").modules().len(), 1);
    let by_name = contexts.function("contracts", "Report", "build_tag", "-> u64").expect("it is offered");
    assert_eq!(number(&by_name).expect("it answers"), 1);
}

#[test]
fn pinned_contexts_and_slims_share_their_names() {
    let contexts = runtime().contexts();
    let pinned = contexts.create_pinned("taken").expect("the name is free");
    assert!(refusal(contexts.create_slim("taken")).starts_with("a Slim cannot be named \"taken\""));
    assert!(contexts.slim("taken").is_none(), "a pinned context is not a Slim");
    let _slim = contexts.create_slim("slim").expect("the name is free");
    assert!(refusal(contexts.create_pinned("slim")).starts_with("a pinned context cannot be named \"slim\""));
    assert!(refusal(contexts.create_pinned("Default")).starts_with("a pinned context cannot be named \"Default\""));
    assert!(contexts.pinned("slim").is_none(), "it is not pinned");
    drop(pinned);
    assert!(contexts.create_pinned("taken").is_err(), "the context still exists");
}

#[test]
fn a_collectible_dependency_of_a_pinned_context_is_refused() {
    let contexts = runtime().contexts();
    let collectible = slim(&contexts, "may go");
    let module = collectible.load_path(figures(1)).expect("it is loaded");
    let pinned = contexts.create_pinned("stays").expect("the name is free");
    pinned.set_resolver(move |_| Ok(Some(FoundModule::Loaded(module.clone()))));
    let refused = pinned.load_path(needy());
    assert!(matches!(refused, Err(ContextError::PinnedDependsOnCollectible { .. })), "{refused:?}");
    assert!(refusal(refused).starts_with(
        "reports in Pinned \"stays\", which is never unloaded, cannot depend on figures in Slim \"may go\", which may be"
    ));
    assert!(pinned.modules().is_empty());
    assert!(matches!(pinned.load_name("figures", &any()), Err(ContextError::PinnedDependsOnCollectible { .. })));
}

#[test]
fn pinned_contexts_depend_only_on_pinned_contexts() {
    let contexts = runtime().contexts();
    let base = contexts.create_pinned("base").expect("the name is free");
    let module = base.load_path(figures(1)).expect("it is loaded");
    let resolver = move |_: &alcedo_runtime::ModuleRequest| Ok(Some(FoundModule::Loaded(module.clone())));
    let top = contexts.create_pinned("top").expect("the name is free");
    top.set_resolver(resolver.clone());
    top.load_path(needy()).expect("neither is ever unloaded");
    assert_eq!(top.resolve_type("Sum").expect("it depends on it").context, "Pinned \"base\"");
    let default = contexts.default_context();
    default.set_resolver(resolver.clone());
    default.load_path(needy()).expect("neither is ever unloaded");
    // A collectible context may depend on a pinned context, because a pinned context is never unloaded.
    let slim = contexts.create_slim("goes").expect("the name is free");
    slim.set_resolver(resolver);
    slim.load_path(needy()).expect("it is borrowed");
    super::gone(&slim.begin_unload().expect("it is collectible"));
    assert_eq!(base.state(), ContextState::Alive);
}

#[test]
fn a_pinned_context_ends_with_its_runtime_and_is_notified() {
    let runtime = runtime();
    let contexts = runtime.contexts();
    let names = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&names);
    contexts.on_event(move |event| {
        if event.event == ContextEventKind::Unloading {
            listener.lock().expect("not poisoned").push(event.name.clone());
        }
    });
    contexts.create_pinned("contracts").expect("the name is free").load_path(figures(1)).expect("it is loaded");
    let _slim = slim(&contexts, "slim");
    let shutdown = runtime.shutdown();
    assert_eq!(shutdown.left, [""; 0], "pinned contexts do not block a shutdown");
    assert_eq!(*names.lock().expect("not poisoned"), ["slim", "contracts", "Default"]);
}

#[test]
fn a_resolver_reaches_its_pinned_context_without_a_handle() {
    let contexts = runtime().contexts();
    let pinned = contexts.create_pinned("asked").expect("the name is free");
    let (weak, names) = (pinned.downgrade(), Arc::new(Mutex::new(Vec::new())));
    let inner = Arc::clone(&names);
    pinned.set_resolver(move |request| {
        inner.lock().expect("not poisoned").push(request.load_context().map(|context| context.name().to_owned()));
        Ok(Some(FoundModule::File(figures(1))))
    });
    drop(pinned);
    let sum = contexts.function("asked", "figures::Sum", "build_tag", "-> u64").expect("its resolver finds it");
    assert_eq!(number(&sum).expect("it answers"), 1);
    assert_eq!(*names.lock().expect("not poisoned"), [Some("asked".to_owned())]);
    assert_eq!(weak.upgrade().expect("it stays").modules().len(), 1);
}
