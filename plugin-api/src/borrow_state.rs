//! Who may borrow a plugin part, and when. This file decides; `part_cell.rs` holds the memory.
//!
//! Shared borrows do not exclude each other; an exclusive one excludes all, until it is lent: then the plugin part looks
//! free again to whatever the borrower calls, one level deeper.

/// How one level of a plugin part is borrowed: one number, so that the borrow of a method is one comparison and one addition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Top(i32);

impl Top {
    const FREE: Self = Self(0);
    const EXCLUSIVE: Self = Self(-1);
    /// The most that share.
    const MOST: i32 = i32::MAX;
}

/// The borrows of one plugin part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BorrowState {
    /// Exclusive borrows that are lent at the moment.
    lent: u32,
    /// So many share; or it is [`Top::EXCLUSIVE`].
    top: Top,
}

/// What happens to a plugin part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
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

/// The event does not fit: another borrow holds the plugin part, or an end has no beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Refused;

impl BorrowState {
    /// Nobody borrows.
    pub(crate) const FREE: Self = Self { lent: 0, top: Top::FREE };

    /// The state after `event`, or why there is none.
    #[inline]
    pub(crate) const fn step(self, event: Event) -> Result<Self, Refused> {
        let Self { lent, top } = self;
        let (lent, top) = match event {
            Event::Share if top.0 >= 0 && top.0 < Top::MOST => (lent, Top(top.0 + 1)),
            Event::EndShare if top.0 > 0 => (lent, Top(top.0 - 1)),
            Event::Take if top.0 == 0 => (lent, Top::EXCLUSIVE),
            Event::EndTake if top.0 < 0 => (lent, Top::FREE),
            Event::Lend if top.0 < 0 && lent < u32::MAX => (lent + 1, Top::FREE),
            Event::EndLend if top.0 == 0 && lent > 0 => (lent - 1, Top::EXCLUSIVE),
            _ => return Err(Refused),
        };
        Ok(Self { lent, top })
    }

    /// Whether an exclusive borrow is lent.
    #[inline]
    pub(crate) const fn has_lent(self) -> bool {
        self.lent != 0
    }

    /// Whether there is no borrow, on any level.
    #[inline]
    pub(crate) const fn is_free(self) -> bool {
        self.lent == 0 && self.top.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::Event::{EndLend, EndShare, EndTake, Lend, Share, Take};
    use super::{BorrowState, Event, Refused, Top};

    const EVENTS: [Event; 6] = [Share, EndShare, Take, EndTake, Lend, EndLend];

    #[test]
    fn every_state_answers_every_event_as_the_table_says() {
        // state, then what follows Share, EndShare, Take, EndTake, Lend, EndLend; `-` is refused.
        let table = "
            0 free      | 0 shared 1 - 0 exclusive - - -
            0 shared 1  | 0 shared 2|0 free - - - -
            0 shared 2  | 0 shared 3|0 shared 1 - - - -
            0 exclusive | - - - 0 free|1 free -
            1 free      | 1 shared 1 - 1 exclusive - - 0 exclusive
            1 shared 1  | 1 shared 2|1 free - - - -
            1 exclusive | - - - 1 free|2 free -
        ";
        for row in table.lines().map(str::trim).filter(|row| !row.is_empty()) {
            let words: Vec<&str> = row.split([' ', '|']).filter(|word| !word.is_empty()).collect();
            let mut at = 0;
            let state = read(&words, &mut at).expect("a row starts with a state");
            for event in EVENTS {
                let wanted = read(&words, &mut at).ok_or(Refused);
                assert_eq!(state.step(event), wanted, "{state:?} {event:?}");
            }
            assert_eq!(at, words.len(), "{row}");
        }
    }

    fn read(words: &[&str], at: &mut usize) -> Option<BorrowState> {
        let lent = words[*at];
        *at += 1;
        if lent == "-" {
            return None;
        }
        let top = match words[*at] {
            "free" => Top::FREE,
            "exclusive" => Top::EXCLUSIVE,
            _ => {
                *at += 1;
                Top(words[*at].parse().expect("a count"))
            }
        };
        *at += 1;
        Some(BorrowState { lent: lent.parse().expect("a depth"), top })
    }

    #[test]
    fn no_walk_ever_has_an_exclusive_borrow_beside_another() {
        // All walks of eight events from the free state.
        let mut states = vec![(BorrowState::FREE, Vec::new())];
        for _step in 0..8 {
            let mut next = Vec::new();
            for (state, holders) in states {
                for event in EVENTS {
                    let Ok(after) = BorrowState::step(state, event) else { continue };
                    let mut holders: Vec<Event> = holders.clone();
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
                    assert_eq!(after.is_free(), holders.is_empty());
                    next.push((after, holders));
                }
            }
            states = next;
        }
        assert!(states.len() > 50);
    }

    #[test]
    fn counters_refuse_to_wrap() {
        assert_eq!(BorrowState { lent: 0, top: Top(Top::MOST) }.step(Share), Err(Refused));
        assert_eq!(BorrowState { lent: u32::MAX, top: Top::EXCLUSIVE }.step(Lend), Err(Refused));
    }
}
