//! Compares scripts of Alcedo with rhai, Lua 5.4 and, where meaningful, plain Rust. Measures the CPU time of the thread, because other
//! processes influence CPU time less than elapsed time.

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{Criterion, criterion_group, criterion_main};
use mlua::{Function, Lua};
use script_peers_lua54::alcedo::{FIB, ROUNDS, ROWS, Stage, VECTORS, rows};

const LUA: &str = include_str!("../../shared/script.lua");

const RHAI: &str = r#"
    fn looping(n) { let s = 0; let i = 0; while i < n { s = (s * 31 + i) % 65536; i += 1; } s }
    fn fib(n) { if n < 2 { n } else { fib(n - 1) + fib(n - 2) } }
    fn property(robot, n) { let i = 0; while i < n { robot.energy = robot.energy + 1; i += 1; } robot.energy }
    fn native_call(n) { let s = 0; let i = 0; while i < n { s = add(s, i); i += 1; } s }
    fn vectors(n) {
        let by = #{x: 1.0, y: 2.0, z: 3.0};
        let at = #{x: 0.0, y: 0.0, z: 0.0};
        let sum = 0.0;
        let i = 0;
        while i < n {
            at = #{x: at.x + by.x * 0.5, y: at.y + by.y * 0.5, z: at.z + by.z * 0.5};
            sum += at.x * by.x + at.y * by.y + at.z * by.z;
            at = #{x: at.x - by.x * 0.25, y: at.y - by.y * 0.25, z: at.z - by.z * 0.25};
            i += 1;
        }
        sum
    }
    fn average(rows) { let sum = 0.0; for row in rows { sum += row.weight; } sum / rows.len().to_float() }
"#;

/// Measurement of criterion that uses the CPU time of the thread.
struct CpuTime(WallTime);

fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

impl Measurement for CpuTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        now()
    }

    fn end(&self, start: Duration) -> Duration {
        now() - start
    }

    fn add(&self, one: &Duration, two: &Duration) -> Duration {
        *one + *two
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        value.as_nanos() as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        self.0.formatter()
    }
}

/// Computes with wrapping 32-bit integers, like the script language.
fn looping(n: i32) -> i32 {
    (0..n).fold(0i32, |s, i| black_box(s.wrapping_mul(31).wrapping_add(i) % 65_536))
}

fn fib(n: i32) -> i32 {
    if n < 2 { n } else { black_box(fib(n - 1)) + fib(n - 2) }
}

fn vectors(n: i32) -> f32 {
    let (by, mut at, mut sum) = ([1.0_f32, 2.0, 3.0], [0.0_f32; 3], 0.0_f32);
    for _ in 0..n {
        at = black_box([0, 1, 2].map(|axis| at[axis] + by[axis] * 0.5));
        sum += at[0] * by[0] + at[1] * by[1] + at[2] * by[2];
        at = black_box([0, 1, 2].map(|axis| at[axis] - by[axis] * 0.25));
    }
    sum
}

#[inline(never)]
fn add(a: i32, b: i32) -> i32 {
    a.wrapping_add(b)
}

fn scripts(c: &mut Criterion<CpuTime>) {
    let stage = Stage::new();
    let lua = Lua::new();
    lua.load(LUA).exec().expect("right Lua");
    lua.globals()
        .set("add", lua.create_function(|_, (a, b): (i32, i32)| Ok(add(a, b))).expect("a function"))
        .expect("set");
    let function = |name: &str| lua.globals().get::<Function>(name).expect("it is there");
    let mut engine = rhai::Engine::new();
    engine.register_fn("add", add);
    let ast = engine.compile(RHAI).expect("right rhai");
    let rhai = |name: &str, args: Vec<rhai::Dynamic>| -> rhai::Dynamic {
        engine.call_fn(&mut rhai::Scope::new(), &ast, name, args).expect("it runs")
    };
    let whole = |n: i32| vec![rhai::Dynamic::from(n)];

    let mut group = c.benchmark_group("script_loop");
    let looped = function("looping");
    group.bench_function("alcedo", |b| b.iter(|| stage.call("looping", ROUNDS)));
    group.bench_function("rhai", |b| b.iter(|| rhai("looping", whole(ROUNDS))));
    group.bench_function("lua54", |b| b.iter(|| looped.call::<i64>(ROUNDS).expect("it runs")));
    group.bench_function("rust", |b| b.iter(|| looping(black_box(ROUNDS))));
    group.finish();

    let mut group = c.benchmark_group("script_fib");
    let fibbed = function("fib");
    group.bench_function("alcedo", |b| b.iter(|| stage.call("fib", FIB)));
    group.bench_function("alcedo_virtual", |b| b.iter(|| stage.call("virtual_fib", FIB)));
    group.bench_function("rhai", |b| b.iter(|| rhai("fib", whole(FIB))));
    group.bench_function("lua54", |b| b.iter(|| fibbed.call::<i64>(FIB).expect("it runs")));
    group.bench_function("rust", |b| b.iter(|| fib(black_box(FIB))));
    group.finish();

    let mut group = c.benchmark_group("script_property");
    let property = function("property");
    let mut robot = rhai::Map::new();
    robot.insert("energy".into(), 0_i32.into());
    let robot = rhai::Dynamic::from(robot);
    group.bench_function("alcedo", |b| b.iter(|| stage.call("property", ROUNDS)));
    group.bench_function("rhai", |b| b.iter(|| rhai("property", vec![robot.clone(), rhai::Dynamic::from(ROUNDS)])));
    group.bench_function("lua54", |b| b.iter(|| property.call::<()>(ROUNDS).expect("it runs")));
    group.finish();

    let mut group = c.benchmark_group("script_native_call");
    let native_call = function("native_call");
    group.bench_function("alcedo", |b| b.iter(|| stage.call("native_call", ROUNDS)));
    group.bench_function("rhai", |b| b.iter(|| rhai("native_call", whole(ROUNDS))));
    group.bench_function("lua54", |b| b.iter(|| native_call.call::<i64>(ROUNDS).expect("it runs")));
    group.bench_function("rust", |b| b.iter(|| (0..ROUNDS).fold(0, |s, i| add(black_box(s), i))));
    group.finish();

    let mut group = c.benchmark_group("script_array_average");
    let (weight, same) = (stage.name("Weight"), rows());
    let average = function("average");
    function("fill").call::<()>(ROWS).expect("it runs");
    let maps: rhai::Array = same
        .iter()
        .map(|row| {
            let mut map = rhai::Map::new();
            map.insert("weight".into(), row.weight.into());
            rhai::Dynamic::from(map)
        })
        .collect();
    let maps = rhai::Dynamic::from(maps).into_shared();
    group.bench_function("alcedo", |b| b.iter(|| stage.average(weight)));
    group.bench_function("rhai", |b| b.iter(|| rhai("average", vec![maps.clone()])));
    group.bench_function("lua54", |b| b.iter(|| average.call::<f64>(()).expect("it runs")));
    group.bench_function("rust", |b| {
        b.iter(|| black_box(&same).iter().map(|row| f64::from(row.weight)).sum::<f64>() / ROWS as f64);
    });
    group.finish();

    let mut group = c.benchmark_group("script_vector");
    let vectored = function("vectors");
    group.bench_function("alcedo", |b| b.iter(|| stage.call("vectors", VECTORS)));
    group.bench_function("rhai", |b| b.iter(|| rhai("vectors", whole(VECTORS))));
    group.bench_function("lua54", |b| b.iter(|| vectored.call::<f64>(VECTORS).expect("it runs")));
    group.bench_function("rust", |b| b.iter(|| vectors(black_box(VECTORS))));
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CpuTime(WallTime));
    targets = scripts
}
criterion_main!(benches);
