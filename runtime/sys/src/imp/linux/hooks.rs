//! The functions that the hooks of a module call, one for each function of the C library that can leave something
//! behind. Each does what the C function does and writes it down in the ledger of the image; in a child made by `fork`
//! it only does it.
//!
//! Their types are those of the table in the border crate, which this crate does not know; the runtime compares them.
//! All may be called on any thread and none unwinds.
//!
//! # Safety
//!
//! For all of them: `image` is [`Ledger::word`] of a ledger that lives, and the other arguments are what the C function
//! of the same name demands.
#![expect(unsafe_code, reason = "they stand for functions of the C library")]
#![expect(clippy::missing_safety_doc, reason = "the promise is the same for all and stands above")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::Arc;

use super::c::kernel::set_errno;
use super::exits::Handler;
use super::streams::StreamFunctions;
use super::{c_heap, exits, fds, fork, frames, names, random, rings, signals, streams, system_log, threads};
use crate::ledger::Ledger;

pub use super::signal_hooks::{
    alarm, alternate_stack, child_started, fd_signals, interval_timer, io_begin, io_begin_list, jumps, names_begin,
    queue_notify, timer_create, timer_delete, ualarm,
};

/// The destructor of a thread-local, and of a thread-specific value.
pub type Destructor = unsafe extern "C" fn(*mut c_void);

/// The start routine of a thread.
pub type ThreadStart = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

/// A handler for `on_exit`.
pub type OnExit = unsafe extern "C" fn(c_int, *mut c_void);

/// `__cxa_thread_atexit_impl`.
pub unsafe extern "C" fn thread_atexit(
    image: *const c_void,
    destructor: Destructor,
    object: *mut c_void,
    dso: *mut c_void,
) -> c_int {
    if fork::is_child() {
        // SAFETY: our caller promises what the C function demands.
        return unsafe { c_thread_atexit(destructor, object, dso) };
    }
    // SAFETY: our caller promises that it is a living ledger's word.
    let ledger = unsafe { share(image) };
    Arc::clone(&ledger).records.locals.register(ledger, destructor, object);
    0
}

/// `pthread_key_create`.
pub unsafe extern "C" fn key_create(image: *const c_void, key: *mut c_uint, destructor: Option<Destructor>) -> c_int {
    if fork::is_child() {
        // SAFETY: our caller promises what the C function demands.
        return unsafe { libc::pthread_key_create(key, destructor) };
    }
    // SAFETY: our caller promises that it is a living ledger's word.
    let ledger = unsafe { borrow(image) };
    // SAFETY: our caller promises a place for a key.
    unsafe { ledger.records.locals.create_key(key, destructor) }
}

/// `pthread_key_delete`.
pub unsafe extern "C" fn key_delete(image: *const c_void, key: c_uint) -> c_int {
    if fork::is_child() {
        // SAFETY: our caller promises what the C function demands.
        return unsafe { libc::pthread_key_delete(key) };
    }
    // SAFETY: our caller promises that it is a living ledger's word.
    let ledger = unsafe { borrow(image) };
    // SAFETY: our caller promises that the key is theirs.
    unsafe { ledger.records.locals.delete_key(key) }
}

/// `pthread_setspecific`.
pub unsafe extern "C" fn key_set(image: *const c_void, key: c_uint, value: *const c_void) -> c_int {
    if fork::is_child() {
        // SAFETY: our caller promises what the C function demands.
        return unsafe { libc::pthread_setspecific(key, value) };
    }
    // SAFETY: our caller promises that it is a living ledger's word.
    let ledger = unsafe { share(image) };
    // SAFETY: our caller promises a living key.
    unsafe { Arc::clone(&ledger).records.locals.set_value(ledger, key, value) }
}

/// `pthread_create`.
pub unsafe extern "C" fn thread_create(
    image: *const c_void,
    thread: *mut usize,
    attributes: *const c_void,
    start: ThreadStart,
    argument: *mut c_void,
) -> c_int {
    if fork::is_child() {
        // SAFETY: our caller promises what the C function demands.
        return unsafe { threads::create_plainly(thread, attributes, start, argument) };
    }
    // SAFETY: our caller promises that it is a living ledger's word.
    let ledger = unsafe { share(image) };
    if ledger.records.refuses("pthread_create") {
        return libc::EAGAIN;
    }
    // SAFETY: our caller promises what the C function demands.
    unsafe { threads::create(ledger, thread, attributes, start, argument) }
}

/// `pthread_join`.
pub unsafe extern "C" fn thread_join(_image: *const c_void, thread: usize, result: *mut *mut c_void) -> c_int {
    if fork::is_child() {
        // SAFETY: our caller promises what the C function demands.
        return unsafe { libc::pthread_join(thread as libc::pthread_t, result) };
    }
    // SAFETY: our caller promises what the C function demands.
    unsafe { threads::join(thread, result) }
}

/// `pthread_detach`.
pub unsafe extern "C" fn thread_detach(_image: *const c_void, thread: usize) -> c_int {
    if fork::is_child() {
        // SAFETY: our caller promises what the C function demands.
        return unsafe { libc::pthread_detach(thread as libc::pthread_t) };
    }
    // SAFETY: our caller promises what the C function demands.
    unsafe { threads::detach(thread) }
}

/// `mmap`.
pub unsafe extern "C" fn map(
    image: *const c_void,
    address: *mut c_void,
    len: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    if fork::is_child() {
        // SAFETY: our caller promises what the C function demands.
        return unsafe { libc::mmap(address, len, protection, flags, fd, offset) };
    }
    // SAFETY: our caller promises that it is a living ledger's word.
    let ledger = unsafe { borrow(image) };
    // SAFETY: our caller promises what the C function demands.
    unsafe { ledger.records.pages.map(address, len, protection, flags, fd, offset) }
}

/// `munmap`.
pub unsafe extern "C" fn unmap(image: *const c_void, address: *mut c_void, len: usize) -> c_int {
    if fork::is_child() {
        // SAFETY: our caller promises what the C function demands.
        return unsafe { libc::munmap(address, len) };
    }
    // SAFETY: our caller promises that it is a living ledger's word.
    let ledger = unsafe { borrow(image) };
    // SAFETY: our caller promises what the C function demands.
    unsafe { ledger.records.pages.unmap(address, len) }
}

/// `mremap`.
pub unsafe extern "C" fn remap(
    image: *const c_void,
    address: *mut c_void,
    old_len: usize,
    new_len: usize,
    flags: c_int,
    new_address: *mut c_void,
) -> *mut c_void {
    if fork::is_child() {
        // SAFETY: our caller promises what the C function demands.
        return unsafe { libc::mremap(address, old_len, new_len, flags, new_address) };
    }
    // SAFETY: our caller promises that it is a living ledger's word.
    let ledger = unsafe { borrow(image) };
    // SAFETY: our caller promises what the C function demands.
    unsafe { ledger.records.pages.remap(address, old_len, new_len, flags, new_address) }
}

/// `sigaction`; both are `struct sigaction` of the platform, or null.
pub unsafe extern "C" fn signal_action(
    image: *const c_void,
    signal: c_int,
    action: *const c_void,
    old: *mut c_void,
) -> c_int {
    if fork::is_child() {
        // SAFETY: our caller promises what the C function demands.
        return unsafe { libc::sigaction(signal, action.cast(), old.cast()) };
    }
    // SAFETY: our caller promises an action, or null.
    let action = unsafe { action.cast::<libc::sigaction>().as_ref() };
    if action.is_some_and(|action| signals::is_handler(action.sa_sigaction))
        // SAFETY: our caller promises that it is a living ledger's word.
        && unsafe { borrow(image) }.records.refuses("sigaction")
    {
        set_errno(libc::EINVAL);
        return -1;
    }
    match signals::set(image.addr(), signal, action) {
        Ok(_) if old.is_null() => 0,
        Ok(before) => {
            // SAFETY: our caller promises a place for an action.
            unsafe { old.cast::<libc::sigaction>().write(before) };
            0
        }
        Err(error) => {
            set_errno(error);
            -1
        }
    }
}

/// `signal`; handlers as words.
pub unsafe extern "C" fn signal(image: *const c_void, signal: c_int, handler: usize) -> usize {
    if fork::is_child() {
        // SAFETY: our caller promises what the C function demands.
        return unsafe { libc::signal(signal, handler) };
    }
    // SAFETY: our caller promises that it is a living ledger's word.
    if signals::is_handler(handler) && unsafe { borrow(image) }.records.refuses("signal") {
        set_errno(libc::EINVAL);
        return libc::SIG_ERR;
    }
    signals::set_simply(image.addr(), signal, handler).unwrap_or_else(|error| {
        set_errno(error);
        libc::SIG_ERR
    })
}

/// `__cxa_atexit`.
pub unsafe extern "C" fn at_exit(
    image: *const c_void,
    handler: Destructor,
    argument: *mut c_void,
    dso: *mut c_void,
) -> c_int {
    if fork::is_child() {
        // SAFETY: our caller promises what the C function demands.
        return unsafe { c_at_exit(handler, argument, dso) };
    }
    // SAFETY: our caller promises that it is a living ledger's word.
    if unsafe { borrow(image) }.records.refuses("__cxa_atexit") {
        return -1;
    }
    exits::register(image.addr(), Handler::Plain(handler), argument);
    0
}

/// `on_exit`.
pub unsafe extern "C" fn on_exit(image: *const c_void, handler: OnExit, argument: *mut c_void) -> c_int {
    if fork::is_child() {
        // SAFETY: our caller promises what the C function demands.
        return unsafe { c_on_exit(handler, argument) };
    }
    // SAFETY: our caller promises that it is a living ledger's word.
    if unsafe { borrow(image) }.records.refuses("on_exit") {
        return -1;
    }
    exits::register(image.addr(), Handler::WithStatus(handler), argument);
    0
}

/// `malloc`.
pub unsafe extern "C" fn malloc(image: *const c_void, size: usize) -> *mut c_void {
    if fork::is_child() {
        // SAFETY: any size may be asked for.
        return unsafe { libc::malloc(size) };
    }
    c_heap::malloc(image.addr(), size)
}

/// `calloc`.
pub unsafe extern "C" fn calloc(image: *const c_void, count: usize, size: usize) -> *mut c_void {
    if fork::is_child() {
        // SAFETY: any sizes may be asked for.
        return unsafe { libc::calloc(count, size) };
    }
    c_heap::calloc(image.addr(), count, size)
}

/// `realloc`.
pub unsafe extern "C" fn realloc(image: *const c_void, old: *mut c_void, size: usize) -> *mut c_void {
    if fork::is_child() {
        // SAFETY: our caller promises what the C function demands.
        return unsafe { libc::realloc(old, size) };
    }
    // SAFETY: our caller promises what the C function demands.
    unsafe { c_heap::realloc(image.addr(), old, size) }
}

/// `posix_memalign`.
pub unsafe extern "C" fn memalign(image: *const c_void, out: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
    if fork::is_child() {
        // SAFETY: our caller promises what the C function demands.
        return unsafe { libc::posix_memalign(out, alignment, size) };
    }
    // SAFETY: our caller promises what the C function demands.
    unsafe { c_heap::memalign(image.addr(), out, alignment, size) }
}

/// `free`.
pub unsafe extern "C" fn free(_image: *const c_void, block: *mut c_void) {
    if fork::is_child() {
        // SAFETY: our caller promises what the C function demands.
        return unsafe { libc::free(block) };
    }
    // SAFETY: our caller promises what the C function demands.
    unsafe { c_heap::free(block) };
}

/// A function of the C library has made this block for the module, which is to free it; or null.
pub unsafe extern "C" fn block_made(image: *const c_void, block: *mut c_void) {
    if !fork::is_child() {
        // SAFETY: our caller promises a living block, or null.
        unsafe { c_heap::made(image.addr(), block) };
    }
}

/// A function of the C library is about to move or free this block; zero if it was on no module's record.
pub unsafe extern "C" fn block_lent(_image: *const c_void, block: *mut c_void) -> c_int {
    c_int::from(!fork::is_child() && c_heap::lent(block))
}

/// `shmat`.
pub unsafe extern "C" fn segment_attach(
    image: *const c_void,
    segment: c_int,
    address: *const c_void,
    flags: c_int,
) -> *mut c_void {
    if fork::is_child() {
        // SAFETY: our caller promises what the C function demands.
        return unsafe { libc::shmat(segment, address, flags) };
    }
    // SAFETY: our caller promises that it is a living ledger's word.
    let ledger = unsafe { borrow(image) };
    // SAFETY: our caller promises what the C function demands.
    unsafe { ledger.records.pages.attach(segment, address, flags) }
}

/// `shmdt`.
pub unsafe extern "C" fn segment_detach(image: *const c_void, address: *const c_void) -> c_int {
    if fork::is_child() {
        // SAFETY: our caller promises what the C function demands.
        return unsafe { libc::shmdt(address) };
    }
    // SAFETY: our caller promises that it is a living ledger's word.
    let ledger = unsafe { borrow(image) };
    // SAFETY: our caller promises what the C function demands.
    unsafe { ledger.records.pages.detach(address) }
}

/// A function of the C library gave the module this descriptor.
pub unsafe extern "C" fn fd_opened(image: *const c_void, fd: c_int) {
    if !fork::is_child() {
        fds::opened(image.addr(), fd);
        if let Some(ring) = rings::of_descriptor(fd) {
            // SAFETY: our caller promises that it is a living ledger's word.
            unsafe { borrow(image) }.records.rings.opened(ring);
        }
    }
}

/// The module is about to close this descriptor.
pub unsafe extern "C" fn fd_closed(_image: *const c_void, fd: c_int) {
    if !fork::is_child() {
        fds::closed(fd);
    }
}

pub use super::frames::Deregister;

/// The unwinder has taken the table at `begin`, and takes it back by `deregister`.
pub unsafe extern "C" fn frame_registered(image: *const c_void, begin: *const c_void, deregister: Deregister) {
    if !fork::is_child() {
        frames::registered(image.addr(), begin, deregister);
        // SAFETY: our caller promises that it is a living ledger's word.
        if unsafe { borrow(image) }.records.refuses("__register_frame") {
            frames::take_back(image.addr());
        }
    }
}

/// The module is about to take the table at `begin` back; zero if that was done for it.
pub unsafe extern "C" fn frame_deregistered(_image: *const c_void, begin: *const c_void) -> c_int {
    c_int::from(fork::is_child() || frames::deregistered(begin))
}

/// `fopencookie`; `functions` are a `cookie_io_functions_t` of the platform.
pub unsafe extern "C" fn stream_open(
    image: *const c_void,
    cookie: *mut c_void,
    mode: *const c_char,
    functions: *const c_void,
) -> *mut c_void {
    // SAFETY: our caller promises that it is a living ledger's word.
    if !fork::is_child() && unsafe { borrow(image) }.records.refuses("fopencookie") {
        set_errno(libc::ENOMEM);
        return std::ptr::null_mut();
    }
    // SAFETY: our caller promises functions.
    let functions = unsafe { functions.cast::<StreamFunctions>().read() };
    // SAFETY: our caller promises what the C function demands.
    unsafe { streams::open(image.addr(), cookie, mode, functions) }
}

/// A function of the C library has made a stream that has a descriptor: one of `fopen` (0), `fdopen` (1), `tmpfile` (2),
/// `popen` (3), `opendir` (4) and `fdopendir` (5).
pub unsafe extern "C" fn stream_opened(image: *const c_void, stream: *mut c_void, fd: c_int, made_by: c_int) {
    if !fork::is_child() {
        fds::stream_opened(image.addr(), fd, stream, fds::Maker::of(made_by));
    }
}

/// A function of the C library has made a stream that writes into memory of the module: one of `open_memstream` (0),
/// `open_wmemstream` (1) and `fmemopen` (2). The first two write the address of a block to `place`.
pub unsafe extern "C" fn stream_bound(
    image: *const c_void,
    stream: *mut c_void,
    made_by: c_int,
    place: *const *mut c_void,
) {
    if !fork::is_child() {
        let name = match made_by {
            0 => "open_memstream",
            1 => "open_wmemstream",
            _ => "fmemopen",
        };
        streams::bound(image.addr(), stream, name, place);
    }
}

/// The module is about to close this stream. Where the address of a block will be then that is the module's; or null.
pub unsafe extern "C" fn stream_closed(_image: *const c_void, stream: *mut c_void) -> *const *mut c_void {
    if fork::is_child() {
        return std::ptr::null();
    }
    fds::stream_closed(stream);
    streams::closed(stream)
}

/// `openlog`.
pub unsafe extern "C" fn log_open(_image: *const c_void, ident: *const c_char, option: c_int, facility: c_int) {
    if fork::is_child() {
        // SAFETY: our caller promises what the C function demands.
        return unsafe { libc::openlog(ident, option, facility) };
    }
    // SAFETY: our caller promises what the C function demands.
    unsafe { system_log::open(ident, option, facility) };
}

/// `initstate`.
pub unsafe extern "C" fn random_init(
    image: *const c_void,
    seed: c_uint,
    state: *mut c_char,
    size: usize,
) -> *mut c_char {
    // SAFETY: our caller promises that it is a living ledger's word.
    if !fork::is_child() && unsafe { gives_own_memory(image, state.cast(), "initstate") } {
        set_errno(libc::EINVAL);
        return std::ptr::null_mut();
    }
    // SAFETY: our caller promises what the C function demands.
    unsafe { random::init(seed, state, size) }
}

/// `setstate`.
pub unsafe extern "C" fn random_set(image: *const c_void, state: *mut c_char) -> *mut c_char {
    // SAFETY: our caller promises that it is a living ledger's word.
    if !fork::is_child() && unsafe { gives_own_memory(image, state.cast(), "setstate") } {
        set_errno(libc::EINVAL);
        return std::ptr::null_mut();
    }
    // SAFETY: our caller promises what the C function demands.
    unsafe { random::set(state) }
}

/// The calling thread has got a name; `len` bytes of it, which may be any but zero.
pub unsafe extern "C" fn thread_named(_image: *const c_void, name: *const u8, len: usize) {
    if !fork::is_child() {
        // SAFETY: our caller promises so many bytes.
        names::told(unsafe { std::slice::from_raw_parts(name, len) });
    }
}

/// Whether the module is being closed, so that `function`, of which the host is only told, has to be refused.
pub unsafe extern "C" fn refuses(image: *const c_void, function: *const c_char) -> c_int {
    if fork::is_child() {
        return 0;
    }
    // SAFETY: our caller promises a C string.
    let function = unsafe { CStr::from_ptr(function) }.to_string_lossy();
    // SAFETY: our caller promises that it is a living ledger's word.
    c_int::from(unsafe { borrow(image) }.records.refuses(&function))
}

/// Whether an image that is being closed wants `function` to keep an address of its own memory: that is then refused. What it
/// had found there before, it may put back.
///
/// # Safety
///
/// The word is that of a ledger that lives.
pub(super) unsafe fn gives_own_memory(image: *const c_void, address: *const c_void, function: &str) -> bool {
    // SAFETY: our caller promises it.
    let ledger = unsafe { borrow(image) };
    ledger.records.is_closing() && ledger.records.memory(ledger)(address.addr()) && ledger.records.refuses(function)
}

/// Fresh zeroed pages for the module's own heap, `len` a multiple of 64 KiB and so aligned; null when there are none.
pub unsafe extern "C" fn heap_grow(image: *const c_void, len: usize) -> *mut c_void {
    // SAFETY: our caller promises that it is a living ledger's word.
    unsafe { borrow(image) }.records.pages.grow(len)
}

/// Gives pages of [`heap_grow`] back.
pub unsafe extern "C" fn heap_shrink(image: *const c_void, address: *mut c_void, len: usize) {
    // SAFETY: our caller promises that it is a living ledger's word.
    let ledger = unsafe { borrow(image) };
    // SAFETY: our caller promises that nobody uses these pages.
    unsafe { ledger.records.pages.shrink(address, len) };
}

/// # Safety
///
/// The word is that of a ledger that lives.
pub(super) unsafe fn borrow<'a>(image: *const c_void) -> &'a Ledger {
    // SAFETY: our caller promises it.
    unsafe { &*image.cast::<Ledger>() }
}

/// # Safety
///
/// The word is that of a ledger that lives.
pub(super) unsafe fn share(image: *const c_void) -> Arc<Ledger> {
    let ledger = image.cast::<Ledger>();
    // SAFETY: ledgers are only made as shares, and our caller promises that one is left.
    unsafe { Arc::increment_strong_count(ledger) };
    // SAFETY: this is the share that was just added.
    unsafe { Arc::from_raw(ledger) }
}

unsafe extern "C" {
    #[link_name = "__cxa_thread_atexit_impl"]
    fn c_thread_atexit(destructor: Destructor, object: *mut c_void, dso: *mut c_void) -> c_int;
    #[link_name = "__cxa_atexit"]
    fn c_at_exit(handler: Destructor, argument: *mut c_void, dso: *mut c_void) -> c_int;
    #[link_name = "on_exit"]
    fn c_on_exit(handler: OnExit, argument: *mut c_void) -> c_int;
}
