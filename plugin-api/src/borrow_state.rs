//! Who may borrow a plugin part, and when. This file decides; `part_cell.rs` holds the memory.
//!
//! Shared borrows do not exclude each other; an exclusive one excludes all, until it is lent: then the plugin part looks
//! free again to whatever the borrower calls, one level deeper.

/// How one level of a plugin part is borrowed: one number.
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

/// What begins. It ends before what was there, so its end leads back to the state that it began in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// A `&self` method.
    Share,
    /// A `&mut self` method.
    Take,
    /// The exclusive borrow is lent.
    Lend,
}

/// The event does not fit: another borrow holds the plugin part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Refused;

impl BorrowState {
    /// Nobody borrows.
    pub(crate) const FREE: Self = Self { lent: 0, top: Top::FREE };

    /// The state after `event`, or why there is none.
    pub(crate) const fn step(self, event: Event) -> Result<Self, Refused> {
        let Self { lent, top } = self;
        let (lent, top) = match event {
            Event::Share if top.0 >= 0 && top.0 < Top::MOST => (lent, Top(top.0 + 1)),
            Event::Take if top.0 == 0 => (lent, Top::EXCLUSIVE),
            Event::Lend if top.0 < 0 && lent < u32::MAX => (lent + 1, Top::FREE),
            _ => return Err(Refused),
        };
        Ok(Self { lent, top })
    }
}

#[cfg(test)]
mod tests {
    use super::Event::{Lend, Share, Take};
    use super::{BorrowState, Event, Refused, Top};

    const EVENTS: [Event; 3] = [Share, Take, Lend];

    #[test]
    fn every_state_answers_every_event_as_the_table_says() {
        // state, then what follows Share, Take, Lend; `-` is refused.
        let table = "
            0 free      | 0 shared 1|0 exclusive -
            0 shared 1  | 0 shared 2 - -
            0 shared 2  | 0 shared 3 - -
            0 exclusive | - - 1 free
            1 free      | 1 shared 1|1 exclusive -
            1 shared 1  | 1 shared 2 - -
            1 exclusive | - - 2 free
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
        // All walks of eight steps from the free state: something begins, or the last that began ends.
        let mut walks = vec![vec![]];
        let mut seen = 0;
        for _step in 0..8 {
            let mut next = Vec::new();
            for walk in walks {
                let state = walk.last().map_or(BorrowState::FREE, |(_event, state)| *state);
                for event in EVENTS {
                    let Ok(after) = state.step(event) else { continue };
                    let mut longer: Vec<(Event, BorrowState)> = walk.clone();
                    longer.push((event, after));
                    // Above a `Take` that is not lent there is nothing; above a `Share` only shares.
                    for pair in longer.windows(2) {
                        let pair = [pair[0].0, pair[1].0];
                        assert!(matches!(pair, [Take, Lend] | [Share, Share] | [Lend, Share | Take]), "{longer:?}");
                    }
                    assert_ne!(after, BorrowState::FREE, "what has begun is seen: {longer:?}");
                    next.push(longer);
                }
                let mut shorter = walk;
                if shorter.pop().is_some() {
                    next.push(shorter);
                }
            }
            seen += next.len();
            walks = next;
        }
        assert!(seen > 50);
    }

    #[test]
    fn counters_refuse_to_wrap() {
        assert_eq!(BorrowState { lent: 0, top: Top(Top::MOST) }.step(Share), Err(Refused));
        assert_eq!(BorrowState { lent: u32::MAX, top: Top::EXCLUSIVE }.step(Lend), Err(Refused));
    }
}
