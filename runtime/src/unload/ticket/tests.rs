use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::UnloadTicket;
use crate::lease::{Blocker, LeaseKind, Leases};
use crate::unload::report::{ModuleEnd, ParkedImage};
use crate::unload::state::ContextState;
use crate::unload::work::{Progress, UnloadWork, Unloaded};

const LONG: Duration = Duration::from_secs(60);

/// Test unload that is blocked only by leases.
struct Held(Arc<Leases>);

impl UnloadWork for Held {
    fn advance(&mut self) -> Progress {
        match self.0.count() {
            0 => Progress::Ended(Unloaded {
                modules: vec![ModuleEnd { module: "m".into(), ..ModuleEnd::default() }],
                parked: Vec::new(),
            }),
            _ => Progress::Waiting { blockers: self.0.report(), drained: true },
        }
    }

    fn park(&mut self) -> Unloaded {
        let reason = "somebody holds it".to_owned();
        let parked = vec![ParkedImage { module: "m".into(), file: "m.so".into(), reason }];
        Unloaded { modules: Vec::new(), parked }
    }
}

fn held() -> (UnloadTicket, crate::lease::Lease) {
    let leases = Leases::new("m");
    let lease = leases.take(LeaseKind::Call, "nm:/m:T:f").expect("it is open");
    (UnloadTicket::new("generation 3", Duration::ZERO, Box::new(Held(leases))), lease)
}

#[test]
fn waiting_on_a_blocked_unload_reports_blockers_then_its_end() {
    let (ticket, lease) = held();
    let blocked = ticket.wait(Duration::ZERO).expect_err("a lease is held");
    assert_eq!((blocked.state, blocked.blockers.len()), (ContextState::Blocked, 1));
    assert_eq!(blocked.blockers[0].owner, "nm:/m:T:f");
    drop(lease);
    assert_eq!(ticket.state(), ContextState::Blocked, "no step has run yet");
    assert_eq!(ticket.wait(LONG).expect("nothing keeps it").modules[0].module, "m");
    assert_eq!((ticket.state(), ticket.report().blockers), (ContextState::Dead, vec![]));
}

#[test]
fn patience_decides_when_waiting_is_called_blocked() {
    let leases = Leases::new("m");
    let lease = leases.take(LeaseKind::Call, "f").expect("it is open");
    let ticket = UnloadTicket::new("generation 3", LONG, Box::new(Held(leases)));
    assert_eq!(ticket.poll(), ContextState::Unloading);
    assert_eq!(ticket.report().blockers.len(), 1);
    drop(lease);
    assert_eq!(ticket.poll(), ContextState::Dead);
}

/// Test unload that waits for a second thread. The second thread makes progress while the flag is set.
struct Drains(Arc<AtomicBool>);

impl UnloadWork for Drains {
    fn advance(&mut self) -> Progress {
        let (owner, thread) = ("Drop of Game.Cave".to_owned(), "alcedo-finalizer".to_owned());
        let blocker = Blocker { kind: LeaseKind::Finalizer, owner, thread, age: Duration::ZERO, place: None };
        Progress::Waiting { blockers: vec![blocker], drained: false }
    }

    fn is_moving(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    fn park(&mut self) -> Unloaded {
        Unloaded::default()
    }
}

#[test]
fn an_unload_that_makes_progress_is_not_blocked() {
    let is_moving = Arc::new(AtomicBool::new(true));
    let ticket = UnloadTicket::new("generation 3", Duration::ZERO, Box::new(Drains(Arc::clone(&is_moving))));
    assert_eq!(ticket.poll(), ContextState::Unloading);
    assert_eq!(ticket.report().blockers.len(), 1, "the report lists what the unload waits for");
    for (moves, state) in
        [(false, ContextState::Blocked), (true, ContextState::Unloading), (false, ContextState::Blocked)]
    {
        is_moving.store(moves, Ordering::SeqCst);
        assert_eq!(ticket.poll(), state);
    }
}

#[test]
fn all_threads_waiting_on_a_ticket_are_notified() {
    let (ticket, lease) = held();
    std::thread::scope(|scope| {
        let waiting: Vec<_> = (0..4).map(|_| scope.spawn(|| ticket.wait(LONG))).collect();
        scope.spawn(|| drop(lease));
        for thread in waiting {
            let report = thread.join().expect("it waits").expect("it is gone");
            assert_eq!(report.modules.len(), 1);
        }
    });
}

#[test]
fn a_parked_unload_ends_the_waiting_of_others_and_remains_parked() {
    let (ticket, lease) = held();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| ticket.wait(LONG));
        ticket.park();
        let report = waiting.join().expect("it waits").expect_err("it is parked");
        assert_eq!(report.state, ContextState::Parked);
        assert_eq!(ticket.parked_lines(), ["m of generation 3 stays mapped (m.so): somebody holds it"]);
    });
    drop(lease);
    assert_eq!(ticket.poll(), ContextState::Parked);
}

/// Test unload that polls its own ticket, like a destructor of a module could.
struct Nosy(Receiver<UnloadTicket>);

impl UnloadWork for Nosy {
    fn advance(&mut self) -> Progress {
        let seen = self.0.try_recv().expect("it is there").poll();
        assert_eq!(seen, ContextState::Unloading);
        Progress::Ended(Unloaded::default())
    }

    fn park(&mut self) -> Unloaded {
        Unloaded::default()
    }
}

/// Test unload that is parked during a poll.
struct ParksDuringPoll(Receiver<UnloadTicket>);

impl UnloadWork for ParksDuringPoll {
    fn advance(&mut self) -> Progress {
        self.0.try_recv().expect("it is there").park();
        Progress::Waiting { blockers: Vec::new(), drained: false }
    }

    fn park(&mut self) -> Unloaded {
        let image = ParkedImage { module: "m".into(), file: "m.so".into(), reason: "it was parked".into() };
        Unloaded { modules: Vec::new(), parked: vec![image] }
    }
}

#[test]
fn parking_from_inside_a_step_takes_effect_after_it() {
    let (give, take) = channel();
    let ticket = UnloadTicket::new("generation 3", Duration::ZERO, Box::new(ParksDuringPoll(take)));
    give.send(ticket.clone()).expect("it listens");
    assert_eq!(ticket.poll(), ContextState::Parked);
    assert_eq!(ticket.parked_lines(), ["m of generation 3 stays mapped (m.so): it was parked"]);
}

#[test]
fn a_nested_step_only_reads_the_state() {
    let (give, take) = channel();
    let ticket = UnloadTicket::new("generation 3", Duration::ZERO, Box::new(Nosy(take)));
    give.send(ticket.clone()).expect("it listens");
    assert_eq!(ticket.poll(), ContextState::Dead);
}

/// Test unload whose first poll panics.
struct Panics(bool);

impl UnloadWork for Panics {
    fn advance(&mut self) -> Progress {
        assert!(std::mem::replace(&mut self.0, true), "a destructor panics");
        Progress::Ended(Unloaded::default())
    }

    fn park(&mut self) -> Unloaded {
        Unloaded::default()
    }
}

#[test]
fn a_panicking_step_leaves_the_rest_to_the_next() {
    for next in [UnloadTicket::park, |ticket: &UnloadTicket| assert_eq!(ticket.poll(), ContextState::Dead)] {
        let ticket = UnloadTicket::new("generation 3", Duration::ZERO, Box::new(Panics(false)));
        let polled = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| ticket.poll()));
        assert!(polled.is_err());
        std::thread::scope(|scope| scope.spawn(|| next(&ticket)).join().expect("it does not wait"));
        assert_ne!(ticket.state(), ContextState::Unloading);
    }
}
