//! How a generation of a Slim is unloaded. First every call inside returns and every lease ends; then module by module
//! the exit hooks run, dependents first, and the images go. A holder of the ticket may drive it, and the reaper does.
//!
//! What a module depends on was complete before it was mapped, and what it holds is counted with that very module. So
//! modules never wait for each other in a ring, whatever contexts they are in and in whatever order these unload.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crate::lease::Blocker;
use crate::load::context::free_context::FreeContext;
use crate::load::context::free_generation::FreeGeneration;
use crate::load::context::free_module::FreeModule;
use crate::load::context::registry::{ContextRegistry, Unended};
use crate::load::context_id::ContextId;
use crate::load::error::context::ContextError;
use crate::unload::blockers::kept_by;
use crate::unload::modules::ModuleUnloads;
use crate::unload::policy::UnloadPolicy;
use crate::unload::state::ContextState;
use crate::unload::steps::{UnloadCause, UnloadStep};
use crate::unload::ticket::UnloadTicket;
use crate::unload::work::{Progress, UnloadWork, Unloaded};

/// Modules on their way out: the exit hook of each runs when it is no longer used, and its image goes when no module
/// depends on it. Dependents may be modules of other contexts, so one may be gone while another still waits.
struct Going {
    /// Those that are still used, in the order in which they were loaded.
    used: Vec<Arc<FreeModule>>,
    /// Those whose exit hooks have run, dependents first.
    ended: Vec<Arc<FreeModule>>,
    /// What is left of those of which no code is called any more.
    images: Box<ModuleUnloads>,
    unloaded: Unloaded,
    policy: UnloadPolicy,
}

impl Going {
    /// Of modules that are no longer called, in the order in which they were loaded.
    fn new(modules: Vec<Arc<FreeModule>>, policy: UnloadPolicy) -> Self {
        // Before the exit hooks: one of them may wait for a thread that waits for this.
        modules.iter().for_each(|module| {
            module.seal();
            module.ask_to_stop();
        });
        let images = ModuleUnloads::new(Vec::new(), None);
        Self { used: modules, ended: Vec::new(), images, unloaded: Unloaded::default(), policy }
    }

    /// Goes as far as it can on this thread; what goes wrong is passed to `note`.
    fn advance(&mut self, note: impl FnMut(String)) -> Progress {
        self.end_unused(note);
        self.images.add(self.ended.drain(..).filter_map(|module| module.unload(&self.policy)));
        let mut blockers: Vec<_> = self.used.iter().rev().flat_map(|module| module.users().report()).collect();
        match self.images.advance() {
            Progress::Waiting { blockers: kept, .. } => blockers.extend(kept),
            Progress::Ended(unloaded) => {
                self.unloaded.modules.extend(unloaded.modules);
                self.unloaded.parked.extend(unloaded.parked);
                if self.used.is_empty() {
                    return Progress::Ended(std::mem::take(&mut self.unloaded));
                }
            }
        }
        Progress::Waiting { blockers, drained: false }
    }

    /// Runs what is left to run of each module that is not used: dependents first, so that those they need are free
    /// then. A module is removed from one list after it was added to the other: after a panic the next look goes on
    /// with it.
    fn end_unused(&mut self, mut note: impl FnMut(String)) {
        for step in UnloadCause::Slim.steps() {
            match step {
                UnloadStep::ExitHooks => {
                    for at in (0..self.used.len()).rev() {
                        let module = &self.used[at];
                        if module.users().count() != 0 {
                            continue;
                        }
                        if let Err(error) = module.exit() {
                            tracing::error!(module = module.name(), %error, "an exit hook failed");
                            note(format!("the exit hook of {} {error}", module.name()));
                        }
                        self.ended.push(self.used.remove(at));
                    }
                }
                UnloadStep::EndThreadLocals => self.ended.iter().for_each(|module| module.end_thread_locals_here()),
                // When the unload was requested.
                UnloadStep::Seal | UnloadStep::ShutGates => {}
                // As soon as they are not used: see `ModuleUnloads`.
                UnloadStep::EndImages => {}
                UnloadStep::Tell
                | UnloadStep::DropJobs
                | UnloadStep::EndObjects
                | UnloadStep::ReleasePluginParts
                | UnloadStep::Resume
                | UnloadStep::AwaitFinalizers
                | UnloadStep::EndBlacks
                | UnloadStep::EndTypeNumbers => debug_assert!(false, "{step:?}: a Slim context has no objects"),
            }
        }
    }

    /// Leaves what is not gone mapped, without another call into it.
    fn park(&mut self) -> Unloaded {
        let left = self.ended.drain(..).chain(self.used.drain(..).rev());
        self.images.add(left.filter_map(|module| module.unload(&self.policy)));
        let unloaded = self.images.park();
        self.unloaded.modules.extend(unloaded.modules);
        self.unloaded.parked.extend(unloaded.parked);
        std::mem::take(&mut self.unloaded)
    }
}

/// Modules that never came into their context: no event has named them.
struct Abandoned(Going);

impl Abandoned {
    /// In the order in which they were mapped.
    pub(super) fn new(modules: &[Arc<FreeModule>], policy: UnloadPolicy) -> Box<Self> {
        Box::new(Self(Going::new(modules.to_vec(), policy)))
    }
}

impl UnloadWork for Abandoned {
    fn advance(&mut self) -> Progress {
        self.0.advance(|problem| tracing::warn!(problem, "while a load was undone"))
    }

    fn park(&mut self) -> Unloaded {
        self.0.park()
    }
}

/// A generation on its way out.
struct SpaceUnload {
    registry: Weak<ContextRegistry>,
    generation: Arc<FreeGeneration>,
    policy: UnloadPolicy,
    modules: Option<Going>,
}

impl SpaceUnload {
    fn kept(blockers: Vec<Blocker>) -> Progress {
        Progress::Waiting { blockers, drained: false }
    }

    fn over(&self, unloaded: &Unloaded) {
        self.generation.return_borrowed();
        let parked: Vec<_> = unloaded.parked.iter().map(|image| image.line(&self.generation.title())).collect();
        if let Some(registry) = self.registry.upgrade() {
            registry.ended(&self.generation, parked);
        }
    }
}

impl UnloadWork for SpaceUnload {
    fn advance(&mut self) -> Progress {
        if self.modules.is_none() {
            // Another thread may hold the ticket while the listeners are still being called.
            if !self.generation.announced.load(Ordering::Acquire) {
                return Self::kept(Vec::new());
            }
            if !self.generation.held_by().is_empty() {
                return Self::kept(self.generation.kept_by());
            }
            // Nothing is loaded any more, so what was found elsewhere is needed by modules only, if at all.
            self.generation.return_borrowed();
        }
        let modules = self.modules.get_or_insert_with(|| Going::new(self.generation.close(), self.policy.clone()));
        let ticket = self.generation.ticket();
        let progress = modules.advance(|problem| ticket.into_iter().for_each(|ticket| ticket.note(problem.clone())));
        if let Progress::Ended(unloaded) = &progress {
            self.over(unloaded);
        }
        progress
    }

    fn park(&mut self) -> Unloaded {
        // Calls inside go on in images that stay; the exit hooks would end what they use.
        let unloaded = match &mut self.modules {
            Some(modules) => modules.park(),
            None => {
                // A load that is under way finds it closed, and ends what it brings.
                let mut unloaded = Going::new(self.generation.close(), self.policy.clone()).park();
                let blockers = self.generation.held_by();
                if !blockers.is_empty() {
                    unloaded.parked.iter_mut().for_each(|image| image.reason = kept_by(&blockers));
                }
                unloaded
            }
        };
        self.over(&unloaded);
        unloaded
    }
}

impl FreeContext {
    /// Begins to unload the context. A second call gives the same ticket. It does not wait; exit hooks run in here when
    /// nothing is inside.
    ///
    /// # Errors
    /// [`ContextError::NotCollectible`] for the Default and pinned ones.
    pub(super) fn begin_unload(&self, registry: &ContextRegistry, why: &str) -> Result<UnloadTicket, ContextError> {
        self.expect_collectible()?;
        let (generation, ticket) = {
            let mut life = self.life();
            if let Some((_, ticket)) = &life.unload {
                return Ok(ticket.clone());
            }
            let generation = self.current.swap(None);
            // The current generation is taken away only here, under this lock.
            let Some(generation) = generation else { return Err(self.unloading("unloading it")) };
            let ticket = self.begin(registry, &generation, self.title());
            life.unload = Some((Instant::now(), ticket.0.clone()));
            (generation, ticket)
        };
        // Not under the lock: a subscriber may look at contexts.
        tracing::debug!(context = self.title(), why, "a load context begins to unload");
        Ok(self.announce(registry, &generation, ticket))
    }

    /// Begins to unload a generation.
    pub(super) fn seal(
        &self,
        registry: &ContextRegistry,
        generation: &Arc<FreeGeneration>,
        subject: String,
    ) -> UnloadTicket {
        let begun = self.begin(registry, generation, subject);
        self.announce(registry, generation, begun)
    }

    fn begin(
        &self,
        registry: &ContextRegistry,
        generation: &Arc<FreeGeneration>,
        subject: String,
    ) -> (UnloadTicket, bool) {
        let work = || SpaceUnload {
            registry: registry.weak(),
            generation: Arc::clone(generation),
            policy: registry.policy(),
            modules: None,
        };
        generation.seal(|| registry.ticket(subject, Box::new(work())))
    }

    /// Calls every listener once, then takes the unload as far as it goes.
    fn announce(
        &self,
        registry: &ContextRegistry,
        generation: &Arc<FreeGeneration>,
        (ticket, is_first): (UnloadTicket, bool),
    ) -> UnloadTicket {
        if is_first {
            registry.tell_unloading(self, generation);
            generation.modules().iter().for_each(|module| module.ask_to_stop());
            generation.announced.store(true, Ordering::Release);
            registry.drive(ticket.clone());
        }
        ticket
    }
}

impl ContextRegistry {
    /// Begins to end modules that never came into their context.
    pub(super) fn abandon(&self, generation: &FreeGeneration, modules: &[Arc<FreeModule>]) {
        if modules.is_empty() {
            return;
        }
        let work = Abandoned::new(modules, self.policy());
        self.drive(self.ticket(format!("what {} did not take", generation.title()), work));
    }

    /// The host ends: the listeners of all contexts are called, and every Slim is unloaded. Returns what is not gone
    /// until `deadline`; a second call does not wait.
    pub(crate) fn close(&self, deadline: Duration) -> Unended {
        let deadline = if self.has_closed.swap(true, Ordering::AcqRel) { Duration::ZERO } else { deadline };
        let until = crate::deadline::after(deadline);
        let mut lines = self.lines();
        lines.push(Arc::clone(&self.default));
        // The listeners of one that is never unloaded are called when the others are gone.
        lines.retain(|line| {
            matches!(line.begin_unload(self, "the host ends"), Err(ContextError::NotCollectible { .. }))
        });
        let mut end = Unended { left: self.parked(), blockers: Vec::new() };
        for (id, ticket) in self.unloads() {
            if id.index == ContextId::master(0).index || ticket.state() == ContextState::Parked {
                continue;
            }
            if let Err(report) = ticket.wait(until.saturating_duration_since(Instant::now())) {
                let kept = if report.blockers.is_empty() { String::new() } else { kept_by(&report.blockers) };
                end.left.push(format!("{} is {}: {kept}", report.subject, report.state));
                end.blockers.extend(report.blockers);
            }
        }
        lines.iter().for_each(|line| self.tell_context(line));
        end
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Abandoned;
    use crate::conjugate::gate::ModuleTag;
    use crate::handles::{Generation, ModuleId};
    use crate::load::context::free_module::FreeModule;
    use crate::load::context_id::ContextId;
    use crate::load::module::testing::tale;
    use crate::unload::policy::UnloadPolicy;
    use crate::unload::state::ContextState;
    use crate::unload::ticket::UnloadTicket;

    #[test]
    fn a_module_that_is_no_library_starts_is_lent_and_unloads_as_one_of_a_slim() {
        let tag = ModuleTag { id: ModuleId(1), name: "tale".into(), generation: Generation(1) };
        let (core, heard) = tale(tag, &Arc::default());
        let module = FreeModule::new(core, ContextId { index: 2, generation: 1 });
        assert_eq!(module.summary().types, ["/Script/Tale.Speaker"]);
        assert_eq!(&*module.exports()[0].full, "nm:/tale:Speaker:say");
        module.main(&["once".into()]).expect("it starts");
        let need = module.lend("a reader").expect("it lives");

        let work = Abandoned::new(&[Arc::clone(&module)], UnloadPolicy::default());
        let ticket = UnloadTicket::new("a tale", std::time::Duration::ZERO, work);
        assert_eq!(ticket.poll(), ContextState::Blocked);
        assert_eq!(heard.all(), ["main once", "asked to stop"]);
        assert!(module.lend("too late").is_err());

        drop(need);
        assert_eq!(ticket.poll(), ContextState::Dead);
        let rest = ["exit", "thread-locals end", "lets go of its host", "gone"];
        assert_eq!(heard.all()[2..], rest);
    }
}
