//! Uses the plugin's own allocator instead of the module heap.

use std::thread;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let take = || (0..1000).map(|size| vec![1_u8; size].len()).sum::<usize>();
    let elsewhere = thread::spawn(take).join().ok();
    if (Some(take()), elsewhere) == (Some(499_500), Some(499_500)) { "ok".to_owned() } else { "no".to_owned() }
}

pub(crate) fn end() {}
