//! Tests how a module with leftover thread-locals and threads is ended: which code runs on which thread, the waits of the host, and the
//! final unmapping.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![expect(unsafe_code, reason = "mapping a library runs its code")]

use std::ffi::{c_int, c_long, c_void};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::Duration;

use alcedo_sys::process::{keys_in_use, stale_mappings};
use alcedo_sys::{EndPolicy, EndState, HolderKind, OwnFolder, ReferenceSearch, UseKind, checkpoint, hooks};
use tempfile::TempDir;

use crate::common::hooked::{AT_ONCE, AtEvents, Library, Mode, Module, Seen, finish, wait_for};

fn stale(library: &Library) -> usize {
    stale_mappings(library.stage().path()).expect("the maps can be read").len()
}

#[test]
fn destructors_of_the_calling_thread_run_in_reverse_order_before_unload() {
    let (library, seen) = (Library::new(), Seen::new(Mode::AtOnce, 0));
    for _ in 0..20 {
        let module = library.map();
        seen.order.store(0, SeqCst);
        [1, 2, 3].into_iter().for_each(|digit| module.owe_in_order(seen, digit));
        assert_eq!(module.ledger.counts().thread_locals_registered, 3);
        let report = module.end(AT_ONCE);
        assert_eq!((seen.order.load(SeqCst), report.thread_locals_run), (321, 3));
        assert_eq!(stale(&library), 0);
    }
}

#[test]
fn destructors_that_register_more_run_until_none_is_left() {
    let (library, seen) = (Library::new(), Seen::new(Mode::AtOnce, 0));
    let module = library.map();
    module.owe(seen, 4);
    assert_eq!(module.end(AT_ONCE).thread_locals_run, 5);
    assert_eq!((seen.run.load(SeqCst), seen.wrong_thread.load(SeqCst)), (5, 0));
}

#[test]
fn destructors_run_once_when_their_thread_ends() {
    let (library, seen) = (Library::new(), Seen::new(Mode::AtOnce, 0));
    let module = library.map();
    thread::scope(|scope| {
        scope.spawn(|| {
            module.owe(seen, 2);
            assert_eq!(module.ledger.holders().len(), 1);
        });
    });
    // Waits, because the scope may end before the thread's last destructors have run.
    wait_for(|| module.ledger.holders().is_empty().then_some(())).expect("the thread ends");
    assert_eq!((seen.run.load(SeqCst), seen.wrong_thread.load(SeqCst)), (3, 0));
    let counts = module.ledger.counts();
    assert_eq!((counts.thread_locals_registered, counts.thread_locals_run), (3, 3));
    module.end(AT_ONCE);
}

#[test]
fn key_values_are_destroyed_after_thread_locals_and_keys_deleted() {
    let (library, seen) = (Library::new(), Seen::new(Mode::AtOnce, 0));
    let module = library.map();
    module.function::<extern "C" fn()>(c"make_key")();
    let set: extern "C" fn(*mut c_void, c_long) = module.function(c"set_key");
    thread::scope(|scope| {
        scope.spawn(|| {
            set(seen.pointer(), 7);
            module.owe_in_order(seen, 1);
            module.owe_in_order(seen, 2);
            assert_eq!(module.function::<extern "C" fn() -> c_long>(c"get_key")(), 7);
        });
    });
    wait_for(|| module.ledger.holders().is_empty().then_some(())).expect("the thread ends");
    assert_eq!(seen.order.swap(0, SeqCst), 217);
    // Registers the same destructors again at the end of the image, on the current thread.
    set(seen.pointer(), 8);
    module.owe_in_order(seen, 3);
    assert_eq!(module.end(AT_ONCE).keys, 1);
    assert_eq!(seen.order.load(SeqCst), 38);
}

#[test]
fn a_deleted_key_owes_nothing() {
    let (library, seen) = (Library::new(), Seen::new(Mode::AtOnce, 0));
    let module = library.map();
    module.function::<extern "C" fn()>(c"make_key")();
    module.function::<extern "C" fn(*mut c_void, c_long)>(c"set_key")(seen.pointer(), 7);
    module.function::<extern "C" fn()>(c"delete_key")();
    let report = module.end(AT_ONCE);
    assert_eq!((report.keys, report.thread_locals_run, report.thread_locals_forgotten), (0, 0, 1));
    assert_eq!(seen.order.load(SeqCst), 0);
}

#[test]
fn thousands_of_images_do_not_exhaust_the_keys() {
    let (library, before) = (Library::new(), keys_in_use().expect("glibc has keys"));
    for _ in 0..2_000 {
        let module = library.map();
        module.function::<extern "C" fn()>(c"make_key")();
        assert_eq!(module.end(AT_ONCE).keys, 1);
    }
    // Allows for a few keys, because concurrent tests of this process may use keys.
    assert!(keys_in_use().expect("glibc has keys") < before + 100);
}

#[test]
fn destructors_of_other_threads_are_awaited_and_their_thread_named() {
    let (library, seen) = (Library::new(), Seen::new(Mode::AtOnce, 0));
    let module = library.map();
    let (to_worker, tasks) = mpsc::channel::<()>();
    let (ready, is_ready) = mpsc::channel();
    thread::scope(|scope| {
        let owe: extern "C" fn(*mut c_void, c_int) = module.function(c"owe");
        let worker = thread::Builder::new().name("pool-7".into());
        let pointer = seen.pointer().expose_provenance();
        let worker = worker.spawn_scoped(scope, move || {
            owe(std::ptr::with_exposed_provenance_mut(pointer), 1);
            ready.send(()).expect("the test waits");
            while tasks.recv().is_ok() {}
        });
        let worker = worker.expect("a thread can be started");
        is_ready.recv().expect("the worker is there");
        let (mut ending, ledger) = module.begin_end(AT_ONCE);
        let EndState::Waiting(holders) = ending.poll() else { panic!("it must wait for the worker") };
        assert_eq!(holders.len(), 1, "{holders:?}");
        assert_eq!(holders[0].kind, HolderKind::ThreadLocal);
        assert!(holders[0].thread.starts_with("\"pool-7\""), "{}", holders[0]);
        assert!(holders[0].address.is_some() && holders[0].to_string().contains("a thread-local destructor"));
        assert_eq!(ledger.run_thread_locals_here(), 0, "it is not this thread's to run");
        drop(to_worker);
        worker.join().expect("the worker ends well");
        let report = finish(&mut ending);
        assert_eq!((report.thread_locals_run, seen.wrong_thread.load(SeqCst)), (2, 0));
    });
}

#[test]
fn checkpoints_run_destructors_owed_to_ending_images_only() {
    let (library, seen) = (Library::new(), Seen::new(Mode::AtOnce, 0));
    let (module, other) = (library.map(), library.map());
    let steps = Barrier::new(2);
    thread::scope(|scope| {
        let (owe, owe_other): (extern "C" fn(*mut c_void, c_int), extern "C" fn(*mut c_void, c_int)) =
            (module.function(c"owe"), other.function(c"owe"));
        let steps = &steps;
        scope.spawn(move || {
            owe(seen.pointer(), 1);
            owe_other(seen.pointer(), 0);
            assert_eq!(checkpoint(), 0, "nothing is going");
            steps.wait();
            steps.wait();
            assert_eq!(checkpoint(), 2, "only what is owed to the image that goes");
            steps.wait();
            steps.wait();
        });
        steps.wait();
        let (mut ending, _ledger) = module.begin_end(AT_ONCE);
        assert!(matches!(ending.poll(), EndState::Waiting(_)));
        steps.wait();
        steps.wait();
        assert_eq!(finish(&mut ending).thread_locals_run, 2);
        assert_eq!(other.ledger.holders().len(), 1);
        steps.wait();
    });
    assert_eq!(other.end(EndPolicy::default()).thread_locals_run, 1);
    assert_eq!(seen.wrong_thread.load(SeqCst), 0);
}

/// Number of destructors that ran inside another destructor.
static NESTED: AtomicU64 = AtomicU64::new(0);

extern "C" fn run_a_checkpoint(_fd: c_int) {
    NESTED.fetch_add(checkpoint(), SeqCst);
}

#[test]
fn no_destructor_runs_at_a_checkpoint_inside_a_destructor() {
    let (library, seen) = (Library::new(), Seen::with_host(run_a_checkpoint, 0));
    let module = library.map();
    module.owe(seen, 0);
    let owe_host: extern "C" fn(*mut c_void) = module.function(c"owe_host");
    // The destructor that was registered last runs first, and calls the host.
    owe_host(seen.pointer());
    assert_eq!(module.end(AT_ONCE).thread_locals_run, 2);
    assert_eq!((NESTED.load(SeqCst), seen.run.load(SeqCst)), (0, 2));
}

/// Starts the thread of a new folder, and registers a destructor of the module on this thread.
fn folder_thread_with_destructor(module: &Module, seen: &'static Seen) -> (TempDir, OwnFolder) {
    let folder = TempDir::new().expect("a temporary directory");
    let thread = OwnFolder::start(folder.path()).expect("a thread can be started");
    let owe: extern "C" fn(*mut c_void, c_int) = module.function(c"owe");
    thread.run(move || owe(seen.pointer(), 0)).expect("it runs");
    (folder, thread)
}

#[test]
fn the_idle_thread_of_a_folder_runs_destructors_owed_to_ending_images() {
    let (library, seen) = (Library::new(), Seen::new(Mode::AtOnce, 0));
    let module = library.map();
    let (_folder, _thread) = folder_thread_with_destructor(&module, seen);
    assert_eq!(module.end(AT_ONCE).thread_locals_run, 1);
    assert_eq!((seen.run.load(SeqCst), seen.wrong_thread.load(SeqCst)), (1, 0));
}

#[test]
fn the_busy_thread_of_a_folder_runs_destructors_owed_to_ending_images() {
    let (library, seen) = (Library::new(), Seen::new(Mode::AtOnce, 0));
    let module = library.map();
    let (_folder, thread) = folder_thread_with_destructor(&module, seen);
    let (mut ending, _ledger) = module.begin_end(AT_ONCE);
    // The destructor runs between the two jobs, which follow each other faster than the checkpoints of an idle thread.
    (0..2).for_each(|_| thread.run(|| ()).expect("it runs"));
    assert_eq!((seen.run.load(SeqCst), seen.wrong_thread.load(SeqCst)), (1, 0));
    assert_eq!(finish(&mut ending).thread_locals_run, 1);
}

#[test]
fn a_running_destructor_at_thread_exit_keeps_the_image() {
    let (library, seen) = (Library::new(), Seen::new(Mode::AtOnce, 0));
    let module = library.map();
    let slowly: extern "C" fn(*mut c_void) = module.function(c"owe_slowly");
    thread::scope(|scope| {
        scope.spawn(|| slowly(seen.pointer()));
    });
    wait_for(|| (seen.arrived.load(SeqCst) == 1).then_some(())).expect("the destructor runs");
    let (mut ending, _ledger) = module.begin_end(AT_ONCE);
    for _ in 0..20 {
        let EndState::Waiting(holders) = ending.poll() else { panic!("its code is running") };
        assert_eq!(holders[0].name, "a running thread-local destructor");
    }
    seen.go.store(1, SeqCst);
    assert_eq!(finish(&mut ending).thread_locals_run, 1);
}

#[test]
fn a_thread_is_named_waited_for_and_joined_by_the_host() {
    let (library, seen) = (Library::new(), Seen::new(Mode::UntilGo, 0));
    for detached in [false, true] {
        let module = library.map();
        seen.go.store(0, SeqCst);
        module.start(seen, detached);
        let (mut ending, ledger) = module.begin_end(AT_ONCE);
        let EndState::Waiting(holders) = ending.poll() else { panic!("its thread is running") };
        assert!(
            holders.iter().any(|holder| holder.kind == HolderKind::Thread && holder.address.is_some()),
            "{holders:?}"
        );
        assert!(!ledger.is_stop_requested());
        seen.go.store(1, SeqCst);
        let report = finish(&mut ending);
        assert_eq!(report.threads_joined, u64::from(!detached));
        assert_eq!((ledger.counts().threads_started, ledger.counts().threads_ended), (1, 1));
        assert!(ledger.uses().iter().any(|found| found.kind == UseKind::Thread), "after the thread has ended as well");
        assert_eq!((report.thread_locals_run, seen.wrong_thread.load(SeqCst)), (2, 0), "its destructors ran on it");
        assert_eq!(stale(&library), 0);
    }
}

#[test]
fn threads_may_be_joined_detached_or_left_by_pthread_exit() {
    let (library, at_once, by_exit) = (Library::new(), Seen::new(Mode::AtOnce, 0), Seen::new(Mode::ByExit, 0));
    for seen in [at_once, by_exit] {
        for round in 0..50 {
            let module = library.map();
            module.start(seen, false);
            match round % 3 {
                0 => {
                    let result = module.function::<extern "C" fn() -> c_long>(c"join")();
                    assert_eq!(result, if seen.mode == Mode::AtOnce as i32 { 42 } else { 0 });
                }
                1 => assert_eq!(module.function::<extern "C" fn() -> c_int>(c"detach")(), 0),
                _ => {}
            }
            let report = module.end(AT_ONCE);
            assert_eq!(report.threads_joined, u64::from(round % 3 == 2));
            assert_eq!((report.thread_locals_run, report.thread_locals_forgotten), (2, 0));
        }
        assert_eq!((seen.run.load(SeqCst), seen.wrong_thread.load(SeqCst)), (100, 0));
    }
}

#[test]
fn a_module_owned_stack_is_freed_after_its_thread_ended() {
    const LEN: usize = 64 * 1024;
    let (library, seen) = (Library::new(), Seen::new(Mode::AtOnce, 0));
    for round in 0..200 {
        let module = library.map();
        let (read_write, anonymous) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let word = module.ledger.word();
        // SAFETY: the word belongs to a live ledger, and the call otherwise requests fresh pages.
        let stack = unsafe { hooks::map(word, std::ptr::null_mut(), LEN, read_write, anonymous, -1, 0) };
        let start: extern "C" fn(*mut c_void, *mut c_void, usize, c_int) -> c_int = module.function(c"start_on");
        assert_eq!(start(seen.pointer(), stack, LEN, round % 2), 0);
        assert_eq!(module.end(AT_ONCE).maps_bytes, LEN as u64);
    }
    assert_eq!((seen.run.load(SeqCst), seen.wrong_thread.load(SeqCst)), (400, 0));
}

#[test]
fn a_thread_on_a_stack_in_the_image_is_joined_before_the_image_is_closed() {
    const LEN: usize = 64 * 1024;
    let (library, seen) = (Library::new(), Seen::new(Mode::AtOnce, 0));
    for detached in [0, 1, 0, 1] {
        let module = library.map();
        let stack = module.function::<extern "C" fn() -> *mut c_void>(c"room_for_stack")();
        let start: extern "C" fn(*mut c_void, *mut c_void, usize, c_int) -> c_int = module.function(c"start_on");
        assert_eq!(start(seen.pointer(), stack, LEN, detached), 0);
        assert_eq!(module.end(AT_ONCE).threads_joined, u64::from(detached == 0));
    }
}

/// Thread-local of the host with a slow destructor.
struct Slow;

impl Drop for Slow {
    fn drop(&mut self) {
        thread::sleep(Duration::from_millis(20));
    }
}

extern "C" fn touch_a_slow_thread_local(_fd: c_int) {
    thread_local! { static SLOW: Slow = const { Slow } }
    SLOW.with(|_| ());
}

#[test]
fn a_thread_in_the_host_keeps_the_stack_that_its_image_provides() {
    const LEN: usize = 64 * 1024;
    let (library, seen) = (Library::new(), Seen::with_host(touch_a_slow_thread_local, 0));
    for detached in [0, 1, 0, 1] {
        let module = library.map();
        let (read_write, anonymous) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let word = module.ledger.word();
        // SAFETY: the word belongs to a live ledger, and the call otherwise requests fresh pages.
        let stack = unsafe { hooks::map(word, std::ptr::null_mut(), LEN, read_write, anonymous, -1, 0) };
        let start: extern "C" fn(*mut c_void, *mut c_void, usize, c_int) -> c_int = module.function(c"start_on");
        assert_eq!(start(seen.pointer(), stack, LEN, detached), 0);
        wait_for(|| (module.ledger.counts().threads_ended == 1).then_some(())).expect("the thread leaves the module");
        assert_eq!(module.end(AT_ONCE).maps_bytes, LEN as u64);
    }
}

/// Log subscriber that panics at each event.
const PANICKING: AtEvents = AtEvents(|| panic!("the subscriber fails on purpose"));

#[test]
fn a_panicking_log_subscriber_does_not_prevent_parking() {
    let library = Library::new();
    let (ending, _ledger) = library.map().begin_end(AT_ONCE);
    let state = tracing::subscriber::with_default(PANICKING, || ending.park());
    assert!(matches!(state, EndState::Parked { .. }), "{state:?}");
}

#[test]
fn a_panicking_log_subscriber_does_not_interrupt_the_search_for_references() {
    let library = Library::new();
    let policy = EndPolicy { search: ReferenceSearch::Always, ..AT_ONCE };
    let (mut ending, _ledger) = library.map().begin_end(policy);
    let state = tracing::subscriber::with_default(PANICKING, || ending.poll());
    assert!(!matches!(state, EndState::Parked { .. }), "{state:?}");
    ending.park();
}

#[test]
fn an_abandoned_ending_names_the_holders_and_keeps_the_image_working() {
    let (library, seen) = (Library::new(), Seen::new(Mode::UntilGo, 0));
    let module = library.map();
    module.start(seen, false);
    wait_for(|| (seen.arrived.load(SeqCst) == 1).then_some(())).expect("the thread runs");
    let (mut ending, ledger) = module.begin_end(AT_ONCE);
    assert!(matches!(ending.poll(), EndState::Waiting(_)));
    let EndState::Parked { reason, .. } = ending.park() else { panic!("the ending was abandoned") };
    assert!(reason.contains("thread without a name") && reason.contains("still in use"), "{reason}");
    assert_eq!(stale(&library), 1);
    seen.go.store(1, SeqCst);
    wait_for(|| ledger.holders().is_empty().then_some(())).expect("the thread ends well in the parked image");
    assert_eq!((seen.run.load(SeqCst), seen.wrong_thread.load(SeqCst)), (2, 0));
}

#[test]
fn an_unload_may_race_the_ends_of_sixteen_threads() {
    const THREADS: usize = 16;
    const ROUNDS: i64 = 1_000;
    let (library, seen) = (Library::new(), Seen::new(Mode::AtOnce, 0));
    let (begin, done) = (Barrier::new(THREADS + 1), Barrier::new(THREADS + 1));
    let shared: std::sync::Mutex<Option<extern "C" fn(*mut c_void, c_int)>> = std::sync::Mutex::new(None);
    let mut registered = 0;
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    begin.wait();
                    let owe = shared.lock().expect("not poisoned").expect("a module is mapped");
                    // Uses a new thread in each round, so that over many rounds a thread ends at any point of the unload.
                    let (owes, has_owed) = mpsc::channel();
                    let thread = thread::spawn(move || {
                        owe(seen.pointer(), 1);
                        owes.send(()).expect("the spawner waits");
                    });
                    has_owed.recv().expect("it owes");
                    done.wait();
                    thread.join().expect("it ends well");
                }
            });
        }
        for round in 0..ROUNDS {
            let module = library.map();
            *shared.lock().expect("not poisoned") = Some(module.function(c"owe"));
            begin.wait();
            done.wait();
            let (mut ending, ledger) = module.begin_end(AT_ONCE);
            let report = finish(&mut ending);
            let counts = ledger.counts();
            assert_eq!(counts.thread_locals_registered, counts.thread_locals_run, "round {round}: {counts:?}");
            assert_eq!((report.thread_locals_run, report.thread_locals_forgotten), (2 * THREADS as u64, 0));
            registered += counts.thread_locals_registered as i64;
        }
    });
    assert_eq!(stale(&library), 0);
    assert_eq!((registered, seen.wrong_thread.load(SeqCst)), (2 * THREADS as i64 * ROUNDS, 0));
    assert_eq!(seen.run.load(SeqCst), registered);
}

#[test]
fn ledger_shares_are_released_when_the_image_is_unloaded() {
    let (library, seen) = (Library::new(), Seen::new(Mode::AtOnce, 0));
    let module = library.map();
    module.owe(seen, 1);
    module.start(seen, false);
    module.function::<extern "C" fn()>(c"make_key")();
    let (mut ending, ledger) = module.begin_end(AT_ONCE);
    finish(&mut ending);
    drop(ending);
    wait_for(|| (Arc::strong_count(&ledger) == 1).then_some(())).expect("the ledger has no other owner");
}
