//! Policies for ending images, and reports of endings.

use std::time::Duration;

/// Selects the images that require a memory search before they are closed. The search finds references to the image.
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
    /// Images that need or opened further libraries, in addition to the C library and the libraries of the host. A further library may
    /// store addresses of the image without calling the hooks.
    #[default]
    WithLibraries,
    /// Every image.
    Always,
}

/// Policy for ending an image.
#[derive(Clone, Copy, Debug)]
pub struct EndPolicy {
    /// Maximum total time that the first polls sleep while a thread of the image is about to exit.
    pub grace: Duration,
    /// Closes descriptors that the image left open.
    pub close_fds: bool,
    /// Frees the C heap blocks that the image leaked. Set to `false` only for an image that passes ownership of blocks to a C library.
    pub free_c_heap: bool,
    /// Searches memory for references to the image before the image is closed. While a reference exists, the image stays mapped and the
    /// search is repeated. A search takes several milliseconds. See [`SearchResult`](crate::SearchResult).
    pub search: ReferenceSearch,
    /// Time from the start of the ending to the eviction. The eviction forces the threads of the image out of blocking system calls. The
    /// destructors of values on the stacks of these threads do not run. `None` disables the eviction.
    pub evict: Option<Duration>,
    /// Reaps child processes of the image as soon as they exit.
    pub reap_children: bool,
    /// Returns the used bytes of the module's own heap. Called directly before the image is closed.
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
    /// Number of thread-local destructors of the image that have run since the image was mapped.
    pub thread_locals_run: u64,
    /// Number of thread-local destructors that cannot run: their thread vanished, or the image registered them too late.
    pub thread_locals_forgotten: u64,
    /// Number of exited threads that the host joined.
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
    /// Number of unwind tables that the image left registered. The ending removed these tables.
    pub frames: u64,
    /// Number of repaired references to the image or its memory, in variables of the C library and in environment strings. Each reference
    /// was redirected to a copy, or its previous target was restored.
    pub addresses: u64,
    /// Descriptions of changed limits, and of signal sources that were set without the hooks. Each description contains the action of the
    /// host.
    pub put_back: Vec<String>,
    /// Number of memory searches.
    pub searches: u64,
    /// Total time of the memory searches.
    pub search_time: Duration,
    /// Bytes in the memory mappings that the image left. The ending unmapped these mappings.
    pub maps_bytes: u64,
    /// Number of keys for thread-specific values that the image did not delete. The ending deleted these keys.
    pub keys: u64,
    /// Number of signals whose previous handling was restored.
    pub signals: u64,
    /// Number of exit handlers that ran.
    pub exit_handlers: u64,
    /// Descriptors that the image left open, each with its target.
    pub fds_left: Vec<(i32, String)>,
    /// Descriptors of the image that the ending closed, each with its target.
    pub fds_closed: Vec<(i32, String)>,
    /// Unreported descriptors that were opened after the image was mapped. Direct system calls of the image, or code of the host, opened
    /// these descriptors.
    pub fds_unknown: Vec<(i32, String)>,
    /// Number of unreported memory mappings. No hook has reported these mappings, but memory of the image refers to the mappings at the end
    /// of the image. Direct system calls of the image, or code of the host, created these mappings after the image was mapped. The mappings
    /// are not unmapped.
    pub maps_unknown: u64,
    /// Bytes in the mappings of [`EndReport::maps_unknown`].
    pub maps_unknown_bytes: u64,
    /// Child processes of the image that no code waited for, each with a description.
    pub children_left: Vec<(i32, String)>,
    /// Number of exited child processes that were reaped.
    pub children_reaped: u64,
    /// Duration of the ending.
    pub elapsed: Duration,
}
