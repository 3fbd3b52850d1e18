//! Tests nested and concurrent loads. A load that would wait for itself is refused, and the error contains the chain of loads. No lock is
//! held while foreign code runs.

use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use alcedo_runtime::{
    ContextError, ContextEventKind, FoundModule, LoadContext, LoadRequest, LoadStep, ModuleRequest, ResolverFailure,
};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

use super::{LONG, any, figures, gone, needy, reports, runtime, slim, support};

/// Returns the chain of loads that an error or its cause contains.
fn chain_of(error: &ContextError) -> Option<Vec<LoadStep>> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(ContextError::LoadCycle { chain }) = error.downcast_ref::<ContextError>() {
            return Some(chain.clone());
        }
        cause = error.source();
    }
    None
}

fn formatted(chain: &[LoadStep]) -> String {
    chain.iter().map(LoadStep::to_string).collect::<Vec<_>>().join(" → ")
}

/// Returns the chain of loads that the error of a refused load contains, as text.
fn refused_chain<T: std::fmt::Debug>(outcome: Result<T, ContextError>) -> String {
    let error = outcome.expect_err("it would wait for itself");
    formatted(&chain_of(&error).unwrap_or_else(|| panic!("{error} has no chain")))
}

/// Returns a resolver that answers every request with the module `name` from `context`, and counts its calls.
fn resolver_loading(
    context: &LoadContext,
    name: &str,
    calls: &Arc<AtomicUsize>,
) -> impl Fn(&ModuleRequest) -> Result<Option<FoundModule>, ResolverFailure> + Send + Sync + 'static {
    let (context, name, calls) = (context.clone(), name.to_owned(), Arc::clone(calls));
    move |_| {
        calls.fetch_add(1, Ordering::SeqCst);
        Ok(Some(FoundModule::Loaded(context.load_name(&name, &any())?)))
    }
}

/// Returns the outcome of a thread. Fails after a long timeout.
fn within<T>(outcome: &Receiver<T>) -> T {
    outcome.recv_timeout(LONG).expect("no thread waits permanently")
}

fn on_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (done, outcome) = channel();
    thread::spawn(move || done.send(work()));
    outcome
}

/// Runs `work` and calls `listener` synchronously for each line that modules log on this thread.
fn with_log_listener<T>(listener: impl Fn(&str) + Send + Sync + 'static, work: impl FnOnce() -> T) -> T {
    tracing::subscriber::with_default(tracing_subscriber::registry().with(LogListener(listener)), work)
}

struct LogListener<F>(F);

impl<S: Subscriber, F: Fn(&str) + Send + Sync + 'static> Layer<S> for LogListener<F> {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        if event.metadata().target() == "reports" {
            let mut line = Line::default();
            event.record(&mut line);
            (self.0)(&line.0);
        }
    }
}

#[derive(Default)]
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

#[test]
fn a_recursive_resolver_is_refused_immediately_with_the_chain() {
    let contexts = runtime().contexts();
    let (slim, calls) = (contexts.create_slim("own").expect("the name is free"), Arc::default());
    slim.set_resolver(resolver_loading(&slim, "figures", &calls));
    let error = slim.load_name("figures", &any()).expect_err("it calls itself");
    let link = ("Slim \"own\"".to_owned(), LoadRequest::Module("figures".into()));
    let chain: Vec<_> =
        chain_of(&error).expect("a chain").into_iter().map(|link| (link.context, link.request)).collect();
    assert_eq!(chain, [link.clone(), link]);
    assert!(
        error.to_string().contains("figures in Slim \"own\" → figures in Slim \"own\"; let resolvers"),
        "the message contains the chain: {error}"
    );
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    assert!(slim.modules().is_empty());
    slim.load_path(figures(1)).expect("it goes on");
}

#[test]
fn a_cycle_over_names_or_contexts_is_refused_when_it_closes() {
    let contexts = runtime().contexts();
    let (slim, calls) = (contexts.create_slim("names").expect("the name is free"), Arc::new(AtomicUsize::new(0)));
    let again = slim.clone();
    slim.set_resolver(move |request| {
        let next = if request.name == "a" { "b" } else { "a" };
        Ok(Some(FoundModule::Loaded(again.load_name(next, &any())?)))
    });
    assert_eq!(
        refused_chain(slim.load_name("a", &any())),
        "a in Slim \"names\" → b in Slim \"names\" → a in Slim \"names\""
    );

    let [one, other] = ["one", "other"].map(|name| contexts.create_slim(name).expect("the name is free"));
    one.set_resolver(resolver_loading(&other, "figures", &calls));
    other.on_resolving(resolver_loading(&one, "figures", &calls));
    assert_eq!(
        refused_chain(one.load_name("figures", &any())),
        "figures in Slim \"one\" → figures in Slim \"other\" → figures in Slim \"one\""
    );
    assert_eq!(calls.load(Ordering::SeqCst), 2);

    let default = contexts.default_context();
    let back = contexts.create_slim("back").expect("the name is free");
    back.on_resolving(resolver_loading(&default, "b", &calls));
    default.set_resolver(resolver_loading(&back, "a", &calls));
    assert_eq!(
        refused_chain(back.load_name("a", &any())),
        "a in Slim \"back\" → a in Default → a in Slim \"back\"",
        "the Default is searched before the handlers"
    );
    default.set_resolver(|_| Ok(None));
    default.on_resolving(resolver_loading(&back, "a", &calls));
    assert_eq!(refused_chain(back.load_name("a", &any())), "a in Slim \"back\" → b in Default → a in Slim \"back\"");
}

#[test]
fn a_module_is_not_loaded_inside_of_its_own_load() {
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("inside").expect("the name is free");
    let again = slim.clone();
    slim.set_resolver(move |_| Ok(Some(FoundModule::Loaded(again.load_path(needy())?))));
    assert_eq!(
        refused_chain(slim.load_path(needy())),
        "reports in Slim \"inside\" → figures in Slim \"inside\" → reports in Slim \"inside\""
    );
    assert!(slim.modules().is_empty());
}

#[test]
fn a_recursive_resolver_of_native_libraries_is_refused() {
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "natives");
    let (again, calls) = (slim.clone(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&calls);
    slim.set_native_resolver_of("reports", move |name| {
        count.fetch_add(1, Ordering::SeqCst);
        Ok(Some(again.native_library(name, Some("reports"))?.path().to_owned()))
    });
    let for_reports = "native library alcedo_nowhere for reports in Slim \"natives\"";
    let refused = refused_chain(slim.native_library("alcedo_nowhere", Some("reports")));
    assert_eq!(refused, format!("{for_reports} → {for_reports}"));
    assert_eq!(calls.load(Ordering::SeqCst), 1);

    // The resolver that is bound to a module may request the same library without a module name.
    let again = slim.clone();
    slim.set_native_resolver_of("reports", move |name| Ok(again.native_library(name, None).map(|_| None)?));
    slim.native_library("libm.so.6", Some("reports")).expect("the system has it");

    // The cycle contains a native library and a module. The handler for the native library requests the module, and the resolver for the
    // module requests the native library.
    let ours = "native library alcedo_nowhere in Slim \"natives\"";
    let again = slim.clone();
    slim.on_resolving_native(move |_| Ok(again.load_name("a", &any()).map(|_| None)?));
    let again = slim.clone();
    slim.set_resolver(move |_| Ok(again.native_library("alcedo_nowhere", None).map(|_| None)?));
    assert_eq!(
        refused_chain(slim.native_library("alcedo_nowhere", None)),
        format!("{ours} → a in Slim \"natives\" → {ours}")
    );
}

#[test]
fn endless_nested_resolver_requests_are_refused_at_a_limit() {
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("deep").expect("the name is free");
    let again = slim.clone();
    slim.set_resolver(move |request| Ok(again.load_name(&format!("{}x", request.name), &any()).map(|_| None)?));
    let mut error: Box<dyn Error> = Box::new(slim.load_name("x", &any()).expect_err("the nesting is unlimited"));
    while let Ok(ContextError::ResolverError { source, .. }) = error.downcast::<ContextError>().map(|error| *error) {
        match source.downcast::<ContextError>() {
            Ok(source) if matches!(*source, ContextError::LoadTooDeep { limit: 16, .. }) => return,
            Ok(source) => error = source,
            Err(source) => panic!("{source}"),
        }
    }
    panic!("unexpected reason");
}

#[test]
fn two_contexts_with_mutually_loading_resolvers_both_finish() {
    let contexts = runtime().contexts();
    let slims = ["one", "other"].map(|name| contexts.create_slim(name).expect("the name is free"));
    let barrier = Arc::new(Barrier::new(2));
    for (at, slim) in slims.iter().enumerate() {
        let (other, barrier) = (slims[1 - at].clone(), Arc::clone(&barrier));
        let is_first = AtomicBool::new(true);
        slim.set_resolver(move |request| {
            if is_first.swap(false, Ordering::SeqCst) {
                barrier.wait();
                other.load_name("figures", &any())?;
            }
            Ok((request.name == "figures").then(|| FoundModule::File(figures(1))))
        });
    }
    let outcomes = slims.clone().map(|slim| on_thread(move || slim.load_name("figures", &any())));
    let modules = outcomes.map(|outcome| within(&outcome).expect("both finish"));
    for (slim, module) in slims.iter().zip(modules) {
        assert_eq!(slim.modules(), [module], "the one that it has");
    }
}

#[test]
fn a_context_loads_other_and_equal_modules_while_its_resolver_runs() {
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("asked").expect("the name is free");
    let ((inside, is_inside), (release, released)) = (channel(), channel());
    let (is_first, released) = (AtomicBool::new(true), Mutex::new(released));
    slim.set_resolver(move |_| {
        if is_first.swap(false, Ordering::SeqCst) {
            inside.send(()).expect("the test listens");
            released.lock().expect("one thread").recv_timeout(LONG).expect("released");
        }
        Ok(Some(FoundModule::File(figures(1))))
    });
    let load = || {
        let slim = slim.clone();
        on_thread(move || slim.load_name("figures", &any()))
    };
    let first = load();
    within(&is_inside);
    let (other, file) = (slim.clone(), reports(1));
    within(&on_thread(move || other.load_path(file))).expect("another module");
    let second = within(&load()).expect("the resolver is called again and succeeds");
    release.send(()).expect("it waits");
    assert_eq!(within(&first).expect("it is there"), second, "both requests return one module");
    assert_eq!(slim.modules().len(), 2);
}

/// Loads `reports` into the context on a separate thread. The `main` of `reports` then blocks until the test sends a message.
fn held_in_main(slim: &LoadContext) -> (Receiver<usize>, Receiver<()>, Sender<()>) {
    let ((inside, is_inside), (release, released)) = (channel(), channel());
    let (slim, released, file) = (slim.clone(), Mutex::new(released), reports(1));
    let mains = Arc::new(AtomicUsize::new(0));
    let outcome = on_thread(move || {
        let count = Arc::clone(&mains);
        let hold = move |line: &str| {
            if line == "main reports" {
                count.fetch_add(1, Ordering::SeqCst);
                inside.send(()).expect("the test listens");
                released.lock().expect("one thread at a time").recv_timeout(LONG).expect("released");
            }
        };
        with_log_listener(hold, || slim.load_path(file)).expect("it is loaded");
        mains.load(Ordering::SeqCst)
    });
    (outcome, is_inside, release)
}

#[test]
fn a_module_is_hidden_during_its_main_and_others_load() {
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("busy").expect("the name is free");
    let (outcome, is_inside, release) = held_in_main(&slim);
    within(&is_inside);
    let names = || slim.modules().into_iter().map(|module| module.name).collect::<Vec<_>>();
    assert!(names().is_empty(), "it can be found while its main runs");
    let (other, file) = (slim.clone(), figures(1));
    let loaded = on_thread(move || other.load_path(file).map(|module| module.name));
    assert_eq!(within(&loaded).expect("it is not the module that comes up"), "figures");
    assert_eq!(names(), ["figures"]);
    release.send(()).expect("it waits");
    assert_eq!(within(&outcome), 1);
    assert_eq!(names(), ["figures", "reports"]);
}

#[test]
fn concurrent_requests_share_the_module_loaded_by_another_thread() {
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("shared").expect("the name is free");
    slim.set_resolver(|_| panic!("unexpected request: the module is being loaded"));
    let (outcome, is_inside, release) = held_in_main(&slim);
    within(&is_inside);
    let (by_path, by_name) = (slim.clone(), slim.clone());
    let (begun, has_begun) = channel();
    let mains = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&mains);
    let others = [
        on_thread({
            let (begun, file) = (begun.clone(), reports(1));
            move || {
                begun.send(()).expect("the test listens");
                let listener = move |_: &str| {
                    count.fetch_add(1, Ordering::SeqCst);
                };
                with_log_listener(listener, || by_path.load_path(file))
            }
        }),
        on_thread(move || {
            begun.send(()).expect("the test listens");
            by_name.load_name("reports", &any())
        }),
    ];
    within(&has_begun);
    within(&has_begun);
    release.send(()).expect("it waits");
    assert_eq!(within(&outcome), 1);
    for other in others {
        assert_eq!(within(&other).map(|module| module.image).ok(), Some(slim.modules()[0].image.clone()));
    }
    assert_eq!((slim.modules().len(), mains.load(Ordering::SeqCst)), (1, 0), "its main ran once, on one thread");
}

#[test]
fn a_waiting_load_retries_after_the_first_fails() {
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("again").expect("the name is free");
    let (begun, has_begun) = channel::<()>();
    let (inside, is_inside) = channel();
    let has_begun = Mutex::new(has_begun);
    let (first, second) = (slim.clone(), slim.clone());
    let broken = support::plugin("reports", &["panic-in-main"]);
    let first = on_thread(move || {
        let hold = move |line: &str| {
            if line == "main reports" {
                inside.send(()).expect("the test listens");
                has_begun.lock().expect("one thread").recv_timeout(LONG).expect("the second comes");
            }
        };
        with_log_listener(hold, || first.load_path(broken))
    });
    within(&is_inside);
    slim.set_resolver(|_| Ok(Some(FoundModule::File(reports(1)))));
    let second = on_thread(move || {
        begun.send(()).expect("the first waits");
        second.load_name("reports", &any())
    });
    assert!(within(&first).expect_err("its main panics").to_string().starts_with("main of reports panicked"));
    let module = within(&second).expect("it tries itself");
    assert_eq!(slim.modules(), [module]);
}

#[test]
fn one_of_two_mutually_waiting_loads_is_refused() {
    let contexts = runtime().contexts();
    let slims = ["one", "other"].map(|name| contexts.create_slim(name).expect("the name is free"));
    let both_inside = Arc::new(Barrier::new(2));
    let outcomes = [0, 1].map(|at| {
        let (own, other) = (slims[at].clone(), slims[1 - at].clone());
        let (both_inside, file) = (Arc::clone(&both_inside), reports(1));
        let (sender, receiver) = channel();
        let listen = move |line: &str| {
            if line == "main reports" {
                both_inside.wait();
                sender.send(other.load_name("reports", &any())).expect("the test listens");
            }
        };
        (on_thread(move || with_log_listener(listen, || own.load_path(file))), receiver)
    });
    let outcomes = outcomes.map(|(whole, inside)| (within(&whole).expect("it starts"), within(&inside)));
    let refused: Vec<_> = outcomes.iter().filter_map(|(_, inside)| inside.as_ref().err()).collect();
    let chains: Vec<_> = refused.iter().filter_map(|error| chain_of(error)).map(|chain| formatted(&chain)).collect();
    let (one, other) = ("reports in Slim \"one\"", "reports in Slim \"other\"");
    let rings = [format!("{one} → {other} → {one}"), format!("{other} → {one} → {other}")];
    assert!(chains.len() == 1 && rings.contains(&chains[0]), "{chains:?}");
}

#[test]
fn a_listener_may_load_more_modules_into_the_context() {
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("notified").expect("the name is free");
    slim.set_resolver(|request| Ok((request.name == "figures").then(|| FoundModule::File(figures(1)))));
    let (again, outcomes) = (slim.clone(), Arc::new(Mutex::new(Vec::new())));
    let inner = Arc::clone(&outcomes);
    contexts.on_event(move |event| {
        if event.event == ContextEventKind::Loaded(vec!["reports".into()]) {
            let outcome = again.load_name("figures", &any()).map(|module| module.name);
            inner.lock().expect("not poisoned").push(outcome.map_err(|error| error.to_string()));
        }
    });
    slim.load_path(reports(1)).expect("it is loaded");
    assert_eq!(*outcomes.lock().expect("not poisoned"), [Ok("figures".to_owned())]);
}

#[test]
fn a_resolver_may_set_another_resolver_while_dropped() {
    /// Sets a resolver when it is dropped.
    struct Sets(LoadContext);
    impl Drop for Sets {
        fn drop(&mut self) {
            self.0.set_resolver(|_| Ok(Some(FoundModule::File(figures(1)))));
        }
    }
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("dropped").expect("the name is free");
    let sets = Sets(slim.clone());
    slim.set_resolver(move |_| {
        let _held = &sets;
        Ok(None)
    });
    let changed = slim.clone();
    within(&on_thread(move || changed.set_resolver(|_| Ok(None))));
    slim.load_name("figures", &any()).expect("the last resolver finds it");
}

#[test]
fn a_context_cannot_be_replaced_during_its_replacement() {
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("nested").expect("the name is free");
    slim.load_path(figures(1)).expect("it is loaded");
    let (before, again) = (slim.id(), slim.clone());
    slim.set_resolver(move |_| Ok(again.replace(figures(2)).map(|_| None)?));
    assert_eq!(
        refused_chain(slim.replace(needy())),
        "replacing Slim \"nested\" → reports in Slim \"nested\" → figures in Slim \"nested\" → replacing Slim \"nested\""
    );
    assert_eq!(slim.id(), before);
    slim.set_resolver(|_| Ok(Some(FoundModule::File(figures(1)))));
    gone(&slim.replace(needy()).expect("it goes on"));
}

#[test]
fn contexts_replacing_each_other_do_not_deadlock() {
    let contexts = runtime().contexts();
    let slims = ["one", "other"].map(|name| slim(&contexts, name));
    let barrier = Arc::new(Barrier::new(2));
    for (at, slim) in slims.iter().enumerate() {
        let (other, barrier, is_first) = (slims[1 - at].clone(), Arc::clone(&barrier), AtomicBool::new(true));
        slim.set_resolver(move |_| {
            if is_first.swap(false, Ordering::SeqCst) {
                barrier.wait();
                let _ticket = other.replace(reports(2))?;
            }
            Ok(Some(FoundModule::File(figures(1))))
        });
    }
    let outcomes = slims.map(|slim| on_thread(move || slim.replace(needy()).map(drop)));
    let outcomes = outcomes.map(|outcome| within(&outcome));
    let refused: Vec<_> = outcomes.into_iter().filter_map(Result::err).collect();
    assert_eq!(refused.len(), 1, "{refused:?}");
    let chain = chain_of(&refused[0]).expect("a chain");
    assert!(chain.len() > 3 && chain.first() == chain.last(), "{}", formatted(&chain));
    assert_eq!(chain[0].request, LoadRequest::Replacement);
}
