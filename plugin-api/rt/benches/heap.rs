//! Compares the module heap (`alcedo`) with the platform's heap (`glibc`) for several allocation patterns.
#![expect(unsafe_code, reason = "calls allocators directly")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;

use alcedo_rt::ModuleHeap;
use criterion::{Criterion, criterion_group, criterion_main};

fn pair<A: GlobalAlloc>(heap: &A, layout: Layout) {
    // SAFETY: the layout is not empty.
    let block = unsafe { heap.alloc(black_box(layout)) };
    // SAFETY: the block was allocated with this layout.
    unsafe { heap.dealloc(black_box(block), black_box(layout)) };
}

fn burst<A: GlobalAlloc>(heap: &A, layout: Layout, blocks: &mut Vec<*mut u8>) {
    for _ in 0..1000 {
        // SAFETY: the layout is not empty.
        blocks.push(unsafe { heap.alloc(layout) });
    }
    for block in blocks.drain(..) {
        // SAFETY: the block was allocated with this layout.
        unsafe { heap.dealloc(block, layout) };
    }
}

fn heap(criterion: &mut Criterion) {
    for size in [16, 64, 1024, 100_000] {
        let layout = Layout::from_size_align(size, 16).expect("a layout");
        let mut group = criterion.benchmark_group(format!("alloc_and_free_{size}_bytes"));
        group.bench_function("alcedo", |bencher| bencher.iter(|| pair(&ModuleHeap, layout)));
        group.bench_function("glibc", |bencher| bencher.iter(|| pair(&System, layout)));
        group.finish();
    }
    let layout = Layout::from_size_align(64, 8).expect("a layout");
    let mut blocks = Vec::with_capacity(1000);
    let mut group = criterion.benchmark_group("thousand_of_64_bytes");
    group.bench_function("alcedo", |bencher| bencher.iter(|| burst(&ModuleHeap, layout, &mut blocks)));
    group.bench_function("glibc", |bencher| bencher.iter(|| burst(&System, layout, &mut blocks)));
    group.finish();
}

criterion_group!(benches, heap);
criterion_main!(benches);
