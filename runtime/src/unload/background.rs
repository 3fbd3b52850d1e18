//! Background unloader. Polls unload tickets, so that an unload continues even if no caller polls its ticket or waits for it. The threads
//! of the unloader exist only while unloads are in progress. A blocked context is polled about fifty times per second. A poll may run an
//! exit hook or a listener. If an exit hook or a listener hangs, a supervisor thread replaces the polling thread.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::panic_guard;
use crate::sync::lock;
use crate::unload::ticket::UnloadTicket;

/// Initial and maximum sleep between two rounds of polls.
const SLEEP_RANGE: (Duration, Duration) = (Duration::from_micros(200), Duration::from_millis(20));

/// Maximum duration of a round. After this time, a new thread polls the tickets.
const LONGEST_POLL: Duration = Duration::from_millis(250);

#[derive(Default)]
pub(crate) struct BackgroundUnloader {
    kept: Mutex<Kept>,
    more: Condvar,
}

#[derive(Default)]
struct Kept {
    tickets: Vec<UnloadTicket>,
    is_running: bool,
    /// Age at which an unfinished unload is parked. `None` disables parking.
    park_after: Option<Duration>,
}

impl BackgroundUnloader {
    /// Continues an unload in the background until the unload is over.
    pub(crate) fn watch(self: &Arc<Self>, ticket: UnloadTicket) {
        let mut kept = lock(&self.kept);
        kept.tickets.push(ticket);
        if kept.is_running {
            self.more.notify_one();
            return;
        }
        let unloader = Arc::clone(self);
        let thread = thread::Builder::new().name("alcedo-unloader".into()).spawn(move || unloader.run());
        match thread {
            Ok(_runs_by_itself) => kept.is_running = true,
            Err(error) => {
                // Releases the lock, because a log subscriber may begin an unload.
                drop(kept);
                log!(WARN, %error, "no thread for unloads: they continue when their tickets are polled");
            }
        }
    }

    /// Sets the age at which unfinished unloads are parked. `None` disables parking.
    pub(crate) fn set_park_after(&self, park_after: Option<Duration>) {
        lock(&self.kept).park_after = park_after;
    }

    fn run(&self) {
        let (shortest, longest) = SLEEP_RANGE;
        let mut sleep = shortest;
        let mut known = 0;
        let mut poller = None;
        loop {
            let (tickets, park_after) = {
                let mut kept = lock(&self.kept);
                kept.tickets.retain(|ticket| !ticket.state().is_over());
                if kept.tickets.is_empty() {
                    kept.is_running = false;
                    return;
                }
                if kept.tickets.len() > known {
                    sleep = shortest;
                }
                known = kept.tickets.len();
                (kept.tickets.clone(), kept.park_after)
            };
            poller = match poller.or_else(Poller::start) {
                Some(running) => running.poll(Round { tickets, park_after }),
                None => {
                    Round { tickets, park_after }.poll();
                    None
                }
            };
            let kept = lock(&self.kept);
            drop(self.more.wait_timeout(kept, sleep).unwrap_or_else(PoisonError::into_inner));
            sleep = longest.min(sleep * 2);
        }
    }
}

/// Tickets to poll, and the age at which an unfinished unload is parked.
struct Round {
    tickets: Vec<UnloadTicket>,
    park_after: Option<Duration>,
}

impl Round {
    fn poll(self) {
        for ticket in self.tickets {
            // Catches a panic of a host callback, and continues with the next ticket.
            let polled = panic_guard::caught(|| {
                let state = ticket.poll();
                if !state.is_over() && self.park_after.is_some_and(|after| ticket.age() >= after) {
                    ticket.park_within(Duration::ZERO);
                }
            });
            if let Err(message) = polled {
                log!(ERROR, message, "an unload panicked; it is polled again");
            }
        }
    }
}

/// Polling thread. Dropping this value stops the thread after its current round.
struct Poller {
    rounds: Sender<Round>,
    done: Receiver<()>,
}

impl Poller {
    /// Starts the polling thread. Returns `None` if the operating system cannot create a thread.
    fn start() -> Option<Self> {
        let ((rounds, to_do), (is_done, done)) = (channel::<Round>(), channel());
        let work = move || {
            for round in to_do {
                round.poll();
                if is_done.send(()).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("alcedo-unloads".into()).spawn(work).ok()?;
        Some(Self { rounds, done })
    }

    /// Polls the tickets of one round on the polling thread. Returns `None` if the round takes too long.
    fn poll(self, round: Round) -> Option<Self> {
        self.rounds.send(round).ok()?;
        self.done.recv_timeout(LONGEST_POLL).ok()?;
        Some(self)
    }
}
