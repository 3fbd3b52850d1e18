//! Hooks of what makes and ends file descriptors: the platform does it, and the host is told.
#![expect(unsafe_code, reason = "C functions, handed over to the platform and told to the host")]

use core::ffi::{c_char, c_int, c_uint, c_void};

use super::notes::{self, Made, opened};
use super::platform;

const F_SETOWN: c_int = 8;
const F_SETSIG: c_int = 10;
const F_SETOWN_EX: c_int = 15;

platform_hooks! {
    open(path: *const c_char, flags: c_int, mode: c_uint) -> c_int, then |fd| opened(fd);
    openat(folder: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int, then |fd| opened(fd);
    creat(path: *const c_char, mode: c_uint) -> c_int, then |fd| opened(fd);
    mkstemp(template: *mut c_char) -> c_int, then |fd| opened(fd);
    mkostemp(template: *mut c_char, flags: c_int) -> c_int, then |fd| opened(fd);
    socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int, then |fd| opened(fd);
    accept(socket: c_int, address: *mut c_void, len: *mut c_uint) -> c_int, then |fd| opened(fd);
    accept4(socket: c_int, address: *mut c_void, len: *mut c_uint, flags: c_int) -> c_int, then |fd| opened(fd);
    dup(fd: c_int) -> c_int, then |fd| opened(fd);
    dup2(fd: c_int, new: c_int) -> c_int, then |fd| opened(fd);
    dup3(fd: c_int, new: c_int, flags: c_int) -> c_int, then |fd| opened(fd);
    epoll_create(size: c_int) -> c_int, then |fd| opened(fd);
    epoll_create1(flags: c_int) -> c_int, then |fd| opened(fd);
    eventfd(value: c_uint, flags: c_int) -> c_int, then |fd| opened(fd);
    timerfd_create(clock: c_int, flags: c_int) -> c_int, then |fd| opened(fd);
    signalfd(fd: c_int, mask: *const c_void, flags: c_int) -> c_int, then |fd| opened(fd);
    inotify_init() -> c_int, then |fd| opened(fd);
    inotify_init1(flags: c_int) -> c_int, then |fd| opened(fd);
    memfd_create(name: *const c_char, flags: c_uint) -> c_int, then |fd| opened(fd);
    /// The host is told first: afterwards the number may be another descriptor's already.
    close(fd: c_int) -> c_int, first { notes::closed(fd); };
    /// Two of its commands make a descriptor, others have one raise signals.
    fcntl(fd: c_int, command: c_int, argument: usize) -> c_int, then |result| match command {
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => opened(result),
        F_SETOWN | F_SETSIG | F_SETOWN_EX | libc::F_NOTIFY | libc::F_SETLEASE => notes::signals_changed(fd, result),
        libc::F_SETFL if argument & libc::O_ASYNC as usize != 0 => notes::signals_changed(fd, result),
        _ => {}
    };
}

makers! {
    /// The stream owns the descriptor from here on.
    fdopen(fd: c_int, mode: *const c_char) -> *mut c_void, then |stream| notes::stream_opened(stream, fd, 1);
    /// The folder stream owns the descriptor from here on.
    fdopendir(fd: c_int) -> *mut c_void, then |folder| notes::stream_opened(folder, fd, 5);
}

macro_rules! pairs {
    ($($name:ident($($arg:ident: $ty:ty),*) writes $pair:ident;)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of this module.")]
        ///
        /// # Safety
        /// As the C function says.
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> c_int {
            // SAFETY: our caller keeps to the C function's contract, which writes two descriptors before it returns a zero.
            unsafe {
                let result = platform::$name($($arg),*);
                if result == 0 {
                    $pair.cast::<[c_int; 2]>().read().into_iter().for_each(opened);
                }
                result
            }
        }
    )*};
}

pairs! {
    pipe(pair: *mut c_int) writes pair;
    pipe2(pair: *mut c_int, flags: c_int) writes pair;
    socketpair(domain: c_int, kind: c_int, protocol: c_int, pair: *mut c_int) writes pair;
}
