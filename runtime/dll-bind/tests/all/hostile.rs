//! Tests a library in which each function violates its declaration in a different way. The host detects each violation and continues.

use alcedo_dll_bind::{Import, RED_ZONE};
use alcedo_reflect::property::PropertyType;
use alcedo_reflect::value::Value;

use crate::support::{Fixture, ints, plain, structure, text, ty};

const SOURCE: &str = "
typedef struct { text name; struct { int32_t* data; int32_t num, max; } row; } player;
static unit elsewhere[64];
void behind_text(unit* s) { while (*s) s++; s[0] = 'x'; s[1] = 0; }
void before_text(unit* s) { s[-1] = 1; }
void behind_row(int32_t* x, int32_t n) { memset(x + 3, 0, n); }
void before_row(int32_t* x, int32_t n) { memset((char*)x - n, 0, n); }
void behind_number(int64_t* x) { x[1] = 0; }
void behind_struct(player* p) { p[1].name.num = 0; }
void behind_inner(player* p) { p->row.data[p->row.num] = 0; }
void behind_name(player* p) { p->name.data[p->name.max] = 0; }
void moved_name(player* p) { p->name.data = elsewhere; }
void moved_row(player* p) { p->row.data = 0; }
void moved_empty(player* p) { p->name.data = elsewhere; p->name.num = 1; }
void max_name(player* p) { p->name.max = 100; }
void max_row(player* p) { p->row.max = 0; }
void num_name(player* p) { p->name.num = p->name.max + 1; }
void num_row(player* p) { p->row.num = p->row.max + 1; }
void num_below(player* p) { p->row.num = -1; }
void num_huge(player* p) { p->row.num = 0x7fffffff; }
void open_name(player* p) { p->name.data[p->name.num - 1] = 'x'; }
void half_name(player* p) { p->name.data[0] = 0xd800; }
void open_text(unit* s) { while (*s) *s++ = 'y'; *s = 'y'; }
void half_text(unit* s) { s[0] = 0xdc00; }
unit* null_text(void) { return 0; }
player* null_struct(void) { return 0; }
unit* half_result(void) { static unit s[] = { 'a', 0xd800, 0 }; return s; }
unit* wild_text(void) { return (unit*)16; }
unit* kernel_text(void) { return (unit*)0xffffffffff600000ull; }
typedef struct { int32_t x, y; } point;
point* wild_struct(void) { return (point*)8; }
unit* endless(void) { static unit s[(1 << 20) + 8]; for (int i = 0; i < (1 << 20) + 8; i++) s[i] = 'e'; return s; }
int32_t fine(int32_t x) { return x + 1; }
";

fn player() -> PropertyType {
    ty(&[("Player", &[("name", "String"), ("row", "Array(i32)")])], "/Script/Test.Player")
}

fn anna() -> Value {
    structure([("name", text("Anna")), ("row", ints(&[1, 2, 3]))])
}

#[test]
fn each_guard_names_the_function_and_the_parameter() {
    let fixture = Fixture::new(SOURCE);
    let check = |import: Import, arguments: &[Value], location: &str, expected: &str| {
        let message = fixture.broken(&import, arguments);
        assert!(
            message.contains("`Test`") && message.contains(location) && message.contains(expected),
            "{message}\n{location} {expected}"
        );
        // Calls of other functions still work after the violation.
        let fine = Import::new("fine").param("x", plain("i32")).returns(plain("i32"));
        assert_eq!(fixture.call(&fine, &[Value::I32(41)]).0, Some(Value::I32(42)));
    };
    let of_text = |name: &str| Import::new(name).out("s", plain("String"));
    check(of_text("behind_text"), &[text("abc")], "`s`", "bytes past its end: it is 8 bytes");
    check(of_text("before_text"), &[text("abc")], "`s`", "2 bytes before its start");
    // Parameters that are not out parameters are checked as well.
    check(Import::new("before_text").param("s", plain("String")), &[text("")], "`s`", "before its start");
    check(of_text("open_text"), &[text("abc")], "`s`", "without a terminating zero, within 4 units");
    check(of_text("half_text"), &[text("abc")], "`s`", "unit 0 is an unpaired surrogate, 0xdc00");
    let array = |name: &str| Import::new(name).out_array("x", plain("Array(i32)"), 3).param("n", plain("i32"));
    for bytes in [1, 2, 4, 63, RED_ZONE as i32] {
        let arguments = [ints(&[1, 2, 3]), Value::I32(bytes)];
        check(array("behind_row"), &arguments, "`x`", &format!("{bytes} bytes past its end: it is 12 bytes"));
        check(array("before_row"), &arguments, "`x`", &format!("{bytes} bytes before its start: it is 12 bytes"));
    }
    let number = Import::new("behind_number").out("x", plain("i64"));
    check(number, &[Value::I64(1)], "`x`", "8 bytes past its end: it is 8 bytes");
    for (name, location, expected) in [
        ("behind_struct", "`p`", "past its end: it is 32 bytes"),
        ("behind_inner", "`p.row`", "4 bytes past its end: it is 12 bytes"),
        ("behind_name", "`p.name`", "2 bytes past its end: it is 10 bytes"),
        ("moved_name", "`p.name`", "another `data` pointer"),
        ("moved_row", "`p.row`", "another `data` pointer"),
        ("max_name", "`p.name`", "`max` 100 instead of 5"),
        ("max_row", "`p.row`", "`max` 0 instead of 3"),
        ("num_name", "`p.name`", "`num` 6, over the capacity of 5"),
        ("num_row", "`p.row`", "`num` 4, over the capacity of 3"),
        ("num_below", "`p.row`", "`num` -1"),
        ("num_huge", "`p.row`", "`num` 2147483647"),
        ("open_name", "`p.name`", "without a terminating zero, within 5 units"),
        ("half_name", "`p.name`", "unit 0 is an unpaired surrogate, 0xd800"),
    ] {
        check(Import::new(name).out("p", player()), &[anna()], location, expected);
    }
    // Fields are passed by name, in any order.
    let swapped = structure([("row", ints(&[1, 2, 3])), ("name", text("Anna"))]);
    check(Import::new("behind_name").out("p", player()), &[swapped], "`p.name`", "it is 10 bytes");
    let empty = structure([("name", text("")), ("row", ints(&[]))]);
    check(Import::new("moved_empty").out("p", player()), &[empty], "`p.name`", "another `data` pointer");
    let point = || ty(&[("Point", &[("x", "i32"), ("y", "i32")])], "/Script/Test.Point");
    for (name, ty, expected) in [
        ("null_text", plain("String"), "is a null pointer"),
        ("null_struct", point(), "is a null pointer"),
        ("half_result", plain("String"), "unit 1 is an unpaired surrogate"),
        ("wild_text", plain("String"), "points to 0x10, which is not mapped"),
        ("kernel_text", plain("String"), "which is not mapped"),
        ("wild_struct", point(), "points to 0x8, which is not mapped"),
        ("endless", plain("String"), "without a terminating zero, within"),
    ] {
        check(Import::new(name).returns(ty), &[], "the result", expected);
    }
}

#[test]
fn arguments_that_differ_from_the_declaration_are_refused_before_the_call() {
    let fixture = Fixture::new(SOURCE);
    let of_text = || Import::new("open_text").out("s", plain("String"));
    let array = || Import::new("behind_row").out_array("x", plain("Array(i32)"), 3).param("n", plain("i32"));
    let of_player = || Import::new("moved_name").out("p", player());
    for (import, arguments, expected) in [
        (of_text(), vec![text("a\0b")], "contains a zero"),
        (of_text(), vec![Value::I32(1)], "is i32, and String is declared"),
        (of_text(), vec![], "has 0 values, and 1 are declared"),
        (of_text(), vec![text("a"), text("b")], "has 2 values, and 1 are declared"),
        (array(), vec![ints(&[1, 2]), Value::I32(0)], "has 2 values, and 3 are declared"),
        (array(), vec![ints(&[1, 2, 3, 4]), Value::I32(0)], "has 4 values, and 3 are declared"),
        (array(), vec![Value::Array(vec![Value::U8(1); 3]), Value::I32(0)], "is u8, and i32 is declared"),
        (array(), vec![text("x"), Value::I32(0)], "is String, and an array is declared"),
        (array(), vec![ints(&[1, 2, 3]), Value::F32(0.0)], "parameter `n` is f32, and i32 is declared"),
        (of_player(), vec![Value::I32(0)], "is i32, and a struct is declared"),
        (of_player(), vec![structure([("name", text("x"))])], "has 1 values, and 2 are declared"),
        (of_player(), vec![structure([("name", text("x")), ("row", text("x"))])], "parameter `p.row` is String"),
        (of_player(), vec![structure([("name", text("x")), ("rows", ints(&[]))])], "a struct with a field `row`"),
    ] {
        let message = fixture.broken(&import, &arguments);
        assert!(message.contains(expected), "{message}");
    }
}
