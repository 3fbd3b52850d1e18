//! Reads the build ids of the running modules. A tool reports new code as live only after the code itself has returned the id of its
//! build.

use std::collections::BTreeMap;

use crate::runtime::Runtime;

/// Calls each module of the Master to get the id of its build. Returns the ids by module name, as 32 hexadecimal digits. Omits modules
/// that accept no calls. A tool compares the ids with the manifests of the files that it requested to load.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
/// use alcedo_runtime::development::running_builds;
///
/// // No Master is loaded.
/// assert!(running_builds(&Runtime::builder().build()?).is_empty());
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
pub fn running_builds(runtime: &Runtime) -> BTreeMap<String, String> {
    let modules = runtime.modules().into_iter();
    modules.filter_map(|module| Some((module.name, format!("{:032x}", module.build_id?)))).collect()
}
