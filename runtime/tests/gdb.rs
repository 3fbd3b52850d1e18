//! Tests that a debugger works while the debugged host reloads. A breakpoint on a plugin function must stop in the old code and in the new
//! code, and gdb must print the function's source line both times. The host is this test binary: gdb starts it with one of its tests.

use crate::support;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use alcedo_build::Switches;
use alcedo_runtime::{Budget, Canary};

/// Environment variable with the library that the host under gdb watches. The library is in a folder that only this test uses.
const WATCHED: &str = "ALCEDO_GDB_WATCHED";
/// Name of a function in the plugin. In builds with line tables, gdb knows only this name. In builds with full debug information, gdb also
/// knows the path of the function.
const FUNCTION: &str = "say_hello_implementation";

/// Returns true if gdb is installed. Otherwise prints that the test is skipped.
fn gdb_is_there() -> bool {
    let there = Command::new("gdb").arg("--version").output().is_ok_and(|output| output.status.success());
    if !there {
        // CI installs gdb. There, a missing gdb fails the test.
        assert!(std::env::var_os("CI").is_none(), "gdb is not installed");
        eprintln!("skipped: gdb is not installed");
    }
    there
}

/// Returns a build of `magic-cube` with this tag and the debug information of a user's build.
fn with_line_tables(tag: u64) -> PathBuf {
    const LABEL: &str = "magic-cube-with-line-tables";
    let request = support::flags::with_flags(support::request("magic-cube", &[]), "line-tables", "-C strip=none");
    let library = support::build(&request, LABEL);
    support::with_switches(&library, &format!("{LABEL}-{tag}"), &Switches { on: &[], tag: Some(tag) })
}

#[test]
fn a_breakpoint_by_name_hits_before_and_after_a_reload() {
    if !gdb_is_there() {
        return;
    }
    let (first, second) = (with_line_tables(1), with_line_tables(2));
    let folder = tempfile::tempdir().expect("a folder");
    let watched = folder.path().join("libmagic_cube.so");
    std::fs::copy(&first, &watched).expect("the first build");
    let script = folder.path().join("script");
    // The function is unknown until the host maps the plugin, so the breakpoint is pending at first. While the host is stopped, the test
    // replaces the library as cargo does: it writes a new file, and then renames the file.
    let reloaded = format!("gdb.rs:{RELOADED_LINE}");
    let steps = format!(
        "set pagination off\nset confirm off\nset debuginfod enabled off\nset breakpoint pending on\n\
          break {FUNCTION}\nrun\necho [first]\\n\nbacktrace 1\ninfo breakpoints\n\
         shell cp '{second}' '{watched}.new' && mv '{watched}.new' '{watched}'\n\
         tbreak {reloaded}\ndisable 1\ncontinue\nenable 1\ncontinue\n\
         echo [second]\\n\nbacktrace 1\ninfo breakpoints\nkill\nquit\n",
        second = second.display(),
        watched = watched.display(),
    );
    std::fs::write(&script, steps).expect("a script");
    let mut gdb = Command::new("gdb");
    gdb.args(["--batch", "--nx", "-x"]).arg(&script).arg("--args").arg(std::env::current_exe().expect("this binary"));
    gdb.args(["--exact", &*support::full_name(module_path!(), "the_host_under_gdb"), "--ignored", "--nocapture"])
        .env(WATCHED, &watched);
    // gdb needs only the library files. Other tests may therefore build plugins concurrently.
    let output = gdb.output().expect("gdb was there a moment ago");
    let output_text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let line = support::line_of("magic-cube", "self.greetings += 1;");
    let location = line.rsplit_once('/').map_or(line.as_str(), |(_, location)| location);
    let (_, after_first) =
        output_text.split_once("[first]").unwrap_or_else(|| panic!("never in the old code:\n{output_text}"));
    let (of_first, of_second) =
        after_first.split_once("[second]").unwrap_or_else(|| panic!("not in the new:\n{output_text}"));
    for (which, hit) in [("old", of_first), ("new", of_second)] {
        assert!(hit.contains(&format!("#0  {FUNCTION} ")), "{which}:\n{output_text}");
        assert!(hit.contains(location), "{which} code stops at {location}:\n{output_text}");
    }
}

/// Contains the line at which gdb waits for the reload. gdb stops at a line number because line tables contain no function names.
#[inline(never)]
fn the_host_has_reloaded(generation: u64) {
    std::hint::black_box(generation);
}

const RELOADED_LINE: u32 = line!() - 3;

#[test]
#[ignore = "it is the host that the other test runs under gdb"]
fn the_host_under_gdb() {
    let Some(watched) = std::env::var_os(WATCHED).map(PathBuf::from) else { return };
    let builder = support::builder().canary(Canary::Off);
    let host = builder.build().expect("a host");
    host.create_master(&[Path::new(&watched)]).expect("the first build");
    host.watch().expect("a folder to watch");
    let cube = host.objects().spawn("/Script/Game.MagicCube").expect("spawned");
    let until = Instant::now() + Duration::from_secs(60);
    while Instant::now() < until {
        host.objects().call(cube, "say_hello", &[]).expect("the call succeeds");
        host.tick(Budget::frame());
        for report in host.take_reloads() {
            let report = report.into_result().unwrap_or_else(|report| panic!("{report}"));
            the_host_has_reloaded(report.generation);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("gdb has not ended this host");
}
