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

use super::c::callbacks::{OfValues, Promised, c_on_exit, c_thread_atexit};
use super::c::kernel::set_errno;
use super::exits::Handler;
use super::streams::StreamFunctions;
use super::{c_heap, exits, fds, frames, locals, names, random, rings, signals, streams, system_log, threads};
use crate::ledger::Ledger;

pub use super::c::callbacks::{Deregister, Destructor, OnExit, ThreadStart};
pub use super::signal_hooks::{
    alarm, alternate_stack, child_started, fd_signals, interval_timer, io_begin, io_begin_list, jumps, names_begin,
    queue_notify, timer_create, timer_delete, ualarm,
};

/// Hooks that stand for functions of the C library: `fn hook(image, arguments) = the call of the C function;` and what is done
/// with the ledger of the image, where `original` makes that call. In a child made by `fork` the call is all that is done, and
/// so it is where the image has no repair of the name after `in`. A hook that is a report has no call.
macro_rules! hooks {
    ($(
        $(#[$about:meta])*
        fn $name:ident($image:ident $(, $argument:ident: $type:ty)* $(,)?) -> $result:ty = $original:expr;
        $(in $repair:ident)? |$ledger:ident, $call:ident| $recorded:expr
    )*) => {$(
        $(#[$about])*
        pub unsafe extern "C" fn $name($image: *const c_void $(, $argument: $type)*) -> $result {
            // SAFETY: the module that has called this hook promises what the C function of its name demands of the arguments. It
            // was given the word of its ledger, which lives as long as the module.
            let ($call, $ledger) = unsafe { (|| $original, $crate::imp::linux::hooks::borrow($image)) };
            let is_child = $crate::imp::linux::fork::is_child();
            if is_child $(|| !$ledger.has_repair($crate::imp::linux::$repair::REPAIR.name))? {
                return $call();
            }
            $recorded
        }
    )*};
}
pub(super) use hooks;

hooks! {
    /// `__cxa_thread_atexit_impl`.
    fn thread_atexit(image, destructor: Destructor, object: *mut c_void, dso: *mut c_void) -> c_int
        = c_thread_atexit(destructor, object, dso);
    in locals |ledger, _original| {
        // SAFETY: the module promises that the destructor may be called with the object, once, when this thread ends.
        let promised = unsafe { Promised::new(destructor, object) };
        ledger.records.locals.register(share(ledger), promised);
        0
    }

    /// `pthread_key_create`.
    fn key_create(image, key: *mut c_uint, destructor: Option<Destructor>) -> c_int
        = libc::pthread_key_create(key, destructor);
    in locals |ledger, _original| {
        // SAFETY: the module promises that the destructor may be called with values of the key, on threads that have them.
        let destructor = destructor.map(|destructor| unsafe { OfValues::new(destructor) });
        match ledger.records.locals.create_key(destructor) {
            Ok(made) => {
                // SAFETY: the module promises a place for a key.
                unsafe { key.write(made) };
                0
            }
            Err(error) => error,
        }
    }

    /// `pthread_key_delete`.
    fn key_delete(image, key: c_uint) -> c_int = libc::pthread_key_delete(key);
    |ledger, original| ledger.records.locals.delete_key(key, original)

    /// `pthread_setspecific`.
    fn key_set(image, key: c_uint, value: *const c_void) -> c_int = libc::pthread_setspecific(key, value);
    in locals |ledger, original| ledger.records.locals.set_value(share(ledger), key, value.is_null(), original)

    /// `pthread_create`.
    fn thread_create(
        image,
        thread: *mut usize,
        attributes: *const c_void,
        start: ThreadStart,
        argument: *mut c_void,
    ) -> c_int = threads::create_plainly(thread, attributes, start, argument);
    in threads |ledger, _original| {
        if ledger.refuses("pthread_create") {
            return libc::EAGAIN;
        }
        // SAFETY: the module promises what `pthread_create` demands.
        unsafe { threads::create(share(ledger), thread, attributes, start, argument) }
    }

    /// `pthread_join`.
    fn thread_join(image, thread: usize, result: *mut *mut c_void) -> c_int
        = libc::pthread_join(thread as libc::pthread_t, result);
    |_ledger, original| threads::join(thread, original)

    /// `pthread_detach`.
    fn thread_detach(image, thread: usize) -> c_int = libc::pthread_detach(thread as libc::pthread_t);
    |_ledger, original| threads::detach(thread, original)

    /// `mmap`.
    fn map(
        image,
        address: *mut c_void,
        len: usize,
        protection: c_int,
        flags: c_int,
        fd: c_int,
        offset: i64,
    ) -> *mut c_void = libc::mmap(address, len, protection, flags, fd, offset);
    |ledger, original| ledger.records.pages.map(len, original)

    /// `munmap`.
    fn unmap(image, address: *mut c_void, len: usize) -> c_int = libc::munmap(address, len);
    |ledger, _original| {
        // SAFETY: the module promises that nothing uses the pages, as `munmap` demands.
        unsafe { ledger.records.pages.unmap(address, len) }
    }

    /// `mremap`.
    fn remap(
        image,
        address: *mut c_void,
        old_len: usize,
        new_len: usize,
        flags: c_int,
        new_address: *mut c_void,
    ) -> *mut c_void = libc::mremap(address, old_len, new_len, flags, new_address);
    |ledger, original| {
        let to = (flags & libc::MREMAP_FIXED != 0).then_some(new_address);
        ledger.records.pages.remap((address, old_len), new_len, to, flags & libc::MREMAP_DONTUNMAP != 0, original)
    }

    /// `sigaction`; both are `struct sigaction` of the platform, or null.
    fn signal_action(image, signal: c_int, action: *const c_void, old: *mut c_void) -> c_int
        = libc::sigaction(signal, action.cast(), old.cast());
    in sources |ledger, _original| {
        // SAFETY: the module promises an action, or null.
        let action = unsafe { action.cast::<libc::sigaction>().as_ref() };
        if action.is_some_and(|action| signals::is_handler(action.sa_sigaction)) && ledger.refuses("sigaction") {
            set_errno(libc::EINVAL);
            return -1;
        }
        match signals::set(image.addr(), signal, action) {
            Ok(before) => {
                if !old.is_null() {
                    // SAFETY: the module promises a place for an action.
                    unsafe { old.cast::<libc::sigaction>().write(before) };
                }
                0
            }
            Err(error) => {
                set_errno(error);
                -1
            }
        }
    }

    /// `signal`; handlers as words.
    fn signal(image, signal: c_int, handler: usize) -> usize = libc::signal(signal, handler);
    in sources |ledger, _original| {
        if signals::is_handler(handler) && ledger.refuses("signal") {
            set_errno(libc::EINVAL);
            return libc::SIG_ERR;
        }
        signals::set_simply(image.addr(), signal, handler).unwrap_or_else(|error| {
            set_errno(error);
            libc::SIG_ERR
        })
    }

    /// `__cxa_atexit`.
    fn at_exit(image, handler: Destructor, argument: *mut c_void, dso: *mut c_void) -> c_int
        = c_at_exit(handler, argument, dso);
    in exits |ledger, _original| {
        if ledger.refuses("__cxa_atexit") {
            return -1;
        }
        // SAFETY: the module promises that the handler may be called with this argument, once, on any thread.
        exits::register(image.addr(), Handler::Plain(unsafe { Promised::new(handler, argument) }));
        0
    }

    /// `on_exit`.
    fn on_exit(image, handler: OnExit, argument: *mut c_void) -> c_int = c_on_exit(handler, argument);
    in exits |ledger, _original| {
        if ledger.refuses("on_exit") {
            return -1;
        }
        // SAFETY: the module promises that the handler may be called with this argument, once, on any thread.
        exits::register(image.addr(), Handler::WithStatus(unsafe { Promised::new(handler, argument) }));
        0
    }

    /// `malloc`.
    fn malloc(image, size: usize) -> *mut c_void = libc::malloc(size);
    |_ledger, original| c_heap::taken(image.addr(), size, original())

    /// `calloc`.
    fn calloc(image, count: usize, size: usize) -> *mut c_void = libc::calloc(count, size);
    |_ledger, original| c_heap::taken(image.addr(), count.wrapping_mul(size), original())

    /// `realloc`.
    fn realloc(image, old: *mut c_void, size: usize) -> *mut c_void = libc::realloc(old, size);
    |_ledger, original| c_heap::moved(image.addr(), old, size, original)

    /// `posix_memalign`.
    fn memalign(image, out: *mut *mut c_void, alignment: usize, size: usize) -> c_int
        = libc::posix_memalign(out, alignment, size);
    |_ledger, original| {
        let result = original();
        if result == 0 {
            // SAFETY: the C function has written a block to the place that the module promises.
            c_heap::taken(image.addr(), size, unsafe { out.read() });
        }
        result
    }

    /// `free`.
    fn free(image, block: *mut c_void) -> () = libc::free(block);
    |_ledger, original| c_heap::freed(block, original)

    /// `shmat`.
    fn segment_attach(image, segment: c_int, address: *const c_void, flags: c_int) -> *mut c_void
        = libc::shmat(segment, address, flags);
    |ledger, original| ledger.records.pages.attach(segment, original)

    /// `shmdt`.
    fn segment_detach(image, address: *const c_void) -> c_int = libc::shmdt(address);
    |ledger, original| ledger.records.pages.detach(address, original)

    /// `openlog`.
    fn log_open(image, ident: *const c_char, option: c_int, facility: c_int) -> ()
        = libc::openlog(ident, option, facility);
    in system_log |_ledger, _original| {
        // SAFETY: the module promises a C string, or null; the C library gets one that stays for ever.
        unsafe {
            let ident = if ident.is_null() { ident } else { system_log::keep(CStr::from_ptr(ident)) };
            libc::openlog(ident, option, facility);
        }
    }

    /// `initstate`.
    fn random_init(image, seed: c_uint, state: *mut c_char, size: usize) -> *mut c_char
        = random::initstate(seed, state, size);
    in random |ledger, original| {
        if gives_own_memory(ledger, state.cast(), "initstate") {
            set_errno(libc::EINVAL);
            return std::ptr::null_mut();
        }
        random::moved(original)
    }

    /// `setstate`.
    fn random_set(image, state: *mut c_char) -> *mut c_char = random::setstate(state);
    in random |ledger, original| {
        if gives_own_memory(ledger, state.cast(), "setstate") {
            set_errno(libc::EINVAL);
            return std::ptr::null_mut();
        }
        random::moved(original)
    }

    /// A function of the C library has made this block for the module, which is to free it; or null.
    fn block_made(image, block: *mut c_void) -> () = ();
    |_ledger, _none| if !block.is_null() {
        // SAFETY: the module promises a living block.
        let size = unsafe { libc::malloc_usable_size(block) };
        c_heap::taken(image.addr(), size, block);
    }

    /// A function of the C library is about to move or free this block; zero if it was on no module's record.
    fn block_lent(image, block: *mut c_void) -> c_int = 0;
    |_ledger, _none| c_int::from(c_heap::lent(block))

    /// A function of the C library gave the module this descriptor.
    fn fd_opened(image, fd: c_int) -> () = ();
    |ledger, _none| {
        fds::opened(image.addr(), fd);
        let ring = rings::of_descriptor(fd).filter(|_| ledger.has_repair(rings::REPAIR.name));
        ring.into_iter().for_each(|ring| ledger.records.rings.opened(ring));
    }

    /// The module is about to close this descriptor.
    fn fd_closed(image, fd: c_int) -> () = ();
    |_ledger, _none| fds::closed(fd)

    /// The unwinder has taken the table at `begin`, and takes it back by `deregister`.
    fn frame_registered(image, begin: *const c_void, deregister: Deregister) -> () = ();
    in frames |ledger, _none| {
        // SAFETY: the unwinder has given this function to take the table back with, once.
        frames::registered(image.addr(), unsafe { Promised::new(deregister, begin.cast_mut()) });
        if ledger.refuses("__register_frame") {
            frames::take_back(image.addr());
        }
    }

    /// The module is about to take the table at `begin` back; zero if that was done for it.
    fn frame_deregistered(image, begin: *const c_void) -> c_int = 1;
    in frames |_ledger, _none| c_int::from(frames::deregistered(begin))

    /// `fopencookie`; `functions` are a `cookie_io_functions_t` of the platform.
    fn stream_open(
        image,
        cookie: *mut c_void,
        mode: *const c_char,
        functions: *const c_void,
    ) -> *mut c_void = streams::fopencookie(cookie, mode, functions.cast::<StreamFunctions>().read());
    in streams |ledger, _original| {
        if ledger.refuses("fopencookie") {
            set_errno(libc::ENOMEM);
            return std::ptr::null_mut();
        }
        // SAFETY: the module promises functions, and that they may be called with the cookie, and a mode.
        unsafe { streams::open(image.addr(), cookie, mode, functions.cast::<StreamFunctions>().read()) }
    }

    /// A function of the C library has made a stream that has a descriptor: one of `fopen` (0), `fdopen` (1), `tmpfile` (2),
    /// `popen` (3), `opendir` (4) and `fdopendir` (5).
    fn stream_opened(image, stream: *mut c_void, fd: c_int, made_by: c_int) -> () = ();
    |_ledger, _none| fds::stream_opened(image.addr(), fd, stream, fds::Maker::of(made_by))

    /// A function of the C library has made a stream that writes into memory of the module: one of `open_memstream` (0),
    /// `open_wmemstream` (1) and `fmemopen` (2). The first two write the address of a block to `place`.
    fn stream_bound(image, stream: *mut c_void, made_by: c_int, place: *const *mut c_void) -> () = ();
    in streams |_ledger, _none| {
        let name = match made_by {
            0 => "open_memstream",
            1 => "open_wmemstream",
            _ => "fmemopen",
        };
        streams::bound(image.addr(), stream, name, place);
    }

    /// The module is about to close this stream. Where the address of a block will be then that is the module's; or null.
    fn stream_closed(image, stream: *mut c_void) -> *const *mut c_void = std::ptr::null();
    |_ledger, _none| {
        fds::stream_closed(stream);
        streams::closed(stream)
    }

    /// The calling thread has got a name; `len` bytes of it, which may be any but zero.
    fn thread_named(image, name: *const u8, len: usize) -> () = ();
    |_ledger, _none| if let Some(started) = locals::started_here() {
        // SAFETY: the module promises so many bytes.
        names::told(&started, unsafe { std::slice::from_raw_parts(name, len) });
    }

    /// `dlsym` has found this address for the module.
    fn looked_up(image, found: *const c_void) -> () = ();
    |ledger, _none| ledger.records.lookups.note(found.addr())

    /// Checks if the module is being closed, so that `function`, which is only reported to the host, has to be refused.
    fn refuses(image, function: *const c_char) -> c_int = 0;
    |ledger, _none| {
        // SAFETY: the module promises a C string.
        c_int::from(ledger.refuses(&unsafe { CStr::from_ptr(function) }.to_string_lossy()))
    }
}

/// Whether an image that is being closed wants `function` to keep an address of its own memory: that is then refused. What it
/// had found there before, it may put back.
pub(super) fn gives_own_memory(ledger: &Ledger, address: *const c_void, function: &str) -> bool {
    ledger.is_closing() && ledger.records.memory(ledger)(address.addr()) && ledger.refuses(function)
}

/// Fresh zeroed pages for the module's own heap, `len` a multiple of 64 KiB and so aligned; null when there are none.
pub unsafe extern "C" fn heap_grow(image: *const c_void, len: usize) -> *mut c_void {
    // SAFETY: our caller promises that it is a living ledger's word.
    unsafe { borrow(image) }.records.pages.grow(len)
}

/// Gives pages of [`heap_grow`] back.
pub unsafe extern "C" fn heap_shrink(image: *const c_void, address: *mut c_void, len: usize) {
    // SAFETY: our caller promises that it is a living ledger's word, and that nothing uses these pages.
    unsafe { borrow(image).records.pages.shrink(address, len) };
}

/// # Safety
///
/// The word is that of a ledger that lives.
pub(super) unsafe fn borrow<'a>(image: *const c_void) -> &'a Ledger {
    // SAFETY: our caller promises a living ledger.
    unsafe { &*image.cast::<Ledger>() }
}

/// One more share of a ledger.
pub(super) fn share(ledger: &Ledger) -> Arc<Ledger> {
    // SAFETY: ledgers are only made as shares, of which one lives as long as this one is borrowed; what is taken is the share
    // that was just added.
    unsafe {
        Arc::increment_strong_count(ledger);
        Arc::from_raw(ledger)
    }
}

unsafe extern "C" {
    #[link_name = "__cxa_atexit"]
    fn c_at_exit(handler: Destructor, argument: *mut c_void, dso: *mut c_void) -> c_int;
}
