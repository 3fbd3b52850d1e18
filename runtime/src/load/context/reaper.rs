//! Drives unloads that nobody waits for. The thread is there only while there is something to drive, and sleeps most of
//! that time: a blocked context is looked at some fifty times a second.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::load::state::ContextState;
use crate::load::ticket::UnloadTicket;

/// How long it sleeps at first after something new came, and at most.
const NAPS: (Duration, Duration) = (Duration::from_micros(200), Duration::from_millis(20));

/// Tickets that are not over.
#[derive(Default)]
pub(super) struct Reaper {
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
    pub(super) fn watch(self: &Arc<Self>, ticket: UnloadTicket) {
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
            Err(error) => tracing::warn!(%error, "no thread for unloads: they go on when somebody asks their tickets"),
        }
    }

    /// From now on contexts that do not end are given up after this long.
    pub(super) fn set_park_after(&self, park_after: Option<Duration>) {
        self.lock().park_after = park_after;
    }

    fn run(&self) {
        let (shortest, longest) = NAPS;
        let mut nap = shortest;
        let mut known = 0;
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
            for ticket in tickets {
                let state = ticket.poll();
                if !is_over(state) && park_after.is_some_and(|after| ticket.age() >= after) {
                    ticket.park();
                }
            }
            let kept = self.lock();
            drop(self.more.wait_timeout(kept, nap).unwrap_or_else(PoisonError::into_inner));
            nap = longest.min(nap * 2);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_over(state: ContextState) -> bool {
    matches!(state, ContextState::Dead | ContextState::Parked)
}
