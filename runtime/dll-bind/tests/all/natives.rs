//! Tests classes that a host declares as Rust types, with functions that a C library implements.

use alcedo_reflect::value::Value;
use alcedo_runtime::dll_bind::UserCode;
use alcedo_runtime::native::{This, uclass};
use alcedo_runtime::{Error, Runtime, natives};

use crate::support::{Fixture, text};

const SOURCE: &str = "
typedef struct { float x, y, z; } vector;
void turn(unit* s) { for (; *s; s++) *s ^= 32; }
uint8_t mix(unit* s, int32_t i, float* f, vector* v) { v->x = i; v->y = *f; *f = s[0]; return i > 0; }
vector* made(float x) { static vector v; v.x = x; return &v; }
void overrun(int64_t* x) { x[1] = 1; }
int32_t add(int32_t a, int32_t b) { return a + b; }
";

alcedo_runtime::plain_struct! {
    /// Three numbers.
    pub struct Vector in "/Script/Game.Vector" { x: f32, y: f32, z: f32 }
}

#[uclass(package = "Game", dll_bind = "Test")]
#[derive(Default)]
struct Bound {
    calls: u32,
}

#[uclass]
impl Bound {
    #[dll_import]
    fn turn(&self, s: &mut String);

    #[dll_import(name = "mix", bool8)]
    fn mixed(&self, s: String, i: i32, f: &mut f32, v: &mut Vector) -> bool;

    #[dll_import]
    fn made(&self, x: f32) -> Vector;

    #[dll_import]
    fn overrun(&self, x: &mut i64);

    #[dll_import(no_cwd)]
    fn add(&self, a: i32, b: i32) -> i32;

    /// Calls all functions of the library once.
    #[ufunction]
    fn tour(&mut self, this: This<Self>) -> String {
        self.calls += 1;
        let mut s = "aBc".to_owned();
        this.turn(&mut s);
        let (mut f, mut v) = (0.5, this.made(9.0));
        let is_more = this.mixed("A".to_owned(), 3, &mut f, &mut v);
        let mut x = 7;
        let wrong = this.try_overrun(&mut x).expect_err("an overrun").to_string();
        assert!(wrong.contains("`overrun` of `Test`: parameter `x` was written to 8 bytes past its end"), "{wrong}");
        format!("{s} {is_more} {f} {v:?} {x} {}", this.add(40, 2))
    }
}

fn runtime(code: Option<&UserCode>) -> Result<Runtime, Error> {
    let builder =
        Runtime::builder().natives(natives![Bound].structure(alcedo_runtime::native::NativeStruct::plain::<Vector>()));
    code.iter().fold(builder, |builder, code| builder.user_code(code)).build()
}

#[test]
fn a_class_of_the_host_is_bound_by_attribute() {
    let fixture = Fixture::new(SOURCE);
    for code in [fixture.code.clone(), fixture.code.by_libffi(), fixture.code.clone()] {
        let runtime = runtime(Some(&code)).unwrap_or_else(|error| panic!("{error}"));
        let object = runtime.objects().spawn("/Script/Game.Bound").expect("an object");
        let tour = runtime.objects().call(object, "tour", &[]).expect("a call");
        assert_eq!(tour, Some(text("AbC true 65 Vector { x: 3.0, y: 0.5, z: 0.0 } 7 42")));
        let turned = runtime.objects().call_with_out_parameters(object, "turn", &[text("xY")]).expect("a call");
        assert_eq!(turned, (None, vec![text("Xy")]));
        let by_name = [Value::Object(object), Value::I32(1), Value::I32(2)];
        assert_eq!(runtime.calls().call("uf:/Script/Game.Bound:add", &by_name).expect("a call"), Some(Value::I32(3)));
    }
}

#[test]
fn without_a_folder_its_functions_do_nothing() {
    let runtime = runtime(None).unwrap_or_else(|error| panic!("{error}"));
    let object = runtime.objects().spawn("/Script/Game.Bound").expect("an object");
    let turned = runtime.objects().call_with_out_parameters(object, "turn", &[text("xY")]).expect("a call");
    assert_eq!(turned, (None, vec![text("xY")]));
}
