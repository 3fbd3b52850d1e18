//! Run-time borrow rules for a plugin part, or for the Rust fields of a native object. The borrowed memory is stored in a cell, defined in
//! the file `part_cell.rs` of the plugin API and of the runtime.
//!
//! Any number of shared borrows may be active together; an exclusive borrow excludes all further borrows. A method with an exclusive
//! borrow can lend it to the functions that the method calls. These functions may then borrow the same fields, one level deeper.

/// Borrow state of the innermost level: the number of shared borrows, or [`Top::EXCLUSIVE`]. With a single number, a borrow costs one
/// comparison and one addition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Top(i32);

impl Top {
    const FREE: Self = Self(0);
    const EXCLUSIVE: Self = Self(-1);
    /// Maximum number of shared borrows.
    const MOST: i32 = i32::MAX;
}

/// Current borrows of a plugin part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Borrows {
    /// Number of exclusive borrows that are currently lent, which is the depth of the innermost level.
    borrowed: u32,
    /// Number of shared borrows at the innermost level, or [`Top::EXCLUSIVE`].
    top: Top,
}

/// Event that begins or ends a borrow, or the loan of an exclusive borrow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// A `&self` method starts, and begins a shared borrow.
    Share,
    /// A `&self` method returns, which ends its shared borrow.
    EndShare,
    /// A `&mut self` method starts, and begins an exclusive borrow.
    Take,
    /// A `&mut self` method returns, which ends its exclusive borrow.
    EndTake,
    /// An exclusive borrow is lent.
    Reborrow,
    /// The loan of an exclusive borrow ends.
    EndReborrow,
}

impl Borrows {
    /// State in which nothing is borrowed.
    pub const FREE: Self = Self { borrowed: 0, top: Top::FREE };

    /// Returns the state of the borrows after `event`. Returns `None` if `event` begins a borrow that conflicts with a current borrow, or
    /// ends a borrow that has not begun.
    #[inline]
    #[must_use]
    pub const fn step(self, event: Event) -> Option<Self> {
        let Self { borrowed, top } = self;
        let (borrowed, top) = match event {
            Event::Share if top.0 >= 0 && top.0 < Top::MOST => (borrowed, Top(top.0 + 1)),
            Event::EndShare if top.0 > 0 => (borrowed, Top(top.0 - 1)),
            Event::Take if top.0 == 0 => (borrowed, Top::EXCLUSIVE),
            Event::EndTake if top.0 < 0 => (borrowed, Top::FREE),
            Event::Reborrow if top.0 < 0 && borrowed < u32::MAX => (borrowed + 1, Top::FREE),
            Event::EndReborrow if top.0 == 0 && borrowed > 0 => (borrowed - 1, Top::EXCLUSIVE),
            _ => return None,
        };
        Some(Self { borrowed, top })
    }
}

#[cfg(test)]
mod tests {
    use super::Event::{EndReborrow, EndShare, EndTake, Reborrow, Share, Take};
    use super::{Borrows, Event, Top};

    const EVENTS: [Event; 3] = [Share, Take, Reborrow];

    #[test]
    fn each_state_and_each_beginning_has_the_next_state_of_the_table() {
        // Each line contains a state, and the states that follow after Share, Take and Reborrow. `-` marks a refused event.
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
                let expected = read(&words, &mut at);
                assert_eq!(state.step(event), expected, "{state:?} {event:?}");
            }
            assert_eq!(at, words.len(), "{row}");
        }
    }

    fn read(words: &[&str], at: &mut usize) -> Option<Borrows> {
        let borrowed = words[*at];
        *at += 1;
        if borrowed == "-" {
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
        Some(Borrows { borrowed: borrowed.parse().expect("a depth"), top })
    }

    #[test]
    fn no_walk_ever_has_an_exclusive_borrow_next_to_another() {
        // Tests all sequences of eight events, starting from a free plugin part.
        let mut states = vec![(Borrows::FREE, Vec::new())];
        for _step in 0..8 {
            let mut next = Vec::new();
            for (state, holders) in states {
                for event in [Share, EndShare, Take, EndTake, Reborrow, EndReborrow] {
                    let Some(after) = Borrows::step(state, event) else { continue };
                    let mut holders = holders.clone();
                    match event {
                        Share | Take | Reborrow => holders.push(event),
                        _ => {
                            let begin = holders.pop().expect("an end has a beginning");
                            assert!(matches!(
                                (begin, event),
                                (Share, EndShare) | (Take, EndTake) | (Reborrow, EndReborrow)
                            ));
                        }
                    }
                    // A `Take` that is not lent must be the last holder, and only shares may follow a `Share`.
                    for pair in holders.windows(2) {
                        assert!(
                            matches!(pair, [Take, Reborrow] | [Share, Share] | [Reborrow, Share | Take]),
                            "{holders:?}"
                        );
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
        assert_eq!(Borrows { borrowed: 0, top: Top(Top::MOST) }.step(Share), None);
        assert_eq!(Borrows { borrowed: u32::MAX, top: Top::EXCLUSIVE }.step(Reborrow), None);
    }
}
