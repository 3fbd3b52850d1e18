//! Tests host classes with functions that a C library implements.

use std::fs;

use alcedo_reflect::value::Value;
use alcedo_runtime::dll_bind::{DllClass, DllImport, Library, UserCode};
use alcedo_runtime::kinds::PropertyKind;
use alcedo_runtime::native::{NativeClass, NativeStruct, NativeType, Natives};
use alcedo_runtime::{Error, Runtime};

use crate::support::{Fixture, compile, ints, structure, text};

const F32: NativeType = (PropertyKind::F32, "");
const I32: NativeType = (PropertyKind::I32, "");
const TEXT: NativeType = (PropertyKind::STRING, "");
const VECTOR: NativeType = (PropertyKind::STRUCT, "/Script/Game.Vector");

const SOURCE: &str = "
typedef struct { float x, y, z; } vector;
void CallDLL1(unit* s) {
    int len = 0;
    while (s[len]) len++;
    for (int i = 0; i < len >> 1; i++) { unit temp = s[i]; s[i] = s[len - i - 1]; s[len - i - 1] = temp; }
}
vector* CallDLL2(float x, float y, float z) { static vector v; v.x = x; v.y = y; v.z = z; return &v; }
uint32_t CallDLL3(unit* s, int32_t i[2], float* f, vector* v) {
    float old = v->x;
    v->x = i[0]; v->y = i[1]; v->z = *f;
    *f = old;
    return s[0] == 'o';
}
int32_t add(int32_t a, int32_t b) { return a + b; }
void overrun(int32_t* x) { x[1] = 1; }
";

fn class(library: &Library) -> DllClass {
    NativeClass::new("Game", "TestDLL", "/Script/Core.Object")
        .property("count", I32, 0, "7")
        .dll_bind(library)
        .import(DllImport::new("CallDLL1").out("s", TEXT))
        .import(DllImport::new("CallDLL2").param("x", F32).param("y", F32).param("z", F32).returns(VECTOR))
        .import(
            DllImport::new("CallDLL3")
                .param("s", TEXT)
                .array("i", "i32", 2)
                .out("f", F32)
                .out("v", VECTOR)
                .returns((PropertyKind::BOOL, "")),
        )
        .import(DllImport::new("add").param("a", I32).param("b", I32).returns(I32).no_cwd())
        .import(DllImport::new("overrun").out("x", I32))
        .import(DllImport::new("missing").param("a", I32).returns(TEXT))
}

fn natives(class: DllClass) -> Natives {
    let vector = NativeStruct::new("Game", "Vector").field("x", F32).field("y", F32).field("z", F32);
    Natives::in_package("Game").structure(vector).dll_class(class)
}

fn vector(x: f32, y: f32, z: f32) -> Value {
    structure([("x", Value::F32(x)), ("y", Value::F32(y)), ("z", Value::F32(z))])
}

#[test]
fn functions_of_a_library_are_functions_of_a_class() {
    let fixture = Fixture::new(SOURCE);
    let library = fixture.code.open("Test");
    let runtime = Runtime::builder().natives(natives(class(&library))).build().expect("a runtime");
    let object = runtime.objects().spawn("/Script/Game.TestDLL").expect("an object");
    let call = |name: &str, arguments: &[Value]| runtime.objects().call_with_out_parameters(object, name, arguments);
    assert_eq!(call("CallDLL1", &[text("drawrof")]).expect("a call"), (None, vec![text("forward")]));
    let floats = [1.5, -2.0, 0.25].map(Value::F32);
    assert_eq!(call("CallDLL2", &floats).expect("a call"), (Some(vector(1.5, -2.0, 0.25)), vec![]));
    let arguments = [text("ok"), ints(&[7, -8]), Value::F32(0.5), vector(1.0, 2.0, 3.0)];
    let out_parameters = vec![Value::F32(1.0), vector(7.0, -8.0, 0.5)];
    assert_eq!(call("CallDLL3", &arguments).expect("a call"), (Some(Value::Bool(true)), out_parameters));
    assert_eq!(call("missing", &[Value::I32(1)]).expect("a call"), (Some(text("")), vec![]));
    let message = call("overrun", &[Value::I32(1)]).expect_err("an overrun").to_string();
    assert!(message.contains("`overrun`") && message.contains("`x`") && message.contains("past its end"), "{message}");
    let message = call("CallDLL3", &[text("ok"), ints(&[7]), Value::F32(0.5), vector(1.0, 2.0, 3.0)]);
    assert!(message.expect_err("a short array").to_string().contains("`i`"));
    // Calls the function by its name, as a plugin does.
    let by_name =
        runtime.calls().call("uf:/Script/Game.TestDLL:add", &[Value::Object(object), Value::I32(40), Value::I32(2)]);
    assert_eq!(by_name.expect("a call"), Some(Value::I32(42)));
    assert_eq!(runtime.objects().get(object, "count").expect("a property"), Value::I32(7));
}

#[test]
fn a_class_that_is_bound_is_final() {
    let fixture = Fixture::new(SOURCE);
    let natives = natives(class(&fixture.code.open("Test")));
    let derived = NativeClass::new("Game", "Derived", "/Script/Game.TestDLL");
    let refused = Runtime::builder().natives(natives.class(derived)).build();
    assert!(refused.is_err_and(|error| error.to_string().contains("/Script/Game.TestDLL, which is final")));
}

#[test]
fn the_builder_refuses_types_that_c_cannot_read() {
    let fixture = Fixture::new(SOURCE);
    for (import, expected) in [
        (DllImport::new("f").param("p", (PropertyKind::BOOL, "")), "p is bool, which C cannot read"),
        (DllImport::new("f").param("p", (PropertyKind::OBJECT, "/Script/Core.Object")), "which C cannot read"),
        (DllImport::new("f").returns((PropertyKind::ARRAY, "i32")), "the result is Array(i32)"),
        (DllImport::new("f").param("p", (PropertyKind::ARRAY, "i32")), "give it a fixed length"),
    ] {
        // The library does not exist, but the host rejects the import nevertheless.
        let class = NativeClass::new("Game", "C", "/Script/Core.Object").dll_bind(&fixture.code.open("None"));
        let refused = Runtime::builder().natives(natives(class.import(import))).build();
        let message = refused.err().map(|error| (matches!(error, Error::Bind(_)), error.to_string()));
        assert!(
            message.as_ref().is_some_and(|(is_bind, message)| *is_bind && message.contains(expected)),
            "{message:?}"
        );
    }
}

#[test]
fn the_library_closes_with_its_class_and_new_hosts_load_rebuilds() {
    let fixture = Fixture::new("");
    let log = fixture.folder.path().join("log");
    let source = |number: i32| {
        format!(
            "#include <stdio.h>\nint32_t version(void) {{ return {number}; }}\n\
             __attribute__((destructor)) static void end(void) {{\n\
                 FILE* f = fopen({log:?}, \"a\"); if (f) {{ fprintf(f, \"{number} \"); fclose(f); }}\n\
             }}\n"
        )
    };
    // SAFETY: the functions match the source above.
    let code = unsafe { UserCode::at(fixture.folder.path()) };
    for number in [1, 2] {
        compile(fixture.folder.path(), "Test", &source(number));
        let class = NativeClass::new("Game", "C", "/Script/Core.Object").dll_bind(&code.open("Test"));
        let class = class.import(DllImport::new("version").returns(I32));
        let runtime = Runtime::builder().natives(natives(class)).build().expect("a runtime");
        let object = runtime.objects().spawn("/Script/Game.C").expect("an object");
        assert_eq!(runtime.objects().call(object, "version", &[]).expect("a call"), Some(Value::I32(number)));
        let ended = || fs::read_to_string(&log).unwrap_or_default();
        assert!(!ended().contains(&number.to_string()));
        drop(runtime);
        assert!(ended().contains(&number.to_string()), "{}", ended());
    }
}

#[test]
fn functions_of_any_number_of_plain_parameters_are_called() {
    for count in [32, 33, 40] {
        let names = || (0..count).map(|at| format!("a{at}"));
        let params: Vec<_> = names().map(|name| format!("int32_t {name}")).collect();
        let terms: Vec<_> = names().zip(1..).map(|(name, factor)| format!("{factor} * {name}")).collect();
        let source = format!("int32_t sum({}) {{ return {}; }}", params.join(", "), terms.join(" + "));
        let fixture = Fixture::new(&source);
        let import = names().fold(DllImport::new("sum").returns(I32), |import, name| import.param(&name, I32));
        let class = NativeClass::new("Game", "Test", "/Script/Core.Object").dll_bind(&fixture.code.open("Test"));
        let natives = Natives::in_package("Game").dll_class(class.import(import));
        let runtime = Runtime::builder().natives(natives).build().unwrap_or_else(|error| panic!("{error}"));
        let object = runtime.objects().spawn("/Script/Game.Test").expect("an object");
        let numbers: Vec<_> = (0..count).map(Value::I32).collect();
        let sum: i32 = (0..count).map(|at| at * (at + 1)).sum();
        assert_eq!(runtime.objects().call(object, "sum", &numbers).expect("a call"), Some(Value::I32(sum)), "{count}");
    }
}
