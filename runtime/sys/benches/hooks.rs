//! Measures C functions that a module calls through recording hooks, compared with the C functions alone.
#![expect(unsafe_code, reason = "the hooks replace C functions")]

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod linux {
    use std::ffi::c_void;
    use std::hint::black_box;
    use std::ptr;

    use alcedo_sys::{Ledger, hooks};
    use criterion::Criterion;

    unsafe extern "C" fn nothing(_object: *mut c_void) {}

    pub(super) fn blocks(criterion: &mut Criterion) {
        let ledger = Ledger::new("bench");
        let word = ledger.word();
        let mut group = criterion.benchmark_group("malloc + free, 64 bytes");
        group.bench_function("c", |bencher| {
            bencher.iter(|| {
                // SAFETY: `malloc` accepts any size.
                let block = black_box(unsafe { libc::malloc(64) });
                // SAFETY: the block was allocated just now, and is freed once.
                unsafe { libc::free(block) };
            });
        });
        group.bench_function("hooked", |bencher| {
            bencher.iter(|| {
                // SAFETY: the word belongs to a live ledger.
                let block = black_box(unsafe { hooks::malloc(word, 64) });
                // SAFETY: the word belongs to a live ledger, and the block is freed once.
                unsafe { hooks::free(word, block) };
            });
        });
        group.finish();
    }

    pub(super) fn destructors(criterion: &mut Criterion) {
        let ledger = Ledger::new("bench");
        let word = ledger.word();
        criterion.bench_function("a thread-local destructor, registered and run", |bencher| {
            bencher.iter(|| {
                // SAFETY: the word belongs to a live ledger, and the destructor does nothing.
                unsafe { hooks::thread_atexit(word, nothing, ptr::null_mut(), ptr::null_mut()) };
                ledger.run_thread_locals_here()
            });
        });
        criterion.bench_function("a checkpoint while no image is going", |bencher| {
            bencher.iter(alcedo_sys::checkpoint);
        });
    }

    unsafe extern "C" fn return_at_once(argument: *mut c_void) -> *mut c_void {
        argument
    }

    pub(super) fn threads(criterion: &mut Criterion) {
        extern "C" fn plainly(argument: *mut c_void) -> *mut c_void {
            argument
        }
        let ledger = Ledger::new("bench");
        let word = ledger.word();
        let mut group = criterion.benchmark_group("a thread, started and joined");
        group.bench_function("c", |bencher| {
            bencher.iter(|| {
                let mut thread = 0;
                // SAFETY: the routine only returns its argument.
                unsafe { libc::pthread_create(&raw mut thread, ptr::null(), plainly, ptr::null_mut()) };
                // SAFETY: the thread was started just now.
                unsafe { libc::pthread_join(thread, ptr::null_mut()) }
            });
        });
        group.bench_function("hooked", |bencher| {
            bencher.iter(|| {
                let mut thread = 0;
                // SAFETY: the word belongs to a live ledger, and the routine only returns its argument.
                unsafe { hooks::thread_create(word, &raw mut thread, ptr::null(), return_at_once, ptr::null_mut()) };
                // SAFETY: the thread was started just now.
                unsafe { hooks::thread_join(word, thread, ptr::null_mut()) }
            });
        });
        group.finish();
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
criterion::criterion_group!(hooks, linux::blocks, linux::destructors, linux::threads);
#[cfg(all(target_os = "linux", target_env = "gnu"))]
criterion::criterion_main!(hooks);

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn main() {}
