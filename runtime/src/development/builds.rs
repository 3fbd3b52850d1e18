//! Reads the build ids of the running modules. `alcedo dev` reports that new code is live only after this code has returned its build id.

use std::collections::BTreeMap;

use crate::runtime::Runtime;

/// Calls each module of the Master to read its build id. Returns the ids by module name, as 32 hexadecimal digits. Omits modules that
/// accept no calls. `alcedo dev` compares the returned ids with the ids in the manifests of the requested libraries.
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
