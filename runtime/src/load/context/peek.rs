//! What a library says of itself, read without mapping it: no code of it runs, not even an initialiser.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use alcedo_sys::{ImageError, ImageFile, StageDir};

use crate::load::context::error::ContextError;
use crate::load::declared::{self, Declared};
use crate::load::error::LoadError;
use crate::load::module::info::ModuleInfo;
use crate::load::open;
use crate::load::paths::ensure_absolute;

/// A module that another needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dependency {
    /// Its name.
    pub name: String,
    /// The versions that will do.
    pub versions: semver::VersionReq,
}

/// What the manifest section of a module says, and what else its file shows.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ManifestInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: semver::Version,
    /// Differs between builds that differ.
    pub build_id: u128,
    /// The compiler that made it.
    pub compiler: String,
    /// The number of the border it speaks.
    pub abi: u32,
    /// The oldest and the newest host API it can live with.
    pub api: RangeInclusive<u32>,
    /// The modules it needs.
    pub dependencies: Vec<Dependency>,
    /// Paths of the types it declares.
    pub types: Vec<String>,
    /// Those of them that are classes: a module with any is for the Master.
    pub classes: Vec<String>,
    /// Whether the file carries a seal, which then fits.
    pub sealed: bool,
    /// Why its image would stay mapped after an unload, when that is known beforehand.
    pub will_park: Option<String>,
}

impl ManifestInfo {
    /// Reads the manifest of a library file. Any thread.
    ///
    /// # Errors
    /// When the path is not absolute, there is no file, or it is no module that this host could map.
    pub fn peek(path: &Path) -> Result<Self, ContextError> {
        ensure_absolute(path, |path| ContextError::PathNotAbsolute { path })?;
        check(path, ImageFile::read(path)).map(|(_image, info)| Self::of(info))
    }

    /// Reads the manifest of a library that is in memory; `name` stands for its path in errors. Any thread.
    ///
    /// # Errors
    /// When it is no module that this host could map.
    pub fn peek_bytes(name: &str, bytes: &[u8]) -> Result<Self, ContextError> {
        let name = Path::new(name);
        check(name, ImageFile::from_bytes(name, bytes.to_vec())).map(|(_image, info)| Self::of(info))
    }

    /// Reads the manifest of a library file, and from its constants what it declares: no code of it runs. Any thread.
    ///
    /// # Errors
    /// As [`ManifestInfo::peek`], and when a description cannot be read.
    pub fn peek_declared(path: &Path) -> Result<(Self, Declared), ContextError> {
        ensure_absolute(path, |path| ContextError::PathNotAbsolute { path })?;
        let (image, info) = check(path, ImageFile::read(path))?;
        let bad = |reason| ContextError::BadImage { path: path.to_owned(), reason };
        let declared = declared::of_file(&info.name, &image).map_err(bad)?;
        Ok((Self::of(info), declared))
    }

    fn of(info: ModuleInfo) -> Self {
        Self {
            will_park: info.will_park(),
            name: info.name,
            version: info.version,
            build_id: info.build_id,
            compiler: info.compiler,
            abi: alcedo_abi::ABI_NUMBER,
            api: info.api.0..=info.api.1,
            dependencies: info.dependencies.into_iter().map(|(name, versions)| Dependency { name, versions }).collect(),
            types: info.types,
            classes: info.classes,
            sealed: info.is_sealed,
        }
    }
}

/// Copies a file for a context and checks the copy.
///
/// # Errors
/// As [`ManifestInfo::peek`], and when it cannot be copied or is not what the host demands.
pub(super) fn read_copy(path: &Path, dir: &StageDir) -> Result<(ImageFile, ModuleInfo), ContextError> {
    ensure_absolute(path, |path| ContextError::PathNotAbsolute { path })?;
    check(path, ImageFile::read_copy(path, dir))
}

/// Writes bytes into a copy for a context and checks that.
///
/// # Errors
/// As [`read_copy`].
pub(super) fn copy_bytes(name: &Path, bytes: &[u8], dir: &StageDir) -> Result<(ImageFile, ModuleInfo), ContextError> {
    check(name, ImageFile::copy_bytes(name, bytes, dir))
}

fn check(path: &Path, image: Result<ImageFile, ImageError>) -> Result<(ImageFile, ModuleInfo), ContextError> {
    let image = image.map_err(|error| of_image(path, error))?;
    match open::admit_image(&image, path, false) {
        Ok(info) => Ok((image, info)),
        Err(error @ (LoadError::NoManifest { .. } | LoadError::Manifest { .. })) => {
            Err(ContextError::BadImage { path: path.to_owned(), reason: error.to_string() })
        }
        Err(error) => Err(error.into()),
    }
}

fn of_image(path: &Path, error: ImageError) -> ContextError {
    let path: PathBuf = path.to_owned();
    match error {
        ImageError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => ContextError::NoFile { path },
        // About the host, its disk or the moment, and not about what the file is.
        error @ (ImageError::NotTrusted { .. }
        | ImageError::TooLarge { .. }
        | ImageError::Copy { .. }
        | ImageError::StillWritten { .. }) => LoadError::from(error).into(),
        error => ContextError::BadImage { path, reason: error.to_string() },
    }
}
