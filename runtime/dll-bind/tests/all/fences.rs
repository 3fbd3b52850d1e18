//! Tests fences around the buffers of a call. An out-of-bounds access faults immediately, and the crash report names the function and the
//! parameter of the buffer.

use std::fs;
use std::process::Command;

use alcedo_dll_bind::Import;
use alcedo_reflect::value::Value;
use alcedo_runtime::crash_guard;

use crate::support::{Fixture, ints, plain, structure, text, ty};

const SOURCE: &str = "
void behind(int32_t* x, int32_t by) { ((volatile int32_t*)x)[3 + by] = 1; }
int32_t reads(int32_t* x, int32_t by) { return ((volatile int32_t*)x)[3 + by]; }
void before(int32_t* x, int32_t by) { ((volatile int32_t*)x)[-2048 - by] = 1; }
typedef struct { text name; struct { int32_t* data; int32_t num, max; } row; } player;
void in_row(player* p, int32_t by) { ((volatile int32_t*)p->row.data)[p->row.max + by] = 1; }
void near_before(int32_t* x, int32_t by) { x[-1] = by; }
";

/// Environment variable that selects the function that the host calls.
const FUNCTION: &str = "ALCEDO_TEST_FENCED";

#[test]
fn an_overrun_of_any_size_is_stopped_and_named() {
    for (function, by, expected) in [
        ("behind", 0, "past the end of parameter `x` of `behind` of `Test`, 12 bytes long"),
        ("behind", 1000, "past the end of parameter `x` of `behind` of `Test`, 12 bytes long"),
        ("reads", 0, "past the end of parameter `x` of `reads` of `Test`, 12 bytes long"),
        ("before", 0, "before the start of parameter `x` of `before` of `Test`, 12 bytes long"),
        ("in_row", 0, "past the end of parameter `p.row` of `in_row` of `Test`, 8 bytes long"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut host = Command::new(std::env::current_exe().expect("this binary"));
        host.args(["--exact", "fences::the_host_that_is_stopped", "--ignored", "--nocapture"]);
        host.env(crash_guard::FOLDER, folder.path()).env(FUNCTION, format!("{function} {by}"));
        let ended = host.output().expect("it was started");
        assert!(!ended.status.success());
        let report = fs::read_to_string(folder.path().join("crash")).unwrap_or_default();
        assert!(report.contains(&format!("\nfence {expected}\n")), "{function} {by}: {report}\n{ended:?}");
        // The last line of a complete report is `end`.
        assert!(report.ends_with("\nend\n"), "{report}");
    }
}

#[test]
#[ignore = "it is the host that the other test starts"]
fn the_host_that_is_stopped() {
    let Ok(function) = std::env::var(FUNCTION) else { return };
    let (function, by) = function.split_once(' ').expect("two words");
    assert!(crash_guard::arm_if_supervised().expect("armed"));
    let fixture = Fixture::new(SOURCE);
    let import = Import::new(function);
    let (import, first) = match function {
        "in_row" => {
            let player = ty(&[("Player", &[("name", "String"), ("row", "Array(i32)")])], "/Script/Test.Player");
            (import.out("p", player), structure([("name", text("Anna")), ("row", ints(&[1, 2]))]))
        }
        _ => (import.out_array("x", plain("Array(i32)"), 3), ints(&[1, 2, 3])),
    };
    let import = import.param("by", plain("i32"));
    let import = if function == "reads" { import.returns(plain("i32")) } else { import };
    let library = fixture.code.with_fences().open("Test");
    let outcome = import.bind(&library).expect("bound").call(&[first, Value::I32(by.parse().expect("a number"))]);
    panic!("nothing stopped it: {outcome:?}");
}

#[test]
fn with_fences_writes_just_before_a_buffer_are_found_after_the_call() {
    let fixture = Fixture::new(SOURCE);
    let import = Import::new("near_before").out_array("x", plain("Array(i32)"), 3).param("by", plain("i32"));
    let function = import.bind(&fixture.code.with_fences().open("Test")).expect("bound");
    let message = function.call(&[ints(&[1, 2, 3]), Value::I32(7)]).expect_err("an overrun").to_string();
    assert!(message.contains("`x` was written to 4 bytes before its start"), "{message}");
}
