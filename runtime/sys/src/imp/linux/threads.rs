//! Threads started by images. Each thread runs inside a function of the host. After the start routine and the destructors of thread-locals
//! have run, this function records that the thread has permanently left the image's code.
#![expect(unsafe_code, reason = "starts, joins and detaches threads in C")]

use std::ffi::{c_int, c_void};
use std::mem;
use std::ops::Range;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::c::callbacks::ThreadStart;
use super::c::kernel;
use super::locals::{become_started, end_here, forget_here, started_here};
use super::started::{Hold, ReturnPoint, STARTED, Started, find, holding, unregister};
use super::{evict, lock, names};
use crate::end_report::EndReport;
use crate::ledger::repair::Repair;
use crate::ledger::{Holder, HolderKind, Ledger};

pub(super) const REPAIR: Repair = Repair {
    name: "a thread",
    counts: |image, counts| {
        let threads = &image.records.threads;
        counts.threads_started = threads.started.load(Ordering::SeqCst);
        counts.threads_ended = threads.ended.load(Ordering::SeqCst);
        counts.threads_evicted = threads.evicted.load(Ordering::SeqCst);
    },
    holders: |image, all| all.extend(holding(image).iter().map(|started| holder(started))),
    facts: |image, facts| facts.threads |= !holding(image).is_empty(),
    // A join accesses the C library's record of the thread. This record is on the thread's stack, which may be a part of the image.
    redirect_references: |image, _, report| join_ended(image, |ended| ended.own_stack, report),
    free: |gone, report| join_ended(gone.image(), |_| true, report),
    ..Repair::NONE
};

/// Maximum time that a thread may need to end after it has left the image's code.
const EXIT_TIME: Duration = Duration::from_millis(200);

struct NewThread {
    started: Arc<Started>,
    argument: *mut c_void,
}

/// Executes `pthread_create`, but passes a function of the host that calls the start routine.
///
/// # Safety
///
/// The requirements of the C function apply.
pub(super) unsafe fn create(
    ledger: Arc<Ledger>,
    thread: *mut usize,
    attributes: *const c_void,
    start: ThreadStart,
    argument: *mut c_void,
) -> c_int {
    let attributes = attributes.cast::<libc::pthread_attr_t>();
    // SAFETY: our caller promises initialized attributes, or null.
    let (detached, own_stack) = unsafe { read_attributes(attributes) };
    let hold = if detached { Hold::Detached } else { Hold::Joinable };
    let started = Started::new(Arc::clone(&ledger), start, hold, own_stack, names::system_name(kernel::own_tid()));
    lock(&STARTED).push(Arc::clone(&started));
    ledger.records.threads.started.fetch_add(1, Ordering::SeqCst);
    let new_thread = Box::into_raw(Box::new(NewThread { started: Arc::clone(&started), argument }));
    // SAFETY: our caller promises `thread` and the attributes; the new thread owns the box. If the result is zero, the C library has
    // written the handle.
    let (result, handle) = unsafe {
        let result = c_thread_create(thread, attributes, begin, new_thread.cast());
        (result, (result == 0).then(|| thread.read()))
    };
    if let Some(handle) = handle {
        let mut life = lock(&started.life);
        // Stores no handle for a detached thread that has already ended, because the C library may have reused the handle.
        if !(life.ended && life.hold == Hold::Detached) {
            life.handle = Some(handle);
        }
    } else {
        unregister(&started);
        ledger.records.threads.started.fetch_sub(1, Ordering::SeqCst);
        // SAFETY: no thread was created, so this function still owns the box.
        drop(unsafe { Box::from_raw(new_thread) });
    }
    result
}

/// Start routine as the C library calls it. Unwinds if the routine exits by `pthread_exit`.
type MayUnwind = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;

/// Executes `pthread_create` and passes the start routine itself, without a function of the host.
///
/// # Safety
///
/// The requirements of the C function apply.
pub(super) unsafe fn create_plainly(
    thread: *mut usize,
    attributes: *const c_void,
    start: ThreadStart,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: our caller promises that the arguments meet the requirements of the C function. The two types of the routine differ only
    // in unwinding, which affects only the caller of the routine, the C library.
    unsafe { c_thread_create(thread, attributes.cast(), mem::transmute::<ThreadStart, MayUnwind>(start), argument) }
}

/// Calls `join`, and updates the record of the thread. `join` executes `pthread_join`. Any image may have started the thread, or none.
pub(super) fn join(thread: usize, join: impl FnOnce() -> c_int) -> c_int {
    release(thread, Hold::Joining, join, unregister)
}

/// Calls `detach`, and updates the record of the thread. `detach` executes `pthread_detach`. Any image may have started the thread, or
/// none.
pub(super) fn detach(thread: usize, detach: impl FnOnce() -> c_int) -> c_int {
    release(thread, Hold::Detached, detach, Started::unregister_if_done)
}

/// Calls `call`, which joins or detaches the thread. If the call succeeds, passes the record of the thread to `released`. `hold` is the
/// owner of the stack from the start of the call. If the call fails, the thread is joinable again.
fn release(thread: usize, hold: Hold, call: impl FnOnce() -> c_int, released: impl FnOnce(&Started)) -> c_int {
    let known = find(thread);
    // Changes the record before the call, because the C library may give the handle of an ended thread to a new thread during the call.
    if let Some(known) = &known {
        lock(&known.life).hold = hold;
    }
    let result = call();
    match (&known, result) {
        (Some(known), 0) => released(known),
        (Some(known), _) => lock(&known.life).hold = Hold::Joinable,
        (None, _) => {}
    }
    result
}

fn holder(started: &Started) -> Holder {
    let (name, thread) = match started.tid.load(Ordering::SeqCst) {
        0 => ("a thread that is starting".to_owned(), String::new()),
        tid => {
            let name = match names::thread_name(tid) {
                None => "thread that is ending".to_owned(),
                Some(_) if names::is_nameless(started) => "thread without a name".to_owned(),
                Some(name) => format!("thread {name:?}"),
            };
            let out_of_reach = if evict::is_out_of_reach(tid) { ", which blocks all signals: no eviction" } else { "" };
            (format!("{name}{out_of_reach}"), names::describe_thread(tid))
        }
    };
    let address = Some(started.start.address());
    Holder { address, ..Holder::new(HolderKind::Thread, name, started.since).on(thread) }
}

/// Joins the ended threads of an image that is unmapped or about to be closed, if `is_meant` returns `true` for the thread. Counts the
/// joined threads in the report, and the failures in the ledger.
fn join_ended(ledger: &Ledger, is_meant: impl Fn(&Started) -> bool, report: &mut EndReport) {
    let left: Vec<_> = lock(&STARTED).extract_if(.., |started| started.is_of(ledger) && is_meant(started)).collect();
    for started in left {
        let life = lock(&started.life);
        let (Some(handle), Hold::Joinable) = (life.handle, life.hold) else { continue };
        drop(life);
        if join_soon(handle) {
            report.threads_joined += 1;
        } else {
            ledger.records.threads.not_joined.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Joins a thread that is about to end. If the thread does not end in time, detaches it, so that the C library frees its resources later.
fn join_soon(handle: usize) -> bool {
    let (begun, thread) = (Instant::now(), handle as libc::pthread_t);
    // SAFETY: the thread is joinable, and no other thread joins or detaches it: the image that knew its handle is unmapped, or is about to
    // be closed and has no running code.
    let try_join = || unsafe { libc::pthread_tryjoin_np(thread, ptr::null_mut()) };
    let mut result = try_join();
    while result == libc::EBUSY && begun.elapsed() < EXIT_TIME {
        std::thread::sleep(Duration::from_micros(50));
        result = try_join();
    }
    if result != 0 {
        // SAFETY: the thread was not joined, and no other thread joins or detaches it.
        unsafe { libc::pthread_detach(thread) };
    }
    result == 0
}

/// Reads two facts from the attributes: if the thread is created detached, and if the caller provides the stack of the thread.
///
/// # Safety
///
/// The attributes are initialized, or null.
unsafe fn read_attributes(attributes: *const libc::pthread_attr_t) -> (bool, bool) {
    if attributes.is_null() {
        return (false, false);
    }
    let (mut state, mut stack, mut len) = (0, ptr::null_mut(), 0_usize);
    // SAFETY: our caller promises initialized attributes, from which the C library fills the three variables.
    let result = unsafe {
        c_detach_state(attributes, &raw mut state);
        libc::pthread_attr_getstack(attributes, &raw mut stack, &raw mut len)
    };
    // For attributes without a stack, the C library reports a stack that ends at address zero.
    let has_stack = result == 0 && !stack.is_null() && stack.addr().wrapping_add(len) != 0;
    (state == libc::PTHREAD_CREATE_DETACHED, has_stack)
}

/// Returns the address range of the calling thread's own stack (never of a coroutine). Returns `None` if the platform does not report the
/// range.
#[must_use]
pub fn thread_stack() -> Option<Range<usize>> {
    let mut attributes = mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut stack, mut len) = (ptr::null_mut(), 0_usize);
    // SAFETY: the calling thread is alive, and there is memory for its attributes. The attributes are initialized on success, and
    // destroyed once after the last use.
    let result = unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        let result = libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut stack, &raw mut len);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        result
    };
    (result == 0 && len != 0).then(|| stack.addr()..stack.addr().saturating_add(len))
}

/// Entry point of all threads of images.
///
/// If the start routine exits by `pthread_exit`, the rest of this function is skipped, and [`super::locals`] records the end of the thread.
/// Therefore this function must not own a value with a destructor while the routine runs.
unsafe extern "C-unwind" fn begin(new_thread: *mut c_void) -> *mut c_void {
    let (start, argument, return_point) = {
        // SAFETY: `create` made the box for this thread only.
        let new_thread = unsafe { Box::from_raw(new_thread.cast::<NewThread>()) };
        let started = Arc::clone(&new_thread.started);
        started.tid.store(kernel::own_tid(), Ordering::SeqCst);
        lock(&started.life).handle = Some(kernel::own_handle());
        // SAFETY: `create` received this start routine.
        let start = unsafe { mem::transmute::<usize, ThreadStart>(started.start.address()) };
        let known = (start, new_thread.argument, &raw const started.return_point);
        become_started(Arc::clone(&started));
        evict::enter(&started);
        known
    };
    // SAFETY: the creator of the thread promised that the routine may be called with this argument on its own thread. The record of
    // this thread keeps `return_point` alive until the thread has ended.
    let result = unsafe { run(start, argument, return_point) };
    evict::leave();
    if let Some(started) = started_here().filter(|started| started.is_evicted.load(Ordering::SeqCst)) {
        forget_here(&started.ledger);
    }
    end_here();
    result
}

/// Calls the start routine and stores the address and stack pointer at which this function continues after the call. A jump to this
/// address with this stack pointer acts as a return of the routine with the result in `rax`.
///
/// # Safety
///
/// `start` may be called with `argument`, and `return_point` is writable until this function returns.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C-unwind" fn run(
    start: ThreadStart,
    argument: *mut c_void,
    return_point: *const ReturnPoint,
) -> *mut c_void {
    std::arch::naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "sub rsp, 8",
        ".cfi_offset rbx, -24",
        ".cfi_offset r12, -32",
        ".cfi_offset r13, -40",
        ".cfi_offset r14, -48",
        ".cfi_offset r15, -56",
        "lea rax, [rip + 2f]",
        "mov [rdx + {code}], rax",
        "mov [rdx + {stack}], rsp",
        "mov rax, rdi",
        "mov rdi, rsi",
        "call rax",
        "2:",
        "add rsp, 8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
        code = const std::mem::offset_of!(ReturnPoint, code),
        stack = const std::mem::offset_of!(ReturnPoint, stack),
    )
}

/// Calls the start routine. Eviction is not supported on this architecture.
///
/// # Safety
///
/// `start` may be called with `argument`.
#[cfg(not(target_arch = "x86_64"))]
unsafe extern "C-unwind" fn run(
    start: ThreadStart,
    argument: *mut c_void,
    _return_point: *const ReturnPoint,
) -> *mut c_void {
    // SAFETY: our caller promises the call. The two types of the routine differ only in unwinding, which `pthread_exit` causes.
    unsafe { mem::transmute::<ThreadStart, MayUnwind>(start)(argument) }
}

unsafe extern "C" {
    #[link_name = "pthread_attr_getdetachstate"]
    fn c_detach_state(attributes: *const libc::pthread_attr_t, state: *mut c_int) -> c_int;
    #[link_name = "pthread_create"]
    fn c_thread_create(
        thread: *mut usize,
        attributes: *const libc::pthread_attr_t,
        start: unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void,
        argument: *mut c_void,
    ) -> c_int;
}

#[cfg(test)]
mod tests {
    use std::ffi::{c_int, c_void};
    use std::sync::Arc;

    use super::{Hold, STARTED, Started, detach, find, join, lock, unregister};
    use crate::ledger::Ledger;

    extern "C" fn start(argument: *mut c_void) -> *mut c_void {
        argument
    }

    #[test]
    fn a_handle_that_is_being_released_belongs_to_no_thread() {
        // No thread has this handle.
        const HANDLE: usize = 1;
        let started = Started::new(Ledger::new("image"), start, Hold::Joinable, false, None);
        lock(&started.life).handle = Some(HANDLE);
        lock(&STARTED).push(Arc::clone(&started));
        let is_known = || find(HANDLE).is_some();
        let fails = || if is_known() { 0 } else { libc::EINVAL };
        assert_eq!((join(HANDLE, fails), is_known()), (libc::EINVAL, true));
        assert_eq!((detach(HANDLE, fails), is_known()), (libc::EINVAL, true));
        assert_eq!((detach(HANDLE, || c_int::from(is_known())), is_known()), (0, false));
        unregister(&started);
    }
}
