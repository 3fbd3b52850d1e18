//! Detects robust mutexes that threads hold. The C library links the robust mutexes that a thread holds into a list. The C library writes
//! to the entries of this list, and so does the kernel when the thread ends. Therefore, memory that contains such a mutex must not be freed
//! before the mutex is unlocked.
//!
//! The list belongs to the thread and may change while it is read. The result is therefore only a snapshot. The snapshot suffices: the host
//! has promised not to use the image, so no thread of the host locks its mutexes during the check.

use std::time::Instant;

use super::c::{kernel, peek};
use super::names::describe_thread;
use super::proc;
use crate::ledger::repair::Repair;
use crate::ledger::{Holder, HolderKind};

pub(super) const REPAIR: Repair = Repair {
    name: "a robust mutex",
    outside: |image| {
        let tid = holder(image.records.memory(image))?;
        let name = "a robust mutex in the module's memory, which a thread holds";
        Some(Holder::new(HolderKind::Reference, name, Instant::now()).on(describe_thread(tid)))
    },
    ..Repair::NONE
};

/// Maximum number of list entries that the kernel processes.
const MOST: usize = 2048;

/// `struct robust_list_head`: first entry, offset of the futex word within an entry, pending entry.
const HEAD: usize = 3 * size_of::<usize>();

/// Mask that removes the lowest bit of an address. The lowest bit encodes the kind of mutex.
const ADDRESS: usize = !1;

/// Returns a thread that holds a mutex in memory for which `is_ours` returns `true`. For a thread without robust mutexes, the check costs
/// one system call and one read.
fn holder(is_ours: impl Fn(usize) -> bool) -> Option<i32> {
    let holds = |(head, len): (usize, usize)| head != 0 && len == HEAD && refers_to(head, &is_ours);
    proc::numbers("task").ok()?.into_iter().find(|tid| kernel::robust_list(*tid).is_some_and(holds))
}

/// Checks if an entry of the list is in memory for which `is_ours` returns `true`. An unreadable address ends the list.
fn refers_to(head: usize, is_ours: impl Fn(usize) -> bool) -> bool {
    let mut bytes = [0; HEAD];
    if peek::read(head, &mut bytes) != HEAD {
        return false;
    }
    let words: Vec<_> = peek::words(&bytes).map(|word| word & ADDRESS).collect();
    let (mut entry, pending) = (words[0], words[2]);
    if pending != 0 && is_ours(pending) {
        return true;
    }
    for _ in 0..MOST {
        if entry == head || entry == 0 {
            return false;
        }
        if is_ours(entry) {
            return true;
        }
        match peek::word(entry) {
            Some(next) => entry = next & ADDRESS,
            None => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::ptr;

    use super::{holder, refers_to};

    /// A head and two entries, linked in a circle.
    struct Links([Cell<usize>; 5]);

    impl Links {
        fn new() -> Box<Self> {
            let links = Box::new(Self([const { Cell::new(0) }; 5]));
            let at = |at: usize| ptr::from_ref(&links.0[at]).addr();
            links.0[0].set(at(3) | 1);
            links.0[3].set(at(4));
            links.0[4].set(at(0));
            links
        }

        fn at(&self, at: usize) -> usize {
            ptr::from_ref(&self.0[at]).addr()
        }
    }

    #[test]
    fn every_list_entry_is_checked() {
        let links = Links::new();
        for (index, expected) in [(3, true), (4, true), (0, false), (1, false)] {
            assert_eq!(refers_to(links.at(0), |address| address == links.at(index)), expected, "{index}");
        }
        links.0[2].set(4711 << 4);
        assert!(refers_to(links.at(0), |address| address == 4711 << 4), "the one that is about to come");
    }

    #[test]
    fn an_endless_list_is_abandoned() {
        let links = Links::new();
        links.0[4].set(links.at(3));
        assert!(!refers_to(links.at(0), |_| false));
        links.0[4].set(8);
        assert!(!refers_to(links.at(0), |_| false), "nothing is there");
        assert!(!refers_to(8, |_| true));
    }

    #[test]
    fn a_thread_that_holds_nothing_is_not_found() {
        assert_eq!(holder(|_| false), None);
    }
}
