//! Tests sources of signals and callbacks: timers, descriptors, queues, requests, alternate stacks. An unload ends each source before it
//! unmaps the code that the source calls. A handler that exits by `longjmp` counts as ended. Earlier versions crashed in each of these
//! cases.
//!
//! Each test runs alone, in a new process of this program.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![expect(unsafe_code, reason = "handles signals and reads timers, as a host's own code may")]

use crate::support;

use std::ffi::{CString, c_int};
use std::mem;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use alcedo_runtime::{LeaseKind, OpenFile, Runtime, UnloadReport, UnloadTicket, UnwaitedProcess, Value};
use alcedo_sys::process;

/// Environment variable with the folder of a child process. The variable is set only in child processes.
pub(crate) const FOLDER: &str = "ALARMS_FOLDER";

/// Timeout for a busy machine. A successful test ends much earlier.
const LONG: Duration = Duration::from_secs(60);

/// Number of unloads per test: enough for a one-millisecond timer to fire at every step of an unload.
const ROUNDS: u32 = 30;

fn alone(test: &str, work: impl FnOnce(&Path)) {
    alone_in(module_path!(), test, work);
}

/// Runs `work` in a separate process, which runs only the test `test` in the module `module`.
pub(crate) fn alone_in(module: &str, test: &str, work: impl FnOnce(&Path)) {
    let library = support::plugin("alarms", &[]);
    if std::env::var_os(FOLDER).is_some() {
        return work(&library);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut this = support::alone::only(module, test);
    this.env(FOLDER, folder.path())
        .env("ALARMS_RELEASE", folder.path().join("release"))
        .env("ALARMS_PIPE", folder.path().join("pipe"))
        .env("ALARMS_QUEUE", format!("/alcedo-{test}-{}", std::process::id()));
    support::alone::passes(&mut this);
}

pub(crate) fn read_release() -> String {
    let name = PathBuf::from(std::env::var_os(FOLDER).expect("a folder")).join("release");
    std::fs::read_to_string(name).expect("the plugin has written it")
}

pub(crate) fn leave(host: &Runtime, what: &str) {
    let left = host.calls().call("ex:/alarms.leave", &[Value::Text(what.to_owned())]);
    left.unwrap_or_else(|error| panic!("{what}: {error}"));
}

pub(crate) fn calls(host: &Runtime) -> u64 {
    match host.calls().call("ex:/alarms.calls", &[]).expect("it counts") {
        Some(Value::U64(calls)) => calls,
        other => panic!("{other:?}"),
    }
}

/// Returns a host without a grace period. An unload then reports immediately which leases keep the plugin's image mapped.
pub(crate) fn host(library: &Path, change: impl FnOnce(&mut alcedo_runtime::UnloadPolicy)) -> Runtime {
    let host = support::builder().unloads(|policy| policy.grace = Duration::ZERO).unloads(change).build();
    let host = host.unwrap_or_else(|error| panic!("{error}"));
    host.create_master(&[library]).unwrap_or_else(|error| panic!("{error}"));
    host
}

/// Unloads the Master, waits until the unload has ended, and returns the unload's report.
pub(crate) fn unload(host: &Runtime) -> UnloadReport {
    end(host, &host.unload_master().expect("there is a Master").ticket)
}

pub(crate) fn end(host: &Runtime, ticket: &UnloadTicket) -> UnloadReport {
    let begun = Instant::now();
    loop {
        host.safe_point();
        match ticket.wait(Duration::from_millis(1)) {
            Ok(report) => {
                assert!(process::stale_mappings(&host.stage_dir()).expect("the process map").is_empty());
                return report;
            }
            Err(report) => assert!(begun.elapsed() < LONG && host.unloads().parked().is_empty(), "{report}"),
        }
    }
}

/// Unloads the Master. Returns the ticket, and the report about the blockers that keep the image mapped.
pub(crate) fn blocked(host: &Runtime) -> (UnloadTicket, String) {
    let ticket = host.unload_master().expect("there is a Master").ticket;
    // The first reports may list only finalizers. Finalizers run before the image is blocked.
    let begun = Instant::now();
    loop {
        let report = ticket.wait(Duration::from_millis(1)).expect_err("a holder keeps it");
        if report.blockers.iter().any(|by| by.kind != LeaseKind::Finalizer) {
            return (ticket, report.to_string());
        }
        assert!(begun.elapsed() < LONG, "{report}");
    }
}

/// Lets the plugin leave the source `what` behind, and unloads the plugin, many times. No later signal may call unmapped code.
fn check(what: &str) {
    let library = support::plugin("alarms", &[]);
    for _ in 0..ROUNDS {
        let host = host(&library, |_| ());
        leave(&host, what);
        unload(&host);
    }
    // Waits until pending signals are delivered.
    std::thread::sleep(Duration::from_millis(20));
}

static OURS: AtomicU64 = AtomicU64::new(0);
static WAS_ON_ALTERNATE: AtomicBool = AtomicBool::new(false);

extern "C" fn ours(_signal: c_int) {
    let here = 0_u8;
    let stack = alternate_stack();
    let range = stack.ss_sp.addr()..stack.ss_sp.addr() + stack.ss_size;
    WAS_ON_ALTERNATE.store(range.contains(&(&raw const here).addr()), Ordering::SeqCst);
    OURS.fetch_add(1, Ordering::SeqCst);
}

fn alternate_stack() -> libc::stack_t {
    // SAFETY: all zeroes are a valid `stack_t`.
    let mut stack: libc::stack_t = unsafe { mem::zeroed() };
    // SAFETY: sets no stack, and the pointer is valid for writing a `stack_t`.
    assert_eq!(unsafe { libc::sigaltstack(ptr::null(), &raw mut stack) }, 0);
    stack
}

fn handle(signal: c_int, flags: c_int) {
    // SAFETY: all zeroes are a valid `sigaction`.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = ours as *const () as usize;
    action.sa_flags = flags;
    // SAFETY: the handler only counts.
    assert_eq!(unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) }, 0);
}

fn raise(signal: c_int) {
    // SAFETY: a handler is installed, or the test fails.
    assert_eq!(unsafe { libc::raise(signal) }, 0);
}

fn was_on_alternate(host: &Runtime) -> bool {
    host.calls().call("ex:/alarms.was_on_alternate", &[]).expect("it looks") == Some(Value::Bool(true))
}

#[test]
fn a_handler_requesting_no_alternate_stack_gets_none() {
    alone("a_handler_requesting_no_alternate_stack_gets_none", |library| {
        let host = host(library, |_| ());
        leave(&host, "plain_handler");
        assert_eq!(alternate_stack().ss_flags & libc::SS_DISABLE, 0, "std has set a small one");
        raise(libc::SIGPROF);
        assert!(calls(&host) == 1 && !was_on_alternate(&host));
    });
}

#[test]
fn a_handler_requesting_an_alternate_stack_gets_one() {
    alone("a_handler_requesting_an_alternate_stack_gets_one", |library| {
        let host = host(library, |_| ());
        leave(&host, "alternate_handler");
        raise(libc::SIGPROF);
        assert!(calls(&host) == 1 && was_on_alternate(&host));
    });
}

#[test]
fn each_signal_handler_gets_the_stack_it_requests() {
    alone("each_signal_handler_gets_the_stack_it_requests", |library| {
        for (flags, of_module) in [(libc::SA_ONSTACK, "plain_handler"), (0, "alternate_handler")] {
            handle(libc::SIGPROF, flags);
            let host = host(library, |_| ());
            leave(&host, of_module);
            for round in 1..=3 {
                raise(libc::SIGPROF);
                assert_eq!(calls(&host), round);
                assert_eq!(was_on_alternate(&host), of_module == "alternate_handler");
                assert_eq!(WAS_ON_ALTERNATE.load(Ordering::SeqCst), flags != 0);
            }
            unload(&host);
            raise(libc::SIGPROF);
        }
        assert_eq!(OURS.load(Ordering::SeqCst), 8);
    });
}

#[test]
fn a_thread_gets_back_the_alternate_stack_that_it_had() {
    alone("a_thread_gets_back_the_alternate_stack_that_it_had", |library| {
        handle(libc::SIGUSR1, libc::SA_ONSTACK);
        let before = alternate_stack();
        for what in ["stack", "stack_there"] {
            let host = host(library, |_| ());
            leave(&host, what);
            assert_ne!(alternate_stack().ss_sp, before.ss_sp);
            unload(&host);
            let after = alternate_stack();
            assert_eq!((after.ss_sp, after.ss_size, after.ss_flags), (before.ss_sp, before.ss_size, before.ss_flags));
            raise(libc::SIGUSR1);
        }
        assert_eq!(OURS.load(Ordering::SeqCst), 2);
    });
}

fn is_running() -> bool {
    let mut now = mem::MaybeUninit::<libc::itimerval>::zeroed();
    // SAFETY: the pointer is valid for writing an `itimerval`.
    assert_eq!(unsafe { getitimer(libc::ITIMER_REAL, now.as_mut_ptr()) }, 0);
    // SAFETY: the call has written the whole struct.
    let now = unsafe { now.assume_init() };
    // If a signal is pending, a repeating timer may have no remaining time. The timer's interval then shows that the timer still runs.
    [now.it_value, now.it_interval].iter().any(|left| left.tv_sec != 0 || left.tv_usec != 0)
}

unsafe extern "C" {
    fn getitimer(which: c_int, now: *mut libc::itimerval) -> c_int;
}

/// Declares tests that each call `check` with one kind of source.
macro_rules! left {
    ($($name:ident: $what:literal;)*) => {$(
        #[test]
        fn $name() {
            alone(stringify!($name), |_| check($what));
        }
    )*};
}

left! {
    a_process_timer_does_not_fire_after_its_handler_is_unmapped: "interval";
    a_timer_rearmed_by_its_handler_does_not_fire_afterward: "rearming";
    a_timer_with_its_own_signal_is_deleted_before_its_handler: "timer";
    a_timer_with_a_function_is_deleted_before_the_function: "timer_call";
    a_completed_name_lookup_leaves_nothing: "names";
    a_handler_left_by_a_jump_counts_as_ended: "jump";
}

#[test]
fn a_pending_alarm_is_canceled() {
    alone("a_pending_alarm_is_canceled", |library| {
        let first = host(library, |_| ());
        leave(&first, "alarm");
        assert!(is_running());
        unload(&first);
        assert!(!is_running(), "it would end the process in a second");
    });
}

#[test]
fn the_alarm_of_the_new_generation_outlives_the_old_one() {
    alone("the_alarm_of_the_new_generation_outlives_the_old_one", |library| {
        let host = host(library, |_| ());
        leave(&host, "alarm");
        let lease = host.unloads().lease_master("a test").expect("there is a Master");
        host.reload(&[library]).expect("there is a Master").into_result().expect("it is loaded");
        let [ticket] = host.unloads().tickets().try_into().expect("one generation is unloading");
        leave(&host, "interval");
        drop(lease);
        let begun = Instant::now();
        while ticket.wait(Duration::from_millis(1)).is_err() {
            assert!(begun.elapsed() < LONG);
            host.safe_point();
        }
        let calls_then = calls(&host);
        assert!(is_running());
        support::until("it strikes on", || calls(&host) > calls_then);
        assert!(host.unloads().wait(LONG).expect("a safe point"));
        unload(&host);
        assert!(!is_running());
    });
}

#[test]
fn a_generation_stopping_its_timer_keeps_the_next_generations_timer() {
    alone("a_generation_stopping_its_timer_keeps_the_next_generations_timer", |library| {
        // SAFETY: no other thread of this process reads or writes the environment.
        unsafe { std::env::set_var("ALARMS_TIMED", "") };
        let host = host(library, |_| ());
        host.reload(&[library]).expect("there is a Master").into_result().expect("it is loaded");
        let calls_then = calls(&host);
        support::until("it strikes on", || calls(&host) > calls_then);
        assert!(host.unloads().wait(LONG).expect("a safe point"));
        unload(&host);
        assert!(!is_running(), "the last generation stops its own");
    });
}

#[test]
fn a_running_timer_function_is_waited_for_and_named() {
    alone("a_running_timer_function_is_waited_for_and_named", |library| {
        let host = host(library, |_| ());
        leave(&host, "timer_call_slow");
        let (ticket, report) = blocked(&host);
        assert!(report.contains("of a timer"), "{report}");
        std::fs::write(std::env::var_os("ALARMS_RELEASE").expect("a name"), "").expect("a file");
        end(&host, &ticket);
    });
}

#[test]
fn a_descriptor_that_is_left_open_raises_no_signals() {
    alone("a_descriptor_that_is_left_open_raises_no_signals", |library| {
        let host = host(library, |_| ());
        leave(&host, "descriptor");
        let report = unload(&host);
        let left = &report.modules[0].fds_left;
        assert_eq!(left.len(), 2, "{report}");
        for OpenFile { fd, .. } in left {
            // SAFETY: the module is unloaded, and no other code uses the descriptor.
            assert_eq!(unsafe { libc::write(*fd, b"x".as_ptr().cast(), 1) }, 1);
        }
    });
}

fn send() {
    let name = std::env::var("ALARMS_QUEUE").expect("a name");
    let name = CString::new(name).expect("a name without zeroes");
    // SAFETY: the name is a C string, and the module has created the queue.
    let queue = unsafe { libc::mq_open(name.as_ptr(), libc::O_WRONLY | libc::O_NONBLOCK) };
    assert!(queue >= 0);
    // SAFETY: the queue is open, and the message is one byte.
    assert_eq!(unsafe { libc::mq_send(queue, b"x".as_ptr().cast(), 1, 0) }, 0);
    // SAFETY: the queue is open.
    unsafe { libc::mq_close(queue) };
    // SAFETY: the name is a C string.
    unsafe { libc::mq_unlink(name.as_ptr()) };
}

#[test]
fn a_message_is_not_delivered_to_an_unloaded_module() {
    alone("a_message_is_not_delivered_to_an_unloaded_module", |library| {
        for what in ["message", "message_call"] {
            let host = host(library, |_| ());
            leave(&host, what);
            unload(&host);
            send();
            drop(host);
            let host = self::host(library, |_| ());
            leave(&host, what);
            send();
            support::until("a message is delivered while the module is loaded", || calls(&host) == 1);
            unload(&host);
        }
    });
}

#[test]
fn a_pending_read_keeps_the_module_loaded_and_is_named() {
    alone("a_pending_read_keeps_the_module_loaded_and_is_named", |library| {
        for what in ["read", "read_call"] {
            let host = host(library, |_| ());
            leave(&host, what);
            let (ticket, report) = blocked(&host);
            assert!(report.contains("request") && report.contains("input or output"), "{report}");
            let pipe = std::fs::read_to_string(std::env::var_os("ALARMS_PIPE").expect("a name")).expect("a number");
            let pipe: c_int = pipe.parse().expect("a number");
            // SAFETY: the module has left the descriptor open, and no other code uses the descriptor.
            assert_eq!(unsafe { libc::write(pipe, b"x".as_ptr().cast(), 1) }, 1);
            end(&host, &ticket);
        }
    });
}

#[test]
fn an_unawaited_child_process_is_reported() {
    alone("an_unawaited_child_process_is_reported", |library| {
        let host = host(library, |_| ());
        leave(&host, "waited");
        leave(&host, "child");
        let report = unload(&host);
        let [UnwaitedProcess { pid, is }] = &report.modules[0].children_left[..] else { panic!("{report}") };
        assert_eq!(is, "true, ended with status 0");
        assert!(report.to_string().contains(&format!("process {pid} not waited for (true, ended with status 0)")));
        assert!(exists(*pid), "the child is only reported");
    });
}

#[test]
fn an_unawaited_child_process_is_reaped_on_request() {
    alone("an_unawaited_child_process_is_reaped_on_request", |library| {
        let host = host(library, |policy| policy.reap_children = true);
        ["waited", "child", "child"].into_iter().for_each(|what| leave(&host, what));
        let report = unload(&host);
        assert_eq!((report.modules[0].children_reaped, report.modules[0].children_left.len()), (2, 0), "{report}");
        drop(host);
        let host = self::host(library, |policy| policy.reap_children = true);
        leave(&host, "running_child");
        let report = unload(&host);
        let [UnwaitedProcess { pid, is }] = &report.modules[0].children_left[..] else { panic!("{report}") };
        assert_eq!(is, "cat, still running");
        // SAFETY: the process is our child until it was waited for.
        assert_eq!(unsafe { libc::kill(*pid, libc::SIGKILL) }, 0);
        support::until("it is waited for", || {
            host.safe_point();
            !exists(*pid)
        });
    });
}

fn exists(pid: i32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// Returns the mapped address ranges, without the heap and the stack. Heap and stack may grow at any time.
fn mapped() -> Vec<std::ops::Range<usize>> {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("the list of mappings");
    let lines = maps.lines().filter(|line| !line.contains("[heap]") && !line.contains("[stack"));
    let range = |line: &str| {
        let (start, end) = line.split(' ').next()?.split_once('-')?;
        Some(usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?)
    };
    lines.filter_map(range).collect()
}

/// Returns the ranges of `before` that are now unmapped, formatted as an argument of `alarms.leave`.
fn freed(before: &[std::ops::Range<usize>]) -> String {
    let now = mapped();
    let pages = before.iter().flat_map(|range| range.clone().step_by(4096));
    let free = pages.filter(|page| !now.iter().any(|range| range.contains(page))).collect::<Vec<_>>();
    let rows = free.chunk_by(|page, next| page + 4096 == *next);
    rows.map(|row| format!("{:x}-{:x} ", row[0], row[row.len() - 1] + 4096)).collect()
}

fn always(policy: &mut alcedo_runtime::UnloadPolicy) {
    policy.search_references = alcedo_runtime::ReferenceSearch::Always;
}

#[test]
fn stale_addresses_of_an_unloaded_requester_do_not_keep_its_successor_mapped() {
    alone("stale_addresses_of_an_unloaded_requester_do_not_keep_its_successor_mapped", |library| {
        for what in ["names", "names_waited", "names_in_image"] {
            let first = host(library, always);
            leave(&first, what);
            let before = mapped();
            unload(&first);
            first.create_master(&[library]).unwrap_or_else(|error| panic!("{error}"));
            leave(&first, &freed(&before));
            if what == "names_waited" {
                let page = released_address() & !4095;
                leave(&first, &format!("{:x}-{:x}", page - 4 * 4096, page + 4 * 4096));
            }
            unload(&first);
        }
    });
}

/// Returns the address that the plugin has written to its release file.
fn released_address() -> usize {
    read_release().parse().expect("a number")
}

/// Returns true if the address is between the first and the last mapping of this image.
fn is_within(image: &Path, address: usize) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("the list of mappings");
    let lines = maps.lines().filter(|line| line.contains(&*image.to_string_lossy()));
    let ends =
        lines.flat_map(|line| line.split([' ', '-']).take(2)).filter_map(|end| usize::from_str_radix(end, 16).ok());
    let ends: Vec<_> = ends.collect();
    ends.iter().min().is_some_and(|start| *start <= address) && ends.iter().max().is_some_and(|end| address < *end)
}

/// The C library stores addresses of completed requests. In this test, the next module is mapped at other addresses.
/// `stale_addresses_of_an_unloaded_requester…` instead maps memory at the stored addresses.
#[test]
fn a_module_mapped_next_to_a_requester_is_unmapped() {
    alone("a_module_mapped_next_to_a_requester_is_unmapped", |library| {
        let host = host(library, always);
        for _ in 0..10 {
            leave(&host, "names_in_image");
            let block = released_address();
            unload(&host);
            let slim = host.contexts().create_slim("neighbor").expect("the name is free");
            let module = slim.load_path(library).unwrap_or_else(|error| panic!("{error}"));
            let text = std::fs::read_to_string("/proc/self/maps").expect("the list of mappings");
            assert!(text.contains(&*module.image.to_string_lossy()), "{}", module.image.display());
            assert!(!is_within(&module.image, block));
            end(&host, &slim.begin_unload().expect("a Slim"));
            host.create_master(&[library]).unwrap_or_else(|error| panic!("{error}"));
        }
    });
}
