//! Opens a module. Copies the file, checks the copy, maps the copy, checks the layout, and attaches the module. Each check runs as early as
//! possible. Before the mapping, no code of the file runs.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::str::FromStr;
use std::sync::Arc;

use alcedo_abi::manifest::{self, Manifest};
use alcedo_sys::crash;
use alcedo_sys::{ImageFile, StageDir};

use crate::bridge::core::Core;
use crate::conjugate::gate::{Gate, ModuleTag};
use crate::faults::{self, ReloadStep};
use crate::handles::{Generation, ModuleId};
use crate::host_api::HostContext;
use crate::lease::Leases;
use crate::load::checks::admit;
use crate::load::error::LoadError;
use crate::load::hooks;
use crate::load::module::Module;
use crate::load::module::info::ModuleInfo;
use crate::load::module::library::Codeless;
use crate::load::module::master::MasterModule;
use crate::load::order::{OrderInput, order};
use crate::load::park_reason;
use crate::load::paths::ensure_absolute;
use crate::load::permissions::Declaration;
use crate::load::tables::HostTables;
use crate::unload::report::ParkedImage;

pub(crate) use crate::load::module::library::{Staged, copy};

#[cfg(feature = "script")]
pub(crate) mod scripts;

/// Copies a library into `dir` and checks the copy without running its code. Returns the first mismatch between library and host as an
/// error.
pub(crate) fn inspect(path: &Path, dir: &StageDir, require_seal: bool) -> Result<Inspected, LoadError> {
    ensure_absolute(path, |path| LoadError::PathNotAbsolute { path })?;
    #[cfg(feature = "script")]
    if path.is_dir() {
        let (package, info) = scripts::inspect(path, dir.demands())?;
        return Ok((Found::Scripts(package), info));
    }
    let image = ImageFile::read_copy(path, dir)?;
    let mut info = admit_image(&image, path, require_seal)?;
    info.origin = Some(path.to_owned());
    Ok((Found::Library(Box::new(image)), info))
}

/// Checks a library without running its code. Errors contain `path` and the mismatched values of library and host.
pub(crate) fn admit_image(image: &ImageFile, path: &Path, require_seal: bool) -> Result<ModuleInfo, LoadError> {
    if require_seal && !image.is_sealed() {
        return Err(LoadError::NotSealed { path: path.to_owned() });
    }
    let bytes = image.section(manifest::SECTION).ok_or_else(|| LoadError::NoManifest { path: path.to_owned() })?;
    let damaged = |source| LoadError::Manifest { path: path.to_owned(), source };
    let manifest = Manifest::read(bytes).map_err(damaged)?;
    admit(&manifest)?;
    if let Some(library) = image.links_std_dynamically() {
        return Err(LoadError::DynamicStd { module: manifest.name.to_owned(), library: library.to_owned() });
    }
    hooks::check_slot(image, &manifest)
        .map_err(|what| LoadError::HookSlot { module: manifest.name.to_owned(), what })?;
    let types = manifest::read_types(image.section(manifest::TYPES_SECTION).unwrap_or_default()).map_err(damaged)?;
    let types: Vec<_> = types.collect();
    let classes = types.iter().filter(|(kind, _path)| *kind == manifest::type_records::CLASS);
    Ok(ModuleInfo {
        name: manifest.name.to_owned(),
        version: parsed(&manifest, manifest.version, "version".to_owned())?,
        dependencies: dependencies(&manifest)?,
        build_id: manifest.build_id,
        compiler: manifest.compiler.to_owned(),
        digest: image.digest(),
        origin: None,
        is_scripts: false,
        is_sealed: image.is_sealed(),
        api: (manifest.api_oldest, manifest.api_current),
        classes: classes.map(|(_kind, path)| (*path).to_owned()).collect(),
        types: types.iter().map(|(_kind, path)| (*path).to_owned()).collect(),
        park_reason: park_reason::of(image),
        unhooked: hooks::unhooked(image),
        c_heap_shared: hooks::c_heap_shared(image),
        permissions: Declaration::of_file(manifest.permissions, image.imports(), image.needed()),
    })
}

/// Parses a version or a version range. In errors, `what` describes the text.
fn parsed<T: FromStr<Err = semver::Error>>(manifest: &Manifest<'_>, text: &str, what: String) -> Result<T, LoadError> {
    text.parse().map_err(|reason: semver::Error| LoadError::Version {
        module: manifest.name.to_owned(),
        text: text.to_owned(),
        what,
        reason: reason.to_string(),
    })
}

fn dependencies(manifest: &Manifest<'_>) -> Result<Vec<(String, semver::VersionReq)>, LoadError> {
    manifest
        .dependencies()
        .map(|(name, range)| Ok((name.to_owned(), parsed(manifest, range, format!("version range of {name}"))?)))
        .collect()
}

pub(crate) enum Found {
    Library(Box<ImageFile>),
    #[cfg(feature = "script")]
    Scripts(Arc<crate::script::package::Package>),
}

pub(crate) type Inspected = (Found, ModuleInfo);

/// Copies and checks a set of libraries without running their code. Adds the dependencies of script packages. A script package depends on
/// each module that declares a type named in the source of the package. Returns the first error.
pub(crate) fn inspect_all(paths: &[PathBuf], dir: &StageDir, require_seal: bool) -> Result<Vec<Inspected>, LoadError> {
    let mut inspected = Vec::new();
    for path in paths {
        faults::at(ReloadStep::Read)?;
        inspected.push(inspect(path, dir, require_seal)?);
        faults::at(ReloadStep::Check)?;
    }
    #[cfg(feature = "script")]
    scripts::add_dependencies(&mut inspected);
    Ok(inspected)
}

/// Returns the indexes of modules in start order. Ignores dependencies named in `elsewhere`, because these dependencies already run in a
/// permanent context. Returns an error if the dependencies are inconsistent.
pub(crate) fn start_order<'a>(
    modules: impl Iterator<Item = &'a ModuleInfo>,
    elsewhere: &[String],
) -> Result<Vec<usize>, LoadError> {
    let is_here = |(name, _): &&(String, semver::VersionReq)| !elsewhere.contains(name);
    let inputs: Vec<_> = modules
        .map(|info| OrderInput {
            build_id: info.build_id,
            name: info.name.clone(),
            version: info.version.clone(),
            dependencies: info.dependencies.iter().filter(is_here).cloned().collect(),
        })
        .collect();
    Ok(order(&inputs)?)
}

/// Orders libraries and kept modules by dependency, and prepares the private copies of the libraries for mapping. Ignores dependencies
/// named in `elsewhere`, because these dependencies already run in a permanent context. Maps no library. Returns an error if the
/// dependencies are inconsistent or a copy cannot be created.
pub(crate) fn stage(
    dir: &StageDir,
    inspected: Vec<Inspected>,
    kept: &[&ModuleInfo],
    elsewhere: &[String],
) -> Result<Vec<Ready>, LoadError> {
    let infos = inspected.iter().map(|(_, info)| info).chain(kept.iter().copied());
    let row = start_order(infos, elsewhere)?;
    let mut inspected: Vec<_> = inspected.into_iter().map(Some).collect();
    let mut staged = Vec::new();
    for at in row {
        let Some((found, info)) = inspected.get_mut(at).and_then(Option::take) else { continue };
        staged.push(match found {
            Found::Library(image) => Ready::Library(copy(dir, *image, info, None)?),
            #[cfg(feature = "script")]
            Found::Scripts(package) => Ready::Scripts(info, package),
        });
        faults::at(ReloadStep::Copy)?;
    }
    Ok(staged)
}

/// Creates a module of the Master, and registers its gate in the stores of jobs and of owned values.
fn admitted(core: &Core, module: Module, tag: ModuleTag) -> Rc<MasterModule> {
    let module = MasterModule::new(module, Gate::among(tag, core.red.hot()));
    core.tasks.admit(module.gate(), Arc::clone(module.leases()));
    core.owned_values.admit(module.gate(), Arc::clone(module.leases()));
    module
}

pub(crate) enum Ready {
    /// Unmapped private copy of a library.
    Library(Staged),
    #[cfg(feature = "script")]
    Scripts(ModuleInfo, Arc<crate::script::package::Package>),
}

impl Ready {
    pub(crate) fn info(&self) -> &ModuleInfo {
        match self {
            Self::Library(staged) => &staged.info,
            #[cfg(feature = "script")]
            Self::Scripts(info, _) => info,
        }
    }

    /// Returns the library, unless the module is a script package.
    pub(crate) fn library(&self) -> Option<&Staged> {
        match self {
            Self::Library(staged) => Some(staged),
            #[cfg(feature = "script")]
            Self::Scripts(..) => None,
        }
    }
}

/// Maps a staged library, checks the root module and attaches the module. Appends the module to `opened`, even if the attachment fails.
/// Returns an error if the dynamic linker, the layout check or the attachment fails. After an error, the caller unloads `opened`.
/// `note_parked` receives an image that stays mapped although its module was not appended to `opened`.
pub(crate) fn open(
    core: &Core,
    (host_context, tables): (&HostContext, &HostTables),
    note_parked: &dyn Fn(ParkedImage),
    staged: Ready,
    id: ModuleId,
    generation: Generation,
    opened: &mut Vec<Rc<MasterModule>>,
) -> Result<(), LoadError> {
    #[cfg_attr(
        not(feature = "script"),
        expect(clippy::infallible_destructuring_match, reason = "the feature `script` adds a variant")
    )]
    let staged = match staged {
        Ready::Library(staged) => staged,
        #[cfg(feature = "script")]
        Ready::Scripts(info, package) => {
            opened.push(scripts::open(core, info, package, id, generation));
            return Ok(());
        }
    };
    crash::module(generation.0, &staged.info.name, staged.path());
    let (info, library) = staged.map(note_parked).inspect_err(|_| {
        core.end_names(id);
        core.value_types.end_module(id);
    })?;
    let tag = ModuleTag { id, name: info.name.as_str().into(), generation };
    core.logs.introduce(&tag);
    core.world.slices.introduce(id.0, &tag.name);
    let codeless = Codeless {
        leases: Leases::new(format!("{} of generation {generation}", info.name)),
        info,
        tag: tag.clone(),
        logs: &core.logs,
        context: host_context.lasting(core, id, generation),
    };
    let whole = |module| admitted(core, module, tag);
    let ready = |module: &Rc<MasterModule>| {
        faults::at(ReloadStep::Attach)?;
        Ok(tables.check(module.name(), module.described().tables)?)
    };
    let (module, attached) = library.attach(codeless, whole, ready);
    opened.push(module);
    attached
}
