//! Lists of C functions, from which macros generate the hooks and the calls of the platform's functions. A replaced function has a hook
//! that calls the host's function instead of the platform's function while a host is present. Each line of a list contains the result for a
//! platform that lacks the function (`without`), and the host's function or the form of the hook.

use core::ffi::{c_char, c_int, c_uint, c_void};
use core::ptr::null;

use alcedo_abi::hooks::{Destructor, OnExit, ThreadStart};

use super::tables::StreamFunctions;

macro_rules! replaced_functions {
    ($callback:ident $($header:tt)*) => {
        $callback! {
            $($header)*

            fn __cxa_thread_atexit_impl(destructor: Destructor, object: *mut c_void, dso: *mut c_void) -> c_int, without: libc::ENOSYS => thread_atexit;
            fn pthread_key_create(key: *mut c_uint, destructor: Option<Destructor>) -> c_int, without: libc::ENOSYS => key_create;
            fn pthread_key_delete(key: c_uint) -> c_int, without: libc::ENOSYS => key_delete;
            fn pthread_setspecific(key: c_uint, value: *const c_void) -> c_int, without: libc::ENOSYS => key_set;
            fn pthread_create(thread: *mut usize, attributes: *const c_void, start: ThreadStart, argument: *mut c_void) -> c_int, without: libc::ENOSYS => thread_create;
            fn pthread_join(thread: usize, result: *mut *mut c_void) -> c_int, without: libc::ENOSYS => thread_join;
            fn pthread_detach(thread: usize) -> c_int, without: libc::ENOSYS => thread_detach;
            fn sigaction(signal: c_int, action: *const c_void, old: *mut c_void) -> c_int, without: missing() => signal_action;
            fn signal(signal: c_int, handler: usize) -> usize, without: libc::SIG_ERR => signal;
            fn __cxa_atexit(handler: Destructor, argument: *mut c_void, dso: *mut c_void) -> c_int, without: -1 => at_exit;
            fn on_exit(handler: OnExit, argument: *mut c_void) -> c_int, without: -1 => on_exit;

            fn mmap(address: *mut c_void, len: usize, protection: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void, without: libc::MAP_FAILED => map;
            fn munmap(address: *mut c_void, len: usize) -> c_int, without: missing() => unmap;
            fn mremap(address: *mut c_void, old_len: usize, new_len: usize, flags: c_int, new_address: *mut c_void) -> *mut c_void, without: libc::MAP_FAILED => remap;
            fn shmat(segment: c_int, address: *const c_void, flags: c_int) -> *mut c_void, without: libc::MAP_FAILED => segment_attach;
            fn shmdt(address: *const c_void) -> c_int, without: missing() => segment_detach;
            fn malloc(size: usize) -> *mut c_void, without: null_mut() => malloc;
            fn calloc(count: usize, size: usize) -> *mut c_void, without: null_mut() => calloc;
            fn realloc(old: *mut c_void, size: usize) -> *mut c_void, without: null_mut() => realloc;
            fn posix_memalign(out: *mut *mut c_void, alignment: usize, size: usize) -> c_int, without: libc::ENOMEM => memalign;
            fn free(block: *mut c_void) => free;

            fn fopencookie(cookie: *mut c_void, mode: *const c_char, functions: StreamFunctions) -> *mut c_void, without: null_mut() => stream_open(cookie, mode, (&raw const functions).cast());
            fn openlog(ident: *const c_char, option: c_int, facility: c_int) => log_open;
            fn initstate(seed: c_uint, state: *mut c_char, size: usize) -> *mut c_char, without: null_mut() => random_init;
            fn setstate(state: *mut c_char) -> *mut c_char, without: null_mut() => random_set;

            // Functions for signals, timers, notifications and asynchronous requests.
            fn sigaltstack(new: *const c_void, old: *mut c_void) -> c_int, without: missing() => alternate_stack;
            fn setitimer(which: c_int, new: *const c_void, old: *mut c_void) -> c_int, without: missing() => interval_timer;
            fn alarm(seconds: c_uint) -> c_uint, without: 0 => alarm;
            fn ualarm(first: c_uint, then: c_uint) -> c_uint, without: 0 => ualarm;
            fn timer_create(clock: c_int, event: *const c_void, timer: *mut c_void) -> c_int, without: missing() => timer_create;
            fn timer_delete(timer: usize) -> c_int, without: missing() => timer_delete;
            fn mq_notify(queue: c_int, event: *const c_void) -> c_int, without: missing() => queue_notify;
            fn aio_read(block: *mut c_void) -> c_int, without: missing() => io_begin(0, block);
            fn aio_write(block: *mut c_void) -> c_int, without: missing() => io_begin(1, block);
            // For an invalid `how`, the condition is false, so the hook calls the platform's function, which returns an error.
            fn aio_fsync(how: c_int, block: *mut c_void) -> c_int, without: missing(), if (0..=c_int::MAX - 2).contains(&how) => io_begin(how + 2, block);
            fn lio_listio(mode: c_int, list: *const *mut c_void, count: c_int, event: *const c_void) -> c_int, without: missing() => io_begin_list;
            fn getaddrinfo_a(mode: c_int, list: *const *mut c_void, count: c_int, event: *const c_void) -> c_int, without: libc::EAI_SYSTEM => names_begin;
        }
    };
}
pub(super) use replaced_functions;

replaced_functions!(hooks);

/// Calls a macro with the list of functions that create a descriptor, a stream or a block. Their hooks call the platform's function and
/// report the result to the host. `hook` names the macro that defines the hook, with the other arguments of this macro.
macro_rules! creating_functions {
    ($callback:ident $($header:tt)*) => {
        $callback! {
            $($header)*

            // `mq_open` also returns a descriptor. If a caller omits variadic arguments, the hook passes undefined values, which the
            // platform ignores.
            fn open(path: *const c_char, flags: c_int, mode: c_uint) -> c_int, without: missing(), hook: [openers];
            fn openat(folder: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int, without: missing(), hook: [openers];
            fn creat(path: *const c_char, mode: c_uint) -> c_int, without: missing(), hook: [openers];
            fn mkstemp(template: *mut c_char) -> c_int, without: missing(), hook: [openers];
            fn mkostemp(template: *mut c_char, flags: c_int) -> c_int, without: missing(), hook: [openers];
            fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int, without: missing(), hook: [openers];
            fn accept(socket: c_int, address: *mut c_void, len: *mut c_uint) -> c_int, without: missing(), hook: [openers];
            fn accept4(socket: c_int, address: *mut c_void, len: *mut c_uint, flags: c_int) -> c_int, without: missing(), hook: [openers];
            fn dup(fd: c_int) -> c_int, without: missing(), hook: [openers];
            fn dup2(fd: c_int, new: c_int) -> c_int, without: missing(), hook: [openers];
            fn dup3(fd: c_int, new: c_int, flags: c_int) -> c_int, without: missing(), hook: [openers];
            fn epoll_create(size: c_int) -> c_int, without: missing(), hook: [openers];
            fn epoll_create1(flags: c_int) -> c_int, without: missing(), hook: [openers];
            fn eventfd(value: c_uint, flags: c_int) -> c_int, without: missing(), hook: [openers];
            fn timerfd_create(clock: c_int, flags: c_int) -> c_int, without: missing(), hook: [openers];
            fn signalfd(fd: c_int, mask: *const c_void, flags: c_int) -> c_int, without: missing(), hook: [openers];
            fn inotify_init() -> c_int, without: missing(), hook: [openers];
            fn inotify_init1(flags: c_int) -> c_int, without: missing(), hook: [openers];
            fn memfd_create(name: *const c_char, flags: c_uint) -> c_int, without: missing(), hook: [openers];
            fn mq_open(name: *const c_char, flags: c_int, mode: c_uint, attributes: *mut c_void) -> c_int, without: missing(), hook: [openers];

            fn pipe(pair: *mut c_int) -> c_int, without: missing(), hook: [pair_openers at pair];
            fn pipe2(pair: *mut c_int, flags: c_int) -> c_int, without: missing(), hook: [pair_openers at pair];
            fn socketpair(domain: c_int, kind: c_int, protocol: c_int, pair: *mut c_int) -> c_int, without: missing(), hook: [pair_openers at pair];

            // After the call, the stream or directory stream owns the descriptor.
            fn fdopen(fd: c_int, mode: *const c_char) -> *mut c_void, without: null_mut(), hook: [streams, 1 with fd];
            fn fdopendir(fd: c_int) -> *mut c_void, without: null_mut(), hook: [streams, 5 with fd];

            fn fopen(path: *const c_char, mode: *const c_char) -> *mut c_void, without: null_mut(), hook: [streams, 0 with fd of fileno];
            fn tmpfile() -> *mut c_void, without: null_mut(), hook: [streams, 2 with fd of fileno];
            fn popen(command: *const c_char, mode: *const c_char) -> *mut c_void, without: null_mut(), hook: [streams, 3 with fd of fileno];
            fn opendir(path: *const c_char) -> *mut c_void, without: null_mut(), hook: [streams, 4 with fd of dirfd];

            fn open_memstream(bytes: *mut *mut c_char, len: *mut usize) -> *mut c_void, without: null_mut(), hook: [memory_streams, c"open_memstream", 0 at bytes.cast_const().cast()];
            fn open_wmemstream(text: *mut *mut c_int, len: *mut usize) -> *mut c_void, without: null_mut(), hook: [memory_streams, c"open_wmemstream", 1 at text.cast_const().cast()];
            // If `buffer` is null, the C library allocates the buffer.
            fn fmemopen(buffer: *mut c_void, len: usize, mode: *const c_char) -> *mut c_void, without: null_mut(), hook: [memory_streams if !buffer.is_null(), c"fmemopen", 2 at null()];

            // Functions that allocate blocks of the C heap, which the caller must free.
            fn strdup(text: *const c_char) -> *mut c_char, without: null_mut(), hook: [makers];
            fn strndup(text: *const c_char, most: usize) -> *mut c_char, without: null_mut(), hook: [makers];
            // The hook uses only the address of the wide string.
            fn wcsdup(text: *const c_int) -> *mut c_char, without: null_mut(), hook: [makers];
            fn realpath(path: *const c_char, buffer: *mut c_char) -> *mut c_char, without: null_mut(), hook: [makers if buffer.is_null()];
            fn canonicalize_file_name(path: *const c_char) -> *mut c_char, without: null_mut(), hook: [makers];
            fn getcwd(buffer: *mut c_char, room: usize) -> *mut c_char, without: null_mut(), hook: [makers if buffer.is_null()];
            fn get_current_dir_name() -> *mut c_char, without: null_mut(), hook: [makers];

            // C code that is compiled with `_FORTIFY_SOURCE` calls `__vasprintf_chk`.
            fn vasprintf(text: *mut *mut c_char, format: *const c_char, arguments: *mut c_void) -> c_int, without: missing(), hook: [printers at text];
            fn __vasprintf_chk(text: *mut *mut c_char, flag: c_int, format: *const c_char, arguments: *mut c_void) -> c_int, without: missing(), hook: [printers at text];
            fn getline(line: *mut *mut c_char, room: *mut usize, stream: *mut c_void) -> isize, without: missing() as isize, hook: [readers at line room];
            fn getdelim(line: *mut *mut c_char, room: *mut usize, end: c_int, stream: *mut c_void) -> isize, without: missing() as isize, hook: [readers at line room];
        }
    };
}
pub(super) use creating_functions;

creating_functions!(reports);
