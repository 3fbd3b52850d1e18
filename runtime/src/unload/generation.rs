//! Unloads a generation of the Master, step by step as `steps.rs` says: for an unload, a shutdown, a reload that is committed
//! or rolled back, a create that fails. What is a caller's own (which objects go, what answers again) it does in the step where
//! that has its place.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::bridge::core::Core;
use crate::handles::ModuleId;
use crate::unload::naps::Naps;
use crate::unload::steps::{LATER, UnloadStep};
use crate::unload::subject::{GenerationUnload, UnloadHost, UnloadModule};
use crate::unload::ticket::UnloadTicket;
use crate::unload::under_way;

/// Unloads a generation, as far as that goes in a short while; `own` is called in the steps that are the caller's, too.
pub(crate) fn unload<M: UnloadModule>(
    core: &Core,
    host: &dyn UnloadHost,
    unload: &GenerationUnload<'_, M>,
    own: &mut dyn FnMut(UnloadStep),
) -> UnloadTicket {
    let begun = Instant::now();
    for step in unload.cause.steps().into_iter().take_while(|step| !LATER.contains(step)) {
        step_now(core, host, unload, step, begun);
        own(step);
    }
    // The caller stands at a safe point. What has ended holds its class, and that may hold a C library.
    core.world.objects.free_graveyard();
    under_way::hand_over(core, host, unload, &LATER, begun)
}

fn step_now<M: UnloadModule>(
    core: &Core,
    host: &dyn UnloadHost,
    unload: &GenerationUnload<'_, M>,
    step: UnloadStep,
    begun: Instant,
) {
    let GenerationUnload { generation, modules, .. } = *unload;
    match step {
        UnloadStep::Seal => modules.iter().for_each(|module| module.leases().seal()),
        UnloadStep::Tell => host.tell_unloading(generation),
        UnloadStep::ShutGates => {
            for module in modules {
                module.shut();
                core.value_types.wind_down(module.id());
                // Before the exit hooks: one of them may wait for a thread that waits for this.
                module.ask_to_stop();
            }
        }
        UnloadStep::DropJobs => {
            let ended = modules
                .iter()
                .map(|module| module.id())
                .flat_map(|module| core.tasks.end_module(&core.world, &core.red, module))
                .collect();
            host.unloads().note_jobs(generation, ended);
        }
        UnloadStep::ReleasePluginParts => release(core, &modules.iter().map(|module| module.id()).collect()),
        UnloadStep::AwaitFinalizers => await_finalizers(core, host.unloads().policy.grace, begun),
        UnloadStep::ExitHooks => {
            for module in modules.iter().rev() {
                if module.has_started() {
                    host.runs_exit_hook(module.name());
                }
                if let Err(error) = module.exit(&core.red) {
                    tracing::error!(module = module.name(), %generation, %error, "an exit hook failed");
                    host.unloads().note(generation, format!("the exit hook of {} {error}", module.name()));
                }
            }
        }
        UnloadStep::EndThreadLocals => {
            modules.iter().rev().for_each(|module| module.end_thread_locals_here());
            // That was the last of their code that can ask the host for anything.
            core.world.mode.end_staging();
        }
        // The caller's own.
        UnloadStep::EndObjects | UnloadStep::Resume => {}
        // Later: see `under_way.rs`, and the ticket.
        UnloadStep::EndBlacks | UnloadStep::EndTypeNumbers | UnloadStep::EndImages => {}
    }
}

/// Nothing that these modules handed out leads anywhere any more; their plugin parts go to the finalizer thread.
fn release(core: &Core, modules: &BTreeSet<ModuleId>) {
    for parts in core.pairs.release_modules(modules) {
        core.finalizer.finalize(parts);
    }
    for module in modules {
        core.zcalls.end_module(*module);
        core.red.hot().forget(*module);
        core.explicit.end_module(*module);
        core.chain.end_module(*module);
        core.exports.end_module(*module);
        #[cfg(feature = "script")]
        core.scripts.end_module(*module).into_iter().for_each(|class| core.world.types.forget(class));
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
