//! Measures calls from the host that `calls.rs` does not contain. These calls use glue code, inherited functions, static functions,
//! functions with six parameters, and native methods. Uses release builds of `carousel` and `grid`.
//!
//! * `kept_function`: `c_pointer` is a C function of the host. `uf` is a function of an object's own class, and `inherited` a function that
//!   this class inherits from another class of the module. `glue` and `glue_inherited` call these two functions through `host_class!`.
//!   `host_body` calls a native method by its name, and `accessor` calls this method through the native view of the class. `static` is a
//!   static function of a class, and `six` a function with six parameters.
//! * `kept_property`: reads and writes a property. `up` uses its name and Rust type, `glue` uses `host_class!`, and `accessor` uses the
//!   native view of a class.

mod support;

use std::hint::black_box;

use alcedo_runtime::host::TypedFunction;
use alcedo_runtime::native::{Obj, Object, This, uclass};
use alcedo_runtime::{Runtime, natives};
use criterion::{Criterion, criterion_group, criterion_main};

#[path = "../tests/grid/natives.rs"]
#[allow(dead_code, reason = "the benchmark measures only a part of the grid")]
mod grid;

alcedo_runtime::host_class! {
    /// Class `Horse` of the plugin `carousel`.
    pub Horse: Object = "/Script/Game.Horse", members HorseMembers, extends [Horse];
    properties {
        /// Mood of the horse.
        mood / set_mood "mood": i32;
    }
    values {}
    delegates {}
    functions {
        /// Returns the sum of two numbers.
        add "add"(left: i32, right: i32) -> i32;
    }
    dynamic {}
}

/// A class of the host.
#[uclass(package = "Test", blueprintable)]
#[derive(Default)]
struct Gauge {
    #[uproperty]
    level: i32,
}

#[uclass]
impl Gauge {
    #[ufunction]
    fn add(&self, left: i32, right: i32) -> i32 {
        left.wrapping_add(right)
    }
}

extern "C" fn c_add(left: i32, right: i32) -> i32 {
    left.wrapping_add(right)
}

fn functions(criterion: &mut Criterion) {
    let (carousel, gridded) = (support::builds("carousel"), support::builds("grid"));
    let builder = Runtime::builder().package("Game").natives(alcedo_engine::natives()).natives(natives![Gauge]);
    let host = builder.natives(grid::declared()).build().expect("a runtime");
    host.create_master(&[&carousel[0], &gridded[0]]).expect("they load");
    let spawn = |class: &str| host.objects().spawn(class).expect("born");
    let [horse, pony, gauge] = ["/Script/Game.Horse", "/Script/Game.Pony", "/Script/Test.Gauge"].map(spawn);

    let mut group = criterion.benchmark_group("kept_function");
    let pointer: extern "C" fn(i32, i32) -> i32 = black_box(c_add);
    group.bench_function("c_pointer", |bencher| bencher.iter(|| pointer(black_box(1), black_box(2))));
    let add: TypedFunction<(Obj<Object>, i32, i32), i32> = host.function("uf:/Script/Game.Horse:add").expect("there");
    for (id, object) in [("uf", horse), ("inherited", pony)] {
        let object = Obj::new(object);
        group.bench_function(id, |bencher| bencher.iter(|| add.call((black_box(object), black_box(1), black_box(2)))));
    }
    for (id, object) in [("glue", horse), ("glue_inherited", pony)] {
        let object: Obj<Horse> = Obj::new(object);
        group.bench_function(id, |bencher| {
            bencher.iter(|| black_box(object).add(&host, black_box(1), black_box(2)));
        });
    }
    let own: TypedFunction<(Obj<Object>, i32, i32), i32> = host.function("uf:/Script/Test.Gauge:add").expect("there");
    let object = Obj::new(gauge);
    group.bench_function("host_body", |bencher| {
        bencher.iter(|| own.call((black_box(object), black_box(1), black_box(2))));
    });
    group.bench_function("accessor", |bencher| {
        let gauge: Obj<Gauge> = Obj::new(gauge);
        let within = |gauge: This<'_, Gauge>| bencher.iter(|| black_box(gauge).try_add(black_box(1), black_box(2)));
        host.objects().with(gauge, within).expect("it lives");
    });
    let double: TypedFunction<(i32,), i32> = host.function("uf:/Script/Game.Cell:double").expect("there");
    group.bench_function("static", |bencher| bencher.iter(|| double.call((black_box(1),))));
    let six: TypedFunction<(u8, i16, u32, f32, f64, bool), f64> = host.function("ex:/grid.numbers").expect("there");
    group.bench_function("six", |bencher| {
        bencher.iter(|| six.call((black_box(1), black_box(2), black_box(3), black_box(4.0), black_box(5.0), true)));
    });
    group.finish();

    let mut group = criterion.benchmark_group("kept_property");
    let mood = host.property::<i32>("up:/Script/Game.Horse:mood").expect("there");
    group.bench_function("up", |bencher| bencher.iter(|| mood.get(black_box(horse))));
    group.bench_function("up_write", |bencher| bencher.iter(|| mood.set(black_box(horse), black_box(0))));
    let glue: Obj<Horse> = Obj::new(horse);
    group.bench_function("glue", |bencher| bencher.iter(|| black_box(glue).mood(&host)));
    group.bench_function("glue_write", |bencher| bencher.iter(|| black_box(glue).set_mood(&host, black_box(0))));
    let gauge: Obj<Gauge> = Obj::new(gauge);
    group.bench_function("accessor", |bencher| {
        let within = |gauge: This<'_, Gauge>| bencher.iter(|| black_box(gauge).level());
        host.objects().with(gauge, within).expect("it lives");
    });
    group.bench_function("accessor_write", |bencher| {
        let within = |gauge: This<'_, Gauge>| bencher.iter(|| black_box(gauge).try_set_level(black_box(3)));
        host.objects().with(gauge, within).expect("it lives");
    });
    group.finish();
    drop(host.shutdown());
}

criterion_group! { name = benches; config = support::config(); targets = functions }
criterion_main!(benches);
