//! What a call of a C function costs: by our two routes, by a function pointer, and by `libffi` with prepared arguments; the
//! change of the working directory beside it, and a text of 64 letters there and back.
#![expect(unsafe_code, reason = "calls the C functions that it has compiled")]

use std::fs;
use std::hint::black_box;

use alcedo_dll_bind::{Import, UserCode};
use alcedo_reflect::property::PropertyType;
use alcedo_reflect::value::Value;
use alcedo_sys::UserLibrary;
use criterion::{Criterion, criterion_group, criterion_main};
use libffi::middle::{Arg, Cif, CodePtr, Type};

const SOURCE: &str = "
#include <stdint.h>
int32_t add(int32_t a, int32_t b) { return a + b; }
void upper(uint16_t* s) { for (; *s; s++) if (*s >= 'a' && *s <= 'z') *s -= 32; }
";

fn calls(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("bench.c");
    fs::write(&source, SOURCE).expect("written");
    let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let compiler = cc::Build::new().host(&host).target(&host).opt_level(2).cargo_metadata(false).get_compiler();
    let mut command = compiler.to_command();
    let ran = command.args(["-shared", "-fPIC", "-o"]).arg(folder.path().join("libbench.so")).arg(&source).status();
    assert!(ran.is_ok_and(|status| status.success()), "a C compiler");

    // SAFETY: the source is above.
    let (code, library) = unsafe { (UserCode::at(folder.path()), UserLibrary::open(folder.path(), "bench")) };
    let address = library.as_ref().expect("it was compiled").symbol("add").expect("it is there");
    // SAFETY: the source says so.
    let pointer = unsafe { std::mem::transmute::<*const (), extern "C" fn(i32, i32) -> i32>(address) };
    let add =
        || Import::new("add").param("a", PropertyType::I32).param("b", PropertyType::I32).returns(PropertyType::I32);
    let bind = |import: Import, code: &UserCode| import.bind(&code.open("bench")).expect("bound");
    let arguments = [Value::I32(40), Value::I32(2)];

    let mut group = criterion.benchmark_group("dll_bind_call");
    group.bench_function("c_pointer", |bench| bench.iter(|| pointer(black_box(40), black_box(2))));
    let cif = Cif::new([Type::i32(), Type::i32()], Type::i32());
    let (a, b) = (40_i32, 2_i32);
    let prepared = [Arg::new(&a), Arg::new(&b)];
    let target = CodePtr(address.cast_mut().cast());
    group.bench_function("libffi", |bench| {
        // SAFETY: the source says so.
        bench.iter(|| unsafe { cif.call::<i32>(target, black_box(&prepared)) })
    });
    for (name, import, code) in [
        ("alcedo_stub", add().no_cwd(), code.clone()),
        ("alcedo_libffi", add().no_cwd(), code.by_libffi()),
        ("alcedo_stub_cwd", add(), code.clone()),
    ] {
        let function = bind(import, &code);
        group.bench_function(name, |bench| bench.iter(|| function.call(black_box(&arguments))));
    }
    let text = "a text of sixty-four letters, that goes to a C function and back";
    assert_eq!(text.len(), 64);
    let upper = bind(Import::new("upper").out("s", PropertyType::Text).no_cwd(), &code);
    let value = [Value::Text(text.to_owned())];
    group.bench_function("text_64", |bench| bench.iter(|| upper.call(black_box(&value))));
    group.bench_function("text_64_copied_twice", |bench| bench.iter(|| black_box(black_box(text).to_owned()).clone()));
    group.finish();
}

criterion_group!(benches, calls);
criterion_main!(benches);
