//! Measures how fast a handle resolves to its object, compared to `get` of a plain `slotmap`. The `slotmap` does the minimum for a checked
//! handle: one load and one comparison.
//!
//! The objects have the class `Walker` of `crowd`, with a plugin part each. The `slotmap` contains the same number of values, of one
//! machine word each. Both benchmarks resolve all handles in the same order, shuffled by xorshift (seed 0x5eed), and sum the results. The
//! data of 1,000 objects fits into the L1 cache; the data of 1,000,000 objects fits into no cache.
#![expect(unsafe_code, reason = "calls functions that only the benchmarks of this crate may call")]

mod support;

use std::hint::black_box;

use alcedo_runtime::ObjectHandle;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use slotmap::SlotMap;

const COUNTS: [usize; 3] = [1_000, 100_000, 1_000_000];

const CLASS: &str = "/Script/Game.Walker";

fn handles(criterion: &mut Criterion) {
    let builds = support::builds("crowd");
    let runtime = support::host(&builds[0]);
    // SAFETY: every mark that this benchmark begins is aborted before anything else runs, and addresses are only compared.
    let stores = unsafe { runtime.bench() };
    let class = stores.class(CLASS).expect("the plugin declares it");
    let (mut objects, mut map, mut keys) = (Vec::new(), SlotMap::new(), Vec::new());
    for count in COUNTS {
        while objects.len() < count {
            objects.push(runtime.objects().spawn(CLASS).expect("an object"));
            keys.push(map.insert(objects.len()));
        }
        let order = support::shuffled(count);
        let (objects, keys) = (in_order(&objects, &order), in_order(&keys, &order));

        let mut group = criterion.benchmark_group("handle_to_object");
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::new("slotmap", count), |bencher| {
            bencher
                .iter(|| keys.iter().fold(0_usize, |sum, key| sum.wrapping_add(*map.get(*key).expect("it is there"))));
        });
        let find = move |object: &ObjectHandle| stores.memory(*object).expect("it is there").addr();
        group.bench_function(BenchmarkId::new("alcedo", count), |bencher| {
            bencher.iter(|| objects.iter().fold(0_usize, |sum, object| sum.wrapping_add(find(object))));
        });
        group.finish();

        let mut group = criterion.benchmark_group("object_to_conjugate");
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::new("slotmap", count), |bencher| {
            bencher
                .iter(|| keys.iter().fold(0_usize, |sum, key| sum.wrapping_add(*map.get(*key).expect("it is there"))));
        });
        let find = move |object: &ObjectHandle| stores.part(*object, class).expect("it has a half").addr();
        group.bench_function(BenchmarkId::new("alcedo", count), |bencher| {
            bencher.iter(|| objects.iter().fold(0_usize, |sum, object| sum.wrapping_add(find(object))));
        });
        group.finish();
    }
    black_box(&map);
    drop(runtime.shutdown());
}

fn in_order<T: Copy>(all: &[T], order: &[usize]) -> Vec<T> {
    order.iter().map(|at| all[*at]).collect()
}

criterion_group! { name = benches; config = support::config(); targets = handles }
criterion_main!(benches);
