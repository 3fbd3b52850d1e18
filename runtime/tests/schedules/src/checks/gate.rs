//! Checks the call gate (`entry_gate.rs`).

use super::explore;
use crate::entry_gate::{Calling, EntryGate};
use crate::lease::Leases;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, thread};

/// Numbers of open calls of a thread. With 0, the next call uses a free slot. With 16, no slot is free, so the next call takes a lease.
const OPEN: [usize; 2] = [0, 16];

const CALLING: Calling = Calling { function: 0, from: None };

fn name(function: u64) -> Arc<str> {
    format!("f{function}").into()
}

/// Checks that no call runs after an unload has shut the gate, sealed the leases, and found neither calls nor leases.
pub fn no_call_is_inside_a_shut_and_empty_gate() {
    explore(|| {
        let leases = Leases::new("m");
        let (gate, is_gone) = (Arc::new(EntryGate::new(Arc::clone(&leases), 0)), Arc::new(AtomicBool::new(false)));
        let threads = OPEN.map(|open| {
            let (gate, is_gone) = (Arc::clone(&gate), Arc::clone(&is_gone));
            thread::spawn(move || {
                let elsewhere = EntryGate::new(Leases::new("n"), 0);
                let mut calls: Vec<_> = (0..open).map(|_| elsewhere.enter(CALLING, || name(0))).collect();
                for _ in 0..3 {
                    let Ok(Some(_inside)) = gate.enter(CALLING, || name(1)) else { break };
                    assert!(!is_gone.load(Ordering::SeqCst), "inside after the image was unmapped");
                }
                while calls.pop().is_some() {}
            })
        });
        thread::yield_now();
        gate.shut();
        leases.seal();
        while !gate.inside(name).is_empty() || leases.count() != 0 {
            thread::yield_now();
        }
        is_gone.store(true, Ordering::SeqCst);
        for thread in threads {
            thread.join().expect("no panic");
        }
    });
}
