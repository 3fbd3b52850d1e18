//! Measures the construction of an object of a module's class: `crowd`'s `Walker`, with one property and a plugin part of three
//! machine words, spawned by a host that holds the class (`alcedo`), and by one that names it each time (`by_path`). The baseline
//! is one `Box` of those three words and one insertion into a `slotmap`, as in a host without reflection, hooks or collection: in a
//! process of one thread (`box_and_slotmap`), where an allocator takes no lock, and in a process that also has a host with its
//! finalizer thread (`box_and_slotmap_in_a_host`). Each round creates a thousand and then, untimed, destroys them and waits for
//! their finalizers, so that all work on memory that was used before.

mod support;

use std::time::{Duration, Instant};

use alcedo_runtime::{Budget, Error, ObjectHandle, Runtime};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use slotmap::{DefaultKey, SlotMap};

const ROUND: u64 = 1_000;

const CLASS: &str = "/Script/Game.Walker";

fn creation(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("birth");
    group.throughput(Throughput::Elements(ROUND));
    group.bench_function("box_and_slotmap", |bencher| bencher.iter_custom(time_boxes));

    let builds = support::builds("crowd");
    let runtime = support::host(&builds[0]);
    group.bench_function("box_and_slotmap_in_a_host", |bencher| bencher.iter_custom(time_boxes));
    let mut objects: Vec<ObjectHandle> = Vec::with_capacity(ROUND as usize);
    let class = runtime.types().class(CLASS).expect("crowd has it");
    group.bench_function("alcedo", |bencher| {
        bencher.iter_custom(|rounds| time(&runtime, &mut objects, rounds, || runtime.objects().spawn(&class)));
    });
    group.bench_function("by_path", |bencher| {
        bencher.iter_custom(|rounds| time(&runtime, &mut objects, rounds, || runtime.objects().spawn(CLASS)));
    });
    group.finish();
    drop(runtime.shutdown());
}

/// Measures rounds of boxes.
fn time_boxes(rounds: u64) -> Duration {
    let mut map: SlotMap<DefaultKey, Box<[u64; 3]>> = SlotMap::new();
    let mut keys = Vec::with_capacity(ROUND as usize);
    let mut elapsed = Duration::ZERO;
    for _ in 0..rounds {
        let begun = Instant::now();
        keys.extend((0..ROUND).map(|number| map.insert(Box::new([number, 0, 0]))));
        elapsed += begun.elapsed();
        keys.drain(..).for_each(|key| drop(map.remove(key)));
    }
    elapsed
}

/// Measures rounds of constructions. Between rounds, untimed, the objects are destroyed, the host ticks, and their finalizers run.
fn time(
    runtime: &Runtime,
    objects: &mut Vec<ObjectHandle>,
    rounds: u64,
    spawn: impl Fn() -> Result<ObjectHandle, Error>,
) -> Duration {
    let mut elapsed = Duration::ZERO;
    for _ in 0..rounds {
        let begun = Instant::now();
        objects.extend((0..ROUND).map(|_| spawn().expect("an object")));
        elapsed += begun.elapsed();
        objects.drain(..).for_each(|object| runtime.objects().destroy(object));
        runtime.tick(Budget::frame());
        let drained = runtime.drain_finalizers(Duration::from_secs(10)).expect("a safe point");
        assert!(drained.is_complete, "{drained:?}");
    }
    elapsed
}

criterion_group! { name = benches; config = support::config(); targets = creation }
criterion_main!(benches);
