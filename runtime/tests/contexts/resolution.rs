//! Tests the order of the steps that resolve a module name. Covers the rules with the letter C: see `main.rs`.

use std::sync::{Arc, Mutex};

use alcedo_runtime::{
    ContextError, ContextEventKind, ContextKind, FoundModule, LoadContext, LoadError, ManifestInfo, ModuleRequest,
};

use super::{LONG, any, contexts, figures, gone, needy, refusal, reports, runtime, slim, support};

/// Requests that resolvers have received, in order.
type Requests = Arc<Mutex<Vec<String>>>;

/// Returns a resolver that records its requests. If `library` contains a tag, the resolver finds the build of `figures` with this tag.
fn resolver_for(
    requests: &Requests,
    name: &str,
    library: Option<u64>,
) -> impl Fn(&ModuleRequest) -> Result<Option<FoundModule>, alcedo_runtime::ResolverFailure> + Send + Sync + 'static {
    let (requests, name) = (Arc::clone(requests), name.to_owned());
    move |request| {
        requests.lock().expect("not poisoned").push(format!("{name} {}", request.name));
        Ok(library.filter(|_| request.name == "figures").map(|tag| FoundModule::File(figures(tag))))
    }
}

fn take_requests(requests: &Requests) -> Vec<String> {
    std::mem::take(&mut *requests.lock().expect("not poisoned"))
}

/// Returns the build id of the `figures` that modules in the context use.
fn build_of_figures(slim: &LoadContext) -> u128 {
    slim.load_name("figures", &any()).expect("it is there").build_id
}

fn id_of(tag: u64) -> u128 {
    ManifestInfo::peek(&figures(tag)).expect("it can be read").build_id
}

#[test]
fn c1_a_context_searches_itself_first_and_stops_on_success() {
    let (contexts, requests) = (runtime().contexts(), Requests::default());
    let slim = contexts.create_slim("c1").expect("the name is free");
    slim.set_resolver(resolver_for(&requests, "resolver", Some(2)));
    slim.load_path(figures(1)).expect("it is loaded");
    slim.load_path(needy()).expect("its dependency is available");
    assert_eq!((build_of_figures(&slim), take_requests(&requests).len()), (id_of(1), 0));
}

#[test]
fn c1_an_unsuitable_version_is_an_error_and_ends_the_search() {
    let (contexts, requests) = (runtime().contexts(), Requests::default());
    let slim = contexts.create_slim("c1").expect("the name is free");
    slim.load_path(figures(1)).expect("it is loaded");
    slim.on_resolving(resolver_for(&requests, "handler", Some(2)));
    let refused = refusal(slim.load_path(support::plugin("reports", &["needs-newer-figures"])));
    assert!(refused.starts_with("Slim \"c1\" has figures 0.1.0, and >=0.2 is requested"), "{refused}");
    assert!(take_requests(&requests).is_empty());
}

#[test]
fn c2_the_resolver_is_searched_before_the_default() {
    let (contexts, requests) = (runtime().contexts(), Requests::default());
    contexts.default_context().load_path(figures(1)).expect("it is loaded");
    let slim = contexts.create_slim("c2").expect("the name is free");
    slim.set_resolver(resolver_for(&requests, "resolver", Some(2)));
    slim.load_path(needy()).expect("it is loaded");
    assert_eq!(build_of_figures(&slim), id_of(2));
    assert_eq!(take_requests(&requests), ["resolver figures"], "the resolver is called once: its result is cached");
}

#[test]
fn c2_an_answer_of_another_name_is_refused() {
    let slim = contexts().create_slim("c2").expect("the name is free");
    slim.set_resolver(|_| Ok(Some(FoundModule::File(support::plugin("figures", &["misnamed"])))));
    let refused = refusal(slim.load_path(needy()));
    assert!(
        refused.starts_with("the resolver of Slim \"c2\" was called for figures and returned figurines"),
        "{refused}"
    );
    assert!(slim.modules().is_empty());
}

#[test]
fn c2_a_resolver_that_fails_or_panics_ends_the_search() {
    let (contexts, requests) = (runtime().contexts(), Requests::default());
    let slim = contexts.create_slim("c2").expect("the name is free");
    slim.on_resolving(resolver_for(&requests, "handler", Some(1)));
    slim.set_resolver(|_| Err("the disk is gone".into()));
    let refused = refusal(slim.load_path(needy()));
    assert_eq!(refused, "the resolver of Slim \"c2\" failed when it was called for figures: the disk is gone");
    slim.set_resolver(|_| panic!("on purpose"));
    let refused = slim.load_path(needy());
    assert!(matches!(refused, Err(ContextError::ResolverError { .. })), "{refused:?}");
    assert!(refusal(refused).ends_with("it panicked: \"on purpose\""));
    let handled = contexts.create_slim("c5").expect("the name is free");
    handled.on_resolving(|_| Err("the disk is gone".into()));
    handled.on_resolving(resolver_for(&requests, "later handler", Some(1)));
    let refused = refusal(handled.load_path(needy()));
    assert_eq!(refused, "handler 1 of Slim \"c5\" failed when it was called for figures: the disk is gone");
    assert!(take_requests(&requests).is_empty());
}

#[test]
fn c2_a_resolver_may_return_another_version_unchecked() {
    let slim = contexts().create_slim("c2").expect("the name is free");
    slim.set_resolver(|_| Ok(Some(FoundModule::File(figures(1)))));
    slim.load_path(support::plugin("reports", &["needs-newer-figures"])).expect("a resolver may return any version");
    let range = ">=0.2".parse().expect("a range");
    assert_eq!(slim.load_name("figures", &range).expect("it was answered before").version.to_string(), "0.1.0");
    assert!(
        slim.load_name("figures", &">=0.3".parse().expect("a range")).is_err(),
        "no result is cached for this range"
    );
}

#[test]
fn c2_a_dependency_may_have_another_version_that_the_default_resolves() {
    let contexts = runtime().contexts();
    let default = contexts.default_context();
    default.set_resolver(|_| Ok(Some(FoundModule::File(figures(1)))));
    let slim = contexts.create_slim("c2").expect("the name is free");
    let newer = support::plugin("reports", &["needs-newer-figures"]);
    slim.load_path(newer).expect("the resolver of the Default may return any version");
    assert_eq!((default.modules()[0].build_id, slim.modules().len()), (id_of(1), 1));
}

#[test]
fn c2_a_resolver_may_answer_with_bytes() {
    let slim = contexts().create_slim("c2").expect("the name is free");
    slim.set_resolver(|_| Ok(Some(FoundModule::Bytes { image: std::fs::read(figures(1))?, symbols: None })));
    slim.load_path(needy()).expect("it is loaded");
    assert_eq!(slim.modules()[0].name, "figures");
}

#[test]
fn c2_a_module_of_another_runtime_is_refused() {
    let (here, elsewhere) = (runtime().contexts(), runtime().contexts());
    let foreign = elsewhere.create_slim("foreign").expect("the name is free");
    let module = foreign.load_path(figures(1)).expect("it is loaded");
    let slim = here.create_slim("c2").expect("the name is free");
    slim.set_resolver(move |_| Ok(Some(FoundModule::Loaded(module.clone()))));
    assert!(matches!(slim.load_path(needy()), Err(ContextError::ForeignModule { .. })));
}

#[test]
fn c4_the_default_is_searched_before_the_handlers() {
    let (contexts, requests) = (runtime().contexts(), Requests::default());
    contexts.default_context().load_path(figures(1)).expect("it is loaded");
    let slim = contexts.create_slim("c4").expect("the name is free");
    slim.on_resolving(resolver_for(&requests, "handler", Some(2)));
    slim.load_path(needy()).expect("it is loaded");
    assert_eq!((build_of_figures(&slim), take_requests(&requests).len()), (id_of(1), 0));
    let names: Vec<_> = slim.modules().into_iter().map(|module| module.name).collect();
    assert_eq!(names, ["reports"], "shared modules stay in the Default");
}

#[test]
fn c4_an_older_default_version_continues_the_search_in_handlers() {
    let (contexts, requests) = (runtime().contexts(), Requests::default());
    contexts.default_context().load_path(figures(1)).expect("it is loaded");
    let slim = contexts.create_slim("c4").expect("the name is free");
    let newer = support::plugin("reports", &["needs-newer-figures"]);
    assert_eq!(
        refusal(slim.load_path(&newer)),
        "Slim \"c4\" finds no module `figures` >=0.2, which `reports` needs: its own modules did not have it; Default has \
         figures 0.1.0"
    );
    slim.on_resolving(resolver_for(&requests, "handler", Some(2)));
    slim.load_path(&newer).expect("a handler may return any version");
    assert_eq!((build_of_figures(&slim), take_requests(&requests)), (id_of(2), vec!["handler figures".to_owned()]));
}

#[test]
fn any_result_returned_after_the_seal_is_refused() {
    for what in ["loaded", "file", "bytes"] {
        let contexts = runtime().contexts();
        let [lender, slim] = ["lender", "sealed"].map(|name| contexts.create_slim(name).expect("the name is free"));
        let borrowed = lender.load_path(figures(1)).expect("it is loaded");
        slim.set_resolver(move |request| {
            let sealed = request.load_context().expect("there is a handle");
            let _ticket = sealed.begin_unload().expect("it is collectible");
            Ok(Some(match what {
                "loaded" => FoundModule::Loaded(borrowed.clone()),
                "file" => FoundModule::File(figures(1)),
                _ => FoundModule::Bytes { image: std::fs::read(figures(1))?, symbols: None },
            }))
        });
        let refused = match what {
            "bytes" => slim.load_path(needy()).map(drop),
            _ => slim.load_name("figures", &any()).map(drop),
        };
        assert!(matches!(refused, Err(ContextError::ContextUnloading { .. })), "{what}: {refused:?}");
        gone(&slim.begin_unload().expect("it is collectible"));
        gone(&lender.begin_unload().expect("it is collectible"));
    }
}

#[test]
fn a_master_module_as_a_resolver_result_is_refused_by_name() {
    let runtime = support::host(&[figures(1)]);
    let contexts = runtime.contexts();
    let master = contexts.all().into_iter().find(|info| info.kind == ContextKind::Master).expect("it is listed");
    let module = master.modules[0].clone();
    let slim = contexts.create_slim("borrower").expect("the name is free");
    slim.set_resolver(move |_| Ok(Some(FoundModule::Loaded(module.clone()))));
    let refused = slim.load_path(needy());
    assert!(matches!(refused, Err(ContextError::MasterModule { .. })), "{refused:?}");
    let refused = refusal(refused);
    assert!(refused.starts_with("the resolver of Slim \"borrower\" returned figures 0.1.0"), "{refused}");
    assert!(refused.contains("is a module of the Master"), "{refused}");
}

#[test]
fn c5_handlers_run_in_order_and_the_first_result_is_cached() {
    let (contexts, requests) = (runtime().contexts(), Requests::default());
    let slim = contexts.create_slim("c5").expect("the name is free");
    for (name, library) in [("first", None), ("second", Some(1)), ("third", Some(2))] {
        slim.on_resolving(resolver_for(&requests, name, library));
    }
    slim.load_path(needy()).expect("the second finds it");
    assert_eq!(take_requests(&requests), ["first figures", "second figures"]);
    assert_eq!(build_of_figures(&slim), id_of(1));
    assert!(take_requests(&requests).is_empty());
}

#[test]
fn c5_a_replacement_uses_the_existing_handlers() {
    let (contexts, requests) = (runtime().contexts(), Requests::default());
    let slim = slim(&contexts, "c5");
    slim.on_resolving(resolver_for(&requests, "handler", Some(1)));
    gone(&slim.replace(needy()).expect("it starts"));
    assert_eq!(take_requests(&requests), ["handler figures"]);
}

#[test]
fn c7_an_unknown_module_is_not_found_and_the_error_lists_sources() {
    let (contexts, requests) = (runtime().contexts(), Requests::default());
    let slim = contexts.create_slim("c7").expect("the name is free");
    slim.set_resolver(resolver_for(&requests, "resolver", None));
    slim.on_resolving(resolver_for(&requests, "one", None));
    slim.on_resolving(resolver_for(&requests, "other", None));
    assert_eq!(
        refusal(slim.load_path(needy())),
        "Slim \"c7\" finds no module `figures` ^0.1, which `reports` needs: its own modules did not have it; \
         the resolver did not have it; Default did not have it; handler 1 did not have it; handler 2 did not have it"
    );
    assert_eq!(take_requests(&requests), ["resolver figures", "one figures", "other figures"]);
}

#[test]
fn c_pinned_contexts_do_not_depend_on_collectible_ones() {
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("may go").expect("the name is free");
    let module = slim.load_path(figures(1)).expect("it is loaded");
    let default = contexts.default_context();
    default.set_resolver(move |_| Ok(Some(FoundModule::Loaded(module.clone()))));
    let refused = default.load_path(needy());
    assert!(matches!(refused, Err(ContextError::PinnedDependsOnCollectible { .. })), "{refused:?}");
    assert_eq!(
        refusal(refused),
        "reports in Default, which is never unloaded, cannot depend on figures in Slim \"may go\", which may be: load \
         the dependency into the Default as well"
    );
}

#[test]
fn c_a_dependency_remains_loaded_until_its_dependents_are_gone() {
    let contexts = runtime().contexts();
    let base = contexts.create_slim("base").expect("the name is free");
    let module = base.load_path(figures(1)).expect("it is loaded");
    let top = contexts.create_slim("top").expect("the name is free");
    top.set_resolver(move |_| Ok(Some(FoundModule::Loaded(module.clone()))));
    top.load_path(needy()).expect("it is loaded");
    let ticket = base.begin_unload().expect("it is collectible");
    let blocked = ticket.wait(std::time::Duration::ZERO).expect_err("a module depends on it");
    let owners: Vec<_> = blocked.blockers.iter().map(|by| format!("{} {}", by.kind, by.owner)).collect();
    let build = top.modules()[0].build_id;
    let dependent = format!("reports 0.1.0 (build {build:032x}) of Slim \"top\" generation 1, which needs figures");
    assert!(owners.contains(&format!("dependent module {dependent}")), "{owners:?}");
    gone(&top.begin_unload().expect("it is collectible"));
    gone(&ticket);
}

#[test]
fn c_modules_start_after_all_they_need() {
    let contexts = runtime().contexts();
    let started = Requests::default();
    let inner = Arc::clone(&started);
    contexts.on_event(move |event| {
        if let ContextEventKind::Loaded(modules) = &event.event {
            inner.lock().expect("not poisoned").extend(modules.iter().cloned());
        }
    });
    let slim = contexts.create_slim("order").expect("the name is free");
    slim.set_resolver(|_| Ok(Some(FoundModule::File(figures(1)))));
    slim.load_path(needy()).expect("it is loaded");
    assert_eq!(take_requests(&started), ["figures", "reports"]);
}

#[test]
fn c_modules_with_cyclic_dependencies_are_refused_and_the_cycle_is_printed() {
    let slim = contexts().create_slim("circle").expect("the name is free");
    slim.set_resolver(|request| {
        Ok(Some(FoundModule::File(match request.name.as_str() {
            "figures" => support::plugin("figures", &["needs-reports"]),
            _ => needy(),
        })))
    });
    let refused = slim.load_path(needy());
    assert!(matches!(refused, Err(ContextError::Load(LoadError::Order(_)))), "{refused:?}");
    assert!(refusal(refused).contains("reports → figures → reports"));
    assert!(slim.modules().is_empty());
}

#[test]
fn c_a_resolver_may_load_something_itself() {
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("nested").expect("the name is free");
    let again = contexts.slim("nested").expect("alive");
    slim.set_resolver(move |_| Ok(Some(FoundModule::Loaded(again.load_path(figures(1))?))));
    slim.load_path(needy()).expect("its dependency was loaded by the resolver");
    let names: Vec<_> = slim.modules().into_iter().map(|module| module.name).collect();
    assert_eq!(names, ["figures", "reports"]);
    // The resolver owns another handle of the context. Dropping `slim` would therefore not unload the context.
    gone(&slim.begin_unload().expect("it is collectible"));
}

#[test]
fn c_threads_requesting_one_module_concurrently_share_it() {
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("race").expect("the name is free");
    let (reports, file) = (reports(1), &slim);
    let loaded: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| file.load_path(&reports).expect("it is loaded"))).collect();
        threads.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
    });
    assert!(loaded.iter().all(|module| module.image == loaded[0].image), "{loaded:?}");
    assert_eq!(slim.modules().len(), 1);
    assert!(slim.begin_unload().expect("it is collectible").wait(LONG).is_ok());
}

#[test]
fn a_module_loaded_by_its_resolver_appears_once_in_the_context() {
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("twice").expect("the name is free");
    let again = slim.clone();
    slim.set_resolver(move |_| {
        again.load_path(figures(1))?;
        Ok(Some(FoundModule::File(figures(1))))
    });
    slim.load_path(needy()).expect("it is there");
    let names: Vec<_> = slim.modules().into_iter().map(|module| module.name).collect();
    assert_eq!(names, ["figures", "reports"]);
}
