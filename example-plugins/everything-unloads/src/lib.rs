//! Everything that keeps other plugin systems from unloading, in one plugin and in every generation: thread-locals with
//! destructors, threads of all sorts, the standard output, megabytes in statics, handlers, keys, pages, leaks. None of
//! it is cleaned up by hand where the host has promised to do it.
//!
//! What has to run at the end is counted in a file that outlives the generation (`tally=PATH` among the module
//! arguments), so that the host can tell "it ran, on the right thread" from "nothing crashed".

#![deny(unsafe_code)]

mod complaints;
mod foreign;
mod locals;
mod memory;
#[cfg(feature = "planted-use-after-free")]
mod planted;
mod tally;
mod threads;

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::Write as _;
use std::panic::catch_unwind;

use alcedo_plugin_api::prelude::*;
use engine_glue::Actor;

module! { name: "everything_unloads", main: started, exit: ended }

/// What stands at the end of the output of each generation, without a line end.
const LAST_WORDS: &str = "everything-unloads: last words";

fn started(args: &[&str]) {
    for arg in args {
        match arg.split_once('=').unwrap_or((arg, "")) {
            ("tally", path) => tally::open(path),
            ("uncounted", _) => tally::register_nothing(),
            ("endless", _) => threads::start_endless(),
            ("leak-file", _) => memory::leak_file(),
            _ => {}
        }
    }
    tracing::info!(?args, "the sink is filled");
    #[expect(clippy::print_stdout, reason = "a line in the buffer of this copy of std is one of the things to be lost")]
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
    #[expect(clippy::print_stdout, reason = "what stands in the buffer at the end must come out all the same")]
    {
        print!("{LAST_WORDS}");
    }
}

/// An actor whose every turn touches something that would be left behind.
#[uclass(package = "Game", base = Actor)]
pub struct Sink {
    /// For the host to write.
    #[uproperty(default = 20.0)]
    temperature: f64,
    /// Grows with every tick.
    #[uproperty]
    level: f64,

    /// How often it was filled by hand.
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

    /// One more.
    #[ufunction(blueprint_callable)]
    fn fill(&mut self) {
        self.fillings += 1;
    }

    /// How often it was filled.
    #[ufunction(blueprint_pure)]
    fn filling_count(&self) -> u32 {
        self.fillings
    }

    /// Which build this is.
    #[zmethod]
    fn build_tag() -> u64 {
        fixture::tag()
    }

    /// Raises the signals this module handles, looks at what it left elsewhere, and says what it found wrong.
    #[zmethod]
    fn complaints() -> String {
        foreign::raise_signals();
        complaints::take()
    }

    /// Panics, and shows how it came to that.
    #[zmethod]
    fn panic() {
        let caught = catch_unwind(|| {
            let trace = Backtrace::capture();
            if trace.status() != BacktraceStatus::Captured {
                complaints::say("there is no backtrace: set RUST_BACKTRACE=1");
            } else if !trace.to_string().contains("everything_unloads") {
                complaints::say("the backtrace does not name this module");
            }
            panic!("the first panic stays inside");
        });
        drop(caught);
        panic!("the sink runs over");
    }
}

impl Drop for Sink {
    // The finalizer thread gets thread-locals of this module too, and they are to end on it.
    fn drop(&mut self) {
        locals::touch();
        let _out = std::io::stdout().flush();
    }
}
