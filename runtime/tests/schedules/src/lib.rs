//! Runs protocols of the runtime under thousands of schedules: leases, the call gate, the ticket of an unload, the watch of a Slim. The
//! files of these protocols are compiled here unchanged. In this crate, `crate::sync` contains primitives that let a scheduler choose the
//! running thread at every step. The test prints a schedule that breaks an invariant or deadlocks.
//!
//! Weaker memory orders run as sequentially consistent: no check here can prove that an order suffices. The mode word of
//! `runtime/reflect/src/mode.rs` has no check, because a single thread owns it.
#![expect(dead_code, reason = "the checks use a part of these files of the runtime")]

// Crates that the compiled files name. This crate contains the items that the files use.
extern crate self as alcedo_abi;
extern crate self as alcedo_base;
extern crate self as alcedo_sys;
extern crate self as crossbeam_channel;

/// Stub of the macro of `alcedo-base`. Catches no panic, because a panic is a failure of the check.
macro_rules! log {
    ($level:ident, $($line:tt)+) => {
        tracing::event!(target: module_path!(), tracing::Level::$level, { $($line)+ })
    };
}

#[macro_use]
#[path = "../../../src/named.rs"]
mod named;

pub mod checks;
mod stand_ins;
mod sync;

use stand_ins::{
    Receiver, Sender, bounded, bridge, checkpoint, error, panic_guard, process, reload, stack, thread_stack,
};

#[path = "../../../src/deadline.rs"]
mod deadline;
#[path = "../../../src/entry_gate.rs"]
mod entry_gate;
#[path = "../../../base/src/figures.rs"]
mod figures;
#[path = "../../../src/lease.rs"]
mod lease;
#[path = "../../../src/slim_watch.rs"]
mod slim_watch;

mod load;
mod unload;
