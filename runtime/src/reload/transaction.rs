//! The steps of a reload, in order, each timed. What may fail comes first; the commit swaps pointers, runs no plugin
//! code and cannot fail; the retirement of the old generation never undoes it.

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use alcedo_abi::host::mode;

use crate::bridge::core::Core;
use crate::bridge::rebuild::{Rebuild, rebuild_one};
use crate::emit::batch::emit;
use crate::handles::{Generation, ObjectHandle};
use crate::load::error::LoadError;
use crate::load::events::MasterEvent;
use crate::load::master::{self, ExitHooks, Loads, Master};
use crate::load::module::Module;
use crate::object::birth::destroy;
use crate::object::class::Class;
use crate::object::objects::Body;
use crate::reload::migrate::{self, Migration};
use crate::reload::report::{Outcome, Phase, Reload};

/// Replaces the modules of the Master by those in `paths`. The caller stands at a safe point.
///
/// # Errors
/// When there is no Master. A reload that fails is no error: its report says so, and nothing has changed.
pub(crate) fn reload(core: &Rc<Core>, loads: &Loads, paths: &[PathBuf]) -> Result<Reload, LoadError> {
    let old = loads.master().ok_or(LoadError::NoMaster)?;
    let generation = loads.next_generation();
    let mut report = Reload::new(old.generation.0);
    report.modules = old.modules.iter().map(|module| module.name().to_owned()).collect();
    let reruns_before = core.world.counters.class_constructors_rerun.get();
    let mut run = Run { core, loads, old, generation, report, reached: Reached::Nothing, reruns_before };
    match run.forward(paths) {
        Ok(committed) => run.retire(committed),
        Err((phase, error)) => run.roll_back(phase, &error),
    }
    Ok(run.report)
}

/// How far the world has been changed, and so what a rollback has to undo.
enum Reached {
    Nothing,
    /// The modules are mapped; old names are set aside; shadows are up.
    Staged {
        modules: Vec<Rc<Module>>,
        started: ExitHooks,
    },
}

/// What the commit leaves for the retirement.
struct Committed {
    bodies: Vec<Body>,
    classes: Vec<Rc<Class>>,
    removed_subobjects: Vec<ObjectHandle>,
}

struct Run<'a> {
    core: &'a Rc<Core>,
    loads: &'a Loads,
    old: Master,
    generation: Generation,
    report: Reload,
    reached: Reached,
    reruns_before: u64,
}

type Step<T> = Result<T, (Phase, LoadError)>;

impl Run<'_> {
    fn forward(&mut self, paths: &[PathBuf]) -> Step<Committed> {
        let classes = self.phase(Phase::Stage, |run| run.stage(paths))?;
        let living = self.phase(Phase::Quiesce, Self::quiesce)?;
        self.phase(Phase::Start, Self::start)?;
        self.phase(Phase::Classes, |run| master::make_cdos(run.core, &classes))?;
        let migration = self.phase(Phase::Migrate, |run| migrate::migrate(run.core, &living, &mut run.report))?;
        self.phase(Phase::Rebuild, |run| run.rebuild(&migration))?;
        self.phase(Phase::Commit, |run| Ok(run.commit(paths, migration)))
    }

    fn phase<T>(&mut self, phase: Phase, step: impl FnOnce(&mut Self) -> Result<T, LoadError>) -> Step<T> {
        let begun = Instant::now();
        let result = step(self);
        self.report.phases.0.insert(phase.name(), begun.elapsed().as_secs_f64() * 1e3);
        result.map_err(|error| (phase, error))
    }

    /// The new modules beside the old, their types declared in a shadow: the old generation notices nothing.
    fn stage(&mut self, paths: &[PathBuf]) -> Result<Vec<Rc<Class>>, LoadError> {
        let core = self.core;
        let modules = master::bring_up(core, self.loads, paths, self.generation)
            .inspect_err(|_| self.loads.give_back(self.generation))?;
        self.report.modules = modules.iter().map(|module| module.name().to_owned()).collect();
        core.set_aside(self.old.generation);
        core.world.types.begin_shadow();
        let old_types = self.old.modules.iter().flat_map(|module| &module.info().types);
        core.world.types.hide_in_shadow(old_types.map(String::as_str));
        core.world.objects.begin_shadow();
        self.reached = Reached::Staged { modules: modules.clone(), started: ExitHooks::NeverStarted };
        let classes = emit(core, &master::declarers(&modules))?;
        migrate::check_survivors(core)?;
        Ok(classes)
    }

    /// The old generation is set aside, not dropped: its conjugates are stale from here on.
    fn quiesce(&mut self) -> Result<Vec<ObjectHandle>, LoadError> {
        let core = self.core;
        // The old generation still answers while it is told: it is set aside right after.
        core.take_back(self.old.generation);
        self.loads.raise(&MasterEvent::Unloading(self.old.generation));
        core.set_aside(self.old.generation);
        let living = migrate::living_dynamic(core);
        let mut rebuild = Rebuild::default();
        for object in &living {
            let kept = core.plugins().save_kept(*object).map_err(|error| LoadError::Keep { object: *object, error })?;
            if !kept.is_empty() {
                rebuild.kept.insert(*object, kept);
            }
        }
        *core.rebuild.borrow_mut() = Some(rebuild);
        for module in &self.old.modules {
            module.gate().close();
        }
        core.pairs.set_live_generation(self.generation);
        Ok(living)
    }

    fn start(&mut self) -> Result<(), LoadError> {
        let Reached::Staged { modules, started } = &mut self.reached else { return Ok(()) };
        match master::start(self.core, self.loads, self.generation, modules) {
            Ok(()) => {
                *started = ExitHooks::All;
                Ok(())
            }
            Err((count, error)) => {
                *started = ExitHooks::Started(count);
                Err(error)
            }
        }
    }

    /// One new plugin half for every living object, in creation order.
    fn rebuild(&mut self, migration: &Migration) -> Result<(), LoadError> {
        let core = self.core;
        #[cfg(feature = "planted-rerun")]
        planted_rerun(core, &migration.objects);
        core.world.mode.set(mode::REBUILDING);
        let rebuilt = migration.objects.iter().try_for_each(|object| rebuild_one(core, *object));
        core.world.mode.set(mode::NORMAL);
        let rebuild = core.rebuild.borrow_mut().take().unwrap_or_default();
        self.report.conjugates_rebuilt = rebuild.rebuilt;
        self.report.fields_kept = rebuild.fields_kept;
        self.report.fields_lost = rebuild.lost_lines();
        rebuilt.map_err(|error| LoadError::Rebuild { error })
    }

    /// Pointer swaps. Runs no plugin code and cannot fail.
    fn commit(&mut self, paths: &[PathBuf], migration: Migration) -> Committed {
        let core = self.core;
        let bodies = core.world.objects.commit_shadow();
        let classes = core.world.types.commit_shadow();
        if let Reached::Staged { modules, .. } = std::mem::replace(&mut self.reached, Reached::Nothing) {
            self.loads.set_master(Some(Master { generation: self.generation, modules, paths: paths.to_vec() }));
        }
        self.report.generation = self.generation.0;
        self.report.objects_kept = migration.kept;
        Committed { bodies, classes, removed_subobjects: migration.removed_subobjects }
    }

    /// The old generation goes; whatever happens here, the new one is live.
    fn retire(&mut self, committed: Committed) {
        let core = self.core;
        self.loads.raise(&MasterEvent::Loaded(self.generation));
        let begun = Instant::now();
        drop(committed.bodies);
        for class in &committed.classes {
            destroy(&core.world, &core.plugins(), class.cdo.get());
        }
        for object in committed.removed_subobjects {
            destroy(&core.world, &core.plugins(), object);
        }
        master::end_generation(core, self.old.generation);
        self.report.parked =
            master::wind_down(core, self.loads, self.old.generation, &self.old.modules, ExitHooks::All);
        self.report.phases.0.insert(Phase::Retire.name(), begun.elapsed().as_secs_f64() * 1e3);
        self.report.class_constructors_rerun = self.reruns();
    }

    fn reruns(&self) -> u64 {
        self.core.world.counters.class_constructors_rerun.get() - self.reruns_before
    }

    /// Drops the new side and sets the old back as it was.
    fn roll_back(&mut self, phase: Phase, error: &LoadError) {
        let core = self.core;
        core.world.mode.set(mode::NORMAL);
        core.rebuild.borrow_mut().take();
        if let Reached::Staged { modules, started } = std::mem::replace(&mut self.reached, Reached::Nothing) {
            master::undo_births(core);
            core.world.types.drop_shadow();
            master::end_generation(core, self.generation);
            core.take_back(self.old.generation);
            core.pairs.set_live_generation(self.old.generation);
            for module in &self.old.modules {
                module.gate().reopen();
            }
            self.report.parked = master::wind_down(core, self.loads, self.generation, &modules, started);
            if started != ExitHooks::NeverStarted {
                self.report.warnings.push("what the new mains did outside this process is not undone".into());
            }
            // What failed while staging, the old generation never noticed: it had let nothing go.
            if phase != Phase::Stage {
                self.loads.raise(&MasterEvent::Resumed(self.old.generation));
            }
        }
        self.report.conjugates_rebuilt = 0;
        self.report.fields_kept = 0;
        self.report.fields_lost.clear();
        self.report.class_constructors_rerun = self.reruns();
        self.report.properties.clear();
        self.report.structure.clear();
        self.report.objects_kept = core.world.objects.living().len() as u64;
        self.report.outcome = Outcome::RolledBack { phase, error: error.to_string() };
    }
}

/// The planted fault: one living object runs a class constructor that it had at birth.
#[cfg(feature = "planted-rerun")]
fn planted_rerun(core: &Core, objects: &[ObjectHandle]) {
    let Some(object) = objects.first() else { return };
    let Some(class) = core.world.objects.class(*object) else { return };
    if core.plugins().build(*object, &class).is_ok() {
        for class in class.dynamic_chain() {
            let _planted = crate::object::birth::run_class_constructor(&core.world, &core.plugins(), *object, &class);
        }
        core.plugins().end(*object);
    }
}
