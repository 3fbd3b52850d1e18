//! Tests the rules of load contexts with real libraries. Each test checks one rule and is named after the rule. A letter and a number name
//! a rule of .NET's load contexts. Tests without a letter and a number check rules of this design. These rules have no test:
//!
//! | rule | reason for no test |
//! | --- | --- |
//! | A4 a context per file | B1 tests `create_slim` and `load_path`, which create a Slim for a file |
//! | A5 code made at run time | plugins generate no code at run time |
//! | B2 precompiled images | a library has only one form |
//! | C3 satellites by culture | modules have no cultures |
//! | C6 one resolver for the whole process | omitted by design: contexts use only their own resolvers |
//! | E9, E10 the phases of the collector | contexts have no collector; E1 to E8 test the order |
//! | G "unsupported in collectible" | B8 tests `peek`, which reports `will_park` before a load |
//! | a null argument, a mock assembly | Rust code cannot express them |

mod attack;
mod checkpoints;
mod ends;
mod events;
mod identity;
mod kinds;
mod lending;
mod loading;
mod lookup;
mod module_calls;
mod natives;
mod nested_loads;
mod page;
mod paths;
mod pinned;
mod resolution;
mod scopes;
mod signatures;
mod slims;
mod unloading;

use crate::support;

use std::path::PathBuf;
use std::time::Duration;

use alcedo_runtime::{ContextError, ContextFunction, Contexts, LoadContext, Runtime, UnloadTicket, Value, VersionReq};

/// Timeout for a busy machine. A successful test ends much earlier.
const LONG: Duration = Duration::from_secs(60);

fn reports(tag: u64) -> PathBuf {
    support::tagged("reports", &[], tag)
}

fn figures(tag: u64) -> PathBuf {
    support::tagged("figures", &[], tag)
}

/// Returns a library of `reports` that needs `figures`.
fn needy() -> PathBuf {
    support::plugin("reports", &["needs-figures"])
}

fn runtime() -> Runtime {
    support::builder().build().unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the contexts of a dropped runtime. The contexts outlive the runtime, so tests can create further contexts in them.
fn contexts() -> Contexts {
    runtime().contexts()
}

/// Creates a Slim with build 1 of `reports`.
fn slim(contexts: &Contexts, name: &str) -> LoadContext {
    let slim = contexts.create_slim(name).unwrap_or_else(|error| panic!("{error}"));
    slim.load_path(reports(1)).unwrap_or_else(|error| panic!("{error}"));
    slim
}

/// Creates a Slim whose function `render` creates a thread-local on each thread that calls it. Returns the Slim and this function.
fn lingering_slim(contexts: &Contexts, name: &str) -> (LoadContext, ContextFunction) {
    let slim = contexts.create_slim(name).expect("the name is free");
    slim.load_path(support::plugin("reports", &["lingering"])).expect("it is loaded");
    let render = slim.function("Report", "render", "String, u32 -> String").expect("it is offered");
    (slim, render)
}

/// Returns arguments for `render`.
fn render_arguments() -> [Value; 2] {
    [text("somebody"), Value::U32(2)]
}

fn build_tag(slim: &LoadContext) -> ContextFunction {
    slim.function("Report", "build_tag", "-> u64").unwrap_or_else(|error| panic!("{error}"))
}

/// Calls a function without parameters, and returns the number that the function returns.
fn number(function: &ContextFunction) -> Result<u64, ContextError> {
    match function.call(&[])? {
        Some(Value::U64(number)) => Ok(number),
        other => panic!("{other:?} is not a number"),
    }
}

/// Waits for the end of an unload that no holder blocks.
fn gone(ticket: &UnloadTicket) {
    if let Err(report) = ticket.wait(LONG) {
        panic!("{report}");
    }
}

fn any() -> VersionReq {
    VersionReq::STAR
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

fn refusal<T: std::fmt::Debug>(result: Result<T, ContextError>) -> String {
    result.expect_err("it is to be refused").to_string()
}
