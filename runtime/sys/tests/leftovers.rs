//! Tests resources that a module leaves behind, except threads and thread-locals: signal handlers, exit handlers, memory, descriptors.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![expect(unsafe_code, reason = "mapping a library runs its code, and hooks replace C functions")]

use std::env;
use std::ffi::{c_int, c_long, c_void};
use std::fs;
use std::os::fd::AsRawFd as _;
use std::process::Command;
use std::ptr;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicI64, AtomicUsize};
use std::thread;

use alcedo_sys::process::{fds, rss_kib, stale_mappings};
use alcedo_sys::{EndPolicy, EndState, HolderKind, Use, UseKind, hooks};

use crate::common::hooked::{AT_ONCE, Library, Mode, Module, Seen, finish, wait_for};

const DEFAULT: usize = libc::SIG_DFL;

fn handle(module: &Module, seen: &Seen, signal: c_int, how: c_int) -> usize {
    let handle: extern "C" fn(*mut c_void, c_int, c_int) -> usize = module.function(c"handle");
    handle(seen.pointer(), signal, how)
}

fn raise(signal: c_int) {
    // SAFETY: the tests raise only signals that have handlers, except in a child process that is supposed to end.
    assert_eq!(unsafe { libc::raise(signal) }, 0);
}

/// Returns the current handler and flags of a signal in the process.
fn real(signal: c_int) -> (usize, c_int) {
    let mut action: libc::sigaction = unset();
    // SAFETY: the call sets no action, and the variable has room for an action.
    assert_eq!(unsafe { libc::sigaction(signal, ptr::null(), &raw mut action) }, 0);
    (action.sa_sigaction, action.sa_flags)
}

fn unset() -> libc::sigaction {
    // SAFETY: all zeroes are the default action.
    unsafe { std::mem::zeroed() }
}

static OURS: AtomicI64 = AtomicI64::new(0);

extern "C" fn count_ours(_signal: c_int) {
    OURS.fetch_add(1, SeqCst);
}

#[test]
fn signals_reach_every_image_then_the_process_and_skip_unloaded_images() {
    const SIGNAL: c_int = libc::SIGUSR1;
    let mut own = unset();
    own.sa_sigaction = count_ours as *const () as usize;
    // SAFETY: the handler only counts.
    assert_eq!(unsafe { libc::sigaction(SIGNAL, &raw const own, ptr::null_mut()) }, 0);
    let before = real(SIGNAL);
    let (library, one, two) = (Library::new(), Seen::new(Mode::AtOnce, 0), Seen::new(Mode::AtOnce, 0));
    let (first, second) = (library.map(), library.map());
    let seen_by_first = handle(&first, one, SIGNAL, 2);
    // The previous handler that the second image receives is the handler of the process, never the handler of the first image.
    assert_eq!(handle(&second, two, SIGNAL, 0), seen_by_first);
    assert!(!first.image.contains(seen_by_first) && !second.image.contains(seen_by_first));
    assert_eq!((first.ledger.counts().signals, second.ledger.counts().signals), (1, 1));
    assert!(first.ledger.uses().iter().any(|found| found.kind == UseKind::Signal));
    // The first image forwards the signal to its previous handler, which is the handler of the process. This handler still runs only once.
    for round in 1..=3 {
        raise(SIGNAL);
        assert_eq!((one.run.load(SeqCst), two.run.load(SeqCst), OURS.load(SeqCst)), (round, round, round));
    }
    assert_eq!(first.end(AT_ONCE).signals, 1);
    raise(SIGNAL);
    assert_eq!((one.run.load(SeqCst), two.run.load(SeqCst), OURS.load(SeqCst)), (3, 4, 4));
    assert_eq!(second.end(AT_ONCE).signals, 1);
    raise(SIGNAL);
    assert_eq!((one.run.load(SeqCst), two.run.load(SeqCst), OURS.load(SeqCst)), (3, 4, 5));
    assert_eq!(real(SIGNAL), before);
}

/// Handler that `chain` has replaced.
static REPLACED: AtomicUsize = AtomicUsize::new(0);

static CHAINED: AtomicI64 = AtomicI64::new(0);

unsafe extern "C" fn chain(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    type Handler = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
    CHAINED.fetch_add(1, SeqCst);
    let replaced = ptr::with_exposed_provenance::<()>(REPLACED.load(SeqCst));
    // SAFETY: the test stores a handler of this type before it raises the signal.
    unsafe { std::mem::transmute::<*const (), Handler>(replaced)(signal, info, context) };
}

#[test]
fn a_handler_of_the_process_may_call_the_handler_that_it_has_replaced() {
    let signal = libc::SIGRTMIN() + 7;
    let (library, one, two) = (Library::new(), Seen::new(Mode::AtOnce, 0), Seen::new(Mode::AtOnce, 0));
    let first = library.map();
    handle(&first, one, signal, 0);
    let (mut own, mut replaced) = (unset(), unset());
    (own.sa_sigaction, own.sa_flags) = (chain as *const () as usize, libc::SA_SIGINFO);
    // SAFETY: the handler has the type for `SA_SIGINFO`, and the variable has room for an action.
    assert_eq!(unsafe { libc::sigaction(signal, &raw const own, &raw mut replaced) }, 0);
    REPLACED.store(replaced.sa_sigaction, SeqCst);
    let counts = || [&one.run, &two.run, &CHAINED].map(|count| count.load(SeqCst));
    raise(signal);
    assert_eq!(counts(), [1, 0, 1]);
    // The second image forwards the signal to the handler of the process.
    let second = library.map();
    handle(&second, two, signal, 2);
    raise(signal);
    assert_eq!(counts(), [2, 1, 2]);
    second.end(AT_ONCE);
    raise(signal);
    assert_eq!(counts(), [3, 1, 3]);
    first.end(AT_ONCE);
    raise(signal);
    assert_eq!(counts(), [3, 1, 4]);
    assert_eq!(real(signal).0, own.sa_sigaction);
}

#[test]
fn an_image_sees_its_own_signal_handler_and_may_restore_it() {
    const SIGNAL: c_int = libc::SIGUSR2;
    let (library, seen) = (Library::new(), Seen::new(Mode::AtOnce, 0));
    let module = library.map();
    assert_eq!(handle(&module, seen, SIGNAL, 0), DEFAULT);
    let own = handle(&module, seen, SIGNAL, 5);
    assert!(module.image.contains(own), "its own counting handler");
    assert_eq!(real(SIGNAL).0, libc::SIG_IGN);
    raise(SIGNAL);
    let put_back: extern "C" fn(c_int) -> usize = module.function(c"put_back");
    assert_eq!(put_back(SIGNAL), 0);
    // SAFETY: the C library returns the address of this thread's error number.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above. The module's handler overwrites `errno`, but the host must restore this value after the signal.
    unsafe { errno.write(5) };
    raise(SIGNAL);
    // SAFETY: as above.
    assert_eq!((seen.run.load(SeqCst), unsafe { errno.read() }), (1, 5));
    module.end(AT_ONCE);
    assert_eq!(real(SIGNAL).0, DEFAULT);
}

#[test]
fn signal_and_one_shot_handlers_behave_as_in_c() {
    const SIGNAL: c_int = libc::SIGWINCH;
    let (library, seen) = (Library::new(), Seen::new(Mode::AtOnce, 0));
    let module = library.map();
    assert_eq!(handle(&module, seen, SIGNAL, 3), DEFAULT);
    raise(SIGNAL);
    raise(SIGNAL);
    assert_eq!((seen.run.load(SeqCst), real(SIGNAL).0), (1, DEFAULT));
    let simply: extern "C" fn(*mut c_void, c_int) -> usize = module.function(c"handle_simply");
    assert_eq!(simply(seen.pointer(), SIGNAL), DEFAULT);
    assert_ne!(real(SIGNAL).1 & libc::SA_RESTART, 0);
    raise(SIGNAL);
    raise(SIGNAL);
    assert_eq!(seen.run.load(SeqCst), 3);
    for refused in [libc::SIGKILL, 33, 0, 65, -1] {
        assert_eq!(simply(seen.pointer(), refused), libc::SIG_ERR, "{refused}");
        assert_eq!(handle(&module, seen, refused, 0), usize::MAX - 1, "{refused}");
    }
    module.end(AT_ONCE);
}

#[test]
fn a_running_handler_keeps_its_image() {
    const SIGNAL: c_int = libc::SIGURG;
    let (library, seen) = (Library::new(), Seen::new(Mode::AtOnce, 0));
    let module = library.map();
    handle(&module, seen, SIGNAL, 1);
    thread::scope(|scope| {
        scope.spawn(|| raise(SIGNAL));
        wait_for(|| (seen.arrived.load(SeqCst) == 1).then_some(())).expect("the handler runs");
        let (mut ending, _ledger) = module.begin_end(AT_ONCE);
        for _ in 0..20 {
            let EndState::Waiting(holders) = ending.poll() else { panic!("its handler is running") };
            assert_eq!((holders.len(), holders[0].kind), (1, HolderKind::Handler));
            assert_eq!(holders[0].name, "the handler for SIGURG (23) of module");
            assert!(!holders[0].thread.is_empty(), "{holders:?}");
        }
        assert_eq!(real(SIGNAL).0, DEFAULT, "no other can begin");
        seen.go.store(1, SeqCst);
        assert_eq!(finish(&mut ending).signals, 1);
    });
    assert_eq!(seen.run.load(SeqCst), 1);
}

#[test]
fn signals_that_arrive_all_the_time_meet_no_image_that_is_gone() {
    let signal = libc::SIGRTMIN() + 3;
    let mut own = unset();
    own.sa_sigaction = count_ours as *const () as usize;
    // SAFETY: the handler only counts.
    assert_eq!(unsafe { libc::sigaction(signal, &raw const own, ptr::null_mut()) }, 0);
    let (library, seen) = (Library::new(), Seen::new(Mode::AtOnce, 0));
    thread::scope(|scope| {
        let senders: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    while seen.go.load(SeqCst) == 0 {
                        raise(signal);
                    }
                })
            })
            .collect();
        for _ in 0..200 {
            let module = library.map();
            handle(&module, seen, signal, 2);
            raise(signal);
            assert_eq!(module.end(AT_ONCE).signals, 1);
        }
        seen.go.store(1, SeqCst);
        senders.into_iter().for_each(|sender| sender.join().expect("it ends well"));
    });
    assert!(seen.run.load(SeqCst) >= 200);
    assert_eq!(stale_mappings(library.stage().path()).expect("the maps can be read").len(), 0);
}

fn at_exit(module: &Module, seen: &Seen, digit: c_long, how: c_int) {
    let at_exit: extern "C" fn(*mut c_void, c_long, c_int) = module.function(c"at_exit");
    at_exit(seen.pointer(), digit, how);
}

#[test]
fn exit_handlers_run_in_reverse_order_before_the_image_is_unloaded() {
    let (library, seen) = (Library::new(), Seen::new(Mode::AtOnce, 0));
    let module = library.map();
    at_exit(&module, seen, 1, 0);
    at_exit(&module, seen, 2, 1);
    at_exit(&module, seen, 0, 2);
    at_exit(&module, seen, 3, 0);
    assert_eq!(module.ledger.counts().exit_handlers, 4);
    let report = module.end(AT_ONCE);
    assert_eq!((report.exit_handlers, report.thread_locals_run), (4, 1));
    assert_eq!((seen.order.load(SeqCst), seen.run.load(SeqCst)), (321, 101));
}

const CHILD: &str = "ALCEDO_SYS_TEST_EXIT_IN_CHILD";

const FORKS: &str = "ALCEDO_SYS_TEST_FORKS";

/// Returns the command that runs only this test, in a new process with the environment variable.
fn only(test: &str, variable: &str) -> Command {
    let mut command = Command::new(env::current_exe().expect("this program has a path"));
    command.env(variable, "1").args(["--exact", test]);
    command
}

#[test]
fn only_exit_handlers_of_living_images_run_at_process_end() {
    let mut child = only("leftovers::a_child_exits_with_handlers_left", CHILD);
    let output = child.arg("--nocapture").output().expect("this program runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    assert!(text.ends_with("order 21, later 0\n"), "{text}");
}

/// Returns immediately unless this process was started as a child.
#[test]
fn a_child_exits_with_handlers_left() {
    static SEEN: std::sync::OnceLock<&'static Seen> = std::sync::OnceLock::new();
    extern "C" fn report() {
        let seen = SEEN.get().expect("set below");
        let text = format!("order {}, later {}\n", seen.order.load(SeqCst), seen.run.load(SeqCst));
        // SAFETY: the string is alive during the call. The test's own stdout may be captured, but the descriptor is
        // not.
        unsafe { libc::write(1, text.as_ptr().cast(), text.len()) };
    }
    if env::var_os(CHILD).is_none() {
        return;
    }
    let seen = *SEEN.get_or_init(|| Seen::new(Mode::AtOnce, 0));
    // Registers the function before any image is mapped, so that it is called after the exit handlers of all images.
    // SAFETY: the function only prints.
    unsafe { libc::atexit(report) };
    let (library, gone) = (Library::new(), Seen::new(Mode::AtOnce, 0));
    let module = library.map();
    at_exit(&module, gone, 5, 0);
    module.end(AT_ONCE);
    assert_eq!(gone.order.load(SeqCst), 5);
    let module = library.map();
    at_exit(&module, seen, 1, 0);
    at_exit(&module, seen, 2, 1);
    std::process::exit(7);
}

#[test]
fn leftover_mappings_and_allocations_are_counted_and_freed() {
    const MIB: usize = 1 << 20;
    let library = Library::new();
    let round = || {
        let module = library.map();
        let word = module.ledger.word();
        let (read_write, anonymous) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: the word belongs to a live ledger, here and below; the call otherwise requests fresh pages.
        let map = unsafe { hooks::map(word, ptr::null_mut(), 4 * MIB, read_write, anonymous, -1, 0) };
        // SAFETY: the pages are ours and writable.
        unsafe { map.cast::<u8>().write_bytes(1, 4 * MIB) };
        let middle = map.wrapping_byte_add(MIB);
        // SAFETY: no code uses the pages in the middle.
        assert_eq!(unsafe { hooks::unmap(word, middle, MIB) }, 0);
        // SAFETY: the pages after the middle belong to this test and may move.
        let moved = unsafe {
            hooks::remap(word, middle.wrapping_byte_add(MIB), MIB, 2 * MIB, libc::MREMAP_MAYMOVE, ptr::null_mut())
        };
        assert_ne!(moved, libc::MAP_FAILED);
        assert_eq!(module.ledger.counts().maps_bytes, 4 * MIB as u64);
        // SAFETY: the hook accepts any size.
        let heap = unsafe { hooks::heap_grow(word, MIB) };
        assert!(!heap.is_null() && heap.addr().is_multiple_of(64 * 1024));
        // SAFETY: the pages are ours and writable.
        unsafe { heap.cast::<u8>().write_bytes(2, MIB) };
        // SAFETY: no code uses the second half.
        unsafe { hooks::heap_shrink(word, heap.wrapping_byte_add(MIB / 2), MIB / 2) };
        // SAFETY: the hook accepts any size.
        let mut blocks: Vec<_> = (0..100).map(|size| unsafe { hooks::malloc(word, 1_000 + size) }).collect();
        // SAFETY: the hook accepts any sizes.
        blocks.push(unsafe { hooks::calloc(word, 10, 100) });
        // SAFETY: the block is live.
        blocks[0] = unsafe { hooks::realloc(word, blocks[0], 50_000) };
        let mut aligned = ptr::null_mut();
        // SAFETY: `aligned` is a variable for a pointer.
        assert_eq!(unsafe { hooks::memalign(word, &raw mut aligned, 256, 300) }, 0);
        assert!(aligned.addr().is_multiple_of(256));
        // SAFETY: the block is live and not used again.
        unsafe { hooks::free(word, blocks.swap_remove(1)) };
        // SAFETY: as above; another image frees the block that this image has allocated.
        unsafe { hooks::free(library.map().ledger.word(), blocks.swap_remove(1)) };
        module.end(AT_ONCE)
    };
    let report = round();
    let sizes: usize = (1_000..1_100).sum::<usize>() - 1_000 + 50_000 + 1_000 + 300;
    assert_eq!(report.maps_bytes, 4 << 20);
    assert_eq!(report.heap_bytes, 1 << 19);
    assert_eq!(report.c_heap_blocks, 100);
    assert!(report.c_heap_bytes < sizes as u64 && report.c_heap_bytes > sizes as u64 - 2_200, "{report:?}");
    let before = rss_kib().expect("Linux tells");
    for _ in 0..60 {
        round();
    }
    let grown = rss_kib().expect("Linux tells").saturating_sub(before);
    assert!(grown < 16 * 1024, "{grown} KiB for 60 rounds of 5 MiB each");
}

#[test]
fn a_block_that_another_image_resizes_remains_the_block_of_the_first() {
    let library = Library::new();
    let (first, other) = (library.map(), library.map());
    // SAFETY: the words belong to live ledgers, and any size may be requested.
    let block = unsafe { hooks::malloc(first.ledger.word(), 100) };
    // SAFETY: the block is live, and its old address is not used again.
    let moved = unsafe { hooks::realloc(other.ledger.word(), block, 5_000) };
    assert!(!moved.is_null());
    let bytes = [&first, &other].map(|module| module.ledger.counts().c_heap_bytes);
    assert_eq!(bytes, [5_000, 0]);
    assert_eq!(other.end(AT_ONCE).c_heap_blocks, 0);
    assert_eq!(first.end(AT_ONCE).c_heap_blocks, 1);
}

#[test]
fn a_redirected_standard_stream_belongs_to_the_process() {
    let library = Library::new();
    let module = library.map();
    // SAFETY: the word belongs to a live ledger, and the descriptor is open. `dup2` in a module reports its result in this way.
    unsafe { hooks::fd_opened(module.ledger.word(), libc::STDERR_FILENO) };
    assert_eq!(module.ledger.counts().fds, 0);
    let report = module.end(EndPolicy { close_fds: true, ..AT_ONCE });
    assert!(report.fds_closed.is_empty(), "{report:?}");
}

#[test]
fn blocks_that_another_image_reads_into_or_closes_are_not_freed_with_it() {
    let library = Library::new();
    let (first, other) = (library.map(), library.map());
    let [one, two] = [&first, &other].map(|module| module.ledger.word());
    let bytes = ptr::null_mut();
    let (stream, location) = (ptr::without_provenance_mut(16), &raw const bytes);
    // SAFETY: the words belong to live ledgers, and any size may be requested.
    let block = unsafe { hooks::malloc(one, 100) };
    // SAFETY: the block is live, and the variable outlives the stream, whose address is only compared. The calls are those of `getline`
    // and `fclose` in the other image.
    unsafe {
        if hooks::block_borrowed(two, block) != 0 {
            hooks::block_made(two, block);
        }
        hooks::stream_bound(one, stream, 0, location);
        assert!(hooks::stream_closed(two, stream).is_null());
        hooks::stream_bound(one, stream, 0, location);
        assert_eq!(hooks::stream_closed(one, stream), location);
    }
    assert_eq!(other.end(AT_ONCE).c_heap_blocks, 0);
    first.end(AT_ONCE);
    // SAFETY: the block is live, and no record refers to it.
    unsafe { libc::free(block) };
}

#[test]
fn pages_that_another_image_unmaps_or_moves_are_not_unmapped_twice() {
    const LEN: usize = 1 << 20;
    let library = Library::new();
    let (first, other) = (library.map(), library.map());
    let [one, two] = [&first, &other].map(|module| module.ledger.word());
    let (read_write, anonymous) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    let bytes = || [&first, &other].map(|module| module.ledger.counts().maps_bytes);
    // SAFETY: the words belong to live ledgers, here and below; the call otherwise requests fresh pages.
    let map = unsafe { hooks::map(one, ptr::null_mut(), 2 * LEN, read_write, anonymous, -1, 0) };
    assert_ne!(map, libc::MAP_FAILED);
    // SAFETY: no code uses the first half.
    assert_eq!(unsafe { hooks::unmap(two, map, LEN) }, 0);
    assert_eq!(bytes(), [LEN as u64, 0]);
    let half = map.wrapping_byte_add(LEN);
    // SAFETY: no code uses the second half, which may move.
    let moved = unsafe { hooks::remap(two, half, LEN, 2 * LEN, libc::MREMAP_MAYMOVE, ptr::null_mut()) };
    assert_ne!(moved, libc::MAP_FAILED);
    assert_eq!(bytes(), [2 * LEN as u64, 0]);
    assert_eq!(other.end(AT_ONCE).maps_bytes, 0);
    assert_eq!(first.end(AT_ONCE).maps_bytes, 2 * LEN as u64);
}

#[test]
fn heap_parts_are_whole_zeroed_regions() {
    let module = Library::new().map();
    let word = module.ledger.word();
    for len in [0, 1, 4096, 65_537] {
        // SAFETY: the word belongs to a live ledger.
        assert!(unsafe { hooks::heap_grow(word, len) }.is_null(), "{len}");
    }
    for regions in [1, 2, 16, 1_024] {
        let len = regions * 64 * 1024;
        // SAFETY: as above.
        let pages = unsafe { hooks::heap_grow(word, len) };
        assert!(pages.addr().is_multiple_of(64 * 1024));
        // SAFETY: `len` bytes were requested and mapped readable.
        let bytes = unsafe { std::slice::from_raw_parts(pages.cast::<u8>(), len) };
        assert!(bytes.iter().all(|byte| *byte == 0));
    }
    assert_eq!(module.end(AT_ONCE).heap_bytes, (1 + 2 + 16 + 1_024) * 64 * 1024);
}

#[test]
fn descriptors_that_are_left_open_are_named_and_closed_only_on_request() {
    let library = Library::new();
    for close_fds in [false, true] {
        let module = library.map();
        let word = module.ledger.word();
        let dir = tempfile::TempDir::new().expect("a temporary directory");
        let open = |name: &str| {
            let file = fs::File::create(dir.path().join(name)).expect("the directory is writable");
            // Uses a high descriptor number, which no concurrent test of this process used when the module was mapped.
            // SAFETY: the file is open.
            let fd = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, 500) };
            assert!(fd >= 500, "{}", std::io::Error::last_os_error());
            fd
        };
        let [left, closed, reused, secret] = ["left", "closed", "reused", "secret"].map(open);
        for fd in [left, closed, reused] {
            // SAFETY: the word belongs to a live ledger.
            unsafe { hooks::fd_opened(word, fd) };
        }
        // SAFETY: as above.
        unsafe { hooks::fd_closed(word, closed) };
        // Simulates a descriptor that the module closed without a hook, and whose number now refers to a file of the host.
        let other = open("other");
        // SAFETY: both are descriptors of this test.
        assert_eq!(unsafe { libc::dup2(other, reused) }, reused);
        assert_eq!(module.ledger.counts().fds, 1);
        let uses = module.ledger.uses();
        let is_left = |found: &Use| found.kind == UseKind::File && found.by.ends_with("/left");
        assert!(uses.iter().any(is_left), "the first file is noted: {uses:?}");
        let report = module.end(EndPolicy { close_fds, ..AT_ONCE });
        let (named, none) =
            if close_fds { (report.fds_closed, report.fds_left) } else { (report.fds_left, report.fds_closed) };
        assert_eq!(named.iter().map(|(fd, _)| *fd).collect::<Vec<_>>(), [left]);
        assert!(named[0].1.ends_with("/left") && none.is_empty(), "{named:?}");
        let open: Vec<_> = fds().expect("Linux tells").into_iter().filter(|(_, to)| *to == named[0].1).collect();
        assert_eq!(open.len(), usize::from(!close_fds));
        let unknown: Vec<_> = report.fds_unknown.iter().map(|(fd, _)| *fd).collect();
        assert!(unknown.contains(&secret) && unknown.contains(&other) && !unknown.contains(&left), "{unknown:?}");
        for fd in [closed, reused, secret, other] {
            // SAFETY: these are descriptors of this test.
            unsafe { libc::close(fd) };
        }
    }
}

/// Forks in a process of its own, because a thread of another test could hold a lock during the fork. The lock would stay locked in the
/// child.
#[test]
fn a_forked_child_calls_the_c_functions_and_nothing_else() {
    if env::var_os(FORKS).is_none() {
        let mut forking = only("leftovers::a_forked_child_calls_the_c_functions_and_nothing_else", FORKS);
        let output = forking.output().expect("this program runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let module = Library::new().map();
    let word = module.ledger.word();
    // SAFETY: the child only calls functions that are allowed after a fork, and exits immediately.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: the hook accepts any size.
        let block = unsafe { hooks::malloc(word, 10) };
        let counts = module.ledger.counts();
        // SAFETY: the block is live.
        unsafe { hooks::free(word, block) };
        // SAFETY: `_exit` only ends the child process.
        unsafe { libc::_exit(i32::from(block.is_null() || counts.c_heap_blocks != 0)) };
    }
    let mut status = -1;
    // SAFETY: `child` is a child of this process.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
    module.end(AT_ONCE);
}
