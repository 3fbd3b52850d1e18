//! Measures calls of a C function by the two mechanisms of this crate. For comparison, also measures calls by a function pointer, by
//! `libffi` with prepared arguments, and from Python. Further benchmarks change the working directory, and pass a string of 64 characters
//! to C and back.
#![expect(unsafe_code, reason = "calls the C functions that it has compiled")]

use std::fs;
use std::hint::black_box;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use alcedo_dll_bind::{Import, UserCode};
use alcedo_reflect::property::PropertyType;
use alcedo_reflect::value::Value;
use alcedo_sys::UserLibrary;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};
use libffi::middle::{Arg, Cif, CodePtr, Type};

const SOURCE: &str = "
#include <stdint.h>
int32_t add(int32_t a, int32_t b) { return a + b; }
void upper(uint16_t* s) { for (; *s; s++) if (*s >= 'a' && *s <= 'z') *s -= 32; }
";

unsafe extern "C" {
    /// Function of the standard C library that does as little work as the C function `add` above.
    safe fn isalpha(letter: i32) -> i32;
}

/// Python program that reads numbers from its input. For each number, it calls the C function that many times and prints the total time in
/// nanoseconds.
const PYTHON: &str = "
import sys, time
way, path = sys.argv[1:]
if way == 'ctypes':
    import ctypes
    add = ctypes.CDLL(path).add
    add.argtypes, add.restype = [ctypes.c_int32, ctypes.c_int32], ctypes.c_int32
else:
    import cffi
    ffi = cffi.FFI()
    ffi.cdef('int32_t add(int32_t a, int32_t b);')
    library = ffi.dlopen(path)
    add = library.add
assert add(40, 2) == 42
print('ready', flush=True)
for line in sys.stdin:
    rounds = range(int(line))
    begun = time.perf_counter_ns()
    for _ in rounds:
        add(40, 2)
    print(time.perf_counter_ns() - begun, flush=True)
";

/// Measures calls from Python. If Python is unavailable, prints the reason and skips the measurement.
fn from_python(group: &mut BenchmarkGroup<'_, WallTime>, route: &str, library: &Path) {
    let mut started = Command::new("python3");
    started.args(["-c", PYTHON, route]).arg(library);
    let started = started.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let skipped = |why: &str| eprintln!("dll_bind_call/{route} was left out: {why}");
    let Ok(mut python) = started else { return skipped("python3 not found") };
    let (Some(mut rounds), Some(times)) = (python.stdin.take(), python.stdout.take()) else {
        return skipped("python3 takes no input");
    };
    let mut times = BufReader::new(times).lines();
    if !matches!(times.next(), Some(Ok(ready)) if ready == "ready") {
        return skipped("python3 has no such module");
    }
    group.bench_function(route, |bench| {
        bench.iter_custom(|count| {
            writeln!(rounds, "{count}").expect("it reads");
            let nanos = times.next().expect("it answers").expect("a line");
            Duration::from_nanos(nanos.parse().expect("a number"))
        });
    });
    drop(rounds);
    python.wait().expect("it ends with its input");
}

fn calls(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("bench.c");
    fs::write(&source, SOURCE).expect("written");
    let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let compiler = cc::Build::new().host(&host).target(&host).opt_level(2).cargo_metadata(false).get_compiler();
    let mut command = compiler.to_command();
    let ran = command.args(["-shared", "-fPIC", "-o"]).arg(folder.path().join("libbench.so")).arg(&source).status();
    assert!(ran.is_ok_and(|status| status.success()), "a C compiler");

    // SAFETY: the functions of the library have the signatures of the C source above.
    let (code, library) = unsafe { (UserCode::at(folder.path()), UserLibrary::open(folder.path(), "bench")) };
    let address = library.as_ref().expect("it was compiled").symbol("add").expect("it is there");
    // SAFETY: the C source above has this signature.
    let pointer = unsafe { std::mem::transmute::<*const (), extern "C" fn(i32, i32) -> i32>(address) };
    let add =
        || Import::new("add").param("a", PropertyType::I32).param("b", PropertyType::I32).returns(PropertyType::I32);
    let bind = |import: Import, code: &UserCode| import.bind(&code.open("bench")).expect("bound");
    let arguments = [Value::I32(40), Value::I32(2)];

    let mut group = criterion.benchmark_group("dll_bind_call");
    group.bench_function("c_direct", |bench| bench.iter(|| isalpha(black_box(40))));
    group.bench_function("c_pointer", |bench| bench.iter(|| pointer(black_box(40), black_box(2))));
    let cif = Cif::new([Type::i32(), Type::i32()], Type::i32());
    let (a, b) = (40_i32, 2_i32);
    let prepared = [Arg::new(&a), Arg::new(&b)];
    let target = CodePtr(address.cast_mut().cast());
    group.bench_function("libffi", |bench| {
        // SAFETY: the C source above has this signature.
        bench.iter(|| unsafe { cif.call::<i32>(target, black_box(&prepared)) })
    });
    for (name, import, code) in [
        ("alcedo_stub", add().no_cwd(), code.clone()),
        ("alcedo_libffi", add().no_cwd(), code.by_libffi()),
        ("alcedo_stub_cwd", add(), code.clone()),
    ] {
        let function = bind(import, &code);
        let typed = function.typed::<(i32, i32), i32>().expect("its types");
        group.bench_function(name, |bench| bench.iter(|| typed.call((black_box(40), black_box(2)))));
    }
    let by_values = bind(add().no_cwd(), &code);
    group.bench_function("alcedo_stub_values", |bench| bench.iter(|| by_values.call(black_box(&arguments))));
    let file = folder.path().join("libbench.so");
    from_python(&mut group, "ctypes", &file);
    from_python(&mut group, "cffi", &file);
    let text = "a text of sixty-four letters, that goes to a C function and back";
    assert_eq!(text.len(), 64);
    let upper = bind(Import::new("upper").out("s", PropertyType::Text).no_cwd(), &code);
    let value = [Value::Text(text.to_owned())];
    group.bench_function("text_64", |bench| bench.iter(|| upper.call(black_box(&value))));
    let copied = |text: &str| black_box(black_box(text).to_owned()).clone();
    group.bench_function("text_64_copied_twice", |bench| bench.iter(|| copied(text)));
    group.finish();
}

criterion_group!(benches, calls);
criterion_main!(benches);
