//! Tests every type of the type table in `runtime/docs/dll-bind.md` as a parameter and as a result, with the smallest and largest values of
//! the type.

use alcedo_abi::kinds::PropertyKind;
use alcedo_dll_bind::{Import, Layouts, Route};
use alcedo_reflect::World;
use alcedo_reflect::decl::{Batch, PropertyDecl, StructDecl};
use alcedo_reflect::origin::Origin;
use alcedo_reflect::property::PropertyType;
use alcedo_reflect::value::Value;

use crate::support::{Fixture, ints, plain, structure, text, ty};

/// Returns four C functions for a number type. The functions return the argument, write an out parameter, sum an array, and double an
/// array.
fn numbers(c: &str, name: &str) -> String {
    format!(
        "{c} id_{name}({c} x) {{ return x; }}\n\
         void out_{name}({c}* x, {c} y) {{ *x = y; }}\n\
         {c} first_{name}({c}* x) {{ return x[0] + x[1] + x[2]; }}\n\
         void twice_{name}({c}* x) {{ for (int i = 0; i < 3; i++) x[i] = x[i] * 2; }}\n"
    )
}

#[test]
fn numbers_pass_by_value_by_reference_and_in_arrays() {
    let kinds = [
        ("u8", "uint8_t"),
        ("i8", "int8_t"),
        ("u16", "uint16_t"),
        ("i16", "int16_t"),
        ("u32", "uint32_t"),
        ("i32", "int32_t"),
        ("u64", "uint64_t"),
        ("i64", "int64_t"),
        ("f32", "float"),
        ("f64", "double"),
    ];
    let source: String = kinds.iter().map(|(name, c)| numbers(c, name)).collect();
    let fixture = Fixture::new(&source);
    macro_rules! check {
        ($($name:literal $variant:ident $edges:expr;)*) => {$(
            let ty = || plain($name);
            let row = || plain(concat!("Array(", $name, ")"));
            for edge in $edges {
                let value = Value::$variant(edge);
                let id = Import::new(concat!("id_", $name)).param("x", ty()).returns(ty());
                assert_eq!(fixture.call(&id, std::slice::from_ref(&value)), (Some(value.clone()), vec![]));
                let out = Import::new(concat!("out_", $name)).out("x", ty()).param("y", ty());
                assert_eq!(fixture.call(&out, &[Value::zero(&ty()), value.clone()]), (None, vec![value]));
            }
            let of = |numbers: [u8; 3]| Value::Array(numbers.map(|number| Value::$variant(number as _)).to_vec());
            let sum = Import::new(concat!("first_", $name)).array("x", row(), 3).returns(ty());
            assert_eq!(fixture.call(&sum, &[of([1, 2, 3])]), (Some(Value::$variant(6 as _)), vec![]));
            let twice = Import::new(concat!("twice_", $name)).out_array("x", row(), 3);
            assert_eq!(fixture.call(&twice, &[of([1, 2, 60])]), (None, vec![of([2, 4, 120])]));
            // An array parameter without `out` is passed as a copy, so changes by C have no effect.
            let twice = Import::new(concat!("twice_", $name)).array("x", row(), 3);
            assert_eq!(fixture.call(&twice, &[of([1, 2, 60])]), (None, vec![]));
        )*};
    }
    check! {
        "u8" U8 [0, 1, 127, 128, u8::MAX];
        "i8" I8 [0, -1, i8::MIN, i8::MAX];
        "u16" U16 [0, 1, u16::MAX];
        "i16" I16 [0, -1, i16::MIN, i16::MAX];
        "u32" U32 [0, 1, u32::MAX];
        "i32" I32 [0, -1, i32::MIN, i32::MAX];
        "u64" U64 [0, 1, u64::MAX];
        "i64" I64 [0, -1, i64::MIN, i64::MAX];
        "f32" F32 [0.0, -0.0, 1.5, f32::MIN, f32::MAX, f32::INFINITY, f32::from_bits(0x7fc0_1234), f32::from_bits(1)];
        "f64" F64 [0.0, -0.0, 1.5, f64::MIN, f64::MAX, f64::NEG_INFINITY, f64::from_bits(0x7ff8_0000_0000_1234)];
    }
}

#[test]
fn a_bool_is_returned_as_four_bytes_or_as_one() {
    let fixture = Fixture::new(
        "uint32_t wide(uint32_t x) { return x; }\n\
         uint64_t dirty(uint32_t x) { return 0xffffff00u | (x & 0xff); }\n",
    );
    let wide = Import::new("wide").param("x", plain("u32")).returns_bool32();
    for (value, expected) in [(0, false), (1, true), (256, true), (u32::MAX, true)] {
        assert_eq!(fixture.call(&wide, &[Value::U32(value)]).0, Some(Value::Bool(expected)));
    }
    // A C++ `bool` occupies only one byte of the result register, and the remaining bytes are undefined.
    let byte = Import::new("dirty").param("x", plain("u32")).returns_bool8();
    for (value, expected) in [(0, false), (1, true)] {
        assert_eq!(fixture.call(&byte, &[Value::U32(value)]).0, Some(Value::Bool(expected)));
    }
}

#[test]
fn strings_pass_as_utf_16() {
    let fixture = Fixture::new(
        "int32_t len(unit* s) { int32_t n = 0; while (s[n]) n++; return n; }\n\
         void shorten(unit* s) { if (s[0]) s[len(s) / 2] = 0; }\n\
         void fill(unit* s) { for (; *s; s++) *s = 'x'; }\n\
         unit* same(unit* s) { return s; }\n\
         unit* given(int32_t which) {\n\
             static unit none[] = {0}, crab[] = {'a', 0xd83e, 0xdd80, 0};\n\
             return which ? crab : none;\n\
         }\n",
    );
    let one = |name: &str| Import::new(name).param("s", plain("String"));
    let long = "long ".repeat(5_000);
    for (string, units) in [("", 0), ("a", 1), ("äöü", 3), ("日本語", 3), ("a🦀b", 4), (long.as_str(), 25_000)]
    {
        assert_eq!(fixture.call(&one("len").returns(plain("i32")), &[text(string)]).0, Some(Value::I32(units)));
        assert_eq!(fixture.call(&one("same").returns(plain("String")), &[text(string)]).0, Some(text(string)));
    }
    let out = |name: &str| Import::new(name).out("s", plain("String"));
    assert_eq!(fixture.call(&out("shorten"), &[text("12345678")]).1, [text("1234")]);
    assert_eq!(fixture.call(&out("shorten"), &[text("")]).1, [text("")]);
    assert_eq!(fixture.call(&out("fill"), &[text("äöü🦀")]).1, [text("xxxxx")]);
    let given = Import::new("given").param("which", plain("i32")).returns(plain("String"));
    assert_eq!(fixture.call(&given, &[Value::I32(0)]).0, Some(text("")));
    assert_eq!(fixture.call(&given, &[Value::I32(1)]).0, Some(text("a🦀")));
}

#[test]
fn structs_are_packed_and_nested_with_arrays_in_them() {
    let fixture = Fixture::new(
        "typedef struct { uint8_t a; double b; uint8_t c; } inner;\n\
         typedef struct { uint8_t a; inner b; int16_t c[3]; int64_t d; inner e[2]; } outer;\n\
         int32_t size(outer* x) { return sizeof *x; }\n\
         double sum(outer* x) { return x->a + x->b.a + x->b.b + x->b.c + x->c[0] + x->c[1] + x->c[2] + x->d\n\
             + x->e[0].a + x->e[0].b + x->e[0].c + x->e[1].a + x->e[1].b + x->e[1].c; }\n\
         void swap(outer* x) { inner t = x->e[0]; x->e[0] = x->e[1]; x->e[1] = t; x->d = -x->d; x->c[1] = 7; }\n\
         inner* make(double b) { static inner x; x.a = 1; x.b = b; x.c = 255; return &x; }\n",
    );
    let inner: &[_] = &[("a", "u8"), ("b", "f64"), ("c", "u8")];
    let outer: &[_] = &[
        ("a", "u8"),
        ("b", "/Script/Test.Inner"),
        ("c", "Array(i16)"),
        ("d", "i64"),
        ("e", "Array(/Script/Test.Inner)"),
    ];
    let ty = |type_name: &str| ty(&[("Inner", inner), ("Outer", outer)], type_name);
    let extents = || Layouts::default().fixed("/Script/Test.Outer", "c", 3).fixed("/Script/Test.Outer", "e", 2);
    let library = fixture.code.open_with("Test", extents());
    let of_inner = |a, b, c| structure([("a", Value::U8(a)), ("b", Value::F64(b)), ("c", Value::U8(c))]);
    let of_outer = |c: [i16; 3], d, e: [Value; 2]| {
        let c = Value::Array(c.map(Value::I16).to_vec());
        let b = of_inner(2, 0.5, 3);
        structure([("a", Value::U8(1)), ("b", b), ("c", c), ("d", Value::I64(d)), ("e", Value::Array(e.to_vec()))])
    };
    let value = of_outer([4, -5, 6], 7, [of_inner(8, 9.25, 10), of_inner(11, 12.0, 13)]);
    let call =
        |import: Import| import.bind(&library).expect("bound").call(std::slice::from_ref(&value)).expect("a call");
    let one = |name: &str| Import::new(name).param("x", ty("/Script/Test.Outer"));
    assert_eq!(call(one("size").returns(plain("i32"))).result, Some(Value::I32(68)));
    assert_eq!(call(one("sum").returns(plain("f64"))).result, Some(Value::F64(81.75)));
    let swapped = of_outer([4, 7, 6], -7, [of_inner(11, 12.0, 13), of_inner(8, 9.25, 10)]);
    assert_eq!(call(Import::new("swap").out("x", ty("/Script/Test.Outer"))).out_parameters, [swapped]);
    let make = Import::new("make").param("b", plain("f64")).returns(ty("/Script/Test.Inner"));
    assert_eq!(fixture.call(&make, &[Value::F64(2.5)]).0, Some(of_inner(1, 2.5, 255)));
}

#[test]
fn a_library_overrides_the_width_of_floats_that_its_folder_states() {
    let fixture = Fixture::new(
        "typedef struct { float x, y; } narrow;\n\
         typedef struct { double x, y; } wide;\n\
         double of_narrow(narrow* p) { return p->x * 10 + p->y; }\n\
         double of_wide(wide* p) { return p->x * 10 + p->y; }\n",
    );
    let ty = || ty(&[("Point", &[("x", "f64"), ("y", "f64")])], "/Script/Test.Point");
    let point = structure([("x", Value::F64(1.5)), ("y", Value::F64(2.5))]);
    let floats = fixture.code.layouts(Layouts::default().floats("/Script/Test.Point"));
    let doubles = Layouts::default().doubles("/Script/Test.Point");
    for (name, library) in [
        ("of_narrow", floats.open("Test")),
        ("of_wide", floats.open_with("Test", doubles)),
        ("of_wide", fixture.code.open("Test")),
    ] {
        let import = Import::new(name).param("p", ty()).returns(plain("f64"));
        let called = import.bind(&library).expect("bound").call(std::slice::from_ref(&point)).expect("a call");
        assert_eq!(called.result, Some(Value::F64(17.5)), "{name}");
    }
}

#[test]
fn inherited_fields_and_nested_arrays_have_the_stated_width() {
    let fixture = Fixture::new(
        "typedef struct { float* data; int32_t num, max; } row;\n\
         typedef struct { float x; struct { row* data; int32_t num, max; } rows; double w; } disc;\n\
         double sum(disc* d) { return d->x + 10 * d->rows.data[0].data[1] + 100 * d->w; }\n",
    );
    let world = World::new();
    world.types.declare_package("Test");
    let field = |name: &str| PropertyDecl::new(name, PropertyKind::F64);
    let rows = PropertyDecl::new("rows", PropertyKind::ARRAY).of_type("Array(f64)");
    let point = StructDecl { fields: vec![field("x"), rows], ..StructDecl::new("Test", "Point", Origin::Native) };
    let disc = StructDecl {
        base: "/Script/Test.Point".to_owned(),
        fields: vec![field("w")],
        ..StructDecl::new("Test", "Disc", Origin::Native)
    };
    let batch = Batch { structs: vec![point, disc], ..Batch::default() };
    world.types.declare(&world.names, &batch).expect("a right declaration");
    let ty = PropertyType::Struct(world.types.struct_by_path("/Script/Test.Disc").expect("declared"));
    let row = Value::Array(vec![Value::F64(1.5), Value::F64(2.5)]);
    let value = structure([("x", Value::F64(0.5)), ("rows", Value::Array(vec![row])), ("w", Value::F64(3.5))]);
    let floats = fixture.code.layouts(Layouts::default().floats("/Script/Test.Point"));
    let sum = Import::new("sum").param("d", ty).returns(plain("f64")).bind(&floats.open("Test")).expect("bound");
    assert_eq!(sum.call(&[value]).expect("a call").result, Some(Value::F64(375.5)));
}

#[test]
fn strings_and_arrays_in_structs_have_length_and_capacity() {
    let fixture = Fixture::new(
        "typedef struct { text name; struct { int32_t* data; int32_t num, max; } row;\n\
             struct { text* data; int32_t num, max; } names; uint8_t level; } player;\n\
         int32_t look(player* p) { return p->name.num * 1000 + p->row.num * 100 + p->names.num * 10 + p->level; }\n\
         void change(player* p) {\n\
             if (p->name.max > 2) { p->name.data[0] = 'B'; p->name.data[1] = 0; p->name.num = 2; }\n\
             if (p->row.num > 0) { p->row.data[0] = 42; p->row.num = 1; }\n\
             for (int i = 0; i < p->names.num; i++) p->names.data[i].data[0] = '0' + i;\n\
         }\n\
         void clear(player* p) { p->name.num = 0; p->row.num = 0; p->names.num = 0; }\n",
    );
    let fields: &[_] = &[("name", "String"), ("row", "Array(i32)"), ("names", "Array(String)"), ("level", "u8")];
    let ty = || ty(&[("Player", fields)], "/Script/Test.Player");
    let player = |name: &str, row: &[i32], names: &[&str]| {
        let names = Value::Array(names.iter().map(|name| text(name)).collect());
        structure([("name", text(name)), ("row", ints(row)), ("names", names), ("level", Value::U8(9))])
    };
    let look = Import::new("look").param("p", ty()).returns(plain("i32"));
    assert_eq!(fixture.call(&look, &[player("Anna", &[1, 2, 3], &["x"])]).0, Some(Value::I32(5_319)));
    assert_eq!(fixture.call(&look, &[player("", &[], &[])]).0, Some(Value::I32(9)));
    let change = Import::new("change").out("p", ty());
    let changed = fixture.call(&change, &[player("Anna", &[1, 2, 3], &["ab", "cd"])]).1;
    assert_eq!(changed, [player("B", &[42], &["0b", "1d"])]);
    assert_eq!(fixture.call(&change, &[player("", &[], &[])]).1, [player("", &[], &[])]);
    let clear = Import::new("clear").out("p", ty());
    assert_eq!(fixture.call(&clear, &[player("Anna", &[1, 2], &["ab"])]).1, [player("", &[], &[])]);
    // The host provides capacity for C by passing a longer array.
    assert_eq!(fixture.call(&change, &[player("", &[0; 100], &[])]).1, [player("", &[42], &[])]);
}

#[test]
fn a_trampoline_fills_six_registers_of_integers_and_eight_of_floats() {
    let declared = |c: &str, count: usize| (0..count).map(|at| format!("{c} p{at}")).collect::<Vec<_>>().join(", ");
    let sum = |count: usize| (0..count).map(|at| format!("{} * p{at}", at + 1)).collect::<Vec<_>>().join(" + ");
    let mut source = String::new();
    for (c, count) in [("int64_t", 6), ("int64_t", 7), ("double", 8), ("double", 9)] {
        source += &format!("{c} of_{c}_{count}({}) {{ return {}; }}\n", declared(c, count), sum(count));
    }
    let fixture = Fixture::new(&source);
    let is_supported = cfg!(all(unix, any(target_arch = "x86_64", target_arch = "aarch64")));
    for (c, type_name, count, fits) in [
        ("int64_t", "i64", 6, true),
        ("int64_t", "i64", 7, false),
        ("double", "f64", 8, true),
        ("double", "f64", 9, false),
    ] {
        let import = Import::new(&format!("of_{c}_{count}")).returns(plain(type_name));
        let import = (0..count).fold(import, |import, at| import.param(&format!("p{at}"), plain(type_name)));
        let of = |number: u32| match type_name {
            "i64" => Value::I64(number.into()),
            _ => Value::F64(number.into()),
        };
        let values: Vec<_> = (1..=count).map(of).collect();
        let expected = (1..=count).map(|number| number * number).sum();
        assert_eq!(fixture.call(&import, &values).0, Some(of(expected)), "{count} {c}");
        let route = if fits && is_supported { Route::Trampoline } else { Route::Libffi };
        assert_eq!(fixture.bind(&import)[0].route(), route, "{count} {c}");
    }
}

#[test]
fn few_registers_are_filled_by_a_trampoline_and_many_by_libffi() {
    let fixture = Fixture::new(
        "double many(int32_t a, double b, int32_t c, float d, int64_t e, uint8_t f, float g, int16_t h, int32_t i,\n\
             double j, int32_t k, double l, double m, double n, double o, double p) {\n\
             return a + 2*b + 3*c + 4*d + 5*e + 6*f + 7*g + 8*h + 9*i + 10*j + 11*k + 12*l + 13*m + 14*n + 15*o + 16*p; }\n\
         float few(float a, int8_t b, double c, int64_t d) { return a * 1000 + b * 100 + c * 10 + d; }\n",
    );
    let type_names = "i32 f64 i32 f32 i64 u8 f32 i16 i32 f64 i32 f64 f64 f64 f64 f64";
    let mut many = Import::new("many").returns(plain("f64"));
    let mut values = Vec::new();
    for (at, type_name) in type_names.split(' ').enumerate() {
        many = many.param(&format!("p{at}"), plain(type_name));
        values.push(match type_name {
            "i32" => Value::I32(-1),
            "i64" => Value::I64(-1),
            "u8" => Value::U8(255),
            "i16" => Value::I16(-1),
            "f32" => Value::F32(0.5),
            _ => Value::F64(0.25),
        });
    }
    assert_eq!(fixture.call(&many, &values).0, Some(Value::F64(1_519.0)));
    assert_eq!(fixture.bind(&many).map(|function| function.route()), [Route::Libffi; 2]);
    let few = Import::new("few").returns(plain("f32"));
    let few = few.param("a", plain("f32")).param("b", plain("i8")).param("c", plain("f64")).param("d", plain("i64"));
    let values = [Value::F32(1.0), Value::I8(-2), Value::F64(3.0), Value::I64(-4)];
    assert_eq!(fixture.call(&few, &values).0, Some(Value::F32(826.0)));
    let routes = fixture.bind(&few).map(|function| function.route());
    let expected = if cfg!(all(unix, any(target_arch = "x86_64", target_arch = "aarch64"))) {
        Route::Trampoline
    } else {
        Route::Libffi
    };
    assert_eq!(routes, [expected, Route::Libffi]);
}
