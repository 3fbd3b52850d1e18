//! Measures a frame with ten thousand actors in a release build of `carousel`. The tick of each actor rotates the actor.
//!
//! * `tick_10000`: `alcedo` is [`Runtime::tick`] of a host with the sample engine, including all other tasks of a frame. `boxes` is a loop
//!   over a `Vec<Box<dyn Tick>>` whose elements have the same fields and compute the same results. Each time is for a whole frame.
//! * `tick_10000_changing`: each frame also destroys the first actor of the list, and appends a new actor.

mod support;

use std::collections::VecDeque;
use std::hint::black_box;

use alcedo_runtime::{Budget, Value};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const ACTORS: u64 = 10_000;

trait Tick {
    fn tick(&mut self, delta: f32);
}

/// Fields that the tick of a horse reads or writes.
struct Horse {
    can_tick: bool,
    speed: f64,
    turned: f64,
}

impl Tick for Horse {
    fn tick(&mut self, delta: f32) {
        if self.can_tick {
            self.turned += self.speed * f64::from(delta);
        }
    }
}

fn tick(criterion: &mut Criterion) {
    let builds = support::builds("carousel");
    let runtime = support::host(&builds[0]);
    let horses: Vec<_> = (0..ACTORS).map(|_| runtime.objects().spawn("/Script/Game.Horse").expect("a horse")).collect();
    let mut boxes: Vec<Box<dyn Tick>> = Vec::new();
    (0..ACTORS).for_each(|_| boxes.push(Box::new(Horse { can_tick: true, speed: 90.0, turned: 0.0 })));
    let delta = Budget::frame().seconds;
    runtime.tick(Budget::frame());
    let turned = Value::F64(90.0 * f64::from(delta));
    assert_eq!(runtime.objects().call(horses[7], "degrees", &[]).expect("it turns"), Some(turned));
    let mut group = criterion.benchmark_group("tick_10000");
    group.throughput(Throughput::Elements(ACTORS));
    group.bench_function("alcedo", |bencher| bencher.iter(|| runtime.tick(Budget::frame())));
    group.bench_function("boxes", |bencher| {
        bencher.iter(|| black_box(&mut boxes).iter_mut().for_each(|horse| horse.tick(black_box(delta))));
    });
    group.finish();
    let mut group = criterion.benchmark_group("tick_10000_changing");
    group.throughput(Throughput::Elements(ACTORS));
    let mut horses = VecDeque::from(horses);
    group.bench_function("alcedo", |bencher| {
        bencher.iter(|| {
            horses.pop_front().into_iter().for_each(|first| runtime.objects().destroy(first));
            horses.push_back(runtime.objects().spawn("/Script/Game.Horse").expect("a horse"));
            runtime.tick(Budget::frame());
        });
    });
    let mut boxes = VecDeque::from(boxes);
    group.bench_function("boxes", |bencher| {
        bencher.iter(|| {
            drop(boxes.pop_front());
            boxes.push_back(Box::new(Horse { can_tick: true, speed: 90.0, turned: 0.0 }));
            black_box(&mut boxes).iter_mut().for_each(|horse| horse.tick(black_box(delta)));
        });
    });
    group.finish();
    drop(runtime.shutdown());
}

criterion_group! { name = benches; config = support::config(); targets = tick }
criterion_main!(benches);
