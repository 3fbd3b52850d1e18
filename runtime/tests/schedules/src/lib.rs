//! Runs protocols of the runtime under thousands of schedules: leases, the gate of calls, the ticket of an unload, the watch of a
//! Slim. Their files are compiled here as they are, and `crate::sync` is the module of this crate, whose primitives let a scheduler
//! choose at every step which thread runs. A schedule that breaks an invariant or ends in a deadlock is printed.
//!
//! Orders weaker than sequentially consistent run as that one: no check here can show that an order suffices. The mode word of
//! `runtime/reflect/src/mode.rs` has no check: one thread owns it.
#![expect(dead_code, reason = "files of the runtime, of which the checks use a part")]

// Crates that the files name: what the files need of each is in this one.
extern crate self as alcedo_abi;
extern crate self as alcedo_sys;
extern crate self as crossbeam_channel;

pub mod checks;
mod stand_ins;
mod sync;

use stand_ins::{Receiver, Sender, bounded, bridge, error, process, reload, stack, thread_stack, trap};

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
