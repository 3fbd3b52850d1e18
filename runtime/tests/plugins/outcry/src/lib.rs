//! Module that sets its own panic hooks, as color-eyre and human-panic do. The module takes, stores and drops hooks, and panics. Tests
//! check which hook runs for each panic.

// An initializer needs the unsafe attribute for a linker section.
#![deny(unsafe_code)]

use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use alcedo_plugin_api::prelude::*;

#[cfg(feature = "early")]
mod early;

module! { name: "outcry", main: started }

type Hook = Box<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>;

/// Number of calls to the author's hook.
static PANICS: AtomicU32 = AtomicU32::new(0);

static SAVED_HOOK: Mutex<Option<Hook>> = Mutex::new(None);

fn saved_hook() -> MutexGuard<'static, Option<Hook>> {
    SAVED_HOOK.lock().unwrap_or_else(PoisonError::into_inner)
}

fn count_panic(_info: &PanicHookInfo<'_>) {
    PANICS.fetch_add(1, Ordering::Relaxed);
}

fn started(args: &[&str]) {
    args.iter().for_each(|what| change((*what).to_owned()));
}

/// Changes the panic hook in one of the ways that plugin authors use.
#[zcall(ex = "outcry.change")]
fn change(what: String) {
    match &*what {
        "set" => set_hook(Box::new(count_panic)),
        "set with state" => {
            let state = Box::new(1_u32);
            set_hook(Box::new(move |_| {
                PANICS.fetch_add(*state, Ordering::Relaxed);
            }));
        }
        "set on a thread" => {
            std::thread::spawn(|| set_hook(Box::new(count_panic))).join().expect("the thread does not panic")
        }
        "take" => drop(take_hook()),
        // Chains to the previous hook, like sentry and ratatui.
        "chain" => {
            let before = take_hook();
            set_hook(Box::new(move |info| {
                count_panic(info);
                before(info);
            }));
        }
        // Replaces the hook temporarily.
        "keep" => {
            *saved_hook() = Some(take_hook());
            set_hook(Box::new(count_panic));
        }
        "restore" => set_hook(saved_hook().take().expect("a hook is kept")),
        "drop kept" => drop(saved_hook().take()),
        // The taken hook is dropped while its thread panics. During a panic, hooks may not be changed.
        "drop in a panic" => {
            let caught = std::panic::catch_unwind(|| {
                let _taken = take_hook();
                set_hook(Box::new(count_panic));
                panic!("on the way");
            });
            assert!(caught.is_err(), "the closure did not panic");
        }
        other => panic!("unknown change {other}"),
    }
}

/// Panics with a string payload.
#[zcall(ex = "outcry.cry")]
fn cry(text: String) {
    panic!("{text}");
}

/// Panics with a payload that is not a string.
#[zcall(ex = "outcry.cry_number")]
fn cry_number(number: u64) {
    std::panic::panic_any(number);
}

/// Panics in an `extern "C"` function, which aborts the program.
#[zcall(ex = "outcry.cry_from_c")]
fn cry_from_c() {
    extern "C" fn called() {
        panic!("where C calls");
    }
    called();
}

/// Panics on a new thread. Returns `true` if this thread has panicked.
#[zcall(ex = "outcry.cry_aside")]
fn cry_aside(text: String) -> bool {
    std::thread::Builder::new()
        .name("outcry".to_owned())
        .spawn(move || cry(text))
        .is_ok_and(|thread| thread.join().is_err())
}

/// Returns the number of calls to the author's hook since the last query.
#[zcall(ex = "outcry.hook_calls")]
fn hook_calls() -> u32 {
    PANICS.swap(0, Ordering::Relaxed)
}

/// Sets hooks and panics on four threads concurrently, `times` times on each thread.
#[zcall(ex = "outcry.storm")]
fn storm(times: u32) -> u32 {
    let storm = move || {
        for _ in 0..times {
            set_hook(Box::new(count_panic));
            assert!(std::panic::catch_unwind(|| panic!("in the storm")).is_err(), "the closure did not panic");
        }
    };
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(storm)).collect();
    threads.into_iter().map(|thread| u32::from(thread.join().is_ok())).sum()
}
