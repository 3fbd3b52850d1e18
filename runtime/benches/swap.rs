//! Measures the pause of a host while the code of a small module is replaced, compared to two other methods. The first method is plain
//! `dlopen`, `dlsym` and `dlclose`. The library `cr` uses the second method: it copies the file first, so that a build can overwrite the
//! original. Both methods check nothing, keep no state and cannot roll back.
#![expect(unsafe_code, reason = "the compared methods map a library directly")]

mod support;

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use alcedo_runtime::{Phase, ReloadReport};
use criterion::{Criterion, criterion_group, criterion_main};
use libloading::Library;

/// Symbol that each plugin exports.
const SYMBOL: &[u8] = b"alcedo_root_module\0";

/// Number of reloads whose phases are printed.
const ROUNDS: usize = 201;

fn swap(criterion: &mut Criterion) {
    let builds = support::builds("magic-cube");
    let size = fs::metadata(&builds[0]).expect("the library is there").len();
    eprintln!("the module is a file of {} KiB", size / 1024);
    let mut group = criterion.benchmark_group("swap");

    let runtime = support::host(&builds[0]);
    runtime.objects().spawn("/Script/Game.MagicCube").expect("a cube");
    let mut next = builds.iter().cycle();
    group.bench_function("alcedo", |bencher| {
        bencher.iter_custom(|count| {
            let swap = |_| {
                let report = support::reload(&runtime, next.next().expect("they take turns"));
                // Measures from the first read of the file until the new code is live.
                report.phases.get(Phase::Stage) + report.phases.swap()
            };
            (0..count).map(swap).sum()
        });
    });
    group.bench_function("alcedo_until_the_old_is_unmapped", |bencher| {
        bencher.iter_custom(|count| {
            let begun = Instant::now();
            (0..count).for_each(|_| drop(support::reload(&runtime, next.next().expect("they take turns"))));
            begun.elapsed()
        });
    });
    print_phases((0..ROUNDS).map(|_| support::reload(&runtime, next.next().expect("they take turns"))).collect());
    drop(runtime.shutdown());

    group.bench_function("dlopen_dlsym_dlclose", |bencher| {
        let mut next = builds.iter().cycle();
        bencher.iter(|| open_and_close(next.next().expect("they take turns")));
    });
    let dir = tempfile::tempdir().expect("a folder");
    let mut copies = 0_u64;
    group.bench_function("cr_way", |bencher| {
        let mut next = builds.iter().cycle();
        bencher.iter(|| {
            copies += 1;
            let copy = dir.path().join(format!("copy-{copies}.so"));
            fs::copy(next.next().expect("they take turns"), &copy).expect("room for a copy");
            open_and_close(&copy);
            fs::remove_file(&copy).expect("the copy is there");
        });
    });
    group.finish();
}

/// Prints the median time of each phase.
fn print_phases(reports: Vec<ReloadReport>) {
    for phase in Phase::ALL {
        let mut times: Vec<_> = reports.iter().map(|report| report.phases.get(phase)).collect();
        times.sort_unstable();
        eprintln!("{:>10}  {:6.1} µs", phase.name(), times[times.len() / 2].as_secs_f64() * 1e6);
    }
}

fn open_and_close(library: &Path) {
    // SAFETY: the functions that the loader runs for a plugin only set addresses inside the plugin.
    let library = unsafe { Library::new(library) }.expect("the library opens");
    // SAFETY: the symbol is used only as an address.
    let symbol = unsafe { library.get::<*const ()>(SYMBOL) }.expect("every plugin has it");
    black_box(*symbol);
    library.close().expect("the library closes");
}

criterion_group! { name = benches; config = Criterion::default().sample_size(50); targets = swap }
criterion_main!(benches);
