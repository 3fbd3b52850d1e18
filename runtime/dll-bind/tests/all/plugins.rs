//! Tests plugin classes with functions that a C library implements: declarations, calls and results. Also tests the lifetime of the
//! library, which is opened and closed with the classes.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use alcedo_reflect::value::Value;
use alcedo_runtime::dll_bind::UserCode;
use alcedo_runtime::faults::{self, Fault, FaultKind, ReloadStep};
use alcedo_runtime::native::{Obj, Object};
use alcedo_runtime::{Canary, LeaseKind, Runtime};

use crate::builds::{plugin, tagged, test_dir};
use crate::support::{compile, ints, structure, text};

/// Folder to which the build script of the example compiles its libraries.
fn example_folder() -> PathBuf {
    let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
    test_dir().join("plugins").join(profile).join("user-code")
}

fn host(code: Option<&Path>, library: &Path) -> Runtime {
    let builder = Runtime::builder().package("Game").canary(Canary::Off);
    // SAFETY: the functions match the C sources of the example and of this file.
    let builder = code.map(|code| unsafe { UserCode::at(code) }).iter().fold(builder, |it, code| it.user_code(code));
    let runtime = builder.build().unwrap_or_else(|error| panic!("{error}"));
    runtime.create_master(&[library]).unwrap_or_else(|error| panic!("{error}"));
    runtime
}

fn call(runtime: &Runtime, class: &str, function: &str, arguments: &[Value]) -> (Option<Value>, Vec<Value>) {
    let object = runtime.objects().spawn(&format!("/Script/Game.{class}")).expect("an object");
    let called = runtime.objects().call_with_out_parameters(object, function, arguments);
    called.unwrap_or_else(|error| panic!("{class} {function}: {error}"))
}

fn call_string(runtime: &Runtime, class: &str, function: &str, argument: &str) -> String {
    match call(runtime, class, function, &[text(argument)]).0 {
        Some(Value::Text(result)) => result,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_plugin_calls_its_own_libraries_and_those_of_others() {
    let library = plugin("c-library", &[]);
    let runtime = host(Some(&example_folder()), &library);
    // Calls the C functions through the methods that the attribute generates.
    let tour = call_string(&runtime, "TestDll", "tour", "ok, drawrof");
    assert_eq!(tour, "forward ,ko; Vector { x: 1.5, y: -2.0, z: 0.25 }; true 4 Vector { x: 7.0, y: -8.0, z: 0.5 }");
    let packed = call_string(&runtime, "Zlib", "pack", &"a kingfisher ".repeat(16));
    let numbers: Vec<_> = packed.split(' ').collect();
    assert!(matches!(numbers[..], ["0", "0x18a44e88", _, "true"]), "{packed}");
    assert!(numbers[2].parse::<u64>().expect("a number") < 60, "{packed}");
    let version = call(&runtime, "Database", "version", &[]).0;
    assert!(matches!(&version, Some(Value::Text(version)) if version.starts_with("3.")), "{version:?}");
    let statements = "create table birds (name text, length int); \
        insert into birds values ('kingfisher', 16), ('wren', 10), ('bustard', 100); \
        select name from birds where length < 50 order by length;";
    assert_eq!(call_string(&runtime, "Database", "evaluate", statements), "wren,kingfisher");
    let object = runtime.objects().spawn("/Script/Game.Database").expect("an object");
    let wrong = runtime.objects().call(object, "evaluate", &[text("select nothing from nowhere")]);
    assert!(wrong.expect_err("no such table").to_string().contains("SQLite error 1"));
    // Calls the functions by reflection.
    assert_eq!(call(&runtime, "TestDll", "call_dll1", &[text("drawrof")]), (None, vec![text("forward")]));
    let player = |name: &str, password: &str, health: f32, score: f32| {
        structure([
            ("player_name", text(name)),
            ("player_password", text(password)),
            ("health", Value::F32(health)),
            ("score", Value::F32(score)),
        ])
    };
    let logged_in = call(&runtime, "StringDll", "login", &[player("Alcedo", "atthis", 7.0, 1.0)]);
    assert_eq!(logged_in, (None, vec![player("Alc", "******", 100.0, 4.0)]));
    // C cannot grow an array, so the host passes a longer array in the second call.
    let primes = |found: &[i32]| structure([("found", ints(found))]);
    let outcome = call(&runtime, "ArrayDll", "primes_below", &[primes(&[0, 0]), Value::I32(20)]);
    assert_eq!(outcome, (Some(Value::I32(8)), vec![primes(&[2, 3])]));
    let whole = call(&runtime, "ArrayDll", "primes_below", &[primes(&[0; 8]), Value::I32(20)]);
    assert_eq!(whole, (Some(Value::I32(8)), vec![primes(&[2, 3, 5, 7, 11, 13, 17, 19])]));
    // Calls the function by name.
    let object = runtime.objects().spawn("/Script/Game.TestDll").expect("an object");
    let by_name = runtime.calls().call("uf:/Script/Game.TestDll:calls", &[Value::Object(object)]);
    assert_eq!(by_name.expect("a call"), Some(Value::I32(1)));
    let owners: Vec<_> =
        runtime.unloads().leases().into_iter().filter(|it| it.blocker.kind == LeaseKind::Library).collect();
    assert_eq!(owners.len(), 5, "{owners:?}");
}

#[test]
fn without_a_library_or_a_folder_calls_do_nothing() {
    let library = plugin("c-library", &[]);
    let empty = tempfile::tempdir().expect("a folder");
    for code in [None, Some(empty.path())] {
        let runtime = host(code, &library);
        assert_eq!(
            call_string(&runtime, "TestDll", "tour", "ok"),
            "ok; Vector { x: 0.0, y: 0.0, z: 0.0 }; false 0.5 Vector { x: 4.0, y: 0.0, z: 0.0 }"
        );
        assert_eq!(call(&runtime, "TestDll", "calls", &[]).0, Some(Value::I32(0)));
        assert_eq!(call(&runtime, "TestDll", "call_dll1", &[text("stays")]), (None, vec![text("stays")]));
    }
}

/// Compiles a library whose function `calls` returns `number`. When the library is closed, it appends `number` to the file `log`.
fn compile_numbered(folder: &Path, number: i32) {
    let log = folder.join("log");
    let source = format!(
        "#include <stdio.h>\nint32_t calls(void) {{ return {number}; }}\n\
         void CallDLL1(unit* s) {{ s[0] = '{number}'; }}\n\
         __attribute__((destructor)) static void end(void) {{\n\
             FILE* f = fopen({log:?}, \"a\"); if (f) {{ fprintf(f, \"{number} \"); fclose(f); }}\n\
         }}\n"
    );
    compile(folder, "TestDLL", &source);
}

#[test]
fn reloading_the_class_opens_the_rebuilt_library_and_closes_the_old() {
    let builds = [1, 2].map(|tag| tagged("c-library", &[], tag));
    let folder = tempfile::tempdir().expect("a folder");
    let ended = || fs::read_to_string(folder.path().join("log")).unwrap_or_default();
    compile_numbered(folder.path(), 1);
    let runtime = host(Some(folder.path()), &builds[0]);
    let object = runtime.objects().spawn("/Script/Game.TestDll").expect("an object");
    let version = || runtime.objects().call(object, "calls", &[]).expect("a call");
    let turned = || runtime.objects().call_with_out_parameters(object, "call_dll1", &[text("x.")]).expect("a call").1;
    assert_eq!((version(), turned()), (Some(Value::I32(1)), vec![text("1.")]));
    // A rebuilt library is used only after a reload.
    compile_numbered(folder.path(), 2);
    assert_eq!((version(), ended().as_str()), (Some(Value::I32(1)), ""));
    let mut expected = String::new();
    for (number, build) in [(2, 1), (3, 0), (4, 1)] {
        compile_numbered(folder.path(), number);
        runtime.reload(&[&builds[build]]).expect("a Master").into_result().unwrap_or_else(|report| panic!("{report}"));
        assert_eq!((version(), turned()), (Some(Value::I32(number)), vec![text(&format!("{number}."))]));
        expected += &format!("{} ", number - 1);
        assert_eq!(ended(), expected);
        let lease_count =
            runtime.unloads().leases().into_iter().filter(|it| it.blocker.owner == "TestDLL of Game.TestDll").count();
        assert_eq!(lease_count, 1, "{:?}", runtime.unloads().leases());
    }
    // A reload of changed modules replaces the module of a rebuilt library, even if the file of the module is unchanged.
    let changed = || runtime.reload_changed(&[&builds[1]]).expect("a Master").to_string();
    assert!(changed().contains("no library has changed"));
    let (file, copy) = (folder.path().join("libTestDLL.so"), folder.path().join("copy.so"));
    fs::copy(&file, &copy).and_then(|_| fs::rename(&copy, &file)).expect("rebuilt");
    assert!(changed().contains("no library has changed"), "the rebuilt library has the same content");
    let linker = fs::File::options().append(true).open(&file).expect("it exists");
    linker.set_len(8).expect("written");
    assert!(changed().contains("no library has changed"), "the opened library stays in use until its file is whole");
    drop(linker);
    compile_numbered(folder.path(), 5);
    let report = changed();
    assert!(report.contains("c_library: a C library that it calls has changed"), "{report}");
    assert_eq!((version(), ended()), (Some(Value::I32(5)), expected.clone() + "4 "));
    expected += "4 ";
    fs::remove_file(folder.path().join("libTestDLL.so")).expect("it exists");
    assert!(changed().contains("no library has changed"), "the opened library stays in use while its file is missing");
    // A failed reload opens the new library and closes it again, so the old library stays in use.
    compile_numbered(folder.path(), 6);
    let armed = faults::arm(Fault { step: ReloadStep::Enroll, nth: 0, kind: FaultKind::Error });
    assert!(runtime.reload(&[&builds[0]]).expect("a Master").into_result().is_err());
    drop(armed);
    assert_eq!((version(), ended()), (Some(Value::I32(5)), expected.clone() + "6 "));
    let unload = runtime.unload_master().expect("a Master");
    drop(unload);
    assert_eq!(ended(), expected.clone() + "6 5 ");
    drop(runtime);
    assert_eq!(ended(), expected + "6 5 ");
}

#[test]
fn a_library_that_was_being_written_is_opened_by_a_later_reload() {
    let folder = tempfile::tempdir().expect("a folder");
    compile_numbered(folder.path(), 1);
    let linker = fs::File::options().append(true).open(folder.path().join("libTestDLL.so")).expect("it exists");
    let build = plugin("c-library", &[]);
    let runtime = host(Some(folder.path()), &build);
    let object = runtime.objects().spawn("/Script/Game.TestDll").expect("an object");
    let version = || runtime.objects().call(object, "calls", &[]).expect("a call");
    let changed = || runtime.reload_changed(&[&build]).expect("a Master").to_string();
    assert_eq!(version(), Some(Value::I32(0)), "the linker has the file open");
    assert!(changed().contains("no library has changed"), "the linker has the file open");
    // The stamp of the file remains the same.
    drop(linker);
    let report = changed();
    assert!(report.contains("c_library: a C library that it calls has changed"), "{report}");
    assert_eq!(version(), Some(Value::I32(1)));
    assert!(changed().contains("no library has changed"), "the library is open");
}

#[test]
fn a_function_that_the_host_keeps_keeps_no_library_open() {
    let folder = tempfile::tempdir().expect("a folder");
    compile_numbered(folder.path(), 1);
    let runtime = host(Some(folder.path()), &plugin("c-library", &[]));
    let object = runtime.objects().spawn("/Script/Game.TestDll").expect("an object");
    let calls = runtime.function::<(Obj<Object>,), i32>("uf:/Script/Game.TestDll:calls").expect("a function");
    assert_eq!(calls.call((Obj::new(object),)).expect("a call"), 1);
    drop(runtime.unload_master().expect("a Master"));
    assert_eq!(fs::read_to_string(folder.path().join("log")).unwrap_or_default(), "1 ");
    assert!(calls.call((Obj::new(object),)).is_err());
}

thread_local! {
    /// Host of the test on this thread, and the plugin library that the host loads during a callback from C.
    static CALLED_BACK: RefCell<Option<(Rc<Runtime>, PathBuf)>> = const { RefCell::new(None) };
    static LEASES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Callback that reloads the plugin with the class whose function is running.
extern "C" fn reload_during_call() -> i32 {
    let Some((runtime, library)) = CALLED_BACK.take() else { return -1 };
    let reload = runtime.reload(&[&library]).expect("a Master");
    let leases = runtime.unloads().tickets().into_iter().flat_map(|ticket| ticket.report().blockers);
    LEASES.with_borrow_mut(|list| list.extend(leases.map(|blocker| format!("{} {}", blocker.kind, blocker.owner))));
    i32::from(reload.into_result().is_ok())
}

#[test]
fn a_reload_inside_a_callback_keeps_the_library_until_c_returns() {
    let builds = [1, 2].map(|tag| tagged("c-library", &[], tag));
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let ended = || fs::read_to_string(&log).unwrap_or_default();
    // The C function receives the address of the callback as an array of two `i32`s.
    let source = |number: i32| {
        format!(
            "#include <stdio.h>\nstatic int32_t (*hook)(void);\n\
             uint32_t CallDLL3(unit* s, int32_t i[2], float* f, void* v) {{ memcpy(&hook, i, 8); return 1; }}\n\
             int32_t calls(void) {{ return hook ? {number} * 10 + hook() : {number}; }}\n\
             __attribute__((destructor)) static void end(void) {{\n\
                 FILE* f = fopen({log:?}, \"a\"); if (f) {{ fprintf(f, \"{number} \"); fclose(f); }}\n\
             }}\n"
        )
    };
    compile(folder.path(), "TestDLL", &source(1));
    let runtime = Rc::new(host(Some(folder.path()), &builds[0]));
    let object = runtime.objects().spawn("/Script/Game.TestDll").expect("an object");
    let address = (reload_during_call as extern "C" fn() -> i32 as usize as u64).to_ne_bytes();
    let halves: Vec<_> = address.as_chunks().0.iter().map(|half| i32::from_ne_bytes(*half)).collect();
    let vector = structure([("x", Value::F32(0.0)), ("y", Value::F32(0.0)), ("z", Value::F32(0.0))]);
    let arguments = [text(""), ints(&halves), Value::F32(0.0), vector];
    runtime.objects().call(object, "call_dll3", &arguments).expect("a call");
    compile(folder.path(), "TestDLL", &source(2));
    CALLED_BACK.set(Some((Rc::clone(&runtime), builds[1].clone())));
    let version = || runtime.objects().call(object, "calls", &[]).expect("a call");
    // The running call finishes in the old library, which is closed afterwards.
    let first = version();
    assert_eq!(first, Some(Value::I32(11)), "{:?}", LEASES.take());
    let seen_leases = LEASES.take();
    assert!(
        seen_leases.iter().any(|seen_leases| seen_leases == "bound library TestDLL of Game.TestDll"),
        "{seen_leases:?}"
    );
    assert_eq!(ended(), "1 ");
    assert_eq!(version(), Some(Value::I32(2)));
    let still: Vec<_> =
        runtime.unloads().leases().into_iter().filter(|it| it.blocker.kind == LeaseKind::Library).collect();
    assert_eq!(still.iter().filter(|it| it.blocker.owner.starts_with("TestDLL ")).count(), 1, "{still:?}");
}
