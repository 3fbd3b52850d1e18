//! Unloads a generation of the Master in the order of `steps.rs`. Causes are an unload, a shutdown, a committed or rolled back
//! reload, and a failed create. The caller performs its own part of each step, such as choosing the objects to destroy.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::bridge::core::Core;
use crate::handles::ModuleId;
use crate::unload::backoff::Backoff;
use crate::unload::in_progress;
use crate::unload::steps::{LATER, UnloadCause, UnloadStep};
use crate::unload::subject::{GenerationUnload, UnloadHost, UnloadModule};
use crate::unload::ticket::UnloadTicket;

/// Number of plugin parts of a replaced generation for whose finalizers a reload waits. With more parts, the world would stand still for
/// most of the grace period although nothing of the new generation depends on the finalizers. The safe points continue the unload.
const SHORT_QUEUE: u64 = 2048;

/// Unloads a generation as far as possible within the grace period. Calls `own` after each step for the caller's part of the
/// step.
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
    // Allowed, because the caller is at a safe point. Destroyed objects keep their class, which may hold a C library.
    core.world.objects.free_graveyard();
    in_progress::hand_over(core, host, unload, &LATER, (begun, waits(core, unload.cause)))
}

/// Checks if the caller waits for finalizers.
fn waits(core: &Core, cause: UnloadCause) -> bool {
    cause != UnloadCause::Replaced || core.finalizer.pending() <= SHORT_QUEUE
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
        UnloadStep::Notify => host.notify_unloading(generation),
        UnloadStep::ShutGates => {
            for module in modules {
                module.shut();
                core.value_types.wind_down(module.id());
                // Requests the stop before the exit hooks, because an exit hook may join a thread that waits for this request.
                module.request_stop();
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
        UnloadStep::AwaitFinalizers => {
            core.finalizer.release();
            if waits(core, unload.cause) {
                await_finalizers(core, host.unloads().policy.grace, begun);
            }
        }
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
            // No code of the modules calls the host after this point.
            core.world.mode.end_staging();
        }
        // The caller performs these steps.
        UnloadStep::EndObjects | UnloadStep::Resume => {}
        // `in_progress.rs` and the ticket perform these steps later.
        UnloadStep::EndOwnedValues | UnloadStep::EndTypeNumbers | UnloadStep::EndImages => {}
    }
}

/// Invalidates all references to these modules and passes their plugin parts to the finalizer thread.
fn release(core: &Core, modules: &BTreeSet<ModuleId>) {
    core.finalizer.finalize(core.pairs.release_modules(modules));
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

/// Waits until the finalizer thread has dropped its queue, or until `grace` has passed since `begun`. Runs posted closures
/// during the wait, because a finalizer may wait for a posted closure.
fn await_finalizers(core: &Core, grace: Duration, begun: Instant) {
    if core.finalizer.pending() == 0 {
        return;
    }
    let mark = core.finalizer.mark();
    let mut backoff = Backoff::default();
    while !mark.is_passed() && begun.elapsed() < grace {
        core.pump_while_waiting();
        backoff.sleep();
    }
}
