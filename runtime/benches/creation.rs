//! Measures the construction of an object of a module's class. The class is `Walker` of `crowd`, with one property and a plugin part of
//! three machine words. `alcedo` passes a class handle that the host holds. `by_path` passes the path of the class. The baseline is one
//! `Box` of three machine words and one insertion into a `slotmap`, as in a host without reflection, hooks or collection. `box_and_slotmap`
//! runs in a single-threaded process, where an allocator takes no lock. `box_and_slotmap_in_a_host` runs next to a host with its finalizer
//! thread. Each round creates a thousand objects, destroys them, and waits for their finalizers. Only the creation is timed. Every round
//! reuses the memory of the previous round. `alcedo_with_a_subobject` creates a `MagicCube`: an actor with a component. The three native
//! classes of these two objects have constructors and PostInitProperties.

mod support;

use std::time::{Duration, Instant};

use alcedo_runtime::{Budget, Error, ObjectHandle, Runtime};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use slotmap::{DefaultKey, SlotMap};

const ROUND: u64 = 1_000;

const CLASS: &str = "/Script/Game.Walker";

const CUBE: &str = "/Script/Game.MagicCube";

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
    drop(runtime.shutdown());

    let builds = support::builds("magic-cube");
    let runtime = support::host(&builds[0]);
    let cube = runtime.types().class(CUBE).expect("magic-cube has it");
    group.bench_function("alcedo_with_a_subobject", |bencher| {
        bencher.iter_custom(|rounds| time(&runtime, &mut objects, rounds, || runtime.objects().spawn(&cube)));
    });
    group.finish();
    drop(runtime.shutdown());
}

/// Returns the time that the baseline needs for `rounds` rounds.
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

/// Returns the time that the creations of `rounds` rounds need. After each round, destroys the objects, ticks the host, and runs their
/// finalizers. These steps are not timed.
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
