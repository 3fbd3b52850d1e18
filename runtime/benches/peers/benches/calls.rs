//! Compares calls across an ABI boundary with two `i32` arguments and a result. Measures each kind of call in Alcedo, and calls through
//! other libraries. All calls run in one process, so that their times are comparable. `runtime/benches/calls.rs` describes the ids of
//! Alcedo, and `src/peers.rs` the other libraries.
//!
//! `cd runtime/benches/peers && cargo bench` runs this benchmark. With `cargo bench -- --quick` the run takes a minute.

#[path = "../../support/mod.rs"]
mod support;

#[path = "../../support/crossings.rs"]
mod crossings;

use std::hint::black_box;
use std::time::Instant;

use alcedo_peers::peers;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use crossings::ROUNDS;

fn host_to_plugin(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("call_host_to_plugin");
    crossings::host_to_plugin(&mut group);
    for (id, mut peer) in peers::all() {
        assert_eq!(peer.there(20, 22), 42, "{id}");
        group.bench_function(id, |bencher| bencher.iter(|| peer.there(black_box(20), black_box(22))));
    }
    group.finish();
}

fn plugin_to_host(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("call_plugin_to_host");
    group.throughput(Throughput::Elements(ROUNDS));
    crossings::plugin_to_host(&mut group);
    for (id, mut peer) in peers::all() {
        group.bench_function(id, |bencher| {
            bencher.iter_custom(|rounds| {
                let start = Instant::now();
                let sum = peer.back(rounds * ROUNDS);
                assert_eq!(sum, (rounds * ROUNDS) as i32, "it has added one each time");
                start.elapsed()
            });
        });
    }
    group.finish();
}

criterion_group! { name = benches; config = support::config(); targets = host_to_plugin, plugin_to_host }
criterion_main!(benches);
