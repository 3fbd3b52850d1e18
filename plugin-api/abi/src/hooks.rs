//! Host functions that a module's hooks call. A hook is the module's own definition of a C function for thread-locals, threads, memory,
//! signals or exit handlers. The definitions are hidden symbols, so the standard library in the module calls the hooks instead of the
//! platform's functions. Thus the host has a record of all remaining resources of a module when it unloads the module.
//!
//! The host writes the address of a [`HookContext`] into the section [`SECTION`] of its private copy of the file, before it maps the copy.
//! The hooks therefore work even in the first initializer. If no host has written the section (for example, in a plugin's own tests), the
//! address is null, and the hooks call the platform's functions.
//!
//! Any thread may call these functions, even from the allocator. The functions never unwind. `image` is the pointer from the context. Types
//! of the C library are passed as integers and pointers. Each function has the result of the hooked C function, and sets the same `errno`.

use core::ffi::{c_char, c_int, c_uint, c_void};
use core::sync::atomic::{AtomicPtr, AtomicU32};

/// Name of the section that contains one [`HookSlot`]. The section is writable and is stored in the file.
pub const SECTION: &str = crate::__alcedo_section!(hooks);

/// Name of the ELF section that lists omitted hooks. The module has its own function in place of an omitted hook. Each entry consists of
/// two 4-byte offsets and the name as a C string. The linker resolves the offsets, and so checks that the hook and the function exist.
pub const UNHOOKED_SECTION: &str = ".alcedo.unhooked";

/// First word of a slot. The host writes the context only into a slot that starts with this word, and so never overwrites unrelated memory.
pub const SLOT_MAGIC: u64 = u64::from_le_bytes(*b"ALCHOOK1");

/// Content of the section [`SECTION`].
#[repr(C)]
#[derive(Debug)]
pub struct HookSlot {
    /// Always [`SLOT_MAGIC`].
    pub magic: u64,
    /// Context written by the host, or null.
    pub context: AtomicPtr<HookContext>,
}

impl HookSlot {
    /// Creates a slot with a null context.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "a static needs a const constructor")]
    pub const fn new() -> Self {
        Self { magic: SLOT_MAGIC, context: AtomicPtr::new(core::ptr::null_mut()) }
    }
}

/// Bit of [`HookContext::sets_loggers`]: the module's main function may set the logger of the `log` crate.
pub const SETS_LOG: u32 = 1;

/// Bit of [`HookContext::sets_loggers`]: the module's main function may set the subscriber of the `tracing` crate.
pub const SETS_TRACING: u32 = 2;

/// Host data for the hooks of one image. The host frees the data only after the image is unmapped.
#[repr(C)]
#[derive(Debug)]
pub struct HookContext {
    /// Functions of the host.
    pub table: &'static HookTable,
    /// Pointer by which the host identifies this image, passed in every call.
    pub image: *const c_void,
    /// Points to a word that is nonzero while the host requests the module's threads to stop.
    pub stop: *const AtomicU32,
    /// Loggers that the module's main function may set, as the host has detected in its file: bits [`SETS_LOG`] and [`SETS_TRACING`].
    pub sets_loggers: u32,
}

// SAFETY: the table contains functions that any thread may call, `image` is only passed back, and `stop` points to an atomic.
#[expect(unsafe_code, reason = "the context is read by every thread of a module")]
unsafe impl Sync for HookContext {}

// SAFETY: any thread may call the functions and drop the context, which contains only addresses and an integer.
#[expect(unsafe_code, reason = "any thread of the host may drop the context")]
unsafe impl Send for HookContext {}

/// Destructor of a thread-local, or of a value stored under a `pthread` key.
pub type Destructor = unsafe extern "C" fn(*mut c_void);

/// The start routine of a thread.
pub type ThreadStart = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

/// Handler registered with `on_exit`.
pub type OnExit = unsafe extern "C" fn(c_int, *mut c_void);

/// Type of the function `__deregister_frame`.
pub type Deregister = unsafe extern "C" fn(*const c_void);

/// Defines [`HookTable`] from the list of its functions.
macro_rules! hook_table {
    ($($(#[doc = $doc:tt])* fn $name:ident($($argument:ident: $ty:ty),*) $(-> $result:ty)?;)*) => {
        /// Host functions for hooks. The struct is plain `repr(C)`, and [`crate::LAYOUT_HASH`] covers its layout.
        ///
        /// # Safety
        /// For all functions: `image` is [`HookContext::image`] of the caller, and the remaining arguments fulfill the contract of the
        /// documented C function.
        #[repr(C)]
        #[derive(Debug)]
        pub struct HookTable {$(
            $(#[doc = $doc])*
            pub $name: unsafe extern "C" fn(image: *const c_void $(, $argument: $ty)*) $(-> $result)?,
        )*}
    };
}

/// Passes the list of host functions for hooks to a macro. Each function also has a first parameter `image`, which the list omits.
#[doc(hidden)]
#[macro_export]
macro_rules! hook_functions {
    ($callback:ident) => {
        $callback! {
            /// `__cxa_thread_atexit_impl`: the destructor runs on this thread, when the thread ends or the image is unloaded.
            fn thread_atexit(destructor: Destructor, object: *mut c_void, dso: *mut c_void) -> c_int;
            /// `pthread_key_create`.
            fn key_create(key: *mut c_uint, destructor: Option<Destructor>) -> c_int;
            /// `pthread_key_delete`.
            fn key_delete(key: c_uint) -> c_int;
            /// `pthread_setspecific`.
            fn key_set(key: c_uint, value: *const c_void) -> c_int;
            /// `pthread_create`; `thread` is a `pthread_t`, `attributes` a `pthread_attr_t` or null.
            fn thread_create(thread: *mut usize, attributes: *const c_void, start: ThreadStart, argument: *mut c_void) -> c_int;
            /// `pthread_join`.
            fn thread_join(thread: usize, result: *mut *mut c_void) -> c_int;
            /// `pthread_detach`.
            fn thread_detach(thread: usize) -> c_int;
            /// `mmap`.
            fn map(address: *mut c_void, len: usize, protection: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void;
            /// `munmap`.
            fn unmap(address: *mut c_void, len: usize) -> c_int;
            /// `mremap`.
            fn remap(address: *mut c_void, old_len: usize, new_len: usize, flags: c_int, new_address: *mut c_void) -> *mut c_void;
            /// `sigaction`; `action` and `old` point to the platform's `struct sigaction`, or are null. The host registers its own handler.
            /// `old` receives the previous action of this image or of the host process, but never an action of another image.
            fn signal_action(signal: c_int, action: *const c_void, old: *mut c_void) -> c_int;
            /// `signal`; handlers are passed as integers.
            fn signal(signal: c_int, handler: usize) -> usize;
            /// `__cxa_atexit`: handlers run in reverse order, before the image is unmapped or when the process exits.
            fn at_exit(handler: Destructor, argument: *mut c_void, dso: *mut c_void) -> c_int;
            /// `on_exit`.
            fn on_exit(handler: OnExit, argument: *mut c_void) -> c_int;
            /// `malloc`.
            fn malloc(size: usize) -> *mut c_void;
            /// `calloc`.
            fn calloc(count: usize, size: usize) -> *mut c_void;
            /// `realloc`.
            fn realloc(old: *mut c_void, size: usize) -> *mut c_void;
            /// `posix_memalign`.
            fn memalign(out: *mut *mut c_void, alignment: usize, size: usize) -> c_int;
            /// `free`.
            fn free(block: *mut c_void);
            /// Reports a block that the C library has allocated for the module to free. `block` may be null.
            fn block_made(block: *mut c_void);
            /// Reports that the C library is about to move or free this block. Returns zero if the host has not recorded the block for the
            /// module.
            fn block_borrowed(block: *mut c_void) -> c_int;
            /// `shmat`. Unloading the image detaches all segments that the module has attached.
            fn segment_attach(segment: c_int, address: *const c_void, flags: c_int) -> *mut c_void;
            /// `shmdt`.
            fn segment_detach(address: *const c_void) -> c_int;
            /// Reports a descriptor that the C library has opened for the module.
            fn fd_opened(fd: c_int);
            /// Reports that the module is about to close this descriptor.
            fn fd_closed(fd: c_int);
            /// Returns new zeroed pages for the module's heap; `len` is a multiple of 64 KiB, and the pages are aligned to 64 KiB. Returns
            /// null if memory is exhausted. The host unmaps the pages after it has unmapped the image.
            fn heap_grow(len: usize) -> *mut c_void;
            /// Frees pages of [`HookTable::heap_grow`].
            fn heap_shrink(address: *mut c_void, len: usize);
            /// Reports that the module has registered the unwind table at `begin` (`__register_frame`); `deregister` removes the table.
            fn frame_registered(begin: *const c_void, deregister: Deregister);
            /// Reports that the module is about to deregister the unwind table at `begin`. Returns zero if the host has already
            /// deregistered the table.
            fn frame_deregistered(begin: *const c_void) -> c_int;
            /// `fopencookie`; `functions` points to the C library's `cookie_io_functions_t`.
            fn stream_open(cookie: *mut c_void, mode: *const c_char, functions: *const c_void) -> *mut c_void;
            /// Reports a stream with a descriptor; `made_by` is 0 for `fopen`, 1 for `fdopen`, 2 for `tmpfile`, 3 for `popen`, 4 for
            /// `opendir`, 5 for `fdopendir`.
            fn stream_opened(stream: *mut c_void, fd: c_int, made_by: c_int);
            /// Reports a stream that writes into memory of the module; `made_by` is 0 for `open_memstream`, 1 for `open_wmemstream`, 2 for
            /// `fmemopen`. If `location` is not null, closing the stream stores there the address of a block that the module must free.
            fn stream_bound(stream: *mut c_void, made_by: c_int, location: *const *mut c_void);
            /// Reports that the module is about to close this stream or directory stream. Returns the `location` that was reported for the
            /// stream, or null.
            fn stream_closed(stream: *mut c_void) -> *const *mut c_void;
            /// `openlog`.
            fn log_open(ident: *const c_char, option: c_int, facility: c_int);
            /// `initstate`.
            fn random_init(seed: c_uint, state: *mut c_char, size: usize) -> *mut c_char;
            /// `setstate`.
            fn random_set(state: *mut c_char) -> *mut c_char;
            /// Reports a successful `pthread_setname_np` for the calling thread, with the full name of `len` bytes.
            fn thread_named(name: *const u8, len: usize);

            // Hooks for signals, timers, asynchronous requests, jumps and processes.
            /// `sigaltstack`; `new` and `old` point to a `stack_t`, or are null. The previous stack of the thread is restored before the
            /// image is unmapped.
            fn alternate_stack(new: *const c_void, old: *mut c_void) -> c_int;
            /// `setitimer`; `new` and `old` point to a `struct itimerval`; `old` may be null.
            fn interval_timer(which: c_int, new: *const c_void, old: *mut c_void) -> c_int;
            /// `alarm`, in seconds.
            fn alarm(seconds: c_uint) -> c_uint;
            /// `ualarm`, in microseconds.
            fn ualarm(first: c_uint, then: c_uint) -> c_uint;
            /// `timer_create`; `event` points to a `struct sigevent` or is null; `timer` points to a `timer_t`.
            fn timer_create(clock: c_int, event: *const c_void, timer: *mut c_void) -> c_int;
            /// `timer_delete`, with the `timer_t` as an integer.
            fn timer_delete(timer: usize) -> c_int;
            /// `mq_notify`; `event` points to a `struct sigevent` or is null.
            fn queue_notify(queue: c_int, event: *const c_void) -> c_int;
            /// `aio_read` if `what` is 0, `aio_write` if `what` is 1, otherwise `aio_fsync` with the operation `what - 2`. `block` points
            /// to an `aiocb`.
            fn io_begin(what: c_int, block: *mut c_void) -> c_int;
            /// `lio_listio`.
            fn io_begin_list(mode: c_int, list: *const *mut c_void, count: c_int, event: *const c_void) -> c_int;
            /// `getaddrinfo_a`.
            fn names_begin(mode: c_int, list: *const *mut c_void, count: c_int, event: *const c_void) -> c_int;
            /// Reports that the module has enabled, changed or disabled the signals raised by a descriptor.
            fn fd_signals(fd: c_int);
            /// Reports that the module is about to jump to the location that `setjmp` or a related function has stored in this buffer.
            fn jumps(buffer: *const c_void);
            /// Reports a process that the module has started.
            fn child_started(pid: c_int);

            /// Returns nonzero while the module is being closed, that is, while the finalizers of its library run. The hook must then
            /// refuse the call of the C function with the name `function`. The host reports the refused call later.
            fn refuses(function: *const c_char) -> c_int;

            /// Reports an address that `dlsym` has found for the module.
            fn looked_up(found: *const c_void);
        }
    };
}

hook_functions!(hook_table);
