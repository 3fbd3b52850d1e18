//! Checks leases (`lease.rs`).

use super::explore;
use crate::lease::{LeaseKind, Leases};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, thread};

/// Checks sealed leases that have no holder. These leases must never get a holder again, neither by a new lease nor by a copy.
pub fn sealed_and_empty_leases_stay_empty() {
    explore(|| {
        let (leases, is_gone) = (Leases::new("m"), Arc::new(AtomicBool::new(false)));
        let threads = [0, 1].map(|_| {
            let (leases, is_gone) = (Arc::clone(&leases), Arc::clone(&is_gone));
            thread::spawn(move || {
                for _ in 0..2 {
                    let Ok(lease) = leases.take(LeaseKind::Call, "f") else { return };
                    let more = lease.again(LeaseKind::Borrow, "f", None);
                    drop(lease);
                    assert!(!is_gone.load(Ordering::SeqCst), "held after the image was unmapped");
                    drop(more);
                }
            })
        });
        leases.seal();
        while leases.count() > 0 {
            thread::yield_now();
        }
        is_gone.store(true, Ordering::SeqCst);
        for thread in threads {
            thread.join().expect("no panic");
        }
    });
}
