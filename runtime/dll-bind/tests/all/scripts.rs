//! Tests script classes that are bound to a C library. One class is copied unchanged from the Unreal documentation page on `DLLBind`, and
//! is called by a script in the sample engine. In contrast to Unreal, the vector of the sample engine has `double` fields.

use std::fs;
use std::path::Path;

use alcedo_reflect::value::Value;
use alcedo_runtime::dll_bind::UserCode;
use alcedo_runtime::{Canary, LeaseKind, ObjectHandle, Runtime};

use crate::support::{compile, compile_cpp, ints, structure, text};

/// Class of the Unreal documentation page on `DLLBind`.
const PAGE: &str = "class TestDLLPlayerController extends PlayerController
   DLLBind(TestDLL);

dllimport final function CallDLL1(out string s);
dllimport final function vector CallDLL2(float x, float y, float z);
dllimport final function bool CallDLL3(string s, int i[2], out float f, out vector v);
";

/// Script that makes the three calls of the documentation page.
const TOUR: &str = r#"
class Tour extends Actor;

var TestDLLPlayerController Player;

function string Turned(string S)
{
    Player.CallDLL1(S);
    return S;
}

function double Sum()
{
    local vector V;

    V = Player.CallDLL2(1.5, -2.0, 0.25);
    return V.X + V.Y + V.Z;
}

function string All(string S)
{
    local int I[2];
    local float F;
    local vector V;
    local bool Ok;

    I[0] = 7;
    I[1] = -8;
    F = 0.5;
    V.X = 4;
    Ok = Player.CallDLL3(S, I, F, V);
    return Ok $ " " $ int(F * 100) $ " " $ int(V.X * 100) $ " " $ int(V.Y * 100) $ " " $ int(V.Z * 100);
}
"#;

/// Returns the source of the library in the example plugin.
fn library() -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../example-plugins/c-library/c/TestDLL.c");
    fs::read_to_string(source).expect("the example is there")
}

struct Scene {
    _dir: tempfile::TempDir,
    runtime: Runtime,
}

fn scene(files: &[(&str, &str)], has_library: bool) -> Scene {
    scene_with(files, |code| {
        if has_library {
            compile(code, "TestDLL", &library());
        }
    })
}

fn scene_with(files: &[(&str, &str)], compile: impl FnOnce(&Path)) -> Scene {
    let dir = tempfile::tempdir().expect("a folder");
    let (code, package) = (dir.path().join("code"), dir.path().join("Demo"));
    fs::create_dir(&code).expect("made");
    fs::create_dir(&package).expect("made");
    compile(&code);
    for (name, source) in files {
        fs::write(package.join(name), source).expect("written");
    }
    // SAFETY: the library is compiled from the source of the example, with the vector type of the sample engine.
    let code = unsafe { UserCode::at(&code) };
    let builder = Runtime::builder().natives(alcedo_engine::natives()).canary(Canary::Off).scripts(&[&package]);
    let runtime = builder.user_code(&code).build().unwrap_or_else(|error| panic!("{error}"));
    runtime.create_master(&[] as &[&Path]).unwrap_or_else(|error| panic!("{error}"));
    Scene { _dir: dir, runtime }
}

fn vector(x: f64, y: f64, z: f64) -> Value {
    structure([("x", Value::F64(x)), ("y", Value::F64(y)), ("z", Value::F64(z))])
}

fn spawn(scene: &Scene, class: &str) -> ObjectHandle {
    scene.runtime.objects().spawn(class).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_class_of_the_page_runs_as_it_is_written() {
    let scene = scene(&[("TestDLLPlayerController.uc", PAGE)], true);
    let player = spawn(&scene, "/Script/Demo.TestDLLPlayerController");
    let call = |function: &str, arguments: &[Value]| {
        let called = scene.runtime.objects().call_with_out_parameters(player, function, arguments);
        called.unwrap_or_else(|error| panic!("{function}: {error}"))
    };
    assert_eq!(call("CallDLL1", &[text("drawrof")]), (None, vec![text("forward")]));
    let numbers = [Value::F32(1.5), Value::F32(-2.0), Value::F32(0.25)];
    assert_eq!(call("CallDLL2", &numbers), (Some(vector(1.5, -2.0, 0.25)), vec![]));
    let arguments = [text("ok"), ints(&[7, -8]), Value::F32(0.5), vector(4.0, 5.0, 6.0)];
    let out_parameters = vec![Value::F32(4.0), vector(7.0, -8.0, 0.5)];
    assert_eq!(call("CallDLL3", &arguments), (Some(Value::Bool(true)), out_parameters));
    let leases = scene.runtime.unloads().leases();
    assert!(
        leases.iter().any(|lease| lease.blocker.kind == LeaseKind::Library),
        "the package keeps the library: {leases:?}"
    );
    scene.runtime.unload_master().expect("a Master");
    assert!(scene.runtime.unloads().leases().is_empty());
}

#[test]
fn a_script_calls_c_through_an_object_of_such_a_class() {
    let scene = scene(&[("TestDLLPlayerController.uc", PAGE), ("Tour.uc", TOUR)], true);
    let (player, tour) = (spawn(&scene, "/Script/Demo.TestDLLPlayerController"), spawn(&scene, "/Script/Demo.Tour"));
    scene.runtime.objects().set(tour, "Player", &Value::Object(player)).expect("a player");
    let call = |function: &str, arguments: &[Value]| {
        let called = scene.runtime.objects().call(tour, function, arguments);
        called.unwrap_or_else(|error| panic!("{function}: {error}"))
    };
    assert_eq!(call("Turned", &[text("drawrof")]), Some(text("forward")));
    assert_eq!(call("Sum", &[]), Some(Value::F64(-0.25)));
    assert_eq!(call("All", &[text("ok")]), Some(text("True 400 700 -800 50")));
}

#[test]
fn without_the_library_the_class_is_there_and_its_functions_do_nothing() {
    let scene = scene(&[("TestDLLPlayerController.uc", PAGE)], false);
    let player = spawn(&scene, "/Script/Demo.TestDLLPlayerController");
    let called = scene.runtime.objects().call_with_out_parameters(player, "CallDLL1", &[text("drawrof")]);
    assert_eq!(called.expect("it does nothing"), (None, vec![text("drawrof")]));
}

#[test]
fn check_accepts_the_class_of_the_page_and_refuses_a_class_that_extends_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let package = dir.path().join("Demo");
    fs::create_dir(&package).expect("made");
    let check = || {
        let builder = Runtime::builder().natives(alcedo_engine::natives());
        builder.check_scripts(&[&package]).expect("natives").remove(0).declared
    };
    fs::write(package.join("TestDLLPlayerController.uc"), PAGE).expect("written");
    check().unwrap_or_else(|error| panic!("{error}"));
    fs::write(package.join("Heir.uc"), "class Heir extends TestDLLPlayerController;\n").expect("written");
    let error = check().expect_err("it is final");
    assert!(error.contains("Heir") && error.contains("TestDLLPlayerController"), "{error}");
}

#[test]
fn a_bound_package_unmaps_immediately_in_a_reload_and_an_unload() {
    let scene = scene(&[("TestDLLPlayerController.uc", PAGE)], true);
    let _player = spawn(&scene, "/Script/Demo.TestDLLPlayerController");
    let file = scene._dir.path().join("Demo/TestDLLPlayerController.uc");
    for at in 0..2 {
        fs::write(&file, format!("{PAGE}// {at}\n")).expect("written");
        let report = scene.runtime.reload(&[] as &[&Path]).expect("a Master");
        let report = report.into_result().unwrap_or_else(|report| panic!("{report}"));
        assert!(report.blocked.is_none(), "{report}");
    }
    let unload = scene.runtime.unload_master().expect("a Master");
    let end = unload.ticket.end_report().unwrap_or_else(|| panic!("{unload}"));
    assert!(unload.parked.is_empty(), "{end}");
}

/// C++ source of the documentation page, without comments. The Windows headers are replaced by `page.h`.
const PAGE_CODE: &str = r#"extern "C"
{
   struct FVector
   {
      float x,y,z;
   };

   __declspec(dllexport) void CallDLL1(wchar_t* s)
   {
      MessageBox(0, s, L"Inside the DLL: CallDLL1", MB_OK);
      int len = wcslen(s);
      for(int i=0; i<len>>1;i++)
      {
         wchar_t temp = s[i];
         s[i] = s[len-i-1];
         s[len-i-1] = temp;
      }
   }

   __declspec(dllexport) FVector* CallDLL2(float x, float y, float z)
   {
      static FVector result;
      result.x = x;
      result.y = y;
      result.z = z;
      return &result;
   }

   __declspec(dllexport) bool CallDLL3(wchar_t* s, int i[2], float* f, FVector* V)
   {
      wchar_t temp[1024];
      swprintf_s(temp, 1024, L"string: %s, i: {%d,%d}, float: %f, V was (%f,%f,%f)", s, i[0], i[1], *f, V->x, V->y, V->z);
      V->x = (float)i[0];
      V->y = (float)i[1];
      V->z = (*f);
      return (MessageBox(0, temp, L"Inside the DLL: CallDLL3", MB_OKCANCEL) == IDOK);
   }
}
"#;

#[test]
fn the_cpp_of_the_page_runs_unchanged_with_the_engine_vector() {
    let class = format!("{PAGE}dllimport final function string LastMessage();\n");
    let scene = scene_with(&[("TestDLLPlayerController.uc", &class)], |code| {
        let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/page.h");
        let header = header.to_str().expect("a path of text");
        compile_cpp(code, "TestDLL", PAGE_CODE, &["-fshort-wchar", "-include", header]);
    });
    let player = spawn(&scene, "/Script/Demo.TestDLLPlayerController");
    let call = |function: &str, arguments: &[Value]| {
        let called = scene.runtime.objects().call_with_out_parameters(player, function, arguments);
        called.unwrap_or_else(|error| panic!("{function}: {error}"))
    };
    let message = || call("LastMessage", &[]).0;
    assert_eq!(call("CallDLL1", &[text("drawrof")]), (None, vec![text("forward")]));
    assert_eq!(message(), Some(text("drawrof")));
    let numbers = [Value::F32(1.5), Value::F32(-2.0), Value::F32(0.25)];
    assert_eq!(call("CallDLL2", &numbers), (Some(vector(1.5, -2.0, 0.25)), vec![]));
    let arguments = [text("ok"), ints(&[7, -8]), Value::F32(0.5), vector(4.0, 5.0, 6.0)];
    let out_parameters = vec![Value::F32(0.5), vector(7.0, -8.0, 0.5)];
    assert_eq!(call("CallDLL3", &arguments), (Some(Value::Bool(true)), out_parameters));
    let formatted = "string: ok, i: {7,-8}, float: 0.500000, V was (4.000000,5.000000,6.000000)";
    assert_eq!(message(), Some(text(formatted)));
    let cancel = [text("cancel"), ints(&[0, 0]), Value::F32(0.0), vector(0.0, 0.0, 0.0)];
    assert_eq!(call("CallDLL3", &cancel).0, Some(Value::Bool(false)));
    let huge = [text("ok"), ints(&[0, 0]), Value::F32(0.0), vector(1e300, 0.0, 0.0)];
    let error = scene.runtime.objects().call_with_out_parameters(player, "CallDLL3", &huge).expect_err("no float");
    assert!(error.to_string().contains("`v.x` is 1000"), "{error}");
}

#[test]
fn bool_results_have_the_stated_width_or_refuse_ambiguous_values() {
    let class = "class Bools extends Actor DLLBind(Bools);\n\
        dllimport bool8 final function bool One(int word);\n\
        dllimport bool32 final function bool Four(int word);\n\
        dllimport final function bool Open(int word);\n";
    let code = "int32_t One(int32_t word) { return word; }\n\
        int32_t Four(int32_t word) { return word; }\n\
        int32_t Open(int32_t word) { return word; }\n";
    let scene = scene_with(&[("Bools.uc", class)], |folder| compile(folder, "Bools", code));
    let bools = spawn(&scene, "/Script/Demo.Bools");
    let call = |function: &str, word| scene.runtime.objects().call(bools, function, &[Value::I32(word)]);
    for (word, one, four, open) in [
        (0, false, true, Some(false)),
        (1, true, true, Some(true)),
        (0x7f00, false, true, None),
        (0x7f01, true, true, Some(true)),
        (-1, true, true, Some(true)),
    ] {
        let four = four && word != 0;
        assert_eq!(call("One", word).expect("a call"), Some(Value::Bool(one)), "{word:#x}");
        assert_eq!(call("Four", word).expect("a call"), Some(Value::Bool(four)), "{word:#x}");
        match open {
            Some(open) => assert_eq!(call("Open", word).expect("a call"), Some(Value::Bool(open)), "{word:#x}"),
            None => {
                let error = call("Open", word).expect_err("one byte and four differ").to_string();
                assert!(error.contains("0x00007f00") && error.contains("`bool8` or `bool32`"), "{error}");
            }
        }
    }
}

#[test]
fn imports_with_no_cwd_keep_the_working_directory_of_the_process() {
    let class = "class Here extends Actor DLLBind(Here);\n\
        dllimport final function int Inside();\n\
        dllimport no_cwd final function int Outside();\n";
    let code = "#include <unistd.h>\n\
        int32_t Inside(void) { return access(\"libHere.so\", F_OK) == 0; }\n\
        int32_t Outside(void) { return Inside(); }\n";
    let scene = scene_with(&[("Here.uc", class)], |folder| compile(folder, "Here", code));
    let here = spawn(&scene, "/Script/Demo.Here");
    for (function, is_inside) in [("Inside", 1), ("Outside", 0), ("Inside", 1)] {
        let found = scene.runtime.objects().call(here, function, &[]).expect("a call");
        assert_eq!(found, Some(Value::I32(is_inside)), "{function}");
    }
}

#[test]
fn fixed_arrays_of_script_structs_are_inline_in_c() {
    let class = "class Board extends Actor DLLBind(Board);\n\
        struct Row { var int Cells[3]; var byte Level; };\n\
        dllimport final function int Sum(Row r);\n\
        dllimport final function Turn(out Row r);\n";
    let code = "typedef struct { int32_t cells[3]; uint8_t level; } row;\n\
        int32_t Sum(row* r) { return r->cells[0] + 10 * r->cells[1] + 100 * r->cells[2] + 1000 * r->level; }\n\
        void Turn(row* r) { int32_t t = r->cells[0]; r->cells[0] = r->cells[2]; r->cells[2] = t; r->level++; }\n";
    let scene = scene_with(&[("Board.uc", class)], |folder| compile(folder, "Board", code));
    let board = spawn(&scene, "/Script/Demo.Board");
    let row = |cells: &[i32], level| structure([("Cells", ints(cells)), ("Level", Value::U8(level))]);
    let call = |function: &str| {
        let called = scene.runtime.objects().call_with_out_parameters(board, function, &[row(&[1, 2, 3], 4)]);
        called.unwrap_or_else(|error| panic!("{function}: {error}"))
    };
    assert_eq!(call("Sum"), (Some(Value::I32(4_321)), vec![]));
    assert_eq!(call("Turn"), (None, vec![row(&[3, 2, 1], 5)]));
}

/// Imports that cannot be bound to C functions. Each has the line and the reason that the host and `alcedo check` report.
const UNREADABLE: &str = "class Wrong extends Actor DLLBind(Wrong);\n\
    dllimport final function Turn(rotator r);\n\
    dllimport final function Names(name n);\n\
    dllimport final function Flag(bool b);\n\
    dllimport final function int port(name p);\n";

#[test]
fn check_and_load_refuse_the_same_imports_with_file_and_line() {
    let reasons = [
        ("Demo/Wrong.uc:2:26", "the C layout of /Script/Engine.Rotator is not stated"),
        ("Demo/Wrong.uc:3:26", "n is Name, which C cannot read"),
        ("Demo/Wrong.uc:4:26", "b is bool, which C cannot read"),
        ("Demo/Wrong.uc:5:30", "p is Name, which C cannot read"),
    ];
    let dir = tempfile::tempdir().expect("a folder");
    let package = dir.path().join("Demo");
    fs::create_dir(&package).expect("made");
    fs::write(package.join("Wrong.uc"), UNREADABLE).expect("written");
    let checked = Runtime::builder().natives(alcedo_engine::natives()).check_scripts(&[&package]).expect("natives");
    let checked = checked[0].declared.as_ref().expect_err("C cannot read it").clone();
    let runtime = Runtime::builder().natives(alcedo_engine::natives()).canary(Canary::Off).scripts(&[&package]);
    let runtime = runtime.build().expect("a host");
    let loaded = runtime.create_master(&[] as &[&Path]).expect_err("C cannot read it").to_string();
    for (location, reason) in reasons {
        assert!(checked.contains(location) && checked.contains(reason), "{location} {reason}: {checked}");
        assert!(loaded.contains(location) && loaded.contains(reason), "{location} {reason}: {loaded}");
    }
}
