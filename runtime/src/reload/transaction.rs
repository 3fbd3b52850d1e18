//! The steps of a reload, in order, each timed. What may fail comes first; the commit swaps pointers, runs no plugin
//! code and cannot fail; the unload of the old generation never undoes it.

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use alcedo_abi::host::mode;

use crate::bridge::core::Core;
use crate::bridge::rebuild::{KeptFields, rebuild};
use crate::bridge::unbinding::unbind_broken;
use crate::emit::batch::emit;
use crate::faults::{self, ReloadStep};
use crate::handles::{Generation, ObjectHandle};
use crate::load::error::{LoadError, caught};
use crate::load::events::MasterEvent;
use crate::load::master::{self, Loads, Master};
use crate::load::module::master::MasterModule;
use crate::object::bits::Bits;
use crate::object::body::Body;
use crate::object::class::Class;
use crate::object::construction::destroy;
use crate::object::lazy;
use crate::object::mode::ComingUp;
use crate::reload::changes::Phase;
use crate::reload::goals::{self, Goals};
use crate::reload::journal::Journal;
use crate::reload::migrate::{self, Migration};
use crate::reload::references;
use crate::reload::report::Reload;
use crate::reload::requests::ReloadScope;
use crate::unload::generation;
use crate::unload::steps::{UnloadCause, UnloadStep};
use crate::unload::subject::GenerationUnload;
use crate::zcall::table::Given;

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
    loads.check_budget()?;
    let generation = loads.next_generation();
    let journal = Journal::begin(old.generation.0, &old.modules);
    let replaced = old.modules.clone();
    let mut run = Run {
        core,
        loads,
        old,
        replaced,
        suspended: Vec::new(),
        scope,
        generation,
        journal,
        staged: None,
        coming_up: Some(loads.come_up(core)),
        before: Before {
            reruns: core.world.counters.class_constructors_rerun.get(),
            given: core.zcalls.given(),
            lazy: lazy::Table::default(),
            roots: Bits::default(),
        },
    };
    loads.recorder.begin();
    // The calls that loading a world has recorded do not belong to this reload.
    let _earlier = core.world.mode.take_calls();
    match run.forward(paths) {
        Ok(None) => {
            run.journal.warnings.push("no library has changed, so nothing was replaced".into());
            Ok(Reload::unchanged(run.close()))
        }
        Ok(Some(committed)) => {
            let objects_kept = committed.objects_kept;
            run.tell_what_stays();
            // The new generation is live, whatever the end of the old one does.
            if let Err(error) = caught(|| {
                run.unload_old(committed);
                Ok(())
            }) {
                run.journal.warnings.push(format!("retiring generation {}: {error}", run.old.generation));
            }
            Ok(Reload::committed(run.close(), generation.0, objects_kept))
        }
        Err((phase, error)) => Ok(run.roll_back(phase, &error)),
    }
}

/// How far the world has been changed, and so what a rollback has to undo.
struct Staged {
    /// They are mapped.
    modules: Vec<Rc<MasterModule>>,
    /// All modules of the Master to be, those that stay included.
    all: Vec<Rc<MasterModule>>,
    /// Whether a listener was called for the generation.
    is_known: bool,
    /// Whether the shadow of the types is up.
    has_shadow: bool,
}

/// What the commit leaves for the unload of the old generation.
struct Committed {
    bodies: Vec<Body>,
    classes: Vec<Rc<Class>>,
    removed_subobjects: Vec<ObjectHandle>,
    objects_kept: u64,
}

/// How it was before the reload, where the stores themselves do not know.
struct Before {
    /// Class constructors that ran where they should not.
    reruns: u64,
    /// Handles of calls.
    given: Given,
    /// Ids of lazy references after the listeners for the old generation's end were called.
    lazy: lazy::Table,
    /// The root set then.
    roots: Bits,
}

struct Run<'a> {
    core: &'a Rc<Core>,
    loads: &'a Loads,
    old: Master,
    /// Those of its modules that go.
    replaced: Vec<Rc<MasterModule>>,
    /// Those of them whose `suspend` was called, to give up what the new ones may need, in that order.
    suspended: Vec<Rc<MasterModule>>,
    scope: ReloadScope,
    generation: Generation,
    journal: Journal,
    /// Nothing until the new modules are mapped, and nothing again after the commit.
    staged: Option<Staged>,
    /// Until the commit; in a rollback to the end.
    coming_up: Option<ComingUp>,
    before: Before,
}

type Step<T> = Result<T, (Phase, LoadError)>;

/// The new classes.
type Classes = Vec<Rc<Class>>;

impl Run<'_> {
    /// Nothing, where there is nothing to replace.
    fn forward(&mut self, paths: &[PathBuf]) -> Step<Option<Committed>> {
        let staged = self.phase(Phase::Stage, |run| run.stage(paths));
        let Some(classes) = self.without_canary(staged)? else { return Ok(None) };
        let (living, goals, kept) = self.phase(Phase::Quiesce, Self::quiesce)?;
        self.phase(Phase::Start, Self::start)?;
        self.phase(Phase::Classes, |run| master::make_cdos(run.core, &classes))?;
        let (migration, kept) = self.phase(Phase::Migrate, |run| {
            migrate::migrate(run.core, &living, (goals, kept), &mut run.journal.changes)
        })?;
        self.phase(Phase::Rebuild, |run| run.rebuild(&migration.objects, kept))?;
        self.phase(Phase::Commit, |run| {
            faults::at(ReloadStep::BeforeCommit)?;
            Ok(Some(run.commit(paths, migration)))
        })
    }

    fn phase<T>(&mut self, phase: Phase, step: impl FnOnce(&mut Self) -> Result<T, LoadError>) -> Step<T> {
        let begun = Instant::now();
        let published = self.core.red.activities().phase(phase.name());
        let result = caught(|| step(self));
        drop(published);
        self.journal.phases.0.insert(phase.name(), begun.elapsed().as_secs_f64() * 1e3);
        result.map_err(|error| (phase, error))
    }

    /// Separates the time of the canary, and its refusal, from the stage that it is part of.
    fn without_canary<T>(&mut self, staged: Step<T>) -> Step<T> {
        if let Some(time) = self.loads.take_canary_time() {
            let ms = time.as_secs_f64() * 1e3;
            *self.journal.phases.0.entry(Phase::Stage.name()).or_default() -= ms;
            self.journal.phases.0.insert(Phase::Canary.name(), ms);
        }
        staged.map_err(|(phase, error)| (if error.is_of_canary() { Phase::Canary } else { phase }, error))
    }

    /// The new modules beside the old, their types declared in a shadow: the old generation notices nothing.
    fn stage(&mut self, paths: &[PathBuf]) -> Result<Option<Classes>, LoadError> {
        let core = self.core;
        let keep = (self.scope == ReloadScope::Changed).then_some(&self.old);
        let brought_up = master::bring_up(core, self.loads, paths, self.generation, keep)
            .inspect_err(|_| self.loads.give_back(self.generation))?;
        let stays = |module: &Rc<MasterModule>| brought_up.staying.iter().any(|other| Rc::ptr_eq(other, module));
        self.replaced.retain(|module| !stays(module));
        self.journal.tell_scope(&brought_up);
        if brought_up.new.is_empty() && self.replaced.is_empty() {
            self.loads.never_was(self.generation);
            self.loads.give_back(self.generation);
            return Ok(None);
        }
        let all = brought_up.all()?;
        let modules = brought_up.new;
        let staged = self.staged.insert(Staged { modules: modules.clone(), all, is_known: false, has_shadow: false });
        core.set_aside(master::ids(&self.replaced));
        core.world.types.begin_shadow();
        staged.has_shadow = true;
        let old_types = self.replaced.iter().flat_map(|module| &module.info().types);
        core.world.types.hide_in_shadow(old_types.map(String::as_str));
        faults::at(ReloadStep::Shadow)?;
        Ok(Some(emit(core, &master::declarers(&modules), &master::declarers(&staged.all))?))
    }

    /// Reports the warnings of the new generation's files, as far as no report has them.
    fn tell_what_stays(&mut self) {
        let Some(master) = self.loads.master() else { return };
        for info in master.modules.iter().map(|module| module.info()) {
            let news = self.loads.told.news(&info.name, info.warnings());
            self.journal.warnings.extend(news.into_iter().map(|warning| format!("{} {warning}", info.name)));
        }
    }

    /// The old generation is set aside, not dropped: its conjugates are stale from here on.
    fn quiesce(&mut self) -> Result<(Vec<ObjectHandle>, Goals, KeptFields), LoadError> {
        let core = self.core;
        self.tell_unloading()?;
        // From here on nothing is done that the rollback could not put back.
        self.before.lazy = core.world.lazy.snapshot();
        self.before.roots = core.world.objects.root_set();
        core.world.objects.begin_shadow();
        core.world.mode.set(mode::STAGING);
        faults::at(ReloadStep::Callbacks)?;
        let replaced = master::ids(&self.replaced).collect();
        let living = goals::living_of(core, &replaced);
        let goals = goals::decide(core, &living);
        faults::at(ReloadStep::Survivors)?;
        let mut kept = KeptFields::default();
        for object in &living {
            let failed = |error| LoadError::Keep { object: core.world.objects.shown(*object).to_string(), error };
            let fields = core.plugins().save_kept(*object).map_err(failed)?;
            if !fields.is_empty() {
                kept.insert(*object, fields);
            }
            faults::at(ReloadStep::SaveKept)?;
        }
        for module in &self.replaced {
            module.gate().close();
        }
        if !self.journal.kept_modules.is_empty() {
            self.loads.raise(&MasterEvent::Kept(self.generation, self.journal.kept_modules.clone()));
        }
        faults::at(ReloadStep::ShutGates)?;
        Ok((living, goals, kept))
    }

    /// The old generation is still alive while listeners are called for its end, and what it does then counts as
    /// before: it sees the old types, the objects it makes stay, and no call reaches the new modules. Its modules are
    /// suspended last, since any listener may call them.
    fn tell_unloading(&mut self) -> Result<(), LoadError> {
        let (core, new) = (self.core, self.staged.as_ref().map(|staged| &*staged.modules).unwrap_or_default());
        let _lowered = core.world.types.lower_shadow();
        core.set_aside(master::ids(new));
        new.iter().for_each(|module| module.gate().close());
        core.take_back(master::ids(&self.replaced));
        self.replaced.iter().for_each(|module| module.leases().seal());
        self.loads.tell_unloading(self.old.generation);
        let (suspended, result) = master::suspend(core, self.loads, &self.replaced);
        self.suspended = suspended;
        core.set_aside(master::ids(&self.replaced));
        core.take_back(master::ids(new));
        new.iter().for_each(|module| module.gate().reopen());
        result
    }

    fn start(&mut self) -> Result<(), LoadError> {
        let Some(staged) = &mut self.staged else { return Ok(()) };
        staged.is_known = true;
        master::start(self.core, self.loads, self.generation, &staged.modules, &self.replaced)
    }

    /// One new plugin part for every living object, in creation order.
    fn rebuild(&mut self, objects: &[ObjectHandle], kept: KeptFields) -> Result<(), LoadError> {
        let core = self.core;
        if self.loads.planted_rerun {
            planted_rerun(core, objects);
        }
        core.world.mode.set(mode::REBUILDING);
        let (rebuilt, done) = rebuild(core, kept, objects);
        core.world.mode.set(mode::STAGING);
        self.journal.rebuilt = rebuilt;
        done.map_err(|(_object, error)| LoadError::Rebuild { error })
    }

    /// Pointer swaps. Runs no plugin code and cannot fail.
    fn commit(&mut self, paths: &[PathBuf], migration: Migration) -> Committed {
        let core = self.core;
        let bodies = core.world.objects.commit_shadow();
        let classes = core.world.types.commit_shadow();
        if migration.have_moved {
            self.journal.changes.structure.extend(references::look_again(core));
        }
        core.world.mode.set(mode::NORMAL);
        core.tasks.commit_staged();
        self.coming_up = None;
        if let Some(Staged { all, .. }) = self.staged.take() {
            self.loads.set_master(Some(Master { generation: self.generation, modules: all, paths: paths.to_vec() }));
        }
        let Migration { kept: objects_kept, removed_subobjects, .. } = migration;
        Committed { bodies, classes, removed_subobjects, objects_kept }
    }

    /// The old generation goes; whatever happens here, the new one is live.
    fn unload_old(&mut self, committed: Committed) {
        let core = self.core;
        self.loads.raise(&MasterEvent::Loaded(self.generation));
        let begun = Instant::now();
        let _published = core.red.activities().phase(Phase::Retire.name());
        self.loads.show(self.old.generation, self.replaced.iter());
        let Committed { bodies, classes, removed_subobjects, .. } = committed;
        let mut replaced = Some((bodies, classes));
        let unload = GenerationUnload {
            cause: UnloadCause::Replaced,
            generation: self.old.generation,
            modules: &self.replaced,
            is_known: true,
        };
        let ticket = generation::unload(core, self.loads, &unload, &mut |step| {
            if step == UnloadStep::EndObjects {
                // With the last of them a C library goes that a class is bound to, which the end of the generation waits for.
                let classes = replaced.take().map(|(_bodies, classes)| classes).unwrap_or_default();
                self.journal.changes.structure.extend(unbind_broken(core));
                let defaults = classes.iter().map(|class| class.cdo.get());
                for object in defaults.chain(removed_subobjects.iter().copied()) {
                    destroy(&core.world, &core.plugins(), object);
                }
            }
        });
        self.journal.ended = Some(ticket);
        self.journal.phases.0.insert(Phase::Retire.name(), begun.elapsed().as_secs_f64() * 1e3);
    }

    /// The journal is closed: whatever happens from here on is of no reload.
    fn close(mut self) -> Journal {
        let (core, mut journal) = (self.core, std::mem::take(&mut self.journal));
        journal.reruns = core.world.counters.class_constructors_rerun.get() - self.before.reruns;
        journal.done.record = self.loads.recorder.end();
        journal.done.calls = core.world.mode.take_calls();
        journal.done.resolved = core.zcalls.names_since(self.before.given);
        journal
    }

    /// Drops the new side and sets the old back as it was.
    fn roll_back(mut self, phase: Phase, error: &LoadError) -> Reload {
        let core = self.core;
        core.world.mode.rebuild_turn(ObjectHandle::NONE);
        if let Some(Staged { modules, is_known, has_shadow, .. }) = self.staged.take() {
            let unload = GenerationUnload {
                cause: UnloadCause::RolledBack,
                generation: self.generation,
                modules: &modules,
                is_known,
            };
            let ticket = generation::unload(core, self.loads, &unload, &mut |step| match step {
                // What others than the new modules asked for since.
                UnloadStep::DropJobs => core.tasks.end_staged(&core.world, &core.red),
                UnloadStep::EndObjects => {
                    if core.world.objects.is_in_shadow() {
                        self.journal.done.constructions = master::undo_constructions(core);
                        self.journal.done.roots = core.world.objects.roots_since(&self.before.roots);
                        core.world.lazy.restore(std::mem::take(&mut self.before.lazy));
                    }
                    if has_shadow {
                        core.world.types.drop_shadow();
                    }
                }
                UnloadStep::Resume => {
                    core.take_back(master::ids(&self.replaced));
                    for module in &self.replaced {
                        module.gate().reopen();
                        module.leases().unseal();
                    }
                }
                _ => {}
            });
            self.journal.warnings.extend(self.loads.unloads.take_problems(self.old.generation));
            self.journal.ended = Some(ticket);
            // Now that the new one has given back what it had taken.
            self.journal.warnings.extend(master::resume(core, self.loads, &self.suspended));
            // What failed while staging, the old generation never noticed: it had let nothing go.
            if phase != Phase::Stage {
                self.loads.raise(&MasterEvent::Resumed(self.old.generation));
            }
        }
        let objects = core.world.objects.living().len() as u64;
        Reload::rolled_back(self.close(), phase, error, objects)
    }
}

/// The planted fault: one living object runs a class constructor that it had in its construction.
fn planted_rerun(core: &Core, objects: &[ObjectHandle]) {
    let Some(object) = objects.first() else { return };
    let Some(class) = core.world.objects.class(*object) else { return };
    if core.plugins().build(*object, &class).is_ok() {
        for class in class.dynamic_chain() {
            let _planted =
                crate::object::construction::run_class_constructor(&core.world, &core.plugins(), *object, &class);
        }
        core.plugins().end(*object);
    }
}
