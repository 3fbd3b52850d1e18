//! Generations of the Master that are on their way out, and what becomes of them: what is not gone in a short while is looked
//! at in every safe point, and given up when the policy of the host says so. The game thread sleeps in the first look only,
//! and never long.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::bridge::core::Core;
use crate::bridge::tasks::ErrandCount;
use crate::callback::{Registered, Site};
use crate::cells::RefCell;
use crate::handles::{Generation, ModuleId};
use crate::load::end_order::EndStep;
use crate::load::ending::{Ending, step_later};
use crate::load::error::LoadError;
use crate::load::events::MasterEvent;
use crate::load::leaving::Leaving;
use crate::load::master::{self, ExitHooks, Loads};
use crate::load::naps::Naps;
use crate::load::policy::UnloadPolicy;
use crate::load::state::ContextState;
use crate::load::ticket::UnloadTicket;

/// How much of what went wrong is kept of a generation that lives on.
const MOST_PROBLEMS: usize = 32;

/// A function of the host that is called before a generation ends, with the generation's number.
pub(crate) type UnloadingCallback = Rc<dyn Fn(u64)>;

/// A generation that has begun to retire.
struct Retirement {
    generation: Generation,
    /// Its modules that go: a reload may have kept others.
    modules: Vec<ModuleId>,
    ticket: UnloadTicket,
    /// The steps of its end that are still to be done.
    left: Cell<&'static [EndStep]>,
    /// Whether anybody has heard of the generation: one that never started ends in silence.
    is_known: bool,
    said_unloaded: Cell<bool>,
    said_blocked: Cell<bool>,
    /// A listener may have this looked at again while it is told of the end.
    said_over: Cell<bool>,
}

/// Where a generation stands.
enum Standing {
    Alive,
    Leaving(UnloadTicket),
}

/// Generations and their endings. Game thread only.
#[derive(Default)]
pub(crate) struct Retirements {
    /// What the host does about unloads that do not end.
    pub policy: UnloadPolicy,
    standing: RefCell<BTreeMap<Generation, Standing>>,
    under_way: RefCell<Vec<Rc<Retirement>>>,
    callbacks: RefCell<Vec<(i32, Registered<UnloadingCallback>)>>,
    /// What went wrong before there was a ticket to write it on.
    problems: RefCell<BTreeMap<Generation, Vec<String>>>,
    /// Tasks, timers and posted closures that ended before there was a ticket to write them on.
    errands: RefCell<BTreeMap<Generation, Vec<ErrandCount>>>,
    parked: RefCell<Vec<String>>,
}

impl Retirements {
    /// The generation has begun to live.
    pub(crate) fn begin_life(&self, generation: Generation) {
        self.standing.borrow_mut().insert(generation, Standing::Alive);
    }

    /// Nothing of the generation is mapped: it was refused before that, or its images are gone. Nothing is kept of it.
    pub(crate) fn forget(&self, generation: Generation) {
        let ended = self.standing.borrow_mut().remove(&generation);
        self.problems.borrow_mut().remove(&generation);
        self.errands.borrow_mut().remove(&generation);
        // This may be the last share of its ticket.
        drop(ended);
    }

    /// Whether anything of the generation is left.
    pub(crate) fn is_known(&self, generation: Generation) -> bool {
        self.standing.borrow().contains_key(&generation)
    }

    /// Every generation that is not dead, and how far its life has come.
    pub(crate) fn states(&self) -> Vec<(Generation, ContextState)> {
        let standing = self.standing.borrow();
        let states = standing.iter().map(|(generation, standing)| match standing {
            Standing::Alive => (*generation, ContextState::Alive),
            Standing::Leaving(ticket) => (*generation, ticket.state()),
        });
        states.filter(|(_, state)| *state != ContextState::Dead).collect()
    }

    /// The tickets of generations that are not dead, oldest first.
    pub(crate) fn tickets(&self) -> Vec<UnloadTicket> {
        let standing = self.standing.borrow();
        let tickets = standing.values().filter_map(|standing| match standing {
            Standing::Alive => None,
            Standing::Leaving(ticket) => Some(ticket.clone()),
        });
        tickets.filter(|ticket| ticket.state() != ContextState::Dead).collect()
    }

    /// Images that stay mapped, and why.
    pub(crate) fn parked(&self) -> Vec<String> {
        self.parked.borrow().clone()
    }

    /// Whether the host wants to pay for another image that may stay.
    ///
    /// # Errors
    /// When too many have stayed.
    pub(crate) fn check_budget(&self) -> Result<(), LoadError> {
        let parked = self.parked.borrow();
        match self.policy.is_spent(parked.len()) {
            true => Err(LoadError::ParkedBudget { budget: self.policy.parked_budget, parked: parked.clone() }),
            false => Ok(()),
        }
    }

    /// Adds a callback; smaller priorities are called first, equal ones in the order they came.
    pub(crate) fn on_unloading(&self, priority: i32, callback: Registered<UnloadingCallback>) {
        let mut callbacks = self.callbacks.borrow_mut();
        let at = callbacks.partition_point(|(other, _)| *other <= priority);
        callbacks.insert(at, (priority, callback));
    }

    /// Where the callbacks come from.
    pub(crate) fn callback_sites(&self) -> Vec<Site> {
        self.callbacks.borrow().iter().map(|(_priority, callback)| callback.site).collect()
    }

    /// Takes all callbacks out.
    pub(crate) fn take_callbacks(&self) -> Vec<Registered<UnloadingCallback>> {
        self.callbacks.take().into_iter().map(|(_priority, callback)| callback).collect()
    }

    /// Calls every callback, each isolated from the panics of the others, which go to the ticket. Their priorities, in
    /// order.
    pub(crate) fn call_back(&self, generation: Generation) -> Vec<i32> {
        let callbacks = self.callbacks.borrow().clone();
        let called = callbacks.iter().map(|(priority, _)| *priority).collect();
        for (priority, callback) in callbacks {
            let call = || {
                (callback.code)(generation.0);
                Ok(())
            };
            if let Err(error) = crate::border::trap(call) {
                let callback = &callback.site;
                tracing::error!(%generation, priority, %callback, %error, "an unloading callback failed");
                self.note(generation, format!("the unloading callback of priority {priority} {error}"));
            }
        }
        called
    }

    /// Writes down what went wrong with a generation and stopped nothing. Of one that is gone nobody reads it but in the
    /// log: a module that a reload has kept may outlive the generation it was mapped in.
    pub(crate) fn note(&self, generation: Generation, problem: String) {
        match self.standing.borrow().get(&generation) {
            Some(Standing::Alive) => {}
            Some(Standing::Leaving(ticket)) => return ticket.note(problem),
            None => return,
        }
        let mut problems = self.problems.borrow_mut();
        let problems = problems.entry(generation).or_default();
        // A plugin half that fails to end may do so every frame; the log has them all.
        if problems.len() < MOST_PROBLEMS {
            problems.push(problem);
        }
    }

    /// Writes down what a generation had still to do when it ended.
    pub(crate) fn note_errands(&self, generation: Generation, ended: Vec<ErrandCount>) {
        self.errands.borrow_mut().entry(generation).or_default().extend(ended);
    }

    /// What went wrong with a generation that has no ticket.
    pub(crate) fn take_problems(&self, generation: Generation) -> Vec<String> {
        self.problems.borrow_mut().remove(&generation).unwrap_or_default()
    }

    /// Whether any generation is on its way out.
    pub(crate) fn is_busy(&self) -> bool {
        !self.under_way.borrow().is_empty()
    }
}

/// What is left of an end when no code of its modules has anything to do on the game thread any more: goes as far as it can
/// within the grace that began with the end, and leaves the rest to the safe points.
pub(super) fn depart(
    core: &Core,
    loads: &Loads,
    ending: &Ending<'_>,
    left: &'static [EndStep],
    begun: Instant,
) -> UnloadTicket {
    let Ending { generation, modules, exits, .. } = *ending;
    let retirements = &loads.retirements;
    // What exit hooks and objects of other modules ended meanwhile.
    core.finalizer.release();
    let leaving = modules.iter().rev().filter_map(|module| module.leave(&core.logs, &retirements.policy)).collect();
    let ledgers: Vec<_> = modules.iter().rev().filter_map(|module| module.ledger().cloned()).collect();
    let ids: Vec<_> = master::ids(modules).collect();
    // A thread-local that a finalizer used can end on the finalizer thread only.
    let barrier = core.finalizer.barrier(generation, ids.clone(), move || {
        for ledger in &ledgers {
            ledger.run_thread_locals_here();
        }
    });
    let work = Leaving::new(leaving, Some(barrier));
    let ticket = UnloadTicket::new(format!("generation {generation}"), retirements.policy.grace, work);
    retirements.take_problems(generation).into_iter().for_each(|problem| ticket.note(problem));
    ticket.note_errands(retirements.errands.borrow_mut().remove(&generation).unwrap_or_default());
    retirements.standing.borrow_mut().insert(generation, Standing::Leaving(ticket.clone()));
    loads.hub.master_leaves(generation, &ticket);
    let retirement = Retirement {
        generation,
        modules: ids,
        ticket: ticket.clone(),
        left: Cell::new(left),
        is_known: exits != ExitHooks::NeverStarted,
        said_unloaded: Cell::new(false),
        said_blocked: Cell::new(false),
        said_over: Cell::new(false),
    };
    let retirement = Rc::new(retirement);
    let mut naps = Naps::default();
    loop {
        let is_last = begun.elapsed() >= retirements.policy.grace;
        if tend(core, loads, &retirement) {
            return ticket;
        }
        if is_last {
            break;
        }
        core.meanwhile();
        naps.sleep();
    }
    retirements.under_way.borrow_mut().push(retirement);
    ticket
}

/// Looks at every generation that is on its way out. Sleeps for nobody. The caller stands at a safe point.
pub(crate) fn tend_all(core: &Core, loads: &Loads) {
    let retirements = &loads.retirements;
    if !retirements.is_busy() {
        return;
    }
    // A listener may look at the list while it is told.
    let under_way = retirements.under_way.borrow().clone();
    for retirement in under_way {
        if !tend(core, loads, &retirement) && retirements.policy.gives_up(retirement.ticket.age()) {
            give_up(core, loads, &retirement);
        }
    }
    retirements.under_way.borrow_mut().retain(|retirement| !is_over(retirement.ticket.state()));
}

/// Waits until every generation that is on its way out has come to its end, as far as `deadline` allows; returns whether
/// all have. Posted closures go on running.
pub(crate) fn settle(core: &Core, loads: &Loads, deadline: Duration) -> bool {
    let until = crate::deadline::after(deadline);
    let mut naps = Naps::default();
    loop {
        tend_all(core, loads);
        if !loads.retirements.is_busy() {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        core.meanwhile();
        naps.sleep();
    }
}

/// Gives up one generation, or all that are on their way out. Returns how many there were.
pub(crate) fn park(core: &Core, loads: &Loads, only: Option<Generation>) -> usize {
    let under_way = loads.retirements.under_way.borrow().clone();
    let meant = |retirement: &&Rc<Retirement>| only.is_none_or(|generation| retirement.generation == generation);
    let parked = under_way.iter().filter(meant).map(|retirement| give_up(core, loads, retirement)).count();
    loads.retirements.under_way.borrow_mut().retain(|retirement| !is_over(retirement.ticket.state()));
    parked
}

fn give_up(core: &Core, loads: &Loads, retirement: &Retirement) {
    end_values(core, retirement);
    // Names the finalizer that runs, so before that is given up.
    retirement.ticket.park();
    core.finalizer.give_up(&retirement.modules);
    tend(core, loads, retirement);
}

/// Every finalizer has run, or was given up: what its modules own goes. Once.
fn end_values(core: &Core, retirement: &Retirement) {
    retirement.left.take().iter().for_each(|step| step_later(core, &retirement.modules, *step));
}

/// Takes one generation as far as it goes and tells whoever listens; whether it has come to its end.
fn tend(core: &Core, loads: &Loads, retirement: &Retirement) -> bool {
    let Retirement { generation, ticket, .. } = retirement;
    let mut state = ticket.poll();
    if ticket.is_drained() {
        end_values(core, retirement);
    }
    if ticket.is_drained() && !retirement.said_unloaded.replace(true) {
        raise(loads, retirement, || MasterEvent::Unloaded(*generation));
        state = ticket.poll();
    }
    if is_over(state) && retirement.said_over.replace(true) {
        return true;
    }
    match state {
        ContextState::Dead => {
            core.blacks.forget(&retirement.modules);
            retirement.modules.iter().for_each(|module| core.world.slices.forget(module.0));
            if let Some(report) = ticket.end_report() {
                tracing::info!(%generation, "{report}");
            }
            loads.retirements.forget(*generation);
            loads.hub.master_is_gone(*generation);
            raise(loads, retirement, || MasterEvent::Dead(*generation));
        }
        ContextState::Parked => {
            let lines = ticket.parked_lines();
            tracing::warn!(%generation, "{}", ticket.report());
            loads.retirements.parked.borrow_mut().extend(lines.iter().cloned());
            raise(loads, retirement, || MasterEvent::Parked(*generation, lines));
        }
        ContextState::Blocked if !retirement.said_blocked.replace(true) => {
            tracing::warn!(%generation, "{}", ticket.report());
            let lines = ticket.report().blockers.iter().map(ToString::to_string).collect();
            raise(loads, retirement, || MasterEvent::Blocked(*generation, lines));
        }
        ContextState::Alive | ContextState::Unloading | ContextState::Blocked => {}
    }

    is_over(state)
}

fn raise(loads: &Loads, retirement: &Retirement, event: impl FnOnce() -> MasterEvent) {
    if retirement.is_known {
        loads.raise(&event());
    }
}

fn is_over(state: ContextState) -> bool {
    matches!(state, ContextState::Dead | ContextState::Parked)
}
