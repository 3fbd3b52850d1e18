//! Tests predictions about unmapping. Predictions are made from a library file, and the tests compare them with the behavior of the loader.
//! Also tests files that are not libraries.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![expect(unsafe_code, reason = "mapping a library runs its code")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use alcedo_sys::{Image, ImageError, ImageFile, StageDir, Unmapped};
use tempfile::TempDir;

/// Source with a static of an inline function. Such a static is unique across all libraries of a program.
const CPP: &str = r#"
struct Counter { int count = 0; };
inline Counter &counter() { static Counter one; return one; }
template <typename T> struct Holder { static T value; };
template <typename T> T Holder<T>::value = 7;
extern "C" int answer() { return ++counter().count + Holder<int>::value; }
"#;

const C: &str = "int other(void); int answer(void) { return OTHER; }";

fn compiled(compiler: &str, dir: &Path, name: &str, source: &str, flags: &[&str]) -> PathBuf {
    let ending = if compiler == "g++" { "cc" } else { "c" };
    let (file, built) = (dir.join(format!("{name}.{ending}")), dir.join(format!("lib{name}.so")));
    fs::write(&file, source).expect("the test directory is writable");
    let mut command = Command::new(compiler);
    command.args(["-O1", "-o"]).arg(&built).arg(&file).args(flags);
    let output = command.output().unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    built
}

/// Returns true if a library is unmapped after being mapped and called once.
fn comes_and_goes(file: &ImageFile) -> bool {
    let stage = StageDir::new().expect("a stage directory");
    let staged = stage.stage(file, "staying").expect("the copy can be written");
    // SAFETY: the libraries of this file have no initializers but those of C++ statics.
    let image = unsafe { Image::map(staged, None) }.unwrap_or_else(|error| panic!("{error}"));
    // SAFETY: each library exports `answer` with this type, and the function is used before the image is unmapped.
    let answer = unsafe { image.symbol::<extern "C" fn() -> i32>(c"answer") }.expect("exported");
    assert!(answer() > 0);
    // SAFETY: `answer` is not used again.
    let unmapped = unsafe { image.unmap() };
    unmapped == Unmapped::Gone
}

#[test]
fn a_library_linked_with_nodelete_is_reported_and_pinned() {
    let dir = TempDir::new().expect("a temporary directory");
    let built = |name: &str, flags: &[&str]| {
        let flags = [&["-shared", "-fPIC", "-DOTHER=1"], flags].concat();
        ImageFile::read(&compiled("gcc", dir.path(), name, C, &flags)).expect("just built")
    };
    let (plain, marked) = (built("plain", &[]), built("marked", &["-Wl,-z,nodelete"]));
    assert_eq!((plain.is_marked_to_stay(), marked.is_marked_to_stay()), (false, true));
    assert!(comes_and_goes(&plain));
    assert!(!comes_and_goes(&marked));
}

#[test]
fn a_library_unloads_although_a_dependency_is_pinned() {
    let dir = TempDir::new().expect("a temporary directory");
    let other = "int other(void) { return 5; }";
    compiled("gcc", dir.path(), "other", other, &["-shared", "-fPIC", "-Wl,-z,nodelete", "-Wl,-soname,libother.so"]);
    let folder = dir.path().display().to_string();
    let (search, run) = (format!("-L{folder}"), format!("-Wl,-rpath,{folder}"));
    let flags = ["-shared", "-fPIC", "-DOTHER=other()", &search, "-lother", &run];
    let needing = ImageFile::read(&compiled("gcc", dir.path(), "needing", C, &flags)).expect("just built");
    assert!(needing.needed().iter().any(|name| name == "libother.so"), "{:?}", needing.needed());
    assert!(!needing.is_marked_to_stay());
    assert!(comes_and_goes(&needing));
}

#[test]
fn a_library_with_unique_symbols_is_reported_and_pinned() {
    let dir = TempDir::new().expect("a temporary directory");
    let built = |name: &str, flags: &[&str]| {
        let flags = [&["-shared", "-fPIC"], flags].concat();
        ImageFile::read(&compiled("g++", dir.path(), name, CPP, &flags)).expect("just built")
    };
    let unique = built("unique", &["-fgnu-unique"]);
    let mut names = unique.unique_symbols().to_vec();
    names.sort();
    assert!(names.contains(&"_ZZ7countervE3one".to_owned()), "{names:?}");
    assert!(!comes_and_goes(&unique));
    let hidden = built("hidden", &["-fno-gnu-unique"]);
    assert_eq!(hidden.unique_symbols(), [""; 0]);
    assert!(comes_and_goes(&hidden));
    // Hides unexported symbols, as rustc does when it links a cdylib.
    let script = dir.path().join("exports");
    fs::write(&script, "{ global: answer; local: *; };").expect("the test directory is writable");
    let exported = built("exported", &["-fgnu-unique", &format!("-Wl,--version-script={}", script.display())]);
    assert_eq!(exported.unique_symbols(), [""; 0]);
    assert!(comes_and_goes(&exported));
}

#[test]
fn imports_belong_to_the_library_of_their_version() {
    let dir = TempDir::new().expect("a temporary directory");
    let source = "#include <stdlib.h>\n#include <math.h>\nint own(void);\nint answer(double x) { return own() + (int)cos(x); }\n\
                  void *block(void) { return malloc(7); }";
    let flags = ["-shared", "-fPIC", "-lm"];
    let file = ImageFile::read(&compiled("gcc", dir.path(), "imports", source, &flags)).expect("just built");
    assert_eq!(file.library_of("malloc"), Some("libc.so.6"));
    assert_eq!(file.library_of("cos"), Some("libm.so.6"));
    assert_eq!(file.library_of("own"), None, "its owner is unknown");
    assert_eq!(file.library_of("answer"), None);
}

/// Python stores the addresses of method tables in its own memory, and GLib stores closures. Neither library ever removes a registered
/// type.
#[test]
fn functions_of_python_and_glib_that_keep_code_are_reported_beforehand() {
    let dir = TempDir::new().expect("a temporary directory");
    let keep = [
        "PyType_FromSpec",
        "PyModuleDef_Init",
        "g_signal_connect_data",
        "g_closure_new_simple",
        "g_type_register_static",
        "g_boxed_type_register_static",
        "g_unix_signal_add_full",
    ];
    let calls: String = keep.iter().chain(&["Py_IncRef", "g_free"]).map(|name| format!("{name}();")).collect();
    let source = format!("int answer(void) {{ {calls} return 1; }}");
    let flags = ["-shared", "-fPIC", "-w", "-Wno-implicit-function-declaration"];
    let file = ImageFile::read(&compiled("gcc", dir.path(), "keeps", &source, &flags)).expect("just built");
    let mut found = file.bypassed_hooks();
    found.sort_unstable();
    let mut keep = keep;
    keep.sort_unstable();
    assert_eq!(found, keep);
}

#[test]
fn programs_are_reported_as_programs() {
    let dir = TempDir::new().expect("a temporary directory");
    let source = "int main(void) { return 0; }";
    for (name, flags) in [
        ("pie", &["-fPIE", "-pie"][..]),
        ("fixed", &["-no-pie"]),
        ("static", &["-static"]),
        ("static-pie", &["-static-pie"]),
        ("unmarked", &["-fPIE", "-pie", "-Wl,-z,norelro", "-rdynamic"]),
    ] {
        let error =
            ImageFile::read(&compiled("gcc", dir.path(), name, source, flags)).expect_err("it is not a library");
        assert!(matches!(error, ImageError::WrongKind { .. }), "{name}: {error}");
        assert!(error.to_string().contains("is a program, not a shared library"), "{name}: {error}");
    }
    let error = ImageFile::read(&std::env::current_exe().expect("this program")).expect_err("it is not a library");
    assert!(matches!(error, ImageError::WrongKind { .. }), "{error}");
}

/// C++ code, with the imports that are reported because they register objects in the shared C++ library. Such registrations cannot be
/// queried.
const KEEPS: [(&str, &str, &[&str]); 9] = [
    (
        "callback",
        "#include <iostream>\nstatic void called(std::ios_base::event, std::ios_base &, int) {}\n\
         extern \"C\" int answer() { std::cout.register_callback(called, 0); return 1; }",
        &["_ZNSt8ios_base17register_callbackEPFvNS_5eventERS_iEi"],
    ),
    (
        "promise",
        "#include <future>\nstatic std::promise<int> promise;\n\
         extern \"C\" int answer() { promise.set_value_at_thread_exit(3); return 1; }",
        &["_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv"],
    ),
    (
        "notify",
        "#include <condition_variable>\nstatic std::mutex mutex; static std::condition_variable condition;\n\
         extern \"C\" int answer() { std::notify_all_at_thread_exit(condition, std::unique_lock<std::mutex>(mutex)); \
         return 1; }",
        &["_ZSt25notify_all_at_thread_exitRSt18condition_variableSt11unique_lockISt5mutexE"],
    ),
    (
        "global-facet",
        "#include <locale>\nstruct Own : std::numpunct<char> {};\n\
         extern \"C\" int answer() { std::locale::global(std::locale(std::locale(), new Own)); return 1; }",
        &["_ZNSt6locale6globalERKS_"],
    ),
    (
        "stream-facet",
        "#include <iostream>\n#include <locale>\nstruct Own : std::numpunct<char> {};\n\
         extern \"C\" int answer() { std::cout.imbue(std::locale(std::locale(), new Own)); return 1; }",
        &["_ZNSt9basic_iosIcSt11char_traitsIcEE5imbueERKSt6locale"],
    ),
    (
        "own-facet",
        "#include <locale>\n#include <sstream>\nstruct Own : std::numpunct<char> {};\n\
         extern \"C\" int answer() { std::ostringstream own; own.imbue(std::locale(std::locale(), new Own)); \
         own << 1.5; return 1; }",
        &[],
    ),
    (
        "plain-locale",
        "#include <locale>\nextern \"C\" int answer() { std::locale::global(std::locale(\"C\")); return 1; }",
        &[],
    ),
    (
        "streams",
        "#include <fstream>\n#include <future>\n#include <iostream>\n\
         extern \"C\" int answer() { std::promise<int> promise; promise.set_value(1); std::ifstream file(\"/dev/null\"); \
         std::cerr << (std::cout.rdbuf() == file.rdbuf()); return promise.get_future().get(); }",
        &[],
    ),
    (
        "handlers",
        "#include <memory_resource>\n#include <new>\nextern \"C\" int answer() { \
         std::set_new_handler(std::get_new_handler()); std::set_terminate(std::get_terminate()); \
         std::pmr::set_default_resource(std::pmr::get_default_resource()); return 1; }",
        &[],
    ),
];

#[test]
fn pinning_by_libstdcpp_is_reported_before_loading_without_false_reports() {
    if Command::new("g++").arg("--version").output().is_err() {
        eprintln!("did not run: the C++ compiler is missing");
        return;
    }
    let dir = TempDir::new().expect("a temporary directory");
    for (name, source, expected) in KEEPS {
        for (linked, expected) in [(&[][..], expected), (&["-static-libstdc++", "-static-libgcc"], &[])] {
            let flags = [&["-shared", "-fPIC", "-std=c++17", "-Wl,--exclude-libs,ALL"], linked].concat();
            let file = ImageFile::read(&compiled("g++", dir.path(), name, source, &flags)).expect("just built");
            let reported: Vec<_> = file
                .bypassed_hooks()
                .into_iter()
                .filter(|import| file.library_of(import).is_none_or(is_of_cpp))
                .collect();
            assert_eq!(reported, expected, "{name} {linked:?}");
        }
    }
}

fn is_of_cpp(library: &str) -> bool {
    library.starts_with("libstdc++")
}
