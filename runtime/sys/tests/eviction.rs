//! Tests threads that never leave an image on their own. If the host permits eviction, such a thread is forced out of its system call. A
//! thread is evicted only if no code of the host or of the C library is skipped.
#![cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
#![expect(unsafe_code, reason = "mapping a library runs its code")]

use std::ffi::c_int;
use std::io::{PipeReader, PipeWriter, Write as _, pipe};
use std::os::fd::AsRawFd as _;
use std::sync::Mutex;
use std::sync::atomic::AtomicI32;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use alcedo_sys::process::stale_mappings;
use alcedo_sys::{EndPolicy, EndState, HolderKind, ReferenceSearch};

use crate::common::hooked::{Library, Mode, Seen, finish, wait_for};

const EVICTING: EndPolicy = EndPolicy {
    close_fds: false,
    reap_children: false,
    free_c_heap: true,
    search: ReferenceSearch::Never,
    evict: Some(Duration::ZERO),
    live_heap: None,
};

fn blocked(mode: Mode) -> (PipeReader, PipeWriter, &'static Seen) {
    let (reader, writer) = pipe().expect("a pipe");
    let seen = Seen::new(mode, reader.as_raw_fd());
    (reader, writer, seen)
}

#[test]
fn permanently_blocked_threads_are_evicted_and_their_thread_locals_forgotten() {
    for mode in [Mode::InRead, Mode::InFutex, Mode::InSleep, Mode::InSem, Mode::InTimedSem] {
        for detached in [false, true] {
            let library = Library::new();
            let (_reader, _writer, seen) = blocked(mode);
            let module = library.map();
            module.start(seen, detached);
            module.start(seen, detached);
            let (mut ending, ledger) = module.begin_end(EVICTING);
            let report = finish(&mut ending);
            assert_eq!((report.threads_evicted, report.threads_joined), (2, if detached { 0 } else { 2 }));
            assert_eq!((report.thread_locals_run, report.thread_locals_forgotten), (0, 2));
            assert_eq!(seen.run.load(SeqCst), 0, "a skipped frame may have borrowed a thread-local");
            assert_eq!(ledger.counts().threads_ended, 2);
            assert_eq!(stale_mappings(library.stage().path()).expect("the maps can be read").len(), 0);
        }
    }
}

#[test]
fn a_thousand_threads_are_evicted_in_sequence() {
    let library = Library::new();
    for round in 0..1_000 {
        let (_reader, _writer, seen) = blocked(if round % 2 == 0 { Mode::InRead } else { Mode::InFutex });
        let module = library.map();
        module.start(seen, false);
        assert_eq!(module.end(EVICTING).threads_evicted, 1, "round {round}");
        assert_eq!(seen.run.load(SeqCst), 0, "round {round}");
    }
    assert_eq!(stale_mappings(library.stage().path()).expect("the maps can be read").len(), 0);
}

#[test]
fn threads_are_not_evicted_without_or_before_the_policy() {
    for evict in [None, Some(Duration::from_secs(3_600))] {
        let (library, (_reader, mut writer, seen)) = (Library::new(), blocked(Mode::InFile));
        let module = library.map();
        module.start(seen, false);
        let (mut ending, _ledger) = module.begin_end(EndPolicy { evict, ..EVICTING });
        wait_for(|| (seen.arrived.load(SeqCst) == 1).then_some(())).expect("the thread runs");
        for _ in 0..50 {
            assert!(matches!(ending.poll(), EndState::Waiting(_)));
        }
        writer.write_all(b"x").expect("the thread reads");
        assert_eq!(finish(&mut ending).threads_evicted, 0);
    }
}

/// Mutex that a function of the host holds while it blocks. If the thread were evicted in this state, the mutex would never be unlocked.
static HOSTS: Mutex<()> = Mutex::new(());

extern "C" fn block_with_lock(fd: c_int) {
    let _held = HOSTS.lock().expect("not poisoned");
    block_in_host(fd);
}

extern "C" fn block_in_host(fd: c_int) {
    let mut byte = 0u8;
    loop {
        // SAFETY: `byte` is a variable of one byte.
        match unsafe { libc::read(fd, (&raw mut byte).cast(), 1) } {
            1 => return,
            _ => assert_eq!(std::io::Error::last_os_error().kind(), std::io::ErrorKind::Interrupted),
        }
    }
}

/// Pipe from which the host's signal handler reads, and the progress of this handler.
static HANDLERS_PIPE: AtomicI32 = AtomicI32::new(-1);
static HANDLER: AtomicI32 = AtomicI32::new(0);

extern "C" fn block_in_handler(_signal: c_int) {
    HANDLER.store(1, SeqCst);
    block_in_host(HANDLERS_PIPE.load(SeqCst));
    HANDLER.store(2, SeqCst);
}

#[test]
fn signal_handlers_of_the_host_are_not_interrupted() {
    let signal = libc::SIGRTMIN() + 5;
    let (of_handler, mut to_handler) = pipe().expect("a pipe");
    HANDLERS_PIPE.store(of_handler.as_raw_fd(), SeqCst);
    // SAFETY: the handler only reads from a pipe and writes to atomics.
    unsafe { libc::signal(signal, block_in_handler as *const () as usize) };
    let (library, (_reader, _writer, seen)) = (Library::new(), blocked(Mode::InRead));
    let module = library.map();
    module.start(seen, false);
    wait_for(|| (seen.arrived.load(SeqCst) == 1).then_some(())).expect("the thread runs");
    let holders = module.ledger.holders();
    let number = holders[0].thread.rsplit_once('(').expect("a name and a number").1.trim_end_matches(')');
    let thread: c_int = number.parse().expect("a thread's number");
    // SAFETY: the signal has a handler, and the thread runs.
    let sent = unsafe { libc::syscall(libc::SYS_tgkill, std::process::id(), thread, signal) };
    assert_eq!(sent, 0);
    wait_for(|| (HANDLER.load(SeqCst) == 1).then_some(())).expect("the handler runs");
    let (mut ending, _ledger) = module.begin_end(EVICTING);
    for _ in 0..200 {
        assert!(matches!(ending.poll(), EndState::Waiting(_)));
        std::thread::sleep(Duration::from_micros(200));
    }
    assert_eq!(HANDLER.load(SeqCst), 1);
    to_handler.write_all(b"x").expect("the handler reads");
    assert_eq!(finish(&mut ending).threads_evicted, 1);
    assert_eq!((HANDLER.load(SeqCst), seen.wrong_thread.load(SeqCst)), (2, 0));
}

#[test]
fn a_thread_that_blocks_all_signals_is_reported_as_out_of_reach() {
    let (library, (_reader, mut writer, seen)) = (Library::new(), blocked(Mode::InBlocked));
    let module = library.map();
    module.start(seen, false);
    wait_for(|| (seen.arrived.load(SeqCst) == 2).then_some(())).expect("the thread runs");
    let (mut ending, _ledger) = module.begin_end(EVICTING);
    // The first poll sends the eviction signal. Only a later poll reports the result.
    ending.poll();
    let EndState::Waiting(holders) = ending.poll() else { panic!("the thread has not left") };
    let name = &holders.iter().find(|holder| holder.kind == HolderKind::Thread).expect("it is named").name;
    assert_eq!(name, "thread without a name, which blocks all signals: no eviction");
    writer.write_all(b"x").expect("the thread reads");
    assert_eq!(finish(&mut ending).threads_evicted, 0);
}

#[test]
fn threads_waiting_for_a_condition_variable_are_not_evicted() {
    let (library, (_reader, _writer, seen)) = (Library::new(), blocked(Mode::InCond));
    let module = library.map();
    module.start(seen, false);
    wait_for(|| (seen.arrived.load(SeqCst) == 1).then_some(())).expect("the thread runs");
    let (mut ending, _ledger) = module.begin_end(EVICTING);
    for _ in 0..200 {
        assert!(matches!(ending.poll(), EndState::Waiting(_)), "its destruction would wait for it");
        std::thread::sleep(Duration::from_micros(200));
    }
    seen.go.store(1, SeqCst);
    assert_eq!(finish(&mut ending).threads_evicted, 0);
}

#[test]
fn threads_in_the_host_c_library_or_a_loop_are_not_evicted() {
    let (in_file, in_spin, in_host) = (blocked(Mode::InFile), blocked(Mode::InSpin), pipe().expect("a pipe"));
    let host = Seen::with_host(block_with_lock, in_host.0.as_raw_fd());
    for (seen, mut writer) in [(host, in_host.1), (in_file.2, in_file.1), (in_spin.2, in_spin.1)] {
        let library = Library::new();
        let module = library.map();
        module.start(seen, false);
        wait_for(|| (seen.arrived.load(SeqCst) == 1).then_some(())).expect("the thread runs");
        let (mut ending, _ledger) = module.begin_end(EVICTING);
        for _ in 0..200 {
            let EndState::Waiting(holders) = ending.poll() else { panic!("the thread has not left") };
            assert!(holders.iter().any(|holder| holder.kind == HolderKind::Thread));
            std::thread::sleep(Duration::from_micros(200));
        }
        writer.write_all(b"x").expect("the thread reads");
        seen.go.store(1, SeqCst);
        let report = finish(&mut ending);
        assert_eq!((report.threads_evicted, report.thread_locals_run), (0, 2), "mode {}", seen.mode);
    }
    assert!(HOSTS.try_lock().is_ok());
}
