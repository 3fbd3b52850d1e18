//! Runs each file of tests in its own process. Some tests count or change process-wide state, or record the log. Such a test shares its
//! process only with tests of the same file. All files are linked into a single program.
//!
//! Before the harness begins, this process lists the requested tests and starts the program again for each file. At most
//! `FILES_PER_PROCESSOR` files per processor run at a time, the files of `FIRST` first. In addition, one file of `WAITING` runs at a time,
//! with twice as many threads, because its tests mostly wait. The output of a file is printed when its process ends. With `--nocapture` or
//! `--test-threads` the files run one after the other and print immediately. If all tests belong to one file, this process runs them
//! itself, so that a debugger can be attached. Before a run of all tests, this process calls the function `PREPARE` of the program, which
//! returns environment variables for the processes of the files.
#![expect(unsafe_code, reason = "registers a function that runs before the main of the harness")]
#![expect(clippy::print_stdout, reason = "a heading for the output of each file")]

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Environment variable with the path of a file that collects the duration of each test. `.ci/run` lists the slowest tests.
const TIMES: &str = "ALCEDO_TEST_TIMES";

/// Environment variable with the file whose tests this process runs.
const PART: &str = "ALCEDO_TEST_PART";

/// Environment variable with the number of threads of the harness.
const THREADS: &str = "RUST_TEST_THREADS";

/// Environment variables with their values.
pub(crate) type Variables = Vec<(&'static str, String)>;

/// Options of the harness whose value is the next argument.
const WITH_VALUE: [&str; 7] = ["--color", "--format", "--logfile", "--shuffle-seed", "--skip", "--test-threads", "-Z"];

// SAFETY: the loader calls every function in this section once, before `main`, with arguments that this function ignores. All parts of
// std that it uses work there: memory, the arguments, processes and streams.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = run_apart;

#[cfg_attr(
    not(all(target_os = "linux", target_env = "gnu")),
    expect(dead_code, reason = "not called on other platforms")
)]
extern "C" fn run_apart() {
    if env::var_os(PART).is_some() {
        return;
    }
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    let Some(options) = options(&args) else { return };
    let listed = listed(&args);
    let parts = parts(&listed);
    if parts.len() < 2 {
        return;
    }
    let variables = if options.len() == args.len() { crate::PREPARE() } else { Vec::new() };
    let run = Run { options, variables };
    let failed = if is_one_by_one(&run.options) { one_by_one(&parts, &run) } else { at_once(&parts, &run) };
    if !failed.is_empty() {
        eprintln!("\ntests failed in: {}", failed.join(", "));
    }
    exit(if failed.is_empty() { 0 } else { 101 });
}

/// Settings of the processes that run the files.
struct Run {
    options: Vec<OsString>,
    variables: Variables,
}

/// Returns the harness options of the caller, without the test names. Returns `None` if no tests are to run.
fn options(args: &[OsString]) -> Option<Vec<OsString>> {
    let (mut options, mut arguments) = (Vec::new(), args.iter());
    while let Some(argument) = arguments.next() {
        let text = argument.to_string_lossy();
        if ["--list", "--help", "-h"].contains(&&*text) {
            return None;
        }
        if text == "--exact" || !text.starts_with('-') {
            continue;
        }
        options.push(argument.clone());
        if WITH_VALUE.contains(&&*text) {
            options.extend(arguments.next().cloned());
        }
    }
    Some(options)
}

/// Returns the output of the harness for `--list`.
fn listed(args: &[OsString]) -> String {
    let output = this_program("").args(args).arg("--list").output().expect("this program starts");
    if !output.status.success() {
        // The harness rejects these arguments. The actual run of the tests prints the error of the harness.
        return String::new();
    }
    String::from_utf8(output.stdout).expect("names of tests are text")
}

/// Groups the test names by file. Each test in the root file of the program is a group of its own.
fn parts(listed: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut parts = BTreeMap::<_, Vec<_>>::new();
    for test in listed.lines().filter_map(|line| line.strip_suffix(": test")) {
        let part = test.split_once("::").map_or(test, |(file, _)| file);
        parts.entry(part).or_default().push(test);
    }
    parts
}

/// Returns true if the caller requests immediate output or limits the number of test threads.
fn is_one_by_one(options: &[OsString]) -> bool {
    options.iter().any(|option| {
        let option = option.to_string_lossy();
        option == "--nocapture" || option == "--no-capture" || option.starts_with("--test-threads")
    })
}

/// Runs the tests of one file after the other. Returns the files with failed tests.
fn one_by_one<'a>(parts: &BTreeMap<&'a str, Vec<&'a str>>, run: &Run) -> Vec<&'a str> {
    let is_ill = |part: &str, tests: &[&str]| {
        println!("\n     Running {part}");
        let begun = Instant::now();
        let status = harness(part, tests, run).status().expect("this program starts");
        println!("     {part} took {:.1} s, {status}", begun.elapsed().as_secs_f64());
        !status.success()
    };
    parts.iter().filter(|(part, tests)| is_ill(part, tests)).map(|(part, _)| *part).collect()
}

/// Files with their tests, from which several threads take the next file.
struct Queue<'p, 'a> {
    parts: Vec<(&'p &'a str, &'p Vec<&'a str>)>,
    next: AtomicUsize,
}

impl<'p, 'a> Queue<'p, 'a> {
    fn new(parts: Vec<(&'p &'a str, &'p Vec<&'a str>)>) -> Self {
        Self { parts, next: AtomicUsize::new(0) }
    }

    fn next(&self) -> Option<(&'p &'a str, &'p Vec<&'a str>)> {
        self.parts.get(self.next.fetch_add(1, Ordering::Relaxed)).copied()
    }
}

/// Runs the tests of several files concurrently. Returns the files with failed tests.
fn at_once<'a>(parts: &BTreeMap<&'a str, Vec<&'a str>>, run: &Run) -> Vec<&'a str> {
    let (waiting, mut busy): (Vec<_>, Vec<_>) = parts.iter().partition(|(part, _)| crate::WAITING.contains(part));
    busy.sort_by_key(|(part, _)| !crate::FIRST.contains(part));
    let (waiting, busy) = (Queue::new(waiting), Queue::new(busy));
    let (processors, failed) = (processors(), Mutex::new(Vec::new()));
    let run_parts = |queue: &Queue<'_, 'a>, threads: usize| {
        while let Some((part, tests)) = queue.next() {
            let (mut command, begun) = (harness(part, tests, run), Instant::now());
            if env::var_os(THREADS).is_none() {
                command.env(THREADS, threads.to_string());
            }
            let (succeeded, output) = with_output(command, threads).expect("this program starts");
            let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
            let seconds = begun.elapsed().as_secs_f64();
            println!("\n     Running {part}\n{output}\n     {part} took {seconds:.1} s");
            if !succeeded {
                failed.push(*part);
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| run_parts(&waiting, processors * 2));
        for _ in 0..processors * crate::FILES_PER_PROCESSOR {
            scope.spawn(|| run_parts(&busy, processors));
        }
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Runs a command until it ends. Returns its output, and true if the command succeeded. The output is written to a file, because a process
/// that outlives the tests would keep a pipe open.
fn with_output(mut command: Command, threads: usize) -> io::Result<(bool, String)> {
    let file = tempfile::tempfile()?;
    // Opens the temporary file a second time, because a clone would share its position with the writers.
    let mut reader = File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    let mut child = command.stdout(file.try_clone()?).stderr(file.try_clone()?).spawn()?;
    let (mut output, mut ends, begun) = (String::new(), Vec::new(), Instant::now());
    let status = loop {
        let status = child.try_wait()?;
        let mut new_output = Vec::new();
        reader.read_to_end(&mut new_output)?;
        let new_output = String::from_utf8_lossy(&new_output);
        ends.extend(new_output.lines().filter_map(ended_test).map(|test| (test.to_owned(), begun.elapsed())));
        output += &new_output;
        if let Some(status) = status {
            break status;
        }
        thread::sleep(Duration::from_millis(20));
    };
    add_times(&ends, threads)?;
    if status.code().is_none() {
        output += &status.to_string();
    }
    Ok((status.success(), output))
}

/// Returns the test whose end an output line of the harness reports.
fn ended_test(line: &str) -> Option<&str> {
    let (test, _) = line.strip_prefix("test ")?.split_once(" ... ")?;
    Some(test)
}

/// Appends the duration of each test, in seconds, to the file that [`TIMES`] names. `ends` lists the tests in the order in which they
/// ended.
fn add_times(ends: &[(String, Duration)], threads: usize) -> io::Result<()> {
    let Some(path) = env::var_os(TIMES) else { return Ok(()) };
    let times = durations(ends, threads).map(|(test, time)| format!("{:.1} {test}\n", time.as_secs_f64()));
    let mut file = File::options().create(true).append(true).open(path)?;
    file.write_all(times.collect::<String>().as_bytes())
}

/// Returns the duration of each test. The harness starts tests in the order of their names, as soon as one of its threads is free.
fn durations(ends: &[(String, Duration)], threads: usize) -> impl Iterator<Item = (&str, Duration)> {
    let mut by_name: Vec<_> = ends.iter().map(|(test, end)| (test.as_str(), *end)).collect();
    by_name.sort_unstable();
    let begin = move |index: usize| index.checked_sub(threads).map_or(Duration::ZERO, |index| ends[index].1);
    by_name.into_iter().enumerate().map(move |(index, (test, end))| (test, end.saturating_sub(begin(index))))
}

/// Returns a command that runs these tests of one file.
fn harness(part: &str, tests: &[&str], run: &Run) -> Command {
    let mut command = this_program(part);
    command.args(&run.options).arg("--exact").args(tests);
    for (name, value) in &run.variables {
        command.env(name, value);
    }
    command
}

fn this_program(part: &str) -> Command {
    let mut command = Command::new(env::current_exe().expect("this program"));
    command.env(PART, part);
    command
}

#[test]
fn filters_are_distinguished_from_options() {
    let split = |text: &str| text.split_whitespace().map(OsString::from).collect::<Vec<_>>();
    let check = |args, expected| assert_eq!(options(&split(args)), Some(split(expected)), "{args}");
    check("", "");
    check("churn a_test", "");
    check("--exact churn::a_test --nocapture", "--nocapture");
    check("-q --test-threads 1 churn --skip links --color=always", "-q --test-threads 1 --skip links --color=always");
    assert_eq!(options(&split("--list")), None);
}

#[test]
fn a_tests_duration_starts_when_its_thread_became_free() {
    let ends = [("a", 1), ("c", 4), ("b", 5), ("d", 6)].map(|(test, end)| (test.to_owned(), Duration::from_secs(end)));
    let times: Vec<_> = durations(&ends, 2).map(|(test, time)| (test, time.as_secs())).collect();
    assert_eq!(times, [("a", 1), ("b", 5), ("c", 3), ("d", 2)]);
    assert_eq!(ended_test("test churn::grows ... ok"), Some("churn::grows"));
    assert_eq!(ended_test("test result: ok. 1 passed"), None);
}

#[test]
fn tests_belong_to_the_file_they_are_in() {
    let listed =
        "links::a: test\nchurn::b: test\nattacks::links::c: test\nchurn::d: test\ne: test\n\n5 tests, 0 benchmarks\n";
    let expected = [
        ("attacks", vec!["attacks::links::c"]),
        ("churn", vec!["churn::b", "churn::d"]),
        ("e", vec!["e"]),
        ("links", vec!["links::a"]),
    ];
    assert_eq!(parts(listed), BTreeMap::from(expected));
}

/// Finds test files that are compiled neither by a program of the package nor by an entry of `Cargo.toml`.
#[test]
fn every_file_of_tests_is_in_a_program() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("the manifest of this package");
    let is_program = |path: &Path| manifest.contains(&format!("path = \"{}\"", path.display()));
    let read = |path: PathBuf| fs::read_to_string(folder.join(path)).expect("a file of this package");
    let in_tests =
        fs::read_dir(folder.join("tests")).expect("the folder of tests").map(|entry| entry.expect("an entry"));
    let roots = in_tests.map(|entry| Path::new("tests").join(entry.file_name()));
    let (programs, others): (Vec<_>, Vec<_>) = roots
        .map(|path| if folder.join(&path).is_dir() { path.join("main.rs") } else { path })
        .filter(|path| path.extension().is_some_and(|it| it == "rs") && folder.join(path).is_file())
        .partition(|path| is_program(path));
    let modules: String = programs.into_iter().map(read).collect();
    for path in others {
        let module = if path.ends_with("main.rs") { path.parent().expect("its folder") } else { &path };
        let name = module.file_stem().expect("it has a name").to_string_lossy().into_owned();
        let is_module = modules.lines().any(|line| line == format!("mod {name};"));
        assert!(is_module, "no program compiles {}: add it to tests/all.rs", path.display());
    }
}
