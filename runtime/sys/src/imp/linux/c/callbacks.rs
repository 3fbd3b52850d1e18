//! Functions that are called through the C ABI. The host calls functions of modules, under the conditions that the modules have promised.
//! The C library calls functions of the host. Also creates keys for thread-specific values.
#![expect(unsafe_code, reason = "calls functions of modules, and passes the host's functions to the C library")]

use std::ffi::{c_int, c_uint, c_void};
use std::{mem, ptr};

/// Destructor of a thread-local or of a thread-specific value.
pub type Destructor = unsafe extern "C" fn(*mut c_void);

/// Start routine of a thread.
pub type ThreadStart = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

/// Handler of `on_exit`.
pub type OnExit = unsafe extern "C" fn(c_int, *mut c_void);

/// Function `__deregister_frame` of the unwinder with which the table was registered.
pub type Deregister = unsafe extern "C" fn(*const c_void);

/// Function of a module and its argument. The module has promised that the function may be called with this argument. The owner of this
/// value calls the function at the promised time, while the module is mapped. Before a module is unmapped, its functions are called or
/// dropped.
pub(in crate::imp::linux) struct Promised<F> {
    function: F,
    argument: *mut c_void,
}

// SAFETY: the creator of the value has promised on which threads the function is called; other threads only compare the addresses.
unsafe impl<F: Send> Send for Promised<F> {}

impl<F> Promised<F> {
    /// # Safety
    ///
    /// The function may be called once with this argument, at the time and on the threads that the C function promises.
    pub(in crate::imp::linux) unsafe fn new(function: F, argument: *mut c_void) -> Self {
        Self { function, argument }
    }

    pub(in crate::imp::linux) fn argument(&self) -> *const c_void {
        self.argument
    }
}

impl Promised<Destructor> {
    pub(in crate::imp::linux) fn address(&self) -> usize {
        self.function as usize
    }

    pub(in crate::imp::linux) fn call(self) {
        // SAFETY: the creator of this value has promised one call, which consumes the value.
        unsafe { (self.function)(self.argument) }
    }
}

impl Promised<OnExit> {
    pub(in crate::imp::linux) fn call(self, status: c_int) {
        // SAFETY: the creator of this value has promised one call with any status, which consumes the value.
        unsafe { (self.function)(status, self.argument) }
    }
}

impl Promised<Deregister> {
    pub(in crate::imp::linux) fn call(self) {
        // SAFETY: the creator of this value has promised one call, which consumes the value.
        unsafe { (self.function)(self.argument) }
    }
}

/// Destructor for the values of a key. It is not passed to the C library.
#[derive(Clone, Copy)]
pub(in crate::imp::linux) struct OfValues(Destructor);

impl OfValues {
    /// # Safety
    ///
    /// The destructor may be called with each value of its key, on the thread of the value, once the value is no longer set.
    pub(in crate::imp::linux) unsafe fn new(destructor: Destructor) -> Self {
        Self(destructor)
    }

    pub(in crate::imp::linux) fn address(self) -> usize {
        self.0 as usize
    }

    pub(in crate::imp::linux) fn destroy(self, key: c_uint) {
        let value = take_value(key);
        if !value.is_null() {
            // SAFETY: the creator of this value has promised this call for a value that is no longer set, on the thread of the value.
            unsafe { (self.0)(value) };
        }
    }
}

/// `struct sigevent` of a module, including its function and attributes. The module permits calls of the function with the value, on any
/// thread, while the module is mapped.
#[derive(Clone, Copy)]
#[repr(C)]
pub(in crate::imp::linux) struct Event {
    value: usize,
    signal: c_int,
    how: c_int,
    function: usize,
    attributes: usize,
    rest: [usize; 4],
}

impl Event {
    /// Reads an event. Returns `None` for a null pointer. The meaning of a null pointer depends on the C function: `timer_create` then
    /// raises `SIGALRM`, `mq_notify` removes the registration, and `lio_listio` does not notify.
    ///
    /// # Safety
    ///
    /// The pointer is null or points to an event of a module.
    pub(in crate::imp::linux) unsafe fn read(event: *const c_void) -> Option<Self> {
        // SAFETY: promised by our caller; only fields defined for the kind of event are used.
        (!event.is_null()).then(|| unsafe { event.cast::<Self>().read() })
    }

    pub(in crate::imp::linux) fn value(&self) -> usize {
        self.value
    }

    pub(in crate::imp::linux) fn raises(&self) -> Option<c_int> {
        [libc::SIGEV_SIGNAL, libc::SIGEV_THREAD_ID].contains(&self.how).then_some(self.signal)
    }

    /// Returns the function that the C library calls for this event, if any.
    pub(in crate::imp::linux) fn target(&self) -> Option<Target> {
        (self.how == libc::SIGEV_THREAD).then_some(Target { function: self.function, value: self.value })
    }

    pub(in crate::imp::linux) fn with(self, Target { function, value }: Target) -> Self {
        Self { function, value, ..self }
    }
}

/// Function of an event, with its argument. The owner calls a function of a module only while the owner keeps the module mapped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::imp::linux) struct Target {
    function: usize,
    value: usize,
}

impl Target {
    pub(in crate::imp::linux) fn of_host(function: extern "C-unwind" fn(usize), value: usize) -> Self {
        Self { function: function as usize, value }
    }

    pub(in crate::imp::linux) fn call(self) {
        let function = ptr::with_exposed_provenance::<()>(self.function);
        // SAFETY: the function is the host's own, or the module that provided the event has promised calls while the module is mapped.
        // The owner keeps the module mapped during the call. A `sigval` is passed like a machine word.
        unsafe { mem::transmute::<*const (), unsafe extern "C-unwind" fn(usize)>(function)(self.value) }
    }
}

/// Registers a function that the C library calls at the end of the calling thread, before the thread-locals of the thread are destroyed.
/// Returns `false` if no memory is available.
pub(in crate::imp::linux) fn at_thread_end(function: extern "C" fn(*mut c_void)) -> bool {
    let own = (&raw const __dso_handle).cast_mut().cast();
    // SAFETY: the function is the host's own, is never unmapped, and accepts any address.
    unsafe { c_thread_atexit(function, ptr::null_mut(), own) == 0 }
}

/// Registers a function that is called at the end of the process with the exit status. Returns `false` if no memory is available.
pub(in crate::imp::linux) fn on_exit(function: extern "C" fn(c_int, *mut c_void)) -> bool {
    // SAFETY: the function is the host's own, is never unmapped, and accepts any address.
    unsafe { c_on_exit(function, ptr::null_mut()) == 0 }
}

/// Calls a function with a number on a new thread of the C library, and joins the thread. Returns `false` if no thread was created.
pub(in crate::imp::linux) fn on_thread(start: extern "C" fn(*mut c_void) -> *mut c_void, argument: usize) -> bool {
    let (mut thread, argument) = (0, ptr::without_provenance_mut(argument));
    // SAFETY: the function is the host's own and accepts any address; the thread, if it was created, is joined only here.
    unsafe {
        let made = libc::pthread_create(&raw mut thread, ptr::null(), start, argument) == 0;
        made && libc::pthread_join(thread, ptr::null_mut()) == 0
    }
}

/// Creates a key that has no destructor in the C library. On failure, returns the error number of the C function.
pub(in crate::imp::linux) fn make_key() -> Result<c_uint, c_int> {
    let mut key = 0;
    match pthread_key_create(&mut key, None) {
        0 => Ok(key),
        error => Err(error),
    }
}

/// Key of the host. The values of the key are addresses that its destructor compares but never dereferences.
pub(in crate::imp::linux) struct OwnKey(Option<c_uint>);

impl OwnKey {
    /// Creates a key. If no key is free, the returned value has no effect.
    pub(in crate::imp::linux) fn new(destructor: extern "C" fn(*mut c_void)) -> Self {
        let mut key = 0;
        Self((pthread_key_create(&mut key, Some(destructor)) == 0).then_some(key))
    }

    /// Makes the C library call the destructor of the key at the end of the calling thread. `value` must be nonzero.
    pub(in crate::imp::linux) fn set(&self, value: usize) {
        if let Some(key) = self.0 {
            // SAFETY: the C library stores a number, and passes it to the destructor of this key.
            unsafe { libc::pthread_setspecific(key, ptr::without_provenance(value)) };
        }
    }
}

/// Returns the calling thread's value of a key, and sets it to null.
pub(in crate::imp::linux) fn take_value(key: c_uint) -> *mut c_void {
    // SAFETY: the C library rejects numbers that are not keys, and never calls a destructor with null.
    unsafe {
        let value = libc::pthread_getspecific(key);
        libc::pthread_setspecific(key, ptr::null());
        value
    }
}

// SAFETY: the registered functions are the host's own, are never unmapped and accept any address. `pthread_key_create` writes a number to
// the borrowed variable. `pthread_key_delete` rejects numbers that are not keys.
unsafe extern "C" {
    safe fn pthread_key_create(key: &mut c_uint, destructor: Option<extern "C" fn(*mut c_void)>) -> c_int;
    /// Deletes a key that has no destructor in the C library.
    #[link_name = "pthread_key_delete"]
    pub(in crate::imp::linux) safe fn delete_key(key: c_uint) -> c_int;
    pub(in crate::imp::linux) safe fn atexit(function: extern "C" fn()) -> c_int;
    pub(in crate::imp::linux) safe fn pthread_atfork(
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

#[cfg(test)]
mod tests {
    use std::ffi::c_void;
    use std::sync::mpsc::{TryRecvError, sync_channel};
    use std::thread;

    use super::{OfValues, delete_key};
    use crate::Ledger;

    unsafe extern "C" fn ignore(_value: *mut c_void) {}

    #[test]
    fn a_thread_clears_values_while_other_threads_delete_keys() {
        let ledger = Ledger::new("image");
        let locals = &ledger.records.locals;
        // SAFETY: the destructor accepts every value.
        let destructor = unsafe { OfValues::new(ignore) };
        let new_key = || locals.create_key(Some(destructor)).expect("a key is free");
        let delete = |key| locals.delete_key(key, || delete_key(key));
        let (deleted, received) = sync_channel(1);
        let values = || {
            let cleared = new_key();
            for _ in 0..50_000 {
                let other = new_key();
                for key in [other, cleared] {
                    locals.set_value(ledger.clone(), key, false, || 0);
                }
                deleted.send(other).expect("the main thread receives");
                locals.set_value(ledger.clone(), cleared, true, || 0);
            }
            drop(deleted);
            delete(cleared);
        };
        thread::scope(|scope| {
            let values = scope.spawn(values);
            loop {
                match received.try_recv() {
                    Ok(key) => _ = delete(key),
                    Err(TryRecvError::Empty) => thread::yield_now(),
                    Err(TryRecvError::Disconnected) => break,
                }
            }
            values.join().expect("no destructor is missing");
        });
    }
}
