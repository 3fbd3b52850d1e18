//! Measures the cost of a reload per object, with a million objects. The baseline allocates equally large boxes in a plain loop. This loop
//! is the minimum cost of a million values at stable addresses.

mod support;

use std::hint::black_box;
use std::time::{Duration, Instant};

use alcedo_runtime::Phase;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};

const OBJECTS: u64 = 1_000_000;

/// Data of the size of a plugin part: three fields of eight bytes, and 32 bytes of borrow state.
type Half = [u64; 7];

fn rebuild(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("rebuild");
    group.throughput(Throughput::Elements(OBJECTS));
    group.bench_function("boxes", |bencher| {
        bencher.iter_custom(|count| (0..count).map(|_| boxes()).sum());
    });
    reloads(&mut group, "alcedo", "/Script/Game.Walker");
    reloads(&mut group, "alcedo_with_a_kept_field", "/Script/Game.Runner");
    group.finish();
}

fn reloads(group: &mut BenchmarkGroup<'_, WallTime>, id: &str, class: &str) {
    let builds = support::builds("crowd");
    let runtime = support::host(&builds[0]);
    for _ in 0..OBJECTS {
        runtime.objects().spawn(class).expect("an object");
    }
    let mut next = builds.iter().cycle();
    group.bench_function(id, |bencher| {
        bencher.iter_custom(|count| {
            let rebuild = |_| {
                let report = support::reload(&runtime, next.next().expect("they take turns"));
                assert_eq!(report.conjugates_rebuilt, OBJECTS);
                report.phases.get(Phase::Rebuild)
            };
            (0..count).map(rebuild).sum()
        });
    });
    drop(runtime.shutdown());
}

/// Returns the time that the allocation of a million boxes needs.
fn boxes() -> Duration {
    let mut boxes: Vec<Box<Half>> = Vec::with_capacity(OBJECTS as usize);
    let begun = Instant::now();
    for number in 0..OBJECTS {
        boxes.push(Box::new(black_box([number, 0, 0, 0, 0, 0, 0])));
    }
    let elapsed = begun.elapsed();
    drop(black_box(boxes));
    elapsed
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(20));
    targets = rebuild
}
criterion_main!(benches);
