//! Counters of one runtime.

/// Counters since the runtime was built.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{Counters, Runtime};
///
/// let runtime = Runtime::builder().build()?;
/// let Counters { reloads, rollbacks, class_constructors_rerun, .. } = runtime.counters();
/// println!("{reloads} reloads, {rollbacks} rollbacks");
/// assert_eq!(class_constructors_rerun, 0);
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Counters {
    /// Objects alive now, without class default objects and their templates.
    pub objects: u64,
    /// Objects constructed.
    pub constructions: u64,
    /// Plugin parts built, during construction or a reload.
    pub conjugates_built: u64,
    /// Class constructors run on objects, without class default objects.
    pub class_constructors_run: u64,
    /// Class constructors that ran a second time on an object. Zero in a correct host.
    pub class_constructors_rerun: u64,
    /// Reloads that were committed.
    pub reloads: u64,
    /// Reloads that were rolled back.
    pub rollbacks: u64,
}
