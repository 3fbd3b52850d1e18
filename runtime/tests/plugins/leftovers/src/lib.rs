//! Resources that plugins leave behind. For each kind of resource, one function, called a habit, leaves the resource behind. Tests check
//! that the host releases the resources.
//!
//! The plugin writes destructions to the file that `LEFTOVERS_JOURNAL` names, because some happen after logging has ended.

#![deny(unsafe_code)]

mod habits;
mod maps;
mod raw;

use std::io::Write as _;

use alcedo_plugin_api::prelude::*;

#[cfg(not(feature = "own-allocator"))]
module! { name: "leftovers" }

#[cfg(feature = "own-allocator")]
module! { name: "leftovers", allocator: own }

#[cfg(feature = "own-allocator")]
#[global_allocator]
static OWN: std::alloc::System = std::alloc::System;

/// Calls the habit with this name, which leaves its resource behind.
#[zcall(ex = "leftovers.leave")]
fn leave(habit: String) {
    match habit.as_str() {
        "nothing" => {}
        "thread_local" => habits::thread_local(),
        "thread_local_there" => habits::thread_local_there(),
        "print_line" => habits::print_line(),
        "print_part" => habits::print_part(),
        "tracing" => habits::tracing(),
        "rand" => habits::rand(),
        "current_thread" => habits::current_thread(),
        "megabyte" => habits::megabyte(),
        "once_lock" => habits::once_lock(),
        "joined_thread" => habits::joined_thread(),
        "finished_thread" => habits::finished_thread(),
        "detached_thread" => habits::detached_thread(),
        "polite_thread" => habits::polite_thread(),
        "stubborn_thread" => habits::stubborn_thread(),
        "long_name" => habits::long_name(),
        "nameless_threads" => habits::nameless_threads(),
        "panic" => habits::panic(),
        "backtrace" => habits::backtrace(),
        "leaked_box" => habits::leaked_box(),
        "forgotten_file" => habits::forgotten_file(),
        "at_exit" => raw::at_exit(),
        "signal_handler" => raw::signal_handler(),
        "mapping" => raw::mapping(),
        "mapping_by_number" => maps::by_number(),
        "mapping_by_itself" => maps::by_itself(),
        "mapping_by_itself_undone" => maps::by_itself_undone(),
        "c_heap" => raw::c_heap(),
        "key" => raw::key(),
        #[cfg(feature = "bypass")]
        "bypass" => raw::bypass(),
        unknown => panic!("unknown habit `{unknown}`"),
    }
}

/// Returns the number of signals that the handler of this module has received.
#[zcall(ex = "leftovers.signals")]
fn signals() -> u64 {
    raw::signals()
}

/// Object with a finalizer that can be armed. An armed finalizer uses a thread-local on its thread.
#[uclass(package = "Game", base = Object, blueprintable)]
pub struct Leaver {
    #[keep]
    is_armed: bool,
}

#[uclass]
impl Leaver {
    /// Arms the finalizer.
    #[ufunction(blueprint_callable)]
    fn arm(&mut self) {
        self.is_armed = true;
    }
}

impl Drop for Leaver {
    fn drop(&mut self) {
        if self.is_armed {
            habits::thread_local();
        }
    }
}

/// Appends a line to the journal.
fn note(line: &str) {
    let Some(path) = std::env::var_os("LEFTOVERS_JOURNAL") else { return };
    let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
    let written = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    written.unwrap_or_else(|error| panic!("the journal cannot be written: {error}"));
}
