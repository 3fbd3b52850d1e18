//! Runs protocols of the runtime under thousands of schedules: leases, the call gate, the ticket of an unload, the watch of a Slim.
//! Their files are compiled here unchanged, and `crate::sync` is the module of this crate, whose primitives let a scheduler choose the
//! running thread at every step. A schedule that breaks an invariant or deadlocks is printed.
//!
//! Weaker memory orders run as sequentially consistent: no check here can prove that an order suffices. The mode word of
//! `runtime/reflect/src/mode.rs` has no check, since one thread owns it.
#![expect(dead_code, reason = "the checks use a part of these files of the runtime")]

// Crates that the files name; this crate contains the required parts of each.
extern crate self as alcedo_abi;
extern crate self as alcedo_sys;
extern crate self as crossbeam_channel;

pub mod checks;
mod stand_ins;
mod sync;

use stand_ins::{Receiver, Sender, bounded, bridge, error, panic_guard, process, reload, stack, thread_stack};

#[path = "../../../src/deadline.rs"]
mod deadline;
#[path = "../../../src/entry_gate.rs"]
mod entry_gate;
#[path = "../../../src/lease.rs"]
mod lease;
#[path = "../../../src/slim_watch.rs"]
mod slim_watch;

mod load;
mod unload;
