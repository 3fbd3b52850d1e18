//! Debugs a host that calls a library with debug information. A breakpoint in the library stops the host, and gdb shows the C source. The
//! host is this test binary: gdb starts it with an argument that selects one test.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use alcedo_dll_bind::{Import, UserCode};
use alcedo_reflect::value::Value;

use crate::support::{compile, plain};

/// Environment variable with the folder of the library that the debugged host calls.
const FOLDER: &str = "ALCEDO_TEST_GDB_USER_CODE";

const SOURCE: &str = "
int32_t twice_in_c(int32_t number) {
    int32_t result = number * 2;
    return result;
}
";

#[test]
fn a_breakpoint_in_a_library_shows_its_source() {
    let there = Command::new("gdb").arg("--version").output().is_ok_and(|output| output.status.success());
    if !there {
        assert!(std::env::var_os("CI").is_none(), "gdb is not installed");
        eprintln!("skipped: gdb is not installed");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    compile(folder.path(), "Debugged", SOURCE);
    let script = folder.path().join("script");
    // The breakpoint stays pending until the library is loaded. Binding the function loads the library.
    let steps = "set pagination off\nset confirm off\nset debuginfod enabled off\nset breakpoint pending on\n\
        break twice_in_c\nrun\necho [first]\\n\nbacktrace 1\ninfo args\ncontinue\necho [second]\\n\nbacktrace 1\nkill\nquit\n";
    fs::write(&script, steps).expect("a script");
    let mut gdb = Command::new("gdb");
    gdb.args(["--batch", "--nx", "-x"]).arg(&script).arg("--args").arg(std::env::current_exe().expect("this binary"));
    gdb.args(["--exact", "gdb::the_host_under_gdb", "--ignored", "--nocapture"]).env(FOLDER, folder.path());
    let output = gdb.output().expect("gdb was there a moment ago");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let (_, hit) = printed.split_once("[first]").unwrap_or_else(|| panic!("it never hit:\n{printed}"));
    let (first, second) = hit.split_once("[second]").unwrap_or_else(|| panic!("it did not hit again:\n{printed}"));
    for expected in ["twice_in_c (number=21)", "Debugged.c:", "number = 21"] {
        assert!(first.contains(expected), "{expected}:\n{printed}");
    }
    // The second call runs on the thread of the folder. The breakpoint must also stop the host on this thread.
    assert!(second.contains("twice_in_c (number=4)"), "{printed}");
}

#[test]
#[ignore = "it is the host that the other test runs under gdb"]
fn the_host_under_gdb() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    // SAFETY: the functions match the source above.
    let library = unsafe { UserCode::at(&folder) }.open("Debugged");
    let import = || Import::new("twice_in_c").param("number", plain("i32")).returns(plain("i32"));
    for (import, number) in [(import().no_cwd(), 21), (import(), 4)] {
        let outcome = import.bind(&library).expect("bound").call(&[Value::I32(number)]).expect("a call");
        assert_eq!(outcome.result, Some(Value::I32(number * 2)));
    }
}
