//! Policies for ending images, and reports about ended images.

use std::time::Duration;

/// Selects the images for which memory is searched for references before the image is closed.
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
    /// Images that need or have opened a library other than the C library and the libraries of the host. Such a library may store addresses
    /// of the image without calling the hooks.
    #[default]
    WithLibraries,
    /// Every image.
    Always,
}

/// Policy for ending an image.
#[derive(Clone, Copy, Debug)]
pub struct EndPolicy {
    /// Closes descriptors that the image left open.
    pub close_fds: bool,
    /// Frees the C heap blocks that the image leaked. Set to `false` only for an image that passes ownership of blocks to a library.
    pub free_c_heap: bool,
    /// Searches memory for references to the image before the image is closed. While a reference exists, the image stays mapped and the
    /// search is repeated. A search takes several milliseconds. See [`SearchResult`](crate::SearchResult).
    pub search: ReferenceSearch,
    /// Time from the start of the ending to the eviction, which forces threads of the image out of blocking system calls. The destructors
    /// of values on the stacks of these threads do not run. `None` disables the eviction.
    pub evict: Option<Duration>,
    /// Reaps child processes of the image as soon as they exit.
    pub reap_children: bool,
    /// Returns the used bytes of the image's own heap. Called directly before the image is closed.
    pub live_heap: Option<extern "C" fn() -> u64>,
}

impl Default for EndPolicy {
    fn default() -> Self {
        Self {
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
    /// Number of thread-local destructors that can no longer run: their thread vanished, or the image registered them too late.
    pub thread_locals_forgotten: u64,
    /// Number of exited threads that the host joined.
    pub threads_joined: u64,
    /// Number of threads that were forced out of a blocking call.
    pub threads_evicted: u64,
    /// Used bytes of the image's own heap directly before the image was closed, if [`EndPolicy::live_heap`] is set.
    pub leaked_heap_bytes: u64,
    /// Bytes of the image's own heap that were unmapped.
    pub heap_bytes: u64,
    /// Bytes of the leaked C heap blocks that were freed.
    pub c_heap_bytes: u64,
    /// Number of leaked C heap blocks that were freed.
    pub c_heap_blocks: u64,
    /// Bytes of the leaked C heap blocks that were not freed, because other code may own these blocks now.
    pub c_heap_kept_bytes: u64,
    /// Number of leaked C heap blocks that were not freed.
    pub c_heap_kept_blocks: u64,
    /// Number of unwind tables that the image left registered. They were deregistered before the image was unmapped.
    pub frames: u64,
    /// Number of repaired references to the image or its memory in variables of the C library and in environment strings. Each reference
    /// was redirected to a copy of its target, or the previous value was restored.
    pub addresses: u64,
    /// Descriptions of process limits that the image changed, and of signal sources that it set without the hooks. Each description states
    /// the action of the host.
    pub put_back: Vec<String>,
    /// Number of memory scans.
    pub searches: u64,
    /// Total time of the memory scans.
    pub search_time: Duration,
    /// Bytes in memory mappings that the image left and the ending unmapped.
    pub maps_bytes: u64,
    /// Number of keys for thread-specific values that the image left and the ending deleted.
    pub keys: u64,
    /// Number of signals whose previous handling was restored.
    pub signals: u64,
    /// Number of exit handlers of the image that the ending ran.
    pub exit_handlers: u64,
    /// Descriptors that the image left open, each with its target.
    pub fds_left: Vec<(i32, String)>,
    /// Descriptors of the image that the ending closed, each with its target.
    pub fds_closed: Vec<(i32, String)>,
    /// Descriptors that were opened after the image was mapped and that no hook reported. Either the image opened them with direct system
    /// calls, or code of the host opened them.
    pub fds_unknown: Vec<(i32, String)>,
    /// Number of memory mappings that no hook reported, but that memory of the image refers to when the image ends. Either the image
    /// created them with direct system calls, or code of the host created them after the image was mapped. These mappings stay mapped.
    pub maps_unknown: u64,
    /// Bytes in the mappings of [`EndReport::maps_unknown`].
    pub maps_unknown_bytes: u64,
    /// Child processes of the image that no code has waited for, each with a description.
    pub children_left: Vec<(i32, String)>,
    /// Number of exited child processes that were reaped.
    pub children_reaped: u64,
    /// Duration of the ending.
    pub elapsed: Duration,
}
