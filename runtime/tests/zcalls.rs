//! Tests calls by name across the ABI boundary of a real plugin. The host calls functions of `switchboard`, and `switchboard` calls host
//! functions and functions of its own.

use crate::support;

use std::cell::RefCell;
use std::rc::Rc;

use alcedo_runtime::{CallError, Declined, Error, ObjectHandle, Runtime, Value, ZCallFunction};
use expect_test::{Expect, expect};

const LINE: &str = "/Script/Game.Line";
const DIRECT_LINE: &str = "/Script/Game.DirectLine";

fn host() -> Runtime {
    support::host(&[support::plugin("switchboard", &[])])
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// Calls a function by name from the host, and compares the formatted result or error.
fn check(host: &Runtime, name: &str, arguments: &[Value], expected: Expect) {
    let answer = match host.calls().call(name, arguments) {
        Ok(None) => "done".to_owned(),
        Ok(Some(value)) => format!("{value:?}"),
        Err(error) => format!("refused: {error}"),
    };
    expected.assert_eq(&answer);
}

/// Makes the plugin call a function by name, through the method `by` of the object `line`. Compares the string that the method returns.
fn check_from(host: &Runtime, line: ObjectHandle, by: &str, arguments: &[Value], expected: Expect) {
    match host.objects().call(line, by, arguments) {
        Ok(Some(Value::Text(text))) => expected.assert_eq(&text),
        other => panic!("`{by}` returns a string, not {other:?}"),
    }
}

/// Registers two host functions: one doubles a number, the other returns a greeting.
fn register(host: &Runtime) {
    let double = |_: &Runtime, values: &[Value]| match values {
        [Value::I32(one), Value::I32(other)] => Ok(Some(Value::I32(2 * (one + other)))),
        _ => Err(CallError::other("two numbers were promised")),
    };
    host.calls().register("host.double", "i32, i32 -> i32".parse().expect("a signature"), double).expect("a free name");
    let greet = |_: &Runtime, values: &[Value]| match values {
        [Value::Text(name)] => Ok(Some(Value::Text(format!("the host greets {name}")))),
        _ => Err(CallError::other("a text was promised")),
    };
    host.calls().register("host.greet", "String -> String".parse().expect("a signature"), greet).expect("a free name");
}

#[test]
fn a_function_registered_by_the_plugin_is_called_by_the_host() {
    let host = host();
    check(&host, "ex:/switchboard.add", &[Value::I32(40), Value::I32(2)], expect!["I32(42)"]);
    check(&host, "ex:/switchboard.greet", &[text("Ana")], expect![[r#"Text("hello, Ana")"#]]);
}

#[test]
fn a_registered_host_function_is_called_by_plugin_and_host() {
    let host = host();
    register(&host);
    let line = host.objects().spawn(LINE).expect("a line");
    let two = [text("ex:/host.double"), Value::I32(20), Value::I32(1)];
    check_from(&host, line, "add_by", &two, expect!["42"]);
    check_from(&host, line, "query", &[text("ex:/host.greet"), text("Ana")], expect!["the host greets Ana"]);
    check(&host, "ex:/host.greet", &[text("itself")], expect![[r#"Text("the host greets itself")"#]]);
}

#[test]
fn a_plugin_calls_functions_registered_by_plugins() {
    let host = host();
    let line = host.objects().spawn(LINE).expect("a line");
    let two = [text("ex:/switchboard.add"), Value::I32(20), Value::I32(1)];
    check_from(&host, line, "add_by", &two, expect!["21"]);
    check_from(&host, line, "query", &[text("ex:/switchboard.greet"), text("Ana")], expect!["hello, Ana"]);
}

#[test]
fn dead_handles_unknown_names_and_missing_masters_are_distinct_errors() {
    let host = host();
    let name = "nm:/switchboard:Line:office";
    let handle = host.calls().resolve(name).expect("it is there");
    let refused = |host: &Runtime, name: &str| match host.calls().call(name, &[]) {
        Err(Error::Call(error)) => error,
        other => panic!("{other:?}"),
    };
    assert!(matches!(refused(&host, "nm:/switchboard:Line:cellar"), CallError::NotFound { .. }));
    host.unload_master().expect("there is one");
    let dead = host.calls().call_handle(handle, &[]).expect_err("its module has ended");
    assert!(matches!(dead, Error::Call(CallError::DeadHandle { .. })), "{dead}");
    let missing = refused(&host, name);
    assert!(matches!(missing, CallError::NoMaster { .. }) && missing.to_string().contains("no Master"), "{missing}");
    assert!(matches!(refused(&host, "with space"), CallError::NotFound { .. }), "no name at all");
}

#[test]
fn a_name_has_one_owner() {
    let host = host();
    register(&host);
    let again = host.calls().register("host.greet", "".parse().expect("no signature"), |_, _| Ok(None));
    expect!["the host cannot register `ex:/host.greet`: the host has it; choose another name"]
        .assert_eq(&again.expect_err("the name is taken").to_string());
    let stolen = host.calls().register("switchboard.add", "".parse().expect("no signature"), |_, _| Ok(None));
    let stolen = stolen.expect_err("the name is taken").to_string();
    let (before, after) =
        ("the host cannot register `ex:/switchboard.add`: switchboard 0.1.0 (build ", ") has it; choose");
    assert!(stolen.starts_with(before) && stolen.contains(after), "{stolen}");
    let no_name = host.calls().register("with space", "".parse().expect("no signature"), |_, _| Ok(None));
    expect!["`ex:/with space` is not a ZCall name: ' ' is unexpected at byte 8; write `ex:/name`"]
        .assert_eq(&no_name.expect_err("no name").to_string());
}

#[test]
fn a_virtual_call_reaches_the_override_and_a_final_call_does_not() {
    let host = host();
    let (line, direct) =
        (host.objects().spawn(LINE).expect("a line"), host.objects().spawn(DIRECT_LINE).expect("a line"));
    let answer = "uf:/Script/Game.Line:answer";
    check(&host, answer, &[Value::Object(line), text("Ana")], expect![[r#"Text("line 7 answers Ana")"#]]);
    check(&host, answer, &[Value::Object(direct), text("Ana")], expect![[r#"Text("directly: line 7 answers Ana")"#]]);
    check(
        &host,
        "uf!:/Script/Game.Line:answer",
        &[Value::Object(direct), text("Ana")],
        expect![[r#"Text("line 7 answers Ana")"#]],
    );
    check(
        &host,
        "uf://Script/Game.Line:answer",
        &[Value::Object(direct), text("Ana")],
        expect![[r#"Text("directly: line 7 answers Ana")"#]],
    );
    assert_eq!(
        host.objects().call(direct, "rings", &[]).expect("it counts"),
        Some(Value::U32(3)),
        "each call reached the base"
    );
}

#[test]
fn the_plugin_chooses_between_virtual_and_final_too() {
    let host = host();
    let direct = host.objects().spawn(DIRECT_LINE).expect("a line");
    check_from(
        &host,
        direct,
        "query",
        &[text("uf:/Script/Game.Line:answer"), text("Ana")],
        expect!["directly: line 7 answers Ana"],
    );
    check_from(
        &host,
        direct,
        "query",
        &[text("uf!:/Script/Game.Line:answer"), text("Ana")],
        expect!["line 7 answers Ana"],
    );
}

#[test]
fn host_and_plugin_both_call_the_engine() {
    let host = support::host(&[support::plugin("switchboard", &[]), support::plugin("magic-cube", &[])]);
    let cube = host.objects().spawn("/Script/Game.MagicCube").expect("a cube");
    check(
        &host,
        "uf:/Script/Engine.Actor:describe",
        &[Value::Object(cube)],
        expect![[r#"Text("MagicCube_1 at (0.00, 0.00, 0.00)")"#]],
    );
    check(&host, "up:/Script/Engine.Actor:seed", &[Value::Object(cube), Value::U32(5)], expect!["done"]);
    check(&host, "up:/Script/Engine.Actor:seed", &[Value::Object(cube)], expect!["U32(5)"]);
}

#[test]
fn a_property_is_read_and_written_by_its_path_from_both_sides() {
    let host = host();
    let line = host.objects().spawn(LINE).expect("a line");
    let (number, note) = ("up:/Script/Game.Line:number", "up:/Script/Game.Line:note");
    check(&host, number, &[Value::Object(line)], expect!["I32(7)"]);
    check(&host, number, &[Value::Object(line), Value::I32(8)], expect!["done"]);
    check_from(&host, line, "look_up", &[text(number)], expect!["8"]);
    check_from(&host, line, "renumber", &[text(number), Value::I32(9)], expect!["written"]);
    check(&host, number, &[Value::Object(line)], expect!["I32(9)"]);
    check(&host, note, &[Value::Object(line), text("busy")], expect!["done"]);
    check(&host, note, &[Value::Object(line)], expect![[r#"Text("busy")"#]]);
    check_from(&host, line, "annotate", &[text(note), text("busy no more")], expect!["busy no more"]);
    assert_eq!(host.objects().get(line, "note").expect("it has one"), text("busy no more"));
}

#[test]
fn a_module_method_is_called_with_and_without_an_object() {
    let host = host();
    let line = host.objects().spawn(DIRECT_LINE).expect("a line");
    check(&host, "nm:/switchboard:Line:office", &[], expect![[r#"Text("the office")"#]]);
    check(&host, "nm:/switchboard:Game.Line:office", &[], expect![[r#"Text("the office")"#]]);
    check(&host, "nm:/switchboard:/Script/Game.Line:office", &[], expect![[r#"Text("the office")"#]]);
    check(&host, "nm:/switchboard:Line:rings", &[Value::Object(line)], expect!["U32(0)"]);
    check(
        &host,
        "nm:/switchboard:Line:answer",
        &[Value::Object(line), text("Ana")],
        expect![[r#"Text("line 7 answers Ana")"#]],
    );
    check_from(&host, line, "query_office", &[text("nm:/switchboard:Line:office")], expect!["the office"]);
}

#[test]
fn an_unknown_name_lists_the_resolvers_tried() {
    let host = host();
    let line = host.objects().spawn(LINE).expect("a line");
    check(
        &host,
        "ex:/missing",
        &[],
        expect!["refused: `ex:/missing` does not resolve: tried ex; register a function of that name first"],
    );
    check(
        &host,
        "uf:/Script/Game.Line:sing",
        &[Value::Object(line)],
        expect![
            "refused: `uf:/Script/Game.Line:sing` does not resolve: tried uf; declare the function, or load the module that does"
        ],
    );
    check(
        &host,
        "up:/Script/Game.Line:length",
        &[Value::Object(line)],
        expect![
            "refused: `up:/Script/Game.Line:length` does not resolve: tried up; declare the property, or load the module that does"
        ],
    );
    check(
        &host,
        "nm:/nowhere:Line:office",
        &[],
        expect![
            "refused: `nm:/nowhere:Line:office` does not resolve: tried nm; load the module, and export the method from it"
        ],
    );
    check(
        &host,
        "nm:/switchboard:Line:cellar",
        &[],
        expect![
            "refused: `nm:/switchboard:Line:cellar` does not resolve: tried nm; load the module, and export the method from it"
        ],
    );
    check(
        &host,
        "zz:/what",
        &[],
        expect![
            "refused: `zz:/what` is not a ZCall name: no known protocol at byte 0; write one of `ex:/`, `uf:/`, `uf!:/`, `up:/`, `nm:/`, `nd:/`, followed by an address"
        ],
    );
    check_from(
        &host,
        line,
        "query_office",
        &[text("ex:/missing")],
        expect!["refused: `ex:/missing` does not resolve: tried ex; register a function of that name first"],
    );
}

#[test]
fn a_mismatched_signature_is_refused_before_the_call() {
    let host = host();
    register(&host);
    let line = host.objects().spawn(LINE).expect("a line");
    check(
        &host,
        "ex:/switchboard.add",
        &[Value::I32(1), text("2")],
        expect!["refused: `ex:/switchboard.add` (i32, i32 -> i32): argument 1 is String, it must be i32"],
    );
    check(
        &host,
        "ex:/switchboard.add",
        &[Value::I32(1)],
        expect!["refused: `ex:/switchboard.add` (i32, i32 -> i32) does not take 1 arguments, the object included"],
    );
    check(
        &host,
        "up:/Script/Game.Line:number",
        &[Value::Object(line), text("8")],
        expect!["refused: `up` takes the object, and to write also a i32"],
    );
    check(
        &host,
        "uf:/Script/Game.Line:rings",
        &[Value::Object(line), Value::I32(1)],
        expect!["refused: `uf:/Script/Game.Line:rings` (-> u32) does not take 2 arguments, the object included"],
    );
    check(
        &host,
        "uf:/Script/Game.Line:rings",
        &[],
        expect!["refused: `uf:/Script/Game.Line:rings`: slot 0 holds empty, the call expects conjugate"],
    );
    check_from(
        &host,
        line,
        "query",
        &[text("ex:/host.double"), text("Ana")],
        expect![
            "refused: `ex:/host.double` has the signature (i32, i32 -> i32, fingerprint 4d2b11245e6fb736), the caller was built for (fingerprint 3f41716b21d0b306): rebuild or correct the caller"
        ],
    );
    check_from(
        &host,
        line,
        "look_up",
        &[text("up:/Script/Game.Line:note")],
        expect![
            "refused: `up:/Script/Game.Line:note` has the signature (String, fingerprint 33ae44b076fcbb42), the caller was built for (fingerprint 2bc5bd2166bfabc7): rebuild or correct the caller"
        ],
    );
}

#[test]
fn named_calls_refuse_stale_objects_and_other_classes() {
    let host = host();
    let (line, other) =
        (host.objects().spawn(LINE).expect("a line"), host.objects().spawn("/Script/Engine.World").expect("a world"));
    host.objects().destroy(line);
    for name in ["uf:/Script/Game.Line:rings", "uf!:/Script/Game.Line:rings", "nm:/switchboard:Line:rings"] {
        let error = host.calls().call(name, &[Value::Object(line)]).expect_err("it is gone");
        assert!(matches!(error, Error::Call(CallError::Stale { handle }) if handle == line), "{name}: {error}");
    }
    check(
        &host,
        "up:/Script/Game.Line:number",
        &[Value::Object(line)],
        expect!["refused: object #8.1 is gone: check `is_expired` before using a stored handle"],
    );
    check(
        &host,
        "uf:/Script/Game.Line:rings",
        &[Value::Object(other)],
        expect!["refused: /Script/Game.Line:rings: object #9.1 is a /Script/Engine.World, not a /Script/Game.Line"],
    );
    check(
        &host,
        "up:/Script/Game.Line:number",
        &[Value::Object(other)],
        expect!["refused: /Script/Game.Line:number: object #9.1 is a /Script/Engine.World, not a /Script/Game.Line"],
    );
}

#[test]
fn a_call_handle_expires_with_its_generation_unlike_its_name() {
    let (first, second) = (support::tagged("magic-cube", &[], 1), support::tagged("magic-cube", &[], 2));
    let host = support::host(&[first]);
    let name = "nm:/magic_cube:MagicCube:build_tag";
    let old = host.calls().resolve(name).expect("it is offered");
    assert_eq!(host.calls().call_handle(old, &[]).expect("it answers"), Some(Value::U64(1)));
    assert!(old.0 < 0, "red: the module implements it");

    host.reload(&[second]).expect("a Master").into_result().expect("a reload");

    let dead = host.calls().call_handle(old, &[]).expect_err("its generation has ended");
    assert_eq!(
        dead.to_string(),
        format!("call handle {} is dead, its module has ended: resolve the name again", old.0)
    );
    let new = host.calls().resolve(name).expect("it is offered again");
    assert_ne!(new, old, "handles are not reused");
    assert_eq!(host.calls().call_handle(new, &[]).expect("it answers"), Some(Value::U64(2)));

    host.unload_master().expect("a Master");
    assert!(host.calls().call_handle(new, &[]).is_err());
    assert!(host.calls().resolve(name).is_err());
    let never = host.calls().call_handle(alcedo_runtime::ZCallHandle(0), &[]).expect_err("zero is none");
    assert_eq!(never.to_string(), "call handle 0 was never issued: resolve a name first");
}

#[test]
fn a_handle_of_the_host_outlives_generations() {
    let library = support::plugin("magic-cube", &[]);
    let host = support::host(std::slice::from_ref(&library));
    register(&host);
    let handle = host.calls().resolve("ex:/host.greet").expect("it is registered");
    assert!(handle.0 > 0, "black: the host implements it");
    host.reload(&[library]).expect("a Master").into_result().expect("a reload");
    let greeting = host.calls().call_handle(handle, &[text("Ana")]).expect("it answers");
    assert_eq!(greeting, Some(text("the host greets Ana")));
}

#[test]
fn a_rolled_back_reload_leaves_handles_and_registered_names_alive() {
    let healthy = support::plugin("switchboard", &[]);
    let host = support::host(&[healthy.clone(), support::plugin("broken", &[])]);
    let handle = host.calls().resolve("ex:/switchboard.add").expect("it is registered");
    let report = host.reload(&[healthy, support::plugin("broken", &["panic-in-main"])]).expect("a Master");
    assert!(!report.is_committed(), "{report}");
    let sum = host.calls().call_handle(handle, &[Value::I32(1), Value::I32(2)]).expect("it answers");
    assert_eq!(sum, Some(Value::I32(3)));
    assert_eq!(host.calls().resolve("ex:/switchboard.add").expect("it is registered"), handle);
}

/// Log that a resolver and its test share.
type Log = Rc<RefCell<Vec<String>>>;

/// Adds a protocol `db` with the functions `add`, `greet` and the names in the first returned list. The second returned list contains the
/// names that were requested.
fn with_db(host: &Runtime) -> (Log, Log) {
    let (tables, requests) = (Rc::new(RefCell::new(Vec::new())), Rc::new(RefCell::new(Vec::new())));
    let (known, log) = (Rc::clone(&tables), Rc::clone(&requests));
    let resolver = move |host: &Runtime, name: &str| {
        log.borrow_mut().push(name.to_owned());
        let add = |_: &Runtime, values: &[Value]| match values {
            [Value::I32(one), Value::I32(other)] => Ok(Some(Value::I32(one + other))),
            _ => Err(CallError::other("two numbers were promised")),
        };
        let greet = |_: &Runtime, values: &[Value]| match values {
            [Value::Text(name)] => Ok(Some(Value::Text(format!("the table greets {name}")))),
            _ => Err(CallError::other("a text was promised")),
        };
        match name {
            "add" => Ok(ZCallFunction::pure("i32, i32 -> i32".parse().expect("a signature"), add)),
            "greet" => Ok(ZCallFunction::new("String -> String".parse().expect("a signature"), greet)),
            "panics" => panic!("on purpose"),
            "itself" => host
                .calls()
                .resolve("db:/itself")
                .map_err(|error| error.to_string().into())
                .and_then(|_| Err(Declined::from("it cannot be"))),
            table if known.borrow().iter().any(|known| known == table) => {
                Ok(ZCallFunction::new("-> u32".parse().expect("a signature"), |_, _| Ok(Some(Value::U32(7)))))
            }
            table => Err(Declined::from(format!("unknown table {table}"))),
        }
    };
    host.calls().add_value_resolver("db", resolver).expect("it is free");
    (tables, requests)
}

#[test]
fn unused_answers_of_a_resolver_are_dropped() {
    let (host, token) = (host(), Rc::new(()));
    let held = Rc::clone(&token);
    let resolver = move |_: &Runtime, _: &str| {
        let (signature, held) = ("-> u32".parse().expect("a signature"), Rc::clone(&held));
        Ok(ZCallFunction::new(signature, move |_, _| {
            let _held = &held;
            Ok(Some(Value::U32(7)))
        }))
    };
    host.calls().add_value_resolver("db", resolver).expect("it is free");
    for _ in 0..1_000 {
        host.calls().explain("db:/unused").expect("a name");
    }
    assert!(Rc::strong_count(&token) < 100, "{} closures", Rc::strong_count(&token));
    check(&host, "db:/used", &[], expect!["U32(7)"]);
}

#[test]
fn a_host_protocol_is_called_by_host_and_plugin() {
    let host = host();
    let (_, requests) = with_db(&host);
    check(&host, "db:/add", &[Value::I32(40), Value::I32(2)], expect!["I32(42)"]);
    let line = host.objects().spawn(LINE).expect("a line");
    let two = [text("db:/add"), Value::I32(20), Value::I32(1)];
    check_from(&host, line, "add_by", &two, expect!["21"]);
    check_from(&host, line, "add_any", &two, expect!["21"]);
    check_from(&host, line, "query", &[text("db:/greet"), text("Ana")], expect!["the table greets Ana"]);
    assert_eq!(*requests.borrow(), ["add", "greet"], "a name is looked up once");
    check(
        &host,
        "db:/add",
        &[text("Ana")],
        expect!["refused: `db:/add` (i32, i32 -> i32) does not take 1 arguments, the object included"],
    );
    check_from(
        &host,
        line,
        "query",
        &[text("db:/add"), text("Ana")],
        expect![
            "refused: `db:/add` has the signature (i32, i32 -> i32, fingerprint 4d2b11245e6fb736), the caller was built for (fingerprint 3f41716b21d0b306): rebuild or correct the caller"
        ],
    );
}

#[test]
fn a_name_declined_by_the_host_is_reported_and_retried() {
    let host = host();
    let (tables, requests) = with_db(&host);
    let reason = "`db:/users` does not resolve: tried the host's `db` (declined: unknown table users)";
    for _ in 0..2 {
        assert_eq!(host.calls().call("db:/users", &[]).expect_err("there is none").to_string(), reason);
    }
    let line = host.objects().spawn(LINE).expect("a line");
    check_from(
        &host,
        line,
        "query_office",
        &[text("db:/users")],
        expect!["refused: `db:/users` does not resolve: tried the host's `db` (declined: unknown table users)"],
    );
    assert_eq!(requests.borrow().len(), 3);
    tables.borrow_mut().push("users".to_owned());
    check(&host, "db:/users", &[], expect!["U32(7)"]);
    check(
        &host,
        "db:/",
        &[],
        expect![
            "refused: `db:/` is not a ZCall name: the name is missing at byte 4; write `protocol:/what the host knows`, without spaces"
        ],
    );
    check(&host, "db:/panics", &[], expect![[r#"refused: panicked: "on purpose""#]]);
    check(
        &host,
        "db:/itself",
        &[],
        expect![
            "refused: `db:/itself` does not resolve: tried the host's `db` (declined: the resolution of a name requires itself: db:/itself → db:/itself; answer without these names)"
        ],
    );
    check(
        &host,
        "cache:/users",
        &[],
        expect![
            "refused: `cache:/users` is not a ZCall name: no known protocol at byte 0; write one of `ex:/`, `uf:/`, `uf!:/`, `up:/`, `nm:/`, `nd:/`, `db:/`, followed by an address"
        ],
    );
}

#[test]
fn a_protocol_has_one_resolver() {
    let host = host();
    with_db(&host);
    let none = |_: &Runtime, _: &str| Err::<ZCallFunction, _>(Declined::from("no"));
    for reserved in ["db", "ex"] {
        let error = host.calls().add_value_resolver(reserved, none).expect_err("it is taken").to_string();
        assert!(error.contains("is taken"), "{error}");
    }
    assert!(host.calls().add_value_resolver("two words", none).is_err());
    check(&host, "db:/add", &[Value::I32(40), Value::I32(2)], expect!["I32(42)"]);
}

#[test]
fn a_protocol_of_the_host_outlives_rollback_reload_and_unload() {
    let host = host();
    let (tables, _) = with_db(&host);
    let handle = host.calls().resolve("db:/add").expect("it is there");
    let two = [Value::I32(40), Value::I32(2)];
    let library = support::plugin("switchboard", &[]);
    let before = host.worlds().digest();
    let broken = host.reload(&[library.clone(), support::plugin("reports", &["panic-in-main"])]).expect("a Master");
    assert!(!broken.is_committed());
    assert_eq!(before.differences(&host.worlds().digest()), [""; 0]);
    assert_eq!(host.calls().call_handle(handle, &two).expect("it answers"), Some(Value::I32(42)));
    host.reload(&[library]).expect("a Master").into_result().expect("a reload");
    tables.borrow_mut().push("users".to_owned());
    let line = host.objects().spawn(LINE).expect("a line");
    check_from(&host, line, "query", &[text("db:/greet"), text("Ana")], expect!["the table greets Ana"]);
    host.unload_master().expect("a Master");
    assert_eq!(host.calls().call_handle(handle, &two).expect("it answers"), Some(Value::I32(42)));
    check(&host, "db:/users", &[], expect!["U32(7)"]);
}
