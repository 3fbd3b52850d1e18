//! Hooks that the host implements. While a host is present, a hook calls the host's function instead of the platform's function.

use core::ffi::{c_int, c_uint, c_void};

use alcedo_abi::hooks::{Destructor, OnExit, ThreadStart};

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
