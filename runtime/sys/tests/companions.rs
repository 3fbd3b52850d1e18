//! Tests companions: libraries that the loader maps as dependencies of an image. Such a library stays mapped as long as its own threads or
//! handlers need it.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![expect(unsafe_code, reason = "mapping a library runs its code")]

use std::ffi::{CStr, c_int, c_long};
use std::fs;
use std::hint;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use alcedo_sys::crash;
use alcedo_sys::process::{self, stale_mappings};
use alcedo_sys::{EndPolicy, EndState, Ending, HolderKind, Image, ImageFile, Ledger, StageDir};
use tempfile::TempDir;

use crate::common::hooked::AtEvents;

/// Library with its own thread. The thread sleeps in code of the library until it is stopped.
const WORKER: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
static sem_t go;
static pthread_t thread;
static volatile int heard;
static void (*callback)(void);
static void *run(void *unused) {
    (void)unused;
    if (callback) callback();
    while (sem_wait(&go)) { }
    return 0;
}
int worker_start(void (*call)(void)) {
    callback = call;
    sem_init(&go, 0, 0);
    int failed = pthread_create(&thread, 0, run, 0);
    if (!failed) pthread_setname_np(thread, "worker");
    return failed;
}
void worker_stop(void) { sem_post(&go); pthread_join(thread, 0); }
int worker_run(void *(*own)(void *)) {
    pthread_t new;
    int failed = pthread_create(&new, 0, own, 0);
    return failed ? failed : pthread_detach(new);
}
void worker_let_go(void) { pthread_detach(thread); sem_post(&go); }
static void hear(int number) { (void)number; heard++; }
void worker_handle(int number) { signal(number, hear); }
#ifdef KEY
static pthread_key_t key;
static void end(void *value) { (void)value; heard++; }
void worker_key(void) { pthread_key_create(&key, end); pthread_setspecific(key, &key); }
#else
void worker_key(void) { }
#endif
"#;

/// Library that is linked with [`WORKER`].
const USER: &str = r#"
int worker_start(void (*)(void));
void worker_stop(void);
void worker_let_go(void);
void worker_handle(int);
void worker_key(void);
static void (*volatile wait_here)(void);
static void back(void) { wait_here(); wait_here = 0; }
int start(void) { return worker_start(0); }
int start_and_call_back(void (*wait)(void)) { wait_here = wait; return worker_start(back); }
void stop(void) { worker_stop(); }
void let_go(void) { worker_let_go(); }
void handle(int number) { worker_handle(number); }
void key(void) { worker_key(); }
int worker_run(void *(*)(void *));
static void *own(void *unused) { wait_here(); wait_here = 0; return unused; }
int run(void (*wait)(void)) { wait_here = wait; return worker_run(own); }
"#;

/// Library that opens [`WORKER`] by its path.
const OPENER: &str = r#"
#include <dlfcn.h>
static void (*volatile wait_here)(void);
static void *own(void *unused) { wait_here(); wait_here = 0; return unused; }
int run(void (*wait)(void)) {
    void *library = dlopen(WORKER, RTLD_NOW);
    int (*run)(void *(*)(void *)) = library ? (int (*)(void *(*)(void *)))dlsym(library, "worker_run") : 0;
    wait_here = wait;
    return run ? run(own) : -1;
}
"#;

struct Pair {
    dir: TempDir,
    file: ImageFile,
    stage: StageDir,
    _alone: MutexGuard<'static, ()>,
}

struct Mapped {
    image: Image,
    _ledger: Arc<Ledger>,
}

impl Pair {
    /// Builds both libraries. The lock prevents other tests from running threads at the same time.
    fn new(worker: &str, flags: &[&str]) -> Self {
        static ONE: Mutex<()> = Mutex::new(());
        let alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let dir = TempDir::new().expect("a folder");
        let library = dir.path().join(worker);
        let soname = format!("-Wl,-soname,{worker}");
        gcc(WORKER, &library, &[&[soname.as_str(), "-pthread"], flags].concat(), &[]);
        let user = dir.path().join("libuser.so");
        let rpath = format!("-Wl,-rpath,{}", dir.path().display());
        gcc(USER, &user, &[&rpath], &[&library]);
        let file = ImageFile::read(&user).expect("just built");
        Self { dir, file, stage: StageDir::new().expect("a stage directory"), _alone: alone }
    }

    /// Builds a library that opens the library `worker` by its path.
    fn that_opens(worker: &str) -> Self {
        let mut pair = Self::new(worker, &[]);
        let opener = pair.dir.path().join("libopener.so");
        gcc(OPENER, &opener, &[&format!("-DWORKER=\"{}\"", pair.dir.path().join(worker).display())], &[]);
        pair.file = ImageFile::read(&opener).expect("just built");
        pair
    }

    /// Makes the segments and sections that contain the loader's tables writable, as some tools do.
    fn with_writable_tables(mut self, user: &str) -> Self {
        let user = self.dir.path().join(user);
        let mut bytes = fs::read(&user).expect("just built");
        let number = |at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
        // Lists, for each header table, three fields of the ELF header: offset of the table, size of one header, and number of headers. The
        // next value is the offset of the permissions within a header.
        let segments = ((number(32), number(54), number(56)), 4, libc::PF_R as u8, libc::PF_W as u8);
        let sections = ((number(40), number(58), number(60)), 8, 2, 1);
        for ((start, size, count), rights, read_only, writable) in [segments, sections] {
            let headers = bytes[start..].chunks_exact_mut(size).take(count);
            let found = headers.filter(|header| header[rights] == read_only).map(|header| header[rights] |= writable);
            assert!(found.count() > 2, "tables and constants");
        }
        fs::write(&user, &bytes).expect("the folder is writable");
        self.file = ImageFile::read(&user).expect("an image may have such parts");
        self
    }

    fn map(&self) -> Mapped {
        let staged = self.stage.stage(&self.file, "user").expect("the copy can be written");
        let ledger = Ledger::new("user");
        // SAFETY: neither library has initializers.
        let image = unsafe { Image::map(staged, Some(Arc::clone(&ledger))) }.expect("the loader accepts it");
        Mapped { image, _ledger: ledger }
    }

    /// Returns true if the companion library is mapped.
    fn is_here(&self) -> bool {
        !stale_mappings(self.dir.path()).expect("the maps can be read").is_empty()
    }
}

impl Mapped {
    fn function<F: Copy>(&self, name: &CStr) -> F {
        // SAFETY: every test names functions of the source above with their types, and uses them while they are mapped.
        unsafe { self.image.symbol(name) }.expect("exported")
    }

    fn start(&self) {
        let start: extern "C" fn() -> c_int = self.function(c"start");
        assert_eq!(start(), 0);
    }

    fn begin_end(self) -> Ending {
        // SAFETY: a test uses functions and addresses of the image only while the image is mapped.
        unsafe { self.image.begin_end(EndPolicy::default()) }
    }
}

fn gcc(source: &str, library: &Path, flags: &[&str], needs: &[&PathBuf]) {
    let file = library.with_extension("c");
    fs::write(&file, source).expect("the folder is writable");
    let mut command = Command::new("gcc");
    command.args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"]).arg(library).args(flags).arg(&file).args(needs);
    let output = command.output().expect("a compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what} is not so after a minute");
        thread::sleep(Duration::from_micros(200));
    }
}

fn finish(ending: &mut Ending) {
    wait_until("the image has gone", || match ending.poll() {
        EndState::Gone(_) => true,
        EndState::Waiting(_) => false,
        parked @ EndState::Parked { .. } => panic!("{parked:?}"),
    });
}

/// Polls until a holder whose name contains `expected` keeps the image mapped. A single poll may not yet list this holder.
fn waits_for(ending: &mut Ending, expected: &str) {
    wait_until(expected, || {
        let EndState::Waiting(holders) = ending.poll() else { panic!("a thread is inside") };
        assert!(holders.iter().all(|holder| holder.kind == HolderKind::Thread), "{holders:?}");
        holders.iter().any(|holder| holder.name.contains(expected))
    });
}

#[test]
fn a_companion_thread_keeps_the_image_until_it_ends() {
    let pair = Pair::new("libasleep.so", &[]);
    let user = pair.map();
    user.start();
    let stop: extern "C" fn() = user.function(c"stop");
    let mut ending = user.begin_end();
    waits_for(&mut ending, "thread \"worker\" of libasleep.so, which was mapped with the plugin");
    assert!(pair.is_here());
    stop();
    finish(&mut ending);
    assert!(!pair.is_here());
}

#[test]
fn an_image_ignores_threads_that_another_started_in_a_shared_library() {
    let pair = Pair::new("libshared.so", &[]);
    let first = pair.map();
    first.start();
    let stop: extern "C" fn() = first.function(c"stop");
    // Waits because thread start times have a resolution of a hundredth of a second.
    thread::sleep(Duration::from_millis(50));
    finish(&mut pair.map().begin_end());
    let mut ending = first.begin_end();
    waits_for(&mut ending, "of libshared.so");
    let next = pair.map();
    stop();
    finish(&mut ending);
    assert!(pair.is_here());
    finish(&mut next.begin_end());
    assert!(!pair.is_here());
}

#[test]
fn a_pool_outlives_its_image_until_another_image_stops_its_threads() {
    let pair = Pair::new("libomp.so.of.test", &[]);
    let first = pair.map();
    first.start();
    finish(&mut first.begin_end());
    assert!(pair.is_here(), "its thread is asleep in it");
    let second = pair.map();
    let stop: extern "C" fn() = second.function(c"stop");
    stop();
    finish(&mut second.begin_end());
    assert!(!pair.is_here());
}

#[test]
fn starting_or_ending_threads_have_mapped_code() {
    let pair = Pair::new("libhasty.so", &[]);
    for round in 0..200 {
        let user = pair.map();
        user.start();
        let let_go: extern "C" fn() = user.function(c"let_go");
        if round % 2 == 0 {
            let_go();
            finish(&mut user.begin_end());
        } else {
            let mut ending = user.begin_end();
            assert!(matches!(ending.poll(), EndState::Waiting(_)), "its thread has hardly begun");
            let_go();
            finish(&mut ending);
        }
        assert!(!pair.is_here(), "round {round}");
    }
}

/// Part of the name of a thread that a library has started, and that has the image on its stack.
const STARTED: &str = "which a library has started and which runs code of the plugin";

/// State of the thread in the test below: 1 once the thread has entered the function, 2 to release the thread.
static INSIDE: AtomicI32 = AtomicI32::new(0);

extern "C" fn wait_inside() {
    INSIDE.store(1, SeqCst);
    while INSIDE.load(SeqCst) != 2 {
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn an_image_waits_for_pool_threads_inside_it() {
    let pair = Pair::new("libomp.so.of.another.test", &[]);
    let user = pair.map();
    let start: extern "C" fn(extern "C" fn()) -> c_int = user.function(c"start_and_call_back");
    assert_eq!(start(wait_inside), 0);
    wait_until("the thread is inside", || INSIDE.load(SeqCst) == 1);
    let mut ending = user.begin_end();
    waits_for(&mut ending, "of libomp.so.of.another.test");
    INSIDE.store(2, SeqCst);
    finish(&mut ending);
    assert!(pair.is_here());
    let last = pair.map();
    let stop: extern "C" fn() = last.function(c"stop");
    stop();
    finish(&mut last.begin_end());
    assert!(!pair.is_here());
}

/// Enters the state of [`wait_inside`] without waiting in the kernel.
extern "C" fn run_inside() {
    INSIDE.store(1, SeqCst);
    while INSIDE.load(SeqCst) != 2 {
        hint::spin_loop();
    }
}

/// Checks that an image waits for a thread that a library has started, and that calls `inside` in a function of the image.
fn is_run_by(pair: &Pair, inside: extern "C" fn(), expected: &str) {
    INSIDE.store(0, SeqCst);
    let user = pair.map();
    let run: extern "C" fn(extern "C" fn()) -> c_int = user.function(c"run");
    assert_eq!(run(inside), 0);
    wait_until("the thread is inside", || INSIDE.load(SeqCst) == 1);
    let mut ending = user.begin_end();
    waits_for(&mut ending, expected);
    INSIDE.store(2, SeqCst);
    finish(&mut ending);
}

#[test]
fn an_image_waits_for_threads_of_libraries_it_needs() {
    is_run_by(&Pair::new("libhelper.so", &[]), wait_inside, STARTED);
}

#[test]
fn an_image_waits_for_threads_of_libraries_it_opened() {
    is_run_by(&Pair::that_opens("libopened.so"), wait_inside, STARTED);
}

#[test]
fn an_image_waits_for_threads_that_never_wait_in_the_kernel() {
    is_run_by(&Pair::that_opens("libalsobusy.so"), run_inside, "which may be in the plugin");
    is_run_by(&Pair::new("libbusy.so", &[]), run_inside, "which may be in the plugin");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn an_image_ignores_threads_of_the_host_that_never_wait_in_the_kernel() {
    let pair = Pair::new("libidle.so", &[]);
    INSIDE.store(0, SeqCst);
    let user = pair.map();
    let running = thread::spawn(|| run_inside());
    wait_until("the thread runs", || INSIDE.load(SeqCst) == 1);
    finish(&mut user.begin_end());
    INSIDE.store(2, SeqCst);
    running.join().expect("it ends");
}

#[test]
fn an_image_waits_likewise_if_its_tables_for_the_loader_are_writable() {
    is_run_by(&Pair::new("libneeded.so", &[]).with_writable_tables("libuser.so"), wait_inside, STARTED);
    is_run_by(&Pair::that_opens("libloaded.so").with_writable_tables("libopener.so"), wait_inside, STARTED);
}

#[test]
fn a_library_remains_mapped_while_its_handler_is_set() {
    const SIGNAL: c_int = libc::SIGWINCH;
    let pair = Pair::new("libhandler.so", &[]);
    let user = pair.map();
    let handle: extern "C" fn(c_int) = user.function(c"handle");
    handle(SIGNAL);
    finish(&mut user.begin_end());
    // SAFETY: the handler only counts; without the handler, the signal is ignored.
    assert_eq!(unsafe { libc::raise(SIGNAL) }, 0);
    assert!(pair.is_here());
    // SAFETY: the default action ignores this signal.
    unsafe { libc::signal(SIGNAL, libc::SIG_DFL) };
    finish(&mut pair.map().begin_end());
    assert!(!pair.is_here());
}

#[test]
fn a_log_subscriber_may_create_a_ledger_when_a_library_stays() {
    static EVENTS: AtomicI32 = AtomicI32::new(0);
    let pair = Pair::new("liblogged.so", &[]);
    let user = pair.map();
    let handle: extern "C" fn(c_int) = user.function(c"handle");
    handle(libc::SIGWINCH);
    let subscriber = AtEvents(|| {
        EVENTS.fetch_add(1, SeqCst);
        drop(Ledger::new("logged"));
    });
    tracing::subscriber::with_default(subscriber, || finish(&mut user.begin_end()));
    assert!(pair.is_here() && EVENTS.load(SeqCst) > 0);
    // SAFETY: the default action ignores this signal.
    unsafe { libc::signal(libc::SIGWINCH, libc::SIG_DFL) };
    finish(&mut pair.map().begin_end());
}

#[test]
fn a_library_with_a_leftover_key_is_pinned() {
    let pair = Pair::new("libkey.so", &["-DKEY"]);
    let user = pair.map();
    let key: extern "C" fn() = user.function(c"key");
    thread::scope(|scope| {
        let (sender, receiver) = std::sync::mpsc::channel();
        let (gone, wait) = std::sync::mpsc::channel::<()>();
        scope.spawn(move || {
            key();
            sender.send(()).expect("somebody waits");
            // Ends this thread, and so runs the key's destructor, only after the image was unmapped.
            let _gone = wait.recv();
        });
        receiver.recv().expect("it runs");
        finish(&mut user.begin_end());
        drop(gone);
    });
    finish(&mut pair.map().begin_end());
    assert!(pair.is_here());
}

const LOOP: &str = r#"
long sum(long count) {
    long sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(4)
    for (long at = 0; at < count; at++) sum += at;
    return sum;
}
"#;

#[test]
fn images_using_openmp_unload_and_its_threads_stay() {
    let pair = Pair::new("libunused.so", &[]);
    let dir = pair.dir.path();
    let (source, library) = (dir.join("loop.c"), dir.join("libloop.so"));
    fs::write(&source, LOOP).expect("the folder is writable");
    let mut gcc = Command::new("gcc");
    let built = gcc.args(["-shared", "-fPIC", "-O1", "-fopenmp", "-o"]).arg(&library).arg(&source).output();
    let built = built.expect("a compiler");
    if !built.status.success() {
        eprintln!("skipped: this compiler has no OpenMP: {}", String::from_utf8_lossy(&built.stderr));
        return;
    }
    let file = ImageFile::read(&library).expect("just built");
    for _ in 0..50 {
        let staged = pair.stage.stage(&file, "loop").expect("the copy can be written");
        // SAFETY: the library has no initializers.
        let image = unsafe { Image::map(staged, Some(Ledger::new("loop"))) }.expect("the loader accepts it");
        let user = Mapped { image, _ledger: Ledger::new("unused") };
        let sum: extern "C" fn(c_long) -> c_long = user.function(c"sum");
        assert_eq!(sum(1_000), 499_500);
        finish(&mut user.begin_end());
    }
    // All copies share one thread pool, whose threads sleep in libgomp.
    let asleep = process::threads().expect("the threads can be counted");
    assert!((4..50).contains(&asleep), "{asleep} threads");
    let here = stale_mappings(Path::new("/")).expect("the maps can be read");
    assert!(here.iter().any(|path| path.to_string_lossy().contains("libgomp")), "{here:?}");
    assert!(stale_mappings(pair.stage.path()).expect("the maps can be read").is_empty());
}

#[test]
fn addresses_of_unloaded_companions_are_noted_for_crash_reports() {
    let pair = Pair::new("libnoted.so.1", &[]);
    let folder = TempDir::new().expect("a folder");
    crash::report_into(folder.path()).expect("the first in this process");
    let library = pair.dir.path().join("libnoted.so.1").display().to_string();
    let count_of = |first: &str| {
        let notes = fs::read_to_string(folder.path().join(crash::NOTES)).expect("it was written");
        notes.lines().filter(|line| line.starts_with(first) && line.contains(&library)).count()
    };
    // Maps twice, because the library may have a different address each time.
    for round in 1..=2 {
        let mapped = pair.map();
        assert_eq!((count_of("mapped "), count_of("gone ")), (round, round - 1));
        finish(&mut mapped.begin_end());
        assert!(!pair.is_here());
        assert_eq!((count_of("mapped "), count_of("gone ")), (round, round));
    }
    // A companion that stays mapped is reported as gone only after its end.
    let user = pair.map();
    let stop: extern "C" fn() = user.function(c"stop");
    user.start();
    let mut ending = user.begin_end();
    waits_for(&mut ending, "of libnoted.so.1");
    assert_eq!((count_of("mapped "), count_of("gone ")), (3, 2));
    stop();
    finish(&mut ending);
    assert_eq!((count_of("mapped "), count_of("gone ")), (3, 3));
}

#[test]
fn a_later_image_is_not_a_library_of_an_earlier_one() {
    let dir = TempDir::new().expect("a folder");
    let plain = dir.path().join("libplain.so");
    gcc("int answer(void) { return 42; }", &plain, &[], &[]);
    let file = ImageFile::read(&plain).expect("just built");
    let stage = StageDir::new().expect("a stage directory");
    let map = |ledger: Option<&Arc<Ledger>>| {
        let staged = stage.stage(&file, "plain").expect("the copy can be written");
        // SAFETY: the library has no initializers.
        unsafe { Image::map(staged, ledger.cloned()) }.expect("the loader accepts it")
    };
    let ledger = Ledger::new("plain");
    let (first, second) = (map(Some(&ledger)), map(None));
    // SAFETY: the image is not used.
    let mut ending = unsafe { first.begin_end(EndPolicy::default()) };
    let EndState::Gone(report) = ending.poll() else { panic!("nothing of it is in use") };
    assert_eq!(report.searches, 0, "memory is scanned for libraries only");
    // SAFETY: the image is not used.
    let _gone = unsafe { second.unmap() };
}
