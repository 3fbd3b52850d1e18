//! A plugin that has left its addresses in tables and variables of libraries that stay: they lead elsewhere when it goes,
//! or it is kept and a report says by what. What comes after would come to harm otherwise.
//!
//! These tables are the process's, so each habit gets a process of its own: a test starts this program again with only
//! itself to run, under a C library that keeps callbacks and that the host knows nothing of.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;
use std::time::Duration;

use alcedo_runtime::{Runtime, Value};
use alcedo_sys::process;

/// Set for the program that a test starts.
const ALONE: &str = "TABLES_ALONE";

/// The library that stays.
const STAYING: &str = r#"
    #include <stdlib.h>
    typedef void (*callback)(void *);
    struct entry { struct entry *next; callback call; void *data; };
    static struct entry *staying_table;
    callback staying_variable;
    static volatile long looked;
    static void look_at(void *data) { looked += *(long *)data; }
    void staying_keep(callback call, void *data) {
        struct entry *entry = malloc(sizeof *entry);
        *entry = (struct entry){ staying_table, call, data };
        staying_table = entry;
    }
    void staying_keep_data(void *data) { staying_keep(look_at, data); }
    void staying_clear(void) {
        while (staying_table) {
            struct entry *entry = staying_table;
            staying_table = entry->next;
            free(entry);
        }
        staying_variable = 0;
    }
    static void *blocks[4096];
    void staying_churn(unsigned turn) {
        free(blocks[turn % 4096]);
        blocks[turn % 4096] = malloc(turn % 700);
    }
"#;

/// Built once; the folder is taken away when the machine likes.
static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = support::test_dir().join(format!("staying-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the test directory is writable");
    let (source, library) = (folder.join("staying.c"), folder.join("libstaying.so"));
    std::fs::write(&source, STAYING).expect("the test directory is writable");
    let built = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&source).output();
    let built = built.expect("there is a C compiler");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    library
});

/// Runs `work` in a process of its own; what that printed.
fn alone(test: &str, work: impl FnOnce()) -> Option<String> {
    if std::env::var_os(ALONE).is_some() {
        work();
        return None;
    }
    support::plugin("traces", &[]); // built once, not by each
    let output = start(test);
    let said = format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}: {said}", output.status);
    assert!(said.contains("1 passed"), "it ran nothing: {said}");
    Some(said)
}

fn start(test: &str) -> Output {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]);
    command.env(ALONE, "1").env("LD_PRELOAD", &*LIBRARY).output().expect("this program starts")
}

/// Whether a host looks through memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Looks {
    Yes,
    No,
}

/// A host that never gives an unload up unless it is told to.
fn host(library: &Path, park_after: Option<Duration>, looks: Looks) -> Runtime {
    let builder = support::builder().unloads(|policy| {
        policy.grace = Duration::from_millis(50);
        policy.park_after = park_after;
        policy.look_for_references = looks == Looks::Yes;
    });
    let host = builder.build().unwrap_or_else(|error| panic!("{error}"));
    host.create_master(&[library]).unwrap_or_else(|error| panic!("{error}"));
    host
}

fn leave(host: &Runtime, habit: &str) {
    let left = host.zcall("ex:/traces.leave", &[Value::Text(habit.to_owned())]);
    left.unwrap_or_else(|error| panic!("{habit}: {error}"));
}

fn look(host: &Runtime, habit: &str) -> String {
    match host.zcall("ex:/traces.look", &[Value::Text(habit.to_owned())]) {
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
    support::until(what, || {
        host.safe_point();
        is_so()
    });
}

/// A habit, in three generations, each of which is gone before the next has a look: that sees what is wanted. Nothing is
/// looked for in memory: what is put right is put right without it.
fn goes(habit: &str, wanted: &[&str]) {
    let library = support::plugin("traces", &[]);
    let host = host(&library, None, Looks::No);
    for wanted in wanted {
        leave(&host, habit);
        reload(&host, &library);
        until(&host, "the old image is gone", || mapped(&host) == 1);
        assert_eq!(look(&host, habit), *wanted);
    }
    assert_eq!(host.parked(), Vec::<String>::new());
    host.shutdown().into_result().unwrap_or_else(|report| panic!("{report:?}"));
}

/// Tests that are a habit and what is seen after each reload.
macro_rules! traces {
    ($($name:ident: $habit:literal => $wanted:expr;)*) => {$(
        #[test]
        fn $name() {
            alone(stringify!($name), || goes($habit, &$wanted));
        }
    )*};
}

const NOTHING: [&str; 3] = ["nothing to see"; 3];

traces! {
    a_plugin_that_leaves_nothing_goes: "nothing" => NOTHING;
    a_text_of_the_environment_outlives_the_plugin_that_put_it: "putenv" => ["put by a plugin"; 3];
    a_row_of_the_environment_outlives_the_plugin_that_made_it: "environ" => ["put by a plugin"; 3];
    a_stream_that_stays_has_no_buffer_of_a_plugin: "setvbuf" => ["flushed"; 3];
    random_numbers_go_on_when_their_state_goes: "initstate" => ["846930886"; 3];
    a_variable_of_the_c_library_leads_back_to_where_it_led: "name_of_the_program" => ["a name"; 3];
    a_stream_that_a_plugin_has_closed_leaves_nothing: "fopencookie_closed" => NOTHING;
    a_stream_into_memory_that_was_closed_leaves_nothing: "memory_stream_closed" => NOTHING;
    an_unwind_table_is_taken_back_before_the_next_panic: "register_frame" => ["caught"; 3];
    an_unwind_table_that_was_taken_back_leaves_nothing: "register_frame_closed" => NOTHING;
}

#[test]
fn the_log_of_the_system_keeps_its_name() {
    let said = alone("the_log_of_the_system_keeps_its_name", || goes("openlog", &["logged"; 3]));
    if let Some(said) = said {
        assert_eq!(said.matches("a-plugin-that-logs: said after the reload").count(), 3, "{said}");
    }
}

#[test]
fn a_stream_is_flushed_by_the_plugin_that_made_it_and_leads_nowhere_afterwards() {
    let name = "a_stream_is_flushed_by_the_plugin_that_made_it_and_leads_nowhere_afterwards";
    if let Some(said) = alone(name, || goes("fopencookie", &["flushed"; 3])) {
        assert_eq!(said.matches("through a stream of a plugin: in the buffer").count(), 3, "{said}");
    }
}

#[test]
fn standard_output_leads_back_when_the_plugin_that_replaced_it_goes() {
    let name = "standard_output_leads_back_when_the_plugin_that_replaced_it_goes";
    if let Some(said) = alone(name, || goes("fopencookie_as_stdout", &["flushed"; 3])) {
        assert_eq!(said.matches("written after the reload").count(), 3, "{said}");
    }
}

#[test]
fn a_stream_into_memory_of_a_plugin_keeps_it_and_is_named() {
    alone("a_stream_into_memory_of_a_plugin_keeps_it_and_is_named", || {
        let library = support::plugin("traces", &[]);
        let host = host(&library, Some(Duration::from_millis(100)), Looks::No);
        leave(&host, "memory_stream");
        reload(&host, &library);
        until(&host, "the old image is given up", || !host.parked().is_empty());
        assert!(host.parked()[0].contains("open_memstream"), "{:?}", host.parked());
        assert_eq!(mapped(&host), 2);
    });
}

/// A habit that keeps its image until the library lets go of it, and what the report says of it until then.
fn is_kept(habit: &str, says: &[&str]) {
    let library = support::plugin("traces", &[]);
    let host = host(&library, None, Looks::Yes);
    for _ in 0..3 {
        leave(&host, habit);
        reload(&host, &library);
        let [ticket] = host.unloads().try_into().expect("one generation is on its way out");
        let report = ticket.wait(Duration::from_millis(50)).expect_err("an address of it is left").to_string();
        assert!(says.iter().all(|words| report.contains(words)), "{report}");
        assert_eq!(mapped(&host), 2, "{report}");
        host.zcall("ex:/traces.clear", &[]).expect("it clears");
        until(&host, "the old image is gone", || mapped(&host) == 1);
    }
    host.shutdown().into_result().unwrap_or_else(|report| panic!("{report:?}"));
}

#[test]
fn a_callback_in_a_table_on_the_c_heap_keeps_its_image_until_it_is_taken_out() {
    alone("a_callback_in_a_table_on_the_c_heap_keeps_its_image_until_it_is_taken_out", || {
        is_kept("entry", &["libstaying.so: staying_table still leads to `traces_called_back`, through a block"]);
    });
}

#[test]
fn a_callback_in_a_variable_keeps_its_image_until_it_is_taken_out() {
    alone("a_callback_in_a_variable_keeps_its_image_until_it_is_taken_out", || {
        is_kept("variable", &["libstaying.so: staying_variable still leads to `traces_called_back`"]);
    });
}

#[test]
fn data_in_a_table_keeps_its_image_until_it_is_taken_out() {
    alone("data_in_a_table_keeps_its_image_until_it_is_taken_out", || {
        is_kept("data", &["libstaying.so: staying_table still leads to memory of the image"]);
    });
}

#[test]
fn an_image_whose_callback_stays_is_given_up_with_its_name() {
    alone("an_image_whose_callback_stays_is_given_up_with_its_name", || {
        let library = support::plugin("traces", &[]);
        let host = host(&library, Some(Duration::from_millis(100)), Looks::Yes);
        leave(&host, "entry");
        reload(&host, &library);
        until(&host, "the old image is given up", || !host.parked().is_empty());
        assert!(host.parked()[0].contains("libstaying.so: staying_table"), "{:?}", host.parked());
        // What it leads to is there.
        assert_eq!(mapped(&host), 2);
    });
}
