//! Tests state, other than mappings, that a plugin's C code leaves behind: holes in its own image, alternate stacks set by a direct system
//! call, streams of the C library, attached segments, the environment, and blocks that the C library has allocated.
//!
//! Earlier versions crashed in some of these cases. Each test therefore runs alone, in a new process of this program.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![expect(unsafe_code, reason = "maps memory and reads stacks, as a host's own code may")]

use crate::alarms::{self, leave, read_release, unload};
use crate::support;

use std::path::Path;
use std::ptr;

use alcedo_runtime::{Runtime, UnloadReport};

const TWO_PAGES: usize = 2 * 4096;

fn alone(test: &str, work: impl FnOnce(&Path)) {
    alarms::alone_in(module_path!(), test, work);
}

fn host(library: &Path) -> Runtime {
    alarms::host(library, |_| ())
}

/// Makes the plugin leave the state `what` behind. Unloads the plugin, and returns the report.
fn leaves(library: &Path, what: &str) -> UnloadReport {
    let host = host(library);
    leave(&host, what);
    unload(&host)
}

/// Maps two pages, at the address `at` if this address is free.
fn two_pages(at: usize) -> *mut u8 {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: creates a new mapping without replacing another.
    let pages = unsafe { libc::mmap(ptr::without_provenance_mut(at), TWO_PAGES, protection, flags, -1, 0) };
    assert_ne!(pages, libc::MAP_FAILED);
    pages.cast()
}

#[test]
fn a_hole_in_an_image_is_not_reused_by_other_mappings() {
    alone("a_hole_in_an_image_is_not_reused_by_other_mappings", |library| {
        for (what, expected) in [("hole", "munmap"), ("hole_by_number", "munmap"), ("hole_by_moving", "mremap")] {
            let log = support::record("alcedo_sys::memory");
            let host = host(library);
            leave(&host, what);
            let mine = two_pages(read_release().parse().expect("an address"));
            // SAFETY: the range was mapped just now.
            unsafe { mine.write_bytes(7, TWO_PAGES) };
            unload(&host);
            // SAFETY: the mapping is ours, so no other code has unmapped it.
            assert!((0..TWO_PAGES).all(|at| unsafe { mine.wrapping_add(at).read() } == 7), "{what}");
            let log = log.take();
            assert!(log.contains(expected) && log.contains("alarms"), "{what}: {log}");
        }
    });
}

#[test]
fn pages_mapped_over_an_image_are_unmapped_once_with_it() {
    alone("pages_mapped_over_an_image_are_unmapped_once_with_it", |library| {
        let report = leaves(library, "mapped_over");
        assert_eq!(report.modules[0].maps_bytes, 0, "{report}");
    });
}

fn alternate_stack() -> (usize, usize) {
    let mut stack = libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: 0, ss_size: 0 };
    // SAFETY: sets no stack, and the pointer is valid for writing a `stack_t`.
    assert_eq!(unsafe { libc::sigaltstack(ptr::null(), &raw mut stack) }, 0);
    if stack.ss_flags & libc::SS_DISABLE != 0 { (0, 0) } else { (stack.ss_sp.addr(), stack.ss_size) }
}

#[test]
fn an_alternate_stack_set_by_number_is_restored() {
    alone("an_alternate_stack_set_by_number_is_restored", |library| {
        let (host, before) = (host(library), alternate_stack());
        leave(&host, "stack_by_number");
        assert_ne!(alternate_stack(), before);
        unload(&host);
        assert_eq!(alternate_stack(), before);
    });
}

#[test]
fn an_alternate_stack_set_past_the_hooks_does_not_outlive_its_memory() {
    alone("an_alternate_stack_set_past_the_hooks_does_not_outlive_its_memory", |library| {
        let host = host(library);
        leave(&host, "stack_past");
        assert_ne!(alternate_stack(), (0, 0));
        unload(&host);
        assert_eq!(alternate_stack(), (0, 0));
    });
}

#[test]
fn streams_left_open_are_reported_with_their_opening_function() {
    alone("streams_left_open_are_reported_with_their_opening_function", |library| {
        let report = leaves(library, "streams");
        let left: Vec<_> = report.modules[0].fds_left.iter().map(|file| file.target.as_str()).collect();
        assert_eq!(left.len(), 4, "{report}");
        for name in ["`fopen`", "`fdopen`", "`opendir`", "`popen`"] {
            assert!(left.iter().any(|what| what.contains(name)), "{name}: {report}");
        }
        assert_eq!(leaves(library, "streams_closed").modules[0].fds_left, []);
    });
}

#[test]
fn streams_are_closed_as_the_c_library_closes_them() {
    alone("streams_are_closed_as_the_c_library_closes_them", |library| {
        // SAFETY: the plugin shares its descriptors with no other code.
        let host = alarms::host(library, |policy| unsafe { policy.close_fds(true) });
        leave(&host, "streams");
        assert_eq!(read_release(), "");
        let report = unload(&host);
        assert_eq!(report.modules[0].fds_closed, 4, "{report}");
        assert_eq!(read_release(), "not written yet");
        support::until("the process of `popen` was waited for", || {
            let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
            // SAFETY: the call neither waits nor writes.
            unsafe { libc::waitid(libc::P_ALL, 0, ptr::null_mut(), flags) == -1 }
        });
    });
}

#[test]
fn attached_segments_are_reported_and_detached() {
    alone("attached_segments_are_reported_and_detached", |library| {
        let report = leaves(library, "segment");
        assert_eq!(report.modules[0].maps_bytes, TWO_PAGES as u64, "{report}");
        let maps = std::fs::read_to_string("/proc/self/maps").expect("the process map");
        assert!(!maps.contains("SYSV"), "{maps}");
    });
}

#[test]
fn the_environment_is_restored_after_a_finalizer_replaced_it() {
    alone("the_environment_is_restored_after_a_finalizer_replaced_it", |library| {
        for what in ["last_row", "last_row_in_heap"] {
            let before: Vec<_> = std::env::vars_os().collect();
            leaves(library, what);
            assert_eq!(std::env::vars_os().collect::<Vec<_>>(), before, "{what}");
        }
    });
}

#[test]
fn blocks_allocated_by_the_c_library_for_a_plugin_are_freed() {
    alone("blocks_allocated_by_the_c_library_for_a_plugin_are_freed", |library| {
        let report = leaves(library, "blocks_of_c");
        let end = &report.modules[0];
        assert_eq!(
            (end.c_heap_blocks, end.c_heap_kept_blocks),
            (read_release().parse().expect("a number"), 0),
            "{report}"
        );
    });
}

/// Calls a function with one argument. During the call, the registers for the second and third argument contain these values.
#[cfg(target_arch = "x86_64")]
fn call_with_one(function: usize, argument: std::ffi::c_int, second: usize, third: usize) {
    // SAFETY: the function is a signal handler, whose first argument is a signal.
    unsafe {
        std::arch::asm!(
            "call {function}", function = in(reg) function, inlateout("rdi") argument => _,
            inlateout("rsi") second => _, inlateout("rdx") third => _, clobber_abi("C"),
        );
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_host_may_call_a_found_handler_with_only_the_signal() {
    alone("a_host_may_call_a_found_handler_with_only_the_signal", |library| {
        let host = host(library);
        leave(&host, "plain_handler");
        // SAFETY: all zeroes are a valid `sigaction`.
        let mut found: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: sets no action, and the pointer is valid for writing a `sigaction`.
        assert_eq!(unsafe { libc::sigaction(libc::SIGPROF, ptr::null(), &raw mut found) }, 0);
        for (at, (second, third)) in
            [(0, 0), (0x21, 0x10), (usize::MAX - 7, 8), (4096, usize::MAX)].into_iter().enumerate()
        {
            call_with_one(found.sa_sigaction, libc::SIGPROF, second, third);
            assert_eq!(alarms::calls(&host), at as u64 + 1);
        }
        unload(&host);
    });
}
