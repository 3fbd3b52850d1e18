//! Measures the pause of a reload: the time for which the world is stopped ([`ReloadReport::pause`]). The pause includes waits for
//! finalizers, and excludes staging. The builds are release builds of `crowd`, which differ in one change each.
//!
//! The ids are `alcedo_CHANGE/COUNT` for objects of a class without a kept field, and `alcedo_CHANGE_with_a_kept_field/COUNT` for objects
//! of a class with one kept field. All objects have the defaults of their class. Each CHANGE is one of:
//!
//! * `unchanged`: only the build id differs;
//! * `constant`: a constant in the code differs, so the machine code differs and the declarations are equal;
//! * `default`: the default of the only property differs, and all objects use this default;
//! * `property_added`: the class has a second property;
//! * `base_inserted`: the class has a base class of the module between itself and `Object`.
//!
//! The suffix `_lazy` marks a class with one kept field that is rebuilt lazily. A use of all objects before each reload builds their parts.
//!
//! Measures only the reload to the changed build. The reload back to the first build is not timed. Between two reloads the benchmark waits
//! until the previous generation is unmapped. After each id, one more reload prints its peak memory.
//!
//! The baseline `boxes` visits the boxes of a `Vec<Box<[u64; 7]>>` and replaces each by a new box with the same content, without any
//! rollback.
//!
//! A million objects need minutes and some gigabytes. This count is measured only if `ALCEDO_BENCH_MILLION` is set.

mod support;

use std::hint::black_box;
use std::mem;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use alcedo_runtime::{ObjectHandle, ReloadReport, Runtime};
use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};

const COUNTS: [u64; 2] = [1_000, 100_000];

const MILLION: u64 = 1_000_000;

/// Environment variable that adds [`MILLION`] to the counts.
const WITH_MILLION: &str = "ALCEDO_BENCH_MILLION";

/// Names of the changes, each with the features of `crowd` that enable the change.
const CHANGES: [(&str, &[&str]); 5] = [
    ("unchanged", &[]),
    ("constant", &["other-constant"]),
    ("default", &["other-default"]),
    ("property_added", &["property-added"]),
    ("base_inserted", &["base-inserted"]),
];

/// Suffixes of the ids, each with the class of the reloaded objects.
const CLASSES: [(&str, &str); 3] =
    [("", "/Script/Game.Walker"), ("_with_a_kept_field", "/Script/Game.Runner"), ("_lazy", "/Script/Game.Sleeper")];

/// Content of a box: seven machine words, as in `rebuild.rs`.
type Part = [u64; 7];

fn pause(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pause");
    group.sampling_mode(SamplingMode::Flat);
    let million = std::env::var_os(WITH_MILLION).map(|_| MILLION);
    for count in COUNTS.into_iter().chain(million) {
        group.throughput(Throughput::Elements(count));
        group.bench_function(BenchmarkId::new("boxes", count), |bencher| {
            bencher.iter_custom(|rounds| time_boxes(count, rounds));
        });
        for (change, features) in CHANGES {
            for (suffix, class) in CLASSES {
                let name = format!("alcedo_{change}{suffix}");
                // Creates the objects in the first call, since criterion makes no call for an id that it filters out.
                let mut world = None;
                group.bench_function(BenchmarkId::new(&name, count), |bencher| {
                    let world = world.get_or_insert_with(|| World::new(features, class, count));
                    bencher.iter_custom(|rounds| (0..rounds).map(|_| world.time_change()).sum());
                });
                if let Some(world) = world {
                    world.print_peak(&name);
                    drop(world.runtime.shutdown());
                }
            }
        }
    }
    group.finish();
}

/// Host with objects, and two builds of its plugin.
struct World {
    runtime: Runtime,
    builds: [PathBuf; 2],
    objects: Vec<ObjectHandle>,
    count: u64,
}

impl World {
    fn new(features: &[&str], class: &str, count: u64) -> Self {
        let builds = support::changed_builds("crowd", features);
        let runtime = support::host(&builds[0]);
        let objects = (0..count).map(|_| runtime.objects().spawn(class).expect("an object")).collect();
        let world = Self { runtime, builds, objects, count };
        // The first reload allocates memory that later reloads reuse.
        let _first = world.time_change();
        world
    }

    /// Reloads to the changed build and back, and returns the pause of the first reload.
    fn time_change(&self) -> Duration {
        // Builds the parts of objects that are rebuilt lazily.
        for object in &self.objects {
            self.runtime.objects().call(*object, "made_by", &[]).expect("the call succeeds");
        }
        let pause = self.reload(&self.builds[1]).pause.total();
        self.reload(&self.builds[0]);
        pause
    }

    fn reload(&self, library: &Path) -> ReloadReport {
        let report = support::reload(&self.runtime, library);
        let parts = report.conjugates_rebuilt + report.conjugates_put_off;
        assert_eq!((parts, report.class_constructors_rerun), (self.count, 0));
        support::settle(&self.runtime);
        report
    }

    /// Prints the peak memory of one reload to the changed build.
    fn print_peak(&self, name: &str) {
        let reload = || support::reload(&self.runtime, &self.builds[1]);
        let (_report, support::Peak { before, peak }) = support::with_peak(reload);
        let more = peak.saturating_sub(before);
        let each = more * 1024 / self.count;
        eprintln!(
            "pause/{name}/{}: {before} KiB before the reload, peak {peak} KiB: {more} KiB more, {each} bytes per object",
            self.count
        );
    }
}

/// Returns the time that the baseline needs for `rounds` rounds.
fn time_boxes(count: u64, rounds: u64) -> Duration {
    let mut boxes: Vec<Box<Part>> = (0..count).map(|number| Box::new([number, 0, 0, 0, 0, 0, 0])).collect();
    let begun = Instant::now();
    for _ in 0..rounds {
        for old in black_box(&mut boxes) {
            let new = Box::new(black_box(**old));
            drop(mem::replace(old, new));
        }
    }
    let elapsed = begun.elapsed();
    drop(black_box(boxes));
    elapsed
}

criterion_group! { name = benches; config = support::config().sample_size(10); targets = pause }
criterion_main!(benches);
