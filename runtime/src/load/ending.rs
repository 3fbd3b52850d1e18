//! Ends a generation of the Master, step by step as `end_order.rs` says: for an unload, a shutdown, a reload that is
//! committed or rolled back, a create that fails. What is a caller's own (which objects go, what answers again) it does in
//! the step where that has its place.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::bridge::core::Core;
use crate::handles::{Generation, ModuleId};
use crate::load::end_order::{End, EndStep};
use crate::load::master::{ExitHooks, Loads, ids};
use crate::load::module::Module;
use crate::load::naps::Naps;
use crate::load::retire;
use crate::load::ticket::UnloadTicket;

/// A generation that ends, or those of its modules that a reload replaces.
pub(crate) struct Ending<'a> {
    /// What for.
    pub end: End,
    /// The generation.
    pub generation: Generation,
    /// Its modules, dependencies first.
    pub modules: &'a [Rc<Module>],
    /// Which of them get their exit hook.
    pub exits: ExitHooks,
}

/// Ends a generation, as far as that goes in a short while; `own` is called in the steps that are the caller's, too.
pub(crate) fn end(core: &Core, loads: &Loads, ending: &Ending<'_>, own: &mut dyn FnMut(EndStep)) -> UnloadTicket {
    let (begun, steps) = (Instant::now(), ending.end.steps());
    let later = steps.iter().position(|step| *step == EndStep::EndBlacks).unwrap_or(steps.len());
    for step in &steps[..later] {
        step_now(core, loads, ending, *step, begun);
        own(*step);
    }
    retire::depart(core, loads, ending, &steps[later..], begun)
}

fn step_now(core: &Core, loads: &Loads, ending: &Ending<'_>, step: EndStep, begun: Instant) {
    let Ending { generation, modules, exits, .. } = *ending;
    match step {
        EndStep::Seal => modules.iter().for_each(|module| module.leases().seal()),
        EndStep::Tell => loads.tell_unloading(generation),
        EndStep::ShutGates => {
            for module in modules {
                module.gate().end();
                core.value_types.wind_down(module.gate().tag().id);
                // Before the exit hooks: one of them may wait for a thread that waits for this.
                module.ask_to_stop();
            }
        }
        EndStep::DropErrands => {
            let ended = ids(modules).flat_map(|module| core.tasks.end_module(core, module)).collect();
            loads.retirements.note_errands(generation, ended);
        }
        EndStep::ReleaseHalves => release(core, &ids(modules).collect()),
        EndStep::AwaitFinalizers => await_finalizers(core, loads.retirements.policy.grace, begun),
        EndStep::ExitHooks => {
            for (at, module) in modules.iter().enumerate().rev() {
                if exits.covers(at) {
                    loads.recorder.note(|record| record.exit_hooks.push(module.name().to_owned()));
                }
                if let Err(error) = module.exit(&core.red, exits.covers(at)) {
                    tracing::error!(module = module.name(), %generation, %error, "an exit hook failed");
                    loads.retirements.note(generation, format!("the exit hook of {} {error}", module.name()));
                }
            }
        }
        EndStep::EndThreadLocals => {
            modules.iter().rev().for_each(|module| module.end_thread_locals_here());
            // That was the last of their code that can ask the host for anything.
            core.world.mode.end_staging();
        }
        // The caller's own.
        EndStep::EndObjects | EndStep::Resume => {}
        // Later: see `step_later`, and the ticket.
        EndStep::EndBlacks | EndStep::EndTypeNumbers | EndStep::EndImages => {}
    }
}

/// The steps that wait until every finalizer has run or was given up. Game thread.
pub(crate) fn step_later(core: &Core, modules: &[ModuleId], step: EndStep) {
    match step {
        EndStep::EndBlacks => drop(core.blacks.end_modules(&modules.iter().copied().collect())),
        EndStep::EndTypeNumbers => modules.iter().for_each(|module| core.value_types.end_module(*module)),
        // The ticket's, which needs no game thread.
        _ => {}
    }
}

/// Nothing that these modules handed out leads anywhere any more; their plugin halves go to the finalizer thread.
fn release(core: &Core, modules: &BTreeSet<ModuleId>) {
    for parts in core.pairs.release_modules(modules) {
        core.finalizer.finalize(parts);
    }
    for module in modules {
        core.zcalls.end_module(*module);
        core.explicit.end_module(*module);
        core.exports.end_module(*module);
    }
    let ended: Vec<_> = {
        let hooks = core.hooks.borrow();
        hooks.iter().filter(|(_, hooks)| modules.contains(&hooks.gate.tag().id)).map(|(id, _)| id).collect()
    };
    for class in ended {
        core.hooks.borrow_mut().remove(class);
        core.world.types.forget(class);
    }
}

/// Waits until the finalizer thread has dropped all that was handed to it, or `grace` has passed since `begun`. Posted
/// closures run meanwhile: a finalizer may wait for one.
fn await_finalizers(core: &Core, grace: Duration, begun: Instant) {
    core.finalizer.release();
    if core.finalizer.pending() == 0 {
        return;
    }
    let mark = core.finalizer.mark();
    let mut naps = Naps::default();
    while !mark.is_passed() && begun.elapsed() < grace {
        core.meanwhile();
        naps.sleep();
    }
}
