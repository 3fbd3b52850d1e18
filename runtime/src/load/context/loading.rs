//! Loads a library and its dependencies into a context, in dependency order. All mains run on this thread. A failed load adds
//! no module.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use alcedo_sys::{ImageFile, StageDir};
use semver::{Version, VersionReq};

use crate::load::context::event::ContextEventKind;
use crate::load::context::free_context::FreeContext;
use crate::load::context::free_generation::{FreeGeneration, dependent};
use crate::load::context::free_module::{FreeModule, ModuleHost};
use crate::load::context::in_progress;
use crate::load::context::module_calls::ModuleCalls;
use crate::load::context::peek;
use crate::load::context::registry::{ContextRegistry, Inside};
use crate::load::context::resolve::will_do;
use crate::load::context::search::{Answer, name_of_bytes, search};
use crate::load::context::waits::{DEEPEST, Sort};
use crate::load::error::LoadError;
use crate::load::error::context::ContextError;
use crate::load::module::info::ModuleInfo;
use crate::load::open::{self, Staged};
use crate::load::order::{OrderInput, order};
use crate::load::paths::ensure_absolute;
use crate::unload::report::ParkedImage;
use crate::unload::ticket::UnloadTicket;

pub(super) struct Library {
    pub info: ModuleInfo,
    image: ImageFile,
    symbols: Option<Vec<u8>>,
    /// Accepted versions, if the library was found for a request by name. `None` for a request by path or content. A request by name also
    /// accepts a different build that was loaded concurrently.
    range: Option<VersionReq>,
}

impl Library {
    /// Reads a library file. Returns an error if the path is relative, and the errors of [`peek::check`].
    pub(super) fn read(path: &Path, dir: &StageDir) -> Result<Self, ContextError> {
        ensure_absolute(path, |path| ContextError::PathNotAbsolute { path })?;
        let (image, mut info) = peek::check(path, ImageFile::read_copy(path, dir))?;
        info.origin = Some(path.to_owned());
        Ok(Self { info, image, symbols: None, range: None })
    }

    /// Reads a library from memory. Returns the errors of [`peek::check`].
    pub(super) fn from_bytes(
        name: &str,
        image: &[u8],
        symbols: Option<Vec<u8>>,
        dir: &StageDir,
    ) -> Result<Self, ContextError> {
        let name = name_of_bytes(name);
        let (image, info) = peek::check(&name, ImageFile::copy_bytes(&name, image, dir))?;
        Ok(Self { info, image, symbols, range: None })
    }

    /// Reads a library from a reader, up to its end. Returns the errors of [`peek::check`], and an error if the reader
    /// fails or exceeds the host's limit.
    pub(super) fn from_reader(
        name: &str,
        image: impl Read,
        symbols: Option<&mut dyn Read>,
        dir: &StageDir,
    ) -> Result<Self, ContextError> {
        let largest = dir.demands().largest;
        let image = read_all(&name_of_bytes(name).display().to_string(), image, largest)?;
        let symbols = symbols.map(|symbols| read_all(&format!("the symbols of <{name}>"), symbols, largest));
        Self::from_bytes(name, &image, symbols.transpose()?, dir)
    }

    /// Records that the library was found for a request by name. `range` contains the accepted versions.
    pub(super) fn found_for(self, range: &VersionReq) -> Self {
        Self { range: Some(range.clone()), ..self }
    }
}

/// Reads a library to its end. Reads at most `largest + 1` bytes, and returns an error if the library is longer than `largest`.
fn read_all(name: &str, reader: impl Read, largest: u64) -> Result<Vec<u8>, ContextError> {
    let mut bytes = Vec::new();
    let read = reader.take(largest.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|source| ContextError::Reading { name: name.to_owned(), source })?;
    match bytes.len() as u64 > largest {
        true => Err(ContextError::ReadsTooLong { name: name.to_owned(), largest }),
        false => Ok(bytes),
    }
}

/// Loads a library and its dependencies into `generation`. If `generation` will replace `old`, suspends the modules of `old` before the
/// first main runs. If the load fails after this suspension, resumes the modules of `old`. After an error, `generation` has no new modules
/// of its own, but still borrows modules that its resolver has returned during the load.
pub(super) fn load(
    registry: &ContextRegistry,
    generation: &Arc<FreeGeneration>,
    library: Library,
    old: Option<&FreeGeneration>,
) -> Result<Arc<FreeModule>, ContextError> {
    registry.check_budget()?;
    let _busy = generation.busy(&format!("loading {}", library.info.name))?;
    if let Some(module) = present(generation, &library)? {
        return Ok(module);
    }
    let _inside = Inside::enter().ok_or_else(|| {
        let requested = format!("{} in {}", library.info.name, generation.title());
        ContextError::LoadTooDeep { requested, limit: DEEPEST }
    })?;
    let loading = in_progress::begin(Sort::Loading, &[generation.module_work(&library.info.name)])?;
    // Checks again, because a concurrent load of this module may have completed during the wait.
    if let Some(module) = present(generation, &library)? {
        return Ok(module);
    }
    let name = library.info.name.clone();
    let mut plan = gather(registry, generation, library)?;
    let works: Vec<_> = plan.libraries.iter().map(|library| generation.module_work(&library.info.name)).collect();
    let claimed = in_progress::begin(Sort::Claiming, &works)?;
    // The claim prevents concurrent loads from adding modules of the plan. Removes the libraries whose modules were added before the claim.
    if let Some(module) = plan.leave_out_present(generation)? {
        return Ok(module);
    }
    let row = plan.order(generation)?;
    let opened = bring_up(registry, generation, plan, &row, old)?;
    drop((claimed, loading));
    for module in &opened {
        registry.log_uses(module);
        generation.notify(&registry.listeners, ContextEventKind::Loaded(vec![module.name().to_owned()]));
    }
    let requested = opened.into_iter().find(|module| module.name() == name);
    Ok(requested.ok_or(LoadError::NoMaster)?)
}

/// Loads a module by name. Returns the errors of [`load`] and [`search`].
pub(super) fn load_name(
    registry: &ContextRegistry,
    generation: &Arc<FreeGeneration>,
    name: &str,
    range: &VersionReq,
) -> Result<Arc<FreeModule>, ContextError> {
    let _busy = generation.busy(&format!("loading {name}"))?;
    match search(registry, generation, &generation.request(name, range, None))? {
        Answer::Module(module) => Ok(module),
        Answer::Library(library) => load(registry, generation, *library, None),
    }
}

/// Replaces the current generation of `line` by a new generation with the library from `read` and its dependencies. Then starts to unload
/// the old generation. Calls use the old generation until the new generation is complete. If the replacement fails, the old generation
/// remains current. Reads nothing if the context cannot be replaced.
pub(super) fn replace(
    registry: &ContextRegistry,
    line: &FreeContext,
    read: impl FnOnce(&StageDir) -> Result<Library, ContextError>,
) -> Result<UnloadTicket, ContextError> {
    line.expect_collectible()?;
    line.open("replacing it")?;
    let library = read(&registry.stage_dir)?;
    let _one_at_a_time = in_progress::begin(Sort::Claiming, &[line.replacement_work()])?;
    let action = format!("replacing it by {}", library.info.name);
    let current = line.open(action.as_str())?;
    // While `busy` is held, an unload of `current` cannot complete.
    let busy = current.busy(&action)?;
    let next = line.next_to(&current);
    load(registry, &next, library, Some(&current))?;
    match line.set_current(&next) {
        Some(old) => {
            drop(busy);
            Ok(line.seal(registry, &old))
        }
        // The context is unloading. Seals the new generation while `busy` is held, so that the unload of the context also waits for `next`.
        None => {
            let _ticket = line.seal(registry, &next);
            Err(line.unloading(action))
        }
    }
}

/// Returns the module if this build is already loaded, or if a loaded version satisfies a request by name.
fn present(generation: &FreeGeneration, library: &Library) -> Result<Option<Arc<FreeModule>>, ContextError> {
    let Library { info, range, .. } = library;
    let loaded = generation.find(&info.name);
    if let Some((module, range)) = loaded.as_ref().zip(range.as_ref())
        && will_do(&module.info().version, range, &generation.granted(&info.name))
    {
        return Ok(Some(Arc::clone(module)));
    }
    match loaded {
        // A context has at most one build per name.
        Some(module) if module.info().build_id != info.build_id => Err(ContextError::ModuleNameOccupied {
            context: generation.title(),
            name: info.name.clone(),
            loaded_build: module.info().build_id,
            requested_build: info.build_id,
        }),
        same => Ok(same),
    }
}

struct Plan {
    /// Libraries to load. The first library is the requested library.
    libraries: Vec<Library>,
    /// Loaded modules that the libraries require.
    present: Vec<Arc<FreeModule>>,
}

/// Finds all direct and indirect dependencies of `library`.
fn gather(
    registry: &ContextRegistry,
    generation: &Arc<FreeGeneration>,
    library: Library,
) -> Result<Plan, ContextError> {
    let mut plan = Plan { libraries: vec![library], present: Vec::new() };
    let mut at = 0;
    while at < plan.libraries.len() {
        let info = plan.libraries[at].info.clone();
        let _loading = match at {
            // The requested library needs no step here. The caller has begun a step for the whole load.
            0 => None,
            _ => Some(in_progress::begin(Sort::Loading, &[generation.module_work(&info.name)])?),
        };
        // Objects of a class require a game thread.
        if let Some(class) = info.classes.first() {
            let (context, module, class) = (generation.title(), info.name.clone(), class.clone());
            return Err(ContextError::ClassInSlim { context, module, class });
        }
        if registry.settings.require_seal && !plan.libraries[at].image.is_sealed() {
            let path = info.origin.clone().unwrap_or_else(|| name_of_bytes(&info.name));
            return Err(LoadError::NotSealed { path }.into());
        }
        for (name, range) in &info.dependencies {
            let is_here = plan.libraries.iter().any(|library| library.info.name == *name)
                || plan.present.iter().any(|module| module.name() == name);
            if is_here {
                continue;
            }
            match search(registry, generation, &generation.request(name, range, Some(&info.name)))? {
                Answer::Module(module) => plan.present.push(module),
                Answer::Library(library) => plan.libraries.push(*library),
            }
        }
        at += 1;
    }
    Ok(plan)
}

impl Plan {
    /// Removes the libraries whose modules are already loaded. If the requested module is among the removed modules, returns the requested
    /// module.
    fn leave_out_present(&mut self, generation: &FreeGeneration) -> Result<Option<Arc<FreeModule>>, ContextError> {
        let there = self.libraries.iter().map(|library| present(generation, library));
        let mut there = there.collect::<Result<Vec<_>, _>>()?;
        if let Some(requested) = there.first_mut().and_then(Option::take) {
            return Ok(Some(requested));
        }
        let mut at = there.iter();
        self.libraries.retain(|_| at.next().is_none_or(Option::is_none));
        self.present.extend(there.into_iter().flatten());
        Ok(None)
    }

    /// Returns the indices of the libraries in their start order.
    fn order(&self, generation: &FreeGeneration) -> Result<Vec<usize>, ContextError> {
        let loaded: Vec<_> = self.libraries.iter().map(|library| &library.info).collect();
        let version = |name: &str| {
            let present = self.present.iter().map(|module| module.info());
            loaded.iter().copied().chain(present).find(|info| info.name == *name).map(|info| info.version.clone())
        };
        // A version outside of a range is accepted if a resolver has returned the version for this range.
        let met = |(name, range): &(String, VersionReq)| match version(name) {
            Some(found) if will_do(&found, range, &generation.granted(name)) => (name.clone(), VersionReq::STAR),
            _ => (name.clone(), range.clone()),
        };
        let input = |info: &ModuleInfo, dependencies| OrderInput {
            build_id: info.build_id,
            name: info.name.clone(),
            // `*` does not match pre-releases, and `met` has already compared the complete version with the range.
            version: Version::new(info.version.major, info.version.minor, info.version.patch),
            dependencies,
        };
        let new = loaded.iter().map(|info| input(info, info.dependencies.iter().map(met).collect()));
        let present = self.present.iter().map(|module| input(module.info(), Vec::new()));
        let inputs: Vec<_> = new.chain(present).collect();
        let row = order(&inputs).map_err(LoadError::from)?;
        Ok(row.into_iter().filter(|at| *at < self.libraries.len()).collect())
    }
}

/// Starts the libraries in the order `row`. Copies the libraries, loads the copies in a canary, maps the copies, runs the mains, and adds
/// the modules to the context. Returns the new modules in this order.
fn bring_up(
    registry: &ContextRegistry,
    generation: &Arc<FreeGeneration>,
    plan: Plan,
    row: &[usize],
    old: Option<&FreeGeneration>,
) -> Result<Vec<Arc<FreeModule>>, ContextError> {
    let Plan { libraries, mut present } = plan;
    let mut libraries: Vec<_> = libraries.into_iter().map(Some).collect();
    let mut staged = Vec::new();
    for at in row {
        let Some(Library { info, image, symbols, .. }) = libraries.get_mut(*at).and_then(Option::take) else {
            continue;
        };
        staged.push(open::copy(&registry.stage_dir, image, info, symbols.as_deref())?);
    }
    staged.iter().try_for_each(|staged| registry.check_file(&staged.info))?;
    staged.iter().for_each(|staged| registry.announce(&staged.info));
    // The host maps the copies only after the canary has passed.
    let rehearsal = registry.settings.rehearsal.with(generation.resolvers.canary());
    rehearsal.run(None, staged.iter().map(|staged| staged.candidate(registry.settings.permissions)).collect())?;
    generation.expect_open("mapping a library")?;
    let mut opened: Vec<Arc<FreeModule>> = Vec::new();
    for staged in staged {
        match open_one(registry, generation, staged, &present, &mut opened) {
            Ok(module) => present.push(module),
            Err(error) => {
                registry.abandon(generation, &opened);
                return Err(error);
            }
        }
    }
    let before = old.map(FreeGeneration::modules).unwrap_or_default();
    let mut suspended = Vec::new();
    let live = suspend(&before, &mut suspended)
        .and_then(|()| start(registry, &opened, &before))
        .and_then(|()| opened.iter().try_for_each(|module| registry.check_uses(module)))
        .map_err(ContextError::from)
        .and_then(|()| generation.add(&opened));
    if let Err(error) = live {
        // Abandons the new modules first, because the new modules must release their resources. Then the old modules can acquire these
        // resources again.
        registry.abandon(generation, &opened);
        resume(&suspended);
        return Err(error);
    }
    Ok(opened)
}

/// Suspends the modules of the old generation, dependents first. In `suspend`, a module releases resources for the new modules. Appends
/// each called module to `called`.
fn suspend(before: &[Arc<FreeModule>], called: &mut Vec<Arc<FreeModule>>) -> Result<(), LoadError> {
    for module in before.iter().rev().filter(|module| module.code().suspends()) {
        called.push(Arc::clone(module));
        module.code().suspend().map_err(|error| LoadError::Suspend { module: module.name().to_owned(), error })?;
    }
    Ok(())
}

/// Resumes suspended modules in reverse order. A module whose `resume` fails continues to run.
fn resume(suspended: &[Arc<FreeModule>]) {
    for module in suspended.iter().rev() {
        if let Err(error) = module.code().resume() {
            log!(ERROR, module = module.name(), %error, "a resume failed");
        }
    }
}

fn start(registry: &ContextRegistry, modules: &[Arc<FreeModule>], before: &[Arc<FreeModule>]) -> Result<(), LoadError> {
    for module in modules {
        if let Err(error) = module.main(&registry.settings.args) {
            let live_generation = before.iter().find(|old| old.name() == module.name() && !old.code().suspends());
            let live_generation = live_generation.map(|old| old.context.generation);
            return Err(LoadError::Main { module: module.name().to_owned(), error, live_generation });
        }
    }
    Ok(())
}

fn open_one(
    registry: &ContextRegistry,
    generation: &Arc<FreeGeneration>,
    staged: Staged,
    present: &[Arc<FreeModule>],
    opened: &mut Vec<Arc<FreeModule>>,
) -> Result<Arc<FreeModule>, ContextError> {
    let info = &staged.info;
    let (mut needs, mut needed) = (Vec::new(), Vec::new());
    for (name, _range) in &info.dependencies {
        let Some(module) = present.iter().find(|module| module.name() == name) else { continue };
        let need = module.add_dependent(&dependent(info, &generation.full_title(), name));
        needs.push(need.map_err(|sealed| ContextError::sealed(sealed, format!("depending on {name}")))?);
        needed.push(Arc::downgrade(module));
    }
    let calls = ModuleCalls::new(generation, registry);
    let host_context = registry.host_context.with_calls(calls.clone());
    let note_parked = |image: ParkedImage| registry.note_left(&[image.line(&generation.title())]);
    let host = ModuleHost {
        id: registry.next_module(),
        context: generation.id,
        host_context: &host_context,
        logs: &registry.logs,
        tables: &registry.tables,
        note_parked: &note_parked,
    };
    let module = FreeModule::open(staged, needs, host, opened)?;
    calls.set_caller(&module, needed);
    Ok(module)
}
