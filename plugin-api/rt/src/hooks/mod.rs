//! The module's own copies of the C functions by which it could leave something behind: thread-locals, threads, exit
//! handlers, signals, memory and file descriptors. Whatever is linked into the module binds to them: they are hidden
//! definitions, so the linker prefers them to the platform's, and nobody else sees them.
//!
//! With a host, each hands over to the host's function of [`HookTable`](alcedo_abi::hooks::HookTable). Without one, as
//! in a foreign loader, each is the platform's function. Only a library with a `module!` has them: the C names are
//! defined by [`__alcedo_hooks`](crate::__alcedo_hooks), which that macro writes, so that tests and programs which
//! merely link this crate keep the platform's.

#[macro_use]
mod functions;
mod blocks;
mod closing;
mod descriptors;
mod forks;
mod lookups;
mod notes;
pub(crate) mod platform;
mod signals;
mod tables;
mod told;

#[cfg(target_arch = "x86_64")]
pub use blocks::{__asprintf_chk, asprintf};
pub use blocks::{
    __vasprintf_chk, canonicalize_file_name, get_current_dir_name, getcwd, getdelim, getline, realpath, strdup,
    strndup, vasprintf,
};
pub use closing::putenv;
pub use core::arch::global_asm;
pub use descriptors::{
    accept, accept4, close, creat, dup, dup2, dup3, epoll_create, epoll_create1, eventfd, fcntl, fdopen, fdopendir,
    inotify_init, inotify_init1, memfd_create, mkostemp, mkstemp, open, openat, pipe, pipe2, signalfd, socket,
    socketpair, timerfd_create,
};
pub use forks::{AtFork, register_atfork};
pub use functions::{
    calloc, cxa_atexit, cxa_thread_atexit_impl, free, malloc, mmap, mremap, munmap, on_exit, posix_memalign,
    pthread_create, pthread_detach, pthread_join, pthread_key_create, pthread_key_delete, pthread_setspecific, realloc,
    reallocarray, shmat, shmdt, sigaction, signal,
};
pub use lookups::{HookedName, dlsym, dlvsym};
pub use platform::resolve;
#[cfg(target_arch = "x86_64")]
pub use signals::vfork;
pub use signals::{
    __longjmp_chk, _longjmp, aio_fsync, aio_read, aio_write, alarm, fork, getaddrinfo_a, ioctl, lio_listio, longjmp,
    mq_close, mq_notify, mq_open, posix_spawn, posix_spawnp, setitimer, sigaltstack, siglongjmp, timer_create,
    timer_delete, ualarm,
};
pub use tables::{
    StreamFunctions, closedir, deregister_frame, fclose, fmemopen, fopen, fopencookie, initstate, open_memstream,
    open_wmemstream, opendir, openlog, pclose, popen, register_frame, setbuf, setbuffer, setstate, setvbuf, tmpfile,
};
pub use told::{pthread_setname_np, syscall};
