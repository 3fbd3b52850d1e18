//! From a file to a module: copy, check the copy, map it, check the layout, attach. What can be refused is refused before
//! the step after; nothing of the file runs before it is mapped.
#![expect(unsafe_code, reason = "maps a library and calls the first function of its root module")]

use std::alloc::Layout;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use abi_stable::StableAbi as _;
use abi_stable::abi_stability::abi_checking::{CheckingGlobals, check_layout_compatibility_with_globals};
use abi_stable::library::{AbiHeaderRef, LibHeader};
use alcedo_abi::abi_stable;
use alcedo_abi::host::ModuleContext;
use alcedo_abi::manifest::{self, Manifest};
use alcedo_abi::module::{ModuleRef, ROOT_SYMBOL};
use alcedo_sys::crash;
use alcedo_sys::{Image, ImageFile, Ledger, MapError, StageDir, StagedFile};

use crate::bridge::core::Core;
use crate::conjugate::gate::{Gate, ModuleTag};
use crate::faults::{self, ReloadStep};
use crate::handles::{Generation, ModuleId};
use crate::host_api::{self, HostContext};
use crate::lease::Leases;
use crate::load::checks::{HostFacts, admit};
use crate::load::entries::Entries;
use crate::load::error::{LoadError, caught};
use crate::load::hooks::{self, Attachment};
use crate::load::module::Module;
use crate::load::module::info::ModuleInfo;
use crate::load::module::library::LibraryCode;
use crate::load::module::master::MasterModule;
use crate::load::order::{OrderInput, order};
use crate::load::paths::ensure_absolute;
use crate::load::stays;

/// A library that passed every check that needs no mapping, and its private copy.
pub(crate) struct Staged {
    /// What it says of itself.
    pub info: ModuleInfo,
    file: StagedFile,
    ledger: Option<Arc<Ledger>>,
}

impl Staged {
    /// Where the copy is.
    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }
}

/// Copies a library into `dir` and checks the copy without running any of it.
///
/// # Errors
/// What does not fit, with both sides' facts.
pub(crate) fn inspect(path: &Path, dir: &StageDir, require_seal: bool) -> Result<Inspected, LoadError> {
    ensure_absolute(path, |path| LoadError::PathNotAbsolute { path })?;
    let image = ImageFile::read_copy(path, dir)?;
    let mut info = admit_image(&image, path, require_seal)?;
    info.origin = Some(path.to_owned());
    Ok((image, info))
}

/// Checks a library that was read, without running any of it; `path` stands for it in errors.
///
/// # Errors
/// What does not fit, with both sides' facts.
pub(crate) fn admit_image(image: &ImageFile, path: &Path, require_seal: bool) -> Result<ModuleInfo, LoadError> {
    if require_seal && !image.is_sealed() {
        return Err(LoadError::NotSealed { path: path.to_owned() });
    }
    let bytes = image.section(manifest::SECTION).ok_or_else(|| LoadError::NoManifest { path: path.to_owned() })?;
    let damaged = |source| LoadError::Manifest { path: path.to_owned(), source };
    let manifest = Manifest::read(bytes).map_err(damaged)?;
    admit(&HostFacts::THIS, &manifest)?;
    if let Some(library) = image.links_std_dynamically() {
        return Err(LoadError::DynamicStd { module: manifest.name.to_owned(), library: library.to_owned() });
    }
    hooks::check_slot(image, &manifest)?;
    let types = manifest::read_types(image.section(manifest::TYPES_SECTION).unwrap_or_default()).map_err(damaged)?;
    let types: Vec<_> = types.collect();
    let classes = types.iter().filter(|(kind, _path)| *kind == manifest::type_records::CLASS);
    Ok(ModuleInfo {
        name: manifest.name.to_owned(),
        version: version(&manifest)?,
        dependencies: dependencies(&manifest)?,
        build_id: manifest.build_id,
        compiler: manifest.compiler.to_owned(),
        digest: image.digest(),
        origin: None,
        is_sealed: image.is_sealed(),
        api: (manifest.api_oldest, manifest.api_current),
        classes: classes.map(|(_kind, path)| (*path).to_owned()).collect(),
        types: types.iter().map(|(_kind, path)| (*path).to_owned()).collect(),
        stays: stays::of(image),
        gives_blocks_away: hooks::gives_blocks_away(image),
    })
}

fn version(manifest: &Manifest<'_>) -> Result<semver::Version, LoadError> {
    manifest.version.parse().map_err(|reason: semver::Error| LoadError::Version {
        module: manifest.name.to_owned(),
        text: manifest.version.to_owned(),
        what: "version".into(),
        reason: reason.to_string(),
    })
}

fn dependencies(manifest: &Manifest<'_>) -> Result<Vec<(String, semver::VersionReq)>, LoadError> {
    manifest
        .dependencies()
        .map(|(name, range)| match range.parse::<semver::VersionReq>() {
            Ok(range) => Ok((name.to_owned(), range)),
            Err(reason) => Err(LoadError::Version {
                module: manifest.name.to_owned(),
                text: range.to_owned(),
                what: format!("version range of {name}"),
                reason: reason.to_string(),
            }),
        })
        .collect()
}

/// A library that was read and checked.
pub(crate) type Inspected = (ImageFile, ModuleInfo);

/// Copies and checks a set of libraries without running any of them.
///
/// # Errors
/// The first that does not fit.
pub(crate) fn inspect_all(paths: &[PathBuf], dir: &StageDir, require_seal: bool) -> Result<Vec<Inspected>, LoadError> {
    let mut inspected = Vec::new();
    for path in paths {
        faults::at(ReloadStep::Read)?;
        inspected.push(inspect(path, dir, require_seal)?);
        faults::at(ReloadStep::Check)?;
    }
    Ok(inspected)
}

/// The names of modules in the order of their start. Modules of those names in `elsewhere` run already, in a context that
/// stays.
///
/// # Errors
/// When their needs do not add up.
pub(crate) fn start_order<'a>(
    modules: impl Iterator<Item = &'a ModuleInfo>,
    elsewhere: &[String],
) -> Result<Vec<String>, LoadError> {
    let is_here = |(name, _): &&(String, semver::VersionReq)| !elsewhere.contains(name);
    let inputs: Vec<_> = modules
        .map(|info| OrderInput {
            build_id: info.build_id,
            name: info.name.clone(),
            version: info.version.clone(),
            dependencies: info.dependencies.iter().filter(is_here).cloned().collect(),
        })
        .collect();
    Ok(order(&inputs)?.into_iter().map(|at| inputs[at].name.clone()).collect())
}

/// Orders libraries by dependency, those of modules that stay among them, and makes their copies ready to be mapped. What
/// they need and is in `elsewhere` runs already.
///
/// # Errors
/// When their needs do not add up or a copy cannot be made; nothing was mapped then.
pub(crate) fn stage(
    dir: &StageDir,
    inspected: Vec<Inspected>,
    staying: &[&ModuleInfo],
    elsewhere: &[String],
) -> Result<Vec<Staged>, LoadError> {
    let infos = inspected.iter().map(|(_, info)| info).chain(staying.iter().copied());
    let row = start_order(infos, elsewhere)?;
    let mut inspected: Vec<_> = inspected.into_iter().map(Some).collect();
    let mut staged = Vec::new();
    for name in row {
        let is_next = |slot: &&mut Option<Inspected>| slot.as_ref().is_some_and(|(_, info)| info.name == name);
        let Some((image, info)) = inspected.iter_mut().find(is_next).and_then(Option::take) else { continue };
        staged.push(copy(dir, image, info, None)?);
        faults::at(ReloadStep::Copy)?;
    }
    Ok(staged)
}

/// The private copy of a library, with the way to its host written into it, and beside it what debuggers read, if that
/// came apart.
///
/// # Errors
/// When the copy cannot be written.
pub(crate) fn copy(
    dir: &StageDir,
    image: ImageFile,
    info: ModuleInfo,
    symbols: Option<&[u8]>,
) -> Result<Staged, LoadError> {
    let attachment = Attachment::new(&image, &info.name);
    let patch = attachment.as_ref().map(Attachment::patch);
    let patches: Vec<_> = patch.iter().map(|(section, at, bytes)| (*section, *at, bytes.as_slice())).collect();
    let file = dir.stage_whole(image, &info.name, symbols, &patches)?;
    Ok(Staged { info, file, ledger: attachment.map(|attachment| attachment.ledger) })
}

/// Maps a staged library, checks its root module and attaches it.
///
/// # Errors
/// When the linker refuses it, its layout differs, or it does not take its host. The image is unmapped then.
pub(crate) fn open(
    core: &Core,
    host_context: &HostContext,
    staged: Staged,
    id: ModuleId,
    generation: Generation,
) -> Result<Rc<MasterModule>, LoadError> {
    crash::module(generation.0, &staged.info.name, staged.path());
    let (info, image, root) = map(staged)?;
    let tag = ModuleTag { id, name: info.name.as_str().into(), generation };
    core.logs.introduce(&tag);
    core.world.slices.introduce(id.0, &tag.name);
    let context = ModuleContext {
        host: host_context.to_ref(),
        table: host_api::table(),
        values: host_api::values(),
        module: id.0,
        generation: generation.0,
        mode: core.world.mode.address(),
        directory: core.world.objects.directory(),
        slices: core.world.slices.address(),
        blacks: core.blacks.directory(),
        level: crate::logs::loudest(),
    };
    let leases = Leases::new(format!("{} of generation {generation}", info.name));
    // SAFETY: it is attached below, before anything of it is called.
    let code = unsafe { LibraryCode::new(&info, root, image) };
    let module = Module::new(info, tag.clone(), code, leases, &core.logs, None);
    let module = MasterModule::new(module, Gate::new(tag));
    core.tasks.admit(module.gate(), Arc::clone(module.leases()));
    core.blacks.admit(module.gate(), Arc::clone(module.leases()));
    let attached = caught(|| {
        // SAFETY: the host context, table, mode and directory live as long as the runtime, which outlives the module.
        let attached = unsafe { Entries(root).attach(&context) };
        attached.map_err(|error| LoadError::Attach { module: module.name().to_owned(), error })?;
        Ok(faults::at(ReloadStep::Attach)?)
    });
    match attached {
        Ok(()) => Ok(module),
        Err(error) => {
            let id = module.gate().tag().id;
            core.tasks.end_module(core, id);
            core.blacks.end_modules(&BTreeSet::from([id]));
            core.blacks.forget(&[id]);
            core.world.slices.forget(id.0);
            core.logs.forget(module.gate().tag());
            // SAFETY: the module never ran: it declared nothing and nothing of it is held.
            unsafe { module.code().discard() };
            Err(error)
        }
    }
}

/// Maps a staged library and checks its root module. Its initialisers run on this thread.
///
/// # Errors
/// When the linker refuses it or its layout differs. The image is unmapped then.
pub(crate) fn map(staged: Staged) -> Result<(ModuleInfo, Image, ModuleRef), LoadError> {
    let Staged { info, file, ledger } = staged;
    // SAFETY: the file's manifest section was read and admitted, so it is a module; its initialisers are the
    // author's and run here, on the thread that loads.
    let image = unsafe { Image::map(file, ledger) }.map_err(|error| in_words(&info.name, error))?;
    // An image that is dropped stays mapped, so nothing may unwind past the two places that unmap it.
    let checked = caught(|| {
        faults::at(ReloadStep::Map)?;
        let root = root_of(&image, &info.name)?;
        faults::at(ReloadStep::LayoutCheck)?;
        Ok(root)
    });
    match checked {
        Ok(root) => Ok((info, image, root)),
        Err(error) => {
            // SAFETY: nothing of the image is kept: the error's texts are copies.
            let _gone = unsafe { image.unmap() };
            Err(error)
        }
    }
}

/// What the linker said of a module, with the way out where that is known.
fn in_words(module: &str, error: MapError) -> LoadError {
    match error {
        // The only sort of memory that it names.
        MapError::Open { reason, .. } if reason.contains("static TLS") => {
            let said = reason.rsplit(": ").next().unwrap_or(&reason).to_owned();
            LoadError::StaticTls { module: module.to_owned(), reason: said }
        }
        error => error.into(),
    }
}

/// The root module of an image, after its layout was compared with throw-away globals: the checker's own cache would
/// keep pointers into images that are long gone.
pub(super) fn root_of(image: &Image, module: &str) -> Result<ModuleRef, LoadError> {
    let differs = |difference: String| LoadError::RootModule { module: module.to_owned(), difference };
    // The whole header, of which the part that is looked at first is only the beginning.
    let whole = Layout::new::<LibHeader>();
    // SAFETY: the symbol is the header that the `module!` macro exports; its magic is tested by `upgrade`.
    let header = unsafe { image.symbol_of::<AbiHeaderRef>(ROOT_SYMBOL, whole) }?;
    let header: &LibHeader = header.upgrade().map_err(|error| differs(error.to_string()))?;
    let Some(layout) = header.root_mod_consts().layout().into_option() else {
        return Err(differs("it carries no layout to compare".into()));
    };
    // Printed while the image is mapped: the errors point into it.
    check_layout_compatibility_with_globals(ModuleRef::LAYOUT, layout, &CheckingGlobals::new())
        .map_err(|errors| differs(errors.to_string()))?;
    // SAFETY: the layout was compared just now.
    unsafe { header.unchecked_layout::<ModuleRef>() }.map_err(|error| differs(format!("{error:?}")))
}
