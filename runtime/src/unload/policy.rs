//! Policy of unloads. Decides when an unload counts as blocked, and when an unload is parked. Reads no clock.

use std::time::Duration;

use alcedo_sys::ReferenceSearch;

/// Settings for blocked unloads, and for resources that a module has not released.
///
/// # Examples
/// ```rust
/// use std::time::Duration;
///
/// use alcedo_runtime::{Runtime, UnloadPolicy};
///
/// /// Waits for old code as long as needed, and never parks it.
/// fn patient(policy: &mut UnloadPolicy) {
///     policy.grace = Duration::from_secs(1);
///     policy.park_after = None;
/// }
///
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// let runtime = Runtime::builder().unloads(patient).build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnloadPolicy {
    /// Maximum wait of the game thread for images to be unmapped, in [`Runtime::reload`](crate::Runtime::reload) and
    /// [`Runtime::unload_master`](crate::Runtime::unload_master). After this time, the unload counts as blocked and is polled at every safe
    /// point. An unload that waits for finalizers counts as blocked only if a single finalizer has run for this time. While finalizers make
    /// progress, an unload or a rollback waits for at most `shutdown`, because the exit hooks run after the finalizers. A committed reload
    /// waits for at most `grace`, because a later safe point can run the exit hooks. Default: 50 ms.
    pub grace: Duration,
    /// Time from the end of `grace` until a blocked context is parked. Progress of finalizers restarts this time. The images of a parked
    /// context stay mapped, and the report names the blockers. With `None` a context is never parked. Default: 10 s.
    pub park_after: Option<Duration>,
    /// Maximum number of parked images. If more images are parked, all further loads fail. Default: 64.
    pub parked_budget: usize,
    /// Maximum time that the host's shutdown waits for unloading contexts. An unload or a rollback waits at most this time for finalizers,
    /// and then runs the exit hooks. Default: 5 s.
    pub shutdown: Duration,
    /// Reaps unwaited child processes of an unloaded module. An ended process is reaped during the unload. A running process is reaped at
    /// the first safe point after its exit. By default the processes are only reported, and an exited process remains a zombie. Intended
    /// for hosts that do not wait for these processes.
    pub reap_children: bool,
    /// Set by [`UnloadPolicy::evict_after`].
    pub(crate) evict_after: Option<Duration>,
    /// Set by [`UnloadPolicy::close_fds`].
    pub(super) close_fds: bool,
    /// Frees the C heap blocks that a module has left. The host keeps the blocks if the module may have passed a block to a library. The
    /// host assumes this if the module dynamically links a library outside of the platform, or calls a function without a hook that moves
    /// or frees blocks of its caller, such as `argz_append`. Set this field to `false` if further code frees blocks of modules: code of the
    /// host, or a library that a module opens at run time. Default: true.
    pub free_c_heap: bool,
    /// Selects the modules whose unmapping requires a memory scan. The scan finds references to an image in the memory of the process,
    /// such as a callback that a library has stored. While a reference exists, the image stays mapped. A report states the location and the
    /// target of the reference. Default: modules that use system libraries. In [development](crate::Builder::development), the default is
    /// all modules.
    ///
    /// In a small host a scan took 0.3 to 0.5 ms. In a debug build, a scan took 0.8 s if variables of a library pointed to 100 MB on the C
    /// heap, in blocks of 1 kB. A scan stops after 64 MiB, 262,144 blocks or one second. The image then stays mapped, and a report states
    /// the exceeded limit. The scan does not follow pointers in variables of the host program, and follows few pointers in variables of the
    /// C library. An unrelated number that equals an address may keep an image mapped.
    pub search_references: ReferenceSearch,
}

impl Default for UnloadPolicy {
    fn default() -> Self {
        Self {
            grace: Duration::from_millis(50),
            park_after: Some(Duration::from_secs(10)),
            parked_budget: 64,
            shutdown: Duration::from_secs(5),
            reap_children: false,
            evict_after: None,
            close_fds: false,
            free_c_heap: true,
            search_references: ReferenceSearch::default(),
        }
    }
}

impl UnloadPolicy {
    /// Checks if an unload with this age must be parked.
    pub(crate) fn should_park(&self, age: Duration) -> bool {
        self.park_after.is_some_and(|after| age >= self.grace.saturating_add(after))
    }

    /// Checks if `parked` images exceed the budget for parked images.
    pub(crate) fn is_spent(&self, parked: usize) -> bool {
        parked > self.parked_budget
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::UnloadPolicy;

    #[test]
    fn a_context_is_parked_after_its_limit_and_never_without_one() {
        let policy = UnloadPolicy { grace: Duration::from_millis(50), ..UnloadPolicy::default() };
        let ages = [0, 49, 10_049, 10_050, 1_000_000].map(Duration::from_millis);
        assert_eq!(ages.map(|age| policy.should_park(age)), [false, false, false, true, true]);
        let patient = UnloadPolicy { park_after: None, ..policy };
        assert_eq!(ages.map(|age| patient.should_park(age)), [false; 5]);
    }

    #[test]
    fn a_budget_is_spent_by_one_image_more_than_it_allows() {
        let policy = UnloadPolicy { parked_budget: 2, ..UnloadPolicy::default() };
        assert_eq!([0, 1, 2, 3].map(|parked| policy.is_spent(parked)), [false, false, false, true]);
    }
}
