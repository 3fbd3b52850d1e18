//! Tests crash reports about unmapped images. A real plugin stores an address in a C library. After the plugin is unmapped, the library
//! uses this address. The report names the plugin only if the plugin is certainly the cause. The report never names another module.
#![expect(unsafe_code, reason = "the test itself is the host, and must crash")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::support::Scratch;
use alcedo_runtime::{Runtime, crash_guard};

/// Resident library that stores inverted addresses of the plugin, as C libraries with pointer guards do.
const LIBRARY: &str = r"
static unsigned long code, data;
void keep(void (*function)(int), const char *text) { code = ~(unsigned long)function; data = ~(unsigned long)text; }
unsigned long kept(void) { return ~code; }
int follow(int with) { ((void (*)(int))~code)(with); return with + 1; }
int look(void) { return *(const volatile char *)~data; }
";

/// Plugin that finds the function of the library among the global symbols of the process.
const PLUGIN: &str = r#"
use std::ffi::{c_char, c_int, c_void};
use alcedo_plugin_api::prelude::*;

module! { name: "magic_cube", main: started }

unsafe extern "C" {
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

static TEXT: &[u8] = b"a text of the plugin";

extern "C" fn on_event(with: c_int) {
    std::hint::black_box(with);
}

fn started() {
    // SAFETY: the name is a C string.
    let keep = unsafe { dlsym(std::ptr::null_mut(), c"keep".as_ptr()) };
    assert!(!keep.is_null(), "the host has the library");
    // SAFETY: this is the function's type.
    let keep: extern "C" fn(extern "C" fn(c_int), *const u8) = unsafe { std::mem::transmute(keep) };
    keep(on_event, TEXT.as_ptr());
}
"#;

unsafe extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn strlen(text: *const c_char) -> usize;
    fn mmap(at: *mut c_void, len: usize, rights: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void;
}

const RTLD_NOW_GLOBAL: c_int = 0x102;
/// Flags of an anonymous private mapping at a fixed address.
const MAP_HERE: c_int = 0x10_0022;

/// Environment variables: the scenario of the host, the path of the plugin's library, and the path of the C library.
const PART: &str = "ALCEDO_GONE_PART";
const PLUGIN_AT: &str = "ALCEDO_GONE_PLUGIN";
const LIBRARY_AT: &str = "ALCEDO_GONE_KEEPER";

fn function_of_library<T: Copy>(name: &CStr) -> T {
    // SAFETY: the name is a C string, and null means all that is global.
    let found = unsafe { dlsym(std::ptr::null_mut(), name.as_ptr()) };
    assert!(!found.is_null() && size_of::<T>() == size_of::<*mut c_void>(), "{name:?}");
    // SAFETY: each caller names a function of `LIBRARY` with its type.
    unsafe { std::mem::transmute_copy(&found) }
}

fn load(runtime: &Runtime, plugin: &Path) {
    runtime.create_master(&[plugin]).unwrap_or_else(|error| panic!("{error}"));
}

fn unload(runtime: &Runtime) {
    let unload = runtime.unload_master().unwrap_or_else(|error| panic!("{error}"));
    let unmapped = unload.ticket.wait(Duration::from_secs(60));
    assert!(unmapped.is_ok(), "{unmapped:?}");
}

/// Acts as a host in a separate process, under the guard.
#[test]
fn a_child_is_a_host() {
    let Ok(part) = std::env::var(PART) else { return };
    let variable = |name: &str| PathBuf::from(std::env::var_os(name).expect("the test sets it"));
    let library = CString::new(variable(LIBRARY_AT).to_str().expect("a plain path")).expect("a plain path");
    // SAFETY: the library has no initializers.
    assert!(!unsafe { dlopen(library.as_ptr(), RTLD_NOW_GLOBAL) }.is_null());
    assert!(crash_guard::arm_if_supervised().expect("the guard has a folder"));
    let runtime = Runtime::builder().package("Game").build().unwrap_or_else(|error| panic!("{error}"));
    let plugin = variable(PLUGIN_AT);
    let kept: extern "C" fn() -> usize = function_of_library(c"kept");
    let follow: extern "C" fn(c_int) -> c_int = function_of_library(c"follow");
    let read: extern "C" fn() -> c_int = function_of_library(c"look");
    load(&runtime, &plugin);
    assert_eq!((follow(3), read()), (4, c_int::from(b'a')));
    unload(&runtime);
    let stale = kept();
    match part.as_str() {
        "follow" => drop(follow(3)),
        "look" => drop(read()),
        "again" => {
            for _ in 0..3 {
                load(&runtime, &plugin);
                unload(&runtime);
            }
            follow(3);
        }
        "taken" => {
            let page = std::ptr::without_provenance_mut(stale & !0xfff);
            // SAFETY: no mapping exists there; otherwise the call fails.
            let mapped = unsafe { mmap(page, 0x1000, 0, MAP_HERE, -1, 0) };
            assert_eq!(mapped.addr(), page.addr());
            follow(3);
        }
        // Crashes in the C library while a plugin is mapped. An earlier image of the plugin was unmapped.
        "libc" => {
            load(&runtime, &plugin);
            // SAFETY: none. The code must crash.
            let _len = unsafe { strlen(std::hint::black_box(std::ptr::without_provenance(8))) };
        }
        "wild" => {
            load(&runtime, &plugin);
            // SAFETY: none. The code must crash.
            let nowhere: extern "C" fn() = unsafe { std::mem::transmute(std::hint::black_box(0x10_usize)) };
            nowhere();
        }
        other => panic!("unknown part {other}"),
    }
    panic!("the host did not crash");
}

struct Scene {
    plugin: PathBuf,
    library: PathBuf,
    _dir: tempfile::TempDir,
}

fn scene() -> Scene {
    let dir = tempfile::tempdir().unwrap();
    let (source, library) = (dir.path().join("keeper.c"), dir.path().join("libkeeper.so.3"));
    fs::write(&source, LIBRARY).unwrap();
    let mut cc = Command::new("cc");
    assert!(cc.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&source).status().unwrap().success());
    let scratch = Scratch::new();
    scratch.save(PLUGIN);
    let plugin = dir.path().join("libmagic_cube.so");
    fs::copy(scratch.build("magic-cube"), &plugin).unwrap();
    Scene { plugin, library, _dir: dir }
}

/// Returns the report of the guard for a host in this scenario.
fn report(scene: &Scene, part: &str) -> String {
    let mut guard = Command::new(env!("CARGO_BIN_EXE_alcedo"));
    guard.arg("guard").arg(std::env::current_exe().unwrap());
    guard.args(["--exact", "gone::a_child_is_a_host", "--nocapture", "--test-threads=1"]);
    guard.env(PART, part).env(PLUGIN_AT, &scene.plugin).env(LIBRARY_AT, &scene.library);
    let output = guard.output().unwrap();
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    let crash = report.find("the host crashed: SIGSEGV").unwrap_or_else(|| panic!("{part}: {report}"));
    report[crash..].to_owned()
}

/// Returns the line after the signal, and the backtrace.
fn parts(report: &str) -> (&str, Vec<&str>) {
    let mut lines = report.lines().skip(1);
    let first = lines.next().unwrap_or_default();
    (first.trim(), lines.filter(|line| line.trim().starts_with(|c: char| c.is_ascii_digit())).collect())
}

#[test]
#[ignore = "builds for minutes: `cargo test --test commands gone:: -- --ignored`, as .ci/run does"]
fn a_crash_in_unmapped_code_names_it_and_others_name_none() {
    let scene = scene();

    let follow = report(&scene, "follow");
    let (line, calls) = parts(&follow);
    let rest = line.strip_prefix("a call into magic_cube, generation 1, unmapped ");
    assert!(rest.is_some_and(|rest| rest.ends_with(" ago, through libkeeper.so.3")), "{follow}");
    assert!(calls[0].contains("magic_cube, generation 1, unmapped "), "{follow}");
    assert!(calls[1].contains("follow   libkeeper.so.3"), "{follow}");
    assert!(calls[2].contains("a_child_is_a_host"), "the caller of the library is known: {follow}");

    let read = report(&scene, "look");
    let (line, calls) = parts(&read);
    assert!(line.starts_with("in look   libkeeper.so.3") && calls[0].contains("look   libkeeper.so.3"), "{read}");
    let at = read.lines().find(|line| line.contains("there was magic_cube, generation 1, unmapped "));
    assert!(at.is_some_and(|at| at.trim().starts_with("at 0x")), "{read}");

    // The system selects the addresses of the images. The called address may therefore belong to one former image or to several.
    let again = report(&scene, "again");
    let (line, _) = parts(&again);
    assert!(line.starts_with("a call into magic_cube, generation ") && line.contains("unmapped "), "{again}");
    assert!(line.ends_with(" ago, through libkeeper.so.3"), "{again}");

    for part in ["taken", "libc", "wild"] {
        let report = report(&scene, part);
        assert!(!report.contains("magic_cube") && !report.contains("unmapped"), "{part}: {report}");
        let function = match part {
            "taken" => "libkeeper.so.3",
            "libc" => "libc.so.6",
            _ => "no code that was mapped",
        };
        assert!(report.contains(function) && report.contains("a_child_is_a_host"), "{part}: {report}");
    }
}
