//! Loads a set of libraries as the modules of a new generation. The generation becomes live later.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use crate::bridge::core::Core;
use crate::emit::c_bodies::has_changed_library;
#[cfg(feature = "script")]
use crate::emit::error::EmitError;
use crate::faults::{self, ReloadStep};
use crate::handles::Generation;
use crate::lease::LeaseKind;
use crate::load::context::lookup::{BorrowedModule, borrow_for_master};
use crate::load::error::{LoadError, caught};
use crate::load::module::info::ModuleInfo;
use crate::load::module::master::MasterModule;
use crate::load::open::{self, Inspected, Ready};
use crate::load::order::{list, needs_beyond};
use crate::load::replace::{Build, Why, replaced};
#[cfg(feature = "script")]
use crate::object::construction::make_cdo;
use crate::unload::report::ParkedImage;
use crate::unload::steps::UnloadCause;

use crate::load::master::generation;
use crate::load::master::loads::{GenerationUnload, Loads, Master};

pub(crate) struct BroughtUp {
    /// Mapped modules, dependencies first.
    pub new: Vec<Rc<MasterModule>>,
    /// Modules that the reload keeps from the previous generation, dependencies first.
    pub kept: Vec<Rc<MasterModule>>,
    /// Reason for replacing each module. Empty if all modules are replaced unconditionally.
    pub why: BTreeMap<String, Why>,
    /// Names of the dependencies that the Default provides.
    pub elsewhere: Vec<String>,
}

impl BroughtUp {
    /// Returns all modules of the new generation, dependencies first. An error is unexpected, because the dependencies were checked before
    /// mapping.
    pub(crate) fn all(&self) -> Result<Vec<Rc<MasterModule>>, LoadError> {
        let modules: Vec<_> = self.new.iter().chain(&self.kept).collect();
        let row = open::start_order(modules.iter().map(|module| module.info()), &self.elsewhere)?;
        Ok(row.into_iter().map(|at| Rc::clone(modules[at])).collect())
    }
}

/// Reads, checks, copies and maps a set of libraries for `generation`, dependencies first. With `keep`, replaces only the changed modules
/// of that Master, and their dependents. Returns the first error. After an error, all new modules are unloading.
pub(crate) fn bring_up(
    core: &Rc<Core>,
    loads: &Loads,
    paths: &[PathBuf],
    generation: Generation,
    keep: Option<&Master>,
) -> Result<BroughtUp, LoadError> {
    loads.registry.masters.begin(generation);
    let stage = || {
        // Starts the canary first, because its process starts up while this thread reads and checks the libraries. Scripts need no canary.
        let rehearsal = &loads.registry.settings.rehearsal;
        let canary = if paths.iter().all(|path| path.is_dir()) { None } else { rehearsal.start() };
        let mut inspected = open::inspect_all(paths, &loads.registry.stage_dir, loads.registry.settings.require_seal)?;
        #[cfg(feature = "script")]
        if inspected.iter().any(|(found, _)| matches!(found, open::Found::Scripts(_))) {
            declare_library(core)?;
        }
        let (mut kept, mut why) = (Vec::new(), BTreeMap::new());
        if let Some(master) = keep {
            why = to_replace(core, master, &inspected);
            kept.extend(master.modules.iter().filter(|module| !why.contains_key(module.name())).cloned());
            inspected.retain(|(_, info)| why.contains_key(&info.name));
        }
        let infos: Vec<_> = kept.iter().map(|module| module.info()).collect();
        let borrowed = request_default(loads, inspected.iter().map(|(_, info)| info).chain(infos.iter().copied()))?;
        let elsewhere: Vec<_> = borrowed.iter().map(|borrowed| borrowed.name.clone()).collect();
        let staged = open::stage(&loads.registry.stage_dir, inspected, &infos, &elsewhere)?;
        staged.iter().try_for_each(|staged| loads.registry.check_file(staged.info()))?;
        staged.iter().for_each(|staged| loads.registry.announce(staged.info()));
        loads.canary_time.set(None);
        faults::at(ReloadStep::Canary)?;
        let _published = core.red.activities.phase("canary");
        let begun = Instant::now();
        let libraries = staged.iter().filter_map(Ready::library);
        let permissions = loads.registry.settings.permissions;
        let candidates = libraries.map(|staged| staged.candidate(permissions)).collect();
        let rehearsed = rehearsal.run(canary, candidates);
        // Records the duration even if the canary failed.
        let elapsed = rehearsed.as_ref().map_or_else(|_| Some(begun.elapsed()), |elapsed| *elapsed);
        loads.canary_time.set(elapsed);
        rehearsed?;
        Ok((staged, kept, why, borrowed))
    };
    let (staged, kept, why, borrowed) = caught(stage).inspect_err(|_| loads.registry.masters.forget(generation))?;
    let mut new = Vec::new();
    for staged in staged {
        let id = loads.next_module(core);
        let host = (loads.host_context(), &loads.registry.tables);
        let note_parked =
            |image: ParkedImage| loads.registry.note_left(&[image.line(&format!("generation {generation}"))]);
        if let Err(error) = caught(|| open::open(core, host, &note_parked, staged, id, generation, &mut new)) {
            let unload = GenerationUnload { cause: UnloadCause::NotStaged, generation, modules: &new, is_known: false };
            let _ticket = generation::unload(core, loads, &unload, &mut |_| {});
            return Err(error);
        }
    }
    loads.show(generation, new.iter().chain(&kept));
    hold_dependencies(&new, &kept, &borrowed);
    let elsewhere = borrowed.into_iter().map(|borrowed| borrowed.name).collect();
    Ok(BroughtUp { new, kept, why, elsewhere })
}

/// Declares the classes of the script library. The classes remain declared even if the package that needs the library cannot be loaded.
#[cfg(feature = "script")]
fn declare_library(core: &Core) -> Result<(), LoadError> {
    let refused = |source| EmitError::Declare { modules: "the library of scripts".to_owned(), source };
    for class in crate::emit::scripts::declare_library(&core.world).map_err(refused)? {
        make_cdo(&core.world, &core.plugins(), &class)?;
    }
    Ok(())
}

/// Requests the dependencies that are not among these modules from the Default. If the Default loads a dependency, the dependency stays
/// loaded, even if this load fails.
fn request_default<'a>(
    loads: &Loads,
    modules: impl Iterator<Item = &'a ModuleInfo> + Clone,
) -> Result<Vec<BorrowedModule>, LoadError> {
    let beyond = needs_beyond(modules.clone().map(|info| (&*info.name, &*info.dependencies)));
    let request = |(by, name, range): (&str, &str, _)| {
        let others = modules.clone().filter(|info| info.name != by).map(|info| info.name.clone());
        let own = format!("did not have it, and {} passed", list(&others.collect::<Vec<_>>()));
        borrow_for_master(&loads.registry, by, name, range, own)
    };
    beyond.into_iter().map(request).collect()
}

/// Returns the modules of a Master that a reload with these libraries replaces, with the reasons.
fn to_replace(core: &Core, master: &Master, inspected: &[Inspected]) -> BTreeMap<String, Why> {
    let build = |info: &ModuleInfo, has_changed_library| {
        let (name, digest, is_scripts) = (info.name.clone(), info.digest, info.is_scripts);
        Build { name, digest, is_scripts, has_changed_library }
    };
    let of_module = |module: &Rc<MasterModule>| build(module.info(), has_changed_library(core, module.leases()));
    let old: Vec<_> = master.modules.iter().map(of_module).collect();
    let new: Vec<_> = inspected.iter().map(|(_, info)| build(info, false)).collect();
    let mut uses = BTreeSet::new();
    for module in &master.modules {
        let dependencies = module.info().dependencies.iter().map(|(name, _)| name.clone());
        let is_owner = |other: &&Rc<MasterModule>| other.info().types.iter().any(|path| module.is_linked_with(path));
        let owners = master.modules.iter().filter(is_owner);
        let used = dependencies.chain(owners.map(|other| other.name().to_owned()));
        uses.extend(used.filter(|used| used != module.name()).map(|used| (module.name().to_owned(), used)));
    }
    replaced(&old, &new, &uses)
}

/// Takes leases on the dependencies of each module, because a module may refer to code of its dependencies.
fn hold_dependencies(modules: &[Rc<MasterModule>], kept: &[Rc<MasterModule>], borrowed: &[BorrowedModule]) {
    for module in modules {
        for (name, _) in &module.info().dependencies {
            let found = modules.iter().chain(kept).find(|other| other.name() == name).map(|other| other.leases());
            let found = found
                .or_else(|| borrowed.iter().find(|borrowed| borrowed.name == *name).map(|borrowed| &borrowed.leases));
            // Taking a lease cannot fail here. New modules, kept modules and modules of the Default are not sealed at this point.
            let lease = found.map(|leases| leases.take_at(LeaseKind::Dependent, module.name(), None));
            lease.into_iter().flatten().for_each(|lease| module.keep(lease));
        }
    }
}
