//! Hook functions for modules, one for each function of the C library that can leave a resource behind. Each hook has the effect of its C
//! function, and records this effect in the ledger of the image that called the hook. In a child made by `fork`, a hook does not record
//! anything.
//!
//! The ABI crate declares a table of function pointers with the types of these hooks. Because this crate does not depend on the ABI crate,
//! the runtime crate checks that the types are equal. All hooks are callable on any thread. A hook never unwinds.
//!
//! # Safety
//!
//! For all hooks: `image` is [`Ledger::word`] of a live ledger, and the remaining arguments meet the requirements of the hooked C function.
#![expect(unsafe_code, reason = "hooks replace functions of the C library")]
#![expect(clippy::missing_safety_doc, reason = "the promise is equal for all and documented above")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::Arc;

use super::c::callbacks::{OfValues, Promised, c_on_exit, c_thread_atexit};
use super::c::kernel::fail;
use super::c::library::{initstate, setstate};
use super::streams::StreamFunctions;
use super::{
    c_heap, exits, fds, frames, handlers, locals, names, random, rings, signals, streams, system_log, threads,
};
use crate::ledger::Ledger;
use crate::ledger::uses::UseKind;

pub use super::c::callbacks::{Deregister, Destructor, OnExit, ThreadStart};
pub use super::signal_hooks::{
    alarm, alternate_stack, child_started, fd_signals, interval_timer, io_begin, io_begin_list, jumps, names_begin,
    queue_notify, timer_create, timer_delete, ualarm,
};

/// Defines hooks of C functions: `fn hook(image, arguments) = the call of the C function;`. A closure follows, which receives the image's
/// ledger and `original`. A call of `original()` calls the C function. In a child made by `fork`, and for an image without the repair named
/// after `in`, the hook only calls the C function. If the image is being closed, a hook with `refuses "function" with result` rejects its
/// calls and returns this result. A hook that only reports an event has a default result instead of a C function.
macro_rules! hooks {
    ($(
        $(#[$attribute:meta])*
        fn $name:ident($image:ident $(, $argument:ident: $type:ty)* $(,)?) -> $result:ty = $original:expr;
        $(in $repair:ident)? $(refuses $function:literal with $refusal:expr;)? |$ledger:ident, $call:ident| $recorded:expr
    )*) => {$(
        $(#[$attribute])*
        pub unsafe extern "C" fn $name($image: *const c_void $(, $argument: $type)*) -> $result {
            // SAFETY: the module that called this hook promises that the arguments meet the requirements of the C function of the same
            // name. The hook received the address of the module's ledger, which lives as long as the module.
            let ($call, $ledger) = unsafe { (|| $original, $crate::imp::linux::hooks::borrow($image)) };
            let is_child = $crate::imp::linux::fork::is_child();
            if is_child $(|| !$ledger.has_repair($crate::imp::linux::$repair::REPAIR.name))? {
                return $call();
            }
            $(if $ledger.refuses($function) {
                return $refusal;
            })?
            $recorded
        }
    )*};
}
pub(super) use hooks;

hooks! {
    /// Hook of `__cxa_thread_atexit_impl`.
    fn thread_atexit(image, destructor: Destructor, object: *mut c_void, dso: *mut c_void) -> c_int
        = c_thread_atexit(destructor, object, dso);
    in locals |ledger, _original| {
        // SAFETY: the module promises that the destructor may be called with the object, once, when this thread ends.
        let promised = unsafe { Promised::new(destructor, object) };
        ledger.records.locals.register(share(ledger), promised);
        0
    }

    /// Hook of `pthread_key_create`.
    fn key_create(image, key: *mut c_uint, destructor: Option<Destructor>) -> c_int
        = libc::pthread_key_create(key, destructor);
    in locals |ledger, _original| {
        // SAFETY: the module promises that the destructor may be called with values of the key, on threads that have them.
        let destructor = destructor.map(|destructor| unsafe { OfValues::new(destructor) });
        match ledger.records.locals.create_key(destructor) {
            Ok(made) => {
                // SAFETY: the module promises a variable for a key.
                unsafe { key.write(made) };
                0
            }
            Err(error) => error,
        }
    }

    /// Hook of `pthread_key_delete`.
    fn key_delete(image, key: c_uint) -> c_int = libc::pthread_key_delete(key);
    |ledger, original| ledger.records.locals.delete_key(key, original)

    /// Hook of `pthread_setspecific`.
    fn key_set(image, key: c_uint, value: *const c_void) -> c_int = libc::pthread_setspecific(key, value);
    in locals |ledger, original| ledger.records.locals.set_value(share(ledger), key, value.is_null(), original)

    /// Hook of `pthread_create`.
    fn thread_create(
        image,
        thread: *mut usize,
        attributes: *const c_void,
        start: ThreadStart,
        argument: *mut c_void,
    ) -> c_int = threads::create_plainly(thread, attributes, start, argument);
    in threads refuses "pthread_create" with libc::EAGAIN; |ledger, _original| {
        ledger.uses.note(UseKind::Thread, || "called `pthread_create`".to_owned());
        // SAFETY: the module promises that the arguments meet the requirements of `pthread_create`.
        unsafe { threads::create(share(ledger), thread, attributes, start, argument) }
    }

    /// Hook of `pthread_join`.
    fn thread_join(image, thread: usize, result: *mut *mut c_void) -> c_int
        = libc::pthread_join(thread as libc::pthread_t, result);
    |_ledger, original| threads::join(thread, original)

    /// Hook of `pthread_detach`.
    fn thread_detach(image, thread: usize) -> c_int = libc::pthread_detach(thread as libc::pthread_t);
    |_ledger, original| threads::detach(thread, original)

    /// Hook of `mmap`.
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

    /// Hook of `munmap`.
    fn unmap(image, address: *mut c_void, len: usize) -> c_int = libc::munmap(address, len);
    |ledger, _original| {
        // SAFETY: the module promises that the pages are unused, as `munmap` requires.
        unsafe { ledger.records.pages.unmap(address, len) }
    }

    /// Hook of `mremap`.
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

    /// Hook of `sigaction`. Both actions are `struct sigaction` of the platform, or null.
    fn signal_action(image, signal: c_int, action: *const c_void, old: *mut c_void) -> c_int
        = libc::sigaction(signal, action.cast(), old.cast());
    in sources |ledger, _original| {
        // SAFETY: the module promises an action, or null.
        let action = unsafe { action.cast::<libc::sigaction>().as_ref() };
        if action.is_some_and(|action| signals::is_handler(action.sa_sigaction)) && ledger.refuses("sigaction") {
            return fail(libc::EINVAL, -1);
        }
        match signals::set(image.addr(), signal, action) {
            Ok(before) => {
                if action.is_some() {
                    ledger.uses.note(UseKind::Signal, || format!("called `sigaction` for signal {signal}"));
                }
                if !old.is_null() {
                    // SAFETY: the module promises a variable for an action.
                    unsafe { old.cast::<libc::sigaction>().write(before) };
                }
                0
            }
            Err(error) => fail(error, -1),
        }
    }

    /// Hook of `signal`. Handlers are passed as machine words.
    fn signal(image, signal: c_int, handler: usize) -> usize = libc::signal(signal, handler);
    in sources |ledger, _original| {
        if signals::is_handler(handler) && ledger.refuses("signal") {
            return fail(libc::EINVAL, libc::SIG_ERR);
        }
        ledger.uses.note(UseKind::Signal, || format!("called `signal` for signal {signal}"));
        signals::set_simply(image.addr(), signal, handler).unwrap_or_else(|error| fail(error, libc::SIG_ERR))
    }

    /// Hook of `__cxa_atexit`.
    fn at_exit(image, handler: Destructor, argument: *mut c_void, dso: *mut c_void) -> c_int
        = c_at_exit(handler, argument, dso);
    in exits refuses "__cxa_atexit" with -1; |_ledger, _original| {
        // SAFETY: the module promises that the handler may be called with this argument, once, on any thread.
        let promised = unsafe { Promised::new(handler, argument) };
        exits::register(image.addr(), |_status| promised.call());
        0
    }

    /// Hook of `on_exit`.
    fn on_exit(image, handler: OnExit, argument: *mut c_void) -> c_int = c_on_exit(handler, argument);
    in exits refuses "on_exit" with -1; |_ledger, _original| {
        // SAFETY: the module promises that the handler may be called with this argument, once, on any thread.
        let promised = unsafe { Promised::new(handler, argument) };
        exits::register(image.addr(), |status| promised.call(status));
        0
    }

    /// Hook of `malloc`.
    fn malloc(image, size: usize) -> *mut c_void = libc::malloc(size);
    |_ledger, original| c_heap::allocated(image.addr(), size, original())

    /// Hook of `calloc`.
    fn calloc(image, count: usize, size: usize) -> *mut c_void = libc::calloc(count, size);
    |_ledger, original| c_heap::allocated(image.addr(), count.wrapping_mul(size), original())

    /// Hook of `realloc`.
    fn realloc(image, old: *mut c_void, size: usize) -> *mut c_void = libc::realloc(old, size);
    |_ledger, original| c_heap::moved(image.addr(), old, size, original)

    /// Hook of `posix_memalign`.
    fn memalign(image, out: *mut *mut c_void, alignment: usize, size: usize) -> c_int
        = libc::posix_memalign(out, alignment, size);
    |_ledger, original| {
        let result = original();
        if result == 0 {
            // SAFETY: the C function has written a block to the variable that the module promises.
            c_heap::allocated(image.addr(), size, unsafe { out.read() });
        }
        result
    }

    /// Hook of `free`.
    fn free(image, block: *mut c_void) -> () = libc::free(block);
    |_ledger, original| c_heap::freed(block, original)

    /// Hook of `shmat`.
    fn segment_attach(image, segment: c_int, address: *const c_void, flags: c_int) -> *mut c_void
        = libc::shmat(segment, address, flags);
    |ledger, original| ledger.records.pages.attach(segment, original)

    /// Hook of `shmdt`.
    fn segment_detach(image, address: *const c_void) -> c_int = libc::shmdt(address);
    |ledger, original| ledger.records.pages.detach(address, original)

    /// Hook of `openlog`.
    fn log_open(image, ident: *const c_char, option: c_int, facility: c_int) -> ()
        = libc::openlog(ident, option, facility);
    in system_log |_ledger, _original| {
        // SAFETY: the module promises a C string, or null; the C library receives a permanent copy.
        unsafe {
            let ident = if ident.is_null() { ident } else { system_log::keep(CStr::from_ptr(ident)) };
            libc::openlog(ident, option, facility);
        }
    }

    /// Hook of `initstate`.
    fn random_init(image, seed: c_uint, state: *mut c_char, size: usize) -> *mut c_char
        = initstate(seed, state, size);
    in random |ledger, original| {
        if passes_own_memory(ledger, state.cast(), "initstate") {
            return fail(libc::EINVAL, std::ptr::null_mut());
        }
        random::moved(original)
    }

    /// Hook of `setstate`.
    fn random_set(image, state: *mut c_char) -> *mut c_char = setstate(state);
    in random |ledger, original| {
        if passes_own_memory(ledger, state.cast(), "setstate") {
            return fail(libc::EINVAL, std::ptr::null_mut());
        }
        random::moved(original)
    }

    /// Reports a block that a C library function allocated and the module must free. Ignores null.
    fn block_made(image, block: *mut c_void) -> () = ();
    |_ledger, _none| if !block.is_null() {
        // SAFETY: the module promises a live block.
        let size = unsafe { libc::malloc_usable_size(block) };
        c_heap::allocated(image.addr(), size, block);
    }

    /// Removes the record of a block that a function of the C library is about to move or free. Returns zero if the block is not recorded
    /// for the module.
    fn block_borrowed(image, block: *mut c_void) -> c_int = 0;
    |_ledger, _none| c_int::from(c_heap::forget(image.addr(), block))

    /// Reports a descriptor that a function of the C library returned to the module. A signal handler may open descriptors, but its
    /// descriptors are not recorded.
    fn fd_opened(image, fd: c_int) -> () = ();
    |ledger, _none| if !handlers::is_running_here() {
        fds::opened(ledger, fd);
        fds::note_use(&ledger.uses, fd);
        let ring = rings::of_descriptor(fd).filter(|_| ledger.has_repair(rings::REPAIR.name));
        ring.into_iter().for_each(|ring| ledger.records.rings.opened(ring));
    }

    /// Reports that the module is about to close this descriptor.
    fn fd_closed(image, fd: c_int) -> () = ();
    |_ledger, _none| fds::closed(fd)

    /// Reports that the unwinder has registered the unwind table at `begin`. The function `deregister` removes the table.
    fn frame_registered(image, begin: *const c_void, deregister: Deregister) -> () = ();
    in frames |ledger, _none| {
        // SAFETY: the unwinder provides this function for deregistering the table once.
        frames::registered(image.addr(), unsafe { Promised::new(deregister, begin.cast_mut()) });
        if ledger.refuses("__register_frame") {
            frames::take_back(image.addr());
        }
    }

    /// Reports that the module is about to deregister the unwind table at `begin`. Returns zero if the table is already deregistered.
    fn frame_deregistered(image, begin: *const c_void) -> c_int = 1;
    in frames |_ledger, _none| c_int::from(frames::deregistered(begin))

    /// Hook of `fopencookie`. `functions` points to a `cookie_io_functions_t` of the platform.
    fn stream_open(
        image,
        cookie: *mut c_void,
        mode: *const c_char,
        functions: *const c_void,
    ) -> *mut c_void = streams::fopencookie(cookie, mode, functions.cast::<StreamFunctions>().read());
    in streams refuses "fopencookie" with fail(libc::ENOMEM, std::ptr::null_mut()); |_ledger, _original| {
        // SAFETY: the module promises functions that may be called with the cookie, and a mode.
        unsafe { streams::open(image.addr(), cookie, mode, functions.cast::<StreamFunctions>().read()) }
    }

    /// Reports a stream with a descriptor. A function of the C library has created the stream: `fopen` (0), `fdopen` (1), `tmpfile` (2),
    /// `popen` (3), `opendir` (4) or `fdopendir` (5).
    fn stream_opened(image, stream: *mut c_void, fd: c_int, made_by: c_int) -> () = ();
    |ledger, _none| {
        fds::stream_opened(ledger, fd, stream, fds::Maker::of(made_by));
        fds::note_use(&ledger.uses, fd);
    }

    /// Reports a stream that writes to memory of the module. A function of the C library has created the stream: `open_memstream` (0),
    /// `open_wmemstream` (1) or `fmemopen` (2). The first two functions write the address of a block to `location`.
    fn stream_bound(image, stream: *mut c_void, made_by: c_int, location: *const *mut c_void) -> () = ();
    in streams |_ledger, _none| {
        let name = match made_by {
            0 => "open_memstream",
            1 => "open_wmemstream",
            _ => "fmemopen",
        };
        streams::bound(image.addr(), stream, name, location);
    }

    /// Reports that the module is about to close this stream. If the module owns a block of the closed stream, returns the address of the
    /// pointer to this block. Otherwise returns null.
    fn stream_closed(image, stream: *mut c_void) -> *const *mut c_void = std::ptr::null();
    |_ledger, _none| {
        fds::stream_closed(stream);
        streams::closed(image.addr(), stream)
    }

    /// Reports the name of the calling thread: `len` bytes without zeros.
    fn thread_named(image, name: *const u8, len: usize) -> () = ();
    |_ledger, _none| if let Some(started) = locals::started_here() {
        // SAFETY: the module promises `len` bytes.
        names::record_name(&started, unsafe { std::slice::from_raw_parts(name, len) });
    }

    /// Reports an address that `dlsym` returned to the module.
    fn looked_up(image, found: *const c_void) -> () = ();
    |ledger, _none| ledger.records.lookups.note(found.addr())

    /// Returns a nonzero value if the module is being closed and its call of `function` must therefore be rejected.
    fn refuses(image, function: *const c_char) -> c_int = 0;
    |ledger, _none| {
        // SAFETY: the module promises a C string.
        c_int::from(ledger.refuses(&unsafe { CStr::from_ptr(function) }.to_string_lossy()))
    }
}

/// Returns `true` if a closing image passes an address of its own memory to `function`. Such a call must be rejected. A closing image may
/// only restore values from before the image, which are not in its memory.
pub(super) fn passes_own_memory(ledger: &Ledger, address: *const c_void, function: &str) -> bool {
    ledger.is_closing() && ledger.records.memory(ledger)(address.addr()) && ledger.refuses(function)
}

/// Allocates zeroed pages for the module's own heap. `len` must be a multiple of 64 KiB. The pages are aligned to 64 KiB. Returns null on
/// failure.
pub unsafe extern "C" fn heap_grow(image: *const c_void, len: usize) -> *mut c_void {
    // SAFETY: our caller promises the address of a live ledger.
    unsafe { borrow(image) }.records.pages.grow(len)
}

/// Frees pages that [`heap_grow`] allocated.
pub unsafe extern "C" fn heap_shrink(image: *const c_void, address: *mut c_void, len: usize) {
    // SAFETY: our caller promises the address of a live ledger, and that these pages are unused.
    unsafe { borrow(image).records.pages.shrink(address, len) };
}

/// # Safety
///
/// `image` is the address of a live ledger.
pub(super) unsafe fn borrow<'a>(image: *const c_void) -> &'a Ledger {
    // SAFETY: our caller promises a live ledger.
    unsafe { &*image.cast::<Ledger>() }
}

/// Adds a reference to a ledger.
pub(super) fn share(ledger: &Ledger) -> Arc<Ledger> {
    // SAFETY: ledgers only exist inside an `Arc`. One reference exists during this borrow, and the returned reference was just added.
    unsafe {
        Arc::increment_strong_count(ledger);
        Arc::from_raw(ledger)
    }
}

unsafe extern "C" {
    #[link_name = "__cxa_atexit"]
    fn c_at_exit(handler: Destructor, argument: *mut c_void, dso: *mut c_void) -> c_int;
}
