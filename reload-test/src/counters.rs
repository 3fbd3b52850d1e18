//! Reads a file in which each generation of a plugin counts its destructors and handlers: those that must run when the generation ends, and
//! those that have run. The plugin maps and writes the file. `everything-unloads/src/counters.rs` documents the layout.

use crate::plan::Counted;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

const ROWS: u64 = 16;
const SLOTS: usize = 64;
const SLOT_WORDS: usize = 4;
const ROW_WORDS: usize = 2 + SLOTS * SLOT_WORDS;
const WORD: u64 = size_of::<u64>() as u64;

/// Names of the kinds of counted destructors and handlers, by the number of the kind.
const KINDS: [&str; 8] = [
    "unknown thing",
    "thread-local",
    "thread-local with memory",
    "thread-local that uses another at its end",
    "thread-local first used by a destructor",
    "value of a thread-specific key",
    "exit handler",
    "handler without a run",
];

/// Creates the file at `path` with zero counts.
pub(crate) fn create(path: &Path) -> io::Result<()> {
    File::create(path)?.set_len(WORD * (1 + ROWS * ROW_WORDS as u64))
}

/// Reader of the file, with the number of checked generations and the sum of their counts.
#[derive(Debug)]
pub(crate) struct Counters {
    file: File,
    checked: u64,
    sum: Counted,
}

impl Counters {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { file: File::open(path)?, checked: 0, sum: Counted::default() })
    }

    /// Returns the number of generations that have opened the file so far.
    pub(crate) fn generations(&mut self) -> io::Result<u64> {
        Ok(self.words(0, 1)?[0])
    }

    /// Returns the counts of all checked generations.
    pub(crate) fn sum(&self) -> Counted {
        self.sum
    }

    /// Checks all generations up to `last` that were not checked before, and returns their faults. These generations must have ended.
    pub(crate) fn check(&mut self, last: u64) -> io::Result<Vec<String>> {
        let mut faults = Vec::new();
        while self.checked < last {
            self.checked += 1;
            let number = self.checked;
            let row = self.words(1 + (number % ROWS) * ROW_WORDS as u64, ROW_WORDS)?;
            if row[0] != number {
                faults.push(format!("the counts of load {number} were lost: {} loads came after it", row[0] - number));
                continue;
            }
            faults.extend(judge(&row, &mut self.sum).into_iter().map(|fault| format!("load {number}: {fault}")));
        }
        Ok(faults)
    }

    fn words(&mut self, at: u64, count: usize) -> io::Result<Vec<u64>> {
        let mut bytes = vec![0; count * size_of::<u64>()];
        self.file.seek(SeekFrom::Start(at * WORD))?;
        self.file.read_exact(&mut bytes)?;
        let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_ne_bytes);
        Ok(bytes.chunks_exact(size_of::<u64>()).map(word).collect())
    }
}

/// Returns the faults in the counts `row` of one generation, and adds these counts to `sum`.
fn judge(row: &[u64], sum: &mut Counted) -> Vec<String> {
    let mut faults = Vec::new();
    if row[1] > 0 {
        faults.push(format!("{} counts did not fit", row[1]));
    }
    for slot in row[2..].chunks_exact(SLOT_WORDS).take_while(|slot| slot[0] != 0) {
        let (kind, thread) = ((slot[0] >> 32) as usize, slot[0] & u64::from(u32::MAX));
        let (registered, run, elsewhere) = (slot[1], slot[2], slot[3]);
        sum.registered += registered;
        sum.run += run;
        sum.elsewhere += elsewhere;
        let kind = KINDS.get(kind).unwrap_or(&KINDS[0]);
        if run != registered {
            faults.push(format!("{kind} of thread {thread}: {registered} registered, {run} run"));
        }
        if elsewhere > 0 {
            faults.push(format!("{kind} of thread {thread}: {elsewhere} run on another thread"));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::{Counters, ROW_WORDS, ROWS, WORD, create, judge};
    use crate::plan::Counted;
    use std::fs::File;
    use std::io::{Seek as _, SeekFrom, Write as _};

    fn check(head: [u64; 2], slots: &[[u64; 4]], expected: &[&str]) -> Counted {
        let mut row: Vec<_> = head.into_iter().chain(slots.iter().flatten().copied()).collect();
        row.resize(ROW_WORDS, 0);
        let mut sum = Counted::default();
        assert_eq!(judge(&row, &mut sum), expected);
        sum
    }

    #[test]
    fn registered_handlers_must_have_run_on_their_thread() {
        let sum = check([1, 0], &[[1 << 32 | 70, 3, 3, 0], [5 << 32 | 71, 1, 1, 0]], &[]);
        assert_eq!(sum, Counted { registered: 4, run: 4, elsewhere: 0 });
        check([1, 0], &[[1 << 32 | 70, 3, 2, 0]], &["thread-local of thread 70: 3 registered, 2 run"]);
        check([1, 0], &[[6 << 32 | 70, 1, 2, 0]], &["exit handler of thread 70: 1 registered, 2 run"]);
        check(
            [1, 2],
            &[[99 << 32 | 70, 1, 1, 1]],
            &["2 counts did not fit", "unknown thing of thread 70: 1 run on another thread"],
        );
    }

    #[test]
    fn a_single_count_without_room_is_a_fault() {
        check([1, 1], &[], &["1 counts did not fit"]);
    }

    #[test]
    fn each_generation_is_checked_once_and_overwritten_ones_are_reported() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("tally");
        create(&path).expect("a file");
        let mut file = File::options().write(true).open(&path).expect("the file");
        let mut put = |at: u64, words: &[u64]| {
            file.seek(SeekFrom::Start(at * WORD)).expect("within the file");
            let bytes: Vec<_> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
            file.write_all(&bytes).expect("room");
        };
        put(0, &[2]);
        put(1 + ROW_WORDS as u64, &[1 + ROWS, 0]);
        put(1 + 2 * ROW_WORDS as u64, &[2, 0, 1 << 32 | 70, 1, 0, 0]);

        let mut counters = Counters::open(&path).expect("the file");
        assert_eq!(counters.generations().expect("readable"), 2);
        let faults = counters.check(2).expect("readable");
        assert_eq!(
            faults,
            [
                "the counts of load 1 were lost: 16 loads came after it",
                "load 2: thread-local of thread 70: 1 registered, 0 run",
            ]
        );
        assert_eq!(counters.check(2).expect("readable"), [""; 0]);
        assert_eq!(counters.sum(), Counted { registered: 1, run: 0, elsewhere: 0 });
    }
}
