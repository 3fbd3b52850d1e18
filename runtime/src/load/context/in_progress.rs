//! Loads in progress in all contexts of this process. `waits.rs` decides which loading steps may begin, and this file blocks the threads
//! whose steps must wait. The table is unlocked during a wait, and while resolvers, mains and listeners run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, LazyLock, Mutex, PoisonError};
use std::thread::{self, ThreadId};

use crate::load::context::waits::{DEEPEST, Never, Sort, Table, Work};
use crate::load::error::context::ContextError;
use crate::sync::lock;

/// Loads of all runtimes in the process. A resolver of one runtime may load modules into a context of a second runtime.
static TABLE: LazyLock<Mutex<Table<ThreadId>>> = LazyLock::new(Mutex::default);
static ENDED: Condvar = Condvar::new();

/// Returns a unique number for a context or a generation. The number distinguishes loads of equally named modules into different contexts
/// or generations.
pub(super) fn next_scope() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}

/// Guard of a loading step. Dropping the guard ends only this step. A step of a coroutine can end later than the step that started the
/// coroutine.
#[must_use = "the step ends when this is dropped"]
pub(super) struct StepGuard {
    thread: ThreadId,
    number: u64,
}

/// Begins a step on this thread. Waits while a concurrent thread has claimed an entry of `works`. Returns [`ContextError::LoadCycle`] if
/// the wait would be a deadlock, and [`ContextError::LoadTooDeep`] if too many resolver calls are nested.
pub(super) fn begin(sort: Sort, works: &[Work]) -> Result<StepGuard, ContextError> {
    let here = thread::current().id();
    let mut table = lock(&TABLE);
    loop {
        match table.begin(here, sort, works) {
            Ok(Some(number)) => return Ok(StepGuard { thread: here, number }),
            Ok(None) => table = ENDED.wait(table).unwrap_or_else(PoisonError::into_inner),
            Err(Never::Cycle(chain)) => return Err(ContextError::LoadCycle { chain }),
            Err(Never::TooDeep) => {
                let requested = works.iter().map(|work| work.step().to_string()).collect::<Vec<_>>().join(", ");
                return Err(ContextError::LoadTooDeep { requested, limit: DEEPEST });
            }
        }
    }
}

impl Drop for StepGuard {
    fn drop(&mut self) {
        if lock(&TABLE).end(self.thread, self.number) {
            ENDED.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::{Sort, begin, next_scope};
    use crate::load::context::waits::Work;
    use crate::load::error::context::{ContextError, LoadRequest};

    fn works<const N: usize>() -> [Work; N] {
        let scope = next_scope();
        std::array::from_fn(|at| Work::new(scope, "here".into(), LoadRequest::Module(format!("m{at}"))))
    }

    #[test]
    fn a_claim_of_one_thread_excludes_other_threads() {
        let (works, inside) = (works::<2>(), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for at in 0..4 {
                let (works, inside) = (&works, &inside);
                scope.spawn(move || {
                    for _ in 0..200 {
                        let _asking = begin(Sort::Asking, &works[at % 2..][..1]).expect("no cycle");
                        let _claimed = begin(Sort::Claiming, works).expect("no cycle");
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        assert_eq!(inside.fetch_sub(1, Ordering::SeqCst), 1);
                    }
                });
            }
        });
    }

    #[test]
    fn the_last_thread_of_a_wait_cycle_is_refused() {
        const THREADS: usize = 3;
        for _ in 0..100 {
            let (works, all_have_one) = (works::<THREADS>(), Barrier::new(THREADS));
            let refused = std::thread::scope(|scope| {
                let threads = [0, 1, 2].map(|at| {
                    let (works, all_have_one) = (&works, &all_have_one);
                    scope.spawn(move || {
                        let _own = begin(Sort::Claiming, &works[at..=at]).expect("no other thread claims it yet");
                        all_have_one.wait();
                        let next = (at + 1) % THREADS;
                        begin(Sort::Asking, &works[next..=next]).map(drop)
                    })
                });
                threads
                    .map(|thread| thread.join().expect("no panic"))
                    .into_iter()
                    .filter_map(Result::err)
                    .collect::<Vec<_>>()
            });
            let [ContextError::LoadCycle { chain }] = &refused[..] else { panic!("{refused:?}") };
            assert_eq!((chain.len(), chain.first()), (THREADS + 1, chain.last()));
        }
    }
}
