//! Alternate signal stacks that images set for threads. The memory is the image's, and goes with a thread-local of it or
//! with its image; a thread that goes on without it would be handed to the kernel with a stack that is not there. So each
//! thread is given back what it had before, and only it can do so: until then the image stays.
//!
//! Several images may have set one for the same thread, one over the other, and go in any order.

use std::ffi::c_int;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::c::kernel;
use super::c::signals::Stack;
use super::lock;
use super::names::thread_in_words;
use crate::ledger::repair::Repair;
use crate::ledger::{Holder, HolderKind, Ledger};

pub(super) const REPAIR: Repair = Repair {
    name: "an alternate signal stack",
    holders: |image, all| all.extend(holders(image)),
    facts: |image, facts| {
        let (is_here, is_elsewhere) = whereabouts(image);
        facts.locals_here |= is_here;
        facts.locals_elsewhere |= is_elsewhere;
    },
    put_right: |_, is_ours, report| report.put_back.extend(take_away_here(is_ours)),
    free: |gone, report| {
        report.put_back.extend(take_away_here(gone.image.records.memory(gone.image)));
        forget(gone.image);
    },
    ..Repair::NONE
};

/// All of all images on all threads; of one thread in the order in which they were set.
static BOOK: Mutex<Vec<Set>> = Mutex::new(Vec::new());

/// What one image has set for one thread.
struct Set {
    ledger: Arc<Ledger>,
    tid: i32,
    since: Instant,
    stacks: Stacks,
}

/// What an image has set, and what stood there before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stacks {
    now: Stack,
    before: Stack,
}

/// `sigaltstack` for one image, which is what `set` calls; it sets a stack if `is_new`. `arm` has the end of the thread noticed.
pub(super) fn set(ledger: Arc<Ledger>, is_new: bool, set: impl FnOnce() -> c_int, arm: impl FnOnce()) -> c_int {
    let before = Stack::here();
    let result = set();
    if let Ok(before) = before
        && result == 0
        && is_new
        && let Ok(now) = Stack::here()
    {
        // Before it is written down: from then on the end of the thread must be noticed.
        arm();
        note(&mut lock(&BOOK), ledger, tid(), now, before);
    }
    result
}

/// Writes down that an image has replaced one stack of a thread by another.
fn note(book: &mut Vec<Set>, ledger: Arc<Ledger>, tid: i32, now: Stack, before: Stack) {
    let own = book.iter().position(|set| set.tid == tid && Arc::ptr_eq(&set.ledger, &ledger));
    let first = match own {
        // Set again on top of its own: what it found at first is what has to come back. Over another image's, which has
        // come in between, its own is out of sight already.
        Some(at) => take_out(book, at).1,
        None => before,
    };
    // Who has put back what was there has nothing to be put back.
    if !now.is(first) {
        let before = if first.is(before) { first } else { before_of(book, tid, before).unwrap_or(first) };
        book.push(Set { ledger, tid, since: Instant::now(), stacks: Stacks { now, before } });
    }
}

/// The stack as it is, if another image has set it: that one is what comes back.
fn before_of(book: &[Set], tid: i32, before: Stack) -> Option<Stack> {
    book.iter().any(|set| set.tid == tid && set.stacks.now.is(before)).then_some(before)
}

/// Takes one out; whoever has found it there finds what it had found itself. What it has set, and what was before.
fn take_out(book: &mut Vec<Set>, at: usize) -> (Stack, Stack) {
    let Set { tid, stacks: Stacks { now, before }, .. } = book.remove(at);
    for other in book.iter_mut().filter(|set| set.tid == tid && set.stacks.before.is(now)) {
        other.stacks.before = before;
    }
    (now, before)
}

/// Gives the calling thread back what it had before the chosen images. One that stands on the stack it should lose keeps
/// it for now.
pub(super) fn put_back(chosen: impl Fn(&Ledger) -> bool) {
    let tid = tid();
    let mut book = lock(&BOOK);
    let mut at = 0;
    while let Some(found) = book[at..].iter().position(|set| set.tid == tid && chosen(&set.ledger)) {
        at += found;
        let Stacks { now, before } = book[at].stacks;
        // Other code may have set another meanwhile, which then stays.
        if Stack::here().is_ok_and(|stack| stack.is(now)) && before.put().is_err() {
            at += 1;
            continue;
        }
        take_out(&mut book, at);
    }
}

/// Takes an alternate stack away from the calling thread that was set past the hooks and lies in memory that goes. What the
/// thread had before is not known. In words, if there was one.
fn take_away_here(is_ours: impl Fn(usize) -> bool) -> Option<String> {
    let is_there = Stack::here().is_ok_and(|stack| stack.is_there() && is_ours(stack.start()));
    (is_there && Stack::NONE.put().is_ok())
        .then(|| "an alternate signal stack set past the hooks taken away".to_owned())
}

/// Whether threads stand to lose a stack of the image's: the calling one, others.
fn whereabouts(ledger: &Ledger) -> (bool, bool) {
    let tid = tid();
    let of_image = of_image(ledger);
    (of_image.iter().any(|known| known.0 == tid), of_image.iter().any(|known| known.0 != tid))
}

fn holders(ledger: &Ledger) -> Vec<Holder> {
    let name = "the alternate signal stack that the module has set";
    let holder = |(tid, since)| Holder::new(HolderKind::SignalStack, name, since).on(thread_in_words(tid));
    of_image(ledger).into_iter().map(holder).collect()
}

/// What came too late: the image is gone, and a thread that has its stack now has it for good.
fn forget(ledger: &Ledger) {
    lock(&BOOK).retain(|set| !set.ledger.is(ledger));
}

/// The living threads that have a stack of the image's. One where the image has only taken a stack away goes on without.
fn of_image(ledger: &Ledger) -> Vec<(i32, Instant)> {
    let is_of = |set: &Set| set.ledger.is(ledger);
    let mut book = lock(&BOOK);
    let here = tid();
    book.retain(|set| !is_of(set) || set.tid == here || kernel::thread_exists(set.tid));
    book.iter().filter(|set| is_of(set) && set.stacks.now.is_there()).map(|set| (set.tid, set.since)).collect()
}

fn tid() -> i32 {
    kernel::own_tid()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Set, Stack, note, take_out};
    use crate::ledger::Ledger;

    fn stack(start: usize) -> Stack {
        if start == 0 { Stack::NONE } else { Stack::at(start) }
    }

    /// What stands in the book, as pairs of what was set and what comes back.
    fn pairs(book: &[Set]) -> Vec<(usize, usize)> {
        book.iter().map(|set| (set.stacks.now.start(), set.stacks.before.start())).collect()
    }

    #[test]
    fn what_was_there_first_comes_back_in_whatever_order_images_go() {
        let ledgers = [(); 3].map(|()| Ledger::new("image"));
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let mut book = Vec::new();
            let mut current = stack(7);
            for (at, ledger) in ledgers.iter().enumerate() {
                note(&mut book, Arc::clone(ledger), 1, stack(100 + at), current);
                current = stack(100 + at);
            }
            for image in order {
                let at = book.iter().position(|set| Arc::ptr_eq(&set.ledger, &ledgers[image])).expect("it is there");
                let (now, before) = take_out(&mut book, at);
                if current.is(now) {
                    current = before;
                }
            }
            assert_eq!((current.start(), book.len()), (7, 0), "{order:?}");
        }
    }

    #[test]
    fn an_image_that_puts_back_what_was_there_owes_nothing() {
        let (one, other) = (Ledger::new("one"), Ledger::new("other"));
        let mut book = Vec::new();
        note(&mut book, Arc::clone(&one), 1, stack(100), stack(0));
        note(&mut book, Arc::clone(&one), 1, stack(101), stack(100));
        assert_eq!(pairs(&book), [(101, 0)]);
        note(&mut book, Arc::clone(&other), 1, stack(200), stack(101));
        note(&mut book, other, 2, stack(201), stack(5));
        assert_eq!(pairs(&book), [(101, 0), (200, 101), (201, 5)]);
        // The first one goes over the second: what comes back is the second's, which still finds what was there first.
        note(&mut book, Arc::clone(&one), 1, stack(102), stack(200));
        assert_eq!(pairs(&book), [(200, 0), (201, 5), (102, 200)]);
        note(&mut book, one, 1, stack(200), stack(102));
        assert_eq!(pairs(&book), [(200, 0), (201, 5)]);
    }
}
