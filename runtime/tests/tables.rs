//! Tests a plugin that leaves its addresses in tables and variables of libraries that stay mapped. When the plugin is unloaded, the host
//! redirects these addresses, or keeps the plugin mapped and reports the reason. Without these measures, later callbacks would crash.
//!
//! These tables belong to the process. Each test therefore runs alone, in a new process of this program. The process also has a C library
//! that stores callbacks. The host has no built-in support for this library.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use crate::support;

use std::backtrace::Backtrace;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

use alcedo_runtime::{ReferenceSearch, Runtime, Value};
use alcedo_sys::process;

/// Environment variable that is set in the program that a test starts.
const ALONE: &str = "TABLES_ALONE";

/// Source of a C library that stays mapped.
const STAYING: &str = r#"
    #include <malloc.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/mman.h>
    typedef void (*callback)(void *);
    struct entry { struct entry *next; callback call; void *data; };
    static struct entry *staying_table;
    callback staying_variable;
    static volatile long looked[1024];
    static void look_at(void *data) { looked[0] += *(long *)data; }
    // Maps memory like a library with its own allocator.
    static struct entry *elsewhere(const char *how) {
        if (!strcmp(how, "mapping")) {
            char *mapped = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            // The variable refers to one page of the mapping, and this page refers to the entry in another page.
            struct entry *first = (struct entry *)(mapped + 4096 * 3 + 40), *entry = (struct entry *)(mapped + 4096 * 9 + 72);
            first->next = entry;
            staying_table = first;
            return entry;
        }
        if (!strcmp(how, "inside")) {
            staying_table = (struct entry *)((char *)calloc(1, 9000) + 8000);
            return staying_table;
        }
        if (!strcmp(how, "deep")) {
            struct entry **from = &staying_table;
            for (int blocks = 1; blocks < 8; blocks++) {
                *from = calloc(1, 100 * blocks);
                from = &(*from)->next;
            }
            return *from = calloc(1, 24);
        }
        // Exceeds the limit of a search.
        void **many = calloc(100, sizeof *many);
        for (int at = 0; at < 100; at++) many[at] = calloc(1, 1 << 20);
        staying_table = (struct entry *)many;
        return calloc(1, 24);
    }
    void staying_keep(callback call, void *data) {
        const char *how = getenv("STAYING_HOW");
        if (how) {
            *elsewhere(how) = (struct entry){ 0, call, data };
            return;
        }
        struct entry *entry = malloc(sizeof *entry);
        // A block may be longer than requested, with stale words in the rest.
        memset(entry, 0, malloc_usable_size(entry));
        *entry = (struct entry){ staying_table, call, data };
        staying_table = entry;
        // Further registrations follow, so the entry is far from the beginning.
        for (int others = call == look_at && data == (void *)looked ? 0 : 100; others; others--)
            staying_keep(look_at, (void *)looked);
    }
    void staying_keep_data(void *data) { staying_keep(look_at, data); }
    void staying_clear(void) {
        if (getenv("STAYING_HOW")) staying_table = 0;
        while (staying_table) {
            struct entry *entry = staying_table;
            staying_table = entry->next;
            free(entry);
        }
        staying_variable = 0;
    }
    unsigned long staying_count_filled(unsigned char with) {
        unsigned long count = 0;
        for (struct entry *entry = staying_table; entry; entry = entry->next)
            if (((unsigned char *)entry->data)[0] == with && ((unsigned char *)entry->data)[3999] == with) count++;
        return count;
    }
    static void *blocks[4096];
    void staying_churn(unsigned turn) {
        free(blocks[turn % 4096]);
        blocks[turn % 4096] = malloc(turn % 700);
    }
"#;

static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| compiled("staying", STAYING));

/// C library with a function whose name is that of a C standard library function.
static ALARM: LazyLock<PathBuf> =
    LazyLock::new(|| compiled("alarm", "unsigned alarm(unsigned seconds) { return 4711 + seconds; }"));

/// Compiles a C library in a folder of this process below the test directory.
fn compiled(name: &str, text: &str) -> PathBuf {
    let folder = support::test_dir().join(format!("staying-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the test directory is writable");
    let (source, library) = (folder.join(format!("{name}.c")), folder.join(format!("lib{name}.so")));
    std::fs::write(&source, text).expect("the test directory is writable");
    let built = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&source).output();
    let built = built.expect("there is a C compiler");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    library
}

/// Runs `work` in a separate process, and returns the output of that process.
fn alone(test: &str, work: impl FnOnce()) -> Option<String> {
    if std::env::var_os(ALONE).is_some() {
        work();
        return None;
    }
    alone_with(&[], test)
}

/// Runs `test` in a separate process. Builds the plugin with these features before that process starts.
fn alone_with(features: &[&str], test: &str) -> Option<String> {
    support::plugin("traces", features); // built here, and not again by each child process
    Some(support::alone::output_text(&support::alone::passes(&mut this_program(test))))
}

fn this_program(test: &str) -> Command {
    let mut command = support::alone::only(module_path!(), test);
    command.env(ALONE, "1").env("LD_PRELOAD", &*LIBRARY).env("TRACES_LIBRARY", &*ALARM);
    command
}

/// Returns a host that parks a blocked unload after `park_after`, or never for `None`.
fn host(library: &Path, park_after: Option<Duration>, search: ReferenceSearch) -> Runtime {
    let builder = support::builder().unloads(|policy| {
        policy.grace = Duration::from_millis(50);
        policy.park_after = park_after;
        policy.search_references = search;
    });
    let host = builder.build().unwrap_or_else(|error| panic!("{error}"));
    host.create_master(&[library]).unwrap_or_else(|error| panic!("{error}"));
    host
}

fn leave(host: &Runtime, habit: &str) {
    let left = host.calls().call("ex:/traces.leave", &[Value::Text(habit.to_owned())]);
    left.unwrap_or_else(|error| panic!("{habit}: {error}"));
}

fn probe(host: &Runtime, habit: &str) -> String {
    match host.calls().call("ex:/traces.inspect", &[Value::Text(habit.to_owned())]) {
        Ok(Some(Value::Text(text))) => text,
        other => panic!("{habit}: {other:?}"),
    }
}

fn reload(host: &Runtime, library: &Path) {
    let report = host.reload(&[library]).expect("there is a Master");
    report.into_result().unwrap_or_else(|report| panic!("{report}"));
}

fn mapped(host: &Runtime) -> usize {
    process::stale_mappings(&host.stage_dir()).expect("the process map").len()
}

fn until(host: &Runtime, what: &str, is_so: impl Fn() -> bool) {
    let is_so = || {
        host.safe_point();
        is_so()
    };
    support::until_or(is_so, || {
        let reports = host.unloads().tickets().into_iter().filter_map(|ticket| ticket.wait(Duration::ZERO).err());
        format!("{what}: {:?}", reports.map(|report| report.to_string()).collect::<Vec<_>>())
    });
}

/// Checks a *habit*, an action of the plugin `traces`, in three generations. Each generation ends before the next generation checks the
/// expected value. The host does not scan memory, because the redirection of addresses must not depend on a scan.
fn check_habit(habit: &str, expected: &[&str]) {
    check_with_features(&[], habit, expected);
}

/// Checks a habit (an action) of a plugin build with these features. The host does not search memory.
fn check_with_features(features: &[&str], habit: &str, expected: &[&str]) {
    check_with_search(ReferenceSearch::Never, features, habit, expected);
}

/// Checks that a habit (an action) of the plugin does not keep the image mapped. `search` enables or disables the memory scan.
fn check_with_search(search: ReferenceSearch, features: &[&str], habit: &str, expected: &[&str]) {
    let library = support::plugin("traces", features);
    let host = host(&library, None, search);
    for expected in expected {
        leave(&host, habit);
        reload(&host, &library);
        until(&host, "the old image is gone", || mapped(&host) == 1);
        assert_eq!(probe(&host, habit), *expected);
    }
    assert_eq!(host.unloads().parked(), Vec::<String>::new());
    host.shutdown().into_result().unwrap_or_else(|report| panic!("{report:?}"));
}

/// Declares tests. Each test has the name of a habit of the plugin `traces`, and the expected value after each reload.
macro_rules! traces {
    ($($name:ident: $habit:literal => $expected:expr;)*) => {$(
        #[test]
        fn $name() {
            alone(stringify!($name), || check_habit($habit, &$expected));
        }
    )*};
}

const NOTHING: [&str; 3] = ["nothing to see"; 3];

traces! {
    a_plugin_that_leaves_nothing_is_unmapped: "nothing" => NOTHING;
    an_environment_string_outlives_its_plugin: "putenv" => ["put by a plugin"; 3];
    an_environment_array_outlives_its_plugin: "environ" => ["put by a plugin"; 3];
    a_remaining_stream_has_no_buffer_of_a_plugin: "setvbuf" => ["flushed"; 3];
    random_numbers_continue_after_their_state_is_unmapped: "initstate" => ["846930886"; 3];
    a_c_library_variable_gets_its_former_target_back: "name_of_the_program" => ["a name"; 3];
    a_stream_that_a_plugin_has_closed_leaves_nothing: "fopencookie_closed" => NOTHING;
    a_stream_into_memory_that_was_closed_leaves_nothing: "memory_stream_closed" => NOTHING;
    an_unwind_table_is_deregistered_before_the_next_panic: "register_frame" => ["caught"; 3];
    a_deregistered_unwind_table_leaves_nothing: "register_frame_closed" => NOTHING;
}

#[test]
fn the_log_of_the_system_keeps_its_name() {
    let output_text = alone("the_log_of_the_system_keeps_its_name", || check_habit("openlog", &["logged"; 3]));
    if let Some(output_text) = output_text {
        assert_eq!(output_text.matches("a-plugin-that-logs: said after the reload").count(), 3, "{output_text}");
    }
}

#[test]
fn an_unloading_plugins_stream_is_flushed_and_then_detached() {
    let name = "an_unloading_plugins_stream_is_flushed_and_then_detached";
    if let Some(output_text) = alone(name, || check_habit("fopencookie", &["flushed"; 3])) {
        assert_eq!(output_text.matches("through a stream of a plugin: in the buffer").count(), 3, "{output_text}");
    }
}

#[test]
fn standard_output_is_restored_when_the_replacing_plugin_unloads() {
    let name = "standard_output_is_restored_when_the_replacing_plugin_unloads";
    if let Some(output_text) = alone(name, || check_habit("fopencookie_as_stdout", &["flushed"; 3])) {
        assert_eq!(output_text.matches("written after the reload").count(), 3, "{output_text}");
    }
}

#[test]
fn a_stream_into_memory_of_a_plugin_keeps_it_and_is_named() {
    alone("a_stream_into_memory_of_a_plugin_keeps_it_and_is_named", || {
        let library = support::plugin("traces", &[]);
        let host = host(&library, Some(Duration::from_millis(100)), ReferenceSearch::Never);
        leave(&host, "memory_stream");
        reload(&host, &library);
        until(&host, "the old image is parked", || !host.unloads().parked().is_empty());
        assert!(host.unloads().parked()[0].contains("open_memstream"), "{:?}", host.unloads().parked());
        assert_eq!(mapped(&host), 2);
    });
}

/// Checks that a habit (an action) of the plugin keeps its image mapped until the C library deletes the address. The report must name the
/// habit.
fn is_kept(habit: &str, expected: &[&str]) {
    let library = support::plugin("traces", &[]);
    let host = host(&library, None, ReferenceSearch::Always);
    for _ in 0..3 {
        leave(&host, habit);
        reload(&host, &library);
        let [ticket] = host.unloads().tickets().try_into().expect("one generation is unloading");
        let report = ticket.wait(Duration::from_millis(50)).expect_err("an address of it is left").to_string();
        assert!(expected.iter().all(|words| report.contains(words)), "{report}");
        assert_eq!(mapped(&host), 2, "{report}");
        host.calls().call("ex:/traces.clear", &[]).expect("it clears");
        until(&host, "the old image is gone", || mapped(&host) == 1);
    }
    host.shutdown().into_result().unwrap_or_else(|report| panic!("{report:?}"));
}

#[test]
fn a_callback_in_a_heap_table_keeps_its_image_until_removed() {
    alone("a_callback_in_a_heap_table_keeps_its_image_until_removed", || {
        is_kept("entry", &["libstaying.so: staying_table still points to `traces_called_back`, through 101 blocks"]);
    });
}

#[test]
fn a_callback_in_a_variable_keeps_its_image_until_removed() {
    alone("a_callback_in_a_variable_keeps_its_image_until_removed", || {
        is_kept("variable", &["libstaying.so: staying_variable still points to `traces_called_back`"]);
    });
}

/// Checks that a callback that is stored in this kind of memory keeps its image mapped. The report must contain `expected`.
fn is_kept_in(test: &str, how: &str, expected: &str) {
    if std::env::var_os(ALONE).is_some() {
        return is_kept("entry", &[expected]);
    }
    support::plugin("traces", &[]);
    support::alone::passes(this_program(test).env("STAYING_HOW", how));
}

#[test]
fn a_callback_in_memory_that_a_library_mapped_keeps_its_image() {
    let test = "a_callback_in_memory_that_a_library_mapped_keeps_its_image";
    is_kept_in(test, "mapping", "libstaying.so: staying_table still points to `traces_called_back`, through 2 blocks");
}

#[test]
fn a_callback_in_the_middle_of_a_block_keeps_its_image() {
    let test = "a_callback_in_the_middle_of_a_block_keeps_its_image";
    is_kept_in(test, "inside", "libstaying.so: staying_table still points to `traces_called_back`, through a block");
}

#[test]
fn a_callback_behind_eight_blocks_of_different_lengths_keeps_its_image() {
    let test = "a_callback_behind_eight_blocks_of_different_lengths_keeps_its_image";
    is_kept_in(test, "deep", "libstaying.so: staying_table still points to `traces_called_back`, through 8 blocks");
}

#[test]
fn an_image_remains_when_the_search_for_callbacks_ends_at_a_limit() {
    let test = "an_image_remains_when_the_search_for_callbacks_ends_at_a_limit";
    is_kept_in(test, "much", "memory of libraries, searched only in part");
}

#[test]
fn data_in_a_table_keeps_its_image_until_removed() {
    alone("data_in_a_table_keeps_its_image_until_removed", || {
        is_kept("data", &["libstaying.so: staying_table still points to memory of the image"]);
    });
}

#[test]
fn a_handle_of_the_c_library_does_not_keep_an_image() {
    alone("a_handle_of_the_c_library_does_not_keep_an_image", || {
        let library = support::plugin("traces", &[]);
        let host = host(&library, None, ReferenceSearch::Always);
        leave(&host, "handle");
        end_of_first(&host, &library);
        host.shutdown().into_result().unwrap_or_else(|report| panic!("{report:?}"));
    });
}

/// Checks that the host ignores a number in a module's variable that equals an address of another module. Padding next to the number may
/// contain half of an address that an unloaded module had.
#[test]
fn a_number_in_a_module_keeps_no_other_module() {
    alone("a_number_in_a_module_keeps_no_other_module", || {
        let library = support::plugin("traces", &[]);
        for at in 0..4 {
            let host = host(&library, None, ReferenceSearch::Always);
            let address = probe(&host, "addresses").split(' ').nth(at).expect("four of them").to_owned();
            let lease = host.unloads().lease_master("the test").expect("there is a Master");
            reload(&host, &library);
            leave(&host, &format!("keep {address}"));
            drop(lease);
            until(&host, "the old image is gone", || mapped(&host) == 1);
            host.shutdown().into_result().unwrap_or_else(|report| panic!("{report:?}"));
        }
    });
}

/// Fills the unused part of the stack with these words.
#[inline(never)]
fn fill_stack(words: &[usize]) {
    let mut stack = [0; 1 << 14];
    stack.iter_mut().zip(words.iter().cycle()).for_each(|(at, word)| *at = *word);
    std::hint::black_box(&stack);
}

/// Checks that the standard library's cache for backtraces keeps no image. The cache is a variable of the program, and its padding contains
/// stack words, for example after a panic of the host in a call by a module.
#[test]
fn a_backtrace_of_the_host_keeps_no_image() {
    alone("a_backtrace_of_the_host_keeps_no_image", || {
        let library = support::plugin("traces", &[]);
        let host = host(&library, None, ReferenceSearch::Always);
        let addresses = probe(&host, "addresses");
        let addresses: Vec<usize> = addresses.split(' ').map(|address| address.parse().expect("a number")).collect();
        fill_stack(&addresses);
        assert!(!Backtrace::force_capture().to_string().is_empty());
        end_of_first(&host, &library);
        host.shutdown().into_result().unwrap_or_else(|report| panic!("{report:?}"));
    });
}

/// Stores an address in the permanent library. Only host code calls this function, so only the host passes the address.
#[expect(unsafe_code, reason = "calls a C function by name")]
fn keep_for_the_host(address: usize) {
    // SAFETY: the name is a C string.
    let keep = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"staying_keep_data".as_ptr()) };
    assert!(!keep.is_null());
    // SAFETY: the function takes an address and reads it only on request.
    unsafe { std::mem::transmute::<*mut libc::c_void, unsafe extern "C" fn(usize)>(keep)(address) };
}

/// Checks that the host ignores a value in the library that equals an address of the module. The module cannot have called the library, so
/// the value is stale.
#[test]
fn a_library_not_linked_by_a_module_keeps_nothing_of_it() {
    alone("a_library_not_linked_by_a_module_keeps_nothing_of_it", || {
        let library = support::plugin("traces", &[]);
        let host = host(&library, None, ReferenceSearch::Always);
        let addresses = probe(&host, "addresses");
        for address in addresses.split(' ').skip(2) {
            keep_for_the_host(address.parse().expect("a number"));
        }
        end_of_first(&host, &library);
        host.shutdown().into_result().unwrap_or_else(|report| panic!("{report:?}"));
    });
}

/// Opens a library, as other code in a host may do, and stores an address in the library.
#[expect(unsafe_code, reason = "calls a C function by name")]
fn opened_later_keeps(library: &Path, address: usize) {
    let name = std::ffi::CString::new(library.as_os_str().as_encoded_bytes()).expect("a name without zeroes");
    // SAFETY: the names are C strings, and the library has no initializers.
    let keep = unsafe {
        let library = libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        libc::dlsym(library, c"staying_keep_data".as_ptr())
    };
    assert!(!keep.is_null());
    // SAFETY: the function takes an address and reads it only on request.
    unsafe { std::mem::transmute::<*mut libc::c_void, unsafe extern "C" fn(usize)>(keep)(address) };
}

/// Checks that the host ignores a value that equals a module's address. Neither the module nor its dependencies can have opened the library
/// that contains the value, so the value can only be an equal number or stale memory.
#[test]
fn a_library_opened_by_another_module_keeps_nothing() {
    alone("a_library_opened_by_another_module_keeps_nothing", || {
        let library = support::plugin("chores", &[]);
        let host = host(&library, None, ReferenceSearch::Always);
        let [image] = process::stale_mappings(&host.stage_dir()).expect("the process map").try_into().expect("one");
        let maps = std::fs::read_to_string("/proc/self/maps").expect("the process map");
        let is_of_image = |line: &&str| line.contains(image.to_str().expect("a name"));
        let start = |line: &str| usize::from_str_radix(line.split('-').next().expect("a range"), 16).expect("a number");
        let addresses: Vec<_> = maps.lines().filter(is_of_image).map(|line| start(line) + 0x400).collect();
        assert!(addresses.len() > 2, "{maps}");
        let later = compiled("later", STAYING);
        addresses.into_iter().for_each(|address| opened_later_keeps(&later, address));
        host.unload_master().expect("there is a Master");
        until(&host, "the image is gone", || mapped(&host) == 0);
        host.shutdown().into_result().unwrap_or_else(|report| panic!("{report:?}"));
    });
}

/// Starts a Python interpreter and runs some code in it. Returns false if the machine has no Python library.
#[expect(unsafe_code, reason = "opens Python and calls its C functions")]
fn python() -> bool {
    const CODE: &std::ffi::CStr = c"
import json, re, gc, threading
def churn():
    for turn in range(200):
        rows = [{'a': turn, 'b': [object() for _ in range(200)]} for _ in range(20)]
        re.sub('a', 'b', json.dumps([row['a'] for row in rows]))
    gc.collect()
threads = [threading.Thread(target=churn) for _ in range(3)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
churn()
";
    let names = (8..16).map(|minor| std::ffi::CString::new(format!("libpython3.{minor}.so.1.0")).expect("no zeroes"));
    // SAFETY: the names are C strings, and the library may be opened by any program.
    let found = names.map(|name| unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW) }).find(|found| !found.is_null());
    let Some(library) = found else { return false };
    let address = |name: &std::ffi::CStr| {
        // SAFETY: the library is open, and the name is a C string.
        let address = unsafe { libc::dlsym(library, name.as_ptr()) };
        assert!(!address.is_null(), "{name:?}");
        address
    };
    // SAFETY: these are the functions of that name, called in the order that Python requires, without handlers of signals.
    unsafe {
        let initialize =
            std::mem::transmute::<*mut libc::c_void, extern "C" fn(libc::c_int)>(address(c"Py_InitializeEx"));
        let run = address(c"PyRun_SimpleString");
        let run = std::mem::transmute::<*mut libc::c_void, extern "C" fn(*const libc::c_char) -> libc::c_int>(run);
        initialize(0);
        assert_eq!(run(CODE.as_ptr()), 0);
    }
    true
}

#[test]
fn python_keeps_no_module_that_opens_no_library() {
    alone("python_keeps_no_module_that_opens_no_library", || {
        let library = support::plugin("chores", &[]);
        let host = host(&library, None, ReferenceSearch::Always);
        if !python() {
            support::skip("python_keeps_no_module_that_opens_no_library", "libpython is missing");
            return;
        }
        for _ in 0..10 {
            reload(&host, &library);
            until(&host, "the old image is gone", || mapped(&host) == 1);
        }
        host.shutdown().into_result().unwrap_or_else(|report| panic!("{report:?}"));
    });
}

#[test]
fn an_image_with_a_remaining_callback_is_parked_with_its_name() {
    alone("an_image_with_a_remaining_callback_is_parked_with_its_name", || {
        let library = support::plugin("traces", &[]);
        let host = host(&library, Some(Duration::from_millis(100)), ReferenceSearch::Always);
        leave(&host, "entry");
        reload(&host, &library);
        until(&host, "the old image is parked", || !host.unloads().parked().is_empty());
        assert!(host.unloads().parked()[0].contains("libstaying.so: staying_table"), "{:?}", host.unloads().parked());
        // The module to which the address refers is still mapped.
        assert_eq!(mapped(&host), 2);
    });
}

/// Unloads the only module in a generation, and returns the unload report.
fn end_of_first(host: &Runtime, library: &Path) -> alcedo_runtime::UnloadReport {
    let lease = host.unloads().lease_master("the test").expect("there is a Master");
    reload(host, library);
    let [ticket] = host.unloads().tickets().try_into().expect("one generation is unloading");
    drop(lease);
    until(host, "the old image is gone", || mapped(host) == 1);
    ticket.wait(Duration::from_secs(60)).unwrap_or_else(|report| panic!("{report}"))
}

/// Allocates and frees blocks with the sizes of the blocks that a plugin has left, so that the new blocks overwrite freed blocks.
fn churn() {
    let blocks: Vec<Vec<u8>> = (0..64).map(|turn| vec![turn; 4004 + usize::from(turn % 2) * 1001]).collect();
    std::hint::black_box(&blocks);
}

#[test]
fn private_blocks_are_freed_and_those_shared_with_libraries_kept() {
    alone("private_blocks_are_freed_and_those_shared_with_libraries_kept", || {
        let library = support::plugin("traces", &[]);
        let host = host(&library, None, ReferenceSearch::Always);
        leave(&host, "blocks");
        let report = end_of_first(&host, &library);
        let [end] = &report.modules[..] else { panic!("{report}") };
        // The sum contains the plugin's three own blocks, and the copied string in the environment.
        let freed = 1001 + 2002 + 3003 + "TRACES_PUT=put by a plugin".len() as u64 + 1;
        assert_eq!((end.c_heap_blocks, end.c_heap_bytes), (4, freed), "{report}");
        assert_eq!((end.c_heap_kept_blocks, end.c_heap_kept_bytes), (2, 4004 + 5005), "{report}");
        assert_eq!(end.c_heap_kept_for, "a library still refers to them");
        let text = report.to_string();
        assert!(text.contains("4 C heap blocks freed · "), "{text}");
        assert!(text.contains("2 C heap blocks kept (8.8 KiB): a library still refers to them"), "{text}");
        churn();
        assert_eq!(probe(&host, "blocks"), "put by a plugin, 2 blocks as they were");
        host.shutdown().into_result().unwrap_or_else(|report| panic!("{report:?}"));
    });
}

#[test]
fn possibly_shared_blocks_are_kept_and_reported_with_the_reason() {
    let test = "possibly_shared_blocks_are_kept_and_reported_with_the_reason";
    if std::env::var_os(ALONE).is_some() {
        return blocks_are_kept(&["cpp"], "libstdc++.so.6 may have taken them over");
    }
    if Command::new("c++").arg("--version").output().is_err() {
        eprintln!("{test} did not run: a C++ compiler is missing");
        return;
    }
    alone_with(&["cpp"], test);
}

#[test]
fn plugin_blocks_reallocated_by_the_c_library_are_freed_too() {
    if std::env::var_os(ALONE).is_none() {
        support::plugin("traces", &["grows"]);
    }
    alone("plugin_blocks_reallocated_by_the_c_library_are_freed_too", || {
        for features in [&[][..], &["grows"]] {
            blocks_are_kept(features, "");
        }
    });
}

/// Checks that the host keeps three leaked blocks of a plugin with these features, and reports `reason`. If `reason` is empty, checks that
/// the host frees the blocks.
fn blocks_are_kept(features: &[&str], reason: &str) {
    let all = (3, 1001 + 2002 + 3003);
    let (freed, kept) = if reason.is_empty() { (all, (0, 0)) } else { ((0, 0), all) };
    let library = support::plugin("traces", features);
    let host = host(&library, None, ReferenceSearch::Never);
    leave(&host, "blocks_of_others");
    let report = end_of_first(&host, &library);
    let [end] = &report.modules[..] else { panic!("{report}") };
    assert_eq!((end.c_heap_blocks, end.c_heap_bytes), freed, "{report}");
    assert_eq!((end.c_heap_kept_blocks, end.c_heap_kept_bytes), kept, "{report}");
    assert_eq!(end.c_heap_kept_for, reason);
    let text = report.to_string();
    assert_eq!(text.contains("C heap blocks freed"), freed.0 != 0, "{text}");
    assert_eq!(text.contains(&format!("3 C heap blocks kept (5.9 KiB): {reason}")), kept.0 != 0, "{text}");
    host.shutdown().into_result().unwrap_or_else(|report| panic!("{report:?}"));
}

// C library functions that the plugin looks up at run time.
traces! {
    a_thread_ends_without_the_key_destructor_of_an_unloaded_plugin: "looked_up_key" => NOTHING;
    a_thread_ends_without_a_looked_up_destructor_after_unload: "looked_up_thread_local" => NOTHING;
    fork_handlers_are_removed_with_their_plugin: "looked_up_fork_handlers" => ["a child ended with 7"; 3];
    a_looked_up_timer_does_not_fire_after_unload: "looked_up_timer" => ["nothing strikes"; 3];
    every_lookup_of_a_function_returns_one_address: "looked_up_alike" => NOTHING;
    a_plugins_own_library_keeps_its_function_of_a_hooked_name: "looked_up_elsewhere" => NOTHING;
}

#[test]
fn fork_handlers_are_removed_with_their_plugin_and_do_not_keep_it() {
    alone("fork_handlers_are_removed_with_their_plugin_and_do_not_keep_it", || {
        check_with_search(ReferenceSearch::Always, &[], "looked_up_fork_handlers", &["a child ended with 7"; 3]);
    });
}

/// Checks a habit whose functions must run once in each of three unloaded generations.
fn runs_three_times(test: &str, habit: &str, expected: &str) {
    if let Some(output_text) = alone(test, || check_habit(habit, &NOTHING)) {
        assert_eq!(output_text.matches(expected).count(), 3, "{output_text}");
    }
}

#[test]
fn a_thread_whose_start_was_looked_up_is_waited_for() {
    let test = "a_thread_whose_start_was_looked_up_is_waited_for";
    runs_three_times(test, "looked_up_thread", "a thread of a plugin has ended");
}

#[test]
fn looked_up_exit_handlers_run_before_their_plugin_unloads() {
    let test = "looked_up_exit_handlers_run_before_their_plugin_unloads";
    runs_three_times(test, "looked_up_exit_handler", "a function of a plugin ran");
}

#[test]
fn exit_handlers_with_a_status_run_before_their_plugin_unloads() {
    let test = "exit_handlers_with_a_status_run_before_their_plugin_unloads";
    runs_three_times(test, "looked_up_exit_handler_with_status", "a function of a plugin ran");
}

/// Declares tests for the shared C++ library: a habit, and the expected value after each reload.
macro_rules! traces_in_cpp {
    ($($name:ident: $habit:literal => $expected:literal;)*) => {$(
        #[test]
        fn $name() {
            in_cpp(stringify!($name), $habit, $expected);
        }
    )*};
}

traces_in_cpp! {
    a_new_handler_is_not_called_after_its_plugin_unloads: "cpp_new_handler" => "no memory";
    a_terminate_handler_is_removed_with_its_plugin: "cpp_terminate" => "as before";
    an_unexpected_handler_is_removed_with_its_plugin: "cpp_unexpected" => "as before";
    a_default_memory_resource_is_removed_with_its_plugin: "cpp_resource" => "allocated";
    a_stream_buffer_is_removed_with_its_plugin: "cpp_buffer" => "written";
    a_heap_buffer_with_plugin_code_is_removed_with_it: "cpp_buffer_on_the_heap" => "written";
    a_tied_stream_is_not_flushed_after_its_plugin_unloads: "cpp_tie" => "written";
    a_handler_restored_after_its_plugin_unloaded_is_removed: "cpp_stale" => "as before";
}

fn in_cpp(test: &str, habit: &str, expected: &str) {
    if std::env::var_os(ALONE).is_some() {
        return check_with_features(&["cpp"], habit, &[expected; 3]);
    }
    if Command::new("c++").arg("--version").output().is_err() {
        eprintln!("{test} did not run: a C++ compiler is missing");
        return;
    }
    let output_text = alone_with(&["cpp"], test).expect("it ran in a process of its own");
    if expected == "written" {
        assert_eq!(output_text.matches("written by C++ after the reload").count(), 3, "{output_text}");
    }
}
