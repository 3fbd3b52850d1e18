//! Removes alternate signal stacks that images have set for threads. The memory of such a stack is freed with a thread-local or with the
//! image, and the kernel would then use freed memory. Therefore the previous stack of each thread is restored. Only the thread itself can
//! change its alternate stack, so the image stays mapped until the thread has done so.
//!
//! Several images may replace the stack of one thread in turn, and may end in any order.

use std::ffi::c_int;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::c::kernel;
use super::c::signals::Stack;
use super::lock;
use super::names::describe_thread;
use crate::ledger::repair::Repair;
use crate::ledger::{Holder, HolderKind, Ledger};

pub(super) const REPAIR: Repair = Repair {
    name: "an alternate signal stack",
    holders: |image, all| all.extend(holders(image)),
    facts: |image, facts| {
        let (here, of_image) = (kernel::own_tid(), of_image(image));
        facts.locals_here |= of_image.iter().any(|(tid, _)| *tid == here);
        facts.locals_elsewhere |= of_image.iter().any(|(tid, _)| *tid != here);
    },
    redirect_references: |_, is_ours, report| report.put_back.extend(remove_here(is_ours)),
    free: |gone, report| {
        report.put_back.extend(remove_here(gone.image().records.memory(gone.image())));
        // Leaves threads unchanged that still use a stack of the image.
        lock(&RECORDS).retain(|set| !set.ledger.is(gone.image()));
    },
    ..Repair::NONE
};

/// Stacks that images have set, for all images and threads. The stacks of one thread are in the order in which they were set.
static RECORDS: Mutex<Vec<Set>> = Mutex::new(Vec::new());

struct Set {
    ledger: Arc<Ledger>,
    tid: i32,
    since: Instant,
    now: Stack,
    before: Stack,
}

/// Calls `set`, which executes `sigaltstack` for one image, and records the new stack if `is_new` is `true`. `arm` requests a notification
/// when the thread ends.
pub(super) fn set(ledger: Arc<Ledger>, is_new: bool, set: impl FnOnce() -> c_int, arm: impl FnOnce()) -> c_int {
    let before = Stack::here();
    let result = set();
    if let Ok(before) = before
        && result == 0
        && is_new
        && let Ok(now) = Stack::here()
    {
        // Requests the notification before adding the record, so that the end of every thread with a record is noticed.
        arm();
        note(&mut lock(&RECORDS), ledger, kernel::own_tid(), now, before);
    }
    result
}

/// Records that an image has replaced a stack of a thread.
fn note(records: &mut Vec<Set>, ledger: Arc<Ledger>, tid: i32, now: Stack, before: Stack) {
    let own = records.iter().position(|set| set.tid == tid && Arc::ptr_eq(&set.ledger, &ledger));
    let first = match own {
        // If an image replaces its own stack, the stack before the image's first stack must be restored. If another image has set a stack
        // in between, the image's own stack is no longer in use.
        Some(at) => take_out(records, at).1,
        None => before,
    };
    // An image that has set the previous stack again needs no record.
    if !now.is(first) {
        // If another image has set the stack `before`, records `before`. `take_out` replaces it when this other image is unmapped.
        let is_of_image = records.iter().any(|set| set.tid == tid && set.now.is(before));
        let before = if is_of_image && !first.is(before) { before } else { first };
        records.push(Set { ledger, tid, since: Instant::now(), now, before });
    }
}

/// Removes the record at index `at`. Records that would restore the removed stack will restore the stack before it instead. Returns the
/// removed stack and the stack before it.
fn take_out(records: &mut Vec<Set>, at: usize) -> (Stack, Stack) {
    let Set { tid, now, before, .. } = records.remove(at);
    for other in records.iter_mut().filter(|set| set.tid == tid && set.before.is(now)) {
        other.before = before;
    }
    (now, before)
}

/// Removes the stacks that the chosen images have set for the calling thread, and restores the previous stacks. Skips a stack on which the
/// thread is currently running.
pub(super) fn restore(chosen: impl Fn(&Ledger) -> bool) {
    let tid = kernel::own_tid();
    let mut records = lock(&RECORDS);
    let mut at = 0;
    while let Some(found) = records[at..].iter().position(|set| set.tid == tid && chosen(&set.ledger)) {
        at += found;
        let Set { now, before, .. } = records[at];
        // Leaves the current stack unchanged if other code has set it later.
        if Stack::here().is_ok_and(|stack| stack.is(now)) && before.put().is_err() {
            at += 1;
            continue;
        }
        take_out(&mut records, at);
    }
}

/// Removes an alternate stack of the calling thread that is in memory about to be freed. Such a stack was set without the hooks, so the
/// previous stack is unknown. Returns a description if a stack was removed.
fn remove_here(is_ours: impl Fn(usize) -> bool) -> Option<String> {
    let is_there = Stack::here().is_ok_and(|stack| stack.is_there() && is_ours(stack.start()));
    (is_there && Stack::NONE.put().is_ok())
        .then(|| "an alternate signal stack set without the hooks: removed".to_owned())
}

fn holders(ledger: &Ledger) -> Vec<Holder> {
    let name = "the alternate signal stack that the module has set";
    let holder = |(tid, since)| Holder::new(HolderKind::SignalStack, name, since).on(describe_thread(tid));
    of_image(ledger).into_iter().map(holder).collect()
}

/// Returns the live threads with a stack of the image, excluding threads whose stack the image has only disabled.
fn of_image(ledger: &Ledger) -> Vec<(i32, Instant)> {
    let is_of = |set: &Set| set.ledger.is(ledger);
    let mut records = lock(&RECORDS);
    let here = kernel::own_tid();
    records.retain(|set| !is_of(set) || set.tid == here || kernel::thread_exists(set.tid));
    records.iter().filter(|set| is_of(set) && set.now.is_there()).map(|set| (set.tid, set.since)).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Set, Stack, note, take_out};
    use crate::ledger::Ledger;

    fn stack(start: usize) -> Stack {
        if start == 0 { Stack::NONE } else { Stack::at(start) }
    }

    /// Returns for each record the stack that was set and the stack to be restored.
    fn pairs(records: &[Set]) -> Vec<(usize, usize)> {
        records.iter().map(|set| (set.now.start(), set.before.start())).collect()
    }

    #[test]
    fn the_original_stack_is_restored_in_any_order_of_unloads() {
        let ledgers = [(); 3].map(|()| Ledger::new("image"));
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let mut records = Vec::new();
            let mut current = stack(7);
            for (at, ledger) in ledgers.iter().enumerate() {
                note(&mut records, Arc::clone(ledger), 1, stack(100 + at), current);
                current = stack(100 + at);
            }
            for image in order {
                let at = records.iter().position(|set| Arc::ptr_eq(&set.ledger, &ledgers[image])).expect("it is there");
                let (now, before) = take_out(&mut records, at);
                if current.is(now) {
                    current = before;
                }
            }
            assert_eq!((current.start(), records.len()), (7, 0), "{order:?}");
        }
    }

    #[test]
    fn an_image_that_restores_the_earlier_stack_owes_nothing() {
        let (one, other) = (Ledger::new("one"), Ledger::new("other"));
        let mut records = Vec::new();
        note(&mut records, Arc::clone(&one), 1, stack(100), stack(0));
        note(&mut records, Arc::clone(&one), 1, stack(101), stack(100));
        assert_eq!(pairs(&records), [(101, 0)]);
        note(&mut records, Arc::clone(&other), 1, stack(200), stack(101));
        note(&mut records, other, 2, stack(201), stack(5));
        assert_eq!(pairs(&records), [(101, 0), (200, 101), (201, 5)]);
        // The first image sets a stack while the stack of the second image is in use, and will restore the second image's stack. The second
        // image will still restore the original stack.
        note(&mut records, Arc::clone(&one), 1, stack(102), stack(200));
        assert_eq!(pairs(&records), [(200, 0), (201, 5), (102, 200)]);
        note(&mut records, one, 1, stack(200), stack(102));
        assert_eq!(pairs(&records), [(200, 0), (201, 5)]);
    }
}
