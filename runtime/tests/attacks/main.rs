//! Tests attacks with safe code only, in plugins and hosts. The name of each test states the defense. The same tests run in debug, in
//! release and under AddressSanitizer: see `.ci`.
//!
//! Attacks that the compiler rejects are in `plugin-api/tests/ui` and `runtime/alcedo/tests/ui`. Hostile files are in `runtime/sys/tests`.

mod broken_drops;
mod coroutine_scripts;
mod coroutines;
mod ends;
mod files;
mod host;
mod mix;
mod native_drops;
mod references;
mod rollback;
mod small_hosts;
mod surface;
mod undone_edits;
mod values;
mod verbs;

use crate::support;

use std::path::PathBuf;

use alcedo_runtime::{ObjectHandle, Runtime, Value};

fn attacker(features: &[&str]) -> PathBuf {
    support::plugin("attacker", &[features, memory()].concat())
}

/// Returns a copy of the attacker's library with another build id.
fn another_attacker() -> PathBuf {
    support::tagged("attacker", memory(), 1)
}

fn memory() -> &'static [&'static str] {
    if std::env::var_os("CHURN_PASS_THROUGH").is_some() { &["pass-through"] } else { &[] }
}

fn host() -> Runtime {
    support::host(&[attacker(&[])])
}

fn spawn(host: &Runtime, class: &str) -> ObjectHandle {
    host.objects().spawn(&format!("/Script/Game.{class}")).unwrap_or_else(|error| panic!("{error}"))
}

/// Calls a function that returns a string. If the host refuses the call, returns the formatted error.
fn query(host: &Runtime, object: ObjectHandle, function: &str) -> String {
    match host.objects().call(object, function, &[]) {
        Ok(Some(Value::Text(text))) => text,
        Ok(other) => format!("{other:?}"),
        Err(error) => format!("refused: {error}"),
    }
}

/// Checks that the host still calls old and new code.
fn assert_works(host: &Runtime) {
    let bystander = spawn(host, "Bystander");
    assert_eq!(query(host, bystander, "answer"), "still here");
    host.objects().destroy(bystander);
    host.safe_point();
}

#[test]
fn the_attacker_builds_as_an_ordinary_plugin() {
    assert_works(&host());
}
