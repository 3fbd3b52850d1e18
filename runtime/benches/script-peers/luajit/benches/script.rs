//! Compares scripts of Alcedo with the interpreter of LuaJIT, whose compiler is disabled.

use criterion::{Criterion, criterion_group, criterion_main};
use mlua::{Function, Lua};
use script_peers_luajit::alcedo::{FIB, ROUNDS, ROWS, Stage, VECTORS};

const LUA: &str = include_str!("../../shared/script.lua");

fn scripts(c: &mut Criterion) {
    let stage = Stage::new();
    let lua = Lua::new();
    lua.load("if jit then jit.off() end").exec().expect("right Lua");
    lua.load(LUA).exec().expect("right Lua");
    let add = lua.create_function(|_, (a, b): (i32, i32)| Ok(a.wrapping_add(b))).expect("a function");
    lua.globals().set("add", add).expect("set");
    let function = |name: &str| lua.globals().get::<Function>(name).expect("it is there");
    function("fill").call::<()>(ROWS).expect("it runs");

    for (group, ours, theirs, n) in [
        ("script_loop", "looping", "looping", ROUNDS),
        ("script_fib", "fib", "fib", FIB),
        ("script_property", "property", "property", ROUNDS),
        ("script_native_call", "native_call", "native_call", ROUNDS),
        ("script_vector", "vectors", "vectors", VECTORS),
    ] {
        let mut group = c.benchmark_group(group);
        let their = function(theirs);
        group.bench_function("alcedo", |b| b.iter(|| stage.call(ours, n)));
        group.bench_function("luajit", |b| b.iter(|| their.call::<mlua::Value>(n).expect("it runs")));
        group.finish();
    }
    let mut group = c.benchmark_group("script_array_average");
    let (weight, average) = (stage.name("Weight"), function("average"));
    group.bench_function("alcedo", |b| b.iter(|| stage.average(weight)));
    group.bench_function("luajit", |b| b.iter(|| average.call::<f64>(()).expect("it runs")));
    group.finish();
}

criterion_group!(benches, scripts);
criterion_main!(benches);
