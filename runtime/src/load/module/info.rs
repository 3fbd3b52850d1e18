//! Manifests of modules, readable before a module is loaded. The manifest of a library is stored in a section of the file.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use alcedo_abi::permissions::Permission;
use alcedo_sys::{Demands, ImageFile, Use, plain_file};

use crate::load::order::titled;
use crate::load::park_reason::{self, ParkReason};
use crate::load::permissions::{self, Declaration, PermissionPolicy};

/// Manifest of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModuleInfo {
    pub name: String,
    pub version: semver::Version,
    pub dependencies: Vec<(String, semver::VersionReq)>,
    /// Id of the build. Different builds have different ids.
    pub build_id: u128,
    pub compiler: String,
    pub digest: alcedo_sys::Digest,
    /// Source file. `None` if the module was loaded from memory or from a reader.
    pub origin: Option<PathBuf>,
    pub is_scripts: bool,
    pub is_sealed: bool,
    /// Oldest and newest host API that the module supports.
    pub api: (u32, u32),
    pub types: Vec<String>,
    pub classes: Vec<String>,
    /// Reason why the image must stay mapped, if any.
    pub park_reason: Option<ParkReason>,
    /// C functions that the module defines itself instead of using the hooks for them. No hook records calls to these functions.
    pub unhooked: Vec<String>,
    /// Reason why the host must not free the C heap blocks that the module leaves. `None` if no library can still use or free these blocks.
    pub c_heap_shared: Option<String>,
    pub permissions: Declaration,
}

impl ModuleInfo {
    /// Returns name, version and build. Used in errors about two builds with equal names and versions.
    pub(crate) fn title(&self) -> String {
        titled(&self.name, &self.version, self.build_id)
    }

    /// Checks if the source file now contains a different library. Returns `false` for a file that cannot be read or is incomplete, and for
    /// a module without a library file.
    pub(crate) fn has_changed_file(&self, demands: &Demands) -> bool {
        let Some(path) = self.origin.as_deref().filter(|_| !self.is_scripts) else { return false };
        let bytes = plain_file::read(path, demands.largest).ok();
        let image = bytes.and_then(|bytes| ImageFile::from_bytes_for(path, bytes, demands).ok());
        image.is_some_and(|image| image.digest() != self.digest)
    }

    /// Returns the reason why the image must stay mapped, if any.
    pub(crate) fn will_park(&self) -> Option<String> {
        self.park_reason.as_ref().map(ParkReason::message)
    }

    /// Returns the warnings about the file and about the noted `uses`. Messages print each warning after the name of the module.
    pub(crate) fn warnings(&self, policy: PermissionPolicy, uses: &[Use]) -> Vec<String> {
        let parks = self.will_park().map(|reason| format!("will stay mapped permanently: {reason}"));
        let permissions = permissions::warnings(policy, &self.permissions, uses);
        parks.into_iter().chain(park_reason::of_unhooked(&self.unhooked)).chain(permissions).collect()
    }
}

/// Manifest of a module, with results of checks on its file.
///
/// # Examples
/// ```rust,no_run
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// use std::path::Path;
///
/// use alcedo_runtime::ManifestInfo;
///
/// let info = ManifestInfo::peek(Path::new("/opt/game/plugins/libweather.so"))?;
/// println!("{} {} by {}", info.name, info.version, info.compiler);
/// for (module, versions) in &info.dependencies {
///     println!("  needs {module} {versions}");
/// }
/// if let Some(reason) = &info.will_park {
///     println!("  stays mapped after its unload: {reason}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ManifestInfo {
    /// Name of the module.
    pub name: String,
    /// Version of the module.
    pub version: semver::Version,
    /// Id of the build. Different builds have different ids.
    pub build_id: u128,
    /// Compiler that built the module.
    pub compiler: String,
    /// ABI number of the module.
    pub abi: u32,
    /// Oldest and newest host API that the module supports.
    pub api: RangeInclusive<u32>,
    /// Modules that this module requires, with the accepted versions.
    pub dependencies: Vec<(String, semver::VersionReq)>,
    /// Paths of the types that the module declares.
    pub types: Vec<String>,
    /// Paths of the classes that the module declares. A module with classes requires the Master.
    pub classes: Vec<String>,
    /// Set if the file has a valid seal.
    pub sealed: bool,
    /// Reason why the image would stay mapped after an unload. `None` if the file contains no such reason.
    pub will_park: Option<String>,
    /// Permissions that the module declares. `None` if its `module!` has no `permissions`. The host then checks no permissions.
    pub permissions: Option<Vec<Permission>>,
}

impl ManifestInfo {
    pub(crate) fn of(info: ModuleInfo) -> Self {
        Self {
            will_park: info.will_park(),
            name: info.name,
            version: info.version,
            build_id: info.build_id,
            compiler: info.compiler,
            abi: alcedo_abi::ABI_NUMBER,
            api: info.api.0..=info.api.1,
            dependencies: info.dependencies,
            types: info.types,
            classes: info.classes,
            sealed: info.is_sealed,
            permissions: info.permissions.permissions().map(|declared| declared.iter().collect()),
        }
    }
}
