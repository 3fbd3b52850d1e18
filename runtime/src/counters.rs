//! Numbers of one runtime, counted where the things happen.

/// Numbers since the runtime was built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counters {
    /// Objects that live now, class default objects and their templates not counted.
    pub objects: u64,
    /// Objects born.
    pub constructions: u64,
    /// Plugin parts built, in its construction or in a reload.
    pub conjugates_built: u64,
    /// Class constructors that ran on objects, class default objects not counted.
    pub class_constructors_run: u64,
    /// Class constructors that ran on an object that had run them before. Zero in a sound host.
    pub class_constructors_rerun: u64,
    /// Reloads that were committed.
    pub reloads: u64,
    /// Reloads that were rolled back.
    pub rollbacks: u64,
}
