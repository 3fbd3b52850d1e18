//! Measures worlds on disk with 100,000 objects of `Runner` in a release build of `crowd`. The objects differ in the values of their
//! property and of their kept field.
//!
//! The ids of the group `worlds_disk` are `alcedo` and `ciborium`, each with the parameters `save` and `load`. The baseline writes the same
//! data as plain structs with `ciborium`: the class as an index, name, root flag and both numbers. Both implementations write a temporary
//! file, sync it and rename it. The baseline encodes all data in memory first, and computes no digest. Both implementations load from the
//! file. Each load destroys the objects that the loaded objects replace. Between two loads, the host waits for the finalizers of the
//! replaced objects. This wait is not timed.

mod support;

use std::fs::{self, File};
use std::io::Write as _;
use std::mem;
use std::path::Path;
use std::time::{Duration, Instant};

use alcedo_runtime::{Runtime, Value};
use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

const OBJECTS: u64 = 100_000;

const CLASS: &str = "/Script/Game.Runner";

/// World of the baseline, stored as plain structs.
#[derive(Serialize, Deserialize)]
struct Plain {
    classes: Vec<String>,
    objects: Vec<Runner>,
}

#[derive(Serialize, Deserialize)]
struct Runner {
    class: u32,
    name: String,
    is_root: bool,
    speed: f64,
    run: f64,
}

fn worlds(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let [ours, plains] = ["saved.world", "saved.cbor"].map(|name| folder.path().join(name));
    let builds = support::builds("crowd");
    let runtime = support::host(&builds[0]);
    let mut plain = populate(&runtime);
    // Both files must exist before the first load, even in a run that selects only the loads.
    assert_eq!(runtime.worlds().save(&ours).expect("a saved world"), OBJECTS);
    save(&plain, &plains);
    for file in [&ours, &plains] {
        let size = fs::metadata(file).expect("the file is there").len();
        eprintln!("{} has {} KiB, {} bytes per object", file.display(), size / 1024, size / OBJECTS);
    }

    let mut group = criterion.benchmark_group("worlds_disk");
    group.throughput(Throughput::Elements(OBJECTS)).sampling_mode(SamplingMode::Flat);
    group.bench_function(BenchmarkId::new("alcedo", "save"), |bencher| {
        bencher.iter(|| runtime.worlds().save(&ours).expect("a saved world"));
    });
    group.bench_function(BenchmarkId::new("ciborium", "save"), |bencher| bencher.iter(|| save(&plain, &plains)));
    group.bench_function(BenchmarkId::new("alcedo", "load"), |bencher| {
        bencher.iter_custom(|rounds| (0..rounds).map(|_| time_load(&runtime, &ours)).sum());
    });
    group.bench_function(BenchmarkId::new("ciborium", "load"), |bencher| {
        bencher.iter(|| drop(mem::replace(&mut plain, load(&plains))));
    });
    group.finish();
    drop(runtime.shutdown());
}

/// Creates the objects, and returns their data as plain structs.
fn populate(runtime: &Runtime) -> Plain {
    let objects = (0..OBJECTS).map(|number| {
        let object = runtime.objects().spawn(CLASS).expect("an object");
        // Uses a value that differs from the default and needs all bytes of an `f64`.
        let speed = 5.0 + number as f64 * 1e-3;
        runtime.objects().set(object, "speed", &Value::F64(speed)).expect("a number");
        let run = runtime.objects().call(object, "run_for", &[Value::F64(1.0)]).expect("a runner");
        assert_eq!(run, Some(Value::F64(speed)));
        Runner { class: 0, name: format!("Runner_{number}"), is_root: true, speed, run: speed }
    });
    Plain { objects: objects.collect(), classes: vec![CLASS.to_owned()] }
}

/// Writes the file of the baseline as the runtime writes a world: replaces it atomically, and syncs the file and its folder.
fn save(plain: &Plain, path: &Path) {
    let mut bytes = Vec::new();
    ciborium::into_writer(plain, &mut bytes).expect("plain data");
    let folder = path.parent().expect("a file in a folder");
    let mut file = NamedTempFile::new_in(folder).expect("a file");
    file.write_all(&bytes).expect("room for the data");
    file.as_file().sync_all().expect("a disk");
    drop(file.persist(path).expect("the same file system"));
    File::open(folder).and_then(|folder| folder.sync_all()).expect("a disk");
}

fn load(path: &Path) -> Plain {
    let bytes = fs::read(path).expect("a saved file");
    let plain: Plain = ciborium::from_reader(bytes.as_slice()).expect("the saved data");
    assert_eq!(plain.objects.len() as u64, OBJECTS);
    plain
}

/// Returns the time that one load needs, including the destruction of the current objects.
fn time_load(runtime: &Runtime, path: &Path) -> Duration {
    let begun = Instant::now();
    let report = runtime.worlds().load(path).expect("a saved world");
    let elapsed = begun.elapsed();
    assert_eq!((report.objects, report.replaced, report.fields_kept), (OBJECTS, OBJECTS, OBJECTS));
    support::settle(runtime);
    elapsed
}

criterion_group! { name = benches; config = support::config(); targets = worlds }
criterion_main!(benches);
