//! Policies for ending images, and reports of endings.

use std::time::Duration;

/// Selects the images for which memory is searched for references before they are closed.
///
/// # Examples
/// ```
/// use alcedo_sys::ReferenceSearch;
///
/// assert_eq!(ReferenceSearch::default(), ReferenceSearch::WithLibraries);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum ReferenceSearch {
    /// No image.
    Never,
    /// Images that need or opened a library other than the host's and the C library: such a library may store addresses that it
    /// received, and bypasses the hooks.
    #[default]
    WithLibraries,
    /// Every image.
    Always,
}

/// Policy for ending an image.
#[derive(Clone, Copy, Debug)]
pub struct EndPolicy {
    /// Maximum total time that the first polls may sleep while a thread is about to exit.
    pub grace: Duration,
    /// Closes descriptors that the image left open.
    pub close_fds: bool,
    /// Frees blocks of the C heap that the image left. Wrong only for an image that passes ownership of blocks to a C library.
    pub free_c_heap: bool,
    /// Searches memory for references to the image before it is closed. The image stays while there are any, and the search is
    /// repeated. Costs some milliseconds; see [`SearchResult`](crate::SearchResult).
    pub search: ReferenceSearch,
    /// Time since the beginning after which threads in a blocking system call are forced out of it. Their stacks are abandoned
    /// without running destructors. `None` disables this.
    pub evict: Option<Duration>,
    /// Reaps child processes of the image as soon as they exit.
    pub reap_children: bool,
    /// Returns the used bytes of the module's own heap; called just before the image is closed.
    pub live_heap: Option<extern "C" fn() -> u64>,
}

impl Default for EndPolicy {
    fn default() -> Self {
        Self {
            grace: Duration::from_millis(50),
            close_fds: false,
            free_c_heap: true,
            search: ReferenceSearch::default(),
            evict: None,
            reap_children: false,
            live_heap: None,
        }
    }
}

/// Findings and actions of an ending.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct EndReport {
    /// Thread-local destructors of the image that ran during its whole lifetime.
    pub thread_locals_run: u64,
    /// Thread-local destructors that never run: their threads vanished, or they were registered too late.
    pub thread_locals_forgotten: u64,
    /// Exited threads that the host joined.
    pub threads_joined: u64,
    /// Threads that were forced out of a blocking call.
    pub threads_evicted: u64,
    /// Used bytes of the module's own heap at its end, if [`EndPolicy::live_heap`] is set.
    pub leaked_heap_bytes: u64,
    /// Bytes of the regions of the module's own heap, now unmapped.
    pub heap_bytes: u64,
    /// Leaked bytes on the C heap, now freed.
    pub c_heap_bytes: u64,
    /// Leaked blocks on the C heap, now freed.
    pub c_heap_blocks: u64,
    /// Leaked bytes on the C heap that are kept, because other code may own them now.
    pub c_heap_kept_bytes: u64,
    /// Leaked blocks on the C heap that are kept.
    pub c_heap_kept_blocks: u64,
    /// Unwind tables left registered, now removed.
    pub frames: u64,
    /// Variables of the C library and environment strings that referred to the image or its memory, now redirected to a copy or
    /// restored.
    pub addresses: u64,
    /// Signal sources set without the hooks, and changed limits, each with its outcome.
    pub put_back: Vec<String>,
    /// Number of memory searches.
    pub searches: u64,
    /// Total time of the memory searches.
    pub search_time: Duration,
    /// Bytes left mapped, now unmapped.
    pub maps_bytes: u64,
    /// Keys for thread-specific values left allocated, now deleted.
    pub keys: u64,
    /// Signals whose handling was restored.
    pub signals: u64,
    /// Exit handlers that ran.
    pub exit_handlers: u64,
    /// Descriptors left open, each with its target.
    pub fds_left: Vec<(i32, String)>,
    /// Descriptors of the image that were closed.
    pub fds_closed: Vec<(i32, String)>,
    /// Descriptors opened since the image was mapped without a report of a hook: opened by direct system calls of the image, or by
    /// the host.
    pub fds_unknown: Vec<(i32, String)>,
    /// Mappings created since the image was mapped without a report of a hook, and referenced by the image's memory at its end:
    /// created by direct system calls of the image, or by the host. They are kept.
    pub maps_unknown: u64,
    /// Bytes of [`EndReport::maps_unknown`].
    pub maps_unknown_bytes: u64,
    /// Child processes of the image that were not waited for, each with a description.
    pub children_left: Vec<(i32, String)>,
    /// Exited child processes, now reaped.
    pub children_reaped: u64,
    /// Duration of the ending.
    pub elapsed: Duration,
}
