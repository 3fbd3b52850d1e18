//! Hooks of what makes and ends file descriptors: the platform does it, and the host is told.
#![expect(unsafe_code, reason = "C functions, handed over to the platform and told to the host")]

use core::ffi::{c_char, c_int, c_uint, c_void};

use super::platform;
use super::signals::asked;
use super::tables::opened_stream;
use crate::outside::hook_context;

const F_SETOWN: c_int = 8;
const F_SETSIG: c_int = 10;
const F_SETOWN_EX: c_int = 15;

pub(super) fn opened(fd: c_int) -> c_int {
    if fd >= 0
        && let Some(context) = hook_context()
    {
        // SAFETY: the image is that of the same context, and the descriptor was made just now.
        unsafe { (context.table.fd_opened)(context.image, fd) };
    }
    fd
}

/// Both descriptors at `pair`, if the call that was to make them came back well.
///
/// # Safety
/// After a zero, `pair` is two descriptors.
unsafe fn opened_both(result: c_int, pair: *const c_int) -> c_int {
    if result == 0 {
        // SAFETY: promised by our caller.
        let [first, second] = unsafe { *pair.cast::<[c_int; 2]>() };
        opened(first);
        opened(second);
    }
    result
}

/// The module does not hold it any longer, or not as a descriptor.
pub(super) fn gone(fd: c_int) {
    if let Some(context) = hook_context() {
        // SAFETY: the image is that of the same context; any number will do.
        unsafe { (context.table.fd_closed)(context.image, fd) };
    }
}

macro_rules! openers {
    ($($name:ident($($arg:ident: $ty:ty),*);)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of this module.")]
        ///
        /// # Safety
        /// As the C function says.
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> c_int {
            // SAFETY: our caller keeps to the C function's contract.
            opened(unsafe { platform::$name($($arg),*) })
        }
    )*};
}

openers! {
    open(path: *const c_char, flags: c_int, mode: c_uint);
    openat(folder: c_int, path: *const c_char, flags: c_int, mode: c_uint);
    creat(path: *const c_char, mode: c_uint);
    mkstemp(template: *mut c_char);
    mkostemp(template: *mut c_char, flags: c_int);
    socket(domain: c_int, kind: c_int, protocol: c_int);
    accept(socket: c_int, address: *mut c_void, len: *mut c_uint);
    accept4(socket: c_int, address: *mut c_void, len: *mut c_uint, flags: c_int);
    dup(fd: c_int);
    dup2(fd: c_int, new: c_int);
    dup3(fd: c_int, new: c_int, flags: c_int);
    epoll_create(size: c_int);
    epoll_create1(flags: c_int);
    eventfd(value: c_uint, flags: c_int);
    timerfd_create(clock: c_int, flags: c_int);
    signalfd(fd: c_int, mask: *const c_void, flags: c_int);
    inotify_init();
    inotify_init1(flags: c_int);
    memfd_create(name: *const c_char, flags: c_uint);
}

/// `pipe` of this module.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn pipe(pair: *mut c_int) -> c_int {
    // SAFETY: our caller keeps to the C function's contract.
    let result = unsafe { platform::pipe(pair) };
    // SAFETY: after a zero the C function has written both.
    unsafe { opened_both(result, pair) }
}

/// `pipe2` of this module.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn pipe2(pair: *mut c_int, flags: c_int) -> c_int {
    // SAFETY: our caller keeps to the C function's contract.
    let result = unsafe { platform::pipe2(pair, flags) };
    // SAFETY: after a zero the C function has written both.
    unsafe { opened_both(result, pair) }
}

/// `socketpair` of this module.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn socketpair(domain: c_int, kind: c_int, protocol: c_int, pair: *mut c_int) -> c_int {
    // SAFETY: our caller keeps to the C function's contract.
    let result = unsafe { platform::socketpair(domain, kind, protocol, pair) };
    // SAFETY: after a zero the C function has written both.
    unsafe { opened_both(result, pair) }
}

/// `fcntl` of this module: two of its commands make a descriptor, others have one raise signals.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn fcntl(fd: c_int, command: c_int, argument: usize) -> c_int {
    // SAFETY: our caller keeps to the C function's contract; the argument is passed on as it came.
    let result = unsafe { platform::fcntl(fd, command, argument) };
    match command {
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => opened(result),
        F_SETOWN | F_SETSIG | F_SETOWN_EX | libc::F_NOTIFY | libc::F_SETLEASE => asked(fd, result),
        libc::F_SETFL if argument & libc::O_ASYNC as usize != 0 => asked(fd, result),
        _ => result,
    }
}

/// `close` of this module. The host is told first: afterwards the number may be somebody else's already.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn close(fd: c_int) -> c_int {
    gone(fd);
    // SAFETY: our caller keeps to the C function's contract.
    unsafe { platform::close(fd) }
}

/// `fdopen` of this module: the stream owns the descriptor from here on.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn fdopen(fd: c_int, mode: *const c_char) -> *mut c_void {
    // SAFETY: our caller keeps to the C function's contract.
    let stream = unsafe { platform::fdopen(fd, mode) };
    opened_stream(stream, fd, 1)
}

/// `fdopendir` of this module: the folder stream owns the descriptor from here on.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn fdopendir(fd: c_int) -> *mut c_void {
    // SAFETY: our caller keeps to the C function's contract.
    let folder = unsafe { platform::fdopendir(fd) };
    opened_stream(folder, fd, 5)
}
