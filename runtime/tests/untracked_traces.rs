//! Tests plugin state that no hook detects, or that the plugin creates while its library is closed. Covers limits and timers that raise a
//! signal without a handler, filters, mutexes held by a host thread, and actions of finalizers. Earlier versions crashed in each of these
//! cases.
//!
//! Each test runs alone, in a new process of this program.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![expect(unsafe_code, reason = "reads limits and timers and holds mutexes, as a host's own code may")]

use crate::alarms::{self, FOLDER, blocked, end, leave, read_release, unload};
use crate::support;

use std::ffi::{c_int, c_uint};
use std::mem;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use alcedo_runtime::Runtime;
use alcedo_sys::process;

fn alone(test: &str, work: impl FnOnce(&Path)) {
    alarms::alone_in(module_path!(), test, work);
}

fn host(library: &Path) -> Runtime {
    alarms::host(library, |_| ())
}

fn limits(resource: c_uint) -> libc::rlimit {
    let mut limits = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is valid for writing an `rlimit`.
    assert_eq!(unsafe { libc::getrlimit(resource, &raw mut limits) }, 0);
    limits
}

/// Writes a file of more than one byte.
fn write_much() -> std::io::Result<()> {
    let name = PathBuf::from(std::env::var_os(FOLDER).expect("a folder")).join("much");
    std::fs::write(name, "more than a byte")
}

#[test]
fn a_time_limit_is_restored_before_its_handler_is_unmapped() {
    alone("a_time_limit_is_restored_before_its_handler_is_unmapped", |library| {
        let host = host(library);
        let before = limits(libc::RLIMIT_CPU).rlim_cur;
        leave(&host, "cpu_limit");
        assert_ne!(limits(libc::RLIMIT_CPU).rlim_cur, before);
        let report = unload(&host);
        assert_eq!(limits(libc::RLIMIT_CPU).rlim_cur, before);
        assert!(report.to_string().contains("RLIMIT_CPU"), "{report}");
    });
}

#[test]
fn a_size_limit_is_restored_before_its_handler_is_unmapped() {
    alone("a_size_limit_is_restored_before_its_handler_is_unmapped", |library| {
        let host = host(library);
        let before = limits(libc::RLIMIT_FSIZE).rlim_cur;
        leave(&host, "size_limit");
        write_much().expect_err("more than a byte");
        let report = unload(&host);
        assert_eq!(limits(libc::RLIMIT_FSIZE).rlim_cur, before);
        write_much().expect("it was put back");
        assert!(report.to_string().contains("RLIMIT_FSIZE"), "{report}");
    });
}

#[test]
fn a_limit_that_cannot_be_restored_kills_no_process() {
    alone("a_limit_that_cannot_be_restored_kills_no_process", |library| {
        let host = host(library);
        leave(&host, "size_limit_for_good");
        let report = unload(&host);
        write_much().expect_err("more than a byte");
        assert!(report.to_string().contains("SIGXFSZ (25) ignored"), "{report}");
    });
}

#[test]
fn a_limit_remains_as_long_as_another_module_handles_its_signal() {
    alone("a_limit_remains_as_long_as_another_module_handles_its_signal", |library| {
        let before = limits(libc::RLIMIT_CPU).rlim_cur;
        let first = host(library);
        leave(&first, "cpu_limit");
        let set = limits(libc::RLIMIT_CPU).rlim_cur;
        let second = host(library);
        // The second plugin sets an equal or slightly higher limit, and has not read the original limit.
        leave(&second, "cpu_limit");
        unload(&first);
        assert!((set..before).contains(&limits(libc::RLIMIT_CPU).rlim_cur), "the second handles it");
        unload(&second);
        assert_eq!(limits(libc::RLIMIT_CPU).rlim_cur, before);
    });
}

unsafe extern "C" {
    fn getitimer(which: c_int, now: *mut libc::itimerval) -> c_int;
}

#[test]
fn an_untracked_process_timer_stops_before_its_handler_is_unmapped() {
    alone("an_untracked_process_timer_stops_before_its_handler_is_unmapped", |library| {
        let host = host(library);
        leave(&host, "interval_past");
        let report = unload(&host);
        // SAFETY: all zeroes are a valid, stopped timer.
        let mut now: libc::itimerval = unsafe { mem::zeroed() };
        // SAFETY: the pointer is valid for writing an `itimerval`.
        assert_eq!(unsafe { getitimer(libc::ITIMER_REAL, &raw mut now) }, 0);
        assert_eq!((now.it_interval.tv_usec, now.it_value.tv_usec), (0, 0));
        assert!(report.to_string().contains("ITIMER_REAL"), "{report}");
    });
}

#[test]
fn an_untracked_signal_timer_is_deleted_before_its_handler() {
    alone("an_untracked_signal_timer_is_deleted_before_its_handler", |library| {
        // Some kernels do not list timers.
        let Ok(before) = std::fs::read_to_string("/proc/self/timers") else { return };
        let host = host(library);
        leave(&host, "timer_past");
        assert_ne!(std::fs::read_to_string("/proc/self/timers").expect("it was there"), before);
        let report = unload(&host);
        assert_eq!(std::fs::read_to_string("/proc/self/timers").expect("it was there"), before);
        assert!(report.to_string().contains("SIGRTMIN+3"), "{report}");
    });
}

#[test]
fn a_filter_that_raises_a_signal_keeps_the_module_that_handles_it() {
    alone("a_filter_that_raises_a_signal_keeps_the_module_that_handles_it", |library| {
        let host = host(library);
        leave(&host, "filter");
        let (_ticket, report) = blocked(&host);
        assert!(report.contains("seccomp") && report.contains("SIGSYS"), "{report}");
        // SAFETY: reads a number and raises a signal.
        unsafe { libc::getppid() };
    });
}

#[test]
fn a_mutex_held_by_a_thread_keeps_the_module_naming_the_thread() {
    alone("a_mutex_held_by_a_thread_keeps_the_module_naming_the_thread", |library| {
        for what in ["held_mutex", "held_mutex_in_heap"] {
            let host = host(library);
            leave(&host, what);
            let (ticket, report) = blocked(&host);
            // SAFETY: reads a number.
            let own = unsafe { libc::gettid() }.to_string();
            assert!(report.contains("robust mutex") && report.contains(&own), "{report}");
            let mutex: usize = read_release().parse().expect("an address");
            let mutex = ptr::with_exposed_provenance_mut(mutex);
            // SAFETY: the mutex exists according to the report, and this thread holds it.
            assert_eq!(unsafe { libc::pthread_mutex_unlock(mutex) }, 0);
            end(&host, &ticket);
        }
    });
}

/// Loads the module, selects the action `what` of its finalizer (the function in its `.fini_array`), and unloads the module. The action
/// runs while the library is closed. Returns the host.
fn closed_with(library: &Path, what: &str) -> Runtime {
    let host = host(library);
    leave(&host, what);
    unload(&host);
    host
}

#[test]
fn a_thread_started_by_a_finalizer_does_not_run_unmapped_code() {
    alone("a_thread_started_by_a_finalizer_does_not_run_unmapped_code", |library| {
        let threads = process::threads().expect("they are counted");
        let host = closed_with(library, "last_thread");
        // Waits long enough for a thread that wrongly remains to execute unmapped code, which would crash this process.
        std::thread::sleep(Duration::from_millis(20));
        drop(host);
        support::until("the threads of the host have ended", || process::threads().expect("a number") <= threads);
    });
}

#[test]
fn a_string_that_a_finalizer_puts_into_the_environment_is_there() {
    alone("a_string_that_a_finalizer_puts_into_the_environment_is_there", |library| {
        let _host = closed_with(library, "last_string");
        assert_eq!(std::env::var("ALARMS_LAST").as_deref(), Ok("of the module"));
    });
}

static OURS: AtomicU64 = AtomicU64::new(0);

extern "C" fn ours(_signal: c_int) {
    OURS.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn an_alternate_stack_that_a_finalizer_sets_is_not_set() {
    alone("an_alternate_stack_that_a_finalizer_sets_is_not_set", |library| {
        let _host = closed_with(library, "last_stack");
        // SAFETY: all zeroes are a valid `sigaction`.
        let mut action: libc::sigaction = unsafe { mem::zeroed() };
        action.sa_sigaction = ours as *const () as usize;
        action.sa_flags = libc::SA_ONSTACK;
        // SAFETY: the handler only counts.
        assert_eq!(unsafe { libc::sigaction(libc::SIGUSR1, &raw const action, ptr::null_mut()) }, 0);
        // SAFETY: the signal has a handler.
        assert_eq!(unsafe { libc::raise(libc::SIGUSR1) }, 0);
        assert_eq!(OURS.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn a_finalizer_cannot_register_anything_and_attempts_are_logged() {
    alone("a_finalizer_cannot_register_anything_and_attempts_are_logged", |library| {
        let log = support::record("alcedo_sys::closing");
        let host = closed_with(library, "last_everything");
        let results = read_release();
        for line in results.lines() {
            let (function, result) = line.split_once(' ').expect("two words");
            assert_eq!(result, if function == "putenv" { "done" } else { "refused" }, "{results}");
        }
        assert_eq!(results.lines().count(), 11, "{results}");
        let log = log.take();
        for function in ["pthread_create", "on_exit", "pthread_atfork", "sigaction", "sigaltstack", "open_memstream"] {
            assert!(log.contains(function) && log.contains("alarms"), "{function}: {log}");
        }
        drop(host);
        // The fork would call a handler that the plugin had left behind.
        // SAFETY: the child ends immediately.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: `_exit` ends the child without exit handlers or other code of the parent.
            unsafe { libc::_exit(0) };
        }
        let mut status = 0;
        // SAFETY: waits for our own child.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0);
    });
}
