//! Tests the lifetime of libraries: missing libraries, rebuilt libraries, and code that runs when a library is closed.

use std::cell::RefCell;
use std::fmt::Debug;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use alcedo_dll_bind::{Import, Imported, Route};
use alcedo_reflect::value::Value;
use tracing::field::Field;
use tracing::{Event, Level, Metadata, Subscriber, span};

use crate::support::{Fixture, compile, plain, text};

#[test]
fn missing_functions_do_nothing_and_return_zero_values() {
    let fixture = Fixture::new("int32_t there(void) { return 1; }");
    let import = |name: &str| {
        let import = Import::new(name).param("a", plain("i32")).out("s", plain("String"));
        import.out("x", plain("f32")).returns(plain("String"))
    };
    let arguments = [Value::I32(1), text("stays"), Value::F32(2.0)];
    for library in ["Test", "None", "../Test", "libTest.so"] {
        let opened = fixture.code.open(library);
        assert_eq!(opened.is_open(), library == "Test");
        let function = import("missing").bind(&opened).expect("bound");
        assert_eq!(function.route(), Route::Nothing);
        let outcome = function.call(&arguments).expect("a call that does nothing");
        assert_eq!(outcome.result, Some(text("")));
        assert_eq!(outcome.out_parameters, [text("stays"), Value::F32(2.0)]);
        // A call with wrong arguments fails even if the library is missing.
        assert!(function.call(&[]).is_err());
    }
    let number = Import::new("missing").returns(plain("bool"));
    assert_eq!(fixture.call(&number, &[]).0, Some(Value::Bool(false)));
}

/// Subscriber that records each warning as its fields.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::WARN
    }

    fn new_span(&self, _span: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _span: &span::Id, _values: &span::Record<'_>) {}

    fn record_follows_from(&self, _span: &span::Id, _follows: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = String::new();
        event.record(&mut |field: &Field, value: &dyn Debug| line += &format!("{field}={value:?} "));
        self.0.lock().expect("no test panics here").push(line);
    }

    fn enter(&self, _span: &span::Id) {}

    fn exit(&self, _span: &span::Id) {}
}

#[test]
fn a_missing_library_or_function_is_one_warning_at_binding() {
    let fixture = Fixture::new("int32_t there(void) { return 1; }");
    let warnings = Warnings::default();
    let take = || std::mem::take(&mut *warnings.0.lock().expect("no test panics here"));
    let bind = |library: &str, functions: &[&str]| {
        let opened = fixture.code.open(library);
        let import = |name: &&str| Import::new(name).returns(plain("i32")).no_cwd().bind(&opened).expect("bound");
        let functions: Vec<_> = functions.iter().map(import).collect();
        functions.iter().for_each(|function| drop(function.call(&[]).expect("a call")));
    };
    tracing::subscriber::with_default(warnings.clone(), || {
        bind("Test", &["there"]);
        assert_eq!(take(), [""; 0]);
        bind("Test", &["there", "missing"]);
        let found = take();
        assert!(found.len() == 1 && found[0].contains("function=\"missing\""), "{found:?}");
        bind("None", &["one", "two"]);
        let found = take();
        assert!(found.len() == 1 && found[0].contains("library=\"None\""), "{found:?}");
    });
}

fn version(number: i32, log: &std::path::Path) -> String {
    format!(
        "#include <stdio.h>\n\
         int32_t version(void) {{ return {number}; }}\n\
         __attribute__((destructor)) static void end(void) {{\n\
             FILE* f = fopen({log:?}, \"a\"); if (f) {{ fprintf(f, \"{number} \"); fclose(f); }}\n\
         }}\n"
    )
}

fn is_mapped(file: &std::path::Path) -> bool {
    let maps = fs::read_to_string("/proc/self/maps").expect("the maps");
    maps.contains(&file.display().to_string())
}

#[test]
fn a_rebuilt_library_is_new_and_the_old_closes_after_its_functions() {
    let fixture = Fixture::new("");
    let log = fixture.folder.path().join("log");
    let logged = || fs::read_to_string(&log).unwrap_or_default();
    let import = || Import::new("version").returns(plain("i32"));
    compile(fixture.folder.path(), "Test", &version(1, &log));
    let library = fixture.code.open("Test");
    let old_file = library.mapped().expect("it is there").to_owned();
    let old = import().bind(&library).expect("bound");
    drop(library);
    compile(fixture.folder.path(), "Test", &version(2, &log));
    let new = import().bind(&fixture.code.open("Test")).expect("bound");
    let call = |function: &Imported| function.call(&[]).expect("a call").result;
    assert_eq!((call(&old), call(&new)), (Some(Value::I32(1)), Some(Value::I32(2))));
    assert!(is_mapped(&old_file) && logged().is_empty());
    drop(old);
    assert!(!is_mapped(&old_file) && !old_file.exists());
    assert_eq!((logged().as_str(), call(&new)), ("1 ", Some(Value::I32(2))));
    drop(new);
    assert_eq!(logged(), "1 2 ");
}

#[test]
fn two_that_open_one_library_have_each_their_own() {
    let fixture = Fixture::new("int32_t next(void) { static int32_t n; return ++n; }");
    let import = Import::new("next").returns(plain("i32"));
    let [one, two] = fixture.bind(&import);
    let call = |function: &Imported| function.call(&[]).expect("a call").result;
    assert_eq!((call(&one), call(&one), call(&two)), (Some(Value::I32(1)), Some(Value::I32(2)), Some(Value::I32(1))));
}

#[test]
fn a_hundred_thousand_calls_leave_nothing_behind() {
    let fixture = Fixture::new("void turn(unit* s) { unit t = s[0]; s[0] = s[1]; s[1] = t; }");
    let import = Import::new("turn").out("s", plain("String")).no_cwd();
    let [function, _] = fixture.bind(&import);
    let mut value = text("ab");
    let mut before = 0;
    for round in 0..100_000 {
        value = function.call(&[value]).expect("a call").out_parameters.remove(0);
        if round == 1_000 {
            before = alcedo_sys::process::rss_kib().expect("a number");
        }
    }
    assert_eq!(value, text("ab"));
    let after = alcedo_sys::process::rss_kib().expect("a number");
    // Uses a generous limit, because concurrent tests of this process also allocate memory.
    assert!(after < before + 64 * 1024, "{before} KiB, then {after} KiB");
}

thread_local! {
    /// Library function that the callback calls, and the results of these calls.
    static BACK: RefCell<Option<Imported>> = const { RefCell::new(None) };
    static RESULTS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Callback that calls the running C function again, with a longer string.
extern "C" fn once_more(depth: i32) -> i32 {
    let string = "x".repeat(depth as usize * 100);
    BACK.with_borrow(|back| {
        let Some(back) = back else { return -1 };
        let address = once_more as extern "C" fn(i32) -> i32 as usize as u64;
        let arguments = [Value::U64(address), Value::I32(depth - 1), text(&string)];
        let out_parameters = back.call(&arguments).map(|outcome| outcome.out_parameters).unwrap_or_default();
        RESULTS.with_borrow_mut(|results| {
            results.push(format!("{depth} {}", out_parameters == [text(&format!("!{}", &string[1..]))]))
        });
        depth
    })
}

#[test]
fn recursive_calls_have_separate_buffers() {
    let source = "void back(int32_t (*f)(int32_t), int32_t depth, unit* s) { if (depth) f(depth); s[0] = '!'; }";
    let fixture = Fixture::new(source);
    let import = Import::new("back").param("f", plain("u64")).param("depth", plain("i32")).out("s", plain("String"));
    for function in fixture.bind(&import.no_cwd()) {
        BACK.set(Some(function));
        assert_eq!(once_more(4), 4);
        assert_eq!(RESULTS.take(), ["1 true", "2 true", "3 true", "4 true"]);
    }
    // A callback that runs on the thread of the folder cannot use the host, so it makes no nested call.
    let import = Import::new("back").param("f", plain("u64")).param("depth", plain("i32")).out("s", plain("String"));
    let [function, _] = fixture.bind(&import);
    let address = once_more as extern "C" fn(i32) -> i32 as usize as u64;
    let outcome = function.call(&[Value::U64(address), Value::I32(2), text("ab")]).expect("a call");
    assert_eq!((outcome.out_parameters, RESULTS.take()), (vec![text("!b")], vec![]));
}

#[test]
fn values_kept_with_a_library_drop_right_after_it_closes() {
    struct ChecksOnDrop(PathBuf);
    impl Drop for ChecksOnDrop {
        fn drop(&mut self) {
            assert_eq!(fs::read_to_string(&self.0).expect("the finalizer has run"), "7 ");
            fs::write(&self.0, "looked").expect("written");
        }
    }
    let fixture = Fixture::new("");
    let log = fixture.folder.path().join("log");
    compile(fixture.folder.path(), "Test", &version(7, &log));
    let library = fixture.code.open("Test");
    library.keep(ChecksOnDrop(log.clone()));
    let function = Import::new("version").returns(plain("i32")).bind(&library).expect("bound");
    drop(library);
    assert!(!log.exists());
    drop(function);
    assert_eq!(fs::read_to_string(&log).expect("it looked"), "looked");
}
