use std::time::Duration;

use crate::conjugate::finalizer::Barrier;
use crate::lease::Blocker;
use crate::unload::job::{CodeStep, ModuleUnload};
use crate::unload::work::{Progress, UnloadWork, Unloaded};

/// Unloads of the modules of one context. The unloads wait for the last finalizer of the context.
pub(crate) struct ModuleUnloads {
    /// Barrier after the last finalizer of the modules. A finalizer that runs longer than the duration is reported as a
    /// blocker.
    finalizers: Option<(Barrier, Duration)>,
    /// Unloads of the modules, dependents first.
    modules: Vec<ModuleUnload>,
    unloaded: Unloaded,
}

impl ModuleUnloads {
    /// Creates the unload of these modules, listed dependents first. `finalizers` contains the barrier after the last finalizer of the
    /// modules, and a duration. A finalizer that runs longer than the duration is reported as a blocker.
    pub(crate) fn new(modules: Vec<ModuleUnload>, finalizers: Option<(Barrier, Duration)>) -> Box<Self> {
        Box::new(Self { finalizers, modules, unloaded: Unloaded::default() })
    }

    /// Appends modules. The appended modules are unloaded after the existing modules.
    pub(crate) fn add(&mut self, modules: impl IntoIterator<Item = ModuleUnload>) {
        self.modules.extend(modules);
    }

    /// Continues the unload of each module as far as possible without blocking. Returns the blockers. Stores the reports of completed
    /// unloads. `advance` or `park` returns these reports later.
    pub(crate) fn advance_each(&mut self) -> Vec<Blocker> {
        let mut blockers = Vec::new();
        for module in &mut self.modules {
            match module.advance() {
                Some(CodeStep::Waiting(held)) => blockers.extend(held),
                Some(CodeStep::Gone(end)) => self.unloaded.modules.push(*end),
                Some(CodeStep::Parked(image)) => self.unloaded.parked.push(image),
                None => {}
            }
        }
        blockers
    }
}

impl UnloadWork for ModuleUnloads {
    fn advance(&mut self) -> Progress {
        if let Some((barrier, _)) = &self.finalizers {
            if barrier.is_passed() {
                // Reports that all finalizers have run, before any image is unmapped.
                self.finalizers = None;
                return Progress::Waiting { blockers: Vec::new(), drained: true };
            }
            let held = self.modules.iter().flat_map(ModuleUnload::blockers);
            let blockers = std::iter::once(barrier.blocker()).chain(held).collect();
            return Progress::Waiting { blockers, drained: false };
        }
        let blockers = self.advance_each();
        match self.modules.iter().all(ModuleUnload::is_over) {
            true => Progress::Ended(std::mem::take(&mut self.unloaded)),
            false => Progress::Waiting { blockers, drained: true },
        }
    }

    fn is_moving(&self) -> bool {
        self.finalizers.as_ref().is_some_and(|(barrier, grace)| barrier.is_moving(*grace))
    }

    fn park(&mut self) -> Unloaded {
        let above: Vec<_> = self.finalizers.iter().map(|(barrier, _)| barrier.blocker()).collect();
        for module in &mut self.modules {
            self.unloaded.parked.extend(module.park(&above));
        }
        std::mem::take(&mut self.unloaded)
    }
}
