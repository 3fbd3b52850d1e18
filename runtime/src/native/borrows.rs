//! Who may borrow the Rust fields of an object, and when. This file decides; `part_cell.rs` holds the memory.
//!
//! Shared borrows do not exclude each other; an exclusive one excludes all, until it is lent: then the fields look free again to
//! whatever the borrower calls, one level deeper. Plugin parts have the same rules.

/// How one level is borrowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Top {
    Free,
    Shared(u32),
    Exclusive,
}

/// The borrows of the Rust fields of one object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Borrows {
    /// Exclusive borrows that are lent at the moment.
    lent: u32,
    top: Top,
}

/// What happens to them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Event {
    /// A `&self` method starts.
    Share,
    /// It ends.
    EndShare,
    /// A `&mut self` method starts.
    Take,
    /// It ends.
    EndTake,
    /// The exclusive borrow is lent.
    Lend,
    /// It is given back.
    EndLend,
}

impl Borrows {
    /// Nobody borrows.
    pub(super) const FREE: Self = Self { lent: 0, top: Top::Free };

    /// What there is after `event`; none where another borrow is in its way, or an end has no beginning.
    #[inline]
    pub(super) const fn step(self, event: Event) -> Option<Self> {
        let Self { lent, top } = self;
        let (lent, top) = match (top, event) {
            (Top::Free, Event::Share) => (lent, Top::Shared(1)),
            (Top::Shared(count), Event::Share) if count < u32::MAX => (lent, Top::Shared(count + 1)),
            (Top::Shared(1), Event::EndShare) => (lent, Top::Free),
            (Top::Shared(count), Event::EndShare) => (lent, Top::Shared(count - 1)),
            (Top::Free, Event::Take) => (lent, Top::Exclusive),
            (Top::Exclusive, Event::EndTake) => (lent, Top::Free),
            (Top::Exclusive, Event::Lend) if lent < u32::MAX => (lent + 1, Top::Free),
            (Top::Free, Event::EndLend) if lent > 0 => (lent - 1, Top::Exclusive),
            _ => return None,
        };
        Some(Self { lent, top })
    }
}

#[cfg(test)]
mod tests {
    use super::Event::{EndLend, EndShare, EndTake, Lend, Share, Take};
    use super::{Borrows, Top};

    #[test]
    fn no_walk_ever_has_an_exclusive_borrow_beside_another() {
        // All walks of eight events from the free state.
        let mut states = vec![(Borrows::FREE, Vec::new())];
        for _step in 0..8 {
            let mut next = Vec::new();
            for (state, holders) in states {
                for event in [Share, EndShare, Take, EndTake, Lend, EndLend] {
                    let Some(after) = Borrows::step(state, event) else { continue };
                    let mut holders = holders.clone();
                    match event {
                        Share | Take | Lend => holders.push(event),
                        _ => {
                            let begin = holders.pop().expect("an end has a beginning");
                            assert!(matches!((begin, event), (Share, EndShare) | (Take, EndTake) | (Lend, EndLend)));
                        }
                    }
                    // Above a `Take` that is not lent there is nothing; above a `Share` only shares.
                    for pair in holders.windows(2) {
                        assert!(matches!(pair, [Take, Lend] | [Share, Share] | [Lend, Share | Take]), "{holders:?}");
                    }
                    assert_eq!(after == Borrows::FREE, holders.is_empty());
                    next.push((after, holders));
                }
            }
            states = next;
        }
        assert!(states.len() > 50);
    }

    #[test]
    fn counters_refuse_to_wrap() {
        assert_eq!(Borrows { lent: 0, top: Top::Shared(u32::MAX) }.step(Share), None);
        assert_eq!(Borrows { lent: u32::MAX, top: Top::Exclusive }.step(Lend), None);
    }
}
