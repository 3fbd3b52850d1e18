//! Policies for ending images, and reports of endings.

use std::time::Duration;

/// Selects the images that are closed only after a search of memory for references to them.
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
    /// Images that need or opened a library other than the C library and the libraries of the host. A library of this kind may store
    /// addresses of the image, and bypasses the hooks.
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
    /// Frees blocks of the C heap that the image left. Disable this only for an image that passes ownership of blocks to a C library.
    pub free_c_heap: bool,
    /// Searches memory for references to the image before it is closed. While a reference exists, the image stays mapped and the search is
    /// repeated. A search takes several milliseconds; see [`SearchResult`](crate::SearchResult).
    pub search: ReferenceSearch,
    /// Time after the start of the ending after which threads are forced out of blocking system calls. The stacks of these threads are
    /// abandoned without running destructors. `None` disables the eviction.
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
    /// Unmapped bytes of the module's own heap.
    pub heap_bytes: u64,
    /// Bytes of the leaked C heap blocks that were freed.
    pub c_heap_bytes: u64,
    /// Number of leaked C heap blocks that were freed.
    pub c_heap_blocks: u64,
    /// Bytes of the leaked C heap blocks that were kept, because other code may own these blocks now.
    pub c_heap_kept_bytes: u64,
    /// Number of leaked C heap blocks that were kept.
    pub c_heap_kept_blocks: u64,
    /// Number of unwind tables that the image left registered and that were removed.
    pub frames: u64,
    /// Number of variables of the C library and environment strings that referred to the image or its memory. Each variable or string was
    /// redirected to a copy or restored.
    pub addresses: u64,
    /// Signal sources that were set without the hooks, and changed limits. Each description contains the outcome.
    pub put_back: Vec<String>,
    /// Number of memory searches.
    pub searches: u64,
    /// Total time of the memory searches.
    pub search_time: Duration,
    /// Bytes that the image left mapped and that were unmapped.
    pub maps_bytes: u64,
    /// Number of keys for thread-specific values that the image left allocated and that were deleted.
    pub keys: u64,
    /// Signals whose handling was restored.
    pub signals: u64,
    /// Exit handlers that ran.
    pub exit_handlers: u64,
    /// Descriptors left open, each with its target.
    pub fds_left: Vec<(i32, String)>,
    /// Descriptors of the image that were closed.
    pub fds_closed: Vec<(i32, String)>,
    /// Descriptors that were opened since the image was mapped, but not reported by a hook. Direct system calls of the image, or code of
    /// the host, opened these descriptors.
    pub fds_unknown: Vec<(i32, String)>,
    /// Mappings that were created since the image was mapped, but not reported by a hook, and that the image's memory references at its
    /// end. Direct system calls of the image, or code of the host, created these mappings. The mappings stay mapped.
    pub maps_unknown: u64,
    /// Bytes of [`EndReport::maps_unknown`].
    pub maps_unknown_bytes: u64,
    /// Child processes of the image that no code waited for, each with a description.
    pub children_left: Vec<(i32, String)>,
    /// Number of exited child processes that were reaped.
    pub children_reaped: u64,
    /// Duration of the ending.
    pub elapsed: Duration,
}
