//! Unload of a generation of a Slim. First, all active calls must return and all leases must end. Then the exit hooks run module by module,
//! dependents first, and the images are unmapped. If the unload is not complete, the background unloader and the holders of the ticket
//! continue the unload.
//!
//! Dependencies between modules contain no cycle, because the dependencies of a module are loaded before the module is mapped. The waits
//! between unloading modules contain no cycle either, because leases are counted per module.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crate::bridge::core::Core;
use crate::lease::Blocker;
use crate::load::context::event::ContextEventKind;
use crate::load::context::free_context::FreeContext;
use crate::load::context::free_generation::FreeGeneration;
use crate::load::context::free_module::FreeModule;
use crate::load::context::registry::ContextRegistry;
use crate::load::context_id::ContextId;
use crate::load::error::context::ContextError;
use crate::unload::blockers::kept_by;
use crate::unload::modules::ModuleUnloads;
use crate::unload::policy::UnloadPolicy;
use crate::unload::steps::{UnloadCause, UnloadStep};
use crate::unload::ticket::UnloadTicket;
use crate::unload::wait::wait_until;
use crate::unload::work::{Progress, UnloadWork, Unloaded};

/// Time after which an unload counts as blocked. Independent of the grace period, which limits the wait of the game thread.
const PATIENCE: Duration = Duration::from_millis(50);

/// Contexts and images that remain after the shutdown of the host.
pub(crate) struct Unended {
    /// Descriptions of each parked image and each unfinished generation.
    pub left: Vec<String>,
    /// Blockers of the unfinished generations.
    pub blockers: Vec<Blocker>,
}

/// Modules that are unloading. The exit hook of a module runs once the module is unused. The image of a module is unmapped once the module
/// has no dependents. Each module is unloaded separately, because its dependents may belong to different contexts.
struct Going {
    /// Modules whose exit hooks have not run, in load order.
    used: Vec<Arc<FreeModule>>,
    /// Modules whose exit hooks have run, dependents first.
    ended: Vec<Arc<FreeModule>>,
    /// Unload jobs of the modules whose last call has returned.
    images: Box<ModuleUnloads>,
}

impl Going {
    /// Starts the unload of `modules`, listed in load order. The caller ensures that the host no longer calls the modules.
    fn new(modules: Vec<Arc<FreeModule>>) -> Self {
        // Sends stop requests before the exit hooks run, because an exit hook may join a thread that waits for its stop request.
        modules.iter().for_each(|module| {
            module.seal();
            module.code().request_stop();
        });
        Self { used: modules, ended: Vec::new(), images: ModuleUnloads::new(Vec::new(), None) }
    }

    /// Runs the exit hooks of unused modules, dependents first. A dependency becomes unused when the exit hooks of its dependents have run.
    /// If an exit hook panics, the next poll continues with the modules that remain in `used`. `note` receives a message for each problem.
    fn end_unused(&mut self, note: &dyn Fn(String)) {
        for step in UnloadCause::Slim.steps() {
            match step {
                UnloadStep::ExitHooks => {
                    for at in (0..self.used.len()).rev() {
                        let module = &self.used[at];
                        if module.users.count() != 0 {
                            continue;
                        }
                        if let Err(error) = module.exit() {
                            log!(ERROR, module = module.name(), %error, "an exit hook failed");
                            note(format!("the exit hook of {} {error}", module.name()));
                        }
                        self.ended.push(self.used.remove(at));
                    }
                }
                UnloadStep::EndThreadLocals => {
                    self.ended.iter().for_each(|module| module.code().end_thread_locals_here());
                }
                // `Self::new` has already sealed the modules, and the gate of the generation is closed.
                UnloadStep::Seal | UnloadStep::ShutGates => {}
                // `ModuleUnloads` performs this step once the images are unused.
                UnloadStep::EndImages => {}
                UnloadStep::Notify
                | UnloadStep::DropJobs
                | UnloadStep::EndObjects
                | UnloadStep::ReleasePluginParts
                | UnloadStep::Resume
                | UnloadStep::AwaitFinalizers
                | UnloadStep::EndOwnedValues
                | UnloadStep::EndTypeNumbers => debug_assert!(false, "{step:?}: a Slim context has no objects"),
            }
        }
    }

    /// Continues the unload as far as possible on this thread. `note` receives a message for each problem.
    fn advance(&mut self, policy: &UnloadPolicy, note: &dyn Fn(String)) -> Progress {
        self.end_unused(note);
        self.images.add(self.ended.drain(..).filter_map(|module| module.unload(policy)));
        if self.used.is_empty() {
            return self.images.advance();
        }
        let mut blockers: Vec<_> = self.used.iter().rev().flat_map(|module| module.users.report()).collect();
        blockers.extend(self.images.advance_each());
        Progress::Waiting { blockers, drained: false }
    }

    /// Leaves the remaining images mapped, without a further call into the modules.
    fn park(&mut self, policy: &UnloadPolicy) -> Unloaded {
        let left = self.ended.drain(..).chain(self.used.drain(..).rev());
        self.images.add(left.filter_map(|module| module.unload(policy)));
        self.images.park()
    }
}

/// Unload of a generation, or of the modules of a failed load into a generation.
struct SpaceUnload {
    registry: Weak<ContextRegistry>,
    generation: Arc<FreeGeneration>,
    policy: UnloadPolicy,
    modules: Option<Going>,
    /// Set for the modules of a failed load. The generation itself is not unloaded.
    is_failed_load: bool,
}

impl SpaceUnload {
    /// Creates the unload of a generation. If `failed` contains the modules of a failed load, unloads only these modules.
    fn new(
        registry: &ContextRegistry,
        generation: &Arc<FreeGeneration>,
        failed: Option<&[Arc<FreeModule>]>,
    ) -> Box<Self> {
        Box::new(Self {
            registry: registry.weak(),
            generation: Arc::clone(generation),
            policy: registry.settings.unloads.clone(),
            modules: failed.map(|modules| Going::new(modules.to_vec())),
            is_failed_load: failed.is_some(),
        })
    }

    fn kept(blockers: Vec<Blocker>) -> Progress {
        Progress::Waiting { blockers, drained: false }
    }

    fn over(&self, unloaded: &Unloaded) {
        let parked: Vec<_> = unloaded.parked.iter().map(|image| image.line(&self.generation.title())).collect();
        if !parked.is_empty() {
            // The code of a parked image may still use the native libraries.
            self.generation.natives.leak();
        }
        if self.is_failed_load {
            // Raises no event, because the generation is not parked.
            self.registry.upgrade().iter().for_each(|registry| registry.note_left(&parked));
            return;
        }
        self.generation.return_borrowed();
        if let Some(registry) = self.registry.upgrade() {
            registry.ended(&self.generation, parked);
        }
    }
}

impl UnloadWork for SpaceUnload {
    fn advance(&mut self) -> Progress {
        if self.modules.is_none() {
            // Waits, because a concurrent thread may still call the unloading listeners.
            if !self.generation.announced.load(Ordering::Acquire) {
                return Self::kept(Vec::new());
            }
            if !self.generation.held_by().is_empty() {
                return Self::kept(self.generation.kept_by());
            }
            // All loads and calls have ended. From now on, only dependent modules need the borrowed modules.
            self.generation.return_borrowed();
        }
        let (generation, is_failed_load) = (&self.generation, self.is_failed_load);
        let note = |problem: String| match generation.ticket() {
            Some(ticket) if !is_failed_load => ticket.note(problem),
            _ => log!(WARN, problem, "while a load was undone"),
        };
        let going = self.modules.get_or_insert_with(|| Going::new(generation.close()));
        let progress = going.advance(&self.policy, &note);
        if let Progress::Ended(unloaded) = &progress {
            self.over(unloaded);
        }
        progress
    }

    fn park(&mut self) -> Unloaded {
        // Runs no exit hooks. Active calls continue in the parked images, and an exit hook would destroy the data of these calls.
        let unloaded = match &mut self.modules {
            Some(modules) => modules.park(&self.policy),
            None => {
                // Closes the generation. A load in progress then cannot add its modules, and unloads them.
                let mut unloaded = Going::new(self.generation.close()).park(&self.policy);
                let blockers = self.generation.held_by();
                if !blockers.is_empty() {
                    unloaded.parked.iter_mut().for_each(|image| image.reason = kept_by(&blockers));
                    self.generation.leak_borrowed();
                }
                unloaded
            }
        };
        self.over(&unloaded);
        unloaded
    }
}

impl FreeContext {
    /// Starts to unload the context without waiting until the unload is complete. A second call returns the same ticket. If no call into
    /// the context is active, this function runs the exit hooks. Returns [`ContextError::NotCollectible`] for the Default and for pinned
    /// contexts.
    pub(super) fn begin_unload(&self, registry: &ContextRegistry, why: &str) -> Result<UnloadTicket, ContextError> {
        self.expect_collectible()?;
        let begun = self.take_current(|generation| begin(registry, generation, self.title()));
        Ok(match begun {
            Ok((generation, begun)) => {
                // Logs outside of the lock, because a log subscriber may access contexts.
                log!(DEBUG, context = self.title(), why, "a load context begins to unload");
                self.announce(registry, &generation, begun)
            }
            Err(ticket) => ticket,
        })
    }

    /// Starts to unload a replaced or failed generation. The current generation remains in use.
    pub(super) fn seal(&self, registry: &ContextRegistry, generation: &Arc<FreeGeneration>) -> UnloadTicket {
        self.announce(registry, generation, begin(registry, generation, generation.full_title()))
    }

    /// If `begun` contains a new ticket, calls the unloading listeners and continues the unload as far as possible. Returns the ticket.
    fn announce(
        &self,
        registry: &ContextRegistry,
        generation: &Arc<FreeGeneration>,
        (ticket, is_first): (UnloadTicket, bool),
    ) -> UnloadTicket {
        if is_first {
            self.notify_unloading(registry, generation);
            generation.modules().iter().for_each(|module| module.code().request_stop());
            generation.announced.store(true, Ordering::Release);
            registry.drive(ticket.clone());
        }
        ticket
    }

    /// Calls the unloading listeners of a generation, at most once per generation. Used when the generation is sealed, and at process exit.
    fn notify_unloading(&self, registry: &ContextRegistry, generation: &FreeGeneration) {
        if !generation.is_notified.swap(true, Ordering::AcqRel) {
            generation.notify(&registry.listeners, ContextEventKind::Unloading);
            generation.notify(&self.unloading, ContextEventKind::Unloading);
        }
    }
}

fn begin(registry: &ContextRegistry, generation: &Arc<FreeGeneration>, subject: String) -> (UnloadTicket, bool) {
    let work = || SpaceUnload::new(registry, generation, None);
    generation.seal(|| UnloadTicket::new(subject, PATIENCE, work()))
}

impl ContextRegistry {
    /// Starts to unload the modules of a failed load. `generation` is the generation into which the load has failed.
    pub(super) fn abandon(&self, generation: &Arc<FreeGeneration>, modules: &[Arc<FreeModule>]) {
        if !modules.is_empty() {
            let work = SpaceUnload::new(self, generation, Some(modules));
            let ticket =
                UnloadTicket::new(format!("modules of a failed load into {}", generation.title()), PATIENCE, work);
            self.failed_loads().push((generation.id, ticket.clone()));
            self.drive(ticket);
        }
    }

    /// Calls the unloading listeners of all contexts and unloads every Slim. Called when the host shuts down. Runs posted closures during
    /// the wait, because a call into a Slim may wait for a posted closure. Returns the contexts and images that remain after `deadline`. A
    /// second call returns without waiting.
    pub(crate) fn close(&self, core: &Core, deadline: Duration) -> Unended {
        let deadline = if self.has_closed.swap(true, Ordering::AcqRel) { Duration::ZERO } else { deadline };
        let until = crate::deadline::after(deadline);
        let mut lines = self.lines();
        // Calls the listeners of permanent contexts last, after the collectible contexts have ended.
        lines.retain(|line| {
            matches!(line.begin_unload(self, "the host ends"), Err(ContextError::NotCollectible { .. }))
        });
        let (mut unfinished, mut blockers) = (Vec::new(), Vec::new());
        let failed = self.failed_loads().clone();
        for (id, ticket) in self.unloads().into_iter().chain(failed) {
            if id.index == ContextId::master(0).index {
                continue;
            }
            // The context may wait for a dependent module in another context, whose thread-locals only this thread can drop. `wait_until`
            // drops these thread-locals.
            let _is_over = wait_until(core, || Instant::now() >= until, || ticket.poll().is_over());
            let report = ticket.report();
            if !report.state.is_over() {
                let kept = if report.blockers.is_empty() { String::new() } else { kept_by(&report.blockers) };
                unfinished.push(format!("{} is {}: {kept}", report.subject, report.state));
                blockers.extend(report.blockers);
            }
        }
        lines.iter().for_each(|line| self.notify_context(line));
        // Reads the list of parked images after the wait, because an unload may have been parked during the wait.
        let left = self.parked().into_iter().chain(unfinished).collect();
        Unended { left, blockers }
    }

    /// Calls the listeners of all contexts that are not unloading. Called at process exit. Runs no module code.
    pub(super) fn notify_exit(&self) {
        self.lines().iter().for_each(|line| self.notify_context(line));
    }

    fn notify_context(&self, line: &FreeContext) {
        line.generations().iter().for_each(|generation| line.notify_unloading(self, generation));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Going;
    use crate::load::context::free_generation::FreeGeneration;
    use crate::load::context::free_module::FreeModule;
    use crate::load::context_id::{ContextId, ContextKind};
    use crate::load::error::context::ContextError;
    use crate::load::module::testing::{tag, tale};
    use crate::unload::policy::UnloadPolicy;
    use crate::unload::state::ContextState;
    use crate::unload::ticket::UnloadTicket;
    use crate::unload::work::{Progress, UnloadWork, Unloaded};

    /// Unload of modules without a context.
    struct Alone(Going);

    impl UnloadWork for Alone {
        fn advance(&mut self) -> Progress {
            self.0.advance(&UnloadPolicy::default(), &|problem| panic!("{problem}"))
        }

        fn park(&mut self) -> Unloaded {
            self.0.park(&UnloadPolicy::default())
        }
    }

    fn unload(module: &Arc<FreeModule>) -> UnloadTicket {
        let work = Alone(Going::new(vec![Arc::clone(module)]));
        UnloadTicket::new("a tale", std::time::Duration::ZERO, Box::new(work))
    }

    #[test]
    fn a_non_library_module_starts_and_unloads_in_a_slim() {
        let (core, log) = tale(tag(), &Arc::default());
        let module = FreeModule::new(core, ContextId { index: 2, generation: 1 });
        assert_eq!(module.summary().types, ["/Script/Tale.Speaker"]);
        assert_eq!(&*module.exports[0].full, "nm:/tale:Speaker:speak");
        module.main(&["once".into()]).expect("it starts");
        let need = module.add_dependent("a reader").expect("it lives");

        let ticket = unload(&module);
        assert_eq!(ticket.poll(), ContextState::Blocked);
        assert_eq!(log.all(), ["main once", "asked to stop"]);
        assert!(module.add_dependent("too late").is_err());

        drop(need);
        assert_eq!(ticket.poll(), ContextState::Dead);
        let rest = ["exit", "thread-locals end", "lets go of its host", "gone"];
        assert_eq!(log.all()[2..], rest);
    }

    #[test]
    fn a_generation_that_was_closed_accepts_no_module() {
        let id = ContextId { index: 2, generation: 1 };
        let generation = FreeGeneration::new(id, ContextKind::Slim, &"s".into(), &Arc::default(), 0);
        let module = FreeModule::new(tale(tag(), &Arc::default()).0, id);
        assert!(generation.close().is_empty());
        let added = generation.add(&[Arc::clone(&module)]);
        assert!(matches!(added, Err(ContextError::ContextUnloading { .. })));
        assert!(generation.modules().is_empty());
        assert_eq!(unload(&module).poll(), ContextState::Dead);
    }
}
