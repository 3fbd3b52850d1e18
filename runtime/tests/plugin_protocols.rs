//! Tests protocols and resolvers that plugins register. The host and other plugins call functions through these resolvers, also after
//! reloads, rollbacks and unloads. The tests cover every error that a plugin can cause.

use crate::support;

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use alcedo_runtime::host::TypedFunction;
use alcedo_runtime::zcall::{Answer, Call, PlainProtocol, Resolved, StepAnswer, ZCallName};
use alcedo_runtime::{CallError, Error, Runtime, Signature, Value, WeakRuntime};
use expect_test::{Expect, expect};

fn ledger(features: &[&str], tag: u64) -> PathBuf {
    support::tagged("ledger", features, tag)
}

/// Returns a host with a protocol that plugins may extend. Each test of this file records the log. The recording forces these tests to run
/// one at a time.
fn host(libraries: &[PathBuf]) -> Runtime {
    let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    host.calls().add_protocol(PlainProtocol::new("console")).expect("it is free");
    let signature: Signature = "String -> String".parse().expect("a signature");
    let commands = move |name: &ZCallName| match name.rest() {
        "say" | "greet" => Ok(Answer::Function(Resolved::new(signature.clone(), |mut call: Call<'_>| {
            let answer = format!("hello from the host, {}", call.text(0)?);
            call.set_text_result(&answer)
        }))),
        other => Ok(Answer::declined(format!("the host has no command {other}"))),
    };
    host.calls().add_resolver("console", 0, "commands", commands).expect("there is the protocol");
    host.create_master(libraries).unwrap_or_else(|error| panic!("{error}"));
    host
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn check(host: &Runtime, name: &str, arguments: &[Value], expected: Expect) {
    let answer = match host.calls().call(name, arguments) {
        Ok(value) => format!("{value:?}"),
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&answer);
}

/// Calls a function of the plugin by name. Returns the string result of the function.
fn call_text(host: &Runtime, name: &str, arguments: &[Value]) -> String {
    match host.calls().call(name, arguments) {
        Ok(Some(Value::Text(text))) => text,
        other => panic!("{name}: {other:?}"),
    }
}

fn reload(host: &Runtime, libraries: &[PathBuf]) {
    let report = host.reload(libraries).unwrap_or_else(|error| panic!("{error}"));
    report.into_result().unwrap_or_else(|report| panic!("{report}"));
}

#[test]
fn plugin_protocol_names_are_called_by_host_and_other_plugins() {
    let _alone = support::record("ledger");
    let host = host(&[ledger(&[], 1), support::plugin("switchboard", &[])]);
    check(&host, "db:/users.count", &[Value::I64(3)], expect!["Some(I64(5))"]);
    // The protocol normalizes each name.
    let handle = host.calls().resolve("db:/USERS.Count").expect("it is there");
    assert_eq!(host.calls().resolve("db:/users.count").expect("it is there"), handle);
    let count: TypedFunction<(i64,), i64> = host.function("db:/users.count").expect("it is there");
    assert_eq!(count.call((1,)).expect("six"), 6);
    let line = host.objects().spawn("/Script/Game.Line").expect("a line");
    let answer = host.objects().call(line, "query", &[text("console:/greet"), text("Ana")]).expect("the call succeeds");
    assert_eq!(answer, Some(text("the ledger greets Ana")), "the smallest priority is first");
    check(&host, "db:/other.sum", &[Value::I32(20), Value::I32(22)], expect!["Some(I32(42))"]);
}

#[test]
fn the_callers_signature_is_compared_when_a_name_is_resolved() {
    let record = support::record("ledger");
    let host = host(&[ledger(&[], 1)]);
    record.take();
    let wrong = host.function::<(f64,), i64>("db:/users.count").expect_err("other types").to_string();
    assert!(wrong.contains("i64 -> i64") && wrong.contains("f64 -> i64"), "{wrong}");
    check(
        &host,
        "db:/users.count",
        &[text("one")],
        expect!["`db:/users.count` (i64 -> i64): argument 0 is String, it must be i64"],
    );
    assert_eq!(record.take(), "", "the function that was found is kept under its handle");
}

#[test]
fn a_declined_name_is_looked_up_again_and_tools_list_the_decliners() {
    let _alone = support::record("ledger");
    let host = host(&[ledger(&[], 1)]);
    check(
        &host,
        "db:/orders.count",
        &[Value::I64(1)],
        expect![
            "`db:/orders.count` does not resolve: tried tables (declined: unknown column orders.count); the ledger has to learn it first"
        ],
    );
    host.calls().call("ex:/ledger.learn", &[text("orders.count")]).expect("it learns");
    check(&host, "db:/orders.count", &[Value::I64(1)], expect!["Some(I64(1))"]);
    let explained = |name: &str| {
        let explanation = host.calls().explain(name).unwrap_or_else(|error| panic!("{error}")).to_string();
        // Removes build ids, which differ on each machine.
        let cut = |line: &str| match line.split_once("(build ") {
            Some((before, after)) => format!("{before}({}", after.split_once(')').map_or("", |(_, rest)| rest)),
            None => line.to_owned(),
        };
        explanation.lines().map(cut).collect::<Vec<_>>().join("\n")
    };
    expect![[r#"
        console:/sing  (protocol: the host)
          -1  commands of the ledger (ledger 0.1.0 (): declined: the ledger has no command sing
          0  commands (the host): declined: the host has no command sing"#]]
    .assert_eq(&explained("console:/sing"));
    expect![[r#"
        console:/greet  (protocol: the host)
          -1  commands of the ledger (ledger 0.1.0 (): found (String -> String), implemented by module 1
          0  commands (the host): not called, an earlier resolver has decided"#]]
    .assert_eq(&explained("console:/greet"));
    let failed = host.calls().explain("db:/resolver.fails").expect("a name");
    assert!(matches!(&failed.steps[0].answer, StepAnswer::Failed(error) if error.to_string() == "the resolver fails"));
    assert!(host.console("explain db:/users.count").contains("found (i64 -> i64)"));
    assert!(host.console("explain zz:/users").contains("no known protocol"));
}

#[test]
fn plugin_registrations_end_with_their_generation() {
    let record = support::record("ledger");
    let host = host(&[ledger(&[], 1)]);
    let handle = host.calls().resolve("db:/users.count").expect("it is there");
    let kept: TypedFunction<(i64,), i64> = host.function("db:/users.count").expect("it is there");
    let build: TypedFunction<(), u64> = host.function("console:/build").expect("it is there");
    assert_eq!((kept.call((1,)).expect("three"), build.call(()).expect("a tag")), (3, 1));
    expect![[r#"
        db: done
        console: done
    "#]]
    .assert_eq(&record.take());
    reload(&host, &[ledger(&[], 2)]);
    let dead = host.calls().call_handle(handle, &[Value::I64(1)]).expect_err("its generation has ended");
    assert!(matches!(dead, Error::Call(CallError::DeadHandle { .. })), "{dead}");
    assert_eq!(
        (kept.call((1,)).expect("three"), build.call(()).expect("a tag")),
        (3, 2),
        "the new generation, counting from its start"
    );
    expect![[r#"
        db: done
        console: done
        dropped users.count
        exit
    "#]]
    .assert_eq(&record.take());
    host.unload_master().expect("a Master");
    expect![[r#"
        dropped users.count
        exit
    "#]]
    .assert_eq(&record.take());
    check(&host, "console:/greet", &[text("Ana")], expect![[r#"Some(Text("hello from the host, Ana"))"#]]);
    let gone = host.calls().resolve("db:/users.count").expect_err("the protocol is gone").to_string();
    assert!(gone.contains("no known protocol"), "{gone}");
    assert!(build.call(()).is_err() && kept.call((1,)).is_err());
}

#[test]
fn a_rollback_leaves_names_of_the_old_generation_unchanged() {
    let _alone = support::record("ledger");
    let host = host(&[ledger(&[], 1)]);
    let handle = host.calls().resolve("db:/users.count").expect("it is there");
    let before = host.worlds().digest();
    let broken = host.reload(&[ledger(&["panic-in-main"], 2)]).expect("a Master");
    assert!(!broken.is_committed(), "{broken}");
    assert_eq!(before.differences(&host.worlds().digest()), [""; 0]);
    assert_eq!(host.calls().call_handle(handle, &[Value::I64(5)]).expect("it answers"), Some(Value::I64(7)));
    check(&host, "console:/build", &[], expect!["Some(U64(1))"]);
    reload(&host, &[ledger(&[], 3)]);
    check(&host, "console:/build", &[], expect!["Some(U64(3))"]);
}

#[test]
fn names_of_a_module_that_stays_are_refused_before_a_commit_with_the_typed_error() {
    let _alone = support::record("ledger");
    let (host, found) = (Rc::new(RefCell::new(None::<WeakRuntime>)), Rc::new(RefCell::new(Vec::new())));
    let (known, inner) = (Rc::clone(&host), Rc::clone(&found));
    let builder = support::builder().on_event(move |_| {
        let Some(host) = known.borrow().as_ref().and_then(WeakRuntime::upgrade) else { return };
        let resolved = host.calls().resolve("db:/USERS.count");
        inner.borrow_mut().push(resolved);
    });
    let libraries = |tag| [ledger(&[], 1), support::tagged("switchboard", &[], tag)];
    let runtime = support::host_of(builder, &libraries(1));
    *host.borrow_mut() = Some(runtime.downgrade());
    let report = runtime.reload_changed(&libraries(2)).expect("a Master");
    assert_eq!(report.into_result().unwrap_or_else(|report| panic!("{report}")).modules, ["switchboard"]);
    let is_refused = |found: &Result<_, Error>| matches!(found, Err(Error::Call(CallError::DuringRebuild { .. })));
    let found = found.borrow();
    assert!(found.iter().any(is_refused) && found.iter().all(|one| one.is_ok() || is_refused(one)), "{found:?}");
}

#[test]
fn protocol_names_and_labels_have_one_owner_each() {
    let _alone = support::record("ledger");
    let host = host(&[ledger(&[], 1)]);
    let register = |word: &str| call_text(&host, "ex:/ledger.register", &[text(word), Value::Bool(false)]);
    let resolve = |word: &str, label: &str| call_text(&host, "ex:/ledger.resolve", &[text(word), text(label)]);
    let answers = [register("uf"), register("console"), register("Db"), register("http"), resolve("http", "pages")];
    expect![[r#"
        FailureKind(11): the protocol `uf` is taken: it is built in; choose another name
        FailureKind(11): the protocol `console` is taken: the host has registered it, and resolvers may be added to it; choose another name
        FailureKind(11): `Db` cannot be a protocol: write at most 32 lower-case letters, digits, `+`, `-` and `.`, a letter first
        done
        done"#]]
    .assert_eq(&answers.join("\n"));
    let again = register("db");
    assert!(
        again.contains("the protocol `db` is taken: ledger 0.1.0 (build ")
            && again.ends_with("has registered it; choose another name"),
        "{again}"
    );
    let answers = [resolve("http", "pages"), resolve("nm", "mine"), resolve("zz", "mine")];
    expect![[r#"
        FailureKind(11): the resolver `pages` cannot be added to the protocol `http`: it has a resolver of that label; choose another, since errors identify resolvers by label
        FailureKind(11): the resolver `mine` cannot be added to the protocol `nm`: it is built in, and its names are resolved by the runtime; add a protocol for them
        FailureKind(11): the resolver `mine` cannot be added to the protocol `zz`: there is none of that name; add the protocol first"#]]
    .assert_eq(&answers.join("\n"));
    let refused =
        host.calls().add_resolver("db", 0, "mine", |_: &ZCallName| Ok(Answer::declined(""))).expect_err("it ends");
    assert!(refused.to_string().contains("it is ledger 0.1.0 (build "), "{refused}");
    let in_use = host.calls().add_protocol(PlainProtocol::new("http")).expect_err("it is the ledger's");
    assert!(in_use.to_string().contains("has registered it; choose another name"), "{in_use}");
    let thread = call_text(&host, "ex:/ledger.register", &[text("ftp"), Value::Bool(true)]);
    assert!(thread.starts_with("FailureKind(4)") && thread.contains("registering a protocol"), "{thread}");
    check(
        &host,
        "http:/example.org",
        &[],
        expect!["`http:/example.org` does not resolve: tried pages (declined: no such name)"],
    );
}

#[test]
fn protocol_and_resolver_failures_are_only_errors_of_the_caller() {
    let _alone = support::record("ledger");
    let host = host(&[ledger(&[], 1)]);
    for _ in 0..2 {
        check(
            &host,
            "db:/users",
            &[],
            expect![
                "`db:/users` is not a ZCall name: a table and a column are missing at byte 4; write `db:/table.column`"
            ],
        );
        check(
            &host,
            "db:users.count",
            &[],
            expect!["`db:users.count` is not a ZCall name: `/` is missing at byte 3; write `db:/table.column`"],
        );
        for (name, argument, expected) in [
            ("db:/crash.column", 1, "the protocol crashes"),
            ("db:/resolver.crash", 1, "the resolver crashes"),
            ("db:/users.count", 99, "99 is too much"),
            ("db:/users.count", -1, "returned the error \"a column only grows\""),
        ] {
            let error = host.calls().call(name, &[Value::I64(argument)]).expect_err(name).to_string();
            assert!(error.contains(expected) && error.contains("ledger/src/lib.rs"), "{name}: {error}");
        }
        let itself = host.calls().call("db:/itself.needed", &[]).expect_err("it needs itself").to_string();
        assert!(itself.contains("the resolution of a name requires itself"), "{itself}");
    }
    check(&host, "db:/users.count", &[Value::I64(0)], expect!["Some(I64(2))"]);
}

#[test]
fn a_module_of_a_slim_registers_no_protocol() {
    let _alone = support::record("ledger");
    let host = support::builder().build().expect("a host");
    let slim = host.contexts().create_slim("apart").expect("the name is free");
    slim.load_path(ledger(&[], 1)).unwrap_or_else(|error| panic!("{error}"));
    let register =
        slim.function("", "ledger.register", "String, bool -> String").unwrap_or_else(|error| panic!("{error}"));
    let answer = register.call(&[text("http"), Value::Bool(false)]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        answer,
        Some(text("FailureKind(11): registering a protocol is for modules of the Master: a Slim has no objects"))
    );
}
