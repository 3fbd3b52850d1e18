//! Unloads a generation of the Master in the order of `steps.rs`. Used for unloads, shutdowns, committed and rolled back reloads, and
//! failed creations. The caller adds actions to the steps, such as the destruction of objects.

use std::collections::BTreeSet;
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::bridge::core::Core;
use crate::handles::{Generation, ModuleId};
use crate::lease::LeaseKind;
use crate::load::context::masters::Masters;
use crate::load::master::in_progress;
use crate::load::master::loads::{GenerationUnload, Loads, ids};
use crate::load::master::unloads::DelayedExits;
use crate::load::module::master::MasterModule;
use crate::unheard;
use crate::unload::policy::UnloadPolicy;
use crate::unload::steps::{LATER, UnloadCause, UnloadStep};
use crate::unload::ticket::UnloadTicket;
use crate::unload::wait::wait_until;

/// Maximum length of the finalizer queue for which a committed reload waits. With a longer queue, the wait would block the world for most
/// of the grace period. The new generation does not depend on these finalizers.
const SHORT_QUEUE: u64 = 2048;

/// Unloads a generation as far as possible within the grace period. The wait is longer while finalizers make progress. Calls `own` after
/// each step, for the actions of the caller. Later safe points perform the remaining steps.
pub(crate) fn unload(
    core: &Core,
    loads: &Loads,
    unload: &GenerationUnload<'_>,
    own: &mut dyn FnMut(UnloadStep),
) -> UnloadTicket {
    let begun = Instant::now();
    let mut exits = None;
    for step in unload.cause.steps().into_iter().take_while(|step| !LATER.contains(step)) {
        if step == UnloadStep::AwaitFinalizers && !await_finalizers(core, loads, unload, begun) {
            exits = Some(delay_exits(unload));
            break;
        }
        step_now(core, loads, unload, step);
        own(step);
    }
    // Frees destroyed objects, because this code runs at a safe point. A destroyed object that is not freed keeps its class alive, and the
    // class may hold a C library open.
    core.world.objects.free_graveyard();
    in_progress::hand_over(core, loads, unload, (begun, exits))
}

/// Returns a closure that runs the exit hooks of the modules at a later safe point. The closure keeps the images mapped.
fn delay_exits(unload: &GenerationUnload<'_>) -> DelayedExits {
    let (generation, modules) = (unload.generation, unload.modules.to_vec());
    let lease = |module: &Rc<MasterModule>| {
        let owner = format!("{}, after the finalizers", module.name());
        module.leases().take_in_unload(LeaseKind::ExitHook, owner, None)
    };
    // If a panic prevents the exit hooks, the leases are never dropped. The images then stay mapped permanently.
    let leases = ManuallyDrop::new(modules.iter().map(lease).collect::<Vec<_>>());
    Box::new(move |core: &Core, masters: &Masters| {
        modules.iter().rev().for_each(|module| exit(core, masters, generation, module));
        // Calls the functions that `thread_locals` returns. `end_thread_locals_here` would have no effect here, because the ticket owns the
        // images.
        modules.iter().rev().filter_map(|module| module.code().thread_locals()).for_each(|end_here| end_here());
        drop(ManuallyDrop::into_inner(leases));
    })
}

fn step_now(core: &Core, loads: &Loads, unload: &GenerationUnload<'_>, step: UnloadStep) {
    let GenerationUnload { generation, modules, .. } = *unload;
    match step {
        UnloadStep::Seal => {
            loads.registry.masters.seal(generation);
            modules.iter().for_each(|module| module.leases().seal());
        }
        UnloadStep::Notify => loads.notify_unloading(generation),
        UnloadStep::ShutGates => {
            for module in modules {
                module.gate().end();
                core.value_types.wind_down(module.tag().id);
                // Sends the stop request before the exit hooks run, because an exit hook may join a thread that waits for the request.
                module.code().request_stop();
            }
        }
        UnloadStep::DropJobs => {
            let ended = ids(modules).flat_map(|module| core.tasks.end_module(&core.world, &core.red, module)).collect();
            loads.registry.masters.note_jobs(generation, ended);
        }
        UnloadStep::ReleasePluginParts => release(core, &ids(modules).collect()),
        UnloadStep::AwaitFinalizers => {
            // Runs the delayed exit hooks of older generations first, because their modules may use these modules. No older generation uses
            // the modules of a failed generation, and calls are restricted during its unload.
            if matches!(unload.cause, UnloadCause::Unloaded | UnloadCause::Replaced) {
                in_progress::exit_up_to(core, loads, generation);
            }
        }
        UnloadStep::ExitHooks => {
            for module in modules.iter().rev() {
                if module.has_started() {
                    loads.recorder.note(|record| record.exit_hooks.push(module.name().to_owned()));
                }
                exit(core, &loads.registry.masters, generation, module);
            }
        }
        UnloadStep::EndThreadLocals => {
            modules.iter().rev().for_each(|module| module.code().end_thread_locals_here());
            // Allows irreversible changes again, because the modules no longer call the host.
            core.world.mode.end_staging();
            // Logs the undeclared uses of resources here, to include the uses by finalizers and exit hooks. For a failed load, the load
            // error already names the uses.
            if matches!(unload.cause, UnloadCause::Unloaded | UnloadCause::Replaced) {
                modules.iter().for_each(|module| loads.registry.log_uses(module));
            }
        }
        // The caller performs these steps.
        UnloadStep::EndObjects | UnloadStep::Resume => {}
        // `in_progress.rs` and the ticket perform these steps later.
        UnloadStep::EndOwnedValues | UnloadStep::EndTypeNumbers | UnloadStep::EndImages => {}
    }
}

/// Runs the exit hook of a module. Records a panic as a problem of the generation.
fn exit(core: &Core, masters: &Masters, generation: Generation, module: &MasterModule) {
    if let Err(error) = module.exit(&core.red) {
        log!(ERROR, module = module.name(), %generation, %error, "an exit hook failed");
        masters.note(generation, format!("the exit hook of {} {error}", module.name()));
    }
}

/// Removes the call names, exports, scripts and class hooks of these modules. Passes the plugin parts of the modules to the finalizer
/// thread.
fn release(core: &Core, modules: &BTreeSet<ModuleId>) {
    core.pairs.release_modules(modules, &mut core.finalizer.ended_parts());
    for module in modules {
        core.end_names(*module);
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

/// Waits for the finalizers of the generation. Returns false if a later safe point must run the exit hooks.
fn await_finalizers(core: &Core, loads: &Loads, unload: &GenerationUnload<'_>, begun: Instant) -> bool {
    let limit = wait_limit(loads.policy(), unload.cause);
    if unload.cause == UnloadCause::Replaced && core.finalizer.queued() > SHORT_QUEUE {
        return false;
    }
    // In a reload, a finalizer that seems to hang may wait for a posted closure, which runs at the next safe point.
    let grace = if unload.cause == UnloadCause::Replaced { Duration::MAX } else { loads.policy().grace };
    if wait_for_finalizers(core, grace, limit, begun) {
        return true;
    }
    match unload.cause {
        UnloadCause::Replaced => return false,
        // The mains of these modules have not run, so no queued finalizer belongs to these modules.
        UnloadCause::NotStaged => return true,
        UnloadCause::Unloaded | UnloadCause::RolledBack | UnloadCause::NotCreated | UnloadCause::Slim => {}
    }
    let (generation, left) = (unload.generation, core.finalizer.queued());
    let problem = format!("the exit hooks ran before the finalizers of {left} plugin parts, after a wait of {limit:?}");
    log!(WARN, %generation, "{problem}");
    unheard::print(&format_args!("generation {generation}: {problem}"));
    loads.registry.masters.note(generation, problem);
    true
}

/// Returns the maximum wait for finalizers that make progress. A committed reload waits only for the grace period, because the new
/// generation does not depend on finalizers of the old generation. Later safe points continue the unload.
fn wait_limit(policy: &UnloadPolicy, cause: UnloadCause) -> Duration {
    match cause {
        UnloadCause::Replaced | UnloadCause::NotStaged | UnloadCause::Slim => policy.grace,
        UnloadCause::Unloaded | UnloadCause::RolledBack | UnloadCause::NotCreated => policy.grace.max(policy.shutdown),
    }
}

/// Waits until the finalizer thread has dropped its queue, or until `limit` has passed since `begun`. If a finalizer hangs, the wait ends
/// after `grace`. Returns false if finalizers remain in the queue and no finalizer hangs. Outside of reloads and creations, runs posted
/// closures during the wait, because a finalizer may wait for a posted closure.
fn wait_for_finalizers(core: &Core, grace: Duration, limit: Duration, begun: Instant) -> bool {
    core.finalizer.release();
    if core.finalizer.pending() == 0 {
        return true;
    }
    let mark = core.finalizer.mark();
    let has_hung = || begun.elapsed() >= grace && core.finalizer.hangs(grace);
    wait_until(core, || begun.elapsed() >= limit, || mark.is_passed() || has_hung())
}
