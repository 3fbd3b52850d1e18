//! State of the generations of the Master until their images are unmapped: tickets, problems noted before a ticket exists,
//! unloading callbacks, and parked images.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::mem;
use std::rc::Rc;
use std::time::Instant;

use crate::bridge::core::Core;
use crate::bridge::tasks::JobCount;
use crate::callback::Callbacks;
use crate::cells::RefCell;
use crate::handles::{Generation, ModuleId};
use crate::unload::policy::UnloadPolicy;
use crate::unload::state::ContextState;
use crate::unload::steps::UnloadStep;
use crate::unload::ticket::UnloadTicket;

/// Maximum number of problems that are kept for a generation without a ticket.
const MOST_PROBLEMS: usize = 32;

/// Callback of the host that runs before a generation ends. The argument is the number of the generation.
pub(crate) type UnloadingCallback = Rc<dyn Fn(u64)>;

/// Delayed exit hooks of a generation, with the destructors of its thread-locals on the game thread.
pub(crate) type DelayedExits = Box<dyn FnOnce(&Core, &Unloads)>;

pub(crate) struct OneUnload {
    pub(crate) generation: Generation,
    /// Modules that are unloading. A reload may have kept other modules of this generation.
    pub(crate) modules: Vec<ModuleId>,
    pub(crate) ticket: UnloadTicket,
    /// Delayed exit hooks that have not run yet.
    pub(crate) exits: RefCell<Option<DelayedExits>>,
    /// Time at which the delayed exit hooks ran. The time until parking is measured from here, because exit hooks may end threads of the
    /// module.
    pub(crate) exited: Cell<Option<Instant>>,
    pub(crate) left: Cell<&'static [UnloadStep]>,
    /// Set if an event was raised for the generation. A generation that never started raises no events.
    pub(crate) is_known: bool,
    pub(crate) raised_unloaded: Cell<bool>,
    pub(crate) raised_blocked: Cell<bool>,
    pub(crate) logged_blocked: Cell<bool>,
    /// Set once the end of the unload was reported. A listener that polls the unload must not cause a second report.
    pub(crate) raised_end: Cell<bool>,
}

/// State of a generation that still exists.
#[derive(Default)]
struct GenerationRecord {
    /// `None` while the generation is alive.
    ticket: Option<UnloadTicket>,
    /// Problems noted before the generation had a ticket.
    problems: Vec<String>,
    /// Tasks, timers and posted closures dropped before the generation had a ticket.
    jobs: Vec<JobCount>,
}

/// State of all generations. Game thread only.
#[derive(Default)]
pub(crate) struct Unloads {
    pub policy: UnloadPolicy,
    lives: RefCell<BTreeMap<Generation, GenerationRecord>>,
    pub(crate) in_progress: RefCell<Vec<Rc<OneUnload>>>,
    pub(crate) callbacks: Callbacks<UnloadingCallback>,
    parked: RefCell<Vec<String>>,
}

impl Unloads {
    pub(crate) fn new(policy: UnloadPolicy) -> Self {
        Self { policy, ..Self::default() }
    }

    pub(crate) fn begin_life(&self, generation: Generation) {
        self.lives.borrow_mut().insert(generation, GenerationRecord::default());
    }

    /// Removes a generation that was rejected before its libraries were mapped, or whose images are unmapped.
    pub(crate) fn forget(&self, generation: Generation) {
        let ended = self.lives.borrow_mut().remove(&generation);
        // Drops the record after the borrow has ended. The record may contain the last clone of the ticket.
        drop(ended);
    }

    /// Checks if the generation is alive or has images left.
    pub(crate) fn is_known(&self, generation: Generation) -> bool {
        self.lives.borrow().contains_key(&generation)
    }

    /// Returns every generation that is not dead, with its state.
    pub(crate) fn states(&self) -> Vec<(Generation, ContextState)> {
        let lives = self.lives.borrow();
        let state = |life: &GenerationRecord| life.ticket.as_ref().map_or(ContextState::Alive, UnloadTicket::state);
        let states = lives.iter().map(|(generation, life)| (*generation, state(life)));
        states.filter(|(_, state)| *state != ContextState::Dead).collect()
    }

    /// Returns the tickets of unloading generations that are not dead, oldest first.
    pub(crate) fn tickets(&self) -> Vec<UnloadTicket> {
        let lives = self.lives.borrow();
        let tickets = lives.values().filter_map(|life| life.ticket.clone());
        tickets.filter(|ticket| ticket.state() != ContextState::Dead).collect()
    }

    pub(crate) fn parked(&self) -> Vec<String> {
        self.parked.borrow().clone()
    }

    /// Returns the parked images if their number exceeds the host's budget. In that case no more modules may be loaded.
    pub(crate) fn beyond_budget(&self) -> Option<Vec<String>> {
        let parked = self.parked.borrow();
        self.policy.is_spent(parked.len()).then(|| parked.clone())
    }

    /// Calls every callback. Records a panic of a callback as a problem of the generation, and continues with the next callback. Returns
    /// the priorities of the callbacks in call order.
    pub(crate) fn call_back(&self, generation: Generation) -> Vec<i32> {
        let mut called = Vec::new();
        self.callbacks.each(|priority, callback| {
            called.push(priority);
            let call = || {
                (callback.code)(generation.0);
                Ok(())
            };
            if let Err(error) = crate::boundary::catch_panics(call) {
                let callback = &callback.site;
                tracing::error!(%generation, priority, %callback, %error, "an unloading callback failed");
                self.note(generation, format!("the unloading callback of priority {priority} {error}"));
            }
        });
        called
    }

    /// Records a non-fatal problem of a generation. A kept module may outlive the generation that mapped the module. The problem of a
    /// generation that no longer exists appears only in the log.
    pub(crate) fn note(&self, generation: Generation, problem: String) {
        let mut lives = self.lives.borrow_mut();
        let Some(life) = lives.get_mut(&generation) else { return };
        match &life.ticket {
            Some(ticket) => ticket.note(problem),
            // Limits the number of problems. The drop of a plugin part may fail in every frame. The log contains all problems.
            None if life.problems.len() < MOST_PROBLEMS => life.problems.push(problem),
            None => {}
        }
    }

    pub(crate) fn note_jobs(&self, generation: Generation, ended: Vec<JobCount>) {
        self.lives.borrow_mut().entry(generation).or_default().jobs.extend(ended);
    }

    /// Takes the problems that were noted before the generation had a ticket.
    pub(crate) fn take_problems(&self, generation: Generation) -> Vec<String> {
        let mut lives = self.lives.borrow_mut();
        lives.get_mut(&generation).map(|life| mem::take(&mut life.problems)).unwrap_or_default()
    }

    /// Moves the noted problems and jobs of a generation to its ticket.
    pub(crate) fn begin_unload(&self, generation: Generation, ticket: &UnloadTicket) {
        let mut lives = self.lives.borrow_mut();
        let life = lives.entry(generation).or_default();
        mem::take(&mut life.problems).into_iter().for_each(|problem| ticket.note(problem));
        ticket.note_jobs(mem::take(&mut life.jobs));
        life.ticket = Some(ticket.clone());
    }

    pub(crate) fn note_parked(&self, lines: &[String]) {
        self.parked.borrow_mut().extend(lines.iter().cloned());
    }

    pub(crate) fn is_busy(&self) -> bool {
        !self.in_progress.borrow().is_empty()
    }
}
