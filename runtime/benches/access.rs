//! Measures how fast plugin code accesses host memory, compared to plugin memory. One call of a method of the class `Gauge` runs each loop,
//! in a release build of the plugin `values`. The host measures the time. Each iteration of criterion has 1,000 rounds. The time of the
//! call is therefore negligible.
//!
//! * `read`, `write`: a property of an object that is borrowed for the frame, compared to a struct field behind a pointer.
//! * `read_by_handle`, `write_by_handle`: a property of an object handle, compared to the same field. Each access checks the handle.
//! * `write_while_marking`: writes of a number and of a reference during an incremental collection, compared to writes without a
//!   collection. During a mark, each write of a reference calls the host.
//! * `sum`: an `Array(f64)` as a borrowed slice, compared to a `Vec<f64>`.
#![expect(unsafe_code, reason = "calls functions that only the benchmarks of this crate may call")]

mod support;

use std::time::Instant;

use alcedo_runtime::{ObjectHandle, Runtime, Value};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// Number of rounds of a loop per iteration.
const ROUNDS: u64 = 1_000;

/// Lengths of the summed arrays. The first array fits into the L1 cache. The second array exceeds every cache.
const COUNTS: [u32; 2] = [1_000, 1_000_000];

fn access(criterion: &mut Criterion) {
    let builds = support::builds("values");
    let runtime = support::host(&builds[0]);
    let gauge = runtime.objects().spawn("/Script/Game.Gauge").expect("a gauge");
    for (what, ours, plain) in [
        ("property_read", "read", "read_plain"),
        ("property_read_by_handle", "read_by_handle", "read_plain"),
        ("property_write", "write", "write_plain"),
        ("property_write_by_handle", "write_by_handle", "write_plain"),
    ] {
        let mut group = criterion.benchmark_group(what);
        group.throughput(Throughput::Elements(ROUNDS));
        for (id, function) in [("alcedo", ours), ("pointer", plain)] {
            group.bench_function(id, |bencher| {
                bencher.iter_custom(|rounds| time(&runtime, gauge, function, rounds * ROUNDS))
            });
        }
        group.finish();
    }
    for (what, function) in [("write_while_marking", "write"), ("reference_write_while_marking", "refer")] {
        let mut group = criterion.benchmark_group(format!("property_{what}"));
        group.throughput(Throughput::Elements(ROUNDS));
        for (id, is_marking) in [("alcedo", true), ("in_peace", false)] {
            group.bench_function(id, |bencher| {
                // SAFETY: every mark that this benchmark begins is aborted before anything else runs, and addresses are only
                // compared.
                let stores = unsafe { runtime.bench() };
                if is_marking {
                    stores.begin_mark();
                }
                bencher.iter_custom(|rounds| time(&runtime, gauge, function, rounds * ROUNDS));
                stores.abandon_mark();
            });
        }
        group.finish();
    }
    let mut group = criterion.benchmark_group("array_sum");
    for count in COUNTS {
        runtime.objects().call(gauge, "fill", &[Value::U32(count)]).expect("two rows");
        group.throughput(Throughput::Elements(u64::from(count)));
        for (id, function) in [("alcedo", "sum"), ("vec", "sum_plain")] {
            let id = BenchmarkId::new(id, count);
            group.bench_function(id, |bencher| bencher.iter_custom(|rounds| time(&runtime, gauge, function, rounds)));
        }
    }
    group.finish();
    drop(runtime.shutdown());
}

fn time(runtime: &Runtime, gauge: ObjectHandle, function: &str, rounds: u64) -> std::time::Duration {
    let start = Instant::now();
    runtime.objects().call(gauge, function, &[Value::U64(rounds)]).expect("a loop");
    start.elapsed()
}

criterion_group! { name = benches; config = support::config(); targets = access }
criterion_main!(benches);
