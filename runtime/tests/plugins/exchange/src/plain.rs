//! Tables that match the definitions of the host.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use alcedo_plugin_api as alcedo;
use alcedo_plugin_api::CallError;

include!("tables.rs");

static ENGINE: OnceLock<&Engine> = OnceLock::new();
static COUNTED: AtomicU32 = AtomicU32::new(u32::MAX);

/// Receives the functions of the host. Returns the functions of the module.
pub fn entry(engine: &'static Engine) -> Scores {
    ENGINE.set(engine).expect("the entry method runs once");
    if fixture::on!("panics-in-entry") {
        panic!("no exchange");
    }
    Scores {
        add: |left, right| engine_of().add.call((left, right)).unwrap_or_default(),
        add_here: |left, right| left.wrapping_add(right),
        build: || if fixture::on!("next") { 2 } else { 1 },
        fail: |number| {
            assert!(number == 0, "{number} is not zero");
            true
        },
        fail_apart: |number| std::thread::spawn(move || assert!(number == 0, "{number} is not zero")).join().is_err(),
        host_fails: |number| kind_of(engine_of().fail.call((number,))),
        count: || kind_of(engine_of().count.call(())),
        add_often: |times| {
            let add = &engine_of().add;
            (0..times).fold(0, |sum, _| add.call((sum, 1)).expect("a sum"))
        },
        add_often_hot: |times| {
            let add = &engine_of().add;
            let sum = add.hot(|add| (0..times).fold(0, |sum, _| add.call((sum, 1)).expect("a sum")));
            sum.unwrap_or(-1)
        },
        add_elsewhere: |left, right| {
            let thread = std::thread::spawn(move || engine_of().add.call((left, right)));
            thread.join().expect("no panic").unwrap_or_else(|error| -(error.kind().0 as i32))
        },
        sum: || engine_of().sum.call((1, 2, 3, 4, -5, -6, 0.5, 0.25)).expect("a sum"),
        counted_in_main: || COUNTED.load(Ordering::Relaxed),
    }
}

/// Calls the host before the module is committed.
pub fn main() {
    COUNTED.store(kind_of(engine_of().count.call(())), Ordering::Relaxed);
    if fixture::on!("panics-in-main") {
        panic!("no start");
    }
}

fn engine_of() -> &'static Engine {
    ENGINE.get().expect("the entry method was called")
}

/// Returns the number of the error kind, or zero without an error.
fn kind_of<T>(result: Result<T, CallError>) -> u32 {
    result.map_or_else(|error| error.kind().0, |_| 0)
}
