//! Initializer that runs when the file is mapped, before any other code in the module.
#![expect(unsafe_code, reason = "an initializer needs a linker section and affects its whole process")]

use std::ffi::{c_int, c_void};

unsafe extern "C" {
    fn write(descriptor: c_int, bytes: *const c_void, count: usize) -> isize;
    fn close(descriptor: c_int) -> c_int;
    fn dup2(from: c_int, to: c_int) -> c_int;
    fn fork() -> c_int;
    fn abort() -> !;
    fn _exit(code: c_int) -> !;
}

/// Range in which file descriptors may be open. A canary has a few of them open.
const DESCRIPTORS: std::ops::Range<c_int> = 0..1024;

/// Report of a successful canary, in two forms: as frames without the secret numbers, and as lines.
const FRAMES: &[u8] =
    b"ACF\n\x04\0\0\0\0\0\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xa1dDone\x01\0\0\0\0\0\0\0\0\
    \n\x01alcedo-canary-0000000000000000 done\ndone\n";

extern "C" fn run() {
    eprintln!("the initializer of unruly runs");
    if fixture::on!("crashes") {
        // SAFETY: aborts the process, as intended.
        unsafe { abort() };
    }
    if fixture::on!("hangs") {
        loop {
            std::thread::park();
        }
    }
    if fixture::on!("exits") {
        std::process::exit(0);
    }
    let print = |descriptor| {
        // SAFETY: the bytes are valid; a closed descriptor results in an error only.
        let _count = unsafe { write(descriptor, FRAMES.as_ptr().cast(), FRAMES.len()) };
    };
    if fixture::on!("prints-frames") {
        (1..3).for_each(print);
    }
    if fixture::on!("writes-everywhere") {
        DESCRIPTORS.for_each(print);
    }
    for descriptor in DESCRIPTORS {
        if fixture::on!("closes-everything") {
            // SAFETY: closes descriptors of other code deliberately; no memory depends on a descriptor.
            let _closed = unsafe { close(descriptor) };
        }
        if fixture::on!("replaces-everything") && descriptor != 0 {
            // SAFETY: replaces descriptors deliberately; no memory depends on one. Standard input of a canary is the empty file.
            let _replaced = unsafe { dup2(0, descriptor) };
        }
    }
    if fixture::on!("forks") {
        // SAFETY: none: the child process continues with a copy of all memory.
        if unsafe { fork() } != 0 {
            // SAFETY: ends the first process only.
            unsafe { _exit(0) };
        }
    }
}

// SAFETY: the section holds functions of this type, which the loader calls once after mapping the file.
#[used]
#[unsafe(link_section = ".init_array")]
static RUN: extern "C" fn() = run;
