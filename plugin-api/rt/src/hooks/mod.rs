//! The module's own definitions of C functions that leave state in the process: thread-locals, threads, exit handlers, signals, memory and
//! file descriptors. The linker binds all code of the module to these hidden definitions instead of the platform's functions. Code outside
//! the module cannot bind to them.
//!
//! While a host is present, each hook calls the host's function in [`HookTable`](alcedo_abi::hooks::HookTable). Without a host, for example
//! in a foreign loader, the hook calls the platform's function. Only a library with `module!` has hooks, because this macro expands to
//! [`__alcedo_hooks`](crate::__alcedo_hooks), which defines the C names. Tests and programs that only link this crate use the platform's
//! functions.

#[macro_use]
mod trampolines;
mod assembly;
mod blocks;
mod closing;
mod descriptors;
mod functions;
mod lookups;
mod notes;
pub(crate) mod platform;
mod signals;
mod tables;
mod thread_names;

#[cfg(target_arch = "x86_64")]
pub use assembly::{__asprintf_chk, asprintf, vfork};
pub use blocks::{
    __vasprintf_chk, canonicalize_file_name, get_current_dir_name, getcwd, getdelim, getline, has_own_heap, realpath,
    strdup, strndup, vasprintf,
};
pub use core::arch::global_asm;
pub use descriptors::{
    accept, accept4, close, creat, dup, dup2, dup3, epoll_create, epoll_create1, eventfd, fdopen, fdopendir,
    inotify_init, inotify_init1, ioctl, memfd_create, mkostemp, mkstemp, mq_close, mq_open, open, openat, pipe, pipe2,
    signalfd, socket, socketpair, timerfd_create,
};
pub use functions::{
    __cxa_atexit, __cxa_thread_atexit_impl, aio_fsync, aio_read, aio_write, alarm, calloc, fopencookie, free,
    getaddrinfo_a, initstate, lio_listio, malloc, mmap, mq_notify, mremap, munmap, on_exit, openlog, posix_memalign,
    pthread_create, pthread_detach, pthread_join, pthread_key_create, pthread_key_delete, pthread_setspecific, realloc,
    setitimer, setstate, shmat, shmdt, sigaction, sigaltstack, signal, timer_create, timer_delete, ualarm,
};
pub use platform::{AtFork, resolve};
pub use signals::{__longjmp_chk, _longjmp, fork, longjmp, posix_spawn, posix_spawnp, siglongjmp};
pub use tables::{
    __deregister_frame as deregister_frame, StreamFunctions, closedir, fmemopen, fopen, open_memstream,
    open_wmemstream, opendir, pclose, popen, tmpfile,
};
pub use trampolines::{
    HookedName, dlsym, dlvsym, fclose, fcntl, pthread_setname_np, putenv, reallocarray, register_atfork,
    register_frame, setbuf, setbuffer, setvbuf, syscall,
};
