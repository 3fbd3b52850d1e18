//! The steps of a reload, in order, each timed. What may fail comes first; the commit swaps pointers, runs no plugin
//! code and cannot fail; the retirement of the old generation never undoes it.

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use alcedo_abi::host::mode;

use crate::bridge::core::Core;
use crate::bridge::rebuild::{Rebuild, rebuild_one};
use crate::bridge::unbinding::unbind_broken;
use crate::emit::batch::emit;
use crate::faults::{self, ReloadStep};
use crate::handles::{Generation, ObjectHandle};
use crate::load::error::{LoadError, caught};
use crate::load::events::MasterEvent;
use crate::load::master::{self, ExitHooks, Loads, Master};
use crate::load::module::Module;
use crate::load::retire::retire;
use crate::object::birth::destroy;
use crate::object::class::Class;
use crate::object::objects::Body;
use crate::reload::migrate::{self, Goals, Migration};
use crate::reload::report::{Outcome, Phase, Reload};
use crate::reload::requests::ReloadScope;

/// Replaces the modules of the Master by those in `paths`: all of them, or only what has changed and what uses it. The
/// caller stands at a safe point.
///
/// # Errors
/// When there is no Master. A reload that fails is no error: its report says so, and nothing has changed.
pub(crate) fn reload(
    core: &Rc<Core>,
    loads: &Loads,
    paths: &[PathBuf],
    scope: ReloadScope,
) -> Result<Reload, LoadError> {
    let old = loads.master().ok_or(LoadError::NoMaster)?;
    loads.retirements.check_budget()?;
    let generation = loads.next_generation();
    let mut report = Reload::new(old.generation.0);
    report.modules = old.modules.iter().map(|module| module.name().to_owned()).collect();
    let reruns_before = core.world.counters.class_constructors_rerun.get();
    let replaced = old.modules.clone();
    let mut run = Run { core, loads, old, replaced, scope, generation, report, staged: None, reruns_before };
    match run.forward(paths) {
        Ok(None) => run.report.warnings.push("no library has changed, so nothing was replaced".into()),
        Ok(Some(committed)) => {
            // The new generation is live, whatever the end of the old one does.
            if let Err(error) = caught(|| {
                run.retire(committed);
                Ok(())
            }) {
                run.report.warnings.push(format!("retiring generation {}: {error}", run.old.generation));
            }
        }
        Err((phase, error)) => run.roll_back(phase, &error),
    }
    Ok(run.report)
}

/// How far the world has been changed, and so what a rollback has to undo.
struct Staged {
    /// They are mapped.
    modules: Vec<Rc<Module>>,
    /// All modules of the Master to be, those that stay included.
    all: Vec<Rc<Module>>,
    /// Which of their mains have run.
    started: ExitHooks,
    /// Whether the shadows are up.
    has_shadows: bool,
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
    /// Those of its modules that go.
    replaced: Vec<Rc<Module>>,
    scope: ReloadScope,
    generation: Generation,
    report: Reload,
    /// Nothing until the new modules are mapped, and nothing again after the commit.
    staged: Option<Staged>,
    reruns_before: u64,
}

type Step<T> = Result<T, (Phase, LoadError)>;

/// The new classes, and what their objects are to become.
type Plan = (Vec<Rc<Class>>, Goals);

impl Run<'_> {
    /// Nothing, where there is nothing to replace.
    fn forward(&mut self, paths: &[PathBuf]) -> Step<Option<Committed>> {
        let staged = self.phase(Phase::Stage, |run| run.stage(paths));
        let Some((classes, goals)) = self.without_canary(staged)? else { return Ok(None) };
        let living = self.phase(Phase::Quiesce, Self::quiesce)?;
        self.phase(Phase::Start, Self::start)?;
        self.phase(Phase::Classes, |run| master::make_cdos(run.core, &classes))?;
        let migration = self.phase(Phase::Migrate, |run| run.migrate(&living, goals))?;
        self.phase(Phase::Rebuild, |run| run.rebuild(&migration))?;
        self.phase(Phase::Commit, |run| {
            faults::at(ReloadStep::BeforeCommit)?;
            Ok(Some(run.commit(paths, migration)))
        })
    }

    fn phase<T>(&mut self, phase: Phase, step: impl FnOnce(&mut Self) -> Result<T, LoadError>) -> Step<T> {
        let begun = Instant::now();
        let published = self.core.red.lane().phase(phase.name());
        let result = caught(|| step(self));
        drop(published);
        self.report.phases.0.insert(phase.name(), begun.elapsed().as_secs_f64() * 1e3);
        result.map_err(|error| (phase, error))
    }

    /// Tells the time of the canary, and its refusal, apart from the stage that it is part of.
    fn without_canary<T>(&mut self, staged: Step<T>) -> Step<T> {
        if let Some(time) = self.loads.take_canary_time() {
            let ms = time.as_secs_f64() * 1e3;
            *self.report.phases.0.entry(Phase::Stage.name()).or_default() -= ms;
            self.report.phases.0.insert(Phase::Canary.name(), ms);
        }
        staged.map_err(|(phase, error)| (if error.is_of_canary() { Phase::Canary } else { phase }, error))
    }

    /// The new modules beside the old, their types declared in a shadow: the old generation notices nothing.
    fn stage(&mut self, paths: &[PathBuf]) -> Result<Option<Plan>, LoadError> {
        let core = self.core;
        let keep = (self.scope == ReloadScope::Changed).then_some(&self.old);
        let brought_up = master::bring_up(core, self.loads, paths, self.generation, keep)
            .inspect_err(|_| self.loads.give_back(self.generation))?;
        let stays = |module: &Rc<Module>| brought_up.staying.iter().any(|other| Rc::ptr_eq(other, module));
        self.replaced.retain(|module| !stays(module));
        self.report.tell_scope(&brought_up);
        if brought_up.new.is_empty() && self.replaced.is_empty() {
            self.loads.never_was(self.generation);
            self.loads.give_back(self.generation);
            return Ok(None);
        }
        let stay = brought_up.new.iter().filter_map(|module| {
            let reason = module.info().will_park()?;
            Some(format!("{} will stay mapped for ever: {reason}", module.name()))
        });
        self.report.warnings.extend(stay);
        let all = brought_up.all()?;
        let modules = brought_up.new;
        let started = ExitHooks::NeverStarted;
        let staged = self.staged.insert(Staged { modules: modules.clone(), all, started, has_shadows: false });
        core.set_aside(master::ids(&self.replaced));
        core.world.types.begin_shadow();
        core.world.objects.begin_shadow();
        staged.has_shadows = true;
        let old_types = self.replaced.iter().flat_map(|module| &module.info().types);
        core.world.types.hide_in_shadow(old_types.map(String::as_str));
        faults::at(ReloadStep::Shadow)?;
        let classes = emit(core, &master::declarers(&modules))?;
        let goals = migrate::decide(core, &master::ids(&self.replaced).collect());
        faults::at(ReloadStep::Survivors)?;
        Ok(Some((classes, goals)))
    }

    /// The old generation is set aside, not dropped: its conjugates are stale from here on.
    fn quiesce(&mut self) -> Result<Vec<ObjectHandle>, LoadError> {
        let core = self.core;
        // The old generation still answers while it is told: it is set aside right after.
        core.take_back(master::ids(&self.replaced));
        self.replaced.iter().for_each(|module| module.leases().seal());
        self.loads.tell_unloading(self.old.generation);
        core.set_aside(master::ids(&self.replaced));
        faults::at(ReloadStep::Callbacks)?;
        let living = migrate::living_of(core, &master::ids(&self.replaced).collect());
        let mut rebuild = Rebuild::default();
        for object in &living {
            let kept = core.plugins().save_kept(*object).map_err(|error| LoadError::Keep { object: *object, error })?;
            if !kept.is_empty() {
                rebuild.kept.insert(*object, kept);
            }
            faults::at(ReloadStep::SaveKept)?;
        }
        *core.rebuild.borrow_mut() = Some(rebuild);
        for module in &self.replaced {
            module.gate().close();
        }
        if !self.report.kept_modules.is_empty() {
            self.loads.raise(&MasterEvent::Kept(self.generation, self.report.kept_modules.clone()));
        }
        faults::at(ReloadStep::ShutGates)?;
        Ok(living)
    }

    fn start(&mut self) -> Result<(), LoadError> {
        let Some(staged) = &mut self.staged else { return Ok(()) };
        // From here on code of the new modules runs, and may change nothing that the rollback could not put back.
        self.core.world.mode.set(mode::STAGING);
        let (started, result) = match master::start(self.core, self.loads, self.generation, &staged.modules) {
            Ok(()) => (ExitHooks::All, Ok(())),
            Err((count, error)) => (ExitHooks::Started(count), Err(error)),
        };
        staged.started = started;
        result
    }

    /// Every living object in its new body.
    fn migrate(&mut self, living: &[ObjectHandle], goals: Goals) -> Result<Migration, LoadError> {
        let migration = migrate::migrate(self.core, living, goals, &mut self.report)?;
        let has_half = |object: &&ObjectHandle| self.core.plugins().key_of(**object).is_some();
        if let Some(rebuild) = self.core.rebuild.borrow_mut().as_mut() {
            rebuild.reborn = migration.objects.iter().filter(has_half).copied().collect();
        }
        Ok(migration)
    }

    /// One new plugin half for every living object, in creation order.
    fn rebuild(&mut self, migration: &Migration) -> Result<(), LoadError> {
        let core = self.core;
        #[cfg(feature = "planted-rerun")]
        planted_rerun(core, &migration.objects);
        core.world.mode.set(mode::REBUILDING);
        let rebuilt = migration.objects.iter().try_for_each(|object| rebuild_one(core, *object));
        core.world.mode.set(mode::STAGING);
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
        core.world.mode.set(mode::NORMAL);
        if let Some(Staged { all, .. }) = self.staged.take() {
            self.loads.set_master(Some(Master { generation: self.generation, modules: all, paths: paths.to_vec() }));
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
        let _published = core.red.lane().phase(Phase::Retire.name());
        master::end_blacks(core, &self.replaced);
        drop(committed.bodies);
        self.report.structure.extend(unbind_broken(core));
        for class in &committed.classes {
            destroy(&core.world, &core.plugins(), class.cdo.get());
        }
        for object in committed.removed_subobjects {
            destroy(&core.world, &core.plugins(), object);
        }
        master::end_modules(core, &self.replaced);
        self.loads.show(self.old.generation, self.replaced.iter());
        let ticket = retire(core, self.loads, self.old.generation, &self.replaced, ExitHooks::All);
        self.report.tell_of(&ticket);
        self.report.phases.0.insert(Phase::Retire.name(), begun.elapsed().as_secs_f64() * 1e3);
        self.report.class_constructors_rerun = self.reruns();
    }

    fn reruns(&self) -> u64 {
        self.core.world.counters.class_constructors_rerun.get() - self.reruns_before
    }

    /// Drops the new side and sets the old back as it was.
    fn roll_back(&mut self, phase: Phase, error: &LoadError) {
        let core = self.core;
        core.world.mode.rebuild_turn(ObjectHandle::NONE);
        core.rebuild.borrow_mut().take();
        if let Some(Staged { modules, started, has_shadows, .. }) = self.staged.take() {
            master::end_blacks(core, &modules);
            if has_shadows {
                master::undo_births(core);
                core.world.types.drop_shadow();
            }
            master::end_modules(core, &modules);
            core.take_back(master::ids(&self.replaced));
            for module in &self.replaced {
                module.gate().reopen();
                module.leases().unseal();
            }
            self.report.warnings.extend(self.loads.retirements.take_problems(self.old.generation));
            let ticket = retire(core, self.loads, self.generation, &modules, started);
            self.report.tell_of(&ticket);
            if started != ExitHooks::NeverStarted {
                self.report.warnings.push("what the new mains did outside this process is not undone".into());
            }
            // The exit hooks of the new modules were the last code of theirs.
            core.world.mode.set(mode::NORMAL);
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
        self.report.classes.clear();
        self.report.kept_modules.clear();
        self.report.replaced_because.clear();
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
