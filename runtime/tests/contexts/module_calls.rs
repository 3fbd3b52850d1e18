//! Tests calls by name between modules of Slims and pinned contexts, which are not bound to the game thread.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use alcedo_runtime::{
    CallError, ContextError, ContextFunction, ContextState, Contexts, FoundModule, FunctionPointer, LoadContext, Value,
};

use super::{any, figures, gone, refusal, reports, runtime, support, text};

const RENDER: &str = "nm:/reports:Report:render";

/// Creates a Slim with `relay` and further libraries.
fn relay(contexts: &Contexts, name: &str, libraries: &[std::path::PathBuf]) -> LoadContext {
    let slim = contexts.create_slim(name).unwrap_or_else(|error| panic!("{error}"));
    for library in libraries.iter().chain([&support::plugin("relay", &[])]) {
        slim.load_path(library).unwrap_or_else(|error| panic!("{error}"));
    }
    slim
}

/// Calls the function `method` of `relay`. This function calls the function that the first argument names, with the other arguments.
fn forwarded(slim: &LoadContext, method: &str, arguments: &[Value]) -> String {
    let signature = match method {
        "number" => "String -> String",
        "render" => "String, String, u32 -> String",
        _ => "String, String -> String",
    };
    let function = slim.function("Relay", method, signature).unwrap_or_else(|error| panic!("{error}"));
    match function.call(arguments).unwrap_or_else(|error| panic!("{error}")) {
        Some(Value::Text(text)) => text,
        other => panic!("{other:?}"),
    }
}

fn number(slim: &LoadContext, name: &str) -> String {
    forwarded(slim, "number", &[text(name)])
}

fn render(slim: &LoadContext) -> String {
    forwarded(slim, "render", &[text(RENDER), text("Ada"), Value::U32(2)])
}

#[test]
fn a_module_calls_modules_of_its_slim_on_any_thread() {
    let contexts = runtime().contexts();
    let slim = relay(&contexts, "beside", &[reports(1)]);
    for name in [RENDER, "nm:/reports:Report:render"] {
        let answer = forwarded(&slim, "render", &[text(name), text("Ada"), Value::U32(2)]);
        assert_eq!(answer, "Ada x2 by build 1");
    }
    assert_eq!(forwarded(&slim, "text", &[text("ex:/relay.echo"), text("heard")]), "heard");
    let threads: Vec<_> = (0..4).map(|_| slim.clone()).map(|slim| thread::spawn(move || render(&slim))).collect();
    for thread in threads {
        assert_eq!(thread.join().expect("it does not panic"), "Ada x2 by build 1");
    }
    gone(&slim.begin_unload().expect("it is collectible"));
}

#[test]
fn lookup_prefers_own_then_borrowed_then_default_modules() {
    let contexts = runtime().contexts();
    contexts.default_context().load_path(reports(3)).expect("it is loaded");
    let of_default = relay(&contexts, "of the default", &[]);
    assert_eq!(number(&of_default, "nm:/reports:Report:build_tag"), "3");
    let lender = contexts.create_slim("lender").expect("the name is free");
    let borrowed = lender.load_path(reports(2)).expect("it is loaded");
    let borrower = contexts.create_slim("borrower").expect("the name is free");
    borrower
        .set_resolver(move |request| Ok((request.name == "reports").then(|| FoundModule::Loaded(borrowed.clone()))));
    borrower.load_name("reports", &any()).unwrap_or_else(|error| panic!("{error}"));
    borrower.load_path(support::plugin("relay", &[])).expect("it is loaded");
    assert_eq!(number(&borrower, "nm:/reports:Report:build_tag"), "2");
    let own = relay(&contexts, "own", &[reports(1)]);
    assert_eq!(number(&own, "nm:/reports:Report:build_tag"), "1");
}

#[test]
fn a_call_unavailable_to_a_module_is_refused_with_a_reason() {
    let contexts = runtime().contexts();
    let slim = relay(&contexts, "refused", &[reports(1), figures(1)]);
    let check = |name: &str, expected: &str| {
        let answer = number(&slim, name);
        assert!(answer.starts_with("refused: ") && answer.contains(expected), "{name}: {answer}");
    };
    check("nm:/reports:Report:nothing", "does not resolve in Slim \"refused\"");
    check("nm:/nobody:Report:build_tag", "nm:/reports:Report:build_tag");
    check("nm:/figures:Sum:of", "the caller was built for");
    check("uf:/Script/Core.Object:name", "in one of its methods");
    check("up:/Script/Core.Object:name", "objects, which belong to the game thread");
    check("no name", "is not a ZCall name");
    let answer = forwarded(&slim, "text", &[text("nm:/reports:Report:fail"), text("on purpose")]);
    assert!(answer.contains("the caller was built for"), "{answer}");
}

#[test]
fn a_running_call_keeps_the_callee_context_and_is_named() {
    let contexts = runtime().contexts();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("go on");
    let lender = contexts.create_slim("lender").expect("the name is free");
    let borrowed = lender.load_path(reports(1)).expect("it is loaded");
    let slim = contexts.create_slim("borrower").expect("the name is free");
    slim.set_resolver(move |request| Ok((request.name == "reports").then(|| FoundModule::Loaded(borrowed.clone()))));
    slim.load_name("reports", &any()).unwrap_or_else(|error| panic!("{error}"));
    slim.load_path(support::plugin("relay", &[])).expect("it is loaded");
    let caller = {
        let (slim, path) = (slim.clone(), path.display().to_string());
        thread::spawn(move || forwarded(&slim, "wait_for", &[text("nm:/reports:Report:wait_for"), text(&path)]))
    };
    let id = lender.id().expect("it is alive");
    support::until("the call is inside", || {
        let report = contexts.report(id).expect("it is there");
        report.blockers.iter().any(|by| by.owner == "nm:/reports:Report:wait_for")
    });
    let ticket = lender.begin_unload().expect("it is collectible");
    assert!(ticket.wait(std::time::Duration::ZERO).is_err(), "a call is inside");
    let report = ticket.report();
    let call = report.blockers.iter().find(|by| by.owner == "nm:/reports:Report:wait_for");
    assert!(call.is_some_and(|call| call.place.is_none()), "{report}");
    // The borrower still calls the borrowed module.
    assert_eq!(number(&slim, "nm:/reports:Report:build_tag"), "1");
    std::fs::write(&path, "").expect("it can be written");
    assert_eq!(caller.join().expect("it does not panic"), "true");
    gone(&slim.begin_unload().expect("it is collectible"));
    gone(&ticket);
}

#[test]
fn an_exit_hook_call_into_an_unloading_context_is_refused() {
    let record = support::record("reports");
    let contexts = runtime().contexts();
    let slim = relay(&contexts, "ending", &[reports(1)]);
    assert_eq!(render(&slim), "Ada x2 by build 1");
    gone(&slim.begin_unload().expect("it is collectible"));
    let lines = record.take();
    assert!(lines.contains("exit relay: refused: `nm:/reports:Report:render` is not available"), "{lines}");
}

#[test]
fn a_dependent_still_calls_its_unloading_or_replaced_lender() {
    type End = fn(LoadContext) -> Option<LoadContext>;
    let ends: [End; 4] = [
        |lender| lender.begin_unload().map(|_| Some(lender)).expect("it is collectible"),
        |lender| lender.replace(reports(2)).map(|_| Some(lender)).expect("it starts"),
        |_lender| None,
        |lender| {
            let _ticket = lender.begin_unload().expect("it is collectible");
            lender.park();
            Some(lender)
        },
    ];
    for (at, end) in ends.into_iter().enumerate() {
        let contexts = runtime().contexts();
        let [lender, borrower] =
            ["lender", "borrower"].map(|name| contexts.create_slim(name).expect("the name is free"));
        let borrowed = lender.load_path(reports(1)).expect("it is loaded");
        borrower.set_resolver(move |request| {
            Ok((request.name == "reports").then(|| FoundModule::Loaded(borrowed.clone())))
        });
        borrower.load_name("reports", &any()).unwrap_or_else(|error| panic!("{error}"));
        borrower.load_path(support::plugin("relay", &[])).expect("it is loaded");
        let before = borrower.function("Report", "build_tag", "-> u64").expect("it is offered");
        assert_eq!(number(&borrower, "nm:/reports:Report:build_tag"), "1");
        let lender = end(lender);
        let ticket = contexts.unloads_of("lender").into_iter().next().expect("it is unloading");
        // Checks calls that modules make and calls that the host makes, with and without a cached lookup, on two threads.
        assert_eq!(render(&borrower), "Ada x2 by build 1", "{at}");
        assert_eq!(number(&borrower, "nm:/reports:Report:build_tag"), "1", "{at}");
        let on_a_thread = {
            let borrower = borrower.clone();
            thread::spawn(move || render(&borrower))
        };
        assert_eq!(on_a_thread.join().expect("it does not panic"), "Ada x2 by build 1", "{at}");
        for function in [before, borrower.function("Report", "build_tag", "-> u64").expect("it is offered")] {
            assert_eq!(super::number(&function).expect("it answers"), 1, "{at}");
        }
        // A function pointer keeps the borrower alive, and the borrower keeps the borrowed module mapped.
        let pointer = borrower.get_function_pointer("Report", "build_tag", "-> u64").expect("it is offered");
        assert_eq!(pointer.call(&[]).expect("it answers"), Some(Value::U64(1)), "{at}");
        assert_ne!(ticket.poll(), ContextState::Dead, "{at}");
        let unload = borrower.begin_unload().expect("it is collectible");
        assert!(unload.wait(std::time::Duration::ZERO).is_err(), "{at}: a pointer exists");
        assert_eq!(pointer.call(&[]).expect("it answers"), Some(Value::U64(1)), "{at}");
        drop(pointer);
        gone(&unload);
        if ticket.state() != ContextState::Parked {
            gone(&ticket);
        }
        drop(lender);
    }
}

#[test]
fn an_exit_hook_calls_dependencies_in_own_and_unloading_contexts() {
    let record = support::record("reports");
    let dependent = support::plugin("relay", &["needs-reports"]);
    let contexts = runtime().contexts();
    let own = contexts.create_slim("own").expect("the name is free");
    own.load_path(reports(1)).expect("it is loaded");
    own.load_path(&dependent).expect("it is loaded");
    gone(&own.begin_unload().expect("it is collectible"));
    let lines = record.take();
    assert!(lines.contains("exit relay: the end x1 by build 1\n"), "{lines}");

    let [lender, borrower] = ["lender", "borrower"].map(|name| contexts.create_slim(name).expect("the name is free"));
    let borrowed = lender.load_path(reports(1)).expect("it is loaded");
    borrower.set_resolver(move |_| Ok(Some(FoundModule::Loaded(borrowed.clone()))));
    borrower.load_path(&dependent).expect("it is loaded");
    let ticket = lender.begin_unload().expect("it is collectible");
    gone(&borrower.begin_unload().expect("it is collectible"));
    gone(&ticket);
    let lines = record.take();
    assert!(lines.contains("exit relay: the end x1 by build 1\n"), "{lines}");
}

#[test]
fn a_main_calls_a_dependency_from_the_same_load() {
    let record = support::record("reports");
    let dependent = support::plugin("relay", &["needs-reports"]);
    let runtime = runtime();
    let slim = runtime.contexts().create_slim("together").expect("the name is free");
    slim.set_resolver(|_| Ok(Some(FoundModule::File(reports(1)))));
    slim.load_path(&dependent).expect("both are loaded");
    let lines = record.take();
    assert!(lines.contains("main relay: the start x1 by build 1\n"), "{lines}");
    // The context has the modules now, so the name that the main has resolved is called through the gate.
    assert_eq!(render(&slim), "Ada x2 by build 1");
    let old = slim.replace(&dependent).expect("the main of the new generation calls its own dependency");
    gone(&old);
    let lines = record.take();
    assert!(lines.contains("main relay: the start x1 by build 1\n"), "{lines}");
    assert!(lines.contains("exit relay: the end x1 by build 1\n"), "{lines}");
    gone(&slim.begin_unload().expect("it is collectible"));
}

#[test]
fn a_failed_load_unloads_the_dependency_that_a_main_has_called() {
    let record = support::record("reports");
    let runtime = runtime();
    let slim = runtime.contexts().create_slim("failed").expect("the name is free");
    slim.set_resolver(|_| Ok(Some(FoundModule::File(reports(1)))));
    let refused = refusal(slim.load_path(support::plugin("relay", &["needs-reports", "panic-in-main"])));
    assert!(refused.starts_with("main of relay panicked: "), "{refused}");
    assert!(slim.modules().is_empty());
    let until = std::time::Instant::now() + super::LONG;
    while !alcedo_runtime::process::stale_mappings(&runtime.stage_dir()).expect("it can be asked").is_empty() {
        assert!(std::time::Instant::now() < until, "an image is still mapped");
        thread::sleep(std::time::Duration::from_millis(1));
    }
    let lines = record.take();
    assert!(lines.contains("main relay: the start x1 by build 1\n"), "{lines}");
    slim.load_path(support::plugin("relay", &["needs-reports"])).expect("both are loaded");
    gone(&slim.begin_unload().expect("it is collectible"));
}

#[test]
fn a_slim_module_calls_shared_host_functions_and_leaves_on_any_thread() {
    let runtime = runtime();
    let calls = runtime.calls();
    let signature = |words: &str| words.parse().expect("a signature");
    let count = Arc::new(AtomicU64::new(0));
    let (counted, owned) = (Arc::clone(&count), Arc::downgrade(&count));
    let next = move |_: &[Value]| Ok(Some(Value::U64(counted.fetch_add(1, Ordering::Relaxed) + 1)));
    calls.register_shared("host.next", signature("-> u64"), next).expect("the name is free");
    let greet = |values: &[Value]| match values {
        [Value::Text(name)] => Ok(Some(Value::Text(format!("hello {name}")))),
        other => panic!("{other:?}"),
    };
    calls.register_shared("host.greet", signature("String -> String"), greet).expect("the name is free");
    calls.register_shared("host.wrong", signature("-> u64"), |_| Ok(None)).expect("the name is free");
    let fails = |_: &[Value]| -> Result<Option<Value>, CallError> { panic!("on purpose") };
    calls.register_shared("host.fails", signature("-> u64"), fails).expect("the name is free");
    calls.register_leaf("host.seven", |(): ()| 7_u64).expect("the name is free");
    calls.register("host.mine", signature("-> u64"), |_, _| Ok(Some(Value::U64(0)))).expect("the name is free");
    let not_in_a_slot = calls.register_shared("host.sum", signature("Array(f64) -> f64"), |_| Ok(None));
    assert!(not_in_a_slot.is_err_and(|error| error.to_string().contains("pass numbers")));
    // The host and the Master can call functions that are registered as shared, like all host functions.
    assert_eq!(calls.call("ex:/host.next", &[]).expect("it answers"), Some(Value::U64(1)));
    assert!(calls.register_shared("host.next", signature("-> u64"), |_| Ok(None)).is_err(), "the name is taken");

    let contexts = runtime.contexts();
    let slim = relay(&contexts, "calls the host", &[]);
    let check = move |slim: &LoadContext| {
        assert_eq!(number(slim, "ex:/host.seven"), "7");
        assert_eq!(forwarded(slim, "text", &[text("ex:/host.greet"), text("Ada")]), "hello Ada");
    };
    check(&slim);
    assert_eq!(number(&slim, "ex:/host.next"), "2");
    let threads: Vec<_> = (0..3).map(|_| slim.clone()).map(|slim| thread::spawn(move || check(&slim))).collect();
    threads.into_iter().for_each(|thread| thread.join().expect("it does not panic"));
    for (name, expected) in [
        ("ex:/host.mine", "the host offer"),
        ("ex:/host.greet", "the caller was built for"),
        ("ex:/host.wrong", "correct its signature"),
        ("ex:/host.fails", "on purpose"),
    ] {
        let answer = number(&slim, name);
        assert!(answer.starts_with("refused: ") && answer.contains(expected), "{name}: {answer}");
    }
    // If a module and the host have functions with this name, the module's function is called.
    calls.register_shared("relay.echo", signature("String -> String"), |_| Ok(None)).expect("the name is free");
    assert_eq!(forwarded(&slim, "text", &[text("ex:/relay.echo"), text("heard")]), "heard");

    drop(count);
    drop(slim);
    let left = contexts.create_slim("outlives the host").expect("the name is free");
    left.load_path(support::plugin("relay", &[])).expect("it is loaded");
    let of_slim = left.function("Relay", "number", "String -> String").expect("it is offered");
    let call = |name: &str| of_slim.call(&[text(name)]);
    assert!(call("ex:/host.next").is_ok());
    drop(runtime);
    assert!(owned.upgrade().is_none(), "captures of the body are dropped with the host");
    let result = call("ex:/host.next");
    assert!(
        matches!(&result, Ok(Some(Value::Text(text))) if text.contains("is not available")) || result.is_err(),
        "{result:?}"
    );
}

/// Returns the function that calls itself by name.
fn again_of(context: &LoadContext) -> ContextFunction {
    context.function("Relay", "again", "u32 -> String").unwrap_or_else(|error| panic!("{error}"))
}

/// On a thread with a stack of 2 MiB, calls a function that calls itself by name. Returns the depth of the call that is refused.
fn refused_depth(context: &LoadContext) -> u32 {
    let again = again_of(context);
    let thread = thread::Builder::new().stack_size(2 << 20).spawn(move || again_by_name(&again));
    thread.expect("a thread").join().expect("it does not panic")
}

/// Calls a function that calls itself by name. Returns the depth of the call that is refused.
fn again_by_name(again: &ContextFunction) -> u32 {
    let answer = match again.call(&[Value::U32(1)]) {
        Ok(Some(Value::Text(answer))) => answer,
        other => panic!("{other:?}"),
    };
    let (depth, refusal) = answer.split_once(" deep: ").unwrap_or_else(|| panic!("{answer}"));
    let expected = format!("nm:/relay:Relay:again calls itself through other functions, {depth} deep");
    assert!(refusal.contains(&expected), "{answer}");
    depth.parse().expect("a number")
}

#[test]
fn endless_recursion_by_name_is_refused_in_each_kind_of_context() {
    let runtime = runtime();
    let contexts = runtime.contexts();
    let slim = relay(&contexts, "endless", &[]);
    let pinned = contexts.create_pinned("endless and pinned").expect("the name is free");
    let default = contexts.default_context();
    for context in [&pinned, &default] {
        context.load_path(support::plugin("relay", &[])).unwrap_or_else(|error| panic!("{error}"));
    }
    for context in [&slim, &pinned, &default] {
        let again = again_of(context);
        assert!(again_by_name(&again) > 2, "on the game thread");
        assert!(refused_depth(context) > 2, "on another thread");
        // The refusal does not affect later calls on the thread.
        assert_eq!(forwarded(context, "text", &[text("ex:/relay.echo"), text("heard")]), "heard");
    }
    gone(&slim.begin_unload().expect("it is collectible"));
}

#[test]
fn the_reserve_of_the_stack_applies_to_calls_of_slims() {
    let hosts = [256 << 10, 1024 << 10]
        .map(|reserve| support::builder().stack_reserve(reserve).build().unwrap_or_else(|error| panic!("{error}")));
    let slims = hosts.each_ref().map(|host| relay(&host.contexts(), "reserved", &[]));
    let functions = slims.each_ref().map(again_of);
    // Runs both calls on one thread: a second thread may get a larger stack than it requests.
    let thread = thread::spawn(move || functions.each_ref().map(again_by_name));
    let [more, less] = thread.join().expect("it does not panic");
    assert!(2 < less && less < more, "{less} {more}");
}

#[test]
fn endless_recursion_of_a_slim_and_the_host_is_refused_inside_and_outside_of_scopes() {
    let runtime = runtime();
    let contexts = runtime.contexts();
    let slim = relay(&contexts, "endless with the host", &[]);
    let current = Arc::new(OnceLock::<ContextFunction>::new());
    let refusals = Arc::new(AtomicU64::new(0));
    let (known, refused) = (Arc::clone(&current), Arc::clone(&refusals));
    let again = move |values: &[Value]| {
        let function = known.get().expect("it is resolved before the first call");
        function.call(&[text("ex:/host.again"), values[0].clone()]).map_err(|error| {
            let is_too_deep = matches!(&error, ContextError::Call(CallError::TooDeep { .. }));
            refused.fetch_add(u64::from(is_too_deep), Ordering::Relaxed);
            CallError::other(error.to_string())
        })
    };
    let signature = "String -> String".parse().expect("a signature");
    runtime.calls().register_shared("host.again", signature, again).expect("the name is free");
    let _scope = slim.enter().expect("it is alive");
    let call = |function: &ContextFunction| match function.call(&[text("ex:/host.again"), text("a text")]) {
        Ok(Some(Value::Text(answer))) => answer,
        other => panic!("{other:?}"),
    };
    let in_scope = contexts.function_here("Relay", "text", "String, String -> String").expect("it is offered");
    current.set(in_scope.clone()).expect("it is not set");
    let answer = call(&in_scope);
    assert!(answer.contains("nm:/relay:Relay:text calls itself through other functions"), "{answer}");
    assert_eq!(refusals.load(Ordering::Relaxed), 1);
    // A new thread is not inside a scope. Its call must therefore enter the gate of the context again.
    let answer = thread::scope(|scope| scope.spawn(|| call(&in_scope)).join().expect("it does not panic"));
    assert!(answer.contains("nm:/relay:Relay:text calls itself through other functions"), "{answer}");
    assert_eq!(refusals.load(Ordering::Relaxed), 2);
}

#[test]
fn endless_recursion_through_a_function_pointer_is_refused() {
    let runtime = runtime();
    let slim = relay(&runtime.contexts(), "endless by a pointer", &[]);
    let pointer = Arc::new(Mutex::new(None::<Arc<FunctionPointer>>));
    let known = Arc::clone(&pointer);
    let again = move |values: &[Value]| {
        let pointer = known.lock().expect("no thread panics").clone().expect("it is set until the end of the test");
        let answer = pointer.call(&[text("ex:/host.deeper"), values[0].clone()]);
        answer.map_err(|error| CallError::other(error.to_string()))
    };
    let signature = "String -> String".parse().expect("a signature");
    runtime.calls().register_shared("host.deeper", signature, again).expect("the name is free");
    let found = slim.get_function_pointer("Relay", "text", "String, String -> String");
    let found = Arc::new(found.unwrap_or_else(|error| panic!("{error}")));
    *pointer.lock().expect("no thread panics") = Some(Arc::clone(&found));
    let answer = found.call(&[text("ex:/host.deeper"), text("a text")]);
    let Ok(Some(Value::Text(answer))) = answer else { panic!("{answer:?}") };
    assert!(answer.contains("nm:/relay:Relay:text calls itself through other functions"), "{answer}");
    *pointer.lock().expect("no thread panics") = None;
}

#[test]
fn calls_racing_replacement_and_unload_return_a_result_or_a_refusal() {
    let contexts = runtime().contexts();
    for round in 0..6 {
        let slim = relay(&contexts, &format!("raced {round}"), &[reports(1)]);
        let function = slim.function("Relay", "number", "String -> String").unwrap_or_else(|error| panic!("{error}"));
        let callers: Vec<_> = (0..2)
            .map(|_| function.clone())
            .map(|function| {
                thread::spawn(move || {
                    let mut answers = 0_u64;
                    // Calls until the context unloads. Until then, each result is the tag, or the error that the callee is not available.
                    while let Ok(answer) = function.call(&[text("nm:/reports:Report:build_tag")]) {
                        let Some(Value::Text(answer)) = answer else { panic!("{answer:?}") };
                        assert!(answer == "1" || answer.contains("is not available"), "{answer}");
                        answers += u64::from(answer == "1");
                    }
                    answers
                })
            })
            .collect();
        thread::yield_now();
        gone(&slim.begin_unload().expect("it is collectible"));
        for caller in callers {
            caller.join().expect("it does not panic");
        }
    }
}
