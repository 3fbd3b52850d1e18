//! A plugin that leaves state behind in every generation: thread-locals with destructors, threads of all kinds, standard output, megabytes
//! in statics, handlers, keys, pages, leaks. Such state prevents other plugin systems from unloading a library. The plugin omits each
//! cleanup that the host guarantees.
//!
//! Some destructors and handlers must run at the end of a generation. Their runs are counted in a file that outlives the generation
//! (`counters=PATH` in the module arguments). The host checks that each destructor and handler ran, on the right thread.

#![deny(unsafe_code)]

mod counters;
mod errors;
mod foreign;
mod locals;
mod memory;
#[cfg(feature = "planted-use-after-free")]
mod planted;
mod threads;

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::Write as _;
use std::panic::catch_unwind;

use alcedo_plugin_api::prelude::*;
use engine_glue::Actor;

module! { name: "everything_unloads", main: started, exit: ended }

/// Last output of each generation, without a line feed.
const LAST_OUTPUT: &str = "everything-unloads: last words";

fn started(args: &[&str]) {
    for arg in args {
        match arg.split_once('=').unwrap_or((arg, "")) {
            ("tally", path) => counters::open(path),
            ("uncounted", _) => counters::register_nothing(),
            ("endless", _) => threads::start_endless(),
            ("leak-file", _) => memory::leak_file(),
            _ => {}
        }
    }
    tracing::info!(?args, "the sink is filled");
    #[expect(clippy::print_stdout, reason = "output in the buffer of this copy of std must not be lost")]
    {
        println!("everything-unloads: a line");
    }
    locals::touch();
    foreign::touch_key();
    foreign::at_exit();
    foreign::handle_signals();
    memory::fill();
    threads::start();
    #[cfg(feature = "planted-use-after-free")]
    planted::read_after_free();
}

fn ended() {
    threads::end();
    #[expect(clippy::print_stdout, reason = "the host must flush output that is still in the buffer")]
    {
        print!("{LAST_OUTPUT}");
    }
}

/// An actor. Each tick uses another resource that an unload must release.
#[uclass(package = "Game", base = Actor)]
pub struct Sink {
    /// Written by the host.
    #[uproperty(default = 20.0)]
    temperature: f64,
    /// Increases with every tick.
    #[uproperty]
    level: f64,

    /// Number of calls of `fill`.
    #[keep]
    fillings: u32,
}

#[uclass]
impl Sink {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        locals::touch();
        Self { fillings: 0 }
    }

    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {
        this.set_can_tick(true);
    }

    #[overrides(Actor)]
    fn receive_tick(&mut self, this: This<Self>, delta: f32) {
        locals::touch();
        let drops: u8 = rand::random();
        this.set_level(this.level() + f64::from(delta) + f64::from(drops));
    }

    /// Increments the counter.
    #[ufunction(blueprint_callable)]
    fn fill(&mut self) {
        self.fillings += 1;
    }

    /// Returns the number of calls of `fill`.
    #[ufunction(blueprint_pure)]
    fn filling_count(&self) -> u32 {
        self.fillings
    }

    /// Returns the number of this build.
    #[zmethod]
    fn build_tag() -> u64 {
        fixture::tag()
    }

    /// Raises the signals that this module handles, and checks its foreign state. Returns the errors that it finds.
    #[zmethod]
    fn complaints() -> String {
        foreign::raise_signals();
        errors::take()
    }

    /// Panics, with a backtrace.
    #[zmethod]
    fn panic() {
        let caught = catch_unwind(|| {
            let trace = Backtrace::capture();
            if trace.status() != BacktraceStatus::Captured {
                errors::add("no backtrace: set RUST_BACKTRACE=1");
            } else if !trace.to_string().contains("everything_unloads") {
                errors::add("the backtrace does not name this module");
            }
            panic!("the first panic stays inside");
        });
        drop(caught);
        panic!("the sink runs over");
    }
}

impl Drop for Sink {
    // Creates thread-locals of this module on the finalizer thread. The end of that thread must destroy the thread-locals.
    fn drop(&mut self) {
        locals::touch();
        let _out = std::io::stdout().flush();
    }
}
