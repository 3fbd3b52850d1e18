//! Robust mutexes that threads hold. The C library keeps a list of them for each thread and goes on writing into its
//! entries; at the end of the thread the kernel does. So memory that an entry lies in may not go before the mutex is
//! unlocked.
//!
//! The list is the thread's own and changes while it is read: what is read is what was there. A mutex that is being locked
//! just now by a thread of the host would be one that the host uses, and it has promised that it uses nothing of the image.

use std::time::Instant;

use super::c::{kernel, peek};
use super::names::thread_in_words;
use super::proc;
use crate::ledger::repair::Repair;
use crate::ledger::{Holder, HolderKind};

pub(super) const REPAIR: Repair = Repair {
    name: "a robust mutex",
    outside: |image| {
        let tid = holder(image.records.memory(image))?;
        let name = "a robust mutex in the module's memory, which a thread holds";
        Some(Holder::new(HolderKind::Reference, name, Instant::now()).on(thread_in_words(tid)))
    },
    ..Repair::NONE
};

/// As many as the kernel itself looks at.
const MOST: usize = 2048;

/// `struct robust_list_head`: the first entry, the distance from an entry to its word, the entry that is about to come.
const HEAD: usize = 3 * size_of::<usize>();

/// The lowest bit of an address says what sort of mutex it is.
const ADDRESS: usize = !1;

/// The thread that holds a mutex in memory that `is_ours` knows. One system call for each thread, and one more read where
/// it holds none.
fn holder(is_ours: impl Fn(usize) -> bool) -> Option<i32> {
    proc::numbers("task").ok()?.into_iter().find(|tid| list_of(*tid).is_some_and(|head| leads_to(head, &is_ours)))
}

/// Where the list of a thread begins.
fn list_of(tid: i32) -> Option<usize> {
    let (head, len) = kernel::robust_list(tid)?;
    (head != 0 && len == HEAD).then_some(head)
}

/// Whether an entry lies there. A list that leads to nothing readable is at an end.
fn leads_to(head: usize, is_ours: impl Fn(usize) -> bool) -> bool {
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

    use super::{holder, leads_to};

    /// A head and two entries, each leading to the next, and the last to the head.
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
    fn every_entry_of_a_list_is_looked_at() {
        let links = Links::new();
        for (wanted, expected) in [(3, true), (4, true), (0, false), (1, false)] {
            assert_eq!(leads_to(links.at(0), |address| address == links.at(wanted)), expected, "{wanted}");
        }
        links.0[2].set(4711 << 4);
        assert!(leads_to(links.at(0), |address| address == 4711 << 4), "the one that is about to come");
    }

    #[test]
    fn a_list_without_an_end_is_given_up() {
        let links = Links::new();
        links.0[4].set(links.at(3));
        assert!(!leads_to(links.at(0), |_| false));
        links.0[4].set(8);
        assert!(!leads_to(links.at(0), |_| false), "nothing is there");
        assert!(!leads_to(8, |_| true));
    }

    #[test]
    fn a_thread_that_holds_nothing_is_not_found() {
        assert_eq!(holder(|_| false), None);
    }
}
