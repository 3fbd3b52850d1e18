//! From a file to a module: read, check, copy, map, check the layout, attach. What can be refused is refused before
//! the step after; nothing of the file runs before the third.
#![expect(unsafe_code, reason = "maps a library and calls the first function of its root module")]

use std::path::{Path, PathBuf};
use std::rc::Rc;

use abi_stable::StableAbi as _;
use abi_stable::abi_stability::abi_checking::{CheckingGlobals, check_layout_compatibility_with_globals};
use abi_stable::library::{AbiHeaderRef, LibHeader};
use alcedo_abi::abi_stable;
use alcedo_abi::host::ModuleContext;
use alcedo_abi::manifest::{self, Manifest};
use alcedo_abi::module::{ModuleRef, ROOT_SYMBOL};
use alcedo_sys::{Image, ImageFile, StageDir, StagedFile};

use crate::border::from_module;
use crate::bridge::core::Core;
use crate::conjugate::gate::{Gate, ModuleTag};
use crate::handles::{Generation, ModuleId};
use crate::host_table::{self, HostWord};
use crate::load::checks::{HostFacts, admit};
use crate::load::error::LoadError;
use crate::load::module::{Module, ModuleInfo};
use crate::load::order::{OrderInput, order};

/// A library that passed every check that needs no mapping, and its private copy.
pub(crate) struct Staged {
    /// What it says of itself.
    pub info: ModuleInfo,
    file: StagedFile,
}

/// Reads and checks a library without running any of it.
///
/// # Errors
/// What does not fit, with both sides' facts.
pub(crate) fn inspect(path: &Path, require_seal: bool) -> Result<(ImageFile, ModuleInfo), LoadError> {
    let image = ImageFile::read(path)?;
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
    let types = manifest::read_types(image.section(manifest::TYPES_SECTION).unwrap_or_default()).map_err(damaged)?;
    let info = ModuleInfo {
        name: manifest.name.to_owned(),
        version: version(&manifest)?,
        dependencies: dependencies(&manifest)?,
        build_id: manifest.build_id,
        compiler: manifest.compiler.to_owned(),
        digest: image.digest(),
        is_sealed: image.is_sealed(),
        types: types.map(|(_kind, path)| path.to_owned()).collect(),
    };
    Ok((image, info))
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

/// Reads, checks, orders by dependency and copies a set of libraries.
///
/// # Errors
/// The first that does not fit; nothing was mapped then.
pub(crate) fn stage(dir: &StageDir, paths: &[PathBuf], require_seal: bool) -> Result<Vec<Staged>, LoadError> {
    let mut read = Vec::new();
    for path in paths {
        read.push(inspect(path, require_seal)?);
    }
    let inputs: Vec<_> = read
        .iter()
        .map(|(_, info)| OrderInput {
            name: info.name.clone(),
            version: info.version.clone(),
            dependencies: info.dependencies.clone(),
        })
        .collect();
    let mut read: Vec<_> = read.into_iter().map(Some).collect();
    let mut staged = Vec::new();
    for at in order(&inputs)? {
        let Some((image, info)) = read[at].take() else { continue };
        let file = dir.stage(&image, &info.name)?;
        staged.push(Staged { info, file });
    }
    Ok(staged)
}

/// Maps a staged library, checks its root module and attaches it.
///
/// # Errors
/// When the linker refuses it, its layout differs, or it does not take its host. The image is unmapped then.
pub(crate) fn open(
    core: &Core,
    word: &HostWord,
    staged: Staged,
    id: ModuleId,
    generation: Generation,
) -> Result<Rc<Module>, LoadError> {
    let Staged { info, file } = staged;
    // SAFETY: the file's manifest section was read and admitted, so it is a module; its initialisers are the
    // author's and run here, on the game thread.
    let image = unsafe { Image::map(file) }?;
    let root = match root_of(&image, &info.name) {
        Ok(root) => root,
        Err(error) => {
            // SAFETY: nothing of the image is kept: the error's texts are copies.
            let _gone = unsafe { image.unmap() };
            return Err(error);
        }
    };
    let tag = ModuleTag { id, name: info.name.as_str().into(), generation };
    core.logs.introduce(&tag);
    let context = ModuleContext {
        host: word.to_ref(),
        table: host_table::table(),
        module: id.0,
        generation: generation.0,
        mode: core.world.mode.address(),
        level: crate::logs::loudest(),
    };
    let module = Module::new(info, Gate::new(tag), root, image);
    // SAFETY: the context's word, table and mode live as long as the runtime, which outlives the module.
    let attached = from_module(|failure| unsafe { module.root().attach()(&context, failure) });
    match attached {
        Ok(()) => Ok(module),
        Err(error) => {
            core.logs.forget(module.gate().tag());
            // SAFETY: the module never ran: it declared nothing and nobody holds anything of it.
            let _gone = unsafe { module.unmap() };
            Err(LoadError::Attach { module: module.name().to_owned(), error })
        }
    }
}

/// The root module of an image, after its layout was compared with throw-away globals: the checker's own cache would
/// keep pointers into images that are long gone.
fn root_of(image: &Image, module: &str) -> Result<ModuleRef, LoadError> {
    let differs = |difference: String| LoadError::RootModule { module: module.to_owned(), difference };
    // SAFETY: the symbol is the header that the `module!` macro exports; its magic is tested by `upgrade`.
    let header = unsafe { image.symbol::<AbiHeaderRef>(ROOT_SYMBOL) }?;
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
