//! Brings modules into a context: a library and all that it needs, in the order of need, each main on this thread.
//! Either all of them are in afterwards, or none.

use std::path::Path;
use std::sync::Arc;

use alcedo_sys::{ImageFile, StageDir};
use semver::VersionReq;

use crate::lease::LeaseKind;
use crate::load::context::error::ContextError;
use crate::load::context::free_module::{FreeModule, Place};
use crate::load::context::guides::ModuleRequest;
use crate::load::context::hub::Hub;
use crate::load::context::notice::ContextHappening;
use crate::load::context::peek;
use crate::load::context::resolve::{Name, claim, will_do};
use crate::load::context::search::{Answer, name_of_bytes, search};
use crate::load::context::space::Space;
use crate::load::error::LoadError;
use crate::load::module::ModuleInfo;
use crate::load::open::{self, Staged};
use crate::load::order::{OrderInput, order};

/// A library that was read and admitted.
pub(super) struct Library {
    /// What it says of itself.
    pub info: ModuleInfo,
    image: ImageFile,
    symbols: Option<Vec<u8>>,
}

impl Library {
    /// From a file.
    ///
    /// # Errors
    /// As [`peek::read_copy`].
    pub(super) fn read(path: &Path, dir: &StageDir) -> Result<Self, ContextError> {
        let (image, mut info) = peek::read_copy(path, dir)?;
        info.origin = Some(path.to_owned());
        Ok(Self { info, image, symbols: None })
    }

    /// From memory.
    ///
    /// # Errors
    /// As [`peek::copy_bytes`].
    pub(super) fn from_bytes(
        name: &str,
        image: &[u8],
        symbols: Option<Vec<u8>>,
        dir: &StageDir,
    ) -> Result<Self, ContextError> {
        let (image, info) = peek::copy_bytes(&name_of_bytes(name), image, dir)?;
        Ok(Self { info, image, symbols })
    }
}

/// Loads a library and what it needs into `space`.
///
/// # Errors
/// Why not; nothing of it is in the context then.
pub(super) fn load(hub: &Hub, space: &Arc<Space>, library: Library) -> Result<Arc<FreeModule>, ContextError> {
    hub.check_budget()?;
    let _busy = busy(space, &library.info.name)?;
    let _turn = space.turn.take();
    if let Some(module) = present(space, &library.info)? {
        return Ok(module);
    }
    let plan = gather(hub, space, library)?;
    let row = plan.order(space)?;
    bring_up(hub, space, plan, &row)
}

/// Loads what a name stands for.
///
/// # Errors
/// As [`load`], and when nobody knows the name.
pub(super) fn load_name(
    hub: &Hub,
    space: &Arc<Space>,
    name: &str,
    range: &VersionReq,
) -> Result<Arc<FreeModule>, ContextError> {
    let _busy = busy(space, name)?;
    let _turn = space.turn.take();
    let request =
        ModuleRequest { name: name.to_owned(), range: range.clone(), needed_by: None, context: space.title() };
    match search(hub, space, &request)? {
        Answer::Module(module, _home) => Ok(module),
        Answer::Library(library) => load(hub, space, *library),
    }
}

/// A load keeps the context like a call: an unload that begins meanwhile waits until it is over.
fn busy(space: &Space, name: &str) -> Result<crate::lease::Lease, ContextError> {
    let action = format!("loading {name}");
    let lease = space.leases.take(LeaseKind::Call, action.as_str());
    lease.map_err(|sealed| ContextError::sealed(sealed, action))
}

/// The module, when this very build is there already.
fn present(space: &Space, info: &ModuleInfo) -> Result<Option<Arc<FreeModule>>, ContextError> {
    let loaded = space.find(&info.name);
    match claim(loaded.as_ref().map(|(module, _)| module.info().build_id), info.build_id) {
        Name::Free => Ok(None),
        Name::Same => Ok(loaded.map(|(module, _)| module)),
        Name::Occupied { loaded } => Err(ContextError::ModuleNameOccupied {
            context: space.title(),
            name: info.name.clone(),
            loaded_build: loaded,
            requested_build: info.build_id,
        }),
    }
}

/// What a load brings with it.
struct Plan {
    /// Libraries to load; the one that was asked for is the first.
    libraries: Vec<Library>,
    /// Modules that are there and are needed.
    present: Vec<Arc<FreeModule>>,
}

/// Finds everything that `library` needs.
fn gather(hub: &Hub, space: &Arc<Space>, library: Library) -> Result<Plan, ContextError> {
    let mut plan = Plan { libraries: vec![library], present: Vec::new() };
    let mut at = 0;
    while at < plan.libraries.len() {
        let info = plan.libraries[at].info.clone();
        refuse_classes(space, &info)?;
        if hub.require_seal && !plan.libraries[at].image.is_sealed() {
            let path = info.origin.clone().unwrap_or_else(|| name_of_bytes(&info.name));
            return Err(LoadError::NotSealed { path }.into());
        }
        for (name, range) in &info.dependencies {
            let is_here = plan.libraries.iter().any(|library| library.info.name == *name)
                || plan.present.iter().any(|module| module.name() == name);
            if is_here {
                continue;
            }
            let needed_by = Some(info.name.clone());
            let request = ModuleRequest { name: name.clone(), range: range.clone(), needed_by, context: space.title() };
            match search(hub, space, &request)? {
                Answer::Module(module, _home) => plan.present.push(module),
                Answer::Library(library) => plan.libraries.push(*library),
            }
        }
        at += 1;
    }
    Ok(plan)
}

/// Classes have objects, and objects have a game thread.
fn refuse_classes(space: &Space, info: &ModuleInfo) -> Result<(), ContextError> {
    match info.classes.first() {
        None => Ok(()),
        Some(class) => {
            Err(ContextError::ClassInSlim { context: space.title(), module: info.name.clone(), class: class.clone() })
        }
    }
}

impl Plan {
    /// The places of the libraries in the order of their start.
    fn order(&self, space: &Space) -> Result<Vec<usize>, ContextError> {
        let loaded: Vec<_> = self.libraries.iter().map(|library| &library.info).collect();
        let version = |name: &str| {
            let present = self.present.iter().map(|module| module.info());
            loaded.iter().copied().chain(present).find(|info| info.name == *name).map(|info| info.version.clone())
        };
        // A range that a resolver has answered with another version is met by that.
        let met = |(name, range): &(String, VersionReq)| match version(name) {
            Some(found) if will_do(&found, range, &space.granted(name)) => (name.clone(), VersionReq::STAR),
            _ => (name.clone(), range.clone()),
        };
        let new = loaded.iter().map(|info| OrderInput {
            name: info.name.clone(),
            version: without_stage(&info.version),
            dependencies: info.dependencies.iter().map(met).collect(),
        });
        let present = self.present.iter().map(|module| OrderInput {
            name: module.name().to_owned(),
            version: without_stage(&module.info().version),
            dependencies: Vec::new(),
        });
        let inputs: Vec<_> = new.chain(present).collect();
        let row = order(&inputs).map_err(LoadError::from)?;
        Ok(row.into_iter().filter(|at| *at < self.libraries.len()).collect())
    }
}

/// `*` matches no pre-release; the range has been compared with the whole version before.
fn without_stage(version: &semver::Version) -> semver::Version {
    semver::Version::new(version.major, version.minor, version.patch)
}

/// Copies the libraries in this order, has a canary load the copies, maps them and runs their mains.
fn bring_up(hub: &Hub, space: &Arc<Space>, plan: Plan, row: &[usize]) -> Result<Arc<FreeModule>, ContextError> {
    let Plan { libraries, mut present } = plan;
    let mut libraries: Vec<_> = libraries.into_iter().map(Some).collect();
    let mut staged = Vec::new();
    for at in row {
        let Some(Library { info, image, symbols }) = libraries.get_mut(*at).and_then(Option::take) else { continue };
        staged.push((*at, open::copy(&hub.stage_dir, image, info, symbols.as_deref())?));
    }
    let (places, staged): (Vec<_>, Vec<_>) = staged.into_iter().unzip();
    // Nothing was mapped in this process until here.
    hub.rehearsal.with(space.guides.canary()).run(&staged)?;
    let mut opened: Vec<Arc<FreeModule>> = Vec::new();
    let mut asked_for = None;
    for (at, staged) in places.into_iter().zip(staged) {
        match open_one(hub, space, staged, &present) {
            Ok(module) => {
                if at == 0 {
                    asked_for = Some(Arc::clone(&module));
                }
                present.push(Arc::clone(&module));
                opened.push(module);
            }
            Err(error) => {
                hub.abandon(space, &opened);
                return Err(error);
            }
        }
    }
    for module in &opened {
        if let Err(error) = module.main(&hub.args) {
            hub.abandon(space, &opened);
            return Err(LoadError::Main { module: module.name().to_owned(), error }.into());
        }
    }
    space.add(&opened);
    for module in &opened {
        hub.tell(space, ContextHappening::Loaded(module.name().to_owned()));
    }
    asked_for.ok_or_else(|| LoadError::NoMaster.into())
}

fn open_one(
    hub: &Hub,
    space: &Space,
    staged: Staged,
    present: &[Arc<FreeModule>],
) -> Result<Arc<FreeModule>, ContextError> {
    let info = &staged.info;
    let mut needs = Vec::new();
    for (name, _range) in &info.dependencies {
        let Some(module) = present.iter().find(|module| module.name() == name) else { continue };
        let owner = format!("module {} of {}", info.name, space.title());
        let lease = module.leases().take(LeaseKind::Dependent, owner);
        needs.push(lease.map_err(|sealed| ContextError::sealed(sealed, format!("depending on {name}")))?);
    }
    let place = Place { id: hub.next_module(), context: space.id, word: &hub.word, logs: &hub.logs };
    Ok(FreeModule::open(staged, needs, place)?)
}
