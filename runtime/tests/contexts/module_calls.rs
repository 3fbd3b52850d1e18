//! Modules of contexts that belong to no thread call each other by name.

use std::thread;

use alcedo_runtime::{Contexts, FoundModule, LoadContext, Value};

use super::{any, figures, gone, reports, runtime, support, text};

const RENDER: &str = "nm:/reports:Report:render";

/// A Slim with `relay`, and these beside it.
fn relay(contexts: &Contexts, name: &str, beside: &[std::path::PathBuf]) -> LoadContext {
    let slim = contexts.create_slim(name).unwrap_or_else(|error| panic!("{error}"));
    for library in beside.iter().chain([&support::plugin("relay", &[])]) {
        slim.load_path(library).unwrap_or_else(|error| panic!("{error}"));
    }
    slim
}

/// What `method` of `relay` says when it hands these on.
fn handed_on(slim: &LoadContext, method: &str, arguments: &[Value]) -> String {
    let words = match method {
        "number" => "String -> String",
        "render" => "String, String, u32 -> String",
        _ => "String, String -> String",
    };
    let function = slim.function("Relay", method, words).unwrap_or_else(|error| panic!("{error}"));
    match function.call(arguments).unwrap_or_else(|error| panic!("{error}")) {
        Some(Value::Text(text)) => text,
        other => panic!("{other:?}"),
    }
}

fn number(slim: &LoadContext, name: &str) -> String {
    handed_on(slim, "number", &[text(name)])
}

fn render(slim: &LoadContext) -> String {
    handed_on(slim, "render", &[text(RENDER), text("Ada"), Value::U32(2)])
}

#[test]
fn a_module_calls_a_function_of_another_module_of_its_slim_on_any_thread() {
    let contexts = runtime().contexts();
    let slim = relay(&contexts, "beside", &[reports(1)]);
    for name in [RENDER, "nm:/reports:Report:render"] {
        let said = handed_on(&slim, "render", &[text(name), text("Ada"), Value::U32(2)]);
        assert_eq!(said, "Ada x2 by build 1");
    }
    assert_eq!(handed_on(&slim, "text", &[text("ex:/relay.echo"), text("heard")]), "heard");
    let threads: Vec<_> = (0..4).map(|_| slim.clone()).map(|slim| thread::spawn(move || render(&slim))).collect();
    for thread in threads {
        assert_eq!(thread.join().expect("it does not panic"), "Ada x2 by build 1");
    }
    gone(&slim.begin_unload().expect("it is collectible"));
}

#[test]
fn a_module_finds_what_its_own_context_has_before_what_it_borrowed_and_that_before_the_default() {
    let contexts = runtime().contexts();
    contexts.default_context().load_path(reports(3)).expect("it is loaded");
    let of_default = relay(&contexts, "of the default", &[]);
    assert_eq!(number(&of_default, "nm:/reports:Report:build_tag"), "3");
    let lender = contexts.create_slim("lender").expect("the name is free");
    let lent = lender.load_path(reports(2)).expect("it is loaded");
    let borrower = contexts.create_slim("borrower").expect("the name is free");
    borrower.set_resolver(move |request| Ok((request.name == "reports").then(|| FoundModule::Loaded(lent.clone()))));
    borrower.load_name("reports", &any()).unwrap_or_else(|error| panic!("{error}"));
    borrower.load_path(support::plugin("relay", &[])).expect("it is loaded");
    assert_eq!(number(&borrower, "nm:/reports:Report:build_tag"), "2");
    let own = relay(&contexts, "own", &[reports(1)]);
    assert_eq!(number(&own, "nm:/reports:Report:build_tag"), "1");
}

#[test]
fn what_a_module_cannot_call_is_refused_with_a_sentence() {
    let contexts = runtime().contexts();
    let slim = relay(&contexts, "refused", &[reports(1), figures(1)]);
    let check = |name: &str, says: &str| {
        let said = number(&slim, name);
        assert!(said.starts_with("refused: ") && said.contains(says), "{name}: {said}");
    };
    check("nm:/reports:Report:nothing", "leads nowhere in Slim \"refused\"");
    check("nm:/nobody:Report:build_tag", "nm:/reports:Report:build_tag");
    check("nm:/figures:Sum:of", "the caller was built for");
    check("uf:/Script/Core.Object:name", "in one of its methods");
    check("up:/Script/Core.Object:name", "objects, which are the game thread's");
    check("no name", "is no ZCall name");
    let said = handed_on(&slim, "text", &[text("nm:/reports:Report:fail"), text("on purpose")]);
    assert!(said.contains("the caller was built for"), "{said}");
}

#[test]
fn a_call_of_a_module_keeps_the_context_that_has_the_function_and_is_named_until_it_returns() {
    let contexts = runtime().contexts();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("go on");
    let lender = contexts.create_slim("lender").expect("the name is free");
    let lent = lender.load_path(reports(1)).expect("it is loaded");
    let slim = contexts.create_slim("borrower").expect("the name is free");
    slim.set_resolver(move |request| Ok((request.name == "reports").then(|| FoundModule::Loaded(lent.clone()))));
    slim.load_name("reports", &any()).unwrap_or_else(|error| panic!("{error}"));
    slim.load_path(support::plugin("relay", &[])).expect("it is loaded");
    let caller = {
        let (slim, path) = (slim.clone(), path.display().to_string());
        thread::spawn(move || handed_on(&slim, "wait_for", &[text("nm:/reports:Report:wait_for"), text(&path)]))
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
    // Who comes now is turned away, and the image is there as long as the call is inside.
    let late = number(&slim, "nm:/reports:Report:build_tag");
    assert!(late.contains("`nm:/reports:Report:build_tag` is not available"), "{late}");
    std::fs::write(&path, "").expect("it can be written");
    assert_eq!(caller.join().expect("it does not panic"), "true");
    gone(&slim.begin_unload().expect("it is collectible"));
    gone(&ticket);
}

#[test]
fn a_call_from_an_exit_hook_into_a_context_that_ends_gets_a_refusal() {
    let record = support::record("reports");
    let contexts = runtime().contexts();
    let slim = relay(&contexts, "ending", &[reports(1)]);
    assert_eq!(render(&slim), "Ada x2 by build 1");
    gone(&slim.begin_unload().expect("it is collectible"));
    let lines = record.take();
    assert!(lines.contains("exit relay: refused: `nm:/reports:Report:render` is not available"), "{lines}");
}

#[test]
fn modules_that_call_while_their_slim_is_replaced_and_unloaded_get_an_answer_or_a_refusal() {
    let contexts = runtime().contexts();
    for round in 0..6 {
        let slim = relay(&contexts, &format!("raced {round}"), &[reports(1)]);
        let function = slim.function("Relay", "number", "String -> String").unwrap_or_else(|error| panic!("{error}"));
        let callers: Vec<_> = (0..2)
            .map(|_| function.clone())
            .map(|function| {
                thread::spawn(move || {
                    let mut answers = 0_u64;
                    // Until the context unloads; what its module says meanwhile is an answer or the refusal of a callee.
                    while let Ok(said) = function.call(&[text("nm:/reports:Report:build_tag")]) {
                        let Some(Value::Text(said)) = said else { panic!("{said:?}") };
                        assert!(said == "1" || said.contains("is not available"), "{said}");
                        answers += u64::from(said == "1");
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
