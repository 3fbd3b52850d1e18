//! Looks up functions of the C library at run time, like a library that supports several versions. The host must track the effects of
//! these functions like the effects of direct calls.
#![expect(unsafe_code, reason = "calls C functions that are found by name")]

use std::ffi::{CStr, c_int, c_uint, c_void};
use std::mem::transmute;
use std::ptr::{null, null_mut};
use std::time::Duration;

/// Returns the address that the loader reports for a name.
fn look_up(handle: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: the name is a C string.
    unsafe { libc::dlsym(handle, name.as_ptr()) }
}

/// Looks up a function by name.
macro_rules! function {
    ($name:literal as $kind:ty) => {{
        let found = look_up(libc::RTLD_DEFAULT, $name);
        assert!(!found.is_null(), "the C library lacks {:?}", $name);
        // SAFETY: the C function of this name has this type.
        unsafe { transmute::<*mut c_void, $kind>(found) }
    }};
}

extern "C" fn ran(_argument: *mut c_void) {
    eprintln!("a function of a plugin ran");
}

extern "C" fn ran_with_status(_status: c_int, _argument: *mut c_void) {
    eprintln!("a function of a plugin ran");
}

extern "C" fn around_a_fork() {
    std::hint::black_box(1);
}

extern "C" fn struck(_signal: c_int) {}

/// Runs long enough for a reload to happen while this thread runs.
extern "C" fn thread(_argument: *mut c_void) -> *mut c_void {
    for _ in 0..5 {
        std::thread::sleep(Duration::from_millis(100));
    }
    eprintln!("a thread of a plugin has ended");
    null_mut()
}

type Callback = extern "C" fn(*mut c_void);

pub(crate) fn leave_thread() {
    type Create = unsafe extern "C" fn(
        *mut usize,
        *const c_void,
        extern "C" fn(*mut c_void) -> *mut c_void,
        *mut c_void,
    ) -> c_int;
    let create = function!(c"pthread_create" as Create);
    let mut number = 0;
    // SAFETY: `number` is valid for one thread id, and the function may run on any thread.
    assert_eq!(unsafe { create(&raw mut number, null(), thread, null_mut()) }, 0);
}

pub(crate) fn leave_exit_handler() {
    let at_exit = function!(c"__cxa_atexit" as unsafe extern "C" fn(Callback, *mut c_void, *mut c_void) -> c_int);
    // SAFETY: the function may run at any time.
    assert_eq!(unsafe { at_exit(ran, null_mut(), null_mut()) }, 0);
}

pub(crate) fn leave_exit_handler_with_status() {
    type OnExit = unsafe extern "C" fn(extern "C" fn(c_int, *mut c_void), *mut c_void) -> c_int;
    let on_exit = function!(c"on_exit" as OnExit);
    // SAFETY: the function may run at any time.
    assert_eq!(unsafe { on_exit(ran_with_status, null_mut()) }, 0);
}

pub(crate) fn leave_key() {
    let create = function!(c"pthread_key_create" as unsafe extern "C" fn(*mut c_uint, Option<Callback>) -> c_int);
    let set = function!(c"pthread_setspecific" as unsafe extern "C" fn(c_uint, *const c_void) -> c_int);
    let mut key = 0;
    // SAFETY: `key` is valid for one key, and the destructor may run on any thread.
    assert_eq!(unsafe { create(&raw mut key, Some(ran)) }, 0);
    // SAFETY: the key exists, and the destructor does not dereference the value.
    assert_eq!(unsafe { set(key, null::<c_void>().wrapping_byte_add(1)) }, 0);
}

pub(crate) fn leave_thread_local() {
    type AtExit = unsafe extern "C" fn(Callback, *mut c_void, *mut c_void) -> c_int;
    let at_exit = function!(c"__cxa_thread_atexit_impl" as AtExit);
    // SAFETY: the function may run when this thread ends.
    assert_eq!(unsafe { at_exit(ran, null_mut(), null_mut()) }, 0);
}

pub(crate) fn leave_fork_handlers() {
    type AtFork = unsafe extern "C" fn(extern "C" fn(), extern "C" fn(), extern "C" fn(), *mut c_void) -> c_int;
    let at_fork = function!(c"__register_atfork" as AtFork);
    // SAFETY: the functions may run at any time.
    assert_eq!(unsafe { at_fork(around_a_fork, around_a_fork, around_a_fork, null_mut()) }, 0);
}

pub(crate) fn fork() -> String {
    // SAFETY: the child exits immediately.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: ends this process.
        unsafe { libc::_exit(7) };
    }
    let mut status = 0;
    // SAFETY: `status` is valid for one status.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    format!("a child ended with {}", libc::WEXITSTATUS(status))
}

pub(crate) fn leave_timer() {
    type Set = unsafe extern "C" fn(c_int, *const libc::itimerval, *mut libc::itimerval) -> c_int;
    let set = function!(c"setitimer" as Set);
    // SAFETY: the handler does nothing.
    unsafe { libc::signal(libc::SIGALRM, struck as *const () as libc::sighandler_t) };
    let often = libc::timeval { tv_sec: 0, tv_usec: 10_000 };
    let value = libc::itimerval { it_interval: often, it_value: often };
    // SAFETY: the value is valid, and the old value is not requested.
    assert_eq!(unsafe { set(libc::ITIMER_REAL, &raw const value, null_mut()) }, 0);
}

/// Waits, so that a timer of the previous generation would fire and end the process.
pub(crate) fn wait_for_timer() -> String {
    std::thread::sleep(Duration::from_millis(60));
    "nothing strikes".to_owned()
}

/// Checks that every kind of look-up returns the function that a direct call reaches.
pub(crate) fn compare() {
    // SAFETY: the program itself can always be opened.
    let program = unsafe { libc::dlopen(null(), libc::RTLD_LAZY) };
    // SAFETY: the C library is loaded.
    let library = unsafe { libc::dlopen(c"libc.so.6".as_ptr(), libc::RTLD_LAZY) };
    let own = libc::alarm as *const c_void;
    for handle in [libc::RTLD_DEFAULT, libc::RTLD_NEXT, program, library] {
        assert_eq!(look_up(handle, c"alarm").cast_const(), own, "{handle:?}");
        // SAFETY: the function has no arguments.
        assert!(unsafe { libc::dlerror() }.is_null(), "{handle:?}: unexpected error of a found name");
        assert_eq!(look_up(handle, c"getpid").cast_const(), libc::getpid as *const c_void, "{handle:?}: not hooked");
        assert!(look_up(handle, c"traces_has_no_such_name").is_null());
        // SAFETY: the function has no arguments.
        assert!(!unsafe { libc::dlerror() }.is_null(), "{handle:?}: no error of a missing name");
    }
    let version = if cfg!(target_arch = "x86_64") { c"GLIBC_2.2.5" } else { c"GLIBC_2.17" };
    // SAFETY: two C strings.
    let found = unsafe { libc::dlvsym(libc::RTLD_DEFAULT, c"alarm".as_ptr(), version.as_ptr()) };
    assert_eq!(found.cast_const(), own);
    // SAFETY: `dlopen` has opened both libraries.
    assert_eq!(unsafe { [libc::dlclose(program), libc::dlclose(library)] }, [0, 0]);
}

/// Looks up `alarm`, which the C library also defines, in an opened library. The look-up must find the function of the opened library.
pub(crate) fn check_elsewhere() {
    let file = std::env::var("TRACES_LIBRARY").expect("the test sets the library");
    let file = std::ffi::CString::new(file).expect("no zero byte");
    // SAFETY: the library has no initializers.
    let library = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!library.is_null(), "cannot open {file:?}");
    let found = look_up(library, c"alarm");
    assert_ne!(found.cast_const(), libc::alarm as *const c_void);
    // SAFETY: the function of this name in that library has this type.
    let alarm = unsafe { transmute::<*mut c_void, unsafe extern "C" fn(c_uint) -> c_uint>(found) };
    // SAFETY: the function accepts any number.
    assert_eq!(unsafe { alarm(0) }, 4711);
    // SAFETY: `dlopen` has opened the library.
    assert_eq!(unsafe { libc::dlclose(library) }, 0);
}
