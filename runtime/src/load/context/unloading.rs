//! How a generation of a Slim is unloaded. First every call inside returns and every lease ends; then module by module
//! the exit hooks run, dependents first, and the images go. A holder of the ticket may drive it, and the reaper does.
//!
//! What a module depends on was complete before it was mapped, and what it holds is counted with that very module. So
//! modules never wait for each other in a ring, whatever contexts they are in and in whatever order these unload.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

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
use crate::unload::state::ContextState;
use crate::unload::steps::{UnloadCause, UnloadStep};
use crate::unload::ticket::UnloadTicket;
use crate::unload::work::{Progress, UnloadWork, Unloaded};

/// How long an unload counts as under way before it is called blocked. The grace of the policy is another thing: that is
/// how long a game thread waits.
const PATIENCE: Duration = Duration::from_millis(50);

/// What the end of the host has left of contexts that belong to no thread.
#[derive(Default)]
pub(crate) struct Unended {
    /// One line for each image that stays, and for each generation that has not come to its end.
    pub left: Vec<String>,
    /// What keeps the latter.
    pub blockers: Vec<Blocker>,
}

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
            module.code().ask_to_stop();
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
                UnloadStep::EndThreadLocals => {
                    self.ended.iter().for_each(|module| module.code().end_thread_locals_here());
                }
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
    fn new(modules: &[Arc<FreeModule>], policy: UnloadPolicy) -> Box<Self> {
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
    /// Of a generation that takes nothing new.
    fn new(registry: Weak<ContextRegistry>, generation: &Arc<FreeGeneration>, policy: UnloadPolicy) -> Box<Self> {
        Box::new(Self { registry, generation: Arc::clone(generation), policy, modules: None })
    }

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
        let begun = self.take_current(|generation| begin(registry, generation, self.title()));
        Ok(match begun {
            Ok((generation, begun)) => {
                // Not under the lock: a subscriber may look at contexts.
                tracing::debug!(context = self.title(), why, "a load context begins to unload");
                self.announce(registry, &generation, begun)
            }
            Err(ticket) => ticket,
        })
    }

    /// Begins to unload a generation that is not the current one.
    pub(super) fn seal(&self, registry: &ContextRegistry, generation: &Arc<FreeGeneration>) -> UnloadTicket {
        self.announce(registry, generation, begin(registry, generation, generation.full_title()))
    }

    /// Calls every listener once, then takes the unload as far as it goes.
    fn announce(
        &self,
        registry: &ContextRegistry,
        generation: &Arc<FreeGeneration>,
        (ticket, is_first): (UnloadTicket, bool),
    ) -> UnloadTicket {
        if is_first {
            self.tell_unloading(registry, generation);
            generation.modules().iter().for_each(|module| module.code().ask_to_stop());
            generation.announced.store(true, Ordering::Release);
            registry.drive(ticket.clone());
        }
        ticket
    }

    /// Calls every listener when a generation takes nothing new any more, or its process ends: once, whichever comes
    /// first.
    fn tell_unloading(&self, registry: &ContextRegistry, generation: &FreeGeneration) {
        if !generation.is_told.swap(true, Ordering::AcqRel) {
            generation.tell(&registry.listeners, ContextEventKind::Unloading);
            generation.tell(&self.unloading, ContextEventKind::Unloading);
        }
    }
}

fn begin(registry: &ContextRegistry, generation: &Arc<FreeGeneration>, subject: String) -> (UnloadTicket, bool) {
    let work = || SpaceUnload::new(registry.weak(), generation, registry.policy());
    generation.seal(|| UnloadTicket::new(subject, PATIENCE, work()))
}

impl ContextRegistry {
    /// Begins to end modules that never came into their context.
    pub(super) fn abandon(&self, generation: &FreeGeneration, modules: &[Arc<FreeModule>]) {
        if !modules.is_empty() {
            let work = Abandoned::new(modules, self.policy());
            self.drive(UnloadTicket::new(format!("what {} did not take", generation.title()), PATIENCE, work));
        }
    }

    /// The host ends: the listeners of all contexts are called, and every Slim is unloaded. Returns what is not gone
    /// until `deadline`; a second call does not wait.
    pub(crate) fn close(&self, deadline: Duration) -> Unended {
        let deadline = if self.has_closed.swap(true, Ordering::AcqRel) { Duration::ZERO } else { deadline };
        let until = crate::deadline::after(deadline);
        let mut lines = self.lines();
        lines.push(Arc::clone(self.default_context()));
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

    /// The process ends: calls the listeners of every context that does not unload yet. Nothing of any module runs.
    pub(super) fn tell_end(&self) {
        self.lines().iter().chain([self.default_context()]).for_each(|line| self.tell_context(line));
    }

    fn tell_context(&self, line: &FreeContext) {
        line.generations().iter().for_each(|generation| line.tell_unloading(self, generation));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Abandoned;
    use crate::conjugate::gate::ModuleTag;
    use crate::handles::{Generation, ModuleId};
    use crate::load::context::free_generation::FreeGeneration;
    use crate::load::context::free_module::FreeModule;
    use crate::load::context_id::{ContextId, ContextKind};
    use crate::load::error::context::ContextError;
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

    #[test]
    fn a_generation_that_was_closed_takes_no_module() {
        let id = ContextId { index: 2, generation: 1 };
        let generation = FreeGeneration::new(id, ContextKind::Slim, &"s".into(), &Arc::default());
        let tag = ModuleTag { id: ModuleId(1), name: "tale".into(), generation: Generation(1) };
        let module = FreeModule::new(tale(tag, &Arc::default()).0, id);
        assert!(generation.close().is_empty());
        let added = generation.add(&[Arc::clone(&module)]);
        assert!(matches!(added, Err(ContextError::ContextUnloading { .. })));
        assert!(generation.modules().is_empty());
        let work = Abandoned::new(&[module], UnloadPolicy::default());
        assert_eq!(UnloadTicket::new("a tale", std::time::Duration::ZERO, work).poll(), ContextState::Dead);
    }
}
