//! Measures marking of reachable objects, and the cost of writes during an incremental mark.
//!
//! *Mark*: 1,000,000 objects of a native class, each with four references to random objects (uniformly distributed, xorshift, seed 0x5eed).
//! The first object is the only root; all but two percent of the objects are reachable. The baseline is the same graph as a `Vec<[u32;
//! 4]>`, marked with a stack and one bit for each node. Alcedo also checks the serial number of each handle, reads the offsets of
//! references from the class of each object, and lists the unreachable objects.
//!
//! *Writes*: writes a number and a reference of each object in turn, by property name. One measurement runs outside a mark phase. The other
//! measurement runs during an incremental mark phase that makes no progress. In this phase, every write checks the state of the mark. A
//! write to an object that was already scanned marks the object for another scan.
#![expect(unsafe_code, reason = "calls functions that only the benchmarks of this crate may call")]

mod support;

use std::hint::black_box;

use alcedo_runtime::native::{NativeClass, Natives};
use alcedo_runtime::{ObjectHandle, Runtime, Value, kinds::PropertyKind};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const OBJECTS: usize = 1_000_000;

const CLASS: &str = "/Script/Graph.Node";

const ROADS: [&str; 4] = ["north", "east", "south", "west"];

fn collect(criterion: &mut Criterion) {
    let graph = graph();
    let mut group = criterion.benchmark_group("mark");
    group.throughput(Throughput::Elements(OBJECTS as u64)).sample_size(10);
    group.bench_function("bare_vec", |bencher| bencher.iter(|| bare(black_box(&graph))));
    let (runtime, objects) = world(&graph);
    // SAFETY: every mark that this benchmark begins is aborted before anything else runs, and addresses are only compared.
    let stores = unsafe { runtime.bench() };
    assert_eq!(stores.mark().len(), OBJECTS - bare(&graph), "both reach the same");
    group.bench_function("alcedo", |bencher| bencher.iter(|| stores.mark()));
    group.bench_function("alcedo_in_slices", |bencher| {
        bencher.iter(|| {
            stores.begin_mark();
            // Ends a slice of the mark phase at the hundredth call of the closure, after some hundred thousand objects.
            let mut polls = 0;
            while !stores.go_on_mark(&mut || {
                polls += 1;
                polls % 100 != 0
            }) {}
        });
    });
    group.finish();

    let mut group = criterion.benchmark_group("write");
    let written = &objects[..1_000];
    group.throughput(Throughput::Elements(written.len() as u64));
    for marks in [false, true] {
        let id = |what: &str| if marks { format!("{what}_while_marking") } else { format!("{what}_in_peace") };
        let begin = || {
            if marks {
                stores.begin_mark()
            }
        };
        group.bench_function(id("number"), |bencher| {
            begin();
            write(bencher, &runtime, written, "weight", &Value::F64(2.0));
            stores.abandon_mark();
        });
        group.bench_function(id("reference"), |bencher| {
            begin();
            write(bencher, &runtime, written, "north", &Value::Object(objects[7]));
            stores.abandon_mark();
        });
    }
    group.finish();
    drop(runtime.shutdown());
}

fn write(bencher: &mut criterion::Bencher<'_>, runtime: &Runtime, objects: &[ObjectHandle], name: &str, value: &Value) {
    let world = runtime.world();
    bencher.iter(|| {
        for object in objects {
            world.write(*object, name, value).expect("it may be written");
        }
    });
}

fn graph() -> Vec<[u32; 4]> {
    let mut dice = support::Dice(0x5eed);
    (0..OBJECTS).map(|_| std::array::from_fn(|_| dice.roll(OBJECTS) as u32)).collect()
}

/// Counts the reachable nodes in the graph of the baseline.
fn bare(graph: &[[u32; 4]]) -> usize {
    let mut marked = vec![0_u64; graph.len().div_ceil(64)];
    let (mut open, mut count) = (vec![0_u32], 1);
    marked[0] = 1;
    while let Some(node) = open.pop() {
        for next in graph[node as usize] {
            let (word, bit) = (&mut marked[next as usize / 64], 1 << (next % 64));
            if *word & bit == 0 {
                *word |= bit;
                count += 1;
                open.push(next);
            }
        }
    }
    count
}

fn world(graph: &[[u32; 4]]) -> (Runtime, Vec<ObjectHandle>) {
    let node = NativeClass::new("Graph", "Node", "/Script/Core.Object");
    let node = node.property("weight", (PropertyKind::F64, ""), 0, "");
    let node = ROADS.iter().fold(node, |node, road| node.property(road, (PropertyKind::OBJECT, CLASS), 0, ""));
    let runtime = Runtime::builder().natives(Natives::in_package("Graph").class(node)).build().expect("a runtime");
    let objects: Vec<_> = graph.iter().map(|_| runtime.objects().spawn(CLASS).expect("an object")).collect();
    let world = runtime.world();
    for (object, nexts) in objects.iter().zip(graph) {
        for (road, next) in ROADS.iter().zip(nexts) {
            let next = Value::Object(objects[*next as usize]);
            world.write(*object, road, &next).expect("it may be written");
        }
    }
    objects[1..].iter().for_each(|object| assert!(runtime.objects().remove_root(*object)));
    (runtime, objects)
}

criterion_group! { name = benches; config = support::config(); targets = collect }
criterion_main!(benches);
