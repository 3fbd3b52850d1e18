//! Tests calls by name that a plugin makes on the current thread and on a new thread. The plugin is loaded into the Master and into a Slim.
//! `runtime/docs/calls.md` lists the permitted calls.

use crate::support;

use alcedo_runtime::{Runtime, Value};
use expect_test::expect;

const NAMES: [&str; 7] = [
    "ex:/ledger.add",
    "nm:/ledger:Sums:add",
    "uf:/Script/Game.Line:rings",
    "uf!:/Script/Game.Line:rings",
    "up:/Script/Game.Line:number",
    "nd:/",
    "db:/other.sum",
];

fn arguments(name: &str, on_thread: bool) -> [Value; 2] {
    [Value::Text(name.to_owned()), Value::Bool(on_thread)]
}

fn text_of(returned: Option<Value>) -> String {
    match returned {
        Some(Value::Text(text)) => text,
        other => panic!("{other:?}"),
    }
}

fn host() -> Runtime {
    let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    let libraries = [support::plugin("ledger", &[]), support::plugin("switchboard", &[])];
    host.create_master(&libraries).unwrap_or_else(|error| panic!("{error}"));
    host
}

#[test]
fn a_module_of_the_master_calls_from_the_game_thread_only() {
    let host = host();
    let rows = [false, true].map(|on_thread| {
        let call = |name| host.calls().call("ex:/ledger.try_call", &arguments(name, on_thread));
        NAMES.map(|name| format!("{name} {}\n", text_of(call(name).unwrap_or_else(|error| panic!("{error}"))))).concat()
    });
    expect![[r#"
        ex:/ledger.add 3
        nm:/ledger:Sums:add 3
        uf:/Script/Game.Line:rings FailureKind(11): `uf:/Script/Game.Line:rings` is called on an object: write `this.zcall` in one of its methods
        uf!:/Script/Game.Line:rings FailureKind(11): `uf!:/Script/Game.Line:rings` is called on an object: write `this.zcall` in one of its methods
        up:/Script/Game.Line:number FailureKind(7): `up:/Script/Game.Line:number` has the signature (i32, fingerprint 2bc5bd2166bfabc7), the caller was built for (fingerprint 4d2b11245e6fb736): rebuild or correct the caller
        nd:/ FailureKind(7): `nd:/` has the signature (none that can be compared: call it with values whose types are queried, as `zcall_any` does), the caller was built for (fingerprint 4d2b11245e6fb736): rebuild or correct the caller
        db:/other.sum 3
    "#]].assert_eq(&rows[0]);
    expect![[r#"
        ex:/ledger.add FailureKind(4): resolving a ZCall is for the game thread only: on other threads a module can finalize, post and log
        nm:/ledger:Sums:add FailureKind(4): resolving a ZCall is for the game thread only: on other threads a module can finalize, post and log
        uf:/Script/Game.Line:rings FailureKind(11): `uf:/Script/Game.Line:rings` is called on an object: write `this.zcall` in one of its methods
        uf!:/Script/Game.Line:rings FailureKind(11): `uf!:/Script/Game.Line:rings` is called on an object: write `this.zcall` in one of its methods
        up:/Script/Game.Line:number FailureKind(4): resolving a ZCall is for the game thread only: on other threads a module can finalize, post and log
        nd:/ FailureKind(4): resolving a ZCall is for the game thread only: on other threads a module can finalize, post and log
        db:/other.sum FailureKind(4): resolving a ZCall is for the game thread only: on other threads a module can finalize, post and log
    "#]].assert_eq(&rows[1]);
}

#[test]
fn a_slim_module_calls_only_functions_without_objects_from_any_thread() {
    let host = host();
    let slim = host.contexts().create_slim("apart").expect("the name is free");
    slim.load_path(support::plugin("ledger", &[])).unwrap_or_else(|error| panic!("{error}"));
    let call = slim.function("", "ledger.try_call", "String, bool -> String").unwrap_or_else(|error| panic!("{error}"));
    let rows = [false, true].map(|on_thread| {
        let row = |name| {
            let returned = call.call(&arguments(name, on_thread)).unwrap_or_else(|error| panic!("{error}"));
            format!("{name} {}\n", text_of(returned))
        };
        NAMES.map(row).concat()
    });
    assert_eq!(rows[0], rows[1], "a Slim treats all threads alike");
    expect![[r#"
        ex:/ledger.add 3
        nm:/ledger:Sums:add 3
        uf:/Script/Game.Line:rings FailureKind(11): `uf:/Script/Game.Line:rings` is called on an object: write `this.zcall` in one of its methods
        uf!:/Script/Game.Line:rings FailureKind(11): `uf!:/Script/Game.Line:rings` is called on an object: write `this.zcall` in one of its methods
        up:/Script/Game.Line:number FailureKind(6): `up:/Script/Game.Line:number` cannot be called in Slim "apart": its protocol resolves to objects, which belong to the game thread; modules here call `nm:/` and `ex:/` names
        nd:/ FailureKind(6): `nd:/` cannot be called in Slim "apart": its protocol resolves to objects, which belong to the game thread; modules here call `nm:/` and `ex:/` names
        db:/other.sum FailureKind(6): `db:/other.sum` is not a ZCall name: no known protocol at byte 0; write one of `ex:/`, `uf:/`, `uf!:/`, `up:/`, `nm:/`, `nd:/`, followed by an address
    "#]].assert_eq(&rows[0]);
    // The host can move the `ContextFunction` to another thread and call the function there.
    let elsewhere = std::thread::spawn(move || call.call(&arguments("ex:/ledger.add", false)).map(text_of));
    assert_eq!(elsewhere.join().expect("no panic").unwrap_or_else(|error| panic!("{error}")), "3");
}
