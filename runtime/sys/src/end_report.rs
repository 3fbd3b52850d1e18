//! How images are released, and what an ending has found and done.

use std::time::Duration;

/// Of which images memory is looked through, before they are closed, for what still leads into them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum ReferenceSearch {
    /// Of none.
    Never,
    /// Of those that need, or have opened, a library that is neither the host's nor the C library: it may keep what it was
    /// handed, and nothing of that goes through the hooks.
    #[default]
    WithLibraries,
    /// Of all.
    Always,
}

/// How an image is released.
#[derive(Clone, Copy, Debug)]
pub struct EndPolicy {
    /// How long the first looks together may sleep because a thread is about to leave by itself.
    pub grace: Duration,
    /// Whether descriptors that the image has left open are closed.
    pub close_fds: bool,
    /// Whether blocks of the C heap that the image has left are freed. Wrong only for an image that gives blocks away
    /// to a C library which frees them itself.
    pub free_c_heap: bool,
    /// Whether memory is looked through, before the image is closed, for what still leads into it. It stays as long as
    /// something does, and is looked for again. Costs some milliseconds; see [`Look`](crate::Look).
    pub look: ReferenceSearch,
    /// After how long, counted from the beginning, threads that sit in a blocking system call are led out of it by
    /// force. Their stacks are left as they are: no destructor of a value on them runs. `None`: never.
    pub evict: Option<Duration>,
    /// Whether processes that the image has started and that were not waited for are waited for as soon as they end.
    pub reap_children: bool,
    /// Returns how many bytes of the module's own heap are in use; called just before the image is closed.
    pub live_heap: Option<extern "C" fn() -> u64>,
}

impl Default for EndPolicy {
    fn default() -> Self {
        Self {
            grace: Duration::from_millis(50),
            close_fds: false,
            free_c_heap: true,
            look: ReferenceSearch::default(),
            evict: None,
            reap_children: false,
            live_heap: None,
        }
    }
}

/// What an ending has found and done.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct EndReport {
    /// Thread-local destructors of the image that have run in all its life.
    pub thread_locals_run: u64,
    /// Those that never will: their threads have vanished, or they came too late.
    pub thread_locals_forgotten: u64,
    /// Threads that had ended without being joined; the host joined them.
    pub threads_joined: u64,
    /// Threads that were led out of a blocking call.
    pub threads_evicted: u64,
    /// Bytes of the module's own heap that were still in use, if [`EndPolicy::live_heap`] was given.
    pub leaked_heap_bytes: u64,
    /// Bytes of the regions of the module's own heap, which are unmapped.
    pub heap_bytes: u64,
    /// Bytes left on the C heap, which are freed.
    pub c_heap_bytes: u64,
    /// Blocks left on the C heap, which are freed.
    pub c_heap_blocks: u64,
    /// Bytes left on the C heap that stay: they may belong to other code by now.
    pub c_heap_kept_bytes: u64,
    /// Blocks left on the C heap that stay.
    pub c_heap_kept_blocks: u64,
    /// Unwind tables that were left with the unwinder, and are taken back.
    pub frames: u64,
    /// Variables of the C library and strings of the environment that led into the image or its memory, and lead to a copy
    /// or to what they led to before.
    pub addresses: u64,
    /// What raises signals and was set past the hooks, or is a limit: each with what became of it, in words.
    pub put_back: Vec<String>,
    /// How often memory was looked through.
    pub looks: u64,
    /// How long that took in all.
    pub look_took: Duration,
    /// Bytes left mapped, which are unmapped.
    pub maps_bytes: u64,
    /// Keys for thread-specific values that were left, and are deleted.
    pub keys: u64,
    /// Signals whose handling was taken back.
    pub signals: u64,
    /// Exit handlers that have run.
    pub exit_handlers: u64,
    /// Descriptors left open, each with what it leads to.
    pub fds_left: Vec<(i32, String)>,
    /// Descriptors of the image that were closed.
    pub fds_closed: Vec<(i32, String)>,
    /// Descriptors that were not open when the image was mapped and that no hook has reported: the image has made them
    /// with system calls of its own, or the host has opened them meanwhile.
    pub fds_unknown: Vec<(i32, String)>,
    /// Mappings that were not there before the image, that its memory led to at the end, and that no hook has reported:
    /// the image has made them with system calls of its own, or the host has made them meanwhile. They stay.
    pub maps_unknown: u64,
    /// Their bytes.
    pub maps_unknown_bytes: u64,
    /// Processes that the image has started and that were not waited for, each with what is known of it.
    pub children_left: Vec<(i32, String)>,
    /// Those that had ended and were waited for now.
    pub children_reaped: u64,
    /// From the beginning to the end.
    pub took: Duration,
}
