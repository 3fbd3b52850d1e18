//! Records the checked cells of the grid of calls, and the reasons for its empty cells.

use std::collections::BTreeMap;
use std::fmt;

pub(crate) const PROTOCOLS: [&str; 6] = ["ex", "uf", "uf!", "up", "nm", "nd"];

pub(crate) const DIRECTIONS: [&str; 2] = ["host calls", "plugin calls"];

const KINDS: [&str; 12] = [
    "numbers",
    "object",
    "enum",
    "out",
    "struct",
    "string",
    "array",
    "error",
    "panic",
    "stale handle",
    "wrong slot",
    "wrong thread",
];

#[derive(Default)]
pub(crate) struct Sheet {
    asserted: BTreeMap<(usize, usize, usize), u32>,
    empty: BTreeMap<(usize, usize, usize), &'static str>,
    wrong: Vec<String>,
}

fn at(of: &[&str], label: &str) -> usize {
    of.iter().position(|name| *name == label).unwrap_or_else(|| panic!("no {label} in {of:?}"))
}

impl Sheet {
    /// Checks that the answer of the cell contains all expected parts.
    pub(crate) fn check(&mut self, protocol: &str, direction: &str, kind: &str, answer: &str, expected: &[&str]) {
        for expected in expected {
            if !answer.contains(expected) {
                self.wrong.push(format!("{protocol}, {direction}, {kind}: `{expected}` is not in\n  {answer}"));
            }
        }
        let cell = (at(&KINDS, kind), at(&PROTOCOLS, protocol), at(&DIRECTIONS, direction));
        *self.asserted.entry(cell).or_default() += 1;
    }

    /// Checks that all answers contained the expected parts.
    pub(crate) fn passes(&self) {
        assert!(self.wrong.is_empty(), "{}", self.wrong.join("\n"));
    }

    /// Records the reason for an empty cell.
    pub(crate) fn empty(&mut self, protocol: &str, direction: &str, kind: &str, reason: &'static str) {
        let cell = (at(&KINDS, kind), at(&PROTOCOLS, protocol), at(&DIRECTIONS, direction));
        assert!(!self.asserted.contains_key(&cell), "{protocol}, {direction}, {kind} is not empty");
        self.empty.insert(cell, reason);
    }
}

impl fmt::Display for Sheet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut reasons: Vec<&str> = Vec::new();
        for (number, direction) in DIRECTIONS.iter().enumerate() {
            writeln!(f, "{direction:<14}{}", PROTOCOLS.map(|protocol| format!("{protocol:>4}")).concat())?;
            for (row, kind) in KINDS.iter().enumerate() {
                write!(f, "  {kind:<12}")?;
                for column in 0..PROTOCOLS.len() {
                    let cell = (row, column, number);
                    let mark = match (self.asserted.get(&cell), self.empty.get(&cell)) {
                        (Some(_), _) => "+".to_owned(),
                        (None, Some(reason)) => {
                            let known = reasons.iter().position(|known| known == reason).unwrap_or_else(|| {
                                reasons.push(reason);
                                reasons.len() - 1
                            });
                            format!("({})", known + 1)
                        }
                        (None, None) => "?".to_owned(),
                    };
                    write!(f, "{mark:>4}")?;
                }
                writeln!(f)?;
            }
        }
        for (number, reason) in reasons.iter().enumerate() {
            writeln!(f, "({}) {reason}", number + 1)?;
        }
        let all = KINDS.len() * PROTOCOLS.len() * DIRECTIONS.len();
        let (asserted, empty) = (self.asserted.len(), self.empty.len());
        writeln!(
            f,
            "{asserted} of {all} cells asserted, {empty} empty for a reason, {} without one",
            all - asserted - empty
        )
    }
}

/// Checks that a type is neither `Send` nor `Sync`. If the type has one of these traits, the code does not compile.
macro_rules! is_thread_bound {
    ($ty:ty) => {{
        trait Ambiguous<Of> {
            const IS_THREAD_BOUND: bool = true;
        }
        struct IsSend;
        struct IsSync;
        impl<T: ?Sized> Ambiguous<()> for T {}
        impl<T: ?Sized + Send> Ambiguous<IsSend> for T {}
        impl<T: ?Sized + Sync> Ambiguous<IsSync> for T {}
        <$ty as Ambiguous<_>>::IS_THREAD_BOUND
    }};
}
pub(crate) use is_thread_bound;
