//! Functions that are called across the border to C: those of modules, which go with what was promised of them, and the
//! host's own, which the C library is to call.
#![expect(unsafe_code, reason = "calls functions of modules, and hands the host's to the C library")]

use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

use super::keys;

/// The destructor of a thread-local, and of a thread-specific value.
pub type Destructor = unsafe extern "C" fn(*mut c_void);

/// The start routine of a thread.
pub type ThreadStart = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

/// A handler for `on_exit`.
pub type OnExit = unsafe extern "C" fn(c_int, *mut c_void);

/// `__deregister_frame` of the unwinder that was given the table.
pub type Deregister = unsafe extern "C" fn(*const c_void);

/// A function of a module with the argument that its module has promised it may be called with. Whoever has it calls it at
/// the time that was promised, and while the module is there: one that goes has its own called or forgotten before.
pub(in crate::imp::linux) struct Promised<F> {
    function: F,
    argument: *mut c_void,
}

// SAFETY: its maker has promised the threads on which it is called; the others only compare the addresses.
unsafe impl<F: Send> Send for Promised<F> {}

impl<F> Promised<F> {
    /// # Safety
    ///
    /// The function may be called once with this argument, at the time and on the threads at which the C function that it was
    /// given to would call it.
    pub(in crate::imp::linux) unsafe fn new(function: F, argument: *mut c_void) -> Self {
        Self { function, argument }
    }

    pub(in crate::imp::linux) fn argument(&self) -> *const c_void {
        self.argument
    }
}

impl Promised<Destructor> {
    /// Where its code is.
    pub(in crate::imp::linux) fn place(&self) -> usize {
        self.function as usize
    }

    pub(in crate::imp::linux) fn call(self) {
        // SAFETY: the maker of this has promised that one call, and this value is used up by it.
        unsafe { (self.function)(self.argument) }
    }
}

impl Promised<OnExit> {
    pub(in crate::imp::linux) fn call(self, status: c_int) {
        // SAFETY: the maker of this has promised that one call, with whatever status, and this value is used up by it.
        unsafe { (self.function)(status, self.argument) }
    }
}

impl Promised<Deregister> {
    pub(in crate::imp::linux) fn call(self) {
        // SAFETY: the maker of this has promised that one call, and this value is used up by it.
        unsafe { (self.function)(self.argument) }
    }
}

/// The destructor for the values of a key, which the C library does not know.
#[derive(Clone, Copy)]
pub(in crate::imp::linux) struct OfValues(Destructor);

impl OfValues {
    /// # Safety
    ///
    /// The destructor may be called with each value of its key, on the thread that has it, once that is no longer set.
    pub(in crate::imp::linux) unsafe fn new(destructor: Destructor) -> Self {
        Self(destructor)
    }

    /// Where its code is.
    pub(in crate::imp::linux) fn place(self) -> usize {
        self.0 as usize
    }

    /// Destroys the calling thread's value of its key.
    pub(in crate::imp::linux) fn destroy(self, key: c_uint) {
        let value = keys::take(key);
        if !value.is_null() {
            // SAFETY: the maker of this has promised it for a value that is no longer set, on the thread that had it.
            unsafe { (self.0)(value) };
        }
    }
}

/// Has this called when the calling thread ends, before its thread-locals go; whether there was memory for it.
pub(in crate::imp::linux) fn at_thread_end(function: extern "C" fn(*mut c_void)) -> bool {
    let own = (&raw const __dso_handle).cast_mut().cast();
    // SAFETY: the function is the host's own, which is never unmapped, and takes any address.
    unsafe { c_thread_atexit(function, ptr::null_mut(), own) == 0 }
}

/// Has this called when the process ends, with its status; whether there was memory for it.
pub(in crate::imp::linux) fn on_exit(function: extern "C" fn(c_int, *mut c_void)) -> bool {
    // SAFETY: the function is the host's own, which is never unmapped, and takes any address.
    unsafe { c_on_exit(function, ptr::null_mut()) == 0 }
}

/// The same without the status.
pub(in crate::imp::linux) fn at_exit(function: extern "C" fn()) -> bool {
    atexit(function) == 0
}

/// Has this called in every child made by `fork`; whether there was memory for it.
pub(in crate::imp::linux) fn in_children(function: extern "C" fn()) -> bool {
    pthread_atfork(None, None, Some(function)) == 0
}

/// Has this called with a number on a thread that is made for it by the C function itself, and waits for its end; whether it was made.
pub(in crate::imp::linux) fn on_thread(start: extern "C" fn(*mut c_void) -> *mut c_void, argument: usize) -> bool {
    let (mut thread, argument) = (0, ptr::without_provenance_mut(argument));
    // SAFETY: the function is the host's own and takes any address; the thread, if one was made, is joined here and nowhere
    // else.
    unsafe {
        let made = libc::pthread_create(&raw mut thread, ptr::null(), start, argument) == 0;
        made && libc::pthread_join(thread, ptr::null_mut()) == 0
    }
}

// SAFETY: the functions that they keep are the host's own, which are never unmapped and may be called by anybody.
unsafe extern "C" {
    safe fn atexit(function: extern "C" fn()) -> c_int;
    safe fn pthread_atfork(
        before: Option<extern "C" fn()>,
        after: Option<extern "C" fn()>,
        in_child: Option<extern "C" fn()>,
    ) -> c_int;
}

unsafe extern "C" {
    #[link_name = "__cxa_thread_atexit_impl"]
    pub(in crate::imp::linux) fn c_thread_atexit(function: Destructor, object: *mut c_void, dso: *mut c_void) -> c_int;
    #[link_name = "on_exit"]
    pub(in crate::imp::linux) fn c_on_exit(handler: OnExit, argument: *mut c_void) -> c_int;
    static __dso_handle: u8;
}
