//! Counters by which a host or a test observes the events in one runtime.

/// Event counts since the runtime was built, and the number of live objects.
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
    /// Live objects, without class default objects and their templates.
    pub objects: u64,
    /// Constructed objects.
    pub constructions: u64,
    /// Plugin parts that constructions and reloads have built.
    pub conjugates_built: u64,
    /// Runs of class constructors on instances. Runs on class default objects are not counted.
    pub class_constructors_run: u64,
    /// Class constructors that ran twice on an object. Nonzero only if the runtime has a defect.
    pub class_constructors_rerun: u64,
    /// Reloads that were committed.
    pub reloads: u64,
    /// Reloads that were rolled back.
    pub rollbacks: u64,
}
