//! Finalizers that run while the library is being closed, shortly before the library is unmapped.
#![expect(unsafe_code, reason = "calls C functions, like plugins that wrap a C library")]

use std::ffi::{c_char, c_int, c_void};
use std::fmt::Write as _;
use std::mem;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::raw::{Event, called, on_event};

static CHOSEN: AtomicU32 = AtomicU32::new(0);

pub(crate) const THREAD: u32 = 1;
pub(crate) const STRING: u32 = 2;
pub(crate) const STACK: u32 = 3;
pub(crate) const EVERYTHING: u32 = 4;
pub(crate) const ROW: u32 = 5;
pub(crate) const ROW_IN_HEAP: u32 = 6;

/// Selects the action of the finalizer.
pub(crate) fn choose(what: u32) {
    CHOSEN.store(what, Ordering::SeqCst);
}

#[used]
#[unsafe(link_section = ".fini_array")]
static FINALIZER: extern "C" fn() = finalize;

extern "C" fn finalize() {
    match CHOSEN.load(Ordering::SeqCst) {
        THREAD => _ = thread(),
        STRING => _ = string(),
        STACK => _ = stack(),
        EVERYTHING => everything(),
        ROW => row(),
        ROW_IN_HEAP => row_in_heap(),
        _ => {}
    }
}

extern "C" fn run(_nothing: *mut c_void) -> *mut c_void {
    loop {
        std::thread::sleep(Duration::from_millis(1));
        called();
    }
}

/// Starts a detached thread that never ends.
fn thread() -> c_int {
    let mut thread = 0;
    // SAFETY: `thread` is valid for one thread id, and the thread function accepts any argument.
    let result = unsafe { libc::pthread_create(&raw mut thread, null_mut(), run, null_mut()) };
    if result == 0 {
        // SAFETY: `pthread_create` has created the thread.
        unsafe { libc::pthread_detach(thread) };
    }
    result
}

/// Puts a string that this module owns into the environment.
fn string() -> c_int {
    static STRING: &std::ffi::CStr = c"ALARMS_LAST=of the module";
    // SAFETY: a C string with an equals sign.
    unsafe { libc::putenv(STRING.as_ptr().cast_mut()) }
}

/// Replaces `environ` by an array in this module that contains one string.
fn row() {
    static mut ROW: [*mut c_char; 2] = [c"ALARMS_LAST=of the module".as_ptr().cast_mut(), null_mut()];
    // SAFETY: no other thread of this process accesses the environment now.
    unsafe { environ = (&raw mut ROW).cast() };
}

/// Replaces `environ` by an array in this module's heap.
fn row_in_heap() {
    let text = c"ALARMS_LAST=of the module".to_owned().into_raw();
    // SAFETY: no other thread of this process accesses the environment now.
    unsafe { environ = vec![text, null_mut()].leak().as_mut_ptr() };
}

/// Sets an alternate signal stack in this module's memory.
fn stack() -> c_int {
    const SIZE: usize = 64 * 1024;
    static mut MEMORY: [u128; SIZE / 16] = [0; SIZE / 16];
    let stack = libc::stack_t { ss_sp: (&raw mut MEMORY).cast(), ss_flags: 0, ss_size: SIZE };
    // SAFETY: the memory is valid as long as this module is loaded.
    unsafe { libc::sigaltstack(&raw const stack, null_mut()) }
}

extern "C" fn late() {
    called();
}

extern "C" fn late_with(_status: c_int, _argument: *mut c_void) {
    called();
}

extern "C" fn handler(_signal: c_int) {
    called();
}

/// Calls one function for each kind of registration, during the close. Writes the results to the file that `ALARMS_RELEASE` names.
fn everything() {
    // SAFETY: all zeroes are a valid `sigaction`.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = handler as *const () as libc::sighandler_t;
    let (mut timer, event) = (0, Event::call(on_event));
    static mut STATE: [u64; 16] = [0; 16];
    let results = [
        ("pthread_create", thread()),
        // SAFETY: the function may be called at any time.
        ("atexit", unsafe { libc::atexit(late) }),
        // SAFETY: the function may be called at any time.
        ("on_exit", unsafe { on_exit(late_with, null_mut()) }),
        // SAFETY: the function may be called at any time.
        ("pthread_atfork", unsafe { pthread_atfork(Some(late), Some(late), Some(late)) }),
        // SAFETY: the handler is async-signal-safe.
        ("sigaction", unsafe { libc::sigaction(libc::SIGUSR2, &raw const action, null_mut()) }),
        // SAFETY: the handler is async-signal-safe.
        ("signal", -c_int::from(unsafe { libc::signal(libc::SIGUSR2, action.sa_sigaction) } == libc::SIG_ERR)),
        // SAFETY: the event is initialized, and `timer` is valid for one timer id.
        ("timer_create", unsafe { timer_create(libc::CLOCK_MONOTONIC, &event, &raw mut timer) }),
        ("sigaltstack", stack()),
        // SAFETY: the memory is valid as long as this module is loaded.
        ("initstate", -c_int::from(unsafe { initstate(1, (&raw mut STATE).cast(), 128) }.is_null())),
        ("open_memstream", -c_int::from(stream().is_null())),
        ("putenv", string()),
    ];
    let mut text = String::new();
    for (function, result) in results {
        writeln!(text, "{function} {}", if result == 0 { "done" } else { "refused" }).expect("infallible");
    }
    let name = std::env::var_os("ALARMS_RELEASE").expect("the test sets the path");
    std::fs::write(name, text).expect("the file is writable");
}

fn stream() -> *mut c_void {
    static mut BYTES: *mut c_char = null_mut();
    static mut LEN: usize = 0;
    // SAFETY: both variables are valid as long as this module is loaded.
    unsafe { open_memstream(&raw mut BYTES, &raw mut LEN) }
}

unsafe extern "C" {
    static mut environ: *mut *mut c_char;
    fn on_exit(handler: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    fn pthread_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> c_int;
    fn timer_create(clock: c_int, event: &Event, timer: *mut usize) -> c_int;
    fn initstate(seed: u32, state: *mut c_char, size: usize) -> *mut c_char;
    fn open_memstream(bytes: *mut *mut c_char, len: *mut usize) -> *mut c_void;
}
