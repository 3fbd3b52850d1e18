//! Hooks that are the host's work as a whole: with a host its function is called instead of the platform's.
#![expect(unsafe_code, reason = "C functions, handed over to the host or the platform")]

use core::ffi::{c_int, c_uint, c_void};
use core::ptr::null_mut;

use alcedo_abi::hooks::{Destructor, OnExit, ThreadStart};

use super::platform;
use crate::slot::context;

/// Hooks whose work is the host's, by a function of its table; constants before their arguments stand behind its name.
macro_rules! hooks {
    ($($platform:ident, $name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)? => $entry:ident $(($constant:expr))?;)*) => {$(
        #[doc = concat!("`", stringify!($platform), "` of this module.")]
        ///
        /// # Safety
        /// As the C function says.
        pub unsafe extern "C" fn $name($($arg: $ty),*) $(-> $ret)? {
            // SAFETY: our caller keeps to the C function's contract, and the image is that of the same context.
            unsafe {
                match context() {
                    Some(context) => (context.table.$entry)(context.image, $($constant,)? $($arg),*),
                    None => platform::$platform($($arg),*),
                }
            }
        }
    )*};
}

/// Hooks whose work is the platform's: what is done `first` may return, and `then` the result is looked at.
macro_rules! platform_hooks {
    ($(
        $(#[$doc:meta])*
        $name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)? $(, first { $($before:tt)* })? $(, then |$result:ident| $after:expr)?;
    )*) => {$(
        #[doc = concat!("`", stringify!($name), "` of this module.")]
        $(#[$doc])*
        ///
        /// # Safety
        /// As the C function says.
        pub unsafe extern "C" fn $name($($arg: $ty),*) $(-> $ret)? {
            $($($before)*)?
            // SAFETY: our caller keeps to the C function's contract.
            let result = unsafe { platform::$name($($arg),*) };
            $(
                let $result = result;
                $after;
            )?
            result
        }
    )*};
}

/// The same for functions that make a block or a stream for the module.
macro_rules! makers {
    ($(
        $(#[$doc:meta])*
        $name:ident($($arg:ident: $ty:ty),*) -> *mut $made:ty $(, first { $($before:tt)* })?, then |$result:ident| $after:expr;
    )*) => {$(
        #[doc = concat!("`", stringify!($name), "` of this module.")]
        $(#[$doc])*
        ///
        /// # Safety
        /// As the C function says.
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> *mut $made {
            $($($before)*)?
            // SAFETY: our caller keeps to the C function's contract, which makes what it returns.
            let $result = unsafe { Made::new(platform::$name($($arg),*)) };
            $after;
            $result.get()
        }
    )*};
}

hooks! {
    __cxa_thread_atexit_impl, cxa_thread_atexit_impl(destructor: Destructor, object: *mut c_void, dso: *mut c_void) -> c_int => thread_atexit;
    pthread_key_create, pthread_key_create(key: *mut c_uint, destructor: Option<Destructor>) -> c_int => key_create;
    pthread_key_delete, pthread_key_delete(key: c_uint) -> c_int => key_delete;
    pthread_setspecific, pthread_setspecific(key: c_uint, value: *const c_void) -> c_int => key_set;
    pthread_create, pthread_create(thread: *mut usize, attributes: *const c_void, start: ThreadStart, argument: *mut c_void) -> c_int => thread_create;
    pthread_join, pthread_join(thread: usize, result: *mut *mut c_void) -> c_int => thread_join;
    pthread_detach, pthread_detach(thread: usize) -> c_int => thread_detach;
    sigaction, sigaction(signal: c_int, action: *const c_void, old: *mut c_void) -> c_int => signal_action;
    signal, signal(signal: c_int, handler: usize) -> usize => signal;
    __cxa_atexit, cxa_atexit(handler: Destructor, argument: *mut c_void, dso: *mut c_void) -> c_int => at_exit;
    on_exit, on_exit(handler: OnExit, argument: *mut c_void) -> c_int => on_exit;
    mmap, mmap(address: *mut c_void, len: usize, protection: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void => map;
    munmap, munmap(address: *mut c_void, len: usize) -> c_int => unmap;
    mremap, mremap(address: *mut c_void, old_len: usize, new_len: usize, flags: c_int, new_address: *mut c_void) -> *mut c_void => remap;
    shmat, shmat(segment: c_int, address: *const c_void, flags: c_int) -> *mut c_void => segment_attach;
    shmdt, shmdt(address: *const c_void) -> c_int => segment_detach;
    malloc, malloc(size: usize) -> *mut c_void => malloc;
    calloc, calloc(count: usize, size: usize) -> *mut c_void => calloc;
    realloc, realloc(old: *mut c_void, size: usize) -> *mut c_void => realloc;
    posix_memalign, posix_memalign(out: *mut *mut c_void, alignment: usize, size: usize) -> c_int => memalign;
    free, free(block: *mut c_void) => free;
}

/// `reallocarray` of this module. The platform's would move a block that the host knows behind its back.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn reallocarray(old: *mut c_void, count: usize, size: usize) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: our caller keeps to the C function's contract, which is that of `realloc` but for the product.
        Some(size) => unsafe { realloc(old, size) },
        None => null_mut(),
    }
}
