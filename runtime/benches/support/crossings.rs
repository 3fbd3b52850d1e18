//! Provides the measured calls of Alcedo, and two equivalent calls in plain Rust. `calls.rs` and the benchmark of `peers` run these calls.
//! The benchmark of `peers` also measures other libraries, in the same run.

use std::hint::black_box;
use std::time::{Duration, Instant};

use alcedo_runtime::host::{ObjectList, TypedFunction};
use alcedo_runtime::native::{Obj, Object, This, uclass};
use alcedo_runtime::tables::OfContext;
use alcedo_runtime::{CallError, LoadContext, ObjectHandle, Runtime, Value, natives};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Throughput};

use crate::support;

/// Number of loop rounds in the plugin in one criterion iteration.
pub(crate) const ROUNDS: u64 = 1_000;

/// Number of objects in a batch. The measured time of a batch is the sum for all its objects.
const MANY: u64 = 1_000;

/// Host class that the plugin's class extends.
#[uclass(package = "Test", blueprintable)]
#[derive(Default)]
struct Adder {
    #[uproperty]
    total: i32,
    counted: i32,
}

#[uclass]
impl Adder {
    #[ufunction]
    fn add_inside(&self, left: i32, right: i32) -> i32 {
        left.wrapping_add(right)
    }

    #[ufunction]
    fn add_apart(left: i32, right: i32) -> i32 {
        left.wrapping_add(right)
    }

    #[ufunction(blueprint_native_event)]
    fn sum_up(&self, left: i32, right: i32) -> i32;
    fn sum_up_implementation(&self, left: i32, right: i32) -> i32 {
        left.wrapping_add(right)
    }

    #[ufunction]
    fn count(&mut self, number: i32) -> Result<i32, CallError> {
        assert!(number >= 0, "{number} is below zero");
        if number == 0 {
            return Err(CallError::returned("nothing to count"));
        }
        self.counted += number;
        Ok(self.counted)
    }

    #[ufunction]
    fn end(&self) -> i32 {
        0
    }

    #[ufunction]
    fn end_badly(&self) -> Result<i32, CallError> {
        Err(CallError::returned("nothing ends here"))
    }

    #[ufunction]
    fn count_sum(&mut self, this: This<Self>) -> Result<i32, CallError> {
        self.counted += this.sum_up(1, 1);
        Ok(self.counted)
    }
}

extern "C" fn add_plain(left: i32, right: i32) -> i32 {
    left.wrapping_add(right)
}

trait Add {
    fn add(&self, left: i32, right: i32) -> i32;
}

struct Plain;

impl Add for Plain {
    fn add(&self, left: i32, right: i32) -> i32 {
        left.wrapping_add(right)
    }
}

/// Entry tables that the plugin `exchange` and its host declare.
mod tables {
    use alcedo_runtime as alcedo;

    include!("../../tests/plugins/exchange/src/tables.rs");
}

/// A Slim, and the entry table that the module in the Slim declares.
struct Apart {
    sums: tables::Scores<OfContext>,
    _slim: LoadContext,
}

fn apart(runtime: &Runtime) -> Apart {
    let slim = runtime.contexts().create_slim("apart").expect("the name is free");
    slim.load_path(&support::builds("exchange")[0]).expect("the plugin loads");
    Apart { sums: slim.table("exchange").expect("it is there"), _slim: slim }
}

fn host() -> (Runtime, ObjectHandle) {
    let builds = support::builds("crossings");
    let runtime = Runtime::builder().package("Game").natives(natives![Adder]).build().expect("a runtime");
    let calls = runtime.calls();
    calls
        .register_leaf("host.add_leaf", |(left, right): (i32, i32)| left.wrapping_add(right))
        .expect("the name is free");
    calls
        .register_typed("host.add", |_, (left, right): (i32, i32)| left.wrapping_add(right))
        .expect("the name is free");
    let engine = tables::Engine {
        add: |left, right| i32::wrapping_add(left, right),
        count: || {},
        fail: |_| false,
        sum: |_, _, _, _, _, _, _, sum| sum,
    };
    runtime.tables().offer(engine).expect("the name is free");
    let signature = "i32, i32 -> i32".parse().expect("a signature");
    calls
        .register("host.add_values", signature, |_, values| match values {
            [Value::I32(left), Value::I32(right)] => Ok(Some(Value::I32(left.wrapping_add(*right)))),
            _ => Ok(None),
        })
        .expect("the name is free");
    runtime.create_master(&[&builds[0], &support::builds("exchange")[0]]).expect("the plugin loads");
    let crossing = runtime.objects().spawn("/Script/Game.Crossing").expect("an object");
    (runtime, crossing)
}

/// Adds the benchmarks of the group `call_host_to_plugin` to `group`.
pub(crate) fn host_to_plugin(group: &mut BenchmarkGroup<'_, WallTime>) {
    let (runtime, crossing) = host();
    let plain = black_box(add_plain as extern "C" fn(i32, i32) -> i32);
    group.bench_function("c_pointer", |bencher| bencher.iter(|| plain(black_box(20), black_box(22))));
    let object: Box<dyn Add> = black_box(Box::new(Plain));
    group.bench_function("dyn_trait", |bencher| bencher.iter(|| object.add(black_box(20), black_box(22))));
    for (id, name) in [("alcedo_ex", "ex:/crossings.add"), ("alcedo_nm", "nm:/crossings:Sums:add")] {
        let add: TypedFunction<(i32, i32), i32> = runtime.function(name).expect(name);
        assert_eq!(add.call((20, 22)).expect(name), 42);
        group.bench_function(id, |bencher| bencher.iter(|| add.call((black_box(20), black_box(22))).expect(name)));
    }
    for (id, name) in
        [("alcedo_uf", "uf:/Script/Game.Crossing:add"), ("alcedo_uf_final", "uf!:/Script/Game.Crossing:add")]
    {
        let add: TypedFunction<(Obj<Object>, i32, i32), i32> = runtime.function(name).expect(name);
        let object = Obj::new(crossing);
        assert_eq!(add.call((object, 20, 22)).expect(name), 42);
        group.bench_function(id, |bencher| {
            bencher.iter(|| add.call((object, black_box(20), black_box(22))).expect(name));
        });
    }
    let add: TypedFunction<(i32, i32), i32> = runtime.function("ex:/crossings.add").expect("it is there");
    add.hot(|add| {
        assert_eq!(add.call((20, 22)).expect("a sum"), 42);
        group.bench_function("alcedo_pointer", |bencher| {
            bencher.iter(|| add.call((black_box(20), black_box(22))).expect("a sum"));
        });
    })
    .expect("there is a pointer");
    let sums: tables::Scores = runtime.tables().of_module("exchange").expect("it is there");
    group.bench_function("alcedo_table", |bencher| {
        bencher.iter(|| sums.add_here.call((black_box(20), black_box(22))).expect("a sum"));
    });
    let measured = sums.add_here.hot(|add| {
        group.bench_function("alcedo_table_pointer", |bencher| {
            bencher.iter(|| add.call((black_box(20), black_box(22))).expect("a sum"));
        });
    });
    measured.expect("there is a pointer");
    let apart = apart(&runtime);
    group.bench_function("alcedo_table_slim", |bencher| {
        bencher.iter(|| apart.sums.add_here.call((black_box(20), black_box(22))).expect("a sum"));
    });
    let measured = apart.sums.add_here.hot(|add| {
        group.bench_function("alcedo_table_slim_pointer", |bencher| {
            bencher.iter(|| add.call((black_box(20), black_box(22))).expect("a sum"));
        });
    });
    measured.expect("it is loaded");
    let number = runtime.property::<i32>("up:/Script/Game.Crossing:number").expect("it is there");
    number.set(crossing, 7).expect("written");
    assert_eq!(number.get(crossing).expect("read"), 7);
    group.bench_function("alcedo_up", |bencher| bencher.iter(|| number.get(black_box(crossing)).expect("read")));
    group.bench_function("alcedo_up_write", |bencher| {
        bencher.iter(|| number.set(black_box(crossing), black_box(7)).expect("written"));
    });
    let crossings: Vec<_> =
        (0..MANY).map(|_| runtime.objects().spawn("/Script/Game.Crossing").expect("an object")).collect();
    let crossings = ObjectList::from(crossings);
    let batch = runtime.batch::<(i32, i32), i32>("uf:/Script/Game.Crossing:add").expect("it is there");
    group.throughput(Throughput::Elements(MANY));
    group.bench_function("alcedo_batch", |bencher| {
        bencher.iter(|| {
            let report = batch.call_list(&crossings, (black_box(20), black_box(22))).expect("called");
            assert_eq!((report.called as u64, report.crossings), (MANY, 1));
        });
    });
    group.throughput(Throughput::Elements(1));
    let handle = runtime.calls().resolve("ex:/crossings.add").expect("it is there");
    let arguments = [Value::I32(20), Value::I32(22)];
    group.bench_function("alcedo_dynamic", |bencher| {
        bencher.iter(|| runtime.calls().call_handle(handle, black_box(&arguments)).expect("a sum"));
    });
    drop(runtime.shutdown());
}

/// Adds the benchmarks of the group `call_plugin_to_host`. One round of a benchmark makes [`ROUNDS`] calls.
pub(crate) fn plugin_to_host(group: &mut BenchmarkGroup<'_, WallTime>) {
    let (runtime, crossing) = host();
    group.throughput(Throughput::Elements(ROUNDS));
    let names = |name: &str| vec![Value::Text(name.to_owned())];
    for (id, looping, first) in [
        ("c_pointer", "nm:/crossings:Sums:call_often_plain", vec![]),
        ("dyn_trait", "nm:/crossings:Sums:call_often_dyn", vec![]),
        ("alcedo_pointer", "nm:/crossings:Sums:call_often_hot", names("ex:/host.add_leaf")),
        ("alcedo_leaf", "nm:/crossings:Sums:call_often", names("ex:/host.add_leaf")),
        ("alcedo_ex", "nm:/crossings:Sums:call_often", names("ex:/host.add")),
        ("alcedo_table", "nm:/exchange:Scores:add_often", vec![]),
        ("alcedo_table_pointer", "nm:/exchange:Scores:add_often_hot", vec![]),
        ("alcedo_uf", "uf:/Script/Game.Crossing:event_often", vec![Value::Object(crossing)]),
        ("alcedo_uf_override", "uf:/Script/Game.Crossing:override_often", vec![Value::Object(crossing)]),
        ("alcedo_nm", "nm:/crossings:Sums:call_often", names("nm:/crossings:Sums:add")),
        ("alcedo_up", "uf:/Script/Game.Crossing:property_often", vec![Value::Object(crossing)]),
        ("alcedo_batch", "uf:/Script/Game.Crossing:method_on_each_often", vec![Value::Object(crossing)]),
        ("alcedo_values", "nm:/crossings:Sums:call_often", names("ex:/host.add_values")),
        ("alcedo_dynamic", "uf:/Script/Game.Crossing:values_often", vec![Value::Object(crossing)]),
        ("alcedo_by_name", "nm:/crossings:Sums:call_by_name_often", names("ex:/host.add")),
        ("alcedo_method", "uf:/Script/Game.Crossing:method_often", vec![Value::Object(crossing)]),
    ] {
        group.bench_function(id, |bencher| {
            bencher.iter_custom(|rounds| time(&runtime, looping, &first, rounds * ROUNDS));
        });
    }
    let Apart { sums, _slim } = apart(&runtime);
    for (id, looping) in [("alcedo_table_slim", &sums.add_often), ("alcedo_table_slim_pointer", &sums.add_often_hot)] {
        group.bench_function(id, |bencher| {
            bencher.iter_custom(|rounds| {
                let (rounds, start) = (rounds * ROUNDS, Instant::now());
                assert_eq!(looping.call((rounds,)).expect("a loop"), rounds as i32, "it has added one each time");
                start.elapsed()
            });
        });
    }
    drop(runtime.shutdown());
}

fn time(runtime: &Runtime, looping: &str, first: &[Value], rounds: u64) -> Duration {
    let arguments: Vec<_> = first.iter().cloned().chain([Value::U64(rounds)]).collect();
    let start = Instant::now();
    let sum = runtime.calls().call(looping, &arguments).expect("a loop");
    assert_eq!(sum, Some(Value::I32(rounds as i32)), "it has added one each time");
    start.elapsed()
}
