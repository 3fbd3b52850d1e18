//! The state of the generations of the Master until they are gone: how far each has come, its ticket, and what went
//! wrong before it had one. The listeners to unloads and the images that stay are here as well.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::bridge::tasks::JobCount;
use crate::callback::Callbacks;
use crate::cells::RefCell;
use crate::handles::{Generation, ModuleId};
use crate::unload::policy::UnloadPolicy;
use crate::unload::state::ContextState;
use crate::unload::steps::UnloadStep;
use crate::unload::ticket::UnloadTicket;

/// How much of what went wrong is kept of a generation that goes on.
const MOST_PROBLEMS: usize = 32;

/// A function of the host that is called before a generation ends, with the generation's number.
pub(crate) type UnloadingCallback = Rc<dyn Fn(u64)>;

/// A generation that unloads.
pub(super) struct OneUnload {
    pub(super) generation: Generation,
    /// Its modules that go: a reload may have kept others.
    pub(super) modules: Vec<ModuleId>,
    pub(super) ticket: UnloadTicket,
    /// The steps that are still to be done.
    pub(super) left: Cell<&'static [UnloadStep]>,
    /// Whether a listener was called for the generation: one that never started ends without events.
    pub(super) is_known: bool,
    pub(super) said_unloaded: Cell<bool>,
    pub(super) said_blocked: Cell<bool>,
    /// Set when the log has the blockers.
    pub(super) logged_blocked: Cell<bool>,
    /// A listener may cause another look at this while it is called for the end.
    pub(super) said_over: Cell<bool>,
}

/// Where a generation stands.
enum GenerationState {
    Alive,
    Unloading(UnloadTicket),
}

/// Generations and their unloads. Game thread only.
#[derive(Default)]
pub(crate) struct Unloads {
    /// What the host does about unloads that do not end.
    pub policy: UnloadPolicy,
    lives: RefCell<BTreeMap<Generation, GenerationState>>,
    pub(super) under_way: RefCell<Vec<Rc<OneUnload>>>,
    pub(crate) callbacks: Callbacks<UnloadingCallback>,
    /// What went wrong before there was a ticket to write it on.
    problems: RefCell<BTreeMap<Generation, Vec<String>>>,
    /// Tasks, timers and posted closures that ended before there was a ticket to write them on.
    jobs: RefCell<BTreeMap<Generation, Vec<JobCount>>>,
    parked: RefCell<Vec<String>>,
}

impl Unloads {
    /// The generation has begun to live.
    pub(crate) fn begin_life(&self, generation: Generation) {
        self.lives.borrow_mut().insert(generation, GenerationState::Alive);
    }

    /// Nothing of the generation is mapped: it was refused before that, or its images are gone. Nothing is kept of it.
    pub(crate) fn forget(&self, generation: Generation) {
        let ended = self.lives.borrow_mut().remove(&generation);
        self.problems.borrow_mut().remove(&generation);
        self.jobs.borrow_mut().remove(&generation);
        // This may be the last share of its ticket.
        drop(ended);
    }

    /// Whether anything of the generation is left.
    pub(crate) fn is_known(&self, generation: Generation) -> bool {
        self.lives.borrow().contains_key(&generation)
    }

    /// Every generation that is not dead, and how far its life has come.
    pub(crate) fn states(&self) -> Vec<(Generation, ContextState)> {
        let lives = self.lives.borrow();
        let states = lives.iter().map(|(generation, lives)| match lives {
            GenerationState::Alive => (*generation, ContextState::Alive),
            GenerationState::Unloading(ticket) => (*generation, ticket.state()),
        });
        states.filter(|(_, state)| *state != ContextState::Dead).collect()
    }

    /// The tickets of generations that are not dead, oldest first.
    pub(crate) fn tickets(&self) -> Vec<UnloadTicket> {
        let lives = self.lives.borrow();
        let tickets = lives.values().filter_map(|lives| match lives {
            GenerationState::Alive => None,
            GenerationState::Unloading(ticket) => Some(ticket.clone()),
        });
        tickets.filter(|ticket| ticket.state() != ContextState::Dead).collect()
    }

    /// Images that stay mapped, and why.
    pub(crate) fn parked(&self) -> Vec<String> {
        self.parked.borrow().clone()
    }

    /// The images that stay, where these are more than the host's limit: no other is loaded then.
    pub(crate) fn beyond_budget(&self) -> Option<Vec<String>> {
        let parked = self.parked.borrow();
        self.policy.is_spent(parked.len()).then(|| parked.clone())
    }

    /// Calls every callback, each isolated from the panics of the others, which go to the ticket. Their priorities, in
    /// order.
    pub(crate) fn call_back(&self, generation: Generation) -> Vec<i32> {
        let mut called = Vec::new();
        self.callbacks.each(|priority, callback| {
            called.push(priority);
            let call = || {
                (callback.code)(generation.0);
                Ok(())
            };
            if let Err(error) = crate::border::trap(call) {
                let callback = &callback.site;
                tracing::error!(%generation, priority, %callback, %error, "an unloading callback failed");
                self.note(generation, format!("the unloading callback of priority {priority} {error}"));
            }
        });
        called
    }

    /// Writes down what went wrong with a generation and stopped nothing. Of one that is gone it stands only in the
    /// log: a module that a reload has kept may outlive the generation it was mapped in.
    pub(crate) fn note(&self, generation: Generation, problem: String) {
        match self.lives.borrow().get(&generation) {
            Some(GenerationState::Alive) => {}
            Some(GenerationState::Unloading(ticket)) => return ticket.note(problem),
            None => return,
        }
        let mut problems = self.problems.borrow_mut();
        let problems = problems.entry(generation).or_default();
        // A plugin part that fails to end may do so every frame; the log has them all.
        if problems.len() < MOST_PROBLEMS {
            problems.push(problem);
        }
    }

    /// Writes down what a generation had still to do when it ended.
    pub(crate) fn note_jobs(&self, generation: Generation, ended: Vec<JobCount>) {
        self.jobs.borrow_mut().entry(generation).or_default().extend(ended);
    }

    /// What went wrong with a generation that has no ticket.
    pub(crate) fn take_problems(&self, generation: Generation) -> Vec<String> {
        self.problems.borrow_mut().remove(&generation).unwrap_or_default()
    }

    /// The generation has begun to unload: what was noted of it goes to its ticket.
    pub(super) fn begin_unload(&self, generation: Generation, ticket: &UnloadTicket) {
        self.take_problems(generation).into_iter().for_each(|problem| ticket.note(problem));
        ticket.note_jobs(self.jobs.borrow_mut().remove(&generation).unwrap_or_default());
        self.lives.borrow_mut().insert(generation, GenerationState::Unloading(ticket.clone()));
    }

    /// These images stay, one line each.
    pub(super) fn note_parked(&self, lines: &[String]) {
        self.parked.borrow_mut().extend(lines.iter().cloned());
    }

    /// Whether any generation is on its way out.
    pub(crate) fn is_busy(&self) -> bool {
        !self.under_way.borrow().is_empty()
    }
}
