//! Drives unloads that no thread waits for. Its threads are there only while there is something to drive, and sleep
//! most of that time: a blocked context is looked at some fifty times a second. One thread sees to it that another one
//! looks: what runs in a look, an exit hook or a listener, may never return, and then a new one looks after the others.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::trap;
use crate::unload::state::ContextState;
use crate::unload::ticket::UnloadTicket;

/// How long it sleeps at first after something new came, and at most.
const NAPS: (Duration, Duration) = (Duration::from_micros(200), Duration::from_millis(20));

/// So long a look at all of them may take, before another thread looks.
const LONGEST_LOOK: Duration = Duration::from_millis(250);

/// Tickets that are not over.
#[derive(Default)]
pub(crate) struct Reaper {
    kept: Mutex<Kept>,
    more: Condvar,
}

#[derive(Default)]
struct Kept {
    tickets: Vec<UnloadTicket>,
    is_running: bool,
    /// After how long a context is given up.
    park_after: Option<Duration>,
}

impl Reaper {
    /// Looks after an unload until it is over.
    pub(crate) fn watch(self: &Arc<Self>, ticket: UnloadTicket) {
        let mut kept = self.lock();
        kept.tickets.push(ticket);
        if kept.is_running {
            self.more.notify_one();
            return;
        }
        let reaper = Arc::clone(self);
        let thread = thread::Builder::new().name("alcedo-reaper".into()).spawn(move || reaper.run());
        match thread {
            Ok(_runs_by_itself) => kept.is_running = true,
            Err(error) => tracing::warn!(%error, "no thread for unloads: they go on when their tickets are looked at"),
        }
    }

    /// From now on contexts that do not end are given up after this long.
    pub(crate) fn set_park_after(&self, park_after: Option<Duration>) {
        self.lock().park_after = park_after;
    }

    fn run(&self) {
        let (shortest, longest) = NAPS;
        let mut nap = shortest;
        let mut known = 0;
        let mut looker = None;
        loop {
            let (tickets, park_after) = {
                let mut kept = self.lock();
                kept.tickets.retain(|ticket| !is_over(ticket.state()));
                if kept.tickets.is_empty() {
                    kept.is_running = false;
                    return;
                }
                if kept.tickets.len() > known {
                    nap = shortest;
                }
                known = kept.tickets.len();
                (kept.tickets.clone(), kept.park_after)
            };
            looker = match looker.or_else(Looker::start) {
                Some(running) => running.look(Round { tickets, park_after }),
                None => {
                    Round { tickets, park_after }.look();
                    None
                }
            };
            let kept = self.lock();
            drop(self.more.wait_timeout(kept, nap).unwrap_or_else(PoisonError::into_inner));
            nap = longest.min(nap * 2);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tickets to be looked at, and when to give one up.
struct Round {
    tickets: Vec<UnloadTicket>,
    park_after: Option<Duration>,
}

impl Round {
    fn look(self) {
        for ticket in self.tickets {
            // What a subscriber or a callback of the host does ends no look at the others.
            let looked = trap::caught(|| {
                let state = ticket.poll();
                if !is_over(state) && self.park_after.is_some_and(|after| ticket.age() >= after) {
                    ticket.park_within(Duration::ZERO);
                }
            });
            if let Err(message) = looked {
                let _lost = trap::caught(|| tracing::error!(message, "an unload panicked; it is looked at again"));
            }
        }
    }
}

/// The thread that looks. It ends when this is dropped, and comes back.
struct Looker {
    rounds: Sender<Round>,
    done: Receiver<()>,
}

impl Looker {
    /// None where the system has no more threads.
    fn start() -> Option<Self> {
        let ((rounds, to_do), (is_done, done)) = (channel::<Round>(), channel());
        let work = move || {
            for round in to_do {
                round.look();
                if is_done.send(()).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("alcedo-unloads".into()).spawn(work).ok()?;
        Some(Self { rounds, done })
    }

    /// Has it look; none if it did not come back in time.
    fn look(self, round: Round) -> Option<Self> {
        self.rounds.send(round).ok()?;
        self.done.recv_timeout(LONGEST_LOOK).ok()?;
        Some(self)
    }
}

fn is_over(state: ContextState) -> bool {
    matches!(state, ContextState::Dead | ContextState::Parked)
}
