//! Checks the ticket of an unload (`unload/ticket.rs`).

use std::time::Duration;

use super::{LONG, explore};
use crate::lease::{Lease, LeaseKind, Leases};
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::sync::{Arc, thread};
use crate::unload::report::{ModuleEnd, ParkedImage};
use crate::unload::state::ContextState;
use crate::unload::ticket::UnloadTicket;
use crate::unload::work::{Progress, UnloadWork, Unloaded};

/// Unload that a lease prevents from ending.
struct Held {
    leases: Arc<Leases>,
    is_driven: AtomicBool,
    ends: Arc<AtomicUsize>,
}

impl Held {
    /// Runs one step of the unload, and checks that no other thread drives the unload during this step.
    fn drive<T>(&mut self, step: impl FnOnce(&mut Self) -> T) -> T {
        assert!(!self.is_driven.swap(true, Ordering::SeqCst), "two threads drive it");
        thread::yield_now();
        let done = step(self);
        self.is_driven.store(false, Ordering::SeqCst);
        done
    }
}

impl UnloadWork for Held {
    fn advance(&mut self) -> Progress {
        self.drive(|held| match held.leases.count() {
            0 => {
                held.ends.fetch_add(1, Ordering::SeqCst);
                let modules = vec![ModuleEnd { module: "m".into(), ..ModuleEnd::default() }];
                Progress::Ended(Unloaded { modules, parked: Vec::new() })
            }
            _ => Progress::Waiting { blockers: held.leases.report(), drained: true },
        })
    }

    fn park(&mut self) -> Unloaded {
        self.drive(|held| {
            held.ends.fetch_add(1, Ordering::SeqCst);
            let parked = vec![ParkedImage { module: "m".into(), file: "m.so".into(), reason: "a lease".into() }];
            Unloaded { modules: Vec::new(), parked }
        })
    }
}

fn held() -> (UnloadTicket, Lease, Arc<AtomicUsize>) {
    let (leases, ends) = (Leases::new("m"), Arc::new(AtomicUsize::new(0)));
    let lease = leases.take(LeaseKind::Call, "f").expect("it is open");
    let work = Held { leases, is_driven: AtomicBool::new(false), ends: Arc::clone(&ends) };
    (UnloadTicket::new("generation 3", Duration::ZERO, Box::new(work)), lease, ends)
}

fn in_thread<T: Send + 'static>(
    ticket: &UnloadTicket,
    run: impl FnOnce(&UnloadTicket) -> T + Send + 'static,
) -> thread::JoinHandle<T> {
    let ticket = ticket.clone();
    thread::spawn(move || run(&ticket))
}

/// Checks that waiting threads drive an unload one at a time. The unload ends once, and each thread must receive the report about it.
pub fn all_waiting_threads_get_the_single_end() {
    explore(|| {
        let (ticket, lease, ends) = held();
        let waiting = [0, 1].map(|_| in_thread(&ticket, |ticket| ticket.wait(LONG)));
        let dropping = thread::spawn(move || drop(lease));
        for thread in waiting {
            assert_eq!(thread.join().expect("no panic").expect("no lease is left").modules.len(), 1);
        }
        dropping.join().expect("no panic");
        assert_eq!(ends.load(Ordering::SeqCst), 1);
    });
}

/// Checks that an unload is parked if a park and a poll run concurrently.
pub fn a_park_during_a_poll_parks() {
    explore(|| {
        let (ticket, _lease, ends) = held();
        let looking = in_thread(&ticket, |ticket| {
            ticket.poll();
        });
        let parking = in_thread(&ticket, |ticket| ticket.park_within(Duration::ZERO));
        looking.join().expect("no panic");
        parking.join().expect("no panic");
        assert_eq!((ticket.state(), ends.load(Ordering::SeqCst)), (ContextState::Parked, 1));
    });
}

/// Checks an unload whose last lease ends while the unload is being parked. The unload must become either dead or parked, exactly once.
pub fn a_poll_or_a_park_ends_an_unload_once() {
    explore(|| {
        let (ticket, lease, ends) = held();
        let waiting = in_thread(&ticket, |ticket| ticket.wait(LONG).is_ok());
        let parking = in_thread(&ticket, |ticket| ticket.park_within(Duration::ZERO));
        let dropping = thread::spawn(move || drop(lease));
        let is_gone = waiting.join().expect("no panic");
        parking.join().expect("no panic");
        dropping.join().expect("no panic");
        let state = if is_gone { ContextState::Dead } else { ContextState::Parked };
        assert_eq!((ticket.state(), ends.load(Ordering::SeqCst)), (state, 1));
    });
}
