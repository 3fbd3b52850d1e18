use super::{LONG, explore};
use crate::lease::{LeaseKind, Leases};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, thread};

/// Checks that a wait for leases returns after the last one, in each order of their ends.
pub fn the_last_lease_wakes_waiting_threads() {
    explore(|| {
        let leases = Leases::new("m");
        let held = [0, 1].map(|_| leases.take(LeaseKind::Call, "f").expect("it is open"));
        let threads = held.map(|lease| thread::spawn(move || drop(lease)));
        assert!(leases.wait_free(LONG));
        assert_eq!(leases.count(), 0);
        for thread in threads {
            thread.join().expect("no panic");
        }
    });
}

/// Checks that sealed leases without holders stay so: no new lease, and no additional lease of a holder.
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
        assert!(leases.wait_free(LONG));
        is_gone.store(true, Ordering::SeqCst);
        for thread in threads {
            thread.join().expect("no panic");
        }
    });
}
