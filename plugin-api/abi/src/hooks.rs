//! What a module's own copies of some C functions hand to its host: thread-locals, threads, memory, signals, exit
//! handlers. A module carries hidden definitions of these functions, so its standard library binds to them instead of
//! the platform's, and nothing that it leaves behind is unknown when it has to go.
//!
//! The host writes the address of a [`HookContext`] into the section [`SECTION`] of its private copy of the file,
//! before that is mapped: so the very first initialiser already runs under the hooks. A module that was not written to
//! (a plugin's own tests, a foreign loader) finds null there and falls through to the platform.
//!
//! All functions may be called on any thread, also inside the allocator, and never unwind. `image` is the word of the
//! context. Types of the C library cross as plain words; results and error numbers are those of the C function.

use core::ffi::{c_char, c_int, c_uint, c_void};
use core::sync::atomic::{AtomicPtr, AtomicU32};

/// The ELF section, writable and with bytes in the file, that holds one [`HookSlot`].
pub const SECTION: &str = ".alcedo.hooks";

/// The ELF section that names the hooks which a module does without, since it defines these functions itself. Each name is a C string
/// behind two offsets of four bytes, by which the linker has checked that there is such a hook and such a function.
pub const UNHOOKED_SECTION: &str = ".alcedo.unhooked";

/// First word of a slot, so that a host never writes into something else.
pub const SLOT_MAGIC: u64 = u64::from_le_bytes(*b"ALCHOOK1");

/// What stands in the section.
#[repr(C)]
#[derive(Debug)]
pub struct HookSlot {
    /// [`SLOT_MAGIC`].
    pub magic: u64,
    /// Null, or what the host wrote.
    pub context: AtomicPtr<HookContext>,
}

impl HookSlot {
    /// A slot that was never written to.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "a static needs a const constructor, and nothing else makes one")]
    pub const fn new() -> Self {
        Self { magic: SLOT_MAGIC, context: AtomicPtr::new(core::ptr::null_mut()) }
    }
}

/// The logger of `log`.
pub const SETS_LOG: u32 = 1;

/// The subscriber of `tracing`.
pub const SETS_TRACING: u32 = 2;

/// What the hooks of one image know of their host. It outlives the image.
#[repr(C)]
#[derive(Debug)]
pub struct HookContext {
    /// The functions.
    pub table: &'static HookTable,
    /// The host's word for this image, handed back with every call.
    pub image: *const c_void,
    /// Not zero once the threads of the module are asked to stop.
    pub stop: *const AtomicU32,
    /// Loggers that the module's main may set, since the file has code for that: [`SETS_LOG`], [`SETS_TRACING`].
    pub sets_loggers: u32,
}

// SAFETY: the table is plain functions that any thread may call, `image` is only handed back, and `stop` is atomic.
#[expect(unsafe_code, reason = "the context is read by every thread of a module")]
unsafe impl Sync for HookContext {}

// SAFETY: any thread may call the functions and drop it, which drops plain words.
#[expect(unsafe_code, reason = "the host keeps it where any of its threads may drop it")]
unsafe impl Send for HookContext {}

/// The destructor of a thread-local, and of a thread-specific value.
pub type Destructor = unsafe extern "C" fn(*mut c_void);

/// The start routine of a thread.
pub type ThreadStart = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

/// A handler for `on_exit`.
pub type OnExit = unsafe extern "C" fn(c_int, *mut c_void);

/// `__deregister_frame`.
pub type Deregister = unsafe extern "C" fn(*const c_void);

/// The functions of a host. Plain `repr(C)`; a change changes [`crate::LAYOUT_HASH`].
///
/// # Safety
/// For all of them: `image` is the word of the caller's own context, and the other arguments are what the C function
/// of the same name demands.
#[repr(C)]
#[derive(Debug)]
pub struct HookTable {
    /// `__cxa_thread_atexit_impl`: the destructor runs when this thread ends, or on this thread when the image goes.
    pub thread_atexit: unsafe extern "C" fn(
        image: *const c_void,
        destructor: Destructor,
        object: *mut c_void,
        dso: *mut c_void,
    ) -> c_int,
    /// `pthread_key_create`.
    pub key_create:
        unsafe extern "C" fn(image: *const c_void, key: *mut c_uint, destructor: Option<Destructor>) -> c_int,
    /// `pthread_key_delete`.
    pub key_delete: unsafe extern "C" fn(image: *const c_void, key: c_uint) -> c_int,
    /// `pthread_setspecific`.
    pub key_set: unsafe extern "C" fn(image: *const c_void, key: c_uint, value: *const c_void) -> c_int,
    /// `pthread_create`; `thread` is a `pthread_t`, `attributes` a `pthread_attr_t` or null.
    pub thread_create: unsafe extern "C" fn(
        image: *const c_void,
        thread: *mut usize,
        attributes: *const c_void,
        start: ThreadStart,
        argument: *mut c_void,
    ) -> c_int,
    /// `pthread_join`.
    pub thread_join: unsafe extern "C" fn(image: *const c_void, thread: usize, result: *mut *mut c_void) -> c_int,
    /// `pthread_detach`.
    pub thread_detach: unsafe extern "C" fn(image: *const c_void, thread: usize) -> c_int,
    /// `mmap`.
    pub map: unsafe extern "C" fn(
        image: *const c_void,
        address: *mut c_void,
        len: usize,
        protection: c_int,
        flags: c_int,
        fd: c_int,
        offset: i64,
    ) -> *mut c_void,
    /// `munmap`.
    pub unmap: unsafe extern "C" fn(image: *const c_void, address: *mut c_void, len: usize) -> c_int,
    /// `mremap`.
    pub remap: unsafe extern "C" fn(
        image: *const c_void,
        address: *mut c_void,
        old_len: usize,
        new_len: usize,
        flags: c_int,
        new_address: *mut c_void,
    ) -> *mut c_void,
    /// `sigaction`; both are `struct sigaction` of the platform, or null. The host owns the real handler; `old` is what
    /// this image set before, or what the host's own process has, never another image's.
    pub signal_action:
        unsafe extern "C" fn(image: *const c_void, signal: c_int, action: *const c_void, old: *mut c_void) -> c_int,
    /// `signal`; handlers as words.
    pub signal: unsafe extern "C" fn(image: *const c_void, signal: c_int, handler: usize) -> usize,
    /// `__cxa_atexit`: run before the image is unmapped, last first, or when the process exits.
    pub at_exit: unsafe extern "C" fn(
        image: *const c_void,
        handler: Destructor,
        argument: *mut c_void,
        dso: *mut c_void,
    ) -> c_int,
    /// `on_exit`.
    pub on_exit: unsafe extern "C" fn(image: *const c_void, handler: OnExit, argument: *mut c_void) -> c_int,
    /// `malloc`.
    pub malloc: unsafe extern "C" fn(image: *const c_void, size: usize) -> *mut c_void,
    /// `calloc`.
    pub calloc: unsafe extern "C" fn(image: *const c_void, count: usize, size: usize) -> *mut c_void,
    /// `realloc`.
    pub realloc: unsafe extern "C" fn(image: *const c_void, old: *mut c_void, size: usize) -> *mut c_void,
    /// `posix_memalign`.
    pub memalign:
        unsafe extern "C" fn(image: *const c_void, out: *mut *mut c_void, alignment: usize, size: usize) -> c_int,
    /// `free`.
    pub free: unsafe extern "C" fn(image: *const c_void, block: *mut c_void),
    /// A function of the C library has made this block for the module, which is to free it; or null.
    pub block_made: unsafe extern "C" fn(image: *const c_void, block: *mut c_void),
    /// A function of the C library is about to move or free this block; zero if it was on no module's record.
    pub block_lent: unsafe extern "C" fn(image: *const c_void, block: *mut c_void) -> c_int,
    /// `shmat`: what is still attached when the image goes is detached.
    pub segment_attach:
        unsafe extern "C" fn(image: *const c_void, segment: c_int, address: *const c_void, flags: c_int) -> *mut c_void,
    /// `shmdt`.
    pub segment_detach: unsafe extern "C" fn(image: *const c_void, address: *const c_void) -> c_int,
    /// A function of the C library gave the module this descriptor.
    pub fd_opened: unsafe extern "C" fn(image: *const c_void, fd: c_int),
    /// The module is about to close this descriptor.
    pub fd_closed: unsafe extern "C" fn(image: *const c_void, fd: c_int),
    /// Fresh zeroed pages for the module's own heap, `len` a multiple of 64 KiB and so aligned; null when there are
    /// none. They are unmapped after the image.
    pub heap_grow: unsafe extern "C" fn(image: *const c_void, len: usize) -> *mut c_void,
    /// Gives pages of [`HookTable::heap_grow`] back.
    pub heap_shrink: unsafe extern "C" fn(image: *const c_void, address: *mut c_void, len: usize),
    /// The unwinder has taken the table at `begin` (`__register_frame`), and takes it back by `deregister`.
    pub frame_registered: unsafe extern "C" fn(image: *const c_void, begin: *const c_void, deregister: Deregister),
    /// The module is about to take the table at `begin` back; zero if that was done for it.
    pub frame_deregistered: unsafe extern "C" fn(image: *const c_void, begin: *const c_void) -> c_int,
    /// `fopencookie`; `functions` are a `cookie_io_functions_t` of the platform.
    pub stream_open: unsafe extern "C" fn(
        image: *const c_void,
        cookie: *mut c_void,
        mode: *const c_char,
        functions: *const c_void,
    ) -> *mut c_void,
    /// A stream has this descriptor from now on; `made_by` is 0 for `fopen`, 1 for `fdopen`, 2 for `tmpfile`, 3 for `popen`,
    /// 4 for `opendir`, 5 for `fdopendir`.
    pub stream_opened: unsafe extern "C" fn(image: *const c_void, stream: *mut c_void, fd: c_int, made_by: c_int),
    /// A stream writes into memory of the module; `made_by` is 0 for `open_memstream`, 1 for `open_wmemstream`, 2 for
    /// `fmemopen`. At `place`, unless it is null, will be the address of a block for the module to free.
    pub stream_bound:
        unsafe extern "C" fn(image: *const c_void, stream: *mut c_void, made_by: c_int, place: *const *mut c_void),
    /// The module is about to close this stream, or folder. The place that was reported for it, or null.
    pub stream_closed: unsafe extern "C" fn(image: *const c_void, stream: *mut c_void) -> *const *mut c_void,
    /// `openlog`.
    pub log_open: unsafe extern "C" fn(image: *const c_void, ident: *const c_char, option: c_int, facility: c_int),
    /// `initstate`.
    pub random_init:
        unsafe extern "C" fn(image: *const c_void, seed: c_uint, state: *mut c_char, size: usize) -> *mut c_char,
    /// `setstate`.
    pub random_set: unsafe extern "C" fn(image: *const c_void, state: *mut c_char) -> *mut c_char,
    /// `pthread_setname_np` for the calling thread has been done: the name in full, `len` bytes of it.
    pub thread_named: unsafe extern "C" fn(image: *const c_void, name: *const u8, len: usize),

    // What raises signals, and what starts processes.
    /// `sigaltstack`; both are `stack_t` or null. The thread gets back what it had before the image is unmapped.
    pub alternate_stack: unsafe extern "C" fn(image: *const c_void, new: *const c_void, old: *mut c_void) -> c_int,
    /// `setitimer`; both are `struct itimerval`, the second may be null.
    pub interval_timer:
        unsafe extern "C" fn(image: *const c_void, which: c_int, new: *const c_void, old: *mut c_void) -> c_int,
    /// `alarm`, in seconds.
    pub alarm: unsafe extern "C" fn(image: *const c_void, seconds: c_uint) -> c_uint,
    /// `ualarm`, in microseconds.
    pub ualarm: unsafe extern "C" fn(image: *const c_void, first: c_uint, then: c_uint) -> c_uint,
    /// `timer_create`; `event` is a `struct sigevent` or null, `timer` a place for a `timer_t`.
    pub timer_create:
        unsafe extern "C" fn(image: *const c_void, clock: c_int, event: *const c_void, timer: *mut c_void) -> c_int,
    /// `timer_delete`, the `timer_t` as a word.
    pub timer_delete: unsafe extern "C" fn(image: *const c_void, timer: usize) -> c_int,
    /// `mq_notify`; `event` as above.
    pub queue_notify: unsafe extern "C" fn(image: *const c_void, queue: c_int, event: *const c_void) -> c_int,
    /// `aio_read` where `what` is 0, `aio_write` where it is 1, else `aio_fsync` with `what` less two; `block` is an
    /// `aiocb`.
    pub io_begin: unsafe extern "C" fn(image: *const c_void, what: c_int, block: *mut c_void) -> c_int,
    /// `lio_listio`.
    pub io_begin_list: unsafe extern "C" fn(
        image: *const c_void,
        mode: c_int,
        list: *const *mut c_void,
        count: c_int,
        event: *const c_void,
    ) -> c_int,
    /// `getaddrinfo_a`.
    pub names_begin: unsafe extern "C" fn(
        image: *const c_void,
        mode: c_int,
        list: *const *mut c_void,
        count: c_int,
        event: *const c_void,
    ) -> c_int,
    /// The module has changed whom a descriptor tells of what happens to it, by which signal, or whether it does at all.
    pub fd_signals: unsafe extern "C" fn(image: *const c_void, fd: c_int),
    /// The module is about to jump to where `setjmp` or one of its kin has filled this buffer.
    pub jumps: unsafe extern "C" fn(image: *const c_void, buffer: *const c_void),
    /// The module has started a process of this number.
    pub child_started: unsafe extern "C" fn(image: *const c_void, pid: c_int),

    // What may not be left by a module that is being closed.
    /// Not zero if the module is being closed: its finalisers run. Then `function`, named by a C string, is refused, and the
    /// host says so later.
    pub refuses: unsafe extern "C" fn(image: *const c_void, function: *const c_char) -> c_int,

    /// `dlsym` has found this address for the module.
    pub looked_up: unsafe extern "C" fn(image: *const c_void, found: *const c_void),
}
