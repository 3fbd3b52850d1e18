//! Measures accesses to a native class that is declared as a Rust type. The loops run in the host, and in a release build of `host-types`.
//! A single call starts each loop. The loop is long, so the time of this call is negligible.
//!
//! * `native_property_read`: a plugin reads a property of a class of the host, compared with a read of a field behind a pointer.
//! * `native_method_call`: a plugin calls a method of the host, compared to a C function called by its pointer.
//! * `native_property_read_by_host`: the host reads the property by the type of the class, compared with a read of a field
//!   behind a pointer.

#[path = "support/lamp.rs"]
mod lamp;
mod support;

use std::hint::black_box;
use std::time::{Duration, Instant};

use alcedo_runtime::native::{Obj, This};
use alcedo_runtime::{ObjectHandle, Runtime, Value, natives};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

use crate::lamp::{Hums, Lamp};

/// Number of rounds of a loop per iteration.
const ROUNDS: u64 = 1_000;

fn cost(criterion: &mut Criterion) {
    let builds = support::builds("host-types");
    let runtime = Runtime::builder().package("Game").natives(natives![Hums, Lamp]).build().expect("a runtime");
    runtime.create_master(&[&builds[0]]).expect("the plugin loads");
    let lantern = runtime.objects().spawn("/Script/Game.Lantern").expect("a lantern");
    for (what, ours, plain) in [
        ("native_property_read", "read_often", "read_often_plain"),
        ("native_method_call", "turn_often", "turn_often_plain"),
    ] {
        let mut group = criterion.benchmark_group(what);
        group.throughput(Throughput::Elements(ROUNDS));
        for (id, function) in [("alcedo", ours), ("pointer", plain)] {
            group.bench_function(id, |bencher| {
                bencher.iter_custom(|rounds| time(&runtime, lantern, function, rounds * ROUNDS))
            });
        }
        group.finish();
    }
    let mut group = criterion.benchmark_group("native_property_read_by_host");
    let lamp: Obj<Lamp> = runtime.objects().cast(lantern).expect("a lamp");
    group.bench_function("alcedo", |bencher| {
        runtime
            .objects()
            .with(lamp, |lamp: This<'_, Lamp>| bencher.iter(|| black_box(lamp).brightness()))
            .expect("it lives");
    });
    let field = Box::new(1.5);
    group.bench_function("pointer", |bencher| bencher.iter(|| *black_box(&*field)));
    group.finish();
    drop(runtime.shutdown());
}

fn time(runtime: &Runtime, lantern: ObjectHandle, function: &str, rounds: u64) -> Duration {
    let start = Instant::now();
    runtime.objects().call(lantern, function, &[Value::U64(rounds)]).expect("a loop");
    start.elapsed()
}

criterion_group! { name = benches; config = support::config(); targets = cost }
criterion_main!(benches);
