//! Tests the lookup of types and functions. The order is: own modules, resolver, Default, handlers. Modules in the Master can also use
//! modules in the Default.

use std::sync::{Arc, Mutex};
use std::thread;

use alcedo_runtime::{
    ContextError, ContextId, ContextKind, Contexts, Error, FoundModule, LeaseKind, LoadError, ManifestInfo, Runtime,
    Value,
};

use super::{any, figures, gone, needy, number, refusal, reports, runtime, slim, support, text};

/// Returns a runtime whose Default contains build 1 of `figures`.
fn with_figures() -> (Runtime, Contexts) {
    let runtime = runtime();
    let contexts = runtime.contexts();
    contexts.default_context().load_path(figures(1)).expect("it is loaded");
    (runtime, contexts)
}

fn sum(contexts: &Contexts, slim: &str, ty: &str) -> Result<Option<Value>, ContextError> {
    contexts.function(slim, ty, "of", "i64, i64 -> i64")?.call(&[Value::I64(40), Value::I64(2)])
}

#[test]
fn through_a_slim_types_and_functions_of_the_default_are_found() {
    let (_runtime, contexts) = with_figures();
    let shared = contexts.default_context().resolve_type("Sum").expect("it is there");
    let slim = slim(&contexts, "own");
    for ty in ["Sum", "figures::Sum", "figures:Sum"] {
        assert_eq!(slim.resolve_type(ty).expect(ty).expect(&shared), Ok(()));
        assert_eq!(sum(&contexts, "own", ty).expect(ty), Some(Value::I64(42)));
        let pointer = slim.get_function_pointer(ty, "build_tag", "-> u64").expect(ty);
        assert_eq!(pointer.context(), ContextId::DEFAULT);
        assert_eq!(pointer.call(&[]).expect("it answers"), Some(Value::U64(1)));
        let id = slim.id().expect("it is alive");
        assert_eq!(contexts.resolve_type_in(id, ty).expect(ty).expect(&shared), Ok(()));
        let _scope = slim.enter().expect("it is alive");
        assert_eq!(contexts.resolve_type(ty).expect(ty).expect(&shared), Ok(()));
    }
    assert_eq!(slim.modules().len(), 1, "shared modules stay in the Default");
}

#[test]
fn own_modules_of_a_context_come_before_the_defaults() {
    let (_runtime, contexts) = with_figures();
    let slim = contexts.create_slim("own first").expect("the name is free");
    let shared = slim.function("Sum", "build_tag", "-> u64").expect("the Default has it");
    slim.load_path(figures(2)).expect("it is loaded");
    for ty in ["Sum", "figures::Sum"] {
        assert_eq!(slim.resolve_type(ty).expect(ty).context, "Slim \"own first\"");
        assert_eq!(number(&slim.function(ty, "build_tag", "-> u64").expect(ty)).expect("it answers"), 2);
    }
    assert_eq!(number(&shared).expect("it answers"), 1, "a handle means what it meant when it was made");
    gone(&slim.replace(reports(1)).expect("it starts"));
    assert_eq!(number(&shared).expect("the Default has it"), 1);
    gone(&slim.begin_unload().expect("it is collectible"));
    assert!(matches!(number(&shared), Err(ContextError::ContextUnloading { .. })), "it was a function of the Slim");
}

#[test]
fn a_missing_module_is_searched_in_resolver_default_and_handlers() {
    let contexts = runtime().contexts();
    let requests = Arc::new(Mutex::new(Vec::new()));
    let slim = contexts.create_slim("requests").expect("the name is free");
    let resolver_of = |label: &'static str, answers: bool| {
        let requests = Arc::clone(&requests);
        move |request: &alcedo_runtime::ModuleRequest| {
            requests.lock().expect("not poisoned").push(format!("{label} {}", request.name));
            Ok((answers && request.name == "figures").then(|| FoundModule::File(figures(2))))
        }
    };
    slim.set_resolver(resolver_of("resolver", false));
    slim.on_resolving(resolver_of("handler", true));
    assert!(
        refusal(slim.resolve_type("Sum")).contains("has no type Sum: it has none"),
        "the module of the type is unknown"
    );
    assert!(requests.lock().expect("not poisoned").is_empty());
    assert_eq!(
        slim.resolve_type("figures::Sum").expect("the handler has it").module.context,
        slim.id().expect("alive")
    );
    assert_eq!(*requests.lock().expect("not poisoned"), ["resolver figures", "handler figures"]);
    assert_eq!(number(&slim.function("Sum", "build_tag", "-> u64").expect("it is there now")).expect("it answers"), 2);
    let refused = refusal(slim.function("missing:Sum", "build_tag", "-> u64"));
    assert_eq!(
        refused,
        "Slim \"requests\" finds no module `missing` *: its own modules did not have it; the resolver did not have it; Default \
         did not have it; handler 1 did not have it"
    );
    assert!(matches!(slim.resolve_type("missing::Sum"), Err(ContextError::NotFound { .. })));
}

#[test]
fn a_function_lookup_uses_the_scope_or_the_default_context() {
    let (_runtime, contexts) = with_figures();
    let slim = slim(&contexts, "scoped");
    slim.load_path(figures(2)).expect("it is loaded");
    let here = |ty| contexts.function_here(ty, "build_tag", "-> u64");
    assert_eq!(number(&here("Sum").expect("the Default has it")).expect("it answers"), 1);
    assert!(matches!(here("Report"), Err(ContextError::NoSuchFunction { .. })));
    let scope = slim.enter().expect("it is alive");
    let scoped = here("Sum").expect("the Slim has it");
    assert_eq!(number(&here("reports:Report").expect("the Slim has it")).expect("it answers"), 1);
    drop(scope);
    assert_eq!(number(&scoped).expect("it answers"), 2, "the function still belongs to the Slim");
    // Entering a scope for another runtime's context does not affect lookups in this runtime.
    let other = runtime();
    let elsewhere = other.contexts().create_slim("elsewhere").expect("the name is free");
    let _scope = elsewhere.enter().expect("it is alive");
    assert_eq!(contexts.resolve_type("Sum").expect("the Default has it").context, "Default");
}

#[test]
fn calling_a_function_of_another_context_keeps_it_loaded() {
    let contexts = runtime().contexts();
    let base = slim(&contexts, "base");
    let module = base.modules().remove(0);
    let top = contexts.create_slim("top").expect("the name is free");
    top.set_resolver(move |_| Ok(Some(FoundModule::Loaded(module.clone()))));
    top.load_name("reports", &any()).expect("it is borrowed");
    assert_eq!(top.resolve_type("Report").expect("it depends on it").module.context, base.id().expect("alive"));
    let wait = top.function("Report", "wait_for", "String -> bool").expect("it depends on it");
    let pointer = top.get_function_pointer("reports::Report", "build_tag", "-> u64").expect("it depends on it");
    let gate = support::test_dir().join(format!("lookup-{}", std::process::id()));
    let _gone = std::fs::remove_file(&gate);
    let path = text(&gate.display().to_string());
    let caller = thread::spawn({
        let wait = wait.clone();
        move || wait.call(&[path]).expect("the call was accepted")
    });
    support::until("the call is inside", || base.held_by().iter().any(|by| by.kind == LeaseKind::Call));
    let ticket = base.begin_unload().expect("it is collectible");
    let kinds: Vec<_> = ticket.report().blockers.iter().map(|by| (by.kind, by.owner.clone())).collect();
    assert!(kinds.contains(&(LeaseKind::Call, "nm:/reports:Report:wait_for".into())), "{kinds:?}");
    assert!(kinds.contains(&(LeaseKind::Borrow, "pointer to nm:/reports:Report:build_tag".into())), "{kinds:?}");
    assert_eq!(wait.call(&[text("/")]).expect("the lender stays for it"), Some(Value::Bool(true)));
    std::fs::write(&gate, "").expect("a file");
    assert_eq!(caller.join().expect("it does not panic"), Some(Value::Bool(true)));
    assert_eq!(pointer.call(&[]).expect("its lease keeps it"), Some(Value::U64(1)));
    drop(pointer);
    gone(&top.begin_unload().expect("it is collectible"));
    gone(&ticket);
    let _gone = std::fs::remove_file(&gate);
}

#[test]
fn a_master_module_gets_its_dependencies_from_the_default() {
    let (runtime, contexts) = with_figures();
    runtime.create_master(&[needy()]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(runtime.modules().len(), 1, "shared modules stay in the Default");
    let master = contexts.all().into_iter().find(|info| info.kind == ContextKind::Master).expect("it is listed");
    let sum = contexts.resolve_type_in(master.id, "Sum").expect("the Default has it");
    assert_eq!(sum.module.context, ContextId::DEFAULT);
    for _ in 0..2 {
        let report = runtime.reload(&[needy()]).expect("there is a Master");
        assert!(report.is_committed(), "{report}");
    }
    let report = runtime.reload_changed(&[needy()]).expect("there is a Master");
    assert!(report.is_committed(), "{report}");
    assert_eq!(runtime.unload_master().expect("there is one").parked, [""; 0]);
    assert_eq!(contexts.default_context().modules().len(), 1);
}

#[test]
fn a_master_module_prefers_own_modules_then_default_and_its_resolver() {
    let runtime = runtime();
    let default = runtime.contexts().default_context();
    default.set_resolver(|_| Ok(Some(FoundModule::File(figures(1)))));
    runtime.create_master(&[needy(), figures(2)]).unwrap_or_else(|error| panic!("{error}"));
    assert!(default.modules().is_empty(), "the Master has it itself");
    let report = runtime.reload(&[needy()]).expect("there is a Master");
    assert!(report.is_committed(), "{report}");
    let build = ManifestInfo::peek(&figures(1)).expect("it can be read").build_id;
    assert_eq!(default.modules()[0].build_id, build);
}

#[test]
fn handlers_of_the_default_find_dependencies_of_the_master() {
    let runtime = runtime();
    let default = runtime.contexts().default_context();
    default.on_resolving(|_| Ok(None));
    default.on_resolving(|request| {
        let is_meant = (request.name.as_str(), request.context.as_str()) == ("figures", "Master");
        Ok(is_meant.then(|| FoundModule::File(figures(1))))
    });
    runtime.create_master(&[needy()]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((default.modules().len(), default.modules()[0].name.as_str()), (1, "figures"));
}

#[test]
fn an_unresolved_master_dependency_is_reported_with_all_folders_searched() {
    let runtime = runtime();
    let refused =
        runtime.create_master(&[needy(), support::plugin("switchboard", &[])]).expect_err("no module provides it");
    assert_eq!(
        refused.to_string(),
        "Master finds no module `figures` ^0.1, which `reports` needs: its own modules did not have it, and only \
         `switchboard` was passed; Default did not have it; add its library, or load it into the Default"
    );
    runtime.contexts().default_context().load_path(figures(1)).expect("it is loaded");
    let refused = runtime.create_master(&[support::plugin("reports", &["needs-newer-figures"])]);
    let Err(Error::Load(LoadError::Dependency(cause))) = refused else { panic!("{refused:?}") };
    assert!(matches!(*cause, ContextError::VersionMismatch { .. }), "{cause}");
    assert!(cause.to_string().starts_with("Default has figures 0.1.0, and >=0.2 is requested"), "{cause}");
    runtime.create_master(&[needy()]).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_type_of_the_master_that_only_offers_functions_is_known() {
    let runtime = support::host(&[reports(1), support::plugin("switchboard", &[])]);
    let contexts = runtime.contexts();
    let master = contexts.all().into_iter().find(|info| info.kind == ContextKind::Master).expect("it is listed");
    for path in ["Report", "reports::Report", "reports:Report"] {
        let ty = contexts.resolve_type_in(master.id, path).expect(path);
        assert_eq!((ty.module.name.as_str(), ty.path.as_str(), ty.context.as_str()), ("reports", "Report", "Master"));
    }
    // A class that also has functions to call by name is a single type. The lookup must not find two types of this name.
    let line = contexts.resolve_type_in(master.id, "Line").expect("it is there");
    assert_eq!(line.path, "/Script/Game.Line");
    let refused = refusal(contexts.resolve_type_in(master.id, "missing::Report"));
    assert!(refused.starts_with("Master finds no module `missing` *: its own modules did not have it"), "{refused}");
}

#[test]
fn type_names_agree_between_types_and_functions() {
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "spelled");
    for ty in ["Report", "reports:Report", "reports::Report"] {
        assert_eq!(slim.resolve_type(ty).expect(ty).path, "Report");
        assert_eq!(number(&slim.function(ty, "build_tag", "-> u64").expect(ty)).expect("it answers"), 1);
    }
    for (ty, expected) in [("::Report", "no module precedes the colon"), ("a::B::c", "more than a module and a type")] {
        assert!(refusal(slim.resolve_type(ty)).contains(expected));
        assert!(refusal(slim.function(ty, "build_tag", "-> u64")).contains(expected));
    }
}
