//! Runs the steps of a reload in order. Measures the duration of each step. All steps that can fail run before the commit. The commit swaps
//! pointers, runs no plugin code and cannot fail. The commit stays valid if the unload of the old generation fails.

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use alcedo_abi::host::mode;

use crate::bridge::core::Core;
use crate::bridge::rebuild::{KeptFields, rebuild};
use crate::bridge::unbinding::unbind_broken;
use crate::conjugate::named_fields::NamedFields;
use crate::conjugate::saving::KeptShare;
use crate::emit::batch::emit;
use crate::faults::{self, ReloadStep};
use crate::handles::{Generation, ObjectHandle};
use crate::load::context::event::ContextEventKind;
use crate::load::error::{LoadError, caught};
use crate::load::master::{self, GenerationUnload, Loads, Master, generation};
use crate::load::module::master::MasterModule;
use crate::load::record::{Named, Remainder};
use crate::object::bits::Bits;
use crate::object::class::Class;
use crate::object::construction::{destroy, leave_classes};
use crate::object::lazy;
use crate::object::mode::Starting;
use crate::object::objects::Replaced;
use crate::reload::changes::Phase;
use crate::reload::class_mapping::{self, ClassMapping};
use crate::reload::migrate::{self, Migration};
use crate::reload::references;
use crate::reload::report::ReloadReport;
use crate::reload::requests::{BudgetUse, ReloadScope};
use crate::unload::steps::{UnloadCause, UnloadStep};
use crate::unload::ticket::UnloadTicket;
use crate::zcall::table::Issued;

/// Replaces modules of the Master by the modules in `paths`. Unless the reload fails, the Master then lists `names` as the paths of its
/// libraries. `scope` selects all modules, or only changed modules and their dependents. The caller must be at a safe point. Returns an
/// error if no Master is loaded. If the reload fails, the report contains the failure, and the world is unchanged. Also returns the start
/// of the pause, if the pause has begun. The caller measures the pause, because the pause includes later code of the caller.
pub(crate) fn reload(
    core: &Rc<Core>,
    loads: &Loads,
    (paths, names): (&[PathBuf], &[PathBuf]),
    scope: ReloadScope,
    budget: BudgetUse,
) -> Result<(ReloadReport, Option<Instant>), LoadError> {
    let old = loads.master().ok_or(LoadError::NoMaster)?;
    if budget == BudgetUse::Limited {
        loads.registry.check_budget()?;
    }
    let generation = loads.next_generation();
    let report = ReloadReport::begin(old.generation.0, &old.modules);
    let replaced = old.modules.clone();
    let mut run = Run {
        core,
        loads,
        old,
        replaced,
        suspended: Vec::new(),
        scope,
        generation,
        report,
        unloading: None,
        staged: None,
        starting: Some(loads.mark_starting(core)),
        before: Before {
            reruns: core.world.counters.class_constructors_rerun.get(),
            issued: core.zcalls.issued(),
            lazy: lazy::Table::default(),
            roots: Bits::default(),
        },
        paused_since: None,
    };
    loads.recorder.begin();
    // Discards calls that were recorded before this reload.
    let _earlier = core.world.mode.take_calls();
    let forward = run.forward(paths, names);
    let paused_since = run.paused_since;
    let report = match forward {
        Ok(None) => {
            run.report.warnings.push("no library has changed, so nothing was replaced".into());
            // The unchanged libraries may have other paths.
            loads.set_master(Some(Master { paths: names.to_vec(), ..run.old.clone() }));
            run.close().unchanged()
        }
        Ok(Some(committed)) => {
            let objects_kept = committed.objects_kept;
            run.report_warnings();
            // Catches a failure of the unload, because such a failure leaves the new generation live.
            if let Err(error) = caught(|| {
                run.unload_old(committed);
                Ok(())
            }) {
                run.report.warnings.push(format!("retiring generation {}: {error}", run.old.generation));
            }
            run.close().committed(generation.0, objects_kept)
        }
        Err((phase, error)) => run.roll_back(phase, &error),
    };
    Ok((report, paused_since))
}

struct Staged {
    modules: Vec<Rc<MasterModule>>,
    /// All modules of the new generation, including kept modules.
    all: Vec<Rc<MasterModule>>,
    /// Set before the first listener is called for an event of the new generation.
    is_known: bool,
    /// Set while the new types are declared in a shadow of the type registry.
    has_shadow: bool,
}

struct Committed {
    objects: Replaced,
    classes: Vec<Rc<Class>>,
    removed_subobjects: Vec<ObjectHandle>,
    objects_kept: u64,
}

/// Values from before the reload, for the rollback and the report.
struct Before {
    /// Number of class constructors that ran a second time before this reload.
    reruns: u64,
    /// Call handles that existed before this reload.
    issued: Issued,
    /// Ids of lazy references, recorded after the unloading listeners of the old generation were called.
    lazy: lazy::Table,
    /// Root set, recorded after the unloading listeners of the old generation were called.
    roots: Bits,
}

struct Run<'a> {
    core: &'a Rc<Core>,
    loads: &'a Loads,
    old: Master,
    replaced: Vec<Rc<MasterModule>>,
    /// Replaced modules whose `suspend` was called, in order.
    suspended: Vec<Rc<MasterModule>>,
    scope: ReloadScope,
    generation: Generation,
    /// Report with the fields that are known so far.
    report: ReloadReport,
    /// Ticket of the unloading generation.
    unloading: Option<UnloadTicket>,
    /// New modules. `None` before the modules are mapped, and after the commit.
    staged: Option<Staged>,
    /// Guard that marks the new modules as starting. `None` after the commit, or after a completed rollback.
    starting: Option<Starting>,
    before: Before,
    /// Start of the pause. `None` during staging, while the old generation is still in use.
    paused_since: Option<Instant>,
}

type Step<T> = Result<T, (Phase, LoadError)>;

type Classes = Vec<Rc<Class>>;

impl Run<'_> {
    /// Runs all steps up to the commit. Returns `None` if the reload replaces no module.
    fn forward(&mut self, paths: &[PathBuf], names: &[PathBuf]) -> Step<Option<Committed>> {
        let staged = self.phase(Phase::Stage, |run| run.stage(paths));
        let Some(classes) = self.without_canary(staged)? else { return Ok(None) };
        self.paused_since = Some(Instant::now());
        let (living, mapping, kept) = self.phase(Phase::Quiesce, Self::quiesce)?;
        self.phase(Phase::Start, Self::start)?;
        self.phase(Phase::Classes, |run| master::make_cdos(run.core, &classes))?;
        let (migration, kept) =
            self.phase(Phase::Migrate, |run| migrate::migrate(run.core, living, (mapping, kept), &mut run.report))?;
        let unbuilt = self.phase(Phase::Rebuild, |run| run.rebuild(&migration, kept))?;
        self.phase(Phase::Commit, |run| {
            faults::at(ReloadStep::BeforeCommit)?;
            Ok(Some(run.commit(names, migration, unbuilt)))
        })
    }

    fn phase<T>(&mut self, phase: Phase, step: impl FnOnce(&mut Self) -> Result<T, LoadError>) -> Step<T> {
        let begun = Instant::now();
        let published = self.core.red.activities.phase(phase.name());
        let result = caught(|| step(self));
        drop(published);
        self.report.phases.0.insert(phase.name(), begun.elapsed().as_secs_f64() * 1e3);
        result.map_err(|error| (phase, error))
    }

    /// Moves the duration and the failures of the canary from `Phase::Stage` to `Phase::Canary`.
    fn without_canary<T>(&mut self, staged: Step<T>) -> Step<T> {
        if let Some(time) = self.loads.canary_time.take() {
            let ms = time.as_secs_f64() * 1e3;
            *self.report.phases.0.entry(Phase::Stage.name()).or_default() -= ms;
            self.report.phases.0.insert(Phase::Canary.name(), ms);
        }
        staged.map_err(|(phase, error)| (if error.is_of_canary() { Phase::Canary } else { phase }, error))
    }

    /// Maps the new modules next to the old modules. Declares the new types in a shadow of the type registry. The old generation does not
    /// use the shadow.
    fn stage(&mut self, paths: &[PathBuf]) -> Result<Option<Classes>, LoadError> {
        let core = self.core;
        let keep = (self.scope == ReloadScope::Changed).then_some(&self.old);
        let brought_up = master::bring_up(core, self.loads, paths, self.generation, keep).inspect_err(|error| {
            self.loads.give_back(self.generation);
            if let Some(file) = error.file() {
                self.report.record_refused(file, &self.old.modules);
            }
        })?;
        let is_kept = |module: &Rc<MasterModule>| brought_up.kept.iter().any(|other| Rc::ptr_eq(other, module));
        self.replaced.retain(|module| !is_kept(module));
        self.report.record_scope(&brought_up);
        if brought_up.new.is_empty() && self.replaced.is_empty() {
            self.loads.registry.masters.forget(self.generation);
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
        let classes = emit(core, &master::declarers(&modules), &master::declarers(&staged.all))?;
        modules.iter().for_each(|module| module.record_linked_types(&core.world.types));
        Ok(Some(classes))
    }

    /// Reports warnings about files and resource uses of the new generation, except warnings that an earlier report contains.
    fn report_warnings(&mut self) {
        for module in self.loads.modules() {
            let (info, policy) = (module.info(), self.loads.registry.settings.permissions);
            let warnings = info.warnings(policy, &module.code().uses());
            let warnings = self.loads.reported_warnings.unreported(&info.name, warnings);
            self.report.warnings.extend(warnings.into_iter().map(|warning| format!("{} {warning}", info.name)));
        }
    }

    /// Suspends the old generation. Uses of the conjugates of this generation then fail. A rollback can resume the generation.
    fn quiesce(&mut self) -> Result<(Vec<ObjectHandle>, ClassMapping, KeptFields), LoadError> {
        let core = self.core;
        self.notify_unloading()?;
        // Records the state that a rollback restores. A rollback can undo all changes from here on.
        self.before.lazy = core.world.lazy.snapshot();
        self.before.roots = core.world.objects.root_set();
        core.world.objects.begin_shadow();
        core.world.mode.set(mode::STAGING);
        faults::at(ReloadStep::Callbacks)?;
        let replaced = master::ids(&self.replaced).collect();
        let living = class_mapping::living_of(core, &replaced);
        let mapping = class_mapping::decide(core, &living);
        faults::at(ReloadStep::Survivors)?;
        let kept = self.save_kept(&living, &mapping)?;
        for module in &self.replaced {
            module.gate().close();
        }
        if !self.report.kept_modules.is_empty() {
            self.loads.raise(self.generation, ContextEventKind::Kept(self.report.kept_modules.clone()));
        }
        faults::at(ReloadStep::ShutGates)?;
        Ok((living, mapping, kept))
    }

    /// Saves the kept fields of all plugin parts, in creation order.
    fn save_kept(&self, living: &[ObjectHandle], mapping: &ClassMapping) -> Result<KeptFields, LoadError> {
        let (core, plugins) = (self.core, self.core.plugins());
        let failed = |object: ObjectHandle, error| {
            let object = core.world.objects.display(object).to_string();
            LoadError::Keep { object, error }
        };
        let (mut kept, mut share) = (KeptFields::default(), KeptShare::default());
        let mut rest = living;
        loop {
            let (count, packed) = plugins.pack_runs(rest, &share, &mut kept.packed);
            faults::at_each(ReloadStep::SaveKept, count)?;
            rest = &rest[count..];
            let Some((object, others)) = rest.split_first() else { return Ok(kept) };
            packed.map_err(|error| failed(*object, error))?;
            let into = (&mut share, &mut kept.packed);
            let fields = plugins.save_for_reload(*object, into, |class| mapping.class_rebuilt(class));
            let fields = fields.map_err(|error| failed(*object, error))?;
            if !fields.is_empty() {
                kept.named.insert(*object, fields);
            }
            faults::at(ReloadStep::SaveKept)?;
            rest = others;
        }
    }

    /// Calls the unloading listeners while the old generation is alive. During these calls, listeners use the old types and cannot call the
    /// new modules. A rollback does not destroy objects that listeners create. The old modules are suspended last, because any listener may
    /// call an old module.
    fn notify_unloading(&mut self) -> Result<(), LoadError> {
        let (core, new) = (self.core, self.staged.as_ref().map(|staged| &*staged.modules).unwrap_or_default());
        let _lowered = core.world.types.lower_shadow();
        core.set_aside(master::ids(new));
        new.iter().for_each(|module| module.gate().close());
        core.take_back(master::ids(&self.replaced));
        self.replaced.iter().for_each(|module| module.leases().seal());
        self.loads.notify_unloading(self.old.generation);
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

    /// Builds a new plugin part for every living object, in creation order, unless the part is put off. Returns the kept fields of the parts
    /// that are put off.
    fn rebuild(&mut self, migration: &Migration, kept: KeptFields) -> Result<NamedFields, LoadError> {
        let (core, objects) = (self.core, &*migration.objects);
        if self.loads.planted_rerun {
            planted_rerun(core, objects);
        }
        core.world.mode.set(mode::REBUILDING);
        let (rebuilt, done) = rebuild(core, kept, objects, migration.have_parts);
        core.world.mode.set(mode::STAGING);
        (self.report.conjugates_rebuilt, self.report.conjugates_put_off) = (rebuilt.conjugates, rebuilt.put_off);
        (self.report.fields_kept, self.report.fields_lost) = (rebuilt.fields_kept, rebuilt.fields_lost);
        done.map_err(|(_object, error)| LoadError::Rebuild { error })?;
        let modules = self.staged.as_ref().map(|staged| &*staged.modules).unwrap_or_default();
        master::check_uses(self.loads, modules)?;
        Ok(rebuilt.unbuilt)
    }

    /// Swaps pointers. Runs no plugin code and cannot fail.
    fn commit(&mut self, names: &[PathBuf], migration: Migration, unbuilt: NamedFields) -> Committed {
        let core = self.core;
        let objects = core.world.objects.commit_shadow();
        core.pairs.settle_unbuilt(unbuilt, &core.world.objects);
        let classes = core.world.types.commit_shadow();
        if migration.have_moved {
            self.report.structure.extend(references::check_all(core));
        }
        core.world.mode.set(mode::NORMAL);
        core.tasks.commit_staged();
        self.starting = None;
        if let Some(Staged { all, .. }) = self.staged.take() {
            self.loads.set_master(Some(Master { generation: self.generation, modules: all, paths: names.to_vec() }));
        }
        let Migration { kept: objects_kept, removed_subobjects, .. } = migration;
        Committed { objects, classes, removed_subobjects, objects_kept }
    }

    /// Unloads the old generation. A failure does not affect the new generation.
    fn unload_old(&mut self, committed: Committed) {
        let core = self.core;
        leave_classes(&core.world);
        self.loads.raise_loaded(self.generation);
        let begun = Instant::now();
        let _published = core.red.activities.phase(Phase::Retire.name());
        self.loads.show(self.old.generation, self.replaced.iter());
        let Committed { objects, classes, removed_subobjects, .. } = committed;
        let mut replaced = Some((objects, classes));
        let unload = GenerationUnload {
            cause: UnloadCause::Replaced,
            generation: self.old.generation,
            modules: &self.replaced,
            is_known: true,
        };
        let ticket = generation::unload(core, self.loads, &unload, &mut |step| {
            if step == UnloadStep::EndObjects {
                let (objects, classes) = replaced.take().unzip();
                // A kept module has built the plugin parts of objects whose class a replaced script package declares.
                let are_parts_kept =
                    !self.report.kept_modules.is_empty() && self.replaced.iter().any(|module| module.info().is_scripts);
                if are_parts_kept && let Some(objects) = &objects {
                    core.end_replaced(objects);
                }
                drop(objects);
                // Drops the replaced classes. Dropping the last class that is bound to a C library closes the library. The unload waits for
                // the close.
                let classes = classes.unwrap_or_default();
                self.report.structure.extend(unbind_broken(core));
                for part in removed_subobjects.iter().copied() {
                    core.announce_end(part, |_object, _message| {});
                    // Also destroys a subobject whose hook has requested this reload, because the class of the subobject ends.
                    destroy(&core.world, &core.plugins(), part);
                }
                for class in &classes {
                    destroy(&core.world, &core.plugins(), class.cdo.get());
                }
            }
        });
        self.unloading = Some(ticket);
        self.report.phases.0.insert(Phase::Retire.name(), begun.elapsed().as_secs_f64() * 1e3);
    }

    /// Ends the recording of effects and returns the report without the outcome.
    fn close(self) -> ReloadReport {
        let Self { core, loads, mut report, unloading, before, .. } = self;
        report.class_constructors_rerun = core.world.counters.class_constructors_rerun.get() - before.reruns;
        unloading.iter().for_each(|ticket| report.record_unload(ticket));
        let calls = core.world.mode.take_calls();
        let Remainder { constructions, roots_added, roots_removed, .. } = report.remainder;
        report.remainder = Remainder {
            constructions,
            roots_added,
            roots_removed,
            pure_calls: Named::each(calls.iter().map(|(name, count)| (name, count.allowed))),
            refused_calls: Named::each(calls.iter().map(|(name, count)| (name, count.refused))),
            names_resolved: core.zcalls.names_since(before.issued),
            ..loads.recorder.end()
        };
        report
    }

    /// Drops the new generation and restores the old generation.
    fn roll_back(mut self, phase: Phase, error: &LoadError) -> ReloadReport {
        let core = self.core;
        if let Some(Staged { modules, is_known, has_shadow, .. }) = self.staged.take() {
            let unload = GenerationUnload {
                cause: UnloadCause::RolledBack,
                generation: self.generation,
                modules: &modules,
                is_known,
            };
            let ticket = generation::unload(core, self.loads, &unload, &mut |step| match step {
                // Drops jobs that kept modules have scheduled since the reload began.
                UnloadStep::DropJobs => core.tasks.end_staged(&core.world, &core.red),
                UnloadStep::EndObjects => {
                    if core.world.objects.is_in_shadow() {
                        let remainder = &mut self.report.remainder;
                        remainder.constructions = Named::each(master::undo_constructions(core));
                        let (added, removed) = core.world.objects.roots_since(&self.before.roots);
                        remainder.roots_added = added.iter().map(ToString::to_string).collect();
                        remainder.roots_removed = removed.iter().map(ToString::to_string).collect();
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
            self.report.warnings.extend(self.loads.registry.masters.take_problems(self.old.generation));
            self.unloading = Some(ticket);
            // The suspended modules can now acquire their resources again, because the new generation has released the resources.
            self.report.warnings.extend(master::resume(core, self.loads, &self.suspended));
            // A failure in `Phase::Stage` occurs before the old generation is suspended. Such a failure raises no `Resumed` event.
            if phase != Phase::Stage {
                self.loads.raise(self.old.generation, ContextEventKind::Resumed);
            }
        }
        let objects = core.world.objects.count_living() as u64;
        self.close().rolled_back(phase, error, objects)
    }
}

/// Fault injection: runs a class constructor a second time on one living object.
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
