//! Reads the manifest of a library without mapping the library. No code of the library runs, not even its initializers.

use std::path::{Path, PathBuf};

use alcedo_abi::manifest::SECTION;
use alcedo_sys::{Demands, ImageError, ImageFile, PublicKey};

use crate::load::declared::{self, Declarations, Declared};
use crate::load::error::LoadError;
use crate::load::error::context::ContextError;
use crate::load::module::info::{ManifestInfo, ModuleInfo};
use crate::load::open;
use crate::load::paths::ensure_absolute;

impl ManifestInfo {
    /// Reads the manifest of a library file. Callable on any thread.
    ///
    /// # Errors
    /// Fails if the path is not absolute, if the file does not exist, or if the file is not a module for this host.
    pub fn peek(path: &Path) -> Result<Self, ContextError> {
        ensure_absolute(path, |path| ContextError::PathNotAbsolute { path })?;
        check(path, ImageFile::read(path)).map(|(_image, info)| Self::of(info))
    }

    /// Reads the manifest of a library in memory. Errors report `name` as the path of the library. Callable on any thread.
    ///
    /// # Errors
    /// Fails if the library is not a module that this host could map.
    pub fn peek_bytes(name: &str, bytes: &[u8]) -> Result<Self, ContextError> {
        let name = Path::new(name);
        check(name, ImageFile::from_bytes(name, bytes.to_vec())).map(|(_image, info)| Self::of(info))
    }

    /// Reads the manifest of a library in memory like [`ManifestInfo::peek_bytes`], if a key in `trusted` has signed the library. Without
    /// such a signature, the library is not parsed. Callable on any thread.
    ///
    /// # Errors
    /// Returns the errors of [`ManifestInfo::peek_bytes`]. Fails if no key in `trusted` has signed the library. Always fails if `trusted`
    /// is empty.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{ManifestInfo, SecretKey};
    ///
    /// let key = SecretKey::generate()?.public();
    /// let refused = ManifestInfo::peek_signed("libweather.so", b"unsigned", &[key]).unwrap_err();
    /// assert!(refused.to_string().contains("libweather.so has no signature"), "{refused}");
    /// # Ok::<(), alcedo_runtime::KeyError>(())
    /// ```
    pub fn peek_signed(name: &str, bytes: &[u8], trusted: &[PublicKey]) -> Result<Self, ContextError> {
        let name = Path::new(name);
        if trusted.is_empty() {
            let reason = "no key is trusted, so no signature can be checked: pass at least one key".to_owned();
            return Err(ContextError::BadImage { path: name.to_owned(), reason });
        }
        let demands = Demands { trusted: trusted.to_vec(), ..Demands::default() };
        check(name, ImageFile::from_bytes_for(name, bytes.to_vec(), &demands)).map(|(_image, info)| Self::of(info))
    }

    /// Reads the manifest and the declarations of a library file without running its code. The declarations are constants
    /// in the file. Callable on any thread.
    ///
    /// # Errors
    /// Returns the errors of [`ManifestInfo::peek`]. Fails if a declaration cannot be read.
    pub fn peek_declared(path: &Path) -> Result<(Self, Declared), ContextError> {
        Self::peek_declarations(path).map(|(info, found)| (info, found.declared()))
    }

    /// Reads the manifest and the declarations. The declarations have the internal types of the host. Functions have no bodies.
    pub(crate) fn peek_declarations(path: &Path) -> Result<(Self, Declarations), ContextError> {
        ensure_absolute(path, |path| ContextError::PathNotAbsolute { path })?;
        let (image, info) = check(path, ImageFile::read(path))?;
        let bad = |reason| ContextError::BadImage { path: path.to_owned(), reason };
        let declared = declared::of_file(&info.name, &image).map_err(bad)?;
        Ok((Self::of(info), declared))
    }
}

/// Checks a library that was read for a context. Returns the errors of [`ManifestInfo::peek`]. Returns an error if the file could not be
/// copied, or if the file does not satisfy the host's requirements.
pub(super) fn check(
    path: &Path,
    image: Result<ImageFile, ImageError>,
) -> Result<(ImageFile, ModuleInfo), ContextError> {
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
        // The host, its disk or a concurrent change causes these errors, not the content of the file.
        error @ (ImageError::NotTrusted { .. }
        | ImageError::TooLarge { .. }
        | ImageError::Copy { .. }
        | ImageError::StillWritten { .. }) => LoadError::from(error).into(),
        // Reports the missing manifest as the cause, because some intact libraries of the system fail the checks for modules.
        ImageError::Malformed { sections, .. }
            if !sections.is_empty() && !sections.iter().any(|name| name == SECTION) =>
        {
            let reason = LoadError::NoManifest { path: path.clone() }.to_string();
            ContextError::BadImage { path, reason }
        }
        error => ContextError::BadImage { path, reason: error.to_string() },
    }
}
