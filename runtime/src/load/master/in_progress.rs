//! Polls unloading generations at every safe point. Parks a generation when the policy requires parking. The game thread sleeps only in
//! `hand_over`, within the grace period, and in `wait_for_all`.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::bridge::core::Core;
use crate::cells::RefCell;
use crate::handles::{Generation, ModuleId};
use crate::load::context::event::ContextEventKind;
use crate::load::context::masters::Masters;
use crate::load::master::loads::{GenerationUnload, Loads, ids};
use crate::load::master::unloads::{DelayedExits, OneUnload};
use crate::unheard;
use crate::unload::job::ModuleUnload;
use crate::unload::modules::ModuleUnloads;
use crate::unload::state::ContextState;
use crate::unload::steps::{LATER, UnloadStep};
use crate::unload::ticket::UnloadTicket;
use crate::unload::wait::wait_until;

/// Creates the ticket for the remaining steps of an unload. These steps run no module code on the game thread, except for delayed exit
/// hooks. Without delayed exit hooks, polls the ticket until the grace period ends. Later safe points poll the ticket.
pub(super) fn hand_over(
    core: &Core,
    loads: &Loads,
    unload: &GenerationUnload<'_>,
    (begun, exits): (Instant, Option<DelayedExits>),
) -> UnloadTicket {
    let GenerationUnload { generation, modules, is_known, .. } = *unload;
    // Sends deferred plugin parts to the finalizer thread, because exit hooks and objects of kept modules may have dropped plugin parts.
    core.finalizer.release();
    let policy = loads.policy();
    let jobs = modules.iter().rev().filter_map(|module| Some(ModuleUnload::new(module.unload_job(policy)?)));
    let jobs = jobs.collect();
    let thread_locals: Vec<_> = modules.iter().rev().filter_map(|module| module.code().thread_locals()).collect();
    let ids: Vec<_> = ids(modules).collect();
    // Finalizers may create thread-locals on the finalizer thread. Only the finalizer thread can drop these thread-locals.
    let barrier = core.finalizer.barrier(generation, ids.clone(), move || {
        thread_locals.iter().for_each(|end_here| end_here());
    });
    let work = ModuleUnloads::new(jobs, Some((barrier, policy.grace)));
    // Remaining time of the grace period.
    let patience = loads.policy().grace.saturating_sub(begun.elapsed());
    let ticket = UnloadTicket::new(format!("generation {generation}"), patience, work);
    loads.registry.masters.begin_unload(generation, &ticket);
    let is_delayed = exits.is_some();
    let unload = OneUnload {
        generation,
        modules: ids,
        ticket: ticket.clone(),
        exits: RefCell::new(exits),
        exited: Cell::new(None),
        left: Cell::new(&LATER),
        is_known,
        raised_unloaded: Cell::new(false),
        raised_blocked: Cell::new(false),
        logged_blocked: Cell::new(false),
        raised_end: Cell::new(false),
        hangs: Cell::new(false),
    };
    let unload = Rc::new(unload);
    if is_delayed {
        // Updates the blockers in the ticket for the reload report.
        let _state = ticket.poll();
        loads.unloads.in_progress.borrow_mut().push(unload);
        return ticket;
    }
    let is_late = || begun.elapsed() >= loads.policy().grace;
    if !wait_until(core, is_late, || tend(core, loads, &unload)) {
        loads.unloads.in_progress.borrow_mut().push(unload);
    }
    ticket
}

/// Polls every unloading generation without sleeping. The caller must be at a safe point.
pub(crate) fn tend_all(core: &Core, loads: &Loads) {
    if !loads.unloads.is_busy() {
        return;
    }
    // Copies the list, because a listener may borrow the list.
    let in_progress = loads.unloads.in_progress.borrow().clone();
    for unload in in_progress {
        let is_over = tend(core, loads, &unload);
        let age = unload.exited.get().map_or_else(|| unload.ticket.age(), |exited| exited.elapsed());
        // Uses the idle time, so that a generation is not parked while its finalizers make progress.
        if !is_over && loads.policy().should_park(age.min(unload.ticket.idle())) {
            park_one(core, loads, &unload);
        }
    }
    loads.unloads.in_progress.borrow_mut().retain(|unload| !unload.ticket.state().is_over());
}

/// Waits until all generations are unloaded or `deadline` has passed. Returns true if all generations are unloaded. Runs posted
/// closures during the wait.
pub(crate) fn wait_for_all(core: &Core, loads: &Loads, deadline: Duration) -> bool {
    let until = crate::deadline::after(deadline);
    wait_until(
        core,
        || Instant::now() >= until,
        || {
            tend_all(core, loads);
            !loads.unloads.is_busy()
        },
    )
}

/// Parks the generation `only`, or all unloading generations. Returns the number of parked generations.
pub(crate) fn park(core: &Core, loads: &Loads, only: Option<Generation>) -> usize {
    let in_progress = loads.unloads.in_progress.borrow().clone();
    let meant = |unload: &&Rc<OneUnload>| only.is_none_or(|generation| unload.generation == generation);
    let parked = in_progress.iter().filter(meant).map(|unload| park_one(core, loads, unload)).count();
    loads.unloads.in_progress.borrow_mut().retain(|unload| !unload.ticket.state().is_over());
    parked
}

/// Runs the delayed exit hooks of all generations up to `last`, oldest first. A module of an old generation may use a module that a later
/// generation has kept. The caller must be at a safe point.
pub(super) fn exit_up_to(core: &Core, loads: &Loads, last: Generation) {
    let in_progress = loads.unloads.in_progress.borrow().clone();
    in_progress
        .iter()
        .filter(|unload| unload.generation <= last)
        .for_each(|unload| exit(core, &loads.registry.masters, unload));
}

/// Runs the delayed exit hooks of one generation. A second call has no effect.
fn exit(core: &Core, masters: &Masters, unload: &OneUnload) {
    let exits = unload.exits.take();
    if let Some(exits) = exits {
        exits(core, masters);
        unload.exited.set(Some(Instant::now()));
        // Sends to the finalizer thread the plugin parts that the exit hooks have dropped.
        core.finalizer.release();
    }
}

/// Checks if delayed exit hooks must run now. These hooks run once every finalizer has run, or once a single finalizer has run for the
/// whole grace period at two safe points. The first safe point runs the posted closures for which the finalizer may wait.
fn must_exit(core: &Core, loads: &Loads, unload: &OneUnload, is_drained: bool) -> bool {
    if unload.exits.borrow().is_none() {
        return false;
    }
    let hangs = core.finalizer.hangs(loads.policy().grace);
    let has_hung = unload.hangs.replace(hangs);
    is_drained || hangs && has_hung
}

fn park_one(core: &Core, loads: &Loads, unload: &OneUnload) {
    exit_up_to(core, loads, unload.generation);
    end_values(core, unload);
    // Parks the unload before abandoning the finalizers, so that the report names the running finalizer.
    unload.ticket.park();
    core.finalizer.abandon(&unload.modules);
    tend(core, loads, unload);
}

/// Performs the steps that require that all finalizers have run, such as the destruction of owned values. Called after all finalizers have
/// run or were abandoned. A second call has no effect.
fn end_values(core: &Core, unload: &OneUnload) {
    unload.left.take().iter().for_each(|step| step_later(core, &unload.modules, *step));
}

/// Polls the unload of one generation and calls the listeners. Returns true if the unload is over.
fn tend(core: &Core, loads: &Loads, unload: &OneUnload) -> bool {
    let OneUnload { generation, ticket, .. } = unload;
    let mut state = ticket.poll();
    // Reads the flag once for both conditions, because a concurrent poll may change the flag. Delayed exit hooks must run before owned
    // values are destroyed.
    let is_drained = ticket.is_drained();
    if must_exit(core, loads, unload, is_drained) {
        exit_up_to(core, loads, *generation);
    }
    if is_drained {
        end_values(core, unload);
    }
    if is_drained && !unload.raised_unloaded.replace(true) {
        raise(loads, unload, ContextEventKind::Unloaded);
        state = ticket.poll();
    }
    if state.is_over() && unload.raised_end.replace(true) {
        return true;
    }
    match state {
        ContextState::Dead => {
            core.owned_values.forget(&unload.modules);
            unload.modules.iter().for_each(|module| core.world.slices.forget(module.0));
            if let Some(report) = ticket.end_report() {
                log!(INFO, %generation, "{report}");
            }
            loads.registry.masters.forget(*generation);
            raise(loads, unload, ContextEventKind::Dead);
        }
        ContextState::Parked => {
            let lines = ticket.parked_lines();
            log!(WARN, %generation, "{}", ticket.report());
            unheard::print(&ticket.report());
            loads.registry.note_parked(&lines);
            raise(loads, unload, ContextEventKind::Parked(lines));
        }
        ContextState::Blocked if !unload.logged_blocked.get() => {
            let report = ticket.report();
            if report.is_late() && !unload.logged_blocked.replace(true) {
                log!(WARN, %generation, "{report}");
                unheard::print(&report);
            }
            if !unload.raised_blocked.replace(true) {
                let lines = report.blockers.iter().map(ToString::to_string).collect();
                raise(loads, unload, ContextEventKind::Blocked(lines));
            }
        }
        ContextState::Alive | ContextState::Unloading | ContextState::Blocked => {}
    }

    state.is_over()
}

fn raise(loads: &Loads, unload: &OneUnload, event: ContextEventKind) {
    if unload.is_known {
        loads.raise(unload.generation, event);
    }
}

/// Performs a step that requires that all finalizers have run. Game thread only.
fn step_later(core: &Core, modules: &[ModuleId], step: UnloadStep) {
    match step {
        UnloadStep::EndOwnedValues => drop(core.owned_values.end_modules(&modules.iter().copied().collect())),
        UnloadStep::EndTypeNumbers => modules.iter().for_each(|module| core.value_types.end_module(*module)),
        // The ticket performs this step, without the game thread.
        UnloadStep::EndImages => {}
        UnloadStep::Seal
        | UnloadStep::Notify
        | UnloadStep::ShutGates
        | UnloadStep::DropJobs
        | UnloadStep::EndObjects
        | UnloadStep::ReleasePluginParts
        | UnloadStep::Resume
        | UnloadStep::AwaitFinalizers
        | UnloadStep::ExitHooks
        | UnloadStep::EndThreadLocals => debug_assert!(false, "{step:?} does not wait for finalizers"),
    }
}
