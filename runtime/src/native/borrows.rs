//! Who may borrow the Rust fields of an object, and when. This file decides; `part_cell.rs` holds the memory.
//!
//! Shared borrows do not exclude each other; an exclusive one excludes all, until it is lent: then the fields look free again to
//! whatever the borrower calls, one level deeper. Plugin parts have the same rules.

/// How one level is borrowed: one number, so that the borrow of a method is one comparison and one addition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Top(i32);

impl Top {
    const FREE: Self = Self(0);
    const EXCLUSIVE: Self = Self(-1);
    /// The most that share.
    const MOST: i32 = i32::MAX;
}

/// The borrows of the Rust fields of one object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Borrows {
    /// Exclusive borrows that are lent at the moment.
    lent: u32,
    /// So many share; or it is [`Top::EXCLUSIVE`].
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
    pub(super) const FREE: Self = Self { lent: 0, top: Top::FREE };

    /// What there is after `event`; none where another borrow is in its way, or an end has no beginning.
    #[inline]
    pub(super) const fn step(self, event: Event) -> Option<Self> {
        let Self { lent, top } = self;
        let (lent, top) = match event {
            Event::Share if top.0 >= 0 && top.0 < Top::MOST => (lent, Top(top.0 + 1)),
            Event::EndShare if top.0 > 0 => (lent, Top(top.0 - 1)),
            Event::Take if top.0 == 0 => (lent, Top::EXCLUSIVE),
            Event::EndTake if top.0 < 0 => (lent, Top::FREE),
            Event::Lend if top.0 < 0 && lent < u32::MAX => (lent + 1, Top::FREE),
            Event::EndLend if top.0 == 0 && lent > 0 => (lent - 1, Top::EXCLUSIVE),
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
        assert_eq!(Borrows { lent: 0, top: Top(Top::MOST) }.step(Share), None);
        assert_eq!(Borrows { lent: u32::MAX, top: Top::EXCLUSIVE }.step(Lend), None);
    }
}
