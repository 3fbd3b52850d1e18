//! Tests that typed calls with plain numbers return the same results as calls with [`Value`]s, and that wrong types are rejected.

use alcedo_dll_bind::Import;
use alcedo_reflect::value::Value;

use crate::support::{Fixture, plain};

const SOURCE: &str = "
static int32_t count;
double mix(int8_t a, uint16_t b, float c, int64_t d, double e, uint8_t f, uint64_t g, int32_t h) {
    return a + b + c + d + e + f + g + h;
}
int32_t add(int32_t a, int32_t b) { return a + b; }
int8_t minus(int8_t a) { return -a; }
float half(float a) { return a / 2; }
void tick(void) { count++; }
int32_t ticks(void) { return count; }
uint8_t is_even(int32_t a) { return a % 2 == 0; }
void out(int32_t* a) { *a = 1; }
";

#[test]
fn a_call_by_types_is_the_call_by_values() {
    let fixture = Fixture::new(SOURCE);
    let mix = ["i8", "u16", "f32", "i64", "f64", "u8", "u64", "i32"];
    let mix = mix.iter().fold(Import::new("mix"), |import, ty| import.param(ty, plain(ty))).returns(plain("f64"));
    let add = Import::new("add").param("a", plain("i32")).param("b", plain("i32")).returns(plain("i32"));
    for code in [fixture.code.clone(), fixture.code.by_libffi()] {
        let library = code.open("Test");
        for no_cwd in [true, false] {
            let bind = |import: Import| if no_cwd { import.no_cwd() } else { import }.bind(&library).expect("bound");
            let function = bind(mix.clone());
            let typed = function.typed::<(i8, u16, f32, i64, f64, u8, u64, i32), f64>().expect("its types");
            assert_eq!(typed.call((-1, 2, 0.5, -4, 0.25, 6, 7, -8)), Ok(2.75));
            let function = bind(add.clone());
            let typed = function.typed::<(i32, i32), i32>().expect("its types");
            assert_eq!((typed.call((40, 2)), typed.call((i32::MIN, 1))), (Ok(42), Ok(i32::MIN + 1)));
            let function = bind(Import::new("minus").param("a", plain("i8")).returns(plain("i8")));
            assert_eq!(function.typed::<(i8,), i8>().expect("its types").call((100,)), Ok(-100));
            let function = bind(Import::new("half").param("a", plain("f32")).returns(plain("f32")));
            assert_eq!(function.typed::<(f32,), f32>().expect("its types").call((-3.0,)), Ok(-1.5));
            let function = bind(Import::new("tick"));
            let before = bind(Import::new("ticks").returns(plain("i32")));
            let ticks = || before.typed::<(), i32>().expect("its types").call(()).expect("a call");
            let was = ticks();
            assert_eq!(function.typed::<(), ()>().expect("its types").call(()), Ok(()));
            assert_eq!(ticks(), was + 1);
            let function = bind(Import::new("is_even").param("a", plain("i32")).returns_bool8());
            assert_eq!(function.typed::<(i32,), u8>().expect("its types").call((4,)), Ok(1));
            let missing = bind(Import::new("missing").param("a", plain("i32")).returns(plain("f64")));
            assert_eq!(missing.typed::<(i32,), f64>().expect("its types").call((4,)), Ok(0.0));
        }
    }
}

#[test]
fn other_types_than_the_declared_ones_are_refused() {
    let fixture = Fixture::new(SOURCE);
    let library = fixture.code.open("Test");
    let add = Import::new("add").param("a", plain("i32")).param("b", plain("i32")).returns(plain("i32"));
    let add = add.bind(&library).expect("bound");
    let errors = [
        add.typed::<(i32, u32), i32>().expect_err("another parameter"),
        add.typed::<(i32,), i32>().expect_err("a parameter less"),
        add.typed::<(i32, i32, i32), i32>().expect_err("a parameter more"),
        add.typed::<(i32, i32), ()>().expect_err("no result"),
        add.typed::<(i32, i32), f32>().expect_err("another result"),
    ];
    for error in errors {
        assert!(error.to_string().contains("is declared as (i32, i32 -> i32), and called as ("), "{error}");
    }
    let out = Import::new("out").out("a", plain("i32")).bind(&library).expect("bound");
    assert!(out.typed::<(i32,), ()>().expect_err("a buffer").to_string().contains("declared as (buffers)"));
}

#[test]
fn calls_with_values_and_typed_calls_work_together() {
    let fixture = Fixture::new(SOURCE);
    let add = Import::new("add").param("a", plain("i32")).param("b", plain("i32")).returns(plain("i32")).no_cwd();
    let add = add.bind(&fixture.code.open("Test")).expect("bound");
    let typed = add.typed::<(i32, i32), i32>().expect("its types");
    assert_eq!(typed.call((1, 2)), Ok(3));
    assert_eq!(add.call(&[Value::I32(1), Value::I32(2)]).expect("a call").result, Some(Value::I32(3)));
}
